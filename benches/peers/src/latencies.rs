//! How long each of many calls took.

use std::time::{Duration, Instant};

/// The times of calls, and the time around all of them, by the wall.
#[derive(Debug, Clone)]
pub struct Latencies {
    sorted: Vec<Duration>,
    took: Duration,
}

impl Latencies {
    /// The times that threads took for their calls, and the time from when the first began until the last was done.
    pub fn new(mut each: Vec<Duration>, took: Duration) -> Self {
        assert!(!each.is_empty(), "something was timed");
        each.sort_unstable();
        Latencies { sorted: each, took }
    }

    pub fn per_second(&self) -> f64 {
        self.sorted.len() as f64 / self.took.as_secs_f64()
    }

    /// The time in microseconds that `share` of the calls did not pass.
    pub fn micros(&self, share: f64) -> f64 {
        micros_of(&self.sorted, share)
    }
}

/// As [`Latencies::micros`], of times in order.
pub fn micros_of(sorted: &[Duration], share: f64) -> f64 {
    let rank = (sorted.len() as f64 * share) as usize;
    sorted[rank.min(sorted.len() - 1)].as_secs_f64() * 1e6
}

/// Takes the time of one call.
pub fn time<R>(into: &mut Vec<Duration>, call: impl FnOnce() -> R) -> R {
    let begun = Instant::now();
    let result = call();
    into.push(begun.elapsed());
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_call_in_a_hundred_is_beyond_the_99th_percentile() {
        let each = (1..=200).rev().map(Duration::from_micros).collect();
        let latencies = Latencies::new(each, Duration::from_millis(100));
        assert!((latencies.micros(0.99) - 199.0).abs() < 1e-6);
        assert!((latencies.micros(0.5) - 101.0).abs() < 1e-6);
        assert!((latencies.per_second() - 2_000.0).abs() < 1e-6);
    }
}
