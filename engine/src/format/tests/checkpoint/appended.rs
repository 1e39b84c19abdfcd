//! Checkpoints that are appended to one index segment, and what a writer says of what it has placed.

use super::*;
use crate::document::Key;

fn given(count: i64) -> Given {
    Given::new(vec![Collection::new(1, (1..=count).map(|id| (Key::Int(id), 4 * id as u64)).collect())])
}

fn append(
    disk: &mut Disk,
    given: &Given,
    lsn: Lsn,
    open: Option<OpenSegment>,
) -> (CheckpointRef, Written, Option<OpenSegment>) {
    let writer = IndexWriter::new(disk.geometry, &LINEAGE, lsn, Lsn::ZERO, open);
    given.write_with(disk, writer, lsn)
}

//= spec/format.md#f-8-11-index-records
//= type=test
//# The first record of a checkpoint in a segment MUST begin at a sector boundary, so that no sector has
//# bytes of two checkpoints. A writer MUST NOT write again to a sector that holds a record of a checkpoint
//# which a slot names.
//= spec/format.md#f-8-11-index-records
//= type=test
//# All checkpoints whose records stand in one index segment MUST be of one incarnation, and of LSNs that grow
//# in the order of places.
//= spec/format.md#f-8-8-completeness
//= type=test
//# The two checkpoints that a slot names MUST NOT refer to one record: what is damaged is damaged in one of them.
#[test]
fn a_checkpoint_goes_on_behind_the_one_before_in_a_sector_of_its_own() {
    let geometry = Geometry::new(64, 8192).expect("a geometry");
    let mut disk = Disk::new(geometry);
    let (mut open, mut references) = (None, Vec::new());
    for count in 4..=9 {
        let (reference, written, now) = append(&mut disk, &given(count.into()), Lsn::new(3, count), open);
        assert_eq!(segments_of(&written), [LOG_SEGMENTS]);
        assert!(written.bytes < 1024, "{written:?}");
        references.push(reference);
        open = now;
    }
    for (reference, count) in references.iter().zip(4..) {
        assert_eq!(read(&disk, geometry, reference).expect("it is sound"), given(count));
    }
    let found = records(&disk, Lsn::new(3, 4));
    assert_eq!(found.len(), 6 * 3, "a leaf, a directory page and a root each");
    assert!(found.is_sorted_by_key(|(_, _, lsn)| *lsn));
    for pair in found.windows(2) {
        let [(before, _, first), (after, _, second)] = pair else { panic!("two are two") };
        let same_sector = (before.offset + before.len - 1) / 64 == after.offset / 64;
        assert!(first == second || !same_sector, "{pair:?}");
    }
    // Of another incarnation, or where there is no room.
    let (_, written, other) = append(&mut disk, &given(1), Lsn::new(4, 1), open);
    assert_eq!((segments_of(&written), other.expect("it is open").first_lsn), (vec![4], Lsn::new(4, 1)));
    let full = open.map(|open| OpenSegment { end: 8192, ..open });
    let (_, written, _) = append(&mut disk, &given(1), Lsn::new(3, 10), full);
    assert_eq!(segments_of(&written), [5]);
}

#[cfg(feature = "seeded")]
#[test]
fn a_sector_of_two_checkpoints_goes_not_unnoticed() {
    crate::seeded::assert_noticed(
        crate::seeded::Bug::SectorOfTwoCheckpoints,
        a_checkpoint_goes_on_behind_the_one_before_in_a_sector_of_its_own,
    );
}

#[test]
fn a_long_checkpoint_fills_the_open_segment_and_goes_on_in_others() {
    let mut disk = Disk::new(tiny());
    let (first, _, open) = append(&mut disk, &Given::new(Vec::new()), LSN, None);
    let writer = IndexWriter::new(tiny(), &LINEAGE, LSN.next(), LSN, open);
    assert!(writer.taken().is_empty() && keys(writer.segments()).is_empty());
    let mut long = given(3);
    long.collections.push(Collection { id: 2, name: "long".into(), ..given(300).collections.remove(0) });
    long.last = 2;
    let (second, written, _) = long.write_with(&mut disk, writer, LSN.next());
    assert_eq!(segments_of(&written), disk.segments(), "that of the first one too");
    assert_eq!(read(&disk, tiny(), &first).expect("it is sound"), Given::new(Vec::new()));
    assert_eq!(read(&disk, tiny(), &second).expect("it is sound"), long);
}

#[test]
fn a_writer_says_what_it_has_placed_and_took() {
    let mut disk = Disk::new(Geometry::new(64, 1 << 20).expect("a geometry"));
    let mut writer = IndexWriter::new(disk.geometry, &LINEAGE, LSN, LSN, None);
    assert_eq!((writer.bytes(), keys(writer.segments()), writer.open()), (0, vec![], None));
    let given = given(2000);
    let catalog = vec![write_tree(&given.collections[0], &mut writer, &mut disk)];
    assert_eq!((keys(writer.segments()), writer.taken()), (vec![LOG_SEGMENTS], &[LOG_SEGMENTS][..]));
    let placed = writer.bytes();
    let written = writer.finish(&mut disk, given.root(LSN, catalog)).expect("a checkpoint");
    let found = records(&disk, LSN);
    let ends = |kind| {
        let last = found.iter().rev().find(|(_, found, _)| *found == kind).expect("there is one");
        u64::from(last.0.offset + last.0.len)
    };
    assert_eq!((placed, written.bytes), (ends(IndexRecordKind::Directory), ends(IndexRecordKind::Root)));
    assert_eq!(writer.open().map(|open| u64::from(open.end)), Some(written.bytes));
    assert_eq!(disk.writes, 1, "what is short goes down at once");
}

#[test]
#[should_panic(expected = "keys are pushed in order")]
fn keys_out_of_order_are_no_tree() {
    let collection = Collection::new(1, vec![(Key::Int(2), 4), (Key::Int(2), 8)]);
    Given::new(vec![collection]).write(&mut Disk::new(tiny()));
}

#[test]
#[should_panic(expected = "collections are in the order of their ids")]
fn two_collections_of_one_id_are_no_catalog() {
    let twice = || Collection::new(4, Vec::new());
    Given::new(vec![twice(), twice()]).write(&mut Disk::new(tiny()));
}
