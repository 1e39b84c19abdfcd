//! What is moved into the order of keys, and what is left where it is.

use std::ops::ControlFlow;

use super::super::CompactReport;
use super::*;
use crate::core::Effort;
use crate::core::Expect;
use crate::index::PrimaryIndex;
use crate::options::{Durability, Options};
use crate::storage::MemoryStorage;
use crate::storage::sim::SimDisk;

const COUNT: u64 = 1_500;

fn options() -> Options {
    Options::new().sector(512).segment_bytes(16 << 10).cache_bytes(1 << 20)
}

fn key(number: u64) -> Key {
    if number < COUNT / 2 { Key::Int(number as i64) } else { Key::Text(format!("{number:05}").into()) }
}

/// A document that says which one it is.
fn body(number: u64) -> [u8; 6] {
    [0xA1, 0x61, b'n', 0x19, (number >> 8) as u8, number as u8]
}

fn put(core: &Core, numbers: impl Iterator<Item = u64>) {
    for number in numbers {
        let mut writer = core.writer().expect("it is opened for writing");
        writer.begin().expect("memory refuses nothing");
        writer.txn.put("a", key(number).as_ref(), Expect::Anything, &body(number)).expect("it is sound");
        writer.commit(Durability::Buffered).expect("memory refuses nothing");
    }
}

/// A store into which documents were put in an order that has nothing to do with that of their keys.
fn strewn(disk: &Arc<MemoryStorage>, options: &Options) -> Core {
    let core = Core::open(Box::new(Arc::clone(disk)), options).expect("memory refuses nothing");
    put(&core, (0..COUNT).map(|number| number * 113 % COUNT));
    core.writer().expect("it is opened for writing").sync().expect("memory refuses nothing");
    core
}

fn compact(core: &Core, mut between: impl FnMut() -> ControlFlow<()>) -> CompactReport {
    let step = || core.maintain(Effort::All);
    core.compact(step, |_| between()).expect("memory refuses nothing")
}

fn is_strewn(core: &Core) -> bool {
    let naming = core.shared.naming("a").expect("it is there");
    let slack = core.writer().expect("it is opened for writing").accounts.count();
    in_order_up_to(&core.shared, &naming.documents, slack).expect("memory refuses nothing").is_some()
}

/// Each document with the commit that put it.
fn contents(core: &Core) -> Vec<(u64, Vec<u8>, crate::format::Lsn)> {
    let naming = core.shared.naming("a").expect("it is there");
    let found = (0..COUNT).filter_map(|number| {
        let located = core.shared.get(&naming, key(number).as_ref()).expect("it can be read")?;
        Some((number, located.body().to_vec(), located.lsn()))
    });
    found.collect()
}

//= spec/space.md#p-7-4-order-of-keys
//= type=test
//# A compaction SHOULD move the documents of a collection into the order of their keys, where many of them stand in another, all have
//# room in the cache, and the file may grow by as much as is live.
#[test]
fn a_compaction_brings_documents_into_the_order_of_their_keys_and_the_next_one_finds_them_so() {
    let disk = Arc::new(MemoryStorage::new());
    let core = strewn(&disk, &options());
    let before = contents(&core);
    assert!(is_strewn(&core));
    let mut highest = 0;
    let report = compact(&core, || {
        highest = highest.max(core.writer().expect("it is opened for writing").file_len);
        ControlFlow::Continue(())
    });
    assert!(report.is_complete && !is_strewn(&core), "{report:?}");
    assert_eq!(contents(&core), before, "what is read is the same, and so are the versions");
    let usage = core.writer().expect("it is opened for writing").usage();
    let live = usage.live + usage.checkpoint_bytes;
    assert!(report.bytes_after <= live * 11 / 10 + 5 * (16 << 10), "{report:?}, {live} live");
    assert!(highest <= 3 * live + 5 * (16 << 10), "{highest}, {live} live");
    assert_eq!(compact(&core, || ControlFlow::Continue(())).moved_bytes, 0);
    drop(core);
    let core = Core::open(Box::new(disk), &options()).expect("memory refuses nothing");
    assert!(contents(&core) == before && !is_strewn(&core));
}

