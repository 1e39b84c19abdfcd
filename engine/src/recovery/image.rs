//! One segment as recovery sees it: read from the front, no further than anybody asked.

use std::cell::{Ref, RefCell};
use std::rc::Rc;

use crate::error::Result;
use crate::format::frame::SegmentSeed;
use crate::format::segment::SegmentHeader;
use crate::storage::FailStop;

use super::file::File;

/// A segment image is shared by the scan and the parts of the commit that it is looking at.
pub(crate) type Shared = Rc<SegmentImage>;

/// How many bytes of a segment are read first. Each later read doubles what there is; all take more where more is asked for, and at most the
/// plan's read unit.
const FIRST_READ_LEN: usize = 4096;

#[derive(Debug)]
pub(crate) struct SegmentImage {
    pub(super) physical: u32,
    /// The sequence that the segment has, or should have.
    pub(super) sequence: u64,
    /// Its header, where that is valid for the sequence.
    pub(super) header: Option<SegmentHeader>,
    pub(super) seed: SegmentSeed,
    at: u64,
    /// Bytes of the segment that lie within the file (spec: ).
    limit: usize,
    read_unit: usize,
    bytes: RefCell<Vec<u8>>,
}

impl SegmentImage {
    //= spec/recovery.md#r-1-3-bytes-beyond-the-end
    //# Bytes of a segment that lie beyond the end of the file MUST be treated as absent: no frame that
    //# extends into them is valid.
    /// Reads the header of the segment at `physical`, which should have `sequence`. None where the segment begins
    /// beyond the end of the file.
    pub(super) fn open(
        file: File<'_>,
        read_unit: usize,
        (physical, sequence): (u32, u64),
    ) -> Result<Option<Shared>> {
        let (geometry, lineage) = (file.slot.geometry, &file.slot.lineage);
        let at = geometry.segment_offset(physical);
        if at >= file.len {
            return Ok(None);
        }
        let mut image = SegmentImage {
            physical,
            sequence,
            header: None,
            seed: SegmentSeed::for_segment(lineage, sequence),
            at,
            limit: (file.len - at).min(u64::from(geometry.segment_bytes())) as usize,
            read_unit,
            bytes: RefCell::default(),
        };
        let have = image.need(file.storage, geometry.data_start() as usize)?;
        if have {
            let header = SegmentHeader::parse(&image.bytes(), lineage, physical);
            image.header = header.filter(|header| header.sequence == sequence);
        }
        Ok(Some(Rc::new(image)))
    }

    /// Reads on, so that the first `len` bytes are there. False where the segment, or the file, ends before.
    pub(super) fn need(&self, storage: &FailStop, len: usize) -> Result<bool> {
        let mut bytes = self.bytes.borrow_mut();
        if len > self.limit {
            return Ok(false);
        }
        while bytes.len() < len {
            let have = bytes.len();
            // Of most segments little is asked: the header, or that and the first frames.
            let unit = have.max(FIRST_READ_LEN).max(len - have).min(self.read_unit);
            let to = (have + unit).min(self.limit);
            bytes.resize(to, 0);
            let read = storage.read_full(self.at + have as u64, &mut bytes[have..])?;
            if read < to - have {
                // Shorter than it just said it was: what is missing counts as absent.
                bytes.truncate(have + read);
                return Ok(bytes.len() >= len);
            }
        }
        Ok(true)
    }

    /// What was read so far, from the segment's first byte on.
    pub(super) fn bytes(&self) -> Ref<'_, Vec<u8>> {
        self.bytes.borrow()
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// The place of `offset` in the file.
    pub(super) fn file_offset(&self, offset: u32) -> u64 {
        self.at + u64::from(offset)
    }
}
