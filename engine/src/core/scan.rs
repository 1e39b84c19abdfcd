//! Scans: a walk over a key range of one state.

use crate::document::Key;
use crate::error::{Error, Result};
use crate::index::{Entry, KeyRange, Naming, PrimaryIndex, State};
use crate::sync::{Arc, read};
use crate::txn::Registered;

use super::walk::{PAGE_ENTRIES, Walk};
use super::{Core, Located};

/// A walk in progress. It holds a snapshot, so it sees one state however long it takes.
#[derive(Debug)]
pub(crate) struct Cursor {
    snapshot: Arc<Registered>,
    naming: Arc<Naming>,
    walk: Walk<Entry>,
}

impl Cursor {
    pub(crate) fn new(snapshot: Arc<Registered>, naming: Arc<Naming>, range: KeyRange) -> Self {
        Cursor { snapshot, naming, walk: Walk::new(range) }
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
        self.walk.reverse();
    }
}

impl Core {
    /// Holds the visible state.
    pub(crate) fn register(&self) -> Arc<Registered> {
        Arc::new(self.visibility.register())
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
        loop {
            if let Some(next) = cursor.walk.next_in_page() {
                return Ok(Some(next));
            }
            let Some(range) = cursor.walk.take_rest() else { return Ok(None) };
            self.next_page(cursor, &range)?;
            cursor.snapshot.check_live()?;
        }
    }

    /// The next document of the walk.
    pub(crate) fn next_document(&self, cursor: &mut Cursor) -> Result<Option<Located>> {
        let Some((key, entry)) = self.next_entry(cursor)? else { return Ok(None) };
        self.locate(cursor.naming.documents.id, key.as_ref(), entry).map(Some)
    }

    /// Fills the cursor's page from the front of `range`.
    fn next_page(&self, cursor: &mut Cursor, range: &KeyRange) -> Result<()> {
        loop {
            let take_backs = self.visibility.take_backs();
            let page = self.page(cursor, range)?;
            // What a commit has superseded goes back into the index where the commit is taken back: missed there before, and among
            // what is retained after, it would have been met in neither.
            if self.visibility.take_backs() == take_backs {
                cursor.walk.fill(page);
                return Ok(());
            }
            let _ = cursor.walk.take_rest();
        }
    }

    /// What the snapshot has at the front of `range`.
    ///
    /// The index first, then the retained versions of the same keys: the writer retains a version before it takes it out of
    /// the index, so whatever the snapshot holds is met in the one or the other.
    fn page(&self, cursor: &mut Cursor, range: &KeyRange) -> Result<Vec<(Key, Entry)>> {
        let state = cursor.snapshot.state();
        let documents = &cursor.naming.documents;
        let reverse = cursor.walk.is_reverse();
        let mut newest = Vec::with_capacity(PAGE_ENTRIES);
        documents.index.page(range, reverse, PAGE_ENTRIES, &mut newest);
        let covered = cursor.walk.cover(range, &newest);
        let mut seen = Vec::with_capacity(newest.len());
        for (key, entry) in newest {
            if self.is_in(state, entry)? {
                seen.push((key, entry));
            }
        }
        let current = seen.len();
        self.visibility.retained(state, documents.id, &covered, &mut seen);
        if seen.len() > current {
            // A state holds one version of a key. Superseded between the two looks, it was met in both.
            let order =
                |(a, _): &(Key, Entry), (b, _): &(Key, Entry)| if reverse { b.cmp(a) } else { a.cmp(b) };
            seen.sort_by(order);
            seen.dedup_by(|again, met| again.0 == met.0);
        }
        Ok(seen)
    }
}
