//! What a store hands out: collections, transactions, snapshots, feeds.

use crate::collection::Collection;
use crate::error::{Error, Result};
use crate::snapshot::Snapshot;
use crate::transaction::WriteTransaction;
use crate::watch::Watch;

use super::Db;

impl Db {
    /// The collection of this name. It need not exist: the first write creates it, and until then reads say
    /// `UnknownCollection`.
    pub fn collection(&self, name: impl Into<String>) -> Collection {
        Collection::new(self.clone(), name.into())
    }

    /// Carries out `work` in a write transaction: commits where it answers `Ok`, rolls back where it answers `Err` or panics. Nobody else
    /// writes meanwhile; readers go on, and see nothing of it before it has committed.
    ///
    /// ```
    /// use holotype::{Db, Error, doc};
    ///
    /// let db = Db::in_memory();
    /// let accounts = db.collection("accounts");
    /// accounts.put("ann", doc! { "balance": 70 })?;
    /// accounts.put("bob", doc! { "balance": 30 })?;
    /// db.write(|tx| {
    ///     let accounts = tx.collection("accounts");
    ///     let balance = |who| Ok::<_, Error>(accounts.get(who)?.and_then(|doc| doc.get("balance")?.as_i64()).unwrap_or(0));
    ///     let (ann, bob) = (balance("ann")?, balance("bob")?);
    ///     accounts.put("ann", doc! { "balance": ann - 25 })?;
    ///     accounts.put("bob", doc! { "balance": bob + 25 })?;
    ///     Ok::<_, Error>(())
    /// })?;
    /// let bob = accounts.get("bob")?.expect("it was just put there");
    /// assert_eq!(bob.get("balance").and_then(|balance| balance.as_i64()), Some(55));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// What `work` answers; `WriterBusy`, and what any write may say.
    pub fn write<R, E: From<Error>>(
        &self,
        work: impl FnOnce(&mut WriteTransaction) -> Result<R, E>,
    ) -> Result<R, E> {
        let mut tx = self.begin_write()?;
        // A panic drops the transaction, which rolls it back.
        match work(&mut tx) {
            Ok(answer) => {
                tx.commit()?;
                Ok(answer)
            }
            Err(error) => {
                tx.rollback()?;
                Err(error)
            }
        }
    }

    /// Begins a write transaction, once it is the caller's turn to write. It is owned: it can be kept, and sent to another thread.
    ///
    /// # Errors
    /// `WriterBusy` after [`Options::write_wait`](crate::Options::write_wait), and at once for a thread whose own transaction is open; `Poisoned`, `Closed`,
    /// `ReadOnly`.
    pub fn begin_write(&self) -> Result<WriteTransaction> {
        WriteTransaction::begin(self.clone())
    }

    /// The store as its last visible commit left it, for as long as the snapshot is held: it keeps nobody waiting, and nobody it.
    ///
    /// ```
    /// use holotype::{Db, doc};
    ///
    /// let db = Db::in_memory();
    /// let notes = db.collection("notes");
    /// notes.put("a", doc! { "n": 1 })?;
    /// let before = db.snapshot();
    /// notes.put("a", doc! { "n": 2 })?;
    /// notes.delete("a")?;
    /// let note = before.collection("notes")?.get("a")?.expect("it was there then");
    /// assert_eq!(note.get("n").and_then(|n| n.as_i64()), Some(1));
    /// # Ok::<(), holotype::Error>(())
    /// ```
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::take(self.clone())
    }

    /// Carries out `work` on a snapshot.
    pub fn read<R>(&self, work: impl FnOnce(&Snapshot) -> R) -> R {
        work(&self.snapshot())
    }

    /// The visible commits behind the one of LSN `from`, in order, and those to come; 0 stands for the beginning of the log.
    ///
    /// ```
    /// use holotype::{Change, Db, doc};
    ///
    /// let db = Db::in_memory();
    /// let mut watch = db.watch(0)?;
    /// db.collection("notes").put("a", doc! { "n": 1 })?;
    /// let commit = watch.try_next()?.expect("one was made");
    /// let [Change::Create { .. }, Change::Put { at, .. }] = &commit.changes[..] else { panic!("the first write creates") };
    /// let note = db.document_at(*at)?.expect("it is still there");
    /// assert_eq!(note.get("n").and_then(|n| n.as_i64()), Some(1));
    /// # Ok::<(), holotype::Error>(())
    /// ```
    ///
    /// # Errors
    /// `LsnUnknown` where no commit of this store has it, as after a crash that took it back; `LsnGone` where part of the log behind it
    /// is no longer in place.
    pub fn watch(&self, from: u64) -> Result<Watch> {
        Watch::begin(self.clone(), from)
    }
}
