//! The bytes of a checkpoint, written and read (F-8): index records in segments that the log does not pass through.
//!
//! The room is pure, as all of `format` is: it writes through an [`IndexSink`] and reads through an [`IndexSource`].
//!
//! | file | job |
//! |---|---|
//! | `leaf` | keys and where their documents lie, as differences |
//! | `directory` | what leads to directory pages and leaves |
//! | `catalog` | a collection: its name, its counters, its tree |
//! | `indexes` | an index of a collection: its definition, its tree |
//! | `table` | the log segments: where they lie, what is live in them |
//! | `root` | the one map that leads to everything else |
//! | `map` | CBOR maps with fields that this version does not know |
//! | `writer` | index records one behind the other in segments, under their headers |
//! | `patch` | what differs between a leaf of an earlier checkpoint and the keys in its place |
//! | `takeover` | the leaves and directory pages of an earlier checkpoint that serve another one |
//! | `write` | a checkpoint, written |
//! | `records` | an index record found by its reference, read in large pieces, and verified |
//! | `read` | a whole checkpoint, read |

mod catalog;
mod directory;
mod entry;
mod indexes;
mod leaf;
mod map;
mod patch;
mod read;
mod records;
mod root;
mod search;
mod stretch;
mod table;
mod takeover;
mod write;
mod writer;

pub use catalog::CatalogEntry;
pub use indexes::IndexEntry;
pub use leaf::Entries;
pub use read::{Branch, Checkpoint, LeafOf, TreeOf, Trees, root_of};
pub use records::{IndexSource, TreePlace};
pub use root::{LogPosition, Root};
pub use search::LeafBytes;
pub use stretch::{Limits, Stretch};
pub use table::{Table, TableEntry, TableRow};
pub use takeover::{BaseTree, UnreadLeaf, base_trees, references};
pub use write::{TreeWriter, Written};
pub use writer::{IndexSink, IndexWriter, OpenSegment, Output};
