//! The keys that no page of integers has: one tree for each kind, since all ints come before all texts, and these before all byte strings.

#![expect(clippy::big_endian_bytes, reason = "big-endian bytes compare as the numbers do")]

use std::ops::{Bound, Range};

use crate::document::{Key, KeyRef};

use super::page::Entries;
use super::tree::{Leaf, Tree};
use super::{Entry, KeyRange};

#[derive(Debug, Clone)]
pub(super) struct Rest {
    /// By kind.
    trees: [Tree; KINDS.len()],
}

/// Ordered as the kinds of keys are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Int,
    Text,
    Bytes,
}

const KINDS: [Kind; 3] = [Kind::Int, Kind::Text, Kind::Bytes];

/// The bytes of an int, which compare as the ints do.
fn int_bytes(int: i64) -> [u8; 8] {
    (int as u64 ^ 1 << 63).to_be_bytes()
}

fn int_of(bytes: &[u8]) -> i64 {
    let bytes = bytes.try_into().expect("an int has eight bytes");
    (u64::from_be_bytes(bytes) ^ 1 << 63) as i64
}

/// Calls `call` with the kind of `key` and its bytes.
#[inline(always)]
fn with_bytes<R>(key: KeyRef<'_>, call: impl FnOnce(Kind, &[u8]) -> R) -> R {
    match key {
        KeyRef::Int(int) => call(Kind::Int, &int_bytes(int)),
        KeyRef::Text(text) => call(Kind::Text, text.as_bytes()),
        KeyRef::Bytes(bytes) => call(Kind::Bytes, bytes),
    }
}

impl Rest {
    /// No keys, in trees of nodes with up to `full`.
    pub(super) fn new(full: usize) -> Self {
        Rest { trees: KINDS.map(|_| Tree::new(full)) }
    }

    #[inline(always)]
    pub(super) fn tree(&self, kind: Kind) -> &Tree {
        &self.trees[kind as usize]
    }

    #[inline(always)]
    pub(super) fn tree_mut(&mut self, kind: Kind) -> &mut Tree {
        &mut self.trees[kind as usize]
    }

    pub(super) fn len(&self) -> usize {
        self.trees.iter().map(Tree::len).sum()
    }

    #[inline]
    pub(super) fn get(&self, key: KeyRef<'_>) -> Option<Entry> {
        with_bytes(key, |kind, bytes| self.tree(kind).get(bytes))
    }

    pub(super) fn insert(&mut self, key: KeyRef<'_>, entry: Entry) -> Option<Entry> {
        with_bytes(key, |kind, bytes| self.tree_mut(kind).insert(bytes, entry))
    }

