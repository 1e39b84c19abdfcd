//! A store of one collection, and a disk that knows what a sync has covered.

use std::io;

use crate::core::{Core, Cursor, Expect, IndexBuild, IndexStep, Writer};
use crate::document::{Key, KeyRef, Value};
use crate::error::Result;
use crate::index::{KeyRange, Naming};
use crate::options::{Durability, Options};
use crate::secondary::IndexDefinition;
use crate::storage::{MemoryStorage, Storage};
use crate::sync::{Arc, Mutex, MutexGuard, lock};
use crate::txn::Registered;

/// A disk that can be full, and knows which documents a sync has covered. Loom sees the lock on that as any other, or it would take
/// a look at it and a sync for independent, and not try both orders.
#[derive(Debug, Default)]
pub(super) struct Disk {
    memory: MemoryStorage,
    notes: Mutex<Notes>,
}

#[derive(Debug, Default)]
pub(super) struct Notes {
    pub(super) is_full: bool,
    written: Vec<u8>,
    durable: Vec<u8>,
}

impl Disk {
    pub(super) fn notes(&self) -> MutexGuard<'_, Notes> {
        lock(&self.notes)
    }

    pub(super) fn is_durable(&self, number: u8) -> bool {
        self.notes().durable.contains(&number)
    }
}

impl Storage for Disk {
    fn len(&self) -> io::Result<u64> {
        self.memory.len()
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.memory.set_len(len)
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<usize> {
        self.memory.read_at(offset, out)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        if self.notes().is_full {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let written = self.memory.write_at(offset, bytes);
        let numbers = bytes.windows(4).filter(|window| **window == document(window[3]));
        self.notes().written.extend(numbers.map(|window| window[3]));
        written
    }

    fn sync(&self) -> io::Result<()> {
        let mut notes = self.notes();
        notes.durable = notes.written.clone();
        Ok(())
    }
}

/// `{"n": number}`, encoded.
pub(super) fn document(number: u8) -> [u8; 4] {
    [0xa1, 0x61, b'n', number]
}

/// A store with one collection, whose documents 0 and 1 hold the number 0, durably.
pub(super) struct Fixture {
    pub(super) core: Core,
    pub(super) naming: Arc<Naming>,
    pub(super) disk: Arc<Disk>,
}

impl Fixture {
    pub(super) fn new() -> Arc<Self> {
        let disk = Arc::new(Disk::default());
        let mut options = Options::new().sector(512).segment_bytes(8192).cache_bytes(1 << 16).seed(1);
        options.check.page_shift = 1;
        let core = Core::open(Box::new(Arc::clone(&disk)), &options).expect("memory takes a store");
        commit(&core, Durability::Buffered, |writer| {
            writer.txn.create_collection("c").expect("nothing is in the way");
        });
        commit(&core, Durability::Buffered, |writer| {
            put(writer, 0, 0);
            put(writer, 1, 0);
        });
        let naming = core.shared.naming("c").expect("it was just made");
        let fixture = Fixture { core, naming, disk };
        fixture.sync();
        Arc::new(fixture)
    }

    pub(super) fn commit(&self, durability: Durability, stage: impl FnOnce(&mut Writer)) {
        commit(&self.core, durability, stage);
    }

    pub(super) fn put(&self, writer: &mut Writer, key: i64, number: u8) {
        put(writer, key, number);
    }

    pub(super) fn delete(&self, writer: &mut Writer, key: i64) {
        let deleted = writer.txn.delete("c", KeyRef::Int(key), None).expect("nothing is in the way");
        assert!(deleted);
    }

    /// Goes through the documents for the index `i` of their numbers.
    pub(super) fn build_index(&self) -> IndexBuild {
        let definition = IndexDefinition::new("i", ["$.n"]).expect("it is one");
        let mut build = IndexBuild::new("c", definition, false);
        let mut writer = self.core.writer().expect("not opened for reading only");
        let step = build.step(&mut writer).expect("memory can be read");
        assert_eq!(step, IndexStep::Whole);
        build
    }

    /// The numbers and keys that a snapshot reads from its index. `None` if it has no index.
    pub(super) fn index_at(&self, snapshot: &Arc<Registered>) -> Option<Vec<(Value, Key)>> {
        let shared = &self.core.shared;
        let index = shared.index_in(snapshot.state(), &self.naming, "i").ok()?;
        let mut cursor = Cursor::new(Arc::clone(snapshot), Arc::clone(&index.naming), KeyRange::all());
        let mut found = Vec::new();
        while let Some((entry, _)) = shared.next_entry(&mut cursor).expect("the snapshot lives") {
            let KeyRef::Bytes(entry) = entry else { panic!("{entry:?} is no entry") };
            let entry = index.definition.definition.parse(entry, shared.entry_limits()).expect("it is one");
            let number = entry.tuple.and_then(|mut tuple| tuple.remove(0));
            found.push((number.expect("each document has a number"), entry.key));
        }
        Some(found)
    }

    /// The three steps of a sync, which others may come between.
    pub(super) fn sync(&self) {
        if let Some(job) = self.core.begin_sync().expect("there is room") {
            self.core.shared.sync_storage().expect("the disk works");
            self.core.end_sync(job).expect("not opened for reading only");
        }
    }

    /// The number in the visible document.
    pub(super) fn get(&self, key: i64) -> Option<u8> {
        let found = self.core.shared.get(&self.naming, KeyRef::Int(key)).expect("memory can be read");
        found.map(|found| number(found.body()))
    }

    /// How many documents of a range a snapshot has, where that can be told without a walk.
    pub(super) fn count(&self, snapshot: &Arc<Registered>, range: KeyRange) -> Option<u64> {
        let cursor = Cursor::new(Arc::clone(snapshot), Arc::clone(&self.naming), range);
        self.core.shared.count_left(&cursor, u64::MAX).expect("the snapshot lives")
    }

    /// The number in the document of a snapshot.
    pub(super) fn get_at(&self, snapshot: &Registered, key: i64) -> Result<Option<u8>> {
        let found = self.core.shared.get_at(snapshot, &self.naming.documents, KeyRef::Int(key))?;
        Ok(found.map(|found| number(found.body())))
    }

    /// The keys of a snapshot, by a walk.
    pub(super) fn keys_at(&self, snapshot: &Arc<Registered>) -> Result<Vec<Key>> {
        let mut cursor = Cursor::new(Arc::clone(snapshot), Arc::clone(&self.naming), KeyRange::all());
        let mut keys = Vec::new();
        while let Some((key, _)) = self.core.shared.next_entry(&mut cursor)? {
            keys.push(key.to_key());
        }
        Ok(keys)
    }
}

pub(super) fn commit(core: &Core, durability: Durability, stage: impl FnOnce(&mut Writer)) {
    let mut writer = core.writer().expect("not opened for reading only");
    writer.begin().expect("the store is open");
    stage(&mut writer);
    writer.commit(durability).expect("there is room");
}

pub(super) fn put(writer: &mut Writer, key: i64, number: u8) {
    put_in(writer, "c", key, number);
}

pub(super) fn put_in(writer: &mut Writer, collection: &str, key: i64, number: u8) {
    let body = document(number);
    writer.txn.put(collection, KeyRef::Int(key), Expect::Anything, &body).expect("nothing is in the way");
}

pub(super) fn number(body: &[u8]) -> u8 {
    *body.last().expect("a document has bytes")
}
