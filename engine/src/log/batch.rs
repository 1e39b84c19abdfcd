//! The changes of one commit, encoded once, before it is known where they will stand.

use std::ops::Range;

use crate::document::KeyRef;
use crate::format::body::encode_segment_freed;
use crate::format::catalog::CatalogChange;
use crate::format::{LogAddress, Lsn};
use crate::index::{Birth, Documents, Entry};
use crate::sync::Arc;

#[cfg(test)]
mod tests;

/// What a change does.
#[derive(Debug, Clone)]
pub(crate) enum Action {
    Put,
    Delete,
    /// A change of the catalog, and the documents of the collection that it begins, if it does.
    Catalog(CatalogChange, Option<Arc<Documents>>),
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
    pub(crate) from: LogAddress,
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
    key: Range<usize>,
    body: Range<usize>,
    pub(crate) replaces: Replaces,
    /// A later change of the same commit made it needless: it is not placed.
    pub(crate) is_moot: bool,
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

/// A collection that a commit writes to, and what is to be told of it when the commit is seen, or taken back.
#[derive(Debug, Clone)]
pub(crate) struct Touched {
    pub(crate) documents: Arc<Documents>,
    /// The largest id before the commit.
    pub(crate) largest_before: i64,
    /// How many documents there were before the commit was applied, and how many there are since.
    pub(crate) len_before: u64,
    pub(crate) len_after: u64,
}

impl Change {
    /// The length of the encoded key; 0 for the catalog.
    pub(crate) fn key_len(&self) -> usize {
        self.key.len()
    }

    /// The length of the encoded document, or of the catalog change.
    pub(crate) fn body_len(&self) -> usize {
        self.body.len()
    }
}

/// A commit in the making. Emptied and used again, so that a steady writer allocates nothing.
#[derive(Debug, Clone, Default)]
pub(crate) struct Batch {
    pub(crate) changes: Vec<Change>,
    pub(crate) collections: Vec<Touched>,
    /// Keys and bodies, encoded, one behind the other.
    bytes: Vec<u8>,
    /// Chunks of what its changes supersede, each with the number of the change.
    pub(crate) superseded: Vec<(usize, LogAddress)>,
    /// A commit of the store's own, which changes no visible state (spec: F-5.8).
    pub(crate) is_system: bool,
    /// A commit of the store's own that could as well not be: it finds no room where a caller's would find none.
    pub(crate) leaves_reserve: bool,
    /// Set when it is placed: the chunks, the LSN, and where the commit ended.
    pub(crate) chunks: Vec<PlacedChunk>,
    pub(crate) lsn: Lsn,
    pub(crate) end: LogAddress,
}

/// Buffers beyond this are given back after use.
const KEPT_BYTES: usize = 4 << 20;

impl Batch {
    pub(crate) fn clear(&mut self) {
        self.changes.clear();
        self.collections.clear();
        self.bytes.clear();
        self.superseded.clear();
        self.chunks.clear();
        (self.is_system, self.leaves_reserve) = (false, false);
        self.changes.shrink_to(KEPT_BYTES / size_of::<Change>());
        self.bytes.shrink_to(KEPT_BYTES);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Bytes of memory that it takes.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.bytes.len() + self.changes.len() * size_of::<Change>()
    }

    pub(crate) fn changes_catalog(&self) -> bool {
        self.changes.iter().any(|change| matches!(change.action, Action::Catalog(..)))
    }

    /// Appends a put, with the encoded document, or a delete, with nothing.
    pub(crate) fn push(
        &mut self,
        action: Action,
        documents: &Arc<Documents>,
        key: KeyRef<'_>,
        replaces: Replaces,
        body: &[u8],
    ) {
        let start = self.bytes.len();
        let int_key = if let KeyRef::Int(int) = key { Some(int) } else { None };
        key.encode_into(&mut self.bytes);
        let key = start..self.bytes.len();
        self.bytes.extend_from_slice(body);
        let body = key.end..self.bytes.len();
        let collection = Some(self.touch(documents));
        let address = LogAddress(0);
        self.changes.push(Change {
            action,
            collection,
            int_key,
            key,
            body,
            replaces,
            is_moot: false,
            address,
            len: 0,
        });
    }

    /// The number of the collection among those written to.
    fn touch(&mut self, documents: &Arc<Documents>) -> u32 {
        // Mostly it is the one of the change before.
        let known = self.collections.iter().rposition(|touched| Arc::ptr_eq(&touched.documents, documents));
        let number = known.unwrap_or_else(|| {
            let (documents, largest_before) = (Arc::clone(documents), documents.largest_id());
            self.collections.push(Touched { documents, largest_before, len_before: 0, len_after: 0 });
            self.collections.len() - 1
        });
        number as u32
    }

