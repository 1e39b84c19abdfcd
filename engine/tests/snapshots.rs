//! Snapshots and the change feed, through the public face. What is seen while a sync is under way: `waiting.rs`.

use std::sync::Arc;
use std::time::Duration;

use holotype::storage::{MemoryStorage, Storage};
use holotype::{Background, Change, Db, Document, Durability, Error, Key, Options, doc};

fn n(value: i64) -> Document {
    doc! { "n": value }
}

fn value_of(document: Option<holotype::DocRef>) -> Option<i64> {
    document?.get("n")?.as_i64()
}

fn values(scan: holotype::Scan) -> Vec<i64> {
    scan.map(|doc| value_of(doc.ok()).unwrap()).collect()
}

//= spec/transactions.md#t-3-1-one-state
//# Every read through a snapshot MUST answer from one state: the visible state of the moment at which the
//# snapshot was taken.
//= spec/transactions.md#t-3-2-nobody-waits
//# A snapshot MUST NOT keep a writer or another reader waiting, however long it lives; nor they it.
#[test]
fn every_read_through_a_snapshot_answers_from_one_commit() {
    let db = Db::in_memory();
    let a = db.collection("a");
    a.put_many((1..=5).map(|key| (key, n(key)))).unwrap();
    let old = db.snapshot();
    a.put(2, n(20)).unwrap();
    a.delete(3).unwrap();
    a.insert(n(60)).unwrap();
    let between = db.snapshot();
    a.put(2, n(200)).unwrap();
    db.rename_collection("a", "b").unwrap();
    db.drop_collection("b").unwrap();

    let view = old.collection("a").unwrap();
    assert_eq!(values(view.scan(..).unwrap()), [1, 2, 3, 4, 5]);
    assert_eq!(values(view.scan(2..4).unwrap().reversed()), [3, 2]);
    assert_eq!(value_of(view.get(2).unwrap()), Some(2));
    assert!(view.contains(3).unwrap() && !view.contains(6).unwrap());
    assert_eq!(view.len().unwrap(), 5);
    assert_eq!(old.collections().unwrap(), ["a"]);
    let view = between.collection("a").unwrap();
    assert_eq!(values(view.scan(..).unwrap()), [1, 20, 4, 5, 60]);
    assert_eq!(view.keys(..).unwrap().count(), 5);
    assert_eq!(view.len().unwrap(), 5);
    assert!(matches!(between.collection("b"), Err(Error::UnknownCollection { .. })));
    assert!(old.lsn() < between.lsn());
    assert_eq!(db.collections(), Vec::<String>::new());
}

#[test]
fn snapshots_say_what_they_keep_and_keep_nothing_once_they_are_gone() {
    // spec: T-3.3
    let db = Db::in_memory();
    let a = db.collection("a");
    a.insert_many((1..=100).map(n)).unwrap();
    let snapshot = db.snapshot();
    let of_a_view = snapshot.clone().collection("a").unwrap();
    assert_eq!(db.snapshots()[0].retained_versions, 0, "what is not replaced costs nothing");
    for key in 1..=10 {
        a.put(key, n(0)).unwrap();
        a.put(key, n(1)).unwrap();
    }
    let infos = db.snapshots();
    assert_eq!(infos.len(), 1);
    assert_eq!((infos[0].lsn, infos[0].retained_versions), (snapshot.lsn(), 10));
    assert!(infos[0].pinned_bytes > 0 && infos[0].age < Duration::from_secs(3600));
    drop(snapshot);
    assert_eq!(values(of_a_view.scan(..).unwrap()).iter().sum::<i64>(), 5050, "a view holds its snapshot");
    drop(of_a_view);
    assert_eq!(db.snapshots(), []);
    assert_eq!(db.stats().retained_versions, 0);
}

#[test]
fn a_scan_is_a_snapshot_for_as_long_as_it_goes_on() {
    // spec: T-3.5
    let db = Db::in_memory();
    let a = db.collection("a");
    a.insert_many((1..=1000).map(n)).unwrap();
    let mut scan = a.scan(..).unwrap();
    scan.next().unwrap().unwrap();
    a.clear().unwrap();
    a.insert(n(0)).unwrap();
    assert_eq!(db.snapshots().len(), 1);
    assert_eq!(scan.count(), 999);
    assert_eq!(db.snapshots(), []);
}

