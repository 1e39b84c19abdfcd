//! Savepoints of a transaction: positions in its batch.

/// A position in the changes of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Savepoint {
    /// The turn of the transaction: no other has the same.
    pub(super) turn: u64,
    pub(super) number: u64,
}

/// The savepoints of a transaction, and how many changes there were at each.
#[derive(Debug, Clone, Default)]
pub(super) struct Savepoints {
    pub(super) turn: u64,
    pub(super) last: u64,
    pub(super) at: Vec<(Savepoint, usize)>,
}
