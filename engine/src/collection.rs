//! A collection of documents: each method is one commit, or one read of the newest visible state.

use std::borrow::Borrow;
use std::cell::Cell;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::cached_naming::CachedNaming;
use crate::core::{Bodies, Expect, Writer};
use crate::db::Db;
use crate::doc_ref::DocRef;
use crate::document::{self, AsKey, Document, Key};
use crate::error::{Error, Result};
use crate::index::{KeyRange, Naming};
use crate::options::Durability;
use crate::scan::{KeyBounds, Keys, Scan};
use crate::sync::Arc;
use crate::txn::Registered;

/// A handle to the documents under one name. Cheap to make and to clone.
///
/// Keys are integers, text or bytes, and may mix. They are ordered: integers, then text, then bytes.
///
/// ```
/// use holotype::{Db, doc};
///
/// let db = Db::in_memory();
/// let notes = db.collection("notes");
/// notes.put("b", doc! { "n": 2 })?;
/// notes.put("a", doc! { "n": 1 })?;
/// let keys: Vec<String> = notes.keys(..)?.map(|key| key.map(|key| key.to_string())).collect::<Result<_, _>>()?;
/// assert_eq!(keys, ["\"a\"", "\"b\""]);
/// # Ok::<(), holotype::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Collection {
    pub(crate) db: Db,
    name: String,
    pub(crate) durability: Durability,
    naming: CachedNaming,
}

