//! The model does what the clauses on state, refusals, collections, writes and reads say.

use std::ops::Bound::{Excluded, Included, Unbounded};

use crate::ops::{
    clear, create, delete, document, drop_it, get, id, insert, insert_many, keys, model, prefixed, put,
    refused, rename,
};
use holotype_model::{Document, Durability, Key, Limits, Model, Op, Outcome, Prefix, Refusal, Value};

const SYNCED: Durability = Durability::Synced;

#[test]
fn ids_begin_at_one_and_follow_the_largest_int_key_ever_put() {
    // spec: S-4.1, S-4.2
    let mut model = model(&[put("a", -5, 0)]);
    assert_eq!(model.apply(&insert("a", 0, SYNCED)), id(1));
    assert_eq!(model.apply(&put("a", 10, 0)), Outcome::Done);
    assert_eq!(model.apply(&delete("a", 10)), Outcome::Bool(true));
    assert_eq!(model.apply(&put("a", "11", 0)), Outcome::Done);
    assert_eq!(model.apply(&insert("a", 0, SYNCED)), id(11));
    assert_eq!(model.apply(&insert("other", 0, SYNCED)), id(1));
}

#[test]
fn ids_run_out_above_the_largest_int_and_a_batch_that_needs_too_many_changes_nothing() {
    // spec: S-4.4
    let mut model = model(&[put("a", i64::MAX - 1, 0)]);
    let before = model.clone();
    assert_eq!(model.apply(&insert_many("a", 2, SYNCED)), refused(Refusal::IdsExhausted));
    assert_eq!(model, before);
    assert_eq!(model.apply(&insert("a", 0, SYNCED)), id(i64::MAX));
    assert_eq!(model.apply(&insert("a", 0, SYNCED)), refused(Refusal::IdsExhausted));
    assert_eq!(model.apply(&put("a", 1, 0)), Outcome::Done);
}

//= spec/semantics.md#s-4-5-insert-of-many
//# An insert of many documents MUST put them under successive ids, in the order given, in one commit, and
//# answer the keys in that order.
#[test]
fn a_batch_takes_successive_ids_and_an_empty_one_is_no_commit() {
    // spec: S-1.5
    let mut model = model(&[insert("a", 0, SYNCED)]);
    assert_eq!(model.apply(&insert_many("a", 3, SYNCED)), Outcome::Keys([2, 3, 4].map(Key::Int).to_vec()));
    assert_eq!(model.apply(&insert_many("new", 0, SYNCED)), Outcome::Keys(vec![]));
    assert_eq!(model.apply(&Op::Collections), Outcome::Names(vec!["a".into()]));
}

//= spec/semantics.md#s-4-7-put-of-many
//# A put of many MUST leave each document under its key in one commit, the last one where a key comes twice,
//# and answer how many were given.
#[test]
fn a_put_of_many_leaves_the_last_document_of_a_key() {
    let entries = vec![(Key::Int(1), document(1)), (Key::from("k"), document(2)), (Key::Int(1), document(3))];
    let put_many = Op::PutMany { collection: "a".into(), entries, durability: SYNCED };
    let mut model = Model::default();
    assert_eq!(model.apply(&put_many), Outcome::Count(3));
    assert_eq!(model.apply(&get("a", 1)), Outcome::Document(Some(document(3))));
    assert_eq!(model.apply(&Op::Len { collection: "a".into() }), Outcome::Count(2));
}

#[test]
fn the_conditional_writes_look_before_they_put() {
    // spec: S-4.8, S-4.9, S-4.10
    let mut model = model(&[put("a", 1, 0)]);
    let with_key = |key, n| {
        let (collection, key) = ("a".to_owned(), Key::Int(key));
        Op::InsertWithKey { collection, key, document: document(n), durability: SYNCED }
    };
    let replace = |key, n| {
        let (collection, key) = ("a".to_owned(), Key::Int(key));
        Op::Replace { collection, key, document: document(n), durability: SYNCED }
    };
    assert_eq!(model.apply(&with_key(1, 9)), refused(Refusal::KeyExists));
    assert_eq!(model.apply(&with_key(2, 2)), Outcome::Done);
    assert_eq!(model.apply(&replace(3, 9)), Outcome::Bool(false));
    assert_eq!(model.apply(&replace(1, 1)), Outcome::Bool(true));
    assert_eq!(model.apply(&delete("a", 2)), Outcome::Bool(true));
    assert_eq!(model.apply(&delete("a", 2)), Outcome::Bool(false));
    let all = Op::Scan {
        collection: "a".into(),
        range: holotype_model::KeyRange::ALL,
        reverse: false,
        limit: None,
    };
    assert_eq!(model.apply(&all), Outcome::Entries(vec![(Key::Int(1), document(1))]));
}

