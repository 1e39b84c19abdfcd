//! Writing a whole checkpoint: its trees one after another, then the root.

use super::directory::put_entry;
use super::entry::is_value;
use super::leaf::LeafEncoder;
use super::root::Root;
use super::writer::{IndexSink, IndexWriter};
use crate::document::KeyRef;
use crate::error::{Error, Result};
use crate::format::index_record::{INDEX_RECORD_OVERHEAD_MAX, IndexRecordKind, Reference};
use crate::format::{Geometry, varint};

/// The length of the longest number of a part, and of the longest reference.
const PART_OVERHEAD_MAX: usize = varint::VARINT_LEN_MAX + 5 + 4 + 3 + 4;
/// No part has fewer bytes of the map, but the last one.
const PART_LEN_MIN: usize = 64;

/// A checkpoint that is written. A superblock may name it once it is synced (F-8.8).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The last part of the root.
    pub root: Reference,
    /// The segments that it holds, in the order in which they were filled.
    pub segments: Vec<u32>,
    /// How many bytes were written.
    pub bytes: u64,
}

impl IndexWriter {
    /// Begins the tree of a collection or an index. It is to be finished before the next one begins.
    ///
    /// # Panics
    /// If `collection` is 0.
    #[must_use]
    pub fn tree(&self, collection: u32) -> TreeWriter {
        assert!(collection > 0, "collection ids start at 1");
        TreeWriter {
            collection,
            encoder: LeafEncoder::default(),
            leaf: Node::default(),
            page: Node::default(),
            top: Vec::new(),
        }
    }

    /// Writes the root behind everything else: once. It is given the segments of leaves and directory pages here.
    ///
    /// # Errors
    /// Those of the sink.
    ///
    /// # Panics
    /// If what the root has is not in order, or cannot be.
    pub fn finish(&mut self, sink: &mut impl IndexSink, mut root: Root) -> Result<Written> {
        root.segments = self.segments().to_vec();
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
        Ok(Written { root, segments: self.segments().to_vec(), bytes: self.bytes() })
    }
}

impl IndexWriter {
    /// How many bytes of the root's map go into the next part: so many that it fills the segment, where that leaves no less than is worth a
    /// record.
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
    /// Its first key, as CBOR.
    first: Vec<u8>,
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

    fn clear(&mut self) {
        self.body.clear();
        (self.entries, self.keys) = (0, 0);
    }
}

impl TreeWriter {
    /// Appends an entry, whose key is above all before.
    ///
    /// # Errors
    /// Those of the sink; `LimitReached` for a key for which small segments have no room
    /// ([`Geometry::checkpoint_key_len_max`]).
    ///
    /// # Panics
    /// If the key is not above the one before, or the value has no address.
    pub fn push(
        &mut self,
        writer: &mut IndexWriter,
        sink: &mut impl IndexSink,
        key: KeyRef<'_>,
        value: u64,
    ) -> Result<()> {
        assert!(is_value(value), "no record stands at the address in {value:#x}");
        assert!(self.encoder.is_below(key), "keys are pushed in order");
        if key.encoded_len() > writer.geometry().checkpoint_key_len_max() {
            return Err(Error::LimitReached { what: "length of a key in segments of this length" });
        }
        let before = self.leaf.body.len();
        self.encoder.append(&mut self.leaf.body, key, value);
        if self.leaf.entries > 0 && !self.leaf.has_room(writer.geometry()) {
            self.leaf.body.truncate(before);
            self.seal_leaf(writer, sink)?;
        }
        if self.leaf.entries == 0 {
            self.leaf.body.clear();
            self.leaf.first.clear();
            key.encode_into(&mut self.leaf.first);
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
    pub fn finish(mut self, writer: &mut IndexWriter, sink: &mut impl IndexSink) -> Result<Vec<u8>> {
        if self.leaf.entries > 0 {
            self.seal_leaf(writer, sink)?;
            self.seal_page(writer, sink)?;
        }
        Ok(self.top)
    }

    fn seal_leaf(&mut self, writer: &mut IndexWriter, sink: &mut impl IndexSink) -> Result<()> {
        let reference = writer.record(sink, IndexRecordKind::Leaf, self.collection, &self.leaf.body)?;
        let before = self.page.body.len();
        put_entry(&mut self.page.body, &self.leaf.first, reference, self.leaf.keys);
        if self.page.entries > 0 && !self.page.has_room(writer.geometry()) {
            self.page.body.truncate(before);
            self.seal_page(writer, sink)?;
            put_entry(&mut self.page.body, &self.leaf.first, reference, self.leaf.keys);
        }
        if self.page.entries == 0 {
            self.page.first.clone_from(&self.leaf.first);
        }
        self.page.entries += 1;
        self.page.keys += self.leaf.keys;
        self.leaf.clear();
        Ok(())
    }

    fn seal_page(&mut self, writer: &mut IndexWriter, sink: &mut impl IndexSink) -> Result<()> {
        let reference = writer.record(sink, IndexRecordKind::Directory, self.collection, &self.page.body)?;
        put_entry(&mut self.top, &self.page.first, reference, self.page.keys);
        self.page.clear();
        Ok(())
    }
}
