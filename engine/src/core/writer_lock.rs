//! The lock over the writer, which knows whether somebody waits for it.

use crate::sync::{AtomicUsize, Mutex, MutexGuard, Ordering, lock, try_lock};

use super::writer::Writer;

#[cfg(test)]
mod tests;

#[derive(Debug)]
pub(crate) struct WriterLock {
    writer: Mutex<Writer>,
    /// How many threads sleep for it; not who only looks again and again, or wakes from a wait for their turn.
    waiting: AtomicUsize,
}

impl WriterLock {
    pub(super) fn new(writer: Writer) -> Self {
        WriterLock { writer: Mutex::new(writer), waiting: AtomicUsize::new(0) }
    }

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

    pub(super) fn is_waited_for(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }
}
