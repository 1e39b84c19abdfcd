//! The steps of a checkpoint, one by one.

mod takeover;

use super::*;
use crate::core::Expect;
use crate::document::KeyRef;
use crate::options::{Durability, Options};
use crate::storage::MemoryStorage;
use crate::storage::sim::{CallKind, FaultKind, FaultPlan, Level, Nth, SimDisk};
use crate::sync::Ordering;

/// A store with commits that are durable.
fn store() -> Core {
    let options = Options::new().sector(64).segment_bytes(512);
    let core = Core::open(Box::new(MemoryStorage::new()), &options).expect("memory refuses nothing");
    (0..40).for_each(|key| put(&core, key, Durability::Buffered));
    core.writer().expect("it is opened for writing").sync().expect("memory refuses nothing");
    core
}

fn put(core: &Core, key: i64, durability: Durability) {
    let mut writer = core.writer().expect("it is opened for writing");
    writer.begin().expect("memory refuses nothing");
    writer.txn.put("a", KeyRef::Int(key), Expect::Anything, &[0xA0]).expect("it is sound");
    writer.commit(durability).expect("memory refuses nothing");
}

fn begin(core: &Core) -> CheckpointJob {
    core.begin_checkpoint(Purpose::Opening).expect("memory refuses nothing").expect("there are commits")
}

#[test]
fn a_checkpoint_begins_with_a_sync_where_something_waits_for_one_and_else_without() {
    let core = store();
    let syncs = || core.shared.log.storage.calls.syncs.load(Ordering::Relaxed);
    put(&core, 40, Durability::Buffered);
    let before = syncs();
    let job = begin(&core);
    assert_eq!(syncs(), before, "what is visible can be written down");
    assert_eq!(job.end.lsn, core.progress().visible);
    drop(job);
    put(&core, 41, Durability::Synced);
    assert!(core.shared.visibility.has_pending());
    let job = begin(&core);
    assert!(syncs() > before && !core.shared.visibility.has_pending());
    assert_eq!(job.end.lsn, core.progress().visible);
}

#[test]
fn a_slot_that_names_a_checkpoint_is_synced_before_anything_rests_on_it() {
    let core = store();
    let mut job = begin(&core);
    while core.write_checkpoint(&mut job).expect("memory refuses nothing") {}
    let sealed = core.seal_checkpoint(job).expect("memory refuses nothing");
    core.name_checkpoint(&sealed).expect("memory refuses nothing");
    assert!(core.writer().expect("it is opened for writing").slot_unsynced);
    let syncs = core.shared.log.storage.calls.syncs.load(Ordering::Relaxed);
    core.sync_slot().expect("memory refuses nothing");
    assert_eq!(core.shared.log.storage.calls.syncs.load(Ordering::Relaxed), syncs + 1);
    assert!(!core.writer().expect("it is opened for writing").slot_unsynced);
}

#[test]
fn the_sync_of_a_checkpoint_makes_the_length_durable_that_the_file_has_with_its_pages() {
    let core = store();
    // As where it has grown since the last sync of commits.
    core.writer().expect("it is opened for writing").synced_len = 0;
    let mut job = begin(&core);
    while core.write_checkpoint(&mut job).expect("memory refuses nothing") {}
    core.seal_checkpoint(job).expect("memory refuses nothing");
    let writer = core.writer().expect("it is opened for writing");
    assert_eq!(writer.synced_len, writer.file_len);
}

#[test]
fn much_log_behind_a_growth_is_made_durable_ahead_of_the_sync_that_commits_wait_for() {
    for (unsynced, is_worth) in [(0, false), ((1 << 20) - 1, false), (1 << 20, true), (u64::MAX, true)] {
        assert_eq!(is_worth_a_sync(unsynced), is_worth, "{unsynced} bytes");
    }
    let options = Options::new().sector(512).segment_bytes(4 << 20);
    for (len, is_growth_named, expected) in
        [(100, false, 3), (2 << 20, false, 4), (100, true, 1), (2 << 20, true, 1)]
    {
        let core = Core::open(Box::new(MemoryStorage::new()), &options).expect("memory refuses nothing");
        let mut writer = core.writer().expect("it is opened for writing");
        writer.begin().expect("memory refuses nothing");
        let document = [&[0x5A, 0, 0x20, 0, 0][..], &vec![7; len]].concat();
        writer.txn.put("a", KeyRef::Int(1), Expect::Anything, &document).expect("it is sound");
        writer.commit(Durability::Buffered).expect("memory refuses nothing");
        drop(writer);
        let mut job = begin(&core);
        while core.write_checkpoint(&mut job).expect("memory refuses nothing") {}
        if is_growth_named {
            let mut writer = core.writer().expect("it is opened for writing");
            writer.named_len = writer.file_len;
        }
        let syncs = core.shared.log.storage.calls.syncs.load(Ordering::Relaxed);
        core.seal_checkpoint(job).expect("memory refuses nothing");
        assert_eq!(
            core.shared.log.storage.calls.syncs.load(Ordering::Relaxed) - syncs,
            expected,
            "{len} bytes"
        );
    }
}

