//! Filling an empty index with what a checkpoint has.
//!
//! Ints stand in a checkpoint in the order in which the pages have them, so the pages of a large collection are not filled when the store
//! opens: what the checkpoint's leaves have for each is kept as it is, checked, and spread out when somebody first asks for the page.
//! A leaf takes two or three bytes a document where a page takes eight, and new memory costs more than reading.

use crate::document::KeyRef;
use crate::format::checkpoint::{Entries, Stretch};
use crate::secondary::{EntryLimits, IndexDefinition};
use crate::sync::{Arc, Ordering, write};

use super::documents::since_ever;
use super::held::{Held, entry};
use super::mixed::{MixedIndex, map_node_len};
use super::paged::{DIRECTORY_SLACK, PagedInts};
use super::rest::RestBuilder;

/// A collection of fewer pages is filled at once: keeping leaves would cost it more than it spares.
const HELD_PAGES_MIN: u64 = 2;

/// An index in the making.
#[derive(Debug)]
pub(crate) struct Loader<'a> {
    index: &'a MixedIndex,
    /// Whether pages are left to be filled when they are asked for.
    is_lazy: bool,
    /// The page that the last integers belong to, and what it is to hold.
    page: u64,
    held: Vec<Held>,
    /// Keys that no page holds, in order.
    rest: RestBuilder,
}

impl<'a> Loader<'a> {
    /// Fills `index`, which is empty, with `count` entries.
    pub(crate) fn new(index: &'a MixedIndex, count: u64) -> Self {
        let is_lazy = count >= HELD_PAGES_MIN * index.ints.page_len();
        let rest = RestBuilder::new(map_node_len(index.ints.page_shift()));
        Loader { index, is_lazy, page: 0, held: Vec::new(), rest }
    }

    /// Makes a page of the integers that belong together where they are dense enough, as a writer would; else they go into the map.
    fn end_page(&mut self) {
        let pages: &PagedInts = &self.index.ints;
        let count: u64 = self.held.iter().map(|held| u64::from(held.stretch.count())).sum();
        let is_dense = count * 4 >= pages.page_len();
        if is_dense && self.page < DIRECTORY_SLACK * (pages.count() + 1) {
            pages.hold(self.page, std::mem::take(&mut self.held));
            if !self.is_lazy {
                pages.page(self.page).expect("what is held is a page when it is asked for");
            }
        } else {
            for held in self.held.drain(..) {
                held.each(|key, entry| self.rest.push(KeyRef::Int(key), entry));
            }
        }
    }

    /// The index has everything that was added.
    pub(crate) fn finish(mut self) {
        self.end_page();
        let map = self.rest.finish();
        self.index.rest_len.store(map.len() as u64, Ordering::Release);
        *write(&self.index.rest) = map;
    }
}

impl Entries for Loader<'_> {
    fn ints(&mut self, entries: &[u8], stretches: &[Stretch]) {
        let entries = Arc::<[u8]>::from(entries);
        for stretch in stretches {
            match self.index.ints.page_of(stretch.first_key()) {
                Some(page) => {
                    if page != self.page {
                        self.end_page();
                        self.page = page;
                    }
                    self.held.push(Held { entries: Arc::clone(&entries), stretch: *stretch });
                }
                None => stretch.each(&entries, |key, value| self.rest.push(KeyRef::Int(key), entry(value))),
            }
        }
    }

    fn key(&mut self, key: KeyRef<'_>, value: u64) {
        self.rest.push(key, entry(value));
    }
}

/// The entries of a secondary index in the making: each must be one of its definition.
#[derive(Debug)]
pub(crate) struct EntryLoader<'a> {
    loader: Loader<'a>,
    definition: &'a IndexDefinition,
    limits: EntryLimits,
    fault: Option<&'static str>,
}

impl<'a> EntryLoader<'a> {
    pub(crate) fn new(loader: Loader<'a>, definition: &'a IndexDefinition, limits: EntryLimits) -> Self {
        EntryLoader { loader, definition, limits, fault: None }
    }

    /// The index has everything that was added; or what is wrong with that.
    pub(crate) fn finish(self) -> Result<(), &'static str> {
        self.loader.finish();
        self.fault.map_or(Ok(()), Err)
    }
}

impl Entries for EntryLoader<'_> {
    fn ints(&mut self, _: &[u8], _: &[Stretch]) {
        self.fault = Some("an int among the entries of an index");
    }

    //= spec/format.md#f-8-10-indexes
    //# The value of each entry MUST be 4.
    //= spec/index.md#i-7-2-entries-from-bytes
    //# A reader MUST refuse bytes that are not those of an entry of the definition: a component that is no order
    //# key, a key that is none (E-5.6), a mark above 2, a mark of a number that it does not fit, more marks than
    //# numbers, a zero that ends them.
    fn key(&mut self, key: KeyRef<'_>, value: u64) {
        let KeyRef::Bytes(bytes) = key else {
            self.fault = Some("a text among the entries of an index");
            return;
        };
        if value != since_ever().value() {
            self.fault = Some("an entry of an index with an address");
        }
        if let Err(what) = self.definition.parse(bytes, self.limits) {
            self.fault = Some(what);
        }
        self.loader.key(KeyRef::Bytes(bytes), since_ever().value());
    }
}

/// An index with pages of `1 << page_shift` keys that was loaded from leaves of so many entries.
#[cfg(test)]
pub(super) fn loaded(
    page_shift: u32,
    entries: &[(crate::document::Key, super::Entry)],
    leaf_len: usize,
) -> MixedIndex {
    use crate::format::LogAddress;
    use crate::format::checkpoint::{Limits, pass_through_a_leaf};

    let index = MixedIndex::new(page_shift);
    let mut loader = Loader::new(&index, entries.len() as u64);
    for leaf in entries.chunks(leaf_len) {
        let leaf: Vec<_> = leaf.iter().map(|(key, entry)| (key.as_ref(), entry.value())).collect();
        pass_through_a_leaf(&leaf, Limits::new(LogAddress::MAX, page_shift), &mut loader);
    }
    loader.finish();
    index
}

