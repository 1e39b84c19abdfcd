//! A frame in the making: room for it, its header once all of it is there, and the segment that it begins.

use crate::cache::Segment;
use crate::error::{Error, Result};
use crate::format::frame::{
    CLAIMS_NOTHING, FRAME_HEADER_LEN, FrameFlags, FrameHeader, SegmentSeed, write_header,
};
use crate::format::segment::{SegmentHeader, SegmentKind};
use crate::format::{Lsn, round_up_8};
use crate::seeded::{self, Bug};
use crate::sync::Arc;

use super::parts::OpenFrame;
use super::{Appender, Extent};

impl Appender {
    //= spec/format.md#f-5-2-place
    //# A frame MUST lie within its segment.
    //= spec/format.md#f-5-3-hand-over
    //# The first frame placed after a hand-over MUST begin at a sector boundary.
    /// Makes room for a frame header, and behind it for a first record of at most `record_len` bytes, in the successor
    /// segment if need be.
    pub(super) fn begin_frame(&mut self, lsn: Lsn, record_len: usize) -> Result<OpenFrame> {
        let from =
            if self.aligned { self.geometry.round_up_sector(self.end.offset) } else { self.end.offset };
        let fits = |start: &u32| {
            *start as usize + FRAME_HEADER_LEN + record_len <= self.geometry.segment_bytes() as usize
        };
        let offset = match self.geometry.place(from).filter(fits).filter(|_| !self.rolling) {
            Some(offset) => offset,
            None => {
                self.open_segment(lsn)?;
                self.geometry.data_start()
            }
        };
        self.aligned = false;
        let continues = self.pending.last().is_some_and(|extent| {
            extent.segment.sequence == self.end.segment.sequence
                && (!extent.bytes.is_empty() || extent.offset == offset)
        });
        if !continues {
            // An emptied buffer of the last hand-over is used again.
            let emptied = self.pending.pop_if(|extent| extent.bytes.is_empty());
            let bytes = emptied.map_or_else(|| self.buffers.take(), |extent| extent.bytes);
            self.pending.push(Extent { segment: Arc::clone(&self.end.segment), offset, bytes });
        }
        let extent = self.pending.last_mut().expect("just made sure of");
        let header_at = (offset - extent.offset) as usize;
        extent.bytes.resize(header_at + FRAME_HEADER_LEN, 0);
        Ok(OpenFrame { offset, header_at })
    }

    //= spec/format.md#f-5-4-durable-lag
    //# The LSN that a frame states MUST NOT be above the highest LSN whose sync had returned success when the
    //# frame was placed, and its incarnation MUST be that of the frame.
    pub(super) fn finish_frame(
        &mut self,
        frame: OpenFrame,
        lsn: Lsn,
        part: u16,
        last: bool,
        flags: FrameFlags,
    ) {
        let extent = self.pending.last_mut().expect("a frame was begun");
        let body_len = extent.bytes.len() - frame.header_at - FRAME_HEADER_LEN;
        let durable = if seeded::is_on(Bug::DurabilityOverstated) { lsn } else { self.durable };
        let stated = (durable.incarnation() == lsn.incarnation()).then_some(durable);
        let header = FrameHeader {
            body_crc: 0,
            lsn,
            durable_lag: stated.map_or(CLAIMS_NOTHING, |durable| lsn.count() - durable.count()),
            body_len: body_len as u32,
            part,
            last,
            flags,
            record_count: self.crcs.len() as u32,
        };
        let seed = self.seed.at(frame.offset);
        write_header(&mut extent.bytes[frame.header_at..], &header, seed, self.crcs.iter().copied());
        self.end.offset = round_up_8(frame.offset + (FRAME_HEADER_LEN + body_len) as u32);
        let padded = (self.end.offset - extent.offset) as usize;
        extent.bytes.resize(padded, 0);
        self.stated = stated;
        if last {
            self.end.lsn = lsn;
        }
    }

    //= spec/format.md#f-2-2-log-address
    //# A writer MUST NOT open a segment whose addresses would not fit into 55 bits.
    //= spec/format.md#f-4-3-chain
    //# The successor of a segment MUST be opened at the index named as `next`, and its own `next` MUST be the
    //# predecessor's `after`, where those are not none.
    /// Begins the successor segment: its header is the first thing placed in it (spec: F-4.3).
    fn open_segment(&mut self, first_lsn: Lsn) -> Result<()> {
        let sequence = self.end.segment.sequence + 1;
        if sequence > self.geometry.sequence_max() && !seeded::is_on(Bug::AddressesOverrun) {
            return Err(Error::LimitReached { what: "bytes ever written to one log" });
        }
        let [next, after] = self.end.reserved;
        // spec: F-4.3. None was reserved when there was none to spare.
        let next = next.filter(|_| !seeded::is_on(Bug::NextPassedOver));
        let physical = next.or_else(|| self.free.take());
        let physical = physical.ok_or_else(|| Error::StorageFull {
            operation: "opening of a segment beyond what is kept for a checkpoint".to_owned(),
        })?;
        let reserve = self.free.reserve();
        // Where the one after was not reserved either, what can be reserved now is next.
        let reserved = if after.is_some() { [after, reserve] } else { [reserve, None] };
        let header = SegmentHeader {
            kind: SegmentKind::Log,
            sequence,
            first_lsn,
            durable_lsn: self.durable,
            prev_end: self.end.offset,
            next: reserved[0],
            after: reserved[1],
        };
        let segment = Arc::new(Segment::new(&self.lineage, self.geometry, sequence, physical, first_lsn));
        if let Some(emptied) = self.pending.pop_if(|extent| extent.bytes.is_empty()) {
            self.buffers.keep(emptied.bytes);
        }
        let mut bytes = self.buffers.take();
        bytes.extend_from_slice(&header.encode(&self.lineage, physical));
        bytes.resize(self.geometry.data_start() as usize, 0);
        self.pending.push(Extent { segment: Arc::clone(&segment), offset: 0, bytes });
        self.seed = SegmentSeed::for_segment(&self.lineage, sequence);
        self.end.segment = segment;
        self.end.offset = self.geometry.data_start();
        self.end.reserved = reserved;
        Ok(())
    }
}
