//! A live snapshot.

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
    /// How many snapshots had been ended when it was taken. As long as there are no more, it was not.
    ends: u64,
}

impl Registered {
    /// Holds the visible state; `taken` says when that began, if its age matters to anyone.
    pub(crate) fn new(visibility: &Arc<Visibility>, taken: Option<Instant>) -> Self {
        let (id, state, ends) = visibility.register(taken);
        Registered { visibility: Arc::clone(visibility), id, state, ends }
    }

    /// The snapshot `id` of the store that `visibility` is a copy of.
    #[cfg(feature = "testing")]
    pub(crate) fn copied(visibility: &Arc<Visibility>, id: u64) -> Option<Self> {
        let (state, ends) = visibility.registered(id)?;
        Some(Registered { visibility: Arc::clone(visibility), id, state, ends })
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
        if self.visibility.ends() == self.ends { Ok(()) } else { self.check_held() }
    }

    /// Some have been ended since, of which this may be one.
    #[cold]
    fn check_held(&self) -> Result<()> {
        if self.visibility.is_held(self.id) {
            Ok(())
        } else {
            Err(Error::SnapshotTooOld { lsn: self.state.lsn.0 })
        }
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.visibility.let_go(self.id, false);
    }
}
