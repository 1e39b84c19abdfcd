//! A backup is the store as of one commit, whatever goes on meanwhile; it is a store like any other; and whatever hinders it leaves nothing behind.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use holotype::storage::sim::{FaultKind, FaultPlan, Nth, SimDisk};
use holotype::storage::{MemoryStorage, Storage};
use holotype::{Background, Db, Error, Key, Options, Value, doc};

type Contents = BTreeMap<Key, i64>;

fn tiny() -> Options {
    Options::tiny().background(Background::Manual).checkpoint_bytes(2048)
}

fn contents(db: &Db) -> Contents {
    let Ok(scan) = db.collection("a").scan(..) else { return Contents::new() };
    scan.map(|doc| {
        let doc = doc.expect("every document can be read");
        (doc.key().to_key(), doc.get("n").and_then(|n| n.as_i64()).expect("each has a number"))
    })
    .collect()
}

fn put(db: &Db, id: i64, n: i64, len: usize) {
    db.collection("a")
        .put(id, doc! { "n": n, "p": Value::Bytes(vec![n as u8; len]) })
        .expect("there is room");
}

/// A store whose segments were cleaned and reused, with a long document and a log behind its newest checkpoint.
fn fill(db: &Db) {
    for round in 0..3 {
        for id in 1..=30 {
            put(db, id, round * 100 + id, 20);
        }
        put(db, 31, round, 1200);
        for _ in 0..200 {
            if !db.maintain().expect("nothing hinders it") {
                break;
            }
        }
    }
    db.checkpoint().expect("nothing hinders it");
    assert!(db.collection("a").delete(7).expect("nothing hinders it"));
    put(db, 8, 888, 30);
}

fn check(db: &Db, expected: &Contents, when: &str) {
    assert_eq!(&contents(db), expected, "{when}");
    let report = db.verify(true).expect("it can be read");
    assert!(report.is_clean(), "{when}: {:?}", report.problems);
}

fn names_in(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).expect("it is there");
    let mut names: Vec<_> =
        entries.map(|entry| entry.expect("it is there").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn bytes_of(storage: &dyn Storage) -> Vec<u8> {
    let mut bytes = vec![0; storage.len().expect("it has a length") as usize];
    let mut at = 0;
    while at < bytes.len() {
        at += storage.read_at(at as u64, &mut bytes[at..]).expect("it can be read");
    }
    bytes
}

#[test]
fn a_backup_is_a_store_of_its_own_that_goes_on() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name);
    let db = Db::open_with(path("a"), &tiny()).expect("a new store");
    fill(&db);
    let expected = contents(&db);
    let report = db.backup(path("b")).expect("nothing hinders it");
    assert!(report.is_complete && report.documents == expected.len() as u64 && report.bytes_copied > 0);
    assert_eq!((report.bytes_reused, report.lsn), (0, db.stats().lsn));
    let copy = Db::open_with(path("b"), &tiny()).expect("it is a store");
    check(&copy, &expected, "the copy");
    // Each goes its own way from here.
    for round in 0..3 {
        for id in 1..=30 {
            put(&copy, id, 1000 * round + id, 25);
        }
        while copy.maintain().expect("nothing hinders it") {}
    }
    copy.compact().expect("nothing hinders it");
    let later = contents(&copy);
    copy.close().expect("nothing hinders it");
    check(&Db::open_with(path("b"), &tiny()).expect("it is a store"), &later, "the copy, opened again");
    check(&db, &expected, "the store");
    assert_eq!(names_in(directory.path()), ["a", "b"]);
}

#[test]
fn a_store_without_a_checkpoint_or_without_anything_can_be_copied() {
    for documents in [0, 3] {
        let db = Db::open_on(MemoryStorage::new(), &tiny().segment_bytes(4096)).expect("a new store");
        for id in 0..documents {
            put(&db, id, id, 10);
        }
        let copy = Arc::new(MemoryStorage::new());
        let report = db.backup_to(&copy, None).expect("nothing hinders it");
        assert_eq!(report.documents, documents as u64);
        let copy = Db::open_on(copy, &tiny()).expect("it is a store");
        check(&copy, &contents(&db), "the copy");
        put(&copy, 9, 9, 10);
    }
}

