//! Reading a whole checkpoint. Nothing of it is believed before it is verified, and what is handed out has been checked
//! against everything else that the checkpoint says.

use std::collections::{HashMap, HashSet};

use super::catalog::CatalogEntry;
use super::directory::{DirectoryEntry, entries};
use super::indexes::IndexEntry;
use super::leaf::{Entries, Leaf, LeafDecoder};
use super::patch::{Changes, List, Patch};
use super::records::{IndexSource, Records, TreePlace, Wanted};
use super::root::Root;
use super::search::LeafBytes;
use super::stretch::Limits;
use super::table::{TableEntry, TableRow};
use crate::document::cbor::head::Reader;
use crate::document::{Key, KeyRef};
use crate::error::{Corruption, Result};
use crate::format::catalog::MapFault;
use crate::format::checkpoint_ref::CheckpointRef;
use crate::format::definition::StoredDefinition;
use crate::format::index_record::{IndexRecordKind, Reference};
use crate::format::superblock::newer;
use crate::format::{Geometry, Lineage, Lsn, varint};
use crate::secondary::INDEXES_MAX;
use crate::seeded::{self, Bug};
use crate::sync::Arc;

/// A checkpoint whose root is verified.
#[derive(Debug)]
pub struct Checkpoint<'s, S> {
    root: Root,
    /// Of the root.
    parts: Vec<Reference>,
    places: Vec<u32>,
    trees: Trees<'s, S>,
}

/// The trees of a checkpoint.
#[derive(Debug)]
pub struct Trees<'s, S> {
    records: Records<'s, S>,
    decoder: LeafDecoder,
}

/// A leaf of a tree, and what its reader knows of it.
#[derive(Debug, Clone, Copy)]
pub struct LeafOf<'a> {
    /// The id of its tree.
    pub id: u32,
    /// No int key is this or above it. `None` where the leaf is of an index, or its keys are not held to this.
    pub next: Option<u64>,
    /// Its first key.
    pub first: &'a Key,
    /// What a directory entry says of it.
    pub branch: &'a Branch,
    /// What its keys and values are held to.
    pub limits: Limits,
}

/// A tree as the root has it: of a collection, or of an index.
#[derive(Debug, Clone, Copy)]
pub struct TreeOf<'a> {
    /// The id.
    pub id: u32,
    /// How many keys it has.
    pub count: u64,
    /// Directory entries that lead to its directory pages.
    pub top: &'a [u8],
    /// No int key is this or above it; none where it is of an index.
    pub next: Option<u64>,
    /// Of an index.
    pub definition: Option<&'a Arc<StoredDefinition>>,
    /// It has nothing, and is to be made of the documents.
    pub anew: bool,
}

impl<'a> From<&'a CatalogEntry> for TreeOf<'a> {
    fn from(entry: &'a CatalogEntry) -> Self {
        let CatalogEntry { id, count, next, ref tree, .. } = *entry;
        TreeOf { id, count, top: tree, next: Some(next), definition: None, anew: false }
    }
}

impl<'a> From<&'a IndexEntry> for TreeOf<'a> {
    fn from(entry: &'a IndexEntry) -> Self {
        let IndexEntry { id, count, anew, ref tree, ref definition, .. } = *entry;
        TreeOf { id, count, top: tree, next: None, definition: Some(definition), anew }
    }
}

impl Root {
    /// The trees of all collections and indexes.
    pub fn trees(&self) -> impl Iterator<Item = TreeOf<'_>> {
        self.catalog.iter().map(TreeOf::from).chain(self.indexes.iter().map(TreeOf::from))
    }
}

