//! The changes of one commit, encoded once, before it is known where they will stand.

use std::ops::Range;

use crate::document::KeyRef;
use crate::format::body::encode_segment_freed;
use crate::format::catalog::CatalogChange;
use crate::format::record::RECORD_HEADER_LEN_MAX;
use crate::format::{LogAddress, Lsn};
use crate::index::{Birth, Documents, Entry, Target};
use crate::sync::Arc;

use super::entries::EntryChanges;

#[cfg(test)]
mod tests;

/// What a change does.
#[derive(Debug, Clone)]
pub(crate) enum Action {
    Put,
    Delete,
    /// A change of the catalog, and the documents of the collection that it begins, if it does.
    Catalog(Box<CatalogChange>, Option<Arc<Documents>>),
    /// A version moves to another place, and stays what it is.
    Relocate(Box<Relocation>),
    /// Nothing live is left in a log segment.
    Free(u64),
}

/// What a relocated put says beside key and body.
#[derive(Debug, Clone)]
pub(crate) struct Relocation {
    /// The commit that made the version.
    pub(crate) lsn: Lsn,
    pub(crate) expiry: Option<i64>,
    /// For a document of chunks: its length, and all its chunks in order.
    pub(crate) chunks: Option<(u64, Vec<Chunk>)>,
}

/// A chunk of a version that moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Chunk {
    Stays(LogAddress),
    /// It moves from here; so many of the next bytes of the change's body are its own.
    Moves(LogAddress, usize),
}

/// What a change supersedes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Replaces {
    Nothing,
    /// The version that the index has, and since when.
    Version(Entry, Birth),
    /// An earlier change of the same commit, by its number.
    Change(usize),
}

/// One record to be.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    pub(crate) action: Action,
    /// Which of the batch's collections; none for the catalog.
    collection: Option<u32>,
    /// The key where it is an integer: most are, and need not be decoded again.
    int_key: Option<i64>,
    /// Where key and body stand in the batch's bytes, the body behind the key.
    start: usize,
    key_len: u32,
    body_len: usize,
    pub(crate) replaces: Replaces,
    /// The change before it of the same key, by its number.
    pub(crate) before: Option<usize>,
    /// The largest id that the collection had before it.
    largest_before: i64,
    /// A later change of the same commit made it needless: it is not placed.
    pub(crate) is_moot: bool,
    /// Whether its document is made of chunks; set when it is placed.
    pub(super) is_chunked: bool,
    /// Where it stands, and the length of its record; set when it is placed.
    pub(crate) address: LogAddress,
    pub(crate) len: u32,
}

/// A chunk that was placed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlacedChunk {
    /// The change whose document it is a piece of.
    pub(crate) change: usize,
    pub(crate) address: LogAddress,
    pub(crate) len: u32,
}

/// A collection that a commit writes to: what the commit makes of it, and what is to be told when it is seen, or taken back.
#[derive(Debug, Clone)]
pub(crate) struct Touched {
    pub(crate) documents: Arc<Documents>,
    /// The largest id before the commit, and after the changes so far.
    pub(crate) largest_before: i64,
    pub(crate) largest_id: i64,
    /// How many documents the changes so far add, less those that they delete.
    pub(crate) added: i64,
    /// How many documents there were before the commit was applied.
    pub(crate) len_before: u64,
    /// The indexes that a change of a document changes.
    pub(crate) targets: Option<Arc<[Target]>>,
}

impl Touched {
    fn by_nothing(documents: &Arc<Documents>) -> Self {
        let (targets, largest_id) = (documents.targets(), documents.largest_id());
        let documents = Arc::clone(documents);
        Touched { documents, largest_before: largest_id, largest_id, added: 0, len_before: 0, targets }
    }

    /// How many documents there are after the commit, once it is applied.
    pub(crate) fn len_after(&self) -> u64 {
        self.len_before.saturating_add_signed(self.added)
    }
}

/// What a put or a delete finds under its key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Superseded {
    /// The change before it of the same key, by its number.
    pub(crate) before: Option<usize>,
    pub(crate) replaces: Replaces,
}

impl Superseded {
    pub(crate) const NOTHING: Superseded = Superseded { before: None, replaces: Replaces::Nothing };
}

impl Change {
    /// One of no document, whose body begins at `start` of the batch's bytes.
    #[inline]
    fn nameless(action: Action, start: usize, body_len: usize) -> Self {
        Change {
            action,
            collection: None,
            int_key: None,
            start,
            key_len: 0,
            body_len,
            replaces: Replaces::Nothing,
            before: None,
            largest_before: 0,
            is_moot: false,
            is_chunked: false,
            address: LogAddress(0),
            len: 0,
        }
    }

    /// The length of the encoded key; 0 for the catalog.
    pub(crate) fn key_len(&self) -> usize {
        self.key_len as usize
    }

