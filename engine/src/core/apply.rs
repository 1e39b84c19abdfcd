//! From a placed commit to what readers see: applied to the index, published, or taken back.

use crate::document::KeyRef;
use crate::fold::{Effect, Fold, OfDocument};
use crate::format::{Geometry, LogAddress, Lsn};
use crate::index::{Birth, Entry, State};
use crate::log::{Action, Batch, EntryChange, Mark, Touched};
use crate::seeded::{self, Bug};
use crate::space::Accounts;
use crate::sync::write;
use crate::txn::{AT_ONCE, Applying, Pending};

use super::shared::Shared;

impl Shared {
    /// Changes the index and the catalog and makes the commit visible. It cannot fail, and readers see all of it or nothing.
    pub(super) fn apply_and_publish(&self, batch: &mut Batch, accounts: &mut Accounts) {
        let applying = self.apply(self.visibility.apply(), batch, accounts);
        let lens = batch.collections.iter().map(|touched| (&*touched.documents, touched.len_after()));
        applying.publish(State { lsn: batch.lsn, address: batch.end }, lens);
        if batch.changes_catalog() {
            self.purge_catalog();
        }
    }

    //= spec/transactions.md#t-3-2-nobody-waits
    //# A snapshot MUST NOT keep a writer or another reader waiting, however long it lives; nor they it.
    /// Changes the index and the catalog, for the next writer to see and nobody else (spec: T-4.2). A long commit is applied a slice at
    /// a time, so that no reader waits for all of it (spec: T-3.2).
    pub(super) fn apply_unseen(
        &self,
        mut batch: Batch,
        needs_sync: bool,
        mark: Mark,
        accounts: &mut Accounts,
    ) {
        let mut applying = self.visibility.apply();
        applying.hold();
        let applying = self.apply(applying, &mut batch, accounts);
        applying.pend(Pending::new(batch, needs_sync, mark));
    }

    /// Makes visible what is durable up to the writer's knowledge, and what waits behind it.
    pub(super) fn publish_pending(&self, durable: Lsn) {
        if self.visibility.publish_pending(durable) {
            self.purge_catalog();
        }
    }

    /// Forgets the namings that nobody can see any more.
    fn purge_catalog(&self) {
        let states = self.visibility.states();
        write(&self.catalog).purge(&states);
    }

    /// Makes the opening frame of a new incarnation, which changes nothing, the visible end of the log.
    pub(super) fn show_opening(&self, lsn: Lsn, address: LogAddress) {
        self.visibility.apply().publish(State { lsn, address }, std::iter::empty());
    }

    //= spec/index.md#i-2-3-entries
    //# An index MUST hold, in every state, exactly the entries that its definition gives of the documents of its
    //# collection.
    /// Carries out what the records do, and then what that makes of the entries of indexes.
    fn apply<'v>(
        &self,
        mut applying: Applying<'v>,
        batch: &mut Batch,
        accounts: &mut Accounts,
    ) -> Applying<'v> {
        for touched in &mut batch.collections {
            touched.len_before = touched.documents.newest_len();
        }
        let (geometry, is_loose) = (self.log.geometry, !batch.is_system);
        let (changes, all) = (batch.changes.len(), batch.changes.len() + batch.entries.settled_len());
        for first in (0..all).step_by(AT_ONCE) {
            if first > 0 {
                applying = applying.give_way();
            }
            let mut fold = Fold::new(geometry, accounts, &mut applying, is_loose);
            for number in first..all.min(first + AT_ONCE) {
                let Some(change) = batch.changes.get(number) else {
                    let EntryChange { target, entry, is_there, .. } = batch.entries.settled(number - changes);
                    target.building.iter().for_each(|building| building.note(entry, is_there));
                    if is_there {
                        // A long tuple may be another one behind its cut, where the entry is there already.
                        self.suspect(target, entry);
                    }
                    let effect = effect_of_entry(batch, number - changes);
                    let fits = effect.is_none_or(|effect| fold.apply(effect));
                    // Of a damaged index the rest may have been read meanwhile.
                    assert!(fits || target.entries.damage().is_some(), "the one writer has looked it up");
                    continue;
                };
                if change.is_moot {
                    continue;
                }
                if seeded::is_on(Bug::CommitVisibleInPieces) {
                    fold.retained.show_early(State { lsn: batch.lsn, address: change.address });
                }
                assert!(fold.apply(self.effect(batch, number)), "the one writer has looked it up");
                if batch.has_chunks() {
                    effects_of_chunks(geometry, batch, number).for_each(|effect| _ = fold.apply(effect));
                }
            }
        }
        applying
    }

    /// Whether a commit may be applied and published in one critical section.
    pub(super) fn is_short(batch: &Batch) -> bool {
        batch.changes.len() + batch.entries.len() <= AT_ONCE
    }

    /// Takes a pending commit out of the state: the reverse of [`apply`](Self::apply).
    pub(super) fn undo(&self, pending: &Pending, undoing: &mut Applying<'_>, accounts: &mut Accounts) {
        let batch = &pending.batch;
        let mut fold = Fold::new(self.log.geometry, accounts, undoing, !batch.is_system);
        for number in (0..batch.entries.settled_len()).rev() {
            effect_of_entry(batch, number).into_iter().for_each(|effect| fold.undo(effect));
        }
        for number in (0..batch.changes.len()).rev().filter(|number| !batch.changes[*number].is_moot) {
            let chunks: Vec<_> = effects_of_chunks(self.log.geometry, batch, number).collect();
            chunks.into_iter().rev().for_each(|effect| fold.undo(effect));
            fold.undo(self.effect(batch, number));
        }
    }

    /// What the record of change `number` does.
    #[inline]
    fn effect<'b>(&'b self, batch: &'b Batch, number: usize) -> Effect<'b> {
        let change = &batch.changes[number];
        let at = change.address;
        let new = match &change.action {
            Action::Catalog(change, begins) => {
                return Effect::Catalog(&self.catalog, change, begins.as_ref(), at);
            }
            Action::Free(sequence) => return Effect::Free(*sequence, batch.lsn),
            Action::Delete => None,
            Action::Put | Action::Relocate(_) => Some((batch.entry(number), change.len)),
        };
        let Touched { documents, largest_before, .. } =
            batch.touched(change).expect("a document has a collection");
        let key = batch.key(change).expect("a document has a key");
        let (before, largest_before) = (batch.replaced(change), *largest_before);
        Effect::Document(OfDocument { documents, key, at, before, new, largest_before })
    }
}

