//! Distinct values.

use std::collections::BTreeMap;

use super::Expression;
use crate::key::Key;
use crate::value::{Document, Value};

pub(super) type Parameters = BTreeMap<String, Value>;

/// One value for each place: the first that comes. Documents come in the order of keys.
pub(super) fn first_of_each_place(values: impl IntoIterator<Item = Value>) -> Vec<Value> {
    let mut shown: Vec<Value> = Vec::new();
    for value in values {
        if !shown.iter().any(|known| known.order_cmp(&value).is_eq()) {
            shown.push(value);
        }
    }
    shown
}

//= spec/query.md#q-9-2-distinct-values
//# The *distinct values* of an expression MUST be one value for each place at which a document of the
//# query gives one, in the order of values.
//= spec/query.md#q-9-1-shown-values
//# The value that is shown for a place MUST be the first that the document of the least key gives there.
/// The distinct values of documents, which are in the order of keys.
pub fn distinct(
    documents: &[(Key, Document)],
    expression: &Expression,
    parameters: &Parameters,
) -> Vec<Value> {
    let all = documents.iter().flat_map(|(key, document)| expression.values(Some(key), document, parameters));
    let mut shown = first_of_each_place(all);
    shown.sort_by(Value::order_cmp);
    shown
}
