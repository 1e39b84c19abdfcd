use super::*;
use crate::core::{Core, Expect, Purpose};
use crate::document::KeyRef;
use crate::format::checkpoint::OpenSegment;
use crate::options::{Durability, Options};
use crate::storage::sim::{CallKind, FaultKind, FaultPlan, Level, Nth, SimDisk};
use crate::storage::{MemoryStorage, Storage};

#[test]
fn a_look_is_asked_for_once_where_a_segment_was_opened() {
    let core = Core::open(Box::new(MemoryStorage::new()), &Options::new().sector(64).segment_bytes(512))
        .expect("memory refuses nothing");
    let mut writer = core.writer().expect("it is opened for writing");
    let mut looks = 0;
    for id in 0..2_000 {
        let (before, len) = (writer.appender.end().segment.sequence, writer.file_len);
        writer.begin().expect("memory refuses nothing");
        writer.txn.put("a", KeyRef::Int(id), Expect::Anything, &[0xA0]).expect("nothing is wrong with it");
        writer.commit(Durability::Written).expect("memory refuses nothing");
        let has_opened = writer.appender.end().segment.sequence > before;
        let asked = writer.upkeep();
        assert_eq!(asked != Upkeep::Nothing, has_opened || writer.file_len > len, "{id}: {asked:?}");
        assert_eq!(writer.upkeep(), Upkeep::Nothing, "nothing has changed since {id}");
        looks += u64::from(asked == Upkeep::Look);
    }
    // In a log of so many segments the file is not held against its bound at each.
    assert!(writer.accounts.count() > 2 * UNCHECKED_SHARE && looks > 10, "{looks}");
}

#[test]
fn the_fewer_documents_there_are_the_fewer_may_die_without_a_check_until_they_are_few() {
    for (documents, unchecked) in [(0, 256), (1_023, 256), (1_024, 32), (10_000, 312), (1_000_000, 31_250)] {
        assert_eq!(check_after(documents), unchecked, "{documents}");
    }
}

//= spec/space.md#p-2-3-how-it-is-written
//= type=test
//# A segment MUST be free (P-4) when it becomes the open one, and MUST NOT be among those that the
//# segment table of the checkpoint names.
#[test]
fn a_checkpoint_does_not_go_on_in_a_segment_that_was_cut_off() {
    let options = Options::new().sector(64).segment_bytes(4096);
    let core = Core::open(Box::new(MemoryStorage::new()), &options).expect("memory refuses nothing");
    let put = |id| {
        let mut writer = core.writer().expect("it is opened for writing");
        writer.begin().expect("memory refuses nothing");
        writer.txn.put("a", KeyRef::Int(id), Expect::Anything, &[0xA0]).expect("nothing is wrong with it");
        writer.commit(Durability::Buffered).expect("memory refuses nothing");
    };
    let checkpoint = || core.checkpoint(Purpose::Opening).expect("memory refuses nothing");
    for id in 0..2 {
        put(id);
        checkpoint();
    }
    {
        let mut writer = core.writer().expect("it is opened for writing");
        // As a checkpoint leaves it that finds no room for its slot.
        let top = writer.held_top().max(writer.appender.free.end()) + 8;
        let end = writer.shared.log.geometry.segment_end(top);
        writer.grow_to(end).expect("memory refuses nothing");
        writer.open_index = writer.open_index.map(|open| OpenSegment { physical: top, ..open });
        let keep = writer.kept_len(Kept::Held);
        writer.shrink(keep).expect("memory refuses nothing");
    }
    put(2);
    checkpoint();
    let written = {
        let writer = core.writer().expect("it is opened for writing");
        writer.checkpoints.named().flat_map(|held| held.segments.keys().copied()).max()
    };
    let writer = core.writer().expect("it is opened for writing");
    let len = writer.shared.log.geometry.segments_within(writer.file_len);
    assert!(written.is_some_and(|highest| highest < len), "{written:?} of {len}");
}