#[test]
fn names_that_are_empty_long_or_reserved_are_refused_where_they_would_begin() {
    // spec: S-3.1
    let mut model = model(&[put("a", 1, 0)]);
    for name in ["", "$system", &"n".repeat(256)] {
        assert_eq!(model.apply(&put(name, 1, 0)), refused(Refusal::InvalidName), "{name:?}");
        assert_eq!(model.apply(&create(name)), refused(Refusal::InvalidName));
        assert_eq!(model.apply(&rename("a", name)), refused(Refusal::InvalidName));
        assert_eq!(model.apply(&get(name, 1)), refused(Refusal::UnknownCollection));
    }
    for name in ["é", "n$", &"n".repeat(255)] {
        assert_eq!(model.apply(&create(name)), Outcome::Bool(true), "{name:?}");
    }
}

#[test]
fn what_can_only_find_or_change_needs_a_collection_and_what_puts_makes_one() {
    // spec: S-3.2, S-3.3
    let mut model = Model::default();
    let replace =
        Op::Replace { collection: "a".into(), key: Key::Int(1), document: document(1), durability: SYNCED };
    for op in [get("a", 1), delete("a", 1), replace, Op::Len { collection: "a".into() }] {
        assert_eq!(model.apply(&op), refused(Refusal::UnknownCollection), "{op}");
    }
    assert_eq!(model.apply(&insert("a", 0, SYNCED)), id(1));
    assert_eq!(model.apply(&get("a", 2)), Outcome::Document(None));
}

//= spec/semantics.md#s-3-4-creation
//# Creating a collection MUST be possible when it is there already: the call answers false, and true when it
//# created one.
//= spec/semantics.md#s-3-7-clear
//# Clearing a collection MUST remove all its documents in one commit, keep its name and its largest id, and
//# answer whether there was such a collection.
#[test]
fn creation_drop_and_clear_say_whether_there_was_something_to_do() {
    // spec: S-3.6
    let mut model = Model::default();
    let mut answers = |op: Op| model.apply(&op);
    assert_eq!(answers(drop_it("a")), Outcome::Bool(false));
    assert_eq!(answers(clear("a")), Outcome::Bool(false));
    assert_eq!(answers(create("a")), Outcome::Bool(true));
    assert_eq!(answers(create("a")), Outcome::Bool(false));
    assert_eq!(answers(insert_many("a", 3, SYNCED)), Outcome::Keys([1, 2, 3].map(Key::Int).to_vec()));
    assert_eq!(answers(clear("a")), Outcome::Bool(true));
    assert_eq!(answers(insert("a", 0, SYNCED)), id(4));
    assert_eq!(answers(drop_it("a")), Outcome::Bool(true));
    assert_eq!(answers(insert("a", 0, SYNCED)), id(1));
}

//= spec/semantics.md#s-3-8-rename
//# Renaming a collection MUST move its documents and its largest id to the new name in one commit, and answer
//# whether there was such a collection.
#[test]
fn a_rename_takes_documents_and_ids_along_and_never_covers_another_collection() {
    let mut model = model(&[insert_many("a", 2, SYNCED), put("b", "k", 0)]);
    assert_eq!(model.apply(&rename("a", "b")), refused(Refusal::InvalidName));
    assert_eq!(model.apply(&rename("a", "a")), refused(Refusal::InvalidName));
    assert_eq!(model.apply(&rename("none", "b")), Outcome::Bool(false));
    assert_eq!(model.apply(&rename("a", "c")), Outcome::Bool(true));
    assert_eq!(model.apply(&insert("c", 0, SYNCED)), id(3));
    assert_eq!(model.apply(&Op::Collections), Outcome::Names(vec!["b".into(), "c".into()]));
}

#[test]
fn a_refused_write_leaves_no_collection_behind() {
    // spec: S-2.1
    let mut model = Model::with_limits(Limits { document_len: 3, ..Limits::default() });
    assert_eq!(model.apply(&insert("a", 100, SYNCED)), refused(Refusal::DocumentTooLarge));
    assert_eq!(model.apply(&Op::Collections), Outcome::Names(vec![]));
}

