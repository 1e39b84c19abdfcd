//! The store that salvage writes.

use std::collections::{BTreeMap, BTreeSet};

use crate::db::Db;
use crate::document::limits::NAME_LEN_MAX;
use crate::document::{Document, Key, KeyRef};
use crate::error::{Error, Result};
use crate::format::Geometry;
use crate::index::check_name;
use crate::options::{Background, Durability, Options};
use crate::secondary::IndexDefinition;
use crate::storage::Storage;
use crate::sync::Arc;

/// A store in the making.
#[derive(Debug)]
pub(super) struct Sink<S> {
    storage: Arc<S>,
    db: Db,
    names: BTreeSet<String>,
    collections: BTreeMap<u32, Names>,
    lost_indexes: Vec<LostIndex>,
}

/// What a collection is called in the new store.
#[derive(Debug)]
struct Names {
    name: String,
    /// The largest int key that was ever put there, as far as is known.
    largest_id: i64,
    /// The largest int key that salvage put there.
    largest_put: i64,
    documents: u64,
    stale_name: Option<String>,
    stale: u64,
}

/// What came of one collection.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SalvagedCollection {
    /// Its name in the new store.
    pub name: String,
    /// Whether its own name is lost, and this one made up.
    pub is_name_made_up: bool,
    /// Documents in it: each is proven to have been its newest version.
    pub documents: u64,
    /// The collection of the new store that holds what may be stale. None where nothing may be.
    pub stale_name: Option<String>,
    /// Documents in that one: each is the newest version that is left, and may have been replaced or deleted since.
    pub stale: u64,
}

/// An index that salvage could not build.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostIndex {
    /// Its collection in the new store.
    pub collection: String,
    /// Its definition.
    pub definition: IndexDefinition,
    /// Why not, in words.
    pub why: String,
}

/// Which list a document goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    /// It was the newest version of its key.
    Proven,
    /// It may have been replaced or deleted.
    Stale,
}

impl<S: Storage + 'static> Sink<S> {
    pub(super) fn create(storage: Arc<S>, geometry: Geometry) -> Result<Self> {
        let options = options().sector(geometry.sector()).segment_bytes(geometry.segment_bytes());
        let db = Db::open_on(Arc::clone(&storage), &options)?;
        let (names, collections) = (BTreeSet::new(), BTreeMap::new());
        Ok(Sink { storage, db, names, collections, lost_indexes: Vec::new() })
    }

    /// Creates a collection; `name` is that of the old store, which may be taken by now.
    pub(super) fn begin(&mut self, id: u32, name: &str, largest_id: i64) -> Result<()> {
        let name = self.free_name(name, "");
        self.db.create_collection(&name)?;
        let (largest_put, documents, stale_name, stale) = (0, 0, None, 0);
        self.collections.insert(id, Names { name, largest_id, largest_put, documents, stale_name, stale });
        Ok(())
    }

    pub(super) fn put(&mut self, id: u32, key: KeyRef<'_>, body: &[u8], list: List) -> Result<()> {
        let document = Document::decode(body)?;
        let names = self.collections.get_mut(&id).expect("collections are begun before they are filled");
        if list == List::Proven {
            names.documents += 1;
            if let KeyRef::Int(id) = key {
                names.largest_put = names.largest_put.max(id);
            }
            return self.db.collection(names.name.as_str()).put(key.to_key(), document);
        }
        names.stale += 1;
        let name = match &names.stale_name {
            Some(name) => name.clone(),
            None => {
                let plain = names.name.clone();
                let name = self.free_name(&plain, ".stale");
                let names = self.collections.get_mut(&id).expect("it was just there");
                names.stale_name.insert(name).clone()
            }
        };
        self.db.collection(name).put(key.to_key(), document)
    }

    /// Builds an index over the documents that were put there. Where these break it, it is one of those that are lost.
    pub(super) fn index(&mut self, id: u32, definition: &IndexDefinition) -> Result<()> {
        let names = self.collections.get(&id).expect("collections are begun before they are indexed");
        match self.db.collection(names.name.as_str()).create_index(definition.clone()) {
            Ok(_) => Ok(()),
            Err(
                error @ (Error::UniqueViolations { .. }
                | Error::InvalidIndex { .. }
                | Error::KeyTooLong { .. }
                | Error::LimitReached { .. }),
            ) => {
                let (collection, definition) = (names.name.clone(), definition.clone());
                self.lost_indexes.push(LostIndex { collection, definition, why: error.to_string() });
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// The indexes that could not be built.
    pub(super) fn take_lost_indexes(&mut self) -> Vec<LostIndex> {
        std::mem::take(&mut self.lost_indexes)
    }

    /// Makes everything durable, and checks that it is there.
    pub(super) fn finish(self, made_up: &BTreeSet<u32>) -> Result<Vec<SalvagedCollection>> {
        for names in self.collections.values().filter(|names| names.largest_id > names.largest_put) {
            // An id in any commit is never issued again: not by the new store either.
            let collection = self.db.collection(names.name.as_str());
            collection.put(Key::Int(names.largest_id), Document::new())?;
            collection.delete(Key::Int(names.largest_id))?;
        }
        self.db.close()?;
        let written = Db::open_on(self.storage, &options().read_only(true).create(false))?;
        if let Some(problem) = written.verify(true)?.problems.into_iter().next() {
            return Err(problem.into());
        }
        let collections = self.collections.into_iter().map(|(id, names)| SalvagedCollection {
            name: names.name,
            is_name_made_up: made_up.contains(&id),
            documents: names.documents,
            stale_name: names.stale_name,
            stale: names.stale,
        });
        Ok(collections.collect())
    }

    /// `name` with `suffix`, or as near to it as is free.
    fn free_name(&mut self, name: &str, suffix: &str) -> String {
        let name = if check_name(name).is_ok() { name } else { "collection" };
        let mut end = suffix.to_owned();
        let mut number = 1;
        loop {
            let mut room = name.len().min(NAME_LEN_MAX - end.len());
            while !name.is_char_boundary(room) {
                room -= 1;
            }
            let wanted = format!("{}{end}", &name[..room]);
            if self.names.insert(wanted.clone()) {
                return wanted;
            }
            number += 1;
            end = format!("{suffix}-{number}");
        }
    }
}

fn options() -> Options {
    Options::new().durability(Durability::Buffered).background(Background::Manual)
}
