//! Compaction: maintenance until nothing is left to gain (spec: P-7).

use std::ops::ControlFlow;

use crate::error::{Error, Result};

use super::super::Core;
use super::arrange::Wanted;
use super::due::Stepped;

#[cfg(test)]
mod tests;

/// How far a compaction has come, as [`Db::compact_with`](crate::Db::compact_with) tells after each step.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompactProgress {
    /// Steps taken.
    pub steps: u64,
    /// Length of the file now, in bytes.
    pub file_bytes: u64,
    /// Length of the stored documents, in bytes, as near as the accounts tell.
    pub live_bytes: u64,
    /// Bytes that were moved so far.
    pub moved_bytes: u64,
}

/// What a compaction has come to.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompactReport {
    /// Length of the file before, in bytes.
    pub bytes_before: u64,
    /// Length of the file after it, in bytes.
    pub bytes_after: u64,
    /// Bytes that were moved.
    pub moved_bytes: u64,
    /// Whether it went on to its end. Where it did not, another compaction goes on from there.
    pub is_complete: bool,
}

impl Core {
    //= spec/space.md#p-7-1-what-it-does
    //# After it the file SHOULD be at most 1.1 times the live bytes, and a few segments.
    /// Takes steps until there is nothing left to gain, or `progress` says stop. `step` takes one: it knows how to wait for a turn.
    pub(crate) fn compact(
        &self,
        step: impl Fn() -> Result<Stepped>,
        mut progress: impl FnMut(&CompactProgress) -> ControlFlow<()>,
    ) -> Result<CompactReport> {
        let (bytes_before, moved_before, user_before, live_before) = {
            let mut writer = self.writer()?;
            writer.work.best = None;
            let (moved, user) = (writer.work.relocated_bytes, writer.work.user_bytes);
            (writer.file_len, moved, user, writer.usage().live)
        };
        let report = |is_complete| {
            let writer = self.writer()?;
            let moved_bytes = writer.work.relocated_bytes - moved_before;
            Ok(CompactReport { bytes_before, bytes_after: writer.file_len, moved_bytes, is_complete })
        };
        let wanted = Wanted::by(self)?;
        let mut steps = 0;
        loop {
            match step() {
                Ok(Stepped::Nothing) => return report(true),
                Err(Error::StorageFull { .. }) if wanted.give_up() => {}
                stepped => _ = stepped?,
            }
            steps += 1;
            let (now, is_enough) = {
                let writer = self.writer()?;
                let moved_bytes = writer.work.relocated_bytes - moved_before;
                let written = writer.work.user_bytes - user_before;
                let is_enough = is_enough(moved_bytes, written, live_before);
                let live_bytes = writer.usage().live;
                (CompactProgress { steps, file_bytes: writer.file_len, live_bytes, moved_bytes }, is_enough)
            };
            if progress(&now).is_break() || is_enough {
                return report(false);
            }
        }
    }
}

/// Whether so much was moved beside those who wrote meanwhile that the rest is for another time: they leave new work behind for ever (spec: P-7.3).
fn is_enough(moved: u64, written: u64, live_before: u64) -> bool {
    written > 0 && moved > 3 * live_before + written
}
