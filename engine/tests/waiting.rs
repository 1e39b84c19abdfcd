//! Acknowledgement: who waits for what, what is seen meanwhile, and what becomes of those who wait when it goes wrong or is told in an
//! awkward place. Comments name the clause that a test shows.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use holotype::storage::{MemoryStorage, Storage};
use holotype::{Background, Db, Document, Durability, Error, Options, Ticket, doc};

fn n(value: i64) -> Document {
    doc! { "n": value }
}

fn value_of(document: Option<holotype::DocRef>) -> Option<i64> {
    document?.get("n")?.as_i64()
}

fn values(scan: holotype::Scan) -> Vec<i64> {
    scan.map(|doc| value_of(doc.ok()).unwrap()).collect()
}

/// How many commits are placed and not visible.
fn pending(db: &Db) -> u64 {
    db.stats().pending_commits
}

/// A disk that can be full, unplugged, or held up in its syncs, and whose driver can panic there.
#[derive(Debug, Default)]
struct Disk {
    inner: MemoryStorage,
    is_full: AtomicBool,
    is_unplugged: AtomicBool,
    sync_fails: AtomicBool,
    sync_panics: AtomicBool,
    /// Syncs that may pass; none: all of them.
    gate: Mutex<Option<u64>>,
    opened: Condvar,
    syncing: AtomicU64,
}

impl Disk {
    fn shut(&self) {
        *self.gate.lock().unwrap() = Some(0);
    }

    fn open(&self) {
        *self.gate.lock().unwrap() = None;
        self.opened.notify_all();
    }

    fn let_one_through(&self) {
        *self.gate.lock().unwrap().as_mut().expect("it is shut") += 1;
        self.opened.notify_all();
    }

    fn wait_for_a_sync(&self) {
        while self.syncing.load(Ordering::Acquire) == 0 {
            std::thread::yield_now();
        }
    }
}

impl Storage for Disk {
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
        if self.is_full.load(Ordering::Acquire) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        if self.is_unplugged.load(Ordering::Acquire) {
            return Err(io::Error::other("unplugged"));
        }
        self.inner.write_at(offset, bytes)
    }

    fn sync(&self) -> io::Result<()> {
        self.syncing.fetch_add(1, Ordering::AcqRel);
        let mut gate = self.gate.lock().unwrap();
        while *gate == Some(0) {
            gate = self.opened.wait(gate).unwrap();
        }
        gate.iter_mut().for_each(|left| *left -= 1);
        drop(gate);
        self.syncing.fetch_sub(1, Ordering::AcqRel);
        assert!(!self.sync_panics.load(Ordering::Acquire), "a driver with a bug");
        if self.sync_fails.load(Ordering::Acquire) {
            return Err(io::Error::other("unplugged"));
        }
        self.inner.sync()
    }
}

fn store(background: Background) -> (Arc<Disk>, Db) {
    let disk = Arc::new(Disk::default());
    let options = Options::new().background(background).flush_interval(Duration::from_secs(3600));
    let db = Db::open_on(Arc::clone(&disk), &options).unwrap();
    db.collection("a").put("x", n(0)).unwrap();
    (disk, db)
}

fn deferred(db: &Db, key: &str) -> Ticket {
    let tx = db.begin_write().unwrap();
    tx.collection("a").put(key, n(1)).unwrap();
    tx.commit_deferred().unwrap()
}

/// What `call` answers. A call that never returns fails the test.
fn within_seconds<R: Send + 'static>(call: impl FnOnce() -> R + Send + 'static) -> R {
    let (answer, answered) = mpsc::channel();
    std::thread::spawn(move || answer.send(call()));
    answered.recv_timeout(Duration::from_secs(20)).expect("it returns")
}

#[derive(Debug, Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}

impl Woken {
    /// Polls for a task that notes here that it was woken.
    fn poll(self: &Arc<Self>, ticket: &mut Ticket) -> Poll<holotype::Result<u64>> {
        Pin::new(ticket).poll(&mut Context::from_waker(&Waker::from(Arc::clone(self))))
    }

