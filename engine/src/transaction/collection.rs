//! A collection as a transaction sees and changes it.

use std::borrow::Borrow;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::collection::encoded;
use crate::core::{Bodies, Draft, DraftWalk, Expect};
use crate::doc_ref::DocRef;
use crate::document::{self, AsKey, Document, Key, KeyRef};
use crate::error::{Error, Result};
use crate::index::KeyRange;
use crate::scan::KeyBounds;

use super::WriteTransaction;
use super::scan::{TxKeys, TxScan, TxWalk};

impl WriteTransaction {
    /// The collection of this name, as the transaction sees it and changes it. It need not exist: the first write creates it.
    pub fn collection(&self, name: impl Into<String>) -> TxCollection<'_> {
        TxCollection::new(self, name.into())
    }
}

/// A collection in a write transaction: reads see the transaction's own changes.
#[derive(Debug, Clone)]
pub struct TxCollection<'tx> {
    tx: &'tx WriteTransaction,
    name: String,
}

impl<'tx> TxCollection<'tx> {
    pub(super) fn new(tx: &'tx WriteTransaction, name: String) -> Self {
        TxCollection { tx, name }
    }

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
        encoded(encode, |body| self.change(|draft| draft.insert(&self.name, body)))
    }

    /// As [`Collection::insert_many`](crate::Collection::insert_many).
    ///
    /// # Errors
    /// As [`insert`](Self::insert); then none of them is put.
    pub fn insert_many<D: Borrow<Document>>(
        &self,
        documents: impl IntoIterator<Item = D>,
    ) -> Result<Vec<Key>> {
        let bodies = Bodies::of(documents)?;
        self.change(|draft| draft.insert_many(&self.name, &bodies))
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
        let (keys, bodies) = Bodies::under_keys(documents)?;
        self.change(|draft| draft.put_many(&self.name, &keys, &bodies))
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
        encoded(encode, |body| self.change(|draft| draft.put(&self.name, key, expect, body)))
    }

    /// Puts a document that is encoded already.
    pub(crate) fn put_body(&self, key: KeyRef<'_>, body: &[u8]) -> Result<()> {
        self.change(|draft| draft.put(&self.name, key, Expect::Anything, body)).map(|_| ())
    }

    /// Deletes the document under `key`. Whether there was one.
    ///
    /// # Errors
    /// `UnknownCollection`, `KeyTooLong`, `TransactionTooLarge`.
    pub fn delete(&self, key: impl AsKey) -> Result<bool> {
        self.change(|draft| draft.delete(&self.name, key.as_key(), None))
    }

    /// As [`Collection::delete_if`](crate::Collection::delete_if).
    ///
    /// # Errors
    /// `VersionMismatch`, and as [`delete`](Self::delete).
    pub fn delete_if(&self, key: impl AsKey, version: u64) -> Result<()> {
        self.change(|draft| draft.delete(&self.name, key.as_key(), Some(version))).map(|_| ())
    }

    /// Takes all documents out. The id counter goes on.
    ///
    /// # Errors
    /// `UnknownCollection`.
    pub fn clear(&self) -> Result<()> {
        match self.change(|draft| draft.clear_collection(&self.name))? {
            true => Ok(()),
            false => Err(Error::UnknownCollection { name: self.name.clone() }),
        }
    }

    fn change<R>(&self, change: impl FnOnce(&mut Draft) -> Result<R>) -> Result<R> {
        change(&mut self.tx.draft_mut())
    }

    /// The document under `key`. One that the transaction has put itself has version 0.
    ///
    /// # Errors
    /// `UnknownCollection`; `Corrupt` where the record is damaged; `Io`.
    pub fn get(&self, key: impl AsKey) -> Result<Option<DocRef>> {
        let draft = self.tx.draft();
        let documents = draft.documents(&self.name)?;
        Ok(draft.get(&documents, key.as_key())?.map(DocRef::new))
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
        let draft = self.tx.draft();
        let documents = draft.documents(&self.name)?;
        draft.contains(&documents, key.as_key())
    }

    /// How many documents there are.
    ///
    /// # Errors
    /// `UnknownCollection`.
    pub fn len(&self) -> Result<u64> {
        let draft = self.tx.draft();
        let documents = draft.documents(&self.name)?;
        draft.len(&documents)
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
        let documents = draft.documents(&self.name)?;
        Ok(TxWalk::new(self.tx, DraftWalk::new(&draft, documents, range)))
    }

    /// The documents whose keys lie in `range`, in key order, as the transaction leaves them now: what it changes while the scan goes
    /// on does not show in it.
    ///
    /// # Errors
    /// `UnknownCollection`. The iterator itself ends after its first `Err`.
    pub fn scan(&self, range: impl KeyBounds) -> Result<TxScan<'tx>> {
        self.walk(range.into_range()).map(TxScan::over)
    }

    /// The documents whose text keys begin with `prefix`, in key order.
    ///
    /// # Errors
    /// As [`scan`](Self::scan).
    pub fn scan_prefix(&self, prefix: &str) -> Result<TxScan<'tx>> {
        self.walk(KeyRange::text_prefix(prefix)).map(TxScan::over)
    }

    /// The documents whose byte-string keys begin with `prefix`, in key order.
    ///
    /// # Errors
    /// As [`scan`](Self::scan).
    pub fn scan_prefix_bytes(&self, prefix: &[u8]) -> Result<TxScan<'tx>> {
        self.walk(KeyRange::bytes_prefix(prefix)).map(TxScan::over)
    }

    /// The keys in `range`, in order.
    ///
    /// # Errors
    /// As [`scan`](Self::scan).
    pub fn keys(&self, range: impl KeyBounds) -> Result<TxKeys<'tx>> {
        self.walk(range.into_range()).map(TxKeys::over)
    }
}
