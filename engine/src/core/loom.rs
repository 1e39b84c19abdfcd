//! Readers and snapshots beside the writer's steps: in every order. The core is that of a store, over memory.

mod fixture;

use std::ops::Bound;

use crate::document::{Key, Value};
use crate::error::Error;
use crate::index::KeyRange;
use crate::options::Durability;
use crate::seeded::Bug;
use crate::sync::explore::{every_order, is_found};
use crate::sync::race::Race;
use crate::sync::{Arc, thread};
use fixture::{Fixture, put_in};

/// A commit has many steps: with three preemptions, a scenario below has 213,000 executions; with two, 13,000, and every mistake below
/// shows.
const PREEMPTIONS: usize = 2;

/// Runs `work` in a thread of its own, beside `look`.
fn beside(fixture: &Arc<Fixture>, work: impl FnOnce(&Fixture) + Send + 'static, look: impl FnOnce(&Fixture)) {
    let worker = {
        let fixture = Arc::clone(fixture);
        thread::spawn(move || work(&fixture))
    };
    look(fixture);
    worker.join().expect("the writer does not panic");
}

const WENT_BACK: &str = "the visible state goes one way";

/// One commit changes both documents; a reader looks at one, then at the other, then at both in one snapshot.
fn a_commit_of_two_documents() {
    let fixture = Fixture::new();
    let work = |fixture: &Fixture| {
        fixture.commit(Durability::Buffered, |writer| {
            fixture.put(writer, 0, 1);
            fixture.put(writer, 1, 1);
        });
    };
    beside(&fixture, work, |fixture| {
        let [first, second] = [0, 1].map(|key| fixture.get(key).expect("it is there in both states"));
        assert!(first <= second, "{WENT_BACK}");
        let snapshot = fixture.core.shared.register();
        let [first, second] = [0, 1].map(|key| fixture.get_at(&snapshot, key).expect("the snapshot lives"));
        assert_eq!(first, second, "a snapshot has half a commit");
    });
}

/// A commit adds a document to each of two collections; a reader counts the one and then the other, or looks and then counts.
fn a_commit_that_adds_is_counted() {
    let fixture = Fixture::new();
    fixture.commit(Durability::Buffered, |writer| put_in(writer, "d", 0, 0));
    let other = fixture.core.shared.naming("d").expect("it was just made");
    let work = |fixture: &Fixture| {
        fixture.commit(Durability::Buffered, |writer| {
            fixture.put(writer, 2, 1);
            put_in(writer, "d", 1, 1);
        });
    };
    beside(&fixture, work, |fixture| {
        let counted = [&*fixture.naming, &*other].map(|naming| fixture.core.shared.len(naming));
        assert!(counted != [3, 1], "{WENT_BACK}");
        assert!(fixture.get(2).is_none() || fixture.core.shared.len(&fixture.naming) == 3, "{WENT_BACK}");
    });
}

const OF_ANOTHER: &str = "a count is of another state";
const IN_PIECES: &str = "a count has half a commit";

/// One commit deletes a document and puts another; a reader counts those of its snapshot.
fn a_commit_leaves_as_many() {
    let fixture = Fixture::new();
    let work = |fixture: &Fixture| {
        fixture.commit(Durability::Buffered, |writer| {
            fixture.delete(writer, 0);
            fixture.put(writer, 2, 1);
        });
    };
    beside(&fixture, work, |fixture| {
        let range = KeyRange { from: Bound::Included(Key::Int(0)), to: Bound::Included(Key::Int(9)) };
        assert!(
            fixture.count(&fixture.core.shared.register(), range).is_none_or(|count| count == 2),
            "{IN_PIECES}"
        );
    });
}

