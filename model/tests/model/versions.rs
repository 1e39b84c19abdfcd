//! Writes on the condition that nobody has put the document since (spec: T-2.10).

use crate::ops::{
    commit, delete, delete_if, drop_it, found, get, inside, model, put, refused, rename, replace_if, through,
};
use holotype_model::{Durability, Model, Op, Outcome, Refusal};

const SYNCED: Durability = Durability::Synced;
const MISMATCH: Outcome = Outcome::Refused(Refusal::VersionMismatch);

/// A model with one document, at which its client has looked.
fn seen() -> Model {
    model(&[put("a", "k", 1), get("a", "k")])
}

#[test]
fn a_document_as_it_was_seen_is_replaced_and_deleted() {
    let mut model = seen();
    assert_eq!(model.apply(&replace_if("a", "k", 2)), Outcome::Done);
    assert_eq!(model.apply(&get("a", "k")), found(2));
    assert_eq!(model.apply(&delete_if("a", "k")), Outcome::Done);
    assert_eq!(model.apply(&get("a", "k")), Outcome::Document(None));
}

#[test]
fn a_document_that_was_put_since_is_refused_even_when_it_is_equal() {
    let mut model = seen();
    model.apply(&put("a", "k", 1));
    let before = model.clone();
    assert_eq!(model.apply(&replace_if("a", "k", 2)), MISMATCH);
    assert_eq!(model.apply(&delete_if("a", "k")), MISMATCH);
    assert_eq!(model, before);
}

#[test]
fn ones_own_write_is_a_new_version_as_well() {
    let mut model = seen();
    assert_eq!(model.apply(&replace_if("a", "k", 2)), Outcome::Done);
    assert_eq!(model.apply(&replace_if("a", "k", 3)), MISMATCH);
}

#[test]
fn a_document_that_was_never_seen_or_is_not_there_is_refused() {
    let mut model = model(&[put("a", "k", 1), get("a", "other"), put("a", "other", 1)]);
    for key in ["k", "other", "none"] {
        assert_eq!(model.apply(&replace_if("a", key, 2)), MISMATCH, "{key}");
    }
    let reasons = model.refusals(&delete_if("none", "k"));
    assert_eq!(reasons, [Refusal::UnknownCollection, Refusal::VersionMismatch]);
}

#[test]
fn a_document_that_was_deleted_and_put_again_is_another_one() {
    let mut model = seen();
    for op in [delete("a", "k"), put("a", "k", 1)] {
        model.apply(&op);
    }
    assert_eq!(model.apply(&replace_if("a", "k", 2)), MISMATCH);
    for op in [get("a", "k"), drop_it("a"), put("a", "k", 1)] {
        model.apply(&op);
    }
    assert_eq!(model.apply(&replace_if("a", "k", 2)), MISMATCH);
}

#[test]
fn a_version_stays_with_its_document_over_renames() {
    let mut model = seen();
    for op in [rename("a", "b"), rename("b", "a")] {
        assert_eq!(model.apply(&op), Outcome::Bool(true));
    }
    assert_eq!(model.apply(&replace_if("a", "k", 2)), Outcome::Done);
}

#[test]
fn documents_of_one_commit_have_one_version() {
    let mut model = model(&[
        Op::Begin,
        inside(put("a", "k", 1)),
        inside(put("b", "k", 2)),
        commit(SYNCED),
        get("a", "k"),
        drop_it("a"),
        rename("b", "a"),
    ]);
    assert_eq!(model.apply(&replace_if("a", "k", 3)), Outcome::Done);
}

#[test]
fn inside_a_transaction_the_version_is_that_of_the_newest_document_of_the_transaction() {
    let mut model = seen();
    for op in [Op::Begin, Op::Savepoint, inside(put("a", "k", 1))] {
        model.apply(&op);
    }
    assert_eq!(model.apply(&inside(replace_if("a", "k", 2))), MISMATCH);
    model.apply(&Op::RollbackTo { savepoint: 0 });
    assert_eq!(model.apply(&inside(replace_if("a", "k", 2))), Outcome::Done);
    assert_eq!(model.apply(&inside(delete_if("a", "k"))), MISMATCH);
    model.apply(&commit(SYNCED));
    assert_eq!(model.apply(&get("a", "k")), found(2));
}

#[test]
fn a_look_inside_a_transaction_or_through_a_snapshot_is_not_remembered() {
    for looked in [
        model(&[put("a", "k", 1), Op::Begin, inside(get("a", "k")), Op::Rollback]),
        model(&[put("a", "k", 1), Op::TakeSnapshot, through(0, get("a", "k"))]),
    ] {
        let mut model = looked;
        assert_eq!(model.apply(&replace_if("a", "k", 2)), MISMATCH);
    }
}

#[test]
fn a_refused_look_leaves_the_memory_and_the_end_of_a_life_ends_it() {
    let mut model = seen();
    model.apply(&rename("a", "b"));
    assert_eq!(model.apply(&get("a", "k")), refused(Refusal::UnknownCollection));
    model.apply(&rename("b", "a"));
    assert_eq!(model.clone().apply(&delete_if("a", "k")), Outcome::Done);
    model.crash_to(0);
    assert_eq!(model.apply(&delete_if("a", "k")), MISMATCH);
}
