//! The state that the records so far amount to.

use std::collections::BTreeMap;

use holotype_model::Key;

use super::cbor;
use crate::case::{Collection, State};

/// Collections by id, as they are after some commit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct World {
    collections: BTreeMap<u32, Documents>,
}

/// The documents of one collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Documents {
    /// The name of the collection.
    pub name: String,
    /// The next id.
    pub next: u64,
    /// By key: where the newest version stands, and its bytes.
    pub found: BTreeMap<Key, (u64, Vec<u8>)>,
}

impl World {
    /// The collection of this id, begun under its id as a name if need be.
    pub fn create(&mut self, id: u32, name: &str) {
        let documents = Documents { name: name.to_owned(), next: 1, found: BTreeMap::new() };
        self.collections.insert(id, documents);
    }

    /// Ends a collection.
    pub fn drop(&mut self, id: u32) {
        self.collections.remove(&id);
    }

    /// Empties a collection, which goes on under another id.
    pub fn clear(&mut self, id: u32, new: u32) {
        if let Some(mut documents) = self.collections.remove(&id) {
            documents.found.clear();
            self.collections.insert(new, documents);
        }
    }

    /// Gives a collection another name.
    pub fn rename(&mut self, id: u32, name: &str) {
        if let Some(documents) = self.collections.get_mut(&id) {
            documents.name = name.to_owned();
        }
    }

    /// A new version of a document.
    pub fn put(&mut self, id: u32, key: &Key, address: u64, document: &[u8]) {
        let Some(documents) = self.collections.get_mut(&id) else { return };
        if let Key::Int(int) = key
            && *int >= 0
        {
            documents.next = documents.next.max(*int as u64 + 1);
        }
        documents.found.insert(key.clone(), (address, document.to_vec()));
    }

    /// A document is gone.
    pub fn delete(&mut self, id: u32, key: &Key) {
        if let Some(documents) = self.collections.get_mut(&id) {
            documents.found.remove(key);
        }
    }

    /// A version stands elsewhere.
    pub fn relocate(&mut self, id: u32, key: &Key, from: u64, to: u64) {
        if let Some(documents) = self.collections.get_mut(&id)
            && let Some((address, _)) = documents.found.get_mut(key)
            && *address == from
        {
            *address = to;
        }
    }

    /// The collections, by id.
    #[must_use]
    pub fn collections(&self) -> &BTreeMap<u32, Documents> {
        &self.collections
    }

    /// As an answer has it.
    #[must_use]
    pub fn state(&self, last: u64) -> State {
        let collection = |documents: &Documents| Collection {
            name: documents.name.clone(),
            next: Some(documents.next.to_string()),
            documents: documents
                .found
                .iter()
                .map(|(key, (_, document))| (cbor::key(key).into(), document.clone().into()))
                .collect(),
        };
        let mut collections: Vec<_> = self.collections.values().map(collection).collect();
        collections.sort_by(|a, b| a.name.as_bytes().cmp(b.name.as_bytes()));
        State { lsn: Some(format!("{last:016x}")), collections }
    }
}
