//! What salvage tells of its work.

use crate::document::Key;
use crate::error::Corruption;

use super::sink::{LostIndex, SalvagedCollection};

/// What [`salvage`](super::salvage) found, and what it did not.
#[non_exhaustive]
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SalvageReport {
    /// Documents in the collections of the new store: each is proven to have been the newest version of its key.
    pub documents: u64,
    /// Documents in lists apart: each is the newest version that is left, and may have been replaced or deleted since.
    pub stale: u64,
    /// The collections.
    pub collections: Vec<SalvagedCollection>,
    /// Documents that are known to have been there, and of which nothing can be read.
    pub lost: Vec<LostDocument>,
    /// Indexes that the documents that are left do not allow; all others were built anew.
    pub lost_indexes: Vec<LostIndex>,
    /// Whether there may be more that is lost: part of the log is missing, and nobody knows what it held.
    pub may_miss_more: bool,
    /// Whether no superblock was left, so that even the lengths of segments and sectors are inferred.
    pub is_geometry_inferred: bool,
    /// Bytes that the disk refused to read.
    pub unreadable_bytes: u64,
    /// What is damaged, as far as it made a difference.
    pub problems: Vec<Corruption>,
}

impl SalvageReport {
    /// Whether every document that the store had is in the new one, as it was.
    pub fn is_complete(&self) -> bool {
        self.stale == 0 && self.lost.is_empty() && !self.may_miss_more
    }
}

/// A document that cannot be read.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostDocument {
    /// The collection that it was in.
    pub collection: String,
    /// Its key.
    pub key: Key,
    /// Where it stands in the damaged file.
    pub at: u64,
}
