//! Nothing is given out again that somebody may need.

use super::*;
use crate::core::{Core, Expect, Purpose};
use crate::document::KeyRef;
use crate::options::{Durability, Options};
use crate::storage::MemoryStorage;
use crate::storage::sim::{CallKind, FaultKind, FaultPlan, Level, Nth, SimDisk};

fn store() -> Core {
    let options = Options::new().sector(64).segment_bytes(512);
    Core::open(Box::new(MemoryStorage::new()), &options).expect("memory refuses nothing")
}

fn put(core: &Core, name: &str, keys: std::ops::Range<i64>) {
    let mut writer = core.writer().expect("it is opened for writing");
    for key in keys {
        writer.begin().expect("memory refuses nothing");
        writer.txn.put(name, KeyRef::Int(key), Expect::Anything, &[0xA0]).expect("it is sound");
        writer.commit(Durability::Buffered).expect("memory refuses nothing");
    }
    writer.sync().expect("memory refuses nothing");
}

/// A store whose first segment is freed, as both checkpoints say.
fn freed() -> Core {
    let core = store();
    put(&core, "a", 0..60);
    assert_eq!(core.clean(0).expect("memory refuses nothing"), super::super::clean::Cleaned::Freed);
    for _ in 0..2 {
        let mut writer = core.writer().expect("it is opened for writing");
        writer.work.backups = 1;
        drop(writer);
        core.checkpoint(Purpose::Opening).expect("there is room");
        writer = core.writer().expect("it is opened for writing");
        writer.work.backups = 0;
    }
    core
}

#[test]
fn a_place_is_given_out_once_both_checkpoints_have_it_as_freed_and_no_backup_reads_it() {
    let core = freed();
    let mut writer = core.writer().expect("it is opened for writing");
    let place = writer.accounts.get(0).expect("it is kept").physical;
    let holds = |writer: &Writer| writer.appender.free.within(place + 1) - writer.appender.free.within(place);
    writer.work.backups = 1;
    assert!(!writer.reclaim(), "a backup");
    writer.work.backups = 0;
    let published = std::mem::take(&mut writer.published);
    assert!(!writer.reclaim(), "a slot names another checkpoint");
    writer.published = published;
    assert_eq!((holds(&writer), writer.accounts.get(0).is_some()), (0, true));
    writer.budget.is_stale = false;
    assert!(writer.reclaim());
    assert_eq!((holds(&writer), writer.accounts.get(0).is_some()), (1, false));
    assert!(writer.budget.is_stale, "what is to be kept of the file is worked out anew");
    writer.budget.is_stale = false;
    assert!(!writer.reclaim(), "nothing more is freed");
    assert!(!writer.budget.is_stale);
}

#[test]
fn what_a_checkpoint_does_not_have_as_freed_is_not_given_out() {
    let core = store();
    put(&core, "a", 0..60);
    core.checkpoint(Purpose::Opening).expect("there is room");
    assert_eq!(core.clean(0).expect("memory refuses nothing"), super::super::clean::Cleaned::Freed);
    core.checkpoint(Purpose::Opening).expect("there is room");
    let mut writer = core.writer().expect("it is opened for writing");
    let lsn = writer.accounts.get(0).expect("it is kept").freed;
    let [newest, before] = writer.superblock.checkpoints.map(|named| named.expect("two were taken").lsn);
    assert!(before < lsn && lsn <= newest);
    assert_eq!(writer.reuse_floor(), before);
    assert!(!writer.reclaim());
}

#[test]
fn the_segments_of_a_collection_that_has_ended_are_pinned_while_a_snapshot_sees_it() {
    let core = store();
    put(&core, "a", 0..30);
    put(&core, "b", 0..30);
    let id = core.shared.naming("a").expect("it was just begun").documents.id;
    let holds_a = |writer: &Writer| -> BTreeSet<u64> {
        let holds = |live: &[(u32, u64)]| live.iter().any(|(collection, _)| *collection == id);
        writer
            .accounts
            .iter()
            .filter(|(_, account)| holds(account.live()))
            .map(|(sequence, _)| sequence)
            .collect()
    };
    let snapshot = core.shared.register();
    let mut writer = core.writer().expect("it is opened for writing");
    assert!(writer.pinned_segments().is_empty());
    let expected = holds_a(&writer);
    assert!(expected.len() > 1 && expected.len() < writer.accounts.count() as usize);
    writer.begin().expect("memory refuses nothing");
    assert!(writer.txn.drop_collection("a").expect("it is there"));
    writer.commit(Durability::Buffered).expect("memory refuses nothing");
    writer.sync().expect("memory refuses nothing");
    assert_eq!(writer.pinned_segments(), expected);
    drop(snapshot);
    assert!(writer.pinned_segments().is_empty());
}

#[test]
fn while_a_list_of_chunks_cannot_be_read_no_place_is_given_out_and_nothing_fails() {
    let options = Options::new().sector(64).segment_bytes(512).cache_bytes(0);
    let disk = SimDisk::new(64, Level::Sectors);
    let core = Core::open(Box::new(disk.clone()), &options).expect("the disk is in order");
    let put_long = |core: &Core| {
        let mut writer = core.writer().expect("it is opened for writing");
        writer.begin().expect("the disk is in order");
        writer.txn.put("a", KeyRef::Int(-1), Expect::Anything, &[0xA0; 1000]).expect("it is sound");
        writer.commit(Durability::Buffered).expect("the disk is in order");
    };
    put_long(&core);
    put(&core, "a", 0..400);
    drop(core);
    // Anew, so that it is not in memory for having been written.
    let core = Core::open(Box::new(disk.clone()), &options).expect("the disk is in order");
    let snapshot = core.shared.register();
    put_long(&core);
    let writer = core.writer().expect("it is opened for writing");
    let pinned = writer.pinned_segments();
    assert!(!pinned.is_empty() && (pinned.len() as u64) < writer.accounts.count());
    // Other blocks take its place in the cache.
    let naming = core.shared.naming("a").expect("it is there");
    (0..400).for_each(|key| _ = core.shared.get(&naming, KeyRef::Int(key)).expect("the disk is in order"));
    disk.set_faults(FaultPlan::none().from(Nth::Of(CallKind::Read, 0), FaultKind::Io));
    let all: BTreeSet<u64> = writer.accounts.iter().map(|(sequence, _)| sequence).collect();
    assert_eq!(writer.pinned_segments(), all);
    drop(snapshot);
    assert!(writer.pinned_segments().is_empty(), "nobody needs it");
}
