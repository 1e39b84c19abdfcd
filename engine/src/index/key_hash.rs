//! A hash of keys for tables in memory.

use std::hash::{BuildHasher, RandomState};

use crate::document::KeyRef;

/// A hash function that those who choose keys do not know, so that they cannot make all of them collide. It decides nothing that shows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeyHash {
    start: u64,
    /// Odd, so that it loses nothing of what it is multiplied with.
    factor: u64,
}

impl Default for KeyHash {
    fn default() -> Self {
        let random = RandomState::new();
        KeyHash { start: random.hash_one(0), factor: random.hash_one(1) | 1 }
    }
}

impl KeyHash {
    /// The hash of a key of a collection: each eight bytes are multiplied in, and both halves of the product kept (as in wyhash).
    #[inline]
    pub(crate) fn of(self, collection: u32, key: KeyRef<'_>) -> u64 {
        let mix = |state: u64, word: u64| {
            let product = u128::from(state ^ word) * u128::from(self.factor);
            product as u64 ^ (product >> 64) as u64
        };
        let start = mix(self.start, u64::from(collection));
        let payload = match key {
            KeyRef::Int(int) => return mix(start, int as u64),
            KeyRef::Text(text) => text.as_bytes(),
            KeyRef::Bytes(bytes) => bytes,
        };
        let (words, rest) = payload.as_chunks();
        let state = words.iter().fold(start, |state, word| mix(state, u64::from_le_bytes(*word)));
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        mix(mix(state, u64::from_le_bytes(last)), payload.len() as u64)
    }
}
