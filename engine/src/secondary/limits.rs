//! How long the parts of an entry can be. spec: I-2.6, I-2.7, F-8.10.

use crate::document::{KeyRef, order_key};
use crate::error::{Error, Result};

/// The most entries that one document may give an index.
pub(super) const ENTRIES_MAX: usize = 1 << 20;

/// The tuple limit of stores whose pages have room for it, in bytes.
const TUPLE_LIMIT_MAX: usize = 1024;
/// The bytes of the shortest order key of a number.
const NUMBER_LEN: usize = 9;

/// The limits of the entries in a store, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EntryLimits {
    /// A longer tuple is cut.
    pub(crate) tuple: usize,
    /// The longest order key of a document's key.
    pub(crate) key: usize,
}

impl EntryLimits {
    /// Entries that are whole, whatever their length. None is stored so.
    pub(crate) const NONE: EntryLimits = EntryLimits { tuple: usize::MAX, key: usize::MAX };

    /// The limits in a store whose pages have room for entries of so many bytes.
    pub(crate) fn new(longest_entry: usize) -> Self {
        let tuple = TUPLE_LIMIT_MAX.min(longest_entry / 3);
        EntryLimits { tuple, key: longest_entry - tuple - tuple / NUMBER_LEN }
    }

    //= spec/index.md#i-2-6-long-tuples
    //# In a collection with an index, a write under a key that does not fit into an entry beside the longest tuple
    //# MUST be refused as `KeyTooLong`.
    /// Appends the order key of a document's key.
    ///
    /// # Errors
    /// `KeyTooLong`, in bytes of the key: each zero in it takes one more in an entry.
    pub(super) fn encode_key(self, key: KeyRef<'_>, out: &mut Vec<u8>) -> Result<()> {
        key.check_len()?;
        let start = out.len();
        order_key::encode_key(key, out);
        let (len, more) = (key.payload_len(), out.len() - start - key.payload_len());
        if len + more > self.key {
            return Err(Error::KeyTooLong { len, max: self.key.saturating_sub(more) });
        }
        Ok(())
    }
}
