//! The log: where commits are placed, how they reach the file, and how a record is read back by its address.

mod appender;
mod batch;
#[cfg(all(test, loom))]
mod loom;
mod pieces;
mod reader;
mod tail;

pub(crate) use appender::{Appender, LogEnd, Mark};
pub(crate) use batch::{Action, Batch, Change, Replaces};
pub(crate) use reader::{Found, Log, record_fault};
pub(crate) use tail::Tail;
