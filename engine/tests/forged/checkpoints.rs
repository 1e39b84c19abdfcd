//! Checkpoints that name places which are not theirs, under checksums that hold.

use std::sync::Arc;

use holotype::format::page::{Page, PageKind};
use holotype::storage::MemoryStorage;
use holotype::{Db, Error, Options, inspect, salvage_to};

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

/// The first entry of the table, an array of nine, is of sequence 0 at index 0, one byte each.
const FIRST_ENTRY: [u8; 3] = [0x89, 0, 0];

//= spec/recovery.md#r-8-1-what-holds-a-place
//# A reader MUST report corruption when a log segment in place and a checkpoint hold one index: once that
//# checkpoint is not named any more, the place would be given out with the segment in it.
#[test]
pub(crate) fn a_log_segment_in_the_place_of_the_checkpoint_before_is_damage() {
    let mut store = with_checkpoints(2);
    assert!(store.end().sequence > 1, "the first segment is not the one in which the log goes on");
    let [_, before] = store.newest().checkpoints;
    let taken = u8::try_from(before.expect("there are two").root_physical).expect("a small store");
    assert!((1..24).contains(&taken), "one byte in the table");
    let place = |physical: u8| [FIRST_ENTRY[0], FIRST_ENTRY[1], physical];
    store.patch_table(&FIRST_ENTRY, &place(taken));
    let refused = store.open_with(&sizes()).map(|db| db.stats());
    assert!(refused.is_err_and(|error| error.to_string().contains("in the place of")), "it is taken twice");
    // The same change to a place that nothing holds is not damage of this kind: the patch itself hinders nothing.
    let free = store.newest().geometry.segments_within(store.bytes.len() as u64);
    let mut elsewhere = store.lengthened(free + 1);
    elsewhere.patch_table(&place(taken), &place(u8::try_from(free).expect("a small store")));
    assert!(elsewhere.open_with(&sizes()).is_ok());
}

//= spec/format.md#f-8-6-segment-table-leaves
//# A reader MUST take a checkpoint for damaged when two segments have one sequence or one physical index;
//# when the arrays are out of order; when the first stretch does not begin at the first data byte with the
//# first LSN; when a stretch begins, or the segment ends, outside of the segment's data; when a segment is
//# freed above the LSN of the checkpoint, or stands where the checkpoint's list has one; and when one that
//# is not freed lies beyond the end of the file.
#[test]
pub(crate) fn a_first_stretch_that_begins_elsewhere_is_damage() {
    let sound = with_checkpoints(1);
    let report = sound.open_with(&sizes()).expect("it is sound").verify(true).expect("it can be read");
    assert!(report.is_clean(), "{:?}", report.problems);
    // The pair of a stretch: an array of two, whose first is the offset of the first data byte, 64.
    for (what, offset) in [("in the header", 56), ("behind the first data byte", 72)] {
        let mut store = sound.clone();
        store.patch_table(&[0x82, 0x18, 64], &[0x82, 0x18, offset]);
        let db = store.open_with(&sizes()).expect("the log is read instead");
        assert_eq!(db.collection("c").len().expect("it is there"), 10, "{what}");
        let report = db.verify(true).expect("it can be read");
        assert!(
            report.problems.iter().any(|problem| problem.to_string().contains("F-8.6")),
            "{what}: {report:?}"
        );
        // Without what the log says, nothing may be taken from such a checkpoint.
        let at = store.newest().geometry.segment_offset(0) as usize + 64;
        store.bytes[at] ^= 1;
        let refused = store.open_with(&sizes()).map(|db| db.stats());
        assert!(refused.is_err(), "{what}: {refused:?}");
    }
}

