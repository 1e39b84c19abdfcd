//! What is moved, how much of it at a time, and what is left of it.

use super::*;
use crate::core::{Effort, Expect, Stepped};
use crate::options::Options;
use crate::storage::MemoryStorage;
use crate::storage::sim::{CallKind, FaultKind, FaultPlan, Level, Nth, SimDisk};

//= spec/space.md#p-1-5-accounts
//= type=test
//# A writer MUST NOT rest anything else on them: what is live is decided by P-3.3.
#[test]
fn a_wrong_account_takes_no_document() {
    let disk = Arc::new(MemoryStorage::new());
    let options = Options::new().sector(64).segment_bytes(512);
    let core = Core::open(Box::new(Arc::clone(&disk)), &options).expect("memory refuses nothing");
    for key in 0..20 {
        let mut writer = core.writer().expect("it is opened for writing");
        writer.begin().expect("memory refuses nothing");
        writer.txn.put("a", KeyRef::Int(key), Expect::Anything, &[0xA0]).expect("it is sound");
        writer.commit(Durability::Buffered).expect("memory refuses nothing");
        writer.sync().expect("memory refuses nothing");
    }
    // As if nothing were live anywhere.
    let id = core.shared.naming("a").expect("it was just begun").documents.id;
    let mut writer = core.writer().expect("it is opened for writing");
    let sequences: Vec<_> = writer.accounts.iter().map(|(sequence, _)| sequence).collect();
    sequences.into_iter().for_each(|sequence| writer.accounts.supersede(sequence, id, u64::MAX));
    drop(writer);
    assert_eq!(core.clean(0).expect("memory refuses nothing"), Cleaned::Freed);
    assert_eq!(core.clean(1).expect("memory refuses nothing"), Cleaned::Freed);
    let moved = core.writer().expect("it is opened for writing").work.relocated_bytes;
    assert!(moved > 0, "what is live is moved, whatever the accounts say");
    drop(core);
    let core = Core::open(Box::new(disk), &options).expect("memory refuses nothing");
    let naming = core.shared.naming("a").expect("it is there");
    assert!((0..20).all(|key| core.shared.get(&naming, KeyRef::Int(key)).is_ok_and(|found| found.is_some())));
}

fn open(options: &Options) -> Core {
    Core::open(Box::new(MemoryStorage::new()), options).expect("memory refuses nothing")
}

/// One commit that puts documents with these keys, of bodies so long, which are not looked at.
fn put(core: &Core, keys: std::ops::Range<i64>, len: usize) {
    let mut writer = core.writer().expect("it is opened for writing");
    writer.begin().expect("memory refuses nothing");
    for key in keys {
        writer.txn.put("a", KeyRef::Int(key), Expect::Anything, &vec![0xA0; len]).expect("it is sound");
    }
    writer.commit(Durability::Buffered).expect("memory refuses nothing");
    writer.sync().expect("memory refuses nothing");
}

/// How many candidates are looked at in each step through the first segment.
fn slices(core: &Core) -> Vec<usize> {
    let (segment, end) = core.victim(0).expect("memory refuses nothing").expect("it is in use");
    let mut walk = core.shared.read_segment(&segment, end).expect("memory can be read");
    let mut found = Vec::new();
    loop {
        let (slice, is_last) = core.next_slice(&mut walk).expect("it is sound");
        found.push(slice.len());
        if is_last {
            return found;
        }
    }
}

#[test]
fn a_step_is_of_so_many_records_or_so_many_bytes() {
    let long = open(&Options::new().segment_bytes(1 << 20));
    (0..100).for_each(|key| put(&long, key..key + 1, 4000));
    // 4,012 or so are the bytes of each: 17 of them are the first that come to 64 KiB.
    assert_eq!(slices(&long), [17, 17, 17, 17, 17, 15]);
    let many = open(&Options::new().segment_bytes(1 << 20));
    (0..600).for_each(|key| put(&many, key..key + 1, 1));
    let mut expected = vec![RECORDS_AT_ONCE; 600 / RECORDS_AT_ONCE];
    expected.push(600 % RECORDS_AT_ONCE);
    assert_eq!(slices(&many), expected);
    let once = open(&Options::new().segment_bytes(1 << 20));
    put(&once, 0..1, 1);
    put(&once, 1..600, 1);
    put(&once, 600..603, 1);
    assert_eq!(slices(&once), [600, 3], "a frame is not taken apart");
}

