//! Secondary indexes, written naively from `spec/index.md`: an index holds nothing. What it shows is computed from the
//! documents each time.

mod definition;
mod entry;
mod order_key;
mod range;
mod unique;

pub use definition::{Definition, DefinitionText, IndexPath, PathText};
pub(crate) use entry::{Entry, entries, entries_of};
pub use entry::{Place, Shown, Tuple};
pub(crate) use order_key::key_bytes;
pub use range::TupleRange;
pub(crate) use range::walk;
pub(crate) use unique::{breaks_uniqueness, conflicts};
