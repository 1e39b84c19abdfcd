//! The state that the records so far amount to.

use std::collections::{BTreeMap, BTreeSet};

use holotype_model::Key;

use super::cbor;
use super::entries::Definition;
use crate::case::{Collection, State};

/// Collections by id, as they are after some commit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct World {
    collections: BTreeMap<u32, Documents>,
    indexes: BTreeMap<u32, Index>,
    /// In bytes (I-2.6); 0 before any index.
    tuple_limit: usize,
}

/// An index: of a collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Index {
    /// The id of the collection.
    pub of: u32,
    /// What it holds.
    pub definition: Definition,
}

/// The documents of one collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Documents {
    /// The name of the collection.
    pub name: String,
    /// The next id.
    pub next: u64,
    /// The newest versions, by key.
    pub found: BTreeMap<Key, Version>,
}

/// The newest version of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// Where it stands, and what stands there (F-6.6).
    pub value: u64,
    /// Where its chunks stand, if it is of chunks.
    pub chunks: Vec<u64>,
    /// Its bytes.
    pub document: Vec<u8>,
}

impl Documents {
    /// Each key, and the value of its newest version.
    #[must_use]
    pub fn entries(&self) -> Vec<(Key, u64)> {
        self.found.iter().map(|(key, version)| (key.clone(), version.value)).collect()
    }
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
        self.indexes.retain(|_, index| index.of != id);
    }

    /// Empties a collection, which goes on under another id.
    pub fn clear(&mut self, id: u32, new: u32) {
        if let Some(mut documents) = self.collections.remove(&id) {
            documents.found.clear();
            self.collections.insert(new, documents);
            let (of_it, others) = std::mem::take(&mut self.indexes)
                .into_iter()
                .partition::<BTreeMap<_, _>, _>(|(_, index)| index.of == id);
            self.indexes = others;
            let renewed = of_it.into_values().map(|index| Index { of: new, ..index });
            self.indexes.extend((new + 1..).zip(renewed));
        }
    }

    /// Gives a collection another name.
    pub fn rename(&mut self, id: u32, name: &str) {
        if let Some(documents) = self.collections.get_mut(&id) {
            documents.name = name.to_owned();
        }
    }

    /// A new version of a document.
    pub fn put(&mut self, id: u32, key: &Key, version: Version) {
        let Some(documents) = self.collections.get_mut(&id) else { return };
        if let Key::Int(int) = key
            && *int >= 0
        {
            documents.next = documents.next.max(*int as u64 + 1);
        }
        documents.found.insert(key.clone(), version);
    }

    /// A document is gone.
    pub fn delete(&mut self, id: u32, key: &Key) {
        if let Some(documents) = self.collections.get_mut(&id) {
            documents.found.remove(key);
        }
    }

    /// An index begins.
    pub fn index(&mut self, of: u32, id: u32, definition: &Definition, tuple_limit: usize) {
        self.tuple_limit = tuple_limit;
        self.indexes.insert(id, Index { of, definition: definition.clone() });
    }

    /// An index ends.
    pub fn unindex(&mut self, id: u32) {
        self.indexes.remove(&id);
    }

    /// Gives an index another name.
    pub fn reindex(&mut self, id: u32, name: &str) {
        if let Some(index) = self.indexes.get_mut(&id) {
            index.definition.name = name.to_owned();
        }
    }

    /// The indexes, by id.
    #[must_use]
    pub fn indexes(&self) -> &BTreeMap<u32, Index> {
        &self.indexes
    }

    /// The entries of an index of this collection.
    #[must_use]
    pub fn entries(&self, index: &Index) -> BTreeSet<Vec<u8>> {
        let documents = self.collections.get(&index.of).into_iter().flat_map(|documents| &documents.found);
        let of = |(key, version): (&Key, &Version)| {
            index.definition.entries(self.tuple_limit, key, &cbor::read(&version.document))
        };
        documents.flat_map(of).collect()
    }

    /// A version stands elsewhere.
    pub fn relocate(&mut self, id: u32, key: &Key, to: u64, chunks: &[u64]) {
        if let Some(documents) = self.collections.get_mut(&id)
            && let Some(version) = documents.found.get_mut(key)
        {
            (version.value, version.chunks) = (to, chunks.to_vec());
        }
    }

    /// The newest version of a document.
    #[must_use]
    pub fn version(&self, id: u32, key: &Key) -> Option<&Version> {
        self.collections.get(&id)?.found.get(key)
    }

    /// The collections, by id.
    #[must_use]
    pub fn collections(&self) -> &BTreeMap<u32, Documents> {
        &self.collections
    }

    /// As an answer has it.
    #[must_use]
    pub fn state(&self, last: u64) -> State {
        let indexes = |id: u32| {
            let mut found: Vec<_> = self.indexes.values().filter(|index| index.of == id).collect();
            found.sort_by(|a, b| a.definition.name.as_bytes().cmp(b.definition.name.as_bytes()));
            found.into_iter().map(|index| index.definition.stated(self.entries(index))).collect()
        };
        let collection = |(id, documents): (&u32, &Documents)| Collection {
            name: documents.name.clone(),
            next: Some(documents.next.to_string()),
            documents: documents
                .found
                .iter()
                .map(|(key, version)| (cbor::key(key).into(), version.document.clone().into()))
                .collect(),
            indexes: (self.tuple_limit > 0).then(|| indexes(*id)),
        };
        let mut collections: Vec<_> = self.collections.iter().map(collection).collect();
        collections.sort_by(|a, b| a.name.as_bytes().cmp(b.name.as_bytes()));
        State { lsn: Some(format!("{last:016x}")), collections }
    }
}
