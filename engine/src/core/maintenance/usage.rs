//! Where the bytes of the file are, and what was written to bring them there.

use crate::format::Lsn;

use super::super::writer::Writer;

#[cfg(test)]
mod tests;

/// Where the bytes of the file are. Live bytes are the lengths of the newest versions' records, at the mean of each segment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::core) struct Usage {
    /// Live records.
    pub(in crate::core) live: u64,
    /// Log segments in use, the current one among them.
    pub(in crate::core) in_use: u64,
    /// Log segments that are freed and wait for a checkpoint; those that no checkpoint has as freed yet among them.
    pub(in crate::core) waiting: u64,
    pub(in crate::core) waiting_for_two: u64,
    /// Log segments that are freed and wait for nothing but a snapshot or a watch.
    pub(in crate::core) pinned: u64,
    /// Segments of checkpoints, and the bytes in them.
    pub(in crate::core) checkpoints: u64,
    pub(in crate::core) checkpoint_bytes: u64,
    /// Segments in the file that nothing holds.
    pub(in crate::core) free: u64,
}

impl Writer {
    pub(in crate::core) fn usage(&self) -> Usage {
        let current = self.shared.current_collections();
        let floor = self.reuse_floor();
        let newest = self.superblock.checkpoints[0].map_or(Lsn::ZERO, |newest| newest.lsn);
        let mut usage = Usage::default();
        for (_, account) in self.accounts.iter() {
            match account.freed {
                Lsn::ZERO => usage.in_use += 1,
                freed if freed <= floor => usage.pinned += 1,
                freed => {
                    usage.waiting += 1;
                    usage.waiting_for_two += u64::from(freed > newest);
                }
            }
            usage.live += account.bytes_of(account.live_records(|id| current.contains(&id)));
        }
        usage.checkpoints = self.checkpoints.segments().len() as u64;
        usage.checkpoint_bytes = self.checkpoints.bytes();
        let within = self.shared.log.geometry.segments_within(self.file_len);
        usage.free = u64::from(self.appender.free.within(within));
        usage
    }

    pub(in crate::core) fn space(&self) -> Space {
        let usage = self.usage();
        let segment_bytes = u64::from(self.shared.log.geometry.segment_bytes());
        Space {
            live_bytes: usage.live,
            dead_bytes: (usage.in_use.saturating_sub(1) * segment_bytes).saturating_sub(usage.live),
            reclaimable_bytes: usage.waiting * segment_bytes,
            pinned_bytes: usage.pinned * segment_bytes,
            free_bytes: usage.free * segment_bytes,
            checkpoint_bytes: usage.checkpoint_bytes,
            log_since_checkpoint: self.log_since_checkpoint(),
            user_bytes: self.work.user_bytes,
            relocated_bytes: self.work.relocated_bytes,
            checkpoint_written_bytes: self.work.checkpoint_written_bytes,
            unreadable_segments: (self.work.unreadable.len() + self.work.refused.len()) as u64,
        }
    }
}

/// Where the bytes of a file are, as [`Stats`](crate::Stats) tells. All but `live_bytes` and `checkpoint_bytes` are whole segments.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Space {
    /// The records of all live documents, as near as the accounts of the segments tell: each segment's live records at its mean length.
    pub live_bytes: u64,
    /// What cleaning can still win: the rest of the segments in use, the one that is being written apart.
    pub dead_bytes: u64,
    /// Segments that are cleaned, and wait for the next checkpoints before they are used again.
    pub reclaimable_bytes: u64,
    /// Segments that are cleaned, and that a snapshot or a watch keeps from being used again.
    pub pinned_bytes: u64,
    /// Segments that are free.
    pub free_bytes: u64,
    /// The two newest checkpoints, without what is left over in their last segments.
    pub checkpoint_bytes: u64,
    /// Log that opening the store now would have to read beside the newest checkpoint.
    pub log_since_checkpoint: u64,
    /// Records that callers had placed through this handle, in bytes.
    pub user_bytes: u64,
    /// Records that cleaning moved through this handle, in bytes.
    pub relocated_bytes: u64,
    /// Index records of checkpoints written through this handle, in bytes.
    pub checkpoint_written_bytes: u64,
    /// Segments that hold something that cannot be read, and are therefore not cleaned.
    pub unreadable_segments: u64,
}
