//! How freely a power cut chooses.

use super::content::PAGE_LEN;

/// How freely a power cut chooses among the writes since the last sync (`spec/media.md`, section M-2). Each level allows
/// all that the ones before it allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Some number of them persisted, in their order.
    Prefix,
    /// Each page of 4 KiB by itself has its old bytes, or those that any of the writes gave it.
    Pages,
    /// Each sector by itself. The level at which a store must hold.
    Sectors,
    /// Besides, a sector that was written to, or that the file grew by, may hold garbage.
    Garbage,
}

impl Level {
    /// How many bytes persist or fail to persist together.
    pub(super) fn tear_len(self, sector: u32) -> usize {
        match self {
            Level::Pages => PAGE_LEN,
            _ => sector as usize,
        }
    }
}
