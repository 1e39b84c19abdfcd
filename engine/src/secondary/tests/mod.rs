//! The room against examples, and against a second way to select and to order: over decoded values, as the clauses read.

mod bytes;
mod definitions;
mod entries;
mod limits;
mod reference;

use proptest::collection::vec;
use proptest::prelude::*;

use super::{EntryLimits, EntryList, IndexDefinition};
use crate::document::tests::strategies::{texts, values};
use crate::document::{Document, Key, RawDocument, Value};

/// Limits that no generated entry reaches.
const WIDE: EntryLimits = EntryLimits { tuple: 1 << 20, key: 1 << 20 };

fn index(paths: &[&str]) -> IndexDefinition {
    IndexDefinition::new("i", paths).expect("a definition")
}

/// The entries of a document, as bytes.
fn entries_within(
    definition: &IndexDefinition,
    document: &Document,
    key: &Key,
    limits: EntryLimits,
) -> Vec<Vec<u8>> {
    let mut list = EntryList::default();
    let bytes = document.encode();
    definition
        .entries(RawDocument::from_verified(&bytes), key.as_ref(), limits, &mut list)
        .expect("entries within all limits");
    list.iter().map(<[u8]>::to_vec).collect()
}

/// The tuples that the entries of a document give back.
fn tuples_of(definition: &IndexDefinition, document: &Document) -> Vec<Vec<Option<Value>>> {
    let entries = entries_within(definition, document, &Key::Int(1), WIDE);
    let parsed = entries.iter().map(|entry| definition.parse(entry, WIDE).expect("an entry of the index"));
    parsed.map(|entry| entry.tuple.expect("a short tuple")).collect()
}

/// Paths of few names and indexes, so that they meet what is in the documents.
fn steps(len: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    let step = prop::sample::select(vec![".a", ".b", "[0]", "[1]", "[-1]"]);
    vec(step, len).prop_map(|steps| steps.concat())
}

fn definitions() -> impl Strategy<Value = IndexDefinition> {
    let fan_out = prop_oneof![
        steps(0..2).prop_map(|before| format!("${before}[*]")),
        (steps(0..2), steps(0..2)).prop_map(|(before, between)| format!("${before}[*]{between}[*]")),
    ];
    let path = (any::<bool>(), any::<bool>(), steps(0..3));
    (fan_out, vec(path, 1..4), any::<bool>()).prop_filter_map("paths twice", |(fan_out, paths, sparse)| {
        let texts = paths.iter().map(|(fans_out, descending, rest)| {
            let (minus, start) =
                (if *descending { "-" } else { "" }, if *fans_out { &fan_out } else { "$.a" });
            format!("{minus}{start}{rest}")
        });
        let definition = IndexDefinition::new("i", texts).ok()?;
        Some(if sparse { definition.sparse() } else { definition })
    })
}

/// Numbers that share their places with others, and neighbours of such.
fn numbers() -> impl Strategy<Value = Value> {
    let around = |int: i64| (-2..=2).map(move |by| int.saturating_add(by));
    let ints = [0, 1 << 53, -(1 << 53), i64::MAX, i64::MIN].into_iter().flat_map(around);
    let both = ints.flat_map(|int| [Value::Int(int), Value::Float(int as f64)]);
    let others = [-0.0, 0.5, -0.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300].map(Value::Float);
    prop::sample::select(both.chain(others).collect::<Vec<_>>())
}

/// Values of few names, in which paths of [`steps`] lead somewhere.
fn crowded() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => numbers(),
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::Bool),
        2 => texts().prop_map(Value::from),
        1 => values(),
    ];
    leaf.prop_recursive(4, 30, 4, |inner| {
        let names = prop::sample::select(vec!["a", "b", "c", "b\0", "é"]);
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::Array),
            vec((names, inner), 0..4).prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn documents() -> impl Strategy<Value = Document> {
    (crowded(), crowded()).prop_map(|(a, b)| Document::from([("a", a), ("b", b)]))
}
