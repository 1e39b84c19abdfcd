//! The store as threads share it: the core, and those who wait for a turn to write or for a sync.

use std::task::Waker;

use crate::core::{Core, Progress, Upkeep, WriteTxn, Writer};
use crate::error::{Error, Result};
use crate::options::{Background, Durability};
use crate::seeded::{self, Bug};
use crate::sync::{Arc, AtomicBool, Duration, Mutex, MutexGuard, thread};

use super::agenda::Worker;
use super::deferred::Deferred;
use super::group::{Goal, Group, Tasks, Waiter};
use super::holder::{Holder, TurnEnded};
use super::news::News;
use super::step_lock::StepLock;

#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) core: Core,
    pub(super) group: Arc<Group>,
    /// Where one is told whose turn to write may have come; waited for with the writer's lock.
    pub(super) turn_ended: TurnEnded,
    /// Somebody looks again and again whether it can have the writer.
    pub(super) is_awaited: AtomicBool,
    /// Who holds the turn, for those who wait.
    pub(super) holder: Mutex<Option<Holder>>,
    pub(crate) news: News,
    pub(super) worker: Worker,
    pub(super) steps: StepLock,
}

impl Store {
    pub(crate) fn new(core: Core) -> Self {
        let group = Arc::new(Group::new(core.progress()));
        Store {
            core,
            group,
            turn_ended: TurnEnded::new(),
            is_awaited: AtomicBool::new(false),
            holder: Mutex::new(None),
            news: News::default(),
            worker: Worker::default(),
            steps: StepLock::default(),
        }
    }

    //= spec/semantics.md#s-6-2-synced
    //# When a call with class `Synced` has returned with success, its commit and every commit before it MUST
    //# survive a power cut.
    //= spec/transactions.md#t-4-4-answers-that-rest-on-pending-commits
    //# It MUST NOT return before the commits that were pending when it read are visible.
    //= spec/semantics.md#s-6-8-visibility
    //# A store MUST NOT return from a write before its commit is visible to every reader that begins later.
    //= spec/transactions.md#t-4-1-visible-on-return
    //# When a write has returned with success, its commit MUST be visible.
    /// Makes one commit of what `stage` changes. What it answers rests on commits that may be pending: they are
    /// waited for in any case (spec: T-4.4).
    pub(crate) fn autocommit<R>(
        self: &Arc<Self>,
        durability: Durability,
        stage: impl FnOnce(&mut WriteTxn) -> Result<R>,
    ) -> Result<R> {
        let mut writer = self.enter_with_room()?;
        let begun = writer.begin();
        let Err(error) = begun else {
            let staged = writer.txn.call(stage);
            let deferred = self.place(writer, durability, staged.is_err())?;
            self.wait_for(&deferred)?;
            return staged;
        };
        self.give_up(writer, error)
    }

    /// Works with the writer once it is the caller's turn.
    pub(crate) fn with_writer<R>(&self, work: impl FnOnce(&mut Writer) -> Result<R>) -> Result<R> {
        let mut writer = self.enter()?;
        let result = work(&mut writer);
        self.leave(writer);
        result
    }

