//! The offsets at which every record begins alike, and the bits of its flags.

use crate::format::varint;

/// The offset of the kind: behind the checksum.
pub(super) const KIND: usize = 4;
/// The offset of the flags.
pub(super) const FLAGS: usize = KIND + 1;
/// The offset of the length.
pub(super) const LENGTH: usize = FLAGS + 1;

/// So many first bytes of a record always suffice for [`peek_len`](super::peek_len).
pub const PEEK_LEN: usize = 16;
const _: () = assert!(LENGTH + varint::VARINT_LEN_MAX == PEEK_LEN);

/// Bits of the flags byte (F-6.4).
pub(super) mod flag {
    pub(in crate::format::record) const REPLACES: u8 = 1;
    pub(in crate::format::record) const EXPIRY: u8 = 1 << 1;
    pub(in crate::format::record) const EXTENSION: u8 = 1 << 2;
    pub(in crate::format::record) const CHUNKED: u8 = 1 << 3;
    /// The coding of the body, all reserved flags, which are the others: what this version does not know.
    pub(in crate::format::record) const UNKNOWN: u8 = 0b1111_0000;
}