/// A commit that adds a document waits for its sync; a reader counts all of its snapshot.
fn a_commit_that_adds_waits_for_its_sync() {
    let fixture = Fixture::new();
    let work = |fixture: &Fixture| {
        fixture.commit(Durability::Synced, |writer| fixture.put(writer, 2, 1));
        fixture.sync();
    };
    beside(&fixture, work, |fixture| {
        let snapshot = fixture.core.shared.register();
        let counted = fixture.count(&snapshot, KeyRange::all());
        let is_there = fixture.get_at(&snapshot, 2).expect("the snapshot lives").is_some();
        assert!(counted.is_none_or(|count| count == 2 + u64::from(is_there)), "{OF_ANOTHER}");
    });
}

const TOO_SOON: &str = "seen before it is durable";

/// A commit that must be durable replaces one document and deletes the other; one of a weaker class waits behind it.
fn a_commit_waits_for_its_sync() {
    let fixture = Fixture::new();
    let work = |fixture: &Fixture| {
        fixture.commit(Durability::Synced, |writer| {
            fixture.put(writer, 0, 1);
            fixture.delete(writer, 1);
        });
        fixture.commit(Durability::Buffered, |writer| fixture.put(writer, 2, 2));
        fixture.sync();
    };
    beside(&fixture, work, |fixture| {
        let behind = fixture.get(2);
        let deleted = fixture.get(1).is_none();
        let replaced = fixture.get(0) == Some(1);
        assert!(behind.is_none() || deleted, "{WENT_BACK}");
        assert!(!deleted || replaced, "{WENT_BACK}");
        assert!(!replaced || fixture.disk.is_durable(1), "{TOO_SOON}");
        let snapshot = fixture.core.shared.register();
        let [first, second] = [0, 1].map(|key| fixture.get_at(&snapshot, key).expect("the snapshot lives"));
        assert!(
            [(Some(0), Some(0)), (Some(1), None)].contains(&(first, second)),
            "a snapshot has half a commit"
        );
    });
    assert_eq!([0, 1, 2].map(|key| fixture.get(key)), [Some(1), None, Some(2)]);
}

/// Two threads commit and sync, each for itself.
fn two_syncs() {
    let fixture = Fixture::new();
    let work = |key: i64, number| {
        move |fixture: &Fixture| {
            fixture.commit(Durability::Synced, |writer| fixture.put(writer, key, number));
            fixture.sync();
        }
    };
    beside(&fixture, work(0, 1), |fixture| {
        work(1, 2)(fixture);
        for (key, number) in [(0, 1), (1, 2)] {
            assert!(fixture.get(key) != Some(number) || fixture.disk.is_durable(number), "{TOO_SOON}");
        }
    });
    assert_eq!([0, 1].map(|key| fixture.get(key)), [Some(1), Some(2)]);
}

const NEVER_VISIBLE: &str = "a commit that was taken back was never visible";

/// There is no room to hand over a commit that replaces one document and deletes the other: it is taken back.
fn a_commit_is_taken_back() {
    let fixture = Fixture::new();
    let snapshot = fixture.core.shared.register();
    let work = |fixture: &Fixture| {
        fixture.commit(Durability::Synced, |writer| {
            fixture.put(writer, 0, 1);
            fixture.delete(writer, 1);
        });
        fixture.disk.notes().is_full = true;
        let told = fixture.core.begin_sync().map(|_| ());
        assert!(matches!(told, Err(Error::StorageFull { .. })), "{told:?}");
    };
    beside(&fixture, work, |fixture| {
        for key in [0, 1] {
            assert_eq!(fixture.get(key), Some(0), "{NEVER_VISIBLE}");
            assert_eq!(
                fixture.get_at(&snapshot, key).expect("the snapshot lives"),
                Some(0),
                "{NEVER_VISIBLE}"
            );
        }
        let keys = fixture.keys_at(&snapshot).expect("the snapshot lives");
        assert_eq!(keys, [Key::Int(0), Key::Int(1)], "{NEVER_VISIBLE}");
    });
}

const ANOTHER_INDEX: &str = "an index is of another state";

