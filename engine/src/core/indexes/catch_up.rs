//! Indexes after an opening: the checkpoint's entries, less what the log has changed since, and what it brought (spec: I-8).

use std::collections::BTreeMap;

use crate::document::{Key, KeyRef, RawDocument};
use crate::error::{Corruption, Error, Result};
use crate::format::LogAddress;
use crate::index::{Documents, Entries, Entry, Indexing, KeyRange, PrimaryIndex};
use crate::secondary::{Difference, EntryList, Run};
use crate::seeded::{self, Bug};
use crate::sync::read;

use super::super::shared::Shared;
use super::untold;

/// The documents of indexed collections that a replayed log has changed, by the id of the collection: where each was before.
pub(crate) type Changed = BTreeMap<u32, BTreeMap<Key, Option<Entry>>>;

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
        let indexes = read(&self.catalog).current_indexes();
        for index in indexes {
            let Some(naming) = read(&self.catalog).by_id(index.of).cloned() else { continue };
            let documents = &naming.documents;
            let is_new = index.entries().id > last_id && !seeded::is_on(Bug::CreatedInLogNotBuilt)
                || index.entries().is_made_anew();
            let changed = changed.get(&index.of);
            if is_new || !self.catch_up_one(&index, documents, changed)? {
                self.build_anew(&index, documents)?;
            }
        }
        Ok(())
    }

    /// Whether what the documents were before could be told.
    fn catch_up_one(
        &self,
        index: &Indexing,
        documents: &Documents,
        changed: Option<&BTreeMap<Key, Option<Entry>>>,
    ) -> Result<bool> {
        let (mut before, mut after) = (EntryList::default(), EntryList::default());
        let (mut here, mut there) = (Run::default(), Run::default());
        for (key, was) in changed.into_iter().flatten() {
            before.clear();
            after.clear();
            let was = was.filter(|_| !seeded::is_on(Bug::RemovalLostInReplay));
            let is = documents.index.get(key.as_ref());
            if was.zip(is).is_some_and(|both| self.has_the_same(index, documents, key.as_ref(), both)) {
                continue;
            }
            if self.entries_at(index, documents, key.as_ref(), was, &mut before)?.is_err() {
                return Ok(false);
            }
            self.entries_at(index, documents, key.as_ref(), is, &mut after)?
                .unwrap_or_else(|damage| index.entries().set_damage(damage));
            for difference in before.diff(&after) {
                match difference {
                    Difference::There(entry) => there.push(entry),
                    Difference::Here(entry) => here.push(entry),
                }
            }
            if here.memory_bytes() + there.memory_bytes() >= self.options.check.build_run_bytes {
                self.change(index, (&mut here, &mut there));
            }
        }
        self.change(index, (&mut here, &mut there));
        Ok(true)
    }

    /// Takes the first of these from the entries of an index, and enters the others, both in their order.
    fn change(&self, index: &Indexing, (gone, come): (&mut Run, &mut Run)) {
        let entries = index.entries();
        // In the log that was replayed: no older checkpoint has them.
        let at = Entry::new(LogAddress(self.visibility.settled(|visible| visible.address.0) - 1), false);
        for run in [&mut *gone, &mut *come] {
            run.sort();
        }
        for entry in gone.take(usize::MAX) {
            let key = KeyRef::Bytes(entry);
            let is_unknown = entries.is_unknown(key);
            if entries.remove(key, at.address()).is_some() || is_unknown {
                // A count that is too low comes out when the leaves are read.
                entries.set_newest_len(entries.newest_len().saturating_sub(1));
            }
        }
        come.take(usize::MAX).for_each(|entry| self.enter(entries, entry, at));
        (*gone, *come) = (Run::default(), Run::default());
    }

    /// Whether an index has the same of two versions of the document of `key`, as far as their bytes tell at once.
    fn has_the_same(
        &self,
        index: &Indexing,
        documents: &Documents,
        key: KeyRef<'_>,
        both: (Entry, Entry),
    ) -> bool {
        let located = [both.0, both.1].map(|entry| self.locate(documents.id, key, entry));
        let [Ok(one), Ok(other)] = &located else { return false };
        let [one, other] = [one, other].map(|located| RawDocument::from_verified(located.body()));
        index.definition.definition.sees_the_same(one, other)
    }

    //= spec/index.md#i-8-2-damage
    //# A reader MUST then refuse what asks the index as `Corrupt`, and go on with the documents.
    /// What the document at `entry` gives, if there is one; or why that cannot be told.
    fn entries_at(
        &self,
        index: &Indexing,
        documents: &Documents,
        key: KeyRef<'_>,
        entry: Option<Entry>,
        out: &mut EntryList,
    ) -> Result<Result<(), Corruption>> {
        let Some(entry) = entry else { return Ok(Ok(())) };
        let made = self.locate(documents.id, key, entry).and_then(|located| {
            let document = RawDocument::from_verified(located.body());
            index.definition.definition.entries(document, key, self.entry_limits(), out)
        });
        match made.map_err(untold) {
            Err(Error::Corrupt(damage)) => Ok(Err(damage)),
            made => made.map(Ok),
        }
    }

    //= spec/format.md#f-8-10-indexes
    //# A reader MUST build it anew from the documents.
    /// Takes all entries from the documents. Where one of these is damaged, the entries cannot be told.
    fn build_anew(&self, index: &Indexing, documents: &Documents) -> Result<()> {
        index.entries().set_made_anew(true);
        index.entries().take_entries(&Documents::new(0, self.options.layout()));
        let (mut range, mut page) = (KeyRange::all(), Entries::default());
        let (mut list, mut run) = (EntryList::default(), Run::default());
        loop {
            if let Err(error) = self.page(documents, &range, false, AT_ONCE, &mut page) {
                let Error::Corrupt(damage) = error else { return Err(error) };
                index.entries().set_damage(damage);
                return Ok(());
            }
            for (key, entry) in page.iter() {
                list.clear();
                self.entries_at(index, documents, key, Some(*entry), &mut list)?
                    .unwrap_or_else(|damage| index.entries().set_damage(damage));
                list.iter().for_each(|entry| run.push(entry));
                if run.memory_bytes() >= self.options.check.build_run_bytes {
                    Self::enter_run(index, &mut run);
                }
            }
            let Some(last) = page.last_key().map(KeyRef::to_key) else {
                Self::enter_run(index, &mut run);
                return Ok(());
            };
            range = range.beyond(&last, false);
            page.clear();
        }
    }

    /// Enters what was gathered, all at once.
    fn enter_run(index: &Indexing, run: &mut Run) {
        run.sort();
        index.entries().enter_all(run.take(usize::MAX));
        *run = Run::default();
    }
}
