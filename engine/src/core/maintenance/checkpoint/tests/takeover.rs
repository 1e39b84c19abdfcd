//! Checkpoints that take over what did not change, over the lives of a store with an index that is cleaned,
//! damaged and opened anew.

use std::collections::BTreeMap;

use super::super::super::clean::Cleaned;
use super::*;
use crate::core::Effort;
use crate::format::checkpoint::references;
use crate::recovery::File;
use crate::storage::Storage;
use crate::{Db, IndexDefinition};

type Disk = Arc<MemoryStorage>;

const KEYS: i64 = 160;

fn options(segment_bytes: u32) -> Options {
    let mut options = Options::new().sector(64).segment_bytes(segment_bytes).cache_bytes(1 << 16);
    options.background = crate::options::Background::Manual;
    options.check.page_shift = 4;
    options
}

fn open(disk: &Disk) -> Db {
    open_with(disk, 512)
}

fn open_with(disk: &Disk, segment_bytes: u32) -> Db {
    Db::open_on(Arc::clone(disk), &options(segment_bytes)).expect("it opens")
}

fn copy_of(disk: &Disk) -> Disk {
    let mut bytes = vec![0; disk.len().expect("memory has a length") as usize];
    disk.read_at(0, &mut bytes).expect("memory can be read");
    let copy = Disk::default();
    copy.write_at(0, &bytes).expect("memory takes all");
    copy
}

/// A store, and what should be in it.
struct Life {
    disk: Disk,
    db: Db,
    documents: BTreeMap<i64, i64>,
    random: u64,
}

impl Life {
    fn new(seed: u64) -> Self {
        Self::with(seed, 512)
    }

    fn with(seed: u64, segment_bytes: u32) -> Self {
        let disk = Disk::default();
        let db = open_with(&disk, segment_bytes);
        let documents = db.collection("a");
        documents.create_index(IndexDefinition::new("n", ["$.n"]).expect("it is one")).expect("it can be");
        let mut life = Life { disk, db, documents: BTreeMap::new(), random: seed };
        (0..KEYS).for_each(|key| life.put(key, key % 7));
        life
    }

    fn below(&mut self, end: u64) -> u64 {
        // Knuth's MMIX.
        self.random =
            self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) % end
    }

    fn put(&mut self, key: i64, n: i64) {
        let documents = self.db.collection("a");
        documents.put(key, crate::doc! { "n": n }).expect("memory refuses nothing");
        self.documents.insert(key, n);
    }

    fn step(&mut self) {
        match self.below(8) {
            0 | 1 => {
                let (start, n) = (self.below(KEYS as u64) as i64, self.below(7) as i64);
                (start..start + 6).for_each(|key| self.put(key, n));
            }
            2 => {
                let start = self.below(KEYS as u64) as i64;
                for key in start..start + 3 {
                    self.db.collection("a").delete(key).expect("memory refuses nothing");
                    self.documents.remove(&key);
                }
            }
            3 => {
                // What is live in the oldest segment is moved.
                let core = self.db.core();
                let oldest = {
                    let writer = core.writer().expect("it is open");
                    let in_use = writer.accounts.iter().find(|(_, account)| !account.is_freed());
                    in_use.map(|(sequence, _)| sequence).expect("there is a log")
                };
                let cleaned = core.clean(oldest).expect("memory refuses nothing");
                assert_ne!(cleaned, Cleaned::Busy);
            }
            4 => _ = self.db.core().maintain(Effort::Keep).expect("memory refuses nothing"),
            5 => {
                self.db = open(&Disk::default());
                self.db = open(&self.disk);
            }
            _ => {
                self.db.flush().expect("memory refuses nothing");
                self.db.checkpoint().expect("memory refuses nothing");
                self.check();
            }
        }
    }

    /// The store is what it should be, also after another opening, and after one that finds the root or a
    /// leaf of the newest checkpoint
    /// damaged; and the next checkpoint is beside the one that was read instead.
    fn check(&self) {
        check(&self.db, &self.documents);
        check(&open(&copy_of(&self.disk)), &self.documents);
        for at in self.root_and_leaf() {
            let copy = copy_of(&self.disk);
            copy.write_at(at, &[0x5A; 8]).expect("memory takes all");
            let other = open(&copy);
            check_documents(&other, &self.documents);
            other.collection("a").put(0, crate::doc! { "n": 0 }).expect("memory refuses nothing");
            other.checkpoint().expect("memory refuses nothing");
            let documents = self.documents.iter().map(|(key, n)| (*key, *n)).chain([(0, 0)]).collect();
            check(&other, &documents);
        }
    }

    /// Where the root of the newest checkpoint stands, and a leaf or a page.
    fn root_and_leaf(&self) -> [u64; 2] {
        let core = self.db.core();
        let (slot, storage) =
            (core.writer().expect("it is open").superblock.clone(), &core.shared.log.storage);
        let reference = slot.checkpoints[0].expect("it is named");
        let file = File::new(storage, &slot).expect("memory has a length");
        let mut checkpoint = file.checkpoint(&reference);
        let records = references(checkpoint.as_mut().expect("it is whole")).expect("it is whole");
        [reference.root, records[records.len() - 1]].map(|reference| reference.at(slot.geometry))
    }
}

