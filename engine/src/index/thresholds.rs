//! To the key: when pages of integers come into being, what an index takes; and what the catalog keeps of what has ended.

use super::mixed::map_node_len;
use super::paged::DIRECTORY_SLACK;
use super::paged::PagedInts;
use super::tree::Leaf;
use std::collections::BTreeMap;
use std::ops::Bound;

use super::*;
use crate::document::Document;
use crate::document::{Key, KeyRef};
use crate::format::catalog::CatalogChange;
use crate::format::{LogAddress, Lsn};
use crate::sync::{Arc, AtomicU64, OnceLock, write};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Pages of 64 keys: a quarter are 16, and every fourth key asks.
const SHIFT: u32 = 6;

fn entry(address: u64) -> Entry {
    Entry::new(LogAddress(address), false)
}

fn set(index: &MixedIndex, keys: impl IntoIterator<Item = i64>) {
    keys.into_iter().for_each(|key| _ = index.set(KeyRef::Int(key), entry(1 + key.unsigned_abs())));
}

/// An index with pages of 64 keys into which leaves of up to 100 of these entries were taken.
fn loaded(entries: &[(Key, Entry)]) -> MixedIndex {
    let index = MixedIndex::new(SHIFT);
    for leaf in entries.chunks(100) {
        let mut taken = Entries::default();
        leaf.iter().for_each(|(key, entry)| taken.push(key.as_ref(), *entry));
        index.merge(&taken, &BTreeMap::new());
    }
    index
}

fn pages(index: &MixedIndex) -> Vec<u64> {
    (0..index.ints.end()).filter(|number| index.ints.page(*number).is_some()).collect()
}

#[test]
fn a_page_comes_into_being_once_a_quarter_of_its_keys_are_there_and_it_is_asked() {
    for (before, key, is_made) in [
        // 83 is the last of four, and 81 is not.
        (64..80, 83, true),
        (65..80, 83, false),
        (64..80, 81, false),
        (64..81, 83, true),
        // Half of them belong to the page before.
        (56..72, 75, false),
    ] {
        let index = MixedIndex::new(SHIFT);
        set(&index, before.clone());
        assert!(pages(&index).is_empty(), "{before:?}");
        set(&index, [key]);
        assert_eq!(pages(&index).contains(&1), is_made, "{key} behind {before:?}");
        for key in before.chain([key]) {
            assert_eq!(index.get(KeyRef::Int(key)), Some(entry(1 + key.unsigned_abs())));
        }
    }
}

#[test]
fn a_page_goes_on_behind_one_that_is_half_full_with_its_first_key() {
    for (before, key, is_made) in
        [(0..32, 64, true), (0..31, 64, false), (0..32, 65, false), (0..64, 64, true)]
    {
        let index = MixedIndex::new(SHIFT);
        set(&index, before.clone());
        assert_eq!(pages(&index), [0]);
        set(&index, [key]);
        assert_eq!(pages(&index).contains(&1), is_made, "{key} behind {before:?}");
    }
}

#[test]
fn pages_keep_near_the_front_of_their_directory() {
    let page = |number: u64| (64 * number as i64)..(64 * number as i64 + 64);
    for (before, number, is_made) in [
        (vec![], DIRECTORY_SLACK - 1, true),
        (vec![], DIRECTORY_SLACK, false),
        (vec![0], 2 * DIRECTORY_SLACK - 1, true),
        (vec![0], 2 * DIRECTORY_SLACK, false),
    ] {
        let filled = MixedIndex::new(SHIFT);
        let keys: Vec<_> = before.iter().copied().chain([number]).flat_map(page).collect();
        set(&filled, keys.iter().copied());
        let entries: Vec<_> = keys.into_iter().map(|key| (Key::Int(key), entry(1 + key as u64))).collect();
        let loaded = loaded(&entries);
        for index in [&filled, &loaded] {
            assert_eq!(pages(index).contains(&number), is_made, "{number} behind {before:?}");
        }
    }
}

#[test]
fn what_is_loaded_goes_into_a_page_where_it_is_a_sixteenth_of_one_and_dense() {
    for (count, step, is_made) in [(3, 1, false), (4, 1, true), (15, 4, true), (16, 4, true), (12, 5, false)]
    {
        let entries: Vec<_> = (0..count).map(|number| (Key::Int(64 + step * number), entry(7))).collect();
        let index = loaded(&entries);
        assert_eq!(pages(&index), if is_made { vec![1] } else { vec![] }, "{count} keys");
        assert!(entries.iter().all(|(key, entry)| index.get(key.as_ref()) == Some(*entry)));
    }
}

