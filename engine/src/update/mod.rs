//! Values changed: by JSON Patch (RFC 6902), by JSON Merge Patch (RFC 7396), and by updates. spec: U-2 to U-5.
//!
//! | file | job |
//! |---|---|
//! | `patch`, `apply` | JSON Patch: its form, and what it does |
//! | `merge` | JSON Merge Patch |
//! | `change`, `run` | updates: their builder, and what they do |
//! | `tree` | what all need of a value, decoded or encoded |
//! | `decoded`, `encoded` | a decoded value as such a tree, and an encoded one |
//! | `changes` | what a call on a document changes it by |
//! | `fault`, `failed` | why an operation failed, and which it was |

mod apply;
mod change;
mod changes;
mod decoded;
mod encoded;
mod failed;
mod fault;
mod merge;
mod patch;
mod run;
mod tree;

#[cfg(test)]
mod tests;

pub use change::{Number, Update};
pub use changes::Changes;
pub use fault::{UpdateError, UpdateFault};
pub use patch::{JsonPatch, Operation};

use crate::document::Value;
use crate::error::Result;
use decoded::Decoded;

impl JsonPatch {
    /// What the patch makes of `value`.
    ///
    /// # Errors
    /// `Update` with the operation that failed, its path and what was there; `DocumentTooLarge` and `TooDeep` where a
    /// value on the way is beyond the limits of a document.
    pub fn apply(&self, value: &Value) -> Result<Value> {
        let mut tree = Decoded::new(value.clone())?;
        apply::apply(&mut tree, self)?;
        Ok(tree.into_value())
    }
}

impl Update {
    /// What the update makes of `value`.
    ///
    /// # Errors
    /// As [`JsonPatch::apply`]; `InvalidPath` for a path that is none.
    pub fn apply(&self, value: &Value) -> Result<Value> {
        let mut tree = Decoded::new(value.clone())?;
        run::run(&mut tree, self)?;
        Ok(tree.into_value())
    }
}

/// What the merge patch `patch` makes of `value`: JSON Merge Patch, RFC 7396.
///
/// ```
/// use holotype::{Value, doc, update};
///
/// let bird = doc! { "name": "Wren", "seen": { "hedge": 1, "wall": 2 } };
/// let patch = doc! { "seen": { "wall": null, "barn": 1 } };
/// let merged = update::merge(&bird.into(), &patch.into())?;
/// assert_eq!(merged, Value::from(doc! { "name": "Wren", "seen": { "hedge": 1, "barn": 1 } }));
/// # Ok::<(), holotype::Error>(())
/// ```
///
/// # Errors
/// `DocumentTooLarge`, `TooDeep`.
pub fn merge(value: &Value, patch: &Value) -> Result<Value> {
    let mut tree = Decoded::new(value.clone())?;
    merge::merge(&mut tree, patch)?;
    Ok(tree.into_value())
}
