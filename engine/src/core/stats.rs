//! Numbers about a store.

use super::maintenance::Space;

impl Stats {
    /// Bytes written through this handle for each byte of a record that callers had placed; 0 where there was none.
    pub fn write_amplification(&self) -> f64 {
        if self.space.user_bytes == 0 {
            0.0
        } else {
            self.written_bytes as f64 / self.space.user_bytes as f64
        }
    }
}

/// Numbers about a store, as [`Db::stats`](crate::Db::stats) gives them.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stats {
    /// Collections.
    pub collections: u64,
    /// Live documents in all collections.
    pub documents: u64,
    /// Length of the file, in bytes.
    pub file_bytes: u64,
    /// Length of a segment, in bytes.
    pub segment_bytes: u32,
    /// Length of a sector, in bytes.
    pub sector: u32,
    /// Log segments in place.
    pub segments: u64,
    /// The log address where the log ends: all bytes ever placed in it, headers and padding included.
    pub log_end: u64,
    /// LSN of the newest visible commit.
    pub lsn: u64,
    /// Everything up to this LSN is known to be durable.
    pub durable_lsn: u64,
    /// How often a superblock slot was written in the life of the file; 0 for a store opened for reading only.
    pub superblock_generation: u64,
    /// Memory that the indexes take, in bytes, as near as it can be told without walking them: those of keys and secondary
    /// ones, and those of what has ended, until a commit that comes after the last snapshot of it. An index that is being
    /// built is not counted.
    pub index_bytes: u64,
    /// How often a leaf of the index, or the bytes of one, was given up for [`index_bytes`](crate::Options::index_bytes).
    pub leaves_given_up: u64,
    /// Memory that the block cache takes now, in bytes.
    pub cache_bytes: u64,
    /// How often a block was not in the cache.
    pub cache_misses: u64,
    /// Commits that are placed and not visible yet: they wait for a sync.
    pub pending_commits: u64,
    /// Live snapshots, those of running scans included.
    pub snapshots: u64,
    /// Superseded versions that snapshots still need.
    pub retained_versions: u64,
    /// Bytes written through this handle.
    pub written_bytes: u64,
    /// Write calls made through this handle.
    pub writes: u64,
    /// Syncs made through this handle.
    pub syncs: u64,
    /// Where the bytes of the file are.
    pub space: Space,
}
