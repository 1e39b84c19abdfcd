//! An ordered map from byte strings to entries: a B+tree whose leaves and branches are [packed](keys).

mod keys;
mod node;
#[cfg(test)]
mod tests;

use std::ops::{Bound, Range};

use super::Entry;
use keys::Keys;
use node::{Branch, Node, Split};

pub(super) use keys::KEYS_MAX;
pub(super) use node::Leaf;

#[derive(Debug, Clone)]
pub(super) struct Tree {
    root: Option<Node>,
    /// Keys in a leaf, and children of a branch, at most: fewer than there could be where tests are to meet many of them.
    full: usize,
    len: usize,
    /// Of all keys together.
    key_bytes: usize,
}

/// Looks for keys that come in order: one that belongs into the leaf of the one before is sought from that on.
#[derive(Debug)]
pub(super) struct Ascending<'t> {
    tree: &'t Tree,
    /// The leaf of the last one, what the leaf behind it begins with, and where the key stands, or would.
    near: Option<(&'t Leaf, Option<&'t [u8]>, usize)>,
}

impl Ascending<'_> {
    /// What there is for `key`, which is not below any that was asked for.
    pub(super) fn get(&mut self, key: &[u8]) -> Option<Entry> {
        let near = self.near.filter(|(_, end, _)| end.is_none_or(|end| key < end));
        let (leaf, end, at) = near.or_else(|| self.tree.leaf_of(key))?;
        let found = leaf.keys.search_on(at, key);
        self.near = Some((leaf, end, found.unwrap_or_else(|at| at)));
        found.ok().and_then(|at| leaf.entry(at))
    }
}

impl Tree {
    /// An empty tree, of nodes with up to `full` keys.
    pub(super) fn new(full: usize) -> Self {
        assert!((2..=KEYS_MAX).contains(&full), "a node that is split has two parts");
        Tree { root: None, full, len: 0, key_bytes: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(super) fn get(&self, key: &[u8]) -> Option<Entry> {
        let mut node = self.root.as_ref()?;
        loop {
            match node {
                Node::Leaf(leaf) => return leaf.keys.find(key).and_then(|at| leaf.entry(at)),
                Node::Branch(branch) => node = &branch.children[branch.child_of(key)],
            }
        }
    }

    /// The leaf that has `key`, if any has, what the leaf behind it begins with, and its beginning.
    fn leaf_of(&self, key: &[u8]) -> Option<(&Leaf, Option<&[u8]>, usize)> {
        let (mut node, mut end) = (self.root.as_ref()?, None);
        loop {
            match node {
                Node::Leaf(leaf) => return Some((leaf, end, 0)),
                Node::Branch(branch) => {
                    let at = branch.child_of(key);
                    node = &branch.children[at];
                    end = (at < branch.separators.len()).then(|| branch.separators.get(at)).or(end);
                }
            }
        }
    }

    /// For look-ups of keys that come in order.
    pub(super) fn ascending(&self) -> Ascending<'_> {
        Ascending { tree: self, near: None }
    }

    /// Puts `entry` in the place of what was there, and returns that.
    pub(super) fn insert(&mut self, key: &[u8], entry: Entry) -> Option<Entry> {
        let full = self.full;
        let before = self.change_leaf(key, |leaf, is_last| leaf.insert(key, entry, full, is_last));
        if before.is_none() {
            self.len += 1;
            self.key_bytes += key.len();
        }
        before
    }

    /// Puts in entries that come in order, each once, where there are none for their keys. How many there were not. Each by itself would
    /// take many times as long.
    pub(super) fn merge(&mut self, mut entries: &[(&[u8], Entry)]) -> usize {
        let (full, before) = (self.full, self.len);
        while let Some((first, _)) = entries.first() {
            let end = self.leaf_of(first).and_then(|(_, end, _)| end);
            let of_leaf = end.map_or(entries.len(), |end| entries.partition_point(|(key, _)| *key < end));
            let taken =
                self.change_leaf(first, |leaf, is_last| leaf.merge(&entries[..of_leaf], full, is_last));
            self.len += taken.added;
            self.key_bytes += taken.added_bytes;
            entries = &entries[taken.count..];
        }
        self.len - before
    }

    /// Has `change` change the leaf of `key`, which it is given with whether that is the last one.
    fn change_leaf<R>(
        &mut self,
        key: &[u8],
        change: impl FnOnce(&mut Leaf, bool) -> (R, Option<Split>),
    ) -> R {
        let root = self.root.get_or_insert_with(|| Node::Leaf(Box::default()));
        let (changed, split) = root.change_leaf(key, self.full, true, change);
        if let Some(Split { separator, right }) = split {
            let left = self.root.take().expect("it was just split");
            let mut separators = Keys::default();
            separators.insert(0, &separator);
            self.root = Some(Node::Branch(Box::new(Branch { separators, children: vec![left, right] })));
        }
        changed
    }

    pub(super) fn remove(&mut self, key: &[u8]) -> Option<Entry> {
        let removed = self.root.as_mut()?.remove(key, self.full)?;
        self.len -= 1;
        self.key_bytes -= key.len();
        while let Some(Node::Branch(branch)) = &mut self.root
            && branch.children.len() <= 1
        {
            self.root = branch.children.pop();
        }
        if self.len == 0 {
            self.root = None;
        }
        Some(removed)
    }

    /// Hands out the parts of leaves that the keys between `from` and `to` take, in order or in reverse, until `each` says stop.
    pub(super) fn walk(
        &self,
        from: Bound<&[u8]>,
        to: Bound<&[u8]>,
        reverse: bool,
        mut each: impl FnMut(&Leaf, Range<usize>) -> bool,
    ) {
        if let Some(root) = &self.root {
            root.walk(from, to, reverse, &mut each);
        }
    }

    /// Bytes of memory that it takes: its nodes, and the keys with some room beside them.
    pub(super) fn memory_bytes(&self) -> usize {
        let nodes = self.root.as_ref().map_or(0, Node::memory_bytes);
        nodes + self.key_bytes + self.key_bytes / 16
    }
}
