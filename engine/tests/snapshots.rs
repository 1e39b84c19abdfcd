//! Snapshots, acknowledgement and the change feed, through the public face.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
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

#[test]
fn every_read_through_a_snapshot_answers_from_one_commit() {
    // spec: T-3.1
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

#[test]
fn a_snapshot_that_is_too_old_says_so_and_keeps_nothing() {
    // spec: T-3.4
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

#[cfg(feature = "testing")]
#[test]
fn where_a_watermark_finds_no_room_a_slot_attests_what_is_durable() {
    // spec: F-5.5
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
        let mut named = 0;
        while let Ok(first) = defer(kept, 8) {
            let sync = db.begin_sync().unwrap().expect("a commit waits for it");
            let second = defer(kept + 1, len);
            sync.finish().unwrap();
            let before = db.stats();
            first.wait().unwrap();
            kept += 1;
            let Ok(second) = second else { break };
            second.wait().unwrap();
            kept += 1;
            // A slot is written for a growth, too, in the round in which the file has grown.
            let rose = db.stats().superblock_generation > before.superblock_generation;
            by_slot += u64::from(rose && before.file_bytes == named);
            named = before.file_bytes;
        }
        drop(db);
        let db = Db::open_on(disk, &options).unwrap();
        assert_eq!(db.collection("a").keys(0..).map_or(0, Iterator::count), kept as usize);
    }
    assert!(by_slot > 0, "no length left too little room");
}

/// A disk whose syncs wait until they are let through, and may then fail.
#[derive(Debug, Default)]
struct Gated {
    inner: MemoryStorage,
    /// Syncs that may pass; none: all of them.
    gate: Mutex<Option<u64>>,
    opened: Condvar,
    waiting: AtomicU64,
    fails: AtomicBool,
}

impl Gated {
    fn shut(&self) {
        *self.gate.lock().unwrap() = Some(0);
    }

    fn let_one_through(&self) {
        *self.gate.lock().unwrap().as_mut().expect("it is shut") += 1;
        self.opened.notify_all();
    }

    fn open(&self) {
        *self.gate.lock().unwrap() = None;
        self.opened.notify_all();
    }

    /// Waits until somebody waits for the disk.
    fn wait_for_a_sync(&self) {
        while self.waiting.load(Ordering::Acquire) == 0 {
            std::thread::yield_now();
        }
    }
}

impl Storage for Gated {
    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.inner.set_len(len)
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<usize> {
        self.inner.read_at(offset, out)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        self.inner.write_at(offset, bytes)
    }

    fn sync(&self) -> io::Result<()> {
        let mut gate = self.gate.lock().unwrap();
        self.waiting.fetch_add(1, Ordering::AcqRel);
        while *gate == Some(0) {
            gate = self.opened.wait(gate).unwrap();
        }
        if let Some(left) = gate.as_mut() {
            *left -= 1;
        }
        self.waiting.fetch_sub(1, Ordering::AcqRel);
        if self.fails.load(Ordering::Acquire) {
            return Err(io::Error::other("unplugged"));
        }
        self.inner.sync()
    }
}

/// A store on a disk whose syncs can be held up, with document `x` in `a`.
fn gated() -> (Arc<Gated>, Db) {
    let disk = Arc::new(Gated::default());
    let db = Db::open_on(Arc::clone(&disk), &Options::new().background(Background::Manual)).unwrap();
    db.collection("a").put("x", n(0)).unwrap();
    db.flush().unwrap();
    (disk, db)
}

#[test]
fn a_synced_commit_is_seen_once_it_is_durable_and_weaker_ones_wait_behind_it() {
    // spec: T-4.1, T-4.2
    let (disk, db) = gated();
    let a = db.collection("a");
    let written = a.clone().with_durability(Durability::Written);
    disk.shut();
    std::thread::scope(|scope| {
        let first = scope.spawn(|| a.put("x", n(1)).unwrap());
        disk.wait_for_a_sync();
        let before = db.stats().lsn;
        let weaker = scope.spawn(|| written.put("y", n(2)).unwrap());
        // The writer goes on: the second commit is placed while the first one's sync is under way.
        while pending(&db) < 2 {
            std::thread::yield_now();
        }
        assert_eq!(value_of(a.get("x").unwrap()), Some(0), "pending");
        assert!(a.get("y").unwrap().is_none() && !a.contains("y").unwrap());
        assert_eq!((a.len().unwrap(), values(a.scan(..).unwrap())), (1, vec![0]));
        assert_eq!(db.stats().lsn, before);
        assert!(!first.is_finished() && !weaker.is_finished());
        disk.open();
    });
    assert_eq!(values(a.scan(..).unwrap()), [1, 2]);
}

/// How many commits are placed and not visible.
fn pending(db: &Db) -> u64 {
    db.stats().pending_commits
}

#[test]
fn the_next_writer_builds_on_what_is_not_visible_yet_and_waits_for_it() {
    // spec: T-4.4
    let (disk, db) = gated();
    let a = db.collection("a");
    disk.shut();
    std::thread::scope(|scope| {
        let first = scope.spawn(|| a.insert_with_key("k", n(1)).unwrap());
        disk.wait_for_a_sync();
        let refused = scope.spawn(|| a.insert_with_key("k", n(2)));
        let rolled_back = scope.spawn(|| {
            let tx = db.begin_write().unwrap();
            let seen = value_of(tx.collection("a").get("k").unwrap());
            tx.rollback().unwrap();
            seen
        });
        for _ in 0..1000 {
            std::thread::yield_now();
        }
        assert!(!first.is_finished() && !refused.is_finished() && !rolled_back.is_finished());
        disk.open();
        assert!(matches!(refused.join().unwrap(), Err(Error::KeyExists { .. })));
        assert_eq!(rolled_back.join().unwrap(), Some(1));
    });
}

#[test]
fn commits_that_wait_share_a_sync_and_no_sync_vouches_for_what_came_after_it_began() {
    // spec: T-4.3
    let (disk, db) = gated();
    let a = db.collection("a");
    disk.shut();
    let syncs = db.stats().syncs;
    std::thread::scope(|scope| {
        let first = scope.spawn(|| a.insert(n(1)).unwrap());
        disk.wait_for_a_sync();
        let others: Vec<_> = (2..=5)
            .map(|i| {
                scope.spawn({
                    let a = &a;
                    move || a.insert(n(i)).unwrap()
                })
            })
            .collect();
        while pending(&db) < 5 {
            std::thread::yield_now();
        }
        disk.let_one_through();
        first.join().unwrap();
        assert_eq!(a.len().unwrap(), 2, "the first sync is for the first commit alone");
        assert!(others.iter().all(|other| !other.is_finished()));
        disk.open();
    });
    assert_eq!(a.len().unwrap(), 6);
    assert_eq!(db.stats().syncs - syncs, 2, "the others share one");
}

#[test]
fn a_failed_sync_fails_everybody_who_waits_and_shows_nothing() {
    // spec: T-4.5
    let (disk, db) = gated();
    let a = db.collection("a");
    disk.shut();
    std::thread::scope(|scope| {
        let waiting: Vec<_> = (1..=4)
            .map(|i| {
                scope.spawn({
                    let a = &a;
                    move || a.put("x", n(i))
                })
            })
            .collect();
        let flush = scope.spawn(|| db.flush());
        while pending(&db) < 4 {
            std::thread::yield_now();
        }
        disk.fails.store(true, Ordering::Release);
        disk.open();
        for waiter in waiting {
            assert!(matches!(waiter.join().unwrap(), Err(Error::Io { .. } | Error::Poisoned { .. })));
        }
        assert!(flush.join().unwrap().is_err());
    });
    disk.fails.store(false, Ordering::Release);
    assert!(matches!(a.put("x", n(9)), Err(Error::Poisoned { .. })));
    assert_eq!(value_of(a.get("x").unwrap()), Some(0));
    assert_eq!(values(db.snapshot().collection("a").unwrap().scan(..).unwrap()), [0]);
}

#[test]
fn a_pending_change_of_the_catalog_is_not_seen_either() {
    let (disk, db) = gated();
    let (a, b) = (db.collection("a"), db.collection("b"));
    assert!(a.contains("x").unwrap(), "the handle knows what its name means");
    disk.shut();
    std::thread::scope(|scope| {
        scope.spawn(|| db.rename_collection("a", "b").unwrap());
        disk.wait_for_a_sync();
        assert!(a.contains("x").unwrap());
        assert!(matches!(b.contains("x"), Err(Error::UnknownCollection { .. })));
        assert_eq!(db.collections(), ["a"]);
        disk.open();
    });
    assert!(b.contains("x").unwrap());
    assert!(matches!(a.contains("x"), Err(Error::UnknownCollection { .. })));
}

#[test]
fn buffered_commits_become_durable_by_themselves() {
    // spec: T-4.7
    let options = Options::new().durability(Durability::Buffered).flush_interval(Duration::from_millis(1));
    let db = Db::open_on(MemoryStorage::new(), &options).unwrap();
    db.collection("a").insert(n(1)).unwrap();
    while db.stats().durable_lsn < db.stats().lsn {
        std::thread::sleep(Duration::from_millis(1));
    }
    db.close().unwrap();
}

#[test]
fn a_feed_shows_every_commit_once_and_can_be_resumed() {
    // spec: T-5.1, T-5.2
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
fn a_feed_shows_nothing_that_is_pending() {
    // spec: T-5.1
    let (disk, db) = gated();
    let mut watch = db.watch(db.stats().lsn).unwrap();
    disk.shut();
    std::thread::scope(|scope| {
        scope.spawn(|| db.collection("a").put("x", n(1)).unwrap());
        disk.wait_for_a_sync();
        assert!(watch.try_next().unwrap().is_none());
        disk.open();
    });
    assert!(watch.try_next().unwrap().is_some());
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
fn a_deferred_commit_is_told_when_it_is_durable_to_threads_and_to_tasks() {
    let (disk, db) = gated();
    let commit = |key: &str| {
        let tx = db.begin_write().unwrap();
        tx.collection("a").put(key, n(1)).unwrap();
        tx.commit_deferred().unwrap()
    };
    disk.shut();
    let (first, mut second) = (commit("k"), commit("l"));
    assert!(!first.is_durable().unwrap());
    assert!(!db.collection("a").contains("k").unwrap());
    let woken = Arc::new(Woken::default());
    let waker = std::task::Waker::from(Arc::clone(&woken));
    let mut task = std::task::Context::from_waker(&waker);
    assert!(std::pin::Pin::new(&mut second).poll(&mut task).is_pending());
    disk.open();
    let lsn = first.lsn();
    assert_eq!(first.wait().unwrap(), lsn);
    assert!(db.collection("a").contains("k").unwrap());
    assert!(woken.0.load(Ordering::Acquire), "one sync was for both");
    let lsn = second.lsn();
    assert!(second.is_durable().unwrap());
    assert!(
        matches!(std::pin::Pin::new(&mut second).poll(&mut task), std::task::Poll::Ready(Ok(done)) if done == lsn)
    );
}

#[derive(Debug, Default)]
struct Woken(AtomicBool);

impl std::task::Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Release);
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