#[test]
fn what_was_taken_for_a_checkpoint_that_does_not_come_to_be_is_free_again() {
    let core = store();
    let mut writer = core.writer().expect("it is opened for writing");
    let before = writer.appender.free.clone();
    let mut taken = Vec::new();
    for _ in 0..3 {
        taken.push(writer.allocate().expect("memory refuses nothing"));
    }
    let end = writer.appender.free.end();
    let free = |writer: &Writer| writer.appender.free.within(end);
    assert_eq!(free(&writer) + 3, before.within(before.end()) + (end - before.end()));
    writer.budget.is_stale = false;
    drop(writer);
    core.give_up_checkpoint(&taken).expect("it is opened for writing");
    let writer = core.writer().expect("it is opened for writing");
    assert_eq!(free(&writer), before.within(before.end()) + (end - before.end()));
    assert!(writer.budget.is_stale);
}

//= spec/space.md#p-2-3-how-it-is-written
//= type=test
//# A writer SHOULD begin a checkpoint that takes nothing over (P-2.8) in another segment where a free place
//# lies before the open one.
#[test]
fn checkpoints_are_appended_to_the_open_segment_unless_a_free_place_lies_before_it() {
    let options = Options::new().sector(64).segment_bytes(4096);
    let core = Core::open(Box::new(MemoryStorage::new()), &options).expect("memory refuses nothing");
    let newest = |key| {
        put(&core, key, Durability::Buffered);
        core.checkpoint(Purpose::Opening).expect("memory refuses nothing");
        let report = core.verify(true).expect("memory refuses nothing");
        assert!(report.problems.is_empty(), "either alone suffices: {:?}", report.problems);
        core.writer().expect("it is opened for writing").superblock.checkpoints[0].expect("it is named").root
    };
    let places: Vec<_> = (0..6).map(newest).collect();
    let physical = places[0].physical;
    assert!(places.iter().all(|place| place.physical == physical), "{places:?}");
    assert!(places.is_sorted_by(|a, b| a.offset + a.len < b.offset), "{places:?}");
    let held = {
        let mut writer = core.writer().expect("it is opened for writing");
        let taken: Vec<_> = (0..physical + 3).map(|_| writer.appender.free.take_for_good()).collect();
        let before = taken.into_iter().flatten().min().expect("there is one");
        writer.open_index = writer.open_index.map(|open| OpenSegment { physical: before + 1, ..open });
        assert!(writer.open_segment(false).is_some(), "nothing before it is free");
        writer.appender.free.put(before);
        assert!(writer.open_segment(true).is_some(), "what takes over is short");
        writer.open_segment(false)
    };
    assert_eq!(held, None);
}

#[cfg(feature = "seeded")]
#[test]
fn a_checkpoint_over_the_one_named_last_goes_not_unnoticed() {
    crate::seeded::assert_noticed(
        Bug::OpenSegmentNotKept,
        checkpoints_are_appended_to_the_open_segment_unless_a_free_place_lies_before_it,
    );
}

//= spec/space.md#p-2-3-how-it-is-written
//= type=test
//# A checkpoint that is given up leaves free the segments that it took.
#[test]
fn a_checkpoint_that_is_given_up_leaves_the_open_segment_as_it_was() {
    let core = store();
    core.checkpoint(Purpose::Opening).expect("memory refuses nothing");
    let (open, free) = {
        let writer = core.writer().expect("it is opened for writing");
        (writer.open_index, writer.appender.free.clone())
    };
    put(&core, 40, Durability::Buffered);
    let mut job = begin(&core);
    while core.write_checkpoint(&mut job).expect("memory refuses nothing") {}
    core.give_up_checkpoint(job.writer.taken()).expect("memory refuses nothing");
    let writer = core.writer().expect("it is opened for writing");
    assert_eq!(writer.open_index, open);
    assert_eq!(writer.appender.free.within(free.end()), free.within(free.end()));
    drop(writer);
    core.checkpoint(Purpose::Opening).expect("memory refuses nothing");
    assert!(core.verify(true).expect("memory refuses nothing").problems.is_empty());
}

