//! Scans in a transaction.

use std::collections::BTreeMap;

use crate::document::{Key, KeyRef};
use crate::error::Result;
use crate::index::{Documents, Entries, Item, KeyRange, PrimaryIndex};
use crate::sync::Arc;

use super::super::Located;
use super::super::walk::Walk;
use super::{Draft, Place};

//= spec/transactions.md#t-2-3-read-your-writes
//# A scan in a transaction MUST answer from the state in which it began, in the order of S-5.3.
/// A walk over a key range of a transaction's state, as it was when the walk began (spec: T-2.3).
#[derive(Debug)]
pub(crate) struct DraftWalk {
    documents: Arc<Documents>,
    walk: Walk<Place>,
    /// The changes of the range at the beginning: the last of each key.
    changes: BTreeMap<Key, usize>,
}

impl DraftWalk {
    pub(crate) fn new(draft: &Draft, documents: Arc<Documents>, range: KeyRange) -> Self {
        let all = (documents.id, Key::Int(i64::MIN))..;
        let changes = draft.keys.range(all).take_while(|((id, _), _)| *id == documents.id);
        let changes = changes.filter(|((_, key), _)| range.contains(key));
        let changes = changes.map(|((_, key), number)| (key.clone(), *number)).collect();
        DraftWalk { documents, walk: Walk::new(range), changes }
    }

    /// Walks what is left from its other end.
    pub(crate) fn reverse(&mut self) {
        self.walk.reverse();
    }

    /// The next key of the walk.
    pub(crate) fn next_key(&mut self, draft: &Draft) -> Result<Option<Key>> {
        Ok(self.next(draft)?.map(|item| self.walk.key(&item).to_key()))
    }

    /// The next document of the walk.
    pub(crate) fn next_document(&mut self, draft: &Draft) -> Result<Option<Located>> {
        let Some(item) = self.next(draft)? else { return Ok(None) };
        draft.locate(&self.documents, self.walk.key(&item), item.value).map(Some)
    }

    /// The document of a key of the range, in the state in which the walk began.
    pub(crate) fn document(&self, draft: &Draft, key: KeyRef<'_>) -> Result<Option<Located>> {
        let place = match self.changes.get(&key.to_key()) {
            Some(number) => draft.is_put(*number).then_some(Place::Change(*number)),
            None => self.documents.index.get(key).map(Place::Log),
        };
        draft.check_ground()?;
        place.map(|place| draft.locate(&self.documents, key, place)).transpose()
    }

    fn next(&mut self, draft: &Draft) -> Result<Option<Item<Place>>> {
        loop {
            if let Some(next) = self.walk.next_in_page() {
                return Ok(Some(next));
            }
            let Some(range) = self.walk.take_rest() else { return Ok(None) };
            self.next_page(draft, &range);
            draft.check_ground()?;
        }
    }

    /// Fills the page from the front of `range`: what the index has, less what the transaction changed, and what it put.
    fn next_page(&mut self, draft: &Draft, range: &KeyRange) {
        let reverse = self.walk.is_reverse();
        let page_len = self.walk.page_len();
        let mut newest = Entries::default();
        self.documents.index.page(range, reverse, page_len, &mut newest);
        let covered = self.walk.cover(range, &newest);
        let is_changed =
            |key: KeyRef<'_>| !self.changes.is_empty() && self.changes.contains_key(&key.to_key());
        let mut page = newest.filter_map(|key, entry| (!is_changed(key)).then_some(Place::Log(entry)));
        if !self.changes.is_empty() && !covered.is_empty() {
            let put =
                self.changes.range((covered.from, covered.to)).filter(|(_, number)| draft.is_put(**number));
            put.for_each(|(key, number)| page.push(key.as_ref(), Place::Change(*number)));
            page.put_in_order(0, reverse);
        }
        self.walk.fill(page);
    }
}
