//! Index records one behind the other in index segments (F-8.11, F-4.1).

use std::collections::{BTreeMap, BTreeSet};

use super::records::IndexSource;
use crate::error::Result;
use crate::format::index_record::{IndexPlace, IndexRecord, IndexRecordKind, Reference};
use crate::format::segment::{SegmentHeader, SegmentKind};
use crate::format::{Geometry, Lineage, Lsn, round_up_8};
use crate::seeded::{self, Bug};

/// Bytes are handed down when so many have come together, whatever the length of a segment.
const PIECE_LEN: usize = 256 * 1024;

/// Where a checkpoint writes its records, and reads leaves of its base to compare them.
pub trait IndexSink: IndexSource {
    /// Takes a segment for index records: its physical index, which nothing else uses, within the file.
    ///
    /// # Errors
    /// Those of the disk. The checkpoint is then given up.
    fn allocate(&mut self) -> Result<u32>;

    /// Writes `bytes` at offset `at` in the file, within an index segment. No byte is written twice.
    ///
    /// # Errors
    /// Those of the disk. The checkpoint is then given up.
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> Result<()>;
}

/// The index segment to which the next record is appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct OpenSegment {
    /// Its physical index.
    pub physical: u32,
    /// The offset where its last record ended.
    pub end: u32,
    /// LSN of its first checkpoint.
    pub first_lsn: Lsn,
}

/// A checkpoint in the making. It holds no sink, so that a long one can be written in steps while other work uses the file.
#[derive(Debug, Clone)]
pub struct IndexWriter {
    geometry: Geometry,
    lineage: Lineage,
    lsn: Lsn,
    durable: Lsn,
    /// The buffer included.
    open: Option<OpenSegment>,
    /// The segments that it took.
    taken: Vec<u32>,
    /// The segments in which its records stand, those that it took over among them, and how many bytes of each are its own.
    segments: BTreeMap<u32, u64>,
    /// Segments that nothing is taken over from.
    left: BTreeSet<u32>,
    /// What is not handed down yet of the open segment.
    buffer: Vec<u8>,
    bytes: u64,
}

/// A checkpoint in the making, and where its records go.
#[derive(Debug)]
pub struct Output<'o, S> {
    /// What places the records.
    pub writer: &'o mut IndexWriter,
    /// Where they go.
    pub sink: &'o mut S,
}

impl IndexWriter {
    /// Begins the checkpoint at `lsn`, when all up to `durable` was durable, behind what stands in `open`.
    ///
    /// # Panics
    /// If `lsn` is zero.
    #[must_use]
    pub fn new(
        geometry: Geometry,
        lineage: &Lineage,
        lsn: Lsn,
        durable: Lsn,
        open: Option<OpenSegment>,
    ) -> Self {
        assert!(lsn > Lsn::ZERO, "LSN 0 stands for: no checkpoint");
        //= spec/format.md#f-8-11-index-records
        //# All checkpoints whose records stand in one index segment MUST be of one incarnation, and of LSNs that grow
        //# in the order of places.
        let open = open.filter(|open| open.first_lsn.incarnation() == lsn.incarnation());
        IndexWriter {
            geometry,
            lineage: *lineage,
            lsn,
            durable,
            open,
            taken: Vec::new(),
            segments: BTreeMap::new(),
            left: BTreeSet::new(),
            buffer: Vec::new(),
            bytes: 0,
        }
    }

    /// Nothing is taken over from these segments.
    #[must_use]
    pub fn leaving(self, left: BTreeSet<u32>) -> Self {
        IndexWriter { left, ..self }
    }

    pub(super) fn geometry(&self) -> Geometry {
        self.geometry
    }

    pub(super) fn lsn(&self) -> Lsn {
        self.lsn
    }

    /// The segments in which its records stand so far, and how many bytes of each are its own.
    #[must_use]
    pub fn segments(&self) -> &BTreeMap<u32, u64> {
        &self.segments
    }

    /// Whether the record may become one of this checkpoint.
    pub(super) fn may_take_over(&self, reference: Reference) -> bool {
        !self.left.contains(&reference.physical)
    }

    /// The record is one of this checkpoint from here on.
    pub(super) fn take_over(&mut self, reference: Reference) {
        *self.segments.entry(reference.physical).or_default() += u64::from(round_up_8(reference.len));
    }

    /// The segments that it took: what to give back where the checkpoint is given up.
    #[must_use]
    pub fn taken(&self) -> &[u32] {
        &self.taken
    }

