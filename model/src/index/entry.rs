//! Entries as a function of a definition and a document, and their order (spec: I-2).

use std::cmp::Ordering;

use super::definition::{Definition, IndexPath};
use super::order_key;
use crate::key::Key;
use crate::query::SingleSelector;
use crate::value::{Document, Value};

/// One component for each path: a value, or nothing.
pub type Tuple = Vec<Option<Value>>;

/// A place in the order of an index. No entry need be there.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Place {
    /// The tuple.
    pub tuple: Tuple,
    /// The key.
    pub key: Key,
}

impl Place {
    /// The bytes of an entry of this definition at the place (spec: I-7.1), unless its tuple is long: for a store that takes a place
    /// as bytes.
    pub fn bytes(&self, definition: &Definition) -> Vec<u8> {
        Entry::new(definition, self.tuple.clone(), self.key.clone(), usize::MAX).bytes(definition)
    }

    // spec: I-6.5, I-7.2
    /// Whether an entry of the definition can be there.
    pub(crate) fn fits(&self, definition: &Definition) -> bool {
        let can_be = |(path, value): (&IndexPath, &Option<Value>)| {
            value.as_ref().is_none_or(|value| path.can_give(value))
        };
        let is_of_nothing = self.tuple.iter().all(Option::is_none);
        definition.paths.iter().zip(&self.tuple).all(can_be) && !(definition.sparse && is_of_nothing)
    }
}

/// An entry as a read answers it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Shown {
    /// The tuple; none of a long one, which the entry does not give back (spec: I-2.6).
    pub tuple: Option<Tuple>,
    /// The key of the document.
    pub key: Key,
}

/// A tuple and the key of its document.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) tuple: Tuple,
    pub(crate) key: Key,
    /// The bytes of a long tuple that its entry holds.
    beginning: Option<Vec<u8>>,
}

impl Entry {
    /// The entry of a tuple and a key, in a store that has this tuple limit.
    pub(crate) fn new(definition: &Definition, tuple: Tuple, key: Key, tuple_len_max: usize) -> Self {
        let mut bytes = order_key::tuple_bytes(definition, &tuple);
        let is_long = bytes.len() > tuple_len_max;
        bytes.truncate(tuple_len_max);
        Entry { tuple, key, beginning: is_long.then_some(bytes) }
    }

    /// The bytes of the entry (spec: I-7.1).
    pub(crate) fn bytes(&self, definition: &Definition) -> Vec<u8> {
        let key = order_key::key_bytes(&self.key);
        if let Some(beginning) = &self.beginning {
            return [beginning.as_slice(), &key].concat();
        }
        let mut marks = marks(&self.tuple);
        marks.truncate(marks.iter().rposition(|mark| *mark != 0).map_or(0, |last| last + 1));
        [order_key::tuple_bytes(definition, &self.tuple), key, marks].concat()
    }

    //= spec/index.md#i-2-5-exactness
    //# An entry MUST give back the values of its tuple, equal to those of the document.
    /// As a read answers it.
    pub(crate) fn shown(&self) -> Shown {
        Shown { tuple: self.beginning.is_none().then(|| self.tuple.clone()), key: self.key.clone() }
    }

    //= spec/index.md#i-2-4-order-of-entries
    //# Entries MUST be ordered by their tuples, the first component that does not stand at the same place deciding; then by their keys; then by the *marks* of the numbers in their tuples.
    /// Which of two entries of an index comes first. Equal are those that are one entry, if they are of one document.
    pub(crate) fn order_cmp(&self, other: &Entry, definition: &Definition) -> Ordering {
        if self.beginning.is_some() && self.beginning == other.beginning {
            return self.key.cmp(&other.key); // spec: I-2.6
        }
        compare(definition, &self.tuple, &other.tuple)
            .then_with(|| self.key.cmp(&other.key))
            .then_with(|| marks(&self.tuple).cmp(&marks(&other.tuple)))
    }
}

// spec: I-2.4
/// Compares as many components as both have.
pub(super) fn compare(definition: &Definition, a: &[Option<Value>], b: &[Option<Value>]) -> Ordering {
    let components = a.iter().zip(b).zip(&definition.paths);
    let orders = components.map(|((a, b), path)| {
        let order = match (a, b) {
            (Some(a), Some(b)) => a.order_cmp(b),
            (a, b) => a.is_some().cmp(&b.is_some()),
        };
        if path.descending { order.reverse() } else { order }
    });
    orders.fold(Ordering::Equal, Ordering::then)
}

/// The marks of all numbers of a tuple, in the order of its order keys.
fn marks(tuple: &[Option<Value>]) -> Vec<u8> {
    tuple.iter().flatten().flat_map(marks_of).collect()
}

