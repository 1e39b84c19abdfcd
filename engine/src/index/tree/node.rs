//! The nodes of a tree: leaves have keys and their entries, branches have nodes and what stands between them.

use std::ops::{Bound, Range};

use super::super::Entry;
use super::keys::{KEYS_MAX, Keys, separator};

#[derive(Debug, Clone)]
pub(super) enum Node {
    Leaf(Box<Leaf>),
    Branch(Box<Branch>),
}

#[derive(Debug, Clone)]
pub(in crate::index) struct Leaf {
    pub(super) keys: Keys,
    /// The bits of the entries.
    entries: [u64; KEYS_MAX],
}

#[derive(Debug, Clone)]
pub(super) struct Branch {
    /// Between two children each: not above any key of the right one, and above all of the left one.
    pub(super) separators: Keys,
    pub(super) children: Vec<Node>,
}

/// The right part of a node that had no room, and what stands between the parts.
pub(super) struct Split {
    pub(super) separator: Vec<u8>,
    pub(super) right: Node,
}

/// What a leaf has taken of entries that come in order.
pub(super) struct Taken {
    /// So many of them.
    pub(super) count: usize,
    /// Those that were not there, and the bytes of their keys.
    pub(super) added: usize,
    pub(super) added_bytes: usize,
}

impl Default for Leaf {
    fn default() -> Self {
        Leaf { keys: Keys::default(), entries: [0; KEYS_MAX] }
    }
}

impl Leaf {
    pub(super) fn entry(&self, at: usize) -> Option<Entry> {
        Entry::from_bits(self.entries[at])
    }

    /// The entries in `range`.
    pub(in crate::index) fn entries(&self, range: Range<usize>) -> impl DoubleEndedIterator<Item = Entry> {
        self.entries[range].iter().map(|bits| Entry::from_bits(*bits).expect("a key that is there has one"))
    }

    /// The bytes of the keys in `range`, one behind the other.
    pub(in crate::index) fn key_bytes(&self, range: &Range<usize>) -> &[u8] {
        self.keys.bytes_of(range)
    }

    /// How long each of the keys in `range` is.
    pub(in crate::index) fn key_lens(&self, range: Range<usize>) -> impl DoubleEndedIterator<Item = usize> {
        self.keys.lens(range)
    }

    /// Puts these behind, which come in order, and have room.
    fn extend(&mut self, more: &[(&[u8], Entry)]) {
        let places = &mut self.entries[self.keys.len()..];
        places.iter_mut().zip(more).for_each(|(bits, (_, entry))| *bits = entry.value());
        self.keys.extend(more.iter().map(|(key, _)| *key));
    }

    pub(super) fn insert_at(&mut self, at: usize, key: &[u8], entry: Entry) {
        let len = self.keys.len();
        self.keys.insert(at, key);
        self.entries.copy_within(at..len, at + 1);
        self.entries[at] = entry.value();
    }

    fn remove_at(&mut self, at: usize) -> Option<Entry> {
        let removed = self.entry(at);
        self.entries.copy_within(at + 1..self.keys.len(), at);
        self.keys.remove(at);
        removed
    }

    /// Where the keys from `from` on begin, and those up to `to` end.
    fn between(&self, from: Bound<&[u8]>, to: Bound<&[u8]>) -> Range<usize> {
        let below = |found: Result<usize, usize>, or_at| found.map_or_else(|at| at, |at| at + or_at);
        let start = match from {
            Bound::Unbounded => 0,
            Bound::Included(key) => below(self.keys.search(key), 0),
            Bound::Excluded(key) => below(self.keys.search(key), 1),
        };
        let end = match to {
            Bound::Unbounded => self.keys.len(),
            Bound::Included(key) => below(self.keys.search_on(start, key), 1),
            Bound::Excluded(key) => below(self.keys.search_on(start, key), 0),
        };
        start..end
    }

    /// Of the last leaf, `is_last`.
    pub(super) fn insert(
        &mut self,
        key: &[u8],
        entry: Entry,
        full: usize,
        is_last: bool,
    ) -> (Option<Entry>, Option<Split>) {
        let at = match self.keys.search_of_last(key, is_last) {
            Ok(at) => {
                let before = self.entry(at);
                self.entries[at] = entry.value();
                return (before, None);
            }
            Err(at) => at,
        };
        let len = self.keys.len();
        if len < full && self.keys.has_room(key.len()) {
            self.insert_at(at, key, entry);
            return (None, None);
        }
        let mut right = Box::<Leaf>::default();
        if is_last && at == len {
            // Keys that come in order leave full leaves behind.
            self.keys.shrink();
            right.keys.reserve_as(&self.keys);
            right.insert_at(0, key, entry);
        } else {
            let cut = len / 2;
            right.keys = self.keys.split_off(cut);
            right.entries[..len - cut].copy_from_slice(&self.entries[cut..len]);
            if at > cut {
                right.insert_at(at - cut, key, entry);
            } else {
                self.insert_at(at, key, entry);
            }
        }
        let separator = separator(self.keys.last(), right.keys.get(0)).to_vec();
        (None, Some(Split { separator, right: Node::Leaf(right) }))
    }

