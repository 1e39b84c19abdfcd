//! Readers beside a block that moves from the tail to the cache, and out of the cache: in every order of their steps.
//!
//! The log is that of a store, over memory; only the writer's steps are taken by hand, so that they can be cut finer than a
//! store does.

use super::Log;
use crate::cache::{Block, Cache, Segment};
use crate::document::KeyRef;
use crate::format::record::{Kind, RecordParts};
use crate::format::{Geometry, LogAddress, Lsn};
use crate::storage::{FailStop, MemoryStorage};
use crate::sync::explore::{PREEMPTIONS, every_order, is_found};
use crate::sync::race::Race;
use crate::sync::{Arc, AtomicU64, Ordering, thread};

/// The largest block of the cache: so a segment has two.
const BLOCK: u64 = 16 << 10;

/// What a put of a body of some KiB takes beside the body.
const OVERHEAD: usize = 11;

fn geometry() -> Geometry {
    Geometry::new(512, 2 * BLOCK as u32).expect("a legal geometry")
}

/// Where a record stands, and its bytes.
#[derive(Clone)]
struct Placed {
    at: u64,
    bytes: Vec<u8>,
}

impl Placed {
    fn end(&self) -> LogAddress {
        LogAddress(self.at + self.bytes.len() as u64)
    }
}

/// The first segment of a log over a file that is zeros as far as two blocks go, as after a creation; and what readers may see.
struct Fixture {
    log: Log,
    segment: Arc<Segment>,
    visible: AtomicU64,
}

impl Fixture {
    fn new(end: u64) -> Arc<Self> {
        let storage = FailStop::new(Box::new(MemoryStorage::new()));
        storage.set_len(geometry().segment_end(0)).expect("memory refuses nothing");
        let log = Log::new(storage, geometry(), LogAddress(end), Cache::new(0));
        let segment = Arc::new(Segment::new(&[7; 16], geometry(), 0, 0, Lsn::new(1, 1)));
        log.segments.put(Arc::clone(&segment));
        Arc::new(Fixture { log, segment, visible: AtomicU64::new(0) })
    }

    /// A put of `key` with `len` bytes that would stand at `at`.
    fn record(&self, at: u64, key: u8, len: usize) -> Placed {
        let body = vec![key; len];
        let record = RecordParts {
            collection: 1,
            key: Some(KeyRef::Int(i64::from(key))),
            body: &body,
            ..RecordParts::nameless(Kind::Put)
        };
        let mut bytes = Vec::new();
        record.encode(self.segment.last_stretch().seed.at(at as u32), &mut bytes);
        Placed { at, bytes }
    }

    fn place(&self, record: &Placed) {
        self.log.tail.put(&self.segment, LogAddress(record.at), &record.bytes, &[]);
    }

    fn publish(&self, record: &Placed) {
        self.visible.store(record.end().0, Ordering::Release);
    }

    fn write_out(&self, record: &Placed) {
        let at = geometry().segment_offset(0) + record.at;
        self.log.storage.write_all_at(at, &record.bytes).expect("memory refuses nothing");
    }

    fn seal(&self, placed: LogAddress, written: LogAddress) {
        self.log.tail.seal(placed, written, &self.log.cache);
    }

    /// Reads those of `records` that are published.
    fn read(&self, records: &[Placed]) {
        let visible = self.visible.load(Ordering::Acquire);
        for record in records.iter().filter(|record| record.end().0 <= visible) {
            self.read_one(record);
        }
    }

    /// Reads a record, if it is published, as who reads none of its neighbours.
    fn read_alone(&self, record: &Placed) {
        let at = LogAddress(record.at);
        if self.visible.load(Ordering::Acquire) < record.end().0 {
            return;
        }
        if let Some(found) = self.log.look_alone(at).expect("memory can be read") {
            let parsed = self.log.parse(&found, at).expect("a published record verifies");
            assert_eq!(found.bytes()[..parsed.len], record.bytes);
        }
    }

    fn read_one(&self, record: &Placed) {
        let at = LogAddress(record.at);
        let found = self.log.find(at).expect("memory can be read");
        let parsed = self.log.parse(&found, at).expect("a published record verifies");
        assert_eq!(found.bytes()[..parsed.len], record.bytes);
    }
}

/// The writer places a record across the end of the first block, then one that fills the second; each is written out, and
/// the block that it fills is sealed, before the next is placed. A reader reads what is published.
fn a_block_is_sealed() {
    let fixture = Fixture::new(BLOCK - 40);
    let first = fixture.record(BLOCK - 40, 1, 60);
    let second = fixture.record(first.end().0, 2, (2 * BLOCK - first.end().0) as usize - OVERHEAD);
    assert_eq!(second.end().0, 2 * BLOCK);
    let reader = {
        let (fixture, records) = (Arc::clone(&fixture), [first.clone(), second.clone()]);
        thread::spawn(move || {
            fixture.read(&records);
            fixture.read(&records);
        })
    };
    for record in [&first, &second] {
        fixture.place(record);
        fixture.publish(record);
        fixture.write_out(record);
        fixture.seal(record.end(), record.end());
    }
    reader.join().expect("the reader does not panic");
    fixture.read(&[first, second]);
}

