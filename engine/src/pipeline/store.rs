//! The store as threads share it: the core, and those who wait for a turn to write or for a sync.

use std::cell::Cell;
use std::task::Waker;

use crate::core::{Core, Draft, Progress, Ticket, Writer};
use crate::error::{Error, Result};
use crate::format::Lsn;
use crate::options::{Background, Durability};
use crate::seeded::{self, Bug};
use crate::sync::race::{self, Race};
use crate::sync::{Arc, Condvar, Instant, Mutex, MutexGuard, lock, thread, wait, wait_timeout};

use super::flusher::Flusher;
use super::group::{Goal, Group, Tasks, Waiter};
use super::news::News;
use super::snapshots::Snapshots;

#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) core: Core,
    group: Arc<Group>,
    /// Told when a turn to write ends; waited for with the writer's lock.
    turn_ended: Condvar,
    /// Who holds the turn, for those who wait.
    holder: Mutex<Option<Holder>>,
    pub(crate) snapshots: Snapshots,
    pub(crate) news: News,
    flusher: Flusher,
}

/// A transaction's owner.
#[derive(Debug, Clone)]
struct Holder {
    thread: thread::ThreadId,
    name: String,
    since: Instant,
}

impl Holder {
    /// This thread.
    fn this(since: Instant) -> Self {
        let current = thread::current();
        let name = match current.name() {
            Some(name) => format!("thread {name:?}"),
            None => format!("{:?}", current.id()),
        };
        Holder { thread: current.id(), name, since }
    }
}

/// A turn to write, longer than one commit. Dropped, it is given away.
#[derive(Debug)]
pub(crate) struct HeldTurn {
    store: Arc<Store>,
    /// None once it is given away.
    ticket: Option<Ticket>,
    since: Instant,
    /// The thread that used it last.
    user: Cell<thread::ThreadId>,
}

impl HeldTurn {
    /// Takes note of who uses the turn: a transaction may have been sent to another thread, and that one would wait for itself.
    pub(crate) fn is_used(&self) {
        let user = thread::current().id();
        if self.user.replace(user) != user {
            *lock(&self.store.holder) = Some(Holder::this(self.since));
        }
    }

    /// The number of the turn, which no other turn of this store has.
    pub(crate) fn number(&self) -> u64 {
        self.ticket.map_or(0, Ticket::number)
    }

    /// Gives the turn away. Those who wait are told when the writer is let go.
    fn give_away(&mut self, writer: &mut Writer) {
        if let Some(ticket) = self.ticket.take() {
            *lock(&self.store.holder) = None;
            writer.turn.release(ticket);
        }
    }
}

impl Drop for HeldTurn {
    fn drop(&mut self) {
        let store = Arc::clone(&self.store);
        if self.ticket.is_some()
            && let Ok(writer) = store.core.writer()
        {
            // Who dropped it without a word is told nothing; but it does not get ahead of what it may have read (spec: T-4.4).
            let _ = store.end_turn(writer, self);
        }
    }
}

/// A commit that is placed, and what is left to wait for.
#[derive(Debug)]
pub(crate) struct Deferred {
    /// The commit; where there was nothing to commit, the last one before.
    pub(crate) lsn: Lsn,
    waiting: Option<(Waiter, Goal)>,
}

impl Deferred {
    pub(crate) fn wait(&self, store: &Store) -> Result<()> {
        self.waiting.as_ref().map_or(Ok(()), |(waiter, goal)| store.wait(waiter, *goal))
    }

    /// What became of it; none while that is open.
    pub(crate) fn look(&self) -> Option<Result<()>> {
        self.waiting.as_ref().map_or(Some(Ok(())), |(waiter, goal)| waiter.look(*goal))
    }

    /// As [`look`](Self::look); where it is open, `task` is woken when it may no longer be, and somebody sees to it that it gets on.
    pub(crate) fn poll(&self, store: &Arc<Store>, task: &Waker) -> Option<Result<()>> {
        let Some((waiter, goal)) = &self.waiting else { return Some(Ok(())) };
        let outcome = waiter.poll(*goal, task);
        if outcome.is_none() {
            store.flush_soon();
        }
        outcome
    }
}

impl Store {
    pub(crate) fn new(core: Core) -> Self {
        let group = Arc::new(Group::new(core.progress()));
        Store {
            core,
            group,
            turn_ended: Condvar::new(),
            holder: Mutex::new(None),
            snapshots: Snapshots::default(),
            news: News::default(),
            flusher: Flusher::default(),
        }
    }

    /// Makes one commit of what `stage` puts into the writer's batch. What it answers rests on commits that may be pending: they are
    /// waited for in any case (spec: T-4.4).
    pub(crate) fn autocommit<R>(
        self: &Arc<Self>,
        durability: Durability,
        stage: impl FnOnce(&Core, &mut Writer) -> Result<R>,
    ) -> Result<R> {
        let mut writer = self.enter()?;
        let begun = writer.begin(&self.core);
        let Err(error) = begun else {
            let staged = stage(&self.core, &mut writer);
            return self.conclude(writer, durability, staged);
        };
        self.give_up(writer, error)
    }