    /// How many bytes were placed so far, headers and padding included.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The segment that the next checkpoint may go on in.
    #[must_use]
    pub fn open(&self) -> Option<OpenSegment> {
        self.open
    }

    /// Places a record.
    pub(super) fn record(
        &mut self,
        sink: &mut impl IndexSink,
        kind: IndexRecordKind,
        collection: u32,
        body: &[u8],
    ) -> Result<Reference> {
        let mut record = IndexRecord { kind, collection, commit: 0, body };
        let max = self.geometry.index_record_len_max();
        assert!(record.encoded_len() as usize <= max, "an index record of at most {max} bytes");
        let (open, offset) = match self.place(record) {
            Some(place) => place,
            None => (self.begin_segment(sink)?, self.geometry.data_start()),
        };
        record.commit = self.commit(open).into();
        let gap = offset - open.end;
        if !self.buffer.is_empty() {
            self.buffer.resize(self.buffer.len() + gap as usize, 0);
        }
        let place = IndexPlace { lineage: &self.lineage, physical: open.physical, offset, lsn: self.lsn };
        let before = self.buffer.len();
        let crc = record.encode(&place, &mut self.buffer);
        let len = (self.buffer.len() - before) as u32;
        self.bytes += u64::from(gap + len);
        *self.segments.entry(open.physical).or_default() += u64::from(gap + len);
        self.open = Some(OpenSegment { end: offset + len, ..open });
        if self.buffer.len() >= PIECE_LEN {
            self.hand_down(sink)?;
        }
        Ok(Reference { physical: open.physical, offset, len, crc })
    }

    fn commit(&self, open: OpenSegment) -> u32 {
        self.lsn.count() - open.first_lsn.count()
    }

    //= spec/format.md#f-8-11-index-records
    //# The first record of a checkpoint in a segment MUST begin at a sector boundary, so that no sector has
    //# bytes of two checkpoints. A writer MUST NOT write again to a sector that holds a record of a checkpoint
    //# which a slot names.
    /// The offset of a record in the open segment, if that has room for it.
    fn place(&self, record: IndexRecord<'_>) -> Option<(OpenSegment, u32)> {
        let open = self.open?;
        let offset = self.next_offset(open);
        let record = IndexRecord { commit: self.commit(open).into(), ..record };
        let end = u64::from(offset) + u64::from(record.encoded_len());
        (end <= self.geometry.segment_bytes().into()).then_some((open, offset))
    }

    /// How long a record may be that goes into the open segment.
    pub(super) fn left(&self) -> usize {
        let left = |open: OpenSegment| self.geometry.segment_bytes().saturating_sub(self.next_offset(open));
        self.open.map_or(0, left) as usize
    }

    /// Where the next record begins in the open segment.
    fn next_offset(&self, open: OpenSegment) -> u32 {
        let is_first = self.bytes == 0 && !seeded::is_on(Bug::SectorOfTwoCheckpoints);
        if is_first { self.geometry.round_up_sector(open.end) } else { round_up_8(open.end) }
    }

    /// Hands down what is left.
    pub(super) fn hand_down(&mut self, sink: &mut impl IndexSink) -> Result<()> {
        let Some(open) = self.open.filter(|_| !self.buffer.is_empty()) else { return Ok(()) };
        let end = self.geometry.segment_offset(open.physical) + u64::from(open.end);
        sink.write_at(end - self.buffer.len() as u64, &self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    /// Begins another segment.
    fn begin_segment(&mut self, sink: &mut impl IndexSink) -> Result<OpenSegment> {
        self.hand_down(sink)?;
        let physical = sink.allocate()?;
        self.taken.push(physical);
        // spec: F-4.1, F-4.2.
        let header = SegmentHeader {
            kind: SegmentKind::Index,
            sequence: 0,
            first_lsn: self.lsn,
            durable_lsn: self.durable,
            prev_end: 0,
            next: None,
            after: None,
        };
        self.buffer.extend_from_slice(&header.encode(&self.lineage, physical));
        self.buffer.resize(self.geometry.data_start() as usize, 0);
        self.bytes += self.buffer.len() as u64;
        self.segments.insert(physical, self.buffer.len() as u64);
        let open = OpenSegment { physical, end: self.geometry.data_start(), first_lsn: self.lsn };
        self.open = Some(open);
        Ok(open)
    }
}
