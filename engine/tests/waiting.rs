//! Those who wait for a commit, when what they wait for goes wrong, or is told in an awkward place. Comments name the clause that a test
//! shows.

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

/// A disk that can be full, unplugged, or held up in its syncs, and whose driver can panic there.
#[derive(Debug, Default)]
struct Disk {
    inner: MemoryStorage,
    is_full: AtomicBool,
    is_unplugged: AtomicBool,
    sync_panics: AtomicBool,
    is_shut: Mutex<bool>,
    opened: Condvar,
    syncing: AtomicU64,
}

impl Disk {
    fn shut(&self) {
        *self.is_shut.lock().unwrap() = true;
    }

    fn open(&self) {
        *self.is_shut.lock().unwrap() = false;
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
        let mut is_shut = self.is_shut.lock().unwrap();
        while *is_shut {
            is_shut = self.opened.wait(is_shut).unwrap();
        }
        drop(is_shut);
        self.syncing.fetch_sub(1, Ordering::AcqRel);
        assert!(!self.sync_panics.load(Ordering::Acquire), "a driver with a bug");
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
