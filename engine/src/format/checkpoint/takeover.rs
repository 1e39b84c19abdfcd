//! What a checkpoint takes over from its base (P-2.8): leaves with the entries that it would write, or little else, and
//! pages of such leaves.
//!
//! The entries of a tree come in the order of keys. Those in the range of a leaf of the base are held back until the
//! range has passed. If they are all that the leaf has, it is kept; if they differ in few, it is kept with a patch.

use std::collections::{BTreeMap, VecDeque};

use super::patch::{Changes, List, Patch};
use super::read::{Branch, Checkpoint, LeafOf, TreeOf, Trees};
use super::records::{IndexSource, TreePlace};
use super::stretch::Limits;
use crate::document::{Key, KeyRef};
use crate::error::Result;
use crate::format::index_record::Reference;
use crate::format::{LogAddress, Lsn};
use crate::seeded::{self, Bug};

/// A tree of the base: its directory pages, and the leaves of each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseTree {
    id: u32,
    is_of_index: bool,
    place: TreePlace,
    pages: VecDeque<Page>,
}

/// A directory page and its leaves, each by its first key.
type Page = ((Key, Branch), VecDeque<(Key, Branch)>);

impl BaseTree {
    /// A tree of a root, down to its leaves.
    ///
    /// # Errors
    /// When it is damaged; those of the disk.
    pub fn read<S: IndexSource>(trees: &mut Trees<'_, S>, tree: TreeOf<'_>) -> Result<Self> {
        let mut pages = VecDeque::new();
        for (first, page) in trees.pages(tree)? {
            let leaves = trees.page(tree.id, &first, &page)?;
            pages.push_back(((first, page), VecDeque::from(leaves)));
        }
        let leaves = || pages.iter().flat_map(|(_, leaves)| leaves);
        // The leaves of one page are in order already: the first of a page may not be above the last before
        // it.
        let behind = leaves().zip(leaves().skip(1)).find(|((one, _), (other, _))| one >= other);
        match behind {
            Some((_, (_, leaf))) => Err(leaf.damaged("keys out of order").into()),
            None => {
                Ok(BaseTree { id: tree.id, is_of_index: tree.next.is_none(), place: trees.place(), pages })
            }
        }
    }

    /// All its directory pages, leaves and patches.
    pub fn references(&self) -> impl Iterator<Item = Reference> {
        let branches = self.pages.iter().flat_map(|(page, leaves)| leaves.iter().chain([page]));
        branches.flat_map(|(_, branch)| branch.references())
    }
}

/// A leaf of another checkpoint that nobody has read.
#[derive(Debug, Clone, Copy)]
pub struct UnreadLeaf<'a> {
    /// Its first key.
    pub first: &'a Key,
    /// The first key behind its range; none where that has no end.
    pub end: Option<&'a Key>,
    /// The number of its entries.
    pub count: u64,
}

/// All trees of a checkpoint, by the id of the collection or the index.
///
/// # Errors
/// When it is damaged; those of the disk.
pub fn base_trees<S: IndexSource>(checkpoint: &mut Checkpoint<'_, S>) -> Result<BTreeMap<u32, BaseTree>> {
    let (root, trees) = checkpoint.parts();
    root.trees().map(|tree| Ok((tree.id, BaseTree::read(trees, tree)?))).collect()
}

/// All records of a checkpoint.
///
/// # Errors
/// When it is damaged; those of the disk.
pub fn references<S: IndexSource>(checkpoint: &mut Checkpoint<'_, S>) -> Result<Vec<Reference>> {
    let trees = base_trees(checkpoint)?;
    let of_trees = trees.values().flat_map(BaseTree::references);
    Ok(checkpoint.root_parts().iter().copied().chain(of_trees).collect())
}

/// A walk through the leaves of the base, beside the entries that are written.
#[derive(Debug, Clone)]
pub(super) struct TakeOver {
    /// The tree, with the pages that come behind the one whose leaves pass.
    base: BaseTree,
    /// The page, and its leaves; the first of them is the one whose keys pass. None behind the last page.
    page: Option<Page>,
    leaves_of_page: usize,
    /// Leaves of the page that are taken over, and how many of them as they are.
    kept: Vec<(Key, Branch)>,
    kept_as_they_are: usize,
    /// Entries in the range of the leaf, and how many of them it cannot have.
    held: List,
    new: u64,
    /// What the leaf may have had is written anew.
    is_rewritten: bool,
}

