//! The writer's end of the log: places commits as frames, in memory, and keeps them until they are written out.
//!
//! Placing touches neither the file nor what readers see, and can be taken back ([`Appender::revert`]) until the bytes
//! are handed to the operating system.

mod buffers;
mod frame;
mod parts;

use crate::cache::Segment;
use crate::error::Result;
use crate::format::body::encode_opening;
use crate::format::frame::{FRAME_HEADER_LEN, FrameFlags, SegmentSeed};
use crate::format::record::{Kind, RecordParts};
use crate::format::{Geometry, Lineage, LogAddress, Lsn};
use crate::seeded::{self, Bug};
use crate::space::FreeSegments;
use crate::sync::Arc;

use super::batch::Batch;
use buffers::Buffers;
use parts::OpenPart;
pub(super) use parts::Parts;

/// Where the log ends, and what is reserved behind it.
#[derive(Debug, Clone)]
pub(crate) struct LogEnd {
    pub(crate) segment: Arc<Segment>,
    /// Offset in the segment where the last frame ended; a multiple of 8.
    pub(crate) offset: u32,
    /// The last commit.
    pub(crate) lsn: Lsn,
    /// The segment's successor, and the one after.
    pub(crate) reserved: [Option<u32>; 2],
}

/// Bytes that lie together in the file and wait to be written out.
#[derive(Debug, Clone)]
pub(crate) struct Extent {
    pub(crate) segment: Arc<Segment>,
    /// Offset in the segment.
    pub(crate) offset: u32,
    pub(crate) bytes: Vec<u8>,
}

/// How things stood before a commit was placed.
#[derive(Debug, Clone)]
pub(crate) struct Mark {
    end: LogEnd,
    stated: Option<Lsn>,
    aligned: bool,
    extents: usize,
    extent_len: usize,
    taken: usize,
}

impl Mark {
    /// How things stand where nothing waits to be handed over.
    #[cfg(test)]
    pub(crate) fn at(end: LogEnd) -> Mark {
        Mark { end, stated: None, aligned: false, extents: 0, extent_len: 0, taken: 0 }
    }

    /// The segment in which the log ended.
    pub(crate) fn segment(&self) -> &Arc<Segment> {
        &self.end.segment
    }

