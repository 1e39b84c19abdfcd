//! What a compaction tells, and when it ends.

use super::*;
use crate::core::Effort;
use crate::core::Expect;
use crate::document::KeyRef;
use crate::options::{Durability, Options};
use crate::storage::MemoryStorage;

#[test]
fn beside_writers_a_compaction_ends_once_it_moved_thrice_what_was_live_and_what_they_wrote() {
    for (moved, written, live_before, expected) in [
        (301, 1, 100, false),
        (302, 1, 100, true),
        (350, 50, 100, false),
        (351, 50, 100, true),
        (9_999, 0, 1, false),
    ] {
        assert_eq!(is_enough(moved, written, live_before), expected, "{moved}, {written}, {live_before}");
    }
}

#[test]
fn what_was_written_before_a_compaction_is_none_of_what_is_written_beside_it() {
    let options = Options::new().sector(64).segment_bytes(512);
    let core = Core::open(Box::new(MemoryStorage::new()), &options).expect("memory refuses nothing");
    for (written, steps) in [(0, 5), (1, 1)] {
        core.writer().expect("it is opened for writing").work.user_bytes = 1000;
        let left = std::cell::Cell::new(5);
        let step = || {
            let mut writer = core.writer().expect("it is opened for writing");
            // Nothing is live, so that this much is too much once anybody writes.
            writer.work.relocated_bytes += 2;
            writer.work.user_bytes += written;
            left.set(left.get() - 1);
            Ok(if left.get() < 0 { Stepped::Nothing } else { Stepped::Done })
        };
        let mut taken = 0;
        let report = core.compact(step, |_| {
            taken += 1;
            ControlFlow::Continue(())
        });
        assert_eq!((report.expect("nothing fails").is_complete, taken), (written == 0, steps));
    }
}

#[test]
fn a_compaction_counts_its_own_steps_and_what_it_moved_itself() {
    let options = Options::new().sector(64).segment_bytes(512);
    let core = Core::open(Box::new(MemoryStorage::new()), &options).expect("memory refuses nothing");
    for round in 0..3 {
        for key in 0..60 {
            let mut writer = core.writer().expect("it is opened for writing");
            writer.begin().expect("memory refuses nothing");
            // Each round leaves every second document as it is.
            let key = KeyRef::Int(if round == 0 { key } else { key / 2 * 2 });
            writer.txn.put("a", key, Expect::Anything, &[0xA0]).expect("it is sound");
            writer.commit(Durability::Buffered).expect("memory refuses nothing");
        }
        let of = |core: &Core| {
            let writer = core.writer().expect("it is opened for writing");
            (writer.file_len, writer.work.relocated_bytes)
        };
        let (file_before, moved_before) = of(&core);
        let cancelled = core.compact(|| core.maintain(Effort::All), |_| ControlFlow::Break(()));
        assert!(!cancelled.expect("memory refuses nothing").is_complete);
        let (_, moved_then) = of(&core);
        let mut told = Vec::new();
        let report = core.compact(
            || core.maintain(Effort::All),
            |progress| {
                assert!(progress.live_bytes > 0 && progress.file_bytes > 0);
                told.push((progress.steps, progress.moved_bytes));
                ControlFlow::Continue(())
            },
        );
        let report = report.expect("memory refuses nothing");
        let (file_after, moved_after) = of(&core);
        assert!(moved_after > moved_before && file_after < file_before);
        assert!(report.is_complete && report.moved_bytes == moved_after - moved_then, "{report:?}");
        assert_eq!(report.bytes_after, file_after);
        assert!(told.iter().enumerate().all(|(number, (steps, _))| *steps == number as u64 + 1), "{told:?}");
        assert_eq!(told[told.len() - 1].1, report.moved_bytes);
    }
}

//= spec/space.md#p-7-1-what-it-does
//= type=test
//# After it the file SHOULD be at most 1.1 times the live bytes, and a few segments.
#[test]
fn a_small_store_of_which_most_was_deleted_comes_down_to_what_is_left_and_four_segments() {
    let options = Options::new().sector(512).segment_bytes(16 << 10);
    for kept in [1, 2, 3, 5, 9] {
        let core = Core::open(Box::new(MemoryStorage::new()), &options).expect("memory refuses nothing");
        for key in 0..1500 {
            let mut writer = core.writer().expect("it is opened for writing");
            writer.begin().expect("memory refuses nothing");
            writer.txn.put("a", KeyRef::Int(key), Expect::Anything, &[0xA0; 60]).expect("it is sound");
            writer.commit(Durability::Buffered).expect("memory refuses nothing");
        }
        for key in (0..1500).filter(|key| key % 10 >= kept) {
            let mut writer = core.writer().expect("it is opened for writing");
            writer.begin().expect("memory refuses nothing");
            writer.txn.delete("a", KeyRef::Int(key), None).expect("it is there");
            writer.commit(Durability::Buffered).expect("memory refuses nothing");
        }
        let report = core.compact(|| core.maintain(Effort::All), |_| ControlFlow::Continue(()));
        let report = report.expect("memory refuses nothing");
        let usage = core.writer().expect("it is opened for writing").usage();
        let must_hold = usage.live + usage.checkpoint_bytes;
        let bound = core.shared.log.geometry.segment_offset(0) + must_hold * 11 / 10 + 4 * (16 << 10);
        assert!(
            report.is_complete && report.bytes_after <= bound,
            "{kept} of ten: {report:?}, {must_hold} live"
        );
    }
}
