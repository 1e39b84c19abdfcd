//! The short way through a record of which it is known what it should be: what nearly every read of a document takes. It compares
//! where [`parse`](super::parse) decodes, and makes nothing that the reader does not ask for.

use std::ops::Range;

use super::super::{Lsn, varint};
use super::decode::{Fields, peek, verify};
use super::{FLAGS, KIND, Kind, flag};
use crate::document::{KEY_LEN_MAX, KeyRef};

/// Where the parts of a put lie, from the record's first byte on, and when it was put.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PutParts {
    /// When it was put.
    pub version: Version,
    /// Where the fields begin that follow the length.
    pub payload_start: u32,
    /// The key's CBOR.
    pub key: Range<u32>,
    /// The document.
    pub body: Range<u32>,
}

impl PutParts {
    /// What need not be found out again.
    #[must_use]
    pub fn shape(&self) -> PutShape {
        PutShape {
            len: self.body.end as usize,
            payload_start: self.payload_start as usize,
            key_start: self.key.start as usize,
        }
    }
}

/// The commit that put a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// The count of the commit's LSN, less that with which the record's stretch begins (F-6.2).
    Commit(u32),
    /// Of a relocated put: its own LSN.
    Own(Lsn),
}

/// The parts of the record at the start of `bytes`, if it verifies and is a put of `key` in `collection`, moved or not, that holds its
/// document itself and neither expires nor has an extension. `None` for any other, be it damaged or sound:
/// [`parse`](super::parse) says which. `bytes` and `seed` are as there.
#[must_use]
#[inline(always)]
pub fn put_of(bytes: &[u8], seed: u32, collection: u32, key: KeyRef<'_>) -> Option<PutParts> {
    let extent = verify(bytes, seed).ok()?;
    let flags = bytes[FLAGS];
    if flags & !flag::REPLACES != 0 {
        return None;
    }
    // spec: F-6.1. The order of the fields.
    let mut fields = Fields(&bytes[extent.payload_start..extent.len]);
    if fields.u32_varint("collection id").ok()? != collection {
        return None;
    }
    let version = version_in(bytes[KIND], &mut fields)?;
    if flags & flag::REPLACES != 0 {
        fields.address("version replaced").ok()?;
    }
    let key_len = key.len_at(fields.0).filter(|_| key.payload_len() <= KEY_LEN_MAX)?;
    let key_start = extent.len - fields.0.len();
    let body_start = (key_start + key_len) as u32;
    Some(PutParts {
        version,
        payload_start: extent.payload_start as u32,
        key: key_start as u32..body_start,
        body: body_start..extent.len as u32,
    })
}

/// What is next in the fields of a put, behind its collection.
#[inline(always)]
fn version_in(kind: u8, fields: &mut Fields<'_>) -> Option<Version> {
    let commit = fields.u32_varint("commit").ok()?;
    if kind == Kind::Put.byte() {
        return Some(Version::Commit(commit));
    }
    (kind == Kind::RelocatedPut.byte()).then(|| fields.moved().ok().map(|(own, _)| Version::Own(own)))?
}

/// Of a put, moved or not, that was verified: when it was put. `None` where `bytes` begin with anything else.
#[must_use]
pub fn version_of(bytes: &[u8]) -> Option<Version> {
    let (payload_start, len) = peek(bytes)?;
    let mut fields = Fields(bytes.get(payload_start..len)?);
    fields.u32_varint("collection id").ok()?;
    version_in(bytes[KIND], &mut fields)
}

/// What is known of a put that [`put_of`] has read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PutShape {
    /// The record's length in bytes.
    pub len: usize,
    /// Where the fields begin that follow the length.
    pub payload_start: usize,
    /// Where the key begins.
    pub key_start: usize,
}

impl PutShape {
    /// Where key and document lie, if this is a put of `key` in `collection`. The record begins `bytes`.
    #[must_use]
    #[inline(always)]
    pub fn put_of(self, bytes: &[u8], collection: u32, key: KeyRef<'_>) -> Option<(Range<u32>, Range<u32>)> {
        let record = bytes.get(..self.len)?;
        let (found, _) = varint::get(record.get(self.payload_start..self.key_start)?)?;
        let key_len = key.len_at(&record[self.key_start..])?;
        let body_start = (self.key_start + key_len) as u32;
        (found == u64::from(collection))
            .then_some((self.key_start as u32..body_start, body_start..self.len as u32))
    }
}
