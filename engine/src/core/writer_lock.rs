//! The lock over the writer, which knows whether somebody waits for it.

use crate::sync::{AtomicUsize, Duration, Instant, Mutex, MutexGuard, Ordering, give_way, lock, try_lock};

use super::writer::Writer;

/// So long, at most, who passes gives way to those who wait: writers that never cease do not keep others from going on.
const PASSING_MAX: Duration = Duration::from_micros(500);

#[derive(Debug)]
pub(crate) struct WriterLock {
    writer: Mutex<Writer>,
    /// How many threads wait for it.
    waiting: AtomicUsize,
}

impl WriterLock {
    pub(super) fn new(writer: Writer) -> Self {
        WriterLock { writer: Mutex::new(writer), waiting: AtomicUsize::new(0) }
    }

    #[inline]
    pub(super) fn lock(&self) -> MutexGuard<'_, Writer> {
        // Under a checker, which does not look at who waits, a lock is taken in one step.
        if cfg!(any(loom, shuttle)) {
            return lock(&self.writer);
        }
        self.try_lock().unwrap_or_else(|| {
            self.waiting.fetch_add(1, Ordering::Relaxed);
            let writer = lock(&self.writer);
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            writer
        })
    }

    /// The writer, where nobody else has it at the moment.
    pub(super) fn try_lock(&self) -> Option<MutexGuard<'_, Writer>> {
        try_lock(&self.writer)
    }

    /// Lets those pass who wait, for the writer or for a processor: who lets go of a lock and takes it again at once has it before whoever is
    /// asleep for it.
    pub(super) fn let_pass(&self) {
        give_way();
        if self.waiting.load(Ordering::Relaxed) == 0 {
            return;
        }
        let begun = Instant::now();
        while self.waiting.load(Ordering::Relaxed) > 0 && begun.elapsed() < PASSING_MAX {
            give_way();
        }
    }
}
