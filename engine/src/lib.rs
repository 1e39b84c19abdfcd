//! Holotype: an embedded, single-file, log-structured document store.
#![deny(missing_docs)]

pub mod document;
mod error;
pub mod storage;

pub use document::{Document, Key, KeyRef, Value};
pub use error::{Clause, Corruption, Error, Result};