#[test]
fn the_memory_of_an_index_is_that_of_its_pages_its_directory_and_its_map() {
    let ints = PagedInts::new(4);
    ints.create(0, |_| {});
    // The third level, of four pages.
    ints.create(5, |_| {});
    let directory = 5 * size_of::<OnceLock<Box<[AtomicU64]>>>();
    assert_eq!(ints.memory_bytes(), 2 * 16 * 8 + directory);
    let index = MixedIndex::new(4);
    assert_eq!(index.memory_bytes(), 0);
    set(&index, [-1, -2, -3]);
    // One leaf, and three ints of eight bytes with a sixteenth more.
    let in_map = size_of::<Leaf>() + 24 + 1;
    assert_eq!(index.memory_bytes(), in_map);
    set(&index, 0..16);
    assert_eq!(index.memory_bytes(), in_map + 16 * 8 + size_of::<OnceLock<Box<[AtomicU64]>>>());
}

#[test]
fn a_page_of_entries_costs_what_it_has() {
    let index = MixedIndex::new(SHIFT);
    set(&index, 0..5000);
    for reverse in [false, true] {
        let mut out = Entries::default();
        index.page(&KeyRange::all(), reverse, 3, &mut out);
        assert!(out.len() == 3 && out.items_capacity() < 100, "{} for three", out.items_capacity());
    }
}

#[test]
fn a_page_of_names_has_the_bytes_of_those_that_it_has() {
    let index = MixedIndex::new(SHIFT);
    let name = |number: i64| format!("{number:03}");
    (0..300).for_each(|number| _ = index.set(KeyRef::Text(&name(number)), entry(1 + number as u64)));
    for (reverse, expected) in [(false, [0, 1, 2]), (true, [299, 298, 297])] {
        let mut out = Entries::default();
        index.page(&KeyRange::all(), reverse, 3, &mut out);
        let expected = expected.map(|number| (Key::from(name(number)), entry(1 + number as u64)));
        assert_eq!(out.to_vec(), expected);
        assert_eq!(out.text_len(), 9, "no more than three are copied");
    }
}

#[test]
fn a_page_of_entries_stands_behind_what_is_there_already() {
    let index = MixedIndex::new(SHIFT);
    set(&index, 0..32);
    for text in ["x", "y"] {
        index.set(KeyRef::Text(text), entry(7));
    }
    let there = [1, 2, 3].map(|key| (Key::Int(key), entry(9)));
    let from = |key| KeyRange { from: Bound::Included(Key::Int(key)), to: Bound::Unbounded };
    for limit in 1..8 {
        for first in 26..32 {
            let (mut alone, mut behind) = (Entries::default(), Entries::default());
            there.iter().for_each(|(key, entry)| behind.push(key.as_ref(), *entry));
            index.page(&from(first), false, limit, &mut alone);
            index.page(&from(first), false, limit, &mut behind);
            assert_eq!(alone.len(), limit.min(34 - first as usize), "{limit} from {first}");
            assert_eq!(behind.to_vec(), [&there[..], &alone.to_vec()].concat(), "{limit} from {first}");
        }
    }
}

#[test]
fn a_key_in_a_page_is_read_while_the_map_is_being_changed() {
    let index = MixedIndex::new(SHIFT);
    set(&index, (0..32).chain([-1]));
    let map = write(&index.rest);
    thread::scope(|scope| {
        let (say, said) = mpsc::channel();
        let index = &index;
        scope.spawn(move || say.send(index.get(KeyRef::Int(5))));
        let found = said.recv_timeout(Duration::from_secs(5));
        drop(map);
        assert_eq!(found, Ok(Some(entry(6))), "it waits for nobody");
    });
}

#[test]
fn a_page_of_entries_waits_for_no_map_that_has_nothing() {
    let index = MixedIndex::new(SHIFT);
    set(&index, 0..32);
    let map = write(&index.rest);
    thread::scope(|scope| {
        let (say, said) = mpsc::channel();
        let index = &index;
        scope.spawn(move || {
            let mut out = Entries::default();
            index.page(&KeyRange::all(), false, 3, &mut out);
            say.send(out.len())
        });
        let found = said.recv_timeout(Duration::from_secs(5));
        drop(map);
        assert_eq!(found, Ok(3), "it waits for nobody");
    });
}

#[test]
fn the_map_has_as_many_keys_in_a_node_as_a_page_has_but_no_fewer_than_four_and_no_more_than_64() {
    let lens = [0, 1, 2, 3, 5, 6, 7, 12, 63].map(map_node_len);
    assert_eq!(lens, [4, 4, 4, 8, 32, 64, 64, 64, 64]);
}

#[test]
fn what_is_loaded_into_the_map_fills_its_nodes_as_what_was_put_there_does() {
    let entries: Vec<_> = (0..40).map(|number| (Key::from(format!("{number:02}")), entry(7))).collect();
    let index = loaded(&entries);
    assert_eq!(index.memory_bytes(), size_of::<Leaf>() + 2 * 40 + 2 * 40 / 16, "one leaf");
}

