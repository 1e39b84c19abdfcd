//! Write transactions: any number of changes that become one commit, or none.

pub(crate) mod collection;
pub(crate) mod scan;

use std::cell::{RefCell, RefMut};

use crate::core::WriteTxn;
use crate::db::Db;
use crate::error::{Error, Result};
use crate::options::Durability;
use crate::pipeline::HeldTurn;
use crate::sync::Arc;
use crate::ticket::Ticket;

/// A write transaction. Nobody else writes while it is open; what it changes is seen by itself alone until it commits. Dropped, it is
/// rolled back.
///
/// Begun by [`Db::write`] or [`Db::begin_write`]. Owned, so that it can be kept and sent; one thread at a time uses it.
#[derive(Debug)]
pub struct WriteTransaction {
    txn: RefCell<WriteTxn>,
    // Given away before the store is let go.
    turn: HeldTurn,
    durability: Durability,
    db: Db,
}

/// A position in the changes of a transaction, to go back to. See [`WriteTransaction::savepoint`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Savepoint(crate::core::Savepoint);

impl WriteTransaction {
    pub(crate) fn begin(db: Db) -> Result<Self> {
        let turn = db.store().take_turn()?;
        let shared = Arc::clone(&db.core().shared);
        let bytes_max = shared.options.transaction_bytes;
        let txn = RefCell::new(WriteTxn::new(shared, bytes_max));
        Ok(WriteTransaction { txn, turn, durability: db.core().shared.options.durability, db })
    }

    /// The store that is written.
    pub(crate) fn store(&self) -> &Db {
        &self.db
    }

    /// The changes so far, to look at and to add to.
    pub(crate) fn txn(&self) -> RefMut<'_, WriteTxn> {
        self.turn.is_used();
        self.txn.borrow_mut()
    }

    /// The names of all collections, in the order of their bytes.
    pub fn collections(&self) -> Vec<String> {
        self.txn().names()
    }

    /// Creates a collection without a document. Whether it was not there before.
    ///
    /// # Errors
    /// `InvalidName`.
    pub fn create_collection(&self, name: &str) -> Result<bool> {
        self.txn().call(|txn| txn.create_collection(name))
    }

    /// Drops a collection with all its documents. Whether there was one.
    ///
    /// # Errors
    /// `StorageFull` where a commit that this one rests on found no room.
    pub fn drop_collection(&self, name: &str) -> Result<bool> {
        self.txn().call(|txn| txn.drop_collection(name))
    }

    /// Gives a collection another name. Whether there was one.
    ///
    /// # Errors
    /// `InvalidName` also where `to` is the name of a collection already.
    pub fn rename_collection(&self, name: &str, to: &str) -> Result<bool> {
        self.txn().call(|txn| txn.rename_collection(name, to))
    }

    /// Notes the present position, to which [`rollback_to`](Self::rollback_to) can go back. Savepoints nest.
    ///
    /// ```
    /// use holotype::{Db, Error, doc};
    ///
    /// let db = Db::in_memory();
    /// db.write(|tx| {
    ///     tx.collection("notes").put("kept", doc! {})?;
    ///     let here = tx.savepoint();
    ///     tx.collection("notes").put("gone", doc! {})?;
    ///     tx.rollback_to(&here)
    /// })?;
    /// assert_eq!(db.collection("notes").len()?, 1);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn savepoint(&mut self) -> Savepoint {
        Savepoint(self.txn().savepoint())
    }

    /// Undoes every change made since `to`. The savepoint stays; those made after it are gone.
    ///
    /// # Errors
    /// `UnknownSavepoint` for one of another transaction, or one that is gone.
    pub fn rollback_to(&mut self, to: &Savepoint) -> Result<()> {
        if self.txn().rollback_to(&to.0) { Ok(()) } else { Err(Error::UnknownSavepoint) }
    }

    //= spec/durability.md#d-2-1-where-a-class-comes-from
    //# A store MUST NOT give a commit a class that is weaker than the one that was asked for.
    /// How durable the commit is to be. As the store's options say, unless it is said here.
    pub fn set_durability(&mut self, durability: Durability) {
        self.durability = durability;
    }

    /// Makes all changes one commit, and returns its LSN; where nothing was changed, that of the last commit before.
    ///
    /// # Errors
    /// What any write may say. Nothing of the transaction is left then, unless the handle is `Poisoned` by it: then reopening
    /// decides.
    pub fn commit(self) -> Result<u64> {
        self.place()?.wait()
    }

    /// Makes all changes one commit, and does not wait until it is as durable as its class says: the ticket tells. Until then the
    /// commit is not visible either, but the next writer builds on it. Where the file is near its bound, and writers must help to make it shorter,
    /// it waits all the same.
    ///
    /// # Errors
    /// As [`commit`](Self::commit), as far as it is known by now.
    pub fn commit_deferred(self) -> Result<Ticket> {
        self.place().map(Ticket::left_open)
    }

    //= spec/transactions.md#t-2-1-one-commit
    //# When it commits, all of them MUST become one commit; when it is rolled back, none of them takes
    //# effect.
    fn place(self) -> Result<Ticket> {
        let WriteTransaction { txn, turn, durability, db } = self;
        let deferred = db.store().commit_deferred(turn, txn.into_inner(), durability)?;
        Ok(Ticket::new(deferred, db))
    }

    /// Gives up all changes. Waits for the commits that it may have read and that are not yet durable. A transaction that is dropped
    /// does the same, and keeps quiet about what goes wrong.
    ///
    /// # Errors
    /// `Io` or `Poisoned` where those commits turn out to be lost.
    pub fn rollback(self) -> Result<()> {
        let WriteTransaction { turn, db, .. } = self;
        db.store().roll_back(turn)
    }

    /// A copy on a copy of the store.
    ///
    /// # Errors
    /// As [`Db::begin_write`].
    #[cfg(feature = "testing")]
    pub fn fork(&self, db: &Db) -> Result<WriteTransaction> {
        let turn = db.store().take_turn()?;
        let txn = RefCell::new(db.core().fork_txn(&self.txn.borrow()));
        Ok(WriteTransaction { txn, turn, durability: self.durability, db: db.clone() })
    }
}
