//! Writing a whole checkpoint: its trees one after another, then what leads to them.
//!
//! The writer holds no sink, so that a long checkpoint can be written in steps while other work uses the file.

use super::catalog::CatalogEntry;
use super::entry::is_value;
use super::indexes::IndexEntry;
use super::leaf::{ENTRY_OVERHEAD_MAX, LeafEncoder};
use super::pointer::{POINTER_LEN_MAX, PagePointer, key_len_max};
use super::root::{LogPosition, Reserved, Root};
use super::segments::{PageSink, SegmentWriter};
use super::table::TableEntry;
use super::tree::TreeBuilder;
use crate::document::{Document, KeyRef};
use crate::error::{Error, Result};
use crate::format::page::{PAGE_HEADER_LEN, PageHeader, PageKind};
use crate::format::{Geometry, Lineage, Lsn, varint};

/// The longest varint of 32 bits.
const VARINT32_LEN_MAX: usize = 5;
/// The pointer of the longest form there is.
const WIDEST_POINTER: PagePointer = PagePointer { number: u32::MAX, physical: u32::MAX, offset: u32::MAX };

/// A checkpoint in the making.
#[derive(Debug, Clone)]
pub struct CheckpointWriter {
    pages: SegmentWriter,
}

/// What a checkpoint holds beside the trees of its collections.
#[derive(Debug, Clone, Copy)]
pub struct Contents<'a> {
    /// The collections, by id.
    pub catalog: &'a [CatalogEntry],
    /// Their indexes, by id.
    pub indexes: &'a [IndexEntry],
    /// The log segments, by sequence.
    pub table: &'a [TableEntry],
    /// The highest id ever given to a collection or an index.
    pub last: u32,
    /// Where the log stood.
    pub log: LogPosition,
    /// What the chain of the log had reserved.
    pub reserved: Reserved,
    /// Fields of the root that this version does not know (F-7.3).
    pub kept: &'a Document,
}

/// A checkpoint that is written. A superblock may name it once it is synced (F-8.8).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Physical index of the segment that holds the root page.
    pub root_physical: u32,
    /// Offset of the root page in that segment.
    pub root_offset: u32,
    /// The root page's checksum.
    pub root_crc: u32,
    /// The segments that it occupies, in the order in which they were filled; the last ones may be empty.
    pub segments: Vec<u32>,
    /// How many bytes were written.
    pub bytes: u64,
    /// How many pages there are.
    pub pages: u32,
}

impl CheckpointWriter {
    /// Begins the checkpoint at `lsn`, when all up to `durable` was durable.
    ///
    /// # Panics
    /// If `lsn` is zero.
    #[must_use]
    pub fn new(geometry: Geometry, lineage: &Lineage, lsn: Lsn, durable: Lsn) -> Self {
        CheckpointWriter { pages: SegmentWriter::new(geometry, lineage, lsn, durable) }
    }

    /// Begins the tree of a collection or an index. It is to be finished before the next one begins.
    ///
    /// # Panics
    /// If `collection` is 0.
    #[must_use]
    pub fn tree(&self, collection: u32) -> TreeWriter {
        assert!(collection > 0, "collection ids start at 1");
        TreeWriter {
            tree: TreeBuilder::new(PageKind::Primary, collection),
            leaf: LeafEncoder::default(),
            held_back: None,
            next_key: Vec::new(),
        }
    }

