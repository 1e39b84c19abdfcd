//! Tells those who watch that something has become visible.

use crate::sync::{AtomicUsize, Condvar, Instant, Mutex, Ordering, lock, wait, wait_timeout};

/// Costs a writer one load while nobody waits.
#[derive(Debug, Default)]
pub(crate) struct News {
    waiting: AtomicUsize,
    told: Mutex<u64>,
    changed: Condvar,
}

impl News {
    /// Something has become visible.
    pub(super) fn tell(&self) {
        if self.waiting.load(Ordering::SeqCst) > 0 {
            *lock(&self.told) += 1;
            self.changed.notify_all();
        }
    }

    /// Looks until `look` finds something or `deadline` has passed, if there is one: at once, and whenever there is news.
    pub(crate) fn wait_for<T, E>(
        &self,
        deadline: Option<Instant>,
        mut look: impl FnMut() -> Result<Option<T>, E>,
    ) -> Result<Option<T>, E> {
        // Before the look: what becomes visible after it is told.
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let found = loop {
            let told = *lock(&self.told);
            let found = look();
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if !matches!(found, Ok(None)) || left.is_some_and(|left| left.is_zero()) {
                break found;
            }
            let now = lock(&self.told);
            if *now == told {
                drop(match left {
                    Some(left) => wait_timeout(&self.changed, now, left),
                    None => wait(&self.changed, now),
                });
            }
        };
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        found
    }
}
