//! Time on the processor, so that what else runs on the machine counts as little as it can.
//!
//! What a call computes is counted, in the store and in the kernel for it; waiting for a device, or for a turn, is not. Where
//! the operating system does not tell, the wall clock stands in.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::failure::Result;

/// A moment, on the thread's own clocks where there are any.
pub struct Moment {
    scheduled: Option<Scheduled>,
    wall: Instant,
}

impl Moment {
    pub fn now() -> Self {
        Moment { scheduled: Scheduled::so_far(), wall: Instant::now() }
    }

    /// How long the thread has run since.
    pub fn elapsed(&self) -> Duration {
        match (&self.scheduled, Scheduled::so_far()) {
            (Some(then), Some(now)) => now.ran - then.ran,
            _ => self.wall.elapsed(),
        }
    }

    /// How long the thread has run or slept since: the time by the wall without that in which it wanted a processor and others had
    /// them all. Waiting for a lock counts.
    pub fn elapsed_in_turn(&self) -> Duration {
        let wall = self.wall.elapsed();
        match (&self.scheduled, Scheduled::so_far()) {
            (Some(then), Some(now)) => wall.saturating_sub(now.queued - then.queued),
            _ => wall,
        }
    }
}

/// What this thread did so far, as Linux counts it.
struct Scheduled {
    ran: Duration,
    /// For how long it could have run and did not.
    queued: Duration,
}

impl Scheduled {
    fn so_far() -> Option<Self> {
        // The counts are brought up to date when the thread gives up its turn, and else only every few milliseconds.
        std::thread::yield_now();
        let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        let mut nanos = told.split_whitespace().map(|field| field.parse().ok().map(Duration::from_nanos));
        Some(Scheduled { ran: nanos.next()??, queued: nanos.next()?? })
    }
}

/// Calls `call` with each of `inputs`: the time of all of them together on the processor, and the sum of what they returned.
pub fn timed<I>(
    inputs: impl IntoIterator<Item = I>,
    call: impl FnMut(I) -> Result<u64>,
) -> Result<(Duration, u64)> {
    let begun = Moment::now();
    let sum = add_up(inputs, call)?;
    Ok((begun.elapsed(), sum))
}

/// As [`timed`], by the wall: where calls wait for a device, the wait is what is measured.
pub fn timed_by_wall<I>(
    inputs: impl IntoIterator<Item = I>,
    call: impl FnMut(I) -> Result<u64>,
) -> Result<(Duration, u64)> {
    let begun = Instant::now();
    let sum = add_up(inputs, call)?;
    Ok((begun.elapsed(), sum))
}

fn add_up<I>(inputs: impl IntoIterator<Item = I>, mut call: impl FnMut(I) -> Result<u64>) -> Result<u64> {
    let sum = inputs.into_iter().try_fold(0u64, |sum, input| Ok(sum.wrapping_add(call(black_box(input))?)));
    black_box(sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Failure;

    #[test]
    fn every_input_is_called_once() {
        assert_eq!(timed(1..=10u64, Ok).unwrap().1, 55);
        assert_eq!(timed_by_wall(1..=10u64, Ok).unwrap().1, 55);
    }

    #[test]
    fn sleep_is_time_in_turn_but_not_on_the_processor() {
        let begun = Moment::now();
        std::thread::sleep(Duration::from_millis(20));
        if begun.scheduled.is_some() {
            assert!(begun.elapsed() < Duration::from_millis(20));
        }
        assert!(begun.elapsed_in_turn() > Duration::from_millis(10));
    }

    #[test]
    fn a_call_that_fails_is_the_last() {
        let mut called = 0;
        let fail_at_two = |i| {
            called = i;
            if i == 2 { Err(Failure::new("a store", "reading", "no")) } else { Ok(i) }
        };
        assert!(timed(1..=10u64, fail_at_two).is_err());
        assert_eq!(called, 2);
    }
}