/// An index is built, a document replaced, and the index published; a reader has no index, or that of its state.
fn an_index_is_published() {
    let fixture = Fixture::new();
    let work = |fixture: &Fixture| {
        let mut build = fixture.build_index();
        fixture.commit(Durability::Buffered, |writer| fixture.put(writer, 0, 1));
        fixture.commit(Durability::Buffered, |writer| {
            let made = build.stage(&mut writer.txn).expect("nothing is in the way");
            assert_eq!(made, Some(true));
        });
    };
    beside(&fixture, work, |fixture| {
        let snapshot = fixture.core.shared.register();
        let first = fixture.get_at(&snapshot, 0).expect("the snapshot lives").expect("it is there");
        let index = fixture.index_at(&snapshot);
        let entry = |number: u8, key| (Value::from(i64::from(number)), Key::Int(key));
        let mut entries = [entry(first, 0), entry(0, 1)];
        entries.rotate_left(usize::from(first));
        assert!(index.is_none_or(|index| index == entries), "{ANOTHER_INDEX}");
    });
    let snapshot = fixture.core.shared.register();
    assert!(fixture.index_at(&snapshot).is_some());
}

const ANOTHER_STATE: &str = "a snapshot answers from its own state";

/// A snapshot is ended by its age while it is read, after both documents have changed.
fn a_snapshot_is_ended() {
    let fixture = Fixture::new();
    let snapshot = fixture.core.shared.register();
    let id = snapshot.id();
    let work = move |fixture: &Fixture| {
        fixture.commit(Durability::Buffered, |writer| {
            fixture.put(writer, 0, 1);
            fixture.delete(writer, 1);
        });
        fixture.core.shared.visibility.end(id);
    };
    beside(&fixture, work, |fixture| {
        for key in [1, 0] {
            match fixture.get_at(&snapshot, key) {
                Ok(found) => assert_eq!(found, Some(0), "{ANOTHER_STATE}"),
                Err(error) => assert!(matches!(error, Error::SnapshotTooOld { .. }), "{error}"),
            }
        }
    });
}

/// Of two snapshots of one state one is let go while the other is read, and a commit supersedes what both have.
fn one_of_two_snapshots_goes() {
    let fixture = Fixture::new();
    let [kept, gone] = [fixture.core.shared.register(), fixture.core.shared.register()];
    let work = move |fixture: &Fixture| {
        fixture.commit(Durability::Buffered, |writer| {
            fixture.put(writer, 0, 1);
            fixture.delete(writer, 1);
        });
        drop(gone);
    };
    beside(&fixture, work, |fixture| {
        for key in [1, 0] {
            let found = fixture.get_at(&kept, key).expect("the snapshot lives");
            assert_eq!(found, Some(0), "{ANOTHER_STATE}");
        }
        let keys = fixture.keys_at(&kept).expect("the snapshot lives");
        assert_eq!(keys, [Key::Int(0), Key::Int(1)], "{ANOTHER_STATE}");
    });
}

#[test]
fn a_commit_is_seen_whole_or_not_at_all() {
    println!("{} executions", every_order(PREEMPTIONS, a_commit_of_two_documents));
}

#[test]
fn a_count_and_a_look_tell_of_one_state_after_another() {
    println!("{} executions", every_order(PREEMPTIONS, a_commit_that_adds_is_counted));
}

#[test]
fn a_count_is_of_one_state() {
    println!("{} executions", every_order(PREEMPTIONS, a_commit_leaves_as_many));
    println!("{} executions", every_order(PREEMPTIONS, a_commit_that_adds_waits_for_its_sync));
}

#[test]
fn a_commit_is_not_seen_before_it_is_durable_nor_what_waits_behind_it() {
    println!("{} executions", every_order(PREEMPTIONS, a_commit_waits_for_its_sync));
}

#[test]
fn a_sync_acknowledges_what_was_handed_over_before_it() {
    println!("{} executions", every_order(PREEMPTIONS, two_syncs));
}

