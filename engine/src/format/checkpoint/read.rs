//! Reading a whole checkpoint. Nothing of it is believed before it is verified, and what is handed out has been checked
//! against everything else that the checkpoint says.

use std::collections::{HashMap, HashSet};

use super::catalog::CatalogEntry;
use super::indexes::IndexEntry;
use super::leaf::{Entries, Leaf, LeafDecoder};
use super::pages::{PageSource, Pages, Unreadable};
use super::pointer::PagePointer;
use super::root::Root;
use super::stretch::Limits;
use super::table::TableEntry;
use super::walk::{Tree, fence};
use crate::document::cbor::head::Reader;
use crate::format::catalog::CatalogFault;
use crate::format::checkpoint_ref::CheckpointRef;
use crate::format::page::{Page, PageKind};
use crate::format::{Geometry, Lineage, Lsn, SEGMENTS_START, varint};
use crate::secondary::INDEXES_MAX;
use crate::seeded::{self, Bug};

/// Of an index.
const CLAUSE: &str = "F-8.10";

/// A checkpoint whose root and list of segments are verified.
#[derive(Debug)]
pub struct Checkpoint<'s, S> {
    pages: Pages<'s, S>,
    root: Root,
    root_at: u64,
    segments: Vec<u32>,
    decoder: LeafDecoder,
}

impl<'s, S: PageSource> Checkpoint<'s, S> {
    /// Reads the root of the checkpoint that a superblock names, and the list of its segments.
    ///
    /// # Errors
    /// As [`Unreadable`] says.
    pub fn open(
        source: &'s S,
        geometry: Geometry,
        lineage: &Lineage,
        reference: &CheckpointRef,
    ) -> Result<Self, Unreadable> {
        let mut pages = Pages::new(source, geometry, lineage, reference.lsn);
        let CheckpointRef { root_physical, root_offset, root_crc, .. } = *reference;
        let (page, root_at) = pages.root(root_physical, root_offset, root_crc, 0)?;
        let root = read_root(&page, root_at)?;
        check_root(&root, reference, &pages, root_at)?;
        let decoder = LeafDecoder::default();
        let mut checkpoint = Checkpoint { pages, root, root_at, segments: Vec::new(), decoder };
        checkpoint.segments = checkpoint.read_segments()?;
        Ok(checkpoint)
    }

    /// What the checkpoint says of itself.
    #[must_use]
    pub const fn root(&self) -> &Root {
        &self.root
    }

    /// The physical indexes of all segments that the checkpoint occupies, in the order in which they were filled.
    #[must_use]
    pub fn segments(&self) -> &[u32] {
        &self.segments
    }

    //= spec/format.md#f-8-5-catalog-leaves
    //# A reader MUST take a checkpoint for damaged when two collections have one id or one name, when an id
    //# is above `last` of the root, or when a tree has another number of entries than `count`, or an int key
    //# that is not below `next`.
    /// The collections, by id.
    ///
    /// # Errors
    /// As [`Unreadable`] says.
    pub fn catalog(&mut self) -> Result<Vec<CatalogEntry>, Unreadable> {
        let last = self.root.last;
        let mut entries: Vec<CatalogEntry> = Vec::new();
        self.each_entry(self.root.catalog, PageKind::Catalog, "F-8.5", CatalogEntry::decode, |entry| {
            let is_above = entries.last().is_none_or(|before| before.id < entry.id);
            let is_sound = is_above && entry.id <= last;
            entries.push(entry);
            if is_sound { Ok(()) } else { Err("collections out of order") }
        })?;
        let mut names = HashSet::with_capacity(entries.len());
        if !entries.iter().all(|entry| names.insert(&*entry.name)) {
            return Err(Unreadable::damaged(self.root_at, "F-8.5", "two collections of one name", 0, 0));
        }
        Ok(entries)
    }