// spec: F-8.1. A lost write leaves what stood there before, under a checksum that was right.
#[test]
pub(crate) fn a_leaf_of_the_checkpoint_that_stood_in_the_same_place_is_damage() {
    let after = |rounds: i64| {
        let store = Forge::of(&sizes(), |db: &Db| {
            for round in 0..rounds {
                db.collection("c").put(1, n(round)).expect("there is room");
                db.checkpoint().expect("nothing hinders it");
            }
        });
        let root = store.newest().checkpoints[0].expect("it was taken");
        (store, (root.root_physical, root.root_offset))
    };
    let (mut store, place) = after(9);
    let (former, _) =
        (1..9).rev().map(after).find(|(_, before)| *before == place).expect("places are used again");
    // The first page of a checkpoint is the only leaf of its collection.
    let at = store.newest().geometry.segment_offset(place.0) as usize + 64;
    let lsn = former.newest().checkpoints[0].expect("it was taken").lsn;
    let leaf = Page::parse(&former.bytes[at..], &former.newest().lineage, lsn, 0).expect("it is sound");
    assert_eq!(leaf.header().kind, PageKind::Primary);
    let leaf = at..at + leaf.page_len();
    assert_ne!(store.bytes[leaf.clone()], former.bytes[leaf.clone()]);
    store.bytes[leaf.clone()].copy_from_slice(&former.bytes[leaf]);
    let db = store.open_with(&sizes()).expect("the checkpoint before serves instead");
    let found = db.collection("c").get(1).expect("it can be read").expect("it is there");
    assert_eq!(found.to_document().expect("it is sound"), n(8));
}

// spec: P-3.6
#[test]
fn a_segment_that_is_said_to_be_freed_and_has_live_records_is_a_problem() {
    let mut store = with_checkpoints(1);
    // The first stretch: at 64, with the first LSN, of incarnation 1 and count 1. Behind it stands when the segment was freed.
    let stretch = [0x82, 0x18, 64, 0x1b, 0, 0, 0, 1, 0, 0, 0, 1];
    let freed_at = |count: u8| [&stretch[..], &[count]].concat();
    store.patch_table(&freed_at(0), &freed_at(1));
    let db = store.open_with(&sizes()).expect("a reader trusts the accounts");
    let report = db.verify(true).expect("it can be read");
    assert!(
        report.problems.iter().any(|problem| problem.to_string().contains("P-3.6")),
        "its place will be given out: {report:?}"
    );
}

/// The first sector of a page of this kind of the newest checkpoint is damaged, or of the one before.
fn damage(store: &mut Forge, which: usize, kind: PageKind) {
    let slot = store.newest();
    let lsn = slot.checkpoints[which].expect("it is named").lsn;
    for at in (0..store.bytes.len()).step_by(8) {
        let Some(number) = Page::claimed_number(&store.bytes[at..]) else { continue };
        let page = Page::parse(&store.bytes[at..], &slot.lineage, lsn, number);
        if page.is_ok_and(|page| page.header().kind == kind) {
            store.bytes[at + 40] ^= 1;
            return;
        }
    }
    panic!("there is no such page");
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
    store.patch_table(&[0x82, 0x18, 64], &[0x82, 0x18, 72]);
    let slot = store.newest();
    let root = slot.checkpoints[0].expect("there is one");
    let inspector = inspect::open_on(store.disk()).expect("it can be read");
    let Some(Error::Corrupt(fault)) = &inspector.checkpoints()[0].problem else { panic!("it is damaged") };
    assert_eq!(fault.at, slot.geometry.segment_offset(root.root_physical) + u64::from(root.root_offset));
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
    damage(&mut store, 1, PageKind::Primary);
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
    damage(&mut store, 0, PageKind::Primary);
    let late = |store: &Forge| {
        let report = salvage_to(store.disk(), Arc::new(MemoryStorage::new())).expect("there is much");
        report.collections.into_iter().find(|collection| collection.name == "late").map(|late| late.documents)
    };
    assert_eq!(late(&store), Some(12), "the log says so");
    // Of the log, the record that creates the collection is damaged, too.
    let at = store.bytes.windows(4).position(|bytes| bytes == b"late").expect("it is there");
    store.bytes[at] ^= 1;
    assert_eq!(late(&store), Some(12), "the checkpoint says so");
    damage(&mut store, 0, PageKind::Catalog);
    assert_eq!(late(&store), None, "nothing says so");
}
