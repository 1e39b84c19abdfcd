//! The disk as the engine sees it: one small trait, and what stands behind it.
//!
//! | file | what it is |
//! |---|---|
//! | `contract` | the trait, and what the engine's durability rests on |
//! | `file` | the real one: the only door to the operating system |
//! | `draft` | a file in the making, which takes its name when it is whole |
//! | `memory` | bytes that end with the process |
//! | `sim` | a disk that can lose power at any moment and be asked what that left (feature `testing`) |
//! | `fail_stop` | the wrapper through which the engine uses any of them: it retries what is no failure and stops at what is |
//!
//! What a disk may do is written down in `spec/media.md`; the clauses are cited where they are relied on.

mod contract;
mod draft;
mod fail_stop;
mod file;
mod memory;
#[cfg(any(test, feature = "testing"))]
pub mod sim;

pub use contract::Storage;
#[cfg(any(test, feature = "testing"))]
pub use contract::{Answer, Probe};
pub(crate) use draft::Draft;
pub(crate) use fail_stop::FailStop;
#[cfg(test)]
pub(crate) use fail_stop::ZERO_FILL_BYTES;
pub(crate) use file::default_cache_bytes;
pub use file::{Access, FileStorage};
pub use memory::MemoryStorage;
