//! Walks over an index in a transaction.

use std::collections::BTreeMap;

use crate::document::{Key, KeyRef};
use crate::error::{Error, Result};
use crate::index::{Documents, Entries, KeyRange, Target};
use crate::secondary::IndexDefinition;
use crate::seeded::{self, Bug};
use crate::sync::Arc;

use super::super::read::Located;
use super::super::walk::Walk;
use super::txn::{DocumentAt, WriteTxn};

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
        WriteTxnEntries {
            documents,
            target,
            walk: Walk::new(range),
            changed,
            changes: txn.batch.changes.len(),
        }
    }

    /// Walks what is left from its other end.
    pub(crate) fn reverse(&mut self) {
        self.walk.reverse();
    }

    /// Goes on to the next entry. Whether there is one.
    pub(crate) fn advance(&mut self, txn: &WriteTxn) -> Result<bool> {
        while self.walk.next_in_page().is_none() {
            let Some(range) = self.walk.take_rest() else { return Ok(false) };
            self.next_page(txn, &range)?;
            txn.check_ground()?;
        }
        Ok(true)
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

    /// Fills the page from the front of `range`: what the index has, less what the transaction took away, and what it brought.
    fn next_page(&mut self, txn: &WriteTxn, range: &KeyRange) -> Result<()> {
        let reverse = self.walk.is_reverse();
        let mut newest = Entries::default();
        txn.shared().page(&self.target.entries, range, reverse, self.walk.page_len(), &mut newest)?;
        let covered = range.up_to(self.walk.cover(range, &newest), reverse);
        let is_changed =
            |key: KeyRef<'_>| !self.changed.is_empty() && self.changed.contains_key(&key.to_key());
        let mut page = newest.filter_map(|key, _| (!is_changed(key)).then_some(()));
        if !self.changed.is_empty() && !covered.is_empty() {
            let there = self
                .changed
                .range((covered.from.as_ref(), covered.to.as_ref()))
                .filter(|(_, is_there)| **is_there);
            there.for_each(|(key, _)| page.push(key.as_ref(), ()));
            page.put_in_order(0, reverse);
        }
        self.walk.fill(page);
        Ok(())
    }
}

impl WriteTxn {
    //= spec/index.md#i-6-2-states
    //# An index that the state does not have MUST be refused as `UnknownIndex`.
    /// The index of this name that a collection has in the transaction's state.
    pub(crate) fn index(&self, name: &str, documents: &Documents, index: &str) -> Result<Target> {
        self.check_ground()?;
        let targets = documents.targets().unwrap_or_default();
        let is_it =
            |target: &&Target| target.building.is_none() && target.definition.definition.name() == index;
        let found = targets.iter().find(is_it).cloned();
        found.ok_or_else(|| Error::UnknownIndex { collection: name.to_owned(), index: index.to_owned() })
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
        let last = self.batch.number_of(documents).and_then(|collection| {
            let (last, _) = self.overlay.find(&self.batch, collection, key);
            last
        });
        let mut last = last;
        while let Some(number) = last.filter(|number| *number >= changes) {
            last = self.batch.changes[number].before;
        }
        Ok(match last {
            Some(number) => self.batch.is_put(number).then_some(DocumentAt::Change(number)),
            None => {
                let ready = self.shared.ready(documents, key)?;
                ready.entry(documents, key).map(DocumentAt::Log)
            }
        })
    }
}