/// How many times as long as the patch over it a leaf is at least.
const LEAF_LEN_OVER_PATCH: usize = 8;

/// Nobody is handed the stretches of a leaf that a patch is made over.
const PAGE_SHIFT: u32 = 12;

//= spec/space.md#p-2-8-what-is-taken-over
//# A patch SHOULD have at most an eighth of the length of the leaf; a leaf that differs in more is written anew.
/// How long the body of a patch over this leaf may be.
pub(super) const fn patch_len_max(leaf: Reference) -> usize {
    leaf.len as usize / LEAF_LEN_OVER_PATCH
}

impl TakeOver {
    pub(super) fn new(base: BaseTree) -> Self {
        let mut walk = TakeOver {
            base,
            page: None,
            leaves_of_page: 0,
            kept: Vec::new(),
            kept_as_they_are: 0,
            held: List::default(),
            new: 0,
            is_rewritten: false,
        };
        walk.turn();
        walk
    }

    fn turn(&mut self) {
        self.page = self.base.pages.pop_front();
        self.leaves_of_page = self.page.as_ref().map_or(0, |(_, leaves)| leaves.len());
        self.kept_as_they_are = 0;
    }

    /// Whether there is a leaf whose keys pass.
    pub(super) fn has_leaf(&self) -> bool {
        self.page.is_some()
    }

    /// The leaf whose keys pass, and its first key.
    fn leaf(&self) -> Option<(&Key, Branch)> {
        let (_, leaves) = self.page.as_ref()?;
        leaves.front().map(|(first, leaf)| (first, *leaf))
    }

    /// What the leaf whose keys pass is read by, and what the patch over it is.
    pub(super) fn references(&self) -> Option<(Reference, Option<Reference>)> {
        let (_, leaf) = self.leaf()?;
        Some((leaf.reference, leaf.patch.map(|patch| patch.reference)))
    }

    /// The first key behind the range of the leaf whose keys pass; none where that has no end.
    fn end(&self) -> Option<&Key> {
        let (_, leaves) = self.page.as_ref()?;
        let next = leaves.get(1).or_else(|| self.base.pages.front().map(|(page, _)| page));
        next.map(|(first, _)| first)
    }

    /// Whether the key is beyond the range of the leaf whose keys pass.
    pub(super) fn is_behind(&self, key: KeyRef<'_>) -> bool {
        self.end().is_some_and(|end| end.as_ref() <= key)
    }

    /// Whether the leaf whose keys pass has this range and so many entries, and nothing else is in that range.
    pub(super) fn is_leaf(&self, range: UnreadLeaf<'_>) -> bool {
        let UnreadLeaf { first, end, count } = range;
        let has_range = |leaf: Branch| {
            leaf.count() == count && self.end() == end || seeded::is_on(Bug::RangesNotCompared)
        };
        !self.is_rewritten
            && self.held.len() == 0
            && self.leaf().is_some_and(|(begin, leaf)| begin == first && has_range(leaf))
    }

    /// Holds an entry back that the leaf may have, or a patch over it; false where neither can. `is_new` says that the
    /// leaf does not have it.
    pub(super) fn hold(&mut self, key: KeyRef<'_>, value: u64, is_new: bool) -> bool {
        let Some((first, leaf)) = self.leaf().filter(|_| !self.is_rewritten) else { return false };
        let (old, new) = (self.held.len() - self.new, self.new + u64::from(is_new));
        let is_full = if is_new { new > self.changes_max() } else { old == leaf.count() };
        if is_full || self.held.len() == 0 && first.as_ref() != key {
            return false;
        }
        self.held.push(key, value);
        self.new = new;
        true
    }

    /// How many entries a patch over the leaf may have: each takes two bytes at least.
    fn changes_max(&self) -> u64 {
        self.leaf().map_or(0, |(_, leaf)| patch_len_max(leaf.reference) as u64 / 2)
    }