    /// The length of the encoded document, or of the catalog change.
    pub(crate) fn body_len(&self) -> usize {
        self.body_len
    }

    /// How many documents it adds to what was there before it, where it puts one or not.
    fn added(&self, had: bool) -> i64 {
        match self.action {
            Action::Put => i64::from(!had),
            Action::Delete => -i64::from(had),
            _ => 0,
        }
    }
}

/// A commit in the making. Emptied and used again, so that a steady writer allocates nothing.
#[derive(Debug, Clone, Default)]
pub(crate) struct Batch {
    pub(crate) changes: Vec<Change>,
    pub(crate) collections: Vec<Touched>,
    /// The numbers of these collections, in the order of their ids.
    by_id: Vec<(u32, u32)>,
    /// Keys and bodies, encoded, one behind the other.
    bytes: Vec<u8>,
    /// Whether a change may supersede chunks.
    pub(crate) replaces_chunks: bool,
    /// Chunks of what its changes supersede, each with the number of the change, in the order of these.
    pub(crate) superseded: Vec<(usize, LogAddress)>,
    /// What its changes make of the entries of indexes.
    pub(crate) entries: EntryChanges,
    /// A commit of the store's own, which changes no visible state (spec: F-5.8).
    pub(crate) is_system: bool,
    /// A commit of the store's own that could as well not be: it finds no room where a caller's would find none.
    pub(crate) leaves_reserve: bool,
    /// Set when it is placed: the chunks, in the order of changes, the LSN, and where the commit ended.
    pub(crate) chunks: Vec<PlacedChunk>,
    /// And the length of its records, of all and of the longest.
    pub(crate) placed_bytes: u64,
    pub(super) longest: u32,
    pub(crate) lsn: Lsn,
    pub(crate) end: LogAddress,
}

/// Room for the first changes.
const CHANGES_FIRST: usize = 16;
const BYTES_FIRST: usize = 1 << 10;

/// Buffers beyond this are given back after use.
const KEPT_BYTES: usize = 4 << 20;

impl Batch {
    pub(crate) fn clear(&mut self) {
        self.changes.clear();
        self.collections.clear();
        self.by_id.clear();
        self.bytes.clear();
        self.superseded.clear();
        self.entries.clear();
        self.chunks.clear();
        (self.is_system, self.leaves_reserve, self.replaces_chunks) = (false, false, false);
        self.changes.shrink_to(KEPT_BYTES / size_of::<Change>());
        self.bytes.shrink_to(KEPT_BYTES);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The most that its records take, wherever they are placed.
    pub(crate) fn len_max(&self) -> usize {
        // The list of a move can be longer than its body, and such a commit is the store's own; and that of the chunks which end has no bound.
        let records = self.bytes.len() + self.changes.len() * RECORD_HEADER_LEN_MAX;
        if self.is_system || !self.superseded.is_empty() { usize::MAX } else { records }
    }

    /// Bytes of memory that it takes.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.bytes.len() + self.changes.len() * size_of::<Change>() + self.entries.memory_bytes()
    }

    pub(crate) fn changes_catalog(&self) -> bool {
        self.changes.iter().any(|change| matches!(change.action, Action::Catalog(..)))
    }

    /// Appends a put, with the encoded document, or a delete, with nothing, in the collection of this number.
    #[inline]
    pub(crate) fn push(
        &mut self,
        action: Action,
        collection: u32,
        key: KeyRef<'_>,
        Superseded { before, replaces }: Superseded,
        body: &[u8],
    ) {
        if self.changes.is_empty() {
            // Most commits are short: then nothing has to grow.
            self.changes.reserve(CHANGES_FIRST);
            self.bytes.reserve(BYTES_FIRST);
        }
        let start = self.bytes.len();
        let int_key = if let KeyRef::Int(int) = key { Some(int) } else { None };
        key.encode_into(&mut self.bytes);
        let key_len = (self.bytes.len() - start) as u32;
        self.bytes.extend_from_slice(body);
        let had = self.has_document(before, replaces);
        let touched = &mut self.collections[collection as usize];
        let (collection, largest_before) = (Some(collection), touched.largest_id);
        let nameless = Change::nameless(action, start, body.len());
        let change = Change { collection, int_key, key_len, replaces, before, largest_before, ..nameless };
        touched.added += change.added(had);
        self.replaces_chunks |= matches!(replaces, Replaces::Version(entry, _) if entry.is_chunked());
        if matches!(change.action, Action::Put) {
            touched.largest_id = touched.largest_id.max(int_key.unwrap_or(0));
            // A put says all that the change before it said. A delete does not: what it deletes may have raised the largest id.
            if let Some(before) = before {
                self.changes[before].is_moot = true;
            }
        }
        self.changes.push(change);
    }

