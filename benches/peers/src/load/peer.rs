//! What a store must do to take part.

use std::path::Path;

use crate::failure::Result;

/// What a commit has survived when the call returns. Only stores in the same class can be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// In memory.
    Buffered,
    /// Handed to the operating system.
    Written,
    /// On the disk: one sync for each commit.
    Synced,
}

/// An open store with one collection of small documents.
pub trait Peer: Sized {
    /// The store's name and version.
    const NAME: &'static str;

    /// How a document is named.
    type Id: Copy;

    /// Opens or creates the store in the file at `path`.
    fn open(path: &Path, class: Class) -> Result<Self>;

    /// Builds the small document of `i` and inserts it under a new id.
    fn insert(&mut self, i: i64) -> Result<Self::Id>;

    /// Builds the small document of `i` and puts it in the place of the one under `id`.
    fn replace(&mut self, id: Self::Id, i: i64) -> Result<()>;

    /// Deletes the document under `id`.
    fn delete(&mut self, id: Self::Id) -> Result<()>;

    /// Reads and decodes the whole document under `id`, refuses it unless it has as many fields as it should, and returns its
    /// field `id`.
    fn decode(&self, id: Self::Id) -> Result<Option<i64>>;

    /// The field `id` of the document under `id`, by the cheapest way there is.
    fn field(&self, id: Self::Id) -> Result<Option<i64>>;

    /// The sum of the field `id` over all documents, by the cheapest way there is.
    fn sum(&self) -> Result<i64>;

    /// An id that was never given.
    fn absent(&self, i: u64) -> Self::Id;

    /// How many documents there are.
    fn len(&self) -> Result<u64>;

    /// Makes everything durable.
    fn flush(&mut self) -> Result<()>;
}