    fn is_set(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

//= spec/transactions.md#t-4-8-no-room
//# When there is no room to hand over what is pending, the pending commits MUST fail as `StorageFull`, all of
//# them, and be taken back: the state is as if they had never been placed (S-8.5).
//= spec/durability.md#d-6-3-a-failure-at-close
//# When a close fails, the store MUST report it.
#[test]
fn a_commit_that_a_close_takes_back_is_told_to_who_waits_for_it() {
    // spec: T-4.8. There is nothing left to sync then, so nobody would ever say more.
    let (disk, db) = store(Background::Manual);
    let (ticket, mut polled) = (deferred(&db, "k"), deferred(&db, "l"));
    let woken = Arc::new(Woken::default());
    assert!(woken.poll(&mut polled).is_pending());
    disk.is_full.store(true, Ordering::Release);
    assert!(matches!(db.clone().close(), Err(Error::StorageFull { .. })));
    assert!(matches!(within_seconds(move || ticket.wait()), Err(Error::StorageFull { .. })));
    assert!(woken.is_set());
    assert!(matches!(woken.poll(&mut polled), Poll::Ready(Err(Error::StorageFull { .. }))));
}

#[test]
fn a_refusal_that_rests_on_a_commit_that_is_taken_back_fails_with_it() {
    // spec: T-4.4, T-4.8. Whoever leads the sync that finds no room is told by it; the others must be told, too.
    for _ in 0..20 {
        let (disk, db) = store(Background::Manual);
        disk.shut();
        let first = deferred(&db, "k");
        let first = std::thread::spawn(move || first.wait());
        disk.wait_for_a_sync();
        let taken_back = deferred(&db, "l");
        let taken_back = std::thread::spawn(move || taken_back.wait());
        let refused = [db.clone(), db.clone()]
            .map(|db| std::thread::spawn(move || db.collection("a").insert_with_key("l", n(3))));
        std::thread::sleep(Duration::from_millis(5));
        disk.is_full.store(true, Ordering::Release);
        disk.open();
        within_seconds(|| first.join().unwrap()).unwrap();
        let full = within_seconds(|| taken_back.join().unwrap().map(|_| ()));
        assert!(matches!(full, Err(Error::StorageFull { .. })), "{full:?}");
        for refused in refused {
            let refused = within_seconds(|| refused.join().unwrap());
            // Who came only after the commit was gone has nothing to be refused for, but no room either.
            assert!(matches!(refused, Err(Error::StorageFull { .. })), "{refused:?}");
        }
    }
}

#[test]
fn a_commit_that_another_writer_made_durable_is_not_waited_for_on_a_full_disk() {
    // spec: T-4.1. The counts of an incarnation run out: the next writer syncs, and begins another.
    let disk = Arc::new(Disk::default());
    let db = Db::open_on(Arc::clone(&disk), &Options::tiny().count_max(6)).unwrap();
    let mut tickets = Vec::new();
    while db.stats().durable_lsn >> 32 < 2 {
        tickets.push(deferred(&db, "k"));
    }
    let newest = tickets.pop().unwrap();
    disk.is_full.store(true, Ordering::Release);
    for ticket in tickets {
        within_seconds(move || ticket.wait()).unwrap();
    }
    assert!(matches!(within_seconds(move || newest.wait()), Err(Error::StorageFull { .. })));
}

#[test]
fn a_task_is_told_when_another_handle_closes_the_store() {
    // spec: T-4.1
    let (_, db) = store(Background::Manual);
    let mut ticket = deferred(&db, "k");
    let woken = Arc::new(Woken::default());
    assert!(woken.poll(&mut ticket).is_pending());
    db.close().unwrap();
    assert!(woken.is_set() && ticket.is_durable().unwrap());
}

#[test]
fn a_task_is_told_when_a_write_that_nobody_synced_fails() {
    // spec: T-4.5
    let (disk, db) = store(Background::Manual);
    let mut ticket = deferred(&db, "k");
    let woken = Arc::new(Woken::default());
    assert!(woken.poll(&mut ticket).is_pending());
    disk.is_unplugged.store(true, Ordering::Release);
    let written = db.collection("a").with_durability(Durability::Written);
    assert!(written.put("l", n(1)).is_err());
    assert!(woken.is_set());
    assert!(matches!(woken.poll(&mut ticket), Poll::Ready(Err(Error::Poisoned { .. }))));
}

/// A task of an executor that goes on with it in the very call that wakes it.
#[derive(Default)]
struct Inline {
    ticket: Mutex<Option<Ticket>>,
    is_done: AtomicBool,
}

impl Wake for Inline {
    fn wake(self: Arc<Self>) {
        let mut ticket = self.ticket.lock().unwrap();
        let waker = Waker::from(Arc::clone(&self));
        if let Some(polled) = ticket.as_mut()
            && Pin::new(polled).poll(&mut Context::from_waker(&waker)).is_ready()
        {
            *ticket = None;
            self.is_done.store(true, Ordering::Release);
        }
    }
}

#[test]
fn a_task_may_go_on_in_the_call_that_wakes_it() {
    for is_full in [false, true] {
        let (disk, db) = store(Background::Manual);
        let task = Arc::new(Inline { ticket: Mutex::new(Some(deferred(&db, "k"))), ..Inline::default() });
        Arc::clone(&task).wake();
        disk.is_full.store(is_full, Ordering::Release);
        let written = db.collection("a").with_durability(Durability::Written);
        // The one is told by the leader of a sync, the other by a writer who found no room.
        let done = within_seconds(move || if is_full { written.put("l", n(1)) } else { db.flush() });
        assert_eq!(done.is_err(), is_full);
        assert!(task.is_done.load(Ordering::Acquire));
    }
}

/// A task that uses the store in the very call that wakes it.
struct Uses(Db, fn(&Db), AtomicBool);

impl Wake for Uses {
    fn wake(self: Arc<Self>) {
        (self.1)(&self.0);
        self.2.store(true, Ordering::Release);
    }
}

#[test]
fn a_task_may_take_steps_in_the_call_that_wakes_it() {
    // It is woken by a step, by a checkpoint, and by one who leads a sync that finds no room; and nobody is in its way then.
    let steps: [fn(&Db); 2] = [|db| _ = db.maintain(), |db| _ = db.checkpoint()];
    for (is_full, wakes) in [(false, steps[0]), (false, steps[1]), (true, |db| _ = db.flush())] {
        for uses in [steps[0], steps[1], |db| _ = db.flush(), |db| _ = db.collection("a").put("m", n(3))] {
            let (disk, db) = store(Background::Manual);
            let mut ticket = deferred(&db, "k");
            let task = Arc::new(Uses(db.clone(), uses, AtomicBool::new(false)));
            let waker = Waker::from(Arc::clone(&task));
            assert!(Pin::new(&mut ticket).poll(&mut Context::from_waker(&waker)).is_pending());
            disk.is_full.store(is_full, Ordering::Release);
            within_seconds(move || wakes(&db));
            assert!(task.2.load(Ordering::Acquire));
        }
    }
}

#[test]
fn the_last_handle_may_go_in_the_stores_own_thread() {
    // The thread wakes a task that gives up its ticket, and with it the store: it cannot wait for its own end.
    let (disk, db) = store(Background::Thread);
    disk.shut();
    #[derive(Default)]
    struct GivesUp(Mutex<Option<Ticket>>, AtomicBool);
    impl Wake for GivesUp {
        fn wake(self: Arc<Self>) {
            let ticket = self.0.lock().unwrap().take();
            drop(ticket);
            self.1.store(true, Ordering::Release);
        }
    }
    let task = Arc::new(GivesUp::default());
    let mut ticket = deferred(&db, "k");
    let waker = Waker::from(Arc::clone(&task));
    assert!(Pin::new(&mut ticket).poll(&mut Context::from_waker(&waker)).is_pending());
    *task.0.lock().unwrap() = Some(ticket);
    drop(db);
    disk.open();
    within_seconds(move || {
        while !task.1.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
    });
}

#[test]
fn a_storage_that_panics_in_a_sync_fails_those_who_wait_for_it() {
    // spec: T-4.5. Nobody knows what such a sync has done.
    let (disk, db) = store(Background::Manual);
    disk.sync_panics.store(true, Ordering::Release);
    disk.shut();
    let (leads, waits) = (deferred(&db, "k"), deferred(&db, "l"));
    let leads = std::thread::spawn(move || leads.wait());
    disk.wait_for_a_sync();
    let waits = std::thread::spawn(move || waits.wait());
    disk.open();
    assert!(leads.join().is_err(), "the panic goes to who led");
    let waited = within_seconds(|| waits.join().unwrap());
    assert!(matches!(waited, Err(Error::Poisoned { .. })), "{waited:?}");
    assert!(matches!(db.collection("a").put("m", n(1)), Err(Error::Poisoned { .. })));
}

//= spec/transactions.md#t-4-8-no-room
//# A transaction that began on top of them MUST fail at its commit.
#[test]
fn a_transaction_reads_nothing_more_once_the_ground_it_stands_on_is_taken_back() {
    // spec: T-2.3, T-4.8. What it would read now does not fit what it has read before.
    let (disk, db) = store(Background::Manual);
    let a = db.collection("a");
    a.put_many((0..600).map(|key| (key, n(key)))).unwrap();
    let ticket = deferred(&db, "k");
    let tx = db.begin_write().unwrap();
    let inside = tx.collection("a");
    assert!(inside.contains("k").unwrap());
    let (mut keys, mut scan) = (inside.keys(..).unwrap(), inside.scan(..).unwrap());
    assert!(keys.next().unwrap().is_ok() && scan.next().unwrap().is_ok());
    disk.is_full.store(true, Ordering::Release);
    assert!(matches!(ticket.wait(), Err(Error::StorageFull { .. })));
    let full =
        |refused: Option<Error>| assert!(matches!(refused, Some(Error::StorageFull { .. })), "{refused:?}");
    full(inside.contains("k").err());
    full(inside.len().err());
    full(keys.find_map(Result::err));
    full(scan.find_map(Result::err));
    assert!(keys.next().is_none() && scan.next().is_none());
    full(tx.commit().err());
}

#[test]
fn a_commit_behind_one_that_was_taken_back_with_a_segment_can_be_watched() {
    // spec: T-5.2, T-4.8
    let disk = Arc::new(Disk::default());
    let options = Options::new().segment_bytes(4096).background(Background::Manual);
    let db = Db::open_on(Arc::clone(&disk), &options).unwrap();
    let a = db.collection("a");
    a.put("x", n(0)).unwrap();
    let tx = db.begin_write().unwrap();
    tx.collection("a").insert_many((0..400).map(n)).unwrap();
    let ticket = tx.commit_deferred().unwrap();
    disk.is_full.store(true, Ordering::Release);
    assert!(matches!(ticket.wait(), Err(Error::StorageFull { .. })));
    disk.is_full.store(false, Ordering::Release);
    a.put("y", n(1)).unwrap();
    let mut watch = db.watch(a.get("y").unwrap().unwrap().version()).unwrap();
    assert!(watch.try_next().unwrap().is_none());
    a.put("z", n(2)).unwrap();
    assert!(watch.try_next().unwrap().is_some());
    let mut all = db.watch(0).unwrap();
    assert_eq!(std::iter::from_fn(|| all.try_next().unwrap()).count(), 3);
    assert!(db.verify(true).unwrap().is_clean());
}

#[test]
fn a_log_that_ends_with_a_watermark_is_sound() {
    // A commit placed while a sync is under way is handed over with a frame that says what that sync made durable.
    let (disk, db) = store(Background::Manual);
    disk.shut();
    let first = deferred(&db, "k");
    let first = std::thread::spawn(move || first.wait());
    disk.wait_for_a_sync();
    let second = deferred(&db, "l");
    disk.open();
    first.join().unwrap().unwrap();
    let lsn = second.wait().unwrap();
    assert!(db.stats().durable_lsn > lsn, "there is one");
    assert!(db.verify(true).unwrap().is_clean());
}

#[test]
fn readers_go_on_seeing_their_state_while_commits_are_placed_and_taken_back() {
    // spec: T-3.1, T-4.8. What a taken-back commit had superseded goes back into the index: no reader may miss it on its way.
    let (disk, db) = store(Background::Manual);
    let a = db.collection("a");
    a.put_many((1..=50).map(|key| (key, n(key)))).unwrap();
    let view = db.snapshot().collection("a").unwrap();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            while !is_over.load(Ordering::Acquire) {
                assert!(view.get(7).unwrap().is_some() && view.contains(8).unwrap());
                assert!(a.get(7).unwrap().is_some() && a.contains(8).unwrap());
                assert_eq!((view.keys(..).unwrap().count(), a.keys(..).unwrap().count()), (51, 51));
            }
        });
        for _ in 0..1_000 {
            let tx = db.begin_write().unwrap();
            tx.collection("a").delete(7).unwrap();
            tx.collection("a").put(8, n(0)).unwrap();
            let ticket = tx.commit_deferred().unwrap();
            disk.is_full.store(true, Ordering::Release);
            assert!(matches!(ticket.wait(), Err(Error::StorageFull { .. })));
            disk.is_full.store(false, Ordering::Release);
        }
        is_over.store(true, Ordering::Release);
        reader.join().unwrap();
    });
}

