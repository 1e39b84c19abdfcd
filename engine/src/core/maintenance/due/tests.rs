//! The numbers of a store, and the steps that are taken by hand.

use super::*;
use crate::core::Expect;
use crate::core::{Purpose, Upkeep};
use crate::document::KeyRef;
use crate::options::{Durability, Options};
use crate::storage::MemoryStorage;

fn tiny() -> Options {
    Options::new().sector(64).segment_bytes(512)
}

fn open(options: &Options) -> Core {
    Core::open(Box::new(MemoryStorage::new()), options).expect("memory refuses nothing")
}

/// Puts documents with these keys, each in a commit of its own, and makes them durable.
fn put(core: &Core, keys: std::ops::Range<i64>) -> Result<()> {
    let mut writer = core.writer()?;
    for key in keys {
        writer.begin()?;
        writer.txn.put("a", KeyRef::Int(key), Expect::Anything, &[0xA0])?;
        writer.commit(Durability::Buffered)?;
    }
    writer.sync()
}

//= spec/space.md#p-6-3-who-does-it
//= type=test
//# So MAY one that finds the log since the last checkpoint twice as long as it is where a checkpoint comes
//# due, in a store whose index may take a number of bytes in memory: what changed since then stays
//# there (P-2.1).
#[test]
fn those_who_write_take_a_checkpoint_once_too_much_of_a_bounded_index_stays_in_memory() {
    const INDEX_BYTES: u64 = 16 << 10;
    let options = tiny().checkpoint_bytes(512);
    for (options, is_bounded) in [(options.clone(), false), (options.index_bytes(INDEX_BYTES), true)] {
        let core = open(&options);
        let mut longest = 0;
        for key in 0..2_000 {
            put(&core, key..key + 1).expect("there is room");
            let upkeep = core.writer().expect("it is opened for writing").upkeep();
            while upkeep == Upkeep::Check
                && core.pressure().expect("it is opened for writing") == Pressure::Much
                && core.maintain(Effort::Keep).expect("there is room") == Stepped::Done
            {}
            longest = longest.max(core.writer().expect("it is opened for writing").log_since_checkpoint());
        }
        // Looked at once for each segment.
        assert_eq!(longest <= INDEX_BYTES / 2 + 2 * 512, is_bounded, "{longest} bytes");
    }
}

#[test]
fn what_stands_in_front_of_the_segments_counts_beside_long_ones() {
    for (segment_bytes, front) in [(16 << 10, 0), (64 << 10, 0), (128 << 10, 16 << 10), (1 << 20, 16 << 10)] {
        let core = open(&Options::new().segment_bytes(segment_bytes));
        let writer = core.writer().expect("it is opened for writing");
        let figures = writer.figures();
        assert_eq!((figures.front, figures.len + (16 << 10)), (front, writer.file_len + front));
    }
}

#[test]
fn what_holds_a_place_is_told_for_each_of_them() {
    let core = open(&tiny());
    put(&core, 0..60).expect("there is room");
    core.checkpoint(Purpose::Opening).expect("there is room");
    put(&core, 60..70).expect("there is room");
    let mut writer = core.writer().expect("it is opened for writing");
    let end = writer.appender.end().segment.clone();
    let sealed: Vec<_> =
        writer.accounts.iter().map(|(sequence, account)| (sequence, account.physical)).collect();
    let [(first, at_first), (second, at_second), (third, at_third)] = sealed[..3] else {
        panic!("{sealed:?}")
    };
    assert!(end.sequence > third, "the log goes on behind these");
    let candidates = |writer: &Writer| writer.candidates().map(|(sequence, _)| sequence).collect::<Vec<_>>();
    let all: Vec<_> = (0..end.sequence).collect();
    assert_eq!(candidates(&writer), all, "the one that is being written is none");
    let lsn = writer.end();
    writer.accounts.set_freed(second, lsn);
    writer.work.unreadable.insert(third);
    assert_eq!(
        candidates(&writer),
        all.iter().copied().filter(|one| ![second, third].contains(one)).collect::<Vec<_>>()
    );
    let checkpoint = writer.checkpoints.segments();
    assert!(!checkpoint.is_empty());
    for physical in 0..200 {
        let expected = match physical {
            _ if physical == end.physical => Top::Current,
            _ if physical == at_first => Top::Sealed(first),
            _ if physical == at_second || physical == at_third => Top::Other,
            _ if checkpoint.contains(&physical) => Top::Checkpoint,
            _ => writer
                .accounts
                .at_physical(physical)
                .map_or(Top::Other, |(sequence, _)| Top::Sealed(sequence)),
        };
        assert_eq!(writer.top(physical), expected, "{physical}");
    }
}

