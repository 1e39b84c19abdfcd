//! Which blocks are worth their place in a full cache: those that are asked for again before long.
//!
//! The doorkeeper of TinyLFU (Einziger, Friedman, Manes, 2017), with a table of numbers in the place of a Bloom filter: what is asked for
//! later takes the place of what was asked for before, so nothing need be cleared.

use std::sync::atomic::{AtomicU64, Ordering};

use super::spread;

/// What a block of the usual length takes of a budget.
const BLOCK_SHIFT: u32 = 14;
const LEN_MIN: usize = 64;
const LEN_MAX: usize = 1 << 16;

/// The numbers of blocks that were asked for and not let in, each in the one place that is its own: about as many as the cache holds blocks.
/// By it only is decided how much is read; so these are not the atomics of [`crate::sync`].
#[derive(Debug)]
pub(super) struct Door(Box<[AtomicU64]>);

impl Door {
    /// The door of a cache of so many bytes.
    pub(super) fn new(budget: usize) -> Self {
        let len = (budget >> BLOCK_SHIFT).clamp(LEN_MIN, LEN_MAX).next_power_of_two();
        Door((0..len).map(|_| AtomicU64::new(0)).collect())
    }

    /// Takes note that block `number` is asked for. Whether it was before, and few others since.
    pub(super) fn knows(&self, number: u64) -> bool {
        let place = &self.0[spread(number) as usize & (self.0.len() - 1)];
        // 0 is no block's note.
        let note = number + 1;
        if place.load(Ordering::Relaxed) == note {
            return true;
        }
        place.store(note, Ordering::Relaxed);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_known_until_others_have_taken_its_place() {
        let door = Door::new(1 << 20);
        assert_eq!(door.0.len(), 64);
        assert!(!door.knows(0) && door.knows(0), "nobody has asked for block 0 before");
        assert!(!door.knows(7) && door.knows(7) && door.knows(7));
        let others = (1000..9000).filter(|other| !door.knows(*other)).count();
        assert!(others > 7000, "{others} of 8000 come for the first time");
        assert!(!door.knows(7), "so many others have come");
    }

    #[test]
    fn a_door_has_about_as_many_places_as_the_cache_has_blocks() {
        for (budget, len) in [(0, 64), (100 << 14, 128), (1 << 30, 1 << 16), (1 << 40, 1 << 16)] {
            assert_eq!(Door::new(budget).0.len(), len, "{budget}");
        }
    }
}
