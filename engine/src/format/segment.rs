//! The segment header: what a segment is, and where its successors lie (F-4).
//!
//! | offset | length | field                                                              spec F-4.1 |
//! |-------:|-------:|---------------------------------------------------------------------------|
//! |      0 |      4 | magic: `HLOG` or `HCPK`                                                   |
//! |      4 |      1 | kind: 1 log, 2 index                                                      |
//! |      5 |      1 | codec: 0 none                                                             |
//! |      6 |      2 | flags: reserved                                                           |
//! |      8 |      8 | sequence                                                                  |
//! |     16 |      8 | first LSN                                                                 |
//! |     24 |      8 | durable LSN                                                               |
//! |     32 |      4 | prev_end                                                                  |
//! |     36 |      4 | next; 0xFFFFFFFF: none                                                    |
//! |     40 |      4 | after; 0xFFFFFFFF: none                                                   |
//! |     44 |     16 | lineage id                                                                |
//! |     60 |      4 | CRC(physical index, bytes 0..60)                                          |

use std::ops::Range;

use super::checksum::{crc, crc_append};
use super::fields::{put, u32_at, u64_at};
use super::{Lineage, Lsn};

/// The length of a segment header; data begins one sector into the segment.
pub const SEGMENT_HEADER_LEN: usize = 64;

const MAGIC: Range<usize> = 0..4;
const KIND: usize = MAGIC.end;
const SEQUENCE: Range<usize> = 8..16;
const FIRST_LSN: Range<usize> = SEQUENCE.end..SEQUENCE.end + 8;
const DURABLE_LSN: Range<usize> = FIRST_LSN.end..FIRST_LSN.end + 8;
const PREV_END: Range<usize> = DURABLE_LSN.end..DURABLE_LSN.end + 4;
const NEXT: Range<usize> = PREV_END.end..PREV_END.end + 4;
const AFTER: Range<usize> = NEXT.end..NEXT.end + 4;
const LINEAGE: Range<usize> = AFTER.end..AFTER.end + 16;
const CRC: Range<usize> = LINEAGE.end..LINEAGE.end + 4;

// Kind, codec and flags lie between the magic and the sequence.
const _: () = assert!(KIND + 1 + 1 + 2 == SEQUENCE.start);
const _: () = assert!(PREV_END.start == 32 && LINEAGE.start == 44 && CRC.end == SEGMENT_HEADER_LEN);

/// In `next` and `after`: no index is reserved.
const NONE: u32 = u32::MAX;

/// What a segment holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SegmentKind {
    /// Frames of the log.
    Log,
    /// Index records of checkpoints.
    Index,
}

impl SegmentKind {
    /// The first four bytes of a segment of this kind.
    #[must_use]
    pub const fn magic(self) -> [u8; 4] {
        match self {
            SegmentKind::Log => *b"HLOG",
            SegmentKind::Index => *b"HCPK",
        }
    }

    const fn byte(self) -> u8 {
        match self {
            SegmentKind::Log => 1,
            SegmentKind::Index => 2,
        }
    }
}

/// The first 64 bytes of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentHeader {
    /// What the segment holds.
    pub kind: SegmentKind,
    /// The segment's number in the log; 0 for an index segment.
    pub sequence: u64,
    /// LSN of the first frame placed in it; of its first checkpoint, for an index segment.
    pub first_lsn: Lsn,
    /// Every commit up to this one was durable when the header was made.
    pub durable_lsn: Lsn,
    /// The offset where the predecessor's last frame ended, rounded up to 8.
    pub prev_end: u32,
    /// Physical index reserved for the successor.
    pub next: Option<u32>,
    /// Physical index reserved for the successor's successor.
    pub after: Option<u32>,
}

impl SegmentHeader {
    //= spec/format.md#f-1-4-reserved-bytes
    //# A writer MUST set bytes that this page calls reserved to zero.
    /// The header's bytes, valid only at the physical index and in the store that they are made for.
    #[must_use]
    pub fn encode(&self, lineage: &Lineage, physical: u32) -> [u8; SEGMENT_HEADER_LEN] {
        assert!(self.next != Some(NONE), "the highest physical index stands for: none");
        assert!(self.after != Some(NONE), "the highest physical index stands for: none");
        // spec: F-4.1, F-1.4. Codec and flags stay zero.
        let mut bytes = [0; SEGMENT_HEADER_LEN];
        put(&mut bytes, MAGIC, self.kind.magic());
        bytes[KIND] = self.kind.byte();
        put(&mut bytes, SEQUENCE, self.sequence.to_le_bytes());
        put(&mut bytes, FIRST_LSN, self.first_lsn.0.to_le_bytes());
        put(&mut bytes, DURABLE_LSN, self.durable_lsn.0.to_le_bytes());
        put(&mut bytes, PREV_END, self.prev_end.to_le_bytes());
        put(&mut bytes, NEXT, self.next.unwrap_or(NONE).to_le_bytes());
        put(&mut bytes, AFTER, self.after.unwrap_or(NONE).to_le_bytes());
        put(&mut bytes, LINEAGE, *lineage);
        let sum = seeded_crc(physical, &bytes);
        put(&mut bytes, CRC, sum.to_le_bytes());
        bytes
    }

    /// Reads the header at the start of `bytes`. `None` unless it is valid at that physical index, but for the
    /// sequence (F-4.4), which the caller compares with the one it should have: it is an integer from the disk
    /// and may exceed [`Geometry::sequence_max`](super::Geometry::sequence_max).
    #[must_use]
    pub fn parse(bytes: &[u8], lineage: &Lineage, physical: u32) -> Option<SegmentHeader> {
        let bytes = bytes.first_chunk::<SEGMENT_HEADER_LEN>()?;
        // spec: F-4.4.
        let kind = [SegmentKind::Log, SegmentKind::Index]
            .into_iter()
            .find(|kind| bytes[MAGIC] == kind.magic() && bytes[KIND] == kind.byte())?;
        if bytes[LINEAGE] != *lineage || seeded_crc(physical, bytes) != u32_at(bytes, CRC) {
            return None;
        }
        let index = |field| Some(u32_at(bytes, field)).filter(|&physical| physical != NONE);
        Some(SegmentHeader {
            kind,
            sequence: u64_at(bytes, SEQUENCE),
            first_lsn: Lsn(u64_at(bytes, FIRST_LSN)),
            durable_lsn: Lsn(u64_at(bytes, DURABLE_LSN)),
            prev_end: u32_at(bytes, PREV_END),
            next: index(NEXT),
            after: index(AFTER),
        })
    }
}

fn seeded_crc(physical: u32, bytes: &[u8; SEGMENT_HEADER_LEN]) -> u32 {
    crc_append(crc(&physical.to_le_bytes()), &bytes[..CRC.start])
}
