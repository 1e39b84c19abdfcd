//! What threads share: turns to write, syncs that serve many, the age of snapshots, and the thread that flushes.
//!
//! Here alone are waiting and clocks. What happens meanwhile is decided in the room `core`, step by step.

mod flusher;
mod group;
#[cfg(all(test, loom))]
mod loom;
mod news;
mod snapshots;
mod store;

pub use snapshots::SnapshotInfo;
pub(crate) use store::{Deferred, HeldTurn, Store};