    //= spec/format.md#f-8-10-indexes
    //# A reader MUST take a checkpoint for damaged when `of` is no id of a collection in it, when an id is that
    //# of a collection, that of another index, or above `last` of the root, when two indexes of a collection
    //# have one name, when a collection has more than 64, when an entry is none of its definition (I-7.2), or
    //# when it has another number of entries than `count`.
    /// The indexes of these collections, by id.
    ///
    /// # Errors
    /// As [`Unreadable`] says.
    pub fn indexes(&mut self, collections: &[CatalogEntry]) -> Result<Vec<IndexEntry>, Unreadable> {
        let last = self.root.last;
        let is_collection = |id: u32| collections.binary_search_by_key(&id, |entry| entry.id).is_ok();
        let mut entries: Vec<IndexEntry> = Vec::new();
        self.each_entry(self.root.indexes, PageKind::Indexes, CLAUSE, IndexEntry::decode, |entry| {
            let is_above = entries.last().is_none_or(|before| before.id < entry.id);
            let is_sound =
                is_above && entry.id <= last && !is_collection(entry.id) && is_collection(entry.of);
            entries.push(entry);
            if is_sound { Ok(()) } else { Err("indexes out of order, or of no collection") }
        })?;
        let mut names = HashSet::with_capacity(entries.len());
        let mut counts = HashMap::new();
        for entry in &entries {
            let count = counts.entry(entry.of).or_insert(0);
            *count += 1;
            if !names.insert((entry.of, entry.definition.definition.name())) || *count > INDEXES_MAX {
                let what = "two indexes of one name, or too many";
                return Err(Unreadable::damaged(self.root_at, CLAUSE, what, 0, 0));
            }
        }
        if let [first, .., last] = &mut entries[..]
            && seeded::is_on(Bug::LeavesOfAnotherIndex)
        {
            (last.tree, last.count) = (first.tree, first.count);
        }
        Ok(entries)
    }

    /// Hands what an index's tree holds to `to`, in the order of entries.
    ///
    /// # Errors
    /// As [`Unreadable`] says. What was handed out before is then not to be used.
    pub fn read_index(
        &mut self,
        index: &IndexEntry,
        limits: Limits,
        to: &mut impl Entries,
    ) -> Result<(), Unreadable> {
        let Some(top) = index.tree else { return Ok(()) };
        let limits = limits.with_entries(self.pages.geometry().checkpoint_entry_len_max());
        let (count, _) = self.read_entries(index.id, top, limits, to, |_, _| Ok(()))?;
        if count != index.count {
            let what = "an index has another number of entries than its tree";
            return Err(Unreadable::damaged(self.root_at, CLAUSE, what, index.count, count));
        }
        Ok(())
    }

    //= spec/format.md#f-8-6-segment-table-leaves
    //# A reader MUST take a checkpoint for damaged when two segments have one sequence or one physical
    //# index; when the arrays are out of order; when the first stretch does not begin at the first data byte
    //# with the first LSN; when a stretch begins, or the segment ends, outside of the segment's data; when a
    //# segment is freed above the LSN of the checkpoint, or stands where the checkpoint's list has one; and
    //# when one that is not freed lies beyond the end of the file.
    /// The log segments, by sequence.
    ///
    /// # Errors
    /// As [`Unreadable`] says.
    pub fn table(&mut self) -> Result<Vec<TableEntry>, Unreadable> {
        let geometry = self.pages.geometry();
        let segment_count = self.pages.segment_count();
        let lsn = self.root.lsn;
        let mut entries: Vec<TableEntry> = Vec::new();
        self.each_entry(self.root.table, PageKind::SegmentTable, "F-8.6", TableEntry::decode, |entry| {
            let is_sound = entry.sequence <= geometry.sequence_max()
                // What was freed may have been cut off since.
                && (entry.physical < segment_count || entry.freed != Lsn::ZERO)
                && (geometry.data_start()..=geometry.segment_bytes()).contains(&entry.end)
                && (entry.stretches.iter().all(|(offset, _)| (geometry.data_start()..=entry.end).contains(offset))
                    || seeded::is_on(Bug::StretchesAnywhere))
                && entry.freed <= lsn;
            if !is_sound {
                return Err("a log segment that cannot be");
            }
            match entries.last_mut() {
                Some(before) if before.sequence == entry.sequence => {
                    before.join(entry).then_some(()).ok_or("parts of two log segments of one sequence")
                }
                Some(before) if before.sequence > entry.sequence => Err("log segments out of order"),
                _ => {
                    entries.push(entry);
                    Ok(())
                }
            }
        })?;
        let damaged = |what| Unreadable::damaged(self.root_at, "F-8.6", what, 0, 0);
        if !entries.iter().all(TableEntry::is_in_order) {
            return Err(damaged("stretches or live records of a log segment out of order"));
        }
        let mut places = HashSet::with_capacity(entries.len());
        if !entries.iter().all(|entry| places.insert(entry.physical)) {
            return Err(damaged("two log segments at one place"));
        }
        Ok(entries)
    }

