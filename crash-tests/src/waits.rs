//! Those who wait: for a sync, for a turn to write, for the end of the store.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use holotype::storage::sim::SimDisk;
use holotype::storage::{MemoryStorage, Storage};
use holotype::{Background, Db, Durability, Error, Options, Ticket, doc};

use crate::setup::Setup;
use crate::story::{Story, ensure, say, tell};

const STORIES: &[Story] = &[
    ("tickets", tickets),
    ("tickets for what finds no room", tickets_without_room),
    ("a transaction on top of what is taken back", on_what_is_taken_back),
    ("a transaction that is given up on top of what is taken back", given_up_on_what_is_taken_back),
    ("a write of nothing behind what is taken back", nothing_behind_what_is_taken_back),
    ("a flush behind what is taken back", behind_what_is_taken_back),
    ("what is written beside what finds no room", written_beside_what_finds_no_room),
    ("what is taken back before anybody is told", taken_back_before_it_is_told),
    ("a task that waits when the store is closed", closed_meanwhile),
    ("a transaction that changes hands", in_other_hands),
    ("a turn for each", a_turn_for_each),
    ("a turn beside those who need no waking", a_turn_beside_the_quick),
    ("savepoints of others", savepoints_of_others),
    ("refused calls", refused_calls),
    ("a compaction that is cancelled", cancelled),
    ("a task whose commit a checkpoint makes durable", beside_a_checkpoint),
    ("a panic in the midst of a sync", panic_of_the_disk),
    ("a transaction under which nothing moves", nothing_moves),
    ("one who watches", watching),
    ("more who wait than there are places to wait at", more_than_places),
];

/// Longer than anything takes on any machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// Tells every story. How many there are.
///
/// # Errors
/// What a store did that it may not do.
pub fn every_check() -> Result<u64, String> {
    tell(STORIES)
}

fn create(options: &Options) -> Result<Db, String> {
    Db::open_on(MemoryStorage::new(), options).map_err(say)
}

/// Places a commit of one document, and does not wait for it.
fn defer(db: &Db, key: i64) -> Result<Ticket, String> {
    place(db, key, Durability::Synced)
}

fn place(db: &Db, key: i64, durability: Durability) -> Result<Ticket, String> {
    let mut transaction = db.begin_write().map_err(say)?;
    transaction.set_durability(durability);
    transaction.collection("a").put(key, doc! { "n": key }).map_err(say)?;
    transaction.commit_deferred().map_err(say)
}

/// A ticket says that its commit is durable when a sync has made it so, and not before.
fn tickets() -> Result<(), String> {
    let db = create(&Setup::LARGE.options())?;
    db.create_collection("a").map_err(say)?;
    let a = db.collection("a");
    let given = [defer(&db, 1)?, defer(&db, 2)?];
    for ticket in &given {
        ensure(!ticket.is_durable().map_err(say)?, || "it says so before the sync".to_owned())?;
    }
    let pending = db.stats().pending_commits;
    ensure(pending == 2, || format!("{pending} commits wait for a sync, and not 2"))?;
    ensure(a.get(1).map_err(say)?.is_none(), || "what is not durable is seen".to_owned())?;
    db.flush().map_err(say)?;
    for (key, ticket) in [1, 2].into_iter().zip(given) {
        ensure(ticket.is_durable().map_err(say)?, || "it does not say so after the sync".to_owned())?;
        let version = a.get(key).map_err(say)?.map(|found| found.version());
        let lsn = ticket.wait().map_err(say)?;
        ensure(version == Some(lsn), || format!("{lsn:x} is told, and the document is of {version:x?}"))?;
    }
    let pending = db.stats().pending_commits;
    ensure(pending == 0, || format!("{pending} commits wait for a sync that is over"))
}

/// A store whose disk has no room for what it has placed.
fn full() -> Result<(Db, SimDisk), String> {
    let disk = Setup::SECTORS.disk();
    let db = Db::open_on(disk.clone(), &Setup::SECTORS.options()).map_err(say)?;
    // The first of all is made durable by itself.
    defer(&db, 0)?.wait().map_err(say)?;
    Ok((db, disk))
}

