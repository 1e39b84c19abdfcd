//! Uniqueness (spec: I-3).

use super::definition::Definition;
use super::entry::{Tuple, compare, tuples};
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
    let of_document =
        |(key, document)| tuples(definition, document).into_iter().map(move |tuple| (tuple, key));
    // spec: I-3.1
    let documents = documents.filter(|(_, document)| definition.admits(document));
    let is_whole = |(tuple, _): &(Tuple, &Key)| tuple.iter().all(Option::is_some);
    let mut taken: Vec<(Tuple, &Key)> = documents.flat_map(of_document).filter(is_whole).collect();
    // Whole tuples only: neither long ones nor marks are of account, so documents are compared by their values.
    taken.sort_by(|(a, _), (b, _)| compare(definition, a, b));
    taken.windows(2).any(|pair| {
        let [(a, of), (b, other)] = pair else { unreachable!("windows of two") };
        compare(definition, a, b).is_eq() && of != other
    })
}
