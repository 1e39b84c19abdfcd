//! The background worker: one thread with deadlines, which flushes and takes the steps of maintenance
//! that nobody waits for.
//!
//! It starts when it is first needed, sleeps until the next deadline, and ends with the store: a
//! thousand idle stores cost nothing. It holds no lock of its own while it works.

use crate::core::{Effort, Stepped};
use crate::error::Error;
use crate::sync::{Arc, Duration, Instant, Ordering, Weak, lock, thread};

use super::Store;
use super::agenda::{Agenda, Task, Wanted, Worker};

impl Worker {
    /// Has what is placed made durable within the interval that the store promises.
    pub(super) fn flush_in_time(&self, store: &Arc<Store>) {
        if !self.agenda.is_flush_planned.load(Ordering::SeqCst) {
            self.flush_within(store, store.core.shared.options.flush_interval);
        }
    }

    /// Has what is placed made durable after `interval` at the latest.
    pub(super) fn flush_within(&self, store: &Arc<Store>, interval: Duration) {
        self.start(store, || self.agenda.plan_flush(interval));
    }

    /// Has the worker look at what maintenance there is to do. Answers whether it is behind: it was asked before and has not looked yet, or there
    /// is no thread.
    pub(super) fn maintain(&self, store: &Arc<Store>) -> bool {
        let mut is_behind = true;
        let ask = |wanted: &mut Wanted| is_behind = std::mem::replace(&mut wanted.maintenance, true);
        self.start(store, || self.agenda.change(ask));
        is_behind
    }

    /// Starts the thread if it does not run, and gives it work. Where the system has no thread to
    /// give, the next call tries again; meanwhile `flush` works, and writers take the steps.
    fn start(&self, store: &Arc<Store>, give_work: impl FnOnce()) {
        let mut thread = lock(&self.thread);
        if thread.is_none() {
            let (agenda, store) = (Arc::clone(&self.agenda), Arc::downgrade(store));
            let named = thread::Builder::new().name("holotype-worker".to_owned());
            *thread = named.spawn(move || run(&store, &agenda)).ok();
        }
        if thread.is_some() {
            give_work();
        }
    }

    /// Ends the thread and waits for it, so that nothing uses the file afterwards.
    pub(super) fn stop(&self) {
        let Some(handle) = lock(&self.thread).take() else { return };
        self.agenda.change(|wanted| wanted.stop = true);
        // It may be that very thread: a task that it woke had the last handle.
        if handle.thread().id() != thread::current().id() {
            // A panic of that thread has reported itself; there is nothing to do here but go on.
            let _ = handle.join();
            self.agenda.change(|wanted| *wanted = Wanted::default());
            self.agenda.is_flush_planned.store(false, Ordering::SeqCst);
        }
    }
}

/// What the worker's maintenance is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Nothing is to be done until commits make it due.
    Idle,
    /// Looks at that time whether anybody writes.
    Watch(Instant),
    /// Takes a step at that time.
    Step(Effort, Instant),
}

/// No commits for so long: then there is time to make the file as small as it is to be at rest.
const QUIET: Duration = Duration::from_millis(300);
/// As long as less than this share of a segment is placed meanwhile, nobody writes; nor where it is
/// next to nothing of the file.
const QUIET_SHARE: u64 = 8;
const QUIET_SHARE_OF_FILE: u64 = 4096;
/// A transaction was open, and records must not move under it: the step is tried again after this.
const BUSY: Duration = Duration::from_millis(10);

impl Phase {
    fn go_on_at(self) -> Option<Instant> {
        match self {
            Phase::Idle => None,
            Phase::Watch(at) | Phase::Step(_, at) => Some(at),
        }
    }

    /// The phase after a step with `effort` that came out as `stepped`.
    fn after_step(effort: Effort, stepped: &Result<Stepped, Error>, now: Instant) -> Phase {
        match stepped {
            Ok(Stepped::Done) => Phase::Step(effort, now),
            Ok(Stepped::Busy) => Phase::Step(effort, now + BUSY),
            // Nothing is left, or it failed. A failure poisons the store, and every writer is told; a
            // full disk is met again by the next step that commits ask for.
            _ if effort == Effort::Rest => Phase::Idle,
            _ => Phase::Watch(now + QUIET),
        }
    }
}

/// How far the log had come at the last look.
#[derive(Debug, Default)]
struct Pace {
    end: u64,
}

impl Pace {
    /// Whether the log, which ends at `end` now, has hardly grown since this was asked last. A file
    /// that is made small for somebody who writes slowly would be made long again at once.
    fn is_quiet(&mut self, end: u64, segment_bytes: u32, file_len: u64) -> bool {
        let before = std::mem::replace(&mut self.end, end);
        let hardly = (u64::from(segment_bytes) / QUIET_SHARE).max(file_len / QUIET_SHARE_OF_FILE);
        end.saturating_sub(before) < hardly
    }

