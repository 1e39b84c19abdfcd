//! Scans: a walk over a key range of one state, a page of the index at a time.

use std::ops::Bound;
use std::vec::IntoIter;

use crate::document::Key;
use crate::error::{Error, Result};
use crate::index::{Entry, KeyRange, Naming, PrimaryIndex, State};
use crate::sync::{Arc, read};
use crate::txn::Registered;

use super::{Core, Located};

/// Entries looked up at a time: enough that the index lock costs little, few enough that an early end does.
const PAGE_ENTRIES: usize = 256;

/// A walk in progress. It holds a snapshot, so it sees one state however long it takes.
#[derive(Debug)]
pub(crate) struct Cursor {
    snapshot: Arc<Registered>,
    naming: Arc<Naming>,
    /// What is left of the range; none when the index has no more.
    rest: Option<KeyRange>,
    reverse: bool,
    page: IntoIter<(Key, Entry)>,
}

impl Cursor {
    fn new(snapshot: Arc<Registered>, naming: Arc<Naming>, range: KeyRange) -> Self {
        Cursor { snapshot, naming, rest: Some(range), reverse: false, page: Vec::new().into_iter() }
    }

    /// The collection that is walked.
    pub(crate) fn naming(&self) -> &Arc<Naming> {
        &self.naming
    }

    /// The state that the walk sees.
    pub(crate) fn state(&self) -> State {
        self.snapshot.state()
    }

    /// Walks what is left from its other end.
    pub(crate) fn reverse(&mut self) {
        // The looked-up entries lie at the near end of what is left: they are put back.
        if let (Some((first, _)), Some((last, _))) =
            (self.page.as_slice().first(), self.page.as_slice().last())
        {
            let (low, high) = if self.reverse { (last, first) } else { (first, last) };
            let (low, high) = (Bound::Included(low.clone()), Bound::Included(high.clone()));
            let rest = self.rest.take();
            self.rest = Some(match rest {
                None => KeyRange { from: low, to: high },
                Some(rest) if self.reverse => KeyRange { from: rest.from, to: high },
                Some(rest) => KeyRange { from: low, to: rest.to },
            });
            self.page = Vec::new().into_iter();
        }
        self.reverse = !self.reverse;
    }
}

impl Core {
    /// Begins a walk over the visible state.
    pub(crate) fn cursor(&self, name: &str, range: KeyRange) -> Result<Cursor> {
        let snapshot = Arc::new(self.visibility.register());
        let found = read(&self.catalog).find_in(name, snapshot.state()).cloned();
        let naming = found.ok_or_else(|| Error::UnknownCollection { name: name.to_owned() })?;
        Ok(Cursor::new(snapshot, naming, range))
    }

    /// Begins a walk over every collection of the visible state.
    pub(crate) fn cursors(&self) -> Vec<Cursor> {
        let snapshot = Arc::new(self.visibility.register());
        let catalog = read(&self.catalog);
        let namings = catalog.in_state(snapshot.state());
        namings
            .map(|naming| Cursor::new(Arc::clone(&snapshot), Arc::clone(naming), KeyRange::all()))
            .collect()
    }

    /// The next key of the walk, and where its document stands.
    pub(crate) fn next_entry(&self, cursor: &mut Cursor) -> Result<Option<(Key, Entry)>> {
        loop {
            if let Some(next) = cursor.page.next() {
                return Ok(Some(next));
            }
            let Some(range) = cursor.rest.take() else { return Ok(None) };
            self.next_page(cursor, &range)?;
        }
    }

    /// The next document of the walk.
    pub(crate) fn next_document(&self, cursor: &mut Cursor) -> Result<Option<Located>> {
        let Some((key, entry)) = self.next_entry(cursor)? else { return Ok(None) };
        self.locate(&cursor.naming.documents, key.as_ref(), entry).map(Some)
    }

    /// Fills the cursor's page from the front of `range`.
    ///
    /// The index first, then the retained versions of the same keys: the writer retains a version before it takes it out of
    /// the index, so whatever the snapshot holds is met in the one or the other.
    fn next_page(&self, cursor: &mut Cursor, range: &KeyRange) -> Result<()> {
        let state = cursor.snapshot.state();
        let documents = &cursor.naming.documents;
        let mut newest = Vec::with_capacity(PAGE_ENTRIES);
        documents.index.page(range, cursor.reverse, PAGE_ENTRIES, &mut newest);
        let mut covered = range.clone();
        if newest.len() == PAGE_ENTRIES {
            let last = &newest[PAGE_ENTRIES - 1].0;
            cursor.rest = Some(range.beyond(last, cursor.reverse));
            covered = covered.up_to(last, cursor.reverse);
        }
        let mut seen = Vec::with_capacity(newest.len());
        for (key, entry) in newest {
            if self.birth(entry)?.is_within(state) {
                seen.push((key, entry));
            }
        }
        let current = seen.len();
        self.visibility.retained(state, documents.id, &covered, &mut seen);
        if seen.len() > current {
            // A state holds one version of a key. Superseded between the two looks, it was met in both.
            let order = |(a, _): &(Key, Entry), (b, _): &(Key, Entry)| {
                if cursor.reverse { b.cmp(a) } else { a.cmp(b) }
            };
            seen.sort_by(order);
            seen.dedup_by(|again, met| again.0 == met.0);
        }
        cursor.page = seen.into_iter();
        Ok(())
    }
}
