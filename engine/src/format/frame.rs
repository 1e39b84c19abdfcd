//! The frame: one part of one commit, a header of 32 bytes and a body of records without gaps (F-5).
//!
//! | offset | length | field                                                           spec F-5.1 |
//! |-------:|-------:|------------------------------------------------------------------------|
//! |      0 |      4 | header CRC: CRC(lineage, sequence, offset, bytes 4..32)                |
//! |      4 |      4 | body CRC: CRC(lineage, sequence, offset, bytes 8..32, the records' CRCs) |
//! |      8 |      8 | LSN of the commit                                                      |
//! |     16 |      4 | durable lag                                                            |
//! |     20 |      4 | body length in bytes                                                   |
//! |     24 |      2 | part number in bits 0..15; bit 15 is LAST                              |
//! |     26 |      2 | flags                                                                  |
//! |     28 |      4 | record count                                                           |
//!
//! The header has a checksum of its own, because a header over a torn body still claims what was durable
//! . The body's checksum covers the header's fields too, so no header validates another life's body.

use std::ops::{BitOr, Range};

use super::checksum::{crc, crc_append, crc_append_u32, crc_append_u64};
use super::fields::{put, u16_at, u32_at, u64_at};
use super::record::{self, Record, RecordFault, RecordSeed};
use super::{Lineage, Lsn, round_up_8};

/// The length of a frame header.
pub const FRAME_HEADER_LEN: usize = 32;
/// A commit has at most so many frames.
pub const PARTS_MAX: usize = 32_768;
/// The durable lag of a frame that states nothing.
pub const CLAIMS_NOTHING: u32 = u32::MAX;

const HEADER_CRC: Range<usize> = 0..4;
const BODY_CRC: Range<usize> = HEADER_CRC.end..HEADER_CRC.end + 4;
const LSN: Range<usize> = BODY_CRC.end..BODY_CRC.end + 8;
const DURABLE_LAG: Range<usize> = LSN.end..LSN.end + 4;
const BODY_LEN: Range<usize> = DURABLE_LAG.end..DURABLE_LAG.end + 4;
const PART: Range<usize> = BODY_LEN.end..BODY_LEN.end + 2;
const FLAGS: Range<usize> = PART.end..PART.end + 2;
const RECORD_COUNT: Range<usize> = FLAGS.end..FLAGS.end + 4;

const _: () = assert!(RECORD_COUNT.end == FRAME_HEADER_LEN && FRAME_HEADER_LEN.is_multiple_of(8));

const LAST: u16 = 1 << 15;
const _: () = assert!(LAST as usize == PARTS_MAX, "bits 0..15 number every part a commit may have");

/// Checksum state over a lineage and a sequence: what all frames of one segment are seeded with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentSeed(u32);

impl SegmentSeed {
    /// The seed of frames in the segment of a sequence number.
    #[must_use]
    pub fn for_segment(lineage: &Lineage, sequence: u64) -> SegmentSeed {
        SegmentSeed(crc_append_u64(crc(lineage), sequence))
    }

    /// The seed of the frame at an offset in the segment.
    #[must_use]
    #[inline]
    pub fn at(&self, offset: u32) -> u32 {
        crc_append_u32(self.0, offset)
    }
}

/// What sets a frame's commit apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct FrameFlags(pub u16);

impl FrameFlags {
    /// A commit of the application.
    pub const NONE: FrameFlags = FrameFlags(0);
    /// The first frame of an incarnation.
    pub const OPENING: FrameFlags = FrameFlags(1);
    /// States what is durable and holds no record.
    pub const WATERMARK: FrameFlags = FrameFlags(2);
    /// Belongs to a commit that changes no visible state.
    pub const SYSTEM: FrameFlags = FrameFlags(4);

    const KNOWN: FrameFlags = FrameFlags(Self::OPENING.0 | Self::WATERMARK.0 | Self::SYSTEM.0);

    /// Whether all flags of `other` are set.
    #[must_use]
    pub const fn contains(self, other: FrameFlags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether this version can read a frame with these flags (F-5.7).
    #[must_use]
    pub const fn is_known(self) -> bool {
        Self::KNOWN.contains(self)
    }
}

impl BitOr for FrameFlags {
    type Output = FrameFlags;