//= spec/transactions.md#t-3-4-too-old
//# Every read through it from then on MUST be refused as `SnapshotTooOld`; none MUST answer from another
//# state.
#[test]
fn a_snapshot_that_is_too_old_says_so_and_keeps_nothing() {
    let options = Options::new().snapshot_max_age(Duration::ZERO);
    let db = Db::open_on(MemoryStorage::new(), &options).unwrap();
    let a = db.collection("a");
    a.put("x", n(1)).unwrap();
    let snapshot = db.snapshot();
    a.put("x", n(2)).unwrap();
    assert!(matches!(snapshot.collection("a"), Err(Error::SnapshotTooOld { lsn }) if lsn == snapshot.lsn()));
    assert_eq!(db.snapshots(), []);
    assert_eq!(db.stats().retained_versions, 0);
    let patient = Options::new().snapshot_max_age(Duration::from_secs(86_400));
    let db = Db::open_on(MemoryStorage::new(), &patient).unwrap();
    db.collection("a").put("x", n(1)).unwrap();
    assert!(db.snapshot().collection("a").unwrap().contains("x").unwrap());
}

/// The switch of a mistake, for as long as this lives.
#[cfg(feature = "seeded")]
fn mistaken(bug: holotype::seeded::Bug) -> impl Drop {
    struct Off;
    impl Drop for Off {
        fn drop(&mut self) {
            holotype::seeded::switch_on(None);
        }
    }
    holotype::seeded::switch_on(Some(bug));
    Off
}

#[cfg(feature = "seeded")]
#[test]
fn a_snapshot_that_answers_after_its_end_is_noticed() {
    let _off = mistaken(holotype::seeded::Bug::EndedSnapshotAnswers);
    let test = std::panic::catch_unwind(a_snapshot_that_is_too_old_says_so_and_keeps_nothing);
    assert!(test.is_err(), "the check cannot fail");
}

#[cfg(all(feature = "testing", feature = "seeded"))]
#[test]
fn where_a_watermark_finds_no_room_a_slot_attests_what_is_durable() {
    // spec: F-5.5. Ordinary commits leave a reserve, so that only deletes can get there; without it, any commit can.
    let _off = mistaken(holotype::seeded::Bug::NoReserve);
    let mut by_slot = 0;
    // Of any length, in files of one to four segments, so that some commit leaves just too little room behind it.
    for (segments, len) in (1..=4).flat_map(|segments| (0..448).step_by(8).map(move |len| (segments, len))) {
        let options = Options::tiny().max_file_bytes((16 << 10) + 512 * segments);
        let disk = Arc::new(MemoryStorage::new());
        let db = Db::open_on(Arc::clone(&disk), &options).unwrap();
        let defer = |key: i64, len: usize| {
            let tx = db.begin_write()?;
            // The first record of a frame is begun with room to spare; the next one may fill the segment to its end.
            tx.collection("a").put(-1, n(0))?;
            tx.collection("a").put(key, doc! { "b": vec![7_u8; len] })?;
            tx.commit_deferred()
        };
        let mut kept = 0;
        while let Ok(first) = defer(kept, 8) {
            let sync = db.begin_sync().unwrap().expect("a commit waits for it");
            // It has written a slot if the file had grown.
            let named = db.stats().file_bytes;
            let second = defer(kept + 1, len);
            sync.finish().unwrap();
            let generation = db.stats().superblock_generation;
            first.wait().unwrap();
            kept += 1;
            let Ok(second) = second else { break };
            second.wait().unwrap();
            kept += 1;
            let after = db.stats();
            // What has grown since then, for the commit or for its watermark, is a reason for a slot as well.
            let has_grown = after.file_bytes > named;
            by_slot += u64::from(after.superblock_generation > generation && !has_grown);
        }
        drop(db);
        let db = Db::open_on(disk, &options).unwrap();
        assert_eq!(db.collection("a").keys(0..).map_or(0, Iterator::count), kept as usize);
    }
    assert!(by_slot > 0, "no length left too little room");
}

//= spec/transactions.md#t-4-7-buffered-commits
//# A store SHOULD make `Buffered` commits durable within a stated interval, and MUST hand them over once a
//# stated number of bytes is waiting.
#[test]
fn buffered_commits_become_durable_by_themselves() {
    let options = Options::new().durability(Durability::Buffered).flush_interval(Duration::from_millis(1));
    let db = Db::open_on(MemoryStorage::new(), &options).unwrap();
    db.collection("a").insert(n(1)).unwrap();
    while db.stats().durable_lsn < db.stats().lsn {
        std::thread::sleep(Duration::from_millis(1));
    }
    db.close().unwrap();
}

