//! A commit that is placed and not waited for.

use std::pin::Pin;
use std::task::{Context, Poll};

use crate::db::Db;
use crate::error::Result;
use crate::pipeline::Deferred;
use crate::seeded::{self, Bug};

//= spec/durability.md#d-3-2-deferred-waiting
//# Dropping a ticket MUST NOT change the fate of the commit.
/// Tells when a commit is visible and as durable as its class says. From
/// [`WriteTransaction::commit_deferred`](crate::WriteTransaction::commit_deferred).
///
/// It can be waited for in either way: [`wait`](Self::wait) in a thread, `.await` in a task of any executor. A task leaves the sync to the
/// store's own thread; without one ([`Background::Manual`](crate::Background::Manual)) somebody has to flush.
///
/// ```
/// use holotype::{Db, doc};
///
/// let db = Db::in_memory();
/// let tx = db.begin_write()?;
/// tx.collection("notes").put("a", doc! {})?;
/// let ticket = tx.commit_deferred()?;
/// let lsn = ticket.wait()?;
/// assert_eq!(db.collection("notes").get("a")?.map(|note| note.version()), Some(lsn));
/// # Ok::<(), holotype::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "a commit that nobody waits for may be lost"]
pub struct Ticket {
    // Let go before the store is.
    deferred: Deferred,
    db: Db,
}

impl Ticket {
    pub(crate) fn new(deferred: Deferred, db: Db) -> Self {
        Ticket { deferred, db }
    }

    /// In case that nobody waits for it.
    pub(crate) fn left_open(mut self) -> Ticket {
        self.db.store().leave_open(&mut self.deferred);
        self
    }

    /// The commit's LSN; where the transaction changed nothing, that of the last commit before.
    pub fn lsn(&self) -> u64 {
        self.deferred.lsn.0
    }

    //= spec/durability.md#d-3-1-what-acknowledges
    //# A call that says whether a commit is durable MUST NOT say so before a sync that covers it has returned
    //# success.
    /// Whether the commit is visible, and as durable as its class says.
    ///
    /// # Errors
    /// As [`wait`](Self::wait), once it is known.
    pub fn is_durable(&self) -> Result<bool> {
        let seen = || self.db.store().core.shared.visibility.visible().lsn.0;
        let is_seen = seeded::is_on(Bug::SeenIsAcknowledged) && seen() >= self.lsn();
        self.deferred.look().transpose().map(|reached| is_seen || reached.is_some())
    }

    /// Waits until the commit is visible, and as durable as its class says. Returns its LSN.
    ///
    /// # Errors
    /// `Io` or `Poisoned` where a sync failed: reopening decides what became of the commit. `StorageFull` where there was no room to
    /// hand it over: it is taken back.
    pub fn wait(self) -> Result<u64> {
        self.db.store().wait_for(&self.deferred)?;
        Ok(self.lsn())
    }
}

impl Future for Ticket {
    type Output = Result<u64>;

    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        match self.db.store().poll(&self.deferred, task.waker()) {
            Some(outcome) => Poll::Ready(outcome.map(|()| self.lsn())),
            None => Poll::Pending,
        }
    }
}
