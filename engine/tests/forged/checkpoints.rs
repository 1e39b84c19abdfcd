//! Checkpoints that name places which are not theirs, under checksums that hold.

use std::sync::Arc;

use holotype::format::index_record::IndexRecordKind;
use holotype::storage::MemoryStorage;
use holotype::{Db, Durability, Error, Options, inspect, salvage_to};

use super::forge::{Forge, n, options, read_all};

fn sizes() -> Options {
    options().segment_bytes(512)
}

/// A store whose log goes over several segments, with a checkpoint for each time that ten documents are put.
fn with_checkpoints(count: i64) -> Forge {
    Forge::of(&sizes(), |db: &Db| {
        for checkpoint in 0..count {
            for key in 1..=10 {
                db.collection("c").put(10 * checkpoint + key, n(key)).expect("there is room");
            }
            db.checkpoint().expect("nothing hinders it");
        }
    })
}

//= spec/recovery.md#r-8-2-the-floor
//# A reader MUST report corruption when a log segment in place begins at or beyond the end of the file,
//# whatever `file_len` says: only free places are cut off (P-8.1).
#[test]
fn a_segment_that_waits_far_beyond_the_end_of_the_file_is_damage() {
    for physical in [100_u32, 0xffff_fff0] {
        let mut store = with_checkpoints(1);
        store.change_row(0, 8, &physical.to_le_bytes());
        let lsn = store.newest().checkpoints[0].expect("there is one").lsn.0;
        store.change_row(0, 24, &lsn.to_le_bytes());
        for read_only in [true, false] {
            let refused = store.open_with(&sizes().read_only(read_only)).map(|db| db.stats());
            assert!(refused.is_err_and(|error| error.to_string().contains("R-8.2")), "{physical}");
        }
    }
}

//= spec/recovery.md#r-8-1-what-holds-a-place
//# A reader MUST report corruption when a log segment in place and a checkpoint hold one index: once that
//# checkpoint is not named any more, the place would be given out with the segment in it.
#[test]
pub(crate) fn a_log_segment_in_the_place_of_the_checkpoint_before_is_damage() {
    let mut store = with_checkpoints(2);
    assert!(store.end().sequence > 1, "the first segment is not the one in which the log goes on");
    let [_, before] = store.newest().checkpoints;
    let taken = before.expect("there are two").root.physical;
    assert!(!store.root(0).segments.contains(&taken), "the newest has no record there");
    store.change_row(0, 8, &taken.to_le_bytes());
    let refused = store.open_with(&sizes()).map(|db| db.stats());
    assert!(refused.is_err_and(|error| error.to_string().contains("in the place of")), "it is taken twice");
    // The same change to a place that nothing holds is not damage of this kind: the patch itself hinders nothing.
    let free = store.newest().geometry.segments_within(store.bytes.len() as u64);
    let mut elsewhere = store.lengthened(free + 1);
    elsewhere.change_row(0, 8, &free.to_le_bytes());
    assert!(elsewhere.open_with(&sizes()).is_ok());
}

//= spec/format.md#f-8-6-segment-table
//# A reader MUST take a checkpoint for damaged when one of the three is not whole rows; when rows are out of their order, or one stands twice; when a row of `stretches` or `live` names a sequence that `table` does not have; when two segments have one physical index; when the end of a segment is outside of its data;
//# when a stretch begins at or before the first data byte, or behind the end of its segment; when a segment is freed above the LSN of the checkpoint, or stands in a place that the checkpoint holds (F-8.9); and when one that is not freed lies beyond the end of the file.
#[test]
pub(crate) fn a_stretch_that_begins_outside_of_its_segment_is_damage() {
    let disk = with_checkpoints(1).disk();
    let sound = {
        let db =
            Db::open_on(Arc::clone(&disk), &sizes().durability(Durability::Synced)).expect("it is sound");
        db.collection("c").put(100, n(100)).expect("there is room");
        db.checkpoint().expect("nothing hinders it");
        Forge { bytes: read_all(&disk) }
    };
    let report = sound.open_with(&sizes()).expect("it is sound").verify(true).expect("it can be read");
    assert!(report.is_clean(), "{:?}", report.problems);
    let geometry = sound.newest().geometry;
    for (what, offset) in [("in the header", 56), ("at the first data byte", geometry.data_start())] {
        let mut store = sound.clone();
        store.change_root("stretches", |rows| rows[8..12].copy_from_slice(&offset.to_le_bytes()));
        let db = store.open_with(&sizes()).expect("the checkpoint before serves instead");
        assert_eq!(db.collection("c").len().expect("it is there"), 11, "{what}");
        let report = db.verify(true).expect("it can be read");
        assert!(
            report.problems.iter().any(|problem| problem.to_string().contains("F-8.6")),
            "{what}: {report:?}"
        );
    }
}