#[cfg(test)]
mod tests {
    use super::super::{Entries, Entry, KeyRange, PrimaryIndex};
    use super::*;
    use crate::document::Key;
    use crate::format::LogAddress;
    use proptest::prelude::*;

    const SHIFT: u32 = 4;

    fn loaded(entries: &[(Key, Entry)], leaf_len: usize) -> MixedIndex {
        super::loaded(SHIFT, entries, leaf_len)
    }

    fn all(index: &MixedIndex) -> Vec<(Key, Entry)> {
        let mut out = Entries::default();
        index.page(&KeyRange::all(), false, usize::MAX, &mut out);
        out.to_vec()
    }

    proptest! {
        #[test]
        fn an_index_that_is_loaded_is_one_that_was_filled_key_by_key(
            ints in proptest::collection::btree_set(prop_oneof![8 => -3i64..200, 1 => any::<i64>()], 0..300),
            texts in proptest::collection::btree_set("[ab]{0,2}", 0..5),
            growths in proptest::collection::vec(prop_oneof![8 => 8u64..2000, 1 => 0u64..70_000], 300),
            leaf_len in 1usize..100,
            changed in proptest::collection::vec((0i64..200, 0u64..9), 0..8),
        ) {
            let keys = ints.into_iter().map(Key::Int).chain(texts.iter().map(|text| Key::Text(text.as_str().into())));
            let mut address = 1;
            let entries: Vec<_> = keys.zip(growths.iter().cycle()).map(|(key, growth)| {
                address += growth;
                (key, Entry::new(LogAddress(address), growth % 32 == 9))
            }).collect();
            let (index, filled) = (loaded(&entries, leaf_len), MixedIndex::new(SHIFT));
            for (key, entry) in &entries {
                filled.set(key.as_ref(), *entry);
            }
            let fork = index.fork();
            prop_assert_eq!(all(&fork), all(&filled));
            // Pages are asked for by what comes first, reading, writing or taking out.
            for (key, address) in changed {
                let key = KeyRef::Int(key);
                prop_assert_eq!(index.get(key), filled.get(key));
                if address == 0 {
                    prop_assert_eq!(index.remove(key), filled.remove(key));
                } else {
                    let entry = Entry::new(LogAddress(address), false);
                    prop_assert_eq!(index.set(key, entry), filled.set(key, entry));
                }
            }
            let half_asked = index.fork();
            prop_assert_eq!(all(&index), all(&filled));
            prop_assert_eq!(all(&half_asked), all(&filled));
        }
    }

    #[test]
    fn a_page_that_was_loaded_takes_what_its_leaves_take_until_it_is_asked_for() {
        let entries: Vec<_> =
            (1..400_i64).map(|id| (Key::Int(id), Entry::new(LogAddress(id as u64 * 100), false))).collect();
        let index = loaded(&entries, 70);
        let before = index.memory_bytes();
        assert!(before < 4 * entries.len() + 4096, "{before} bytes");
        assert_eq!(index.get(KeyRef::Int(100)), Some(entries[99].1));
        let after = index.memory_bytes();
        assert!(after > before, "one page of sixteen is there now: {after} bytes, {before} before");
        assert_eq!(all(&index), entries);
        assert!(index.memory_bytes() >= 8 * entries.len());
    }
}

#[cfg(test)]
mod entry_tests {
    use super::super::PrimaryIndex;
    use super::*;
    use crate::document::{KeyRef, RawDocument};
    use crate::secondary::EntryList;

    //= spec/format.md#f-8-10-indexes
    //= type=test
    //# The value of each entry MUST be 4.
    //= spec/format.md#f-8-10-indexes
    //= type=test
    //# A reader MUST take a checkpoint for damaged when `of` is no id of a collection in it, when an id is that
    //# of a collection, that of another index, or above `last` of the root, when two indexes of a collection
    //# have one name, when a collection has more than 64, when an entry is none of its definition (I-7.2), or
    //# when it has another number of entries than `count`.
    #[test]
    fn only_entries_of_the_definition_are_loaded() {
        let definition = IndexDefinition::new("n", ["$.n"]).expect("a definition");
        let limits = EntryLimits::new(4000);
        let mut list = EntryList::default();
        let document = crate::doc! { "n": 7 }.encode();
        definition
            .entries(RawDocument::from_verified(&document), KeyRef::Int(3), limits, &mut list)
            .expect("one entry");
        let entry = list.iter().next().expect("one").to_vec();
        let cut = &entry[..entry.len() - 1];
        let cases = [
            (KeyRef::Bytes(&entry), 4, true),
            (KeyRef::Bytes(&entry), 8, false),
            (KeyRef::Bytes(&entry), 5, false),
            (KeyRef::Bytes(cut), 4, false),
            (KeyRef::Text("n"), 4, false),
        ];
        for (key, value, is_sound) in cases {
            let index = MixedIndex::new(4);
            let mut loader = EntryLoader::new(Loader::new(&index, 1), &definition, limits);
            loader.key(key, value);
            assert_eq!(loader.finish().is_ok(), is_sound, "{key:?} {value}");
            assert_eq!(index.get(KeyRef::Bytes(&entry)).is_some(), is_sound || key == KeyRef::Bytes(&entry));
        }
        let index = MixedIndex::new(4);
        let mut loader = EntryLoader::new(Loader::new(&index, 1), &definition, limits);
        loader.ints(&[], &[]);
        assert!(loader.finish().is_err());
    }
}
