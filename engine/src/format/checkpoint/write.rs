//! Writing a checkpoint: its trees one after another, then the root.

use std::collections::BTreeMap;

use super::directory::{DirectoryEntry, put_entry};
use super::entry::is_value;
use super::leaf::LeafEncoder;
use super::read::Branch;
use super::root::Root;
use super::takeover::{BaseTree, TakeOver, UnreadLeaf, patch_len_max};
use super::writer::{IndexSink, IndexWriter, Output};
use crate::document::{Key, KeyRef};
use crate::error::{Error, Result};
use crate::format::index_record::{INDEX_RECORD_OVERHEAD_MAX, IndexRecordKind, Reference};
use crate::format::{Geometry, varint};
use crate::seeded::{self, Bug};

/// The length of the longest number of a part, and of the longest reference.
const PART_OVERHEAD_MAX: usize = varint::VARINT_LEN_MAX + 5 + 4 + 3 + 4;
/// No part has fewer bytes of the map, but the last one.
const PART_LEN_MIN: usize = 64;

/// A checkpoint that is written. A superblock may name it once it is synced (F-8.8).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The last part of the root.
    pub root: Reference,
    /// The segments that it holds, and how many bytes of each are its own.
    pub segments: BTreeMap<u32, u64>,
    /// How many bytes were written.
    pub bytes: u64,
}

impl IndexWriter {
    /// Begins the tree of a collection or an index, which takes over what it can from the tree of the base.
    /// It is
    /// to be finished before the next one begins.
    ///
    /// # Panics
    /// If `collection` is 0.
    #[must_use]
    pub fn tree(&self, collection: u32, base: Option<BaseTree>) -> TreeWriter {
        assert!(collection > 0, "collection ids start at 1");
        TreeWriter {
            collection,
            base: base.map(|base| Box::new(TakeOver::new(base))),
            encoder: LeafEncoder::default(),
            leaf: Node::default(),
            page: Node::default(),
            top: Vec::new(),
        }
    }

    /// Writes the root behind everything else: once. It is given the segments of leaves and directory pages
    /// here.
    ///
    /// # Errors
    /// Those of the sink.
    ///
    /// # Panics
    /// If what the root has is not in order, or cannot be.
    pub fn finish(&mut self, sink: &mut impl IndexSink, mut root: Root) -> Result<Written> {
        root.segments = self.segments().keys().copied().collect();
        let (map, mut done, mut last) = (root.encode(), 0, None::<Reference>);
        for number in 0.. {
            let mut body = Vec::new();
            varint::put(&mut body, number);
            if let Some(before) = last {
                before.put(&mut body);
            }
            let piece = &map[done..][..self.part_len().min(map.len() - done)];
            body.extend_from_slice(piece);
            last = Some(self.record(sink, IndexRecordKind::Root, 0, &body)?);
            done += piece.len();
            if done == map.len() {
                break;
            }
        }
        self.hand_down(sink)?;
        let root = last.expect("a map has bytes");
        Ok(Written { root, segments: self.segments().clone(), bytes: self.bytes() })
    }

    /// How many bytes of the root's map go into the next part: so many that it fills the segment, where that
    /// leaves
    /// no less than is worth a record.
    fn part_len(&self) -> usize {
        let overhead = INDEX_RECORD_OVERHEAD_MAX + PART_OVERHEAD_MAX;
        let most = self.geometry().index_record_len_written();
        let left = self.left().min(most);
        (if left < overhead + PART_LEN_MIN { most } else { left }) - overhead
    }
}

/// The tree of one collection or index in the making.
#[derive(Debug, Clone)]
pub struct TreeWriter {
    collection: u32,
    base: Option<Box<TakeOver>>,
    encoder: LeafEncoder,
    /// The leaf and the directory page in the making.
    leaf: Node,
    page: Node,
    /// What leads to the pages that are written.
    top: Vec<u8>,
}

/// A leaf or a directory page.
#[derive(Debug, Clone, Default)]
struct Node {
    first: Option<Key>,
    body: Vec<u8>,
    /// How many entries there are, and how many keys in them.
    entries: u32,
    keys: u64,
}

impl Node {
    /// Whether it may have the entry that it ends with, behind others. Two always have room (F-8.11).
    fn has_room(&self, geometry: Geometry) -> bool {
        let most = match self.entries {
            0 | 1 => geometry.index_record_len_max(),
            _ => geometry.index_record_len_written(),
        };
        self.body.len() + INDEX_RECORD_OVERHEAD_MAX <= most
    }

    /// Whether one record has room for what it has and for all that another record has.
    fn has_room_for(&self, other: Reference, geometry: Geometry) -> bool {
        self.entries > 0 && self.body.len() + other.len as usize <= geometry.index_record_len_written()
    }

    fn clear(&mut self) {
        self.body.clear();
        (self.entries, self.keys) = (0, 0);
    }
}

