//! Write calls. Each is written here once, over a [`WriteTxn`]: a transaction keeps one until it commits, and a call that is a commit of
//! its own has one from begin to end of the call.

mod bodies;
mod calls;
mod catalog;
mod entries;
mod entry_overlay;
mod entry_walk;
mod overlay;
mod savepoint;
mod txn;
mod update;
mod walk;

pub(crate) use bodies::Bodies;
pub(crate) use calls::Expect;
pub(in crate::core) use entry_overlay::indexed;
pub(crate) use entry_walk::WriteTxnEntries;
pub(crate) use savepoint::Savepoint;
pub(crate) use txn::WriteTxn;
pub use update::OnConflict;
pub(crate) use update::{BeforeAfter, FoundDocument};
pub(crate) use walk::WriteTxnWalk;
