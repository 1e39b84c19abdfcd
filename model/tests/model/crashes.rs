//! The model leaves after a crash what the clauses on durability, crashes and faults allow, and nothing else.

use std::collections::BTreeMap;

use crate::ops::{delete, get, insert, insert_many, put};
use holotype_model::{Dump, Durability, Ending, Failure, Key, Limits, Model, Op, Oracle, Outcome, Survived};

const BUFFERED: Durability = Durability::Buffered;
const WRITTEN: Durability = Durability::Written;
const SYNCED: Durability = Durability::Synced;

/// A model into which one document was inserted in each of these classes.
fn model(classes: &[Durability]) -> Model {
    let mut model = Model::default();
    for durability in classes {
        model.apply(&insert("a", 0, *durability));
    }
    model
}

/// How many documents there are in each state that is legal after this ending.
fn legal(model: &Model, ending: Ending) -> Vec<usize> {
    let count = |dump: Dump| dump.documents.values().map(BTreeMap::len).sum();
    model.legal_after(ending).map(|(_, state)| count(state.dump(&Limits::default()))).collect()
}

#[test]
fn a_power_cut_leaves_any_prefix_from_the_last_synced_commit_on() {
    // spec: S-6.2, S-7.1
    let model = model(&[BUFFERED, SYNCED, WRITTEN, BUFFERED, BUFFERED]);
    assert_eq!(legal(&model, Ending::PowerCut), [2, 3, 4, 5]);
}

//= spec/semantics.md#s-6-3-written
//# When a call with class `Written` has returned with success, its commit and every commit before it MUST
//# survive the end of the process.
#[test]
fn the_end_of_the_process_leaves_any_prefix_from_the_last_written_commit_on() {
    // spec: S-7.2
    assert_eq!(legal(&model(&[SYNCED, BUFFERED, WRITTEN, BUFFERED]), Ending::Kill), [3, 4]);
    assert_eq!(legal(&model(&[SYNCED, BUFFERED, BUFFERED]), Ending::Kill), [1, 2, 3]);
}

//= spec/semantics.md#s-6-5-flush
//# When `flush` has returned with success, every commit before it MUST survive a power cut, whatever its
//# class.
#[test]
fn a_flush_makes_every_class_durable_and_a_close_does_too() {
    // spec: S-6.6
    let mut model = model(&[BUFFERED, WRITTEN, BUFFERED]);
    assert_eq!(legal(&model, Ending::Close), [3]);
    model.apply(&Op::Flush);
    assert_eq!(legal(&model, Ending::PowerCut), [3]);
}

#[test]
fn a_write_that_changes_nothing_makes_nothing_durable() {
    // spec: S-1.5
    let mut model = model(&[BUFFERED]);
    assert_eq!(model.apply(&delete("a", 9)), Outcome::Bool(false));
    assert_eq!(legal(&model, Ending::PowerCut), [0, 1]);
}

#[test]
fn a_batch_survives_whole_or_not_at_all() {
    // spec: S-1.4
    let mut model = Model::default();
    model.apply(&insert_many("a", 3, BUFFERED));
    assert_eq!(legal(&model, Ending::PowerCut), [0, 3]);
}

#[test]
fn what_opening_found_is_durable_and_what_it_lost_is_gone() {
    // spec: S-6.7, S-7.3
    let mut model = model(&[SYNCED, BUFFERED, BUFFERED]);
    model.crash_to(1);
    assert_eq!(legal(&model, Ending::PowerCut), [2]);
    assert_eq!(model.apply(&insert("a", 0, BUFFERED)), Outcome::Key(Key::Int(3)));
}

#[test]
fn an_id_of_a_surviving_commit_is_not_given_out_again_even_if_it_was_deleted() {
    // spec: S-4.2, S-4.3
    let mut model = model(&[SYNCED, SYNCED]);
    model.apply(&delete("a", 2));
    model.crash_to(0);
    assert_eq!(model.apply(&insert("a", 0, SYNCED)), Outcome::Key(Key::Int(3)));
}

#[test]
fn a_commit_in_doubt_is_unseen_and_a_crash_decides() {
    // spec: S-8.2, S-7.1
    let mut model = model(&[SYNCED]);
    model.doubt(&put("a", 7, 0));
    assert_eq!(model.apply(&get("a", 7)), Outcome::Document(None));
    assert_eq!(legal(&model, Ending::PowerCut), [1, 2]);
    model.crash_to(1);
    assert_ne!(model.apply(&get("a", 7)), Outcome::Document(None));
}

#[test]
fn after_an_unknown_outcome_nothing_is_written_until_the_store_is_opened_again() {
    // spec: S-8.3
    let mut model = model(&[SYNCED]);
    model.doubt(&Op::Flush);
    for op in [put("a", 7, 0), Op::Flush] {
        assert_eq!(model.apply(&op), Outcome::Failed(Failure::Poisoned), "{op}");
    }
    model.crash_to(0);
    assert_eq!(model.apply(&put("a", 7, 0)), Outcome::Done);
}

#[test]
fn a_failed_sync_may_cost_even_what_the_process_had_handed_over() {
    // spec: S-8.4
    let mut model = model(&[SYNCED, WRITTEN]);
    model.doubt(&Op::Flush);
    for ending in [Ending::Close, Ending::Kill, Ending::PowerCut] {
        assert_eq!(legal(&model, ending), [1, 2], "{ending}");
    }
}

#[test]
fn a_clone_goes_its_own_way() {
    let mut model = model(&[SYNCED, BUFFERED]);
    let before = model.clone();
    model.apply(&delete("a", 1));
    assert_eq!(legal(&model, Ending::PowerCut), [1]);
    assert_eq!(legal(&before, Ending::PowerCut), [1, 2]);
}

