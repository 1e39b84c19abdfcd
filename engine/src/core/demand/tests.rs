//! What is read on demand, against an ordered map; and what is made anew.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::core::{Core, Cursor, Expect, Purpose};
use crate::document::Key;
use crate::options::{Durability, Options};
use crate::storage::{MemoryStorage, Storage};
use crate::sync::Arc;

type Disk = Arc<MemoryStorage>;

fn options() -> Options {
    let mut options = Options::new().sector(64).segment_bytes(512).cache_bytes(1 << 16);
    options.background = crate::options::Background::Manual;
    options.check.page_shift = 4;
    options
}

fn open(disk: &Disk, options: &Options) -> Core {
    Core::open(Box::new(Arc::clone(disk)), options).expect("it opens")
}

/// A document that tells one version of a key from another.
fn body(version: u8) -> [u8; 4] {
    [0xA1, 0x61, b'v', version & 15]
}

fn change(core: &Core, key: &Key, version: Option<u8>) {
    let mut writer = core.writer().expect("it is opened for writing");
    writer.begin().expect("memory refuses nothing");
    match version {
        Some(version) => {
            writer.txn.put("a", key.as_ref(), Expect::Anything, &body(version)).expect("it is sound");
        }
        None => _ = writer.txn.delete("a", key.as_ref(), None).expect("nothing is wrong with it"),
    }
    if !writer.txn.batch.is_empty() {
        writer.commit(Durability::Buffered).expect("memory refuses nothing");
    }
}

fn sync(core: &Core) {
    core.writer().expect("it is opened for writing").sync().expect("memory refuses nothing");
}

/// All documents of a range, in order or in reverse, or why they cannot be told.
fn scan(core: &Core, range: KeyRange, reverse: bool) -> Result<Vec<(Key, u8)>> {
    let mut cursor = Cursor::new(core.shared.register(), core.shared.naming("a")?, range);
    if reverse {
        cursor.reverse();
    }
    let mut found = Vec::new();
    while let Some(located) = core.shared.next_document(&mut cursor)? {
        found.push((located.key().to_key(), located.body()[3]));
    }
    Ok(found)
}

fn all(core: &Core) -> Result<Vec<(Key, u8)>> {
    scan(core, KeyRange::all(), false)
}

fn keys() -> impl Strategy<Value = Key> {
    prop_oneof![
        8 => (0i64..150).prop_map(Key::Int),
        1 => any::<i64>().prop_map(|key| Key::Int(key.saturating_abs())),
        4 => "[ab]{0,4}".prop_map(|text| Key::Text(text.as_str().into())),
    ]
}

#[derive(Debug, Clone)]
enum Step {
    Change(Key, Option<u8>),
    Get(Key),
    Scan(Key, Key, bool),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        2 => (keys(), proptest::option::weighted(0.6, 0u8..16)).prop_map(|(key, version)| Step::Change(key, version)),
        2 => keys().prop_map(Step::Get),
        1 => (keys(), keys(), any::<bool>()).prop_map(|(from, to, reverse)| Step::Scan(from, to, reverse)),
    ];
    proptest::collection::vec(step, 0..24)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    //= spec/recovery.md#r-5-7-leaves-on-demand
    //= type=test
    //# A reader MUST read and verify an unread record before it answers what rests on a key that the record
    //# leads to.
    #[test]
    fn a_store_whose_leaves_are_read_on_demand_is_an_ordered_map(
        before in proptest::collection::btree_map(keys(), 0u8..16, 0..120),
        replayed in proptest::collection::vec((keys(), proptest::option::weighted(0.5, 0u8..16)), 0..20),
        steps in steps(),
    ) {
        let (disk, mut map) = (Disk::default(), before);
        let core = open(&disk, &options());
        change(&core, &Key::Int(0), Some(1));
        map.insert(Key::Int(0), 1);
        map.iter().for_each(|(key, version)| change(&core, key, Some(*version)));
        sync(&core);
        core.checkpoint(Purpose::Opening).expect("memory refuses nothing");
        for (key, version) in replayed {
            change(&core, &key, version);
            match version {
                Some(version) => _ = map.insert(key, version),
                None => _ = map.remove(&key),
            }
        }
        sync(&core);
        drop(core);
        let core = open(&disk, &options());
        prop_assert_eq!(core.shared.naming("a").expect("it is there").documents.len(), map.len() as u64);
        for step in steps {
            match step {
                Step::Change(key, version) => {
                    change(&core, &key, version);
                    match version {
                        Some(version) => _ = map.insert(key, version),
                        None => _ = map.remove(&key),
                    }
                }
                Step::Get(key) => {
                    let naming = core.shared.naming("a").expect("it is there");
                    let found = core.shared.get(&naming, key.as_ref()).expect("nothing is damaged");
                    prop_assert_eq!(found.map(|located| located.body()[3]), map.get(&key).copied());
                }
                Step::Scan(from, to, reverse) => {
                    let range = KeyRange { from: std::ops::Bound::Included(from), to: std::ops::Bound::Excluded(to) };
                    let is_in = |(key, _): &(&Key, &u8)| range.contains(key);
                    let mut expected: Vec<_> = map.iter().filter(is_in).map(|(key, version)| (key.clone(), *version)).collect();
                    if reverse {
                        expected.reverse();
                    }
                    prop_assert_eq!(scan(&core, range.clone(), reverse).expect("nothing is damaged"), expected);
                }
            }
        }
        let expected: Vec<_> = map.into_iter().collect();
        prop_assert_eq!(all(&core).expect("nothing is damaged"), expected);
        prop_assert!(core.verify(true).expect("memory refuses nothing").is_clean());
    }
}

