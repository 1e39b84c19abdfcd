//! Records (F-6), and what they do.

use std::collections::BTreeMap;

use holotype_model::{Document, Key, Value};

use super::entries::Definition;
use super::world::Version;
use super::{World, cbor, varint};

/// A record before it has a place.
#[derive(Debug, Clone)]
pub struct Record {
    /// F-6.3
    pub kind: u8,
    /// F-6.4
    pub flags: u8,
    /// The collection; 0 for none.
    pub collection: u32,
    /// The own LSN of a relocated put.
    pub own: Vec<u8>,
    /// What it names as the version that it replaces.
    pub replaces: Replaces,
    /// Where its chunks stand, if it is of chunks.
    pub chunks: Vec<u64>,
    /// What follows in front of the body.
    pub rest: Vec<u8>,
    /// What it does to the state.
    pub effect: Effect,
    /// What the commit field says beyond what it should.
    pub commit_off: u32,
    /// What the collection and the commit field say beyond what 32 bits can say.
    pub beyond: [u64; 2],
    /// How many bytes more the length takes than it needs.
    pub length_more: usize,
    /// All that follows the length, where that is other than the fields above say.
    pub payload: Option<Vec<u8>>,
}

/// What a record names as the version that it replaces (F-6.6).
#[derive(Debug, Clone)]
pub enum Replaces {
    /// What there is under this key, if anything.
    Newest(Key),
    /// These bytes, where its flags ask for any.
    Bytes(Vec<u8>),
}

/// What a record does to the state.
#[derive(Debug, Clone)]
pub enum Effect {
    /// Nothing.
    None,
    /// A new version.
    Put(Key, Vec<u8>),
    /// A key without a document.
    Delete(Key),
    /// A version that stands elsewhere from now on.
    Relocate(Key),
    /// A collection begins.
    Create(u32, String),
    /// A collection ends.
    Drop(u32),
    /// A collection is emptied.
    Clear(u32, u32),
    /// A collection has another name.
    Rename(u32, String),
    /// An index begins: of a collection, under an id.
    Index(u32, u32, Definition),
    /// An index ends.
    Unindex(u32),
    /// An index has another name.
    Reindex(u32, String),
}

impl Record {
    fn new(kind: u8, collection: u32, rest: Vec<u8>, effect: Effect) -> Self {
        Record {
            kind,
            flags: 0,
            collection,
            own: Vec::new(),
            replaces: Replaces::Bytes(Vec::new()),
            chunks: Vec::new(),
            rest,
            effect,
            commit_off: 0,
            beyond: [0; 2],
            length_more: 0,
            payload: None,
        }
    }

    fn replacing(self, key: &Key) -> Self {
        Record { replaces: Replaces::Newest(key.clone()), ..self }
    }

    /// A record of any kind that does nothing.
    #[must_use]
    pub fn raw(kind: u8, flags: u8, collection: u32, rest: Vec<u8>) -> Self {
        Record { flags, ..Record::new(kind, collection, rest, Effect::None) }
    }

    /// A put.
    #[must_use]
    pub fn put(collection: u32, key: &Key, document: &Document) -> Self {
        let document = cbor::document(document);
        let rest = [cbor::key(key), document.clone()].concat();
        Record::new(1, collection, rest, Effect::Put(key.clone(), document)).replacing(key)
    }

    /// A put of a document in chunks, which stand at these addresses.
    #[must_use]
    pub fn put_chunked(collection: u32, key: &Key, document: &[u8], chunks: &[u64]) -> Self {
        let rest = [cbor::key(key), chunk_list(document.len() as u64, chunks)].concat();
        let put = Record::new(1, collection, rest, Effect::Put(key.clone(), document.to_vec()));
        Record { flags: 8, chunks: chunks.to_vec(), ..put.replacing(key) }
    }

    /// A chunk.
    #[must_use]
    pub fn chunk(collection: u32, key: &Key, number: u64, bytes: &[u8]) -> Self {
        let rest = [cbor::key(key), varint(number), bytes.to_vec()].concat();
        Record::new(4, collection, rest, Effect::None)
    }