#[test]
fn what_is_written_meanwhile_stands_as_it_was_written() {
    let core = strewn(&Arc::new(MemoryStorage::new()), &options());
    let mut expected = contents(&core);
    let mut round = 0;
    compact(&core, || {
        let is_arranging = core.writer().expect("it is opened for writing").is_arranging();
        let until = if is_arranging { COUNT.min(round + 500) } else { round };
        while round < until {
            put(&core, [round].into_iter());
            let mut writer = core.writer().expect("it is opened for writing");
            writer.begin().expect("memory refuses nothing");
            writer.txn.delete("a", key(round + 1).as_ref(), None).expect("it is there");
            writer.commit(Durability::Buffered).expect("memory refuses nothing");
            round += 50;
        }
        ControlFlow::Continue(())
    });
    assert!(round > 0, "there was a meanwhile");
    let found = contents(&core);
    let written = |number: u64| number.is_multiple_of(50) && number < round;
    expected.retain(|(number, ..)| *number == 0 || !written(number - 1));
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!((found.0, &found.1), (expected.0, &expected.1));
        assert_eq!(found.2 == expected.2, !written(found.0), "{}", found.0);
    }
}

#[test]
fn nothing_is_arranged_where_it_would_take_room_that_is_not_there_or_not_come_back() {
    let disk = || Arc::new(MemoryStorage::new());
    let stays = |core: &Core| {
        compact(core, || ControlFlow::Continue(()));
        is_strewn(core)
    };
    assert!(!stays(&strewn(&disk(), &options())), "else it is");
    assert!(stays(&strewn(&disk(), &options().cache_bytes(16 << 10))), "it has no room in the cache");
    assert!(!stays(&strewn(&disk(), &options().max_file_bytes(64 << 20))), "the limit is far");
    for (beyond, can) in [(0, true), (1, false)] {
        let disk = disk();
        let room = {
            let core = strewn(&disk, &options());
            let writer = core.writer().expect("it is opened for writing");
            writer.file_len + writer.usage().live
        };
        let options = options().max_file_bytes(room - beyond);
        let core = Core::open(Box::new(disk), &options).expect("memory refuses nothing");
        let writer = core.writer().expect("it is opened for writing");
        assert_eq!(writer.can_arrange(), can, "{beyond} bytes too many");
    }
    let core = strewn(&disk(), &options());
    core.writer().expect("it is opened for writing").work.backups = 1;
    assert!(stays(&core), "a backup keeps what is left behind");
    let core = strewn(&disk(), &options());
    let feed = core.shared.feed(crate::format::Lsn::ZERO).expect("nothing is gone yet");
    assert!(stays(&core), "a feed does");
    drop(feed);
    assert!(!stays(&core));
}

