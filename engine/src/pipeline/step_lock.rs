//! One step of maintenance at a time.

use crate::sync::{AtomicBool, Mutex, MutexGuard, Ordering, lock};

/// Held during a step, so that no two are taken at a time.
#[derive(Debug, Default)]
pub(super) struct StepLock {
    one: Mutex<()>,
    is_held: AtomicBool,
}

/// A step that is being taken: the only one, for as long as this lives.
pub(super) struct Step<'a> {
    is_held: &'a AtomicBool,
    _one: MutexGuard<'a, ()>,
}

impl StepLock {
    /// Waits until no other thread takes a step.
    pub(super) fn begin_step(&self) -> Step<'_> {
        let _one = lock(&self.one);
        self.is_held.store(true, Ordering::Relaxed);
        Step { is_held: &self.is_held, _one }
    }

    /// Whether some thread takes a step at the moment, and so has the writer now and then.
    pub(super) fn is_held(&self) -> bool {
        self.is_held.load(Ordering::Relaxed)
    }
}

impl Drop for Step<'_> {
    fn drop(&mut self) {
        self.is_held.store(false, Ordering::Relaxed);
    }
}
