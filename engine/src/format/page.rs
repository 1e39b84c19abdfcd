//! The page: the unit of which checkpoints are made (F-8.1). What its entries are is for those who write and
//! read checkpoints; this file knows the header, the checksum and where fences end.
//!
//! | offset | length | field                                                             spec F-8.1 |
//! |-------:|-------:|--------------------------------------------------------------------------|
//! |      0 |      4 | CRC(lineage, LSN of the checkpoint, page number, bytes 4..length)        |
//! |      4 |      4 | length of the page in bytes, this header included                        |
//! |      8 |      4 | page number                                                              |
//! |     12 |      4 | tree id: the collection or index, for a primary tree; else 0             |
//! |     16 |      1 | kind                                                                     |
//! |     17 |      1 | level: 0 for a leaf                                                      |
//! |     18 |      2 | reserved                                                                 |
//! |     20 |      4 | entry count                                                              |
//! |     24 |      4 | length of the lower fence                                                |
//! |     28 |      4 | length of the upper fence                                                |
//! |     32 |        | lower fence, upper fence, entries                                        |

use std::ops::Range;

use super::checksum::{crc, crc_append};
use super::fields::{put, u32_at};
use super::{Lineage, Lsn};
use crate::seeded::{self, Bug};

/// The length of a page header.
pub const PAGE_HEADER_LEN: usize = 32;
/// The length of the largest page of any geometry; small segments hold less
/// ([`Geometry::page_len_max`](super::Geometry::page_len_max)).
pub const PAGE_LEN_MAX: usize = 16_384;

const CRC: Range<usize> = 0..4;
const LENGTH: Range<usize> = CRC.end..CRC.end + 4;
const NUMBER: Range<usize> = LENGTH.end..LENGTH.end + 4;
const TREE: Range<usize> = NUMBER.end..NUMBER.end + 4;
const KIND: usize = TREE.end;
const LEVEL: usize = KIND + 1;
const ENTRY_COUNT: Range<usize> = LEVEL + 1 + 2..LEVEL + 1 + 2 + 4;
const LOWER_FENCE_LEN: Range<usize> = ENTRY_COUNT.end..ENTRY_COUNT.end + 4;
const UPPER_FENCE_LEN: Range<usize> = LOWER_FENCE_LEN.end..LOWER_FENCE_LEN.end + 4;

const _: () = assert!(KIND == 16 && ENTRY_COUNT.start == 20 && UPPER_FENCE_LEN.end == PAGE_HEADER_LEN);

/// What a page's entries are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PageKind {
    /// The one page that leads to all others.
    Root,
    /// Collections.
    Catalog,
    /// Log segments.
    SegmentTable,
    /// Keys of a collection and where their documents lie, or the entries of an index.
    Primary,
    /// The checkpoint's own segments.
    SegmentList,
    /// Indexes of collections.
    Indexes,
}

impl PageKind {
    const fn byte(self) -> u8 {
        match self {
            PageKind::Root => 1,
            PageKind::Catalog => 2,
            PageKind::SegmentTable => 3,
            PageKind::Primary => 4,
            PageKind::SegmentList => 5,
            PageKind::Indexes => 6,
        }
    }

    const fn from_byte(byte: u8) -> Option<PageKind> {
        match byte {
            1 => Some(PageKind::Root),
            2 => Some(PageKind::Catalog),
            3 => Some(PageKind::SegmentTable),
            4 => Some(PageKind::Primary),
            5 => Some(PageKind::SegmentList),
            6 => Some(PageKind::Indexes),
            _ => None,
        }
    }
}

/// The header of a page, but for its checksum and its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageHeader {
    /// The page's number in its checkpoint, from 0 in the order of writing.
    pub number: u32,
    /// The collection or index, for a page of a primary tree; else 0.
    pub tree: u32,
    /// What the entries are.
    pub kind: PageKind,
    /// 0 for a leaf; a branch is one above its children.
    pub level: u8,
    /// How many entries there are.
    pub entry_count: u32,
    /// The length of the lower fence in bytes; 0 for no bound.
    pub lower_fence_len: u32,
    /// The length of the upper fence in bytes; 0 for no bound.
    pub upper_fence_len: u32,
}

impl PageHeader {
    /// Writes the header and its checksum into the first 32 bytes of `page`, which is the whole page, with
    /// fences and entries in place. Returns the checksum: a superblock names a root page by it.
    ///
    /// # Panics
    /// If the page is longer than a page may be, or has no room for header and fences.
    pub fn seal(&self, page: &mut [u8], lineage: &Lineage, checkpoint: Lsn) -> u32 {
        assert!(page.len() <= PAGE_LEN_MAX, "a page has at most {PAGE_LEN_MAX} bytes");
        let fences_len = self.lower_fence_len as usize + self.upper_fence_len as usize;
        assert!(page.len() >= PAGE_HEADER_LEN + fences_len, "header and fences are in the page");
        page[..PAGE_HEADER_LEN].fill(0);
        put(page, LENGTH, (page.len() as u32).to_le_bytes());
        put(page, NUMBER, self.number.to_le_bytes());
        put(page, TREE, self.tree.to_le_bytes());
        page[KIND] = self.kind.byte();
        page[LEVEL] = self.level;
        put(page, ENTRY_COUNT, self.entry_count.to_le_bytes());
        put(page, LOWER_FENCE_LEN, self.lower_fence_len.to_le_bytes());
        put(page, UPPER_FENCE_LEN, self.upper_fence_len.to_le_bytes());
        let sum = seeded_crc(lineage, checkpoint, self.number, &page[CRC.end..]);
        put(page, CRC, sum.to_le_bytes());
        sum
    }
}

