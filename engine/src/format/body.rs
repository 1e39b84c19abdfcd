//! Bodies of records by kind: those that are not a document or a catalog map (F-6.3).

use super::{LogAddress, Lsn, varint};

/// The length of an opening record's body.
pub const OPENING_LEN: usize = 16;
/// The length of a segment-freed record's body.
pub const SEGMENT_FREED_LEN: usize = 12;

/// The body of an opening record: the LSN of the last commit that recovery accepted, and the log address where
/// it ended.
#[must_use]
pub fn encode_opening(last: Lsn, end: LogAddress) -> [u8; OPENING_LEN] {
    // spec: F-6.5.
    let mut body = [0; OPENING_LEN];
    body[..8].copy_from_slice(&last.0.to_le_bytes());
    body[8..].copy_from_slice(&end.0.to_le_bytes());
    body
}

/// Reads what [`encode_opening`] made; `None` if the body has another length.
#[must_use]
pub fn parse_opening(body: &[u8]) -> Option<(Lsn, LogAddress)> {
    let (last, end) = body.split_first_chunk::<8>()?;
    Some((Lsn(u64::from_le_bytes(*last)), LogAddress(u64::from_le_bytes(end.try_into().ok()?))))
}

/// The body of a segment-freed record: the segment's sequence number and physical index.
#[must_use]
pub fn encode_segment_freed(sequence: u64, physical: u32) -> [u8; SEGMENT_FREED_LEN] {
    let mut body = [0; SEGMENT_FREED_LEN];
    body[..8].copy_from_slice(&sequence.to_le_bytes());
    body[8..].copy_from_slice(&physical.to_le_bytes());
    body
}

/// Reads what [`encode_segment_freed`] made; `None` if the body has another length.
#[must_use]
pub fn parse_segment_freed(body: &[u8]) -> Option<(u64, u32)> {
    let (sequence, physical) = body.split_first_chunk::<8>()?;
    Some((u64::from_le_bytes(*sequence), u32::from_le_bytes(physical.try_into().ok()?)))
}

/// Reads the body of a commit-time record, milliseconds since 1970-01-01 UTC; `None` if it has another length.
#[must_use]
pub fn parse_commit_time(body: &[u8]) -> Option<i64> {
    Some(i64::from_le_bytes(body.try_into().ok()?))
}

/// Appends the body of chunk `number` of a document.
pub fn encode_chunk(number: u64, bytes: &[u8], out: &mut Vec<u8>) {
    varint::put(out, number);
    out.extend_from_slice(bytes);
}

/// Number and bytes of a chunk; `None` if the body does not begin with a varint.
#[must_use]
pub fn parse_chunk(body: &[u8]) -> Option<(u64, &[u8])> {
    let (number, len) = varint::get(body)?;
    Some((number, &body[len..]))
}

/// Appends the chunk list that stands in for a document of `document_len` bytes.
pub fn encode_chunk_list(document_len: u64, chunks: &[LogAddress], out: &mut Vec<u8>) {
    // spec: F-6.7.
    varint::put(out, document_len);
    varint::put(out, chunks.len() as u64);
    for address in chunks {
        out.extend_from_slice(&address.0.to_le_bytes());
    }
}

/// Where the chunks of a document lie. Made only by [`ChunkList::parse`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkList<'a> {
    document_len: u64,
    addresses: &'a [u8],
}

impl<'a> ChunkList<'a> {
    /// Reads a chunk list; `None` if the body is not one. The list borrows the body: a hostile count allocates
    /// nothing.
    #[must_use]
    pub fn parse(body: &'a [u8]) -> Option<ChunkList<'a>> {
        let mut addresses = body;
        let (document_len, count) = (varint::take(&mut addresses)?, varint::take(&mut addresses)?);
        (count.checked_mul(8)? == addresses.len() as u64).then_some(ChunkList { document_len, addresses })
    }

    /// The document's length in bytes, as the list states; the chunks may disagree.
    #[must_use]
    pub const fn document_len(&self) -> u64 {
        self.document_len
    }

    /// How many chunks there are.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.addresses.len() / 8
    }

    /// The chunks' log addresses, in the order of their numbers. They are not checked against
    /// [`LogAddress::MAX`].
    pub fn addresses(&self) -> impl ExactSizeIterator<Item = LogAddress> + 'a {
        self.addresses
            .chunks_exact(8)
            .map(|bytes| LogAddress(u64::from_le_bytes(bytes.try_into().expect("chunks of 8 bytes"))))
    }
}
