//! Bytes to records: first the checksum, then the fields.

use super::super::body::{ChunkList, parse_chunk, parse_commit_time, parse_opening, parse_segment_freed};
use super::super::checksum::crc_append;
use super::super::{Lsn, SEGMENT_BYTES_MAX, varint};
use super::head::{FLAGS, KIND, LENGTH, PEEK_LEN, flag};
use super::{Kind, Record, RecordFault, Replaced};
use crate::document::KeyRef;
use crate::seeded::{self, Bug};

/// The extent of a record whose checksum held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// The record's checksum.
    pub crc: u32,
    /// The record's length in bytes.
    pub len: usize,
    /// Where its fields behind the length begin.
    pub payload_start: usize,
}

/// The length of a whole record, from its first bytes: [`PEEK_LEN`] of them always suffice. No checksum vouches
/// for it yet. `None` if the bytes end before the length field does, or if no segment holds a record as long.
#[must_use]
#[inline]
pub fn peek_len(prefix: &[u8]) -> Option<usize> {
    peek(&prefix[..prefix.len().min(PEEK_LEN)]).map(|(_, len)| len)
}

/// Where the payload begins, and where it ends.
#[inline]
pub(super) fn peek(bytes: &[u8]) -> Option<(usize, usize)> {
    let (payload, length_len) = varint::get(bytes.get(LENGTH..)?)?;
    let payload_start = LENGTH + length_len;
    (payload < u64::from(SEGMENT_BYTES_MAX)).then(|| (payload_start, payload_start + payload as usize))
}

/// [`peek_len`] of a record whose length may have any form.
#[must_use]
pub fn peek_len_any_form(prefix: &[u8]) -> Option<usize> {
    let (payload, length_len) = varint::get_any_form(prefix[..prefix.len().min(PEEK_LEN)].get(LENGTH..)?)?;
    (payload < u64::from(SEGMENT_BYTES_MAX)).then(|| LENGTH + length_len + payload as usize)
}

/// The checksum of the record that fills `bytes`, if it holds. What the record says is not looked at, not even the form of its
/// length: a frame is valid by its checksums alone (F-5.7), and what breaks F-6 in it is corruption and no torn write.
#[must_use]
pub fn sealed(bytes: &[u8], seed: u32) -> Option<u32> {
    let found = u32::from_le_bytes(*bytes.first_chunk()?);
    let holds = crc_append(seed, bytes.get(KIND..)?) == found || seeded::is_on(Bug::RecordChecksumIgnored);
    holds.then_some(found)
}

//= spec/format.md#f-1-3-checksums
//# A reader MUST verify a checksum before it uses any byte under it, except to find how many bytes the
//# checksum covers; such a length MUST be checked against its bounds first.
/// Verifies the record at the start of `bytes`, which go on to at most the end of its frame or segment, and
/// returns its extent. `seed` is the stretch's seed at the record's offset in the segment.
///
/// # Errors
/// [`RecordFault::TooShort`] or [`RecordFault::Crc`].
#[inline]
pub fn verify(bytes: &[u8], seed: u32) -> Result<Extent, RecordFault> {
    // spec: F-1.3. Of the bytes under the checksum only the length is used before it holds, and only to find
    // where it ends, inside the slice.
    let Some((payload_start, len)) = peek(bytes) else { return Err(RecordFault::TooShort { needed: None }) };
    let Some(record) = bytes.get(..len) else { return Err(RecordFault::TooShort { needed: Some(len) }) };
    let expected = crc_append(seed, &record[KIND..]);
    let found = u32::from_le_bytes([record[0], record[1], record[2], record[3]]);
    if expected != found && !seeded::is_on(Bug::RecordChecksumIgnored) {
        return Err(RecordFault::Crc { expected, found });
    }
    Ok(Extent { crc: found, len, payload_start })
}

//= spec/format.md#f-6-3-kinds
//# A reader MUST skip a record of a kind of 128 or more that it does not know.
/// Verifies and reads the record at the start of `bytes`, which go on to at most the end of its frame or segment.
/// `seed` is the stretch's seed at the record's offset in the segment.
///
/// # Errors
/// As [`RecordFault`] says. [`RecordFault::Malformed`] and [`RecordFault::Unsupported`] come only once the
/// checksum held: they are no sign of a torn write.
#[inline]
pub fn parse(bytes: &[u8], seed: u32) -> Result<Record<'_>, RecordFault> {
    let extent = verify(bytes, seed)?;
    let (kind, flags) = (Kind::from_byte(bytes[KIND]), bytes[FLAGS]);
    refuse_unknown(kind, flags)?;
    // What the rest of a skippable record is, even its flags, is for those who know its kind.
    let flags = if matches!(kind, Kind::Skippable(_)) { 0 } else { flags };
    let has = |bit: u8| flags & bit != 0;

    // spec: F-6.1. The order of the fields.
    let mut fields = Fields(&bytes[extent.payload_start..extent.len]);
    let collection = fields.u32_varint("collection id")?;
    let commit = fields.u32_varint("commit")?;
    let own_lsn = if kind == Kind::RelocatedPut { Some(Lsn(fields.u64("own LSN")?)) } else { None };
    let replaces = if has(flag::REPLACES) { Some(fields.replaced()?) } else { None };
    if kind == Kind::RelocatedPut && replaces.is_none() {
        // spec: F-6.8.
        return Err(RecordFault::Malformed("a relocated put that replaces nothing"));
    }
    let expiry = if has(flag::EXPIRY) { Some(fields.u64("expiry")? as i64) } else { None };
    if has(flag::EXTENSION) {
        fields.skip_extension()?;
    }
    let (key, key_bytes) = if kind.has_key() { fields.key()? } else { (None, [].as_slice()) };
    let body = fields.0;
    let chunked = has(flag::CHUNKED);
    // A document is checked by its reader; the list that stands in for it is not.
    if chunked || !kind.has_document() {
        check_body(kind, chunked, body)?;
    }
    let Extent { crc, len, .. } = extent;
    Ok(Record {
        kind,
        collection,
        commit,
        own_lsn,
        replaces,
        expiry,
        chunked,
        key,
        key_bytes,
        body,
        crc,
        len,
    })
}

