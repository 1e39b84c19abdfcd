//! What a checkpoint takes over from its base (P-2.8): leaves with the entries that it would write, and pages
//! of
//! such leaves.
//!
//! The entries of a tree come in the order of keys. Those that may stand in a leaf of the base are held back
//! until
//! the leaf's range of keys has passed. If they are all that the leaf has, it is kept.

use std::collections::{BTreeMap, VecDeque};

use super::directory::DirectoryEntry;
use super::read::{Branch, Checkpoint, TreeOf, Trees};
use super::records::{IndexSource, Unreadable};
use crate::document::{Key, KeyRef};
use crate::format::index_record::Reference;
use crate::seeded::{self, Bug};

/// A tree of the base: its directory pages, and the leaves of each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BaseTree(VecDeque<(Known, VecDeque<Known>)>);

/// A directory page or a leaf, by its first key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Known {
    first: Key,
    branch: Branch,
}

impl Known {
    pub(super) fn reference(&self) -> Reference {
        self.entry().reference
    }

    pub(super) fn entry(&self) -> DirectoryEntry<'_> {
        self.branch.entry(self.first.as_ref())
    }
}

impl BaseTree {
    /// A tree of a root, down to its leaves.
    ///
    /// # Errors
    /// As [`Unreadable`] says.
    pub fn read<S: IndexSource>(trees: &mut Trees<'_, S>, tree: TreeOf<'_>) -> Result<Self, Unreadable> {
        let known = |(first, branch)| Known { first, branch };
        let mut pages = VecDeque::new();
        for (first, page) in trees.pages(tree)? {
            let leaves = trees.page(tree.id, &first, &page)?;
            pages.push_back((known((first, page)), leaves.into_iter().map(known).collect::<VecDeque<_>>()));
        }
        let leaves = || pages.iter().flat_map(|(_, leaves)| leaves);
        // The leaves of one page are in order already: the first of a page may not be above the last before
        // it.
        let behind = leaves().zip(leaves().skip(1)).find(|(one, other)| one.first >= other.first);
        match behind {
            Some((_, leaf)) => Err(leaf.branch.damaged("keys out of order")),
            None => Ok(BaseTree(pages)),
        }
    }

