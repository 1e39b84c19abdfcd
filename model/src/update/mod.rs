//! What patches, merges and updates make of a value, written naively from `spec/update.md`.

mod changes;
mod merge;
mod patch;

pub use changes::{Action, Change, PathStep, apply_update};
pub use merge::merge;
pub use patch::{PatchOp, apply_patch};

use std::collections::BTreeMap;

use crate::encoded::value_len;
use crate::index::conflicts;
use crate::key::Key;
use crate::limits::Limits;
use crate::outcome::Refusal;
use crate::query::Filter;
use crate::state::{Index, State, Stored};
use crate::value::{Document, Value};

/// Why a patch or an update fails, without what is said of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Misfit {
    /// A path leads nowhere, or through what it cannot lead through.
    NoSuchPlace,
    /// A `test` found another value.
    TestFailed,
    /// A `move` into the value that it moves.
    IntoItself,
    /// The whole value would be removed.
    NothingLeft,
    /// The value has another type than the change needs.
    WrongKind,
    /// The int that would result is beyond 64 bits.
    Overflow,
    /// The path of a `rename` does not end in a name.
    NoFieldToRename,
    /// A limit, as for a document.
    Limit(Refusal),
}

/// What a document is changed by.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum By {
    /// A JSON Patch.
    Patch(Vec<PatchOp>),
    /// A JSON Merge Patch.
    Merge(Document),
    /// An update.
    Update(Vec<Change>),
}

//= spec/update.md#u-2-5-documents
//# A patch or an update of a document whose result is no object MUST be refused.
/// What a document is changed to.
///
/// # Errors
/// A limit, or `UpdateFails`.
pub(crate) fn updated(document: &Document, by: &By, limits: &Limits) -> Result<Document, Refusal> {
    let before = Value::Object(document.clone());
    let after = match by {
        By::Patch(patch) => apply_patch(&before, patch, limits),
        By::Merge(patch) => {
            merge(&before, &Value::Object(patch.clone()), limits).map_err(|misfit| (0, misfit))
        }
        By::Update(changes) => apply_update(&before, changes, limits),
    };
    match after {
        Ok(Value::Object(fields)) => Ok(fields),
        Err((_, Misfit::Limit(limit))) => Err(limit),
        Ok(_) | Err(_) => Err(Refusal::UpdateFails),
    }
}

/// The documents of a collection that the filter admits, in key order.
pub(crate) fn admitted(state: &State, name: &str, filter: &str) -> Vec<(Key, Stored)> {
    let filter = Filter::parse(filter).expect("the filter is one");
    let all = state.collection(name).into_iter().flat_map(|collection| &collection.documents);
    let admits =
        |(key, stored): &(&Key, &Stored)| filter.admits(Some(*key), &stored.document, &BTreeMap::new());
    all.filter(admits).map(|(key, stored)| (key.clone(), stored.clone())).collect()
}

//= spec/update.md#u-6-5-insert-on-conflict
//# In the way of an insert on conflict are the key's document, and those of other keys for which a unique index
//# would refuse the given one (I-3.1); in this order, that in which the indexes were made, in each that of the
//# given document's entries, and for one entry that of their keys.
/// The documents that are in the way of one under this key.
pub(crate) fn in_the_way(
    state: &State,
    name: &str,
    (key, document): (&Key, &Document),
    limits: &Limits,
) -> Vec<(Key, Stored)> {
    let Some(collection) = state.collection(name) else { return Vec::new() };
    let mut indexes: Vec<&Index> = collection.indexes.values().collect();
    indexes.sort_by_key(|index| index.id);
    let documents: Vec<(&Key, &Document)> = collection.documents().collect();
    let mut keys: Vec<&Key> = collection.documents.keys().filter(|there| *there == key).collect();
    for Index { definition, .. } in indexes {
        for other in conflicts(definition, (key, document), &documents, limits.tuple_len()) {
            if other != key && !keys.contains(&other) {
                keys.push(other);
            }
        }
    }
    keys.into_iter().map(|key| (key.clone(), collection.documents[key].clone())).collect()
}

/// The operation that failed, counted from 0, and why.
pub type Failed = (usize, Misfit);

//= spec/update.md#u-2-3-limits
//# An operation MUST be refused as `DocumentTooLarge` or `TooDeep` when the value after it is beyond the limit
//# of V-4.2 or V-4.3.
/// Whether a value may be what an operation leaves.
fn within(value: &Value, limits: &Limits) -> Result<(), Misfit> {
    if value.depth() > limits.depth {
        return Err(Misfit::Limit(Refusal::TooDeep));
    }
    if value_len(value) > limits.document_len {
        return Err(Misfit::Limit(Refusal::DocumentTooLarge));
    }
    Ok(())
}
