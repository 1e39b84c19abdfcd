//! What the clauses say of tuples and their order, over decoded values.

use std::cmp::Ordering;

use crate::document::{Document, Key, Value, order_key};
use crate::query::JsonPath;
use crate::secondary::IndexDefinition;

pub(super) type Tuple = Vec<Option<Value>>;

fn one(path: &str, value: &Value) -> Option<Value> {
    let path = JsonPath::parse(path).expect("a path");
    path.select(value).expect("no pattern").first().map(|value| (*value).clone())
}

// spec: I-2.1, I-2.2
/// The tuples of a document that have entries, with those that come twice.
pub(super) fn tuples(definition: &IndexDefinition, document: &Document) -> Vec<Tuple> {
    let document = Value::Object(document.clone());
    let paths: Vec<String> = definition.paths().map(|(path, _)| path.to_string()).collect();
    let fan_out = paths.iter().find_map(|path| path.rfind("[*]").map(|at| &path[..at + 3]));
    let rest =
        |path: &str| fan_out.and_then(|fan_out| path.strip_prefix(fan_out)).map(|rest| format!("${rest}"));
    let tuple_of = |item: Option<&Value>| -> Tuple {
        let component = |path: &String| match (rest(path), item) {
            (None, _) => one(path, &document),
            (Some(rest), Some(item)) => one(&rest, item),
            (Some(_), None) => None,
        };
        paths.iter().map(component).collect()
    };
    let items = match fan_out {
        Some(fan_out) => JsonPath::parse(fan_out).expect("a path").select(&document).expect("no pattern"),
        None => Vec::new(),
    };
    let gives =
        |item: &&Value| paths.iter().filter_map(|path| rest(path)).any(|rest| one(&rest, item).is_some());
    let mut tuples: Vec<Tuple> = items.into_iter().filter(gives).map(|item| tuple_of(Some(item))).collect();
    if tuples.is_empty() {
        tuples.push(tuple_of(None));
    }
    tuples.retain(|tuple| !definition.is_sparse() || tuple.iter().any(Option::is_some));
    tuples
}

// spec: I-2.4
/// The marks of the numbers in a value, in the order in which its order key has them.
fn marks_of(value: &Value, marks: &mut Vec<u8>) {
    match value {
        Value::Int(_) => marks.push(0),
        Value::Float(float) => {
            let has_int = Value::Int(*float as i64).order_cmp(value).is_eq();
            marks.push(if *value == Value::Float(-0.0) { 2 } else { u8::from(has_int) });
        }
        Value::Array(items) => items.iter().for_each(|item| marks_of(item, marks)),
        Value::Object(fields) => fields.values().for_each(|value| marks_of(value, marks)),
        _ => {}
    }
}

pub(super) fn marks(tuple: &Tuple) -> Vec<u8> {
    let mut marks = Vec::new();
    tuple.iter().flatten().for_each(|value| marks_of(value, &mut marks));
    marks
}

/// The order of two tuples of an index.
pub(super) fn tuple_cmp(definition: &IndexDefinition, a: &Tuple, b: &Tuple) -> Ordering {
    let orders = definition.paths().zip(a.iter().zip(b)).map(|((_, descending), (a, b))| {
        let order = match (a, b) {
            (Some(a), Some(b)) => a.order_cmp(b),
            (a, b) => a.is_some().cmp(&b.is_some()),
        };
        if descending { order.reverse() } else { order }
    });
    orders.fold(Ordering::Equal, Ordering::then)
}

/// The order of two entries of an index.
pub(super) fn entry_cmp(
    definition: &IndexDefinition,
    (a, a_key): (&Tuple, &Key),
    (b, b_key): (&Tuple, &Key),
) -> Ordering {
    tuple_cmp(definition, a, b).then_with(|| a_key.cmp(b_key)).then_with(|| marks(a).cmp(&marks(b)))
}

/// Sorted, each once.
pub(super) fn sorted(definition: &IndexDefinition, mut tuples: Vec<Tuple>) -> Vec<Tuple> {
    let key = Key::Int(1);
    tuples.sort_by(|a, b| entry_cmp(definition, (a, &key), (b, &key)));
    tuples.dedup();
    tuples
}

// spec: I-7.1
/// All bytes of a tuple.
pub(super) fn tuple_bytes(definition: &IndexDefinition, tuple: &Tuple) -> Vec<u8> {
    let components = definition.paths().zip(tuple).map(|((_, descending), value)| {
        let mut component = Vec::new();
        match value {
            Some(value) => order_key::encode(value, &mut component),
            None => component.push(0),
        }
        if descending { component.iter().map(|byte| !byte).collect() } else { component }
    });
    components.collect::<Vec<_>>().concat()
}

/// The bytes of an entry whose tuple has at most `limit` of them.
pub(super) fn entry_bytes(definition: &IndexDefinition, tuple: &Tuple, key: &Key, limit: usize) -> Vec<u8> {
    let mut bytes = tuple_bytes(definition, tuple);
    let is_long = bytes.len() > limit;
    bytes.truncate(limit);
    order_key::encode_key(key.as_ref(), &mut bytes);
    if !is_long {
        let mut marks = marks(tuple);
        while marks.last() == Some(&0) {
            marks.pop();
        }
        bytes.extend(marks);
    }
    bytes
}
