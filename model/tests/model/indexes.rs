//! The model against the clauses of `spec/index.md` on calls, uniqueness and reads.

use std::ops::Bound::{Excluded, Included, Unbounded};

use holotype_model::Durability::Synced;
use holotype_model::index::{DefinitionText, PathText, Place, Shown, Tuple, TupleRange};
use holotype_model::{Document, Ending, Key, Limits, Model, Op, Oracle, Outcome, Refusal, Value};

use crate::ops::{
    clear, commit, create, delete, drop_it, get, id, insert, inside, model, put, refused, rename, through,
};

/// A definition; a `-` stands before a path that is descending, flags stand behind a blank, and a filter behind a `?`.
fn definition(text: &str) -> DefinitionText {
    let (text, filter) = text.split_once(" ? ").map_or((text, None), |(text, filter)| (text, Some(filter)));
    let (paths, flags) = text.split_once(' ').unwrap_or((text, ""));
    let path = |text: &str| PathText {
        path: text.trim_start_matches('-').to_owned(),
        descending: text.starts_with('-'),
    };
    DefinitionText {
        paths: paths.split(';').map(path).collect(),
        unique: flags.contains("unique"),
        sparse: flags.contains("sparse"),
        filter: filter.map(str::to_owned),
    }
}

fn create_index(index: &str, text: &str) -> Op {
    let definition = definition(text);
    Op::CreateIndex { collection: "a".into(), index: index.into(), definition, durability: Synced }
}

fn replace_index(index: &str, text: &str) -> Op {
    let definition = definition(text);
    Op::ReplaceIndex { collection: "a".into(), index: index.into(), definition, durability: Synced }
}

fn drop_index(index: &str) -> Op {
    Op::DropIndex { collection: "a".into(), index: index.into(), durability: Synced }
}

fn rename_index(index: &str, to: &str) -> Op {
    Op::RenameIndex { collection: "a".into(), index: index.into(), to: to.into(), durability: Synced }
}

fn put_fields(key: impl Into<Key>, fields: &[(&str, Value)]) -> Op {
    let document = fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    Op::Put { collection: "a".into(), key: key.into(), document, durability: Synced }
}

fn put_n(key: i64, value: impl Into<Value>) -> Op {
    put_fields(key, &[("n", value.into())])
}

fn read(range: TupleRange, after: Option<Place>, reverse: bool, limit: Option<usize>) -> Op {
    Op::IndexScan { collection: "a".into(), index: "i".into(), range, after, reverse, limit }
}

fn scan() -> Op {
    read(TupleRange::ALL, None, false, None)
}

fn count(range: TupleRange) -> Op {
    Op::IndexCount { collection: "a".into(), index: "i".into(), range }
}

fn indexes() -> Op {
    Op::Indexes { collection: "a".into() }
}

fn shown(tuple: &[Option<Value>], key: impl Into<Key>) -> Shown {
    Shown { tuple: Some(tuple.to_vec()), key: key.into() }
}

fn of<T: Into<Value>>(value: T) -> Tuple {
    vec![Some(value.into())]
}

fn answered(model: &mut Model, op: &Op) -> Vec<Shown> {
    match model.apply(op) {
        Outcome::IndexEntries(entries) => entries,
        other => panic!("{op} answered {other}"),
    }
}

/// The keys of the entries that a read answers.
fn keys(model: &mut Model, op: &Op) -> Vec<Key> {
    answered(model, op).into_iter().map(|entry| entry.key).collect()
}

fn ints<const N: usize>(keys: [i64; N]) -> Vec<Key> {
    keys.map(Key::Int).to_vec()
}

fn names(model: &mut Model) -> Vec<String> {
    match model.apply(&indexes()) {
        Outcome::Indexes(indexes) => indexes.into_iter().map(|(name, _)| name).collect(),
        other => panic!("{other}"),
    }
}

fn array(items: &[Value]) -> Value {
    Value::Array(items.to_vec())
}

fn object(fields: &[(&str, Value)]) -> Value {
    Value::Object(fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect())
}

#[test]
fn names_and_definitions_that_are_none_are_refused() {
    // spec: I-1.1
    let mut model = model(&[]);
    for (name, text) in [("", "$.n"), ("$i", "$.n"), ("i", "$"), ("i", "$..n"), ("i", "$.a[*];$.b[*]")] {
        assert_eq!(model.apply(&create_index(name, text)), refused(Refusal::InvalidIndex), "{name} {text}");
    }
    let long = "n".repeat(256);
    assert_eq!(model.apply(&create_index(&long, "$.n")), refused(Refusal::InvalidIndex));
    assert_eq!(model.apply(&create_index(&long[1..], "$.n")), Outcome::Bool(true));
    assert_eq!(model.apply(&rename_index(&long[1..], "")), refused(Refusal::InvalidIndex));
}

