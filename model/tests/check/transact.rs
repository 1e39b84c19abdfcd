//! The toy store's transactions, snapshots and versions: copies of the whole state.

use std::collections::BTreeMap;

use holotype_model::{Document, Key, Op, Outcome, Refusal};

use crate::bug::Bug;
use crate::image::{Collections, Image};
use crate::toy::perform;

/// What the toy forgets when it is closed.
#[derive(Debug, Default)]
pub(crate) struct Session {
    pub(crate) transaction: Option<Transaction>,
    snapshots: BTreeMap<u64, Collections>,
    snapshots_taken: u64,
    seen: BTreeMap<(String, Key), (u64, Document)>,
}

#[derive(Debug, Clone)]
pub(crate) struct Transaction {
    pub(crate) state: Collections,
    /// The states after each change, the last of them `state`.
    pub(crate) steps: Vec<Collections>,
    savepoints: Vec<(Collections, usize)>,
}

impl Session {
    /// The answer to a step that makes no commit; none for any other call.
    pub(crate) fn step(&mut self, op: &Op, image: &mut Image) -> Option<Outcome> {
        let outcome = match op {
            Op::TakeSnapshot => {
                self.snapshots.insert(self.snapshots_taken, image.newest().clone());
                self.snapshots_taken += 1;
                Ok(Outcome::Count(self.snapshots_taken - 1))
            }
            Op::Release { snapshot } => {
                self.snapshots.remove(snapshot).map(|_| Outcome::Done).ok_or(Refusal::UnknownSnapshot)
            }
            Op::Through { snapshot, op } => self.read_through(*snapshot, op, image),
            Op::Begin if self.transaction.is_none() => {
                let state = image.newest().clone();
                self.transaction = Some(Transaction { state, steps: Vec::new(), savepoints: Vec::new() });
                Ok(Outcome::Done)
            }
            Op::Begin => Err(Refusal::Busy),
            Op::Inside(op) => self.inside(op, image),
            Op::Savepoint | Op::RollbackTo { .. } => self.savepoint_step(op, image),
            Op::Rollback => self.roll_back(image),
            Op::Commit { .. } if self.transaction.is_none() => Err(Refusal::NoTransaction),
            Op::Commit { .. } => return None,
            op if op.is_write() && self.transaction.is_some() && !image.is(Bug::LetsWritersIn) => {
                Err(Refusal::Busy)
            }
            op => match self.check_version(image.newest(), op, image) {
                Ok(()) => return None,
                Err(refusal) => Err(refusal),
            },
        };
        Some(outcome.unwrap_or_else(Outcome::Refused))
    }

    fn read_through(&self, snapshot: u64, op: &Op, image: &Image) -> Result<Outcome, Refusal> {
        let held = self.snapshots.get(&snapshot).ok_or(Refusal::UnknownSnapshot)?;
        let mut state = held.clone();
        if image.is(Bug::SnapshotLosesWhatIsDropped) {
            state.retain(|name, _| image.newest().contains_key(name));
        }
        if image.is(Bug::SnapshotFollowsReplaces) {
            for (name, shelf) in &mut state {
                let newest = image.newest().get(name);
                for (key, document) in &mut shelf.documents {
                    let replaced = newest.and_then(|newest| newest.documents.get(key));
                    *document = replaced.unwrap_or(document).clone();
                }
            }
        }
        perform(&mut state, op, image)
    }

    fn inside(&mut self, op: &Op, image: &Image) -> Result<Outcome, Refusal> {
        let transaction = self.transaction.as_ref().ok_or(Refusal::NoTransaction)?;
        let mut next = transaction.state.clone();
        let result = self.check_version(&next, op, image).and_then(|()| perform(&mut next, op, image));
        let transaction = self.transaction.as_mut().expect("it was there");
        if result.is_err() && image.is(Bug::RefusalUndoesTransaction) {
            transaction.state = image.newest().clone();
        }
        if result.is_ok() && next != transaction.state {
            transaction.state = next;
            transaction.steps.push(transaction.state.clone());
        }
        result
    }

    fn savepoint_step(&mut self, op: &Op, image: &Image) -> Result<Outcome, Refusal> {
        let transaction = self.transaction.as_mut().ok_or(Refusal::NoTransaction)?;
        let Op::RollbackTo { savepoint } = op else {
            transaction.savepoints.push((transaction.state.clone(), transaction.steps.len()));
            return Ok(Outcome::Count(transaction.savepoints.len() as u64 - 1));
        };
        let (mut state, steps) =
            transaction.savepoints.get(*savepoint).ok_or(Refusal::UnknownSavepoint)?.clone();
        if image.is(Bug::SavepointKeepsIds) {
            keep_ids(&mut state, &transaction.state);
        }
        transaction.state = state;
        transaction.steps.truncate(steps);
        if !image.is(Bug::KeepsLaterSavepoints) {
            let kept = savepoint + usize::from(!image.is(Bug::SavepointServesOnce));
            transaction.savepoints.truncate(kept);
        }
        Ok(Outcome::Done)
    }

    fn roll_back(&mut self, image: &mut Image) -> Result<Outcome, Refusal> {
        let transaction = self.transaction.take().ok_or(Refusal::NoTransaction)?;
        if image.is(Bug::RollbackKeepsIds) {
            let newest = image.states.last_mut().expect("there is a state before the first commit");
            keep_ids(newest, &transaction.state);
        }
        Ok(Outcome::Done)
    }

    /// Remembers what a get has found.
    pub(crate) fn see(&mut self, op: &Op, state: &Collections) {
        let Op::Get { collection, key } = op else { return };
        let Some(shelf) = state.get(collection) else { return };
        let place = (collection.clone(), key.clone());
        match (shelf.versions.get(key), shelf.documents.get(key)) {
            (Some(version), Some(document)) => self.seen.insert(place, (*version, document.clone())),
            _ => self.seen.remove(&place),
        };
    }

    fn check_version(&self, state: &Collections, op: &Op, image: &Image) -> Result<(), Refusal> {
        let (Op::ReplaceIf { collection, key, .. } | Op::DeleteIf { collection, key, .. }) = op else {
            return Ok(());
        };
        let shelf = state.get(collection).ok_or(Refusal::UnknownCollection)?;
        let newest = shelf.documents.get(key).ok_or(Refusal::VersionMismatch)?;
        let seen = self.seen.get(&(collection.clone(), key.clone()));
        let is_as_seen = match seen {
            _ if image.is(Bug::IgnoresVersions) => true,
            Some((_, document)) if image.is(Bug::ComparesDocumentsForVersions) => document == newest,
            Some((version, _)) => shelf.versions.get(key) == Some(version),
            None => false,
        };
        if is_as_seen { Ok(()) } else { Err(Refusal::VersionMismatch) }
    }
}

/// Raises the ids of `state` to those of another one.
fn keep_ids(state: &mut Collections, other: &Collections) {
    for (name, shelf) in state {
        let ids = other.get(name).map_or(0, |other| other.largest_id);
        shelf.largest_id = shelf.largest_id.max(ids);
    }
}