#[test]
fn a_commit_that_is_taken_back_was_never_visible() {
    println!("{} executions", every_order(PREEMPTIONS, a_commit_is_taken_back));
}

//= spec/index.md#i-5-1-beside-others
//= type=test
//# Until the commit that makes it part of the state, an index MUST NOT be seen, used, or refuse a write.
#[test]
fn an_index_is_there_whole_or_not_at_all() {
    println!("{} executions", every_order(PREEMPTIONS, an_index_is_published));
}

#[test]
fn an_ended_snapshot_says_so_or_answers_from_its_own_state() {
    println!("{} executions", every_order(PREEMPTIONS, a_snapshot_is_ended));
}

#[test]
fn a_version_stays_while_any_snapshot_needs_it() {
    println!("{} executions", every_order(PREEMPTIONS, one_of_two_snapshots_goes));
}

#[test]
fn loom_finds_a_visible_end_without_order() {
    is_found(Race::VisibleRelaxed, WENT_BACK, PREEMPTIONS, a_commit_of_two_documents);
}

#[test]
fn loom_finds_a_count_from_before_its_commit_is_visible() {
    is_found(Race::LenSeenEarly, WENT_BACK, PREEMPTIONS, a_commit_that_adds_is_counted);
}

#[test]
fn loom_finds_a_count_without_order() {
    is_found(Race::LenRelaxed, WENT_BACK, PREEMPTIONS, a_commit_that_adds_is_counted);
}

#[test]
fn loom_finds_a_count_that_is_not_asked_again() {
    is_found(Race::CountNotAskedAgain, IN_PIECES, PREEMPTIONS, a_commit_leaves_as_many);
}

#[test]
fn loom_finds_a_commit_that_is_seen_in_pieces() {
    is_found(Bug::CommitVisibleInPieces, WENT_BACK, PREEMPTIONS, a_commit_of_two_documents);
}

#[test]
fn loom_finds_a_miss_that_is_believed_too_long() {
    is_found(Race::UnsettledLate, "a snapshot has half a commit", PREEMPTIONS, a_commit_waits_for_its_sync);
}

#[test]
fn loom_finds_a_commit_that_is_seen_before_its_sync() {
    is_found(Bug::VisibleBeforeDurable, TOO_SOON, PREEMPTIONS, a_commit_waits_for_its_sync);
}

#[test]
fn loom_finds_a_sync_that_acknowledges_what_came_later() {
    is_found(Race::SyncedWhatCameLater, TOO_SOON, PREEMPTIONS, two_syncs);
}

#[test]
fn loom_finds_a_commit_that_is_taken_back_unseen() {
    is_found(Race::TakeBacksUnseen, NEVER_VISIBLE, PREEMPTIONS, a_commit_is_taken_back);
}

#[test]
fn loom_finds_an_index_that_is_seen_before_its_commit() {
    is_found(Race::IndexSeenEarly, ANOTHER_INDEX, PREEMPTIONS, an_index_is_published);
}

#[test]
fn loom_finds_an_ended_snapshot_that_answers() {
    is_found(Bug::EndedSnapshotAnswers, ANOTHER_STATE, PREEMPTIONS, a_snapshot_is_ended);
}

#[test]
fn loom_finds_a_snapshot_that_is_asked_too_soon_whether_it_lives() {
    is_found(Race::LiveAskedFirst, ANOTHER_STATE, PREEMPTIONS, a_snapshot_is_ended);
}

#[test]
fn loom_finds_an_end_without_order() {
    is_found(Race::UnsettledRelaxed, ANOTHER_STATE, PREEMPTIONS, a_snapshot_is_ended);
}

#[test]
fn loom_finds_versions_that_are_not_kept() {
    is_found(Bug::VersionsNotRetained, ANOTHER_STATE, PREEMPTIONS, one_of_two_snapshots_goes);
}
