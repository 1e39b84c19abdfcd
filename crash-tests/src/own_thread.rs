//! What the store's own thread is for: what nobody waits for becomes durable, the file comes within
//! its bound at rest, old snapshots end, and tasks that wait for a commit are woken.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread, park_timeout, sleep};
use std::time::{Duration, Instant};

use holotype::{Background, Durability, Error, Options, doc};

use crate::space::{Measured, Tally, options, say};

/// Longer than it takes on any machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// Tells every story. How many there are.
///
/// # Errors
/// What the thread did not do.
pub fn every_check() -> Result<u64, String> {
    let mut tally = Tally::default();
    rest(&mut tally).map_err(|what| format!("rest: {what}"))?;
    deleted(&mut tally).map_err(|what| format!("deleted: {what}"))?;
    slowly(&mut tally).map_err(|what| format!("slowly: {what}"))?;
    old_snapshots().map_err(|what| format!("old snapshots: {what}"))?;
    tasks().map_err(|what| format!("tasks: {what}"))?;
    Ok(5)
}

fn with_thread() -> Options {
    let options = options().background(Background::Thread).durability(Durability::Buffered);
    options.flush_interval(Duration::from_millis(20))
}

//= spec/space.md#p-6-3-who-does-it
//# Maintenance is done by a thread of the store's.
/// The store's own thread makes durable what was placed, and brings the file within its bound at rest.
fn rest(tally: &mut Tally) -> Result<(), String> {
    let mut store = Measured::create(&with_thread(), 200)?;
    for n in 0..6000 {
        store.put(n % 600, n)?;
        tally.calls += 1;
        if n % 50 == 0 {
            store.is_within(30, 40, "beside the thread", tally)?;
        }
    }
    for key in 0..500 {
        store.delete(key)?;
    }
    let start = Instant::now();
    loop {
        let stats = store.db.stats();
        let is_durable = stats.pending_commits == 0 && stats.durable_lsn == stats.lsn;
        let at_rest = store.is_within(20, 10, "beside a thread that had time", tally);
        if is_durable && at_rest.is_ok() {
            break;
        }
        if start.elapsed() > PATIENCE {
            at_rest?;
            return Err(format!("what was placed is not durable after {PATIENCE:?}: {stats:#?}"));
        }
        sleep(Duration::from_millis(2));
    }
    store.look()
}

/// Documents go faster than the thread can see to it: whoever deletes helps, so that the file is within its bound at any moment.
fn deleted(tally: &mut Tally) -> Result<(), String> {
    let mut store = Measured::create(&with_thread(), 200)?;
    for key in 0..4000 {
        store.put(key, 0)?;
    }
    for key in 0..3800 {
        store.delete(key)?;
        if key % 10 == 0 {
            // It looks only once some hundreds of records have died.
            store.is_within(30, 20, "while documents are deleted", tally)?;
        }
    }
    store.look()
}

/// A caller writes a little now and then; the background worker takes every step that is due at rest.
fn slowly(tally: &mut Tally) -> Result<(), String> {
    let mut store = Measured::create(&with_thread(), 200)?;
    for n in 0..7000 {
        store.put(n * 7 % 4000, n)?;
    }
    let (start, mut last, mut quiet) = (Instant::now(), 0, 0);
    while quiet < 8 {
        if start.elapsed() > PATIENCE {
            return Err(format!("there is no end of it after {PATIENCE:?}: {:#?}", store.db.stats()));
        }
        store.put(0, 1)?;
        sleep(Duration::from_millis(150));
        let stats = store.db.stats();
        let done = stats.superblock_generation + stats.space.relocated_bytes;
        quiet = if done == last { quiet + 1 } else { 0 };
        last = done;
    }
    let before = tally.steps;
    store.come_to_rest(tally)?;
    let left = tally.steps - before;
    if left > 3 {
        return Err(format!("{left} steps are left to be taken by somebody else: {:#?}", store.db.stats()));
    }
    store.look()
}

/// A snapshot that is older than it may be ends by itself, and reads through it say so.
fn old_snapshots() -> Result<(), String> {
    let options = options().background(Background::Thread).durability(Durability::Buffered);
    let options =
        options.flush_interval(Duration::from_millis(5)).snapshot_max_age(Duration::from_millis(20));
    let mut store = Measured::create(&options, 200)?;
    store.put(1, 1)?;
    let snapshot = store.db.snapshot();
    let start = Instant::now();
    while store.db.stats().snapshots > 0 {
        store.put(1, 2)?;
        sleep(Duration::from_millis(2));
        if start.elapsed() > PATIENCE {
            return Err("a snapshot of an age limit of 20 milliseconds lives on".to_owned());
        }
    }
    let read = snapshot.collection("a").and_then(|a| a.get(1));
    match read {
        Err(Error::SnapshotTooOld { .. }) => store.look(),
        other => Err(format!("through a snapshot that has ended: {other:?}")),
    }
}

/// A task that waits for its commit is woken, though no thread waits with it and the interval is a long one.
fn tasks() -> Result<(), String> {
    let store = Measured::create(&with_thread().flush_interval(Duration::from_secs(3600)), 10)?;
    for n in 0..4 {
        let mut transaction = store.db.begin_write().map_err(|error| say("beginning", &error))?;
        transaction.set_durability(Durability::Synced);
        transaction.collection("a").put(n, doc! { "n": n }).map_err(|error| say("putting", &error))?;
        let ticket = transaction.commit_deferred().map_err(|error| say("committing", &error))?;
        wait_as_a_task(ticket)?.map_err(|error| say("waiting", &error))?;
    }
    Ok(())
}

/// Wakes a thread.
struct ThreadWaker(Thread);

impl Wake for ThreadWaker {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn wait_as_a_task<T>(task: impl Future<Output = T>) -> Result<T, String> {
    let mut task = pin!(task);
    let waker = Waker::from(Arc::new(ThreadWaker(thread::current())));
    let start = Instant::now();
    loop {
        if let Poll::Ready(done) = task.as_mut().poll(&mut Context::from_waker(&waker)) {
            return Ok(done);
        }
        if start.elapsed() > PATIENCE {
            return Err("a task that waits for its commit is not woken".to_owned());
        }
        park_timeout(PATIENCE);
    }
}