    /// Leaves without a commit, for this reason.
    fn give_up<R>(&self, mut writer: MutexGuard<'_, Writer>, error: Error) -> Result<R> {
        let tasks = self.tell_taken_back(&mut writer, &error).and(self.tell_poisoned());
        self.leave(writer);
        tasks.wake();
        Err(error)
    }

    /// Commits what is staged, unless that was refused; waits for what must be waited for.
    fn conclude<R>(
        self: &Arc<Self>,
        writer: MutexGuard<'_, Writer>,
        durability: Durability,
        staged: Result<R>,
    ) -> Result<R> {
        let (answer, deferred) = self.place(writer, durability, staged)?;
        deferred.wait(self)?;
        answer
    }

    /// Places what is staged, unless that was refused, and says what is left to wait for: also where nothing was placed, since what
    /// is answered then may rest on pending commits.
    fn place<R>(
        self: &Arc<Self>,
        mut writer: MutexGuard<'_, Writer>,
        durability: Durability,
        staged: Result<R>,
    ) -> Result<(Result<R>, Deferred)> {
        if staged.is_err() || writer.batch.is_empty() {
            let lsn = writer.end();
            let waiter = self.core.has_pending().then(|| self.group.join());
            self.leave(writer);
            return Ok((
                staged,
                Deferred { lsn, waiting: waiter.map(|waiter| (waiter, Goal::Durable(lsn))) },
            ));
        }
        let placed = match writer.commit(&self.core, durability) {
            Ok(placed) => placed,
            Err(error) => return self.give_up(writer, error),
        };
        let must_wait =
            placed.is_pending || durability == Durability::Synced && !seeded::is_on(Bug::SyncSkipped);
        // Before the writer is let go: from then on, anything may become of the commit.
        let waiter = must_wait.then(|| self.group.join());
        self.leave(writer);
        if durability == Durability::Buffered {
            self.ask_for_a_flush();
        }
        if waiter.is_none() {
            self.news.tell();
        }
        let goal = Goal::Visible(placed.lsn);
        Ok((staged, Deferred { lsn: placed.lsn, waiting: waiter.map(|waiter| (waiter, goal)) }))
    }

