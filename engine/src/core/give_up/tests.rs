//! Lives of a store that keeps next to nothing of its index in memory.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::core::{Effort, Purpose};
use crate::document::{Key, KeyRef};
use crate::format::LogAddress;
use crate::format::checkpoint::{Branch, references};
use crate::index::{Contents, Entries, Entry, Layout, PrimaryIndex};
use crate::storage::{MemoryStorage, Storage};
use crate::{Collection, Db, IndexDefinition, Options, Snapshot};

type Disk = Arc<MemoryStorage>;
type Map = BTreeMap<Key, i64>;

const KEYS: u64 = 240;
const NUMBERS: u64 = 9;

/// So little that next to nothing of the index is kept.
const LITTLE: u64 = 400;
/// None of it, little, a part, and most of it.
const INDEX_BYTES: [u64; 4] = [0, LITTLE, 4_000, 16_000];

fn open(disk: &Disk, index_bytes: u64) -> Db {
    let mut options =
        Options::new().sector(64).segment_bytes(512).cache_bytes(1 << 16).index_bytes(index_bytes);
    options.background = crate::options::Background::Manual;
    options.check.page_shift = 4;
    Db::open_on(Arc::clone(disk), &options).expect("it opens")
}

fn documents(db: &Db) -> Collection {
    db.collection("a")
}

/// A store, and what should be in it.
struct Life {
    disk: Disk,
    db: Db,
    map: Map,
    /// What it held once.
    held: Option<(Snapshot, Map)>,
    given_up: u64,
    random: u64,
}

impl Life {
    fn new(seed: u64) -> Self {
        let disk = Disk::default();
        let db = open(&disk, LITTLE);
        let index = IndexDefinition::new("n", ["$.n"]).expect("it is one");
        documents(&db).create_index(index).expect("it can be");
        let mut life = Life { disk, db, map: Map::new(), held: None, given_up: 0, random: seed };
        (0..KEYS).for_each(|key| life.put(key, 0));
        life.settle();
        life
    }

    fn below(&mut self, end: u64) -> u64 {
        // Knuth's MMIX.
        self.random =
            self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) % end
    }

    fn put(&mut self, key: u64, n: u64) {
        let (key, n) = (named(key), n as i64);
        documents(&self.db).put(&key, crate::doc! { "n": n }).expect("memory refuses nothing");
        self.map.insert(key, n);
    }

    fn delete(&mut self, key: &Key) {
        documents(&self.db).delete(key).expect("memory refuses nothing");
        self.map.remove(key);
    }

    /// Both checkpoints have most leaves as they were.
    fn settle(&mut self) {
        for round in 0..4 {
            (0..3).for_each(|key| self.put(key, round));
            self.db.checkpoint().expect("memory refuses nothing");
        }
    }

    fn step(&mut self) {
        let key = self.below(KEYS);
        match self.below(9) {
            0 => {
                let n = self.below(NUMBERS);
                (key..key + 4).for_each(|key| self.put(key, n));
            }
            1 => {
                (key..key + 2).for_each(|key| self.delete(&named(key)));
            }
            2 => {
                let of = |db: &Db| {
                    db.core().writer().expect("it is open").accounts.iter().next().map(|(oldest, _)| oldest)
                };
                let oldest = of(&self.db).expect("there is a log");
                self.db.core().clean(oldest).expect("memory refuses nothing");
            }
            3 => _ = self.db.core().maintain(Effort::Keep).expect("memory refuses nothing"),
            4 if self.below(3) == 0 => {
                self.held = None;
                self.given_up += self.db.stats().leaves_given_up;
                self.db = open(&Disk::default(), 0);
                let index_bytes = INDEX_BYTES[self.below(4) as usize];
                self.db = open(&self.disk, index_bytes);
            }
            4 => self.held = Some((self.db.snapshot(), self.map.clone())),
            5 => self.held = None,
            6 => self.db.checkpoint().expect("memory refuses nothing"),
            7 if self.below(2) == 0 => {
                self.db.core().checkpoint(Purpose::Space).expect("memory refuses nothing");
            }
            // A call is under way when the first of them is named; nothing may have come between them.
            7 => {
                let kept = self.db.core().shared.keep();
                self.db.checkpoint().expect("memory refuses nothing");
                drop(kept);
                self.db.checkpoint().expect("memory refuses nothing");
            }
            _ => self.check(),
        }
        let key = named(key);
        let found = documents(&self.db).get(&key).expect("nothing is damaged");
        assert_eq!(found.map(|found| number(&found)), self.map.get(&key).copied(), "{key:?}");
    }

    fn check(&self) {
        assert!(!self.db.core().shared.opening.has_damage(), "a leaf that was given up is gone");
        check(&documents(&self.db), &self.map);
        if let Some((snapshot, map)) = &self.held {
            let documents = snapshot.collection("a").expect("it was there");
            let found: Map = documents
                .scan(..)
                .expect("it begins")
                .map(|found| entry_of(&found.expect("nothing is damaged")))
                .collect();
            assert_eq!(&found, map, "what a snapshot holds");
            for n in 0..NUMBERS as i64 {
                let found = documents.index("n").count(n..=n).expect("nothing is damaged");
                assert_eq!(found, count(map, n), "of {n}, in a snapshot");
            }
        }
    }
}