fn check(db: &Db, documents: &BTreeMap<i64, i64>) {
    check_documents(db, documents);
    let report = db.verify(true).expect("memory refuses nothing");
    assert!(report.is_clean(), "{:?}", report.problems);
}

fn check_documents(db: &Db, documents: &BTreeMap<i64, i64>) {
    let scan = db.collection("a").scan(..).expect("it begins");
    let found: BTreeMap<i64, i64> = scan
        .map(|found| {
            let document = found.expect("nothing is damaged");
            let KeyRef::Int(key) = document.key() else { panic!("an int was put") };
            let n = document.to_document().expect("it is sound").get("n").and_then(crate::Value::as_i64);
            (key, n.expect("each has one"))
        })
        .collect();
    assert_eq!(&found, documents);
}

//= spec/space.md#p-2-8-what-is-taken-over
//= type=test
//# A writer MUST NOT take over anything else, nor anything that it could only reach by a damaged record.
//= spec/space.md#p-2-8-what-is-taken-over
//= type=test
//# A writer MUST NOT take over leaves of an index unless it knows what changed of them since the base.
#[test]
fn a_store_whose_checkpoints_take_over_leaves_is_an_ordered_map() {
    for seed in 0..6 {
        let mut life = Life::new(seed);
        (0..120).for_each(|_| life.step());
        life.check();
    }
}

//= spec/format.md#f-8-8-completeness
//= type=test
//# The two checkpoints that a slot names MUST NOT refer to one record: what is damaged is damaged in one of
//# them.
//= spec/space.md#p-2-8-what-is-taken-over
//= type=test
//# There is none unless the newest of them is the one that it will name as the one before (P-2.5).
#[test]
fn nothing_is_taken_over_from_the_checkpoint_that_is_named_beside_the_next() {
    let mut life = Life::new(1);
    // Keys so far apart that one leaf has few of them.
    (KEYS..10 * KEYS).for_each(|key| life.put(key * key, key % 7));
    (0..4).for_each(|_| life.db.checkpoint().expect("memory refuses nothing"));
    life.check();
}

//= spec/space.md#p-2-8-what-is-taken-over
//= type=test
//# A checkpoint that is taken to make the file shorter (P-7.1, P-8.1), for the segments that it gives back
//# (P-2.1), or in a file that may not grow, SHOULD take over nothing.
#[test]
fn what_makes_the_file_shorter_takes_nothing_over() {
    let mut life = Life::new(1);
    (KEYS..10 * KEYS).for_each(|key| life.put(key * key, key % 7));
    let core = life.db.core();
    let written = |purpose| {
        let before = life.db.stats().space.checkpoint_written_bytes;
        core.checkpoint(purpose).expect("memory refuses nothing");
        life.db.stats().space.checkpoint_written_bytes - before
    };
    let whole = written(Purpose::Space);
    written(Purpose::Opening);
    assert!(written(Purpose::Opening) < whole);
    assert_eq!(written(Purpose::Space), whole);
    core.writer().expect("it is open").budget.is_full = true;
    assert_eq!(written(Purpose::Opening), whole, "the file may not grow");
}

