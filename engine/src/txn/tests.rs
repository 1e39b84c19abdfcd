//! Visibility, one step at a time.

use std::ops::Bound;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::cache::Segment;
use crate::document::{Key, KeyRef};
use crate::fold::Retain;
use crate::format::catalog::CatalogChange;
use crate::format::{Geometry, Lineage, LogAddress, Lsn};
use crate::index::{Birth, Documents, Entry, KeyRange, Layout, State};
use crate::log::{Batch, LogEnd, Mark};
use crate::sync::Arc;

use super::*;

fn at(address: u64) -> State {
    State { lsn: Lsn(address), address: LogAddress(address) }
}

fn entry(address: u64) -> Entry {
    Entry::new(LogAddress(address), false)
}

fn seen(visibility: &Visibility, state: State) -> Vec<(Key, Entry)> {
    let mut found = Vec::new();
    visibility.retained(state, 1, &KeyRange::all(), &mut found);
    found
}

/// A commit that puts key 7 at `address` in the place of the version `before`, and ends at `end`.
fn supersede(visibility: &Visibility, before: u64, address: u64, end: u64) {
    let mut applying = visibility.apply();
    let birth = Birth::At(LogAddress(before));
    applying.retain(1, KeyRef::Int(7), entry(before), birth, LogAddress(address));
    applying.publish(at(end), std::iter::empty());
}

#[test]
fn a_snapshot_keeps_the_version_that_a_later_commit_replaces() {
    let visibility = Arc::new(Visibility::new(at(20)));
    let old = Registered::new(&visibility, None);
    supersede(&visibility, 10, 24, 30);
    assert_eq!(seen(&visibility, old.state()), [(Key::Int(7), entry(10))]);
    assert_eq!(visibility.retained_version(old.state(), 1, KeyRef::Int(7)), Some(entry(10)));
    assert_eq!(
        seen(&visibility, visibility.visible()),
        [],
        "the new state has the new version, in the index"
    );
    drop(old);
    assert_eq!(visibility.counts(), (0, 0));
}

#[test]
fn a_snapshot_that_goes_takes_with_it_just_what_nobody_else_needs() {
    let visibility = Arc::new(Visibility::new(at(20)));
    let oldest = Registered::new(&visibility, None);
    supersede(&visibility, 10, 24, 30);
    let middle = Registered::new(&visibility, None);
    supersede(&visibility, 24, 34, 40);
    let newest = Registered::new(&visibility, None);
    supersede(&visibility, 34, 44, 50);
    assert_eq!(visibility.counts(), (3, 3));
    drop(newest);
    assert_eq!(visibility.counts(), (2, 2));
    drop(oldest);
    assert_eq!(visibility.counts(), (1, 1));
    assert_eq!(seen(&visibility, middle.state()), [(Key::Int(7), entry(24))]);
}

#[test]
fn an_ended_snapshot_says_so() {
    let visibility = Arc::new(Visibility::new(at(20)));
    let snapshot = Registered::new(&visibility, None);
    assert!(snapshot.check_live().is_ok());
    let other = Registered::new(&visibility, None);
    visibility.end(other.id());
    assert!(matches!(other.check_live(), Err(crate::Error::SnapshotTooOld { lsn: 20 })));
    for again in 0..2 {
        assert!(snapshot.check_live().is_ok(), "its neighbour goes on, {again}");
        assert!(other.check_live().is_err(), "{again}");
    }
    drop(other);
    assert!(
        Registered::new(&visibility, None).check_live().is_ok(),
        "one that is taken after the end of another"
    );
    visibility.end(snapshot.id());
    assert!(snapshot.check_live().is_err());
}

#[test]
fn a_reader_waits_for_the_commit_that_it_meets_half_applied() {
    let visibility = Visibility::new(at(20));
    let applying = visibility.apply();
    // The entry is newer than the visible end, so the reader must not return it yet.
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| visibility.see(1, KeyRef::Int(7), || Some(entry(24))));
        std::thread::yield_now();
        assert!(!reader.is_finished());
        applying.publish(at(30), std::iter::empty());
        assert_eq!(reader.join().expect("no panic"), Some(entry(24)));
    });
    let asked = std::cell::Cell::new(0);
    let miss = visibility.see(1, KeyRef::Int(7), || {
        asked.set(asked.get() + 1);
        None
    });
    assert_eq!((miss, asked.get()), (None, 1), "a settled miss costs one look and no lock");
    let hit = visibility.see(1, KeyRef::Int(7), || {
        asked.set(asked.get() + 1);
        Some(entry(24))
    });
    assert_eq!((hit, asked.get()), (Some(entry(24)), 2), "and so does a visible hit");
}

/// A commit that waits, with a change of the catalog in it or without.
fn pend(visibility: &Visibility, lsn: u64, changes_catalog: bool) {
    let geometry = Geometry::new(64, 512).expect("a geometry");
    let segment = Arc::new(Segment::new(&Lineage::default(), geometry, 0, 0, Lsn(1)));
    let end = LogEnd { segment, offset: 64, lsn: Lsn(lsn - 1), reserved: [None, None] };
    let mut batch = Batch::default();
    (batch.lsn, batch.end) = (Lsn(lsn), LogAddress(lsn));
    if changes_catalog {
        batch.push_catalog(CatalogChange::Drop { id: 1 }, None);
    }
    let mut applying = visibility.apply();
    applying.hold();
    applying.pend(Pending::new(batch, true, Mark::at(end)));
}

