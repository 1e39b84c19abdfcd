//! What the background worker is to do, and when.

use crate::sync::{
    Arc, AtomicBool, Condvar, Duration, Instant, Mutex, Ordering, lock, thread, wait, wait_timeout,
};

/// The worker, as the threads that give it work see it.
#[derive(Debug, Default)]
pub(super) struct Worker {
    pub(super) agenda: Arc<Agenda>,
    pub(super) thread: Mutex<Option<thread::JoinHandle<()>>>,
}

/// What the worker is to do, and when.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    wanted: Mutex<Wanted>,
    changed: Condvar,
    /// A flush is planned. Each `Buffered` commit looks here, so that only the first one locks.
    pub(super) is_flush_planned: AtomicBool,
}

#[derive(Debug, Default)]
pub(super) struct Wanted {
    flush_at: Option<Instant>,
    /// Commits have made maintenance due.
    pub(super) maintenance: bool,
    pub(super) stop: bool,
}

/// What the worker does next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Task {
    Stop,
    Flush,
    /// Commits have made maintenance due.
    Maintain,
    /// The deadline of the worker's own maintenance has passed.
    GoOn,
}

impl Agenda {
    pub(super) fn change(&self, change: impl FnOnce(&mut Wanted)) {
        change(&mut lock(&self.wanted));
        self.changed.notify_all();
    }

    /// Plans a flush after `interval`, or leaves the one that is planned before that.
    pub(super) fn plan_flush(&self, interval: Duration) {
        // A time that the clock cannot express never comes.
        let Some(at) = Instant::now().checked_add(interval) else { return };
        self.change(|wanted| {
            wanted.flush_at = Some(wanted.flush_at.map_or(at, |planned| planned.min(at)));
            self.is_flush_planned.store(true, Ordering::SeqCst);
        });
    }

    /// Waits for the next task. `go_on_at` is when maintenance goes on by itself.
    ///
    /// A flush comes before maintenance, since callers were promised a time. It is forgotten before
    /// it is carried out: a commit that comes meanwhile plans another.
    pub(super) fn next(&self, go_on_at: Option<Instant>) -> Task {
        let mut wanted = lock(&self.wanted);
        loop {
            let now = Instant::now();
            let is_over = |at: Option<Instant>| at.is_some_and(|at| at <= now);
            if wanted.stop {
                return Task::Stop;
            }
            if is_over(wanted.flush_at) {
                wanted.flush_at = None;
                self.is_flush_planned.store(false, Ordering::SeqCst);
                return Task::Flush;
            }
            if std::mem::take(&mut wanted.maintenance) {
                return Task::Maintain;
            }
            if is_over(go_on_at) {
                return Task::GoOn;
            }
            wanted = match wanted.flush_at.into_iter().chain(go_on_at).min() {
                None => wait(&self.changed, wanted),
                Some(at) => wait_timeout(&self.changed, wanted, at.saturating_duration_since(now)),
            };
        }
    }
}
