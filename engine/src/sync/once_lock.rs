//! A `OnceLock` whose order a checker sees: neither loom nor shuttle has one.

use super::race::{Race, weakened};
use super::{AtomicBool, Ordering};

/// A value that is set once. It stands in the standard library's cell, which a checker does not look into; whether it may be seen
/// there is told by an atomic of the checker's own.
#[derive(Debug)]
pub(crate) struct OnceLock<T> {
    is_set: AtomicBool,
    value: std::sync::OnceLock<T>,
}

impl<T> OnceLock<T> {
    pub(crate) fn new() -> Self {
        OnceLock { is_set: AtomicBool::new(false), value: std::sync::OnceLock::new() }
    }

    pub(crate) fn get(&self) -> Option<&T> {
        if self.is_set.load(weakened(Race::OnceReadRelaxed, Ordering::Acquire)) {
            self.value.get()
        } else {
            None
        }
    }

    pub(crate) fn set(&self, value: T) -> Result<(), T> {
        // Both checkers switch threads right before an access to an atomic, and nowhere else between these two steps: so
        // nobody finds the mark without the value.
        let marked = self.is_set.compare_exchange(false, true, Ordering::AcqRel, Ordering::Acquire);
        match marked {
            Ok(_) => self.value.set(value),
            Err(_) => Err(value),
        }
    }

    /// Where two threads race, both may make a value, and the first to be done has its own taken; the standard library's
    /// lets one of them wait. Nothing here depends on which.
    pub(crate) fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        if self.get().is_none() {
            let _ = self.set(make());
        }
        self.value.get().expect("it was set just now, or before")
    }

    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn take(&mut self) -> Option<T> {
        self.is_set = AtomicBool::new(false);
        self.value.take()
    }
}

impl<T> Default for OnceLock<T> {
    fn default() -> Self {
        Self::new()
    }
}