//= spec/transactions.md#t-4-8-no-room
//= type=test
//# When there is no room to hand over what is pending, the pending commits MUST fail as `StorageFull`,
//# all of them, and be taken back: the state is as if they had never been placed (S-8.5).
#[test]
fn just_what_is_above_the_last_commit_handed_over_is_taken_back() {
    let visibility = Visibility::new(at(20));
    (24..=27).for_each(|lsn| pend(&visibility, lsn, false));
    let taken_above = |written: u64| {
        let mut undone = Vec::new();
        let taken = visibility.take_back(Lsn(written), |pending, _| undone.push(pending.batch.lsn.0));
        assert_eq!(undone, taken.iter().map(|pending| pending.batch.lsn.0).collect::<Vec<_>>());
        undone
    };
    assert_eq!((taken_above(27), visibility.take_backs()), (vec![], 0), "what is handed over stays");
    assert_eq!((taken_above(25), visibility.take_backs()), (vec![27, 26], 1), "the newest first");
    assert_eq!((taken_above(25), visibility.take_backs()), (vec![], 1));
    assert_eq!((visibility.pending(), visibility.is_unsettled()), (2, true), "a miss proves nothing yet");
    assert_eq!((taken_above(23), visibility.take_backs()), (vec![25, 24], 2));
    assert_eq!((visibility.pending(), visibility.is_unsettled()), (0, false));
}

#[test]
fn a_publication_says_whether_one_of_its_commits_changed_the_catalog() {
    let visibility = Visibility::new(at(20));
    (24..=27).for_each(|lsn| pend(&visibility, lsn, lsn == 25));
    assert!(!visibility.publish_pending(Lsn(24)));
    assert!(visibility.publish_pending(Lsn(26)));
    assert!(!visibility.publish_pending(Lsn(27)));
    assert!(!visibility.publish_pending(Lsn(27)), "there is none left");
}

#[test]
fn what_begins_where_the_visible_state_ends_is_not_in_it() {
    let visibility = Visibility::new(at(20));
    assert_eq!(visibility.see(1, KeyRef::Int(7), || Some(entry(19))), Some(entry(19)));
    assert_eq!(visibility.see(1, KeyRef::Int(7), || Some(entry(20))), None);
}

#[test]
fn a_range_that_ends_before_it_begins_holds_no_retained_version() {
    let visibility = Arc::new(Visibility::new(at(20)));
    let old = Registered::new(&visibility, None);
    supersede(&visibility, 10, 24, 30);
    let mut found = Vec::new();
    let inverted = KeyRange { from: Bound::Included(Key::Int(9)), to: Bound::Excluded(Key::Int(5)) };
    visibility.retained(old.state(), 1, &inverted, &mut found);
    assert_eq!(found, []);
}

#[test]
fn a_snapshot_that_goes_between_two_slices_of_a_commit_hides_nothing_from_readers() {
    let visibility = Arc::new(Visibility::new(at(20)));
    let snapshot = Registered::new(&visibility, None);
    let mut applying = visibility.apply();
    applying.hold();
    // So far the commit has put new documents only, so nothing is retained when the snapshot goes.
    let mut applying = thread::scope(|scope| {
        let dropping = scope.spawn(|| drop(snapshot));
        while !dropping.is_finished() {
            thread::yield_now();
            applying = applying.give_way();
        }
        applying
    });
    applying.retain(1, KeyRef::Int(7), entry(10), Birth::At(LogAddress(10)), LogAddress(24));
    // Now the index gives up what the commit deletes; a reader that misses it there goes on to the retained versions.
    assert!(visibility.is_unsettled());
    drop(applying);
    assert_eq!(visibility.see(1, KeyRef::Int(7), || None), Some(entry(10)));
}

#[test]
fn nothing_is_settled_between_two_slices_of_a_commit() {
    let visibility = Visibility::new(at(20));
    let settled = visibility.settled_in(at(20));
    assert!(settled.is_some() && visibility.settled_in(at(19)).is_none());
    let mut applying = visibility.apply();
    applying.hold();
    thread::scope(|scope| {
        let asking = scope.spawn(|| visibility.settled_in(at(20)));
        while !asking.is_finished() {
            thread::yield_now();
            applying = applying.give_way();
        }
        assert_eq!(asking.join().expect("it does not panic"), None);
        drop(applying);
    });
    pend(&visibility, 24, false);
    assert_eq!(visibility.settled_in(at(20)), None);
    visibility.publish_pending(Lsn(24));
    assert_eq!([20, 24].map(|lsn| visibility.settled_in(at(lsn))), [None, settled]);
}

#[test]
fn a_count_waits_for_the_commit_that_it_holds_since_and_for_no_other() {
    let (visibility, documents) = (Visibility::new(at(20)), Documents::new(1, Layout::new(4)));
    for (since, is_waiting) in [(19, false), (20, false), (21, true)] {
        documents.set_len(3, LogAddress(since));
        let held = visibility.lock_for_change();
        thread::scope(|scope| {
            let (say, said) = mpsc::channel();
            let (visibility, documents) = (&visibility, &documents);
            scope.spawn(move || say.send(visibility.len(documents)));
            let found = said.recv_timeout(Duration::from_millis(if is_waiting { 50 } else { 5000 }));
            drop(held);
            assert_eq!(found.ok(), (!is_waiting).then_some(3), "since {since}");
            assert!(!is_waiting || said.recv() == Ok(3), "under the lock");
        });
    }
}