//= spec/index.md#i-1-4-limits-of-definitions
//# A creation beyond them MUST be refused as `LimitReached`.
#[test]
fn a_collection_has_at_most_sixty_four_indexes() {
    let creations: Vec<Op> = (0..64).map(|n| create_index(&format!("i{n}"), "$.n")).collect();
    let mut model = model(&creations);
    assert_eq!(model.apply(&create_index("one more", "$.n")), refused(Refusal::LimitReached));
    assert_eq!(model.apply(&create_index("i7", "$.n")), Outcome::Bool(false));
    assert_eq!(model.apply(&replace_index("i7", "$.m")), Outcome::Bool(true));
    assert_eq!(model.apply(&replace_index("one more", "$.m")), refused(Refusal::LimitReached));
}

//= spec/index.md#i-2-3-entries
//# An index MUST hold, in every state, exactly the entries that its definition gives of the documents of its collection.
//= spec/index.md#i-2-5-exactness
//# An entry MUST give back the values of its tuple, equal to those of the document.
#[test]
fn every_document_has_an_entry_and_equal_tuples_of_one_are_one() {
    let items = [Value::Int(1), Value::Float(1.0), Value::Int(1), Value::Float(-0.0)];
    let ops = [
        create_index("i", "$.n[*]"),
        put_n(1, array(&items)),
        put_n(2, array(&[])),
        put_n(3, 7),
        put_n(4, 8),
        delete("a", 4),
    ];
    let expected =
        [shown(&[None], 2), shown(&[None], 3), shown(&of(-0.0), 1), shown(&of(1), 1), shown(&of(1.0), 1)];
    assert_eq!(answered(&mut model(&ops), &scan()), expected);
}

//= spec/index.md#i-1-5-functions
//= type=test
//# Under a function, a path MUST give what the function gives of the value that the path alone would give,
//# and nothing where that is nothing.
#[test]
fn an_index_is_of_a_function_of_a_path() {
    let ops = [create_index("i", "fold($.n)"), put_n(1, "B"), put_n(2, 5), put_n(3, "a"), put_n(4, "b")];
    let expected = [shown(&[None], 2), shown(&of("a"), 3), shown(&of("b"), 1), shown(&of("b"), 4)];
    assert_eq!(answered(&mut model(&ops), &scan()), expected);
    let ops =
        [create_index("i", "-length($.n[*]) sparse"), put_n(1, array(&[array(&[]), "abc".into(), 7.into()]))];
    let expected = [shown(&of(3), 1), shown(&of(0), 1)];
    assert_eq!(answered(&mut model(&ops), &scan()), expected);
}

#[test]
fn paths_with_a_fan_out_take_from_one_node_at_a_time() {
    // spec: I-2.1
    let both = object(&[("x", Value::Int(1)), ("y", Value::Int(2))]);
    let one = object(&[("y", Value::Int(3))]);
    let fields = [("n", array(&[both, one, Value::Int(9)])), ("m", Value::from("m"))];
    let entry = |x: Option<i64>, y: Option<i64>| {
        shown(&[x.map(Value::Int), y.map(Value::Int), Some(Value::from("m"))], 1)
    };
    let ops = [create_index("i", "$.n[*].x;$.n[*].y;$.m"), put_fields(1, &fields)];
    // The item that has neither gives no tuple.
    assert_eq!(answered(&mut model(&ops), &scan()), [entry(None, Some(3)), entry(Some(1), Some(2))]);
    let ops = [create_index("i", "$.n[*].x;$.n[*].y;$.m"), put_fields(1, &fields[1..])];
    assert_eq!(answered(&mut model(&ops), &scan()), [entry(None, None)]);
    // The values of an object are fanned out as well.
    let ops = [create_index("i", "$.n.*"), put_n(1, object(&[("x", 1.into()), ("y", 2.into())]))];
    assert_eq!(answered(&mut model(&ops), &scan()), [shown(&of(1), 1), shown(&of(2), 1)]);
}

