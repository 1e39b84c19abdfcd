//! The short way through a record of which it is known what it should be: what nearly every read of a document takes. It compares
//! where [`parse`](super::parse) decodes, and makes nothing that the reader does not ask for.

use std::ops::Range;

use super::super::{Lsn, varint};
use super::Kind;
use super::decode::{Fields, peek, verify};
use super::head::{FLAGS, KIND, flag};
use crate::document::cbor::encode;
use crate::document::{KEY_LEN_MAX, KeyRef};
use crate::seeded::{self, Bug};

/// Where the parts of a put lie, from the record's first byte on, and when it was put.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PutParts {
    /// When it was put.
    pub version: Version,
    /// The key's CBOR.
    pub key: Range<u32>,
    /// The document.
    pub body: Range<u32>,
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
    let (shape, version) = front_of(bytes, seed)?;
    let (key, body) = shape.key_and_body(bytes, collection, key)?;
    Some(PutParts { version, key, body })
}

/// The shape of the record at the start of `bytes`, as [`put_of`] has it, if it is a put of any key in any collection.
#[must_use]
#[inline]
pub fn shape_of(bytes: &[u8], seed: u32) -> Option<PutShape> {
    front_of(bytes, seed).map(|(shape, _)| shape)
}

/// What stands in front of the key of such a put.
#[inline(always)]
fn front_of(bytes: &[u8], seed: u32) -> Option<(PutShape, Version)> {
    let extent = verify(bytes, seed).ok()?;
    let flags = bytes[FLAGS];
    if flags & !flag::REPLACES != 0 {
        return None;
    }
    // spec: F-6.1. The order of the fields.
    let mut fields = Fields(&bytes[extent.payload_start..extent.len]);
    fields.u32_varint("collection id").ok()?;
    let version = version_in(bytes[KIND], &mut fields)?;
    if flags & flag::REPLACES != 0 {
        fields.replaced().ok()?;
    } else if matches!(version, Version::Own(_)) {
        return None;
    }
    let key_start = extent.len - fields.0.len();
    Some((PutShape { len: extent.len, payload_start: extent.payload_start, key_start }, version))
}

/// What is next in the fields of a put, behind its collection.
#[inline(always)]
fn version_in(kind: u8, fields: &mut Fields<'_>) -> Option<Version> {
    let commit = fields.u32_varint("commit").ok()?;
    if kind == Kind::Put.byte() {
        return Some(Version::Commit(commit));
    }
    (kind == Kind::RelocatedPut.byte())
        .then(|| fields.u64("own LSN").ok().map(|lsn| Version::Own(Lsn(lsn))))?
}

/// Of a put, moved or not, that was verified: when it was put. `None` where `bytes` begin with anything else.
#[must_use]
pub fn version_of(bytes: &[u8]) -> Option<Version> {
    let (payload_start, len) = peek(bytes)?;
    let mut fields = Fields(bytes.get(payload_start..len)?);
    fields.u32_varint("collection id").ok()?;
    version_in(bytes[KIND], &mut fields)
}

/// What is known of a put that was verified.
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
    pub fn key_and_body(
        self,
        bytes: &[u8],
        collection: u32,
        key: KeyRef<'_>,
    ) -> Option<(Range<u32>, Range<u32>)> {
        let record = bytes.get(..self.len)?;
        let (found, _) = varint::get(record.get(self.payload_start..self.key_start)?)?;
        let key_len = key.len_at(&record[self.key_start..]).filter(|_| key.payload_len() <= KEY_LEN_MAX)?;
        let body_start = (self.key_start + key_len) as u32;
        (found == u64::from(collection))
            .then_some((self.key_start as u32..body_start, body_start..self.len as u32))
    }

    /// As [`key_and_body`](Self::key_and_body) of the key `int`, in the fewest steps: where the document begins. Only of ints whose CBOR has three or
    /// five bytes, in collections of one byte, where some tens of bytes follow; none says nothing of all others.
    #[must_use]
    #[inline(always)]
    pub fn body_of_int(self, bytes: &[u8], collection: u32, int: i64) -> Option<usize> {
        // The one check of a length, where the compiler knows what shapes there are.
        let front: &[u8; FRONT] = bytes.first_chunk()?;
        let (number, key_len) = encode::wide_int_at(front.get(self.key_start..)?)?;
        let is_it = number == int as u64 && is_one_byte(*front.get(self.payload_start)?, collection);
        is_it.then_some(self.key_start + key_len)
    }

    /// As [`body_of_int`](Self::body_of_int), of the text `key`, which has less than 24 bytes.
    #[must_use]
    #[inline(always)]
    pub fn body_of_text(self, bytes: &[u8], collection: u32, key: &[u8]) -> Option<usize> {
        let is_key = encode::has_short_text(bytes.get(self.key_start..)?, key);
        let is_it = is_key && is_one_byte(*bytes.get(self.payload_start)?, collection);
        is_it.then_some(self.key_start + 1 + key.len())
    }
}

/// Whether the record that begins `bytes`, which was verified, is of the kind with this byte.
#[must_use]
#[inline(always)]
pub fn is_of_kind(bytes: &[u8], kind: u8) -> bool {
    bytes.get(KIND) == Some(&kind) || seeded::is_on(Bug::EntryBitsBelieved)
}

/// More than stands in front of the body of a put with an int, in all shapes that a block remembers.
const FRONT: usize = 80;

/// Whether a varint that begins with `first` is that of `collection`, and has one byte.
#[inline(always)]
fn is_one_byte(first: u8, collection: u32) -> bool {
    // One comparison, since the other is always the same.
    u32::from(first) == if collection < 0x80 { collection } else { u32::MAX }
}