#[test]
fn a_range_from_a_key_to_itself_has_that_key_unless_it_leaves_it_out() {
    let key = || Key::Int(5);
    for (from, to, is_empty) in [
        (Bound::Included(key()), Bound::Included(key()), false),
        (Bound::Included(key()), Bound::Excluded(key()), true),
        (Bound::Excluded(key()), Bound::Included(key()), true),
        (Bound::Included(Key::Int(6)), Bound::Included(key()), true),
        (Bound::Unbounded, Bound::Excluded(key()), false),
    ] {
        let range = KeyRange { from, to };
        assert_eq!(range.is_empty(), is_empty, "{range:?}");
    }
}

#[test]
fn an_entry_is_shown_with_what_it_says_of_its_record() {
    let shown =
        |relocated, chunked| format!("{:?}", Entry::new(LogAddress(7), relocated).with_chunked(chunked));
    let address = format!("{:?}", LogAddress(7));
    assert_eq!(shown(false, false), address);
    assert_eq!(shown(true, false), format!("relocated {address}"));
    assert_eq!(shown(false, true), format!("chunked {address}"));
    assert_eq!(shown(true, true), format!("relocated chunked {address}"));
}

fn state(address: u64) -> State {
    State { lsn: Lsn(address), address: LogAddress(address) }
}

fn documents(id: u32) -> Arc<Documents> {
    Arc::new(Documents::new(id, Layout::new(4)))
}

/// A catalog of "a", 1, and "b", 2.
fn catalog() -> Catalog {
    let mut catalog = Catalog::default();
    for (id, name, at) in [(1, "a", 10), (2, "b", 20)] {
        let change = CatalogChange::Create { id, name: name.into() };
        catalog.carry_out(&change, Some(documents(id)), LogAddress(at)).expect("the name is free");
    }
    catalog
}

fn id_of(catalog: &Catalog, name: &str) -> Option<u32> {
    catalog.find(name).map(|naming| naming.documents.id)
}

#[test]
fn what_was_dropped_has_ended_for_those_who_still_see_it_and_what_was_renamed_has_not() {
    let mut catalog = catalog();
    catalog.carry_out(&CatalogChange::Drop { id: 1 }, None, LogAddress(30)).expect("it is there");
    let rename = CatalogChange::Rename { id: 2, name: "c".into() };
    catalog.carry_out(&rename, None, LogAddress(40)).expect("the name is free");
    let ended = |states: &[State]| catalog.ended_in(states).into_iter().collect::<Vec<_>>();
    assert!(ended(&[]).is_empty());
    assert!(ended(&[state(10)]).is_empty(), "it had not begun");
    assert_eq!(ended(&[state(25)]), [1]);
    assert_eq!(ended(&[state(50), state(30)]), [1]);
    assert!(ended(&[state(31), state(50)]).is_empty());
}

#[test]
fn a_catalog_record_that_is_taken_back_leaves_the_catalog_as_it_was() {
    let changes: [(CatalogChange, Option<u32>); 4] = [
        (CatalogChange::Create { id: 3, name: "c".into() }, Some(3)),
        (CatalogChange::Drop { id: 1 }, None),
        (CatalogChange::Clear { id: 1, new: 3 }, Some(3)),
        (CatalogChange::Rename { id: 1, name: "c".into() }, None),
    ];
    for (change, begins) in changes {
        let mut catalog = catalog();
        catalog.carry_out(&change, begins.map(documents), LogAddress(30)).expect("it fits");
        let begun = ["a", "c"].map(|name| catalog.find(name).cloned());
        catalog.take_back(change.begins(), LogAddress(30));
        assert_eq!(catalog.last_id, 2, "{change:?}");
        assert_eq!(["a", "b", "c"].map(|name| id_of(&catalog, name)), [Some(1), Some(2), None], "{change:?}");
        assert_eq!(catalog.current().count(), 2);
        for begun in begun.into_iter().flatten() {
            let is_still = catalog.current().any(|naming| Arc::ptr_eq(naming, &begun));
            assert_eq!(begun.is_current(), is_still, "{change:?}: whoever still has it");
        }
    }
}

#[test]
fn a_collection_is_loaded_where_neither_its_name_nor_its_id_is_there() {
    let mut catalog = catalog();
    assert!(catalog.load("a".into(), documents(3)).is_none());
    assert!(catalog.load("c".into(), documents(2)).is_none());
    assert!(catalog.load("c".into(), documents(3)).is_some());
    assert_eq!((id_of(&catalog, "c"), catalog.last_id), (Some(3), 3));
}

#[test]
fn what_a_newer_version_wrote_of_a_collection_is_kept() {
    let kept = Document::from_iter([("later", 1)]);
    let documents = Documents::new(1, Layout::new(4)).with_kept(kept.clone());
    assert_eq!((documents.id, documents.kept), (1, kept));
}