    //= spec/format.md#f-8-5-catalog-leaves
    //# A reader MUST take a checkpoint for damaged when two collections have one id or one name, when an id
    //# is above `last` of the root, or when a tree has another number of entries than `count`, or an int key
    //# that is not below `next`.
    /// Hands what a collection's tree holds to `to`, in the order of keys. A value is 4 times the log address, plus 2 where the
    /// record's body is a chunk list, plus 1 where the record is a relocated put.
    ///
    /// # Errors
    /// As [`Unreadable`] says. What was handed out before is then not to be used.
    pub fn read_tree(
        &mut self,
        collection: &CatalogEntry,
        limits: Limits,
        to: &mut impl Entries,
    ) -> Result<(), Unreadable> {
        let Some(top) = collection.tree else { return Ok(()) };
        let (count, root_at) = self.read_entries(collection.id, top, limits, to, |largest_int, at| {
            // spec: F-8.5. An id given twice would put one document over another.
            match largest_int.and_then(|int| u64::try_from(int).ok()) {
                Some(int) if int >= collection.next => {
                    let what = "a key that is yet to be issued";
                    Err(Unreadable::damaged(at, "F-8.5", what, collection.next, int))
                }
                _ => Ok(()),
            }
        })?;
        if count != collection.count {
            let what = "a collection has another number of documents than its tree";
            return Err(Unreadable::damaged(root_at, "F-8.5", what, collection.count, count));
        }
        Ok(())
    }

    /// Hands what a primary tree holds to `to`, and the largest int of each leaf to `check`. How many entries there are, and where the root is.
    fn read_entries(
        &mut self,
        id: u32,
        top: PagePointer,
        limits: Limits,
        to: &mut impl Entries,
        check: impl Fn(Option<i64>, u64) -> Result<(), Unreadable>,
    ) -> Result<(u64, u64), Unreadable> {
        let tree = self.tree(PageKind::Primary, id, top);
        let Checkpoint { pages, decoder, root_at, .. } = self;
        let mut count = 0;
        pages.walk(tree, |page, at| {
            count += u64::from(page.header().entry_count);
            let largest_int = read_leaf(decoder, &page, limits, to)
                .map_err(|what| Unreadable::damaged(at, "F-8.4", what, 0, 0))?;
            check(largest_int, at)
        })?;
        Ok((count, *root_at))
    }

    //= spec/format.md#f-8-9-segment-list-leaves
    //# A reader MUST take a checkpoint for damaged when its list names a segment twice, or one beyond the end
    //# of the file.
    fn read_segments(&mut self) -> Result<Vec<u32>, Unreadable> {
        let segment_count = self.pages.segment_count();
        let tree = self.tree(PageKind::SegmentList, 0, self.root.segments);
        let mut segments = Vec::new();
        // Where the list itself lies is held against the list when that is known.
        let mut list_pages = vec![self.root_at];
        self.pages.walk(tree, |page, at| {
            let damaged = |what| Unreadable::damaged(at, "F-8.9", what, 0, 0);
            list_pages.push(at);
            let mut rest = page.entries();
            for _ in 0..page.header().entry_count {
                let (physical, len) = varint::get(rest).ok_or(damaged("no varint where one is due"))?;
                rest = &rest[len..];
                match u32::try_from(physical) {
                    Ok(physical) if physical < segment_count => segments.push(physical),
                    _ => return Err(damaged("a segment beyond the end of the file")),
                }
            }
            if rest.is_empty() { Ok(()) } else { Err(damaged("bytes behind the last entry of a leaf")) }
        })?;
        self.pages.confine(segments.clone());
        let damaged = |what| Err(Unreadable::damaged(self.root_at, "F-8.9", what, 0, 0));
        let distinct: HashSet<u32> = segments.iter().copied().collect();
        if distinct.len() != segments.len() {
            return damaged("a segment comes twice");
        }
        let segment_bytes = u64::from(self.pages.geometry().segment_bytes());
        let holds = |at: &u64| self.pages.is_ours(((at - SEGMENTS_START) / segment_bytes) as u32);
        if !list_pages.iter().all(holds) {
            return damaged("the list of segments does not name its own");
        }
        Ok(segments)
    }

