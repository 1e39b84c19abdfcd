//! Write transactions and savepoints (spec: T-2, T-1.3).

use crate::ops::{
    clear, commit, create, delete, drop_it, found, get, id, insert, insert_many, inside, len, model, names,
    put, refused, rename,
};
use holotype_model::{
    Document, Durability, Ending, Failure, Key, Limits, Model, Op, Oracle, Outcome, Refusal, Value,
};

const BUFFERED: Durability = Durability::Buffered;
const SYNCED: Durability = Durability::Synced;

/// How many commits a crash may take or leave.
fn unacknowledged(model: &Model) -> usize {
    model.unacknowledged().count()
}

fn back_to(savepoint: usize) -> Op {
    Op::RollbackTo { savepoint }
}

#[test]
fn all_changes_of_a_transaction_become_one_commit() {
    // spec: T-2.1, T-1.3
    let mut model = model(&[
        Op::Begin,
        inside(insert("a", 1, SYNCED)),
        inside(put("b", "k", 2)),
        inside(create("c")),
        commit(BUFFERED),
    ]);
    assert_eq!(unacknowledged(&model), 1);
    let legal: Vec<usize> =
        model.legal_after(Ending::PowerCut).map(|(_, state)| state.names().count()).collect();
    assert_eq!(legal, [0, 3]);
    assert_eq!(model.apply(&get("b", "k")), found(2));
}

#[test]
fn the_class_of_the_commit_is_that_of_the_transaction() {
    // spec: T-2.1, S-6.2
    let done = |class| model(&[Op::Begin, inside(insert("a", 1, SYNCED)), commit(class)]);
    for (class, after_power_cut, after_kill) in
        [(BUFFERED, 2, 2), (Durability::Written, 2, 1), (SYNCED, 1, 1)]
    {
        assert_eq!(done(class).legal_after(Ending::PowerCut).count(), after_power_cut, "{class}");
        assert_eq!(done(class).legal_after(Ending::Kill).count(), after_kill, "{class}");
    }
}

#[test]
fn a_transaction_that_changed_nothing_is_no_commit() {
    // spec: T-2.1, S-1.5
    let mut model = model(&[insert("a", 1, BUFFERED), Op::Begin, inside(get("a", 1))]);
    assert_eq!(model.apply(&inside(delete("a", 9))), Outcome::Bool(false));
    assert_eq!(model.apply(&commit(SYNCED)), Outcome::Done);
    assert_eq!(unacknowledged(&model), 1);
    assert_eq!(model.apply(&Op::Begin), Outcome::Done);
    model.apply(&Op::Savepoint);
    model.apply(&inside(insert("a", 2, SYNCED)));
    model.apply(&back_to(0));
    model.apply(&commit(SYNCED));
    assert_eq!(unacknowledged(&model), 1, "all that it changed was undone");
}

//= spec/transactions.md#t-2-2-one-writer-at-a-time
//# Between the begin and the end of a write transaction a store MUST NOT place a commit of anybody else.
#[test]
fn nobody_else_writes_between_begin_and_end() {
    // spec: T-2.9
    let mut model = model(&[put("a", 1, 1), Op::Begin]);
    let before = model.clone();
    for op in [Op::Begin, put("a", 1, 2), delete("a", 1), create("b"), drop_it("none")] {
        assert_eq!(model.apply(&op), refused(Refusal::Busy), "{op}");
    }
    assert_eq!(model, before);
    assert_eq!(model.apply(&commit(SYNCED)), Outcome::Done);
    assert_eq!(model.apply(&put("a", 1, 2)), Outcome::Done);
}

#[test]
fn reads_flushes_and_maintenance_go_on_beside_a_transaction() {
    // spec: T-2.4, S-7.5
    let mut model = model(&[insert("a", 1, BUFFERED), Op::Begin, inside(put("a", 1, 2))]);
    assert_eq!(model.apply(&get("a", 1)), found(1));
    for op in [Op::Flush, Op::Checkpoint, Op::Clean, Op::Compact, Op::Verify] {
        assert_eq!(model.apply(&op), Outcome::Done, "{op}");
    }
    assert_eq!(unacknowledged(&model), 0);
    assert_eq!(model.apply(&inside(get("a", 1))), found(2));
}