    fn bitor(self, other: FrameFlags) -> FrameFlags {
        FrameFlags(self.0 | other.0)
    }
}

/// A frame's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameHeader {
    /// Checksum over the fields below and the records' checksums. [`write_header`] computes it.
    pub body_crc: u32,
    /// The commit that the frame is a part of.
    pub lsn: Lsn,
    /// How far behind the LSN's count the durable LSN was, or [`CLAIMS_NOTHING`].
    pub durable_lag: u32,
    /// The body's length in bytes.
    pub body_len: u32,
    /// The part's number in its commit, from 0.
    pub part: u16,
    /// Whether it is the commit's last part.
    pub last: bool,
    /// What sets the commit apart.
    pub flags: FrameFlags,
    /// How many records the body holds.
    pub record_count: u32,
}

impl FrameHeader {
    /// The LSN up to which every commit is durable, as the frame states; `None` if it states nothing.
    #[must_use]
    pub const fn claim(&self) -> Option<Lsn> {
        // spec: F-5.4. A lag beyond the count would reach into another incarnation: no writer states that.
        if self.durable_lag == CLAIMS_NOTHING || self.durable_lag > self.lsn.count() {
            return None;
        }
        Some(Lsn::new(self.lsn.incarnation(), self.lsn.count() - self.durable_lag))
    }

    /// Whether it is the header of an opening frame, as far as it tells: one part, of one record, of count 1 (F-6.5).
    #[must_use]
    pub const fn is_opening(&self) -> bool {
        self.flags.contains(FrameFlags::OPENING)
            && self.lsn.count() == 1
            && self.lsn.incarnation() > 0
            && self.part == 0
            && self.last
            && self.record_count == 1
    }

    /// The frame's length in bytes, from its place to where it ends: a multiple of 8.
    #[cfg(any(test, feature = "testing"))]
    #[must_use]
    pub const fn frame_len(&self) -> u32 {
        // spec: F-5.2.
        round_up_8(FRAME_HEADER_LEN as u32 + self.body_len)
    }

    fn encode(&self) -> [u8; FRAME_HEADER_LEN] {
        assert!(usize::from(self.part) < PARTS_MAX, "more parts are refused before any is placed");
        assert!(self.lsn.count() > 0, "count 0 stands for: no commit");
        let mut bytes = [0; FRAME_HEADER_LEN];
        put(&mut bytes, LSN, self.lsn.0.to_le_bytes());
        put(&mut bytes, DURABLE_LAG, self.durable_lag.to_le_bytes());
        put(&mut bytes, BODY_LEN, self.body_len.to_le_bytes());
        put(&mut bytes, PART, (self.part | if self.last { LAST } else { 0 }).to_le_bytes());
        put(&mut bytes, FLAGS, self.flags.0.to_le_bytes());
        put(&mut bytes, RECORD_COUNT, self.record_count.to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8; FRAME_HEADER_LEN]) -> FrameHeader {
        let part = u16_at(bytes, PART);
        FrameHeader {
            body_crc: u32_at(bytes, BODY_CRC),
            lsn: Lsn(u64_at(bytes, LSN)),
            durable_lag: u32_at(bytes, DURABLE_LAG),
            body_len: u32_at(bytes, BODY_LEN),
            part: part & !LAST,
            last: part & LAST != 0,
            flags: FrameFlags(u16_at(bytes, FLAGS)),
            record_count: u32_at(bytes, RECORD_COUNT),
        }
    }
}

/// A frame with a valid header, in its segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    /// Where it begins in its segment.
    pub offset: u32,
    /// Its header.
    pub header: FrameHeader,
}

impl Frame {
    /// Where its first record begins in the segment.
    #[must_use]
    pub const fn records_at(&self) -> u32 {
        self.offset + FRAME_HEADER_LEN as u32
    }

    /// Where its body ends in the segment.
    #[must_use]
    pub const fn body_end(&self) -> u32 {
        self.records_at() + self.header.body_len
    }

    /// Where it ends in the segment (F-5.2).
    #[must_use]
    pub const fn end(&self) -> u32 {
        round_up_8(self.body_end())
    }

    /// Its records, each with its own offset in the segment, in log order. `segment` is as in [`parse_header`], and the body was found
    /// valid. So an `Err` is a record whose content breaks F-6 or is of a newer format; it comes with the record's offset and
    /// ends the iteration.
    #[must_use]
    pub fn records<'a>(&self, segment: &'a [u8], seed: &RecordSeed) -> Records<'a> {
        let body = body(segment, self.offset, &self.header).unwrap_or_default();
        Records { rest: body, offset: self.records_at(), seed: *seed }
    }
}

/// A search for frames in bytes of a segment, whatever stands between them: at each place where a frame can begin.
#[derive(Debug, Clone, Copy)]
pub struct FrameSearch<'a> {
    /// What is left to look at, from the next place on.
    rest: &'a [u8],
    /// The offset of that in the segment.
    at: u32,
    seed: SegmentSeed,
    segment_bytes: u32,
}

