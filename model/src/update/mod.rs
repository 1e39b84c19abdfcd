//! What patches, merges and updates make of a value, written naively from `spec/update.md`.

mod merge;
mod patch;

pub use merge::merge;
pub use patch::{PatchOp, apply_patch};

use crate::encoded::value_len;
use crate::limits::Limits;
use crate::outcome::Refusal;
use crate::value::Value;

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
    /// A limit, as for a document.
    Limit(Refusal),
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
