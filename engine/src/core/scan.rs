//! Scans: a walk over a key range of one state.

use std::vec::IntoIter;

use crate::document::Key;
use crate::error::{Error, Result};
use crate::index::{Documents, Entry, KeyRange, Naming, PrimaryIndex, State};
use crate::sync::{Arc, Instant, read};
use crate::txn::Registered;

use super::ahead::Ahead;
use super::walk::Walk;
use super::{Core, Located};

/// A walk in progress. It holds a snapshot, so it sees one state however long it takes.
#[derive(Debug)]
pub(crate) struct Cursor {
    snapshot: Arc<Registered>,
    naming: Arc<Naming>,
    walk: Walk<Entry>,
    ahead: Ahead,
}

impl Cursor {
    pub(crate) fn new(snapshot: Arc<Registered>, naming: Arc<Naming>, range: KeyRange) -> Self {
        Cursor { snapshot, naming, walk: Walk::new(range), ahead: Ahead::default() }
    }

    /// The collection that is walked.
    pub(crate) fn naming(&self) -> &Arc<Naming> {
        &self.naming
    }

    /// The snapshot that the walk holds.
    pub(crate) fn snapshot(&self) -> &Arc<Registered> {
        &self.snapshot
    }

    /// Walks what is left from its other end.
    pub(crate) fn reverse(&mut self) {
        self.ahead.clear();
        self.walk.reverse();
    }
}

impl Core {
    /// Holds the visible state, for the store's own use: it has no age.
    pub(crate) fn register(&self) -> Arc<Registered> {
        Arc::new(self.visibility.register(None))
    }

    /// As [`register`](Self::register), for a caller whose snapshot's age begins at `taken`.
    pub(crate) fn register_at(&self, taken: Instant) -> Arc<Registered> {
        Arc::new(self.visibility.register(Some(taken)))
    }

    /// The snapshots that callers hold, the oldest first: id, when it was taken, state.
    pub(crate) fn aged_snapshots(&self) -> Vec<(u64, Instant, State)> {
        self.visibility.aged()
    }

    /// What `name` means in a state.
    pub(crate) fn naming_in(&self, state: State, name: &str) -> Result<Arc<Naming>> {
        let found = read(&self.catalog).find_in(name, state).cloned();
        found.ok_or_else(|| Error::UnknownCollection { name: name.to_owned() })
    }

    /// The collections of a state, in the order of their names.
    pub(crate) fn namings_in(&self, state: State) -> Vec<Arc<Naming>> {
        let mut namings: Vec<_> = read(&self.catalog).in_state(state).cloned().collect();
        namings.sort_by(|a, b| a.name.cmp(&b.name));
        namings
    }

    /// Begins a walk over every collection of the visible state.
    pub(crate) fn cursors(&self) -> Vec<Cursor> {
        let snapshot = self.register();
        let namings = self.namings_in(snapshot.state()).into_iter();
        namings.map(|naming| Cursor::new(Arc::clone(&snapshot), naming, KeyRange::all())).collect()
    }

    /// The next key of the walk, and where its document stands.
    pub(crate) fn next_entry(&self, cursor: &mut Cursor) -> Result<Option<(Key, Entry)>> {
        cursor.ahead.clear();
        match cursor.walk.next_in_page() {
            Some(next) => cursor.snapshot.check_live().map(|()| Some(next)),
            None => self.first_of_next_page(cursor),
        }
    }

    /// What is left of the page that the walk stands in, or else the next one; none where the walk is over.
    pub(super) fn rest_of_page(&self, cursor: &mut Cursor) -> Result<Option<IntoIter<(Key, Entry)>>> {
        cursor.ahead.clear();
        loop {
            let page = cursor.walk.take_page();
            if !page.as_slice().is_empty() {
                return Ok(Some(page));
            }
            if !self.turn_page(cursor)? {
                return Ok(None);
            }
        }
    }

    #[cold]
    fn first_of_next_page(&self, cursor: &mut Cursor) -> Result<Option<(Key, Entry)>> {
        while self.turn_page(cursor)? {
            if let Some(next) = cursor.walk.next_in_page() {
                return Ok(Some(next));
            }
        }
        Ok(None)
    }

