//! Which transaction, savepoints and snapshots a run has open at a step, so that steps can be made that fit.

use crate::key::Key;
use crate::op::Op;

/// How many snapshots are held at once, at most.
const SNAPSHOTS_MAX: usize = 4;
/// How many places are remembered, of those looked at and of those changed.
const PLACES_REMEMBERED: usize = 6;

/// What the steps so far have opened and not ended, as far as nothing was refused.
#[derive(Debug, Clone, Default)]
pub(super) struct Weave {
    /// The savepoints of the open transaction.
    savepoints: Option<usize>,
    snapshots: Vec<u64>,
    snapshots_taken: u64,
    /// Where the client has looked last, outside of transactions and snapshots.
    looks: Vec<(String, Key)>,
    /// The indexes that were created or named last, each with its collection.
    indexes: Vec<(String, String)>,
    /// Where a change was tried last: a key, or a whole collection.
    changes: Vec<(String, Option<Key>)>,
}

impl Weave {
    pub(super) fn is_in_transaction(&self) -> bool {
        self.savepoints.is_some()
    }

    /// How many savepoints there are to go back to.
    pub(super) fn savepoints(&self) -> usize {
        self.savepoints.unwrap_or(0)
    }

    /// The snapshots that are held.
    pub(super) fn snapshots(&self) -> &[u64] {
        &self.snapshots
    }

    pub(super) fn may_take_snapshot(&self) -> bool {
        self.snapshots.len() < SNAPSHOTS_MAX
    }

    /// The places that the client has looked at.
    pub(super) fn looks(&self) -> &[(String, Key)] {
        &self.looks
    }

    /// The places where something has changed, if nothing was refused.
    pub(super) fn changes(&self) -> &[(String, Option<Key>)] {
        &self.changes
    }

    /// The indexes that may be there.
    pub(super) fn indexes(&self) -> &[(String, String)] {
        &self.indexes
    }

    /// Goes on over the end of a life, which only indexes may outlive.
    pub(super) fn end(&mut self) {
        *self = Weave { indexes: std::mem::take(&mut self.indexes), ..Weave::default() };
    }

    /// Goes on over a step.
    pub(super) fn follow(&mut self, op: &Op) {
        match op {
            Op::Begin if !self.is_in_transaction() => self.savepoints = Some(0),
            Op::Savepoint => self.savepoints = self.savepoints.map(|savepoints| savepoints + 1),
            Op::RollbackTo { savepoint } => self.savepoints = self.savepoints.map(|_| savepoint + 1),
            Op::Commit { .. } | Op::Rollback => self.savepoints = None,
            Op::TakeSnapshot => {
                self.snapshots.push(self.snapshots_taken);
                self.snapshots_taken += 1;
            }
            Op::Release { snapshot } => self.snapshots.retain(|held| held != snapshot),
            Op::Get { collection, key } => remember(&mut self.looks, (collection.clone(), key.clone())),
            _ => {}
        }
        self.follow_change(op.plain());
        self.follow_index(op.plain());
    }

    fn follow_index(&mut self, op: &Op) {
        let (Some(collection), Some(index)) = (op.collection(), op.index()) else {
            if let Op::DropCollection { collection, .. } | Op::RenameCollection { collection, .. } = op {
                self.indexes.retain(|(of, _)| of != collection);
            }
            return;
        };
        let place = (collection.to_owned(), index.to_owned());
        match op {
            Op::CreateIndex { .. } | Op::ReplaceIndex { .. } => remember(&mut self.indexes, place),
            Op::RenameIndex { to, .. } => remember(&mut self.indexes, (place.0, to.clone())),
            Op::DropIndex { .. } => self.indexes.retain(|made| *made != place),
            _ => {}
        }
    }

    fn follow_change(&mut self, op: &Op) {
        let (true, Some(collection)) = (op.is_write(), op.collection()) else { return };
        let key = op.keys().first().map(|&key| key.clone());
        // Which key an insert gives is not known here.
        if key.is_some() || op.documents().is_empty() {
            remember(&mut self.changes, (collection.to_owned(), key));
        }
    }
}

fn remember<T>(places: &mut Vec<T>, place: T) {
    if places.len() == PLACES_REMEMBERED {
        places.remove(0);
    }
    places.push(place);
}
