//! Documents that were encoded before the writer is locked.

use std::borrow::Borrow;

use crate::document::{Document, Key};
use crate::error::Result;

/// Encoded documents, one after the other. They are encoded before the writer is locked: what encodes them is the caller's
/// code, which may use the store itself.
#[derive(Debug, Default)]
pub(crate) struct Bodies {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Bodies {
    /// The encodings of these documents: of all, or of the first ones, until they take `most` bytes of memory.
    pub(crate) fn of<D: Borrow<Document>>(
        documents: impl IntoIterator<Item = D>,
        most: usize,
    ) -> Result<Self> {
        let (mut documents, mut bodies) = (documents.into_iter(), Bodies::default());
        while bodies.memory_bytes() < most
            && let Some(document) = documents.next()
        {
            document.borrow().encode_into(&mut bodies.bytes)?;
            bodies.ends.push(bodies.bytes.len());
        }
        Ok(bodies)
    }

    /// As [`of`](Self::of), with the keys that they go under.
    pub(crate) fn under_keys<K: Into<Key>, D: Borrow<Document>>(
        documents: impl IntoIterator<Item = (K, D)>,
        most: usize,
    ) -> Result<(Vec<Key>, Self)> {
        let mut keys = Vec::new();
        let documents = documents.into_iter().map(|(key, document)| {
            keys.push(key.into());
            document
        });
        let bodies = Bodies::of(documents, most)?;
        Ok((keys, bodies))
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Bytes of memory that they take.
    fn memory_bytes(&self) -> usize {
        self.bytes.len() + self.ends.len() * size_of::<usize>()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.ends.len()).map(|index| self.get(index))
    }

    pub(super) fn get(&self, index: usize) -> &[u8] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[index]]
    }
}
