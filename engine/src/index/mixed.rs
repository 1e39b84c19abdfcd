//! The index that begins simple: dense integer keys in pages of atomics, all other keys in a locked ordered map.
//!
//! A key is in the pages if its page exists, else in the map. Pages come into being where keys are dense, and then take
//! their keys out of the map; they never go away.

use std::collections::BTreeMap;
use std::ops::Bound;

use crate::document::{Key, KeyRef};
use crate::sync::race::{self, Race, weakened};
use crate::sync::{AtomicU64, Ordering, RwLock, read, write};

use super::paged::PagedInts;
use super::{Entry, KeyRange, PrimaryIndex};

#[derive(Debug)]
pub(crate) struct MixedIndex {
    pub(super) ints: PagedInts,
    pub(super) rest: RwLock<BTreeMap<Key, Entry>>,
    /// How many keys `rest` has. Stored under its lock, and read without, so that nobody asks an empty map.
    pub(super) rest_len: AtomicU64,
}

/// The page directory stays within this many times the pages that exist, so that a far key cannot blow it up.
pub(super) const DIRECTORY_SLACK: u64 = 4;

/// What one entry of the ordered map takes on average, nodes two thirds full, without the key's own heap bytes.
const MAP_ENTRY_BYTES: usize = (size_of::<Key>() + size_of::<Entry>()) * 3 / 2;

impl MixedIndex {
    /// An empty index whose pages hold `1 << page_shift` keys.
    pub(crate) fn new(page_shift: u32) -> Self {
        MixedIndex { ints: PagedInts::new(page_shift), rest: RwLock::default(), rest_len: AtomicU64::new(0) }
    }

    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn fork(&self) -> Self {
        let rest = read(&self.rest).clone();
        let rest_len = AtomicU64::new(rest.len() as u64);
        MixedIndex { ints: self.ints.fork(), rest: RwLock::new(rest), rest_len }
    }

    /// Creates the page of `key` where keys are dense enough: it continues a page that is half full, or a quarter of its
    /// own keys are in the map. Asked at every 1/16 of a page, so that counting costs next to nothing.
    fn grow_pages(&self, key: i64) {
        let Some(number) = self.ints.page_of(key) else { return };
        let page_len = self.ints.page_len();
        if number >= DIRECTORY_SLACK * (self.ints.count() + 1) {
            return;
        }
        let first = (number * page_len) as i64;
        let continues = number > 0 && key == first && self.ints.filled(number - 1) * 2 >= page_len;
        let asked = (key as u64 + 1).is_multiple_of((page_len / 16).max(1));
        let range = Key::Int(first)..=Key::Int(first + (page_len - 1) as i64);
        let dense = || read(&self.rest).range(range.clone()).count() as u64 * 4 >= page_len;
        if !(continues || asked && dense()) {
            return;
        }
        let moved: Vec<_> = read(&self.rest).range(range).map(|(key, entry)| (key.clone(), *entry)).collect();
        if race::is_on(Race::MapGivenUpFirst) {
            self.give_up(&moved);
        }
        // Readers look in the page first, then in the map, then in the page again: so the page is filled and
        // published before the map gives anything up.
        self.ints.create(number, |slots| {
            for (key, entry) in &moved {
                let Key::Int(key) = key else { unreachable!("a range between ints holds only ints") };
                slots[(key - first) as usize].store(entry.bits(), Ordering::Relaxed);
            }
        });
        self.give_up(&moved);
    }

    /// Takes out of the map what a page has.
    fn give_up(&self, moved: &[(Key, Entry)]) {
        self.change_rest(|rest| {
            for (key, _) in moved {
                rest.remove(key);
            }
        });
    }

    /// Changes the map. A reader that is let in by a commit's publication, or by a page's, sees a length no older than that.
    fn change_rest<R>(&self, change: impl FnOnce(&mut BTreeMap<Key, Entry>) -> R) -> R {
        let mut rest = write(&self.rest);
        let result = change(&mut rest);
        self.rest_len.store(rest.len() as u64, weakened(Race::MapLenRelaxed, Ordering::Release));
        result
    }