impl<'s, S: IndexSource> Checkpoint<'s, S> {
    //= spec/format.md#f-8-9-segments-of-a-checkpoint
    //# It holds them if nothing in its root is what F-8 calls damage, whatever its directory pages and leaves
    //# are; a checkpoint with a damaged root holds none.
    /// Reads the root of the checkpoint that a superblock names, and all that it says by itself.
    ///
    /// # Errors
    /// When it is damaged; those of the disk.
    pub fn open(
        source: &'s S,
        geometry: Geometry,
        lineage: &Lineage,
        reference: &CheckpointRef,
    ) -> Result<Self> {
        let place = TreePlace::new(geometry, lineage, reference.lsn, reference.root);
        let mut records = Records::new(source, place);
        let (mut root, parts) = read_root(&mut records, reference.root)?;
        if let [first, .., last] = &mut root.indexes[..]
            && seeded::is_on(Bug::LeavesOfAnotherIndex)
        {
            (last.tree, last.count) = (first.tree.clone(), first.count);
        }
        let parts_at = parts.iter().map(|part| part.physical);
        let mut places: Vec<u32> = root.segments.iter().copied().chain(parts_at).collect();
        places.sort_unstable();
        places.dedup();
        let check = Check { root: &root, records: &records };
        check.log(reference)?;
        check.segments()?;
        check.catalog()?;
        check.indexes()?;
        check.table(&places)?;
        records.confine(root.segments.clone());
        let trees = Trees { records, decoder: LeafDecoder::default() };
        let checkpoint = Checkpoint { root, parts, places, trees };
        checkpoint.check_tops()?;
        Ok(checkpoint)
    }

    /// What the checkpoint says of itself.
    #[must_use]
    pub const fn root(&self) -> &Root {
        &self.root
    }

    /// The physical indexes that the checkpoint holds, in order.
    #[must_use]
    pub fn places(&self) -> &[u32] {
        &self.places
    }

    /// What the root says of the directory pages of all trees.
    fn check_tops(&self) -> Result<()> {
        let TreePlace { geometry, root_at: named_at, .. } = self.trees.records.place;
        let damaged = |what| Corruption::new(named_at, "F-8.13", what);
        let most = self.places.len() as u64 * u64::from(geometry.segment_bytes());
        for tree in self.root.trees() {
            let (mut before, mut count) = (None, 0_u64);
            for entry in entries(tree.top, IndexRecordKind::Directory, self.root.lsn) {
                let entry = entry.map_err(damaged)?;
                let kind = IndexRecordKind::Directory;
                let wanted = Wanted { kind, collection: tree.id, lsn: entry.lsn, named_at };
                self.trees.records.check_place(entry.reference, wanted)?;
                if before.is_some_and(|before| before >= entry.first) {
                    return Err(damaged("directory entries out of order").into());
                }
                before = Some(entry.first);
                count = count.saturating_add(entry.count);
            }
            self.trees.check_count(tree, count)?;
            if count > most {
                // A leaf that is read later would tell; but who asks for room before that goes by the count.
                return Err(damaged("more entries than the segments of the checkpoint have bytes").into());
            }
        }
        Ok(())
    }

    /// The parts of its root.
    #[must_use]
    pub fn root_parts(&self) -> &[Reference] {
        &self.parts
    }

    /// For who reads records of its trees later.
    #[must_use]
    pub fn tree_place(&self) -> TreePlace {
        self.trees.place()
    }

    /// What the checkpoint says of itself, and what reads its trees.
    pub fn parts(&mut self) -> (&Root, &mut Trees<'s, S>) {
        (&self.root, &mut self.trees)
    }
}

/// What the root at the end of a reference says, if it is one of the checkpoint at `lsn`: for who finds it without a superblock that names it.
///
/// # Errors
/// When it is damaged; those of the disk.
pub fn root_of<S: IndexSource>(
    source: &S,
    geometry: Geometry,
    lineage: &Lineage,
    lsn: Lsn,
    reference: Reference,
) -> Result<Root> {
    let place = TreePlace::new(geometry, lineage, lsn, reference);
    Ok(read_root(&mut Records::new(source, place), reference)?.0)
}