/// A store at rest with two checkpoints, and a commit behind each; some keys were deleted since the first.
fn store() -> Disk {
    let disk = Disk::default();
    let core = open(&disk, &options());
    (0..120).for_each(|key| change(&core, &Key::Int(key), Some(1)));
    sync(&core);
    core.checkpoint(Purpose::Opening).expect("memory refuses nothing");
    (0..120).step_by(7).for_each(|key| change(&core, &Key::Int(key), None));
    (1..120).step_by(7).for_each(|key| change(&core, &Key::Int(key), Some(2)));
    sync(&core);
    core.checkpoint(Purpose::Opening).expect("memory refuses nothing");
    (2..120).step_by(7).for_each(|key| change(&core, &Key::Int(key), None));
    (3..120).step_by(7).for_each(|key| change(&core, &Key::Int(key), Some(3)));
    sync(&core);
    disk
}

fn expected() -> Vec<(Key, u8)> {
    let version = |key: i64| match key % 7 {
        0 | 2 => None,
        1 => Some(2),
        3 => Some(3),
        _ => Some(1),
    };
    (0..120).filter_map(|key| Some((Key::Int(key), version(key)?))).collect()
}

/// The sectors in which the checkpoint that was the newest (0) or the one before (1) has something, but for its root.
fn sectors(disk: &Disk, position: usize) -> BTreeSet<u64> {
    let core = open(disk, &options());
    let geometry = core.shared.log.geometry;
    let writer = core.writer().expect("it is opened for writing");
    let held = writer.checkpoints.at(position).expect("there are two");
    let root = held.reference.root.at(geometry) / 64;
    let all = held.segments.keys().flat_map(|physical| {
        let start = geometry.segment_offset(*physical) / 64;
        start + 1..start + 8
    });
    all.filter(|sector| *sector < root || *sector > root + 8).collect()
}

fn damage(disk: &Disk, sector: u64) {
    disk.write_at(sector * 64, &[0x5A; 64]).expect("memory takes all");
}

fn copy_of(disk: &Disk) -> Disk {
    let len = disk.len().expect("memory has a length");
    let mut bytes = vec![0; len as usize];
    disk.read_at(0, &mut bytes).expect("memory can be read");
    let copy = Disk::default();
    copy.set_len(len).expect("memory takes all");
    copy.write_at(0, &bytes).expect("memory takes all");
    copy
}

