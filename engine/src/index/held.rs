//! What a checkpoint's leaves have for a page that nobody has asked for yet.

use crate::format::checkpoint::Stretch;
use crate::sync::Arc;

use super::Entry;

/// A stretch, and the leaf that it stands in.
#[derive(Debug, Clone)]
pub(super) struct Held {
    pub(super) entries: Arc<[u8]>,
    pub(super) stretch: Stretch,
}

impl Held {
    pub(super) fn each(&self, mut each: impl FnMut(i64, Entry)) {
        self.stretch.each(&self.entries, |key, value| each(key, entry(value)));
    }

    pub(super) fn byte_len(&self) -> usize {
        self.stretch.byte_len() as usize
    }
}

/// The entry that a leaf has as `value`.
pub(super) fn entry(value: u64) -> Entry {
    Entry::from_value(value).expect("a leaf's values are checked before they are handed out")
}
