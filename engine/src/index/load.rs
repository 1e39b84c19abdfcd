//! Filling an empty index with entries in the order of their keys, as a checkpoint has them: no page is asked whether it should exist for each
//! key, and no map is searched.

use std::collections::BTreeMap;

use crate::document::{Key, KeyRef};
use crate::sync::{Ordering, write};

use super::mixed::{DIRECTORY_SLACK, MixedIndex};
use super::{Entry, paged::PagedInts};

/// An index in the making.
#[derive(Debug)]
pub(crate) struct Loader<'a> {
    index: &'a MixedIndex,
    /// The page that the last integers belong to, and what it is to hold, by place: few collections have pages full of keys, so what is
    /// empty is not gone through.
    page: u64,
    entries: Vec<(usize, Entry)>,
    /// Keys that no page holds, in order.
    rest: Vec<(Key, Entry)>,
}

impl<'a> Loader<'a> {
    /// Fills `index`, which is empty.
    pub(crate) fn new(index: &'a MixedIndex) -> Self {
        Loader { index, page: 0, entries: Vec::new(), rest: Vec::new() }
    }

    /// Adds an entry, whose key is above all before.
    #[inline]
    pub(crate) fn push(&mut self, key: KeyRef<'_>, entry: Entry) {
        let KeyRef::Int(int) = key else {
            self.rest.push((key.to_key(), entry));
            return;
        };
        match self.index.ints.page_of(int) {
            Some(page) => {
                if page != self.page {
                    self.end_page();
                    self.page = page;
                }
                let place = (int.unsigned_abs() & (self.index.ints.page_len() - 1)) as usize;
                self.entries.push((place, entry));
            }
            None => self.rest.push((Key::Int(int), entry)),
        }
    }

    /// Makes a page of the integers that belong together where they are dense enough, as a writer would; else they go into the map.
    fn end_page(&mut self) {
        let pages: &PagedInts = &self.index.ints;
        let is_dense = self.entries.len() as u64 * 4 >= pages.page_len();
        if is_dense && self.page < DIRECTORY_SLACK * (pages.count() + 1) {
            pages.create(self.page, |page| {
                self.entries
                    .iter()
                    .for_each(|(place, entry)| page[*place].store(entry.bits(), Ordering::Relaxed));
            });
        } else {
            let first = (self.page * pages.page_len()) as i64;
            let entries = self.entries.iter();
            self.rest.extend(entries.map(|(place, entry)| (Key::Int(first + *place as i64), *entry)));
        }
        self.entries.clear();
    }

    /// The index has everything that was added.
    pub(crate) fn finish(mut self) {
        self.end_page();
        // They came in order, so the map is built at once.
        let map: BTreeMap<Key, Entry> = self.rest.into_iter().collect();
        self.index.rest_len.store(map.len() as u64, Ordering::Release);
        *write(&self.index.rest) = map;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{KeyRange, PrimaryIndex};
    use super::*;
    use crate::format::LogAddress;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_index_that_is_loaded_is_one_that_was_filled_key_by_key(
            ints in proptest::collection::btree_set(prop_oneof![8 => -3i64..200, 1 => any::<i64>()], 0..300),
            texts in proptest::collection::btree_set("[ab]{0,2}", 0..5),
        ) {
            let keys: Vec<Key> =
                ints.into_iter().map(Key::Int).chain(texts.iter().map(|text| Key::Text(text.as_str().into()))).collect();
            let (loaded, filled) = (MixedIndex::new(4), MixedIndex::new(4));
            let mut loader = Loader::new(&loaded);
            for (number, key) in keys.iter().enumerate() {
                let entry = Entry::new(LogAddress(1 + number as u64), false);
                loader.push(key.as_ref(), entry);
                filled.set(key.as_ref(), entry);
            }
            loader.finish();
            let all = |index: &MixedIndex| {
                let mut out = Vec::new();
                index.page(&KeyRange::all(), false, usize::MAX, &mut out);
                out
            };
            prop_assert_eq!(all(&loaded), all(&filled));
            for key in &keys {
                prop_assert_eq!(loaded.get(key.as_ref()), filled.get(key.as_ref()));
            }
        }
    }
}
