//! A commit as the scan of the log finds it.

use crate::error::{Error, Result};
use crate::format::Lsn;
use crate::log::{Met, broken};

use super::image::Shared;

/// A commit that recovery found whole.
#[derive(Debug)]
pub(crate) struct Commit {
    pub(crate) lsn: Lsn,
    /// Its parts, in order; never empty.
    pub(super) parts: Vec<Part>,
}

/// One valid frame, and how many records it has.
pub(super) type Part = Met<Shared, u32>;

impl Commit {
    pub(super) fn last(&self) -> &Part {
        &self.parts[self.parts.len() - 1]
    }
}

impl Part {
    pub(super) fn broken(&self, clause: &'static str, what: &'static str) -> Error {
        broken(self.segment.file_offset(self.frame.offset), clause, what)
    }

    //= spec/recovery.md#r-2-7-contents
    //# A reader MUST report corruption when the record count of a valid frame is not the number of its records.
    /// Its checksums hold, so a wrong count is no torn write.
    pub(super) fn check_count(&self) -> Result<()> {
        if self.frame.header.record_count == self.body {
            return Ok(());
        }
        Err(self.broken("R-2.7", "a frame has another number of records than it says"))
    }
}