//= spec/format.md#f-8-7-root
//# A reader MUST take a checkpoint for damaged when a part has another number than one less than the part that refers to it.
/// The root, and each of its parts.
fn read_root<S: IndexSource>(
    records: &mut Records<'_, S>,
    last: Reference,
) -> Result<(Root, Vec<Reference>)> {
    let TreePlace { lsn, root_at, .. } = records.place;
    let (mut parts, mut references) = (Vec::new(), Vec::new());
    // Numbers fall from part to part, so that no bytes make this go on for ever.
    let mut next = Some((last, None, 0));
    while let Some((reference, due, named_at)) = next {
        let wanted = Wanted { kind: IndexRecordKind::Root, collection: 0, lsn, named_at };
        let (mut body, at) = records.body(reference, wanted)?;
        let damaged =
            |what, found: u64| Corruption::new(at, "F-8.7", what).comparing(due.unwrap_or(0), found);
        let number = varint::take(&mut body).ok_or(damaged("a part of a root without a number", 0))?;
        if due.is_some_and(|due| due != number) {
            return Err(damaged("a part of a root of another number", number).into());
        }
        next = match number.checked_sub(1) {
            None => None,
            Some(before) => {
                let cut = damaged("a part of a root that leads to none before it", number);
                Some((Reference::take(&mut body).ok_or(cut)?, Some(before), at))
            }
        };
        parts.push(body.to_vec());
        references.push(reference);
    }
    parts.reverse();
    let map = parts.concat();
    let mut reader = Reader::new(&map);
    let damaged = |what| Corruption::new(root_at, "F-8.7", what).into();
    let root = Root::decode(&mut reader).map_err(|fault| match fault {
        MapFault::Malformed(what) => damaged(what),
        // spec: F-7.3.
        MapFault::Unsupported => newer(0),
    })?;
    if !reader.rest().is_empty() {
        return Err(damaged("bytes behind the root's map"));
    }
    Ok((root, references))
}

/// What a root says by itself.
struct Check<'a, 's, S> {
    root: &'a Root,
    records: &'a Records<'s, S>,
}

impl<S: IndexSource> Check<'_, '_, S> {
    fn that(&self, holds: bool, clause: &'static str, what: &'static str) -> Result<()> {
        if holds { Ok(()) } else { Err(Corruption::new(self.records.place.root_at, clause, what).into()) }
    }

    //= spec/format.md#f-8-7-root
    //# The reference MUST have the root's `lsn` as its own and as its replay start's LSN, and `log` as its replay start; the last segment of the table MUST have the sequence and the physical index of `log`, and not be freed.
    //= spec/format.md#f-8-7-root
    //# A reader MUST take a checkpoint for damaged where that does not hold.
    fn log(&self, reference: &CheckpointRef) -> Result<()> {
        let (root, log) = (self.root, self.root.log);
        let is_of_lsn = root.lsn == reference.lsn && root.lsn == reference.replay_lsn;
        self.that(is_of_lsn, "F-8.7", "the root is of another LSN than the superblock says")?;
        let agrees = (log.physical, log.sequence, log.end)
            == (reference.replay_physical, reference.replay_sequence, reference.replay_offset);
        let is_last = root.table.last().is_some_and(|last| {
            (last.physical, last.sequence) == (log.physical, log.sequence) && last.freed == Lsn::ZERO
        });
        self.that(agrees && is_last, "F-8.7", "the log ends in two places")
    }

    //= spec/format.md#f-8-9-segments-of-a-checkpoint
    //# A reader MUST take a checkpoint for damaged when `segments` is not whole indexes, names a segment twice, or one beyond the end of the file.
    fn segments(&self) -> Result<()> {
        let segments = &self.root.segments;
        let distinct: HashSet<u32> = segments.iter().copied().collect();
        self.that(distinct.len() == segments.len(), "F-8.9", "a segment comes twice")?;
        let count = self.records.segment_count();
        let is_within = segments.iter().all(|physical| *physical < count);
        self.that(is_within, "F-8.9", "a segment beyond the end of the file")
    }

    //= spec/format.md#f-8-5-catalog
    //# A reader MUST take a checkpoint for damaged when two collections have one id or one name, when an id is above `last` of the root, or when
    //# a tree has another number of entries than `count`, or an int key that is not below `next`.
    fn catalog(&self) -> Result<()> {
        let catalog = &self.root.catalog;
        let is_in_order = catalog.is_sorted_by(|a, b| a.id < b.id)
            && catalog.last().is_none_or(|entry| entry.id <= self.root.last);
        self.that(is_in_order, "F-8.5", "collections out of order")?;
        let names: HashSet<&str> = catalog.iter().map(|entry| &*entry.name).collect();
        self.that(names.len() == catalog.len(), "F-8.5", "two collections of one name")
    }