    /// All its directory pages and leaves.
    pub fn references(&self) -> impl Iterator<Item = Reference> {
        self.0.iter().flat_map(|(page, leaves)| leaves.iter().chain([page])).map(Known::reference)
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
/// As [`Unreadable`] says.
pub fn base_trees<S: IndexSource>(
    checkpoint: &mut Checkpoint<'_, S>,
) -> Result<BTreeMap<u32, BaseTree>, Unreadable> {
    let (root, trees) = checkpoint.parts();
    let all = root.catalog.iter().map(TreeOf::from).chain(root.indexes.iter().map(TreeOf::from));
    all.map(|tree| Ok((tree.id, BaseTree::read(trees, tree)?))).collect()
}

/// All records of a checkpoint.
///
/// # Errors
/// As [`Unreadable`] says.
pub fn references<S: IndexSource>(checkpoint: &mut Checkpoint<'_, S>) -> Result<Vec<Reference>, Unreadable> {
    let trees = base_trees(checkpoint)?;
    let of_trees = trees.values().flat_map(BaseTree::references);
    Ok(checkpoint.root_parts().iter().copied().chain(of_trees).collect())
}

/// A walk through the leaves of the base, beside the entries that are written.
#[derive(Debug, Clone)]
pub(super) struct TakeOver {
    /// What comes behind the page whose leaves pass.
    pages: VecDeque<(Known, VecDeque<Known>)>,
    /// The page, and its leaves; the first of them is the one whose keys pass. None behind the last page.
    page: Option<(Known, VecDeque<Known>)>,
    leaves_of_page: usize,
    /// Leaves of the page that are taken over.
    kept: Vec<Known>,
    /// Entries that the leaf may have.
    held: Held,
    /// What the leaf may have had is written anew.
    is_rewritten: bool,
}

/// Entries, one behind the other.
#[derive(Debug, Clone, Default)]
pub(super) struct Held {
    /// As CBOR.
    keys: Vec<u8>,
    values: Vec<u64>,
}

impl Held {
    pub(super) fn iter(&self) -> impl Iterator<Item = (KeyRef<'_>, u64)> {
        let mut rest = &self.keys[..];
        self.values.iter().map(move |value| {
            let (key, len) = KeyRef::decode_long(rest).expect("keys that were encoded here");
            rest = &rest[len..];
            (key, *value)
        })
    }
}

impl TakeOver {
    pub(super) fn new(BaseTree(pages): BaseTree) -> Self {
        let mut walk = TakeOver {
            pages,
            page: None,
            leaves_of_page: 0,
            kept: Vec::new(),
            held: Held::default(),
            is_rewritten: false,
        };
        walk.turn();
        walk
    }

    fn turn(&mut self) {
        self.page = self.pages.pop_front();
        self.leaves_of_page = self.page.as_ref().map_or(0, |(_, leaves)| leaves.len());
    }

    /// Whether there is a leaf whose keys pass.
    pub(super) fn has_leaf(&self) -> bool {
        self.page.is_some()
    }

    /// The leaf whose keys pass.
    fn leaf(&self) -> Option<&Known> {
        self.page.as_ref().and_then(|(_, leaves)| leaves.front())
    }

    /// What the leaf whose keys pass is read by.
    pub(super) fn reference(&self) -> Option<Reference> {
        self.leaf().map(Known::reference)
    }

    /// The first key behind the range of the leaf whose keys pass; none where that has no end.
    fn end(&self) -> Option<&Key> {
        let (_, leaves) = self.page.as_ref()?;
        let next = leaves.get(1).or_else(|| self.pages.front().map(|(page, _)| page));
        next.map(|next| &next.first)
    }

    /// Whether the key is beyond the range of the leaf whose keys pass.
    pub(super) fn is_behind(&self, key: KeyRef<'_>) -> bool {
        self.end().is_some_and(|end| end.as_ref() <= key)
    }

    /// Whether the leaf whose keys pass has this range and so many entries, and nothing else is in that range.
    pub(super) fn is_leaf(&self, range: UnreadLeaf<'_>) -> bool {
        let UnreadLeaf { first, end, count } = range;
        let has_range = |leaf: &Known| {
            leaf.entry().count == count && self.end() == end || seeded::is_on(Bug::RangesNotCompared)
        };
        !self.is_rewritten
            && self.held.values.is_empty()
            && self.leaf().is_some_and(|leaf| leaf.first == *first && has_range(leaf))
    }

    /// Holds an entry back that the leaf may have; false where it cannot.
    pub(super) fn hold(&mut self, key: KeyRef<'_>, value: u64) -> bool {
        let Some(leaf) = self.leaf().filter(|_| !self.is_rewritten) else { return false };
        let held = self.held.values.len() as u64;
        if held == leaf.entry().count || held == 0 && leaf.first.as_ref() != key {
            return false;
        }
        key.encode_into(&mut self.held.keys);
        self.held.values.push(value);
        true
    }

    //= spec/space.md#p-2-8-what-is-taken-over
    //# A writer MUST NOT take over anything else, nor anything that it could only reach by a damaged record.
    /// Whether the entries held back are those of the leaf.
    pub(super) fn is_same(&self) -> bool {
        let held = self.held.values.len() as u64;
        let has = |leaf: &Known| {
            let count = leaf.entry().count;
            held == count || held > 0 && seeded::is_on(Bug::DeletedLeafTakenOver)
        };
        !self.is_rewritten && self.leaf().is_some_and(has)
    }

    /// Whether leaves of the page are taken over, and nothing behind them is written yet.
    pub(super) fn keeps_any(&self) -> bool {
        !self.kept.is_empty()
    }

    /// The leaf is taken over.
    pub(super) fn keep_leaf(&mut self) {
        if let Some((_, leaves)) = &self.page {
            self.kept.extend(leaves.front().cloned());
        }
        self.held.keys.clear();
        self.held.values.clear();
    }

    /// The leaf is written anew; false where it was to be already.
    pub(super) fn rewrite(&mut self) -> bool {
        !std::mem::replace(&mut self.is_rewritten, true)
    }

    /// What was held back of it.
    pub(super) fn release(&mut self) -> Held {
        std::mem::take(&mut self.held)
    }

    /// The keys of the next leaf pass. The page, where this was its last leaf, and whether all its leaves are
    /// taken over.
    pub(super) fn next_leaf(&mut self) -> Option<(Known, bool)> {
        self.is_rewritten = false;
        let (_, leaves) = self.page.as_mut()?;
        leaves.pop_front();
        if !leaves.is_empty() {
            return None;
        }
        let keeps_all = self.kept.len() == self.leaves_of_page;
        let page = self.page.take().map(|(page, _)| (page, keeps_all));
        self.turn();
        page
    }

    /// The leaves that are taken over and not in a page yet.
    pub(super) fn take_kept(&mut self) -> Vec<Known> {
        std::mem::take(&mut self.kept)
    }
}