fn without_room<R>(disk: &SimDisk, work: impl FnOnce() -> R) -> R {
    use holotype::storage::sim::{CallKind, FaultKind, FaultPlan, Nth};
    disk.set_faults(FaultPlan::none().from(Nth::Of(CallKind::Write, 0), FaultKind::StorageFull));
    let done = work();
    disk.set_faults(FaultPlan::none());
    done
}

//= spec/transactions.md#t-4-8-no-room
//# When there is no room to hand over what is pending, the pending commits MUST fail as `StorageFull`,
//# all of them, and be taken back: the state is as if they had never been placed (S-8.5).
fn tickets_without_room() -> Result<(), String> {
    let disk = Setup::SECTORS.disk();
    let db = Db::open_on(disk.clone(), &Setup::SECTORS.options()).map_err(say)?;
    // Whoever waits here is the first who ever does.
    let given = [defer(&db, 1)?, defer(&db, 2)?];
    let flushed = without_room(&disk, || db.flush());
    ensure(matches!(flushed, Err(Error::StorageFull { .. })), || format!("flush: {flushed:?}"))?;
    for ticket in given {
        let told = ticket.is_durable();
        ensure(matches!(told, Err(Error::StorageFull { .. })), || format!("its ticket says {told:?}"))?;
        let waited = ticket.wait();
        ensure(matches!(waited, Err(Error::StorageFull { .. })), || format!("who waits is told {waited:?}"))?;
    }
    ensure(db.collections().is_empty(), || "what was taken back is there".to_owned())?;
    defer(&db, 3)?.wait().map_err(say).map(drop)
}

//= spec/transactions.md#t-4-8-no-room
//# A transaction that began on top of them MUST fail at its commit.
fn on_what_is_taken_back() -> Result<(), String> {
    let (db, disk) = full()?;
    let ticket = defer(&db, 1)?;
    let transaction = db.begin_write().map_err(say)?;
    let a = transaction.collection("a");
    ensure(a.contains(1).map_err(say)?, || "it does not see the commit before it".to_owned())?;
    a.put(2, doc! {}).map_err(say)?;
    let flushed = without_room(&disk, || db.flush());
    ensure(matches!(flushed, Err(Error::StorageFull { .. })), || format!("flush: {flushed:?}"))?;
    let read = a.get(1);
    ensure(matches!(read, Err(Error::StorageFull { .. })), || format!("it reads {read:?}"))?;
    drop(a);
    let committed = transaction.commit();
    ensure(matches!(committed, Err(Error::StorageFull { .. })), || format!("it commits: {committed:?}"))?;
    ensure(ticket.wait().is_err(), || "what it rests on is there".to_owned())?;
    let len = db.collection("a").len().map_err(say)?;
    ensure(len == 1, || format!("{len} documents are there, and not 1"))
}

//= spec/semantics.md#s-8-5-full-disk
//# A store MUST NOT let a write that failed for want of room take effect later.
/// A write that changes nothing is answered as any other: what was taken back does not come back behind it, though it is in the file.
fn nothing_behind_what_is_taken_back() -> Result<(), String> {
    use holotype::storage::sim::{CallKind, FaultKind, FaultPlan, Nth};
    let mut refused = 0;
    // Each document is in a segment of its own: there is a write behind which the first stands in the file, and the second does not.
    for written in 0..6 {
        let (db, disk) = full()?;
        for key in [1, 2] {
            let transaction = db.begin_write().map_err(say)?;
            transaction.collection("a").put(key, doc! { "filling": vec![7_u8; 3000] }).map_err(say)?;
            drop(transaction.commit_deferred().map_err(say)?);
        }
        disk.set_faults(FaultPlan::none().from(Nth::Of(CallKind::Write, written), FaultKind::StorageFull));
        let flushed = db.flush();
        disk.set_faults(FaultPlan::none());
        if flushed.is_ok() {
            continue;
        }
        refused += 1;
        ensure(matches!(flushed, Err(Error::StorageFull { .. })), || format!("flush: {flushed:?}"))?;
        let deleted = db.collection("a").delete(1).map_err(say)?;
        // As a kill leaves it.
        let after = Db::open_on(disk.fork(), &Setup::SECTORS.options()).map_err(say)?;
        let there = after.collection("a").contains(1).map_err(say)?;
        ensure(!deleted && !there, || {
            format!("behind write {written}, what was taken back: deleted {deleted}, there after it {there}")
        })?;
    }
    ensure(refused > 1, || "no flush is refused".to_owned())
}

