//! Which leaves of the index may be given up again (spec: ): those that were read from the newest checkpoint, and
//! those in memory that it has.

use std::ops::Bound;

use crate::error::Result;
use crate::format::superblock::CheckpointRef;
use crate::index::{Documents, KeyRange, Origin, Wanted};
use crate::recovery::File;
use crate::seeded::{self, Bug};
use crate::sync::{Arc, read};

use super::leaves::{Kept, Leaves, PATIENCE, Renewal};
use super::shared::Shared;

#[cfg(test)]
mod tests;

impl Shared {
    /// Keeps the index as it is.
    #[inline]
    pub(crate) fn keep(&self) -> Kept {
        Kept::new(self.leaves.as_ref())
    }

    /// Looks how much memory the index takes.
    pub(super) fn note_bytes(&self) {
        if let Some(leaves) = &self.leaves {
            leaves.note_bytes(read(&self.catalog).memory_bytes() as u64);
        }
    }

    /// How often a leaf was given up.
    pub(super) fn leaves_given_up(&self) -> u64 {
        self.leaves.as_ref().map_or(0, |leaves| leaves.given_up())
    }

    /// A leaf was read into the index, or its bytes are kept; or a directory page was read, of so many leaves.
    pub(super) fn note_read(&self, documents: &Documents, wanted: &Wanted, leaves_of_page: usize) {
        let Some(leaves) = &self.leaves else { return };
        leaves.note_items(leaves_of_page);
        let found = read(&self.catalog).documents().find(|known| std::ptr::eq(&***known, documents)).cloned();
        if let Some(documents) = found {
            leaves.add(&documents, wanted.clone());
        }
    }

    //= spec/recovery.md#r-5-8-leaves-given-up
    //# A reader MUST keep in memory what was put, moved or deleted since the checkpoint before.
    /// Both slots name this checkpoint. Its leaves take the place of what is unread, as far as that goes, and what is
    /// in memory may be given up, but for what came since the one before.
    pub(super) fn note_named(&self, newest: &CheckpointRef) {
        let Some(leaves) = &self.leaves else { return };
        let geometry = self.opening.slot.geometry;
        let named = self.opening.named_since();
        let before = named.get(1).filter(|_| !self.opening.has_damage());
        let since = if seeded::is_on(Bug::GivenUpFromOneAlone) { before.map(|_| newest) } else { before };
        let can_be = leaves.name(since.map(|since| (*newest, since.end(geometry))));
        if let Some(before) = before.filter(|_| can_be) {
            // Where its directory cannot be read, what is unread stays with the one before.
            let _ = self.renew(leaves, newest, before);
        }
        self.note_bytes();
        // A few at a time: calls go on beside it.
        while leaves.is_due() {
            drop(self.keep());
        }
    }

    //= spec/recovery.md#r-5-8-leaves-given-up
    //# A reader MUST NOT give up a leaf of a tree that the checkpoint before does not have.
    //= spec/recovery.md#r-5-8-leaves-given-up
    //# A leaf of an index MUST NOT be given up while a snapshot holds a state from before the checkpoint before: its entries
    //# have no addresses (F-8.10), so they would be taken for older than they are.
    /// Goes through the leaves of the newest checkpoint, until one cannot take the place of what is unread.
    fn renew(&self, leaves: &Arc<Leaves>, newest: &CheckpointRef, before: &CheckpointRef) -> Result<()> {
        let file = File::new(&self.log.storage, &self.opening.slot)?;
        let (reference, page_shift) = (*newest, self.options.check.page_shift);
        let is_held = self.visibility.is_held_below(before.end(file.slot.geometry));
        let is_held = is_held && !seeded::is_on(Bug::GivenUpUnderASnapshot);
        let older = file.checkpoint(before)?;
        let is_older = |id| older.root().trees().any(|tree| tree.id == id && !tree.anew);
        let mut newest = file.checkpoint(newest)?;
        let (place, mut patience) = (newest.tree_place(), PATIENCE);
        let (root, trees) = newest.parts();
        for tree in root.trees() {
            let is_known = is_older(tree.id) || seeded::is_on(Bug::TreeOfOneGivenUp);
            let can_be = is_known && !tree.anew && !(is_held && tree.definition.is_some());
            let found = read(&self.catalog).documents().find(|known| known.id == tree.id).cloned();
            let Some(documents) = found.filter(|_| can_be) else { continue };
            if documents.damage().is_some() || documents.is_made_anew() && before.lsn <= self.opening.lsn {
                continue;
            }
            let origin = Origin::new(tree, reference, place.clone(), page_shift);
            // From the very front: whatever older checkpoints had there is deleted.
            let mut from = Bound::Unbounded;
            for page in Wanted::all_of(origin, trees.pages(tree)?) {
                let mut renewals = Vec::new();
                for leaf in page.leaves(&file)? {
                    let range = KeyRange { from, to: leaf.range().to };
                    from = range.beyond_end().map_or(Bound::Unbounded, |behind| behind.from);
                    renewals.push(Renewal { documents: Arc::clone(&documents), range, leaf: Some(leaf) });
                }
                if !leaves.renew(renewals, &mut patience) {
                    return Ok(());
                }
            }
            if tree.count == 0 {
                let range = KeyRange::all();
                leaves.renew([Renewal { documents, range, leaf: None }], &mut patience);
            }
        }
        Ok(())
    }
}