/// The writer hands over a record in two parts, the block that ends in it being sealed in between. A reader reads what is published, without
/// its block where that can be.
fn a_record_is_written_out_in_two_parts() {
    let fixture = Fixture::new(BLOCK - 40);
    let first = fixture.record(BLOCK - 40, 1, 60);
    let second = fixture.record(first.end().0, 2, (2 * BLOCK - first.end().0) as usize - OVERHEAD);
    let reader = {
        let (fixture, first) = (Arc::clone(&fixture), first.clone());
        thread::spawn(move || fixture.read_alone(&first))
    };
    fixture.place(&first);
    fixture.publish(&first);
    fixture.write_out(&Placed { bytes: first.bytes[..40].to_vec(), ..first });
    fixture.seal(first.end(), LogAddress(BLOCK));
    // One of the same shard drives the sealed block out.
    let other = Block::new(16, vec![0; BLOCK as usize], Arc::clone(&fixture.segment));
    fixture.log.cache.put(16, Arc::new(other));
    fixture.write_out(&first);
    fixture.place(&second);
    fixture.write_out(&second);
    fixture.seal(second.end(), second.end());
    reader.join().expect("the reader does not panic");
    fixture.read_alone(&first);
}

/// One thread hands over the first record and seals its block while another places and publishes the second.
fn one_seals_while_another_places() {
    let fixture = Fixture::new(BLOCK - 40);
    let first = fixture.record(BLOCK - 40, 1, 60);
    let second = fixture.record(first.end().0, 2, 8);
    fixture.place(&first);
    fixture.publish(&first);
    let sealer = {
        let (fixture, first) = (Arc::clone(&fixture), first.clone());
        thread::spawn(move || {
            fixture.write_out(&first);
            fixture.seal(first.end(), first.end());
        })
    };
    fixture.place(&second);
    fixture.publish(&second);
    fixture.read(&[first.clone(), second.clone()]);
    sealer.join().expect("the sealer does not panic");
    fixture.read(&[first, second]);
}

/// The block of a record that waits to be written out meets others in a cache that has no room; a reader reads it all the time.
fn the_cache_has_no_room() {
    let fixture = Fixture::new(0);
    let first = fixture.record(512, 1, BLOCK as usize);
    fixture.place(&first);
    fixture.publish(&first);
    let reader = {
        let (fixture, first) = (Arc::clone(&fixture), first.clone());
        thread::spawn(move || fixture.read(&[first]))
    };
    fixture.seal(first.end(), LogAddress(512));
    let (number, segment) = (16, Arc::clone(&fixture.segment));
    let other = Block::new(number, vec![0; BLOCK as usize], segment);
    fixture.log.cache.put(number, Arc::new(other));
    fixture.write_out(&first);
    fixture.seal(first.end(), first.end());
    reader.join().expect("the reader does not panic");
    fixture.read(&[first]);
}

#[test]
fn a_published_record_is_whole_while_its_block_moves_to_the_cache() {
    println!("{} executions", every_order(PREEMPTIONS, a_block_is_sealed));
}

#[test]
fn sealing_beside_placing_loses_nothing() {
    println!("{} executions", every_order(PREEMPTIONS, one_seals_while_another_places));
}

#[test]
fn what_the_cache_evicts_is_in_the_file() {
    println!("{} executions", every_order(PREEMPTIONS, the_cache_has_no_room));
}

#[test]
fn a_record_that_is_written_out_in_two_parts_is_read_as_it_is() {
    println!("{} executions", every_order(PREEMPTIONS, a_record_is_written_out_in_two_parts));
}

#[test]
fn loom_finds_a_block_that_is_sealed_before_it_is_written_out() {
    is_found(Race::SealedUnwritten, "a published record verifies", PREEMPTIONS, the_cache_has_no_room);
}

#[test]
fn loom_finds_a_tail_that_is_cut_from_a_copy() {
    is_found(
        Race::TailCutFromCopy,
        "a published record verifies",
        PREEMPTIONS,
        one_seals_while_another_places,
    );
}

#[test]
fn loom_finds_a_stale_block_that_is_cached() {
    is_found(Race::TailNotAsked, "a published record verifies", PREEMPTIONS, a_block_is_sealed);
}

#[test]
fn loom_finds_what_is_settled_asked_behind_the_read() {
    is_found(
        Race::SettledAskedLate,
        "a published record verifies",
        PREEMPTIONS,
        a_record_is_written_out_in_two_parts,
    );
}
