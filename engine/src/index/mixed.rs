//! The index: dense integer keys in pages of atomics, all other keys in a locked ordered map, which is [trees](super::tree).
//!
//! A key is in the pages if its page exists, else in the map. Pages come into being where keys are dense, and then take
//! their keys out of the map; they never go away.

use std::collections::BTreeMap;
use std::ops::Bound;

use crate::document::{Key, KeyRef};
use crate::format::LogAddress;
use crate::seeded::{self, Bug};
use crate::sync::race::{self, Race, weakened};
use crate::sync::{AtomicU64, Ordering, RwLock, read, write};

use super::paged::PagedInts;
use super::rest::{Kind, Rest};
use super::tree::KEYS_MAX;
use super::{Entries, Entry, Item, KeyRange, PrimaryIndex};

#[derive(Debug)]
pub(crate) struct MixedIndex {
    pub(super) ints: PagedInts,
    pub(super) rest: RwLock<Rest>,
    /// How many keys `rest` has. Stored under its lock, and read without, so that nobody asks an empty map.
    pub(super) rest_len: AtomicU64,
}

/// Keys in a node of the map where pages hold `1 << page_shift`: small beside small pages, which are for checks.
pub(super) fn map_node_len(page_shift: u32) -> usize {
    (1 << page_shift.min(16)).clamp(MAP_NODE_LEN_MIN, KEYS_MAX)
}

const MAP_NODE_LEN_MIN: usize = 4;

impl MixedIndex {
    /// An empty index whose pages hold `1 << page_shift` keys.
    pub(crate) fn new(page_shift: u32) -> Self {
        let rest = RwLock::new(Rest::new(map_node_len(page_shift)));
        MixedIndex { ints: PagedInts::new(page_shift), rest, rest_len: AtomicU64::new(0) }
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
        if number >= self.ints.far() {
            return;
        }
        let (first, last) = self.ints.ends_of(number);
        let continues = number > 0 && key == first && self.ints.filled(number - 1) * 2 >= page_len;
        let asked = (key as u64 + 1).is_multiple_of((page_len / 16).max(1));
        let dense = || read(&self.rest).count_ints(first, last) as u64 * 4 >= page_len;
        if !(continues || asked && dense()) {
            return;
        }
        self.create_page(number);
    }

    /// Makes the page `number`, which is not there, of what the map has for it.
    fn create_page(&self, number: u64) {
        let (first, last) = self.ints.ends_of(number);
        let moved = read(&self.rest).ints(first, last);
        if race::is_on(Race::MapGivenUpFirst) {
            self.give_up(&moved);
        }
        // Readers look in the page first, then in the map, then in the page again: so the page is filled and
        // published before the map gives anything up.
        self.ints.create(number, |slots| {
            for (key, entry) in &moved {
                slots[(key - first) as usize].store(entry.value(), Ordering::Relaxed);
            }
        });
        self.give_up(&moved);
    }

    /// Puts in the entries of a leaf, which are in order, where there are none for their keys and these are not among `deleted`. Nobody else
    /// changes the index meanwhile.
    pub(super) fn merge(&self, entries: &Entries, deleted: &BTreeMap<Key, LogAddress>) {
        let is_new = |key: KeyRef<'_>| deleted.is_empty() || !deleted.contains_key(&key.to_key());
        let is_free = |there: bool| !there || seeded::is_on(Bug::LeafOverwrites);
        let in_map = |items: &[Item<Entry>]| {
            let new =
                items.iter().map(|item| (entries.key(item), item.value)).filter(|(key, _)| is_new(*key));
            self.change_rest(|rest| {
                if seeded::is_on(Bug::LeafOverwrites) {
                    new.clone().for_each(|(key, _)| _ = rest.remove(key));
                }
                rest.merge(new);
            });
        };
        let mut items = entries.items();
        while let Some(number) = items.first().and_then(Item::int).map(|int| self.ints.page_of(int)) {
            let is_of_page =
                |item: &Item<Entry>| item.int().is_some_and(|int| self.ints.page_of(int) == number);
            let (ints, rest) = items.split_at(items.partition_point(is_of_page));
            items = rest;
            let Some(number) = number.filter(|number| self.has_page_for(*number, ints)) else {
                in_map(ints);
                continue;
            };
            let page = self.ints.page(number).expect("just made sure of");
            let (first, _) = self.ints.ends_of(number);
            for (int, entry) in ints.iter().filter_map(|item| Some((item.int()?, item.value))) {
                let slot = &page[(int - first) as usize];
                if is_new(KeyRef::Int(int)) && is_free(slot.load(Ordering::Relaxed) != 0) {
                    slot.store(entry.value(), Ordering::Release);
                }
            }
        }
        if !items.is_empty() {
            in_map(items);
        }
    }

