//! A write transaction: a state that nobody else sees yet, and the changes that lead to it (spec: T-2).

use crate::state::{Change, State};

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Transaction {
    /// The state in which it began, changed by `changes`.
    state: State,
    changes: Vec<Change>,
    savepoints: Vec<Savepoint>,
}

/// What there was when it was made.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Savepoint {
    state: State,
    changes: usize,
}

impl Transaction {
    pub(crate) fn begin(state: State) -> Self {
        Transaction { state, changes: Vec::new(), savepoints: Vec::new() }
    }

    /// What its own reads answer from (spec: T-2.3).
    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    pub(crate) fn change(&mut self, changes: Vec<Change>) {
        changes.iter().for_each(|change| self.state.apply(change));
        self.changes.extend(changes);
    }

    /// Makes a savepoint, and gives the number of those before it.
    pub(crate) fn savepoint(&mut self) -> usize {
        let savepoint = Savepoint { state: self.state.clone(), changes: self.changes.len() };
        self.savepoints.push(savepoint);
        self.savepoints.len() - 1
    }

    pub(crate) fn has_savepoint(&self, savepoint: usize) -> bool {
        savepoint < self.savepoints.len()
    }

    //= spec/transactions.md#t-2-6-savepoints
    //# Going back to it MUST undo exactly the changes made after it; the savepoints made after it are gone,
    //# and it stays itself.
    /// Goes back to a savepoint that is there (spec: T-2.6).
    pub(crate) fn rollback_to(&mut self, savepoint: usize) {
        let Savepoint { state, changes } = self.savepoints[savepoint].clone();
        self.state = state;
        self.changes.truncate(changes);
        self.savepoints.truncate(savepoint + 1);
    }

    pub(crate) fn has_changes(&self) -> bool {
        !self.changes.is_empty()
    }

    //= spec/transactions.md#t-2-1-one-commit
    //# When it commits, all of them MUST become one commit; when it is rolled back, none of them takes
    //# effect.
    /// All changes that it made, in order: one commit (spec: T-2.1).
    pub(crate) fn into_changes(self) -> Vec<Change> {
        self.changes
    }
}