    //= spec/format.md#f-8-10-indexes
    //# A reader MUST take a checkpoint for damaged when `of` is no id of a collection in it, when an id is that of a collection, that of another index, or above `last` of the root, when two indexes of a collection have one name, when a collection has more than 64, when an entry is none of its definition (I-7.2), or when it has another
    //# number of entries than `count`.
    fn indexes(&self) -> Result<()> {
        let (root, indexes) = (self.root, &self.root.indexes);
        let is_collection = |id: u32| root.catalog.binary_search_by_key(&id, |entry| entry.id).is_ok();
        let is_sound = indexes.is_sorted_by(|a, b| a.id < b.id)
            && indexes
                .iter()
                .all(|entry| entry.id <= root.last && !is_collection(entry.id) && is_collection(entry.of));
        self.that(is_sound, "F-8.10", "indexes out of order, or of no collection")?;
        let mut names = HashSet::with_capacity(indexes.len());
        let mut counts = HashMap::new();
        let are_few = indexes.iter().all(|entry| {
            let count = counts.entry(entry.of).or_insert(0);
            *count += 1;
            names.insert((entry.of, entry.definition.definition.name())) && *count <= INDEXES_MAX
        });
        self.that(are_few, "F-8.10", "two indexes of one name, or too many")
    }

    //= spec/format.md#f-8-6-segment-table
    //# A reader MUST take a checkpoint for damaged when one of the three is not whole rows; when rows are out of their order, or one stands twice; when a row of `stretches` or `live` names a sequence that `table` does not have; when two segments have one physical index; when the end of a segment is outside of its data;
    //# when a stretch begins at or before the first data byte, or behind the end of its segment; when a segment is freed above the LSN of the checkpoint, or stands in a place that the checkpoint holds (F-8.9); and when one that is not freed lies beyond the end of the file.
    fn table(&self, places: &[u32]) -> Result<()> {
        let geometry = self.records.place.geometry;
        let count = self.records.segment_count();
        let is_sound = |entry: TableEntry<'_>| {
            let TableRow { physical, end, freed, .. } = entry.row;
            // What was freed may have been cut off since.
            (physical < count || freed != Lsn::ZERO)
                && (geometry.data_start()..=geometry.segment_bytes()).contains(&end)
                && (entry.stretches().all(|(offset, _)| (geometry.data_start() + 1..=end).contains(&offset))
                    || seeded::is_on(Bug::StretchesAnywhere))
                && freed <= self.root.lsn
        };
        let table = &self.root.table;
        self.that(table.iter().all(is_sound), "F-8.6", "a log segment that cannot be")?;
        let mut taken: Vec<u32> = table.iter().map(|entry| entry.row.physical).collect();
        taken.sort_unstable();
        self.that(taken.is_sorted_by(|a, b| a < b), "F-8.6", "two log segments at one place")?;
        let is_apart = places.iter().all(|place| taken.binary_search(place).is_err());
        self.that(is_apart, "F-8.6", "a log segment in the place of the checkpoint")
    }
}