    //= spec/format.md#f-7-4-order-in-a-commit
    //# A record MUST follow the catalog record that creates its collection in the log.
    /// Appends a change of the catalog.
    pub(crate) fn push_catalog(&mut self, change: CatalogChange, begins: Option<Arc<Documents>>) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&change.encode());
        let (key, body) = (start..start, start..self.bytes.len());
        let action = Action::Catalog(change, begins);
        let (replaces, address) = (Replaces::Nothing, LogAddress(0));
        self.changes.push(Change {
            action,
            collection: None,
            int_key: None,
            key,
            body,
            replaces,
            is_moot: false,
            address,
            len: 0,
        });
    }

    /// Whether it takes more away than it brings, or is the store's own: it may use what is kept for a full disk.
    pub(crate) fn only_frees(&self) -> bool {
        self.changes.iter().all(|change| match &change.action {
            Action::Put => false,
            Action::Delete | Action::Relocate(_) | Action::Free(_) => true,
            Action::Catalog(change, _) => {
                matches!(change, CatalogChange::Drop { .. } | CatalogChange::Clear { .. })
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
        self.push(Action::Relocate(Box::new(relocation)), documents, key, replaces, body);
    }

    /// Appends that a segment is free.
    pub(crate) fn push_free(&mut self, sequence: u64, physical: u32) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&encode_segment_freed(sequence, physical));
        let (key, body) = (start..start, start..self.bytes.len());
        self.changes.push(Change {
            action: Action::Free(sequence),
            collection: None,
            int_key: None,
            key,
            body,
            replaces: Replaces::Nothing,
            is_moot: false,
            address: LogAddress(0),
            len: 0,
        });
    }

    /// Whether the document of change `number` was placed as chunks.
    pub(crate) fn is_chunked(&self, number: usize) -> bool {
        match &self.changes[number].action {
            Action::Relocate(relocation) => relocation.chunks.is_some(),
            _ => !self.chunks.is_empty() && self.chunks.iter().any(|chunk| chunk.change == number),
        }
    }

    /// The length of its records.
    pub(crate) fn placed_bytes(&self) -> u64 {
        let records =
            self.changes.iter().filter(|change| !change.is_moot).map(|change| u64::from(change.len));
        records.chain(self.chunks.iter().map(|chunk| u64::from(chunk.len))).sum()
    }

    /// Where those of its records were placed that have `len_min` bytes or more, in order.
    pub(crate) fn long_records(&self, len_min: usize) -> Vec<Range<LogAddress>> {
        let is_long = |len: u32| len as usize >= len_min;
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
    pub(crate) fn chunks_of(&self, number: usize) -> impl Iterator<Item = &PlacedChunk> {
        self.chunks.iter().filter(move |chunk| chunk.change == number)
    }

    /// Where the chunks stand that change `number` supersedes.
    pub(crate) fn superseded_chunks(&self, number: usize) -> impl Iterator<Item = LogAddress> {
        let earlier = match self.changes[number].replaces {
            Replaces::Change(earlier) => Some(earlier),
            Replaces::Nothing | Replaces::Version(..) => None,
        };
        let of_earlier = self.chunks.iter().filter(move |chunk| Some(chunk.change) == earlier);
        let of_version = self.superseded.iter().filter(move |(change, _)| *change == number);
        of_earlier.map(|chunk| chunk.address).chain(of_version.map(|(_, address)| *address))
    }

    /// The entry that leads to what change `number` has put.
    pub(crate) fn entry(&self, number: usize) -> Entry {
        let change = &self.changes[number];
        let relocated = matches!(change.action, Action::Relocate(_));
        Entry::new(change.address, relocated).with_chunked(self.is_chunked(number))
    }

    /// Takes back everything pushed since there were `changes`, where `bytes` were in use.
    pub(crate) fn truncate(&mut self, changes: usize) {
        if let Some(first) = self.changes.get(changes) {
            self.bytes.truncate(first.key.start);
        }
        self.changes.truncate(changes);
    }

    pub(crate) fn documents(&self, change: &Change) -> Option<&Arc<Documents>> {
        change.collection.map(|number| &self.collections[number as usize].documents)
    }

    #[inline]
    pub(crate) fn key(&self, change: &Change) -> Option<KeyRef<'_>> {
        if let Some(int) = change.int_key {
            return Some(KeyRef::Int(int));
        }
        let (key, _) = KeyRef::decode(self.bytes.get(change.key.clone())?).ok()?;
        Some(key)
    }

    /// The key as it is encoded.
    pub(crate) fn key_bytes(&self, change: &Change) -> &[u8] {
        &self.bytes[change.key.clone()]
    }

    pub(crate) fn body(&self, change: &Change) -> &[u8] {
        &self.bytes[change.body.clone()]
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
        }
        for change in &mut copy.changes {
            if let Action::Catalog(_, Some(begins)) = &mut change.action {
                *begins = copy_of(begins);
            }
        }
        copy
    }
}