    /// Takes the first of `entries`, where there are none for their keys: as many as there is room for here, or in two leaves where some
    /// come between others or this one is full. Of the last leaf, `is_last`.
    pub(super) fn merge(
        &mut self,
        entries: &[(&[u8], Entry)],
        full: usize,
        is_last: bool,
    ) -> (Taken, Option<Split>) {
        let (len, bytes) = (self.keys.len(), self.keys.bytes_len());
        let is_behind = len == 0 || self.keys.last() < entries[0].0;
        let most = if is_behind && len < full { full - len } else { full };
        let mut room = 0;
        let has_room = |(key, _): &&(&[u8], Entry)| {
            room += key.len();
            self.keys.has_room(room)
        };
        let count = entries.iter().take(most).take_while(has_room).count().max(1);
        let new = &entries[..count];
        let bytes_of = |all: &[(&[u8], Entry)]| all.iter().map(|(key, _)| key.len()).sum::<usize>();
        let mut taken = Taken { count, added: count, added_bytes: bytes_of(new) };
        if let [(key, entry)] = *new {
            // Also one that has no room here.
            if self.keys.find(key).is_some() {
                return (Taken { count, added: 0, added_bytes: 0 }, None);
            }
            return (taken, self.insert(key, entry, full, is_last).1);
        }
        if is_behind && len < full {
            self.extend(new);
            return (taken, None);
        }
        let old = std::mem::take(self);
        let mut all: Vec<_> = (0..len).map(|at| old.keys.get(at)).zip(old.entries(0..len)).collect();
        all.extend_from_slice(new);
        // Of two under one key the first stays, which was there.
        all.sort_by_key(|(key, _)| *key);
        all.dedup_by_key(|(key, _)| *key);
        (taken.added, taken.added_bytes) = (all.len() - len, bytes_of(&all) - bytes);
        // Full where more are to come, or may come in order; else two halves, since what comes between others comes anywhere.
        let is_half = all.len() > full && !is_last && count == entries.len();
        let (left, right) = all.split_at(if is_half { all.len() / 2 } else { all.len().min(full) });
        self.extend(left);
        let split = left.last().zip(right.first()).map(|((last, _), (first, _))| {
            let mut leaf = Box::<Leaf>::default();
            leaf.extend(right);
            Split { separator: separator(last, first).to_vec(), right: Node::Leaf(leaf) }
        });
        (taken, split)
    }

    fn append(&mut self, right: &Leaf) {
        let (len, more) = (self.keys.len(), right.keys.len());
        self.keys.append(&right.keys);
        self.entries[len..len + more].copy_from_slice(&right.entries[..more]);
    }
}

impl Branch {
    /// The child that has `key`, if any has.
    #[inline]
    pub(super) fn child_of(&self, key: &[u8]) -> usize {
        self.separators.search(key).map_or_else(|at| at, |at| at + 1)
    }

    fn change_leaf<R>(
        &mut self,
        key: &[u8],
        full: usize,
        is_last: bool,
        change: impl FnOnce(&mut Leaf, bool) -> (R, Option<Split>),
    ) -> (R, Option<Split>) {
        let at = self.separators.search_of_last(key, is_last).map_or_else(|at| at, |at| at + 1);
        let is_last = is_last && at + 1 == self.children.len();
        let (changed, split) = self.children[at].change_leaf(key, full, is_last, change);
        let Some(Split { separator, right }) = split else { return (changed, None) };
        self.separators.insert(at, &separator);
        self.children.insert(at + 1, right);
        let len = self.children.len();
        if len <= full && self.separators.has_room(0) {
            return (changed, None);
        }
        let cut = if is_last { len - 1 } else { (len - 1) / 2 };
        let children = self.children.split_off(cut);
        let separators = self.separators.split_off(cut);
        let separator = self.separators.last().to_vec();
        self.separators.remove(cut - 1);
        let right = Node::Branch(Box::new(Branch { separators, children }));
        (changed, Some(Split { separator, right }))
    }