    /// A delete.
    #[must_use]
    pub fn delete(collection: u32, key: &Key) -> Self {
        Record::new(2, collection, cbor::key(key), Effect::Delete(key.clone())).replacing(key)
    }

    /// A put of a version that stands elsewhere and was made by `own`.
    #[must_use]
    pub fn relocated(collection: u32, key: &Key, document: &[u8], own: u64) -> Self {
        let rest = [cbor::key(key), document.to_vec()].concat();
        let moved = Record::new(3, collection, rest, Effect::Relocate(key.clone())).replacing(key);
        Record { own: own.to_le_bytes().to_vec(), ..moved }
    }

    /// A put of a version in chunks that stands elsewhere and was made by `own`.
    #[must_use]
    pub fn relocated_chunked(collection: u32, key: &Key, document: &[u8], chunks: &[u64], own: u64) -> Self {
        let list = chunk_list(document.len() as u64, chunks);
        let moved = Record::relocated(collection, key, &list, own);
        Record { flags: 8, chunks: chunks.to_vec(), ..moved }
    }

    /// A change of the catalog, as any map.
    #[must_use]
    pub fn catalog(map: &Document, effect: Effect) -> Self {
        Record::new(5, 0, cbor::document(map), effect)
    }

    /// A collection begins.
    #[must_use]
    pub fn create(id: u32, name: &str) -> Self {
        Record::catalog(&map("create", &[("id", id.into())], Some(name)), Effect::Create(id, name.to_owned()))
    }

    /// A collection ends.
    #[must_use]
    pub fn drop(id: u32) -> Self {
        Record::catalog(&map("drop", &[("id", id.into())], None), Effect::Drop(id))
    }

    /// A collection is emptied.
    #[must_use]
    pub fn clear(id: u32, new: u32) -> Self {
        Record::catalog(
            &map("clear", &[("id", id.into()), ("new", new.into())], None),
            Effect::Clear(id, new),
        )
    }

    /// A collection has another name.
    #[must_use]
    pub fn rename(id: u32, name: &str) -> Self {
        Record::catalog(&map("rename", &[("id", id.into())], Some(name)), Effect::Rename(id, name.to_owned()))
    }

    /// An index begins.
    #[must_use]
    pub fn index(of: u32, new: u32, definition: &Definition) -> Self {
        let mut map = map("index", &[("id", of.into()), ("new", new.into())], None);
        map.insert("index".to_owned(), Value::Object(definition.map()));
        Record::catalog(&map, Effect::Index(of, new, definition.clone()))
    }

    /// An index ends.
    #[must_use]
    pub fn unindex(id: u32) -> Self {
        Record::catalog(&map("unindex", &[("id", id.into())], None), Effect::Unindex(id))
    }

    /// An index has another name.
    #[must_use]
    pub fn reindex(id: u32, name: &str) -> Self {
        let effect = Effect::Reindex(id, name.to_owned());
        Record::catalog(&map("reindex", &[("id", id.into())], Some(name)), effect)
    }

    /// A segment is freed.
    #[must_use]
    pub fn freed(sequence: u64, physical: u32) -> Self {
        let rest = [&sequence.to_le_bytes()[..], &physical.to_le_bytes()].concat();
        Record::raw(6, 0, 0, rest)
    }

    /// An opening (F-6.5).
    #[must_use]
    pub fn opening(last: u64, end: u64) -> Self {
        Record::raw(7, 0, 0, [last.to_le_bytes(), end.to_le_bytes()].concat())
    }

    /// The same with more in front of the key: what flags behind that of a replaced version ask for.
    #[must_use]
    pub fn with(mut self, flags: u8, before_the_key: &[u8]) -> Self {
        self.flags |= flags;
        self.rest.splice(0..0, before_the_key.iter().copied());
        self
    }