//= spec/format.md#f-6-6-replaced-version
//# A put, delete or relocated put MUST name the version that its key has before it, if there is one, and none
//# if there is none.
//= spec/transactions.md#t-5-1-what-it-shows
//# A feed from LSN `n` MUST show every visible commit above `n` that changes the state, each once, in LSN
//# order, and nothing that is not visible.
//= spec/transactions.md#t-5-2-resuming
//# A feed from the LSN of the last commit that a feed has shown MUST go on behind that commit.
//= spec/transactions.md#t-5-3-gone
//# An LSN that the store has never given, or that a crash took back, MUST be refused as `LsnUnknown`.
#[test]
fn a_feed_shows_every_commit_once_and_can_be_resumed() {
    let disk = Arc::new(MemoryStorage::new());
    let options = Options::new().segment_bytes(64 << 10);
    let db = Db::open_on(Arc::clone(&disk), &options).unwrap();
    let a = db.collection("a");
    let mut watch = db.watch(0).unwrap();
    assert!(watch.try_next().unwrap().is_none());
    a.put("x", n(1)).unwrap();
    a.put("x", n(2)).unwrap();
    a.delete("x").unwrap();
    let next = |watch: &mut holotype::Watch| watch.try_next().unwrap().expect("a commit").changes;
    let first = next(&mut watch);
    let [Change::Create { collection, name }, Change::Put { at, replaced: None, .. }] = &first[..] else {
        panic!("{first:?}")
    };
    assert_eq!(name, "a");
    let second = next(&mut watch);
    let [Change::Put { at: newer, replaced: Some(older), key, .. }] = &second[..] else {
        panic!("{second:?}")
    };
    assert_eq!((older, key), (at, &Key::from("x")));
    assert_eq!(value_of(db.document_at(*at).unwrap()), Some(1), "superseded, and still in the log");
    let resumed = watch.lsn();
    let expected = Change::Delete { collection: *collection, key: Key::from("x"), replaced: Some(*newer) };
    assert_eq!(next(&mut watch), std::slice::from_ref(&expected));
    assert!(watch.try_next().unwrap().is_none());

    // Across segments, a commit of several parts, and another life of the store.
    a.insert_many((0..300).map(|i| doc! { "n": i, "b": vec![0_u8; 500] })).unwrap();
    drop(watch);
    db.close().unwrap();
    let db = Db::open_on(disk, &options).unwrap();
    db.collection("a").insert(n(7)).unwrap();
    let mut watch = db.watch(resumed).unwrap();
    assert_eq!(next(&mut watch), [expected]);
    assert_eq!(next(&mut watch).len(), 300);
    assert_eq!(next(&mut watch).len(), 1);
    assert!(watch.try_next().unwrap().is_none());
    let newest = db.watch(db.stats().lsn).unwrap().try_next().unwrap();
    assert!(newest.is_none());
    assert!(matches!(db.watch(u64::MAX), Err(Error::LsnUnknown { .. })));
    assert!(matches!(db.watch(resumed - 1_000_000), Err(Error::LsnUnknown { .. })));
}

#[test]
fn a_feed_passes_over_no_commit_that_stands_before_an_opening_frame() {
    // spec: T-5.1. Two commits of one hand-over share a sector; the next life of the store begins at the next sector.
    let disk = Arc::new(MemoryStorage::new());
    for life in 0..3 {
        let db = Db::open_on(Arc::clone(&disk), &Options::new()).unwrap();
        let a = db.collection("a").with_durability(Durability::Buffered);
        for _ in 0..3 {
            a.insert(n(life)).unwrap();
        }
        let mut watch = db.watch(0).unwrap();
        let shown = std::iter::from_fn(|| watch.try_next().unwrap()).count() as i64;
        assert_eq!(shown, 3 * (life + 1));
        db.close().unwrap();
    }
}

//= spec/transactions.md#t-5-4-nobody-waits
//# A feed MUST NOT keep a writer waiting.
#[test]
fn a_feed_can_wait_for_the_next_commit() {
    let db = Db::in_memory();
    let mut watch = db.watch(0).unwrap();
    assert!(watch.wait_next(Duration::ZERO).unwrap().is_none());
    std::thread::scope(|scope| {
        let waiter =
            scope.spawn(|| watch.wait_next(Duration::MAX).unwrap().expect("one comes").changes.len());
        db.collection("a").insert(n(1)).unwrap();
        assert_eq!(waiter.join().unwrap(), 2);
    });
}

#[test]
fn a_handle_that_goes_while_its_thread_flushes_lets_the_file_go() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s.holo");
    let options = Options::new().durability(Durability::Buffered).flush_interval(Duration::from_millis(1));
    for round in 1..=20 {
        let db = Db::open_with(&path, &options).unwrap();
        assert_eq!(db.collection("a").insert(n(round)).unwrap(), Key::Int(round));
    }
}

