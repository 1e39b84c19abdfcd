//! The bytes of a checkpoint, written and read (F-8): trees of pages in segments of the checkpoint's own.
//!
//! The room is pure, as all of `format` is: it writes through a [`PageSink`] and reads through a [`PageSource`].
//!
//! | file | job |
//! |---|---|
//! | `pointer` | where a page is |
//! | `leaf` | keys and where their documents lie, as differences |
//! | `branch` | children and the keys between them |
//! | `catalog` | a collection: its name, its counters, its tree |
//! | `indexes` | an index of a collection: its definition, its tree |
//! | `table` | a log segment: where it lies, what is live in it |
//! | `root` | the one map that leads to everything else |
//! | `map` | CBOR maps with fields that this version does not know |
//! | `segments` | pages one behind the other in segments, under their headers |
//! | `tree` | pages of one tree, sealed from the leaves up while the entries arrive |
//! | `write` | a whole checkpoint, written |
//! | `pages` | a page found by its pointer, read in large pieces, and verified |
//! | `walk` | the leaves of one tree, in order |
//! | `read` | a whole checkpoint, read |
//!
//! Two invariants carry the reader:
//!
//! * From page to page of one level of a tree the numbers grow (F-8.3). So no bytes, however hostile, can make a walk visit a
//!   page twice or go on for ever.
//! * The fences that a page carries are those that its parent tells (F-8.1), so that keys in order within each leaf are in
//!   order throughout.

mod branch;
mod catalog;
mod entry;
mod indexes;
mod leaf;
mod map;
mod pages;
mod pointer;
mod read;
mod root;
mod segments;
mod stretch;
mod table;
mod tree;
mod walk;
mod write;

pub use catalog::CatalogEntry;
pub use indexes::IndexEntry;
pub use leaf::Entries;
#[cfg(test)]
pub(crate) use leaf::pass_through_a_leaf;
pub use pages::{PageSource, Unreadable};
pub use pointer::PagePointer;
pub(super) use pointer::key_len_max;
pub use read::{Checkpoint, root_of};
pub use root::{LogPosition, Reserved, Root};
pub use segments::PageSink;
pub use stretch::{Limits, Stretch};
pub use table::TableEntry;
pub use write::{CheckpointWriter, Contents, TreeWriter, Written};