//= spec/space.md#p-2-8-what-is-taken-over
//= type=test
//# A writer SHOULD take over nothing from a segment, but for the open one, of which the named checkpoints
//# refer to less than half: so it becomes free.
#[test]
fn segments_of_which_little_is_held_become_free() {
    const SEGMENT_BYTES: u32 = 16 << 10;
    const LEAVES: i64 = 24;
    // So far apart that a leaf has some 700 of them, and a segment four leaves.
    let key = |number: i64| 20 * KEYS + number * number;
    let mut life = Life::with(1, SEGMENT_BYTES);
    (0..LEAVES * 700).for_each(|number| life.put(key(number), 0));
    for stage in 0..8 {
        // From one stage to the next, a few leaves less change from checkpoint to checkpoint.
        for _ in 0..2 {
            // In each more than a patch has room for.
            for place in (0..700).step_by(7) {
                let leaves = (0..LEAVES).filter(|leaf| leaf % 8 >= stage);
                leaves.for_each(|leaf| life.put(key(leaf * 700 + place), 0));
            }
            life.db.checkpoint().expect("memory refuses nothing");
        }
    }
    let writer = life.db.core().writer().expect("it is open");
    let segments = writer.checkpoints.segments().len() as u64;
    let (held, bytes) = (segments * u64::from(SEGMENT_BYTES), writer.checkpoints.bytes());
    assert!(held < 2 * bytes, "{segments} segments for {bytes} bytes");
}

/// A store whose two checkpoints have leaves that did not change for long, and the documents that are in it.
fn settled() -> (Disk, BTreeMap<i64, i64>) {
    let mut life = Life::new(1);
    (KEYS..4 * KEYS).for_each(|key| life.put(key * key, key % 7));
    (0..4).for_each(|_| life.db.checkpoint().expect("memory refuses nothing"));
    (life.disk, life.documents)
}

/// Of the collection and its index.
fn unread_bytes_and_all(db: &Db) -> (usize, bool) {
    let core = db.core();
    let catalog = read(&core.shared.catalog);
    let bytes = catalog.documents().map(|documents| documents.memory_bytes()).sum();
    (bytes, catalog.documents().all(|documents| documents.is_all_read()))
}

//= spec/space.md#p-2-8-what-is-taken-over
//= type=test
//# A writer MAY take over a leaf of the base in its place, a leaf of an index too, and read neither, when all of this
//# holds: all keys of its record are unread; no key in the range of the unread leaf was put, moved or deleted since
//# the checkpoint that it is of; the LSN of its record, or of the patch over it (F-8.13), is at or below that of the base; and the leaf of
//# the base has the same range and as many entries.
#[test]
fn what_did_not_change_is_not_read_for_a_checkpoint() {
    let (disk, mut documents) = settled();
    let whole = {
        let db = open(&copy_of(&disk));
        check(&db, &documents);
        unread_bytes_and_all(&db).0
    };
    let db = open(&disk);
    for round in 0..6 {
        db.collection("a").put(KEYS * KEYS, crate::doc! { "n": round }).expect("memory refuses nothing");
        documents.insert(KEYS * KEYS, round);
        db.checkpoint().expect("memory refuses nothing");
        let (bytes, is_all_read) = unread_bytes_and_all(&db);
        assert!(!is_all_read && bytes < whole * 3 / 4, "{bytes} of {whole} bytes");
        let copy = open(&copy_of(&disk));
        check(&copy, &documents);
    }
    check(&db, &documents);
}

//= spec/space.md#p-2-8-what-is-taken-over
//= type=test
//# Where entries in the range of a leaf of the base changed since, and are the same again, a writer MUST NOT take the leaf
//# over as it is: it writes a patch over it, which then has nothing, or the leaf anew.
#[test]
fn a_leaf_that_changed_and_changed_back_is_not_taken_for_unchanged() {
    let mut life = Life::with(1, 16 << 10);
    (KEYS..8 * KEYS).for_each(|key| life.put(key, key % 7));
    life.put(52, -4);
    let take = |life: &mut Life, [one, other]: [i64; 2]| {
        life.put(50, one);
        life.put(51, other);
        // Enough beside it, so that no segment is held for a patch alone.
        (KEYS..40 * KEYS).for_each(|key| life.put(key * key, 6));
        life.db.checkpoint().expect("memory refuses nothing");
    };
    (0..4).for_each(|_| take(&mut life, [-3, -2]));
    take(&mut life, [-2, -3]);
    take(&mut life, [-3, -2]);
    for _ in 0..2 {
        life.db = open(&Disk::default());
        life.db = open(&life.disk);
        life.put(0, 0);
        life.db.checkpoint().expect("memory refuses nothing");
    }
    check(&life.db, &life.documents);
}

