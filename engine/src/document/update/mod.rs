//! Values changed by the standards: JSON Patch (RFC 6902) and JSON Merge Patch (RFC 7396). spec: U-2 to U-4.
//!
//! | file | job |
//! |---|---|
//! | `patch`, `apply` | JSON Patch: its form, and what it does |
//! | `merge` | JSON Merge Patch |
//! | `tree` | what both need of a value, decoded or encoded |
//! | `decoded` | a decoded value as such a tree |
//! | `fault` | why an operation failed |

mod apply;
mod decoded;
mod fault;
mod merge;
mod patch;
mod tree;

pub use fault::{UpdateError, UpdateFault};
pub use patch::{JsonPatch, Operation};

use super::Value;
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

/// What the merge patch `patch` makes of `value`: JSON Merge Patch, RFC 7396.
///
/// ```
/// use holotype::{Value, doc, document};
///
/// let bird = doc! { "name": "Wren", "seen": { "hedge": 1, "wall": 2 } };
/// let patch = doc! { "seen": { "wall": null, "barn": 1 } };
/// let merged = document::merge(&bird.into(), &patch.into())?;
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