    /// How many bytes were placed so far.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.pages.bytes()
    }

    /// The segments allocated so far: what to give back where the checkpoint is given up.
    #[must_use]
    pub fn segments(&self) -> &[u32] {
        self.pages.segments()
    }

    /// Writes what leads to the trees, and the root behind everything else: once.
    ///
    /// # Errors
    /// Those of the sink; `LimitReached` for what does not fit into a page.
    ///
    /// # Panics
    /// If the contents are not in order, or cannot be.
    pub fn finish(&mut self, sink: &mut impl PageSink, contents: Contents<'_>) -> Result<Written> {
        let is_ascending = contents.catalog.is_sorted_by(|a, b| a.id < b.id);
        assert!(is_ascending, "collections are in the order of their ids");
        let is_ascending = contents.indexes.is_sorted_by(|a, b| a.id < b.id);
        assert!(is_ascending, "indexes are in the order of their ids");
        let is_ascending = contents.table.is_sorted_by(|a, b| a.sequence < b.sequence);
        assert!(is_ascending, "log segments are in the order of their sequences");
        let entries = contents.catalog.iter().map(CatalogEntry::encode);
        let catalog = self.entries(sink, PageKind::Catalog, entries)?;
        let entries = contents.indexes.iter().map(IndexEntry::encode);
        let indexes = self.entries(sink, PageKind::Indexes, entries)?;
        let entry_len_max = self.pages.page_len() - PAGE_HEADER_LEN;
        let entries = contents.table.iter().flat_map(|entry| entry.encode(entry_len_max));
        let table = self.entries(sink, PageKind::SegmentTable, entries)?;
        let mut root = Root {
            lsn: self.pages.lsn(),
            segments: WIDEST_POINTER,
            catalog,
            indexes,
            table,
            last: contents.last,
            log: contents.log,
            reserved: contents.reserved,
            kept: contents.kept.clone(),
        };
        root.segments = self.segment_list(sink, root.encode().len())?;
        self.root(sink, &root)
    }

    /// Writes a tree without keys.
    fn entries(
        &mut self,
        sink: &mut impl PageSink,
        kind: PageKind,
        entries: impl Iterator<Item = Vec<u8>>,
    ) -> Result<Option<PagePointer>> {
        let mut tree = TreeBuilder::new(kind, 0);
        for entry in entries {
            let alone = PAGE_HEADER_LEN + entry.len();
            if alone > self.pages.page_len_max() {
                return Err(Error::LimitReached { what: "length of an entry of a checkpoint" });
            }
            let len_max = self.pages.page_len().max(alone);
            if !tree.try_append(len_max, &[], |out| out.extend_from_slice(&entry)) {
                tree.seal_leaf(&mut self.pages, sink, &[])?;
                let has_room = tree.try_append(len_max, &[], |out| out.extend_from_slice(&entry));
                assert!(has_room, "an empty page has room for an entry of its length");
            }
        }
        tree.finish(&mut self.pages, sink)
    }

    /// Writes the list of all segments, its own and that of the root included.
    fn segment_list(&mut self, sink: &mut impl PageSink, root_len: usize) -> Result<PagePointer> {
        let root_page_len = PAGE_HEADER_LEN + root_len;
        if root_page_len > self.pages.page_len_max() {
            return Err(Error::LimitReached { what: "length of the root of a checkpoint" });
        }
        // What is still to be written grows with the number of segments, and that with what is to be written: until both agree.
        let mut reserved = 0;
        loop {
            let lens = self.list_page_lens(self.pages.segments().len() + reserved);
            let needed = self.pages.needed_for(lens.into_iter().chain([root_page_len]));
            if needed <= reserved {
                break;
            }
            reserved = needed;
        }
        self.pages.reserve(sink, reserved)?;
        let segments = self.pages.segments().to_vec();
        let entries = segments.iter().map(|&physical| {
            let mut entry = Vec::new();
            varint::put(&mut entry, physical.into());
            entry
        });
        let list = self.entries(sink, PageKind::SegmentList, entries)?;
        Ok(list.expect("the list names at least the segment that it is in"))
    }

    /// The lengths of the pages of a list of `count` segments: in the order of writing, none is longer in truth, and there
    /// are no more.
    fn list_page_lens(&self, count: usize) -> Vec<usize> {
        let len_max = self.pages.page_len();
        let one_page_len = PAGE_HEADER_LEN + count * VARINT32_LEN_MAX;
        if one_page_len <= len_max {
            return vec![one_page_len];
        }
        let leaf_capacity = (len_max - PAGE_HEADER_LEN) / VARINT32_LEN_MAX;
        let branch_capacity = (len_max - PAGE_HEADER_LEN) / (1 + POINTER_LEN_MAX);
        let mut level_pages = count.div_ceil(leaf_capacity);
        let mut pages = level_pages;
        while level_pages > 1 {
            level_pages = level_pages.div_ceil(branch_capacity);
            pages += level_pages;
        }
        vec![len_max; pages]
    }

    fn root(&mut self, sink: &mut impl PageSink, root: &Root) -> Result<Written> {
        let header = PageHeader {
            number: 0,
            tree: 0,
            kind: PageKind::Root,
            level: 0,
            entry_count: 1,
            lower_fence_len: 0,
            upper_fence_len: 0,
        };
        let named = self.pages.segments().len();
        let (pointer, root_crc) = self.pages.page(sink, header, [&[], &[], &root.encode()])?;
        self.pages.hand_down(sink)?;
        assert_eq!(self.pages.segments().len(), named, "the list names every segment");
        Ok(Written {
            root_physical: pointer.physical,
            root_offset: pointer.offset,
            root_crc,
            segments: self.pages.segments().to_vec(),
            bytes: self.pages.bytes(),
            pages: self.pages.pages(),
        })
    }
}

/// The tree of one collection in the making.
#[derive(Debug, Clone)]
pub struct TreeWriter {
    tree: TreeBuilder,
    leaf: LeafEncoder,
    /// The entry pushed last: its key as CBOR, and its value.
    held_back: Option<(Vec<u8>, u64)>,
    /// A buffer for the next key.
    next_key: Vec<u8>,
}

