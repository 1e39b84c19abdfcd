//! The record: one change of a commit, with a checksum of its own, so that a point read verifies just what it
//! reads (F-6).
//!
//! | field                                               | length        | present         spec F-6.1 |
//! |-----------------------------------------------------|---------------|----------------------------|
//! | CRC(lineage, incarnation, sequence, offset, the rest) | 4           | always                     |
//! | kind                                                | 1             | always                     |
//! | flags                                               | 1             | always                     |
//! | length: number of bytes after this field            | varint        | always                     |
//! | collection; 0 for none                              | varint        | always                     |
//! | commit: count of the record's LSN less the base     | varint        | always                     |
//! | own LSN                                             | 8             | relocated put              |
//! | address moved from                                  | varint        | relocated put              |
//! | address of the version it replaces                  | varint        | flag bit 0                 |
//! | expiry, i64                                         | 8             | flag bit 1                 |
//! | extension block                                     | varint, bytes | flag bit 2                 |
//! | key, CBOR                                           |               | put, delete, relocated put, chunk |
//! | body                                                | to the end    | by kind                    |
//!
//! Records are short because reading one is bound by cache misses: six bytes and three varints stand before
//! the key of a plain put, about ten bytes in all. The place and the life that the checksum is seeded with cost no
//! byte, and let a point read detect a lost write, a stale sector and a misdirected write.

mod decode;
mod encode;
mod expected;
mod kind;

use super::checksum::{crc, crc_append, crc_append_u32};
use super::{Lineage, LogAddress, Lsn, SEGMENT_BYTES_MAX, varint};
use crate::document::KeyRef;

pub use super::body::{encode_opening, parse_opening};
pub use decode::{Extent, parse, peek_len, verify};
pub use expected::{PutParts, PutShape, Version, put_of, shape_of, version_of};
pub use kind::Kind;

/// The offset of the kind: behind the checksum.
const KIND: usize = 4;
/// The offset of the flags.
const FLAGS: usize = KIND + 1;
/// The offset of the length.
const LENGTH: usize = FLAGS + 1;

/// So many first bytes of a record always suffice for [`peek_len`].
pub const PEEK_LEN: usize = 16;
/// The longest that the part of a record before its key can be, as this version writes it.
pub const RECORD_HEADER_LEN_MAX: usize = LENGTH
    + varint::len(SEGMENT_BYTES_MAX as u64)
    + varint::len(u32::MAX as u64) // collection
    + varint::len(u32::MAX as u64) // commit
    + 8 // own LSN
    + varint::len(LogAddress::MAX.0) // address moved from
    + varint::len(LogAddress::MAX.0) // address of the version it replaces
    + 8; // expiry
/// The longest that the part of a record before its body can be, as this version writes it: a CBOR key has a
/// head of up to 3 bytes.
pub const RECORD_OVERHEAD_MAX: usize = RECORD_HEADER_LEN_MAX + 3 + crate::document::KEY_LEN_MAX;

const _: () = assert!(LENGTH + varint::VARINT_LEN_MAX == PEEK_LEN);
const _: () = assert!(RECORD_HEADER_LEN_MAX == 52);
const _: () =
    assert!(crate::document::KEY_LEN_MAX <= 0xffff, "a head of 3 bytes holds the length of any key");

/// Bits of the flags byte (F-6.4).
mod flag {
    pub(super) const REPLACES: u8 = 1;
    pub(super) const EXPIRY: u8 = 1 << 1;
    pub(super) const EXTENSION: u8 = 1 << 2;
    pub(super) const CHUNKED: u8 = 1 << 3;
    /// The coding of the body, all reserved flags, which are the others: what this version does not know.
    pub(super) const UNKNOWN: u8 = 0b1111_0000;
}

/// Checksum state over lineage, incarnation and sequence: what all records of one stretch are seeded with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordSeed(u32);

impl RecordSeed {
    /// The seed of records of an incarnation in the segment of a sequence number.
    #[must_use]
    pub fn new(lineage: &Lineage, incarnation: u32, sequence: u64) -> RecordSeed {
        let life = crc_append(crc(lineage), &incarnation.to_le_bytes());
        RecordSeed(crc_append(life, &sequence.to_le_bytes()))
    }

    /// The seed of the record at an offset in the segment.
    #[must_use]
    #[inline]
    pub fn at(&self, offset: u32) -> u32 {
        crc_append_u32(self.0, offset)
    }
}

/// What a record is made of, for [`RecordParts::encode`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RecordParts<'a> {
    /// What the record does.
    pub kind: Kind,
    /// The collection it does it to; 0 for none.
    pub collection: u32,
    /// The count of the record's LSN, less that with which its stretch begins (F-6.2).
    pub commit: u32,
    /// Of a relocated put, and of no other: its own LSN and the address moved from.
    pub moved: Option<(Lsn, LogAddress)>,
    /// The version that it replaces.
    pub replaces: Option<LogAddress>,
    /// When the document expires, in milliseconds since 1970-01-01 UTC.
    pub expiry: Option<i64>,
    /// Whether the body is a chunk list in place of a document.
    pub chunked: bool,
    /// Of put, delete, relocated put and chunk, and of no other: the document's key.
    pub key: Option<KeyRef<'a>>,
    /// What the kind asks for.
    pub body: &'a [u8],
}

/// A record whose checksum held and whose fields are as F-6 asks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Record<'a> {
    /// What the record does.
    pub kind: Kind,
    /// The collection it does it to; 0 for none.
    pub collection: u32,
    /// The count of the record's LSN, less that with which its stretch begins (F-6.2).
    pub commit: u32,
    /// Of a relocated put, and of no other: its own LSN and the address moved from.
    pub moved: Option<(Lsn, LogAddress)>,
    /// The version that it replaces.
    pub replaces: Option<LogAddress>,
    /// When the document expires, in milliseconds since 1970-01-01 UTC.
    pub expiry: Option<i64>,
    /// Whether the body is a chunk list in place of a document.
    pub chunked: bool,
    /// Of put, delete, relocated put and chunk, and of no other: the document's key.
    pub key: Option<KeyRef<'a>>,
    /// The key as it is encoded; empty where there is none.
    pub key_bytes: &'a [u8],
    /// What the kind asks for. Of a skippable record: all that follows its `commit`. A document is not decoded
    /// here.
    pub body: &'a [u8],
    /// The record's checksum.
    pub crc: u32,
    /// The record's length in bytes.
    pub len: usize,
}

/// Why bytes are not a record that can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordFault {
    /// The record does not end within the bytes that were given.
    TooShort {
        /// The record's length as its length field says, which no checksum vouches for yet. `None` if the bytes
        /// end before that field does; or if there are [`PEEK_LEN`] of them, if what it says is no length.
        needed: Option<usize>,
    },
    /// The checksum does not hold: the bytes are damaged, or belong to another place or life.
    Crc {
        /// The checksum that the bytes have.
        expected: u32,
        /// The one they carry.
        found: u32,
    },
    /// The checksum holds, but the fields are not as F-6 asks.
    Malformed(&'static str),
    /// The checksum holds, but this version does not know the kind, or the flags: the byte of the two that it
    /// does not know.
    Unsupported(u8),
}
