//! What threads share: turns to write, syncs that serve many, the age of snapshots, and the worker that
//! flushes and maintains in the background.
//!
//! Here alone are waiting and clocks. What happens meanwhile is decided in the room `core`, step by step.

mod agenda;
mod deferred;
mod group;
mod holder;
#[cfg(all(test, loom))]
mod loom;
mod maintenance;
mod news;
mod snapshots;
mod step_lock;
mod store;
mod turn;
mod worker;

pub(crate) use deferred::Deferred;
pub use snapshots::SnapshotInfo;
pub(crate) use store::Store;
pub(crate) use turn::HeldTurn;
