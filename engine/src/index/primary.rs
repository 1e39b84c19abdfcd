//! What an index of one collection can be asked, and told.

use std::fmt;

use crate::document::KeyRef;

use super::{Entries, Entry, KeyRange};

/// The index of one collection.
pub(crate) trait PrimaryIndex: Send + Sync + fmt::Debug {
    /// Where the newest version of `key` stands.
    fn get(&self, key: KeyRef<'_>) -> Option<Entry>;

    /// Puts `entry` in the place of what was there, and returns that. Only the writer calls it.
    fn set(&self, key: KeyRef<'_>, entry: Entry) -> Option<Entry>;

    /// Takes `key` out. Only the writer calls it.
    fn remove(&self, key: KeyRef<'_>) -> Option<Entry>;

    /// Appends up to `limit` entries of `range` to `out`, in key order, or in reverse; fewer only where the range ends.
    fn page(&self, range: &KeyRange, reverse: bool, limit: usize, out: &mut Entries);

    /// How many keys `range` has; no more than `limit` are counted. About as many while keys are put.
    fn count(&self, range: &KeyRange, limit: usize) -> usize;

    /// Bytes of memory that it takes, as near as it can be told without walking it.
    fn memory_bytes(&self) -> usize;
}
