//! Indexes: definitions, entries as bytes, and stores that have indexes.

mod bytes;
mod catalog;
mod checkpoints;
mod definitions;
mod entries;

use holotype_model::{Document, Value};
use serde_json::value::RawValue;

use super::Maker;
use crate::case::{Group, Outcome};
use crate::forge::cbor;

/// All groups.
pub(super) fn make() -> Vec<Group> {
    let mut maker = Maker::new(
        "indexes",
        "Indexes: their definitions, what entries documents give them, and entries from bytes",
    );
    definitions::taken(&mut maker);
    definitions::refused(&mut maker);
    entries::components(&mut maker);
    entries::tuples(&mut maker);
    entries::functions(&mut maker);
    entries::filters(&mut maker);
    entries::marks(&mut maker);
    entries::long(&mut maker);
    bytes::taken(&mut maker);
    bytes::refused(&mut maker);
    let values = maker.finish();
    let mut maker = Maker::new(
        "rules_indexes",
        "Files with indexes: the catalog, checkpoints, and cases that alone decide a rule",
    );
    catalog::changes(&mut maker);
    catalog::refused(&mut maker);
    checkpoints::healthy(&mut maker);
    checkpoints::damaged(&mut maker);
    vec![values, maker.finish()]
}

/// The outcome of this value, as canonical JSON.
fn says(value: Document) -> Vec<Outcome> {
    let text = cbor::canonical(&Value::Object(value));
    vec![Outcome::Value(RawValue::from_string(text).expect("it is JSON"))]
}

fn texts(texts: &[&str]) -> Value {
    Value::Array(texts.iter().copied().map(Value::from).collect())
}