/// A page whose checksum held. Made only by [`Page::parse`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page<'a> {
    header: PageHeader,
    crc: u32,
    bytes: &'a [u8],
}

impl<'a> Page<'a> {
    //= spec/format.md#f-1-3-checksums
    //# A reader MUST verify a checksum before it uses any byte under it, except to find how many bytes the
    //# checksum covers; such a length MUST be checked against its bounds first.
    /// Reads page `number` of the checkpoint at an LSN, at the start of `bytes`, which go on to at most the end of
    /// the segment.
    ///
    /// # Errors
    /// As [`PageFault`] says.
    pub fn parse(
        bytes: &'a [u8],
        lineage: &Lineage,
        checkpoint: Lsn,
        number: u32,
    ) -> Result<Page<'a>, PageFault> {
        // spec: F-1.3, F-8.1. The length is bounded by the slice before it says where the checksum ends.
        let header_bytes = bytes.first_chunk::<PAGE_HEADER_LEN>().ok_or(PageFault::Length)?;
        let len = u32_at(header_bytes, LENGTH) as usize;
        if !(PAGE_HEADER_LEN..=PAGE_LEN_MAX).contains(&len) || len > bytes.len() {
            return Err(PageFault::Length);
        }
        let bytes = &bytes[..len];
        let found = u32_at(header_bytes, CRC);
        let expected = seeded_crc(lineage, checkpoint, number, &bytes[CRC.end..]);
        if expected != found {
            return Err(PageFault::Crc { expected, found });
        }
        let kind = PageKind::from_byte(header_bytes[KIND]);
        let header = PageHeader {
            number: u32_at(header_bytes, NUMBER),
            tree: u32_at(header_bytes, TREE),
            kind: kind.ok_or(PageFault::Malformed("an unknown kind of page"))?,
            level: header_bytes[LEVEL],
            entry_count: u32_at(header_bytes, ENTRY_COUNT),
            lower_fence_len: u32_at(header_bytes, LOWER_FENCE_LEN),
            upper_fence_len: u32_at(header_bytes, UPPER_FENCE_LEN),
        };
        if header.number != number {
            return Err(PageFault::Malformed("a page of another number"));
        }
        let fences_len = u64::from(header.lower_fence_len) + u64::from(header.upper_fence_len);
        if fences_len > (len - PAGE_HEADER_LEN) as u64 {
            return Err(PageFault::Malformed("fences go on beyond their page"));
        }
        Ok(Page { header, crc: found, bytes })
    }

    /// The number that the page at the start of `bytes` says it has. A root page is found by its place and its
    /// checksum, and says itself which it is; the checksum covers that.
    #[must_use]
    pub fn claimed_number(bytes: &[u8]) -> Option<u32> {
        Some(u32_at(bytes.first_chunk::<PAGE_HEADER_LEN>()?, NUMBER))
    }

    /// The page's header.
    #[must_use]
    pub const fn header(&self) -> &PageHeader {
        &self.header
    }

    /// The page's checksum.
    #[must_use]
    pub const fn crc(&self) -> u32 {
        self.crc
    }

    /// The page's length in bytes.
    #[must_use]
    pub const fn page_len(&self) -> usize {
        self.bytes.len()
    }

    /// The least key that the page may hold, as CBOR; empty for no bound.
    #[must_use]
    pub fn lower_fence(&self) -> &'a [u8] {
        &self.bytes[PAGE_HEADER_LEN..][..self.header.lower_fence_len as usize]
    }

    /// The least key that the page may not hold, as CBOR; empty for no bound.
    #[must_use]
    pub fn upper_fence(&self) -> &'a [u8] {
        let start = PAGE_HEADER_LEN + self.header.lower_fence_len as usize;
        &self.bytes[start..][..self.header.upper_fence_len as usize]
    }

    /// The bytes of the entries, which [`PageHeader::entry_count`] counts.
    #[must_use]
    pub fn entries(&self) -> &'a [u8] {
        let fences_len = self.header.lower_fence_len as usize + self.header.upper_fence_len as usize;
        &self.bytes[PAGE_HEADER_LEN + fences_len..]
    }
}

/// Why bytes are not the page that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageFault {
    /// The length is not that of a page that ends within the bytes given.
    Length,
    /// The checksum does not hold: the bytes are damaged, or belong to another page or checkpoint.
    Crc {
        /// The checksum that the bytes have.
        expected: u32,
        /// The one they carry.
        found: u32,
    },
    /// The checksum holds, but the fields are not as F-8.1 asks.
    Malformed(&'static str),
}

fn seeded_crc(lineage: &Lineage, checkpoint: Lsn, number: u32, rest: &[u8]) -> u32 {
    let checkpoint = if seeded::is_on(Bug::PageOfAnyCheckpoint) { Lsn::ZERO } else { checkpoint };
    let life = crc_append(crc(lineage), &checkpoint.0.to_le_bytes());
    crc_append(crc_append(life, &number.to_le_bytes()), rest)
}
