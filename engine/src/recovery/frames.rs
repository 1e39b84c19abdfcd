//! Reads one frame of a segment, no further than it is whole (spec: F-5.7).

use std::rc::Rc;

use crate::error::Result;
use crate::format::frame::{FRAME_HEADER_LEN, FrameFlags, FrameHeader, body_crc, parse_header};
use crate::format::record::{self, PEEK_LEN, RecordSeed, peek_len_any_form};
use crate::format::round_up_8;
use crate::seeded::{self, Bug};

use super::commit::Part;
use super::image::Shared;
use super::scan::Scan;

impl Scan<'_> {
    /// The frame header at `offset`, where its checksum holds.
    pub(super) fn header(&self, image: &Shared, offset: u32) -> Result<Option<FrameHeader>> {
        if !image.need(self.storage, offset as usize + FRAME_HEADER_LEN)? {
            return Ok(None);
        }
        Ok(parse_header(&image.bytes(), offset, &image.seed, self.geometry.segment_bytes()))
    }

    /// The frame behind a valid header, where it is valid (spec: F-5.7): where its checksums hold. Reads record by record, so that
    /// a damaged one is met before what follows it is read.
    pub(super) fn frame(&self, image: &Shared, offset: u32, header: &FrameHeader) -> Result<Option<Part>> {
        let records_at = offset + FRAME_HEADER_LEN as u32;
        let body_end = records_at + header.body_len;
        let seed = RecordSeed::new(&self.lineage, header.lsn.incarnation(), image.sequence);
        let mut part = Part {
            image: Rc::clone(image),
            offset,
            end: round_up_8(body_end),
            records: Vec::with_capacity(header.record_count.min(1024) as usize),
            opening: header.flags.contains(FrameFlags::OPENING),
            record_count: header.record_count,
        };
        let mut crcs = Vec::with_capacity(part.records.capacity());
        let mut at = records_at;
        while at < body_end {
            let Some((len, crc)) = self.record(image, at, body_end, seed)? else { return Ok(None) };
            part.records.push(at);
            crcs.push(crc);
            at += len;
        }
        let found = body_crc(header, image.seed.at(offset), crcs.into_iter());
        Ok((found == header.body_crc || seeded::is_on(Bug::BodyChecksumIgnored)).then_some(part))
    }

    /// Length and checksum of the record at `at`, where that is right.
    fn record(&self, image: &Shared, at: u32, body_end: u32, seed: RecordSeed) -> Result<Option<(u32, u32)>> {
        let room = (body_end - at) as usize;
        let prefix_end = at as usize + room.min(PEEK_LEN);
        if !image.need(self.storage, prefix_end)? {
            return Ok(None);
        }
        let len = peek_len_any_form(&image.bytes()[at as usize..prefix_end]);
        let Some(len) = len.filter(|len| *len <= room) else { return Ok(None) };
        if !image.need(self.storage, at as usize + len)? {
            return Ok(None);
        }
        // What the record says is for the replay to judge; here only whether it is whole.
        let crc = record::sealed(&image.bytes()[at as usize..][..len], seed.at(at));
        Ok(crc.map(|crc| (len as u32, crc)))
    }
}