#[test]
fn a_transaction_reads_what_it_wrote_and_nobody_else_does() {
    // spec: T-2.3, T-2.4
    let mut model = model(&[put("a", 1, 1), put("a", 2, 1), Op::Begin, inside(put("a", 1, 2))]);
    assert_eq!(model.apply(&inside(delete("a", 2))), Outcome::Bool(true));
    assert_eq!(model.apply(&inside(insert("a", 3, SYNCED))), id(3));
    assert_eq!(model.apply(&inside(rename("a", "b"))), Outcome::Bool(true));
    assert_eq!(model.apply(&inside(get("b", 1))), found(2));
    assert_eq!(model.apply(&inside(get("b", 2))), Outcome::Document(None));
    assert_eq!(model.apply(&inside(len("b"))), Outcome::Count(2));
    assert_eq!(model.apply(&inside(Op::Collections)), names(&["b"]));
    assert_eq!(model.apply(&Op::Collections), names(&["a"]));
    assert_eq!(model.apply(&get("a", 1)), found(1));
    assert_eq!(model.apply(&len("a")), Outcome::Count(2));
    model.apply(&commit(SYNCED));
    assert_eq!(model.apply(&Op::Collections), names(&["b"]));
}

#[test]
fn a_rollback_leaves_the_state_as_it_was_ids_included() {
    // spec: T-2.5
    let mut model = model(&[insert("a", 1, SYNCED)]);
    let before = model.clone();
    for op in [Op::Begin, inside(insert_many("a", 3, SYNCED)), inside(clear("a")), inside(create("b"))] {
        model.apply(&op);
    }
    assert_eq!(model.apply(&Op::Rollback), Outcome::Done);
    assert_eq!(model, before);
    assert_eq!(model.apply(&insert("a", 2, SYNCED)), id(2));
}

#[test]
fn the_end_of_a_life_ends_its_transaction() {
    // spec: T-2.5, S-1.4
    let mut model = model(&[insert("a", 1, SYNCED), Op::Begin, inside(insert("a", 2, SYNCED))]);
    for ending in [Ending::Close, Ending::Kill, Ending::PowerCut] {
        assert_eq!(model.legal_after(ending).count(), 1, "{ending}");
    }
    model.crash_to(0);
    assert_eq!(model.apply(&commit(SYNCED)), refused(Refusal::NoTransaction));
    assert_eq!(model.apply(&insert("a", 2, SYNCED)), id(2));
}

#[test]
fn ids_that_a_committed_transaction_gave_out_stay_used() {
    // spec: S-4.2, T-2.1
    let mut model = model(&[
        Op::Begin,
        inside(put("a", 5, 0)),
        inside(delete("a", 5)),
        commit(SYNCED),
        Op::Begin,
        inside(insert("a", 6, SYNCED)),
        Op::Rollback,
    ]);
    assert_eq!(model.apply(&len("a")), Outcome::Count(0));
    assert_eq!(model.apply(&insert("a", 6, SYNCED)), id(6));
}

#[test]
fn going_back_to_a_savepoint_undoes_exactly_what_came_after_it() {
    // spec: T-2.6
    let mut model = model(&[Op::Begin, inside(insert("a", 1, SYNCED))]);
    assert_eq!(model.apply(&Op::Savepoint), Outcome::Count(0));
    model.apply(&inside(insert("a", 2, SYNCED)));
    model.apply(&inside(drop_it("a")));
    model.apply(&inside(create("b")));
    assert_eq!(model.apply(&back_to(0)), Outcome::Done);
    assert_eq!(model.apply(&inside(Op::Collections)), names(&["a"]));
    assert_eq!(model.apply(&inside(insert("a", 3, SYNCED))), id(2));
    model.apply(&commit(SYNCED));
    assert_eq!(model.apply(&get("a", 2)), found(3));
}

#[test]
fn a_savepoint_stays_when_it_is_gone_back_to_and_those_after_it_are_gone() {
    // spec: T-2.6
    let mut model = model(&[Op::Begin, Op::Savepoint, inside(put("a", 1, 1)), Op::Savepoint]);
    assert_eq!(model.apply(&back_to(0)), Outcome::Done);
    assert_eq!(model.apply(&back_to(1)), refused(Refusal::UnknownSavepoint));
    assert_eq!(model.apply(&inside(put("b", 1, 1))), Outcome::Done);
    assert_eq!(model.apply(&back_to(0)), Outcome::Done);
    assert_eq!(model.apply(&inside(Op::Collections)), names(&[]));
    assert_eq!(model.apply(&Op::Savepoint), Outcome::Count(1));
}