//= spec/space.md#p-2-3-how-it-is-written
//= type=test
//# A checkpoint that is given up leaves free the segments that it took.
//= spec/space.md#p-4-1-checkpoints
//= type=test
//# A place that a checkpoint held MUST NOT be given out before both slots are durable that name none
//# which holds it.
#[test]
fn a_checkpoint_whose_slot_finds_no_room_is_held_until_no_slot_can_name_it() {
    let options = Options::new().sector(64).segment_bytes(512);
    let full = || FaultPlan::none().from(Nth::Of(CallKind::Write, 0), FaultKind::StorageFull);
    for slots_written in 0..2 {
        let disk = SimDisk::new(64, Level::Sectors);
        let core = Core::open(Box::new(disk.clone()), &options).expect("the disk is in order");
        (0..40).for_each(|key| put(&core, key, Durability::Synced));
        for _ in 0..2 {
            core.checkpoint(Purpose::Space).expect("the disk is in order");
        }
        let end = core.writer().expect("it is opened for writing").appender.free.end() + 100;
        let free = || core.writer().expect("it is opened for writing").appender.free.within(end);
        let before = free();
        let mut job = begin(&core);
        while core.write_checkpoint(&mut job).expect("the disk is in order") {}
        let sealed = core.seal_checkpoint(job).expect("the disk is in order");
        let taken = before - free();
        for _ in 0..slots_written {
            core.name_checkpoint(&sealed).expect("the disk is in order");
            core.sync_slot().expect("the disk is in order");
        }
        disk.set_faults(full());
        core.name_checkpoint(&sealed).expect_err("there is no room for the slot");
        for _ in 0..10 {
            core.checkpoint(Purpose::Space).expect_err("there is no room for the slot");
            assert_eq!(free(), before - taken, "what a slot may name is held, and nothing more");
        }
        let top = sealed.written.segments.keys().max();
        assert!(top.is_some_and(|top| core.writer().is_ok_and(|writer| *top <= writer.held_top())));
        disk.set_faults(FaultPlan::none());
        core.writer().and_then(|mut writer| writer.give_up_unpublished()).expect("there is room again");
        assert_eq!(free(), before, "{slots_written} slots named it");
        core.checkpoint(Purpose::Space).expect("there is room again");
        assert!(core.verify(true).expect("the disk is in order").problems.is_empty());
        drop(core);
        Core::open(Box::new(disk), &options).expect("no place is held twice");
    }
}

//= spec/recovery.md#r-8-1-what-holds-a-place
//= type=test
//# Where the root of a checkpoint that it names cannot be read, and is not known to be damaged, every index
//# within `file_len` that nothing else holds MUST count as held by that checkpoint.
#[test]
fn a_read_that_fails_once_in_an_opening_leaves_every_checkpoint_its_places() {
    let options = Options::new().sector(64).segment_bytes(512);
    let disk = SimDisk::new(64, Level::Sectors);
    let core = Core::open(Box::new(disk.clone()), &options).expect("the disk is in order");
    (0..100).for_each(|key| put(&core, key, Durability::Synced));
    (0..2).for_each(|_| core.checkpoint(Purpose::Space).expect("the disk is in order"));
    drop(core);
    let mut doubted = 0;
    for nth in 0.. {
        let disk = disk.fork();
        disk.set_faults(FaultPlan::none().once(Nth::Of(CallKind::Read, nth), FaultKind::Io));
        let opened = Core::open(Box::new(disk.clone()), &options);
        if disk.fault_hits() == 0 {
            break;
        }
        let Ok(core) = opened else { continue };
        let held =
            |core: &Core| core.writer().expect("it is opened for writing").checkpoints.segments().len();
        let named = core.writer().expect("it is opened for writing").checkpoints.named().count();
        (100..160).for_each(|key| put(&core, key, Durability::Synced));
        let crashed = Core::open(Box::new(disk.fork()), &options);
        crashed.unwrap_or_else(|error| panic!("read {nth}: no place is held twice: {error}"));
        let before = held(&core);
        core.checkpoint(Purpose::Space).expect("the disk is in order");
        if named < 2 {
            doubted += 1;
            assert!(held(&core) < before, "both slots name others now");
        }
        drop(core);
        let core = Core::open(Box::new(disk), &options).expect("no place is held twice");
        assert!(core.verify(true).expect("the disk is in order").problems.is_empty());
    }
    assert!(doubted > 0, "a root could not be read");
}

#[cfg(feature = "seeded")]
#[test]
fn places_of_a_checkpoint_that_cannot_be_read_now_are_not_given_out_unnoticed() {
    crate::seeded::assert_noticed(
        Bug::UnreadableRootHoldsNothing,
        a_read_that_fails_once_in_an_opening_leaves_every_checkpoint_its_places,
    );
}