    fn in_rest(&self, key: KeyRef<'_>) -> Option<Entry> {
        if self.rest_len.load(Ordering::Acquire) == 0 {
            return None;
        }
        read(&self.rest).get(&key.to_key()).copied()
    }

    fn in_pages(&self, key: KeyRef<'_>) -> Option<Option<Entry>> {
        let KeyRef::Int(key) = key else { return None };
        Some(Entry::from_bits(self.ints.slot_as_it_is(key)?.load(Ordering::Acquire)))
    }

    /// As [`in_pages`](Self::in_pages), for whom that gave nothing: the page may have come into being just now, or be still to be filled.
    fn in_pages_after_all(&self, key: KeyRef<'_>) -> Option<Entry> {
        let KeyRef::Int(key) = key else { return None };
        Entry::from_bits(self.ints.slot_that_is_held(key)?.load(Ordering::Acquire))
    }
}

/// The integers of a range, or none.
fn int_bounds(range: &KeyRange) -> Option<(i64, i64)> {
    let from = match &range.from {
        Bound::Unbounded => 0,
        Bound::Included(Key::Int(key)) => *key,
        Bound::Excluded(Key::Int(key)) => key.checked_add(1)?,
        // Every int sorts before every text and every byte string.
        Bound::Included(_) | Bound::Excluded(_) => return None,
    };
    let to = match &range.to {
        Bound::Included(Key::Int(key)) => *key,
        Bound::Excluded(Key::Int(key)) => key.checked_sub(1)?,
        Bound::Unbounded | Bound::Included(_) | Bound::Excluded(_) => i64::MAX,
    };
    Some((from, to))
}

impl PrimaryIndex for MixedIndex {
    fn get(&self, key: KeyRef<'_>) -> Option<Entry> {
        if let Some(found) = self.in_pages(key) {
            return found;
        }
        if race::is_on(Race::PageNotAskedAgain) {
            return self.in_rest(key);
        }
        // What is not in the map may have moved into a page just now.
        self.in_rest(key).or_else(|| self.in_pages_after_all(key))
    }

    fn set(&self, key: KeyRef<'_>, entry: Entry) -> Option<Entry> {
        if let KeyRef::Int(int) = key {
            if self.ints.slot(int).is_none() {
                self.grow_pages(int);
            }
            if let Some(slot) = self.ints.slot(int) {
                return Entry::from_bits(slot.swap(entry.bits(), Ordering::AcqRel));
            }
        }
        self.change_rest(|rest| rest.insert(key.to_key(), entry))
    }

    fn remove(&self, key: KeyRef<'_>) -> Option<Entry> {
        if let KeyRef::Int(int) = key
            && let Some(slot) = self.ints.slot(int)
        {
            return Entry::from_bits(slot.swap(0, Ordering::AcqRel));
        }
        self.change_rest(|rest| rest.remove(&key.to_key()))
    }

    fn page(&self, range: &KeyRange, reverse: bool, limit: usize, out: &mut Vec<(Key, Entry)>) {
        if range.is_empty() || limit == 0 {
            return;
        }
        let start = out.len();
        {
            // The map first: a key that moves to a page meanwhile is then met at least once.
            let rest = read(&self.rest);
            let found = rest.range((range.from.as_ref(), range.to.as_ref()));
            let copy = |(key, entry): (&Key, &Entry)| (key.clone(), *entry);
            if reverse {
                out.extend(found.rev().take(limit).map(copy));
            } else {
                out.extend(found.take(limit).map(copy));
            }
        }
        let mut from_map = out.len() - start;
        if let Some((from, to)) = int_bounds(range) {
            let mut left = limit;
            self.ints.walk(from, to, reverse, |key, entry| {
                out.push((Key::Int(key), entry));
                left -= 1;
                left > 0
            });
        }
        let order = |a: &Key, b: &Key| if reverse { b.cmp(a) } else { a.cmp(b) };
        if out.len() - start - from_map == limit {
            // Enough: what the map has behind the last of them is for later, and mostly that is all that it has.
            let (last, _) = &out[out.len() - 1];
            let in_front = out[start..start + from_map].partition_point(|(key, _)| order(key, last).is_lt());
            out.drain(start + in_front..start + from_map);
            from_map = in_front;
        }
        if from_map > 0 && out.len() > start + from_map {
            out[start..].sort_by(|(a, _), (b, _)| order(a, b));
            out.dedup_by(|(later, _), (earlier, _)| later == earlier);
        }
        out.truncate(start + limit);
    }

