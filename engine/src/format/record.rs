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
//! | the version that it replaces (F-6.6)                | varint, list  | flag bit 0                 |
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
mod head;
mod kind;
mod parsed;
mod replaced;

use super::checksum::{crc, crc_append_u32, crc_append_u64};
use super::{Lineage, Lsn, SEGMENT_BYTES_MAX, varint};
use crate::document::KeyRef;

pub use super::body::{encode_opening, parse_opening};
pub use decode::{Extent, parse, peek_len, peek_len_any_form, sealed, verify};
pub use expected::{PutParts, PutShape, Version, is_of_kind, put_of, shape_of, version_of};
use head::LENGTH;
pub use head::PEEK_LEN;
pub use kind::Kind;
pub use parsed::{Record, RecordFault};
pub(crate) use replaced::{ADDRESS_SHIFT, CHUNKED, RELOCATED};
pub use replaced::{ENDED_CHUNK_LEN_MAX, REPLACED_LEN_MAX, Replaced, encode_ended};

/// The longest that the part of a record before its key can be, as this version writes it, but for a list of chunks that die.
pub const RECORD_HEADER_LEN_MAX: usize = LENGTH
    + varint::len(SEGMENT_BYTES_MAX as u64)
    + varint::len(u32::MAX as u64) // collection
    + varint::len(u32::MAX as u64) // commit
    + 8 // own LSN
    + REPLACED_LEN_MAX
    + 8; // expiry
/// The longest that the part of a record before its body can be, as this version writes it: a CBOR key has a
/// head of up to 3 bytes.
pub const RECORD_OVERHEAD_MAX: usize = RECORD_HEADER_LEN_MAX + 3 + crate::document::KEY_LEN_MAX;

const _: () = assert!(RECORD_HEADER_LEN_MAX == 45);
const _: () =
    assert!(crate::document::KEY_LEN_MAX <= 0xffff, "a head of 3 bytes holds the length of any key");

/// Checksum state over lineage, incarnation and sequence: what all records of one stretch are seeded with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordSeed(u32);

impl RecordSeed {
    /// The seed of records of an incarnation in the segment of a sequence number.
    #[must_use]
    pub fn new(lineage: &Lineage, incarnation: u32, sequence: u64) -> RecordSeed {
        RecordSeed(crc_append_u64(crc_append_u32(crc(lineage), incarnation), sequence))
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
    /// Of a relocated put, and of no other: its own LSN.
    pub own_lsn: Option<Lsn>,
    /// The version that it replaces. A relocated put has one.
    pub replaces: Option<Replaced<'a>>,
    /// When the document expires, in milliseconds since 1970-01-01 UTC.
    pub expiry: Option<i64>,
    /// Whether the body is a chunk list in place of a document.
    pub chunked: bool,
    /// Of put, delete, relocated put and chunk, and of no other: the document's key.
    pub key: Option<KeyRef<'a>>,
    /// What the kind asks for.
    pub body: &'a [u8],
}

impl RecordParts<'_> {
    /// A record of `kind` with nothing in it.
    #[inline]
    pub(crate) fn nameless(kind: Kind) -> Self {
        RecordParts {
            kind,
            collection: 0,
            commit: 0,
            own_lsn: None,
            replaces: None,
            expiry: None,
            chunked: false,
            key: None,
            body: &[],
        }
    }
}
