//! Which change of a transaction is the last of a key: what its own reads and writes ask before the index.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};

use hashbrown::HashTable;

use crate::document::{Key, KeyRef};
use crate::index::KeyRange;
use crate::log::Batch;

/// The last change of each key, by its number in the batch. Keys stay in the batch, and are compared there.
///
/// A change enters when it is pushed, if the look-up before it left its hash; else when a key is first looked for after it: a
/// transaction that only inserts never makes a table.
#[derive(Debug, Clone, Default)]
pub(super) struct Overlay {
    last: HashTable<usize>,
    /// The hashes of the changes that have entered; of a change of the catalog, nothing.
    hashes: Vec<u64>,
    /// The same in key order, by collection: made by the first scan, and kept from then on.
    in_order: Option<BTreeMap<(u32, Key), usize>>,
    /// What those who choose keys do not know, so that they cannot make all of them collide. It decides nothing that shows.
    secret: Option<[u64; 2]>,
}

impl Overlay {
    /// Bytes of memory that it takes.
    pub(super) fn memory_bytes(&self) -> usize {
        let in_order = self.in_order.as_ref().map_or(0, BTreeMap::len);
        self.hashes.len() * 8 + self.last.capacity() * 9 + in_order * size_of::<((u32, Key), usize)>() * 3 / 2
    }

    pub(super) fn clear(&mut self) {
        if !self.hashes.is_empty() {
            self.last.clear();
            self.hashes.clear();
        }
        self.in_order = None;
    }

    /// The last change of `key` in the batch's collection of this number, and the hash of the key.
    #[inline]
    pub(super) fn find(&mut self, batch: &Batch, collection: u32, key: KeyRef<'_>) -> (Option<usize>, u64) {
        self.enter_all(batch);
        let hash = hash(self.secret(), collection, key);
        let found = self.last.find(hash, |&number| batch.is_change_of(number, collection, key));
        (found.copied(), hash)
    }

    #[inline]
    fn secret(&mut self) -> [u64; 2] {
        *self.secret.get_or_insert_with(|| {
            let random = RandomState::new();
            // An odd factor loses nothing of what it is multiplied with.
            [random.hash_one(0), random.hash_one(1) | 1]
        })
    }

    /// Enters the changes that have been made since.
    #[inline]
    fn enter_all(&mut self, batch: &Batch) {
        let secret = self.secret();
        while let Some(change) = batch.changes.get(self.hashes.len()) {
            match batch.place_of(self.hashes.len()) {
                Some((collection, key)) => self.enter(batch, change.before, hash(secret, collection, key)),
                None => self.hashes.push(0),
            }
        }
    }

    /// Enters the next change, that of a key with this hash, whose last change was `before`.
    #[inline]
    pub(super) fn enter(&mut self, batch: &Batch, before: Option<usize>, hash: u64) {
        let number = self.hashes.len();
        self.hashes.push(hash);
        match before {
            Some(before) => {
                let last = self.last.find_mut(hash, |&other| other == before);
                *last.expect("the change before it was entered") = number;
            }
            None => {
                let hashes = &self.hashes;
                self.last.insert_unique(hash, number, |&other| hashes[other]);
            }
        }
        if let Some(in_order) = &mut self.in_order
            && let Some((collection, key)) = batch.place_of(number)
        {
            in_order.insert((collection, key.to_key()), number);
        }
    }

    /// Forgets the changes from number `changes` on, which the batch still has.
    pub(super) fn truncate(&mut self, batch: &Batch, changes: usize) {
        for number in (changes..self.hashes.len()).rev() {
            let Some((collection, key)) = batch.place_of(number) else { continue };
            let Ok(mut last) = self.last.find_entry(self.hashes[number], |&other| other == number) else {
                unreachable!("the changes after it were forgotten first");
            };
            let before = batch.changes[number].before;
            match before {
                Some(before) => *last.get_mut() = before,
                None => _ = last.remove(),
            }
            if let Some(in_order) = &mut self.in_order {
                let place = (collection, key.to_key());
                match before {
                    Some(before) => in_order.insert(place, before),
                    None => in_order.remove(&place),
                };
            }
        }
        self.hashes.truncate(changes);
    }

    /// The last changes of the keys in `range`, in order.
    pub(super) fn in_range(
        &mut self,
        batch: &Batch,
        collection: u32,
        range: &KeyRange,
    ) -> BTreeMap<Key, usize> {
        self.enter_all(batch);
        let Overlay { last, in_order, .. } = self;
        let in_order = in_order.get_or_insert_with(|| {
            let places = last.iter().filter_map(|&number| Some((batch.place_of(number)?, number)));
            places.map(|((collection, key), number)| ((collection, key.to_key()), number)).collect()
        });
        let of_collection = in_order.range((collection, Key::Int(i64::MIN))..);
        of_collection
            .take_while(|((of, _), _)| *of == collection)
            .filter(|((_, key), _)| range.contains(key))
            .map(|((_, key), number)| (key.clone(), *number))
            .collect()
    }
}

/// The hash of a key: each eight bytes are multiplied in, and both halves of the product kept (as in wyhash).
#[inline]
fn hash([first, second]: [u64; 2], collection: u32, key: KeyRef<'_>) -> u64 {
    let mix = |state: u64, word: u64| {
        let product = u128::from(state ^ word) * u128::from(second);
        product as u64 ^ (product >> 64) as u64
    };
    let start = mix(first, u64::from(collection));
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
