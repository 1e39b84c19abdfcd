//! Walks through the frames of one whole segment, in the order in which they were placed.

use crate::cache::Segment;
use crate::error::{Clause, Corruption, Error, Result};
use crate::format::body::parse_opening;
use crate::format::frame::{FRAME_HEADER_LEN, FrameFlags, FrameHeader, body_crc, parse_header};
use crate::format::record::{self, Record};
use crate::format::{Geometry, LogAddress, Lsn, round_up_8};
use crate::sync::Arc;

use super::record_fault;

#[cfg(test)]
mod tests;

/// The bytes of a segment that is sealed, and how far a walk through them has come.
#[derive(Debug)]
pub(crate) struct SegmentWalk {
    geometry: Geometry,
    segment: Arc<Segment>,
    bytes: Vec<u8>,
    /// Where its last frame ended.
    end: u32,
    /// Where the last frame that was met ended.
    offset: u32,
    /// The commit of that frame; zero before the first.
    lsn: Lsn,
    /// Whether a part of it is still to come.
    is_within: bool,
}

/// One frame.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    pub(crate) header: FrameHeader,
    /// Where it begins in the segment.
    pub(crate) offset: u32,
}

impl Frame {
    fn end(&self) -> u32 {
        self.offset + FRAME_HEADER_LEN as u32 + self.header.body_len
    }
}

impl SegmentWalk {
    /// `bytes` are those of the whole segment, whose last frame ended at `end`.
    pub(crate) fn new(geometry: Geometry, segment: Arc<Segment>, bytes: Vec<u8>, end: u32) -> Self {
        let offset = geometry.data_start();
        SegmentWalk { geometry, segment, bytes, end, offset, lsn: Lsn::ZERO, is_within: false }
    }

    pub(crate) fn segment(&self) -> &Arc<Segment> {
        &self.segment
    }

    /// The next frame, all of it verified; none where the segment ends. What lies behind a place where the log was cut once is passed over, as
    /// by recovery (spec: R-2).
    pub(crate) fn next(&mut self) -> Result<Option<Frame>> {
        if self.offset >= self.end {
            return Ok(None);
        }
        let near = self.geometry.place(self.offset);
        let aligned = self.geometry.place(self.geometry.round_up_sector(self.offset));
        let places = [near, aligned.filter(|_| aligned != near)];
        // spec. Where an incarnation begins, what else stands there was cut.
        let opening = places.into_iter().flatten().find(|offset| self.opens(*offset));
        let found = match opening {
            Some(offset) => self.frame(offset),
            None => places
                .into_iter()
                .flatten()
                .find_map(|offset| self.frame(offset).filter(|frame| self.goes_on_with(&frame.header))),
        };
        let Some(frame) = found else {
            return Err(self.corrupt("R-2.1", self.offset, "no frame goes on with the log"));
        };
        self.verify(&frame)?;
        self.offset = round_up_8(frame.end());
        self.lsn = frame.header.lsn;
        self.is_within = !frame.header.last;
        Ok(Some(frame))
    }

    /// The records of a frame, and where each stands.
    pub(crate) fn records<'a>(
        &'a self,
        frame: &Frame,
    ) -> impl Iterator<Item = Result<(LogAddress, Record<'a>)>> {
        let mut at = frame.offset + FRAME_HEADER_LEN as u32;
        let end = frame.end();
        std::iter::from_fn(move || {
            if at >= end {
                return None;
            }
            let record = self.record(at, end);
            at = record.as_ref().map_or(end, |(_, record)| at + record.len as u32);
            Some(record)
        })
    }

    fn record(&self, at: u32, end: u32) -> Result<(LogAddress, Record<'_>)> {
        let seed = self.segment.stretch_at(at).seed.at(at);
        let record = record::parse(&self.bytes[at as usize..end as usize], seed)
            .map_err(|fault| record_fault(self.file_offset(at), &fault))?;
        Ok((self.geometry.address(self.segment.sequence, at), record))
    }

    fn frame(&self, offset: u32) -> Option<Frame> {
        let seed = &self.segment.frame_seed;
        let header = parse_header(&self.bytes, offset, seed, self.geometry.segment_bytes())?;
        let frame = Frame { header, offset };
        (frame.end() as usize <= self.bytes.len()).then_some(frame)
    }

    /// Whether an incarnation begins at this place that goes on from where the walk stands: one may stand at the next sector, and belong behind
    /// a frame that fits in between (spec: ). What goes on from another segment is simply the first frame of this one.
    fn opens(&self, offset: u32) -> bool {
        let stretch = self.segment.stretch_at(offset);
        stretch.offset == offset
            && self.frame(offset).is_some_and(|frame| {
                frame.header.flags.contains(FrameFlags::OPENING)
                    && frame.header.lsn == stretch.first_lsn
                    && self.names_end(&frame)
            })
    }

    fn names_end(&self, frame: &Frame) -> bool {
        let end = self.geometry.address(self.segment.sequence, self.offset);
        let record = self.record(frame.offset + FRAME_HEADER_LEN as u32, frame.end());
        record.is_ok_and(|(_, record)| parse_opening(record.body) == Some((self.lsn, end)))
    }

    fn goes_on_with(&self, header: &FrameHeader) -> bool {
        match self.lsn {
            // It may begin in the middle of a commit.
            Lsn::ZERO => header.lsn == self.segment.first_lsn(),
            lsn if self.is_within => header.lsn == lsn,
            lsn => header.lsn == lsn.next() && header.part == 0,
        }
    }

    fn verify(&self, frame: &Frame) -> Result<()> {
        let mut crcs = Vec::with_capacity(frame.header.record_count.min(1024) as usize);
        for record in self.records(frame) {
            crcs.push(record?.1.crc);
        }
        let count = crcs.len() as u64;
        let found = body_crc(&frame.header, self.segment.frame_seed.at(frame.offset), crcs.into_iter());
        if found != frame.header.body_crc || count != u64::from(frame.header.record_count) {
            return Err(self.corrupt("F-5.7", frame.offset, "a frame's checksum does not fit its records"));
        }
        Ok(())
    }

    /// Damage at an offset of the segment.
    pub(crate) fn corrupt(&self, clause: &'static str, offset: u32, what: &'static str) -> Error {
        let at = self.file_offset(offset);
        Corruption { at, clause: Clause(clause), what, expected: 0, found: 0 }.into()
    }

    fn file_offset(&self, offset: u32) -> u64 {
        self.geometry.segment_offset(self.segment.physical) + u64::from(offset)
    }
}
