//! What a write makes of the entries of its collection's indexes, and whether it may (spec: I-2, I-3).

use std::collections::BTreeMap;

use crate::document::{Key, KeyRef, RawDocument};
use crate::error::{Error, Result};
use crate::index::{Documents, KeyRange, Target};
use crate::log::EntryChange;
use crate::secondary::{Difference, EntryLimits, EntryList, IndexDefinition, Tuple};
use crate::seeded::{self, Bug};

use super::super::read::Located;
use super::super::shared::Shared;
use super::entry_overlay::{BeforeAndAfter, each_indexed, indexed};
use super::txn::{DocumentAt, WriteTxn};

impl WriteTxn {
    /// Notes what a put of `body`, or a delete, under `key` makes of the entries of the collection's indexes. The document that was there
    /// is at `place`, and is `found` where the call has read it. The change itself comes next.
    pub(super) fn note_entries(
        &mut self,
        collection: u32,
        key: KeyRef<'_>,
        (place, found): (Option<DocumentAt>, Option<&[u8]>),
        body: Option<&[u8]>,
    ) -> Result<()> {
        let touched = &self.batch.collections[collection as usize];
        let (documents, targets) = (touched.documents.clone(), touched.targets.clone());
        let limits = self.shared.entry_limits();
        let read = match (found, place) {
            (None, Some(place)) => self.locate(&documents, key, place).map(Some),
            _ => Ok(None),
        };
        let old = read.as_ref().map(|read| read.as_ref().map(Located::body).or(found));
        let stays = match (old, body) {
            (Ok(Some(old)), Some(body)) => Some([old, body].map(RawDocument::from_verified)),
            _ => None,
        };
        let made = self.batch.entries.len();
        let mut lists = std::mem::take(&mut self.lists);
        let done = targets.iter().flat_map(|targets| targets.iter()).try_for_each(|target| {
            if !target.covers(key) || target.building.is_some() && seeded::is_on(Bug::BuildMissesWrites) {
                return Ok(());
            }
            let definition = &target.definition.definition;
            // Most updates leave most of what is indexed.
            let is_left = stays.is_some_and(|[old, new]| definition.sees_the_same(old, new));
            if is_left && target.entries.damage().is_none() {
                return Ok(());
            }
            let BeforeAndAfter { before, after } = &mut lists;
            before.clear();
            after.clear();
            match old {
                Ok(Some(old)) => {
                    let made = definition.entries(RawDocument::from_verified(old), key, limits, before);
                    target.entries.unless_damaged(made)?;
                }
                Ok(None) => {}
                // What was gathered of the document is not to be told apart.
                Err(Error::Corrupt(_) | Error::Io { .. }) if target.ends_build() => return Ok(()),
                // What the document was cannot be told any more; what the index has of it can.
                Err(Error::Corrupt(_)) => entries_of(&self.shared, target, key, limits, before)?,
                Err(error) => return Err(error.clone()),
            }
            if let Some(body) = body {
                match definition.entries(RawDocument::from_verified(body), key, limits, after) {
                    // If the document is still there when all are gone through, the build is refused for it.
                    Err(_) if target.ends_build() => return Ok(()),
                    made => made?,
                }
            }
            let change = self.batch.changes.len();
            if definition.is_unique() {
                // What lies behind the cut of a long tuple changes no entry, and may be another document's.
                for entry in after.iter().filter(|entry| before.has(entry)) {
                    if definition.outline(entry, limits).is_ok_and(|outline| outline.is_long) {
                        let again = EntryChange { target, entry, is_there: true, collection };
                        self.batch.entries.push(change, again);
                    }
                }
            }
            // Whether a document that stays leaves the filter of the index, or comes under it.
            let may_leave = definition.filter().is_some() && stays.is_some();
            let (leaves, comes) = (may_leave && after.is_empty(), may_leave && before.is_empty());
            for difference in before.diff(after) {
                let (entry, is_there) = match difference {
                    Difference::Here(_) if seeded::is_on(Bug::EntryNotRemoved) => continue,
                    Difference::Here(_) if leaves && seeded::is_on(Bug::LeavingEntryKept) => continue,
                    Difference::There(_) if comes && seeded::is_on(Bug::FilterOfOldDocument) => continue,
                    Difference::Here(entry) => (entry, false),
                    Difference::There(entry) => (entry, true),
                };
                self.batch.entries.push(change, EntryChange { target, entry, is_there, collection });
            }
            // Of one document there may be a great many.
            self.check_size(self.bytes_max)
        });
        self.lists = lists;
        done.inspect_err(|_| self.batch.entries.truncate(made))
    }

    //= spec/semantics.md#s-2-1-nothing-changes
    //# A call that is refused, or that reports that it failed, MUST leave the state as it was.
    //= spec/transactions.md#t-2-7-refusals
    //# A refused operation in a transaction MUST leave the transaction as it was before the operation; the
    //# transaction goes on.
    //= spec/transactions.md#t-2-8-size
    //# A transaction whose changes take more memory than the limit set for it MUST be refused as
    //# `TransactionTooLarge` at the operation that passes the limit.
    //= spec/index.md#i-3-2-after-the-call
    //# A write call that would leave a state that breaks I-3.1 MUST be refused as `UniqueViolation`, which names
    //# the index, the values, and the key of the other document.
    /// Carries out one call. What a call has done that is refused is undone: also where it leaves the transaction too large, or two documents
    /// with what only one may have.
    #[inline]
    pub(crate) fn call<R>(&mut self, call: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        let (changes, entries) = (self.batch.changes.len(), self.batch.entries.len());
        let answer = call(self).and_then(|answer| {
            self.check_size(self.bytes_max)?;
            if self.batch.entries.len() > entries {
                self.check_unique(entries)?;
            }
            Ok(answer)
        });
        if answer.is_err() && !seeded::is_on(Bug::RefusedCallKept) {
            self.undo_to(changes);
        }
        answer
    }

