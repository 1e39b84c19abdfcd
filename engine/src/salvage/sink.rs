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
    collections: BTreeMap<u32, Filled>,
    lost_indexes: Vec<LostIndex>,
}

/// A collection of the new store.
#[derive(Debug)]
struct Filled {
    /// What comes of it.
    salvaged: SalvagedCollection,
    /// The largest int key that was ever put there, as far as is known.
    largest_id: i64,
    /// The largest int key that salvage put there.
    largest_put: i64,
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

impl<S: Storage + 'static> Sink<S> {
    pub(super) fn create(storage: Arc<S>, geometry: Geometry) -> Result<Self> {
        let options = options().sector(geometry.sector()).segment_bytes(geometry.segment_bytes());
        let db = Db::open_on(Arc::clone(&storage), &options)?;
        let (names, collections) = (BTreeSet::new(), BTreeMap::new());
        Ok(Sink { storage, db, names, collections, lost_indexes: Vec::new() })
    }

    /// Creates a collection; `name` is that of the old store, which may be taken by now. One whose name is lost gets another.
    pub(super) fn begin(&mut self, id: u32, name: Option<&str>, largest_id: i64) -> Result<()> {
        let is_name_made_up = name.is_none();
        let name = name.map_or_else(|| made_up_name(id), str::to_owned);
        let name = self.free_name(&name, "");
        self.db.create_collection(&name)?;
        let salvaged = SalvagedCollection { name, is_name_made_up, documents: 0, stale_name: None, stale: 0 };
        self.collections.insert(id, Filled { salvaged, largest_id, largest_put: 0 });
        Ok(())
    }

    /// Puts a document that was proven to be the newest version of its key; or one that may have been replaced or deleted, which is stale.
    pub(super) fn put(&mut self, id: u32, key: KeyRef<'_>, body: &[u8], is_proven: bool) -> Result<()> {
        let document = Document::decode(body)?;
        let filled = self.collections.get_mut(&id).expect("collections are begun before they are filled");
        if is_proven {
            filled.salvaged.documents += 1;
            if let KeyRef::Int(id) = key {
                filled.largest_put = filled.largest_put.max(id);
            }
            return self.db.collection(filled.salvaged.name.as_str()).put(key.to_key(), document);
        }
        filled.salvaged.stale += 1;
        let name = match &filled.salvaged.stale_name {
            Some(name) => name.clone(),
            None => {
                let plain = filled.salvaged.name.clone();
                let name = self.free_name(&plain, ".stale");
                let filled = self.collections.get_mut(&id).expect("it was just there");
                filled.salvaged.stale_name.insert(name).clone()
            }
        };
        self.db.collection(name).put(key.to_key(), document)
    }

    /// Builds an index over the documents that were put there. Where these break it, it is one of those that are lost.
    pub(super) fn index(&mut self, id: u32, definition: &IndexDefinition) -> Result<()> {
        let filled = self.collections.get(&id).expect("collections are begun before they are indexed");
        let collection = filled.salvaged.name.clone();
        match self.db.collection(collection.as_str()).create_index(definition.clone()) {
            Ok(_) => Ok(()),
            Err(
                error @ (Error::UniqueViolations { .. }
                | Error::InvalidIndex { .. }
                | Error::KeyTooLong { .. }
                | Error::LimitReached { .. }),
            ) => {
                let (definition, why) = (definition.clone(), error.to_string());
                self.lost_indexes.push(LostIndex { collection, definition, why });
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Makes everything durable, and checks that it is there; the collections, and the indexes that could not be built.
    pub(super) fn finish(self) -> Result<(Vec<SalvagedCollection>, Vec<LostIndex>)> {
        for filled in self.collections.values().filter(|filled| filled.largest_id > filled.largest_put) {
            // An id in any commit is never issued again: not by the new store either.
            let collection = self.db.collection(filled.salvaged.name.as_str());
            collection.put(Key::Int(filled.largest_id), Document::new())?;
            collection.delete(Key::Int(filled.largest_id))?;
        }
        self.db.close()?;
        let written = Db::open_on(self.storage, &options().read_only(true).create(false))?;
        if let Some(problem) = written.verify(true)?.problems.into_iter().next() {
            return Err(problem.into());
        }
        let collections = self.collections.into_values().map(|filled| filled.salvaged);
        Ok((collections.collect(), self.lost_indexes))
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

/// What a collection is called whose name is lost.
pub(super) fn made_up_name(id: u32) -> String {
    format!("collection-{id}")
}

fn options() -> Options {
    Options::new().durability(Durability::Buffered).background(Background::Manual)
}
