//! What the slots say.

use std::sync::Arc;

use holotype::format::superblock::SLOT_OFFSETS;
use holotype::format::{Geometry, SEGMENTS_START};
use holotype::storage::{MemoryStorage, Storage};
use holotype::{Db, Error};

use super::forge::{Forge, n, options, read_all};

//= spec/versions.md#c-2-2-newer-minor
//# A reader MUST open a file of its own major and a higher minor version as it opens one of its own, unless a
//# rule of C-2.3 refuses.
//= spec/versions.md#c-2-4-refused-is-not-corrupt
//# A reader that refuses because of something it does not know MUST say that a newer version wrote it, and
//# not that the file is corrupt.
//= spec/format.md#f-2-1-regions
//# A reader MUST report the file as corrupt when a valid slot, the newest or not, has a geometry outside of
//# these bounds.
//= spec/format.md#f-3-4-versions-and-features
//# A reader MUST refuse the file when a valid slot, the newest or not, has a format major other than 3, a
//# checksum kind other than 1, or in its incompatible mask a bit that the reader does not know.
#[test]
fn a_valid_slot_that_asks_for_refusal_is_heard_though_the_other_is_newer() {
    let store = Forge::new();
    for index in [store.newest_index(), 1 - store.newest_index()] {
        let patched = |at: usize, with: &[u8]| {
            let mut store = store.clone();
            store.patch_slot(index, at, with);
            store
        };
        patched(8, &[4]).assert_newer("a higher major version");
        patched(8, &[1]).assert_older("a lower major version");
        patched(8, &[2]).assert_older("the major version before");
        patched(12, &[2]).assert_newer("another kind of checksum");
        patched(16, &[1]).assert_newer("an incompatible feature");
        patched(40, &[65]).assert_corrupt("a sector that is no power of two");
        patched(44, &[0, 1, 0, 0]).assert_corrupt("segments of 256 bytes");
        patched(400, &[1]).assert_corrupt("half a checkpoint");
        assert_eq!(patched(10, &[9]).keys(), ["1", "2"], "a higher minor version changes nothing");
    }
}

//= spec/format.md#f-3-3-validity
//# A reader MUST take the valid slot of the higher generation as the newest.
#[test]
fn the_valid_slot_of_the_higher_generation_is_the_newest() {
    let store = Forge::new();
    for newest in 0..2 {
        let mut store = store.clone();
        for index in 0..2 {
            let generation: u64 = if index == newest { 100 } else { 50 };
            store.patch_slot(index, 352, &(generation + index as u64).to_le_bytes());
        }
        assert_eq!(store.keys(), ["1", "2"]);
        // What the newest says of the length counts, and what the other says does not.
        let too_long = (store.bytes.len() as u64 + 1).to_le_bytes();
        let mut other = store.clone();
        other.patch_slot(1 - newest, 376, &too_long);
        assert_eq!(other.keys(), ["1", "2"]);
        store.patch_slot(newest, 376, &too_long);
        store.assert_corrupt("the newest slot names a longer file");
    }
}

//= spec/format.md#f-3-3-validity
//# A reader MUST report the file as corrupt when both slots are valid and their sector, segment_bytes or
//# lineage id differ: creation fixes these.
#[test]
fn two_slots_of_two_stores_are_corrupt_and_salvage_takes_the_one_that_the_segments_are_of() {
    let store = Forge::new();
    for index in 0..2 {
        for (at, with) in
            [(40, &128u32.to_le_bytes()[..]), (44, &8192u32.to_le_bytes()), (48, &[0xee]), (63, &[0xee])]
        {
            let mut other = store.clone();
            other.patch_slot(index, at, with);
            other.assert_corrupt("one slot is of another creation");
            let target = Arc::new(MemoryStorage::new());
            let report = holotype::salvage_to(other.disk(), Arc::clone(&target)).expect("a store is there");
            assert!(report.problems.iter().any(|problem| problem.clause.0 == "F-3.3"), "{report:?}");
            let salvaged = Db::open_on(target, &options()).expect("salvage makes stores");
            assert_eq!(
                salvaged.collection("c").len().expect("it is there"),
                2,
                "slot {index} differs at {at}"
            );
        }
        let mut copied = store.clone();
        copied.patch_slot(index, 64, &[0xee]);
        assert_eq!(copied.keys(), ["1", "2"], "a copy may take its instance id one slot after the other");
    }
}