fn number(document: &crate::DocRef) -> i64 {
    let document = document.to_document().expect("it is sound");
    document.get("n").and_then(crate::Value::as_i64).expect("each has one")
}

fn entry_of(document: &crate::DocRef) -> (Key, i64) {
    (document.key().to_key(), number(document))
}

/// Some are ints.
fn named(key: u64) -> Key {
    if key < 40 { Key::Int(3 * key as i64) } else { Key::from(format!("key {key:03}").as_str()) }
}

fn count(map: &Map, n: i64) -> u64 {
    map.values().filter(|of| **of == n).count() as u64
}

/// The first key of a leaf behind one that is unread.
fn behind_an_unread_leaf(db: &Db) -> Key {
    let shared = &db.core().shared;
    let documents = Arc::clone(&shared.naming("a").expect("it is there").documents);
    let middle = KeyRange { from: std::ops::Bound::Included(Key::from("key 100")), ..KeyRange::all() };
    let unread = documents.unread_in(&middle, false).expect("most are");
    let (leaf, _) = unread.leaf().expect("it was read once");
    leaf.end.expect("it is not the last").clone()
}

/// What a collection has, by a scan and by its index.
fn check(documents: &Collection, map: &Map) {
    // All of it, and what begins and ends within leaves.
    for (from, to) in [(0, 999), (30, 70), (60, 61), (77, 150), (100, 239)] {
        let (from, to) = (named(from), named(to));
        let scan = || documents.scan(&from..&to).expect("it begins");
        let entries = |scan: crate::Scan| -> Vec<_> {
            scan.map(|found| entry_of(&found.expect("nothing is damaged"))).collect()
        };
        let mut right: Vec<_> = map.range(&from..&to).map(|(key, n)| (key.clone(), *n)).collect();
        assert_eq!(entries(scan()), right, "{from:?} to {to:?}");
        right.reverse();
        assert_eq!(entries(scan().reversed()), right, "{from:?} to {to:?}, in reverse");
    }
    for n in 0..NUMBERS as i64 {
        let found = documents.index("n").count(n..=n).expect("nothing is damaged");
        assert_eq!(found, count(map, n), "of {n}");
    }
}

