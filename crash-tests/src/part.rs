//! A part of a search: up to a moment, and of its cases one in so many.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// One of several parts of a search, for as many machines. Together the parts are the whole, and no two have a case in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shard {
    /// From 0.
    index: u32,
    count: NonZeroU32,
}

impl Shard {
    /// All cases.
    pub const WHOLE: Shard = Shard { index: 0, count: NonZeroU32::MIN };

    /// The part of this number, counted from 1, of `count` parts; none where there is no such part.
    pub fn new(number: u32, count: u32) -> Option<Self> {
        let index = number.checked_sub(1)?;
        let count = NonZeroU32::new(count)?;
        (index < count.get()).then_some(Shard { index, count })
    }

    /// Which it is, from 1.
    pub fn number(&self) -> u32 {
        self.index + 1
    }

    /// Of how many.
    pub fn count(&self) -> u32 {
        self.count.get()
    }

    /// The first case that belongs to it; each [`count`](Shard::count)-th after it does too.
    pub fn first(&self) -> u64 {
        u64::from(self.index)
    }

    /// Whether the case of this index, from 0, belongs to it.
    pub fn has(&self, case: u64) -> bool {
        case % u64::from(self.count.get()) == self.first()
    }
}

impl Default for Shard {
    fn default() -> Self {
        Shard::WHOLE
    }
}

/// When a search ends that has not come to its own end: at a moment, or when somebody asks it to.
#[derive(Debug, Clone, Default)]
pub struct Deadline {
    at: Option<Instant>,
    stops: Vec<Arc<AtomicBool>>,
}

impl Deadline {
    /// Never.
    pub fn never() -> Self {
        Deadline::default()
    }

    /// At `at`, or once one of `stops` is set.
    pub fn new(at: Instant, stops: impl IntoIterator<Item = Arc<AtomicBool>>) -> Self {
        Deadline { at: Some(at), stops: stops.into_iter().collect() }
    }

    /// The same, or the end of `time` from now on, whichever is first.
    #[must_use]
    pub fn within(&self, time: Duration) -> Self {
        let end = Instant::now() + time;
        Deadline { at: Some(self.at.map_or(end, |at| at.min(end))), stops: self.stops.clone() }
    }

    /// Whether it has come.
    pub fn is_over(&self) -> bool {
        self.is_stopped() || self.at.is_some_and(|at| Instant::now() >= at)
    }

    /// Whether somebody asked for the end.
    pub fn is_stopped(&self) -> bool {
        self.stops.iter().any(|stop| stop.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_belongs_to_exactly_one_shard() {
        for count in 1..7 {
            let shards: Vec<_> = (1..=count).map(|number| Shard::new(number, count).unwrap()).collect();
            for case in 0..50 {
                assert_eq!(
                    shards.iter().filter(|shard| shard.has(case)).count(),
                    1,
                    "case {case} of {count}"
                );
            }
            for shard in shards {
                assert_eq!((0..50).find(|case| shard.has(*case)), Some(shard.first()));
            }
        }
    }

    #[test]
    fn there_is_no_shard_zero_and_none_beyond_the_last() {
        for (number, count) in [(0, 3), (4, 3), (1, 0), (0, 0)] {
            assert_eq!(Shard::new(number, count), None, "{number}/{count}");
        }
    }

    #[test]
    fn a_deadline_is_over_when_its_moment_comes_or_when_it_is_asked_for() {
        let stop = Arc::new(AtomicBool::new(false));
        let far = Instant::now() + std::time::Duration::from_secs(3600);
        let deadline = Deadline::new(far, Some(Arc::clone(&stop)));
        assert!(!deadline.is_over() && !Deadline::never().is_over());
        stop.store(true, Ordering::Relaxed);
        assert!(deadline.is_over() && deadline.is_stopped());
        let past = Deadline::new(Instant::now(), None);
        assert!(past.is_over() && !past.is_stopped());
        assert!(Deadline::never().within(Duration::ZERO).is_over());
        assert!(past.within(Duration::from_secs(3600)).is_over(), "the earlier end counts");
        assert!(!Deadline::never().within(Duration::from_secs(3600)).is_over());
    }
}