#[test]
fn a_refused_operation_leaves_the_transaction_as_it_was() {
    // spec: T-2.7
    let mut model = model(&[Op::Begin, inside(put("a", i64::MAX - 1, 1))]);
    let before = model.clone();
    let nested = (0..128).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
    let too_deep = Op::Put {
        collection: "new".into(),
        key: Key::Int(1),
        document: Document::from([("deep".to_owned(), nested)]),
        durability: SYNCED,
    };
    for (op, reason) in [
        (insert_many("a", 2, SYNCED), Refusal::IdsExhausted),
        (put("$b", 1, 1), Refusal::InvalidName),
        (delete("none", 1), Refusal::UnknownCollection),
        (too_deep, Refusal::TooDeep),
    ] {
        assert_eq!(model.apply(&inside(op)), refused(reason));
    }
    assert_eq!(model, before);
    model.apply(&commit(SYNCED));
    assert_eq!(model.apply(&Op::Collections), names(&["a"]));
}

#[test]
fn what_belongs_to_a_transaction_is_refused_where_none_is_open() {
    let mut model = Model::default();
    for op in [inside(put("a", 1, 1)), Op::Savepoint, back_to(0), commit(SYNCED), Op::Rollback] {
        assert_eq!(model.apply(&op), refused(Refusal::NoTransaction), "{op}");
    }
    assert_eq!(model, Model::default());
}

#[test]
fn a_commit_in_doubt_is_unseen_and_ends_its_transaction() {
    // spec: S-8.2, S-8.3
    let mut model = model(&[Op::Begin, inside(put("a", 1, 1)), inside(put("b", 1, 1))]);
    model.doubt(&commit(SYNCED));
    assert!(!model.is_in_transaction());
    assert_eq!(model.apply(&Op::Collections), names(&[]));
    let legal: Vec<usize> =
        model.legal_after(Ending::Close).map(|(_, state)| state.names().count()).collect();
    assert_eq!(legal, [0, 2]);
}

#[test]
fn a_commit_that_failed_has_changed_nothing_and_ends_its_transaction() {
    // spec: S-2.1, S-8.5, T-2.5
    let mut oracle = Oracle::default();
    let mut saw = |op: &Op, answered| oracle.judge(op, &answered).is_ok();
    assert!(saw(&Op::Begin, Outcome::Done));
    assert!(saw(&inside(insert("a", 1, SYNCED)), id(1)));
    assert!(saw(&commit(SYNCED), Outcome::Failed(Failure::StorageFull)));
    assert!(saw(&Op::Collections, names(&[])));
    assert!(saw(&Op::Rollback, refused(Refusal::NoTransaction)));
    assert!(saw(&insert("a", 1, SYNCED), id(1)));
}

#[test]
fn an_open_transaction_cannot_be_committed_after_an_unknown_outcome() {
    // spec: S-8.3
    let mut model = model(&[Op::Begin, inside(put("a", 1, 1))]);
    model.doubt(&Op::Flush);
    assert_eq!(model.apply(&inside(get("a", 1))), found(1));
    assert_eq!(model.apply(&commit(SYNCED)), Outcome::Failed(Failure::Poisoned));
    assert!(!model.is_in_transaction());
    assert_eq!(unacknowledged(&model), 0);
}

#[test]
fn nothing_inside_a_transaction_can_be_in_doubt() {
    // spec: T-2.4
    let mut oracle = Oracle::default();
    oracle.judge(&Op::Begin, &Outcome::Done).expect("nothing hinders it");
    assert!(oracle.judge(&inside(put("a", 1, 1)), &Outcome::Unknown).is_err());
}

#[test]
fn each_history_that_looks_right_has_its_own_transaction_until_an_answer_tells() {
    // spec: S-4.3, S-7.1
    let mut oracle = Oracle::default();
    let mut saw = |op: &Op, answered| oracle.judge(op, &answered).is_ok();
    let delete_unsynced = Op::Delete { collection: "a".into(), key: Key::Int(2), durability: BUFFERED };
    assert!(saw(&insert("a", 1, SYNCED), id(1)));
    assert!(saw(&insert("a", 2, BUFFERED), id(2)));
    assert!(saw(&delete_unsynced, Outcome::Bool(true)));
    let dump = oracle.histories()[0].visible().dump(&Limits::default());
    oracle.judge_ending(Ending::PowerCut, &dump).expect("both prefixes look so");
    oracle.judge(&Op::Begin, &Outcome::Done).expect("nothing hinders it");
    assert_eq!(oracle.histories().len(), 2);
    oracle.judge(&inside(insert("a", 3, SYNCED)), &id(3)).expect("one of them gives this id");
    assert_eq!(oracle.histories().len(), 1);
    oracle.judge(&Op::Rollback, &Outcome::Done).expect("it is open");
    assert!(oracle.judge(&insert("a", 3, SYNCED), &id(2)).is_err(), "the other history is out");
}