//= spec/space.md#p-4-4-backups
//# Until a backup has copied the last of it, a writer MUST NOT give out the place of a log segment that was
//# in place when the backup began, nor that of a checkpoint that a slot named then.
#[test]
fn what_is_written_cleaned_and_checkpointed_meanwhile_is_not_in_the_backup() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name);
    let db = Db::open_with(path("a"), &tiny()).expect("a new store");
    fill(&db);
    let expected = contents(&db);
    let mut n = 5000;
    let report = db.backup_with(path("b"), |progress| {
        assert!(progress.bytes_done <= progress.bytes_total);
        for id in 1..=10 {
            n += 1;
            put(&db, id, n, 40);
        }
        // Both checkpoints that the backup reads are named no more after two others.
        db.checkpoint().expect("nothing hinders it");
        for _ in 0..5 {
            db.maintain().expect("nothing hinders it");
        }
        ControlFlow::Continue(())
    });
    assert!(report.expect("nothing hinders it").is_complete);
    check(&Db::open_with(path("b"), &tiny()).expect("it is a store"), &expected, "the copy");
    assert_ne!(contents(&db), expected);
    let free = db.stats().space.free_bytes;
    db.compact().expect("nothing hinders it");
    assert!(db.stats().file_bytes < db.stats().file_bytes + free, "what was held back is free again");
    check(&db, &contents(&db), "the store");
}

#[test]
fn either_checkpoint_of_a_backup_suffices() {
    let db = Db::open_on(MemoryStorage::new(), &tiny()).expect("a new store");
    fill(&db);
    put(&db, 40, 40, 10);
    db.checkpoint().expect("nothing hinders it");
    let copy = Arc::new(MemoryStorage::new());
    db.backup_to(&copy, None).expect("nothing hinders it");
    let whole = bytes_of(&*copy);
    let (_, newest, before) = slots(&whole)[0];
    assert_ne!(newest, before);
    for (at, len) in [root_of(newest), root_of(before)] {
        let root = at as usize..at as usize + len;
        copy.write_at(at, &vec![0; len]).expect("memory takes all");
        let opened = Db::open_on(Arc::clone(&copy), &tiny().read_only(true)).expect("one is left");
        assert_eq!(contents(&opened), contents(&db));
        // The other is told of.
        assert!(!opened.verify(true).expect("it can be read").is_clean());
        copy.write_at(at, &whole[root]).expect("memory takes all");
    }
}

#[test]
fn an_incremental_backup_reads_only_what_has_changed() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name);
    let db = Db::open_with(path("a"), &tiny()).expect("a new store");
    fill(&db);
    let full = db.backup(path("b")).expect("nothing hinders it");
    put(&db, 3, 4711, 10);
    let before = contents(&db);
    let little = db.backup_from(path("b"), path("c")).expect("nothing hinders it");
    // Index segments are copied whatever is in them.
    assert!(little.bytes_copied * 2 < full.bytes_copied && little.bytes_reused > 0, "{little:?}, {full:?}");
    fill(&db);
    let much = db.backup_from(path("c"), path("c")).expect("nothing hinders it");
    assert!(much.bytes_copied > little.bytes_copied);
    check(
        &Db::open_with(path("c"), &tiny()).expect("it is a store"),
        &contents(&db),
        "in the place of the earlier",
    );
    assert_ne!(contents(&db), before);
    assert_eq!(names_in(directory.path()), ["a", "b", "c"]);
}

