//! How long each of many calls took.

use std::time::{Duration, Instant};

/// The time of each call of one arm.
pub(crate) struct Times(Vec<Duration>);

/// Microseconds for a call.
pub(crate) struct Figures {
    pub(crate) mean: f64,
    pub(crate) median: f64,
    /// 99 of 100 calls took no longer.
    pub(crate) p99: f64,
}

impl Times {
    /// Room for `calls`, so that none of them pays for it.
    pub(crate) fn new(calls: usize) -> Self {
        Times(Vec::with_capacity(calls))
    }

    /// Times one call.
    pub(crate) fn time<R>(&mut self, call: impl FnOnce() -> R) -> R {
        let begun = Instant::now();
        let result = call();
        self.0.push(begun.elapsed());
        result
    }

    /// # Panics
    /// Where no call was timed.
    pub(crate) fn figures(mut self) -> Figures {
        assert!(!self.0.is_empty(), "a row has calls");
        self.0.sort_unstable();
        let microseconds = |time: Duration| time.as_secs_f64() * 1e6;
        let at = |share: usize| microseconds(self.0[(self.0.len() * share / 100).min(self.0.len() - 1)]);
        let sum: Duration = self.0.iter().sum();
        Figures { mean: microseconds(sum) / self.0.len() as f64, median: at(50), p99: at(99) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slow_call_of_a_hundred_is_the_p99_and_not_the_median() {
        let mut times = Times((1..100).map(|_| Duration::from_micros(2)).collect());
        times.0.push(Duration::from_micros(102));
        let Figures { mean, median, p99 } = times.figures();
        assert_eq!((mean.round(), median.round(), p99.round()), (3.0, 2.0, 102.0));
    }
}