#[cfg(feature = "seeded")]
#[test]
fn a_checkpoint_in_what_was_cut_off_goes_not_unnoticed() {
    crate::seeded::assert_noticed(
        Bug::CutSegmentKept,
        a_checkpoint_does_not_go_on_in_a_segment_that_was_cut_off,
    );
}

//= spec/space.md#p-5-1-what-is-kept
//= type=test
//# The reserve MUST be allocated: zeros written and synced, not a hole.
#[test]
fn a_growth_that_finds_no_room_for_its_zeros_leaves_the_file_as_long_as_it_was() {
    let disk = SimDisk::new(64, Level::Sectors);
    let options = Options::new().sector(64).segment_bytes(4096);
    let core = Core::open(Box::new(disk.clone()), &options).expect("the disk is in order");
    let mut writer = core.writer().expect("it is opened for writing");
    let len = disk.len().expect("the disk is in order");
    disk.set_faults(FaultPlan::none().from(Nth::Of(CallKind::Write, 0), FaultKind::StorageFull));
    let grown = writer.grow_to(len + 3 * 4096);
    assert!(matches!(grown, Err(Error::StorageFull { .. })), "{grown:?}");
    assert_eq!((disk.len().expect("it can be told"), writer.file_len), (len, len));
}

//= spec/format.md#f-2-4-growth
//= type=test
//# A writer MUST NOT take for a part of the file what lies behind the length that the newest slot names and
//# behind everything that is held: it cuts that off before its first commit.
#[test]
fn a_growth_that_ended_before_its_zeros_is_no_part_of_the_file_that_is_opened() {
    // The first segment grows by doubling, the file by whole segments.
    for (segment_bytes, documents) in [(1 << 20, 20), (512, 100)] {
        let disk = SimDisk::new(64, Level::Sectors);
        let options = Options::new().sector(64).segment_bytes(segment_bytes);
        let core = Core::open(Box::new(disk.clone()), &options).expect("the disk is in order");
        let put = |core: &Core, id| {
            let mut writer = core.writer().expect("it is opened for writing");
            writer.begin().expect("the disk is in order");
            writer
                .txn
                .put("a", KeyRef::Int(id), Expect::Anything, &[0xA0])
                .expect("nothing is wrong with it");
            writer.commit(Durability::Written).expect("the disk is in order");
        };
        (0..documents).for_each(|id| put(&core, id));
        let len = core.writer().expect("it is opened for writing").file_len;
        drop(core);
        let longer =
            [1, 2, 3].iter().fold(len, |len, _| options.geometry().expect("it is valid").next_len(len));
        disk.write_at(len, &vec![0xEE; (longer - len) as usize]).expect("the disk is in order");
        let core = Core::open(Box::new(disk.clone()), &options).expect("the disk is in order");
        let naming = core.shared.naming("a").expect("it is there");
        assert_eq!(naming.documents.newest_len(), documents as u64);
        assert_eq!(disk.len().expect("it can be told"), longer, "opening changes nothing");
        let found = core.writer().expect("it is opened for writing").file_len;
        assert!(found <= len, "{found} bytes of {len}");
        put(&core, documents);
        let mut writer = core.writer().expect("it is opened for writing");
        assert_eq!(disk.len().expect("it can be told"), writer.file_len);
        let behind = writer.file_len.max(len);
        writer.grow_to(longer).expect("the disk is in order");
        assert!(disk.bytes()[behind as usize..].iter().all(|byte| *byte == 0), "it is filled with zeros");
    }
}

#[cfg(feature = "seeded")]
#[test]
fn a_hole_that_is_taken_for_reserve_goes_not_unnoticed() {
    crate::seeded::assert_noticed(
        Bug::HoleTakenForReserve,
        a_growth_that_ended_before_its_zeros_is_no_part_of_the_file_that_is_opened,
    );
}