/// Whoever gives up a transaction is told when what it has read is taken back: it waits for that.
fn given_up_on_what_is_taken_back() -> Result<(), String> {
    let (db, disk) = full()?;
    let ticket = defer(&db, 1)?;
    let transaction = db.begin_write().map_err(say)?;
    let sees = transaction.collection("a").contains(1).map_err(say)?;
    ensure(sees, || "it does not see the commit before it".to_owned())?;
    let given_up = without_room(&disk, || transaction.rollback());
    ensure(matches!(given_up, Err(Error::StorageFull { .. })), || format!("it is told {given_up:?}"))?;
    ensure(ticket.wait().is_err(), || "what it has read is there".to_owned())
}

//= spec/recovery.md#r-7-4-a-new-incarnation-in-place
//# after a write that found no room may have left bytes of its commit behind the end of the log,
//# the writer takes a new incarnation in place before it places anything else
/// A flush that has room makes durable what is placed, whoever still asks for what was taken back.
fn behind_what_is_taken_back() -> Result<(), String> {
    let disk = Setup::SECTORS.disk();
    let db =
        Db::open_on(disk.clone(), &Setup::SECTORS.options().durability(Durability::Written)).map_err(say)?;
    let put = |key: i64| db.collection("a").put(key, doc! {}).map_err(say);
    put(1)?;
    let sync = db.begin_sync().map_err(say)?.ok_or("nothing is to be synced")?;
    // It cannot say yet that the one before is durable: the frame after it has to.
    put(2)?;
    sync.finish().map_err(say)?;
    let ticket = defer(&db, 3)?;
    let flushed = without_room(&disk, || db.flush());
    ensure(matches!(flushed, Err(Error::StorageFull { .. })), || format!("flush: {flushed:?}"))?;
    for _ in 0..2 {
        let flushed = db.flush();
        ensure(flushed.is_ok(), || format!("there is room again, and a flush says {flushed:?}"))?;
    }
    let told = ticket.wait();
    ensure(matches!(told, Err(Error::StorageFull { .. })), || format!("its ticket says {told:?}"))?;
    put(4)?;
    let len = db.collection("a").len().map_err(say)?;
    ensure(len == 3, || format!("{len} documents are there, and not 3"))
}

//= spec/media.md#m-4-4-full-disk
//# When a write or an extension fails for want of room (ENOSPC, EDQUOT, EFBIG), a store MUST NOT stop: nothing acknowledged is lost,
//# reads go on, and writes work again once there is room.
/// What finds no room takes nothing along that is in the file already and waits for a sync.
fn written_beside_what_finds_no_room() -> Result<(), String> {
    let (db, disk) = full()?;
    // The second has the first written out as well.
    let written = [place(&db, 1, Durability::Synced)?, place(&db, 2, Durability::Written)?];
    let gone = place(&db, 3, Durability::Synced)?;
    without_room(&disk, || {
        for ticket in written {
            ticket.wait().map_err(|error| format!("it is in the file, and is told {error}"))?;
        }
        let told = gone.wait();
        ensure(matches!(told, Err(Error::StorageFull { .. })), || {
            format!("what has no room is told {told:?}")
        })
    })?;
    place(&db, 4, Durability::Synced)?.wait().map_err(say)?;
    let len = db.collection("a").len().map_err(say)?;
    ensure(len == 4, || format!("{len} documents are there, and not 4"))
}

