//! The changes of one commit, encoded once, before it is known where they will stand.

use std::ops::Range;

use crate::document::KeyRef;
use crate::format::catalog::CatalogChange;
use crate::format::{LogAddress, Lsn};
use crate::index::{Birth, Documents, Entry};
use crate::sync::Arc;

/// What a change does.
#[derive(Debug, Clone)]
pub(crate) enum Action {
    Put,
    Delete,
    /// A change of the catalog, and the documents of the collection that it begins, if it does.
    Catalog(CatalogChange, Option<Arc<Documents>>),
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
    /// Where it stands; set when it is placed.
    pub(crate) address: LogAddress,
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
    /// Set when it is placed: the LSN, and where the commit ended.
    pub(crate) lsn: Lsn,
    pub(crate) end: LogAddress,
}

/// Buffers beyond this are given back after use.
const KEPT_BYTES: usize = 1 << 20;

impl Batch {
    pub(crate) fn clear(&mut self) {
        self.changes.clear();
        self.collections.clear();
        self.bytes.clear();
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
        self.changes.iter().any(|change| change.collection.is_none())
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
        });
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
            Replaces::Change(number) => {
                let address = self.changes[number].address;
                Some((Entry::new(address, false), Birth::At(address)))
            }
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
