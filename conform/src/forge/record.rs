//! Records (F-6), and what they do.

use holotype_model::{Document, Key, Value};

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
    /// What follows the commit field.
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
    Relocate(Key, u64),
    /// A collection begins.
    Create(u32, String),
    /// A collection ends.
    Drop(u32),
    /// A collection is emptied.
    Clear(u32, u32),
    /// A collection has another name.
    Rename(u32, String),
}

impl Record {
    fn new(kind: u8, collection: u32, rest: Vec<u8>, effect: Effect) -> Self {
        let (beyond, length_more, payload) = ([0; 2], 0, None);
        Record { kind, flags: 0, collection, rest, effect, commit_off: 0, beyond, length_more, payload }
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
        Record::new(1, collection, rest, Effect::Put(key.clone(), document))
    }

    /// A put of a document in chunks, which stand at these addresses.
    #[must_use]
    pub fn put_chunked(collection: u32, key: &Key, document: &[u8], chunks: &[u64]) -> Self {
        let rest = [cbor::key(key), chunk_list(document.len() as u64, chunks)].concat();
        Record { flags: 8, ..Record::new(1, collection, rest, Effect::Put(key.clone(), document.to_vec())) }
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
        Record::new(2, collection, cbor::key(key), Effect::Delete(key.clone()))
    }

    /// A put of a version that stood at `from` and was made by `own`.
    #[must_use]
    pub fn relocated(collection: u32, key: &Key, document: &[u8], own: u64, from: u64) -> Self {
        let rest = [own.to_le_bytes().to_vec(), varint(from), cbor::key(key), document.to_vec()].concat();
        Record::new(3, collection, rest, Effect::Relocate(key.clone(), from))
    }

    /// A put of a version in chunks that stood at `from` and was made by `own`.
    #[must_use]
    pub fn relocated_chunked(
        collection: u32,
        key: &Key,
        document: &[u8],
        chunks: &[u64],
        origin: [u64; 2],
    ) -> Self {
        let [own, from] = origin;
        let list = chunk_list(document.len() as u64, chunks);
        Record { flags: 8, ..Record::relocated(collection, key, &list, own, from) }
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

    /// The same with more in front of the key: what flags ask for.
    #[must_use]
    pub fn with(mut self, flags: u8, before_the_key: &[u8]) -> Self {
        self.flags |= flags;
        self.rest.splice(0..0, before_the_key.iter().copied());
        self
    }

    /// The same, doing nothing.
    #[must_use]
    pub fn dead(mut self) -> Self {
        self.effect = Effect::None;
        self
    }

    /// What the record does, standing at this log address.
    pub(super) fn carry_out(&self, world: &mut World, address: u64) {
        match &self.effect {
            Effect::None => {}
            Effect::Put(key, document) => world.put(self.collection, key, address, document),
            Effect::Delete(key) => world.delete(self.collection, key),
            Effect::Relocate(key, from) => world.relocate(self.collection, key, *from, address),
            Effect::Create(id, name) => world.create(*id, name),
            Effect::Drop(id) => world.drop(*id),
            Effect::Clear(id, new) => world.clear(*id, *new),
            Effect::Rename(id, name) => world.rename(*id, name),
        }
    }
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