//= spec/index.md#i-2-8-partial-indexes
//= type=test
//# A partial index MUST have no entry of a document that its filter does not admit.
#[test]
fn a_partial_index_is_of_the_documents_that_its_filter_admits() {
    let both = |n: i64, m: i64| put_fields(1, &[("n", n.into()), ("m", m.into())]);
    let mut model = model(&[put_n(2, 5), create_index("i", "$.n ? @.m > 1"), both(3, 1), put_n(3, 4)]);
    assert_eq!(answered(&mut model, &scan()), []);
    model.apply(&both(3, 2));
    assert_eq!(answered(&mut model, &scan()), [shown(&of(3), 1)]);
    model.apply(&both(4, 2));
    assert_eq!(answered(&mut model, &scan()), [shown(&of(4), 1)]);
    model.apply(&both(4, 0));
    assert_eq!(answered(&mut model, &scan()), []);
    // Another filter is another definition, and the same one in another form is not.
    assert_eq!(model.apply(&create_index("i", "$.n ? @['m']>1")), Outcome::Bool(false));
    assert_eq!(model.apply(&create_index("i", "$.n ? @.m > 2")), refused(Refusal::IndexExists));
    assert_eq!(model.apply(&create_index("i", "$.n")), refused(Refusal::IndexExists));
}

//= spec/index.md#i-1-6-filters
//= type=test
//# The filter of an index MUST NOT call `arg`, `key`, `match` or `search`.
//= spec/index.md#i-1-6-filters
//= type=test
//# A text that is no such filter MUST be refused as say, with the place of the mistake.
#[test]
fn a_filter_of_an_index_is_of_the_document_alone() {
    let mut model = model(&[]);
    for filter in [
        "",
        "@.n ==",
        "@.n == 1 ,",
        "@.n == arg('x')",
        "key() == 1",
        "@.n[?key() == @]",
        "match(@.n, 'a')",
        "!(@.m && search(@.n, 'a'))",
        "length(arg('x')) == 1",
    ] {
        let refused_one = model.apply(&create_index("i", &format!("$.n ? {filter}")));
        assert_eq!(refused_one, refused(Refusal::InvalidIndex), "{filter}");
    }
    assert_eq!(model.apply(&create_index("i", "$.n ? starts_with(@.n, 'a')")), Outcome::Bool(true));
}

#[test]
fn a_sparse_index_leaves_out_tuples_of_nothing_alone() {
    // spec: I-2.2
    let ops = [
        create_index("i", "$.n;$.m sparse"),
        put_fields(1, &[]),
        put_fields(2, &[("m", Value::Null)]),
        put_fields(3, &[("n", Value::Null)]),
    ];
    assert_eq!(keys(&mut model(&ops), &scan()), ints([2, 3]));
}

//= spec/index.md#i-2-4-order-of-entries
//# Entries MUST be ordered by their tuples, the first component that does not stand at the same place deciding; then by their keys; then by the *marks* of the numbers in their tuples.
#[test]
fn entries_come_by_tuples_then_keys_then_marks() {
    let two = [Value::Float(1.0), Value::Int(1)];
    let documents = [
        put_n(1, array(&[Value::from("a")])),
        put_n(2, array(&two)),
        put_n(3, array(&two)),
        put_n(4, array(&[Value::Null])),
        put_n(5, array(&[])),
    ];
    let ascending = [
        shown(&[None], 5),
        shown(&of(Value::Null), 4),
        shown(&of(1), 2),
        shown(&of(1.0), 2),
        shown(&of(1), 3),
        shown(&of(1.0), 3),
        shown(&of("a"), 1),
    ];
    let mut both = model(&documents);
    both.apply(&create_index("i", "$.n[*]"));
    assert_eq!(answered(&mut both, &scan()), ascending);
    both.apply(&replace_index("i", "-$.n[*]"));
    // Keys and marks are not turned round.
    let descending = [6, 2, 3, 4, 5, 1, 0].map(|at: usize| ascending[at].clone());
    assert_eq!(answered(&mut both, &scan()), descending);
}

#[test]
fn the_marks_within_arrays_and_objects_decide_too() {
    // spec: I-2.4
    let item = |zero: f64, one: Value| array(&[Value::Float(zero), object(&[("aa", one), ("b", 2.into())])]);
    let items = [item(-0.0, 1.into()), item(0.0, 1.0.into()), item(0.0, 1.into()), item(0.5, 1.into())];
    let mut model = model(&[create_index("i", "$.n[*]"), put_n(1, array(&items))]);
    let expected = [2, 1, 0, 3].map(|at: usize| shown(&of(items[at].clone()), 1));
    assert_eq!(answered(&mut model, &scan()), expected);
}

fn small() -> Model {
    // Tuples of up to 30 bytes.
    Model::with_limits(Limits { entry_len: 90, ..Limits::default() })
}

