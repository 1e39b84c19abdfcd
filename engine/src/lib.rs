//! Holotype: an embedded, single-file, log-structured document store.
//!
//! ```
//! use holotype::{Db, doc};
//!
//! let directory = tempfile::tempdir()?;
//! let db = Db::open(directory.path().join("notes.holo"))?;
//! let notes = db.collection("notes");
//! let id = notes.insert(doc! { "text": "look up holotype", "done": false })?; // durable on return
//! let note = notes.get(&id)?.expect("it was just put there");
//! assert_eq!(note.get("text").and_then(|text| text.as_str()), Some("look up holotype"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What the store promises is written in `spec/`, in numbered clauses; comments such as `spec: F-3.3` name the one that the code
//! beneath them carries out. The rooms of the crate, each of which uses only those before it:
//!
//! | room | what it is |
//! |---|---|
//! | [`document`] | values, documents and keys, and how they look as bytes |
//! | [`query`] | paths and filters over values, by RFC 9535 |
//! | [`update`] | values changed: by patches, merge patches and updates |
//! | `secondary` | what indexes hold of documents, and how it looks as bytes |
//! | `format` | bytes to and from superblock, segment, frame and record |
//! | [`storage`] | the disk, real or simulated |
//! | `cache` | file blocks in memory, and the segments that they belong to |
//! | `index` | from key to log address; the catalog |
//! | `space` | what each log segment still holds, and which places in the file are free |
//! | `fold` | what a record does to index, counts and accounts |
//! | `log` | placing commits, and reading records back |
//! | `recovery` | from the bytes of a file to the state that they stand for |
//! | `txn` | who sees what |
//! | `core` | the store as a value, stepped by calls |
//! | `pipeline` | what threads share: turns to write, and syncs that serve many |
//! | `salvage` | from a damaged file to a new store with all that can be proven |
//! | `inspect` | a file as its layout, whatever it holds, for who looks at it (feature `testing`) |
#![deny(missing_docs)]

mod backup;
mod bulk;
mod cache;
mod collection;
mod core;
mod db;
mod doc_ref;
pub mod document;
mod error;
mod find;
mod fold;
#[cfg(any(test, feature = "testing"))]
pub mod format;
#[cfg(not(any(test, feature = "testing")))]
#[expect(
    unused_imports,
    unreachable_pub,
    reason = "public under the feature `testing`, private to the rooms else"
)]
mod format;
mod handle;
mod index;
mod indexed;
#[cfg(any(test, feature = "testing"))]
pub mod inspect;
mod log;
mod options;
mod pipeline;
pub mod query;
mod recovery;
mod salvage;
mod scan;
mod secondary;
#[cfg(feature = "seeded")]
pub mod seeded;
#[cfg(not(feature = "seeded"))]
mod seeded;
mod snapshot;
mod space;
pub mod storage;
mod sync;
#[cfg(feature = "testing")]
mod testing;
mod ticket;
mod transaction;
mod txn;
pub mod update;
mod updating;
mod watch;

pub use collection::Collection;
pub use core::{
    BackupProgress, BackupReport, Change, Commit, CompactProgress, CompactReport, Location, OnConflict,
    Space, Stats, VerifyReport,
};
pub use db::Db;
pub use doc_ref::{DocRef, DocView};
pub use document::{AsKey, Document, Key, KeyRef, Value};
pub use error::{Clause, Corruption, Error, Result};
pub use find::{
    Cursor, Found, FoundAs, FoundKeys, GroupBy, Hint, IntoExpression, IntoFilter, PlanAccess, PlanActual,
    PlanIndex, PlanOrder, PlanReads, Projected, ProjectedDoc, Projection, Query, QueryPlan, QueryProgress,
    SORT_MEMORY_DEFAULT, Sort,
};
pub use handle::Handle;
pub use indexed::{
    Index, IndexDocuments, IndexEntry, IndexInfo, IndexKeys, IndexProgress, IndexScan, TupleBound,
    TupleBounds, TupleLike,
};
pub use options::{Background, Durability, Options};
pub use pipeline::SnapshotInfo;
#[cfg(feature = "testing")]
pub use salvage::salvage_to;
pub use salvage::{LostDocument, LostIndex, SalvageReport, SalvagedCollection, salvage};
pub use scan::{KeyBounds, Keys, Scan};
pub use secondary::IndexDefinition;
pub use snapshot::{Snapshot, View};
#[cfg(all(shuttle, feature = "testing"))]
pub use sync::race::{Race, switch_on as switch_race_on};
#[cfg(feature = "testing")]
pub use testing::{
    CheckpointToName, CheckpointUnderWay, SyncUnderWay, decisions_of_maintenance, index_definition,
    index_entries, index_entry,
};
pub use ticket::Ticket;
pub use transaction::collection::TxCollection;
pub use transaction::scan::{TxKeys, TxScan};
pub use transaction::{Savepoint, WriteTransaction};
pub use update::Update;
pub use updating::{Batches, Stopped, UpdateReport, Updated};
pub use watch::Watch;

/// The README's example, compiled with the tests.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

/// The recipes, compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../../docs/updates.md")]
struct Updates;

/// The guide to queries, compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../../docs/queries.md")]
struct Queries;

/// The guide to indexes, compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../../docs/indexes.md")]
struct Indexes;