impl<'a> FrameSearch<'a> {
    /// A search of `bytes`, which stand at `base` of their segment, a multiple of 8, from the offset `from` on.
    #[must_use]
    pub fn new(bytes: &'a [u8], base: u32, from: u32, seed: SegmentSeed, segment_bytes: u32) -> Self {
        // Most of what stands behind the end of a log is zeros, and zeros are no frame header.
        let rest = if is_zeros(bytes) { &[] } else { bytes };
        let mut search = FrameSearch { rest, at: base, seed, segment_bytes };
        search.skip_to(from.max(base).next_multiple_of(8));
        search
    }

    /// Goes on at this offset: where a frame that is whole ends. What is left of one that was cut may have others written over its body.
    pub fn skip_to(&mut self, offset: u32) {
        let len = offset.saturating_sub(self.at);
        self.rest = self.rest.get(len as usize..).unwrap_or_default();
        self.at += len;
    }
}

/// Whether all bytes are zero.
pub(super) fn is_zeros(bytes: &[u8]) -> bool {
    let (chunks, rest) = bytes.as_chunks::<64>();
    // Each is folded whole, so that it takes a few instructions of many bytes.
    let is_zeros = |bytes: &[u8]| bytes.iter().fold(0, |any, byte| any | byte) == 0;
    chunks.iter().all(|chunk| is_zeros(chunk)) && is_zeros(rest)
}

/// The frames whose headers are valid, in the order of their offsets.
impl Iterator for FrameSearch<'_> {
    type Item = Frame;

    #[inline]
    fn next(&mut self) -> Option<Frame> {
        while self.rest.len() >= FRAME_HEADER_LEN {
            let (header, offset) = (self.rest, self.at);
            (self.rest, self.at) = (&self.rest[8..], offset + 8);
            if let Some(header) = parse_header_at(header, offset, &self.seed, self.segment_bytes) {
                return Some(Frame { offset, header });
            }
        }
        None
    }
}

/// Reads the frame header at `offset` of a segment, whose bytes from its offset 0 are `segment`; they may be
/// fewer than `segment_bytes`, as at the end of a file.
///
/// `None` unless the header's checksum holds at this place, its count is not 0, and its body lies inside a
/// segment of `segment_bytes`. Two things are left to the caller: whether the flags are known, since an
/// unknown one in the frame that continues the log is a newer format and not a torn tail (F-5.7), and whether
/// the body lies inside what there is of the segment, which [`check_body`] finds out.
#[must_use]
pub fn parse_header(
    segment: &[u8],
    offset: u32,
    seed: &SegmentSeed,
    segment_bytes: u32,
) -> Option<FrameHeader> {
    parse_header_at(segment.get(offset as usize..)?, offset, seed, segment_bytes)
}

//= spec/format.md#f-1-3-checksums
//# A reader MUST verify a checksum before it uses any byte under it, except to find how many bytes the
//# checksum covers; such a length MUST be checked against its bounds first.
//= spec/format.md#f-5-2-place
//# A frame MUST lie within its segment.
/// The same for a header whose bytes are at hand by themselves: it begins `bytes`, and stands at `offset` of its
/// segment.
#[must_use]
#[inline]
pub fn parse_header_at(
    bytes: &[u8],
    offset: u32,
    seed: &SegmentSeed,
    segment_bytes: u32,
) -> Option<FrameHeader> {
    let bytes = bytes.first_chunk::<FRAME_HEADER_LEN>()?;
    // The search for claims asks at every eighth byte of a segment. What can be refused without a checksum
    // is: most of those bytes are zeros, or text whose "body length" no segment holds.
    let room = segment_bytes.checked_sub(offset)?.checked_sub(FRAME_HEADER_LEN as u32)?;
    if Lsn(u64_at(bytes, LSN)).count() == 0 || u32_at(bytes, BODY_LEN) > room || !offset.is_multiple_of(8) {
        return None;
    }
    summed_header(bytes, seed.at(offset))
}

/// The header, if its checksum holds: a call of its own, so that asking whether there is one takes a few instructions where there is none.
fn summed_header(bytes: &[u8; FRAME_HEADER_LEN], seed: u32) -> Option<FrameHeader> {
    // spec: F-5.1, F-5.7.
    let found = crc_append(seed, &bytes[BODY_CRC.start..]);
    (found == u32_at(bytes, HEADER_CRC)).then(|| FrameHeader::decode(bytes))
}

