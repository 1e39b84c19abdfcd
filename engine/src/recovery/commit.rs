//! A commit as the scan of the log finds it.

use crate::format::Lsn;

use super::image::Shared;

/// A commit that recovery found whole.
#[derive(Debug)]
pub(crate) struct Commit {
    pub(crate) lsn: Lsn,
    /// Its parts, in order; never empty.
    pub(super) parts: Vec<Part>,
}

/// One valid frame.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) image: Shared,
    /// Of the frame, in its segment.
    pub(super) offset: u32,
    /// Where the frame ended.
    pub(super) end: u32,
    /// Offsets of its records, in the segment.
    pub(super) records: Vec<u32>,
    pub(super) opening: bool,
    /// As its header has it.
    pub(super) record_count: u32,
}

impl Commit {
    pub(super) fn last(&self) -> &Part {
        &self.parts[self.parts.len() - 1]
    }
}
