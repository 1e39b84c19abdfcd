//! Pages one behind the other in segments, under their headers (F-8.1, F-4.1).

use super::pointer::PagePointer;
use crate::error::{Error, Result};
use crate::format::page::{PAGE_HEADER_LEN, PageHeader};
use crate::format::segment::{SegmentHeader, SegmentKind};
use crate::format::{Geometry, Lineage, Lsn, round_up_8};

/// Bytes are handed down when so many have come together, whatever the length of a segment.
const PIECE_LEN: usize = 256 * 1024;

/// Where a checkpoint is written.
pub trait PageSink {
    /// Takes a segment for the checkpoint: its physical index, which nothing else uses, within the file.
    ///
    /// # Errors
    /// Those of the disk. The checkpoint is then given up.
    fn allocate(&mut self) -> Result<u32>;

    /// Writes `bytes` at offset `at` in the file, within a segment allocated before. No byte is written twice.
    ///
    /// # Errors
    /// Those of the disk. The checkpoint is then given up.
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> Result<()>;
}

/// Places pages, in segments that it asks for as it needs them.
#[derive(Debug, Clone)]
pub(super) struct SegmentWriter {
    geometry: Geometry,
    lineage: Lineage,
    lsn: Lsn,
    durable: Lsn,
    /// All segments, by their sequence in the checkpoint; those from `begun` on are reserved.
    segments: Vec<u32>,
    begun: usize,
    /// What is not handed down yet of the segment begun last.
    buffer: Vec<u8>,
    /// Where in that segment the buffer begins.
    buffer_start: u32,
    pages: u32,
    bytes: u64,
}

impl SegmentWriter {
    pub(super) fn new(geometry: Geometry, lineage: &Lineage, lsn: Lsn, durable: Lsn) -> Self {
        assert!(lsn > Lsn::ZERO, "LSN 0 stands for: no checkpoint");
        SegmentWriter {
            geometry,
            lineage: *lineage,
            lsn,
            durable,
            segments: Vec::new(),
            begun: 0,
            buffer: Vec::new(),
            buffer_start: 0,
            pages: 0,
            bytes: 0,
        }
    }

    /// How long a page is at most that has more than one entry.
    pub(super) fn page_len(&self) -> usize {
        self.geometry.page_len_written()
    }

    /// How long one may be that holds an entry which cannot be divided.
    pub(super) fn page_len_max(&self) -> usize {
        self.geometry.page_len_max()
    }

    pub(super) fn lsn(&self) -> Lsn {
        self.lsn
    }

    pub(super) fn segments(&self) -> &[u32] {
        &self.segments
    }

    pub(super) fn pages(&self) -> u32 {
        self.pages
    }

    /// How many bytes were placed, headers and padding included.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The segments that are to hold pages of `lens`, placed next in this order, beside those that there are.
    pub(super) fn needed_for(&self, lens: impl IntoIterator<Item = usize>) -> usize {
        let mut end = if self.begun == 0 { None } else { Some(self.end()) };
        let mut needed = 0;
        for len in lens {
            let start = end.and_then(|end| self.place(end, len));
            needed += usize::from(start.is_none());
            end = Some(start.unwrap_or(self.geometry.data_start()) + len as u32);
        }
        needed
    }

    /// Allocates `count` segments before they are needed, so that they can be named.
    pub(super) fn reserve(&mut self, sink: &mut impl PageSink, count: usize) -> Result<()> {
        for _ in 0..count {
            self.segments.push(sink.allocate()?);
        }
        Ok(())
    }

    /// Places a page whose fences are as long as `header` says; its number is given here. Returns where it is, and its
    /// checksum.
    pub(super) fn page(
        &mut self,
        sink: &mut impl PageSink,
        header: PageHeader,
        parts: [&[u8]; 3],
    ) -> Result<(PagePointer, u32)> {
        let len = PAGE_HEADER_LEN + parts.iter().map(|part| part.len()).sum::<usize>();
        assert!(len <= self.page_len_max(), "a page of {len} bytes is longer than a page may be");
        let start = if self.begun == 0 { None } else { self.place(self.end(), len) };
        let offset = match start {
            Some(offset) => offset,
            None => self.begin_segment(sink)?,
        };
        let number = self.pages;
        let too_many = Error::LimitReached { what: "pages of a checkpoint" };
        self.pages = self.pages.checked_add(1).ok_or(too_many)?;
        let padded = (offset - self.buffer_start) as usize;
        self.bytes += (padded - self.buffer.len() + len) as u64;
        self.buffer.resize(padded + PAGE_HEADER_LEN, 0);
        parts.iter().for_each(|part| self.buffer.extend_from_slice(part));
        let crc = PageHeader { number, ..header }.seal(&mut self.buffer[padded..], &self.lineage, self.lsn);
        if self.buffer.len() >= PIECE_LEN {
            self.hand_down(sink)?;
        }
        Ok((PagePointer { number, physical: self.segments[self.begun - 1], offset }, crc))
    }

    /// Hands down what is left.
    pub(super) fn hand_down(&mut self, sink: &mut impl PageSink) -> Result<()> {
        let Some(&physical) = self.segments[..self.begun].last() else { return Ok(()) };
        let at = self.geometry.segment_offset(physical) + u64::from(self.buffer_start);
        sink.write_at(at, &self.buffer)?;
        self.buffer_start = self.end();
        self.buffer.clear();
        Ok(())
    }

    /// Where the last page ended.
    fn end(&self) -> u32 {
        self.buffer_start + self.buffer.len() as u32
    }

    /// The offset of a page of `len` bytes behind what ended at `end`, if the segment has room for it.
    fn place(&self, end: u32, len: usize) -> Option<u32> {
        // spec: F-8.1.
        let offset = round_up_8(end);
        (offset as usize + len <= self.geometry.segment_bytes() as usize).then_some(offset)
    }

    /// Begins the next segment. Returns the offset of its first page.
    fn begin_segment(&mut self, sink: &mut impl PageSink) -> Result<u32> {
        self.hand_down(sink)?;
        if self.begun == self.segments.len() {
            self.segments.push(sink.allocate()?);
        }
        // spec: F-4.1, F-4.2.
        let header = SegmentHeader {
            kind: SegmentKind::Checkpoint,
            sequence: self.begun as u64,
            first_lsn: self.lsn,
            durable_lsn: self.durable,
            prev_end: 0,
            next: None,
            after: None,
        };
        self.buffer.extend_from_slice(&header.encode(&self.lineage, self.segments[self.begun]));
        self.buffer.resize(self.geometry.data_start() as usize, 0);
        self.bytes += self.buffer.len() as u64;
        self.buffer_start = 0;
        self.begun += 1;
        Ok(self.geometry.data_start())
    }
}