//= spec/transactions.md#t-4-8-no-room
//# When there is no room to hand over what is pending, the pending commits MUST fail as `StorageFull`,
//# all of them, and be taken back: the state is as if they had never been placed (S-8.5).
/// A step of maintenance has a commit taken back, and somebody else comes before that is told: a sync, or a writer.
fn taken_back_before_it_is_told() -> Result<(), String> {
    for does_another_write in [false, true] {
        let (db, disk) = full()?;
        let ticket = defer(&db, 1)?;
        let begun = without_room(&disk, || db.begin_checkpoint().map(drop));
        ensure(matches!(begun, Err(Error::StorageFull { .. })), || format!("a checkpoint: {begun:?}"))?;
        if does_another_write {
            let a = db.collection("a").with_durability(Durability::Written);
            a.put(2, doc! {}).map_err(say)?;
        }
        let told = ticket.wait();
        ensure(matches!(told, Err(Error::StorageFull { .. })), || format!("its ticket says {told:?}"))?;
        ensure(!db.collection("a").contains(1).map_err(say)?, || "it is there all the same".to_owned())?;
    }
    Ok(())
}

/// Counts how often it is woken.
#[derive(Default)]
struct Woken(AtomicU64);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Polls a ticket as a task does, has `meanwhile` done, and says what the task learns once it is woken.
fn polled(
    ticket: Ticket,
    meanwhile: impl FnOnce() -> Result<(), String>,
) -> Result<holotype::Result<u64>, String> {
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(Arc::clone(&woken));
    let mut task = pin!(ticket);
    for _ in 0..2 {
        let first = task.as_mut().poll(&mut Context::from_waker(&waker));
        ensure(first.is_pending(), || format!("before anything is done, it is {first:?}"))?;
    }
    meanwhile()?;
    // However often it asked.
    let times = woken.0.load(Ordering::Relaxed);
    ensure(times == 1, || format!("it is woken {times} times, and not once"))?;
    match task.as_mut().poll(&mut Context::from_waker(&waker)) {
        Poll::Ready(outcome) => Ok(outcome),
        Poll::Pending => Err("it is woken for nothing".to_owned()),
    }
}

/// A task is woken by whatever settles its commit: a close, or that no room is found for it by whoever comes first.
fn closed_meanwhile() -> Result<(), String> {
    let db = create(&Setup::LARGE.options())?;
    let outcome = polled(defer(&db, 1)?, || db.clone().close().map_err(say))?;
    ensure(outcome.is_ok(), || format!("it was made durable at the close, and is told {outcome:?}"))?;
    let (db, disk) = full()?;
    let outcome = polled(defer(&db, 1)?, || {
        let put = without_room(&disk, || {
            let a = db.collection("a").with_durability(Durability::Written);
            a.put(2, doc! {})
        });
        ensure(matches!(put, Err(Error::StorageFull { .. })), || format!("another put: {put:?}"))
    })?;
    ensure(matches!(outcome, Err(Error::StorageFull { .. })), || format!("it found no room: {outcome:?}"))
}

//= spec/transactions.md#t-2-9-waiting-for-the-writer
//# A thread that writes outside the transaction that it has open itself MUST be refused at once: it would
//# wait for ever.
fn in_other_hands() -> Result<(), String> {
    // Patient enough that who is refused at once shows.
    let db = create(&Setup::LARGE.options().write_wait(Duration::from_secs(20)))?;
    let transaction = db.begin_write().map_err(say)?;
    std::thread::scope(|scope| {
        let other = std::thread::Builder::new().name("other".to_owned());
        let other = other.spawn_scoped(scope, || {
            transaction.collection("a").put(1, doc! {}).map_err(say)?;
            let began = Instant::now();
            let refused = db.collection("a").put(2, doc! {});
            let is_named =
                matches!(&refused, Err(Error::WriterBusy { holder, .. }) if holder.contains("other"));
            ensure(is_named && began.elapsed() < Duration::from_secs(10), || {
                format!("beside its own transaction, after {:?}: {refused:?}", began.elapsed())
            })?;
            transaction.commit().map_err(say)
        });
        other.map_err(|error| error.to_string())?.join().map_err(|_| "a panic".to_owned())?.map(drop)
    })
}

