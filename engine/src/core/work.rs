//! What a life of the store has done beside what it was asked for, as plain data.

use std::collections::BTreeSet;

use crate::document::Key;
use crate::format::LogAddress;

/// What a life of the store has done beside what it was asked for.
#[derive(Debug, Clone, Default)]
pub(in crate::core) struct Work {
    /// Bytes of the records that callers had placed.
    pub(in crate::core) user_bytes: u64,
    /// Bytes of the records that were moved.
    pub(in crate::core) relocated_bytes: u64,
    /// Bytes of checkpoints written.
    pub(in crate::core) checkpoint_written_bytes: u64,
    /// How often the log went on in its next segment for maintenance alone.
    pub(in crate::core) rolls: u64,
    /// Segments with something that cannot be read: they are not cleaned.
    pub(in crate::core) unreadable: BTreeSet<u64>,
    /// Segments that the disk refused to read: they are tried again once nothing else is due.
    pub(in crate::core) refused: BTreeSet<u64>,
    /// What maintenance has come to at best.
    pub(in crate::core) best: Option<Best>,
    /// What a compaction under way has yet to do for the order of the keys.
    pub(in crate::core) arrangement: Option<Arrangement>,
    /// Backups under way: meanwhile no segment is given out again.
    pub(in crate::core) backups: u32,
    /// Places of former checkpoints that a backup may be reading: free once no backup is under way.
    pub(in crate::core) held_back: Vec<u32>,
}

impl Work {
    /// Whether cleaning passes a segment over, since something in it cannot be read.
    pub(in crate::core) fn is_left_alone(&self, sequence: u64) -> bool {
        self.unreadable.contains(&sequence) || self.refused.contains(&sequence)
    }
}

/// How much work a saved byte is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effort {
    /// Others write: only what keeps the file within its bound.
    Keep,
    /// Nobody writes: until the file is as small as it is to be at rest.
    Rest,
    /// A commit waits for room.
    Room,
    /// Somebody asked for all of it.
    All,
}

/// The smallest footprint since the last user write, and the maintenance bytes spent to reach it.
/// Stops maintenance that makes no progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::core) struct Best {
    pub(in crate::core) effort: Effort,
    pub(in crate::core) user_bytes: u64,
    pub(in crate::core) held: u64,
    pub(in crate::core) written: u64,
}

/// How far a compaction has come with the order of the keys.
#[derive(Debug, Clone)]
pub(in crate::core) enum Arrangement {
    /// Nobody has looked yet what is out of order.
    Wanted,
    Begun(Begun),
}

/// What is left to be gone through.
#[derive(Debug, Clone)]
pub(in crate::core) struct Begun {
    /// Where the log ended when it began: what stands behind that stays.
    pub(in crate::core) until: LogAddress,
    /// Collections, the one that is gone through last, and the key behind which that goes on.
    pub(in crate::core) left: Vec<u32>,
    pub(in crate::core) behind: Option<Key>,
}
