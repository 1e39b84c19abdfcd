//! The calls on the documents of one collection, each written once: for a collection as it is now, in a write transaction, and as a
//! snapshot has it.
//!
//! A new call is one method here. One that reads is made of what [`Reads`] asks of every state, one that writes is one method more of
//! [`WriteTxn`], which it passes to [`Writes::change`].

use std::borrow::Borrow;
use std::cell::Cell;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::core::{Bodies, Expect, WriteTxn};
use crate::doc_ref::DocRef;
use crate::document::{self, AsKey, Document, Key, KeyRef};
use crate::error::{Error, Result};
use crate::index::KeyRange;
use crate::indexed::IndexView;
use crate::scan::KeyBounds;
use crate::secondary::IndexDefinition;

/// A state in which the documents of one collection are read.
#[expect(private_interfaces, reason = "the states are the store's own")]
pub trait Reads {
    /// A scan of documents, and one of keys.
    type Scan;
    type Keys;
    type Index: IndexView;

    fn name(&self) -> &str;
    fn get(&self, key: KeyRef<'_>) -> Result<Option<DocRef>>;
    fn contains(&self, key: KeyRef<'_>) -> Result<bool>;
    fn len(&self) -> Result<u64>;
    fn scan(&self, range: KeyRange) -> Result<Self::Scan>;
    fn keys(&self, range: KeyRange) -> Result<Self::Keys>;
    fn open_index(&self, name: &str) -> Result<Self::Index>;
    fn indexes(&self) -> Result<Vec<IndexDefinition>>;
}

/// A state that can be changed.
pub(crate) trait Writes: Reads {
    /// Carries out `change` in the transaction, or in a commit of its own.
    fn change<R>(&self, change: impl FnOnce(&mut WriteTxn) -> Result<R>) -> Result<R>;
}

/// The documents under one name, in the state that `S` stands for: see [`Collection`](crate::Collection),
/// [`TxCollection`](crate::TxCollection) and [`View`](crate::View). Cheap to make and to clone.
///
/// Keys are integers, text or bytes, and may mix. They are ordered: integers, then text, then bytes.
///
/// Every call that reads may say `Corrupt`, where a record is damaged, and `Io`; `UnknownCollection` where there is no collection of the name;
/// in a snapshot, `SnapshotTooOld`. Every call that writes may say what [`Db::flush`](crate::Db::flush) may, and, in a transaction,
/// `TransactionTooLarge`: the transaction is then as it was before the call.
#[derive(Debug, Clone)]
pub struct Handle<S> {
    pub(crate) source: S,
}

thread_local! {
    /// What the last call of this thread encoded into, kept so that a steady writer allocates nothing.
    static SCRATCH: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// A buffer beyond this is given back after use.
const SCRATCH_BYTES: usize = 4 << 20;

/// Encodes a document, then passes it on. The encoding is the caller's code and may itself use the store, or the transaction, so
/// nothing is locked or borrowed meanwhile.
#[inline]
pub(crate) fn encoded<R>(
    encode: impl FnOnce(&mut Vec<u8>) -> Result<()>,
    then: impl FnOnce(&[u8]) -> Result<R>,
) -> Result<R> {
    let mut body = SCRATCH.take();
    body.clear();
    let result = encode(&mut body).and_then(|()| then(&body));
    if body.capacity() > SCRATCH_BYTES {
        body.shrink_to(SCRATCH_BYTES);
    }
    SCRATCH.set(body);
    result
}

impl<S: Reads> Handle<S> {
    /// The collection's name.
    pub fn name(&self) -> &str {
        self.source.name()
    }

    /// The document under `key`. Its bytes are verified now and stay in memory while the result lives; nothing is decoded
    /// before it is asked for. One that this very transaction has put has version 0.
    ///
    /// # Errors
    /// As every read.
    pub fn get(&self, key: impl AsKey) -> Result<Option<DocRef>> {
        self.source.get(key.as_key())
    }

    /// The document under `key`, decoded into a type of the caller's straight from its bytes.
    ///
    /// # Errors
    /// As [`get`](Self::get), and `Serde` where the document is not of that type.
    pub fn get_as<T: DeserializeOwned>(&self, key: impl AsKey) -> Result<Option<T>> {
        self.get(key)?.map(|found| document::from_bytes(found.bytes())).transpose()
    }

    /// Whether there is a document under `key`; told by the index, without a read.
    ///
    /// # Errors
    /// As every read.
    pub fn contains(&self, key: impl AsKey) -> Result<bool> {
        self.source.contains(key.as_key())
    }

    /// How many documents there are.
    ///
    /// # Errors
    /// As every read.
    pub fn len(&self) -> Result<u64> {
        self.source.len()
    }

    /// Whether there are none.
    ///
    /// # Errors
    /// As every read.
    pub fn is_empty(&self) -> Result<bool> {
        self.len().map(|len| len == 0)
    }

    /// The documents whose keys lie in `range`, in key order, in one state: what is written meanwhile is not seen, in a transaction not even
    /// what that writes. Streams: a page of the index is looked at in turn. Its `reversed` goes in the other direction.
    ///
    /// ```
    /// use holotype::{Db, doc};
    ///
    /// let db = Db::in_memory();
    /// let numbers = db.collection("numbers");
    /// numbers.insert_many((1..=9).map(|n| doc! { "n": n }))?;
    /// let found = numbers.scan(3..6)?.reversed().map(|doc| doc.map(|doc| doc.get("n")?.as_i64())).collect::<Result<Vec<_>, _>>()?;
    /// assert_eq!(found, [Some(5), Some(4), Some(3)]);
    /// # Ok::<(), holotype::Error>(())
    /// ```
    ///
    /// # Errors
    /// As every read. The iterator itself ends after its first `Err`.
    pub fn scan(&self, range: impl KeyBounds) -> Result<S::Scan> {
        self.source.scan(range.into_range())
    }

    /// The documents whose text keys begin with `prefix`, in key order.
    ///
    /// # Errors
    /// As [`scan`](Self::scan).
    pub fn scan_prefix(&self, prefix: &str) -> Result<S::Scan> {
        self.source.scan(KeyRange::text_prefix(prefix))
    }

    /// The documents whose byte-string keys begin with `prefix`, in key order.
    ///
    /// # Errors
    /// As [`scan`](Self::scan).
    pub fn scan_prefix_bytes(&self, prefix: &[u8]) -> Result<S::Scan> {
        self.source.scan(KeyRange::bytes_prefix(prefix))
    }

    /// The keys in `range`, in order; told by the index, without a read.
    ///
    /// # Errors
    /// As [`scan`](Self::scan).
    pub fn keys(&self, range: impl KeyBounds) -> Result<S::Keys> {
        self.source.keys(range.into_range())
    }
}

#[expect(private_bounds, reason = "the states are the store's own")]
impl<S: Writes> Handle<S> {
    /// Puts a new document under the next id, and returns it. Ids start at 1; the next is one above the largest integer key
    /// ever put into the collection, and none is given twice.
    ///
    /// # Errors
    /// `IdsExhausted`, `DocumentTooLarge`, `TooDeep`, and what any write may say.
    pub fn insert(&self, document: impl Borrow<Document>) -> Result<Key> {
        self.insert_encoded(|out| document.borrow().encode_into(out))
    }

    /// As [`insert`](Self::insert), for any type that serde can turn into an object, without a `Document` in between.
    ///
    /// # Errors
    /// As [`insert`](Self::insert), and `Serde` for what has no form as a document.
    pub fn insert_as<T: Serialize + ?Sized>(&self, value: &T) -> Result<Key> {
        self.insert_encoded(|out| document::to_bytes(value, out))
    }

    fn insert_encoded(&self, encode: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<Key> {
        encoded(encode, |body| self.source.change(|txn| txn.insert(self.name(), body)))
    }

    /// Puts any number of new documents under the next ids in one commit: all of them, or none.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    pub fn insert_many<D: Borrow<Document>>(
        &self,
        documents: impl IntoIterator<Item = D>,
    ) -> Result<Vec<Key>> {
        let bodies = Bodies::of(documents, usize::MAX)?;
        self.source.change(|txn| txn.insert_many(self.name(), &bodies))
    }

    /// Puts a document under `key`, whether there was one or not.
    ///
    /// # Errors
    /// `KeyTooLong`, `DocumentTooLarge`, `TooDeep`, and what any write may say.
    pub fn put(&self, key: impl AsKey, document: impl Borrow<Document>) -> Result<()> {
        self.put_encoded(key, Expect::Anything, |out| document.borrow().encode_into(out)).map(|_| ())
    }

    /// As [`put`](Self::put), for any type that serde can turn into an object.
    ///
    /// # Errors
    /// As [`put`](Self::put), and `Serde`.
    pub fn put_as<T: Serialize + ?Sized>(&self, key: impl AsKey, value: &T) -> Result<()> {
        self.put_encoded(key, Expect::Anything, |out| document::to_bytes(value, out)).map(|_| ())
    }

    /// Puts any number of documents under keys of the caller's in one commit: all of them, or none. Where a key comes twice, the
    /// later document stays. How many there were.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    pub fn put_many<K: Into<Key>, D: Borrow<Document>>(
        &self,
        documents: impl IntoIterator<Item = (K, D)>,
    ) -> Result<u64> {
        let (keys, bodies) = Bodies::under_keys(documents, usize::MAX)?;
        self.source.change(|txn| txn.put_many(self.name(), &keys, &bodies))
    }

    /// Puts a document under a key that is free.
    ///
    /// # Errors
    /// `KeyExists` where there is a document; and as [`put`](Self::put).
    pub fn insert_with_key(&self, key: impl AsKey, document: impl Borrow<Document>) -> Result<()> {
        self.put_encoded(key, Expect::Vacant, |out| document.borrow().encode_into(out)).map(|_| ())
    }

    /// Puts a document in the place of the one under `key`. Whether there was one; if not, nothing is done.
    ///
    /// # Errors
    /// `UnknownCollection`, and as [`put`](Self::put).
    pub fn replace(&self, key: impl AsKey, document: impl Borrow<Document>) -> Result<bool> {
        self.put_encoded(key, Expect::Occupied, |out| document.borrow().encode_into(out))
    }

    /// Puts a document in the place of the one under `key` if that is still of `version`, as [`DocRef::version`] gave it: so nothing
    /// that another has written since is lost. A document that the transaction itself has put has no version
    /// that could be asked for.
    ///
    /// ```
    /// use holotype::{Db, Error, doc};
    ///
    /// let db = Db::in_memory();
    /// let counters = db.collection("counters");
    /// counters.put("hits", doc! { "n": 1 })?;
    /// let seen = counters.get("hits")?.expect("it was just put there").version();
    /// counters.replace_if("hits", seen, doc! { "n": 2 })?;
    /// let again = counters.replace_if("hits", seen, doc! { "n": 2 });
    /// assert!(matches!(again, Err(Error::VersionMismatch { .. })));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// `VersionMismatch` where it is not, or is gone; `UnknownCollection`, and as [`put`](Self::put).
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
        encoded(encode, |body| self.source.change(|txn| txn.put(self.name(), key, expect, body)))
    }

    /// Deletes the document under `key`. Whether there was one.
    ///
    /// # Errors
    /// `UnknownCollection`, `KeyTooLong`, and what any write may say.
    pub fn delete(&self, key: impl AsKey) -> Result<bool> {
        let key = key.as_key();
        self.source.change(|txn| txn.delete(self.name(), key, None))
    }

    /// Deletes the document under `key` if it is still of `version`, as [`DocRef::version`] gave it.
    ///
    /// # Errors
    /// `VersionMismatch` where it is not, or is gone; and as [`delete`](Self::delete).
    pub fn delete_if(&self, key: impl AsKey, version: u64) -> Result<()> {
        let key = key.as_key();
        self.source.change(|txn| txn.delete(self.name(), key, Some(version))).map(|_| ())
    }

    /// Takes all documents out, in one step however many they are. The id counter goes on.
    ///
    /// # Errors
    /// `UnknownCollection`, and what any write may say.
    pub fn clear(&self) -> Result<()> {
        match self.source.change(|txn| txn.clear_collection(self.name()))? {
            true => Ok(()),
            false => Err(Error::UnknownCollection { name: self.name().to_owned() }),
        }
    }
}