//= spec/recovery.md#r-5-7-leaves-on-demand
//= type=test
//# When an unread record is damaged or cannot be read, the reader MUST take the keys that it leads to from
//# what R-5.2 would start from in the place of this checkpoint, and the log from there to the end that
//# opening found.
//= spec/space.md#p-2-5-the-one-before
//= type=test
//# The checkpoint that a slot names as the one before MUST be the one that was the newest, or, where that
//# could not be read whole at opening (R-5.2) or later (R-5.7), the one that was read in its stead; none, where
//# that was the creation state.
fn damaged_leaves_are_made_anew() {
    let disk = store();
    let mut met = 0;
    for sector in sectors(&disk, 0) {
        let copy = copy_of(&disk);
        damage(&copy, sector);
        let core = open(&copy, &options());
        assert_eq!(all(&core).expect("the other checkpoint has it"), expected(), "without sector {sector}");
        let had_damage = core.shared.opening.has_damage();
        met += u32::from(had_damage);
        let older = core.writer().expect("it is opened for writing").superblock.checkpoints;
        core.checkpoint(Purpose::Opening).expect("everything was read");
        let now = core.writer().expect("it is opened for writing").superblock.checkpoints;
        let sound = if had_damage { older[1] } else { now[1] };
        assert_eq!(now[1], sound, "what has damage is not named again");
        assert!(!core.shared.opening.has_damage());
        drop(core);
        assert_eq!(all(&open(&copy, &options())).expect("the new checkpoint has it"), expected());
    }
    assert!(met > 5, "{met} sectors with leaves or directory pages");
}

#[test]
fn a_damaged_leaf_or_page_is_made_anew_from_the_other_checkpoint_and_the_log() {
    damaged_leaves_are_made_anew();
}

//= spec/recovery.md#r-5-7-leaves-on-demand
//= type=test
//# When that cannot be read either, the reader MUST report corruption in each call that rests on one of these keys,
//# and in no other.
//= spec/recovery.md#r-5-7-leaves-on-demand
//= type=test
//# A writer MUST NOT name a checkpoint in a slot before it has read all that was unread, but for leaves in whose place
//# the checkpoint takes over leaves of its base (P-2.8), and for the entries of an index that the checkpoint has with
//# `anew` (F-8.10).
#[test]
fn a_leaf_that_neither_checkpoint_has_is_corrupt_for_those_who_need_it_alone() {
    let disk = store();
    // A sector of the other one that a reader of it needs.
    let other = sectors(&disk, 1).into_iter().find(|sector| {
        let copy = copy_of(&disk);
        damage(&copy, *sector);
        let core = open(&copy, &options());
        let report = core.verify(true).expect("memory refuses nothing");
        report.problems.iter().any(|problem| problem.clause.0.starts_with("F-8"))
            && core.shared.read_everything().is_ok()
    });
    damage(&disk, other.expect("the older one has leaves of its own"));
    let mut met = 0;
    for sector in sectors(&disk, 0) {
        let copy = copy_of(&disk);
        damage(&copy, sector);
        let Ok(core) = Core::open(Box::new(Arc::clone(&copy)), &options()) else { continue };
        let naming = core.shared.naming("a").expect("the root has it");
        let answers: Vec<_> = (0..120).map(|key| core.shared.get(&naming, KeyRef::Int(key))).collect();
        let refused = answers.iter().filter(|answer| matches!(answer, Err(Error::Corrupt(_)))).count();
        for (key, version) in expected() {
            let Key::Int(int) = key else { continue };
            if let Ok(found) = &answers[int as usize] {
                assert_eq!(found.as_ref().map(|located| located.body()[3]), Some(version), "{int}");
            }
        }
        if refused > 0 {
            met += 1;
            assert!(refused < 120, "the log since has some keys itself");
            assert!(matches!(all(&core), Err(Error::Corrupt(_))));
            let before = core.writer().expect("it is opened for writing").superblock.checkpoints;
            assert!(matches!(core.checkpoint(Purpose::Opening), Err(Error::Corrupt(_))));
            assert_eq!(core.writer().expect("it is opened for writing").superblock.checkpoints, before);
            let report = core.verify(true).expect("memory refuses nothing");
            assert!(!report.is_clean());
            change(&core, &Key::Int(500), Some(4));
            sync(&core);
            drop(core);
            gets_through(&copy);
        }
    }
    assert!(met > 0, "one leaf of both is damaged");
}

