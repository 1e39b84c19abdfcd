//! The frames of segments that recovery reads, no further than it must (spec: F-5.7).

use std::rc::Rc;

use crate::error::Result;
use crate::format::frame::{FRAME_HEADER_LEN, Frame, FrameHeader, body_crc, parse_header, parse_header_at};
use crate::format::record::{self, PEEK_LEN, RecordSeed, peek_len_any_form};
use crate::format::{LogAddress, Lsn};
use crate::log::{Frames, NO_OPENING, may_open, record_fault};
use crate::seeded::{self, Bug};

use super::commit::Part;
use super::image::Shared;
use super::scan::Scan;

impl Frames for Scan<'_> {
    type Segment = Shared;
    /// How many records it has.
    type Body = u32;

    fn sequence(&self, image: &Shared) -> u64 {
        image.sequence
    }

    fn file_offset(&self, image: &Shared, offset: u32) -> u64 {
        image.file_offset(offset)
    }

    fn successors(&mut self, image: &Shared, end: u32) -> Result<Vec<(Shared, Lsn)>> {
        let mut found = Vec::new();
        for next in self.successors_of(image)?.iter() {
            let header = next.header.as_ref().expect("a successor has a header");
            if header.prev_end == end || seeded::is_on(Bug::PredecessorEndIgnored) {
                found.push((Rc::clone(next), header.first_lsn));
            }
        }
        Ok(found)
    }

    /// Goes by the header, in the sector in which that lies.
    fn may_open(&self, image: &Shared, offset: u32, above: u32) -> Result<bool> {
        let (seed, segment_bytes) = (&image.seed, self.geometry.segment_bytes());
        let is_wanted = |header: &[u8]| {
            let header = parse_header_at(header, offset, seed, segment_bytes);
            header.is_some_and(|header| may_open(&header, above))
        };
        let end = offset as usize + FRAME_HEADER_LEN;
        if let Some(header) = image.bytes().get(offset as usize..end) {
            return Ok(is_wanted(header));
        }
        if end > image.limit() {
            return Ok(false);
        }
        let sector = self.geometry.sector();
        let start = self.geometry.round_down_sector(offset);
        let within = (offset - start) as usize;
        let look = |_: u64, bytes: &[u8]| {
            bytes.get(within..within + FRAME_HEADER_LEN).filter(|header| is_wanted(header)).map(|_| [1, 0])
        };
        let found =
            self.file.storage.probe(image.file_offset(start), sector as usize, sector as usize, &look)?;
        Ok(!found.is_empty())
    }

    fn header(&self, image: &Shared, offset: u32) -> Result<Option<FrameHeader>> {
        if !image.need(self.file.storage, offset as usize + FRAME_HEADER_LEN)? {
            return Ok(None);
        }
        Ok(parse_header(&image.bytes(), offset, &image.seed, self.geometry.segment_bytes()))
    }

    /// Reads record by record, so that a damaged one is met before what follows it is read.
    fn body(&self, image: &Shared, frame: &Frame) -> Result<Option<u32>> {
        let header = &frame.header;
        let seed = RecordSeed::new(&self.file.slot.lineage, header.lsn.incarnation(), image.sequence);
        let mut crcs = Vec::with_capacity(header.record_count.min(1024) as usize);
        let mut at = frame.records_at();
        while at < frame.body_end() {
            let Some((len, crc)) = self.record(image, at, frame.body_end(), seed)? else { return Ok(None) };
            crcs.push(crc);
            at += len;
        }
        let count = crcs.len() as u32;
        let found = body_crc(header, image.seed.at(frame.offset), crcs.into_iter());
        Ok((found == header.body_crc || seeded::is_on(Bug::BodyChecksumIgnored)).then_some(count))
    }

    //= spec/recovery.md#r-2-2-continuations
    //# A reader MUST report corruption when a valid frame with the opening flag stands in a candidate's place, with
    //# an incarnation above that of L or with the LSN and the part number that the commit to follow has there, and
    //# is no opening frame.
    //= spec/recovery.md#r-4-5-the-principle
    //# A reader MUST NOT take a valid frame that would continue the log for a torn tail because of what its records
    //# say.
    /// It is an opening frame, or what no crash of a correct writer leaves.
    fn named(&self, part: &Part) -> Result<Option<(Lsn, LogAddress)>> {
        part.check_count()?;
        let header = &part.frame.header;
        if !header.is_opening() {
            return Err(part.broken("F-6.5", NO_OPENING));
        }
        let seed = RecordSeed::new(&self.file.slot.lineage, header.lsn.incarnation(), part.segment.sequence);
        let bytes = part.segment.bytes();
        let record = part.frame.records(&bytes, &seed).next().expect("an opening frame has a record");
        let (_, record) = record.map_err(|(at, fault)| record_fault(part.segment.file_offset(at), &fault))?;
        record.opening().ok_or_else(|| part.broken("F-6.5", NO_OPENING)).map(Some)
    }
}

impl Scan<'_> {
    /// Length and checksum of the record at `at`, where that is right.
    fn record(&self, image: &Shared, at: u32, body_end: u32, seed: RecordSeed) -> Result<Option<(u32, u32)>> {
        let room = (body_end - at) as usize;
        let prefix_end = at as usize + room.min(PEEK_LEN);
        if !image.need(self.file.storage, prefix_end)? {
            return Ok(None);
        }
        let len = peek_len_any_form(&image.bytes()[at as usize..prefix_end]);
        let Some(len) = len.filter(|len| *len <= room) else { return Ok(None) };
        if !image.need(self.file.storage, at as usize + len)? {
            return Ok(None);
        }
        // What the record says is for the replay to judge; here only whether it is whole.
        let crc = record::sealed(&image.bytes()[at as usize..][..len], seed.at(at));
        Ok(crc.map(|crc| (len as u32, crc)))
    }
}