    fn is_quiet_in(&mut self, store: &Store) -> bool {
        let segment_bytes = store.core.shared.log.geometry.segment_bytes();
        store.core.log_end().is_ok_and(|(end, file_len)| self.is_quiet(end.0, segment_bytes, file_len))
    }
}

fn run(store: &Weak<Store>, agenda: &Agenda) {
    let (mut phase, mut pace) = (Phase::Idle, Pace::default());
    loop {
        let task = agenda.next(phase.go_on_at());
        if task == Task::Stop {
            return;
        }
        let Some(store) = store.upgrade() else { return };
        match (task, phase) {
            (Task::Flush, _) => flush(&store, agenda),
            (Task::Maintain, _) => {
                pace.is_quiet_in(&store);
                phase = Phase::Step(Effort::Keep, Instant::now());
            }
            (_, Phase::Step(effort, _)) => {
                phase = Phase::after_step(effort, &store.step(effort), Instant::now());
            }
            _ if pace.is_quiet_in(&store) => phase = Phase::Step(Effort::Rest, Instant::now()),
            // Threads that write ask for what they need.
            _ => phase = Phase::Watch(Instant::now() + QUIET),
        }
    }
}

//= spec/transactions.md#t-4-7-buffered-commits
//# A store SHOULD make `Buffered` commits durable within a stated interval, and MUST hand them over once a
//# stated number of bytes is waiting.
fn flush(store: &Store, agenda: &Agenda) {
    // A failure poisons the store, and every writer is told. A full disk is tried again.
    if let Err(Error::StorageFull { .. }) = store.flush() {
        agenda.plan_flush(store.core.shared.options.flush_interval);
    }
    store.end_old_snapshots();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_writes_slowly_writes_all_the_same() {
        let mut pace = Pace::default();
        for (end, is_quiet) in
            [(100, true), (227, true), (355, false), (483, false), (610, true), (610, true), (400, true)]
        {
            assert_eq!(pace.is_quiet(end, 1024, 4096 * 128), is_quiet, "{end}");
        }
        // Of a long file it is next to nothing.
        for (end, is_quiet) in [(500, true), (628, true), (757, false)] {
            assert_eq!(pace.is_quiet(end, 1024, 4096 * 129), is_quiet, "{end}");
        }
    }

    /// An agenda on which everything is wanted, the flush since a moment ago.
    fn full_agenda() -> Agenda {
        let agenda = Agenda::default();
        agenda.plan_flush(Duration::ZERO);
        agenda.change(|wanted| wanted.maintenance = true);
        agenda
    }

    #[test]
    fn a_flush_that_is_due_comes_before_maintenance_and_each_comes_once() {
        let agenda = full_agenda();
        let due = Some(Instant::now());
        let tasks: [Task; 4] = std::array::from_fn(|_| agenda.next(due));
        assert_eq!(tasks, [Task::Flush, Task::Maintain, Task::GoOn, Task::GoOn]);
        assert!(!agenda.is_flush_planned.load(Ordering::SeqCst));
        let stopped = full_agenda();
        stopped.change(|wanted| wanted.stop = true);
        assert_eq!(stopped.next(due), Task::Stop);
    }

    #[test]
    fn a_flush_is_carried_out_at_the_earliest_time_that_was_asked_for() {
        let (agenda, now) = (Agenda::default(), Instant::now());
        for far in [Duration::MAX, Duration::from_secs(3600)] {
            agenda.plan_flush(far);
            assert_eq!(agenda.next(Some(now)), Task::GoOn, "it is not due yet");
        }
        agenda.plan_flush(Duration::ZERO);
        agenda.plan_flush(Duration::from_secs(3600));
        assert_eq!(agenda.next(Some(now)), Task::Flush);
        assert_eq!(agenda.next(Some(now)), Task::GoOn, "one flush serves all that asked before it");
    }

    #[test]
    fn maintenance_steps_until_nothing_is_left_then_watches_then_rests() {
        let now = Instant::now();
        let after = |effort, stepped| Phase::after_step(effort, &stepped, now);
        assert_eq!(after(Effort::Keep, Ok(Stepped::Done)), Phase::Step(Effort::Keep, now));
        assert_eq!(after(Effort::Rest, Ok(Stepped::Busy)), Phase::Step(Effort::Rest, now + BUSY));
        assert_eq!(after(Effort::Keep, Ok(Stepped::Nothing)), Phase::Watch(now + QUIET));
        assert_eq!(after(Effort::Rest, Ok(Stepped::Nothing)), Phase::Idle);
        let full = || Error::StorageFull { operation: "a write".to_owned() };
        assert_eq!(after(Effort::Keep, Err(full())), Phase::Watch(now + QUIET));
        assert_eq!(after(Effort::Rest, Err(full())), Phase::Idle);
    }
}
