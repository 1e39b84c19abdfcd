//! The store as threads share it: the core, and those who wait for a turn to write or for a sync.

use crate::core::{Core, Draft, Progress, Writer};
use crate::error::{Error, Result};
use crate::options::{Background, Durability};
use crate::seeded::{self, Bug};
use crate::sync::{Arc, Condvar, Mutex, MutexGuard, thread};

use super::deferred::Deferred;
use super::flusher::Flusher;
use super::group::{Goal, Group, Tasks, Waiter};
use super::news::News;
use super::snapshots::Snapshots;
use super::turn::{HeldTurn, Holder};

#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) core: Core,
    group: Arc<Group>,
    /// Told when a turn to write ends; waited for with the writer's lock.
    pub(super) turn_ended: Condvar,
    /// Who holds the turn, for those who wait.
    pub(super) holder: Mutex<Option<Holder>>,
    pub(crate) snapshots: Snapshots,
    pub(crate) news: News,
    flusher: Flusher,
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

    pub(super) fn end_turn(&self, mut writer: MutexGuard<'_, Writer>, turn: &mut HeldTurn) -> Result<()> {
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

    pub(super) fn wait(&self, waiter: &Waiter, goal: Goal) -> Result<()> {
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
    pub(super) fn flush_soon(self: &Arc<Self>) {
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