//= spec/semantics.md#s-2-4-document-limit
//# A write of a document whose encoded form is longer than 67,108,864 bytes MUST be refused as
//# `DocumentTooLarge`.
//= spec/semantics.md#s-2-5-depth-limit
//# A write of a document in which arrays and objects nest deeper than 128 levels, the document being level 1,
//# MUST be refused as `TooDeep`.
#[test]
fn each_limit_holds_up_to_its_last_unit() {
    // spec: S-2.3
    let limits = Limits { key_len: 3, document_len: 5, depth: 2, ..Limits::default() };
    let mut model = Model::with_limits(limits);
    assert_eq!(model.apply(&put("a", "abc", 0)), Outcome::Done);
    assert_eq!(model.apply(&put("a", "abcd", 0)), refused(Refusal::KeyTooLong));
    assert_eq!(model.apply(&delete("a", "abcd")), refused(Refusal::KeyTooLong));
    assert_eq!(model.apply(&get("a", "abcd")), Outcome::Document(None));
    assert_eq!(model.apply(&put("a", 1, 255)), Outcome::Done);
    assert_eq!(model.apply(&put("a", 1, 256)), refused(Refusal::DocumentTooLarge));
    let holding = |value| Op::Insert {
        collection: "a".into(),
        document: Document::from([("n".to_owned(), value)]),
        durability: SYNCED,
    };
    assert_eq!(model.apply(&holding(Value::Array(vec![]))), id(2));
    assert_eq!(model.apply(&holding(Value::Array(vec![Value::Array(vec![])]))), refused(Refusal::TooDeep));
}

//= spec/semantics.md#s-2-2-one-of-the-reasons
//# Where several reasons to refuse a call hold, a store MUST report one of them.
#[test]
fn every_reason_to_refuse_is_listed() {
    let mut model = model(&[put("a", i64::MAX, 0)]);
    let too_long = Op::InsertWithKey {
        collection: "$a".into(),
        key: Key::Text("k".repeat(1025)),
        document: Document::new(),
        durability: SYNCED,
    };
    assert_eq!(model.refusals(&too_long), [Refusal::InvalidName, Refusal::KeyTooLong]);
    assert_eq!(model.refusals(&insert("a", 0, SYNCED)), [Refusal::IdsExhausted]);
    assert_eq!(model.apply(&too_long), refused(Refusal::InvalidName));
}

//= spec/semantics.md#s-5-6-limit
//# A scan with a limit MUST answer the first entries in the direction asked for, at most as many as the
//# limit.
//= spec/semantics.md#s-5-7-keys-alone
//# A scan of keys MUST answer the keys that a scan with the same arguments answers, without the documents.
#[test]
fn a_scan_keeps_its_bounds_its_direction_and_its_limit() {
    // spec: S-5.3, S-5.4
    let mut model = model(&[put("a", "t", 0), put("a", 3, 0), put("a", -3, 0), put("a", 1, 0)]);
    model.apply(&put("a", Key::Bytes(vec![0]), 0));
    let mut found = |from, to, reverse, limit| model.apply(&keys(from, to, reverse, limit));
    let listed = |keys: &[Key]| Outcome::Keys(keys.to_vec());
    let [low, one, three, text, bytes] =
        [Key::Int(-3), Key::Int(1), Key::Int(3), Key::from("t"), Key::Bytes(vec![0])];
    assert_eq!(
        found(Unbounded, Unbounded, false, None),
        listed(&[low.clone(), one.clone(), three.clone(), text.clone(), bytes.clone()])
    );
    assert_eq!(found(Unbounded, Unbounded, true, Some(2)), listed(&[bytes, text.clone()]));
    assert_eq!(
        found(Included(one.clone()), Excluded(text), false, None),
        listed(&[one.clone(), three.clone()])
    );
    assert_eq!(
        found(Excluded(low), Included(three.clone()), true, Some(1)),
        listed(std::slice::from_ref(&three))
    );
    assert_eq!(found(Included(three), Included(one), false, None), listed(&[]));
    assert_eq!(found(Unbounded, Unbounded, false, Some(0)), listed(&[]));
}

#[test]
fn a_prefix_finds_keys_of_its_own_kind() {
    // spec: S-5.5
    let mut model = model(&[put("a", "a", 1), put("a", "ab", 2), put("a", "b", 3), put("a", 7, 4)]);
    model.apply(&put("a", Key::Bytes(vec![0xFF, 0xFF]), 5));
    let mut count = |prefix| match model.apply(&prefixed(prefix)) {
        Outcome::Entries(entries) => entries.len(),
        other => panic!("{other}"),
    };
    assert_eq!(count(Prefix::Text("a".into())), 2);
    assert_eq!(count(Prefix::Text(String::new())), 3);
    assert_eq!(count(Prefix::Bytes(vec![0xFF])), 1);
    assert_eq!(count(Prefix::Bytes(b"a".to_vec())), 0);
}

#[test]
fn maintenance_changes_nothing() {
    // spec: S-7.5
    let mut model = model(&[insert("a", 0, Durability::Buffered)]);
    let before = model.clone();
    for op in [Op::Verify, Op::Checkpoint, Op::Clean, Op::Compact] {
        assert_eq!(model.apply(&op), Outcome::Done);
    }
    assert_eq!(model, before);
}