fn marks_of(value: &Value) -> Vec<u8> {
    match value {
        Value::Int(_) => vec![0],
        Value::Float(float) if *float == 0.0 && float.is_sign_negative() => vec![2],
        Value::Float(float) => {
            // -2^63 and 2^63 are floats, and the ints end before the second.
            let is_int = float.fract() == 0.0 && (-(2.0_f64.powi(63))..2.0_f64.powi(63)).contains(float);
            vec![u8::from(is_int)]
        }
        Value::Array(items) => items.iter().flat_map(marks_of).collect(),
        Value::Object(fields) => {
            in_name_order(fields).into_iter().flat_map(|(_, field)| marks_of(field)).collect()
        }
        _ => Vec::new(),
    }
}

/// The fields in name order (spec: V-3.6).
pub(super) fn in_name_order(fields: &Document) -> Vec<(&String, &Value)> {
    let mut fields: Vec<_> = fields.iter().collect();
    fields.sort_by_key(|(name, _)| (name.len(), name.as_bytes()));
    fields
}

//= spec/index.md#i-2-3-entries
//# An index MUST hold, in every state, exactly the entries that its definition gives of the documents of its collection.
/// The entries of these documents, in order.
pub(crate) fn entries<'d>(
    definition: &Definition,
    documents: impl Iterator<Item = (&'d Key, &'d Document)>,
    tuple_len_max: usize,
) -> Vec<Entry> {
    let mut all: Vec<Entry> =
        documents.flat_map(|(key, document)| entries_of(definition, key, document, tuple_len_max)).collect();
    all.sort_by(|a, b| a.order_cmp(b, definition));
    all
}

/// The entries of one document, in no order.
pub(crate) fn entries_of(
    definition: &Definition,
    key: &Key,
    document: &Document,
    tuple_len_max: usize,
) -> Vec<Entry> {
    let mut found: Vec<Entry> = Vec::new();
    if !definition.admits(document) {
        return found; // spec: I-2.8
    }
    for tuple in tuples(definition, document) {
        if definition.sparse && tuple.iter().all(Option::is_none) {
            continue; // spec: I-2.2
        }
        let entry = Entry::new(definition, tuple, key.clone(), tuple_len_max);
        // spec: I-2.3, I-2.6. Of tuples that are one entry, the first stands for all.
        if !found.iter().any(|other| other.order_cmp(&entry, definition).is_eq()) {
            found.push(entry);
        }
    }
    found
}

// spec: I-2.1
/// The tuples that the definition gives of the document.
pub(super) fn tuples(definition: &Definition, document: &Document) -> Vec<Tuple> {
    let of_node = |node: Option<&Value>| -> Tuple {
        let component = |path: &IndexPath| match path.fan_out() {
            None => select(path.rest(), document).first().copied(),
            Some(_) => select_within(path.rest(), vec![node?]).first().copied(),
        };
        definition.paths.iter().map(|path| component(path).and_then(|value| path.gives(value))).collect()
    };
    let Some(fan_out) = definition.fan_out() else { return vec![of_node(None)] };
    let gives = |tuple: &Tuple| {
        let components = definition.paths.iter().zip(tuple);
        components.into_iter().any(|(path, component)| path.fan_out().is_some() && component.is_some())
    };
    let nodes = select(fan_out, document).into_iter();
    let tuples: Vec<Tuple> = nodes.map(|node| of_node(Some(node))).filter(gives).collect();
    if tuples.is_empty() { vec![of_node(None)] } else { tuples }
}

/// The nodes that the selectors, at least one, select from a document.
fn select<'d>(selectors: &[SingleSelector], document: &'d Document) -> Vec<&'d Value> {
    let (first, rest) = selectors.split_first().expect("a path has a segment");
    select_within(rest, of_fields(first, document))
}

fn select_within<'d>(selectors: &[SingleSelector], from: Vec<&'d Value>) -> Vec<&'d Value> {
    selectors.iter().fold(from, |nodes, selector| {
        let step = |node: &'d Value| match node {
            Value::Object(fields) => of_fields(selector, fields),
            Value::Array(items) => of_items(selector, items),
            _ => Vec::new(),
        };
        nodes.into_iter().flat_map(step).collect()
    })
}

fn of_fields<'d>(selector: &SingleSelector, fields: &'d Document) -> Vec<&'d Value> {
    match selector {
        SingleSelector::Name(name) => fields.get(name).into_iter().collect(),
        SingleSelector::Index(_) => Vec::new(),
        SingleSelector::Wildcard => in_name_order(fields).into_iter().map(|(_, field)| field).collect(),
    }
}

fn of_items<'d>(selector: &SingleSelector, items: &'d [Value]) -> Vec<&'d Value> {
    match selector {
        SingleSelector::Name(_) => Vec::new(),
        SingleSelector::Index(index) => {
            let from_start = if *index < 0 { items.len() as i64 + index } else { *index };
            usize::try_from(from_start).ok().and_then(|index| items.get(index)).into_iter().collect()
        }
        SingleSelector::Wildcard => items.iter().collect(),
    }
}
