//! A commit that is applied to the index and not visible yet.

use crate::format::Lsn;
use crate::index::State;
use crate::log::{Batch, Mark};

/// All that it takes to publish a commit later, or to take it back.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) batch: Batch,
    /// Whether it must be durable before it is seen (spec: T-4.2).
    pub(crate) needs_sync: bool,
    /// The end of the log before it.
    pub(crate) mark: Mark,
    /// How many versions it supersedes, which wait until it is visible.
    pub(super) superseded: usize,
}

impl Pending {
    pub(crate) fn new(batch: Batch, needs_sync: bool, mark: Mark) -> Self {
        Pending { batch, needs_sync, mark, superseded: 0 }
    }

    /// The state that it makes.
    pub(super) fn state(&self) -> State {
        State { lsn: self.batch.lsn, address: self.batch.end }
    }

    //= spec/semantics.md#s-6-8-visibility
    //# A commit of class `Synced` MUST NOT be visible to any reader before it is durable; the commits after
    //# it wait for it.
    //= spec/transactions.md#t-4-2-durable-before-visible
    //# A commit of class `Synced` MUST NOT be visible before it is durable.
    pub(super) fn may_be_seen(&self, durable: Lsn) -> bool {
        !self.needs_sync || self.batch.lsn <= durable
    }

    #[cfg(feature = "testing")]
    pub(super) fn fork(
        &self,
        copy_of: &mut dyn FnMut(
            &crate::sync::Arc<crate::index::Documents>,
        ) -> crate::sync::Arc<crate::index::Documents>,
    ) -> Self {
        Pending {
            batch: self.batch.fork(copy_of),
            needs_sync: self.needs_sync,
            mark: self.mark.clone(),
            superseded: self.superseded,
        }
    }
}