#[test]
fn the_figures_are_those_of_the_file_behind_its_slots() {
    let core = open(&tiny());
    put(&core, 0..60).expect("there is room");
    let writer = core.writer().expect("it is opened for writing");
    let figures = writer.figures();
    assert_eq!((figures.segment_bytes, figures.room), (512, 448));
    assert_eq!(figures.len, core.shared.log.storage.len().expect("memory can be read") - 16_384);
    let behind = writer.behind();
    assert_eq!((behind.log, behind.checkpoint), (writer.appender.end_address().0, 0));
    assert!(!behind.fits_first_segment);
    drop(writer);
    core.checkpoint(Purpose::Opening).expect("there is room");
    let writer = core.writer().expect("it is opened for writing");
    let behind = writer.behind();
    assert!(behind.log < 512 && behind.checkpoint > 0, "{behind:?}");
}

#[test]
fn a_log_in_its_first_segment_needs_no_checkpoint_until_one_is_there() {
    let core = open(&Options::new().sector(64).segment_bytes(4096).checkpoint_bytes(1));
    put(&core, 0..3).expect("there is room");
    assert_eq!(core.maintain(Effort::Keep).expect("memory refuses nothing"), Stepped::Nothing);
    assert!(core.writer().expect("it is opened for writing").fits_first_segment());
    core.checkpoint(Purpose::Opening).expect("there is room");
    assert!(!core.writer().expect("it is opened for writing").fits_first_segment());
}

#[test]
fn the_log_rolls_into_its_next_segment_and_that_is_counted() {
    let core = open(&tiny());
    put(&core, 0..1).expect("there is room");
    let mut writer = core.writer().expect("it is opened for writing");
    for rolls in 1..=3 {
        writer.roll().expect("there is room");
        assert_eq!((writer.work.rolls, writer.appender.end().segment.sequence), (rolls, rolls));
        assert!(writer.end() == writer.durable() && writer.is_growth_named());
    }
}

#[test]
fn what_is_to_be_cut_may_be_gone_by_then() {
    let core = open(&tiny());
    put(&core, 0..60).expect("there is room");
    let mut writer = core.writer().expect("it is opened for writing");
    let before = writer.file_len;
    for _ in 0..2 {
        writer.cut(Kept::Held).expect("memory refuses nothing");
        assert!(writer.file_len < before);
        assert_eq!(writer.file_len, writer.kept_len(Kept::Held));
    }
}

#[test]
fn what_was_moved_in_vain_is_cut_off_all_the_same_where_somebody_asks_for_all_of_it() {
    let core = open(&tiny());
    put(&core, 0..60).expect("there is room");
    let in_vain = |effort| {
        let mut writer = core.writer().expect("it is opened for writing");
        let figures = writer.figures();
        writer.work.best = None;
        assert!(!writer.is_in_vain(effort, &figures), "nothing was moved yet");
        writer.work.relocated_bytes += 1 << 30;
        assert!(writer.is_in_vain(effort, &figures));
    };
    let step = |effort| core.maintain(effort).expect("memory refuses nothing");
    let beyond = || {
        let writer = core.writer().expect("it is opened for writing");
        writer.file_len - writer.kept_len(Kept::Held)
    };
    in_vain(Effort::Rest);
    assert!(step(Effort::Rest) == Stepped::Nothing && beyond() > 0);
    in_vain(Effort::All);
    assert!(step(Effort::All) == Stepped::Done && beyond() == 0);
    assert_eq!(step(Effort::All), Stepped::Nothing, "it is cut once");
}

#[test]
fn a_store_is_short_of_room_until_some_is_made() {
    let core = open(&tiny().max_file_bytes(16_384 + 40 * 512));
    put(&core, 0..10).expect("there is room");
    assert!(!core.is_still_short().expect("it is opened for writing"));
    assert!(put(&core, 10..9999).is_err());
    assert!(core.is_still_short().expect("it is opened for writing"));
}

#[test]
fn at_close_a_checkpoint_is_wanted_of_a_store_that_was_written_to() {
    let core = open(&tiny());
    assert!(!core.wants_checkpoint_at_close(), "nothing was");
    put(&core, 0..60).expect("there is room");
    assert!(core.wants_checkpoint_at_close());
    core.checkpoint(Purpose::Opening).expect("there is room");
    assert!(!core.wants_checkpoint_at_close());
}
