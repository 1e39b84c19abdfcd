//! The positions of the live feeds: what they still need keeps its place in the file.

use crate::seeded::{self, Bug};
use crate::sync::{Arc, AtomicU64, Mutex, Ordering, Weak, lock};

/// Where the live feeds stand: what lies before them is not needed by them, and what lies behind stays in place (spec: P-4.3).
#[derive(Debug, Default)]
pub(crate) struct Feeds(Mutex<Vec<Weak<AtomicU64>>>);

impl Feeds {
    /// A feed that may need everything, until it says otherwise.
    pub(super) fn enter(&self) -> Arc<AtomicU64> {
        let position = Arc::new(AtomicU64::new(0));
        let mut positions = lock(&self.0);
        positions.retain(|position| position.strong_count() > 0);
        positions.push(Arc::downgrade(&position));
        position
    }

    //= spec/space.md#p-4-3-feeds
    //# A writer MUST NOT give out the place of a segment that holds a commit which a live feed has not shown
    //# yet.
    /// Does `work` with the sequence of the oldest segment that a feed may still read. None enters meanwhile: it might find a segment that
    /// `work` takes away.
    pub(super) fn with_oldest<R>(&self, work: impl FnOnce(u64) -> R) -> R {
        let positions = lock(&self.0);
        let first = if seeded::is_on(Bug::NewestWatcherAlone) { positions.len().max(1) - 1 } else { 0 };
        let live = positions.iter().skip(first).filter_map(Weak::upgrade);
        let oldest = live.map(|position| position.load(Ordering::Acquire)).min().unwrap_or(u64::MAX);
        work(oldest)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    use super::*;

    #[test]
    fn no_feed_enters_while_segments_are_taken_away() {
        let (feeds, has_entered) = (Feeds::default(), AtomicBool::new(false));
        std::thread::scope(|scope| {
            feeds.with_oldest(|oldest| {
                assert_eq!(oldest, u64::MAX);
                scope.spawn(|| {
                    let position = feeds.enter();
                    has_entered.store(true, Ordering::Release);
                    assert_eq!(feeds.with_oldest(|oldest| oldest), position.load(Ordering::Acquire));
                });
                std::thread::sleep(Duration::from_millis(20));
                assert!(!has_entered.load(Ordering::Acquire));
            });
        });
        assert!(has_entered.load(Ordering::Acquire));
    }
}