#[test]
fn long_tuples_that_begin_alike_come_by_their_keys_and_are_not_given_back() {
    // spec: I-2.6
    let text = |end: &str| Value::from(format!("{}{end}", "t".repeat(30)).as_str());
    let mut model = small();
    model.apply(&create_index("i", "$.n"));
    for (key, value) in [(1, text("b")), (2, text("a")), (3, Value::from("t")), (4, Value::from("u"))] {
        assert_eq!(model.apply(&put_n(key, value)), Outcome::Done);
    }
    let tuples: Vec<Option<Tuple>> = answered(&mut model, &scan()).into_iter().map(|e| e.tuple).collect();
    assert_eq!(tuples, [Some(of("t")), None, None, Some(of("u"))]);
    assert_eq!(keys(&mut model, &scan()), ints([3, 1, 2, 4]));
    // Ends and uniqueness go by the documents.
    assert_eq!(keys(&mut model, &read(TupleRange::get(of(text("a"))), None, false, None)), ints([2]));
    assert_eq!(model.apply(&replace_index("i", "$.n unique")), Outcome::Bool(true));
    assert_eq!(model.apply(&put_n(5, text("a"))), refused(Refusal::UniqueViolation));
    assert_eq!(model.apply(&put_n(5, text("c"))), Outcome::Done);
}

//= spec/index.md#i-2-6-long-tuples
//# In a collection with an index, a write under a key that does not fit into an entry beside the longest tuple MUST be refused as `KeyTooLong`.
#[test]
fn a_key_has_to_fit_beside_the_longest_tuple() {
    // 90 less 30, less 3 marks; three bytes of an order key are around the text.
    let [fits, too_long] = [54, 55].map(|len| Key::Text("k".repeat(len)));
    let mut model = small();
    assert_eq!(model.apply(&put("a", too_long.clone(), 0)), Outcome::Done);
    assert_eq!(model.apply(&create_index("i", "$.n")), refused(Refusal::KeyTooLong));
    model.apply(&delete("a", too_long.clone()));
    assert_eq!(model.apply(&create_index("i", "$.n")), Outcome::Bool(true));
    assert_eq!(model.apply(&put("a", too_long, 0)), refused(Refusal::KeyTooLong));
    assert_eq!(model.apply(&put("a", fits, 0)), Outcome::Done);
    let mut large = self::model(&[create_index("i", "$.n")]);
    assert_eq!(large.apply(&put("a", Key::Bytes(vec![0; 1024]), 0)), Outcome::Done);
}

//= spec/index.md#i-2-7-number-of-entries
//# A write of a document that gives an index more than 1,048,576 entries MUST be refused as `LimitReached`.
#[test]
fn a_document_has_a_limited_number_of_entries() {
    assert_eq!(Limits::default().document_entries, 1_048_576);
    let mut model = Model::with_limits(Limits { document_entries: 2, ..Limits::default() });
    model.apply(&create_index("i", "$.n[*]"));
    let items = |items: &[i64]| array(&items.iter().copied().map(Value::Int).collect::<Vec<_>>());
    assert_eq!(model.apply(&put_n(1, items(&[1, 2, 2, 1]))), Outcome::Done);
    assert_eq!(model.apply(&put_n(1, items(&[1, 2, 3]))), refused(Refusal::LimitReached));
}

//= spec/index.md#i-3-1-unique
//# In a unique index, no two documents MUST have tuples whose components all have a value and stand at the same places.
#[test]
fn null_is_a_value_nothing_is_none_and_1_is_as_1_0() {
    let mut one = model(&[create_index("i", "$.n unique"), put_n(1, 1), put_n(2, Value::Null)]);
    assert_eq!(one.apply(&put_n(3, 1.0)), refused(Refusal::UniqueViolation));
    assert_eq!(one.apply(&put_n(3, Value::Null)), refused(Refusal::UniqueViolation));
    assert_eq!(one.apply(&put_n(1, 1.0)), Outcome::Done);
    assert_eq!(one.apply(&put_fields(3, &[])), Outcome::Done);
    assert_eq!(one.apply(&put_fields(4, &[])), Outcome::Done);
    // A document may have a place twice itself.
    let mut fanned = model(&[create_index("i", "$.n[*];$.m unique")]);
    let fields = |m: i64| [("n", array(&[1.into(), 1.0.into(), 2.into()])), ("m", Value::Int(m))];
    assert_eq!(fanned.apply(&put_fields(1, &fields(1))), Outcome::Done);
    assert_eq!(fanned.apply(&put_fields(2, &fields(1)[..1])), Outcome::Done);
    assert_eq!(fanned.apply(&put_fields(3, &fields(1))), refused(Refusal::UniqueViolation));
    assert_eq!(fanned.apply(&put_fields(3, &fields(2))), Outcome::Done);
}