impl TreeWriter {
    /// Appends an entry, whose key is above all before. `is_new` says whether it may have come to be, or have
    /// got
    /// its value, since the base.
    ///
    /// # Errors
    /// Those of the sink; `LimitReached` for a key for which small segments have no room
    /// ([`Geometry::checkpoint_key_len_max`]).
    ///
    /// # Panics
    /// If the key is not above the one before, or the value has no address.
    pub fn push(
        &mut self,
        out: &mut Output<'_, impl IndexSink>,
        (key, value): (KeyRef<'_>, u64),
        is_new: bool,
    ) -> Result<()> {
        assert!(is_value(value), "no record stands at the address in {value:#x}");
        if key.encoded_len() > out.writer.geometry().checkpoint_key_len_max() {
            return Err(Error::LimitReached { what: "length of a key in segments of this length" });
        }
        let Some(mut base) = self.base.take() else { return self.append(out, key, value) };
        while base.is_behind(key) {
            self.pass_leaf(&mut base, out)?;
        }
        if !base.hold(key, value, is_new) {
            self.rewrite_leaf(&mut base, out)?;
            self.append(out, key, value)?;
        }
        self.base = Some(base);
        Ok(())
    }

    fn append(&mut self, out: &mut Output<'_, impl IndexSink>, key: KeyRef<'_>, value: u64) -> Result<()> {
        assert!(self.encoder.is_below(key), "keys are pushed in order");
        let before = self.leaf.body.len();
        self.encoder.append(&mut self.leaf.body, key, value);
        if self.leaf.entries > 0 && !self.leaf.has_room(out.writer.geometry()) {
            self.leaf.body.truncate(before);
            self.seal_leaf(out)?;
        }
        if self.leaf.entries == 0 {
            self.leaf.body.clear();
            self.leaf.first = Some(key.to_key());
            self.encoder.restart();
            self.encoder.append(&mut self.leaf.body, key, value);
        }
        self.leaf.entries += 1;
        self.leaf.keys += 1;
        Ok(())
    }

    /// Ends the tree. The directory entries that lead to its pages; none where it has no entries.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn finish(mut self, out: &mut Output<'_, impl IndexSink>) -> Result<Vec<u8>> {
        if let Some(mut base) = self.base.take() {
            while base.has_leaf() {
                self.pass_leaf(&mut base, out)?;
            }
        }
        self.seal_page(out)?;
        Ok(self.top)
    }