    fn memory_bytes(&self) -> usize {
        let rest = read(&self.rest);
        self.ints.memory_bytes() + rest.len() * MAP_ENTRY_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::LogAddress;
    use proptest::prelude::*;

    fn entry(address: u64) -> Entry {
        Entry::new(LogAddress(address), false)
    }

    fn all(index: &MixedIndex, range: &KeyRange, reverse: bool) -> Vec<(Key, Entry)> {
        let mut out = Vec::new();
        let mut rest = range.clone();
        loop {
            let before = out.len();
            index.page(&rest, reverse, 3, &mut out);
            if out.len() < before + 3 {
                return out;
            }
            rest = rest.beyond(&out[out.len() - 1].0, reverse);
        }
    }

    #[test]
    fn auto_ids_take_at_most_nine_bytes_each_once_there_are_many() {
        let index = MixedIndex::new(12);
        for id in 1..=100_000 {
            index.set(KeyRef::Int(id), entry(id as u64));
        }
        assert!(index.memory_bytes() < 9 * 100_000, "{} bytes", index.memory_bytes());
    }

    #[test]
    fn far_keys_take_no_pages() {
        let index = MixedIndex::new(4);
        for i in 0..1000 {
            index.set(KeyRef::Int(i << 40), entry(1 + i as u64));
        }
        assert_eq!(index.ints.count(), 0, "sparse keys stay in the map");
    }

    fn keys() -> impl Strategy<Value = Key> {
        prop_oneof![
            8 => (-3i64..200).prop_map(Key::Int),
            1 => any::<i64>().prop_map(Key::Int),
            2 => "[ab]{0,2}".prop_map(|text| Key::Text(text.as_str().into())),
            1 => proptest::collection::vec(0u8..2, 0..2).prop_map(|bytes| Key::Bytes(bytes.into())),
        ]
    }

    fn bounds() -> impl Strategy<Value = Bound<Key>> {
        prop_oneof![
            Just(Bound::Unbounded),
            keys().prop_map(Bound::Included),
            keys().prop_map(Bound::Excluded)
        ]
    }

    proptest! {
        #[test]
        fn an_index_is_an_ordered_map(
            steps in proptest::collection::vec((keys(), 0u64..40), 0..400),
            from in bounds(),
            to in bounds(),
        ) {
            let index = MixedIndex::new(4);
            let mut map = BTreeMap::new();
            for (key, address) in steps {
                if address == 0 {
                    prop_assert_eq!(index.remove(key.as_ref()), map.remove(&key));
                } else {
                    prop_assert_eq!(index.set(key.as_ref(), entry(address)), map.insert(key.clone(), entry(address)));
                }
                prop_assert_eq!(index.get(key.as_ref()), map.get(&key).copied());
            }
            let range = KeyRange { from, to };
            let expected: Vec<_> = map.into_iter().filter(|(key, _)| range.contains(key)).collect();
            let copy = index.fork();
            prop_assert_eq!(&all(&index, &range, false), &expected);
            prop_assert_eq!(&all(&copy, &range, false), &expected);
            let reversed: Vec<_> = expected.into_iter().rev().collect();
            prop_assert_eq!(all(&index, &range, true), reversed);
        }
    }
}