#[test]
fn documents_outside_of_a_partial_index_may_have_one_value() {
    let of = |n: i64, m: i64| put_fields(n, &[("n", 1.into()), ("m", m.into())]);
    let mut model = model(&[create_index("i", "$.n unique ? @.m > 1"), of(1, 1), of(2, 1), of(3, 2)]);
    assert_eq!(keys(&mut model, &scan()), ints([3]));
    assert_eq!(model.apply(&of(1, 2)), refused(Refusal::UniqueViolation));
    model.apply(&of(3, 0));
    model.apply(&of(1, 2));
    assert_eq!(keys(&mut model, &scan()), ints([1]));
}

//= spec/index.md#i-3-2-after-the-call
//# A write call that would leave a state that breaks I-3.1 MUST be refused as `UniqueViolation`, which names the index, the values, and the key of the other document.
#[test]
fn uniqueness_holds_after_a_call_and_not_within_it() {
    let n = |n: i64| Document::from([("n".to_owned(), Value::Int(n))]);
    let many = |entries: &[(i64, i64)]| Op::PutMany {
        collection: "a".into(),
        entries: entries.iter().map(|(key, value)| (Key::Int(*key), n(*value))).collect(),
        durability: Synced,
    };
    let mut model = model(&[create_index("i", "$.n unique"), put_n(1, 1), put_n(2, 2)]);
    // Two documents change places.
    assert_eq!(model.apply(&many(&[(1, 2), (2, 1)])), Outcome::Count(2));
    assert_eq!(model.apply(&many(&[(3, 3), (4, 3)])), refused(Refusal::UniqueViolation));
    assert_eq!(model.apply(&get("a", 3)), Outcome::Document(None));
    // Each call within a transaction leaves a state.
    model.apply(&Op::Begin);
    assert_eq!(model.apply(&inside(put_n(3, 1))), refused(Refusal::UniqueViolation));
    assert_eq!(model.apply(&inside(delete("a", 2))), Outcome::Bool(true));
    assert_eq!(model.apply(&inside(put_n(3, 1))), Outcome::Done);
    assert_eq!(model.apply(&commit(Synced)), Outcome::Done);
    let all = [shown(&of(1), 3), shown(&of(2), 1)];
    assert_eq!(answered(&mut model, &scan()), all);
}

//= spec/index.md#i-4-1-create
//# Creating an index MUST make the definition part of the state, in a commit of its own, with the entries of the documents of that state.
//= spec/index.md#i-4-1-create
//# One with another definition MUST be refused as `IndexExists`.
#[test]
fn a_creation_indexes_what_is_there_and_creates_the_collection_where_there_is_none() {
    let mut model = model(&[put_n(1, 7)]);
    assert_eq!(model.apply(&create_index("i", "$.n")), Outcome::Bool(true));
    assert_eq!(answered(&mut model, &scan()), [shown(&of(7), 1)]);
    assert_eq!(model.apply(&create_index("i", "$['n']")), Outcome::Bool(false));
    assert_eq!(model.apply(&create_index("i", "-$.n")), refused(Refusal::IndexExists));
    assert_eq!(model.apply(&create_index("i", "$.n sparse")), refused(Refusal::IndexExists));
    let mut model = self::model(&[create_index("i", "$.n")]);
    assert_eq!(model.apply(&create("a")), Outcome::Bool(false));
    let reserved = Op::CreateIndex {
        collection: "$a".into(),
        index: "i".into(),
        definition: definition("$.n"),
        durability: Synced,
    };
    assert_eq!(model.apply(&reserved), refused(Refusal::InvalidName));
}

//= spec/index.md#i-4-2-create-unique
//# Creating a unique index over documents that break I-3.1 MUST be refused as `UniqueViolations`, which has up to 100 of the places that are taken twice, and change nothing.
#[test]
fn a_unique_index_is_not_created_over_values_that_are_there_twice() {
    let mut model = model(&[put_n(1, 7), put_n(2, 7.0)]);
    assert_eq!(model.apply(&create_index("i", "$.n unique")), refused(Refusal::UniqueViolations));
    assert_eq!(model.apply(&scan()), refused(Refusal::UnknownIndex));
    assert_eq!(model.apply(&create_index("i", "$.n;$.m unique")), Outcome::Bool(true));
    assert_eq!(model.apply(&replace_index("i", "$.n unique")), refused(Refusal::UniqueViolations));
    assert_eq!(names(&mut model), ["i"]);
}

