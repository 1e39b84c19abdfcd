//! A document that was read.

use serde::Deserialize;

use crate::core::{Located, Visited};
use crate::document::{self, Document, KeyRef, RawDocument, RawValue};
use crate::error::Result;

/// A document as it stands in the log: verified, in memory, and not decoded. Owned, so it can outlive the store's handle.
///
/// ```
/// use holotype::{Db, doc};
///
/// let db = Db::in_memory();
/// let birds = db.collection("birds");
/// let id = birds.insert(doc! { "name": "Wren", "seen": [{ "where": "hedge" }] })?;
/// let bird = birds.get(&id)?.expect("it was just put there");
/// assert_eq!(bird.pointer("/seen/0/where").and_then(|place| place.as_str()), Some("hedge"));
/// # Ok::<(), holotype::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct DocRef(Located);

impl DocRef {
    pub(crate) fn new(located: Located) -> Self {
        DocRef(located)
    }

    /// The same, lent.
    pub(crate) fn view(&self) -> DocView<'_> {
        DocView::new(Visited::of(&self.0))
    }

    /// The document's key.
    pub fn key(&self) -> KeyRef<'_> {
        self.0.key()
    }

    /// The LSN of the commit that made this version: it grows with every change of the document, and is never used again.
    pub fn version(&self) -> u64 {
        self.0.lsn().0
    }

    /// The document's deterministic CBOR.
    pub fn bytes(&self) -> &[u8] {
        self.0.body()
    }

    /// The field `name`, found without decoding the rest, and without an allocation.
    pub fn get(&self, name: &str) -> Option<RawValue<'_>> {
        self.raw().get(name)
    }

    /// The value that a JSON Pointer such as `"/seen/0/where"` leads to, as [`RawDocument::pointer`].
    pub fn pointer(&self, pointer: &str) -> Option<RawValue<'_>> {
        self.raw().pointer(pointer)
    }

    /// The document over its bytes.
    #[inline]
    pub fn raw(&self) -> RawDocument<'_> {
        RawDocument::from_verified(self.bytes())
    }

    /// The whole document, decoded.
    ///
    /// # Errors
    /// `Decode` where the bytes, though undamaged, are not a document.
    pub fn to_document(&self) -> Result<Document> {
        Document::decode(self.bytes())
    }

    /// The document as a type of the caller's, which may borrow from it.
    ///
    /// # Errors
    /// `Serde` where the document is not of that type.
    pub fn to_type<'de, T: Deserialize<'de>>(&'de self) -> Result<T> {
        document::from_bytes(self.bytes())
    }
}

/// A document that is lent for one call, as [`Scan::visit`](crate::Scan::visit) does: verified, in memory, and not decoded.
#[derive(Debug, Clone, Copy)]
pub struct DocView<'a>(Visited<'a>);

impl<'a> DocView<'a> {
    pub(crate) fn new(visited: Visited<'a>) -> Self {
        DocView(visited)
    }

    /// The document's key.
    #[inline]
    pub fn key(&self) -> KeyRef<'a> {
        self.0.key()
    }

    /// As [`DocRef::version`].
    pub fn version(&self) -> u64 {
        self.0.lsn().0
    }

    /// The document's deterministic CBOR.
    pub fn bytes(&self) -> &'a [u8] {
        self.0.body
    }

    /// The field `name`, found without decoding the rest, and without an allocation.
    pub fn get(&self, name: &str) -> Option<RawValue<'a>> {
        self.raw().get(name)
    }

    /// The value that a JSON Pointer such as `"/seen/0/where"` leads to, as [`RawDocument::pointer`].
    pub fn pointer(&self, pointer: &str) -> Option<RawValue<'a>> {
        self.raw().pointer(pointer)
    }

    /// The document over its bytes.
    #[inline]
    pub fn raw(&self) -> RawDocument<'a> {
        RawDocument::from_verified(self.bytes())
    }

    /// The whole document, decoded.
    ///
    /// # Errors
    /// `Decode` where the bytes, though undamaged, are not a document.
    pub fn to_document(&self) -> Result<Document> {
        Document::decode(self.bytes())
    }

    /// The document as a type of the caller's, which may borrow from it.
    ///
    /// # Errors
    /// `Serde` where the document is not of that type.
    pub fn to_type<T: Deserialize<'a>>(&self) -> Result<T> {
        document::from_bytes(self.bytes())
    }
}
