//! The short way through a record of which it is known what it should be: what nearly every read of a document takes. It compares
//! where [`parse`](super::parse) decodes, and makes nothing that the reader does not ask for.

use std::ops::Range;

use super::super::Lsn;
use super::decode::{Fields, verify};
use super::{FLAGS, KIND, Kind, flag};
use crate::document::{KEY_LEN_MAX, KeyRef};

/// Where the parts of a put lie, from the record's first byte on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PutParts {
    /// The count of the record's LSN, less that with which its stretch begins (F-6.2).
    pub commit: u32,
    /// Of a relocated put: its own LSN.
    pub own: Option<Lsn>,
    /// The key's CBOR.
    pub key: Range<u32>,
    /// The document.
    pub body: Range<u32>,
}

/// The parts of the record at the start of `bytes`, if it verifies and is a put of `key` in `collection`, moved or not, that holds its
/// document itself and neither expires nor has an extension. `None` for any other, be it damaged or sound:
/// [`parse`](super::parse) says which. `bytes` and `seed` are as there.
#[must_use]
#[inline(always)]
pub fn put_of(bytes: &[u8], seed: u32, collection: u32, key: KeyRef<'_>) -> Option<PutParts> {
    let extent = verify(bytes, seed).ok()?;
    let (kind, flags) = (bytes[KIND], bytes[FLAGS]);
    let is_moved = kind == Kind::RelocatedPut.byte();
    if !(is_moved || kind == Kind::Put.byte()) || flags & !flag::REPLACES != 0 {
        return None;
    }
    // spec: F-6.1. The order of the fields.
    let mut fields = Fields(&bytes[extent.payload_start..extent.len]);
    if fields.u32_varint("collection id").ok()? != collection {
        return None;
    }
    let commit = fields.u32_varint("commit").ok()?;
    let own = if is_moved { Some(fields.moved().ok()?.0) } else { None };
    if flags & flag::REPLACES != 0 {
        fields.address("version replaced").ok()?;
    }
    let key_len = key.len_at(fields.0).filter(|_| key.payload_len() <= KEY_LEN_MAX)?;
    let key_start = extent.len - fields.0.len();
    let body_start = (key_start + key_len) as u32;
    Some(PutParts { commit, own, key: key_start as u32..body_start, body: body_start..extent.len as u32 })
}