/// Who loses patience takes nobody else's place in the queue away.
fn a_turn_for_each() -> Result<(), String> {
    let patience = Duration::from_millis(500);
    let options = Setup::LARGE.options().durability(Durability::Buffered).write_wait(patience);
    let db = create(&options)?;
    let holder = db.begin_write().map_err(say)?;
    std::thread::scope(|scope| {
        let wait = || db.begin_write().and_then(holotype::WriteTransaction::rollback);
        let first = scope.spawn(wait);
        std::thread::sleep(patience * 4 / 5);
        let second = scope.spawn(wait);
        let refused = first.join().map_err(|_| "a panic".to_owned())?;
        ensure(matches!(refused, Err(Error::WriterBusy { .. })), || {
            format!("after {patience:?}: {refused:?}")
        })?;
        drop(holder);
        let came = second.join().map_err(|_| "a panic".to_owned())?;
        came.map_err(|error| format!("the turn is free, and the second who waits for it is told: {error}"))
    })
}

//= spec/transactions.md#t-2-9-waiting-for-the-writer
//# One that finds nobody writing MAY go ahead of them, a bounded number of times in a row.
/// Who has to be woken is passed by a thread that comes at once, and by no more than some transactions of it.
fn a_turn_beside_the_quick() -> Result<(), String> {
    const TRIALS: usize = 5;
    // More than may pass, and some for the time until it is in the queue.
    const MANY: u64 = 60;
    let options = Setup::LARGE.options().durability(Durability::Buffered).write_wait(PATIENCE);
    let db = create(&options)?;
    let passed: Vec<u64> = (0..TRIALS).map(|_| passed_before_a_turn(&db, MANY)).collect::<Result<_, _>>()?;
    ensure(passed.iter().any(|passed| *passed < MANY), || "one who waits is passed for ever".to_owned())?;
    ensure(passed.iter().any(|passed| *passed > 0), || "nobody goes on while others are woken".to_owned())
}

/// How many transactions begin and end, `most` at most, while another thread that waits for a turn has not come.
fn passed_before_a_turn(db: &Db, most: u64) -> Result<u64, String> {
    let has_come = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let holder = db.begin_write().map_err(say)?;
        let other = scope.spawn(|| {
            let transaction = db.begin_write()?;
            has_come.store(true, Ordering::Relaxed);
            transaction.rollback()
        });
        // Mostly it waits by then.
        std::thread::sleep(Duration::from_millis(20));
        let mut holder = Some(holder);
        let mut passed = 0;
        while passed < most {
            drop(holder.take());
            let next = db.begin_write().map_err(say)?;
            if has_come.load(Ordering::Relaxed) {
                break;
            }
            passed += 1;
            // Long enough for it to be awake.
            std::thread::sleep(Duration::from_millis(1));
            holder = Some(next);
        }
        drop(holder);
        other.join().map_err(|_| "a panic".to_owned())?.map_err(say)?;
        Ok(passed)
    })
}

/// A savepoint is one of its own transaction, and of no other that came before or after.
fn savepoints_of_others() -> Result<(), String> {
    let db = create(&Setup::LARGE.options())?;
    let mut transaction = db.begin_write().map_err(say)?;
    let before = transaction.savepoint();
    transaction.rollback().map_err(say)?;
    let mut transaction = db.begin_write().map_err(say)?;
    let own = transaction.savepoint();
    let other = transaction.rollback_to(&before);
    ensure(matches!(other, Err(Error::UnknownSavepoint)), || format!("of the one before: {other:?}"))?;
    transaction.rollback_to(&own).map_err(say)
}

