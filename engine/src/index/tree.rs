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
    near: Option<Near<'t>>,
}

/// Where a key stands, or would.
#[derive(Debug, Clone, Copy)]
struct Near<'t> {
    leaf: &'t Leaf,
    /// Keys of the leaf are below this one, if there are leaves behind it.
    end: Option<&'t [u8]>,
    at: usize,
}

impl Ascending<'_> {
    /// What there is for `key`, which is not below any that was asked for.
    pub(super) fn get(&mut self, key: &[u8]) -> Option<Entry> {
        let near = self.near.filter(|near| near.end.is_none_or(|end| key < end));
        let (mut near, found) = match near {
            Some(near) => (near, near.leaf.keys.search_on(near.at, key)),
            None => {
                let near = self.tree.leaf_of(key)?;
                (near, near.leaf.keys.search(key))
            }
        };
        near.at = found.unwrap_or_else(|at| at);
        self.near = Some(near);
        found.ok().and_then(|at| near.leaf.entry(at))
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

    /// The leaf that has `key`, if any has.
    fn leaf_of(&self, key: &[u8]) -> Option<Near<'_>> {
        let (mut node, mut end) = (self.root.as_ref()?, None);
        loop {
            match node {
                Node::Leaf(leaf) => return Some(Near { leaf, end, at: 0 }),
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
        let root = self.root.get_or_insert_with(|| Node::Leaf(Box::default()));
        let (before, split) = root.insert(key, entry, self.full, true);
        if let Some(Split { separator, right }) = split {
            let left = self.root.take().expect("it was just split");
            let mut separators = Keys::default();
            separators.insert(0, &separator);
            self.root = Some(Node::Branch(Box::new(Branch { separators, children: vec![left, right] })));
        }
        if before.is_none() {
            self.len += 1;
            self.key_bytes += key.len();
        }
        before
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