//= spec/format.md#f-3-4-versions-and-features
//# A reader MUST NOT write to a file whose read-only-compatible mask has a bit that it does not know.
#[test]
pub(crate) fn an_unknown_feature_that_readers_may_ignore_keeps_writers_out() {
    let mut store = Forge::new();
    store.patch_slot(store.newest_index(), 24, &[4]);
    store.assert_newer("opened for writing");
    let reader = store.open_with(&options().read_only(true)).expect("it can be read");
    assert_eq!(reader.collection("c").len().expect("it is there"), 2);
}

//= spec/recovery.md#r-5-4-new-incarnation
//# A writer MUST refuse a call that needs a new incarnation where the highest is 2^32 - 1, the opening itself
//# where a slot was invalid, as `LimitReached`, and leave the file as it is.
#[test]
pub(crate) fn a_store_whose_incarnations_are_used_up_is_read_and_not_written() {
    let mut store = Forge::new();
    store.patch_slot(store.newest_index(), 360, &(u32::MAX - 1).to_le_bytes());
    let disk = store.disk();
    let last = Db::open_on(Arc::clone(&disk), &options()).expect("it is sound");
    last.collection("c").put(3, n(3)).expect("one is left");
    last.close().expect("there is room");
    let before = read_all(&disk);
    let db = Db::open_on(Arc::clone(&disk), &options()).expect("readers go on");
    for _ in 0..2 {
        let refused = db.collection("c").put(4, n(4));
        assert!(matches!(refused, Err(Error::LimitReached { .. })), "{refused:?}");
        let refused = db.checkpoint();
        assert!(refused.is_ok() || matches!(refused, Err(Error::LimitReached { .. })), "{refused:?}");
        assert_eq!(db.collection("c").len().expect("it is there"), 3);
        assert!(db.verify(true).expect("it can be read").is_clean());
    }
    drop(db);
    assert!(read_all(&disk) == before, "the file was written to");
}

//= spec/format.md#f-3-5-writing-a-slot
//# A writer MUST NOT write the content of an invalid slot back under a fresh checksum.
#[test]
fn an_invalid_slot_is_not_written_back() {
    let mut store = Forge::new();
    let instance = store.newest().instance;
    let older = 1 - store.newest_index();
    // One bit of its instance id, and its checksum does not hold any more.
    store.bytes[SLOT_OFFSETS[older] as usize + 64] ^= 1;
    let disk = store.disk();
    drop(Db::open_on(Arc::clone(&disk), &options()).expect("one slot is enough"));
    let mut slot = [0; 512];
    disk.read_at(SLOT_OFFSETS[older], &mut slot).expect("memory can be read");
    assert_eq!(slot[64..80], instance, "what was damaged is not given a checksum that holds");
}

//= spec/recovery.md#r-4-3-corrupt
//# A writer MUST NOT change a file that the table calls corrupt.
//= spec/recovery.md#r-5-3-sync-before-answering
//# A read-only open MUST NOT write.
#[test]
pub(crate) fn a_corrupt_file_is_left_as_it_is_though_a_slot_is_invalid() {
    let mut store = Forge::new();
    let older = 1 - store.newest_index();
    store.bytes[SLOT_OFFSETS[older] as usize + 64] ^= 1;
    let is_left = |store: &Forge, options: &holotype::Options| {
        let disk = store.disk();
        let opened = Db::open_on(Arc::clone(&disk), options).map(drop);
        assert!(read_all(&disk) == store.bytes, "the file was written to: {opened:?}");
        opened.is_ok()
    };
    assert!(is_left(&store, &options().read_only(true)), "one slot is enough");
    store.bytes.truncate(store.bytes.len() - 1);
    for read_only in [false, true] {
        assert!(!is_left(&store, &options().read_only(read_only)), "it is shorter than it once was");
    }
}

//= spec/recovery.md#r-7-3-close
//# A reader MUST NOT skip any step of recovery because of the clean flag.
#[test]
fn a_clean_flag_saves_no_step_of_recovery() {
    let mut store = Forge::new();
    store.change_newest(|slot| slot.clean = true);
    assert_eq!(store.keys(), ["1", "2"], "the log is followed all the same");
    let end = store.end();
    store.change_newest(|slot| slot.durable_lsn = end.lsn);
    let last = 16_384 + end.offset as usize - 9;
    store.bytes[last] ^= 1;
    store.assert_corrupt("what the slot attests is not there");
}