//= spec/space.md#p-10-4-from-an-earlier-backup
//# A backup whose seal does not fit with the instance id of the source MUST be refused: it is of another
//# store or another branch of it, or was opened for writing since, which takes an incarnation.
#[test]
fn only_an_untouched_backup_of_this_very_store_is_gone_on_from() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name);
    let db = Db::open_with(path("a"), &tiny()).expect("a new store");
    fill(&db);
    db.backup(path("b")).expect("nothing hinders it");
    let refused = |db: &Db, earlier: &str| {
        let error = db.backup_from(path(earlier), path("c")).expect_err("it is none");
        assert!(matches!(error, Error::InvalidOption { option: "earlier", .. }), "{error}");
        assert!(!path("c").exists() && !path("c.partial").exists());
    };
    // One of another branch: the copy has become a store of its own.
    std::fs::copy(path("b"), path("d")).expect("there is room");
    let copy = Db::open_with(path("d"), &tiny()).expect("it is a store");
    refused(&copy, "b");
    // One that was written to.
    put(&copy, 1, 1, 10);
    copy.close().expect("nothing hinders it");
    refused(&db, "d");
    // Another store.
    let other = Db::open_with(path("e"), &tiny().seed(9)).expect("a new store");
    put(&other, 1, 1, 10);
    other.backup(path("f")).expect("nothing hinders it");
    refused(&db, "f");
    let unreadable = |earlier: &str| match db.backup_from(path(earlier), path("c")) {
        Err(Error::EarlierBackup { cause }) => *cause,
        other => panic!("{earlier}: {other:?}"),
    };
    assert!(matches!(unreadable("none"), Error::NotFound { .. }));
    assert!(matches!(unreadable("a"), Error::Locked { .. }));
    std::fs::write(path("zeros"), [0; 4096]).expect("there is room");
    assert!(matches!(unreadable("zeros"), Error::Incomplete));
    std::fs::write(path("text"), b"a letter").expect("there is room");
    assert!(matches!(unreadable("text"), Error::NotHolotype { .. }));
    assert!(!path("c").exists() && !path("c.partial").exists());
}

/// A backup gets its name by a link, and then its temporary name is removed: a process that is killed in between leaves
/// one file of two names.
#[test]
fn a_backup_that_was_killed_before_it_lost_its_temporary_name_is_gone_on_from() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name);
    let db = Db::open_with(path("a"), &tiny()).expect("a new store");
    fill(&db);
    db.backup(path("b")).expect("nothing hinders it");
    std::fs::hard_link(path("b"), path("b.partial")).expect("the file system has links");
    put(&db, 1, 1, 10);
    db.backup_from(path("b"), path("b")).expect("it is a whole backup");
    assert_eq!(names_in(directory.path()), ["a", "b"]);
    let copy = Db::open_with(path("b"), &tiny()).expect("it is a store");
    check(&copy, &contents(&db), "the copy");
}

//= spec/space.md#p-10-3-order
//# A backup MUST NOT replace a file, unless it is the earlier backup that it was asked to go on from.
#[test]
fn nothing_is_replaced_and_nothing_left_behind() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name);
    let db = Db::open_with(path("a"), &tiny()).expect("a new store");
    fill(&db);
    std::fs::write(path("b"), b"a file of somebody's").expect("there is room");
    for taken in ["a", "b"] {
        assert!(matches!(db.backup(path(taken)), Err(Error::CannotOpen { .. })));
    }
    assert_eq!(std::fs::read(path("b")).expect("it is there"), b"a file of somebody's");
    let cancelled = db.backup_with(path("c"), |_| ControlFlow::Break(())).expect("nothing hinders it");
    assert!(!cancelled.is_complete);
    assert!(matches!(db.backup(path("no/c")), Err(Error::NotFound { .. })));
    assert_eq!(names_in(directory.path()), ["a", "b"]);
    // What a killed process left behind is in nobody's way.
    std::fs::write(path("c.partial"), b"half").expect("there is room");
    db.backup(path("c")).expect("nothing hinders it");
    assert_eq!(names_in(directory.path()), ["a", "b", "c"]);
    check(&db, &contents(&db), "the store");
}

//= spec/space.md#p-10-2-what-it-holds
//# Before it takes its name it MUST be opened as any reader would, and every document in it read.
#[test]
fn damage_that_the_copy_would_have_is_told_and_no_copy_made() {
    let disk = Arc::new(MemoryStorage::new());
    let db = Db::open_on(Arc::clone(&disk), &tiny().cache_bytes(0)).expect("a new store");
    fill(&db);
    let bytes = bytes_of(&*disk);
    // One of these is the newest version of a document; the others were moved or superseded.
    for (at, _) in bytes.windows(20).enumerate().filter(|(_, window)| *window == [216u8; 20]) {
        disk.write_at(at as u64, &[0]).expect("memory takes all");
    }
    let directory = tempfile::tempdir().expect("a directory");
    let refused = db.backup(directory.path().join("b")).expect_err("it cannot be whole");
    assert!(matches!(refused, Error::Corrupt(_)), "{refused}");
    assert_eq!(names_in(directory.path()), Vec::<String>::new());
}