    fn tree(&self, kind: PageKind, id: u32, top: PagePointer) -> Tree {
        Tree { kind, id, top, named_at: self.root_at }
    }

    /// Hands each entry of a tree of CBOR to `each`, which may say what is wrong with it.
    fn each_entry<T>(
        &mut self,
        top: Option<PagePointer>,
        kind: PageKind,
        clause: &'static str,
        decode: fn(&mut Reader<'_>) -> Result<T, CatalogFault>,
        mut each: impl FnMut(T) -> Result<(), &'static str>,
    ) -> Result<(), Unreadable> {
        let Some(top) = top else { return Ok(()) };
        let tree = self.tree(kind, 0, top);
        self.pages.walk(tree, |page, at| {
            let fault = |fault| Unreadable::entry(at, clause, fault);
            let mut reader = Reader::new(page.entries());
            for _ in 0..page.header().entry_count {
                let entry = decode(&mut reader).map_err(fault)?;
                each(entry).map_err(|what| fault(CatalogFault::Malformed(what)))?;
            }
            if !reader.rest().is_empty() {
                return Err(fault(CatalogFault::Malformed("bytes behind the last entry of a leaf")));
            }
            Ok(())
        })
    }
}

fn read_leaf(
    decoder: &mut LeafDecoder,
    page: &Page<'_>,
    limits: Limits,
    to: &mut impl Entries,
) -> Result<Option<i64>, &'static str> {
    let (lower, upper) = (fence(page.lower_fence())?, fence(page.upper_fence())?);
    if [lower, upper].into_iter().flatten().any(|key| key.payload_len() > limits.key_len_max) {
        return Err("a fence that is no key");
    }
    let leaf = Leaf { entries: page.entries(), count: page.header().entry_count, lower, upper, limits };
    decoder.decode(leaf, to)
}

/// What a root page says, if it is one: for who finds it without a superblock that names it.
#[must_use]
pub fn root_of(page: &Page<'_>) -> Option<Root> {
    if page.header().kind == PageKind::Root { read_root(page, 0).ok() } else { None }
}

//= spec/format.md#f-8-7-root-page
//# It is found by its place; its checksum MUST be the one that the checkpoint reference has.
fn read_root(page: &Page<'_>, at: u64) -> Result<Root, Unreadable> {
    let header = page.header();
    let is_plain = header.tree == 0 && header.level == 0 && header.entry_count == 1;
    if !is_plain || !page.lower_fence().is_empty() || !page.upper_fence().is_empty() {
        let what = "a root is one leaf of one entry";
        return Err(Unreadable::damaged(at, "F-8.7", what, 1, header.entry_count.into()));
    }
    let mut reader = Reader::new(page.entries());
    let root = Root::decode(&mut reader).map_err(|fault| Unreadable::entry(at, "F-8.7", fault))?;
    if !reader.rest().is_empty() {
        return Err(Unreadable::damaged(at, "F-8.7", "bytes behind the root's map", 0, 0));
    }
    Ok(root)
}

//= spec/format.md#f-8-7-root-page
//# The reference MUST have the root's `lsn` as its own and as its replay start's LSN, and `log` as its replay
//# start; the last segment of the table MUST be that of `log`.
//= spec/format.md#f-8-7-root-page
//# A reader MUST take a checkpoint for damaged where that does not hold.
fn check_root<S: PageSource>(
    root: &Root,
    reference: &CheckpointRef,
    pages: &Pages<'_, S>,
    at: u64,
) -> Result<(), Unreadable> {
    if root.lsn != reference.lsn {
        let what = "the root is of another LSN than the superblock says";
        return Err(Unreadable::damaged(at, "F-8.7", what, reference.lsn.0, root.lsn.0));
    }
    let geometry = pages.geometry();
    let is_sound = root.log.physical < pages.segment_count()
        && root.log.sequence <= geometry.sequence_max()
        && (geometry.data_start()..=geometry.segment_bytes()).contains(&root.log.end);
    if !is_sound {
        return Err(Unreadable::damaged(
            at,
            "F-8.7",
            "a place of the log that cannot be",
            0,
            root.log.sequence,
        ));
    }
    Ok(())
}
