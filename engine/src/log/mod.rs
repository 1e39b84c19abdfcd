//! The log: where commits are placed, how they reach the file, and how a record is read back by its address.

mod appender;
mod batch;
mod cursor;
mod entries;
#[cfg(test)]
mod fixtures;
#[cfg(all(test, loom))]
mod loom;
mod pieces;
mod reader;
mod tail;
mod walk;

pub(crate) use appender::{Appender, LogEnd, Mark};
pub(crate) use batch::{Action, Batch, Change, Chunk, Relocation, Replaces, Superseded, Touched};
pub(crate) use cursor::{FrameCursor, Frames, Met, NO_OPENING, NOTHING_FOLLOWS, broken, may_open};
pub(crate) use entries::EntryChange;
pub(crate) use reader::{Found, Log, record_fault};
pub(crate) use tail::Tail;
pub(crate) use walk::SegmentWalk;
