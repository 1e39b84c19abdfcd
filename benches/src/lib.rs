//! What the benches and the checks of their costs share.
//!
//! | module | what it is |
//! |---|---|
//! | [`workload`] | the documents and the order in which keys come |
//! | [`fixture`] | a store with documents in it, in a directory that goes with it |
//! | [`timing`] | the clock around a run of calls, and what the calls added up to |
//! | [`calls`] | a storage that counts what the engine asks of it |
//!
//! Nothing that takes time decides whether a test passes: costs that do not depend on the machine (allocations, calls, bytes)
//! are held by tests in `tests/`, times are shown by `cargo bench`, and `docs/performance.md` tells them beside other stores.
#![deny(missing_docs)]

pub mod calls;
pub mod fixture;
pub mod timing;
pub mod workload;