impl TreeWriter {
    /// Appends an entry, whose key is above all before.
    ///
    /// # Errors
    /// Those of the sink; `LimitReached` for a key for which small pages have no room
    /// ([`Geometry::checkpoint_key_len_max`]).
    ///
    /// # Panics
    /// If the key is not above the one before, or the value has no address.
    pub fn push(
        &mut self,
        checkpoint: &mut CheckpointWriter,
        sink: &mut impl PageSink,
        key: KeyRef<'_>,
        value: u64,
    ) -> Result<()> {
        assert!(is_value(value), "no record stands at the address in {value:#x}");
        let page_len_max = checkpoint.pages.page_len();
        if key.encoded_len() > key_len_max(page_len_max) {
            return Err(Error::LimitReached { what: "length of a key in segments of this length" });
        }
        let mut next_key = std::mem::take(&mut self.next_key);
        next_key.clear();
        key.encode_into(&mut next_key);
        if let Some((before, _)) = &self.held_back {
            assert!(decoded(before) < key, "keys are pushed in order");
            self.append(checkpoint, sink, &next_key)?;
        }
        let free = self.held_back.replace((next_key, value));
        self.next_key = free.map(|(buffer, _)| buffer).unwrap_or_default();
        Ok(())
    }

    /// Ends the tree. Its top; none where it has no entries.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn finish(
        mut self,
        checkpoint: &mut CheckpointWriter,
        sink: &mut impl PageSink,
    ) -> Result<Option<PagePointer>> {
        self.append(checkpoint, sink, &[])?;
        self.tree.finish(&mut checkpoint.pages, sink)
    }

    /// Appends the entry held back to a leaf; the next key is `upper`.
    fn append(
        &mut self,
        checkpoint: &mut CheckpointWriter,
        sink: &mut impl PageSink,
        upper: &[u8],
    ) -> Result<()> {
        let Some((key, value)) = &self.held_back else { return Ok(()) };
        let len_max = checkpoint.pages.page_len();
        let (entry, leaf) = (decoded(key), &mut self.leaf);
        if !self.tree.try_append(len_max, upper, |out| leaf.append(out, entry, *value)) {
            self.tree.seal_leaf(&mut checkpoint.pages, sink, key)?;
            leaf.restart();
            let has_room = self.tree.try_append(len_max, upper, |out| leaf.append(out, entry, *value));
            assert!(has_room, "an empty page has room for an entry and its fences");
        }
        Ok(())
    }
}

// What an entry takes beside its key is less than what two children of a branch take beside theirs.
const _: () = assert!(ENTRY_OVERHEAD_MAX <= 2 * (2 + POINTER_LEN_MAX));

fn decoded(key: &[u8]) -> KeyRef<'_> {
    let (key, _) = KeyRef::decode_long(key).expect("a key that was encoded just now");
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives out indexes of the longest form.
    #[derive(Debug)]
    struct Far(u32);

    impl PageSink for Far {
        fn allocate(&mut self) -> Result<u32> {
            self.0 -= 1;
            Ok(self.0)
        }

        fn write_at(&mut self, _: u64, _: &[u8]) -> Result<()> {
            Ok(())
        }
    }

    // spec: F-8.9. In pages of 448 bytes a leaf has room for 83 indexes of five bytes, and a branch for 26 children of 16.
    #[test]
    fn the_pages_of_a_list_are_counted_before_it_is_written() {
        let geometry = Geometry::new(64, 512).expect("a geometry");
        let writer = CheckpointWriter::new(geometry, &[7; 16], Lsn::new(1, 1), Lsn::ZERO);
        let lens = |count| writer.list_page_lens(count);
        assert_eq!((lens(1), lens(83)), (vec![37], vec![447]));
        let pages = [84, 166, 167, 83 * 26, 83 * 26 + 1, 83 * 26 * 26, 83 * 26 * 26 + 1];
        let expected = [3, 3, 4, 27, 27 + 1 + 2, 26 * 26 + 26 + 1, 26 * 26 + 1 + 26 + 1 + 2 + 1];
        for (count, expected) in pages.into_iter().zip(expected) {
            assert_eq!(lens(count), vec![448; expected], "a list of {count}");
        }
    }

    // spec: F-8.9. The indexes are as long as they are counted, so no more segments are reserved than are filled.
    #[test]
    fn what_a_list_reserves_is_what_it_takes() {
        let geometry = Geometry::new(64, 512).expect("a geometry");
        for count in (0..2500).step_by(17) {
            let mut writer = CheckpointWriter::new(geometry, &[7; 16], Lsn::new(1, 1), Lsn::ZERO);
            let mut sink = Far(u32::MAX);
            writer.pages.reserve(&mut sink, count).expect("there is room");
            let len = writer.list_page_lens(count + 40).len();
            writer.segment_list(&mut sink, 100).expect("there is room");
            let segments = writer.pages.segments().len();
            assert!(segments - count <= len + 1, "{count} and a list of {len} take {segments}");
        }
    }
}