    /// The writer, once it is the caller's turn.
    fn enter(&self) -> Result<MutexGuard<'_, Writer>> {
        let mut writer = self.core.writer()?;
        match writer.turn.queue_up() {
            None => Ok(writer),
            Some(ticket) => self.wait_for_turn(writer, ticket),
        }
    }

    #[cold]
    fn wait_for_turn<'a>(
        &'a self,
        mut writer: MutexGuard<'a, Writer>,
        ticket: Ticket,
    ) -> Result<MutexGuard<'a, Writer>> {
        let began = Instant::now();
        loop {
            if writer.turn.has_come(ticket) {
                return Ok(writer);
            }
            let left = self.core.options.write_wait.map(|longest| longest.saturating_sub(began.elapsed()));
            let holder = lock(&self.holder).clone();
            let is_own = holder.as_ref().is_some_and(|holder| holder.thread == thread::current().id());
            if is_own || left.is_some_and(|left| left.is_zero()) {
                writer.turn.give_up(ticket);
                // Whoever is next may have waited for this one.
                self.turn_ended.notify_all();
                let (holder, held_for) = match holder {
                    Some(holder) => (holder.name, holder.since.elapsed()),
                    None => ("another thread".to_owned(), began.elapsed()),
                };
                return Err(Error::WriterBusy { holder, held_for });
            }
            writer = match left {
                Some(left) => wait_timeout(&self.turn_ended, writer, left),
                None => wait(&self.turn_ended, writer),
            };
        }
    }

    /// Lets the writer go, and those know who wait for a turn.
    fn leave(&self, writer: MutexGuard<'_, Writer>) {
        let is_waited_for = writer.turn.is_waited_for();
        drop(writer);
        if is_waited_for && !race::is_on(Race::TurnEndNotTold) {
            self.turn_ended.notify_all();
        }
    }

    /// Takes the turn to write until the returned value is dropped.
    pub(crate) fn take_turn(self: &Arc<Self>) -> Result<HeldTurn> {
        let mut writer = self.enter()?;
        if let Err(error) = writer.check_open(&self.core) {
            self.leave(writer);
            return Err(error);
        }
        let ticket = writer.turn.hold();
        let since = Instant::now();
        *lock(&self.holder) = Some(Holder::this(since));
        let user = Cell::new(thread::current().id());
        Ok(HeldTurn { store: Arc::clone(self), ticket: Some(ticket), since, user })
    }

    /// Places a transaction as one commit, and gives its turn away.
    pub(crate) fn commit_deferred(
        self: &Arc<Self>,
        mut turn: HeldTurn,
        draft: Draft,
        durability: Durability,
    ) -> Result<Deferred> {
        let mut writer = self.core.writer()?;
        // The turn goes with the lock, and not before.
        turn.give_away(&mut writer);
        if let Err(error) = writer.begin(&self.core) {
            return self.give_up(writer, error);
        }
        let staged = draft.hand_to(&self.core, &mut writer);
        let (placed, deferred) = self.place(writer, durability, staged)?;
        placed.map(|_| deferred)
    }

    /// Gives up a transaction. Where it may have read pending commits, they are waited for (spec: T-4.4).
    pub(crate) fn roll_back(&self, mut turn: HeldTurn) -> Result<()> {
        self.end_turn(self.core.writer()?, &mut turn)
    }

    fn end_turn(&self, mut writer: MutexGuard<'_, Writer>, turn: &mut HeldTurn) -> Result<()> {
        turn.give_away(&mut writer);
        let lsn = writer.end();
        let waiter = self.core.has_pending().then(|| self.group.join());
        self.leave(writer);
        waiter.map_or(Ok(()), |waiter| self.wait(&waiter, Goal::Durable(lsn)))
    }

    /// Makes durable everything placed before this call.
    pub(crate) fn flush(&self) -> Result<()> {
        let writer = self.core.writer()?;
        if let Err(error) = writer.check_open(&self.core) {
            drop(writer);
            self.tell_poisoned().wake();
            return Err(error);
        }
        let lsn = writer.end();
        let waiter = self.group.join();
        drop(writer);
        self.wait(&waiter, Goal::Durable(lsn))?;
        // What was durable before may lie in a growth that no slot names yet.
        let is_named = self.core.writer()?.is_growth_named();
        if is_named { Ok(()) } else { self.lead().map(|_| ()) }
    }

    fn wait(&self, waiter: &Waiter, goal: Goal) -> Result<()> {
        waiter.wait(goal, || self.lead())
    }

    /// Carries out one sync for all who wait.
    fn lead(&self) -> Result<Progress> {
        self.gather();
        let mut unknown = Unknown { store: self, is_over: false };
        let led = self.sync();
        unknown.is_over = true;
        led
    }

    fn sync(&self) -> Result<Progress> {
        match self.core.begin_sync() {
            Ok(Some(job)) => {
                self.core.sync_storage()?;
                self.core.end_sync(job)?;
            }
            Ok(None) => {}
            Err(error) => {
                let tasks = self.tell_taken_back(&mut *self.core.writer()?, &error);
                // A writer that began an incarnation may have made durable, by itself, what the leader waits for.
                tasks.and(self.group.learn(&Ok(self.core.progress()))).wake();
                return Err(error);
            }
        }
        self.news.tell();
        Ok(self.core.progress())
    }

    /// Lets those who are about to commit do so, so that one sync serves more of them.
    fn gather(&self) {
        let mut waiting = self.group.waiting();
        for _ in 0..GATHER_YIELDS_MAX {
            thread::yield_now();
            let now = self.group.waiting();
            if now == waiting {
                break;
            }
            waiting = now;
        }
    }

    fn tell_taken_back(&self, writer: &mut Writer, error: &Error) -> Tasks {
        let gone = writer.drain_taken_back().into_iter();
        gone.fold(Tasks::default(), |tasks, (first, last)| {
            tasks.and(self.group.took_back(first, last, error))
        })
    }

    /// Where nothing is written any more: those know who wait for a sync. One who leads finds out; a task has nobody to lead for it.
    fn tell_poisoned(&self) -> Tasks {
        match self.core.log.storage.check_writable() {
            Ok(()) => Tasks::default(),
            Err(error) => self.group.learn(&Err(error)),
        }
    }

    /// Has a thread of the store's own make durable in time what nobody waits for.
    pub(crate) fn ask_for_a_flush(self: &Arc<Self>) {
        if self.core.options.background == Background::Thread {
            self.flusher.ask(self);
        }
    }

    /// Has the store's own thread flush now, where it has one.
    fn flush_soon(self: &Arc<Self>) {
        if self.core.options.background == Background::Thread {
            self.flusher.hurry(self);
        }
    }

    /// Ends this life of the store, and reports the last error. Those are told who still wait: nobody may come after this who does.
    pub(crate) fn close(&self) -> Result<()> {
        self.flusher.stop();
        let closed = self.core.close();
        let Ok(mut writer) = self.core.writer() else { return closed };
        let gone = closed.as_ref().err().map(|error| self.tell_taken_back(&mut writer, error));
        drop(writer);
        let came = self.group.learn(&Ok(self.core.progress()));
        gone.unwrap_or_default().and(came).and(self.tell_poisoned()).wake();
        self.news.tell();
        closed
    }
}

/// A sync of which nobody knows what it has done, if it is dropped before it is over: by a panic of the storage, which may be a caller's.
/// That is a failed sync, then (spec: T-4.5).
struct Unknown<'a> {
    store: &'a Store,
    is_over: bool,
}

impl Drop for Unknown<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            self.store.core.log.storage.poison("panic during a sync".to_owned());
        }
    }
}

/// A leader gives way this often at most before it begins.
const GATHER_YIELDS_MAX: usize = 32;
