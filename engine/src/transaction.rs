//! Write transactions: any number of changes that become one commit, or none.

use std::borrow::Borrow;
use std::cell::{Ref, RefCell, RefMut};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::collection::encoded;
use crate::core::{Bodies, Draft, DraftWalk, Expect};
use crate::db::Db;
use crate::doc_ref::DocRef;
use crate::document::{self, AsKey, Document, Key};
use crate::error::{Error, Result};
use crate::index::KeyRange;
use crate::options::Durability;
use crate::pipeline::HeldTurn;
use crate::scan::KeyBounds;
use crate::ticket::Ticket;

/// A write transaction. Nobody else writes while it is open; what it changes is seen by itself alone until it commits. Dropped, it is
/// rolled back.
///
/// Begun by [`Db::write`] or [`Db::begin_write`]. Owned, so that it can be kept and sent; one thread at a time uses it.
#[derive(Debug)]
pub struct WriteTransaction {
    draft: RefCell<Draft>,
    // Given away before the store is let go.
    turn: HeldTurn,
    durability: Durability,
    db: Db,
}

/// A position in the changes of a transaction, to go back to. See [`WriteTransaction::savepoint`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Savepoint(crate::core::Savepoint);

impl WriteTransaction {
    pub(crate) fn begin(db: Db) -> Result<Self> {
        let turn = db.store().take_turn()?;
        let draft = RefCell::new(Draft::new(db.core(), turn.number()));
        Ok(WriteTransaction { draft, turn, durability: db.core().options.durability, db })
    }

    /// The changes so far, to look at.
    fn draft(&self) -> Ref<'_, Draft> {
        self.turn.is_used();
        self.draft.borrow()
    }

    /// The changes so far, to add to.
    fn draft_mut(&self) -> RefMut<'_, Draft> {
        self.turn.is_used();
        self.draft.borrow_mut()
    }

    /// The collection of this name, as the transaction sees it and changes it. It need not exist: the first write creates it.
    pub fn collection(&self, name: impl Into<String>) -> TxCollection<'_> {
        TxCollection { tx: self, name: name.into() }
    }

    /// The names of all collections, in the order of their bytes.
    pub fn collections(&self) -> Vec<String> {
        self.draft().names(self.db.core())
    }

    /// Creates a collection without a document. Whether it was not there before.
    ///
    /// # Errors
    /// `InvalidName`.
    pub fn create_collection(&self, name: &str) -> Result<bool> {
        self.draft_mut().create_collection(self.db.core(), name)
    }

    /// Drops a collection with all its documents. Whether there was one.
    ///
    /// # Errors
    /// `StorageFull` where a commit that this one rests on found no room.
    pub fn drop_collection(&self, name: &str) -> Result<bool> {
        self.draft_mut().drop_collection(self.db.core(), name)
    }

    /// Gives a collection another name. Whether there was one.
    ///
    /// # Errors
    /// `InvalidName` also where `to` is the name of a collection already.
    pub fn rename_collection(&self, name: &str, to: &str) -> Result<bool> {
        self.draft_mut().rename_collection(self.db.core(), name, to)
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
        Savepoint(self.draft.get_mut().savepoint())
    }

    /// Undoes every change made since `to`. The savepoint stays; those made after it are gone.
    ///
    /// # Errors
    /// `UnknownSavepoint` for one of another transaction, or one that is gone.
    pub fn rollback_to(&mut self, to: &Savepoint) -> Result<()> {
        if self.draft.get_mut().rollback_to(to.0) { Ok(()) } else { Err(Error::UnknownSavepoint) }
    }

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
    /// commit is not visible either, but the next writer builds on it.
    ///
    /// # Errors
    /// As [`commit`](Self::commit), as far as it is known by now.
    pub fn commit_deferred(self) -> Result<Ticket> {
        let db = self.db.clone();
        let ticket = self.place()?;
        // In case that nobody waits for it.
        db.store().ask_for_a_flush();
        Ok(ticket)
    }

    fn place(self) -> Result<Ticket> {
        let WriteTransaction { draft, turn, durability, db } = self;
        let deferred = db.store().commit_deferred(turn, draft.into_inner(), durability)?;
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
        let draft = RefCell::new(db.core().fork_draft(&self.draft.borrow()));
        Ok(WriteTransaction { draft, turn, durability: self.durability, db: db.clone() })
    }
}

