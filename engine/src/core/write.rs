//! What writers ask for, each call a commit of its own.

use crate::document::{KEY_LEN_MAX, Key, KeyRef};
use crate::error::{Error, Result};
use crate::format::Lsn;
use crate::format::catalog::CatalogChange;
use crate::index::{Birth, Documents, Entry, Naming, PrimaryIndex, check_name};
use crate::log::Action;
use crate::options::Durability;
use crate::sync::{Arc, read};

use super::{Core, Writer};

/// What a put asks of the document that may be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expect {
    Anything,
    /// The key must be free: `KeyExists` otherwise.
    Vacant,
    /// There must be a document: otherwise nothing is done.
    Occupied,
}

/// Encoded documents, one behind the other. They are encoded before the writer is locked: what encodes them is the caller's
/// code, which may use the store itself.
#[derive(Debug, Default)]
pub(crate) struct Bodies {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Bodies {
    /// Appends what `encode` appends to the bytes that it is given.
    pub(crate) fn push(&mut self, encode: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<()> {
        encode(&mut self.bytes)?;
        self.ends.push(self.bytes.len());
        Ok(())
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.bytes[start..*end])
    }
}

impl Core {
    /// Puts one document, given in its encoded form. Whether anything was put.
    pub(crate) fn put(
        &self,
        name: &str,
        key: KeyRef<'_>,
        expect: Expect,
        durability: Durability,
        body: &[u8],
    ) -> Result<bool> {
        check_key(key)?;
        let mut writer = self.writer()?;
        writer.begin(self)?;
        let Some(documents) = self.documents_for(&mut writer, name, expect != Expect::Occupied)? else {
            return Err(Error::UnknownCollection { name: name.to_owned() });
        };
        let replaces = self.newest(&documents, key)?;
        if expect == Expect::Vacant && replaces.is_some() {
            return Err(Error::KeyExists { key: key.to_key() });
        }
        if expect == Expect::Occupied && replaces.is_none() {
            return Ok(false);
        }
        writer.batch.push(Action::Put, documents, key, replaces, body);
        writer.commit(self, durability)?;
        Ok(true)
    }

    /// Puts one document, given in its encoded form, under the next id.
    pub(crate) fn insert(&self, name: &str, durability: Durability, body: &[u8]) -> Result<Key> {
        let mut writer = self.writer()?;
        writer.begin(self)?;
        let documents = self.documents_for(&mut writer, name, true)?.expect("created if it was not there");
        let id = documents.largest_id().checked_add(1).ok_or(Error::IdsExhausted)?;
        writer.batch.push(Action::Put, documents, KeyRef::Int(id), None, body);
        writer.commit(self, durability)?;
        Ok(Key::Int(id))
    }

    /// Puts any number of documents under the next ids, in one commit; returns the ids.
    pub(crate) fn insert_many(
        &self,
        name: &str,
        durability: Durability,
        bodies: &Bodies,
    ) -> Result<Vec<Key>> {
        let mut writer = self.writer()?;
        writer.begin(self)?;
        let documents = self.documents_for(&mut writer, name, true)?.expect("created if it was not there");
        let mut id = documents.largest_id();
        let mut keys = Vec::with_capacity(bodies.len());
        for body in bodies.iter() {
            id = id.checked_add(1).ok_or(Error::IdsExhausted)?;
            writer.batch.push(Action::Put, Arc::clone(&documents), KeyRef::Int(id), None, body);
            keys.push(Key::Int(id));
        }
        if !keys.is_empty() {
            writer.commit(self, durability)?;
        }
        Ok(keys)
    }

    /// Puts any number of documents, `keys[i]` with the i-th body, in one commit. Where a key comes twice, the later document
    /// stays.
    pub(crate) fn put_many(
        &self,
        name: &str,
        durability: Durability,
        keys: Vec<Key>,
        bodies: &Bodies,
    ) -> Result<u64> {
        for key in &keys {
            check_key(key.as_ref())?;
        }
        let mut writer = self.writer()?;
        writer.begin(self)?;
        let documents = self.documents_for(&mut writer, name, true)?.expect("created if it was not there");
        let count = keys.len() as u64;
        let last: std::collections::BTreeMap<Key, &[u8]> = keys.into_iter().zip(bodies.iter()).collect();
        for (key, body) in last {
            let replaces = self.newest(&documents, key.as_ref())?;
            writer.batch.push(Action::Put, Arc::clone(&documents), key.as_ref(), replaces, body);
        }
        if count > 0 {
            writer.commit(self, durability)?;
        }
        Ok(count)
    }