    /// Puts in byte strings that come in order, where there are none. How many there were not.
    pub(super) fn merge_byte_strings(&self, entries: &[(&[u8], Entry)]) -> usize {
        self.change_rest(|rest| rest.tree_mut(Kind::Bytes).merge(entries))
    }

    /// Whether there is a page `number` for these ints of it, which are in order: it is made if they are dense enough and not too few.
    fn has_page_for(&self, number: u64, ints: &[Item<Entry>]) -> bool {
        if self.ints.page(number).is_some() {
            return true;
        }
        let [Some(first), Some(last)] = [ints.first(), ints.last()].map(|item| item.and_then(Item::int))
        else {
            return false;
        };
        let count = ints.len() as u64;
        let is_dense = count * 4 > last.abs_diff(first) && count * 16 >= self.ints.page_len();
        if is_dense && number < self.ints.far() {
            self.create_page(number);
        }
        self.ints.page(number).is_some()
    }

    /// Takes out of the map what a page has.
    fn give_up(&self, moved: &[(i64, Entry)]) {
        self.change_rest(|rest| {
            // The last one first: nothing behind it has to move.
            for (key, _) in moved.iter().rev() {
                rest.remove(KeyRef::Int(*key));
            }
        });
    }

    /// Takes out of the map what came before `since`.
    pub(super) fn forget(&self, range: &KeyRange, since: LogAddress) {
        let mut entries = Entries::default();
        self.change_rest(|rest| {
            rest.page(range, false, usize::MAX, &mut entries);
            let old = entries.iter().filter(|(_, entry)| entry.address() < since);
            old.for_each(|(key, _)| _ = rest.remove(key));
        });
    }

    /// Takes over what the map of `other` has, which has nothing then. Nobody else looks at either yet.
    pub(crate) fn take_rest(&self, other: &MixedIndex) {
        let empty = Rest::new(map_node_len(self.ints.page_shift()));
        let taken = other.change_rest(|rest| std::mem::replace(rest, empty));
        self.change_rest(|rest| *rest = taken);
    }

    /// Changes the map. A reader that is let in by a commit's publication, or by a page's, sees a length no older than that.
    fn change_rest<R>(&self, change: impl FnOnce(&mut Rest) -> R) -> R {
        let mut rest = write(&self.rest);
        let result = change(&mut rest);
        self.rest_len.store(rest.len() as u64, weakened(Race::MapLenRelaxed, Ordering::Release));
        result
    }