/// A collection in a write transaction: reads see the transaction's own changes.
#[derive(Debug, Clone)]
pub struct TxCollection<'tx> {
    tx: &'tx WriteTransaction,
    name: String,
}

impl<'tx> TxCollection<'tx> {
    /// The collection's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// As [`Collection::insert`](crate::Collection::insert).
    ///
    /// # Errors
    /// `IdsExhausted`, `DocumentTooLarge`, `TooDeep`, `InvalidName`, `TransactionTooLarge`. The transaction is then as before.
    pub fn insert(&self, document: impl Borrow<Document>) -> Result<Key> {
        self.insert_encoded(|out| document.borrow().encode_into(out))
    }

    /// As [`Collection::insert_as`](crate::Collection::insert_as).
    ///
    /// # Errors
    /// As [`insert`](Self::insert), and `Serde` for what has no form as a document.
    pub fn insert_as<T: Serialize + ?Sized>(&self, value: &T) -> Result<Key> {
        self.insert_encoded(|out| document::to_bytes(value, out))
    }

    fn insert_encoded(&self, encode: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<Key> {
        encoded(encode, |body| self.change(|draft, db| draft.insert(db.core(), &self.name, body)))
    }

    /// As [`Collection::insert_many`](crate::Collection::insert_many).
    ///
    /// # Errors
    /// As [`insert`](Self::insert); then none of them is put.
    pub fn insert_many<D: Borrow<Document>>(
        &self,
        documents: impl IntoIterator<Item = D>,
    ) -> Result<Vec<Key>> {
        let mut bodies = Bodies::default();
        for document in documents {
            bodies.push(|out| document.borrow().encode_into(out))?;
        }
        self.change(|draft, db| draft.insert_many(db.core(), &self.name, &bodies))
    }

    /// As [`Collection::put`](crate::Collection::put).
    ///
    /// # Errors
    /// `KeyTooLong`, `DocumentTooLarge`, `TooDeep`, `InvalidName`, `TransactionTooLarge`. The transaction is then as before.
    pub fn put(&self, key: impl AsKey, document: impl Borrow<Document>) -> Result<()> {
        self.put_encoded(key, Expect::Anything, |out| document.borrow().encode_into(out)).map(|_| ())
    }

    /// As [`Collection::put_as`](crate::Collection::put_as).
    ///
    /// # Errors
    /// As [`put`](Self::put), and `Serde`.
    pub fn put_as<T: Serialize + ?Sized>(&self, key: impl AsKey, value: &T) -> Result<()> {
        self.put_encoded(key, Expect::Anything, |out| document::to_bytes(value, out)).map(|_| ())
    }

    /// As [`Collection::put_many`](crate::Collection::put_many).
    ///
    /// # Errors
    /// As [`put`](Self::put); then none of them is put.
    pub fn put_many<K: Into<Key>, D: Borrow<Document>>(
        &self,
        documents: impl IntoIterator<Item = (K, D)>,
    ) -> Result<u64> {
        let (mut keys, mut bodies) = (Vec::new(), Bodies::default());
        for (key, document) in documents {
            keys.push(key.into());
            bodies.push(|out| document.borrow().encode_into(out))?;
        }
        self.change(|draft, db| draft.put_many(db.core(), &self.name, &keys, &bodies))
    }

    /// As [`Collection::insert_with_key`](crate::Collection::insert_with_key).
    ///
    /// # Errors
    /// `KeyExists` where there is a document; and as [`put`](Self::put).
    pub fn insert_with_key(&self, key: impl AsKey, document: impl Borrow<Document>) -> Result<()> {
        self.put_encoded(key, Expect::Vacant, |out| document.borrow().encode_into(out)).map(|_| ())
    }

    /// As [`Collection::replace`](crate::Collection::replace).
    ///
    /// # Errors
    /// `UnknownCollection`, and as [`put`](Self::put).
    pub fn replace(&self, key: impl AsKey, document: impl Borrow<Document>) -> Result<bool> {
        self.put_encoded(key, Expect::Occupied, |out| document.borrow().encode_into(out))
    }

    /// As [`Collection::replace_if`](crate::Collection::replace_if). A document that the transaction itself has put has no version
    /// that could be asked for.
    ///
    /// # Errors
    /// `VersionMismatch`, `UnknownCollection`, and as [`put`](Self::put).
    pub fn replace_if(&self, key: impl AsKey, version: u64, document: impl Borrow<Document>) -> Result<()> {
        let expect = Expect::Version(version);
        self.put_encoded(key, expect, |out| document.borrow().encode_into(out)).map(|_| ())
    }

    fn put_encoded(
        &self,
        key: impl AsKey,
        expect: Expect,
        encode: impl FnOnce(&mut Vec<u8>) -> Result<()>,
    ) -> Result<bool> {
        let key = key.as_key();
        encoded(encode, |body| self.change(|draft, db| draft.put(db.core(), &self.name, key, expect, body)))
    }

    /// Deletes the document under `key`. Whether there was one.
    ///
    /// # Errors
    /// `UnknownCollection`, `KeyTooLong`, `TransactionTooLarge`.
    pub fn delete(&self, key: impl AsKey) -> Result<bool> {
        self.change(|draft, db| draft.delete(db.core(), &self.name, key.as_key(), None))
    }

    /// As [`Collection::delete_if`](crate::Collection::delete_if).
    ///
    /// # Errors
    /// `VersionMismatch`, and as [`delete`](Self::delete).
    pub fn delete_if(&self, key: impl AsKey, version: u64) -> Result<()> {
        self.change(|draft, db| draft.delete(db.core(), &self.name, key.as_key(), Some(version))).map(|_| ())
    }

    /// Takes all documents out. The id counter goes on.
    ///
    /// # Errors
    /// `UnknownCollection`.
    pub fn clear(&self) -> Result<()> {
        match self.change(|draft, db| draft.clear_collection(db.core(), &self.name))? {
            true => Ok(()),
            false => Err(Error::UnknownCollection { name: self.name.clone() }),
        }
    }

    fn change<R>(&self, change: impl FnOnce(&mut Draft, &Db) -> Result<R>) -> Result<R> {
        change(&mut self.tx.draft_mut(), &self.tx.db)
    }

    /// The document under `key`. One that the transaction has put itself has version 0.
    ///
    /// # Errors
    /// `UnknownCollection`; `Corrupt` where the record is damaged; `Io`.
    pub fn get(&self, key: impl AsKey) -> Result<Option<DocRef>> {
        let (draft, core) = (self.tx.draft(), self.tx.db.core());
        let documents = draft.documents(core, &self.name)?;
        Ok(draft.get(core, &documents, key.as_key())?.map(DocRef::new))
    }

    /// The document under `key`, decoded into a type of the caller's straight from its bytes.
    ///
    /// # Errors
    /// As [`get`](Self::get), and `Serde` where the document is not of that type.
    pub fn get_as<T: DeserializeOwned>(&self, key: impl AsKey) -> Result<Option<T>> {
        self.get(key)?.map(|found| document::from_bytes(found.bytes())).transpose()
    }

    /// Whether there is a document under `key`.
    ///
    /// # Errors
    /// `UnknownCollection`.
    pub fn contains(&self, key: impl AsKey) -> Result<bool> {
        let (draft, core) = (self.tx.draft(), self.tx.db.core());
        let documents = draft.documents(core, &self.name)?;
        draft.contains(core, &documents, key.as_key())
    }

    /// How many documents there are.
    ///
    /// # Errors
    /// `UnknownCollection`.
    pub fn len(&self) -> Result<u64> {
        let (draft, core) = (self.tx.draft(), self.tx.db.core());
        let documents = draft.documents(core, &self.name)?;
        draft.len(core, &documents)
    }

    /// Whether there are none.
    ///
    /// # Errors
    /// `UnknownCollection`.
    pub fn is_empty(&self) -> Result<bool> {
        self.len().map(|len| len == 0)
    }

    fn walk(&self, range: KeyRange) -> Result<TxWalk<'tx>> {
        let draft = self.tx.draft();
        let documents = draft.documents(self.tx.db.core(), &self.name)?;
        Ok(TxWalk { tx: self.tx, walk: DraftWalk::new(&draft, documents, range), over: false })
    }

