//! A reader beside the writer that moves a key from the ordered map into a page: in every order of their steps.

use super::{Contents, Documents, Entries, Entry, KeyRange, Layout, MixedIndex, Origin, PrimaryIndex};
use crate::document::{Key, KeyRef};
use crate::format::LogAddress;
use crate::format::checkpoint::Branch;
use crate::sync::explore::{PREEMPTIONS, every_order, is_found};
use crate::sync::race::Race;
use crate::sync::{Arc, thread};

fn entry(key: i64) -> Entry {
    Entry::new(LogAddress(100 + key.unsigned_abs()), false)
}

const MISSED: &str = "it was there all the time";

/// An index with pages of two keys and the key 0, which is alone and so in the map; the writer puts 1, for which both move into
/// a page. Meanwhile `look` finds what a reader finds.
fn beside_a_move(look: impl Fn(&MixedIndex)) {
    let index = Arc::new(MixedIndex::new(1));
    index.set(KeyRef::Int(0), entry(0));
    let writer = {
        let index = Arc::clone(&index);
        thread::spawn(move || index.set(KeyRef::Int(1), entry(1)))
    };
    look(&index);
    assert_eq!(writer.join().expect("the writer does not panic"), None);
    assert_eq!(index.get(KeyRef::Int(0)), Some(entry(0)));
    assert_eq!(index.get(KeyRef::Int(1)), Some(entry(1)));
}

fn a_look_by_key() {
    beside_a_move(|index| {
        for _ in 0..2 {
            assert_eq!(index.get(KeyRef::Int(0)), Some(entry(0)), "{MISSED}");
        }
        let new = index.get(KeyRef::Int(1));
        assert!(new.is_none() || new == Some(entry(1)));
    });
}

fn a_scan() {
    beside_a_move(|index| {
        let mut found = Entries::default();
        index.page(&KeyRange::all(), false, 8, &mut found);
        let found = found.to_vec();
        assert_eq!(found.first(), Some(&(Key::Int(0), entry(0))), "{MISSED}");
        assert!(found[1..].is_empty() || found[1..] == [(Key::Int(1), entry(1))], "{found:?}");
    });
}

/// A reader looks for a key of a leaf that another one takes in, while the writer puts a key of its own into the same page.
fn a_look_beside_a_leaf_that_is_taken_in() {
    let documents = Arc::new(Documents::new(1, Layout::new(1)));
    let origin = Origin::nowhere(LogAddress::MAX, None);
    documents.begin_unread(origin, vec![(Key::Int(0), Branch::leaf_of(1))], 1);
    let wanted = documents.unread_of(KeyRef::Int(0)).expect("nothing was read");
    let mut entries = Entries::default();
    entries.push(KeyRef::Int(0), entry(0));
    let other = {
        let documents = Arc::clone(&documents);
        thread::spawn(move || documents.take_in(&wanted, Contents::Entries(entries), || {}))
    };
    if documents.is_all_read() {
        assert_eq!(documents.index.get(KeyRef::Int(0)), Some(entry(0)), "{MISSED}");
    }
    assert_eq!(documents.set(KeyRef::Int(1), entry(1)), None);
    other.join().expect("it does not panic");
    assert!(documents.is_all_read());
    for key in [0, 1] {
        assert_eq!(documents.index.get(KeyRef::Int(key)), Some(entry(key)), "{MISSED}");
    }
}

#[test]
fn a_key_of_a_leaf_that_is_taken_in_is_there_for_who_finds_nothing_unread() {
    println!("{} executions", every_order(PREEMPTIONS, a_look_beside_a_leaf_that_is_taken_in));
}

#[test]
fn loom_finds_a_count_of_what_is_unread_without_order() {
    is_found(Race::UnreadRelaxed, MISSED, PREEMPTIONS, a_look_beside_a_leaf_that_is_taken_in);
}

#[test]
fn a_key_that_moves_from_the_map_into_a_page_is_never_missed() {
    println!("{} executions", every_order(PREEMPTIONS, a_look_by_key));
}

#[test]
fn a_scan_meets_a_key_that_moves_once() {
    println!("{} executions", every_order(PREEMPTIONS, a_scan));
}

#[test]
fn loom_finds_keys_that_leave_the_map_before_their_page_is_there() {
    is_found(Race::MapGivenUpFirst, MISSED, PREEMPTIONS, a_look_by_key);
}

#[test]
fn loom_finds_a_scan_that_meets_a_key_nowhere() {
    is_found(Race::MapGivenUpFirst, MISSED, PREEMPTIONS, a_scan);
}

#[test]
fn loom_finds_the_look_that_is_not_repeated() {
    is_found(Race::PageNotAskedAgain, MISSED, PREEMPTIONS, a_look_by_key);
}

#[test]
fn loom_finds_a_length_without_order() {
    is_found(Race::MapLenRelaxed, MISSED, PREEMPTIONS, a_look_by_key);
}

#[test]
fn loom_finds_a_scan_that_believes_a_length_without_order() {
    is_found(Race::MapLenRelaxed, MISSED, PREEMPTIONS, a_scan);
}

#[test]
fn loom_finds_a_page_shown_without_order() {
    is_found(Race::OnceReadRelaxed, "Causality violation", PREEMPTIONS, a_look_by_key);
}