/// A call that changes nothing, where nothing is pending, waits for no sync.
fn refused_calls() -> Result<(), String> {
    let db = create(&Setup::LARGE.options().durability(Durability::Written))?;
    let a = db.collection("a");
    a.put(1, doc! { "n": 1 }).map_err(say)?;
    let before = db.stats();
    for _ in 0..10 {
        let refused = a.insert_with_key(1, doc! {});
        ensure(matches!(refused, Err(Error::KeyExists { .. })), || format!("the key is taken: {refused:?}"))?;
        ensure(!a.delete(2).map_err(say)?, || "nothing is deleted".to_owned())?;
        a.put(1, doc! { "n": 1 }).map_err(say)?;
    }
    let after = db.stats();
    ensure(after.syncs == before.syncs, || {
        format!("{} syncs were made for them", after.syncs - before.syncs)
    })?;
    let user = after.space.user_bytes;
    ensure((100..3000).contains(&user), || format!("callers had {user} bytes placed, in 12 short records"))?;
    let told = after.write_amplification();
    let expected = after.written_bytes as f64 / after.space.user_bytes as f64;
    ensure((told - expected).abs() < 1e-9, || format!("a write amplification of {told}, not {expected}"))?;
    let told = create(&Setup::LARGE.options())?.stats().write_amplification();
    ensure(told == 0.0, || format!("where nothing was written, a write amplification of {told}"))
}

/// Where nobody asked for a thread, nothing happens but in calls, whatever a compaction has left.
fn cancelled() -> Result<(), String> {
    let options = Setup::SECTORS.options().durability(Durability::Written).background(Background::Manual);
    let db = create(&options)?;
    let a = db.collection("a");
    for n in 0..400_i64 {
        a.put(n % 40, doc! { "p": vec![7_u8; 300] }).map_err(say)?;
    }
    let report = db.compact_with(|_| std::ops::ControlFlow::Break(())).map_err(say)?;
    ensure(!report.is_complete, || "it was cancelled".to_owned())?;
    let before = db.stats();
    std::thread::sleep(Duration::from_millis(50));
    let after = db.stats();
    ensure(after == before, || format!("something was done by itself: {before:#?} {after:#?}"))
}

/// Whoever watches is shown what is there, waits for what comes, and no longer than was said.
fn watching() -> Result<(), String> {
    for durability in [Durability::Buffered, Durability::Written, Durability::Synced] {
        let db = create(&Setup::LARGE.options().durability(durability))?;
        let a = db.collection("a");
        a.put(1, doc! {}).map_err(say)?;
        let mut watch = db.watch(0).map_err(say)?;
        let there = watch.wait_next(Duration::ZERO).map_err(say)?;
        ensure(there.is_some(), || "what is there is not shown".to_owned())?;
        let none = watch.wait_next(Duration::from_millis(1)).map_err(say)?;
        ensure(none.is_none(), || format!("nothing came, and it is shown {none:?}"))?;
        let began = Instant::now();
        let shown = std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                // Mostly it waits by then.
                std::thread::sleep(Duration::from_millis(20));
                a.put(2, doc! {})
            });
            let shown = watch.wait_next(PATIENCE).map_err(say)?;
            other.join().map_err(|_| "a panic".to_owned())?.map_err(say)?;
            Ok::<_, String>(shown)
        })?;
        ensure(shown.is_some() && began.elapsed() < PATIENCE / 2, || {
            format!("{durability:?}, after {:?} it is shown {shown:?}", began.elapsed())
        })?;
    }
    Ok(())
}

