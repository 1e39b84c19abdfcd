//! Commits that are placed, and waited for later.

use std::task::Waker;

use crate::core::Upkeep;
use crate::error::Result;
use crate::format::Lsn;

use super::group::Waiter;

/// A commit that is placed, and what is left to wait for.
#[derive(Debug)]
pub(crate) struct Deferred {
    /// The commit; where there was nothing to commit, the last one before.
    pub(crate) lsn: Lsn,
    pub(super) waiting: Option<Waiter>,
    /// What it has made due, to be seen to once it was waited for.
    pub(super) due: Upkeep,
}

impl Deferred {
    /// What became of it; none while that is open.
    pub(crate) fn look(&self) -> Option<Result<()>> {
        self.waiting.as_ref().map_or(Some(Ok(())), Waiter::look)
    }

    /// As [`look`](Self::look); where it is open, `task` is woken when it may no longer be.
    pub(super) fn poll(&self, task: &Waker) -> Option<Result<()>> {
        self.waiting.as_ref().map_or(Some(Ok(())), |waiter| waiter.poll(task))
    }
}
