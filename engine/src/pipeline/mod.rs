//! What threads share: turns to write, syncs that serve many, the age of snapshots, and the thread that flushes.
//!
//! Here alone are waiting and clocks. What happens meanwhile is decided in the room `core`, step by step.

mod deferred;
mod flusher;
mod group;
#[cfg(all(test, loom))]
mod loom;
mod maintainer;
mod news;
mod snapshots;
mod store;
mod turn;

pub(crate) use deferred::Deferred;
pub use snapshots::SnapshotInfo;
pub(crate) use store::Store;
pub(crate) use turn::HeldTurn;