#[test]
fn a_replaced_index_is_another_one_in_one_commit() {
    // spec: I-4.3
    let mut oracle = Oracle::default();
    let mut model = model(&[]);
    for op in [put_n(1, 7), create_index("i", "$.m")] {
        oracle.judge(&op, &model.apply(&op)).expect("so does the model");
    }
    assert_eq!(model.apply(&replace_index("i", "$.m")), Outcome::Bool(false));
    let commits = model.unacknowledged().count();
    let op = match replace_index("i", "$.n") {
        Op::ReplaceIndex { collection, index, definition, .. } => {
            let durability = holotype_model::Durability::Buffered;
            Op::ReplaceIndex { collection, index, definition, durability }
        }
        other => other,
    };
    assert_eq!(model.apply(&op), Outcome::Bool(true));
    assert_eq!(model.unacknowledged().count(), commits + 1);
    assert_eq!(model.legal_after(Ending::PowerCut).count(), 2);
    assert_eq!(answered(&mut model, &scan()), [shown(&of(7), 1)]);
}

//= spec/index.md#i-4-4-drop-and-rename
//# Dropping an index MUST remove it in one commit, and answer whether there was one.
//= spec/index.md#i-4-4-drop-and-rename
//# Renaming one MUST change its name alone, and answer whether there was one; a name that another index of the collection has is
//# refused as `IndexExists`.
#[test]
fn indexes_are_dropped_and_renamed() {
    let mut model = model(&[put_n(1, 7), create_index("j", "$.n"), create_index("k", "$.n")]);
    assert_eq!(model.apply(&rename_index("j", "k")), refused(Refusal::IndexExists));
    assert_eq!(model.apply(&rename_index("none", "k")), Outcome::Bool(false));
    assert_eq!(model.apply(&rename_index("j", "i")), Outcome::Bool(true));
    assert_eq!(answered(&mut model, &scan()), [shown(&of(7), 1)]);
    assert_eq!(model.apply(&drop_index("i")), Outcome::Bool(true));
    assert_eq!(model.apply(&drop_index("i")), Outcome::Bool(false));
    assert_eq!(names(&mut model), ["k"]);
    model.apply(&drop_it("a"));
    for op in [drop_index("k"), rename_index("k", "l"), indexes(), scan()] {
        assert_eq!(model.apply(&op), refused(Refusal::UnknownCollection), "{op}");
    }
}

//= spec/index.md#i-4-5-collections
//# An index goes with its collection: it MUST end when the collection is dropped, stay when it is renamed, and stay without entries when it is cleared.
#[test]
fn an_index_goes_with_its_collection() {
    let start = [put_n(1, 7), create_index("i", "$.n")];
    let mut renamed = model(&start);
    renamed.apply(&rename("a", "b"));
    renamed.apply(&rename("b", "a"));
    assert_eq!(answered(&mut renamed, &scan()), [shown(&of(7), 1)]);
    let mut cleared = model(&start);
    cleared.apply(&clear("a"));
    assert_eq!(answered(&mut cleared, &scan()), []);
    let mut dropped = model(&start);
    dropped.apply(&drop_it("a"));
    dropped.apply(&create("a"));
    assert_eq!(dropped.apply(&scan()), refused(Refusal::UnknownIndex));
}

#[test]
fn the_list_of_indexes_is_in_the_order_of_names() {
    // spec: I-4.6
    let mut model = model(&[create_index("b", "$.n"), create_index("aa", "-$.n"), create_index("a", "$.m")]);
    assert_eq!(names(&mut model), ["a", "aa", "b"]);
}

#[test]
fn indexes_are_defined_beside_no_transaction() {
    // spec: I-4.7
    let mut model = model(&[create_index("i", "$.n"), Op::Begin]);
    for op in [create_index("j", "$.n"), replace_index("i", "$.m"), drop_index("i"), rename_index("i", "j")] {
        assert_eq!(model.apply(&op), refused(Refusal::Busy), "{op}");
    }
}

#[test]
fn ids_of_indexes_and_collections_come_from_one_sequence() {
    // spec: I-4.8
    let ids = |model: &Model, name: &str| {
        let collection = model.visible().collection(name).expect("it is there");
        (collection.id, collection.indexes.values().map(|index| index.id).collect::<Vec<u32>>())
    };
    let mut model = model(&[create_index("j", "$.n"), create_index("i", "$.n"), create("b")]);
    assert_eq!(ids(&model, "a"), (1, vec![3, 2]));
    assert_eq!(ids(&model, "b").0, 4);
    model.apply(&clear("a"));
    assert_eq!(ids(&model, "a"), (5, vec![7, 6]));
    model.apply(&replace_index("j", "$.m"));
    assert_eq!(ids(&model, "a"), (5, vec![7, 8]));
}