/// A store with a leaf that cannot be had: it takes what is written, salvage saves what can be proven, and who needs the collection no more
/// goes on in the file that there is.
fn gets_through(disk: &Disk) {
    let rescued = Disk::default();
    let report = crate::salvage::salvage_to(Arc::clone(disk), Arc::clone(&rescued)).expect("it was a store");
    assert!(!report.problems.is_empty(), "it says what is wrong");
    let core = open(&rescued, &Options::new());
    let naming = core.shared.naming("a").expect("it has the collection");
    let found = core.shared.get(&naming, KeyRef::Int(500)).expect("nothing of it is damaged");
    assert_eq!(found.map(|located| located.body()[3]), Some(4), "it was written beside the damage");
    core.checkpoint(Purpose::Opening).expect("it is sound");
    let db = crate::Db::open_on(Arc::clone(disk), &options()).expect("the damage lies below the root");
    assert!(matches!(db.checkpoint(), Err(Error::Corrupt(_))));
    assert!(db.drop_collection("a").expect("nothing of it is read"));
    db.checkpoint().expect("all that there is was read");
    db.collection("b").put(1, crate::doc! { "v": 1 }).expect("there is room");
    db.checkpoint().expect("nothing is unread");
    assert!(db.verify(true).expect("memory refuses nothing").is_clean());
}

//= spec/recovery.md#r-5-7-leaves-on-demand
//= type=test
//# A writer MUST NOT name a checkpoint in a slot before it has read all that was unread, but for leaves in whose place
//# the checkpoint takes over leaves of its base (P-2.8), and for the entries of an index that the checkpoint has with
//# `anew` (F-8.10).
fn a_collection_that_has_ended_stays_whole() {
    let disk = store();
    let db = crate::Db::open_on(Arc::clone(&disk), &options()).expect("it opens");
    let snapshot = db.snapshot();
    assert!(db.drop_collection("a").expect("memory refuses nothing"));
    for round in 0..12 {
        let long = "x".repeat(300);
        (0..3).for_each(|key| {
            db.collection("b").put(key, crate::doc! { "r": round, "l": &*long }).expect("room");
        });
        db.checkpoint().expect("memory refuses nothing");
        while db.maintain().expect("memory refuses nothing") {}
    }
    let found: Vec<_> =
        snapshot.collection("a").expect("it was there").scan(..).expect("it was there").collect();
    assert_eq!(found.len(), expected().len());
    assert!(found.iter().all(Result::is_ok), "{found:?}");
}

/// A store at rest of 60 documents with an index, and two checkpoints of it.
fn indexed() -> Disk {
    let disk = Disk::default();
    let db = crate::Db::open_on(Arc::clone(&disk), &options()).expect("a new store");
    let a = db.collection("a");
    a.create_index(crate::IndexDefinition::new("v", ["$.v"]).expect("it is one")).expect("there is room");
    for round in 0..2 {
        (0..60).for_each(|key| a.put(key, crate::doc! { "v": key + round }).expect("there is room"));
        db.checkpoint().expect("there is room");
    }
    drop((a, db));
    disk
}

/// Where an index cannot be told, all else goes on, and the next checkpoint has it made anew.
#[test]
fn an_index_with_a_leaf_that_cannot_be_had_is_made_anew() {
    let disk = indexed();
    let newest = sectors(&disk, 0);
    let root = {
        let core = open(&disk, &options());
        let writer = core.writer().expect("it is opened for writing");
        writer.checkpoints.at(1).expect("there are two").reference.root.at(core.shared.log.geometry)
    };
    damage(&disk, root / 64);
    let mut met = 0;
    for sector in newest {
        let copy = copy_of(&disk);
        damage(&copy, sector);
        let Ok(db) = crate::Db::open_on(Arc::clone(&copy), &options()) else { continue };
        let a = db.collection("a");
        let all = |a: &crate::Collection| gone_through(a.index("v").range(..)?);
        let is_met = matches!(all(&a), Err(Error::Corrupt(_)));
        if !is_met || (0..60).any(|key| a.get(key).is_err()) {
            continue;
        }
        met += 1;
        assert!(matches!(a.index("v").get(7).map(|scan| scan.keys().count()), Err(Error::Corrupt(_))));
        (0..60).step_by(5).for_each(|key| a.put(key, crate::doc! { "v": 1 }).expect("it is no unique one"));
        assert!(!db.verify(true).expect("memory refuses nothing").is_clean());
        db.checkpoint().expect("the documents are whole");
        drop((a, db));
        let db = crate::Db::open_on(Arc::clone(&copy), &options()).expect("it is sound");
        assert_eq!(all(&db.collection("a")).expect("it was made anew"), 60);
        db.checkpoint().expect("nothing is damaged");
        assert!(db.verify(true).expect("memory refuses nothing").is_clean());
    }
    assert!(met > 0, "the index has leaves");
}