//= spec/space.md#p-10-5-the-source
//# A backup MUST NOT change what the source holds.
#[test]
fn a_backup_to_a_disk_that_is_too_small_is_refused_and_the_store_as_good_as_before() {
    let source = Arc::new(MemoryStorage::new());
    let db = Db::open_on(Arc::clone(&source), &tiny()).expect("a new store");
    fill(&db);
    let (expected, before) = (contents(&db), bytes_of(&*source));
    let counted = Arc::new(SimDisk::seeded(1));
    db.backup_to(&counted, None).expect("nothing hinders it");
    let mut failures = 0;
    for capacity in (0..counted.bytes().len() as u64).step_by(1777) {
        let disk = Arc::new(SimDisk::seeded(1));
        disk.set_capacity(Some(capacity));
        let refused = db.backup_to(&disk, None).expect_err("there is no room");
        assert!(matches!(refused, Error::StorageFull { .. }), "{refused}");
        failures += 1;
    }
    assert!(failures > 10);
    assert_eq!(bytes_of(&*source), before, "the store is not written to");
    check(&db, &expected, "the store");
    put(&db, 50, 50, 10);
}

#[test]
fn power_that_is_cut_behind_a_backup_takes_nothing_from_it_and_during_one_leaves_no_half_store() {
    let db = Db::open_on(MemoryStorage::new(), &tiny()).expect("a new store");
    fill(&db);
    let expected = contents(&db);
    for seed in 0..20 {
        let disk = Arc::new(SimDisk::seeded(seed));
        db.backup_to(&disk, None).expect("nothing hinders it");
        disk.sync_directory().expect("nothing hinders it");
        disk.cut_power();
        check(&Db::open_on(disk, &tiny()).expect("it is a store"), &expected, "after a power cut");
    }
    let mut cuts = 0;
    for call in 0.. {
        let disk = Arc::new(SimDisk::seeded(call));
        disk.sync_directory().expect("nothing hinders it");
        disk.set_faults(FaultPlan::none().once(Nth::Call(3 * call), FaultKind::PowerCut));
        if db.backup_to(&disk, None).is_ok() {
            break;
        }
        disk.crash();
        cuts += 1;
        // One slot is enough, if it is the last thing that is missing.
        if let Ok(copy) = Db::open_on(disk, &tiny().read_only(true)) {
            assert_eq!(contents(&copy), expected, "after a power cut in between, at call {}", 3 * call);
        }
    }
    assert!(cuts > 20);
}

/// Checks are shown to fail: each mistake that a backup could make turns one of the above red.
#[cfg(feature = "seeded")]
#[test]
fn every_seeded_mistake_of_a_backup_is_caught() {
    use holotype::seeded::{Bug, switch_on};
    let checks: [(Bug, fn()); 4] = [
        (Bug::BackupWithoutHold, what_is_written_cleaned_and_checkpointed_meanwhile_is_not_in_the_backup),
        (Bug::BackupUnchecked, damage_that_the_copy_would_have_is_told_and_no_copy_made),
        (Bug::IndexSegmentFromEarlier, an_index_segment_in_which_a_checkpoint_was_added_is_copied_anew),
        (Bug::BackupOfAnyBranch, only_an_untouched_backup_of_this_very_store_is_gone_on_from),
    ];
    for (bug, check) in checks {
        switch_on(Some(bug));
        let caught = std::panic::catch_unwind(check);
        switch_on(None);
        assert!(caught.is_err(), "{bug:?} turns no check red");
    }
}

//= spec/space.md#p-10-4-from-an-earlier-backup
//# It MUST be the same store, byte for byte within the segments, as one that takes nothing.
#[test]
fn an_incremental_backup_is_what_a_full_one_would_be() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name);
    let db = Db::open_with(path("a"), &tiny()).expect("a new store");
    fill(&db);
    db.backup(path("earlier")).expect("nothing hinders it");
    for id in 1..=10 {
        put(&db, id, 7000 + id, 25);
    }
    db.checkpoint().expect("nothing hinders it");
    let full = db.backup(path("full")).expect("nothing hinders it");
    let little = db.backup_from(path("earlier"), path("little")).expect("nothing hinders it");
    assert!(little.bytes_reused > 0 && little.bytes_copied < full.bytes_copied);
    let segments = |name: &str| std::fs::read(path(name)).expect("it is there")[16_384..].to_vec();
    assert!(segments("full") == segments("little"), "byte for byte");
}