fn numbers() -> Model {
    let puts =
        [(1, Value::Null), (2, 1.into()), (3, 2.into()), (4, 2.5.into()), (5, "ab".into()), (6, "b".into())];
    let puts = puts.into_iter().map(|(key, value)| put_n(key, value));
    let all: Vec<Op> = [create_index("i", "$.n"), put_fields(0, &[])].into_iter().chain(puts).collect();
    model(&all)
}

#[test]
fn an_end_stands_for_all_tuples_that_begin_with_it() {
    // spec: I-6.1
    let mut model = numbers();
    let mut found = |from, to| keys(&mut model, &read(TupleRange::Between { from, to }, None, false, None));
    assert_eq!(found(Included(of(1)), Included(of(2))), ints([2, 3]));
    assert_eq!(found(Excluded(of(1.0)), Excluded(of("ab"))), ints([3, 4]));
    assert_eq!(found(Unbounded, Excluded(of(1))), ints([0, 1]));
    assert_eq!(found(Excluded(vec![None]), Included(of(1))), ints([1, 2]));
    assert_eq!(found(Included(vec![None]), Included(vec![None])), ints([0]));
    assert_eq!(found(Included(of(2)), Included(of(1))), ints([]));
    let pair = |x: i64, y: i64| [("x", Value::Int(x)), ("y", Value::Int(y))];
    let puts = [(1, 1, 1), (2, 1, 2), (3, 2, 1), (4, 2, 2)].map(|(key, x, y)| put_fields(key, &pair(x, y)));
    let mut model = self::model(&puts);
    model.apply(&create_index("i", "$.x;-$.y"));
    let mut found = |from, to| keys(&mut model, &read(TupleRange::Between { from, to }, None, false, None));
    assert_eq!(found(Unbounded, Unbounded), ints([2, 1, 4, 3]));
    assert_eq!(found(Included(of(2)), Unbounded), ints([4, 3]));
    assert_eq!(found(Excluded(of(1)), Unbounded), ints([4, 3]));
    let two = |x: i64, y: i64| vec![Some(Value::Int(x)), Some(Value::Int(y))];
    // In a descending path the greater value is the lower end.
    assert_eq!(found(Included(two(1, 2)), Included(two(1, 1))), ints([2, 1]));
    assert_eq!(found(Excluded(two(1, 2)), Excluded(two(2, 1))), ints([1, 4]));
}

#[test]
fn what_can_be_no_entry_is_no_place_to_go_on_from() {
    // spec: I-6.5
    let mut model = model(&[create_index("i", "length($.n) sparse"), put_n(1, "ab")]);
    let after = |value: Option<Value>| {
        read(TupleRange::ALL, Some(Place { tuple: vec![value], key: 1.into() }), false, None)
    };
    for wrong in [Some("a".into()), Some(Value::Float(1.0)), None] {
        assert_eq!(model.apply(&after(wrong.clone())), refused(Refusal::InvalidIndex), "{wrong:?}");
    }
    assert_eq!(answered(&mut model, &after(Some(1.into()))), [shown(&of(2), 1)]);
}

#[test]
fn more_values_than_the_index_has_paths_are_refused() {
    // spec: I-6.1
    let mut model = numbers();
    let two = vec![Some(Value::Int(1)), None];
    let prefix = |values: Tuple| TupleRange::Prefix { values, text: String::new() };
    for range in [TupleRange::get(two.clone()), prefix(of(1))] {
        assert_eq!(model.apply(&count(range.clone())), refused(Refusal::InvalidIndex), "{range}");
    }
    assert_eq!(model.apply(&count(prefix(vec![]))), Outcome::Count(2));
}

#[test]
fn get_and_prefix_are_ranges() {
    // spec: I-6.1
    let mut model = numbers();
    let prefix = |text: &str| TupleRange::Prefix { values: vec![], text: text.to_owned() };
    assert_eq!(keys(&mut model, &read(TupleRange::get(of(2.0)), None, false, None)), ints([3]));
    assert_eq!(keys(&mut model, &read(prefix("a"), None, false, None)), ints([5]));
    assert_eq!(keys(&mut model, &read(prefix(""), None, true, Some(1))), ints([6]));
    let fields = [("x", Value::Int(1)), ("y", Value::from("yes"))];
    let mut model = self::model(&[create_index("i", "$.x;-$.y"), put_fields(1, &fields)]);
    let prefix = |x: i64| TupleRange::Prefix { values: of(x), text: "y".to_owned() };
    assert_eq!(keys(&mut model, &read(prefix(1), None, false, None)), ints([1]));
    assert_eq!(keys(&mut model, &read(prefix(2), None, false, None)), ints([]));
}