thread_local! {
    /// What the last call of this thread encoded into, kept so that a steady writer allocates nothing.
    static SCRATCH: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// A buffer beyond this is given back after use.
const SCRATCH_BYTES: usize = 4 << 20;

/// Encodes a document, then passes it on. The encoding is the caller's code and may itself use the store, so no lock is held.
pub(crate) fn encoded<R>(
    encode: impl FnOnce(&mut Vec<u8>) -> Result<()>,
    then: impl FnOnce(&[u8]) -> Result<R>,
) -> Result<R> {
    let mut body = SCRATCH.take();
    body.clear();
    let result = encode(&mut body).and_then(|()| then(&body));
    body.shrink_to(SCRATCH_BYTES);
    SCRATCH.set(body);
    result
}

impl Collection {
    pub(crate) fn new(db: Db, name: String) -> Self {
        let durability = db.core().shared.options.durability;
        Collection { db, name, durability, naming: CachedNaming::default() }
    }

    /// The collection's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The same collection, with commits of another class.
    #[must_use]
    pub fn with_durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Calls `then` with what the name means now.
    fn with_naming<R>(&self, then: impl Fn(&Naming) -> Result<R>) -> Result<R> {
        self.naming.with(&self.db, &self.name, then)
    }

    /// Puts a new document under the next id, and returns it. Ids start at 1; the next is one above the largest integer key
    /// ever put into the collection, and none is given twice.
    ///
    /// # Errors
    /// `IdsExhausted`, `DocumentTooLarge`, `TooDeep`, and what any write may say.
    pub fn insert(&self, document: impl Borrow<Document>) -> Result<Key> {
        let encode = |out: &mut Vec<u8>| document.borrow().encode_into(out);
        encoded(encode, |body| self.commit(|writer| writer.insert(&self.name, body)))
    }

    /// As [`insert`](Self::insert), for any type that serde can turn into an object, without a `Document` in between.
    ///
    /// # Errors
    /// As [`insert`](Self::insert), and `Serde` for what has no form as a document.
    pub fn insert_as<T: Serialize + ?Sized>(&self, value: &T) -> Result<Key> {
        let encode = |out: &mut Vec<u8>| document::to_bytes(value, out);
        encoded(encode, |body| self.commit(|writer| writer.insert(&self.name, body)))
    }

    /// Puts any number of new documents under the next ids in one commit: all of them, or none.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    pub fn insert_many<D: Borrow<Document>>(
        &self,
        documents: impl IntoIterator<Item = D>,
    ) -> Result<Vec<Key>> {
        let bodies = Bodies::of(documents)?;
        self.commit(|writer| writer.insert_many(&self.name, &bodies))
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
        let (keys, bodies) = Bodies::under_keys(documents)?;
        self.commit(|writer| writer.put_many(&self.name, keys, &bodies))
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
    /// that another has written since is lost.
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

    /// Makes one commit of what `stage` puts into the writer's batch.
    fn commit<R>(&self, stage: impl FnOnce(&mut Writer) -> Result<R>) -> Result<R> {
        self.db.store().autocommit(self.durability, stage)
    }

    fn put_encoded(
        &self,
        key: impl AsKey,
        expect: Expect,
        encode: impl FnOnce(&mut Vec<u8>) -> Result<()>,
    ) -> Result<bool> {
        let key = key.as_key();
        encoded(encode, |body| self.commit(|writer| writer.put(&self.name, key, expect, body)))
    }

    /// Deletes the document under `key`. Whether there was one.
    ///
    /// # Errors
    /// `UnknownCollection`, `KeyTooLong`, and what any write may say.
    pub fn delete(&self, key: impl AsKey) -> Result<bool> {
        let key = key.as_key();
        self.commit(|writer| writer.delete(&self.name, key, None))
    }

    /// Deletes the document under `key` if it is still of `version`, as [`DocRef::version`] gave it.
    ///
    /// # Errors
    /// `VersionMismatch` where it is not, or is gone; and as [`delete`](Self::delete).
    pub fn delete_if(&self, key: impl AsKey, version: u64) -> Result<()> {
        let key = key.as_key();
        self.commit(|writer| writer.delete(&self.name, key, Some(version))).map(|_| ())
    }

    /// Takes all documents out, in one step however many they are. The id counter goes on.
    ///
    /// # Errors
    /// `UnknownCollection`, and what any write may say.
    pub fn clear(&self) -> Result<()> {
        match self.commit(|writer| writer.clear_collection(&self.name))? {
            true => Ok(()),
            false => Err(Error::UnknownCollection { name: self.name.clone() }),
        }
    }

    /// The document under `key`. Its bytes are verified now and stay in memory while the result lives; nothing is decoded
    /// before it is asked for.
    ///
    /// # Errors
    /// `UnknownCollection`; `Corrupt` where the record is damaged; `Io`.
    pub fn get(&self, key: impl AsKey) -> Result<Option<DocRef>> {
        let located = self.with_naming(|naming| self.db.core().shared.get(naming, key.as_key()))?;
        Ok(located.map(DocRef::new))
    }

    /// The document under `key`, decoded into a type of the caller's straight from its bytes.
    ///
    /// # Errors
    /// As [`get`](Self::get), and `Serde` where the document is not of that type.
    pub fn get_as<T: DeserializeOwned>(&self, key: impl AsKey) -> Result<Option<T>> {
        let located = self.with_naming(|naming| self.db.core().shared.get(naming, key.as_key()))?;
        located.map(|located| document::from_bytes(located.body())).transpose()
    }

    /// Whether there is a document under `key`; told by the index, without a read.
    ///
    /// # Errors
    /// `UnknownCollection`.
    pub fn contains(&self, key: impl AsKey) -> Result<bool> {
        self.with_naming(|naming| Ok(self.db.core().shared.contains(naming, key.as_key())))
    }

    /// How many documents there are.
    ///
    /// # Errors
    /// `UnknownCollection`.
    pub fn len(&self) -> Result<u64> {
        self.with_naming(|naming| Ok(self.db.core().shared.len(naming)))
    }

    /// Whether there are none.
    ///
    /// # Errors
    /// `UnknownCollection`.
    pub fn is_empty(&self) -> Result<bool> {
        self.len().map(|len| len == 0)
    }

    /// Begins over the visible state.
    fn walk<W>(
        &self,
        over: impl FnOnce(Db, Arc<Registered>, Arc<Naming>, KeyRange) -> W,
        range: KeyRange,
    ) -> Result<W> {
        let snapshot = self.db.store().register();
        let naming = self.naming.in_state(&self.db, &self.name, snapshot.state())?;
        Ok(over(self.db.clone(), snapshot, naming, range))
    }

    /// The documents whose keys lie in `range`, in key order, as one commit left them: what is written meanwhile is not seen.
    /// Streams: a page of the index is looked at in turn. Use [`Scan::reversed`] for the other direction.
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
    /// `UnknownCollection`. The iterator itself ends after its first `Err`.
    pub fn scan(&self, range: impl KeyBounds) -> Result<Scan> {
        self.walk(Scan::over, range.into_range())
    }

    /// The documents whose text keys begin with `prefix`, in key order.
    ///
    /// # Errors
    /// As [`scan`](Self::scan).
    pub fn scan_prefix(&self, prefix: &str) -> Result<Scan> {
        self.walk(Scan::over, KeyRange::text_prefix(prefix))
    }

    /// The documents whose byte-string keys begin with `prefix`, in key order.
    ///
    /// # Errors
    /// As [`scan`](Self::scan).
    pub fn scan_prefix_bytes(&self, prefix: &[u8]) -> Result<Scan> {
        self.walk(Scan::over, KeyRange::bytes_prefix(prefix))
    }

    /// The keys in `range`, in order; told by the index, without a read.
    ///
    /// # Errors
    /// As [`scan`](Self::scan).
    pub fn keys(&self, range: impl KeyBounds) -> Result<Keys> {
        self.walk(Keys::over, range.into_range())
    }
}