impl<S: IndexSource> Trees<'_, S> {
    fn check_count(&self, tree: TreeOf<'_>, count: u64) -> Result<()> {
        if tree.count == count {
            return Ok(());
        }
        let (clause, what) = match tree.next {
            Some(_) => ("F-8.5", "a collection has another number of documents than its tree"),
            None => ("F-8.10", "an index has another number of entries than its tree"),
        };
        Err(Corruption::new(self.records.place.root_at, clause, what).comparing(tree.count, count).into())
    }

    /// Hands what a tree of the root holds to `to`, in the order of keys. A value is 4 times the log address, plus 2 where the record's body is
    /// a chunk list, plus 1 where the record is a relocated put.
    ///
    /// # Errors
    /// When it is damaged; those of the disk. What was handed out before is then not to be used.
    #[cfg(test)]
    pub fn read(&mut self, tree: TreeOf<'_>, limits: Limits, to: &mut impl Entries) -> Result<()> {
        self.begin();
        for (first, page) in self.pages(tree)? {
            let leaves = self.page(tree.id, &first, &page)?;
            for (first, branch) in &leaves {
                self.leaf(LeafOf { id: tree.id, next: tree.next, first, branch, limits }, to)?;
            }
        }
        Ok(())
    }

    /// The next leaf is the first that is read of its tree. From then on the keys grow from leaf to leaf.
    pub fn begin(&mut self) {
        self.decoder.restart();
    }

    /// The directory pages of a tree of the root, and the first key of each.
    ///
    /// # Errors
    /// When it is damaged; those of the disk.
    pub fn pages(&self, tree: TreeOf<'_>) -> Result<Vec<(Key, Branch)>> {
        let TreePlace { lsn, root_at, .. } = self.records.place;
        branches(tree.top, IndexRecordKind::Directory, lsn, root_at)
    }

    /// The leaves of the directory page that `first` and `page` tell of.
    ///
    /// # Errors
    /// When it is damaged; those of the disk.
    pub fn page(&mut self, id: u32, first: &Key, page: &Branch) -> Result<Vec<(Key, Branch)>> {
        let lsn = if seeded::is_on(Bug::AgesFromTheRoot) { self.records.place.lsn } else { page.lsn };
        let (body, at) = self.records.body(page.reference, page.wanted(id))?;
        let damaged = |what| Corruption::new(at, "F-8.13", what);
        let leaves = branches(body, IndexRecordKind::Leaf, lsn, at)?;
        let (begin, _) = leaves.first().ok_or(damaged("a directory page without entries"))?;
        if begin != first {
            return Err(damaged("a directory page begins with another key than the root says").into());
        }
        let count = leaves.iter().fold(0, |count: u64, (_, leaf)| count.saturating_add(leaf.count));
        if count != page.count {
            let what = "a directory page of another number of keys than the root says";
            return Err(Corruption::new(at, "F-8.13", what).comparing(page.count, count).into());
        }
        for (_, leaf) in &leaves {
            self.records.check_place(leaf.reference, leaf.wanted(id))?;
            if let Some(patch) = leaf.patch {
                self.records.check_place(patch.reference, leaf.wanted_patch(id, patch))?;
            }
        }
        Ok(leaves)
    }

    /// Hands out what a leaf holds.
    ///
    /// # Errors
    /// When it is damaged; those of the disk. What was handed out before is then not to be used.
    pub fn leaf(&mut self, leaf: LeafOf<'_>, to: &mut impl Entries) -> Result<()> {
        let leaf = self.with_limits(leaf);
        let (largest_int, at) = match leaf.branch.patch {
            Some(patch) => self.patched_leaf(leaf, patch, to)?,
            None => {
                let (own, at) = own_leaf(&mut self.records, leaf)?;
                let damaged = |what| Corruption::new(at, "F-8.4", what);
                (self.decoder.decode(own, to).map_err(damaged)?, at)
            }
        };
        // spec: F-8.5. An id given twice would put one document over another.
        let largest_int = largest_int.and_then(|int| u64::try_from(int).ok());
        if let (Some(int), Some(next)) = (largest_int, leaf.next)
            && int >= next
        {
            let what = "a key that is yet to be issued";
            return Err(Corruption::new(at, "F-8.5", what).comparing(next, int).into());
        }
        Ok(())
    }

    /// The leaf with the limits of its tree: entries of an index may be longer than keys.
    fn with_limits<'a>(&self, leaf: LeafOf<'a>) -> LeafOf<'a> {
        let of_entries = leaf.limits.with_entries(self.records.place.geometry.checkpoint_entry_len_max());
        LeafOf { limits: if leaf.next.is_some() { leaf.limits } else { of_entries }, ..leaf }
    }

    /// The bytes of a leaf, for whoever seeks single keys there.
    ///
    /// # Errors
    /// When it is damaged; those of the disk.
    pub fn leaf_bytes(&mut self, leaf: LeafOf<'_>) -> Result<LeafBytes> {
        let leaf = self.with_limits(leaf);
        let changes = match leaf.branch.patch {
            Some(patch) => patch_over(&mut self.records, leaf, patch)?.0,
            None => Changes::default(),
        };
        let (entries, _) = self.records.body(leaf.branch.reference, leaf.branch.wanted(leaf.id))?;
        Ok(LeafBytes::new(entries, changes))
    }

    //= spec/format.md#f-8-16-patches
    //# Such a leaf has the entries of its record, without the keys that are removed, and with those that are put,
    //# each in the place of the one of its key if there is one.
    /// As [`leaf`](Self::leaf), of one with a patch over it. The largest int among the keys, and where the patch lies.
    fn patched_leaf(
        &mut self,
        leaf: LeafOf<'_>,
        patch: Patch,
        to: &mut impl Entries,
    ) -> Result<(Option<i64>, u64)> {
        let (changes, at) = patch_over(&mut self.records, leaf, patch)?;
        let damaged = |what, expected, found| Corruption::new(at, "F-8.16", what).comparing(expected, found);
        let own = self.own_entries(leaf)?;
        let (first, leaf) = (leaf.first, leaf.branch);
        let mut entries = List::default();
        changes.apply(&own, |key, value| entries.push(key, value)).map_err(|what| damaged(what, 0, 0))?;
        let begins = entries.iter().next().is_some_and(|(key, _)| key == first.as_ref());
        if !begins {
            return Err(damaged("a patch over another first key", 0, 0).into());
        }
        let hides_bug = seeded::is_on(Bug::PatchForgotten) || seeded::is_on(Bug::RemovedComesBack);
        if entries.len() != leaf.count && !hides_bug {
            return Err(
                damaged("a leaf with a patch of another number of keys", leaf.count, entries.len()).into()
            );
        }
        if !self.decoder.is_below(first.as_ref()) {
            return Err(leaf.damaged("keys out of order").into());
        }
        let mut largest_int = None;
        for (key, value) in entries.iter() {
            if let KeyRef::Int(int) = key {
                largest_int = Some(int);
            }
            to.key(key, value);
        }
        if let Some((last, _)) = entries.iter().last() {
            self.decoder.pass(last);
        }
        Ok((largest_int, at))
    }

    /// What the record of a leaf has, whatever patch is over it.
    pub(super) fn own_entries(&mut self, leaf: LeafOf<'_>) -> Result<List> {
        let (own, at) = own_leaf(&mut self.records, leaf)?;
        let mut list = List::default();
        let decoded = LeafDecoder::default().decode(own, &mut list);
        decoded.map_err(|what| Corruption::new(at, "F-8.4", what))?;
        Ok(list)
    }

    /// What later reads of single records of these trees need.
    pub(super) fn place(&self) -> TreePlace {
        self.records.place.clone()
    }
}