    /// Whether the log ended in this very segment, as it is now.
    pub(crate) fn ends_in(&self, segment: &Arc<Segment>) -> bool {
        Arc::ptr_eq(&self.end.segment, segment)
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Appender {
    pub(super) geometry: Geometry,
    lineage: Lineage,
    seed: SegmentSeed,
    pub(super) end: LogEnd,
    /// Places for segments to come.
    pub(crate) free: FreeSegments,
    /// Every commit up to here is durable: its sync has returned.
    durable: Lsn,
    /// Every commit up to here is handed to the operating system.
    written: Lsn,
    /// What the last frame placed states to be durable.
    stated: Option<Lsn>,
    /// Whether the next frame must begin a sector: a hand-over came before it (spec: F-5.3).
    aligned: bool,
    /// Whether the next frame must begin a segment.
    rolling: bool,
    pub(super) pending: Vec<Extent>,
    buffers: Buffers,
    /// The CRCs of the records of the frame that is being placed.
    pub(super) crcs: Vec<u32>,
    /// Largest count that this incarnation may give.
    count_max: u32,
}

impl Appender {
    pub(crate) fn new(
        geometry: Geometry,
        lineage: Lineage,
        end: LogEnd,
        free: FreeSegments,
        durable: Lsn,
        count_max: u32,
    ) -> Self {
        assert_eq!(end.offset % 8, 0, "frames end at multiples of 8");
        let seed = SegmentSeed::for_segment(&lineage, end.segment.sequence);
        Appender {
            geometry,
            lineage,
            seed,
            end,
            free,
            durable,
            written: durable,
            stated: None,
            aligned: true,
            rolling: false,
            pending: Vec::new(),
            buffers: Buffers::default(),
            crcs: Vec::new(),
            count_max,
        }
    }

    pub(crate) fn end(&self) -> &LogEnd {
        &self.end
    }

    /// The address where the last frame ended.
    pub(crate) fn end_address(&self) -> LogAddress {
        self.geometry.address(self.end.segment.sequence, self.end.offset)
    }

    pub(crate) fn durable(&self) -> Lsn {
        self.durable
    }

    pub(crate) fn written(&self) -> Lsn {
        self.written
    }

    /// Whether a commit whose records take at most so many bytes certainly fits into the segment that the log ends in.
    pub(crate) fn segment_holds(&self, len_max: usize) -> bool {
        // Its frame begins less than a sector and a header further on (spec: F-5.2, F-5.3).
        let before = (self.end.offset + self.geometry.sector()) as usize + 2 * FRAME_HEADER_LEN;
        before.saturating_add(len_max) <= self.geometry.segment_bytes() as usize
    }

    /// Whether the incarnation has room for one more commit and for the watermark of the sync that ends it.
    pub(crate) fn has_counts_left(&self) -> bool {
        self.end.lsn.count() < self.count_max.saturating_sub(1)
    }

    pub(crate) fn pending(&self) -> &[Extent] {
        &self.pending
    }

    pub(crate) fn pending_bytes(&self) -> usize {
        self.pending.iter().map(|extent| extent.bytes.len()).sum()
    }

    /// What was pending is written out.
    pub(crate) fn written_out(&mut self) {
        self.written = self.end.lsn;
        self.free.settle();
        while self.pending.len() > 1
            && let Some(extent) = self.pending.pop()
        {
            self.buffers.keep(extent.bytes);
        }
        if let Some(extent) = self.pending.first_mut() {
            // The buffer is kept; where it continues is settled by the next frame.
            extent.offset = self.end.offset;
            extent.segment = Arc::clone(&self.end.segment);
            extent.bytes.clear();
        }
    }

    //= spec/format.md#f-1-6-sectors
    //# A writer MUST NOT write again to a sector of a log segment that holds bytes of an acknowledged commit.
    /// Everything placed is written out, and a sync comes next (spec: F-5.3).
    pub(crate) fn handed_over(&mut self) {
        assert!(self.pending_bytes() == 0, "a hand-over writes out all there is");
        self.aligned = !seeded::is_on(Bug::SectorSharedAcrossSyncs);
    }

    /// A sync returned success, and everything up to `lsn` had been handed over before it (spec: ).
    pub(crate) fn synced(&mut self, lsn: Lsn) {
        assert!(lsn <= self.written, "a sync comes after the hand-over");
        self.durable = self.durable.max(lsn);
    }

    //= spec/format.md#f-5-5-watermark
    //# If, at a hand-over, the last frame placed states less than the durable LSN of that moment, the writer
    //# MUST place a *watermark frame* that states it before the hand-over.
    /// Whether the hand-over to come needs a watermark frame in front of it (spec: F-5.5).
    pub(crate) fn needs_watermark(&self) -> bool {
        self.end.lsn > self.durable
            && self.stated.is_some_and(|stated| stated < self.durable)
            && !seeded::is_on(Bug::WatermarkForgotten)
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark {
            end: self.end.clone(),
            stated: self.stated,
            aligned: self.aligned,
            extents: self.pending.len(),
            extent_len: self.pending.last().map_or(0, |extent| extent.bytes.len()),
            taken: self.free.mark(),
        }
    }

    /// Takes back everything placed since `mark`.
    pub(crate) fn revert(&mut self, mark: Mark) {
        if mark.end.segment.sequence != self.end.segment.sequence {
            self.seed = SegmentSeed::for_segment(&self.lineage, mark.end.segment.sequence);
        }
        self.end = mark.end;
        self.free.revert(mark.taken);
        self.stated = mark.stated;
        self.aligned = mark.aligned;
        self.pending.truncate(mark.extents);
        if let Some(extent) = self.pending.last_mut() {
            extent.bytes.truncate(mark.extent_len);
        }
    }

    /// The bytes placed since `mark`, by extent.
    pub(crate) fn placed_since(&self, mark: &Mark) -> impl Iterator<Item = (&Arc<Segment>, u32, &[u8])> {
        let first = mark.extents.saturating_sub(1);
        self.pending.iter().enumerate().skip(first).map(move |(i, extent)| {
            let from = if i + 1 == mark.extents { mark.extent_len } else { 0 };
            (&extent.segment, extent.offset + from as u32, &extent.bytes[from..])
        })
    }

    /// The file length that everything pending needs.
    pub(crate) fn file_len_needed(&self) -> u64 {
        let end_of = |extent: &Extent| match extent.segment.physical {
            // Segment 0 may end beyond the end of a small file (spec: F-2.3).
            0 => self.geometry.segment_offset(0) + u64::from(extent.offset) + extent.bytes.len() as u64,
            physical => self.geometry.segment_end(physical),
        };
        self.pending.iter().map(end_of).max().unwrap_or(0)
    }

    /// Places `batch` as one commit, in as many parts as it takes, and notes in it where each record stands.
    pub(crate) fn place(&mut self, batch: &mut Batch) -> Result<()> {
        assert!(!batch.is_empty(), "a commit changes something");
        batch.chunks.clear();
        (batch.placed_bytes, batch.longest) = (0, 0);
        self.refuse_what_cannot_fit(batch)?;
        let flags = if batch.is_system { FrameFlags::SYSTEM } else { FrameFlags::NONE };
        let mut parts = Parts { lsn: self.end.lsn.next(), flags, part: 0, open: None };
        for number in 0..batch.changes.len() {
            if !batch.changes[number].is_moot {
                self.place_change(&mut parts, batch, number)?;
            }
        }
        batch.lsn = parts.lsn;
        let open = parts.open.expect("what makes a change moot is a change itself");
        self.finish_frame(open.frame, parts.lsn, parts.part, true, parts.flags);
        batch.end = self.end_address();
        Ok(())
    }

    /// Places one record of a commit, whose key and body are encoded as `rest`, in the open part or, where that has no room for it, in
    /// the next: one that has room for `bound` bytes.
    #[inline]
    pub(super) fn place_record(
        &mut self,
        parts: &mut Parts,
        record: &mut RecordParts<'_>,
        rest: &[&[u8]],
        bound: usize,
    ) -> Result<(LogAddress, u32)> {
        if !self.has_room(parts, record, rest, bound) {
            self.begin_part(parts, bound)?;
            assert!(self.has_room(parts, record, rest, bound), "it holds what it was begun for");
        }
        let open = parts.open.as_ref().expect("a part was begun");
        record.commit = open.commit;
        let extent = self.pending.last_mut().expect("a frame was begun");
        let start = extent.bytes.len();
        let at = extent.offset + start as u32;
        self.crcs.push(record.encode_with(rest, open.seed.at(at), &mut extent.bytes));
        let len = (extent.bytes.len() - start) as u32;
        Ok((self.geometry.address(self.end.segment.sequence, at), len))
    }

    /// Whether the open part, if there is one, has room for a record of at most `bound` bytes.
    #[inline]
    fn has_room(&self, parts: &Parts, record: &mut RecordParts<'_>, rest: &[&[u8]], bound: usize) -> bool {
        let (Some(open), Some(extent)) = (&parts.open, self.pending.last()) else { return false };
        let room = self.geometry.segment_bytes() as usize - extent.offset as usize - extent.bytes.len();
        record.commit = open.commit;
        room >= bound || room >= record.encoded_len_with(rest)
    }

    /// Begins the next part, which has room for a record of `bound` bytes.
    #[cold]
    fn begin_part(&mut self, parts: &mut Parts, bound: usize) -> Result<()> {
        if let Some(open) = &parts.open {
            self.finish_frame(open.frame, parts.lsn, parts.part, false, parts.flags);
            parts.part += 1;
        }
        let frame = self.begin_frame(parts.lsn, bound)?;
        self.crcs.clear();
        let stretch = self.end.segment.last_stretch();
        let commit = parts.lsn.count() - stretch.first_lsn.count();
        parts.open = Some(OpenPart { frame, seed: stretch.seed, commit });
        Ok(())
    }

    /// Places a frame of no records that states the durable LSN (spec: F-5.5).
    pub(crate) fn place_watermark(&mut self) -> Result<()> {
        let lsn = self.end.lsn.next();
        let frame = self.begin_frame(lsn, 0)?;
        self.crcs.clear();
        self.finish_frame(frame, lsn, 0, true, FrameFlags::WATERMARK | FrameFlags::SYSTEM);
        Ok(())
    }

    /// Places a frame of no records in the next segment: the log goes on there.
    pub(crate) fn roll(&mut self) -> Result<()> {
        self.rolling = true;
        let placed = self.place_watermark();
        self.rolling = false;
        placed
    }

    //= spec/recovery.md#r-5-5-opening-frame
    //# A writer MUST then place the opening frame, which names L and X, at the first sector boundary at or
    //# after X, or as the first frame of the successor when no frame fits there, and sync, before it places
    //# any other frame.
    /// Places the opening frame of `incarnation`, which seals the log at its present end (spec: ).
    pub(crate) fn place_opening(&mut self, incarnation: u32) -> Result<()> {
        assert!(incarnation > self.end.lsn.incarnation(), "incarnations only grow");
        assert_eq!(self.pending_bytes(), 0, "nothing of the old incarnation is left to write");
        let (l, x) = (self.end.lsn, self.end_address());
        let lsn = Lsn::new(incarnation, 1);
        let body = encode_opening(l, x);
        let record = RecordParts { body: &body, ..RecordParts::nameless(Kind::Opening) };
        self.aligned = true;
        let frame = self.begin_frame(lsn, record.encoded_len())?;
        let offset = frame.offset;
        self.end.segment =
            Arc::new(Segment::clone(&self.end.segment).with_stretch(&self.lineage, offset, lsn));
        let segment = Arc::clone(&self.end.segment);
        let extent = self.pending.last_mut().expect("a frame was begun");
        extent.segment = Arc::clone(&segment);
        let at = extent.offset + extent.bytes.len() as u32;
        self.crcs.clear();
        self.crcs.push(record.encode(segment.last_stretch().seed.at(at), &mut extent.bytes));
        self.finish_frame(frame, lsn, 0, true, FrameFlags::OPENING | FrameFlags::SYSTEM);
        self.stated = Some(l);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{BEFORE, KEY, LINEAGE, appender, geometry, put};
    use super::*;
    use crate::error::Error;

    //= spec/format.md#f-2-2-log-address
    //= type=test
    //# A writer MUST NOT open a segment whose addresses would not fit into 55 bits.
    #[test]
    fn no_segment_is_opened_whose_addresses_would_not_fit() {
        let (lineage, lsn) = ([7; 16], Lsn::new(1, 5));
        let geometry = Geometry::new(64, 512).expect("within bounds");
        let last = geometry.sequence_max();
        for (sequence, fits) in [(last - 1, true), (last, false)] {
            let segment = Arc::new(Segment::new(&lineage, geometry, sequence, 0, lsn));
            let end = LogEnd { segment, offset: geometry.segment_bytes(), lsn, reserved: [Some(1), Some(2)] };
            let free = FreeSegments::default();
            let mut appender = Appender::new(geometry, lineage, end, free, lsn, u32::MAX);
            let placed = appender.place_watermark();
            assert_eq!(placed.is_ok(), fits, "{placed:?}");
            assert!(fits || matches!(placed, Err(Error::LimitReached { .. })));
        }
    }

    #[cfg(feature = "seeded")]
    #[test]
    fn a_segment_beyond_all_addresses_goes_not_unnoticed() {
        use crate::seeded::{Bug, assert_noticed};
        assert_noticed(Bug::AddressesOverrun, no_segment_is_opened_whose_addresses_would_not_fit);
    }

    #[test]
    fn an_incarnation_has_room_as_long_as_a_commit_and_a_watermark_are_left() {
        for (count_max, is_left) in [(BEFORE.count() + 1, false), (BEFORE.count() + 2, true)] {
            let end = appender().end().clone();
            let log = Appender::new(geometry(), LINEAGE, end, FreeSegments::default(), BEFORE, count_max);
            assert_eq!(log.has_counts_left(), is_left, "{count_max}");
        }
    }

    #[test]
    fn commits_that_follow_each_other_wait_to_be_written_out_as_one() {
        let mut log = appender();
        for commits in 1..=3 {
            log.place(&mut put(KEY, 10)).expect("there is room");
            assert_eq!(log.pending().len(), 1, "{commits} commits");
        }
        assert_eq!(log.written(), BEFORE);
        log.written_out();
        log.handed_over();
        assert_eq!((log.written(), log.pending_bytes()), (log.end().lsn, 0));
        // The next begins a sector, so it does not go on where the last ended.
        let offset = log.end().offset;
        log.place(&mut put(KEY, 10)).expect("there is room");
        assert_eq!(log.pending().len(), 1);
        assert_eq!(log.pending()[0].offset, geometry().round_up_sector(offset));
        // The next segment is not a part of it.
        log.place(&mut put(KEY, 300)).expect("there is room");
        assert_eq!(log.pending().iter().map(|extent| extent.segment.sequence).collect::<Vec<_>>(), [0, 1]);
    }

    #[test]
    fn a_watermark_is_wanted_where_what_is_durable_was_not_stated_and_more_is_to_be() {
        let mut log = appender();
        let commit = |log: &mut Appender| log.place(&mut put(KEY, 10)).expect("there is room");
        commit(&mut log);
        assert!(!log.needs_watermark(), "it states all that is durable");
        log.written_out();
        log.handed_over();
        log.synced(log.end().lsn);
        assert!(!log.needs_watermark(), "nothing more is to be durable");
        commit(&mut log);
        assert!(!log.needs_watermark(), "it states it");
        let first = log.end().lsn;
        commit(&mut log);
        log.written_out();
        log.synced(first);
        assert!(log.needs_watermark());
        log.place_watermark().expect("there is room");
        assert!(!log.needs_watermark());
    }

    #[test]
    fn a_log_that_rolls_goes_on_in_the_next_segment() {
        let mut log = appender();
        log.place(&mut put(KEY, 10)).expect("there is room");
        let mark = log.mark();
        log.roll().expect("one is reserved");
        assert_eq!((log.end().segment.sequence, log.end().segment.physical), (1, 1));
        assert!(mark.ends_in(mark.segment()) && !mark.ends_in(&log.end().segment));
        let offset = log.end().offset;
        log.place(&mut put(KEY, 10)).expect("there is room");
        assert_eq!((log.end().segment.sequence, log.end().offset > offset), (1, true), "only once");
    }
}
