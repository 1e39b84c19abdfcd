//! A live snapshot.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result};
use crate::index::State;
use crate::sync::{Arc, Instant};

use super::Visibility;

/// A state that stays readable until this is dropped, or ended.
#[derive(Debug)]
pub(crate) struct Registered {
    visibility: Arc<Visibility>,
    id: u64,
    state: State,
    /// How many snapshots had been ended when this one was last known not to be. Not an atomic of [`crate::sync`]: one that is older than
    /// it could be costs a look.
    ends: AtomicU64,
}

impl Registered {
    /// Holds the visible state; `taken` says when that began, if its age matters to anyone.
    pub(crate) fn new(visibility: &Arc<Visibility>, taken: Option<Instant>) -> Self {
        let (id, state, ends) = visibility.register(taken);
        Registered { visibility: Arc::clone(visibility), id, state, ends: AtomicU64::new(ends) }
    }

    /// The snapshot `id` of the store that `visibility` is a copy of.
    #[cfg(feature = "testing")]
    pub(crate) fn copied(visibility: &Arc<Visibility>, id: u64) -> Option<Self> {
        let (state, ends) = visibility.registered(id)?;
        Some(Registered { visibility: Arc::clone(visibility), id, state, ends: AtomicU64::new(ends) })
    }

    pub(crate) fn state(&self) -> State {
        self.state
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    //= spec/transactions.md#t-3-4-too-old
    //# Every read through it from then on MUST be refused as `SnapshotTooOld`; none MUST answer from another
    //# state.
    /// Asked after a look, not before: what was not found may have been let go meanwhile (spec: T-3.4).
    #[inline]
    pub(crate) fn check_live(&self) -> Result<()> {
        let ends = self.visibility.ends();
        if ends == self.ends.load(Ordering::Relaxed) { Ok(()) } else { self.check_held(ends) }
    }

    /// Some have been ended since, of which this may be one.
    #[cold]
    fn check_held(&self, ends: u64) -> Result<()> {
        if !self.visibility.is_held(self.id) {
            return Err(Error::SnapshotTooOld { lsn: self.state.lsn.0 });
        }
        self.ends.store(ends, Ordering::Relaxed);
        Ok(())
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.visibility.let_go(self.id, false);
    }
}
