//! The collection that queries are asked of, and sorts as they are written.

use std::collections::BTreeMap;

use holotype_model::query::{Expression, Sort};
use holotype_model::{Document, Key, Value};

use super::ladder::{array, bytes, document, object, text};
use crate::forge::cbor;
use crate::hex::Hex;
use crate::question::{End, SortBy};

pub(super) type Documents = BTreeMap<Key, Document>;

/// A field `n` of every kind, twice at one place, and none at all; under keys of every kind.
pub(super) fn birds() -> Documents {
    let n = |value: Value| document([("n", value), ("t", text("a"))]);
    BTreeMap::from([
        (Key::Int(-1), n(Value::Int(1))),
        (Key::Int(0), n(Value::Float(1.0))),
        (Key::Int(7), n(Value::Float(f64::NAN))),
        (Key::Int(1 << 40), n(Value::Int((1 << 53) + 1))),
        (Key::from(""), n(Value::Float(9_007_199_254_740_992.0))),
        (Key::from("a"), n(Value::Null)),
        (Key::from("ab"), document([("t", text("ab"))])),
        (Key::from("b"), n(text("wren"))),
        (Key::from("zz"), document([("n", text("wre")), ("t", text("b"))])),
        (Key::Bytes(Vec::new()), n(bytes(b"wren"))),
        (Key::Bytes(vec![0]), n(array([Value::Int(1), Value::Float(1.0), Value::Int(2)]))),
        (Key::Bytes(vec![0, 1]), n(object([("a", Value::Bool(false))]))),
    ])
}

pub(super) fn pairs(documents: &Documents) -> Vec<(Hex, Hex)> {
    let pair = |(key, of): (&Key, &Document)| (cbor::key(key).into(), cbor::document(of).into());
    documents.iter().map(pair).collect()
}

/// A sort in both forms: `$.n desc last`.
pub(super) fn sort(text: &str) -> (Sort, SortBy) {
    let mut words = text.split(' ');
    let by = words.next().expect("it has an expression");
    let rest: Vec<_> = words.collect();
    let nothing = match (rest.contains(&"first"), rest.contains(&"last")) {
        (true, _) => Some(End::First),
        (_, true) => Some(End::Last),
        _ => None,
    };
    let descending = rest.contains(&"desc");
    let nothing_last = nothing.map(|end| end == End::Last);
    let expression = Expression::parse(by).unwrap_or_else(|error| panic!("{by}: {error}"));
    (Sort { expression, descending, nothing_last }, SortBy { by: by.to_owned(), descending, nothing })
}
