//! Group commit: of those who wait for a sync, one leads it for all.
//!
//! Whoever comes while a sync is under way waits for the next one, and so the next one is for many. (The idea is that of DeWitt and
//! others, "Implementation techniques for main memory database systems", 1984.)

use std::task::Waker;

use crate::core::Progress;
use crate::error::{Error, Result};
use crate::format::Lsn;
use crate::seeded::{self, Bug};
use crate::sync::race::{self, Race};
use crate::sync::{Arc, Condvar, Mutex, lock, wait};

/// What a caller waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Goal {
    /// The commit of this LSN is visible: so it is durable, too, if that is what its class asks for.
    Visible(Lsn),
    /// Everything up to this LSN is durable.
    Durable(Lsn),
}

/// Those who wait, and what they wait for.
#[derive(Debug)]
pub(crate) struct Group {
    state: Mutex<State>,
    /// Told whenever a sync has ended, well or not, and when commits were taken back.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    is_syncing: bool,
    progress: Progress,
    /// How many wait, the one that leads among them.
    waiting: usize,
    /// The failure after which nothing becomes durable any more.
    failure: Option<Error>,
    /// Commits, first and last, that found no room; kept while anybody waits.
    taken_back: Vec<(Lsn, Lsn, Error)>,
    /// Tasks that look again when a sync has ended.
    tasks: Vec<Waker>,
}

impl State {
    /// What became of `goal`; none while that is open.
    fn outcome(&self, goal: Goal) -> Option<Result<()>> {
        let (lsn, reached) = match goal {
            Goal::Visible(lsn) => (lsn, self.progress.visible),
            Goal::Durable(lsn) => (lsn, self.progress.durable),
        };
        // First of all: its LSN lies below commits that came after it. No sync ever reaches it, so whoever waits until it is durable
        // waits in vain, too.
        let gone = self.taken_back.iter().find(|(first, last, _)| (*first..=*last).contains(&lsn));
        if let Some((_, _, error)) = gone {
            return Some(Err(error.clone()));
        }
        if lsn <= reached {
            return Some(Ok(()));
        }
        self.failure.clone().map(Err)
    }
}

impl Group {
    pub(crate) fn new(progress: Progress) -> Self {
        let state = State { progress, ..State::default() };
        Group { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Takes note of one who will wait for this. Whoever waits for a commit does this before the writer is let go: nothing that becomes of the
    /// commit is missed then.
    pub(crate) fn join(self: &Arc<Self>, goal: Goal) -> Waiter {
        lock(&self.state).waiting += 1;
        Waiter { group: Arc::clone(self), goal }
    }

    /// How many wait now.
    pub(crate) fn waiting(&self) -> usize {
        lock(&self.state).waiting
    }

    /// These commits, from the first to the last, were taken back, for want of room: who waits for one of them waits no longer.
    pub(crate) fn took_back(&self, gone: (Lsn, Lsn, Error)) -> Tasks {
        let mut state = lock(&self.state);
        if state.waiting == 0 {
            return Tasks::default();
        }
        state.taken_back.push(gone);
        self.tell(&mut state)
    }

    /// What came of a sync, or of its want, that nobody led for this group.
    pub(crate) fn learn(&self, came: &Result<Progress>) -> Tasks {
        self.note(&mut lock(&self.state), came)
    }

    /// Has everybody look again: threads at once, tasks when the answer is woken. While a sync is led, that is for its leader, at its end: a
    /// task that the leader woke in the midst of it might wait for the leader.
    fn tell(&self, state: &mut State) -> Tasks {
        self.changed.notify_all();
        if state.is_syncing { Tasks::default() } else { Tasks(std::mem::take(&mut state.tasks)) }
    }

    /// Takes note of how far a sync has come.
    fn note(&self, state: &mut State, came: &Result<Progress>) -> Tasks {
        match came {
            Ok(progress) => {
                state.progress.durable = state.progress.durable.max(progress.durable);
                state.progress.visible = state.progress.visible.max(progress.visible);
            }
            // Who waits for what found no room is told by `taken_back`; others may find room yet.
            Err(Error::StorageFull { .. }) => {}
            Err(_) if seeded::is_on(Bug::FailedSyncAcknowledged) => {
                state.progress = Progress { durable: Lsn(u64::MAX), visible: Lsn(u64::MAX) };
            }
            Err(error) => {
                state.failure.get_or_insert_with(|| error.clone());
            }
        }
        if seeded::is_on(Bug::WakeUpLost) { Tasks::default() } else { self.tell(state) }
    }
}

/// Tasks to be woken. That runs the code of their executor, which may come back at once or drop what waits: so no lock is held then.
#[must_use = "a task that is not woken waits for ever"]
#[derive(Debug, Default)]
pub(crate) struct Tasks(Vec<Waker>);

impl Tasks {
    pub(crate) fn wake(self) {
        self.0.into_iter().for_each(Waker::wake);
    }

    /// These, and those of `other`.
    pub(crate) fn and(mut self, other: Tasks) -> Tasks {
        self.0.extend(other.0);
        self
    }
}

/// The one that leads. When it is dropped, another may, also after a panic: or all the others would wait for ever.
struct Leader<'a> {
    group: &'a Group,
    /// None where it panicked.
    led: Option<Result<Progress>>,
}

impl Drop for Leader<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.group.state);
        state.is_syncing = false;
        let tasks = match &self.led {
            Some(led) => self.group.note(&mut state, led),
            None => {
                let cause = "a panic in the midst of a sync".to_owned();
                self.group.note(&mut state, &Err(Error::Poisoned { cause }))
            }
        };
        drop(state);
        tasks.wake();
    }
}