//= spec/versions.md#c-3-1-a-file-of-a-newer-minor-version
//# A writer MUST NOT lower the minor version, or change a feature mask, in the slots that it writes.
#[test]
fn a_writer_keeps_the_minor_version_and_the_features_of_the_file() {
    let mut store = Forge::new();
    for index in 0..2 {
        store.patch_slot(index, 10, &[9]);
        store.patch_slot(index, 32, &[5]);
    }
    let disk = store.disk();
    let db = Db::open_on(Arc::clone(&disk), &options()).expect("it is of the same major version");
    db.collection("c").put(3, n(3)).expect("there is room");
    db.checkpoint().expect("nothing hinders it");
    db.close().expect("nothing hinders it");
    let bytes = read_all(&disk);
    for slot in SLOT_OFFSETS.map(|at| &bytes[at as usize..]) {
        assert_eq!((slot[10], slot[32]), (9, 5));
        assert!(slot[352] > store.newest().generation as u8, "it was written");
    }
}

//= spec/recovery.md#r-5-1-no-valid-slot
//# When neither slot is valid and one begins with the magic and a format major above 3, a reader MUST refuse
//# the file as of a newer format (C-2.1).
//= spec/versions.md#c-2-1-newer-major
//# The error MUST say which major and minor version the file has.
#[test]
fn a_newer_major_is_named_though_its_slots_are_valid_by_other_rules() {
    let mut store = Forge::new();
    for at in SLOT_OFFSETS.map(|at| at as usize) {
        store.bytes[at + 8..at + 12].copy_from_slice(&[3, 1, 3, 0]);
    }
    for _ in 0..2 {
        store.assert_newer("the version stands where it stands for ever");
        let Err(error) = store.open().map(|db| db.stats()) else { panic!("it was opened") };
        assert!(error.to_string().contains("format 259.3"), "{error}");
        let salvaged = holotype::salvage_to(store.disk(), Arc::new(MemoryStorage::new()));
        assert!(matches!(salvaged, Err(Error::NewerFormat { major: 259, minor: 3, .. })), "{salvaged:?}");
        let inspected = holotype::inspect::open_on(store.disk()).map(|_| ());
        assert!(matches!(inspected, Err(Error::NewerFormat { .. })), "{inspected:?}");
        // One of them is enough.
        store.bytes[..512].fill(0);
    }
}

//= spec/recovery.md#r-5-1-no-valid-slot
//# When neither slot is valid otherwise, a reader MUST report the file as corrupt if either slot begins with
//# the magic, and else as not a Holotype file.
#[test]
fn a_file_that_ends_with_the_magic_was_a_store() {
    let magic = Forge::new().bytes[..8].to_vec();
    Forge { bytes: magic.clone() }.assert_corrupt("a slot that is cut off behind its magic");
    let other = magic.iter().map(|byte| byte ^ 1).collect();
    let refused = Forge { bytes: other }.open().map(|db| db.stats());
    assert!(matches!(refused, Err(Error::NotHolotype { .. })), "{refused:?}");
}

//= spec/recovery.md#r-5-1-no-valid-slot
//# A read-only open MUST report that it is incomplete; a writer MAY create the store anew.
#[test]
fn what_no_creation_writes_is_somebody_elses_file_wherever_it_stands() {
    let len = Geometry::new(64, 4096).expect("a geometry").creation_len() as usize;
    let zeros = Forge { bytes: vec![0; len] };
    assert!(zeros.open().is_ok(), "a creation that came to its length and no further");
    for at in [0, 7, 511, 512, 8192, SEGMENTS_START as usize, SEGMENTS_START as usize + 3, len - 1] {
        let mut store = zeros.clone();
        store.bytes[at] = 1;
        // Behind their magic, the first slot and the header of the first segment may be torn.
        if at == 511 {
            assert!(store.open().is_ok());
            continue;
        }
        let disk = store.disk();
        let refused = Db::open_on(Arc::clone(&disk), &options()).map(|db| db.stats());
        assert!(matches!(refused, Err(Error::NotHolotype { .. })), "a byte at {at}: {refused:?}");
        assert!(read_all(&disk) == store.bytes, "a byte at {at}: the file was written to");
    }
}
