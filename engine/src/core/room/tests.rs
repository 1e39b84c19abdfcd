use super::*;
use crate::core::{Core, Expect, Purpose};
use crate::document::KeyRef;
use crate::format::checkpoint::OpenSegment;
use crate::options::{Durability, Options};
use crate::storage::MemoryStorage;

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
