//! The geometry of a store and the sums that follow from it: where segments lie, where a frame may begin,
//! how a file grows (F-2, F-5.2).
//!
//! | offset | length             | content                                      spec F-2.1 |
//! |-------:|-------------------:|--------------------------------------------------------|
//! |      0 |              4,096 | superblock slot A                                      |
//! |  4,096 |              4,096 | superblock slot B                                      |
//! |  8,192 |              8,192 | zero; kept for coordination between processes          |
//! | 16,384 | segment_bytes each | segments, by physical index from 0                     |

use super::address::{LOG_ADDRESS_BITS, LogAddress};
use super::bounds::{
    INDEX_RECORD_LEN_MAX, SECTOR_DEFAULT, SECTOR_MAX, SECTOR_MIN, SEGMENT_BYTES_DEFAULT, SEGMENT_BYTES_MAX,
    SEGMENT_BYTES_MIN, SEGMENTS_START, round_up_8,
};
use super::frame::FRAME_HEADER_LEN;
use super::segment::SEGMENT_HEADER_LEN;
use crate::error::{Error, Result};

/// A segment has at least so many sectors.
const SECTORS_MIN: u32 = 8;
/// An index record that is written has about so many bytes.
const INDEX_RECORD_LEN_WRITTEN: usize = 4096;
/// A new file is no longer than this (F-2.3).
const CREATION_LEN_MAX: u64 = 65_536;

const _: () = assert!(SECTOR_MIN as usize == SEGMENT_HEADER_LEN);
const _: () = assert!(SECTOR_MIN as usize >= FRAME_HEADER_LEN);
const _: () = assert!(SECTOR_MIN * SECTORS_MIN == SEGMENT_BYTES_MIN);
// Every physical index has a place in a u64, so no sum below can overflow.
const _: () = assert!(u32::BITS + SEGMENT_BYTES_MAX.ilog2() < 60);

/// What is fixed when a store is created: the unit in which a write may tear, and the length of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Geometry {
    sector: u32,
    segment_bytes: u32,
}

impl Default for Geometry {
    fn default() -> Self {
        Geometry { sector: SECTOR_DEFAULT, segment_bytes: SEGMENT_BYTES_DEFAULT }
    }
}

impl Geometry {
    //= spec/format.md#f-2-1-regions
    //# A reader MUST report the file as corrupt when a valid slot, the newest or not, has a geometry outside
    //# of these bounds.
    /// The geometry with sectors of `sector` bytes and segments of `segment_bytes`.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] unless both are powers of two, `sector` is from 64 to 4,096, and
    /// `segment_bytes` at least 8 sectors and at most 64 MiB.
    pub const fn new(sector: u32, segment_bytes: u32) -> Result<Geometry> {
        // spec: F-1.6.
        if !sector.is_power_of_two() || sector < SECTOR_MIN || sector > SECTOR_MAX {
            return Err(Error::InvalidOption {
                option: "sector",
                requirement: "a power of two from 64 to 4096 bytes",
            });
        }
        if !segment_bytes.is_power_of_two()
            || segment_bytes < sector * SECTORS_MIN
            || segment_bytes > SEGMENT_BYTES_MAX
        {
            return Err(Error::InvalidOption {
                option: "segment_bytes",
                requirement: "a power of two, at least 8 sectors and at most 64 MiB",
            });
        }
        Ok(Geometry { sector, segment_bytes })
    }

    /// The unit in which a write may tear, in bytes.
    #[must_use]
    pub const fn sector(self) -> u32 {
        self.sector
    }

    /// The length of a segment in bytes.
    #[must_use]
    pub const fn segment_bytes(self) -> u32 {
        self.segment_bytes
    }

    /// The offset in a segment of its first data byte: its header has a sector for itself (F-4.1).
    #[must_use]
    pub const fn data_start(self) -> u32 {
        self.sector
    }

    /// Where the segment of a physical index begins in the file.
    #[must_use]
    pub const fn segment_offset(self, physical: u32) -> u64 {
        SEGMENTS_START + physical as u64 * self.segment_bytes as u64
    }

    /// Where the segment of a physical index ends in the file.
    #[must_use]
    pub const fn segment_end(self, physical: u32) -> u64 {
        self.segment_offset(physical) + self.segment_bytes as u64
    }

