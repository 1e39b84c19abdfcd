//! A live snapshot.

use crate::error::{Error, Result};
use crate::index::State;
use crate::sync::{Arc, AtomicBool, Instant, Ordering};

use super::Visibility;

/// A state that stays readable until this is dropped, or ended.
#[derive(Debug)]
pub(crate) struct Registered {
    visibility: Arc<Visibility>,
    id: u64,
    state: State,
    ended: Arc<AtomicBool>,
}

impl Registered {
    /// Holds the visible state; `taken` says when that began, if its age matters to anyone.
    pub(crate) fn new(visibility: &Arc<Visibility>, taken: Option<Instant>) -> Self {
        let (id, state, ended) = visibility.register(taken);
        Registered { visibility: Arc::clone(visibility), id, state, ended }
    }

    /// The snapshot `id` of the store that `visibility` is a copy of.
    #[cfg(feature = "testing")]
    pub(crate) fn copied(visibility: &Arc<Visibility>, id: u64) -> Option<Self> {
        let (state, ended) = visibility.registered(id)?;
        Some(Registered { visibility: Arc::clone(visibility), id, state, ended })
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
        if self.ended.load(Ordering::Acquire) { Err(self.too_old()) } else { Ok(()) }
    }

    #[cold]
    fn too_old(&self) -> Error {
        Error::SnapshotTooOld { lsn: self.state.lsn.0 }
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.visibility.release(self.id);
    }
}
