//! Indexes that are being built, which have the writer again and again: between two of their steps they let writers pass.

use crate::sync::{AtomicUsize, Duration, Instant, Ordering, thread};

/// So long, at most, a build waits between two steps for those who write: writers that never cease do not keep it from going on.
const PASSING_MAX: Duration = Duration::from_micros(500);

/// The builds that go on, and the writers that wait meanwhile.
#[derive(Debug, Default)]
pub(crate) struct Builds {
    pub(super) count: AtomicUsize,
    pub(super) waiting: AtomicUsize,
}

/// A build that goes on, for as long as this lives.
pub(crate) struct UnderWay<'a>(&'a Builds);

impl Builds {
    pub(crate) fn begin(&self) -> UnderWay<'_> {
        self.count.fetch_add(1, Ordering::Relaxed);
        UnderWay(self)
    }
}

impl UnderWay<'_> {
    /// Lets those pass who wait: who lets go of a lock and takes it again at once has it before whoever is asleep for it.
    pub(crate) fn let_pass(&self) {
        if self.0.waiting.load(Ordering::Relaxed) == 0 {
            return;
        }
        let begun = Instant::now();
        while self.0.waiting.load(Ordering::Relaxed) > 0 && begun.elapsed() < PASSING_MAX {
            thread::yield_now();
        }
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.count.fetch_sub(1, Ordering::Relaxed);
    }
}
