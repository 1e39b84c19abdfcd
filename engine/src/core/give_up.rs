//! Which leaves of the index may be given up again (spec: ): those that were read from a checkpoint, and those in
//! memory that both named checkpoints have.

use crate::error::Result;
use crate::format::checkpoint::{Checkpoint, Limits, TreeOf};
use crate::format::superblock::CheckpointRef;
use crate::index::{Documents, KeyRange, Origin, Wanted};
use crate::recovery::File;
use crate::seeded::{self, Bug};
use crate::sync::{Arc, read};

use super::leaves::{Kept, Pause, ReadLeaf};
use super::shared::Shared;

#[cfg(test)]
mod tests;

impl Shared {
    /// Keeps the index as it is.
    #[inline]
    pub(crate) fn keep(&self) -> Kept {
        Kept::new(self.leaves.as_ref())
    }

    /// A checkpoint is begun.
    pub(super) fn pause_leaves(&self) -> Pause {
        Pause::new(self.leaves.as_ref())
    }

    /// How often a leaf was given up.
    pub(super) fn leaves_given_up(&self) -> u64 {
        self.leaves.as_ref().map_or(0, |leaves| leaves.given_up())
    }

    /// An item was read from its checkpoint, when so many were begun.
    pub(super) fn note_read(&self, documents: &Documents, item: Wanted, begun: u64) {
        let Some(leaves) = &self.leaves else { return };
        let Some(bytes) = item.memory_bytes(&documents.index) else { return };
        let found = read(&self.catalog).documents().find(|known| std::ptr::eq(&***known, documents)).cloned();
        if let Some(documents) = found {
            leaves.add(ReadLeaf { documents, leaf: item, bytes }, begun);
        }
    }

    //= spec/recovery.md#r-5-8-leaves-given-up
    //# A leaf of that checkpoint MUST NOT be given up unless the LSN of its record, and of the patch over it (F-8.13), is at
    //# or below that of the one before: then this has the same entries, and either of the two tells of them.
    //= spec/recovery.md#r-5-8-leaves-given-up
    //# A leaf of an index MUST NOT be given up from that checkpoint while a snapshot holds a state from before it: its
    //# entries have no addresses (F-8.10), so they would be taken for older than they are.
    /// Both slots name this checkpoint. Leaves that it and the one before have, and whose entries are in memory, may be
    /// given up from now on.
    pub(super) fn note_named(&self, named: &CheckpointRef) -> Result<()> {
        let Some(leaves) = &self.leaves else { return Ok(()) };
        let (both, begun) = (self.opening.named_since(), leaves.begun());
        let Some(before) = both.get(1).filter(|_| !self.opening.has_damage()) else { return Ok(()) };
        let (slot, storage, page_shift) =
            (&self.opening.slot, &self.log.storage, self.options.check.page_shift);
        let file = File { storage, len: storage.len()? };
        let mut checkpoint = Checkpoint::open(&file, slot.geometry, &slot.lineage, named)?;
        let place = checkpoint.tree_place();
        let end = slot.geometry.address(named.replay_sequence, named.replay_offset);
        let limits = Limits::new(end, page_shift);
        let is_held = self.visibility.is_held_below(end) && !seeded::is_on(Bug::GivenUpUnderASnapshot);
        let (root, trees) = checkpoint.parts();
        let collections = root.catalog.iter().map(|entry| (TreeOf::from(entry), None));
        let indexes = root.indexes.iter().filter(|index| !index.anew && !is_held);
        let indexes = indexes
            .map(|index| (TreeOf::from(index), Some((Arc::clone(&index.definition), self.entry_limits()))));
        for (tree, definition) in collections.chain(indexes) {
            let found = read(&self.catalog).documents().find(|known| known.id == tree.id).cloned();
            let Some(documents) = found else { continue };
            let walk = Documents::new(tree.id, page_shift);
            let (id, next, place) = (tree.id, tree.next, place.clone());
            walk.begin_unread(Origin { place, id, next, limits, definition }, trees.pages(tree)?, 0);
            let mut rest = KeyRange::all();
            while let Some(item) = walk.unread_in(&rest, false) {
                let Some((leaf, lsn)) = item.leaf() else {
                    walk.take_in(&item, item.read(&file)?, || {});
                    continue;
                };
                let is_in_both = lsn <= before.lsn || seeded::is_on(Bug::GivenUpFromOneAlone);
                let end = leaf.end.cloned();
                if let Some(bytes) = item.memory_bytes(&documents.index).filter(|_| is_in_both) {
                    leaves.add(ReadLeaf { documents: Arc::clone(&documents), leaf: item, bytes }, begun);
                }
                let Some(end) = end else { break };
                rest.from = std::ops::Bound::Included(end);
            }
        }
        // A few at a time: calls go on beside it.
        while leaves.is_due() {
            drop(self.keep());
        }
        Ok(())
    }
}
