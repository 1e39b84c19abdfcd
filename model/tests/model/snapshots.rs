//! Snapshots (spec: T-3).

use crate::ops::{
    clear, commit, create, delete, drop_it, found, get, inside, keys, len, model, names, put, refused,
    rename, through,
};
use std::ops::Bound::Unbounded;

use holotype_model::{Durability, Key, Model, Op, Outcome, Refusal};

const SYNCED: Durability = Durability::Synced;

/// A model with some documents, and a snapshot of them.
fn with_snapshot() -> Model {
    model(&[put("a", 1, 10), put("a", 2, 20), create("b"), Op::TakeSnapshot])
}

/// What the first snapshot of `with_snapshot` must show.
#[track_caller]
fn shows_what_it_held(model: &mut Model) {
    assert_eq!(model.apply(&through(0, Op::Collections)), names(&["a", "b"]));
    assert_eq!(model.apply(&through(0, get("a", 1))), found(10));
    assert_eq!(model.apply(&through(0, get("a", 2))), found(20));
    let listed = Outcome::Keys([1, 2].map(Key::Int).to_vec());
    assert_eq!(model.apply(&through(0, keys(Unbounded, Unbounded, false, None))), listed);
    assert_eq!(model.apply(&through(0, len("b"))), Outcome::Count(0));
}

#[test]
fn every_read_through_a_snapshot_answers_from_the_state_in_which_it_was_taken() {
    // spec: T-3.1
    let mut model = with_snapshot();
    for op in [put("a", 1, 11), delete("a", 2), put("a", 3, 30), put("b", 1, 1), create("c")] {
        model.apply(&op);
        shows_what_it_held(&mut model);
    }
    assert_eq!(model.apply(&through(0, get("a", 3))), Outcome::Document(None));
    assert_eq!(model.apply(&through(0, len("c"))), refused(Refusal::UnknownCollection));
    assert_eq!(model.apply(&get("a", 1)), found(11));
}

#[test]
fn a_snapshot_shows_what_was_cleared_renamed_and_dropped_since() {
    // spec: T-3.1, S-3.6, S-3.7, S-3.8
    let mut model = with_snapshot();
    for op in [clear("a"), rename("a", "c"), rename("b", "a"), drop_it("a"), drop_it("c")] {
        assert_eq!(model.apply(&op), Outcome::Bool(true), "{op}");
        shows_what_it_held(&mut model);
    }
    assert_eq!(model.apply(&Op::Collections), names(&[]));
}

#[test]
fn a_snapshot_sees_a_transaction_only_if_it_was_taken_after_its_commit() {
    // spec: T-2.4, T-3.1, T-1.3
    let mut model = model(&[put("a", 1, 1), Op::Begin, inside(put("a", 1, 2)), inside(create("b"))]);
    assert_eq!(model.apply(&Op::TakeSnapshot), Outcome::Count(0));
    model.apply(&commit(SYNCED));
    assert_eq!(model.apply(&Op::TakeSnapshot), Outcome::Count(1));
    assert_eq!(model.apply(&through(0, get("a", 1))), found(1));
    assert_eq!(model.apply(&through(0, Op::Collections)), names(&["a"]));
    assert_eq!(model.apply(&through(1, get("a", 1))), found(2));
    assert_eq!(model.apply(&through(1, Op::Collections)), names(&["a", "b"]));
}

//= spec/transactions.md#t-3-2-nobody-waits
//# A snapshot MUST NOT keep a writer or another reader waiting, however long it lives; nor they it.
#[test]
fn a_snapshot_keeps_no_writer_and_no_transaction_waiting() {
    let mut model = with_snapshot();
    for op in [put("a", 1, 11), Op::Begin, inside(put("a", 1, 12)), commit(SYNCED), Op::Flush, Op::Clean] {
        assert_eq!(model.apply(&op), Outcome::Done, "{op}");
    }
    shows_what_it_held(&mut model);
}

#[test]
fn snapshots_are_apart_and_one_that_is_released_answers_no_more() {
    // spec: T-3.1
    let mut model = with_snapshot();
    model.apply(&put("a", 1, 11));
    assert_eq!(model.apply(&Op::TakeSnapshot), Outcome::Count(1));
    model.apply(&put("a", 1, 12));
    assert_eq!(model.apply(&Op::Release { snapshot: 0 }), Outcome::Done);
    assert_eq!(model.apply(&through(1, get("a", 1))), found(11));
    for op in [through(0, get("a", 1)), Op::Release { snapshot: 0 }, through(2, Op::Collections)] {
        assert_eq!(model.apply(&op), refused(Refusal::UnknownSnapshot), "{op}");
    }
    assert_eq!(model.apply(&Op::TakeSnapshot), Outcome::Count(2), "no number comes twice");
}

#[test]
fn the_end_of_a_life_releases_its_snapshots() {
    // spec: S-10
    let mut model = with_snapshot();
    model.crash_to(0);
    assert_eq!(model.apply(&through(0, Op::Collections)), refused(Refusal::UnknownSnapshot));
    assert_eq!(model.apply(&Op::TakeSnapshot), Outcome::Count(0));
}