/// The record of a leaf, without the patch over it, and where it lies.
fn own_leaf<'r, S: IndexSource>(
    records: &'r mut Records<'_, S>,
    LeafOf { id, first, branch, limits, .. }: LeafOf<'r>,
) -> Result<(Leaf<'r>, u64)> {
    let (entries, at) = records.body(branch.reference, branch.wanted(id))?;
    // A leaf has no more keys than bytes.
    let count = u32::try_from(branch.own_count())
        .map_err(|_| Corruption::new(at, "F-8.4", "a leaf of too few entries"))?;
    Ok((Leaf { entries, count, first: Some(first.as_ref()), limits }, at))
}

/// The patch over a leaf, and where it lies.
fn patch_over<S: IndexSource>(
    records: &mut Records<'_, S>,
    leaf: LeafOf<'_>,
    patch: Patch,
) -> Result<(Changes, u64)> {
    let (body, at) = records.body(patch.reference, leaf.branch.wanted_patch(leaf.id, patch))?;
    let damaged = |what| Corruption::new(at, "F-8.16", what);
    let changes = Changes::decode(body, leaf.limits).map_err(damaged)?;
    Ok((if seeded::is_on(Bug::PatchForgotten) { Changes::default() } else { changes }, at))
}

/// A directory page or a leaf that a directory entry leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Branch {
    kind: IndexRecordKind,
    pub(crate) reference: Reference,
    count: u64,
    /// LSN of the checkpoint that wrote the record.
    lsn: Lsn,
    /// Where the record is that leads to it.
    named_at: u64,
    /// What stands over it, if it is a leaf.
    pub(super) patch: Option<Patch>,
}