//= spec/recovery.md#r-5-8-leaves-given-up
//= type=test
//# A leaf of an index MUST NOT be given up while a snapshot holds a state from before the checkpoint before: its entries
//# have no addresses (F-8.10), so they would be taken for older than they are.
//= spec/recovery.md#r-5-8-leaves-given-up
//= type=test
//# A reader MUST NOT give up a leaf of any but the newest checkpoint that both slots name, or, until its leaves have taken
//# the place of what is unread, the one before: the places of others may be given out.
#[test]
fn a_store_that_gives_up_leaves_is_an_ordered_map() {
    let mut given_up = 0;
    for seed in 0..6 {
        let mut life = Life::new(seed);
        (0..150).for_each(|_| life.step());
        life.check();
        given_up += life.given_up + life.db.stats().leaves_given_up;
        let report = life.db.verify(true).expect("memory refuses nothing");
        assert!(report.is_clean(), "{:?}", report.problems);
    }
    assert!(given_up > 1000, "{given_up} leaves were given up");
}

#[test]
fn what_is_kept_is_what_was_asked_for_and_what_changed() {
    let life = Life::new(1);
    let all = documents(&life.db).scan(..).expect("it begins").count();
    assert_eq!(all, life.map.len());
    let bytes = |db: &Db| {
        let catalog = read(&db.core().shared.catalog);
        catalog.documents().map(|documents| documents.index.memory_bytes()).sum::<usize>()
    };
    let kept = bytes(&life.db);
    let whole = {
        let _kept = life.db.core().shared.keep();
        life.db.core().shared.read_everything().expect("nothing is damaged");
        bytes(&life.db)
    };
    assert!(kept * 4 < whole, "{kept} of {whole} bytes");
}

//= spec/recovery.md#r-5-8-leaves-given-up
//= type=test
//# A reader MUST keep in memory what was put, moved or deleted since the checkpoint before.
#[test]
fn a_leaf_that_was_given_up_and_is_damaged_then_is_made_good_by_the_one_before() {
    let mut damaged = 0;
    for number in 0.. {
        let mut life = Life::new(3);
        // So the range of the leaf before it grows.
        let first = behind_an_unread_leaf(&life.db);
        life.delete(&first);
        (0..KEYS).step_by(7).for_each(|key| life.put(key, 5));
        life.db.checkpoint().expect("memory refuses nothing");
        check(&documents(&life.db), &life.map);
        let core = life.db.core();
        let slot = core.writer().expect("it is open").superblock.clone();
        let storage = &core.shared.log.storage;
        let newest = slot.checkpoints[0].expect("it is named");
        let file = File::new(storage, &slot).expect("memory has a length");
        let checkpoint = file.checkpoint(&newest);
        let records = references(&mut checkpoint.expect("it is whole")).expect("it is whole");
        let Some(record) = records.get(number) else { break };
        life.disk.write_at(record.at(slot.geometry), &[0x5A; 8]).expect("memory takes all");
        check(&documents(&life.db), &life.map);
        damaged += u32::from(core.shared.opening.has_damage());
    }
    assert!(damaged > 2, "{damaged} leaves that were given up were damaged");
}

//= spec/recovery.md#r-5-8-leaves-given-up
//= type=test
//# What a call answers MUST NOT change by it.
#[test]
fn what_a_call_rests_on_is_kept() {
    let life = Life::new(1);
    let shared = &life.db.core().shared;
    let documents = Arc::clone(&shared.naming("a").expect("it is there").documents);
    let kept = shared.keep();
    let mut page = Entries::default();
    shared.read_all(&documents).expect("nothing is damaged");
    drop(shared.keep());
    documents.index.page(&KeyRange::all(), false, usize::MAX, &mut page);
    assert_eq!(page.len(), life.map.len(), "what a call has read is there while it lasts");
    drop(kept);
}

