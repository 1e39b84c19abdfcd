//! Walks over an index in a transaction.

use std::collections::BTreeMap;

use crate::document::{Key, KeyRef};
use crate::error::{Error, Result};
use crate::index::{Documents, KeyRange, Target};
use crate::secondary::IndexDefinition;
use crate::seeded::{self, Bug};
use crate::sync::Arc;

use super::super::read::Located;
use super::super::walk::Walk;
use super::txn::{DocumentAt, WriteTxn};
use super::walk::next_merged;

//= spec/transactions.md#t-2-3-read-your-writes
//# A scan in a transaction MUST answer from the state in which it began, in the order of S-5.3.
//= spec/index.md#i-6-2-states
//# A read through an index MUST answer from one state, and answer what I-2.3 says of it: the newest one, that
//# of a snapshot, or that of a transaction with its own changes.
/// A walk over a range of an index of a transaction's state, as it was when the walk began.
#[derive(Debug)]
pub(crate) struct WriteTxnEntries {
    documents: Arc<Documents>,
    pub(crate) target: Target,
    walk: Walk<()>,
    /// The entries of the range that the transaction had changed at the beginning, and whether they are there.
    changed: BTreeMap<Key, bool>,
    /// How many changes it had made then.
    changes: usize,
}

impl WriteTxnEntries {
    pub(crate) fn new(
        txn: &mut WriteTxn,
        documents: Arc<Documents>,
        target: Target,
        range: KeyRange,
    ) -> Self {
        let changed = match txn.batch.number_of(&documents) {
            Some(_) if !seeded::is_on(Bug::IndexWithoutOwnWrites) => {
                txn.changed_entries(&target.entries, &range)
            }
            _ => BTreeMap::new(),
        };
        let changes = txn.batch.changes.len();
        WriteTxnEntries { documents, target, walk: Walk::new(range), changed, changes }
    }

    /// Walks what is left from its other end.
    pub(crate) fn reverse(&mut self) {
        self.walk.reverse();
    }

    /// As [`Cursor::go_behind`](crate::core::Cursor::go_behind).
    pub(crate) fn go_behind(&mut self, place: &Key) {
        self.walk.go_behind(place);
    }

    /// Goes on to the next entry. Whether there is one.
    pub(crate) fn advance(&mut self, txn: &WriteTxn) -> Result<bool> {
        let (entries, is_there) = (&self.target.entries, |is_there: &bool| is_there.then_some(()));
        let next = next_merged(txn, &mut self.walk, entries, &self.changed, |_| (), is_there)?;
        Ok(next.is_some())
    }

    /// As [`Cursor::pass`](crate::core::Cursor::pass).
    pub(crate) fn pass(&mut self, beginning: &[u8], all: bool) -> usize {
        self.walk.pass(beginning, all)
    }

    /// The bytes of the entry that the walk came to last.
    pub(crate) fn entry(&self) -> &[u8] {
        self.walk.met_bytes()
    }

    /// The document of a key in the state in which the walk began.
    pub(crate) fn document(&self, txn: &mut WriteTxn, key: KeyRef<'_>) -> Result<Option<Located>> {
        let place = txn.place_before(&self.documents, key, self.changes)?;
        txn.check_ground()?;
        place.map(|place| txn.locate(&self.documents, key, place)).transpose()
    }
}

impl WriteTxn {
    //= spec/index.md#i-6-2-states
    //# An index that the state does not have MUST be refused as `UnknownIndex`.
    /// The index of this name that a collection has in the transaction's state.
    pub(crate) fn index(&self, name: &str, documents: &Documents, index: &str) -> Result<Target> {
        let unknown = || Error::UnknownIndex { collection: name.to_owned(), index: index.to_owned() };
        self.known_index(documents, index)?.ok_or_else(unknown)
    }

    /// As [`index`](Self::index), or nothing if there is no such index.
    pub(super) fn known_index(&self, documents: &Documents, index: &str) -> Result<Option<Target>> {
        self.check_ground()?;
        let targets = documents.targets().unwrap_or_default();
        let is_it =
            |target: &&Target| target.building.is_none() && target.definition.definition.name() == index;
        Ok(targets.iter().find(is_it).cloned())
    }

    /// The indexes that a collection has in the transaction's state, in the order of their names.
    pub(crate) fn indexes(&self, documents: &Documents) -> Vec<IndexDefinition> {
        let targets = documents.targets().unwrap_or_default();
        let whole = targets.iter().filter(|target| target.building.is_none());
        let mut indexes: Vec<_> = whole.map(|target| target.definition.definition.clone()).collect();
        indexes.sort_by(|one, other| one.name().cmp(other.name()));
        indexes
    }

    /// Where the document of `key` was after the first so many changes of the transaction.
    fn place_before(
        &mut self,
        documents: &Documents,
        key: KeyRef<'_>,
        changes: usize,
    ) -> Result<Option<DocumentAt>> {
        let collection = self.batch.number_of(documents);
        let mut last = collection.and_then(|collection| self.overlay.find(&self.batch, collection, key).0);
        while let Some(number) = last.filter(|number| *number >= changes) {
            last = self.batch.changes[number].before;
        }
        self.place_after(last, documents, key)
    }
}