    /// Looks the next page up, which may turn out empty; false where the walk is over.
    fn turn_page(&self, cursor: &mut Cursor) -> Result<bool> {
        let Some(range) = cursor.walk.take_rest() else { return Ok(false) };
        self.next_page(cursor, &range)?;
        cursor.snapshot.check_live()?;
        Ok(true)
    }

    /// The next document of the walk. A scan is this loop: each copy of what it makes costs as much as a part of the work.
    #[inline(always)]
    pub(crate) fn next_document(&self, cursor: &mut Cursor) -> Result<Option<Located>> {
        let (key, entry) = match cursor.walk.next_in_page() {
            Some(next) => next,
            None => match self.first_of_next_page(cursor)? {
                Some(first) => first,
                None => return Ok(None),
            },
        };
        let found = cursor.ahead.next(&self.log, entry, cursor.walk.left_in_page());
        let documents = &cursor.naming.documents;
        let located = found.and_then(|found| self.locate_in(found, documents.id, key.as_ref(), entry));
        let located = located.or_else(|error| self.moved_on(cursor, &key, error))?;
        cursor.snapshot.check_live().map(|()| Some(located))
    }

    /// The document at `entry`, which the walk met a while ago.
    pub(super) fn locate_again(&self, cursor: &Cursor, key: &Key, entry: Entry) -> Result<Located> {
        let located = self.locate(cursor.naming.documents.id, key.as_ref(), entry);
        located.or_else(|error| self.moved_on(cursor, key, error))
    }

    /// The document of `key`, which the walk met a while ago and does not find there: the record may have moved on since. If it did not,
    /// `error` says what is wrong.
    #[cold]
    fn moved_on(&self, cursor: &Cursor, key: &Key, error: Error) -> Result<Located> {
        let documents = &cursor.naming.documents;
        let found = self.get_at(&cursor.snapshot, documents, key.as_ref())?;
        // What a live snapshot has met it has still.
        found.ok_or(error)
    }

    //= spec/semantics.md#s-5-3-order-of-a-scan
    //# A scan MUST answer the keys and documents of one state in the order of the keys, ascending, or
    //# descending when asked to.
    /// Fills the cursor's page from the front of `range`.
    ///
    /// The index first, then the retained versions of the same keys: the writer retains a version before it takes it out of
    /// the index, so whatever the snapshot holds is met in the one or the other.
    fn next_page(&self, cursor: &mut Cursor, range: &KeyRange) -> Result<()> {
        let state = cursor.snapshot.state();
        let documents = &cursor.naming.documents;
        let reverse = cursor.walk.is_reverse();
        let take_backs = self.visibility.take_backs();
        let page_len = cursor.walk.page_len();
        let mut seen = Vec::with_capacity(page_len);
        documents.index.page(range, reverse, page_len, &mut seen);
        let covered = cursor.walk.cover(range, &seen);
        self.keep_those_in(state, documents, &mut seen)?;
        let current = seen.len();
        self.visibility.retained(state, documents.id, &covered, &mut seen);
        if self.visibility.take_backs() != take_backs {
            // A commit that is taken back gives the index back what was retained of it, between the two looks.
            cursor.walk.begin_again(range.clone());
            return Ok(());
        }
        if seen.len() > current {
            // A state holds one version of a key. Superseded between the two looks, it was met in both.
            let order =
                |(a, _): &(Key, Entry), (b, _): &(Key, Entry)| if reverse { b.cmp(a) } else { a.cmp(b) };
            seen.sort_by(order);
            seen.dedup_by(|again, met| again.0 == met.0);
        }
        cursor.walk.fill(seen);
        Ok(())
    }

    /// Takes out of `entries`, which the index had a moment ago, what does not belong to `state`.
    fn keep_those_in(
        &self,
        state: State,
        documents: &Documents,
        entries: &mut Vec<(Key, Entry)>,
    ) -> Result<()> {
        // Most pages stay whole, and are not gone through twice.
        if entries.iter().all(|(_, entry)| entry.address() < state.address) {
            return Ok(());
        }
        for (key, entry) in std::mem::take(entries) {
            match self.is_in(state, entry) {
                Ok(true) => entries.push((key, entry)),
                Ok(false) => {}
                // It may have moved on between the two looks.
                Err(_) => {
                    let again = self.entry_at(state, documents, key.as_ref())?;
                    entries.extend(again.map(|entry| (key, entry)));
                }
            }
        }
        Ok(())
    }
}