#[test]
fn what_stays_unread_of_an_older_checkpoint_is_read_by_the_next() {
    for rounds in 1..4 {
        let mut life = Life::new(2);
        for round in 0..rounds {
            // All of them change, and a call is under way when the checkpoint is named.
            (0..KEYS).step_by(3).for_each(|key| life.put(key, round % NUMBERS));
            let kept = life.db.core().shared.keep();
            life.db.checkpoint().expect("memory refuses nothing");
            drop(kept);
            (0..KEYS).for_each(|_| drop(life.db.core().shared.keep()));
        }
        life.check();
        let report = life.db.verify(true).expect("memory refuses nothing");
        assert!(report.is_clean(), "{:?}", report.problems);
    }
}

//= spec/recovery.md#r-5-8-leaves-given-up
//= type=test
//# A reader MUST NOT give up a leaf of a tree that the checkpoint before does not have.
#[test]
fn an_index_that_one_checkpoint_has_stays_in_memory() {
    let life = Life::new(1);
    documents(&life.db)
        .create_index(IndexDefinition::new("m", ["$.n"]).expect("it is one"))
        .expect("it can be");
    for is_all_read in [true, false] {
        life.db.checkpoint().expect("memory refuses nothing");
        let shared = &life.db.core().shared;
        let indexes = read(&shared.catalog).current_indexes();
        let index = indexes.iter().find(|index| index.name() == "m").expect("it was created");
        assert_eq!(index.entries().is_all_read(), is_all_read);
    }
}

/// Tells the readers when it goes, also by a panic.
struct Done<'a>(&'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

//= spec/recovery.md#r-5-8-leaves-given-up
//= type=test
//# What a call answers MUST NOT change by it.
#[test]
fn readers_find_what_is_there_while_a_writer_changes_it_and_checkpoints_are_named() {
    let life = Life::new(4);
    let (db, is_done) = (&life.db, &AtomicBool::new(false));
    std::thread::scope(|scope| {
        let _done = Done(is_done);
        for seed in 0..2 {
            scope.spawn(move || {
                let (mut random, mut seen) = (seed, vec![0; KEYS as usize]);
                while !is_done.load(Ordering::Relaxed) {
                    random = (random * 1_103_515_245 + 12_345) % (1 << 31);
                    let key = (random >> 8) % KEYS;
                    let found = documents(db).get(named(key)).expect("nothing is damaged");
                    let n = number(&found.unwrap_or_else(|| panic!("{key} is never deleted")));
                    assert!(n >= seen[key as usize], "{key} was {} and is {n}", seen[key as usize]);
                    seen[key as usize] = n;
                }
            });
        }
        // What is there has 3 at most.
        for round in 4..28 {
            for key in (0..KEYS).filter(|key| key % 3 != round % 3) {
                documents(db).put(named(key), crate::doc! { "n": round as i64 }).expect("there is room");
            }
            // Some come and go beside those that are looked for.
            for key in KEYS..KEYS + 40 {
                let key = named(key);
                match round % 2 {
                    0 => _ = documents(db).delete(&key).expect("there is room"),
                    _ => documents(db).put(&key, crate::doc! { "n": 0 }).expect("there is room"),
                }
            }
            db.checkpoint().expect("memory refuses nothing");
        }
    });
    assert!(life.db.stats().leaves_given_up > 0);
    let report = life.db.verify(true).expect("memory refuses nothing");
    assert!(report.is_clean(), "{:?}", report.problems);
}

#[test]
fn what_is_left_of_a_leaf_that_was_cut_is_read_without_what_lies_in_front() {
    let life = Life::new(1);
    let shared = &life.db.core().shared;
    let documents = Arc::clone(&shared.naming("a").expect("it is there").documents);
    let storage = &shared.log.storage;
    let file = File::new(storage, &shared.opening.slot).expect("memory has a length");
    let middle = KeyRange { from: std::ops::Bound::Included(Key::from("key 100")), ..KeyRange::all() };
    let leaf = documents.unread_in(&middle, false).expect("most are");
    let entries_of = |leaf: &Wanted| match leaf.read(&file) {
        Ok(Contents::Entries(entries)) => entries,
        other => panic!("it is a sound leaf: {other:?}"),
    };
    let whole = entries_of(&leaf).to_vec();
    let (key, _) = &whole[whole.len() / 2];
    let front = KeyRange { to: std::ops::Bound::Excluded(key.clone()), ..leaf.range() };
    assert!(leaf.is_whole());
    documents.renew(&front, Some(&leaf), LogAddress(0));
    let behind = documents.unread_of(key.as_ref()).expect("it is unread");
    assert!(!behind.is_whole());
    assert_eq!(entries_of(&behind).to_vec(), whole[whole.len() / 2..]);
}

