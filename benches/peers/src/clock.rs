//! Time on the processor, so that what else runs on the machine counts as little as it can.
//!
//! What a call computes is counted, in the store and in the kernel for it; waiting for a device, or for a turn, is not. Where
//! the operating system does not tell, the wall clock stands in.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// A moment, on the thread's own clock where there is one.
pub struct Moment {
    on_processor: Option<Duration>,
    wall: Instant,
}

impl Moment {
    pub fn now() -> Self {
        Moment { on_processor: on_processor(), wall: Instant::now() }
    }

    pub fn elapsed(&self) -> Duration {
        match (self.on_processor, on_processor()) {
            (Some(then), Some(now)) => now - then,
            _ => self.wall.elapsed(),
        }
    }
}

/// How long this thread has run so far, as Linux counts it.
fn on_processor() -> Option<Duration> {
    // The count is brought up to date when the thread gives up its turn, and else only every few milliseconds.
    std::thread::yield_now();
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    told.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

/// Calls `call` with each of `inputs`: the time of all of them together, and the sum of what they returned.
pub fn timed<I>(inputs: impl IntoIterator<Item = I>, mut call: impl FnMut(I) -> u64) -> (Duration, u64) {
    let begun = Moment::now();
    let sum = inputs.into_iter().fold(0u64, |sum, input| sum.wrapping_add(call(black_box(input))));
    let took = begun.elapsed();
    (took, black_box(sum))
}