#[test]
fn the_parts_of_a_slice_are_all_of_it_and_the_last_of_them_is_the_last() {
    for (len, is_last, expected) in [
        (0, true, vec![(0..0, true)]),
        (RECORDS_AT_ONCE, true, vec![(0..RECORDS_AT_ONCE, true)]),
        (RECORDS_AT_ONCE, false, vec![(0..RECORDS_AT_ONCE, false)]),
        (
            2 * RECORDS_AT_ONCE + 1,
            true,
            vec![
                (0..RECORDS_AT_ONCE, false),
                (RECORDS_AT_ONCE..2 * RECORDS_AT_ONCE, false),
                (2 * RECORDS_AT_ONCE..2 * RECORDS_AT_ONCE + 1, true),
            ],
        ),
    ] {
        let slice: Vec<_> = (0..len).collect();
        let expected: Vec<_> =
            expected.into_iter().map(|(range, is_last)| (&slice[range], is_last)).collect();
        assert_eq!(parts(&slice, is_last).collect::<Vec<_>>(), expected, "{len}, {is_last}");
    }
}

#[test]
fn nothing_that_is_cleaned_holds_anything_live_and_nothing_else_is_moved() {
    // Documents of two and of three chunks, the last of which is full, short, or next to nothing: so lists and chunks stand together or not.
    for len in [353 * 2, 353 * 2 + 1, 353 * 2 + 200, 353 * 3 - 1, 353 * 3] {
        let core = open(&Options::new().sector(64).segment_bytes(512));
        (0..12).for_each(|key| put(&core, key..key + 1, if key % 3 == 0 { 10 } else { len }));
        let last = core.writer().expect("it is opened for writing").appender.end().segment.sequence;
        for sequence in 0..last {
            let writer = core.writer().expect("it is opened for writing");
            let moved_before = writer.work.relocated_bytes;
            let account = writer.accounts.get(sequence).expect("it is in use");
            // The lists of the chunks that move are written anew wherever they stood.
            let most = account.bytes + 100 * account.records;
            drop(writer);
            assert_eq!(core.clean(sequence).expect("memory refuses nothing"), Cleaned::Freed);
            let writer = core.writer().expect("it is opened for writing");
            let account = writer.accounts.get(sequence).expect("nothing is given out again");
            assert!(account.is_freed() && account.live().is_empty(), "{len}, {sequence}: {account:?}");
            let moved = writer.work.relocated_bytes - moved_before;
            assert!(moved <= most, "{len}, {sequence}: {moved} bytes of {most}");
        }
        let naming = core.shared.naming("a").expect("it is there");
        for key in 0..12 {
            let found =
                core.shared.get(&naming, KeyRef::Int(key)).expect("it can be read").expect("it is there");
            assert_eq!(found.body().len(), if key % 3 == 0 { 10 } else { len }, "{key}");
        }
    }
}

//= spec/space.md#p-3-7-unreadable-victims
//= type=test
//# A segment with a frame or a live record that does not verify, or that the disk refuses to read, MUST be
//# left as it is, and reported; cleaning goes on with others.
#[test]
fn a_segment_that_the_disk_refuses_to_read_is_left_alone_and_a_failed_write_is_told() {
    let options = Options::new().sector(64).segment_bytes(512).cache_bytes(0);
    let cases = [
        // The segment, which has a chunk, and the list that names it, which stands elsewhere.
        (Nth::Of(CallKind::Read, 0), Some(Cleaned::Unreadable)),
        (Nth::Of(CallKind::Read, 1), Some(Cleaned::Unreadable)),
        (Nth::Of(CallKind::Write, 0), None),
    ];
    for (nth, expected) in cases {
        let disk = SimDisk::new(64, Level::Sectors);
        let core = Core::open(Box::new(disk.clone()), &options).expect("the disk is in order");
        put(&core, 0..1, 1000);
        (1..400).for_each(|key| put(&core, key..key + 1, 10));
        drop(core);
        // Anew, so that it is not in memory for having been written; and other blocks take its place in the cache.
        let core = Core::open(Box::new(disk.clone()), &options).expect("the disk is in order");
        put(&core, 400..401, 10);
        let naming = core.shared.naming("a").expect("it is there");
        (1..400)
            .for_each(|key| _ = core.shared.get(&naming, KeyRef::Int(key)).expect("the disk is in order"));
        disk.set_faults(FaultPlan::none().from(nth, FaultKind::Io));
        let cleaned = core.clean(1).and_then(|cleaned| core.writer()?.sync().map(|()| cleaned));
        assert_eq!(cleaned.ok(), expected, "{nth:?}");
        assert!(disk.fault_hits() > 0, "{nth:?}");
        disk.set_faults(FaultPlan::none());
        if expected.is_some() {
            assert!(core.writer().expect("it goes on").work.refused.contains(&1), "{nth:?}");
            assert_eq!(core.clean(2).expect("the others can be read"), Cleaned::Freed);
            while core.maintain(Effort::Rest).expect("the disk is in order") != Stepped::Nothing {}
            assert!(core.writer().expect("it goes on").work.refused.is_empty(), "it is tried again");
        }
    }
}