    /// Deletes one document. Whether there was one.
    pub(crate) fn delete(&self, name: &str, key: KeyRef<'_>, durability: Durability) -> Result<bool> {
        check_key(key)?;
        let mut writer = self.writer()?;
        writer.begin(self)?;
        let documents = self.documents_for(&mut writer, name, false)?;
        let documents = documents.ok_or_else(|| Error::UnknownCollection { name: name.to_owned() })?;
        let Some(replaces) = self.newest(&documents, key)? else { return Ok(false) };
        writer.batch.push(Action::Delete, documents, key, Some(replaces), &[]);
        writer.commit(self, durability)?;
        Ok(true)
    }

    /// Creates a collection. Whether it was not there before.
    pub(crate) fn create_collection(&self, name: &str, durability: Durability) -> Result<bool> {
        let mut writer = self.writer()?;
        writer.begin(self)?;
        self.documents_for(&mut writer, name, true)?;
        let created = !writer.batch.is_empty();
        writer.commit(self, durability)?;
        Ok(created)
    }

    /// Ends a collection. Whether there was one.
    pub(crate) fn drop_collection(&self, name: &str, durability: Durability) -> Result<bool> {
        self.change_collection(name, durability, |naming| Ok(CatalogChange::Drop { id: naming.documents.id }))
    }

    /// Gives a collection another name.
    pub(crate) fn rename_collection(&self, name: &str, to: &str, durability: Durability) -> Result<bool> {
        check_name(to)?;
        self.change_collection(name, durability, |naming| {
            if read(&self.catalog).find(to).is_some() {
                return Err(Error::InvalidName { name: to.to_owned(), what: "a collection has it already" });
            }
            Ok(CatalogChange::Rename { id: naming.documents.id, name: to.to_owned() })
        })
    }

    /// Takes all documents out of a collection; its name and its id counter stay.
    pub(crate) fn clear_collection(&self, name: &str, durability: Durability) -> Result<bool> {
        self.change_collection(name, durability, |naming| {
            Ok(CatalogChange::Clear { id: naming.documents.id, new: self.next_collection_id()? })
        })
    }

    fn change_collection(
        &self,
        name: &str,
        durability: Durability,
        change: impl FnOnce(&Naming) -> Result<CatalogChange>,
    ) -> Result<bool> {
        let mut writer = self.writer()?;
        writer.begin(self)?;
        let Some(naming) = read(&self.catalog).find(name).cloned() else { return Ok(false) };
        let change = change(&naming)?;
        let begins = change.begins().map(|id| Arc::new(Documents::new(id, self.options.check.page_shift)));
        writer.batch.push_catalog(change, begins);
        writer.commit(self, durability)?;
        Ok(true)
    }

    /// Everything before is durable when this returns.
    pub(crate) fn flush(&self) -> Result<Lsn> {
        let mut writer = self.writer()?;
        writer.flush(self)?;
        Ok(writer.durable())
    }

    /// Ends this life of the store, and reports the last error.
    pub(crate) fn close(&self) -> Result<()> {
        match &self.writer {
            Some(_) => self.writer()?.close(self),
            None => Ok(()),
        }
    }

    fn next_collection_id(&self) -> Result<u32> {
        let last = read(&self.catalog).last_id();
        last.checked_add(1).ok_or(Error::LimitReached { what: "collection ids" })
    }

    /// The documents of `name`; where there are none yet, those that the commit in the making begins.
    fn documents_for(&self, writer: &mut Writer, name: &str, create: bool) -> Result<Option<Arc<Documents>>> {
        if let Some(naming) = &writer.last_naming
            && naming.is_current()
            && naming.name == name
        {
            return Ok(Some(Arc::clone(&naming.documents)));
        }
        if let Some(naming) = read(&self.catalog).find(name) {
            writer.last_naming = Some(Arc::clone(naming));
            return Ok(Some(Arc::clone(&naming.documents)));
        }
        if !create {
            return Ok(None);
        }
        check_name(name)?;
        let id = self.next_collection_id()?;
        let documents = Arc::new(Documents::new(id, self.options.check.page_shift));
        let change = CatalogChange::Create { id, name: name.to_owned() };
        writer.batch.push_catalog(change, Some(Arc::clone(&documents)));
        Ok(Some(documents))
    }

    /// The newest version of `key`, and when it came to be.
    fn newest(&self, documents: &Documents, key: KeyRef<'_>) -> Result<Option<(Entry, Birth)>> {
        let Some(entry) = documents.index.get(key) else { return Ok(None) };
        Ok(Some((entry, self.birth(entry)?)))
    }
}

fn check_key(key: KeyRef<'_>) -> Result<()> {
    let len = match key {
        KeyRef::Int(_) => return Ok(()),
        KeyRef::Text(text) => text.len(),
        KeyRef::Bytes(bytes) => bytes.len(),
    };
    if len > KEY_LEN_MAX { Err(Error::KeyTooLong { len, max: KEY_LEN_MAX }) } else { Ok(()) }
}
