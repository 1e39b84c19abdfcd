//! Uniqueness (spec: I-3).

use super::definition::Definition;
use super::entry::{Entry, Tuple, compare, tuples};
use crate::key::Key;
use crate::value::Document;

//= spec/index.md#i-3-1-unique
//# In a unique index, no two documents MUST have tuples whose components all have a value and stand at the same places.
/// Whether these documents break the uniqueness of the index, if it is unique.
pub(crate) fn breaks_uniqueness<'d>(
    definition: &Definition,
    documents: impl Iterator<Item = (&'d Key, &'d Document)>,
) -> bool {
    if !definition.unique {
        return false;
    }
    let of_document = |(key, document)| whole_tuples(definition, document).map(move |tuple| (tuple, key));
    let mut taken: Vec<(Tuple, &Key)> = documents.flat_map(of_document).collect();
    // Whole tuples only: neither long ones nor marks are of account, so documents are compared by their values.
    taken.sort_by(|(a, _), (b, _)| compare(definition, a, b));
    taken.windows(2).any(|pair| {
        let [(a, of), (b, other)] = pair else { unreachable!("windows of two") };
        compare(definition, a, b).is_eq() && of != other
    })
}

/// The keys of the documents that have a tuple of this one in the index, if it is unique: in the order of its entries, and of their keys.
pub(crate) fn conflicts<'d>(
    definition: &Definition,
    (key, document): (&Key, &Document),
    documents: &[(&'d Key, &'d Document)],
    tuple_len_max: usize,
) -> Vec<&'d Key> {
    if !definition.unique {
        return Vec::new();
    }
    let entry = |tuple| Entry::new(definition, tuple, key.clone(), tuple_len_max);
    let mut own: Vec<Entry> = whole_tuples(definition, document).map(entry).collect();
    own.sort_by(|a, b| a.order_cmp(b, definition));
    // Long tuples that begin alike are one entry.
    let others = |entry: &[Entry]| {
        let is_own = |it: &Tuple| entry.iter().any(|own| compare(definition, it, &own.tuple).is_eq());
        let others =
            documents.iter().filter(|(_, other)| whole_tuples(definition, other).any(|it| is_own(&it)));
        others.map(|(key, _)| *key).collect::<Vec<_>>()
    };
    own.chunk_by(|a, b| a.order_cmp(b, definition).is_eq()).flat_map(others).collect()
}

// spec: I-3.1
/// The tuples of a document whose components all have a value.
fn whole_tuples(definition: &Definition, document: &Document) -> impl Iterator<Item = Tuple> {
    let tuples = if definition.admits(document) { tuples(definition, document) } else { Vec::new() };
    tuples.into_iter().filter(|tuple| tuple.iter().all(Option::is_some))
}