/// An oracle that saw these operations answered as the model answers them.
fn oracle(ops: &[Op]) -> (Oracle, Model) {
    let (mut oracle, mut model) = (Oracle::default(), Model::default());
    for op in ops {
        oracle.judge(op, &model.apply(op)).expect("the model agrees with itself");
    }
    (oracle, model)
}

#[test]
fn states_that_look_alike_after_a_crash_stay_apart_until_an_answer_tells() {
    let deleted = Op::Delete { collection: "a".into(), key: Key::Int(2), durability: BUFFERED };
    let (oracle, model) = oracle(&[insert("a", 0, SYNCED), insert("a", 0, BUFFERED), deleted]);
    let dump = model.visible().dump(&Limits::default());
    for next in [2, 3] {
        let mut oracle = oracle.clone();
        let survived = oracle.judge_ending(Ending::PowerCut, &dump).expect("both prefixes look so");
        assert_eq!(survived, Survived { unacknowledged: 2, kept: 2 });
        assert_eq!(oracle.histories().len(), 2);
        oracle
            .judge(&insert("a", 0, SYNCED), &Outcome::Key(Key::Int(next)))
            .expect("one of them gives this id");
        assert_eq!(oracle.histories().len(), 1);
    }
    let mut oracle = oracle;
    oracle.judge_ending(Ending::PowerCut, &dump).expect("both prefixes look so");
    let wrong = oracle.judge(&insert("a", 0, SYNCED), &Outcome::Key(Key::Int(4)));
    assert_eq!(wrong.expect_err("none gives this id").expected, ["key 2", "key 3"]);
}

#[test]
fn the_oracle_says_what_is_missing() {
    let (mut oracle, model) = oracle(&[put("a", 1, 0), put("a", 2, 0)]);
    let mut dump = model.visible().dump(&Limits::default());
    dump.documents.get_mut("a").expect("it was put there").remove(&Key::Int(1));
    let wrong = oracle.judge_ending(Ending::PowerCut, &dump).expect_err("both are synced");
    assert_eq!(wrong.found, "after power cut: \"a\" misses key 1");
}

#[test]
fn the_oracle_takes_any_reason_that_holds_and_no_other() {
    use holotype_model::Refusal::{InvalidName, KeyTooLong, TooDeep};
    let op = put("", Key::Text("k".repeat(1025)), 0);
    for (reason, holds) in [(InvalidName, true), (KeyTooLong, true), (TooDeep, false)] {
        let (mut oracle, _) = oracle(&[]);
        assert_eq!(oracle.judge(&op, &Outcome::Refused(reason)).is_ok(), holds, "{reason}");
    }
}

#[test]
fn the_oracle_lets_no_read_be_in_doubt_and_no_write_follow_one() {
    let (mut after_read, _) = oracle(&[put("a", 1, 0)]);
    assert!(after_read.judge(&get("a", 1), &Outcome::Unknown).is_err());

    let (mut poisoned, _) = oracle(&[put("a", 1, 0)]);
    poisoned.judge(&put("a", 2, 0), &Outcome::Unknown).expect("a write may be in doubt");
    assert!(poisoned.is_poisoned());
    assert!(poisoned.clone().judge(&put("a", 3, 0), &Outcome::Done).is_err());
    assert!(poisoned.clone().judge(&Op::Flush, &Outcome::Unknown).is_err());
    poisoned.judge(&put("a", 3, 0), &Outcome::Failed(Failure::Poisoned)).expect("a refusal to write");
}

//= spec/semantics.md#s-8-5-full-disk
//# A store MUST NOT let a write that failed for want of room take effect later.
#[test]
fn a_write_that_found_no_room_may_be_shown_by_a_crash_until_the_next_write_and_by_no_close() {
    let (mut oracle, model) = oracle(&[put("a", 1, 0)]);
    let with = |ops: &[Op]| {
        let mut model = model.clone();
        ops.iter().for_each(|op| drop(model.apply(op)));
        model.visible().dump(&Limits::default())
    };
    let (failed, next) = (put("a", 2, 0), put("a", 3, 0));
    oracle.take_back(&failed);
    let (without, shown) = (with(&[]), with(std::slice::from_ref(&failed)));
    oracle.judge_dump(&without).expect("no reader sees it");
    assert!(oracle.clone().judge_dump(&shown).is_err());
    for ending in [Ending::Kill, Ending::PowerCut] {
        oracle.clone().judge_ending(ending, &shown).expect("a crash may show it");
        oracle.clone().judge_ending(ending, &without).expect("and need not");
    }
    oracle.clone().judge_ending(Ending::Close, &without).expect("a close leaves the state as it was");
    assert!(oracle.clone().judge_ending(Ending::Close, &shown).is_err());

    // While the next write is under way: one of the two, never both.
    let mut under_way = oracle.clone();
    under_way.judge(&next, &Outcome::Unknown).expect("a write may be cut short");
    for (ops, is_legal) in [
        (&[][..], true),
        (std::slice::from_ref(&failed), true),
        (std::slice::from_ref(&next), true),
        (&[failed.clone(), next.clone()], false),
    ] {
        let judged = under_way.clone().judge_ending(Ending::PowerCut, &with(ops));
        assert_eq!(judged.is_ok(), is_legal, "{ops:?}");
    }
    oracle.judge(&next, &Outcome::Done).expect("there is room again");
    assert!(oracle.judge_ending(Ending::Kill, &with(&[failed, next])).is_err(), "it takes no effect later");
}