    /// The documents whose keys lie in `range`, in key order, as the transaction leaves them now: what it changes while the scan goes
    /// on does not show in it.
    ///
    /// # Errors
    /// `UnknownCollection`. The iterator itself ends after its first `Err`.
    pub fn scan(&self, range: impl KeyBounds) -> Result<TxScan<'tx>> {
        self.walk(range.into_range()).map(TxScan)
    }

    /// The documents whose text keys begin with `prefix`, in key order.
    ///
    /// # Errors
    /// As [`scan`](Self::scan).
    pub fn scan_prefix(&self, prefix: &str) -> Result<TxScan<'tx>> {
        self.walk(KeyRange::text_prefix(prefix)).map(TxScan)
    }

    /// The documents whose byte-string keys begin with `prefix`, in key order.
    ///
    /// # Errors
    /// As [`scan`](Self::scan).
    pub fn scan_prefix_bytes(&self, prefix: &[u8]) -> Result<TxScan<'tx>> {
        self.walk(KeyRange::bytes_prefix(prefix)).map(TxScan)
    }

    /// The keys in `range`, in order.
    ///
    /// # Errors
    /// As [`scan`](Self::scan).
    pub fn keys(&self, range: impl KeyBounds) -> Result<TxKeys<'tx>> {
        self.walk(range.into_range()).map(TxKeys)
    }
}