    fn remove(&mut self, key: &[u8], full: usize) -> Option<Entry> {
        let at = self.child_of(key);
        let removed = self.children[at].remove(key, full)?;
        let len = self.children[at].len();
        if len == 0 {
            self.children.remove(at);
            if self.separators.len() > 0 {
                self.separators.remove(at.saturating_sub(1));
            }
        } else if len * 2 <= full {
            // With the neighbour that has room for it.
            for left in [at.wrapping_sub(1), at] {
                let both = self.children.get(left).zip(self.children.get(left.wrapping_add(1)));
                let between = self
                    .separators
                    .len()
                    .checked_sub(1)
                    .map_or(0, |last| self.separators.get(left.min(last)).len());
                let fits = |(left, right): (&Node, &Node)| {
                    left.len() + right.len() <= full / 4 * 3 && left.has_room_for(right, between)
                };
                if both.is_some_and(fits) {
                    let right = self.children.remove(left + 1);
                    let separator = self.separators.get(left).to_vec();
                    self.separators.remove(left);
                    self.children[left].append(&separator, right);
                    break;
                }
            }
        }
        Some(removed)
    }
}

impl Node {
    /// Keys of a leaf, children of a branch.
    pub(super) fn len(&self) -> usize {
        match self {
            Node::Leaf(leaf) => leaf.keys.len(),
            Node::Branch(branch) => branch.children.len(),
        }
    }

    /// Whether their keys may stand together, with what stands between them.
    fn has_room_for(&self, right: &Node, between: usize) -> bool {
        match (self, right) {
            (Node::Leaf(left), Node::Leaf(right)) => left.keys.has_room_for(&right.keys, 0),
            (Node::Branch(left), Node::Branch(right)) => {
                left.separators.has_room_for(&right.separators, between)
            }
            _ => unreachable!("all leaves are on one level"),
        }
    }

    /// Has `change` change the leaf of `key`, which it is given with whether that is the last one. Of nodes that are left with more than
    /// `full`, parts are split off. Of the last node of its level, `is_last`.
    pub(super) fn change_leaf<R>(
        &mut self,
        key: &[u8],
        full: usize,
        is_last: bool,
        change: impl FnOnce(&mut Leaf, bool) -> (R, Option<Split>),
    ) -> (R, Option<Split>) {
        match self {
            Node::Leaf(leaf) => change(leaf, is_last),
            Node::Branch(branch) => branch.change_leaf(key, full, is_last, change),
        }
    }

    pub(super) fn remove(&mut self, key: &[u8], full: usize) -> Option<Entry> {
        match self {
            Node::Leaf(leaf) => leaf.keys.find(key).and_then(|at| leaf.remove_at(at)),
            Node::Branch(branch) => branch.remove(key, full),
        }
    }

    /// Puts what its right neighbour has behind what it has.
    pub(super) fn append(&mut self, separator: &[u8], right: Node) {
        match (self, right) {
            (Node::Leaf(left), Node::Leaf(right)) => left.append(&right),
            (Node::Branch(left), Node::Branch(right)) => {
                left.separators.insert(left.separators.len(), separator);
                left.separators.append(&right.separators);
                left.children.extend(right.children);
            }
            _ => unreachable!("all leaves are on one level"),
        }
    }

    pub(super) fn walk(
        &self,
        from: Bound<&[u8]>,
        to: Bound<&[u8]>,
        reverse: bool,
        each: &mut impl FnMut(&Leaf, Range<usize>) -> bool,
    ) -> bool {
        let branch = match self {
            Node::Leaf(leaf) => {
                let range = leaf.between(from, to);
                return range.is_empty() || each(leaf, range);
            }
            Node::Branch(branch) => branch,
        };
        let first = match from {
            Bound::Unbounded => 0,
            Bound::Included(key) | Bound::Excluded(key) => branch.child_of(key),
        };
        let last = match to {
            Bound::Unbounded => branch.children.len() - 1,
            Bound::Included(key) | Bound::Excluded(key) => {
                branch.separators.search_on(first, key).map_or_else(|at| at, |at| at + 1)
            }
        };
        let mut step = |at: usize| {
            let from = if at == first { from } else { Bound::Unbounded };
            let to = if at == last { to } else { Bound::Unbounded };
            branch.children[at].walk(from, to, reverse, each)
        };
        if reverse { (first..=last).rev().all(&mut step) } else { (first..=last).all(&mut step) }
    }

    /// Without those of keys.
    pub(super) fn memory_bytes(&self) -> usize {
        match self {
            Node::Leaf(_) => size_of::<Leaf>(),
            Node::Branch(branch) => {
                let children = match &branch.children[..] {
                    // All of them are leaves.
                    [Node::Leaf(_), ..] => branch.children.len() * size_of::<Leaf>(),
                    branches => branches.iter().map(Node::memory_bytes).sum(),
                };
                size_of::<Branch>() + branch.children.capacity() * size_of::<Node>() + children
            }
        }
    }
}