#[test]
fn an_arrangement_that_ends_early_each_time_comes_to_its_end() {
    let core = strewn(&Arc::new(MemoryStorage::new()), &options());
    let is_arranging = || core.writer().expect("it is opened for writing").is_arranging();
    let mut rounds = 0;
    while is_strewn(&core) {
        let mut steps = 0;
        compact(&core, || {
            steps += u32::from(is_arranging());
            // The first of them looked.
            if steps > 1 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        rounds += 1;
        assert!(rounds < 20, "it goes on from where it was");
    }
    assert!(rounds > 1, "it took more than one");
}

#[test]
fn an_arrangement_waits_for_a_transaction_and_goes_on() {
    let core = strewn(&Arc::new(MemoryStorage::new()), &options());
    let (mut busy, mut steps) = (0, 0);
    let step = || {
        let is_arranging = core.writer()?.is_arranging();
        if is_arranging {
            core.writer()?.turn.hold();
        }
        let stepped = core.maintain(Effort::All);
        if is_arranging {
            core.writer()?.turn.release();
            assert_eq!(stepped.as_ref().ok(), Some(&Stepped::Busy));
            return core.maintain(Effort::All);
        }
        stepped
    };
    let report = core.compact(step, |_| {
        steps += 1;
        busy += u32::from(core.writer().expect("it is opened for writing").is_arranging());
        ControlFlow::Continue(())
    });
    assert!(report.expect("memory refuses nothing").is_complete && !is_strewn(&core));
    assert!(busy > 0 && steps > busy);
}

#[test]
fn a_full_disk_ends_an_arrangement_and_leaves_the_reserve() {
    let mut full = 0;
    for room in 0..10 {
        let disk = Arc::new(SimDisk::seeded(1));
        let core = Core::open(Box::new(Arc::clone(&disk)), &options()).expect("a new store");
        put(&core, (0..COUNT).map(|number| number * 113 % COUNT));
        let before = contents(&core);
        let mut is_set = false;
        let report = compact(&core, || {
            let writer = core.writer().expect("it is opened for writing");
            if writer.is_arranging() && !std::mem::replace(&mut is_set, true) {
                disk.set_capacity(Some(writer.file_len + room * (16 << 10)));
            }
            ControlFlow::Continue(())
        });
        assert!(report.is_complete && is_set, "{report:?}");
        full += u32::from(is_strewn(&core));
        assert_eq!(contents(&core), before, "{room}");
        for number in (0..COUNT).step_by(7) {
            let mut writer = core.writer().expect("it is opened for writing");
            writer.begin().expect("there is room for deletes");
            writer.txn.delete("a", key(number).as_ref(), None).expect("it is there");
            writer.commit(Durability::Buffered).expect("there is room for deletes");
        }
    }
    assert!(full > 0, "the disk was full");
}

#[test]
fn a_damaged_document_stays_where_it_is() {
    let disk = Arc::new(MemoryStorage::new());
    drop(strewn(&disk, &options()));
    let core = Core::open(Box::new(Arc::clone(&disk)), &options()).expect("memory refuses nothing");
    assert!(is_strewn(&core));
    let naming = core.shared.naming("a").expect("it is there");
    let entry = |number: u64| naming.documents.index.get(key(number).as_ref()).expect("it is there");
    // It was put early, so that the end of the log that is in memory does not have it.
    let damaged = entry(100).address();
    let at = core.shared.log.segments.file_offset(damaged);
    let mut byte = [0];
    core.shared.log.storage.read_full(at + 8, &mut byte).expect("memory refuses nothing");
    core.shared.log.storage.write_all_at(at + 8, &[byte[0] ^ 1]).expect("memory refuses nothing");
    let report = compact(&core, || ControlFlow::Continue(()));
    assert!(report.is_complete && !is_strewn(&core));
    assert_eq!(entry(100).address(), damaged);
    let read = core.shared.get(&naming, key(100).as_ref());
    assert!(matches!(read, Err(Error::Corrupt(_))), "{read:?}");
}

#[test]
fn nothing_else_is_moved_meanwhile_and_the_end_of_the_compaction_is_the_end_of_it() {
    let core = strewn(&Arc::new(MemoryStorage::new()), &options());
    let is_arranging = || core.writer().expect("it is opened for writing").is_arranging();
    let mut looks = 0;
    let report = compact(&core, || {
        if !is_arranging() {
            return ControlFlow::Continue(());
        }
        looks += 1;
        for effort in [Effort::Keep, Effort::Rest] {
            assert_eq!(core.maintain(effort).expect("memory refuses nothing"), Stepped::Nothing);
        }
        ControlFlow::Break(())
    });
    assert_eq!((looks, report.is_complete, is_arranging()), (1, false, false));
    assert!(compact(&core, || ControlFlow::Continue(())).is_complete && !is_strewn(&core));
}
