//! What ends with one life of a store: the open transaction, the snapshots, and what the client has seen.

use std::collections::BTreeMap;

use crate::key::Key;
use crate::op::Op;
use crate::outcome::Refusal;
use crate::state::State;
use crate::transaction::Transaction;

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Session {
    /// At most one at a time (spec: T-2.2).
    pub(crate) transaction: Option<Transaction>,
    /// Those that are not released, by their numbers.
    pub(crate) snapshots: BTreeMap<u64, State>,
    snapshots_taken: u64,
    /// The version that the last answered get of a place found, if it found one.
    seen: BTreeMap<(String, Key), u64>,
}

impl Session {
    //= spec/transactions.md#t-2-3-read-your-writes
    //# A read in a transaction MUST answer from the state after the last commit placed before it began,
    //# changed by the changes that the transaction has made so far.
    //= spec/transactions.md#t-2-4-nothing-shows-before-the-end
    //# No reader outside a transaction MUST see any of its changes before it has committed.
    //= spec/transactions.md#t-3-1-one-state
    //# Every read through a snapshot MUST answer from one state: the visible state of the moment at which the
    //# snapshot was taken.
    /// The state that `op` is about.
    pub(crate) fn state_for<'a>(&'a self, op: &Op, visible: &'a State) -> Result<&'a State, Refusal> {
        match op {
            Op::Inside(_) | Op::Savepoint | Op::RollbackTo { .. } | Op::Commit { .. } | Op::Rollback => {
                self.transaction.as_ref().map(Transaction::state).ok_or(Refusal::NoTransaction)
            }
            Op::Through { snapshot, .. } | Op::Release { snapshot } => {
                self.snapshots.get(snapshot).ok_or(Refusal::UnknownSnapshot)
            }
            _ => Ok(visible),
        }
    }

    //= spec/transactions.md#t-2-2-one-writer-at-a-time
    //# Between the begin and the end of a write transaction a store MUST NOT place a commit of anybody else.
    /// The reasons to refuse `op`, which is about `state`, that do not lie in that state alone.
    pub(crate) fn refusals(&self, op: &Op, state: &State) -> Vec<Refusal> {
        let mut reasons = Vec::new();
        let begins = matches!(op, Op::Begin) || (op.is_write() && !matches!(op, Op::Commit { .. }));
        if self.transaction.is_some() && begins {
            reasons.push(Refusal::Busy); // spec: T-2.2, T-2.9
        }
        if let (Op::RollbackTo { savepoint }, Some(transaction)) = (op, &self.transaction)
            && !transaction.has_savepoint(*savepoint)
        {
            reasons.push(Refusal::UnknownSavepoint);
        }
        // spec: T-2.10. What a transaction has put itself has no version that anybody could have seen.
        if let Op::ReplaceIf { collection, key, .. } | Op::DeleteIf { collection, key, .. } = op.plain() {
            let newest = state.find(collection, key).map(|stored| &stored.version);
            if newest.is_none() || newest != self.seen.get(&(collection.clone(), key.clone())) {
                reasons.push(Refusal::VersionMismatch);
            }
        }
        reasons
    }

    /// Holds on to a state, and gives the snapshot's number.
    pub(crate) fn take_snapshot(&mut self, visible: &State) -> u64 {
        let number = self.snapshots_taken;
        self.snapshots.insert(number, visible.clone());
        self.snapshots_taken += 1;
        number
    }

    /// Notes what a get of the visible state has shown to the client.
    pub(crate) fn see(&mut self, collection: &str, key: &Key, visible: &State) {
        let place = (collection.to_owned(), key.clone());
        match visible.find(collection, key) {
            Some(stored) => self.seen.insert(place, stored.version),
            None => self.seen.remove(&place),
        };
    }
}
