//! A document that no block holds whole.

use std::ops::Range;

use crate::document::KeyRef;
use crate::format::Lsn;
use crate::sync::Arc;

/// A document that was put together, and verified on the way. None of it ever changes.
#[derive(Debug)]
pub(crate) struct Whole {
    pub(crate) bytes: Vec<u8>,
    /// Where in them its key stands, and the document itself.
    pub(crate) key: Range<u32>,
    pub(crate) body: Range<u32>,
    pub(crate) collection: u32,
    /// What the index had for it (spec: F-8.4); 0 where it had nothing yet.
    pub(crate) value: u64,
    /// The commit that put it; 0 where none has yet.
    pub(crate) lsn: Lsn,
}

impl Whole {
    /// What it takes of the cache's budget, in bytes.
    pub(crate) fn footprint(&self) -> usize {
        self.bytes.capacity() + size_of::<Self>()
    }

    pub(crate) fn is_of(&self, value: u64, collection: u32, key: KeyRef<'_>) -> bool {
        let own = &self.bytes[self.key.start as usize..self.key.end as usize];
        (self.value, self.collection) == (value, collection) && key.len_at(own) == Some(own.len())
    }
}

/// What the cache has under the address of such a document.
#[derive(Debug)]
pub(super) enum Cached {
    /// That it was read, once: most are not read again before long, and new memory for them would cost more than the reading.
    Read,
    Whole(Arc<Whole>),
}

/// What it takes of the budget that a document was read.
const READ_FOOTPRINT: usize = 64;

impl Cached {
    pub(super) fn footprint(&self) -> usize {
        match self {
            Cached::Read => READ_FOOTPRINT,
            Cached::Whole(whole) => READ_FOOTPRINT + whole.footprint(),
        }
    }
}
