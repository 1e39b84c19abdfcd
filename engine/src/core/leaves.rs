//! Which leaves of the index were read, and are given up again where they take more memory than is theirs (spec: ).
//!
//! The first to be read is the first to go. Whoever looks into the index, or changes it, keeps it as it is for so long; and what is too
//! much goes when nobody does.

use std::collections::VecDeque;

use crate::error::Result;
use crate::format::checkpoint::{Checkpoint, Limits, TreeOf};
use crate::format::superblock::CheckpointRef;
use crate::index::{Documents, KeyRange, Origin, Wanted};
use crate::recovery::File;
use crate::seeded::{self, Bug};
use crate::sync::{Arc, Mutex, lock, read};

use super::shared::Shared;

#[cfg(test)]
mod tests;

/// So many leaves are given up by one call: others wait meanwhile.
const AT_ONCE: usize = 16;

/// The length of most leaves.
const LEAF_BYTES: u64 = 4096;

/// So many looks are remembered at most.
const LOOKS_MAX: usize = 1 << 20;

#[derive(Debug)]
pub(crate) struct Leaves {
    /// So many bytes of them may be in memory.
    limit: u64,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// How many calls keep the index as it is.
    keepers: usize,
    /// A checkpoint is being written, which may have a leaf elsewhere.
    is_paused: bool,
    read: VecDeque<ReadLeaf>,
    /// What those take.
    bytes: u64,
    given_up: u64,
    /// Of each leaf that was looked into lately, at a place that follows from its key, the hash of that.
    looked_into: Vec<u64>,
}

/// A leaf that was read.
#[derive(Debug)]
struct ReadLeaf {
    documents: Arc<Documents>,
    leaf: Wanted,
    bytes: u64,
}

/// While it lives, nothing of the index is given up.
#[derive(Debug)]
#[must_use = "what was read may be given up once this is dropped"]
pub(crate) struct Kept(Option<Arc<Leaves>>);

impl Kept {
    /// Of an index of which nothing is ever given up.
    pub(super) const ALWAYS: Self = Kept(None);
}

impl Drop for Kept {
    #[inline]
    fn drop(&mut self) {
        if let Some(leaves) = &self.0 {
            leaves.let_go();
        }
    }
}

impl Leaves {
    pub(super) fn new(limit: u64) -> Self {
        let looked_into =
            vec![0; usize::try_from(limit.div_ceil(LEAF_BYTES)).unwrap_or(LOOKS_MAX).min(LOOKS_MAX)];
        Leaves { limit, inner: Mutex::new(Inner { looked_into, ..Inner::default() }) }
    }

    /// Whether a leaf that is unread is looked into and not kept: so is one that nobody looked into lately. Who reads keys at random from
    /// many would else fill memory with what is not asked for again.
    pub(super) fn is_for_one_look(&self, leaf: &Wanted) -> bool {
        let Some(hash) = leaf.hash() else { return false };
        let looked_into = &mut lock(&self.inner).looked_into;
        let len = looked_into.len() as u64;
        // Where there is room for none, none is kept.
        len == 0 || std::mem::replace(&mut looked_into[(hash % len) as usize], hash) != hash
    }

    #[cold]
    fn let_go(&self) {
        let mut inner = lock(&self.inner);
        inner.keepers -= 1;
        let may = inner.keepers == 0 || seeded::is_on(Bug::GivenUpBesideAReader);
        for _ in 0..AT_ONCE {
            let is_over = may && inner.bytes > self.limit;
            let Some(first) = is_over.then(|| inner.read.pop_front()).flatten() else { break };
            inner.bytes -= first.bytes;
            inner.given_up += u64::from(first.documents.give_up(&first.leaf));
        }
    }

    /// A leaf was read.
    fn add(&self, read: ReadLeaf) {
        let mut inner = lock(&self.inner);
        if !inner.is_paused {
            inner.bytes += read.bytes;
            inner.read.push_back(read);
        }
    }

    //= spec/recovery.md#r-5-8-leaves-given-up
    //# A reader MUST NOT give up a leaf that was read before a checkpoint was begun which is named since, or while that was
    //# written, but for those of that checkpoint: the places of others may have been given out.
    /// A checkpoint is begun: where it has what is in memory by now is not known before it is named.
    fn pause(&self) {
        if !seeded::is_on(Bug::GivenUpPastItsCheckpoint) {
            let mut inner = lock(&self.inner);
            (inner.is_paused, inner.bytes) = (true, 0);
            inner.read.clear();
        }
    }

    /// How often a leaf was given up.
    fn given_up(&self) -> u64 {
        lock(&self.inner).given_up
    }

    /// Whether there is more to give up, and nobody looks.
    fn is_due(&self) -> bool {
        let inner = lock(&self.inner);
        inner.bytes > self.limit && inner.keepers == 0
    }
}

/// While it lives, no leaf that is read then is given up.
#[derive(Debug)]
pub(crate) struct Pause(Option<Arc<Leaves>>);

impl Drop for Pause {
    fn drop(&mut self) {
        if let Some(leaves) = &self.0 {
            lock(&leaves.inner).is_paused = false;
        }
    }
}

impl Shared {
    /// Keeps the index as it is.
    #[inline]
    pub(crate) fn keep(&self) -> Kept {
        Kept(self.leaves.as_ref().map(|leaves| {
            lock(&leaves.inner).keepers += 1;
            Arc::clone(leaves)
        }))
    }

    /// A checkpoint is begun.
    pub(super) fn pause_leaves(&self) -> Pause {
        Pause(self.leaves.as_ref().map(|leaves| {
            leaves.pause();
            Arc::clone(leaves)
        }))
    }

    /// How often a leaf was given up.
    pub(super) fn leaves_given_up(&self) -> u64 {
        self.leaves.as_ref().map_or(0, |leaves| leaves.given_up())
    }

    /// An item was read from its checkpoint.
    pub(super) fn note_read(&self, documents: &Documents, item: Wanted) {
        let Some(leaves) = &self.leaves else { return };
        let Some(bytes) = item.memory_bytes(&documents.index) else { return };
        let found = read(&self.catalog).documents().find(|known| std::ptr::eq(&***known, documents)).cloned();
        if let Some(documents) = found {
            leaves.add(ReadLeaf { documents, leaf: item, bytes });
        }
    }

    //= spec/recovery.md#r-5-8-leaves-given-up
    //# A leaf of that checkpoint MUST NOT be given up unless the LSN of its record, and of the patch over it (F-8.13), is
    //# below that of the checkpoint: then the one before has the same entries, and either of the two tells of them.
    //= spec/recovery.md#r-5-8-leaves-given-up
    //# A leaf of an index MUST NOT be given up from that checkpoint while a snapshot holds a state from before it: its
    //# entries have no addresses (F-8.10), so they would be taken for older than they are.
    /// Both slots name this checkpoint: its leaves that memory has, and the one before too, are given up from now on.
    pub(super) fn note_named(&self, named: &CheckpointRef) -> Result<()> {
        let Some(leaves) = &self.leaves else { return Ok(()) };
        if self.opening.has_damage() || self.opening.named_since().len() < 2 {
            return Ok(());
        }
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
                let is_in_both = lsn < named.lsn || seeded::is_on(Bug::GivenUpFromOneAlone);
                let end = leaf.end.cloned();
                if let Some(bytes) = item.memory_bytes(&documents.index).filter(|_| is_in_both) {
                    leaves.add(ReadLeaf { documents: Arc::clone(&documents), leaf: item, bytes });
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