// spec: F-8.11. A lost write leaves what stood there before, under a checksum that was right.
#[test]
pub(crate) fn a_leaf_of_the_checkpoint_that_stood_in_the_same_place_is_damage() {
    let after = |rounds: i64| {
        Forge::of(&sizes(), |db: &Db| {
            for round in 0..rounds {
                db.collection("c").put(1, n(round % 10)).expect("there is room");
                db.checkpoint().expect("nothing hinders it");
            }
        })
    };
    // The only leaf of the newest checkpoint.
    let leaf = |store: &Forge| {
        let lsn = store.newest().checkpoints[0].expect("it was taken").lsn;
        let leaves = store.index_records(lsn, IndexRecordKind::Leaf);
        assert_eq!(leaves.len(), 1);
        let (_, bytes) = store.index_record(leaves[0], lsn);
        (leaves[0], bytes.to_vec())
    };
    let rounds = 45;
    let mut store = after(rounds);
    let (place, newest) = leaf(&store);
    let former = (1..rounds).rev().map(|rounds| leaf(&after(rounds))).find(|(before, bytes)| {
        (before.physical, before.offset, before.len) == (place.physical, place.offset, place.len)
            && *bytes != newest
    });
    let (_, former) = former.expect("places are used again");
    let at = place.at(store.newest().geometry) as usize;
    store.bytes[at..at + former.len()].copy_from_slice(&former);
    let db = store.open_with(&sizes()).expect("the checkpoint before serves instead");
    let found = db.collection("c").get(1).expect("it can be read").expect("it is there");
    assert_eq!(found.to_document().expect("it is sound"), n((rounds - 1) % 10));
}

// spec: P-3.6
#[test]
fn a_segment_that_is_said_to_be_freed_and_has_live_records_is_a_problem() {
    let mut store = with_checkpoints(1);
    store.change_row(0, 24, &1_u64.to_le_bytes());
    let db = store.open_with(&sizes()).expect("a reader trusts the accounts");
    let report = db.verify(true).expect("it can be read");
    assert!(
        report.problems.iter().any(|problem| problem.to_string().contains("P-3.6")),
        "its place will be given out: {report:?}"
    );
}

/// A record of this kind of the newest checkpoint is damaged, or of the one before.
fn damage(store: &mut Forge, which: usize, kind: IndexRecordKind) {
    let slot = store.newest();
    let lsn = slot.checkpoints[which].expect("it is named").lsn;
    let at = store.index_records(lsn, kind).first().expect("there is one").at(slot.geometry) as usize;
    store.bytes[at + 8] ^= 1;
}

#[test]
fn a_checkpoint_of_an_earlier_life_takes_its_segments() {
    let store = with_checkpoints(2);
    let inspector = inspect::open_on(store.disk()).expect("it is sound");
    let segments: usize = inspector.checkpoints().iter().map(|checkpoint| checkpoint.segments.len()).sum();
    assert!(segments > 2);
    let space = store.open_with(&sizes()).expect("it is sound").stats().space;
    assert_eq!(space.checkpoint_bytes, 512 * segments as u64);
}

#[test]
fn what_is_wrong_with_a_checkpoint_as_a_whole_is_said_of_its_root() {
    let mut store = with_checkpoints(1);
    store.change_row(0, 12, &56_u32.to_le_bytes());
    let slot = store.newest();
    let root = slot.checkpoints[0].expect("there is one");
    let inspector = inspect::open_on(store.disk()).expect("it can be read");
    let Some(Error::Corrupt(fault)) = &inspector.checkpoints()[0].problem else { panic!("it is damaged") };
    assert_eq!(fault.at, root.root.at(slot.geometry));
}

//= spec/space.md#p-10-2-what-it-holds
//# Where the source names another that cannot be, it MUST name the readable one twice: a single name
//# would say that the log is complete from its creation on.
#[test]
fn a_backup_names_a_damaged_checkpoint_no_more() {
    let named = |store: &Forge| {
        let copy = Arc::new(MemoryStorage::new());
        let db = store.open_with(&sizes()).expect("the newest is sound");
        db.backup_to(&copy, None).expect("nothing hinders it");
        Forge { bytes: read_all(&copy) }.newest().checkpoints.map(|named| named.map(|named| named.lsn))
    };
    let mut store = with_checkpoints(2);
    let [newest, before] = store.newest().checkpoints.map(|named| named.map(|named| named.lsn));
    assert!(before.is_some() && before < newest);
    assert_eq!(named(&store), [newest, before]);
    damage(&mut store, 1, IndexRecordKind::Leaf);
    assert_eq!(named(&store), [newest, newest]);
}

#[test]
fn salvage_learns_names_from_a_checkpoint_whose_trees_are_damaged() {
    let mut store = Forge::of(&sizes(), |db: &Db| {
        db.collection("c").put(1, n(1)).expect("there is room");
        db.checkpoint().expect("nothing hinders it");
        db.create_collection("late").expect("there is room");
        (1..=9).for_each(|key| db.collection("late").put(key, n(key)).expect("there is room"));
        db.checkpoint().expect("nothing hinders it");
        (10..=12).for_each(|key| db.collection("late").put(key, n(key)).expect("there is room"));
    });
    damage(&mut store, 0, IndexRecordKind::Leaf);
    let late = |store: &Forge| {
        let report = salvage_to(store.disk(), Arc::new(MemoryStorage::new())).expect("there is much");
        report.collections.into_iter().find(|collection| collection.name == "late").map(|late| late.documents)
    };
    assert_eq!(late(&store), Some(12), "the log says so");
    // Of the log, the record that creates the collection is damaged, too.
    let at = store.bytes.windows(4).position(|bytes| bytes == b"late").expect("it is there");
    store.bytes[at] ^= 1;
    assert_eq!(late(&store), Some(12), "the checkpoint says so");
    damage(&mut store, 0, IndexRecordKind::Root);
    assert_eq!(late(&store), None, "nothing says so");
}