    #[cold]
    pub(super) fn check_unique(&mut self, from: usize) -> Result<()> {
        for number in from..self.batch.entries.len() {
            let EntryChange { target, entry, is_there, collection } = self.batch.entries.get(number);
            if !is_there || !target.refuses() || seeded::is_on(Bug::UniqueNotChecked) {
                continue;
            }
            let (target, entry) = (target.clone(), entry.to_vec());
            let limits = self.shared.entry_limits();
            let definition = &target.definition.definition;
            let outline = definition.outline(&entry, limits).expect("it was just made");
            if outline.has_nothing && !seeded::is_on(Bug::NothingIsUnique) {
                continue;
            }
            target.entries.check_known()?;
            let others = self.entries_beginning_as(&target, &entry, outline.tuple_len)?;
            if !others.contains(&entry) {
                // A later change of the call has taken it away again.
                continue;
            }
            let own = definition.parse(&entry, limits).expect("it was just made");
            let beginning = &entry[..outline.tuple_len];
            let mut own_tuples = own.tuple.map(|tuple| vec![tuple]);
            let is_long = own_tuples.is_none();
            for other in others {
                let other = definition.parse(&other, limits).map_err(|what| target.broken(what))?;
                if other.key == own.key && !seeded::is_on(Bug::OwnEntryViolates) {
                    continue;
                }
                //= spec/index.md#i-2-6-long-tuples
                //# Two long tuples are compared by the documents that they come from.
                let own_tuples = match &mut own_tuples {
                    Some(known) => known,
                    none => none.insert(self.long_tuples(collection, definition, &own.key, beginning)?),
                };
                let same = if !is_long || seeded::is_on(Bug::LongTuplesByTheirCut) {
                    own_tuples.first()
                } else {
                    let others = self.long_tuples(collection, definition, &other.key, beginning)?;
                    let has_it = |tuple: &&Tuple| {
                        others.iter().any(|other| definition.cmp_tuples(tuple, other).is_eq())
                    };
                    own_tuples.iter().find(has_it)
                };
                let Some(values) = same else { continue };
                return Err(Error::UniqueViolation {
                    index: definition.name().to_owned(),
                    values: values.iter().flatten().cloned().collect(),
                    key: other.key,
                });
            }
        }
        Ok(())
    }

    /// The entries of the transaction's state of which so many bytes are those of `own`.
    fn entries_beginning_as(&mut self, target: &Target, own: &[u8], len: usize) -> Result<Vec<Vec<u8>>> {
        let beginning = &own[..len];
        self.entry_overlay.enter_all(&self.batch);
        let id = target.entries.id;
        let mut found: BTreeMap<Vec<u8>, bool> = indexed(&self.shared, &target.entries, beginning)?
            .into_iter()
            .map(|entry| (entry, true))
            .collect();
        let is_missed = |(entry, is_there): &(&[u8], bool)| match is_there {
            true => *entry != own && seeded::is_on(Bug::UniqueInOldState),
            false => seeded::is_on(Bug::FreedValueRefused),
        };
        let changed = self.entry_overlay.beginning_with(id, beginning).filter(|change| !is_missed(change));
        found.extend(changed.map(|(entry, is_there)| (entry.to_vec(), is_there)));
        Ok(found.into_iter().filter(|(_, is_there)| *is_there).map(|(entry, _)| entry).collect())
    }

    /// The long tuples that begin so, of the document that the transaction's state has under `key`.
    fn long_tuples(
        &mut self,
        collection: u32,
        definition: &IndexDefinition,
        key: &Key,
        beginning: &[u8],
    ) -> Result<Vec<Tuple>> {
        let documents = self.batch.collections[collection as usize].documents.clone();
        let limits = self.shared.entry_limits();
        let Some(located) = self.get(&documents, key.as_ref())? else { return Ok(Vec::new()) };
        definition.long_tuples(RawDocument::from_verified(located.body()), beginning, limits)
    }

    /// What an index's walk finds changed in `range` by the transaction so far.
    pub(super) fn changed_entries(&mut self, entries: &Documents, range: &KeyRange) -> BTreeMap<Key, bool> {
        self.entry_overlay.enter_all(&self.batch);
        self.entry_overlay.in_range(entries.id, range)
    }
}

/// The entries that an index has of the document of `key`: for who cannot read that any more.
fn entries_of(
    shared: &Shared,
    target: &Target,
    key: KeyRef<'_>,
    limits: EntryLimits,
    out: &mut EntryList,
) -> Result<()> {
    each_indexed(shared, &target.entries, &[], |entry| {
        let parsed = target.definition.definition.parse(entry, limits);
        if parsed.is_ok_and(|parsed| parsed.key.as_ref() == key) { out.push_entry(entry) } else { Ok(()) }
    })
}