    /// Whether there is a document after the change `before`, or, where there is none, before what `replaces` names.
    fn has_document(&self, before: Option<usize>, replaces: Replaces) -> bool {
        match before {
            Some(before) => self.is_put(before),
            None => matches!(replaces, Replaces::Version(..)),
        }
    }

    /// Whether change `number` leaves a document under its key.
    pub(crate) fn is_put(&self, number: usize) -> bool {
        matches!(self.changes[number].action, Action::Put)
    }

    /// The number of a collection among those written to; it is one of them from now on.
    pub(crate) fn touch(&mut self, documents: &Arc<Documents>) -> u32 {
        match self.by_id.binary_search_by_key(&documents.id, |(id, _)| *id) {
            Ok(at) => {
                let number = self.by_id[at].1;
                let known = &mut self.collections[number as usize];
                if !Arc::ptr_eq(&known.documents, documents) {
                    // The change that began the collection that had this id was undone.
                    *known = Touched::by_nothing(documents);
                }
                number
            }
            Err(at) => {
                let number = self.collections.len() as u32;
                self.collections.push(Touched::by_nothing(documents));
                self.by_id.insert(at, (documents.id, number));
                number
            }
        }
    }

    /// The number of a collection, if it is one of those written to.
    pub(crate) fn number_of(&self, documents: &Documents) -> Option<u32> {
        let at = self.by_id.binary_search_by_key(&documents.id, |(id, _)| *id).ok()?;
        Some(self.by_id[at].1)
    }

    /// The number of the collection whose document change `number` changes, and the key.
    #[inline(always)]
    pub(crate) fn place_of(&self, number: usize) -> Option<(u32, KeyRef<'_>)> {
        let change = &self.changes[number];
        Some((change.collection?, self.key(change)?))
    }

    /// Whether change `number` changes this document.
    #[inline]
    pub(crate) fn is_change_of(&self, number: usize, collection: u32, key: KeyRef<'_>) -> bool {
        let change = &self.changes[number];
        let is_same_key = match key {
            KeyRef::Int(int) => change.int_key == Some(int),
            _ => key.len_at(self.key_bytes(change)) == Some(change.key_len()),
        };
        is_same_key && change.collection == Some(collection)
    }

    /// Appends a record of no document.
    fn push_nameless(&mut self, action: Action, body: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(body);
        self.changes.push(Change::nameless(action, start, body.len()));
    }

    //= spec/format.md#f-7-4-order-in-a-commit
    //# A record MUST follow the catalog record that creates its collection in the log.
    /// Appends a change of the catalog.
    pub(crate) fn push_catalog(&mut self, change: CatalogChange, begins: Option<Arc<Documents>>) {
        let body = change.encode();
        self.push_nameless(Action::Catalog(Box::new(change), begins), &body);
    }

    /// Whether it takes more away than it brings, or is the store's own: it may use what is kept for a full disk.
    pub(crate) fn only_frees(&self) -> bool {
        self.changes.iter().all(|change| match &change.action {
            Action::Put => false,
            Action::Delete | Action::Relocate(_) | Action::Free(_) => true,
            Action::Catalog(change, _) => {
                matches!(
                    **change,
                    CatalogChange::Drop { .. } | CatalogChange::Clear { .. } | CatalogChange::Unindex { .. }
                )
            }
        })
    }

    /// Appends the move of a version; `body` is the document, or the bytes of the chunks that move.
    pub(crate) fn push_relocation(
        &mut self,
        documents: &Arc<Documents>,
        key: KeyRef<'_>,
        replaces: Replaces,
        relocation: Relocation,
        body: &[u8],
    ) {
        let number = self.changes.len();
        if let Some((_, chunks)) = &relocation.chunks {
            let moved = chunks.iter().filter_map(|chunk| match chunk {
                Chunk::Moves(from, _) => Some((number, *from)),
                Chunk::Stays(_) => None,
            });
            self.superseded.extend(moved);
        }
        let collection = self.touch(documents);
        let superseded = Superseded { before: None, replaces };
        self.push(Action::Relocate(Box::new(relocation)), collection, key, superseded, body);
    }

    /// Appends that a segment is free.
    pub(crate) fn push_free(&mut self, sequence: u64, physical: u32) {
        self.push_nameless(Action::Free(sequence), &encode_segment_freed(sequence, physical));
    }

    /// Takes note of a record that was placed.
    #[inline]
    pub(super) fn note_placed(&mut self, len: u32) {
        self.placed_bytes += u64::from(len);
        self.longest = self.longest.max(len);
    }

    /// Whether it places chunks, or supersedes any.
    pub(crate) fn has_chunks(&self) -> bool {
        !self.chunks.is_empty() || !self.superseded.is_empty()
    }

