//! What writers ask for, each call a commit of its own: staged in the writer's batch, with the writer held from begin to end.

use std::borrow::Borrow;
use std::collections::BTreeMap;

use crate::document::{Document, KEY_LEN_MAX, Key, KeyRef};
use crate::error::{Error, Result};
use crate::format::catalog::CatalogChange;
use crate::index::{Documents, Naming, PrimaryIndex, check_name};
use crate::log::{Action, Replaces};
use crate::sync::{Arc, read};

use super::shared::Shared;
use super::writer::Writer;

//= spec/semantics.md#s-4-8-insert-with-a-key
//# An insert with a key MUST be refused as `KeyExists` when the key has a document, and else put the
//# document.
//= spec/semantics.md#s-4-9-replace
//# A replace MUST put the document when the key has one, and else change nothing; it answers whether the key
//# had one.
/// What a put asks of the document that may be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expect {
    Anything,
    /// The key must be free: `KeyExists` otherwise.
    Vacant,
    /// There must be a document: otherwise nothing is done.
    Occupied,
    /// There must be the document that this commit put: `VersionMismatch` otherwise.
    Version(u64),
}

/// Encoded documents, one behind the other. They are encoded before the writer is locked: what encodes them is the caller's
/// code, which may use the store itself.
#[derive(Debug, Default)]
pub(crate) struct Bodies {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Bodies {
    /// The encodings of these documents.
    pub(crate) fn of<D: Borrow<Document>>(documents: impl IntoIterator<Item = D>) -> Result<Self> {
        let mut bodies = Bodies::default();
        for document in documents {
            bodies.push(|out| document.borrow().encode_into(out))?;
        }
        Ok(bodies)
    }

    /// The keys, and the encodings of the documents that go under them.
    pub(crate) fn under_keys<K: Into<Key>, D: Borrow<Document>>(
        documents: impl IntoIterator<Item = (K, D)>,
    ) -> Result<(Vec<Key>, Self)> {
        let (mut keys, mut bodies) = (Vec::new(), Bodies::default());
        for (key, document) in documents {
            keys.push(key.into());
            bodies.push(|out| document.borrow().encode_into(out))?;
        }
        Ok((keys, bodies))
    }

    /// Appends what `encode` appends to the bytes that it is given.
    pub(crate) fn push(&mut self, encode: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<()> {
        encode(&mut self.bytes)?;
        self.ends.push(self.bytes.len());
        Ok(())
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Bytes of memory that they take.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.bytes.len() + self.ends.len() * size_of::<usize>()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.bytes[start..*end])
    }
}

impl Writer {
    //= spec/semantics.md#s-4-6-put
    //# A put MUST leave the given document under the given key, whether or not there was one.
    /// Stages a put of one document, given in its encoded form. Whether anything is to be put.
    pub(crate) fn put(&mut self, name: &str, key: KeyRef<'_>, expect: Expect, body: &[u8]) -> Result<bool> {
        check_key(key)?;
        let creates = matches!(expect, Expect::Anything | Expect::Vacant);
        let documents = self.documents_for(name, creates)?;
        let newest = documents.index.get(key);
        match expect {
            Expect::Vacant if newest.is_some() => return Err(Error::KeyExists { key: key.to_key() }),
            Expect::Occupied if newest.is_none() => return Ok(false),
            Expect::Version(version) => self.shared.check_version(&documents, key, newest, version)?,
            _ => {}
        }
        self.batch.push(Action::Put, &documents, key, self.shared.replaces(newest)?, body);
        Ok(true)
    }

    //= spec/semantics.md#s-4-1-insert-assigns-the-next-id
    //# An insert MUST put the document under the int key that is 1 above the collection's largest id, and
    //# answer that key.
    /// Stages a put of one document, given in its encoded form, under the next id.
    pub(crate) fn insert(&mut self, name: &str, body: &[u8]) -> Result<Key> {
        let documents = self.documents_for(name, true)?;
        let id = documents.largest_id().checked_add(1).ok_or(Error::IdsExhausted)?;
        self.batch.push(Action::Put, &documents, KeyRef::Int(id), Replaces::Nothing, body);
        Ok(Key::Int(id))
    }

    //= spec/semantics.md#s-4-5-insert-of-many
    //# An insert of many documents MUST put them under successive ids, in the order given, in one commit, and
    //# answer the keys in that order.
    /// Stages puts of any number of documents under the next ids; returns the ids.
    pub(crate) fn insert_many(&mut self, name: &str, bodies: &Bodies) -> Result<Vec<Key>> {
        if bodies.len() == 0 {
            return check_name(name).map(|()| Vec::new());
        }
        let documents = self.documents_for(name, true)?;
        let mut id = documents.largest_id();
        let mut keys = Vec::with_capacity(bodies.len());
        for body in bodies.iter() {
            id = id.checked_add(1).ok_or(Error::IdsExhausted)?;
            self.batch.push(Action::Put, &documents, KeyRef::Int(id), Replaces::Nothing, body);
            keys.push(Key::Int(id));
        }
        Ok(keys)
    }

    //= spec/semantics.md#s-4-7-put-of-many
    //# A put of many MUST leave each document under its key in one commit, the last one where a key comes
    //# twice, and answer how many were given.
    /// Stages puts of any number of documents, `keys[i]` with the i-th body. Where a key comes twice, the later document stays.
    pub(crate) fn put_many(&mut self, name: &str, keys: Vec<Key>, bodies: &Bodies) -> Result<u64> {
        keys.iter().try_for_each(|key| check_key(key.as_ref()))?;
        if keys.is_empty() {
            return check_name(name).map(|()| 0);
        }
        let documents = self.documents_for(name, true)?;
        let count = keys.len() as u64;
        let last: BTreeMap<Key, &[u8]> = keys.into_iter().zip(bodies.iter()).collect();
        for (key, body) in last {
            let key = key.as_ref();
            let replaces = self.shared.replaces(documents.index.get(key))?;
            self.batch.push(Action::Put, &documents, key, replaces, body);
        }
        Ok(count)
    }

