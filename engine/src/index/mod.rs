//! From key to log address: where the newest version of each document stands.
//!
//! An index holds the newest version, published or not; who may see it is the business of the room `txn`. One writer
//! changes it while any number of readers look; each call is atomic by itself, and no more is promised.

mod catalog;
mod load;
#[cfg(all(test, loom))]
mod loom;
mod mixed;
mod page;
mod paged;
mod rest;
#[cfg(test)]
mod thresholds;
mod tree;

use std::fmt;
use std::ops::Bound;

use crate::document::{Key, KeyRef};
use crate::format::{LogAddress, Lsn};

pub(crate) use catalog::{Catalog, Documents, Naming, check_name};
pub(crate) use load::Loader;
pub(crate) use mixed::MixedIndex;
pub(crate) use page::{Entries, Item, Page};

/// One commit's state: everything below `address` in the log, and nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct State {
    /// The commit.
    pub(crate) lsn: Lsn,
    /// Where it ended.
    pub(crate) address: LogAddress,
}

/// When a version came to be: by its place, or, for a relocated one, by its own LSN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Birth {
    At(LogAddress),
    Lsn(Lsn),
}

impl Birth {
    /// Whether a version born here belongs to `state`.
    pub(crate) fn is_within(self, state: State) -> bool {
        match self {
            Birth::At(address) => address < state.address,
            Birth::Lsn(lsn) => lsn <= state.lsn,
        }
    }
}

/// A log address and two bits, in the eight bytes that an index keeps for a document. Never 0. It is the value that a
/// checkpoint has for the document (spec: F-8.4).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry(u64);

/// The record is a relocated put.
const RELOCATED: u64 = 0b01;
/// The record's body is a chunk list.
const CHUNKED: u64 = 0b10;
/// The address stands above the flags.
const ADDRESS_SHIFT: u32 = 2;

impl Entry {
    /// The entry of a record that stands at `address`, and holds its document itself.
    pub(crate) fn new(address: LogAddress, relocated: bool) -> Self {
        assert!(address.0 != 0 && address <= LogAddress::MAX, "no record stands at {address:?}");
        Entry(address.0 << ADDRESS_SHIFT | if relocated { RELOCATED } else { 0 })
    }

    pub(crate) fn from_bits(bits: u64) -> Option<Self> {
        (bits != 0).then_some(Entry(bits))
    }

    pub(crate) fn bits(self) -> u64 {
        self.0
    }

    pub(crate) fn address(self) -> LogAddress {
        LogAddress(self.0 >> ADDRESS_SHIFT)
    }

    /// Whether the record there is a relocated put, whose own LSN says how old the version is.
    pub(crate) fn is_relocated(self) -> bool {
        self.0 & RELOCATED != 0
    }
}

impl Entry {
    /// The entry that a checkpoint has as `value`, if a record can stand at its address.
    pub(crate) fn from_value(value: u64) -> Option<Self> {
        let address = LogAddress(value >> ADDRESS_SHIFT);
        (address.0 != 0 && address <= LogAddress::MAX).then_some(Entry(value))
    }

    /// What a checkpoint has for the entry.
    pub(crate) fn value(self) -> u64 {
        self.0
    }

    /// The same entry, of a record whose body is a chunk list or is not.
    pub(crate) fn with_chunked(self, chunked: bool) -> Self {
        Entry(self.0 & !CHUNKED | if chunked { CHUNKED } else { 0 })
    }

    /// Whether the record's body is a chunk list.
    pub(crate) fn is_chunked(self) -> bool {
        self.0 & CHUNKED != 0
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let relocated = if self.is_relocated() { "relocated " } else { "" };
        let chunked = if self.0 & CHUNKED != 0 { "chunked " } else { "" };
        write!(f, "{relocated}{chunked}{:?}", self.address())
    }
}

//= spec/semantics.md#s-5-4-range
//# A scan of a range MUST answer exactly the keys that satisfy both bounds, each of which includes its key,
//# excludes it, or is absent.
/// A range of keys, both ends as the caller gave them.
#[derive(Debug, Clone)]
pub(crate) struct KeyRange {
    pub(crate) from: Bound<Key>,
    pub(crate) to: Bound<Key>,
}

impl KeyRange {
    pub(crate) fn all() -> Self {
        KeyRange { from: Bound::Unbounded, to: Bound::Unbounded }
    }

