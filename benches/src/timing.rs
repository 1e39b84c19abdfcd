//! The clock around a run of calls. What the calls return is added up, so that none can be left out, and the sum is checked.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// Calls `call` with each of `inputs` and takes the time of all of them together; also the sum of what they returned.
pub fn timed<I>(inputs: impl IntoIterator<Item = I>, mut call: impl FnMut(I) -> u64) -> (Duration, u64) {
    let inputs = inputs.into_iter();
    let mut sum = 0u64;
    let begun = Instant::now();
    for input in inputs {
        sum = sum.wrapping_add(call(black_box(input)));
    }
    let took = begun.elapsed();
    (took, black_box(sum))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_input_is_called_once() {
        assert_eq!(timed(1..=10u64, |i| i).1, 55);
    }
}