/// Each writer that waits for a turn has it soon, however many wait; and none can use a savepoint of the transaction before.
fn more_than_places() -> Result<(), String> {
    const WAITING: i64 = 12;
    let options = Setup::LARGE.options().durability(Durability::Buffered).write_wait(PATIENCE);
    let db = create(&options)?;
    let mut holder = db.begin_write().map_err(say)?;
    let (before, began) = (holder.savepoint(), Instant::now());
    let write = &|number: i64| {
        if number % 3 == 0 {
            return db.collection("a").put(number, doc! {}).map_err(say);
        }
        let mut transaction = db.begin_write().map_err(say)?;
        transaction.collection("a").put(number, doc! {}).map_err(say)?;
        let other = transaction.rollback_to(&before);
        ensure(matches!(other, Err(Error::UnknownSavepoint)), || format!("of another turn: {other:?}"))?;
        transaction.commit().map(drop).map_err(say)
    };
    std::thread::scope(|scope| {
        let waiting: Vec<_> = (0..WAITING).map(|number| scope.spawn(move || write(number))).collect();
        std::thread::sleep(Duration::from_millis(50));
        drop(holder);
        waiting.into_iter().try_for_each(|each| each.join().map_err(|_| "a panic".to_owned())?)
    })?;
    ensure(began.elapsed() < PATIENCE / 2, || format!("the last had its turn after {:?}", began.elapsed()))?;
    let len = db.collection("a").len().map_err(say)?;
    ensure(len == WAITING as u64, || format!("{len} documents are there, and not {WAITING}"))
}

/// A task is woken by whoever makes its commit durable, though that is not what was asked for.
fn beside_a_checkpoint() -> Result<(), String> {
    let db = create(&Setup::LARGE.options().durability(Durability::Written))?;
    let outcome = polled(defer(&db, 1)?, || db.checkpoint().map_err(say))?;
    ensure(outcome.is_ok(), || format!("a checkpoint made it durable, and it is told {outcome:?}"))
}

/// A disk of which a sync panics, once somebody says so.
#[derive(Debug, Default)]
struct Panics(MemoryStorage, Arc<AtomicBool>);

impl Storage for Panics {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<usize> {
        self.0.read_at(offset, out)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_at(offset, bytes)
    }

    fn sync(&self) -> io::Result<()> {
        if self.1.swap(false, Ordering::Relaxed) {
            // No message of a hook: it is meant.
            std::panic::resume_unwind(Box::new("a disk that panics"));
        }
        self.0.sync()
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.0.sync_directory()
    }
}

//= spec/transactions.md#t-4-5-a-failed-sync
//# Every call that waits MUST return the failure, and every later write and flush MUST be refused (S-8.3)
//# until the store is reopened.
/// Nobody knows what a sync has done that panicked: it has failed.
fn panic_of_the_disk() -> Result<(), String> {
    let disk = Panics::default();
    let panics = Arc::clone(&disk.1);
    let db = Db::open_on(disk, &Setup::LARGE.options()).map_err(say)?;
    defer(&db, 0)?.wait().map_err(say)?;
    let ticket = defer(&db, 1)?;
    panics.store(true, Ordering::Relaxed);
    let flushed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| db.flush()));
    ensure(flushed.is_err(), || format!("the disk panicked: {flushed:?}"))?;
    for refused in [db.flush(), db.collection("a").put(2, doc! {}), ticket.wait().map(drop)] {
        ensure(matches!(refused, Err(Error::Poisoned { .. })), || format!("after it: {refused:?}"))?;
    }
    Ok(())
}

/// What a transaction has looked up stays where it is, whatever steps of maintenance are asked for meanwhile.
fn nothing_moves() -> Result<(), String> {
    let options = Setup::SECTORS.options().durability(Durability::Written).background(Background::Manual);
    let db = create(&options)?;
    let a = db.collection("a");
    for n in 0..400_i64 {
        a.put(n % 40 * (n % 7), doc! { "p": vec![7_u8; 300] }).map_err(say)?;
    }
    let transaction = db.begin_write().map_err(say)?;
    for key in 0..240 {
        if transaction.collection("a").contains(key).map_err(say)? {
            transaction.collection("a").put(key, doc! { "n": key }).map_err(say)?;
        }
    }
    for _ in 0..40 {
        db.maintain().map_err(say)?;
    }
    transaction.commit().map_err(say)?;
    let is_due = db.maintain().map_err(say)?;
    ensure(is_due, || "nothing was due while it was open".to_owned())?;
    let report = db.verify(true).map_err(say)?;
    ensure(report.problems.is_empty(), || format!("{:?}", report.problems))
}
