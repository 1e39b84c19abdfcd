//! Indexes after an opening: the checkpoint's entries, less what the log has changed since, and what it brought (spec: I-8).

use std::collections::BTreeMap;

use crate::document::{Key, KeyRef, RawDocument};
use crate::error::{Corruption, Error, Result};
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

/// An index that is to be that of the newest state, and what its entries change by as far as was noted.
struct Behind {
    index: Arc<Indexing>,
    /// Whether it is to be built anew: what documents were before cannot be told, or it has nothing yet.
    is_lost: bool,
    gone: Run,
    come: Run,
}

/// A document that was read, if there is one; or the damage that it was found with.
type Read = std::result::Result<Option<Located>, Corruption>;

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
            let is_new = index.entries().id > last_id && !seeded::is_on(Bug::CreatedInLogNotBuilt);
            let is_lost = is_new || index.entries().is_made_anew();
            let behind = Behind { index, is_lost, gone: Run::default(), come: Run::default() };
            collections.entry(behind.index.of).or_default().push(behind);
        }
        for (of, mut indexes) in collections {
            let Some(naming) = read(&self.catalog).by_id(of).cloned() else { continue };
            let documents = &naming.documents;
            if !indexes.iter().all(|behind| behind.is_lost) {
                for (key, was) in changed.get(&of).into_iter().flatten() {
                    self.catch_up_with(&mut indexes, documents, key.as_ref(), *was)?;
                }
            }
            for behind in &mut indexes {
                if behind.is_lost {
                    self.build_anew(&behind.index, documents)?;
                } else {
                    self.change(behind);
                }
            }
        }
        Ok(())
    }

    /// Notes what the entries of a document, which was at `was`, change by.
    fn catch_up_with(
        &self,
        indexes: &mut [Behind],
        documents: &Documents,
        key: KeyRef<'_>,
        was: Option<Entry>,
    ) -> Result<()> {
        let (mut before, mut after) = (EntryList::default(), EntryList::default());
        let was = was.filter(|_| !seeded::is_on(Bug::RemovalLostInReplay));
        let old = self.read_at(documents, key, was)?;
        let new = self.read_at(documents, key, documents.index.get(key))?;
        for behind in indexes.iter_mut().filter(|behind| !behind.is_lost) {
            if let [Ok(Some(old)), Ok(Some(new))] = [&old, &new] {
                let both = [old, new].map(|located| RawDocument::from_verified(located.body()));
                // Most updates leave most of what is indexed.
                if behind.index.definition.definition.sees_the_same(both[0], both[1]) {
                    continue;
                }
            }
            before.clear();
            after.clear();
            if self.entries_of(&behind.index, key, &old, &mut before)?.is_err() {
                behind.is_lost = true;
                continue;
            }
            self.entries_of(&behind.index, key, &new, &mut after)?
                .unwrap_or_else(|damage| behind.index.entries().set_damage(damage));
            for difference in before.diff(&after) {
                match difference {
                    Difference::There(entry) => behind.come.push(entry),
                    Difference::Here(entry) => behind.gone.push(entry),
                }
            }
            if behind.gone.memory_bytes() + behind.come.memory_bytes() >= self.options.check.build_run_bytes {
                self.change(behind);
            }
        }
        Ok(())
    }

    /// Changes the entries of an index as was noted, in their order.
    fn change(&self, behind: &mut Behind) {
        let (mut gone, mut come) = (std::mem::take(&mut behind.gone), std::mem::take(&mut behind.come));
        gone.sort();
        come.sort();
        let entries = behind.index.entries();
        // In the log that was replayed: no older checkpoint has them.
        let at = Entry::new(LogAddress(self.visibility.settled(|visible| visible.address.0) - 1), false);
        for entry in gone.take(usize::MAX) {
            let key = KeyRef::Bytes(entry);
            let is_unknown = entries.is_unknown(key);
            if entries.remove(key, at.address()).is_some() || is_unknown {
                // A count that is too low comes out when the leaves are read.
                entries.set_newest_len(entries.newest_len().saturating_sub(1));
            }
        }
        come.take(usize::MAX).for_each(|entry| self.enter(entries, entry, at));
    }

    /// The document at `entry`, if there is one; or why that cannot be told.
    fn read_at(&self, documents: &Documents, key: KeyRef<'_>, entry: Option<Entry>) -> Result<Read> {
        match entry.map(|entry| self.locate(documents.id, key, entry)).transpose() {
            Err(Error::Corrupt(damage)) => Ok(Err(damage)),
            read => read.map(Ok),
        }
    }

    //= spec/index.md#i-8-2-damage
    //# A reader MUST then refuse what asks the index as `Corrupt`, and go on with the documents.
    /// What a document gives, if there is one; or why that cannot be told.
    fn entries_of(
        &self,
        index: &Indexing,
        key: KeyRef<'_>,
        document: &Read,
        out: &mut EntryList,
    ) -> Result<Result<(), Corruption>> {
        let located = match document {
            Ok(Some(located)) => located,
            Ok(None) => return Ok(Ok(())),
            Err(damage) => return Ok(Err(damage.clone())),
        };
        let document = RawDocument::from_verified(located.body());
        let made = index.definition.definition.entries(document, key, self.entry_limits(), out);
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
                let document = self.read_at(documents, key, Some(*entry))?;
                self.entries_of(index, key, &document, &mut list)?
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
