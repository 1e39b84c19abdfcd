//! The bounds of sectors and segments (F-2.1), and the alignment within a segment.

/// Where the segment of physical index 0 begins in the file.
pub const SEGMENTS_START: u64 = 16_384;

/// The smallest sector: a segment header fills it. For checks.
pub const SECTOR_MIN: u32 = 64;
/// The sector of a store that does not ask for another.
pub const SECTOR_DEFAULT: u32 = 512;
/// The largest sector.
pub const SECTOR_MAX: u32 = 4096;

/// The smallest segment, for checks.
pub const SEGMENT_BYTES_MIN: u32 = 512;
/// The segment of a store that does not ask for another: 128 KiB.
pub const SEGMENT_BYTES_DEFAULT: u32 = 128 << 10;
/// The largest segment: 64 MiB.
pub const SEGMENT_BYTES_MAX: u32 = 64 << 20;

/// The length of the shortest index record: one without a body.
pub const INDEX_RECORD_LEN_MIN: u32 = 9;
/// The length of the longest of any geometry; small segments hold less
/// ([`Geometry::index_record_len_max`](super::Geometry::index_record_len_max)).
pub const INDEX_RECORD_LEN_MAX: usize = 16_384;

/// The least multiple of 8 at or after `offset`.
///
/// # Panics
/// If `offset` lies beyond the end of the largest segment.
#[must_use]
pub const fn round_up_8(offset: u32) -> u32 {
    assert!(offset <= SEGMENT_BYTES_MAX, "offsets lie within a segment");
    (offset + 7) & !7
}
