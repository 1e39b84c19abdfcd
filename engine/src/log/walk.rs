//! Walks through the frames of one whole segment, in the order in which they were placed.

use crate::cache::Segment;
use crate::error::Result;
use crate::format::frame::{Frame, FrameHeader, body_crc, parse_header};
use crate::format::record::Record;
use crate::format::{Geometry, LogAddress, Lsn};
use crate::sync::Arc;

use super::cursor::{FrameCursor, Frames, Met, NOTHING_FOLLOWS, broken};
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
    cursor: FrameCursor<()>,
}

impl SegmentWalk {
    /// `bytes` are those of the whole segment, whose last frame ended at `end`.
    pub(crate) fn new(geometry: Geometry, segment: Arc<Segment>, bytes: Vec<u8>, end: u32) -> Self {
        let cursor = FrameCursor::before_stretch(geometry, (), geometry.data_start(), segment.first_lsn());
        SegmentWalk { geometry, segment, bytes, end, cursor }
    }

    pub(crate) fn segment(&self) -> &Arc<Segment> {
        &self.segment
    }

    /// The next frame, all of it verified; none where the segment ends. What lies behind a place where the log was cut once is passed over, as
    /// by recovery (spec: R-2).
    pub(crate) fn next(&mut self) -> Result<Option<Frame>> {
        let cursor = self.cursor.clone();
        if cursor.offset >= self.end {
            return Ok(None);
        }
        let Some(met) = cursor.next(self)? else {
            return Err(broken(self.file_offset(&(), cursor.offset), "R-2.1", NOTHING_FOLLOWS));
        };
        self.verify(&met.frame)?;
        self.cursor.pass(&met);
        Ok(Some(met.frame))
    }

    /// The records of a frame, and where each stands.
    pub(crate) fn records(&self, frame: &Frame) -> impl Iterator<Item = Result<(LogAddress, Record<'_>)>> {
        let records = frame.records(&self.bytes, &self.segment.stretch_at(frame.offset).seed);
        records.map(|found| match found {
            Ok((at, record)) => Ok((self.geometry.address(self.segment.sequence, at), record)),
            Err((at, fault)) => Err(record_fault(self.file_offset(&(), at), &fault)),
        })
    }

    fn verify(&self, frame: &Frame) -> Result<()> {
        let mut crcs = Vec::with_capacity(frame.header.record_count.min(1024) as usize);
        for record in self.records(frame) {
            crcs.push(record?.1.crc);
        }
        let count = crcs.len() as u64;
        let found = body_crc(&frame.header, self.segment.frame_seed.at(frame.offset), crcs.into_iter());
        if found != frame.header.body_crc || count != u64::from(frame.header.record_count) {
            let at = self.file_offset(&(), frame.offset);
            return Err(broken(at, "F-5.7", "a frame's checksum does not fit its records"));
        }
        Ok(())
    }
}

impl Frames for SegmentWalk {
    /// It is the only one.
    type Segment = ();
    type Body = ();

    fn sequence(&self, (): &()) -> u64 {
        self.segment.sequence
    }

    fn file_offset(&self, (): &(), offset: u32) -> u64 {
        self.geometry.segment_offset(self.segment.physical) + u64::from(offset)
    }

    fn successors(&mut self, (): &(), _: u32) -> Result<Vec<((), Lsn)>> {
        Ok(Vec::new())
    }

    fn may_open(&self, (): &(), offset: u32, above: u32) -> Result<bool> {
        Ok(self.segment.opens_at(offset, above))
    }

    fn header(&self, (): &(), offset: u32) -> Result<Option<FrameHeader>> {
        let seed = &self.segment.frame_seed;
        Ok(parse_header(&self.bytes, offset, seed, self.geometry.segment_bytes()))
    }

    /// It is verified once it is known to follow.
    fn body(&self, (): &(), frame: &Frame) -> Result<Option<()>> {
        Ok((frame.body_end() as usize <= self.bytes.len()).then_some(()))
    }

    fn named(&self, opening: &Met<(), ()>) -> Result<Option<(Lsn, LogAddress)>> {
        let record = self.records(&opening.frame).next().and_then(Result::ok);
        Ok(record.and_then(|(_, record)| record.opening()))
    }
}
