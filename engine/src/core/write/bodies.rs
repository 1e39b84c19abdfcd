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
    /// The encodings of these documents.
    pub(crate) fn of<D: Borrow<Document>>(documents: impl IntoIterator<Item = D>) -> Result<Self> {
        let mut bodies = Bodies::default();
        for document in documents {
            bodies.push(|out| document.borrow().encode_into(out))?;
        }
        Ok(bodies)
    }

    /// The keys, and the encodings of the documents that go under them.
    pub(crate) fn under_keys<K: Into<Key>, D: Borrow<Document>>(
        documents: impl IntoIterator<Item = (K, D)>,
    ) -> Result<(Vec<Key>, Self)> {
        let (mut keys, mut bodies) = (Vec::new(), Bodies::default());
        for (key, document) in documents {
            keys.push(key.into());
            bodies.push(|out| document.borrow().encode_into(out))?;
        }
        Ok((keys, bodies))
    }

    /// Appends what `encode` appends to the bytes that it is given.
    pub(crate) fn push(&mut self, encode: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<()> {
        encode(&mut self.bytes)?;
        self.ends.push(self.bytes.len());
        Ok(())
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Bytes of memory that they take.
    pub(crate) fn memory_bytes(&self) -> usize {
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
