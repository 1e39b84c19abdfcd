//! Indexes after an opening: the checkpoint's entries, less what the log has changed since, and what it brought (spec: I-8).

use std::collections::BTreeMap;

use crate::document::{Key, KeyRef, RawDocument};
use crate::error::{Error, Result};
use crate::format::LogAddress;
use crate::index::{Documents, Entries, Entry, Indexing, KeyRange, PrimaryIndex};
use crate::secondary::{Difference, EntryList, Run};
use crate::seeded::{self, Bug};
use crate::sync::{Arc, read};

use super::super::read::Located;
use super::super::shared::Shared;
use super::untold;

/// The documents of indexed collections that a replayed log has changed, by the id of the collection: where each was before.
pub(crate) type Changed = BTreeMap<u32, BTreeMap<Key, Option<Entry>>>;

/// An index, and what its entries are to change by as far as was noted.
struct Behind {
    index: Arc<Indexing>,
    gone: Run,
    come: Run,
}

/// Keys looked at at a time.
const AT_ONCE: usize = 1024;

impl Shared {
    //= spec/index.md#i-8-1-entries-are-not-logged
    //# A reader that replays a log MUST make the entries those of the state to which it leads (I-2.3).
    //= spec/index.md#i-8-2-damage
    //# When a record that replay needs for the entries alone does not verify, the reader MUST build the index anew
    //# from the documents and MUST NOT take the file for corrupt for that.
    /// Makes every index that of the newest state. Those whose ids are above `last_id` began in the log that was replayed.
    pub(in crate::core) fn catch_up(&self, changed: &Changed, last_id: u32) -> Result<()> {
        let mut collections: BTreeMap<u32, Vec<Behind>> = BTreeMap::new();
        for index in read(&self.catalog).current_indexes() {
            if index.entries().id > last_id && !seeded::is_on(Bug::CreatedInLogNotBuilt) {
                index.entries().set_made_anew(true);
            }
            let behind = Behind { index, gone: Run::default(), come: Run::default() };
            collections.entry(behind.index.of).or_default().push(behind);
        }
        for (of, mut indexes) in collections {
            let Some(naming) = read(&self.catalog).by_id(of).cloned() else { continue };
            let lists = &mut (EntryList::default(), EntryList::default());
            for (key, was) in changed.get(&of).into_iter().flatten() {
                self.catch_up_with(&mut indexes, &naming.documents, (key.as_ref(), *was), lists)?;
            }
            for behind in &mut indexes {
                if behind.index.entries().is_made_anew() {
                    self.build_anew(behind, &naming.documents)?;
                }
                self.change(behind, 0);
            }
        }
        Ok(())
    }

    /// Notes what the entries of a document, which was at `was`, change by. Where that cannot be told, the index is to
    /// be built anew.
    fn catch_up_with(
        &self,
        indexes: &mut [Behind],
        documents: &Documents,
        (key, was): (KeyRef<'_>, Option<Entry>),
        (before, after): &mut (EntryList, EntryList),
    ) -> Result<()> {
        // Together they gather no more than a build does.
        let from_bytes = self.options.check.build_run_bytes / indexes.len().max(1);
        let mut kept = indexes.iter_mut().filter(|behind| !behind.index.entries().is_made_anew()).peekable();
        if kept.peek().is_none() {
            return Ok(());
        }
        let read_at = |at: Option<Entry>| at.map(|at| self.locate(documents.id, key, at)).transpose();
        let old = read_at(was.filter(|_| !seeded::is_on(Bug::RemovalLostInReplay)));
        let new = read_at(documents.index.get(key));
        for behind in kept {
            if let [Ok(Some(old)), Ok(Some(new))] = [&old, &new] {
                let [old, new] = [old, new].map(|located| RawDocument::from_verified(located.body()));
                // Most updates leave most of what is indexed.
                if behind.index.definition.definition.sees_the_same(old, new) {
                    continue;
                }
            }
            before.clear();
            after.clear();
            let entries = behind.index.entries();
            match self.entries_of(&behind.index, key, &old, before) {
                Err(Error::Corrupt(_)) => {
                    entries.set_made_anew(true);
                    continue;
                }
                made => made?,
            }
            self.entries_of(&behind.index, key, &new, after).or_else(|error| entries.note_damage(error))?;
            for difference in before.diff(after) {
                match difference {
                    Difference::There(entry) => behind.come.push(entry),
                    Difference::Here(entry) => behind.gone.push(entry),
                }
            }
            self.change(behind, from_bytes);
        }
        Ok(())
    }

    /// Changes the entries of an index by what was noted, in their order, once it takes so many bytes.
    fn change(&self, behind: &mut Behind, from_bytes: usize) {
        if behind.gone.memory_bytes() + behind.come.memory_bytes() < from_bytes {
            return;
        }
        let (mut gone, mut come) = (std::mem::take(&mut behind.gone), std::mem::take(&mut behind.come));
        gone.sort();
        come.sort();
        let entries = behind.index.entries();
        // At the end of what was read: no checkpoint has them yet.
        let at = Entry::new(LogAddress(self.visibility.settled(|visible| visible.address.0) - 1), false);
        entries.remove_all(gone.take(usize::MAX), at.address());
        entries.enter_all(come.take(usize::MAX), at);
    }

    //= spec/index.md#i-8-2-damage
    //# A reader MUST then refuse what asks the index as `Corrupt`, and go on with the documents.
    /// What a document gives, if there is one; `Corrupt` where that cannot be told.
    fn entries_of(
        &self,
        index: &Indexing,
        key: KeyRef<'_>,
        document: &Result<Option<Located>>,
        out: &mut EntryList,
    ) -> Result<()> {
        let Some(located) = document.as_ref().map_err(Error::clone)? else { return Ok(()) };
        let document = RawDocument::from_verified(located.body());
        index.definition.definition.entries(document, key, self.entry_limits(), out).map_err(untold)
    }

    //= spec/format.md#f-8-10-indexes
    //# A reader MUST build it anew from the documents.
    /// Takes all entries from the documents. Where one of these is damaged, the entries cannot be told.
    fn build_anew(&self, behind: &mut Behind, documents: &Documents) -> Result<()> {
        let index = Arc::clone(&behind.index);
        let entries = index.entries();
        entries.take_entries(&Documents::new(0, self.options.layout()));
        (behind.gone, behind.come) = (Run::default(), Run::default());
        let (mut range, mut page, mut list) = (KeyRange::all(), Entries::default(), EntryList::default());
        loop {
            page.clear();
            if let Err(error) = self.page(documents, &range, false, AT_ONCE, &mut page) {
                return entries.note_damage(error);
            }
            for (key, entry) in page.iter() {
                list.clear();
                let document = self.locate(documents.id, key, *entry).map(Some);
                self.entries_of(&index, key, &document, &mut list)
                    .or_else(|error| entries.note_damage(error))?;
                list.iter().for_each(|entry| behind.come.push(entry));
                self.change(behind, self.options.check.build_run_bytes);
            }
            let Some(last) = page.last_key().map(KeyRef::to_key) else { return Ok(()) };
            range = range.beyond(&last, false);
        }
    }
}