    /// The same, naming these bytes as the version that it replaces.
    #[must_use]
    pub fn naming(mut self, bytes: &[u8]) -> Self {
        (self.flags, self.replaces) = (self.flags | 1, Replaces::Bytes(bytes.to_vec()));
        self
    }

    /// The same, naming no version as the one that it replaces.
    #[must_use]
    pub fn naming_none(mut self) -> Self {
        (self.flags, self.replaces) = (self.flags & !1, Replaces::Bytes(Vec::new()));
        self
    }

    /// What it names as the version that it replaces, in segments of this length; none where that is nothing.
    pub(super) fn named(&self, world: &World, segment_bytes: u32) -> Option<Vec<u8>> {
        match &self.replaces {
            Replaces::Bytes(bytes) => (!bytes.is_empty()).then(|| bytes.clone()),
            Replaces::Newest(key) => world.version(self.collection, key).map(|version| {
                let goes = |chunk: &&u64| self.kind != 3 || !self.chunks.contains(chunk);
                let ended: Vec<_> = version.chunks.iter().filter(goes).copied().collect();
                replaced(version.value, &ended, segment_bytes)
            }),
        }
    }

    /// The same, doing nothing.
    #[must_use]
    pub fn dead(mut self) -> Self {
        self.effect = Effect::None;
        self
    }

    /// The value of the version that it is, standing at this log address (F-6.6).
    #[must_use]
    pub fn value(&self, address: u64) -> u64 {
        address * 4 + u64::from(self.flags & 8 != 0) * 2 + u64::from(self.kind == 3)
    }

    /// What the record does, standing at this log address.
    pub(super) fn carry_out(&self, world: &mut World, address: u64, tuple_limit: usize) {
        match &self.effect {
            Effect::None => {}
            Effect::Put(key, document) => {
                let (chunks, document) = (self.chunks.clone(), document.clone());
                world.put(self.collection, key, Version { value: self.value(address), chunks, document });
            }
            Effect::Delete(key) => world.delete(self.collection, key),
            Effect::Relocate(key) => {
                world.relocate(self.collection, key, self.value(address), &self.chunks);
            }
            Effect::Create(id, name) => world.create(*id, name),
            Effect::Drop(id) => world.drop(*id),
            Effect::Clear(id, new) => world.clear(*id, *new),
            Effect::Rename(id, name) => world.rename(*id, name),
            Effect::Index(of, new, definition) => world.index(*of, *new, definition, tuple_limit),
            Effect::Unindex(id) => world.unindex(*id),
            Effect::Reindex(id, name) => world.reindex(*id, name),
        }
    }
}

/// A version of this value, and where those of its chunks stand that die with it (F-6.6).
#[must_use]
pub fn replaced(value: u64, ended: &[u64], segment_bytes: u32) -> Vec<u8> {
    let mut list = Vec::new();
    if value & 2 != 0 {
        let mut counts = BTreeMap::new();
        for address in ended {
            *counts.entry(address / u64::from(segment_bytes)).or_insert(0) += 1;
        }
        list.extend(varint(counts.len() as u64));
        list.extend(
            counts.into_iter().flat_map(|(sequence, count)| [varint(sequence), varint(count)].concat()),
        );
    }
    [varint(value), list].concat()
}

/// F-6.7
#[must_use]
pub fn chunk_list(len: u64, chunks: &[u64]) -> Vec<u8> {
    let addresses = chunks.iter().flat_map(|address| address.to_le_bytes()).collect();
    [varint(len), varint(chunks.len() as u64), addresses].concat()
}

/// A catalog map.
#[must_use]
pub fn map(op: &str, ids: &[(&str, i64)], name: Option<&str>) -> Document {
    let mut map = Document::from([("op".to_owned(), Value::from(op))]);
    map.extend(ids.iter().map(|(key, id)| ((*key).to_owned(), Value::Int(*id))));
    map.extend(name.map(|name| ("name".to_owned(), Value::from(name))));
    map
}