//= spec/format.md#f-6-3-kinds
//# A reader MUST refuse a frame that is to be replayed and holds a record of a kind below 128 that it does
//# not know.
//= spec/format.md#f-6-4-flags
//# A reader MUST refuse a record of a kind below 128 that has a reserved flag or coding set.
/// Refuses what is not to be read, though its checksum held.
#[inline]
fn refuse_unknown(kind: Kind, flags: u8) -> Result<(), RecordFault> {
    match kind {
        Kind::Skippable(_) => Ok(()),
        Kind::Reserved(0) => Err(RecordFault::Malformed("a record of kind 0")),
        Kind::Reserved(byte) => Err(RecordFault::Unsupported(byte)),
        _ if flags & flag::UNKNOWN != 0 => Err(RecordFault::Unsupported(flags)),
        _ => Ok(()),
    }
}

/// Whether a body that is no document has the form that the kind asks for.
fn check_body(kind: Kind, chunked: bool, body: &[u8]) -> Result<(), RecordFault> {
    // spec: F-6.3, F-6.7.
    let (holds, what) = match kind {
        Kind::Put | Kind::RelocatedPut => (ChunkList::parse(body).is_some(), "not a chunk list"),
        _ if chunked => (false, "a chunk list in a record that holds no document"),
        Kind::Delete => (body.is_empty(), "a delete with a body"),
        Kind::Chunk => (parse_chunk(body).is_some(), "a chunk without its number"),
        Kind::SegmentFreed => (parse_segment_freed(body).is_some(), "a segment-freed body has 12 bytes"),
        Kind::Opening => (parse_opening(body).is_some(), "an opening body has 16 bytes"),
        Kind::CommitTime => (parse_commit_time(body).is_some(), "a commit-time body has 8 bytes"),
        // The map of a catalog record is checked by its reader, too.
        Kind::Catalog | Kind::Reserved(_) | Kind::Skippable(_) => (true, ""),
    };
    if holds { Ok(()) } else { Err(RecordFault::Malformed(what)) }
}

/// What is left of a payload; each method takes one field off its front, or says which one is not there.
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl<'a> Fields<'a> {
    #[inline]
    fn varint(&mut self, what: &'static str) -> Result<u64, RecordFault> {
        varint::take(&mut self.0).ok_or(RecordFault::Malformed(what))
    }

    #[inline]
    pub(super) fn u32_varint(&mut self, what: &'static str) -> Result<u32, RecordFault> {
        u32::try_from(self.varint(what)?).map_err(|_| RecordFault::Malformed(what))
    }

    #[inline]
    pub(super) fn replaced(&mut self) -> Result<Replaced<'a>, RecordFault> {
        let (replaced, rest) = Replaced::parse(self.0).ok_or(RecordFault::Malformed("version replaced"))?;
        self.0 = rest;
        Ok(replaced)
    }

    #[inline]
    pub(super) fn u64(&mut self, what: &'static str) -> Result<u64, RecordFault> {
        let (bytes, rest) = self.0.split_first_chunk().ok_or(RecordFault::Malformed(what))?;
        self.0 = rest;
        Ok(u64::from_le_bytes(*bytes))
    }

    //= spec/format.md#f-6-4-flags
    //# A reader MUST skip an extension block that it does not know.
    fn skip_extension(&mut self) -> Result<(), RecordFault> {
        // spec: F-6.4. This version knows no extension.
        let malformed = RecordFault::Malformed("extension block");
        let len = usize::try_from(self.varint("extension block")?).map_err(|_| malformed)?;
        self.0 = self.0.get(len..).ok_or(malformed)?;
        Ok(())
    }

    #[inline]
    fn key(&mut self) -> Result<(Option<KeyRef<'a>>, &'a [u8]), RecordFault> {
        let (key, len) = KeyRef::decode(self.0).map_err(|_| RecordFault::Malformed("key"))?;
        let (key_bytes, rest) = self.0.split_at(len);
        self.0 = rest;
        Ok((Some(key), key_bytes))
    }
}