    //= spec/semantics.md#s-4-10-delete
    //# A delete MUST leave the key without a document, and answer whether it had one.
    /// Stages a delete of one document, of this version if one is given. Whether there is one.
    pub(crate) fn delete(&mut self, name: &str, key: KeyRef<'_>, version: Option<u64>) -> Result<bool> {
        check_key(key)?;
        let documents = self.documents_for(name, false)?;
        let newest = documents.index.get(key);
        if let Some(version) = version {
            self.shared.check_version(&documents, key, newest, version)?;
        }
        if newest.is_none() {
            return Ok(false);
        }
        self.batch.push(Action::Delete, &documents, key, self.shared.replaces(newest)?, &[]);
        Ok(true)
    }

    //= spec/semantics.md#s-3-4-creation
    //# Creating a collection MUST be possible when it is there already: the call answers false, and true when
    //# it created one.
    /// Stages the creation of a collection. Whether it is not there yet.
    pub(crate) fn create_collection(&mut self, name: &str) -> Result<bool> {
        self.documents_for(name, true)?;
        Ok(!self.batch.is_empty())
    }

    //= spec/semantics.md#s-3-6-drop
    //# Dropping a collection MUST remove its name, its documents and its largest id in one commit, and answer
    //# whether there was one.
    /// Stages the end of a collection. Whether there is one.
    pub(crate) fn drop_collection(&mut self, name: &str) -> Result<bool> {
        self.change_collection(name, |_, naming| Ok(CatalogChange::Drop { id: naming.documents.id }))
    }

    //= spec/semantics.md#s-3-8-rename
    //# Renaming a collection MUST move its documents and its largest id to the new name in one commit, and
    //# answer whether there was such a collection.
    //= spec/semantics.md#s-3-8-rename
    //# A rename to a name that a collection has already MUST be refused as `InvalidName`.
    /// Stages another name for a collection. Whether there is one.
    pub(crate) fn rename_collection(&mut self, name: &str, to: &str) -> Result<bool> {
        check_name(to)?;
        self.change_collection(name, |shared, naming| {
            if read(&shared.catalog).find(to).is_some() {
                return Err(Error::InvalidName { name: to.to_owned(), what: "a collection has it already" });
            }
            Ok(CatalogChange::Rename { id: naming.documents.id, name: to.to_owned() })
        })
    }

    //= spec/semantics.md#s-3-7-clear
    //# Clearing a collection MUST remove all its documents in one commit, keep its name and its largest id,
    //# and answer whether there was such a collection.
    /// Stages that all documents are taken out of a collection; its name and its id counter stay. Whether there is one.
    pub(crate) fn clear_collection(&mut self, name: &str) -> Result<bool> {
        self.change_collection(name, |shared, naming| {
            Ok(CatalogChange::Clear { id: naming.documents.id, new: shared.next_collection_id()? })
        })
    }

    fn change_collection(
        &mut self,
        name: &str,
        change: impl FnOnce(&Shared, &Naming) -> Result<CatalogChange>,
    ) -> Result<bool> {
        let Some(naming) = read(&self.shared.catalog).find(name).cloned() else { return Ok(false) };
        let change = change(&self.shared, &naming)?;
        let begins = change.begins().map(|id| self.shared.new_documents(id));
        self.batch.push_catalog(change, begins);
        Ok(true)
    }

    //= spec/semantics.md#s-3-2-the-first-write-creates
    //# A write into a name that no collection has MUST create the collection in the same commit, unless the
    //# write can only change what is there (replace, delete, S-3.3).
    //= spec/format.md#f-7-4-order-in-a-commit
    //# A record MUST follow the catalog record that creates its collection in the log.
    /// The documents of `name` after the newest commit; where there are none yet, those that the commit in the making begins.
    fn documents_for(&mut self, name: &str, create: bool) -> Result<Arc<Documents>> {
        if let Some(naming) = &self.last_naming
            && naming.is_current()
            && naming.name == name
        {
            return Ok(Arc::clone(&naming.documents));
        }
        if let Some(naming) = self.shared.newest_naming(name) {
            let documents = Arc::clone(&naming.documents);
            self.last_naming = Some(naming);
            return Ok(documents);
        }
        if !create {
            return Err(Error::UnknownCollection { name: name.to_owned() });
        }
        check_name(name)?;
        let id = self.shared.next_collection_id()?;
        let documents = self.shared.new_documents(id);
        let change = CatalogChange::Create { id, name: name.to_owned() };
        self.batch.push_catalog(change, Some(Arc::clone(&documents)));
        Ok(documents)
    }
}

//= spec/semantics.md#s-2-3-key-limit
//# A write that names a text or bytes key of more than 1,024 bytes of payload MUST be refused as
//# `KeyTooLong`.
pub(crate) fn check_key(key: KeyRef<'_>) -> Result<()> {
    let len = match key {
        KeyRef::Int(_) => return Ok(()),
        KeyRef::Text(text) => text.len(),
        KeyRef::Bytes(bytes) => bytes.len(),
    };
    if len > KEY_LEN_MAX { Err(Error::KeyTooLong { len, max: KEY_LEN_MAX }) } else { Ok(()) }
}
