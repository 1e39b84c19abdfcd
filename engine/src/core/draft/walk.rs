//! Scans in a transaction.

use std::collections::BTreeMap;

use crate::document::Key;
use crate::error::Result;
use crate::index::{Documents, KeyRange, PrimaryIndex};
use crate::sync::Arc;

use super::super::walk::Walk;
use super::super::{Core, Located};
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
    pub(crate) fn next_key(&mut self, core: &Core, draft: &Draft) -> Result<Option<Key>> {
        Ok(self.next(core, draft)?.map(|(key, _)| key))
    }

    /// The next document of the walk.
    pub(crate) fn next_document(&mut self, core: &Core, draft: &Draft) -> Result<Option<Located>> {
        let Some((key, place)) = self.next(core, draft)? else { return Ok(None) };
        draft.locate(core, &self.documents, key.as_ref(), place).map(Some)
    }

    fn next(&mut self, core: &Core, draft: &Draft) -> Result<Option<(Key, Place)>> {
        loop {
            if let Some(next) = self.walk.next_in_page() {
                return Ok(Some(next));
            }
            let Some(range) = self.walk.take_rest() else { return Ok(None) };
            self.next_page(draft, &range);
            draft.check_ground(core)?;
        }
    }

    /// Fills the page from the front of `range`: what the index has, less what the transaction changed, and what it put.
    fn next_page(&mut self, draft: &Draft, range: &KeyRange) {
        let reverse = self.walk.is_reverse();
        let page_len = self.walk.page_len();
        let mut newest = Vec::with_capacity(page_len);
        self.documents.index.page(range, reverse, page_len, &mut newest);
        let covered = self.walk.cover(range, &newest);
        let untouched = newest.into_iter().filter(|(key, _)| !self.changes.contains_key(key));
        let mut page: Vec<_> = untouched.map(|(key, entry)| (key, Place::Log(entry))).collect();
        if !self.changes.is_empty() && !covered.is_empty() {
            let put =
                self.changes.range((covered.from, covered.to)).filter(|(_, number)| draft.is_put(**number));
            page.extend(put.map(|(key, number)| (key.clone(), Place::Change(*number))));
            page.sort_by(|(a, _), (b, _)| if reverse { b.cmp(a) } else { a.cmp(b) });
        }
        self.walk.fill(page);
    }
}