    /// How many physical indexes begin before `file_len`; the last of these segments may be cut short.
    #[must_use]
    pub fn segments_within(self, file_len: u64) -> u32 {
        let count = file_len.saturating_sub(SEGMENTS_START).div_ceil(u64::from(self.segment_bytes));
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// The length of a new file.
    #[must_use]
    pub fn creation_len(self) -> u64 {
        // spec: F-2.3.
        self.segment_end(0).min(CREATION_LEN_MAX)
    }

    /// The length to which a file of length `current` grows next: more than `current`.
    #[must_use]
    pub fn next_len(self, current: u64) -> u64 {
        // spec: F-2.4.
        let end_of_first = self.segment_end(0);
        if current < end_of_first {
            return (current * 2).clamp(self.creation_len(), end_of_first);
        }
        let whole_segments = (current - SEGMENTS_START) / u64::from(self.segment_bytes);
        SEGMENTS_START + (whole_segments + 1) * u64::from(self.segment_bytes)
    }

    //= spec/format.md#f-5-2-place
    //# A frame MUST begin at an offset that is a multiple of 8, and its header MUST NOT cross a sector
    //# boundary.
    /// The least offset at or after `offset` where a frame may begin: a multiple of 8 from which a frame header
    /// does not cross a sector boundary. `None` when no header fits into what is left of the segment.
    #[must_use]
    pub const fn place(self, offset: u32) -> Option<u32> {
        if offset >= self.segment_bytes {
            return None;
        }
        let aligned = round_up_8(offset);
        let left_in_sector = self.sector - aligned % self.sector;
        let place = if left_in_sector < FRAME_HEADER_LEN as u32 { aligned + left_in_sector } else { aligned };
        // The segment ends at a sector boundary: a place before its end has room for a header.
        if place < self.segment_bytes { Some(place) } else { None }
    }

    /// The least sector boundary at or after `offset`, an offset in a segment.
    ///
    /// # Panics
    /// If `offset` lies beyond the end of the segment.
    #[must_use]
    pub const fn round_up_sector(self, offset: u32) -> u32 {
        assert!(offset <= self.segment_bytes, "offsets lie within a segment");
        (offset + self.sector - 1) & !(self.sector - 1)
    }

    /// The greatest sector boundary at or before `offset`, an offset in a segment.
    #[must_use]
    pub const fn round_down_sector(self, offset: u32) -> u32 {
        offset & !(self.sector - 1)
    }

    //= spec/format.md#f-2-2-log-address
    //# A writer MUST NOT open a segment whose addresses would not fit into 55 bits.
    /// The highest sequence number whose addresses fit into 55 bits. A writer opens no segment beyond it
    /// (F-2.2), and a reader believes none.
    #[must_use]
    pub const fn sequence_max(self) -> u64 {
        (1 << (LOG_ADDRESS_BITS - self.segment_bytes.trailing_zeros())) - 1
    }

    /// The log address of a byte. `offset` may be the end of the segment, which is the next segment's start.
    ///
    /// # Panics
    /// If `sequence` is above [`sequence_max`](Self::sequence_max) or `offset` beyond the end of the segment.
    #[must_use]
    pub const fn address(self, sequence: u64, offset: u32) -> LogAddress {
        // spec: F-2.2.
        assert!(sequence <= self.sequence_max(), "log addresses have 55 bits");
        assert!(offset <= self.segment_bytes, "offsets lie within a segment");
        LogAddress(sequence * self.segment_bytes as u64 + offset as u64)
    }

    /// Sequence number and offset of the byte at a log address.
    #[must_use]
    pub const fn split(self, address: LogAddress) -> (u64, u32) {
        let offset = address.0 & (self.segment_bytes as u64 - 1);
        (address.0 >> self.segment_bytes.trailing_zeros(), offset as u32)
    }

    /// The length of the largest record: it fills a frame that fills an empty segment.
    #[must_use]
    pub const fn record_len_max(self) -> usize {
        self.segment_bytes as usize - self.data_start() as usize - FRAME_HEADER_LEN
    }

    /// The length of the longest index record (F-8.11).
    #[must_use]
    pub const fn index_record_len_max(self) -> usize {
        let room = self.segment_bytes as usize - self.data_start() as usize;
        if room < INDEX_RECORD_LEN_MAX { room } else { INDEX_RECORD_LEN_MAX }
    }

    /// How long a writer makes index records at most, but for what cannot be divided: short enough that little is read for one key, and that
    /// a whole number of them fills a segment.
    #[must_use]
    pub const fn index_record_len_written(self) -> usize {
        let room = self.segment_bytes as usize - self.data_start() as usize;
        // They begin at multiples of 8.
        room / room.div_ceil(INDEX_RECORD_LEN_WRITTEN) / 8 * 8
    }

    //= spec/format.md#f-8-11-index-records
    //# The CBOR form of a key MUST have at most a third of what is left of the longest index record without
    //# 66 bytes, so that a directory page has room for two leaves.
    /// The length of the longest key, as CBOR, that a checkpoint has room for; keys of any length from segments of 4 KiB on.
    #[must_use]
    pub const fn checkpoint_key_len_max(self) -> usize {
        (self.index_record_len_max() - 66) / 3
    }

    /// The length of the longest entry of an index that a checkpoint has room for (F-8.10): a byte string, without the head of its CBOR form.
    #[must_use]
    pub const fn checkpoint_entry_len_max(self) -> usize {
        self.checkpoint_key_len_max() - 3
    }
}