/// What the settled change `number` of an entry does, if it does anything.
fn effect_of_entry(batch: &Batch, number: usize) -> Option<Effect<'_>> {
    let EntryChange { target, entry, is_there, .. } = batch.entries.settled(number);
    let (documents, key, at) = (&*target.entries, KeyRef::Bytes(entry), batch.changes.last()?.address);
    let before = batch.entries.found[number].map(|before| (before, Birth::At(before.address())));
    let new = is_there.then(|| (Entry::new(at, false), 0));
    let is_seen = target.building.is_none() && !seeded::is_on(Bug::EntriesNotRetained);
    let of = OfDocument { documents, key, at, before, new, largest_before: 0 };
    (before.is_some() != is_there).then_some(Effect::Entry(of, is_seen))
}

/// What the chunks do that were placed for change `number`, and those of what it replaces.
fn effects_of_chunks(geometry: Geometry, batch: &Batch, number: usize) -> impl Iterator<Item = Effect<'_>> {
    let collection = batch.touched(&batch.changes[number]).map_or(0, |touched| touched.documents.id);
    let placed = batch.chunks_of(number).iter();
    let placed = placed.map(move |chunk| Effect::Chunk(collection, chunk.address, chunk.len));
    let superseded = batch.superseded_chunks(number);
    placed.chain(superseded.map(move |at| Effect::EndChunks(collection, geometry.split(at).0, 1)))
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use crate::core::{Core, Expect, Writer};
    use crate::document::KeyRef;
    use crate::error::Error;
    use crate::index::PrimaryIndex;
    use crate::options::{Durability, Options};
    use crate::storage::MemoryStorage;

    #[test]
    fn a_reader_does_not_miss_what_is_taken_back_between_its_looks() {
        let core =
            Core::open(Box::new(MemoryStorage::new()), &Options::new()).expect("memory refuses nothing");
        let writer = RefCell::new(core.writer().expect("it is opened for writing"));
        let commit = |stage: &dyn Fn(&mut Writer)| {
            let writer = &mut **writer.borrow_mut();
            writer.begin().expect("memory refuses nothing");
            stage(writer);
            writer.commit(Durability::Synced).expect("memory refuses nothing");
        };
        let key = KeyRef::Int(1);
        commit(&|writer| {
            writer.txn.put("a", key, Expect::Anything, &[0xA0]).expect("nothing is wrong with it");
        });
        writer.borrow_mut().sync().expect("memory refuses nothing");
        let naming = core.shared.naming("a").expect("it was just begun");
        commit(&|writer| {
            writer.txn.delete("a", key, None).expect("nothing is wrong with it");
        });
        // The reader misses what the pending commit has deleted; before it asks what that proves, there is nothing unusual any more.
        let (looks, full) = (Cell::new(0), Error::StorageFull { operation: "a write".to_owned() });
        let seen = core.shared.visibility.see(naming.documents.id, key, || {
            let found = naming.documents.index.get(key);
            if looks.replace(looks.get() + 1) == 0 {
                assert!(writer.borrow_mut().take_back_unwritten(&full) && found.is_none());
            }
            found
        });
        assert!(seen.is_some());
    }
}
