//! Each segment is counted once, under what it is.

use super::*;
use crate::core::{Core, Expect, Purpose};
use crate::document::KeyRef;
use crate::options::{Durability, Options};
use crate::storage::MemoryStorage;

fn put(core: &Core, keys: std::ops::Range<i64>) {
    let mut writer = core.writer().expect("it is opened for writing");
    for key in keys {
        writer.begin().expect("memory refuses nothing");
        writer.txn.put("a", KeyRef::Int(key), Expect::Anything, &[0xA0]).expect("it is sound");
        writer.commit(Durability::Buffered).expect("memory refuses nothing");
    }
    writer.sync().expect("memory refuses nothing");
}

#[test]
fn a_segment_waits_for_the_checkpoints_that_do_not_have_it_as_freed_yet() {
    let options = Options::new().sector(64).segment_bytes(512);
    let core = Core::open(Box::new(MemoryStorage::new()), &options).expect("memory refuses nothing");
    for keys in [0..60, 60..120] {
        put(&core, keys);
        core.checkpoint(Purpose::Opening).expect("there is room");
    }
    put(&core, 120..180);
    let mut writer = core.writer().expect("it is opened for writing");
    let [newest, before] = writer.superblock.checkpoints.map(|named| named.expect("two were taken").lsn);
    let all = writer.accounts.count();
    assert_eq!(writer.usage().in_use, all);
    let next = |lsn: Lsn| Lsn(lsn.0 + 1);
    // Two that only a snapshot could keep, one for the checkpoint to come, and three that no checkpoint has as freed.
    let freed = [Lsn(1), before, next(before), newest, next(newest), next(newest), writer.end()];
    for (sequence, lsn) in freed.into_iter().enumerate() {
        writer.accounts.set_freed(sequence as u64, lsn);
    }
    let usage = writer.usage();
    assert_eq!((usage.in_use, usage.pinned, usage.waiting, usage.waiting_for_two), (all - 7, 2, 5, 3));
    assert!(usage.free > 1 && usage.checkpoints > 1, "{usage:?}");
    let space = writer.space();
    assert_eq!(space.pinned_bytes, 2 * 512);
    assert_eq!(space.reclaimable_bytes, 5 * 512);
    assert_eq!(space.free_bytes, usage.free * 512);
    assert_eq!(space.dead_bytes, (all - 8) * 512 - usage.live);
    assert_eq!((space.live_bytes, space.checkpoint_bytes), (usage.live, usage.checkpoint_bytes));
}