/// The body's checksum: over the header's fields, then the records' checksums in order. `seed` is the segment's
/// seed at the frame's offset; the header's own `body_crc` is not looked at.
#[must_use]
pub fn body_crc(header: &FrameHeader, seed: u32, record_crcs: impl Iterator<Item = u32>) -> u32 {
    let fields = crc_append(seed, &header.encode()[LSN.start..]);
    record_crcs.fold(fields, crc_append_u32)
}

/// Writes a header, both checksums included, into the first 32 bytes of `frame`; `seed` is the segment's seed
/// at the frame's offset and `record_crcs` are the records' checksums in order. The header's own `body_crc` is
/// not looked at.
///
/// # Panics
/// If `frame` has no room for header and body, or the checksums are not as many as the header counts.
pub fn write_header(
    frame: &mut [u8],
    header: &FrameHeader,
    seed: u32,
    record_crcs: impl Iterator<Item = u32>,
) {
    assert!(frame.len() >= FRAME_HEADER_LEN + header.body_len as usize, "the body follows its header");
    let mut bytes = header.encode();
    let mut count = 0;
    let body_crc = body_crc(header, seed, record_crcs.inspect(|_| count += 1));
    assert_eq!(count, header.record_count, "one checksum for each record");
    put(&mut bytes, BODY_CRC, body_crc.to_le_bytes());
    let header_crc = crc_append(seed, &bytes[BODY_CRC.start..]);
    put(&mut bytes, HEADER_CRC, header_crc.to_le_bytes());
    frame[..FRAME_HEADER_LEN].copy_from_slice(&bytes);
}

/// Why the body of a frame with a valid header is not valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameFault {
    /// The body goes on beyond the bytes that there are of the segment.
    BeyondData,
    /// A record at this offset of the segment is not valid, or does not end inside the body.
    Record(u32, RecordFault),
    /// It has so many records, and its header counts others.
    RecordCount(u32),
    /// Header and records, each valid, do not belong together.
    BodyCrc,
}

//= spec/recovery.md#r-1-3-bytes-beyond-the-end
//# Bytes of a segment that lie beyond the end of the file MUST be treated as absent: no frame that extends
//# into them is valid.
/// Checks that the body of the frame at `offset` is valid: every record's checksum holds, the records fill the
/// body exactly and are as many as the header counts, and the body's checksum holds (F-5.7). What the records
/// say is not looked at; [`Frame::records`] does that.
///
/// `segment` is as in [`parse_header`], from which `header` comes; `seeds` are those of the segment for frames,
/// and of the segment and the header's incarnation for records.
pub fn check_body(
    segment: &[u8],
    offset: u32,
    header: &FrameHeader,
    seeds: (&SegmentSeed, &RecordSeed),
) -> Result<(), FrameFault> {
    let Some(body) = body(segment, offset, header) else { return Err(FrameFault::BeyondData) };
    let (segment_seed, record_seed) = seeds;
    let mut body_crc = crc_append(segment_seed.at(offset), &header.encode()[LSN.start..]);
    let mut count = 0;
    let mut at = 0;
    // spec: F-5.7.
    while at < body.len() {
        let record_offset = offset + (FRAME_HEADER_LEN + at) as u32;
        let extent = record::verify(&body[at..], record_seed.at(record_offset))
            .map_err(|fault| FrameFault::Record(record_offset, fault))?;
        body_crc = crc_append_u32(body_crc, extent.crc);
        count += 1;
        at += extent.len;
    }
    if count != header.record_count {
        return Err(FrameFault::RecordCount(count));
    }
    if body_crc != header.body_crc {
        return Err(FrameFault::BodyCrc);
    }
    Ok(())
}

/// The frame's body, if all of it is there.
fn body<'a>(segment: &'a [u8], offset: u32, header: &FrameHeader) -> Option<&'a [u8]> {
    let start = (offset as usize).checked_add(FRAME_HEADER_LEN)?;
    segment.get(start..start.checked_add(header.body_len as usize)?)
}

/// The iterator that [`Frame::records`] returns.
#[derive(Debug, Clone)]
pub struct Records<'a> {
    rest: &'a [u8],
    offset: u32,
    seed: RecordSeed,
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<(u32, Record<'a>), (u32, RecordFault)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let offset = self.offset;
        match record::parse(self.rest, self.seed.at(offset)) {
            Ok(record) => {
                self.rest = &self.rest[record.len..];
                self.offset += record.len as u32;
                Some(Ok((offset, record)))
            }
            Err(fault) => {
                self.rest = &[];
                Some(Err((offset, fault)))
            }
        }
    }
}

impl std::iter::FusedIterator for Records<'_> {}