/// Of a slot, the instance id and the two checkpoints that it names.
fn slots(bytes: &[u8]) -> Vec<(&[u8], &[u8], &[u8])> {
    let slot = |at: usize| (&bytes[at + 64..at + 80], &bytes[at + 384..at + 432], &bytes[at + 432..at + 480]);
    vec![slot(0), slot(4096)]
}

/// Where the last part of a root lies that a slot names like this, in segments of 512 bytes; and its length.
fn root_of(named: &[u8]) -> (u64, usize) {
    let field = |at: usize| u32::from_le_bytes(named[at..at + 4].try_into().expect("four bytes"));
    (16_384 + 512 * u64::from(field(8)) + u64::from(field(12)), field(36) as usize)
}

//= spec/space.md#p-10-4-from-an-earlier-backup
//# Index segments are copied from the source always.
#[test]
fn an_index_segment_in_which_a_checkpoint_was_added_is_copied_anew() {
    let options = tiny().segment_bytes(8192);
    let db = Db::open_on(MemoryStorage::new(), &options).expect("a new store");
    let next = |n: i64, from: Option<&Arc<MemoryStorage>>| {
        (1..=3).for_each(|id| put(&db, id, n, 10));
        db.checkpoint().expect("nothing hinders it");
        let copy = Arc::new(MemoryStorage::new());
        let earlier = from.map(|earlier| Box::new(Arc::clone(earlier)) as Box<dyn Storage>);
        db.backup_to(&copy, earlier).expect("nothing hinders it");
        let bytes = bytes_of(&*copy);
        let [newest, before] = [slots(&bytes)[0].1, slots(&bytes)[0].2].map(|named| named[8..12].to_vec());
        (copy, newest == before)
    };
    next(1, None);
    let (earlier, _) = next(2, None);
    let (copy, is_shared) = next(3, Some(&earlier));
    assert!(is_shared, "both named checkpoints are in one segment");
    check(&Db::open_on(copy, &options).expect("it is a store"), &contents(&db), "the copy");
}

//= spec/space.md#p-10-2-what-it-holds
//# Where the source names another that cannot be, it MUST name the readable one twice: a single name would
//# say that the log is complete from its creation on.
//= spec/space.md#p-10-2-what-it-holds
//# A writer MUST NOT copy a slot.
#[test]
fn a_checkpoint_that_cannot_be_read_is_not_named_by_the_backup() {
    let source = Arc::new(MemoryStorage::new());
    let db = Db::open_on(Arc::clone(&source), &tiny()).expect("a new store");
    fill(&db);
    put(&db, 40, 40, 10);
    db.checkpoint().expect("nothing hinders it");
    db.close().expect("nothing hinders it");
    let whole = bytes_of(&*source);
    let [_, (instance, newest, before)] = slots(&whole)[..] else { panic!("there are two") };
    assert!(newest != before && newest[..8] != [0; 8] && before[..8] != [0; 8]);
    for (damaged, sound) in [(newest, before), (before, newest)] {
        let (at, len) = root_of(damaged);
        source.write_at(at, &vec![0; len]).expect("memory takes all");
        let db = Db::open_on(Arc::clone(&source), &tiny()).expect("one is left");
        let copy = Arc::new(MemoryStorage::new());
        db.backup_to(&copy, None).expect("nothing hinders it");
        for (own, first, second) in slots(&bytes_of(&*copy)) {
            assert!(own != instance, "the slots are its own");
            assert!(first == sound && second == sound, "the one that can be read stands for both");
        }
        assert_eq!(contents(&Db::open_on(copy, &tiny()).expect("it is a store")), contents(&db));
        drop(db);
        source.write_at(0, &whole[..whole.len()]).expect("memory takes all");
    }
}
