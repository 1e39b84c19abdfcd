//! The model against the clauses of `spec/semantics.md`.

mod crashes;
mod ops;
mod semantics;