//= spec/index.md#i-6-2-states
//# A read through an index MUST answer from one state, and answer what I-2.3 says of it: the newest one, that of a snapshot, or that of a transaction with its own changes.
//= spec/index.md#i-6-2-states
//# An index that the state does not have MUST be refused as `UnknownIndex`.
#[test]
fn snapshots_and_transactions_have_their_own_indexes_and_entries() {
    let mut model = model(&[put_n(1, 1), Op::TakeSnapshot, create_index("i", "$.n"), Op::TakeSnapshot]);
    model.apply(&put_n(2, 2));
    assert_eq!(model.apply(&through(0, scan())), refused(Refusal::UnknownIndex));
    assert_eq!(keys(&mut model, &through(1, scan())), ints([1]));
    model.apply(&Op::Begin);
    model.apply(&inside(put_n(3, 3)));
    assert_eq!(keys(&mut model, &inside(scan())), ints([1, 2, 3]));
    assert_eq!(keys(&mut model, &scan()), ints([1, 2]));
}

//= spec/index.md#i-6-3-documents
//# Where documents are asked for, the answer MUST have the document of each entry's key in the same state, once for each entry.
#[test]
fn a_document_comes_once_for_each_of_its_entries() {
    let two = array(&[1.into(), 2.into()]);
    let mut model = model(&[create_index("i", "$.n[*]"), put_n(1, two.clone())]);
    let documents = Op::IndexDocuments {
        collection: "a".into(),
        index: "i".into(),
        range: TupleRange::ALL,
        after: None,
        reverse: false,
        limit: None,
    };
    let document = Document::from([("n".to_owned(), two)]);
    let expected = [1, 2].map(|n| (shown(&of(n), 1), document.clone()));
    assert_eq!(model.apply(&documents), Outcome::IndexDocuments(expected.to_vec()));
}

#[test]
fn a_count_is_of_entries() {
    // spec: I-6.4
    let mut model =
        model(&[create_index("i", "$.n[*]"), put_n(1, array(&[1.into(), 2.into()])), put_n(2, 0)]);
    assert_eq!(model.apply(&count(TupleRange::ALL)), Outcome::Count(3));
    assert_eq!(model.apply(&count(TupleRange::get(of(2)))), Outcome::Count(1));
}

//= spec/index.md#i-6-5-going-on
//# A read that goes on after a place MUST answer the entries behind it, whether or not the entry of that place is still there.
#[test]
fn a_read_goes_on_behind_a_place() {
    let mut model = numbers();
    let place = |value: Value, key: i64| Some(Place { tuple: of(value), key: Key::Int(key) });
    let mut found = |after, reverse| keys(&mut model, &read(TupleRange::ALL, after, reverse, Some(2)));
    assert_eq!(found(place(2.into(), 3), false), ints([4, 5]));
    assert_eq!(found(place(2.into(), 3), true), ints([2, 1]));
    // No entry is at these.
    assert_eq!(found(place(2.into(), 2), false), ints([3, 4]));
    assert_eq!(found(place(2.into(), 4), true), ints([3, 2]));
    assert_eq!(found(place(2.0.into(), 3), false), ints([4, 5]));
    assert_eq!(found(place(2.0.into(), 3), true), ints([3, 2]));
}

#[test]
fn an_insert_into_an_indexed_collection_answers_its_id() {
    let mut model = model(&[create_index("i", "$.n")]);
    assert_eq!(model.apply(&insert("a", 5, Synced)), id(1));
    assert_eq!(answered(&mut model, &scan()), [shown(&of(5), 1)]);
}

#[test]
fn the_oracle_says_which_entry_is_missing() {
    let mut oracle = Oracle::default();
    let mut model = model(&[]);
    for op in [put_n(1, 7), create_index("i", "$.n")] {
        oracle.judge(&op, &model.apply(&op)).expect("so does the model");
    }
    let dump = model.visible().dump(&Limits::default());
    oracle.clone().judge_dump(&dump).expect("it is the same");
    let name = ("a".to_owned(), "i".to_owned());
    let mut wrong = dump.clone();
    wrong.indexes.get_mut(&name).expect("it is there").entries.clear();
    let found = oracle.clone().judge_dump(&wrong).expect_err("an entry is missing").found;
    assert_eq!(found, "index (\"a\", \"i\") misses the entry <7>@1");
    wrong.indexes.remove(&name);
    let found = oracle.judge_dump(&wrong).expect_err("the index is missing").found;
    assert_eq!(found, "index (\"a\", \"i\") is missing");
}