/// How many entries there are, each of which is read.
fn gone_through<T>(mut entries: impl Iterator<Item = Result<T>>) -> Result<u64> {
    entries.try_fold(0, |count, entry| entry.map(|_| count + 1))
}

/// A leaf is damaged, and what has its entries as well cannot be read for a moment: a later call gets through.
#[test]
fn what_the_disk_refuses_beside_damage_is_not_told_as_damage() {
    use crate::storage::sim::{CallKind, FaultKind, FaultPlan, Level, Nth, SimDisk};
    let disk = indexed();
    let bytes_of = |disk: &Disk| {
        let mut bytes = vec![0; disk.len().expect("memory has a length") as usize];
        disk.read_at(0, &mut bytes).expect("memory can be read");
        bytes
    };
    let all = |db: &crate::Db| gone_through(db.collection("a").index("v").range(..)?);
    let mut refused = 0;
    for sector in sectors(&disk, 0) {
        let copy = copy_of(&disk);
        damage(&copy, sector);
        let bytes = bytes_of(&copy);
        for nth in 0..60 {
            let disk = Arc::new(SimDisk::from_bytes(64, Level::Sectors, &bytes));
            let db =
                crate::Db::open_on(Arc::clone(&disk), &options()).expect("the other checkpoint is sound");
            disk.set_faults(FaultPlan::none().once(Nth::Of(CallKind::Read, nth), FaultKind::Io));
            match all(&db) {
                Ok(count) => assert_eq!(count, 60),
                Err(Error::Io { .. }) => refused += 1,
                Err(error) => panic!("sector {sector}, read {nth}: {error}"),
            }
            disk.set_faults(FaultPlan::none());
            assert_eq!(all(&db).expect("nothing is refused any more"), 60, "sector {sector}, read {nth}");
        }
    }
    assert!(refused > 0);
}

#[test]
fn what_a_snapshot_has_of_an_ended_collection_is_read_before_its_checkpoint_goes() {
    a_collection_that_has_ended_stays_whole();
}

//= spec/recovery.md#r-5-7-leaves-on-demand
//= type=test
//# A reader SHOULD let its user ask for all to be read at opening, as R-5.2 says.
#[test]
fn all_is_read_at_opening_where_that_is_asked_for() {
    let disk = store();
    let documents = |options: &Options| {
        let core = open(&disk, options);
        let naming = core.shared.naming("a").expect("it is there");
        naming.documents.is_all_read()
    };
    assert!(!documents(&options()));
    assert!(documents(&options().verify_index(true)));
    for sector in sectors(&disk, 0) {
        let copy = copy_of(&disk);
        damage(&copy, sector);
        assert_eq!(all(&open(&copy, &options().verify_index(true))).expect("the other has it"), expected());
    }
}

#[cfg(feature = "seeded")]
#[test]
fn what_is_read_or_made_anew_wrongly_goes_not_unnoticed() {
    use crate::seeded::assert_noticed;
    let bugs = [
        Bug::DeletedComesBack,
        Bug::LeafOverwrites,
        Bug::RebuiltWithoutLog,
        Bug::DamagedLeafNamed,
        Bug::UnreadPassedOver,
    ];
    bugs.into_iter().for_each(|bug| assert_noticed(bug, damaged_leaves_are_made_anew));
    assert_noticed(Bug::EndedLeftUnread, a_collection_that_has_ended_stays_whole);
    assert_noticed(
        Bug::UnreadableIsNothing,
        a_leaf_that_neither_checkpoint_has_is_corrupt_for_those_who_need_it_alone,
    );
}
