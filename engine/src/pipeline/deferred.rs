//! Commits that are placed, and waited for later.

use std::task::Waker;

use crate::error::Result;
use crate::format::Lsn;
use crate::sync::Arc;

use super::Store;
use super::group::{Goal, Waiter};

/// A commit that is placed, and what is left to wait for.
#[derive(Debug)]
pub(crate) struct Deferred {
    /// The commit; where there was nothing to commit, the last one before.
    pub(crate) lsn: Lsn,
    pub(super) waiting: Option<(Waiter, Goal)>,
}

impl Deferred {
    pub(crate) fn wait(&self, store: &Store) -> Result<()> {
        self.waiting.as_ref().map_or(Ok(()), |(waiter, goal)| store.wait(waiter, *goal))
    }

    /// What became of it; none while that is open.
    pub(crate) fn look(&self) -> Option<Result<()>> {
        self.waiting.as_ref().map_or(Some(Ok(())), |(waiter, goal)| waiter.look(*goal))
    }

    /// As [`look`](Self::look); where it is open, `task` is woken when it may no longer be, and somebody sees to it that it gets on.
    pub(crate) fn poll(&self, store: &Arc<Store>, task: &Waker) -> Option<Result<()>> {
        let Some((waiter, goal)) = &self.waiting else { return Some(Ok(())) };
        let outcome = waiter.poll(*goal, task);
        if outcome.is_none() {
            store.flush_soon();
        }
        outcome
    }
}
