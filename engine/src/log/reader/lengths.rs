//! A guess at how long the next record is.

use std::sync::atomic::{AtomicU32, Ordering};

/// How long the records were that were put together last. A guess, by which it is decided in which order
/// things are tried and how much is read at first; so these are not the atomics of [`crate::sync`].
#[derive(Debug, Default)]
pub(super) struct Lengths {
    /// How many long ones there were in a row.
    long_in_a_row: AtomicU32,
    last: AtomicU32,
}

/// After so many long records the next is taken for one.
const LONG_IN_A_ROW: u32 = 8;

impl Lengths {
    /// Whether the next is likely to be long: then nothing is gained from the block that it begins in.
    pub(super) fn are_long(&self) -> bool {
        self.long_in_a_row.load(Ordering::Relaxed) >= LONG_IN_A_ROW
    }

    /// How long the last was.
    pub(super) fn last(&self) -> usize {
        self.last.load(Ordering::Relaxed) as usize
    }

    /// One more was put together.
    pub(super) fn met(&self, len: usize, is_long: bool) {
        let before = self.long_in_a_row.load(Ordering::Relaxed);
        self.long_in_a_row.store(if is_long { before.saturating_add(1) } else { 0 }, Ordering::Relaxed);
        self.last.store(u32::try_from(len).unwrap_or(u32::MAX), Ordering::Relaxed);
    }
}
