//! Holotype: an embedded, single-file, log-structured document store.
#![deny(missing_docs)]

pub mod document;
mod error;
#[cfg(any(test, feature = "testing"))]
pub mod format;
#[cfg(not(any(test, feature = "testing")))]
#[expect(
    dead_code,
    unused_imports,
    unreachable_pub,
    reason = "public under the feature `testing`, private to the rooms else"
)]
mod format;
pub mod storage;
mod sync;

pub use document::{Document, Key, KeyRef, Value};
pub use error::{Clause, Corruption, Error, Result};