//= spec/recovery.md#r-5-7-leaves-on-demand
//= type=test
//# Once both slots name a checkpoint that was written since the store was opened, the reader MUST take these keys
//# from the newest one that the slots name and that has them in records which can be read.
//= spec/recovery.md#r-5-7-leaves-on-demand
//= type=test
//# It MUST NOT name one that takes over anything when an unread record was found damaged while it was written.
#[test]
fn an_unread_leaf_that_is_damaged_later_is_made_good_by_the_other_of_the_named() {
    let (settled, mut documents) = settled();
    documents.insert(0, 1);
    let named = |db: &Db| db.core().writer().expect("it is open").superblock.checkpoints;
    let opened = named(&open(&copy_of(&settled))).map(|named| named.expect("there are two"));
    let geometry = open(&settled).core().shared.log.geometry;
    let records = {
        let db = open(&copy_of(&settled));
        let storage = &db.core().shared.log.storage;
        let slot = db.core().writer().expect("it is open").superblock.clone();
        let file = File::new(storage, &slot).expect("memory has a length");
        let mut checkpoint = file.checkpoint(&opened[0]).expect("it is whole");
        references(&mut checkpoint).expect("it is whole")
    };
    let mut met = 0;
    for (record, checkpoints) in records.iter().skip(1).zip([0, 1, 2, 3].into_iter().cycle()) {
        let disk = copy_of(&settled);
        let db = open(&disk);
        db.collection("a").put(0, crate::doc! { "n": 1 }).expect("memory refuses nothing");
        (0..checkpoints).for_each(|_| db.checkpoint().expect("memory refuses nothing"));
        let before = named(&db);
        let core = db.core();
        let under_way = (checkpoints == 0).then(|| {
            let mut job = begin(core);
            core.write_checkpoint(&mut job).expect("memory refuses nothing");
            job
        });
        disk.write_at(record.at(geometry), &[0x5A; 8]).expect("memory takes all");
        if checkpoints > 0 {
            // Nobody names it any more, and its place may be given out.
            disk.write_at(opened[1].root.at(geometry), &[0x5A; 8]).expect("memory takes all");
        }
        check_documents(&db, &documents);
        let entries = db.collection("a").index("n").range(..).expect("nothing is damaged").keys();
        assert_eq!(entries.filter_map(Result::ok).count(), documents.len());
        let has_damage = core.shared.opening.has_damage();
        met += u32::from(has_damage);
        if let Some(under_way) = under_way {
            let finish = |mut job| {
                while core.write_checkpoint(&mut job)? {}
                core.finish_checkpoint(job)
            };
            assert_eq!(finish(under_way).is_err(), has_damage, "what is damaged would be named");
        }
        if !has_damage {
            // It was read before.
            continue;
        }
        db.checkpoint().expect("memory refuses nothing");
        // The records of the checkpoint that opening began with are those of each second one since.
        let sound = before[if checkpoints % 2 == 0 { 1 } else { 0 }];
        assert_eq!(named(&db)[1], sound, "after {checkpoints}");
        check(&db, &documents);
        check(&open(&copy_of(&disk)), &documents);
    }
    assert!(met > 12, "{met} of {} records were unread", records.len());
}

#[cfg(feature = "seeded")]
#[test]
fn what_is_made_good_wrongly_goes_not_unnoticed() {
    for bug in [Bug::GoneCheckpointAsked, Bug::DamageUnderWayIgnored, Bug::DamagedLeafNamed] {
        crate::seeded::assert_noticed(
            bug,
            an_unread_leaf_that_is_damaged_later_is_made_good_by_the_other_of_the_named,
        );
    }
}

//= spec/space.md#p-2-8-what-is-taken-over
//= type=test
//# A writer MUST NOT take over a leaf in the place of any other that is unread.
#[cfg(feature = "seeded")]
#[test]
fn what_is_taken_over_wrongly_goes_not_unnoticed() {
    for bug in [
        Bug::LeavesOfTheNewest,
        Bug::ChangedSinceTheNewest,
        Bug::MovedLeafTakenOver,
        Bug::DeletedLeafTakenOver,
        Bug::IndexTakenOverUnknown,
        Bug::YoungLeafTakenOver,
        Bug::PatchAsOldAsItsLeaf,
        Bug::ChangedLeafTakenOver,
    ] {
        crate::seeded::assert_noticed(bug, a_store_whose_checkpoints_take_over_leaves_is_an_ordered_map);
    }
    crate::seeded::assert_noticed(
        Bug::ChangedBackTakenOver,
        a_leaf_that_changed_and_changed_back_is_not_taken_for_unchanged,
    );
    crate::seeded::assert_noticed(
        Bug::TakenOverAfterDamage,
        nothing_is_taken_over_from_the_checkpoint_that_is_named_beside_the_next,
    );
    crate::seeded::assert_noticed(Bug::SparseTakenOver, segments_of_which_little_is_held_become_free);
}
