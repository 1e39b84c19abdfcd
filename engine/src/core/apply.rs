//! From a placed commit to what readers see: applied to the index, published, or taken back.

use crate::document::KeyRef;
use crate::fold::{Effect, Fold, OfDocument};
use crate::format::{Geometry, LogAddress, Lsn};
use crate::index::{Birth, Entry, PrimaryIndex, State};
use crate::log::{Action, Batch, EntryChange, Mark};
use crate::seeded::{self, Bug};
use crate::space::Accounts;
use crate::sync::{read, write};
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
        let last_id = read(&self.catalog).last_id();
        let mut applying = self.visibility.apply();
        applying.hold();
        let applying = self.apply(applying, &mut batch, accounts);
        applying.pend(Pending::new(batch, needs_sync, mark, last_id));
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

    fn apply<'v>(
        &self,
        mut applying: Applying<'v>,
        batch: &mut Batch,
        accounts: &mut Accounts,
    ) -> Applying<'v> {
        for touched in &mut batch.collections {
            touched.len_before = touched.documents.newest_len();
        }
        let mut fold = Fold::new(self.log.geometry, accounts, !batch.is_system);
        for (number, change) in batch.changes.iter().enumerate().filter(|(_, change)| !change.is_moot) {
            if number > 0 && number % AT_ONCE == 0 {
                applying = applying.pause().resume();
            }
            if seeded::is_on(Bug::CommitVisibleInPieces) {
                applying.show_early(State { lsn: batch.lsn, address: change.address });
            }
            if let Action::Catalog(change_of_catalog, begins) = &change.action {
                let fits = write(&self.catalog).carry_out(change_of_catalog, begins.clone(), change.address);
                assert!(
                    fits.is_some(),
                    "the one writer checked {change_of_catalog:?} against this very catalog"
                );
            }
            let replaced = batch.replaced(change);
            let Some(effect) = effect(batch, number, replaced.map(|(entry, _)| entry)) else { continue };
            // A version that moves is the same in every state that has it, so nobody needs to be kept the old place for: who looked it
            // up before looks again (spec: F-6.8).
            if let (Effect::Document(of), Some((entry, birth))) = (effect, replaced)
                && !matches!(change.action, Action::Relocate(_))
            {
                applying.retain(of.documents.id, of.key, entry, birth, change.address);
            }
            assert!(fold.apply(effect), "one writer at a time changes the index");
            if batch.has_chunks() {
                effects_of_chunks(self.log.geometry, batch, number).for_each(|effect| _ = fold.apply(effect));
            }
        }
        drop(fold);
        self.apply_entries(applying, batch)
    }

    //= spec/index.md#i-2-3-entries
    //# An index MUST hold, in every state, exactly the entries that its definition gives of the documents of its
    //# collection.
    /// Changes the entries of indexes, which the changes of documents come with.
    fn apply_entries<'v>(&self, mut applying: Applying<'v>, batch: &mut Batch) -> Applying<'v> {
        // All that one commit changes is there from one place on, whichever of its records that is.
        let at = match batch.changes.last() {
            Some(last) if batch.entries.settled_len() > 0 => last.address,
            _ => return applying,
        };
        for number in 0..batch.entries.settled_len() {
            if number > 0 && number % AT_ONCE == 0 {
                applying = applying.pause().resume();
            }
            let EntryChange { target, entry, is_there, .. } = batch.entries.settled(number);
            let (entries, key) = (&target.entries, KeyRef::Bytes(entry));
            let before = entries.index.get(key);
            if let Some(building) = &target.building {
                building.note(entry, is_there);
            }
            match before {
                None if is_there => {
                    self.suspect(target, entry);
                    entries.set(key, Entry::new(at, false));
                    entries.set_newest_len(entries.newest_len() + 1);
                }
                Some(before) if !is_there => {
                    if target.building.is_none() && !seeded::is_on(Bug::EntriesNotRetained) {
                        applying.retain(entries.id, key, before, Birth::At(before.address()), at);
                    }
                    entries.remove(key);
                    entries.set_newest_len(entries.newest_len() - 1);
                }
                // A long tuple may be another one behind its cut.
                Some(_) => self.suspect(target, entry),
                None => {}
            }
            batch.entries.found.push(before);
        }
        applying
    }

    /// The reverse of [`apply_entries`](Self::apply_entries).
    fn undo_entries(batch: &Batch) {
        if seeded::is_on(Bug::UndoForgetsEntries) {
            return;
        }
        for (number, before) in batch.entries.found.iter().enumerate().rev() {
            let EntryChange { target, entry, is_there, .. } = batch.entries.settled(number);
            let (entries, key) = (&target.entries, KeyRef::Bytes(entry));
            match before {
                None if is_there => {
                    entries.remove(key);
                    entries.set_newest_len(entries.newest_len() - 1);
                }
                Some(before) if !is_there => {
                    entries.set(key, *before);
                    entries.set_newest_len(entries.newest_len() + 1);
                }
                _ => {}
            }
        }
    }

    /// Whether a commit may be applied and published in one critical section.
    pub(super) fn is_short(batch: &Batch) -> bool {
        batch.changes.len() + batch.entries.len() <= AT_ONCE
    }

    /// Takes a pending commit out of the index, the catalog and the accounts: the reverse of [`apply`](Self::apply).
    pub(super) fn undo(&self, pending: &Pending, accounts: &mut Accounts) {
        let batch = &pending.batch;
        Self::undo_entries(batch);
        let mut fold = Fold::new(self.log.geometry, accounts, !batch.is_system);
        for (number, change) in batch.changes.iter().enumerate().rev().filter(|(_, change)| !change.is_moot) {
            let before = batch.replaced(change).map(|(entry, _)| entry);
            let Some(effect) = effect(batch, number, before) else {
                write(&self.catalog).take_back(change.address);
                continue;
            };
            let chunks: Vec<_> = effects_of_chunks(self.log.geometry, batch, number).collect();
            chunks.into_iter().rev().for_each(|effect| fold.undo(effect));
            fold.undo(effect);
        }
        for touched in &batch.collections {
            touched.documents.set_largest_id(touched.largest_before);
        }
        write(&self.catalog).set_last_id(pending.last_id);
    }
}

/// What the record of change `number` does, which replaces the version at `before`; none of the catalog, which has its own.
#[inline]
fn effect(batch: &Batch, number: usize, before: Option<Entry>) -> Option<Effect<'_>> {
    let change = &batch.changes[number];
    let new = match change.action {
        Action::Catalog(..) => return None,
        Action::Free(sequence) => return Some(Effect::Free(sequence, batch.lsn)),
        Action::Delete => None,
        Action::Put | Action::Relocate(_) => Some((batch.entry(number), change.len)),
    };
    let documents = batch.documents(change).expect("a document has a collection");
    let key = batch.key(change).expect("a document has a key");
    Some(Effect::Document(OfDocument { documents, key, before, new }))
}

/// What the chunks do that were placed for change `number`, and those of what it replaces.
fn effects_of_chunks(geometry: Geometry, batch: &Batch, number: usize) -> impl Iterator<Item = Effect<'_>> {
    let collection = batch.documents(&batch.changes[number]).map_or(0, |documents| documents.id);
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
        let looks = Cell::new(0);
        let seen = core.shared.visibility.see(naming.documents.id, key, || {
            let found = naming.documents.index.get(key);
            if looks.replace(looks.get() + 1) == 0 {
                assert!(writer.borrow_mut().take_back_unwritten() && found.is_none());
            }
            found
        });
        assert!(seen.is_some());
    }
}