    /// Takes over the leaf of the base that has the range of `unread`, and as many entries: all keys before that
    /// have been pushed. Whether there is one that may be taken over.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn take_over_leaf(
        &mut self,
        out: &mut Output<'_, impl IndexSink>,
        unread: UnreadLeaf<'_>,
    ) -> Result<bool> {
        let Some(mut base) = self.base.take() else { return Ok(false) };
        while base.is_behind(unread.first.as_ref()) {
            self.pass_leaf(&mut base, out)?;
        }
        let is_taken_over = base.is_leaf(unread) && self.may_keep_leaf(&base, out.writer, true);
        if is_taken_over {
            base.keep_leaf();
            self.next_leaf(&mut base, out)?;
        }
        self.base = Some(base);
        Ok(is_taken_over)
    }

    /// All keys of the leaf of the base have passed: it is taken over if it has the same entries, or with a patch over it if it
    /// has almost the same.
    fn pass_leaf(&mut self, base: &mut TakeOver, out: &mut Output<'_, impl IndexSink>) -> Result<()> {
        if base.is_same() && self.may_keep_leaf(base, out.writer, true) {
            base.keep_leaf();
        } else if !self.patch_leaf(base, out)? {
            self.rewrite_leaf(base, out)?;
        }
        self.next_leaf(base, out)
    }

    //= spec/space.md#p-2-8-what-is-taken-over
    //# A checkpoint MAY take over a leaf of its base that has other entries in its range of keys, and write a patch
    //# over it (F-8.16), when the first of these entries has the key with which the leaf begins.
    //= spec/space.md#p-2-8-what-is-taken-over
    //# Where entries in the range of a leaf of the base changed since, and are the same again, a writer MUST NOT take the leaf
    //# over as it is: it writes a patch over it, which then has nothing, or the leaf anew.
    /// Takes the leaf of the base over with a patch that has what differs, if that is little.
    fn patch_leaf(&mut self, base: &mut TakeOver, out: &mut Output<'_, impl IndexSink>) -> Result<bool> {
        if !self.may_keep_leaf(base, out.writer, false) {
            return Ok(false);
        }
        let Some((leaf, changes)) = base.changes(&*out.sink) else { return Ok(false) };
        let body = changes.encode();
        if body.len() > patch_len_max(leaf) {
            return Ok(false);
        }
        let patch = if changes.is_empty() && seeded::is_on(Bug::ChangedBackTakenOver) {
            None
        } else {
            let reference = out.writer.record(out.sink, IndexRecordKind::Patch, self.collection, &body)?;
            Some((reference, out.writer.lsn()))
        };
        base.keep_patched(patch);
        Ok(true)
    }

    /// Whether the leaf of the base may be taken over, and the patch over it: not where one leaf has room for
    /// its entries and those that are written before.
    fn may_keep_leaf(&self, base: &TakeOver, writer: &IndexWriter, with_patch: bool) -> bool {
        let is_first = !base.keeps_any();
        base.references().is_some_and(|(leaf, patch)| {
            let patch = patch.filter(|_| with_patch);
            writer.may_take_over(leaf)
                && patch.is_none_or(|patch| writer.may_take_over(patch))
                && !(is_first && self.leaf.has_room_for(leaf, writer.geometry()))
        })
    }

    fn next_leaf(&mut self, base: &mut TakeOver, out: &mut Output<'_, impl IndexSink>) -> Result<()> {
        base.next_leaf().map_or(Ok(()), |page| self.pass_page(page, base, out))
    }

    /// All leaves of the page of the base have passed: it is taken over if they are, unless one page has room
    /// for
    /// these and those that are written before.
    fn pass_page(
        &mut self,
        ((first, page), keeps_all): ((Key, Branch), bool),
        base: &mut TakeOver,
        out: &mut Output<'_, impl IndexSink>,
    ) -> Result<()> {
        let has_room = keeps_all && self.page.has_room_for(page.reference, out.writer.geometry());
        if !keeps_all || has_room || !out.writer.may_take_over(page.reference) {
            return self.take_over_leaves(base, out);
        }
        self.seal_page(out)?;
        base.take_kept().iter().for_each(|(_, leaf)| take_over(out.writer, leaf));
        take_over(out.writer, &page);
        put_entry(&mut self.top, out.writer.lsn(), &page.entry(first.as_ref()));
        Ok(())
    }

    /// The leaf of the base is not taken over: the entries of it that were held back are written.
    fn rewrite_leaf(&mut self, base: &mut TakeOver, out: &mut Output<'_, impl IndexSink>) -> Result<()> {
        if !base.rewrite() {
            return Ok(());
        }
        self.take_over_leaves(base, out)?;
        let held = base.release();
        held.iter().try_for_each(|(key, value)| self.append(out, key, value))
    }

    /// Puts the leaves that are taken over into the page in the making.
    fn take_over_leaves(&mut self, base: &mut TakeOver, out: &mut Output<'_, impl IndexSink>) -> Result<()> {
        for (first, leaf) in base.take_kept() {
            self.seal_leaf(out)?;
            take_over(out.writer, &leaf);
            self.add_leaf(out, &leaf.entry(first.as_ref()))?;
        }
        Ok(())
    }

    /// Writes the leaf in the making, if there is one.
    fn seal_leaf(&mut self, out: &mut Output<'_, impl IndexSink>) -> Result<()> {
        let Some(first) = self.leaf.first.take() else { return Ok(()) };
        let reference =
            out.writer.record(out.sink, IndexRecordKind::Leaf, self.collection, &self.leaf.body)?;
        let (first, count) = (first.as_ref(), self.leaf.keys);
        let leaf = DirectoryEntry { first, reference, count, lsn: out.writer.lsn(), patch: None };
        self.leaf.clear();
        self.add_leaf(out, &leaf)
    }

    fn add_leaf(&mut self, out: &mut Output<'_, impl IndexSink>, leaf: &DirectoryEntry<'_>) -> Result<()> {
        let before = self.page.body.len();
        put_entry(&mut self.page.body, out.writer.lsn(), leaf);
        if self.page.entries > 0 && !self.page.has_room(out.writer.geometry()) {
            self.page.body.truncate(before);
            self.write_page(out)?;
            put_entry(&mut self.page.body, out.writer.lsn(), leaf);
        }
        if self.page.entries == 0 {
            self.page.first = Some(leaf.first.to_key());
        }
        self.page.entries += 1;
        self.page.keys += leaf.count;
        Ok(())
    }

    /// Writes the leaf and the page in the making, if there are any.
    fn seal_page(&mut self, out: &mut Output<'_, impl IndexSink>) -> Result<()> {
        self.seal_leaf(out)?;
        self.write_page(out)
    }

    fn write_page(&mut self, out: &mut Output<'_, impl IndexSink>) -> Result<()> {
        let Some(first) = self.page.first.take() else { return Ok(()) };
        let reference =
            out.writer.record(out.sink, IndexRecordKind::Directory, self.collection, &self.page.body)?;
        let (first, count) = (first.as_ref(), self.page.keys);
        let page = DirectoryEntry { first, reference, count, lsn: out.writer.lsn(), patch: None };
        put_entry(&mut self.top, out.writer.lsn(), &page);
        self.page.clear();
        Ok(())
    }
}

/// The leaf or the page is one of this checkpoint, and the patch over it, unless that is of its own making: then its segment is one already.
fn take_over(writer: &mut IndexWriter, taken: &Branch) {
    writer.take_over(taken.reference);
    let Some(patch) = taken.patch else { return };
    // A checkpoint before it may have the same LSN.
    let is_own = patch.lsn == writer.lsn() && writer.segments().contains_key(&patch.reference.physical);
    if !is_own {
        writer.take_over(patch.reference);
    }
}