//= spec/semantics.md#s-6-8-visibility
//# A store MUST NOT return from a write before its commit is visible to every reader that begins later.
//= spec/semantics.md#s-6-8-visibility
//# A commit of class `Synced` MUST NOT be visible to any reader before it is durable; the commits after it
//# wait for it.
//= spec/transactions.md#t-4-1-visible-on-return
//# When a write has returned with success, its commit MUST be visible.
//= spec/transactions.md#t-4-2-durable-before-visible
//# A commit of class `Synced` MUST NOT be visible before it is durable.
//= spec/transactions.md#t-4-2-durable-before-visible
//# A commit of a weaker class MUST NOT be visible before the commits in front of it are.
#[test]
fn a_synced_commit_is_seen_once_it_is_durable_and_weaker_ones_wait_behind_it() {
    let (disk, db) = store(Background::Manual);
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

//= spec/transactions.md#t-4-4-answers-that-rest-on-pending-commits
//# It MUST NOT return before the commits that were pending when it read are visible.
#[test]
fn the_next_writer_builds_on_what_is_not_visible_yet_and_waits_for_it() {
    let (disk, db) = store(Background::Manual);
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

//= spec/media.md#m-3-1-success
//# A store MUST NOT acknowledge a commit as durable before that.
//= spec/transactions.md#t-4-3-shared-syncs
//# A sync makes durable what was placed before its hand-over, and no more: a commit MUST NOT be
//# acknowledged durable by a sync that began before the commit was handed over.
#[test]
fn commits_that_wait_share_a_sync_and_no_sync_vouches_for_what_came_after_it_began() {
    let (disk, db) = store(Background::Manual);
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

//= spec/media.md#m-3-4-the-commit-in-flight
//# A store MUST NOT report it as rolled back.
//= spec/transactions.md#t-4-5-a-failed-sync
//# Every call that waits MUST return the failure, and every later write and flush MUST be refused (S-8.3)
//# until the store is reopened.
#[test]
fn a_failed_sync_fails_everybody_who_waits_and_shows_nothing() {
    let (disk, db) = store(Background::Manual);
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
        while pending(&db) < 4 {
            std::thread::yield_now();
        }
        // Not before: while nothing is placed there is nothing to wait for.
        let flush = scope.spawn(|| db.flush());
        disk.sync_fails.store(true, Ordering::Release);
        disk.open();
        for waiter in waiting {
            assert!(matches!(waiter.join().unwrap(), Err(Error::Io { .. } | Error::Poisoned { .. })));
        }
        assert!(flush.join().unwrap().is_err());
    });
    disk.sync_fails.store(false, Ordering::Release);
    assert!(matches!(a.put("x", n(9)), Err(Error::Poisoned { .. })));
    assert_eq!(value_of(a.get("x").unwrap()), Some(0));
    assert_eq!(values(db.snapshot().collection("a").unwrap().scan(..).unwrap()), [0]);
}

#[test]
fn a_pending_change_of_the_catalog_is_not_seen_either() {
    let (disk, db) = store(Background::Manual);
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

//= spec/transactions.md#t-5-1-what-it-shows
//# A feed from LSN `n` MUST show every visible commit above `n` that changes the state, each once, in LSN
//# order, and nothing that is not visible.
#[test]
fn a_feed_shows_nothing_that_is_pending() {
    let (disk, db) = store(Background::Manual);
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

//= spec/durability.md#d-3-1-what-acknowledges
//# A call that says whether a commit is durable MUST NOT say so before a sync that covers it has returned
//# success.
//= spec/durability.md#d-3-2-deferred-waiting
//# A commit that returns a ticket in place of waiting MUST keep T-2.2 and T-4.2 as if it waited.
#[test]
fn a_deferred_commit_is_told_when_it_is_durable_to_threads_and_to_tasks() {
    let (disk, db) = store(Background::Manual);
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
    let waker = Waker::from(Arc::clone(&woken));
    let mut task = Context::from_waker(&waker);
    assert!(Pin::new(&mut second).poll(&mut task).is_pending());
    disk.open();
    let lsn = first.lsn();
    assert_eq!(first.wait().unwrap(), lsn);
    assert!(db.collection("a").contains("k").unwrap());
    assert!(woken.0.load(Ordering::Acquire), "one sync was for both");
    let lsn = second.lsn();
    assert!(second.is_durable().unwrap());
    assert!(matches!(Pin::new(&mut second).poll(&mut task), Poll::Ready(Ok(done)) if done == lsn));
}

//= spec/transactions.md#t-4-6-flush
//# `flush` MUST return with success only once every commit that was placed before the call is durable.
#[test]
fn a_flush_returns_once_all_that_was_placed_before_it_is_durable() {
    let (disk, db) = store(Background::Manual);
    disk.shut();
    db.collection("a").with_durability(Durability::Buffered).put("k", n(1)).unwrap();
    let ticket = deferred(&db, "l");
    std::thread::scope(|scope| {
        let flush = scope.spawn(|| db.flush());
        disk.wait_for_a_sync();
        for _ in 0..1000 {
            std::thread::yield_now();
        }
        assert!(!flush.is_finished());
        assert!(db.stats().durable_lsn < ticket.lsn());
        disk.open();
        flush.join().unwrap().unwrap();
    });
    assert!(db.stats().durable_lsn >= ticket.lsn());
}

//= spec/durability.md#d-3-2-deferred-waiting
//# Dropping a ticket MUST NOT change the fate of the commit.
#[test]
fn a_commit_comes_to_the_same_end_whether_its_ticket_is_kept_or_dropped() {
    let (disk, db) = store(Background::Manual);
    disk.shut();
    drop(deferred(&db, "k"));
    assert!(!db.collection("a").contains("k").unwrap(), "it is not durable yet");
    disk.open();
    db.flush().unwrap();
    assert!(db.collection("a").contains("k").unwrap());
    drop(deferred(&db, "l"));
    db.close().unwrap();
    let db = Db::open_on(disk, &Options::new()).unwrap();
    assert_eq!(db.collection("a").len().unwrap(), 3);
}

/// The growth of a file is named before anything is durable in it (F-2.4), with the writer held: so what can be is made durable before.
#[test]
fn commits_go_on_while_a_checkpoint_makes_durable_what_has_grown() {
    let (disk, db) = store(Background::Manual);
    let notes = db.collection("notes").with_durability(Durability::Written);
    for id in 0..4 {
        notes.put(id, doc! { "bytes": holotype::Value::Bytes(vec![7; 1 << 20]) }).unwrap();
    }
    disk.shut();
    let checkpoint = {
        let db = db.clone();
        std::thread::spawn(move || db.checkpoint())
    };
    disk.wait_for_a_sync();
    let (done, is_done) = mpsc::channel();
    let commit = std::thread::spawn(move || {
        notes.put(4, n(4)).unwrap();
        done.send(()).unwrap();
    });
    let went_on = is_done.recv_timeout(Duration::from_secs(10));
    disk.open();
    commit.join().unwrap();
    checkpoint.join().unwrap().unwrap();
    assert!(went_on.is_ok(), "it waited for the checkpoint's sync");
}