impl Branch {
    /// What must stand there, in a tree of this id.
    fn wanted(&self, id: u32) -> Wanted {
        Wanted { kind: self.kind, collection: id, lsn: self.lsn, named_at: self.named_at }
    }

    /// What must stand where its patch is.
    fn wanted_patch(&self, id: u32, patch: Patch) -> Wanted {
        let kind = IndexRecordKind::Patch;
        Wanted { kind, collection: id, lsn: patch.lsn, named_at: self.named_at }
    }

    pub(super) fn entry<'a>(&self, first: KeyRef<'a>) -> DirectoryEntry<'a> {
        let Branch { reference, count, lsn, patch, .. } = *self;
        DirectoryEntry { first, reference, count, lsn, patch }
    }

    /// The same leaf, with this patch over it, and so many keys then.
    pub(super) fn patched(self, patch: Option<Patch>, count: u64) -> Self {
        Branch { patch, count, ..self }
    }

    /// Its record, and the patch over it.
    pub fn references(&self) -> impl Iterator<Item = Reference> + use<> {
        [Some(self.reference), self.patch.map(|patch| patch.reference)].into_iter().flatten()
    }

    /// Whether it is a leaf.
    #[must_use]
    pub fn is_leaf(&self) -> bool {
        self.kind == IndexRecordKind::Leaf
    }

    /// The number of keys that it has, or that it leads to.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The number of keys in its record, whatever patch is over it.
    pub(super) fn own_count(&self) -> u64 {
        self.patch.map_or(self.count, |patch| patch.own)
    }

    /// LSN of the checkpoint that wrote the record, or the patch over it.
    #[must_use]
    pub fn lsn(&self) -> Lsn {
        let patch = self.patch.filter(|_| !seeded::is_on(Bug::PatchAsOldAsItsLeaf));
        patch.map_or(self.lsn, |patch| patch.lsn)
    }

    /// A leaf that is nowhere, for checks that do not read it.
    #[cfg(test)]
    pub(crate) fn leaf_of(count: u64) -> Self {
        let reference = Reference { physical: 0, offset: 0, len: 0, crc: 0 };
        Branch { kind: IndexRecordKind::Leaf, reference, count, lsn: Lsn::ZERO, named_at: 0, patch: None }
    }

    /// What is wrong with the keys of the record, beside those of its neighbours.
    #[must_use]
    pub const fn damaged(&self, what: &'static str) -> Corruption {
        Corruption::new(self.named_at, "F-8.13", what)
    }
}

/// What the directory entries in `bytes`, of the record at `at`, lead to: records of this kind.
fn branches(bytes: &[u8], kind: IndexRecordKind, lsn: Lsn, at: u64) -> Result<Vec<(Key, Branch)>> {
    let branch = |entry: Result<DirectoryEntry<'_>, &'static str>| {
        let entry = entry.map_err(|what| Corruption::new(at, "F-8.13", what))?;
        let DirectoryEntry { first, reference, count, lsn, patch } = entry;
        Ok((first.to_key(), Branch { kind, reference, count, lsn, named_at: at, patch }))
    };
    let branches: Vec<_> = entries(bytes, kind, lsn).map(branch).collect::<Result<_>>()?;
    if branches.is_sorted_by(|(one, _), (other, _)| one < other) {
        Ok(branches)
    } else {
        Err(Corruption::new(at, "F-8.13", "keys out of order").into())
    }
}

impl TreePlace {
    /// Reads single records of `source`.
    #[must_use]
    pub fn trees<'s, S: IndexSource>(&self, source: &'s S) -> Trees<'s, S> {
        Trees { records: Records::single(source, self.clone()), decoder: LeafDecoder::default() }
    }
}