    //= spec/semantics.md#s-5-5-prefix
    //# A scan of a prefix MUST answer exactly the keys of the prefix's kind, text or bytes, whose payload
    //# begins with that of the prefix.
    /// The text keys that begin with `prefix`.
    pub(crate) fn text_prefix(prefix: &str) -> Self {
        let from = Bound::Included(Key::Text(prefix.into()));
        // The least text above all that begin so: the prefix with its last character raised, where one can be. Bytes in
        // UTF-8 are ordered as characters are.
        let mut above = prefix.to_owned();
        while let Some(last) = above.pop() {
            if let Some(next) = ((last as u32 + 1)..=char::MAX as u32).find_map(char::from_u32) {
                above.push(next);
                return KeyRange { from, to: Bound::Excluded(Key::Text(above.into())) };
            }
        }
        // Every byte string sorts behind every text.
        KeyRange { from, to: Bound::Excluded(Key::Bytes(Box::default())) }
    }

    //= spec/semantics.md#s-5-5-prefix
    //# A scan of a prefix MUST answer exactly the keys of the prefix's kind, text or bytes, whose payload
    //# begins with that of the prefix.
    /// The byte-string keys that begin with `prefix`.
    pub(crate) fn bytes_prefix(prefix: &[u8]) -> Self {
        let from = Bound::Included(Key::Bytes(prefix.into()));
        let kept = prefix.iter().rposition(|byte| *byte != 0xFF).map_or(0, |last| last + 1);
        let mut above = prefix[..kept].to_vec();
        match above.last_mut() {
            Some(last) => {
                *last += 1;
                KeyRange { from, to: Bound::Excluded(Key::Bytes(above.into())) }
            }
            None => KeyRange { from, to: Bound::Unbounded },
        }
    }

    pub(crate) fn contains(&self, key: &Key) -> bool {
        use std::ops::RangeBounds;
        (self.from.as_ref(), self.to.as_ref()).contains(key)
    }

    /// Whether no key can lie in it. An inverted range is empty, not an error.
    pub(crate) fn is_empty(&self) -> bool {
        match (&self.from, &self.to) {
            (Bound::Unbounded, _) | (_, Bound::Unbounded) => false,
            (Bound::Included(from), Bound::Included(to)) => from > to,
            (Bound::Included(from) | Bound::Excluded(from), Bound::Included(to) | Bound::Excluded(to)) => {
                from >= to
            }
        }
    }

    /// The part of the range as far as `key`, itself included, in the direction of the walk.
    pub(crate) fn up_to(mut self, key: Key, reverse: bool) -> Self {
        if reverse {
            self.from = Bound::Included(key);
        } else {
            self.to = Bound::Included(key);
        }
        self
    }

    /// What is left of the range behind `key`, in the direction of the walk.
    pub(crate) fn beyond(&self, key: &Key, reverse: bool) -> Self {
        let key = Bound::Excluded(key.clone());
        if reverse {
            KeyRange { from: self.from.clone(), to: key }
        } else {
            KeyRange { from: key, to: self.to.clone() }
        }
    }
}

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

    /// Bytes of memory that it takes, as near as it can be told without walking it.
    fn memory_bytes(&self) -> usize;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_says_of_its_record_where_it_stands_whether_it_was_moved_and_whether_it_is_chunked() {
        for address in [LogAddress(1), LogAddress(0x1234), LogAddress::MAX] {
            for (relocated, chunked) in [(false, false), (false, true), (true, false), (true, true)] {
                let entry = Entry::new(address, relocated).with_chunked(chunked);
                assert_eq!(
                    (entry.address(), entry.is_relocated(), entry.is_chunked()),
                    (address, relocated, chunked)
                );
                assert_eq!(Entry::from_value(entry.value()), Some(entry));
                assert_eq!(entry.with_chunked(false), Entry::new(address, relocated));
            }
        }
    }

    //= spec/format.md#f-8-4-primary-leaves
    //= type=test
    //# A reader MUST take a checkpoint for damaged when an address in it is 0, or not below that where the log ended at the checkpoint (F-8.7).
    #[test]
    fn a_value_without_an_address_that_a_record_can_have_is_no_entry() {
        for value in [0, 1, 2, 3, 1 << 57, u64::MAX] {
            assert_eq!(Entry::from_value(value), None, "{value:#x}");
        }
    }
}