    /// The writer, once it is the caller's turn; where room is short, what can be had is made first.
    pub(super) fn enter_with_room(&self) -> Result<MutexGuard<'_, Writer>> {
        let mut writer = self.enter()?;
        if !writer.is_short() {
            return Ok(writer);
        }
        self.leave(writer);
        self.make_room()?;
        self.enter()
    }

    /// Leaves without a commit, for this reason.
    pub(super) fn give_up<R>(&self, mut writer: MutexGuard<'_, Writer>, error: Error) -> Result<R> {
        let tasks = self.tell_taken_back(&mut writer).and(self.tell_poisoned());
        self.leave(writer);
        tasks.wake();
        Err(error)
    }

    //= spec/transactions.md#t-4-4-answers-that-rest-on-pending-commits
    //# It MUST NOT return before the commits that were pending when it read are visible.
    /// Leaves without a commit, and says what is left to wait for: what is answered may rest on pending commits.
    pub(super) fn leave_unchanged(&self, writer: MutexGuard<'_, Writer>) -> Deferred {
        let lsn = writer.end();
        let must_wait = self.core.shared.visibility.has_pending();
        let waiting = must_wait.then(|| self.group.join(Goal::Durable(lsn)));
        self.leave(writer);
        Deferred { lsn, waiting, due: Upkeep::Nothing }
    }

    /// Places what is staged, unless that was refused, and says what is left to wait for.
    pub(super) fn place(
        self: &Arc<Self>,
        mut writer: MutexGuard<'_, Writer>,
        durability: Durability,
        is_refused: bool,
    ) -> Result<Deferred> {
        if is_refused || writer.txn.batch.is_empty() {
            return Ok(self.leave_unchanged(writer));
        }
        let placed = match writer.commit(durability) {
            Ok(placed) => placed,
            Err(error) => return self.give_up(writer, error),
        };
        let must_wait =
            placed.is_pending || durability == Durability::Synced && !seeded::is_on(Bug::SyncSkipped);
        // Before the writer is let go: from then on, anything may become of the commit.
        let waiting = must_wait.then(|| self.group.join(Goal::Visible(placed.lsn)));
        let due = if self.has_thread() { writer.upkeep() } else { Upkeep::Nothing };
        self.leave(writer);
        if durability == Durability::Buffered {
            self.ask_for_a_flush();
        }
        if waiting.is_none() {
            self.news.tell();
        }
        Ok(Deferred { lsn: placed.lsn, waiting, due })
    }

    /// Waits for what is left of a commit that was placed, and then sees to what it has made due.
    pub(crate) fn wait_for(self: &Arc<Self>, deferred: &Deferred) -> Result<()> {
        let waited = deferred.waiting.as_ref().map_or(Ok(()), |waiter| self.wait(waiter));
        self.keep_up(deferred.due, None);
        waited
    }

    /// Sees to all that waiting for a commit would see to: it may be that nobody waits. Where the caller must help, it waits after all.
    pub(crate) fn leave_open(self: &Arc<Self>, deferred: &mut Deferred) {
        let due = std::mem::replace(&mut deferred.due, Upkeep::Nothing);
        self.keep_up(due, deferred.waiting.as_ref());
        self.ask_for_a_flush();
    }

    /// What became of a commit that was placed. Where that is open, `task` is woken when it may no longer be, and somebody sees to it
    /// that it gets on.
    pub(crate) fn poll(self: &Arc<Self>, deferred: &Deferred, task: &Waker) -> Option<Result<()>> {
        let outcome = deferred.poll(task);
        if outcome.is_none() {
            self.flush_soon();
        }
        outcome
    }

    //= spec/semantics.md#s-6-5-flush
    //# When `flush` has returned with success, every commit before it MUST survive a power cut, whatever its
    //# class.
    //= spec/transactions.md#t-4-6-flush
    //# `flush` MUST return with success only once every commit that was placed before the call is durable.
    /// Makes durable everything placed before this call.
    pub(crate) fn flush(&self) -> Result<()> {
        let writer = self.core.writer()?;
        if let Err(error) = writer.check_open() {
            drop(writer);
            self.tell_poisoned().wake();
            return Err(error);
        }
        let waiter = self.group.join(Goal::Durable(writer.end()));
        drop(writer);
        self.wait(&waiter)?;
        // What was durable before may lie in a growth that no slot names yet.
        let is_named = self.core.writer()?.is_growth_named();
        if is_named { Ok(()) } else { self.lead().map(|_| ()) }
    }

    pub(super) fn wait(&self, waiter: &Waiter) -> Result<()> {
        waiter.wait(|| self.lead())
    }

    /// Carries out one sync for all who wait.
    fn lead(&self) -> Result<Progress> {
        self.gather();
        let mut unknown = Unknown { store: self, is_over: false };
        let led = self.sync();
        unknown.is_over = true;
        led
    }

    //= spec/media.md#m-3-4-the-commit-in-flight
    //# A store MUST NOT report it as rolled back.
    //= spec/semantics.md#s-8-1-three-answers
    //# A store MUST NOT report a write as refused or failed when a crash could still show its commit, but for
    //# the case of S-8.5.
    fn sync(&self) -> Result<Progress> {
        match self.core.begin_sync() {
            Ok(Some(job)) => {
                self.core.shared.sync_storage()?;
                self.core.end_sync(job)?;
            }
            Ok(None) => {}
            Err(error) => {
                // A writer that began an incarnation may have made durable, by itself, what the leader waits for.
                self.tell_progress().1.wake();
                return Err(error);
            }
        }
        self.news.tell();
        let (progress, tasks) = self.tell_progress();
        tasks.wake();
        Ok(progress)
    }

    /// Tells those who wait how far the store has come; before that, those whose commits were taken back. The LSNs of these lie below it, and
    /// whoever comes in first after they were taken back raises it.
    pub(super) fn tell_progress(&self) -> (Progress, Tasks) {
        let progress = self.core.progress();
        let gone = self.core.writer().map(|mut writer| self.tell_taken_back(&mut writer));
        (progress, gone.unwrap_or_default().and(self.group.learn(&Ok(progress))))
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

    fn tell_taken_back(&self, writer: &mut Writer) -> Tasks {
        let gone = std::mem::take(&mut writer.taken_back).into_iter();
        gone.fold(Tasks::default(), |tasks, gone| tasks.and(self.group.took_back(gone)))
    }

    //= spec/transactions.md#t-4-5-a-failed-sync
    //# Every call that waits MUST return the failure, and every later write and flush MUST be refused (S-8.3)
    //# until the store is reopened.
    /// Where nothing is written any more: those know who wait for a sync. One who leads finds out; a task has nobody to lead for it.
    pub(super) fn tell_poisoned(&self) -> Tasks {
        match self.core.shared.log.storage.check_writable() {
            Ok(()) => Tasks::default(),
            Err(error) => self.group.learn(&Err(error)),
        }
    }

    /// Whether the store sees to its upkeep on a thread of its own.
    pub(super) fn has_thread(&self) -> bool {
        self.core.shared.options.background == Background::Thread
    }

    /// Has the worker make durable in time what no thread waits for.
    pub(crate) fn ask_for_a_flush(self: &Arc<Self>) {
        if self.has_thread() {
            self.worker.flush_in_time(self);
        }
    }

    /// Has the worker flush now, if the store has one.
    pub(super) fn flush_soon(self: &Arc<Self>) {
        if self.has_thread() {
            self.worker.flush_within(self, Duration::ZERO);
        }
    }

    /// Ends this life of the store, and reports the last error. Those are told who still wait: nobody may come after this who does.
    pub(crate) fn close(&self) -> Result<()> {
        self.worker.stop();
        // It makes the next opening quicker; the log alone is as good.
        let wanted = self.core.wants_checkpoint_at_close();
        let failed = if wanted { self.checkpoint().err() } else { None };
        let closed = self.core.close().map_err(|error| match error {
            // What stopped it says more than that it has stopped.
            Error::Poisoned { .. } => failed.unwrap_or(error),
            error => error,
        });
        self.tell_progress().1.and(self.tell_poisoned()).wake();
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
            self.store.core.shared.log.storage.poison("panic during a sync".to_owned());
        }
    }
}

/// A leader gives way this often at most before it begins.
const GATHER_YIELDS_MAX: usize = 32;