/// A leaf with keys a and b, at 10 and 20, of a checkpoint at which the log ended at 100.
fn a_leaf_that_was_read() -> (Documents, Wanted) {
    let documents = Documents::new(1, Layout { page_shift: 4, gives_up: true });
    let origin = Origin::nowhere(LogAddress(100), None);
    documents.begin_unread(origin, vec![(Key::from("a"), Branch::leaf_of(2))], 2);
    let leaf = documents.unread_of(KeyRef::Text("a")).expect("nothing was read");
    let mut entries = Entries::default();
    [("a", 10), ("b", 20)].iter().for_each(|(key, at)| entries.push(KeyRef::Text(key), entry(*at)));
    documents.take_in(&leaf, Contents::Entries(entries), || {});
    (documents, leaf)
}

fn entry(address: u64) -> Entry {
    Entry::new(LogAddress(address), false)
}

//= spec/recovery.md#r-5-8-leaves-given-up
//= type=test
//# A reader MUST keep in memory what was put, moved or deleted since the checkpoint before.
#[test]
fn a_leaf_is_given_up_but_for_what_came_since() {
    let (a, b, c) = (KeyRef::Text("a"), KeyRef::Text("b"), KeyRef::Text("c"));
    let (documents, leaf) = a_leaf_that_was_read();
    documents.set(c, entry(90));
    documents.remove(b, LogAddress(91));
    // It was deleted, and that was taken back.
    assert_eq!(documents.remove(a, LogAddress(92)), Some(entry(10)));
    documents.set(a, entry(10));
    let since = LogAddress(90);
    assert!(documents.give_up(&leaf, since));
    assert_eq!(documents.index.get(c), Some(entry(90)), "it came since");
    assert!(documents.index.get(a).is_none() && documents.is_unknown(a), "the leaf tells of it");
    assert!(!documents.is_unknown(b), "it is deleted, whatever the leaf has");
    // A newer checkpoint has what was kept.
    let range = KeyRange::all();
    documents.renew(&range, Some(&leaf), LogAddress(91));
    assert!(documents.index.get(c).is_none() && documents.is_unknown(c), "the leaf tells of it");
    assert!(!documents.is_unknown(b), "it was deleted since");
    documents.renew(&range, Some(&leaf), LogAddress(92));
    assert!(documents.is_unknown(b), "the leaf does not have it");
}

#[cfg(feature = "seeded")]
#[test]
fn what_is_given_up_wrongly_goes_not_unnoticed() {
    for bug in [Bug::DeleteNotKept, Bug::GivenUpPastItsCheckpoint, Bug::GivenUpUnderASnapshot] {
        seeded::assert_noticed(bug, a_store_that_gives_up_leaves_is_an_ordered_map);
    }
    seeded::assert_noticed(Bug::TreeOfOneGivenUp, an_index_that_one_checkpoint_has_stays_in_memory);
    seeded::assert_noticed(Bug::DeleteOutlivesUndo, a_leaf_is_given_up_but_for_what_came_since);
    let check = a_leaf_that_was_given_up_and_is_damaged_then_is_made_good_by_the_one_before;
    seeded::assert_noticed(Bug::GivenUpFromOneAlone, check);
    seeded::assert_noticed(Bug::GivenUpBesideAReader, what_a_call_rests_on_is_kept);
}
