//! Where the newest version of a document stands, and which states it belongs to.

use std::fmt;

use crate::format::record::{ADDRESS_SHIFT, CHUNKED, Kind, RELOCATED, Record};
use crate::format::{LogAddress, Lsn};

/// One commit's state: everything below `address` in the log, and nothing else.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
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

impl Entry {
    /// The entry of a record that stands at `address`, and holds its document itself.
    pub(crate) fn new(address: LogAddress, relocated: bool) -> Self {
        assert!(address.0 != 0 && address <= LogAddress::MAX, "no record stands at {address:?}");
        Entry(address.0 << ADDRESS_SHIFT | if relocated { RELOCATED } else { 0 })
    }

    /// The entry of the put `record`, moved or not, that stands at `address`.
    pub(crate) fn of(record: &Record<'_>, address: LogAddress) -> Self {
        Self::new(address, record.own_lsn.is_some()).with_chunked(record.chunked)
    }

    pub(crate) fn from_bits(bits: u64) -> Option<Self> {
        (bits != 0).then_some(Entry(bits))
    }

    pub(crate) fn address(self) -> LogAddress {
        LogAddress(self.0 >> ADDRESS_SHIFT)
    }

    /// Whether the record there is a relocated put, whose own LSN says how old the version is.
    pub(crate) fn is_relocated(self) -> bool {
        self.0 & RELOCATED != 0
    }

    /// The byte of the kind of record that must stand there, if it holds its document itself; else 0, which is no kind.
    #[inline]
    pub(crate) fn plain_kind(self) -> u8 {
        match self.0 & (RELOCATED | CHUNKED) {
            0 => Kind::Put.byte(),
            RELOCATED => Kind::RelocatedPut.byte(),
            _ => 0,
        }
    }

    /// The entry that a checkpoint has as `value`, if a record can stand at its address.
    pub(crate) fn from_value(value: u64) -> Option<Self> {
        let address = LogAddress(value >> ADDRESS_SHIFT);
        (address.0 != 0 && address <= LogAddress::MAX).then_some(Entry(value))
    }

    /// The eight bytes, as an index and a checkpoint have them.
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

/// Where an entry stands that was there before anybody could see its index: in every state that has the index.
pub(crate) fn since_ever() -> Entry {
    Entry::new(LogAddress(1), false)
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let relocated = if self.is_relocated() { "relocated " } else { "" };
        let chunked = if self.0 & CHUNKED != 0 { "chunked " } else { "" };
        write!(f, "{relocated}{chunked}{:?}", self.address())
    }
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
