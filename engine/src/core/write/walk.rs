//! Scans in a transaction.

use std::collections::BTreeMap;

use crate::document::{Key, KeyRef};
use crate::error::Result;
use crate::index::{Documents, Entries, Entry, Item, KeyRange};
use crate::sync::Arc;

use super::super::read::Located;
use super::super::walk::Walk;
use super::txn::{DocumentAt, Newest, WriteTxn};
use super::update::FoundDocument;

//= spec/transactions.md#t-2-3-read-your-writes
//# A scan in a transaction MUST answer from the state in which it began, in the order of S-5.3.
/// A walk over a key range of a transaction's state, as it was when the walk began (spec: T-2.3).
#[derive(Debug)]
pub(crate) struct WriteTxnWalk {
    documents: Arc<Documents>,
    walk: Walk<DocumentAt>,
    /// The changes of the range at the beginning: the last of each key.
    changes: BTreeMap<Key, usize>,
}

impl WriteTxnWalk {
    pub(crate) fn new(txn: &mut WriteTxn, documents: Arc<Documents>, range: KeyRange) -> Self {
        let changes = match txn.batch.number_of(&documents) {
            Some(collection) => txn.overlay.in_range(&txn.batch, collection, &range),
            None => BTreeMap::new(),
        };
        WriteTxnWalk { documents, walk: Walk::new(range), changes }
    }

    /// The collection that is walked.
    pub(crate) fn documents(&self) -> &Arc<Documents> {
        &self.documents
    }

    /// Walks what is left from its other end.
    pub(crate) fn reverse(&mut self) {
        self.walk.reverse();
    }

    /// The next key of the walk.
    pub(crate) fn next_key(&mut self, txn: &WriteTxn) -> Result<Option<Key>> {
        Ok(self.next(txn)?.map(|item| self.walk.key(&item).to_key()))
    }

    /// The next document of the walk.
    pub(crate) fn next_document(&mut self, txn: &WriteTxn) -> Result<Option<Located>> {
        let Some(item) = self.next(txn)? else { return Ok(None) };
        txn.locate(&self.documents, self.walk.key(&item), item.value).map(Some)
    }

    /// As [`next_document`](Self::next_document), to be changed or deleted. The transaction must not have changed its
    /// key since the walk began.
    pub(crate) fn next_found(&mut self, txn: &WriteTxn) -> Result<Option<FoundDocument>> {
        let Some(item) = self.next(txn)? else { return Ok(None) };
        let change = if let DocumentAt::Change(number) = item.value { Some(number) } else { None };
        let newest = Newest { change, place: Some(item.value), hash: None };
        let located = txn.locate(&self.documents, self.walk.key(&item), item.value)?;
        Ok(Some(FoundDocument { newest, located }))
    }

    /// The document of a key of the range, in the state in which the walk began.
    pub(crate) fn document(&self, txn: &WriteTxn, key: KeyRef<'_>) -> Result<Option<Located>> {
        let change = self.changes.get(&key.to_key()).copied();
        let place = txn.place_after(change, &self.documents, key)?;
        txn.check_ground()?;
        place.map(|place| txn.locate(&self.documents, key, place)).transpose()
    }

    fn next(&mut self, txn: &WriteTxn) -> Result<Option<Item<DocumentAt>>> {
        let put = |number: &usize| txn.batch.is_put(*number).then_some(DocumentAt::Change(*number));
        next_merged(txn, &mut self.walk, &self.documents, &self.changes, DocumentAt::Log, put)
    }
}

/// The next item of a walk over `tree` in a transaction. Each page has what the tree has, less what the transaction
/// changed, and of that what `of_change` leaves.
pub(super) fn next_merged<E: Copy, C>(
    txn: &WriteTxn,
    walk: &mut Walk<E>,
    tree: &Documents,
    changes: &BTreeMap<Key, C>,
    of_entry: impl Fn(Entry) -> E,
    of_change: impl Fn(&C) -> Option<E>,
) -> Result<Option<Item<E>>> {
    loop {
        if let Some(next) = walk.next_in_page() {
            return Ok(Some(next));
        }
        let Some(range) = walk.take_rest() else { return Ok(None) };
        let reverse = walk.is_reverse();
        let mut newest = Entries::default();
        txn.shared.page(tree, &range, reverse, walk.page_len(), &mut newest)?;
        let covered = range.up_to(walk.cover(&range, &newest), reverse);
        let is_changed = |key: KeyRef<'_>| !changes.is_empty() && changes.contains_key(&key.to_key());
        let mut page = newest.filter_map(|key, entry| (!is_changed(key)).then(|| of_entry(entry)));
        if !changes.is_empty() && !covered.is_empty() {
            for (key, change) in changes.range((covered.from.as_ref(), covered.to.as_ref())) {
                of_change(change).into_iter().for_each(|item| page.push(key.as_ref(), item));
            }
            page.put_in_order(0, reverse);
        }
        walk.fill(page);
        txn.check_ground()?;
    }
}
