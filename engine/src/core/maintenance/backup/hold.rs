//! What a backup copies, and the hold on its places.

use crate::error::{Error, Result};
use crate::format::superblock::Superblock;

use super::super::super::Core;
use super::super::super::writer::Writer;
use super::contents::Contents;

/// How far a backup has come, as [`Db::backup_with`](crate::Db::backup_with) tells after each segment.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackupProgress {
    /// Bytes of segments that are in the copy.
    pub bytes_done: u64,
    /// Bytes of segments that there are to copy.
    pub bytes_total: u64,
}

/// What a backup has come to.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BackupReport {
    /// LSN of the last commit in it.
    pub lsn: u64,
    /// Documents in it; each was read and checked there.
    pub documents: u64,
    /// Length of the file, in bytes.
    pub file_bytes: u64,
    /// Bytes that were read from the store.
    pub bytes_copied: u64,
    /// Bytes that were taken from the earlier backup.
    pub bytes_reused: u64,
    /// Whether it went on to its end. Where it was cancelled there is no backup.
    pub is_complete: bool,
}

//= spec/space.md#p-4-4-backups
//# Until a backup has copied the last of it, a writer MUST NOT give out the place of a log segment that was
//# in place when the backup began, nor that of a checkpoint that a slot named then.
/// What is to be copied, and the hold on its places. The last one to go gives back what was held back.
#[derive(Debug)]
pub(crate) struct Hold<'a> {
    pub(super) core: &'a Core,
    pub(super) contents: Contents,
    /// The newest slot of the store.
    pub(super) slot: Superblock,
}

impl Core {
    //= spec/space.md#p-10-5-the-source
    //# A backup MUST NOT change what the source holds.
    /// Settles what a backup made now is to hold. Everything placed before is in it.
    pub(crate) fn begin_backup(&self) -> Result<Hold<'_>> {
        let mut writer = self.writer()?;
        writer.check_open()?;
        writer.sync()?;
        let log = &self.shared.log;
        let (len, checkpoints) = ((log.geometry, writer.file_len), &writer.checkpoints);
        // All of it is durable now.
        let contents = Contents::of(writer.end(), len, &writer.accounts, &log.segments, checkpoints);
        let slot = writer.superblock.clone();
        writer.work.backups += 1;
        Ok(Hold { core: self, contents, slot })
    }
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        let Ok(mut writer) = self.core.writer() else { return };
        writer.work.backups -= 1;
        if writer.work.backups == 0 {
            let released = std::mem::take(&mut writer.work.held_back);
            writer.release(released);
        }
    }
}

impl Writer {
    /// Gives places of checkpoints that no slot names any more to whoever needs them next; where a backup may be reading them, later.
    pub(in crate::core::maintenance) fn release(&mut self, released: Vec<u32>) {
        if self.work.backups > 0 {
            self.work.held_back.extend(released);
        } else {
            released.into_iter().for_each(|physical| self.appender.free.put(physical));
            self.budget.is_stale = true;
        }
    }
}

/// `earlier` is no backup that can be gone on from.
pub(super) fn unusable() -> Error {
    let requirement = "a backup of this very store, made before and not written to since";
    Error::InvalidOption { option: "earlier", requirement }
}
