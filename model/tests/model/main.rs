//! The model against the clauses of `spec/semantics.md` and `spec/transactions.md`.

mod crashes;
mod indexes;
mod ops;
mod semantics;
mod snapshots;
mod transactions;
mod versions;