    //= spec/space.md#p-2-8-what-is-taken-over
    //# A writer MUST NOT take over anything else, nor anything that it could only reach by a damaged record.
    /// Whether the entries held back are those of the leaf.
    pub(super) fn is_same(&self) -> bool {
        let held = self.held.len();
        let has = |(_, leaf): (&Key, Branch)| {
            held == leaf.count() || held > 0 && seeded::is_on(Bug::DeletedLeafTakenOver)
        };
        !self.is_rewritten && self.new == 0 && self.leaf().is_some_and(has)
    }

    //= spec/space.md#p-2-8-what-is-taken-over
    //# A writer MUST NOT write a patch over a leaf that it has not read and verified.
    /// What makes the entries of the record of the leaf those held back, if that is little.
    pub(super) fn changes(&self, source: &impl IndexSource) -> Option<(Reference, Changes)> {
        let (first, leaf) = self.leaf().filter(|_| !self.is_rewritten && self.held.len() > 0)?;
        let kept = self.held.len() - self.new;
        if leaf.count().saturating_sub(kept) > 2 * self.changes_max() {
            return None;
        }
        let mut trees = self.base.place.trees(source);
        let limits = Limits::new(LogAddress::MAX, PAGE_SHIFT);
        let longest = self.base.place.geometry().checkpoint_entry_len_max();
        let limits = if self.base.is_of_index { limits.with_entries(longest) } else { limits };
        let of = LeafOf { id: self.base.id, next: None, first, branch: &leaf, limits };
        let mut own = trees.own_entries(of).ok()?;
        if seeded::is_on(Bug::PatchOverAPatch) && leaf.patch.is_some() {
            own.clear();
            trees.leaf(of, &mut own).ok()?;
        }
        Some((leaf.reference, Changes::between(&own, &self.held)))
    }

    /// Whether leaves of the page are taken over, and nothing behind them is written yet.
    pub(super) fn keeps_any(&self) -> bool {
        !self.kept.is_empty()
    }

    /// The leaf is taken over.
    pub(super) fn keep_leaf(&mut self) {
        self.kept.extend(self.leaf().map(|(first, leaf)| (first.clone(), leaf)));
        self.kept_as_they_are += 1;
        self.pass();
    }

    /// The leaf is taken over, with this patch over it, or none.
    pub(super) fn keep_patched(&mut self, patch: Option<(Reference, Lsn)>) {
        let count = self.held.len();
        let patched = self.leaf().map(|(first, leaf)| {
            let patch = patch.map(|(reference, lsn)| Patch { reference, lsn, own: leaf.own_count() });
            (first.clone(), leaf.patched(patch, count))
        });
        self.kept.extend(patched);
        if seeded::is_on(Bug::PatchedPageTakenOver) {
            self.kept_as_they_are += 1;
        }
        self.pass();
    }

    fn pass(&mut self) {
        self.held.clear();
        self.new = 0;
    }

    /// The leaf is written anew; false where it was to be already.
    pub(super) fn rewrite(&mut self) -> bool {
        !std::mem::replace(&mut self.is_rewritten, true)
    }

    /// What was held back of it.
    pub(super) fn release(&mut self) -> List {
        self.new = 0;
        std::mem::take(&mut self.held)
    }

    /// The keys of the next leaf pass. The page, where this was its last leaf, and whether all its leaves are
    /// taken over as they are.
    pub(super) fn next_leaf(&mut self) -> Option<((Key, Branch), bool)> {
        self.is_rewritten = false;
        let (_, leaves) = self.page.as_mut()?;
        leaves.pop_front();
        if !leaves.is_empty() {
            return None;
        }
        let keeps_all = self.kept_as_they_are == self.leaves_of_page;
        let page = self.page.take().map(|(page, _)| (page, keeps_all));
        self.turn();
        page
    }

    /// The leaves that are taken over and not in a page yet.
    pub(super) fn take_kept(&mut self) -> Vec<(Key, Branch)> {
        std::mem::take(&mut self.kept)
    }
}
