//! Which change of a transaction is the last of a key: what its own reads and writes ask before the index.

use std::collections::BTreeMap;

use hashbrown::HashTable;

use crate::document::{Key, KeyRef};
use crate::index::{KeyHash, KeyRange};
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
    hash: Option<KeyHash>,
}

impl Overlay {
    /// Bytes of memory that it takes, by what has entered: what is undone counts no more, whatever room is kept for it.
    pub(super) fn memory_bytes(&self) -> usize {
        let in_order = self.in_order.as_ref().map_or(0, BTreeMap::len);
        self.hashes.len() * 8 + self.last.len() * 16 + in_order * size_of::<((u32, Key), usize)>() * 3 / 2
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
        let hash = self.hash().of(collection, key);
        let found = self.last.find(hash, |&number| batch.is_change_of(number, collection, key));
        (found.copied(), hash)
    }

    #[inline]
    fn hash(&mut self) -> KeyHash {
        *self.hash.get_or_insert_default()
    }

    /// Enters the changes that have been made since.
    #[inline]
    fn enter_all(&mut self, batch: &Batch) {
        let hash = self.hash();
        while let Some(change) = batch.changes.get(self.hashes.len()) {
            match batch.place_of(self.hashes.len()) {
                Some((collection, key)) => self.enter(batch, change.before, hash.of(collection, key)),
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
