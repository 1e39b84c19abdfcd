//! What bytes are found to be: a record, or a fault.

use super::{Kind, Replaced};
use crate::document::KeyRef;
use crate::format::body::parse_opening;
use crate::format::{LogAddress, Lsn};

/// A record whose checksum held and whose fields are as F-6 asks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Record<'a> {
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

impl Record<'_> {
    /// L and E as the record of an opening frame names them; `None` of any other record (F-6.5).
    #[must_use]
    pub fn opening(&self) -> Option<(Lsn, LogAddress)> {
        // spec: F-6.2. Its stretch begins with it.
        if self.kind == Kind::Opening && self.commit == 0 { parse_opening(self.body) } else { None }
    }
}

/// Why bytes are not a record that can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordFault {
    /// The record does not end within the bytes that were given.
    TooShort {
        /// The record's length as its length field says, which no checksum vouches for yet. `None` if the bytes
        /// end before that field does; or if there are [`PEEK_LEN`](super::PEEK_LEN) of them, if what it says is no length.
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