    /// Where those of its records were placed that have `len_min` bytes or more, in order.
    pub(crate) fn long_records(&self, len_min: usize) -> Vec<Range<LogAddress>> {
        let is_long = |len: u32| len as usize >= len_min;
        if !is_long(self.longest) {
            return Vec::new();
        }
        let range = |address: LogAddress, len: u32| address..LogAddress(address.0 + u64::from(len));
        let changes = self.changes.iter().filter(|change| is_long(change.len) && !change.is_moot);
        let chunks = self.chunks.iter().filter(|chunk| is_long(chunk.len));
        let mut long: Vec<_> = changes.map(|change| range(change.address, change.len)).collect();
        if !self.chunks.is_empty() {
            long.extend(chunks.map(|chunk| range(chunk.address, chunk.len)));
            long.sort_unstable_by_key(|record| record.start);
        }
        long
    }

    /// The chunks that were placed for change `number`.
    pub(crate) fn chunks_of(&self, number: usize) -> &[PlacedChunk] {
        let first = self.chunks.partition_point(|chunk| chunk.change < number);
        let count = self.chunks[first..].partition_point(|chunk| chunk.change == number);
        &self.chunks[first..first + count]
    }

    /// Where the chunks stand that change `number` supersedes.
    pub(crate) fn superseded_chunks(&self, number: usize) -> impl Iterator<Item = LogAddress> {
        let of_earlier = match self.changes[number].replaces {
            Replaces::Change(earlier) => self.chunks_of(earlier),
            Replaces::Nothing | Replaces::Version(..) => &[],
        };
        let first = self.superseded.partition_point(|(change, _)| *change < number);
        let of_version = self.superseded[first..].iter().take_while(move |(change, _)| *change == number);
        of_earlier.iter().map(|chunk| chunk.address).chain(of_version.map(|(_, address)| *address))
    }

    /// The entry that leads to what change `number` has put.
    pub(crate) fn entry(&self, number: usize) -> Entry {
        let change = &self.changes[number];
        let relocated = matches!(change.action, Action::Relocate(_));
        Entry::new(change.address, relocated).with_chunked(change.is_chunked)
    }

    /// Takes back everything pushed since there were `changes`.
    pub(crate) fn truncate(&mut self, changes: usize) {
        self.entries.truncate(self.entries.count_before(changes));
        while self.changes.len() > changes {
            let Some(undone) = self.changes.pop() else { return };
            self.bytes.truncate(undone.start);
            let Some(collection) = undone.collection else { continue };
            let had = self.has_document(undone.before, undone.replaces);
            let touched = &mut self.collections[collection as usize];
            touched.added -= undone.added(had);
            touched.largest_id = undone.largest_before;
            if let Some(before) = undone.before {
                self.changes[before].is_moot = false;
            }
        }
    }

    /// The collection whose document `change` changes.
    pub(crate) fn touched(&self, change: &Change) -> Option<&Touched> {
        change.collection.map(|number| &self.collections[number as usize])
    }

    #[inline]
    pub(crate) fn key(&self, change: &Change) -> Option<KeyRef<'_>> {
        if let Some(int) = change.int_key {
            return Some(KeyRef::Int(int));
        }
        let (key, _) = KeyRef::decode(self.key_bytes(change)).ok()?;
        Some(key)
    }

    /// The key as it is encoded.
    pub(crate) fn key_bytes(&self, change: &Change) -> &[u8] {
        &self.bytes[change.start..change.start + change.key_len()]
    }

    /// The key and the body as they are encoded, one behind the other.
    #[inline]
    pub(super) fn key_and_body(&self, change: &Change) -> &[u8] {
        &self.bytes[change.start..change.start + change.key_len() + change.body_len]
    }

    #[inline]
    pub(crate) fn body(&self, change: &Change) -> &[u8] {
        let start = change.start + change.key_len();
        &self.bytes[start..start + change.body_len]
    }

    /// The version that `change` supersedes, once what comes before it in the commit is placed.
    pub(crate) fn replaced(&self, change: &Change) -> Option<(Entry, Birth)> {
        match change.replaces {
            Replaces::Nothing => None,
            Replaces::Version(entry, birth) => Some((entry, birth)),
            Replaces::Change(number) => Some((self.entry(number), Birth::At(self.changes[number].address))),
        }
    }

    /// A copy that speaks of the documents that `copy_of` gives for each.
    #[cfg(feature = "testing")]
    pub(crate) fn fork(&self, copy_of: &mut dyn FnMut(&Arc<Documents>) -> Arc<Documents>) -> Self {
        let mut copy = self.clone();
        for touched in &mut copy.collections {
            touched.documents = copy_of(&touched.documents);
            touched.targets = touched.documents.targets();
        }
        for target in copy.entries.targets_mut() {
            target.entries = copy_of(&target.entries);
        }
        for change in &mut copy.changes {
            if let Action::Catalog(_, Some(begins)) = &mut change.action {
                *begins = copy_of(begins);
            }
        }
        copy
    }
}