    /// Appends what there is for each of these byte strings, which come in order.
    pub(crate) fn get_byte_strings<'k>(
        &self,
        keys: impl Iterator<Item = &'k [u8]>,
        found: &mut Vec<Option<Entry>>,
    ) {
        let rest = read(&self.rest);
        let mut look = rest.tree(Kind::Bytes).ascending();
        found.extend(keys.map(|key| look.get(key)));
    }

    #[inline(always)]
    fn in_rest(&self, key: KeyRef<'_>) -> Option<Entry> {
        if self.rest_len.load(Ordering::Acquire) == 0 {
            return None;
        }
        read(&self.rest).get(key)
    }

    #[inline]
    fn in_pages(&self, key: KeyRef<'_>) -> Option<Option<Entry>> {
        let KeyRef::Int(key) = key else { return None };
        Some(Entry::from_bits(self.ints.slot(key)?.load(Ordering::Acquire)))
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
    #[inline]
    fn get(&self, key: KeyRef<'_>) -> Option<Entry> {
        if let Some(found) = self.in_pages(key) {
            return found;
        }
        if !matches!(key, KeyRef::Int(_)) || race::is_on(Race::PageNotAskedAgain) {
            return self.in_rest(key);
        }
        // An int that is not in the map may have moved into a page just now.
        self.in_rest(key).or_else(|| self.in_pages(key).flatten())
    }

    fn set(&self, key: KeyRef<'_>, entry: Entry) -> Option<Entry> {
        if let KeyRef::Int(int) = key {
            let slot = self.ints.slot(int).or_else(|| {
                self.grow_pages(int);
                self.ints.slot(int)
            });
            if let Some(slot) = slot {
                return Entry::from_bits(slot.swap(entry.value(), Ordering::AcqRel));
            }
        }
        self.change_rest(|rest| rest.insert(key, entry))
    }

    fn remove(&self, key: KeyRef<'_>) -> Option<Entry> {
        if let KeyRef::Int(int) = key
            && let Some(slot) = self.ints.slot(int)
        {
            return Entry::from_bits(slot.swap(0, Ordering::AcqRel));
        }
        self.change_rest(|rest| rest.remove(key))
    }

    fn page(&self, range: &KeyRange, reverse: bool, limit: usize, out: &mut Entries) {
        if range.is_empty() || limit == 0 {
            return;
        }
        let start = out.len();
        // The map first: a key that moves to a page meanwhile is then met at least once.
        if self.rest_len.load(Ordering::Acquire) > 0 {
            read(&self.rest).page(range, reverse, limit, out);
        }
        let mut from_map = out.len() - start;
        if let Some(bounds) = int_bounds(range) {
            self.ints.walk(bounds, reverse, limit, |key, entry| out.push_int(key, entry));
        }
        if out.len() - start - from_map == limit {
            // Enough: what the map has behind the last of them is for later, and mostly that is all that it has.
            let last = out.last_key().expect("a limit is not 0");
            let behind = |key: KeyRef<'_>| if reverse { key <= last } else { key >= last };
            let in_front =
                out.items()[start..start + from_map].partition_point(|item| !behind(out.key(item)));
            out.remove(start + in_front..start + from_map);
            from_map = in_front;
        }
        if from_map > 0 && out.len() > start + from_map {
            out.put_in_order(start, reverse);
        }
        out.truncate(start.saturating_add(limit));
    }

    fn count(&self, range: &KeyRange, limit: usize) -> usize {
        if range.is_empty() {
            return 0;
        }
        let has_rest = self.rest_len.load(Ordering::Acquire) > 0;
        let in_rest = if has_rest { read(&self.rest).count(range, limit) } else { 0 };
        let left = limit - in_rest;
        in_rest + int_bounds(range).map_or(0, |bounds| self.ints.walk(bounds, false, left, |_, _| ()))
    }

    fn memory_bytes(&self) -> usize {
        self.ints.memory_bytes() + read(&self.rest).memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::LogAddress;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn entry(address: u64) -> Entry {
        Entry::new(LogAddress(address), false)
    }

    fn all(index: &MixedIndex, range: &KeyRange, reverse: bool) -> Vec<(Key, Entry)> {
        let mut out = Entries::default();
        let mut rest = range.clone();
        loop {
            let before = out.len();
            index.page(&rest, reverse, 3, &mut out);
            if out.len() < before + 3 {
                return out.to_vec();
            }
            rest = rest.beyond(&out.last_key().expect("three").to_key(), reverse);
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
            4 => "(user-)?[ab]{0,4}".prop_map(|text| Key::Text(text.as_str().into())),
            2 => proptest::collection::vec(prop_oneof![Just(0), Just(1), Just(255)], 0..4)
                .prop_map(|bytes| Key::Bytes(bytes.into())),
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
            steps in proptest::collection::vec((keys(), prop_oneof![3 => 1u64..40, 1 => Just(0)]), 0..600),
            from in bounds(),
            to in bounds(),
            // Pages of 4 or 16 ints, and as many keys in the nodes of trees.
            page_shift in prop_oneof![Just(2), Just(4)],
        ) {
            let index = MixedIndex::new(page_shift);
            let mut map = BTreeMap::new();
            for (key, address) in steps {
                if address == 0 {
                    prop_assert_eq!(index.remove(key.as_ref()), map.remove(&key));
                } else {
                    prop_assert_eq!(index.set(key.as_ref(), entry(address)), map.insert(key.clone(), entry(address)));
                }
                prop_assert_eq!(index.get(key.as_ref()), map.get(&key).copied());
            }
            prop_assert_eq!(index.rest_len.load(Ordering::Relaxed), read(&index.rest).len() as u64);
            let range = KeyRange { from, to };
            let expected: Vec<_> = map.into_iter().filter(|(key, _)| range.contains(key)).collect();
            let copy = index.fork();
            prop_assert_eq!(&all(&index, &range, false), &expected);
            prop_assert_eq!(&all(&copy, &range, false), &expected);
            prop_assert_eq!(index.count(&range, usize::MAX), expected.len());
            prop_assert_eq!(index.count(&range, 3), expected.len().min(3));
            let reversed: Vec<_> = expected.into_iter().rev().collect();
            prop_assert_eq!(all(&index, &range, true), reversed);
        }
    }
}