/// One who waits.
#[derive(Debug)]
pub(crate) struct Waiter {
    group: Arc<Group>,
    goal: Goal,
}

impl Waiter {
    /// What became of the goal; none while that is open.
    pub(crate) fn look(&self) -> Option<Result<()>> {
        lock(&self.group.state).outcome(self.goal)
    }

    /// As [`look`](Self::look); where it is open, `task` is woken when it may no longer be.
    pub(crate) fn poll(&self, task: &Waker) -> Option<Result<()>> {
        let mut state = lock(&self.group.state);
        let outcome = state.outcome(self.goal);
        if outcome.is_none() && !state.tasks.iter().any(|known| known.will_wake(task)) {
            state.tasks.push(task.clone());
        }
        outcome
    }

    /// Waits until the goal is reached, and leads a sync where nobody else does: `lead` carries it out and says how far that got.
    pub(crate) fn wait(&self, lead: impl Fn() -> Result<Progress>) -> Result<()> {
        let (group, goal) = (&*self.group, self.goal);
        let mut state = lock(&group.state);
        loop {
            if let Some(outcome) = state.outcome(goal) {
                return outcome;
            }
            if state.is_syncing {
                state = wait(&group.changed, state);
                if race::is_on(Race::WokenIsDone) {
                    return Ok(());
                }
                continue;
            }
            state.is_syncing = true;
            drop(state);
            let mut leader = Leader { group, led: None };
            let led = lead();
            leader.led = Some(led.clone());
            drop(leader);
            state = lock(&group.state);
            // A sync that began after the commit was placed settles what became of it. Where it failed for want of room, and what was taken
            // back is another's, the commit is in the file: it has its turn in the next one. Who asked for all there is may try again.
            match (state.outcome(goal), led) {
                (Some(outcome), _) => return outcome,
                (None, Err(Error::StorageFull { .. }))
                    if matches!(goal, Goal::Visible(_)) && !seeded::is_on(Bug::FullDiskCommitKept) => {}
                (None, Err(error)) => return Err(error),
                (None, Ok(progress)) => panic!("a sync reached {progress:?}, which leaves {goal:?} open"),
            }
        }
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut state = lock(&self.group.state);
        state.waiting -= 1;
        if state.waiting == 0 {
            state.taken_back.clear();
        }
    }
}