#[test]
fn a_task_that_waits_has_the_stores_own_thread_sync_for_it() {
    // An executor of one task: it sleeps until it is woken.
    let db =
        Db::open_on(MemoryStorage::new(), &Options::new().flush_interval(Duration::from_secs(3600))).unwrap();
    let tx = db.begin_write().unwrap();
    tx.collection("a").put("x", n(1)).unwrap();
    let mut ticket = tx.commit_deferred().unwrap();
    struct Unpark(std::thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = std::task::Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut task = std::task::Context::from_waker(&waker);
    while std::pin::Pin::new(&mut ticket).poll(&mut task).is_pending() {
        std::thread::park();
    }
    assert!(db.collection("a").contains("x").unwrap());
}

/// The file as it is handed to the operating system, opened as after the end of the process.
fn as_handed_over(disk: &MemoryStorage) -> Db {
    let mut bytes = vec![0; disk.len().unwrap() as usize];
    let mut done = 0;
    while done < bytes.len() {
        done += disk.read_at(done as u64, &mut bytes[done..]).unwrap();
    }
    let copy = MemoryStorage::new();
    let mut done = 0;
    while done < bytes.len() {
        done += copy.write_at(done as u64, &bytes[done..]).unwrap();
    }
    Db::open_on(copy, &Options::new().background(Background::Manual)).unwrap()
}

//= spec/transactions.md#t-4-7-buffered-commits
//# A store SHOULD make `Buffered` commits durable within a stated interval, and MUST hand them over once a
//# stated number of bytes is waiting.
#[test]
fn what_is_buffered_is_handed_over_once_enough_of_it_waits() {
    let disk = Arc::new(MemoryStorage::new());
    let options = Options::new().durability(Durability::Buffered).flush_bytes(1000);
    let db = Db::open_on(Arc::clone(&disk), &options.background(Background::Manual)).unwrap();
    let a = db.collection("a");
    for key in 0..50 {
        a.put(key, doc! { "b": vec![7_u8; 100] }).unwrap();
    }
    let there = as_handed_over(&disk).collection("a").len().unwrap();
    assert!((40..50).contains(&there), "{there} of 50");
}

//= spec/transactions.md#t-5-3-gone
//# A feed from an LSN behind which part of the log is no longer in place MUST be refused as `LsnGone`, which
//# names the oldest LSN that it can begin with.
#[test]
fn a_feed_from_a_part_of_the_log_that_is_gone_says_where_it_can_begin() {
    let options = Options::new().sector(64).segment_bytes(1024).background(Background::Manual);
    let db = Db::open_on(MemoryStorage::new(), &options).unwrap();
    let a = db.collection("a");
    a.put("x", n(0)).unwrap();
    let early = db.stats().lsn;
    for round in 0..200 {
        a.put("x", n(round)).unwrap();
    }
    db.compact().unwrap();
    for from in [0, early] {
        let refused = db.watch(from).unwrap_err();
        let Error::LsnGone { lsn, oldest } = refused else { panic!("{refused}") };
        assert!(lsn == from && oldest > early, "{oldest:x} after {early:x}");
        let mut watch = db.watch(oldest).unwrap_or_else(|error| panic!("{oldest:x}: {error}"));
        a.put("y", n(1)).unwrap();
        let shown = std::iter::from_fn(|| watch.try_next().unwrap()).last().expect("the last one at least");
        assert_eq!(shown.lsn, db.stats().lsn);
    }
}

//= spec/transactions.md#t-5-3-gone
//# An LSN that the store has never given, or that a crash took back, MUST be refused as `LsnUnknown`.
#[test]
fn a_feed_from_a_commit_that_a_crash_took_back_is_refused() {
    let disk = Arc::new(MemoryStorage::new());
    let options = Options::new().durability(Durability::Buffered).background(Background::Manual);
    let db = Db::open_on(Arc::clone(&disk), &options).unwrap();
    db.collection("a").put("x", n(1)).unwrap();
    db.flush().unwrap();
    let kept = db.stats().lsn;
    db.collection("a").put("x", n(2)).unwrap();
    let lost = db.stats().lsn;
    let after = as_handed_over(&disk);
    assert!(matches!(after.watch(lost), Err(Error::LsnUnknown { lsn }) if lsn == lost));
    after.collection("a").put("x", n(3)).unwrap();
    assert!(after.stats().lsn > lost, "what comes now has another number");
    assert!(matches!(after.watch(lost), Err(Error::LsnUnknown { lsn }) if lsn == lost));
    assert_eq!(after.watch(kept).unwrap().try_next().unwrap().unwrap().lsn, after.stats().lsn);
}
