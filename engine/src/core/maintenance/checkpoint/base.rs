//! The checkpoint from which another takes over what did not change since (spec: P-2.8).

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Result;
use crate::format::checkpoint::{BaseTree, base_trees};
use crate::format::{LogAddress, Lsn};
use crate::index::Entry;
use crate::recovery::File;
use crate::seeded::{self, Bug};

use super::super::super::Core;
use super::super::super::writer::Writer;
use super::super::plan::Purpose;

/// A base, and what of it was not taken over yet.
#[derive(Debug)]
pub(super) struct Base {
    lsn: Lsn,
    /// Its trees, by the id of the collection or the index.
    trees: BTreeMap<u32, BaseTree>,
    /// Where the log ended then.
    end: LogAddress,
}

impl Core {
    /// The base of the next checkpoint. None where it is to take nothing over, or where the base cannot be read.
    pub(super) fn base(&self, purpose: Purpose) -> Result<Option<Base>> {
        let (geometry, storage) = (self.shared.log.geometry, &self.shared.log.storage);
        let (mut checkpoints, len, takes_over) = {
            let writer = self.writer()?;
            // It may be the base that is damaged.
            let is_sound = !self.shared.opening.has_damage() || seeded::is_on(Bug::TakenOverAfterDamage);
            let takes_over = is_sound && purpose.takes_over(writer.may_grow());
            (writer.checkpoints.clone(), writer.file_len, takes_over)
        };
        let file = File { storage, slot: &self.shared.opening.slot, len };
        let reference = checkpoints.base().filter(|_| takes_over).map(|held| held.reference);
        let newest_end = checkpoints.sound().map(|newest| newest.reference.end(geometry));
        let mut base = None;
        for held in checkpoints.named_mut() {
            let is_base = Some(held.reference) == reference;
            if held.is_counted && !is_base {
                continue;
            }
            let Ok(mut checkpoint) = file.checkpoint(&held.reference) else { continue };
            let Ok(trees) = base_trees(&mut checkpoint) else { continue };
            let records = trees.values().flat_map(BaseTree::references);
            held.count(checkpoint.root_parts().iter().copied().chain(records));
            if is_base {
                let own_end = held.reference.end(geometry);
                let end = newest_end.filter(|_| seeded::is_on(Bug::ChangedSinceTheNewest)).unwrap_or(own_end);
                base = Some(Base { lsn: held.reference.lsn, trees, end });
            }
        }
        self.writer()?.checkpoints = checkpoints;
        Ok(base)
    }
}

impl Base {
    /// The tree of a collection or an index, if it has one.
    pub(super) fn take_tree(&mut self, id: u32) -> Option<BaseTree> {
        self.trees.remove(&id)
    }

    //= spec/space.md#p-2-8-what-is-taken-over
    //# A writer MUST NOT take over leaves of an index unless it knows what changed of them since the base.
    /// Whether the places of the entries of an index tell which of them are new: they tell what this life of the store
    /// changed, which began behind the commit `opened_at`, and nothing of those before.
    pub(super) fn tells_of_indexes(&self, opened_at: Lsn) -> bool {
        self.lsn > opened_at || seeded::is_on(Bug::IndexTakenOverUnknown)
    }

    /// Whether a leaf that was written at `lsn`, and that did not change since, is of the time of the base.
    pub(super) fn has_known(&self, lsn: Lsn) -> bool {
        lsn <= self.lsn || seeded::is_on(Bug::YoungLeafTakenOver)
    }

    //= spec/space.md#p-2-8-what-is-taken-over
    //# A checkpoint MAY take over a leaf of its base that has the same entries, with the patch over it if it has one,
    //# and a directory page of which it takes over all leaves so.
    /// Whether an entry that stands there has come to be, or has moved, since.
    pub(super) fn is_behind(&self, place: Entry) -> bool {
        place.address() >= self.end && !(place.is_relocated() && seeded::is_on(Bug::MovedLeafTakenOver))
    }
}

impl Writer {
    //= spec/space.md#p-2-8-what-is-taken-over
    //# A writer SHOULD take over nothing from a segment, but for the open one, of which the named checkpoints
    //# refer to less than half: so it becomes free.
    /// The segments that nothing is taken over from.
    pub(super) fn sparse_segments(&self) -> BTreeSet<u32> {
        if seeded::is_on(Bug::SparseTakenOver) {
            return BTreeSet::new();
        }
        let mut sparse = self.checkpoints.sparse(self.shared.log.geometry.segment_bytes());
        self.open_index.iter().for_each(|open| _ = sparse.remove(&open.physical));
        sparse
    }
}