#[derive(Debug)]
struct TxWalk<'tx> {
    tx: &'tx WriteTransaction,
    walk: DraftWalk,
    over: bool,
}

/// The documents of a key range in a write transaction.
#[derive(Debug)]
pub struct TxScan<'tx>(TxWalk<'tx>);

impl TxScan<'_> {
    /// What is left of the scan, from its other end.
    #[must_use]
    pub fn reversed(mut self) -> Self {
        self.0.walk.reverse();
        self
    }
}

impl Iterator for TxScan<'_> {
    type Item = Result<DocRef>;

    fn next(&mut self) -> Option<Self::Item> {
        let TxWalk { tx, walk, over } = &mut self.0;
        if *over {
            return None;
        }
        let found = walk.next_document(tx.db.core(), &tx.draft()).transpose();
        *over = !matches!(found, Some(Ok(_)));
        found.map(|found| found.map(DocRef::new))
    }
}

impl std::iter::FusedIterator for TxScan<'_> {}

/// The keys of a range in a write transaction.
#[derive(Debug)]
pub struct TxKeys<'tx>(TxWalk<'tx>);

impl TxKeys<'_> {
    /// What is left of the keys, from the other end.
    #[must_use]
    pub fn reversed(mut self) -> Self {
        self.0.walk.reverse();
        self
    }
}

impl Iterator for TxKeys<'_> {
    type Item = Result<Key>;

    fn next(&mut self) -> Option<Self::Item> {
        let TxWalk { tx, walk, over } = &mut self.0;
        if *over {
            return None;
        }
        let found = walk.next_key(tx.db.core(), &tx.draft()).transpose();
        *over = !matches!(found, Some(Ok(_)));
        found
    }
}

impl std::iter::FusedIterator for TxKeys<'_> {}
