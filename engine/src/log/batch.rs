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

/// One record to be.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    pub(crate) action: Action,
    /// The collection; none for the catalog.
    pub(crate) documents: Option<Arc<Documents>>,
    key: Range<usize>,
    body: Range<usize>,
    /// The version that it supersedes, and since when that is.
    pub(crate) replaces: Option<(Entry, Birth)>,
    /// Where it stands; set when it is placed.
    pub(crate) address: LogAddress,
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
        self.bytes.clear();
        self.changes.shrink_to(KEPT_BYTES / size_of::<Change>());
        self.bytes.shrink_to(KEPT_BYTES);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Appends a put, with the encoded document, or a delete, with nothing.
    pub(crate) fn push(
        &mut self,
        action: Action,
        documents: Arc<Documents>,
        key: KeyRef<'_>,
        replaces: Option<(Entry, Birth)>,
        body: &[u8],
    ) {
        let start = self.bytes.len();
        key.encode_into(&mut self.bytes);
        let key = start..self.bytes.len();
        self.bytes.extend_from_slice(body);
        let body = key.end..self.bytes.len();
        let documents = Some(documents);
        self.changes.push(Change { action, documents, key, body, replaces, address: LogAddress(0) });
    }

    /// Appends a change of the catalog.
    pub(crate) fn push_catalog(&mut self, change: CatalogChange, begins: Option<Arc<Documents>>) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&change.encode());
        let (key, body) = (start..start, start..self.bytes.len());
        let action = Action::Catalog(change, begins);
        self.changes.push(Change {
            action,
            documents: None,
            key,
            body,
            replaces: None,
            address: LogAddress(0),
        });
    }

    pub(crate) fn key(&self, change: &Change) -> Option<KeyRef<'_>> {
        let (key, _) = KeyRef::decode(self.bytes.get(change.key.clone())?).ok()?;
        Some(key)
    }

    pub(crate) fn body(&self, change: &Change) -> &[u8] {
        &self.bytes[change.body.clone()]
    }
}
