//! Scans: a walk over a key range of one state.

use crate::document::{Key, KeyRef};
use crate::error::{Error, Result};
use crate::index::{Documents, Entries, Entry, Item, KeyRange, Naming, State};
use crate::sync::race::{self, Race};
use crate::sync::{Arc, read};
use crate::txn::Registered;

use super::ahead::Ahead;
use super::walk::Walk;
use super::{Located, Shared};

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

    /// Begins anew, with another range.
    pub(crate) fn begin(&mut self, range: KeyRange) {
        self.ahead.clear();
        self.walk = Walk::new(range);
    }

    /// The collection that is walked.
    pub(crate) fn naming(&self) -> &Arc<Naming> {
        &self.naming
    }

    /// The snapshot that the walk holds.
    pub(crate) fn snapshot(&self) -> &Arc<Registered> {
        &self.snapshot
    }

    /// The bytes of the key that the walk came to last, if that is a byte string.
    #[inline]
    pub(crate) fn met_bytes(&self) -> &[u8] {
        self.walk.met_bytes()
    }

    /// Passes the next keys at hand as long as they begin so, as the byte string does that the walk met last; with `all`,
    /// those that are not at hand too. Returns how many were at hand. The walk must go upwards.
    pub(crate) fn pass(&mut self, beginning: &[u8], all: bool) -> usize {
        self.ahead.clear();
        self.walk.pass(beginning, all)
    }

    /// Walks what is left from its other end.
    pub(crate) fn reverse(&mut self) {
        self.ahead.clear();
        self.walk.reverse();
    }

    /// Passes what does not lie behind `key`, in the direction of the walk.
    pub(crate) fn go_behind(&mut self, key: &Key) {
        self.ahead.clear();
        self.walk.go_behind(key);
    }
}

impl Shared {
    /// Holds the visible state, for the store's own use: it has no age.
    pub(crate) fn register(&self) -> Arc<Registered> {
        Arc::new(Registered::new(&self.visibility, None))
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
    #[inline]
    pub(crate) fn next_entry<'c>(&self, cursor: &'c mut Cursor) -> Result<Option<(KeyRef<'c>, Entry)>> {
        cursor.ahead.clear();
        let Some(next) = self.step(cursor)? else { return Ok(None) };
        cursor.snapshot.check_live()?;
        Ok(Some((cursor.walk.key(&next), next.value)))
    }

    /// The next item of the walk. Whether the snapshot was live is for the caller to ask.
    #[inline(always)]
    fn step(&self, cursor: &mut Cursor) -> Result<Option<Item<Entry>>> {
        let next = cursor.walk.next_in_page();
        if next.is_some() { Ok(next) } else { self.first_of_next_page(cursor) }
    }

    /// What is left of the page that the walk stands in, or else the next one; none where the walk is over. And from where on it is left.
    pub(super) fn rest_of_page(&self, cursor: &mut Cursor) -> Result<Option<(Entries, usize)>> {
        cursor.ahead.clear();
        while cursor.walk.left_in_page().is_empty() {
            if !self.turn_page(cursor)? {
                return Ok(None);
            }
        }
        Ok(Some(cursor.walk.take_page()))
    }

    /// The walk has gone through this page, which it gave away. Its memory does for the next one.
    pub(super) fn gone_through(cursor: &mut Cursor, mut page: Entries) {
        page.clear();
        cursor.walk.fill(page);
    }

    #[cold]
    fn first_of_next_page(&self, cursor: &mut Cursor) -> Result<Option<Item<Entry>>> {
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

    /// How many keys the walk has left, `most` of them at most; none where the index does not have just what
    /// the walk's state has, so that only going through them tells.
    pub(crate) fn count_left(&self, cursor: &Cursor, most: u64) -> Result<Option<u64>> {
        let state = cursor.snapshot.state();
        let settled = self.visibility.settled_in(state);
        if settled.is_none() {
            return Ok(None);
        }
        let count = |rest| self.count_keys(&cursor.naming.documents, rest, most);
        let rest = cursor.walk.rest.as_ref().map_or(Ok(0), count)?;
        cursor.snapshot.check_live()?;
        let is_still = race::is_on(Race::CountNotAskedAgain) || self.visibility.settled_in(state) == settled;
        Ok(is_still.then(|| most.min(cursor.walk.left_in_page().len() as u64 + rest)))
    }

    /// The next document of the walk. A scan is this loop: each copy of what it makes costs as much as a part of the work.
    #[inline(always)]
    pub(crate) fn next_document(&self, cursor: &mut Cursor) -> Result<Option<Located>> {
        let Some(item) = self.step(cursor)? else { return Ok(None) };
        let (key, entry) = (cursor.walk.key(&item), item.value);
        let found = cursor.ahead.next(&self.log, entry, cursor.walk.left_in_page());
        let documents = &cursor.naming.documents;
        let located = match found {
            Ok(found) => self.locate_in(found, documents.id, key, entry),
            Err(error) => Err(error),
        };
        let located = located.or_else(|error| self.moved_on(cursor, key, error))?;
        cursor.snapshot.check_live().map(|()| Some(located))
    }

    /// The document at `entry`, which the walk met a while ago.
    pub(super) fn locate_again(&self, cursor: &Cursor, key: KeyRef<'_>, entry: Entry) -> Result<Located> {
        let located = self.locate(cursor.naming.documents.id, key, entry);
        located.or_else(|error| self.moved_on(cursor, key, error))
    }

    /// The document of `key`, which the walk met a while ago and does not find there: the record may have moved on since. If it did not,
    /// `error` says what is wrong.
    #[cold]
    fn moved_on(&self, cursor: &Cursor, key: KeyRef<'_>, error: Error) -> Result<Located> {
        let documents = &cursor.naming.documents;
        let found = self.get_at(&cursor.snapshot, documents, key)?;
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
        let mut seen = cursor.walk.emptied_page();
        self.page(documents, range, reverse, page_len, &mut seen)?;
        let last = cursor.walk.cover(range, &seen);
        self.keep_those_in(state, documents, &mut seen)?;
        let mut retained = Vec::new();
        if self.visibility.is_unsettled() {
            self.visibility.retained(state, documents.id, &range.up_to(last, reverse), &mut retained);
        }
        if self.visibility.take_backs() != take_backs {
            // A commit that is taken back gives the index back what was retained of it, between the two looks.
            cursor.walk.rest = Some(range.clone());
            return Ok(());
        }
        if !retained.is_empty() {
            // A state holds one version of a key. Superseded between the two looks, it was met in both.
            retained.iter().for_each(|(key, entry)| seen.push(key.as_ref(), *entry));
            seen.put_in_order(0, reverse);
        }
        cursor.walk.fill(seen);
        Ok(())
    }

    /// Takes out of `entries`, which the index had a moment ago, what does not belong to `state`.
    fn keep_those_in(&self, state: State, documents: &Documents, entries: &mut Entries) -> Result<()> {
        // Most pages stay whole, and are not gone through twice.
        if entries.items().iter().all(|item| item.value.address() < state.address) {
            return Ok(());
        }
        *entries = std::mem::take(entries).try_filter_map(|key, entry| match self.is_in(state, entry) {
            Ok(is_in) => Ok(is_in.then_some(entry)),
            // It may have moved on between the two looks.
            Err(_) => self.entry_at(state, documents, key),
        })?;
        Ok(())
    }
}