    /// Puts in entries that come in order, where there are none for their keys.
    pub(super) fn merge<'k>(&mut self, entries: impl Iterator<Item = (KeyRef<'k>, Entry)>) {
        let (mut ints, mut texts, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
        for (key, entry) in entries {
            match key {
                KeyRef::Int(int) => ints.push((int_bytes(int), entry)),
                KeyRef::Text(text) => texts.push((text.as_bytes(), entry)),
                KeyRef::Bytes(key) => bytes.push((key, entry)),
            }
        }
        let ints: Vec<_> = ints.iter().map(|(int, entry)| (&int[..], *entry)).collect();
        for (kind, entries) in KINDS.into_iter().zip([&ints, &texts, &bytes]) {
            self.tree_mut(kind).merge(entries);
        }
    }

    pub(super) fn remove(&mut self, key: KeyRef<'_>) -> Option<Entry> {
        with_bytes(key, |kind, bytes| self.tree_mut(kind).remove(bytes))
    }

    /// How many ints there are from `first` to `last`.
    pub(super) fn count_ints(&self, first: i64, last: i64) -> usize {
        let mut count = 0;
        self.walk_ints(first, last, |_, range| count += range.len());
        count
    }

    /// The ints from `first` to `last`, and their entries.
    pub(super) fn ints(&self, first: i64, last: i64) -> Vec<(i64, Entry)> {
        let mut found = Vec::new();
        self.walk_ints(first, last, |leaf, range| {
            let ints = leaf.key_bytes(&range).chunks_exact(size_of::<i64>()).map(int_of);
            found.extend(ints.zip(leaf.entries(range.clone())));
        });
        found
    }

    fn walk_ints(&self, first: i64, last: i64, mut each: impl FnMut(&Leaf, Range<usize>)) {
        let (first, last) = (int_bytes(first), int_bytes(last));
        self.tree(Kind::Int).walk(Bound::Included(&first), Bound::Included(&last), false, |leaf, range| {
            each(leaf, range);
            true
        });
    }

    /// Appends up to `limit` entries of `range`, which does not end before it begins, in key order or in reverse.
    pub(super) fn page(&self, range: &KeyRange, reverse: bool, limit: usize, out: &mut Entries) {
        self.walk(range, reverse, limit, |kind, leaf, range| copy(kind, leaf, range, reverse, out));
    }

    /// How many keys `range` has, which does not end before it begins; no more than `limit` are counted.
    pub(super) fn count(&self, range: &KeyRange, limit: usize) -> usize {
        self.walk(range, false, limit, |_, _, _| ())
    }

    /// Shows the parts of leaves that are in `range`, of no more than `limit` keys. How many these are.
    fn walk(
        &self,
        range: &KeyRange,
        reverse: bool,
        limit: usize,
        mut show: impl FnMut(Kind, &Leaf, Range<usize>),
    ) -> usize {
        let mut left = limit;
        let mut ints = [[0; 8]; 2];
        let [from_int, to_int] = &mut ints;
        let (from, to) = (end(range.from.as_ref(), from_int), end(range.to.as_ref(), to_int));
        let kinds = &KINDS[kind_of(from, Kind::Int) as usize..=kind_of(to, Kind::Bytes) as usize];
        let mut each = |kind: &Kind| {
            self.tree(*kind).walk(among(from, *kind), among(to, *kind), reverse, |leaf, mut range| {
                let len = range.len().min(left);
                range = if reverse { range.end - len..range.end } else { range.start..range.start + len };
                left -= len;
                show(*kind, leaf, range);
                left > 0
            });
        };
        if reverse {
            kinds.iter().rev().for_each(&mut each);
        } else {
            kinds.iter().for_each(&mut each);
        }
        limit - left
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.trees.iter().map(Tree::memory_bytes).sum()
    }
}

/// Appends the part `range` of a leaf of keys of this kind.
fn copy(kind: Kind, leaf: &Leaf, range: Range<usize>, reverse: bool, out: &mut Entries) {
    let bytes = leaf.key_bytes(&range);
    let (lens, entries) = (leaf.key_lens(range.clone()), leaf.entries(range));
    match kind {
        Kind::Int => {
            let ints = bytes.chunks_exact(size_of::<i64>()).map(int_of);
            if reverse {
                ints.rev().zip(entries.rev()).for_each(|(int, entry)| out.push_int(int, entry));
            } else {
                ints.zip(entries).for_each(|(int, entry)| out.push_int(int, entry));
            }
        }
        Kind::Text => {
            // All of them at once: this costs less than a look at each.
            let texts = str::from_utf8(bytes).expect("texts were put there, one behind the other");
            out.push_texts(texts, lens, entries, reverse);
        }
        Kind::Bytes => out.push_byte_strings(bytes, lens, entries, reverse),
    }
}

/// An end of a range, whose key has a kind and bytes: those of an int are put into `int`.
fn end<'a>(bound: Bound<&'a Key>, int: &'a mut [u8; 8]) -> Bound<(Kind, &'a [u8])> {
    bound.map(|key| match key {
        Key::Int(key) => {
            *int = int_bytes(*key);
            (Kind::Int, &int[..])
        }
        Key::Text(text) => (Kind::Text, text.as_bytes()),
        Key::Bytes(bytes) => (Kind::Bytes, &bytes[..]),
    })
}

/// The kind of the key at an end of a range.
fn kind_of(end: Bound<(Kind, &[u8])>, of_all: Kind) -> Kind {
    let (Bound::Included((kind, _)) | Bound::Excluded((kind, _))) = end else { return of_all };
    kind
}

/// What an end of a range comes to among the keys of `kind`, which do not all lie beyond it.
fn among(end: Bound<(Kind, &[u8])>, kind: Kind) -> Bound<&[u8]> {
    if kind_of(end, kind) == kind { end.map(|(_, bytes)| bytes) } else { Bound::Unbounded }
}
