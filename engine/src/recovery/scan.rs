//! Follows the log, one commit at a time (spec: R-2). Pure but for reading: what the end means is decided elsewhere.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::cache::{Segment, SegmentTable};
use crate::error::{Corruption, Result};
use crate::format::frame::FrameFlags;
use crate::format::{Geometry, Lsn};
use crate::log::{FrameCursor, LogEnd};
use crate::seeded::{self, Bug};
use crate::sync::Arc;

use super::commit::{Commit, Part};
use super::file::File;
use super::image::{SegmentImage, Shared};
use super::start::Start;

#[derive(Debug)]
pub(crate) struct Scan<'a> {
    pub(super) file: File<'a>,
    pub(super) geometry: Geometry,
    read_unit: usize,
    /// Behind the last accepted commit, L, in the segment q, at the offset X.
    cursor: FrameCursor<Shared>,
    segment: Arc<Segment>,
    /// The segments that may come behind one; looked up once for each segment.
    successors: Option<(Shared, Rc<[Shared]>)>,
    highest_incarnation: u32,
    /// What was reserved for the first segment's successors, should its header be damaged.
    reserved_at_start: [Option<u32>; 2],
}

impl<'a> Scan<'a> {
    /// Stands where replay begins (spec: ).
    pub(super) fn begin(file: File<'a>, read_unit: usize, start: &Start) -> Result<Self> {
        let geometry = file.slot.geometry;
        let segment = Arc::clone(&start.end.segment);
        let image = SegmentImage::open(file, read_unit, (segment.physical, segment.sequence))?;
        let image = image.ok_or(
            Corruption::new(file.len, "F-2.3", "the file ends before the segment in which replay begins")
                .comparing(geometry.segment_offset(segment.physical), file.len),
        )?;
        Ok(Scan {
            file,
            geometry,
            read_unit,
            cursor: FrameCursor::behind_commit(geometry, image, start.end.offset, start.end.lsn),
            reserved_at_start: start.end.reserved,
            segment,
            successors: None,
            highest_incarnation: file.slot.incarnation,
        })
    }

    pub(super) fn lsn(&self) -> Lsn {
        self.cursor.lsn
    }

    pub(super) fn image(&self) -> &Shared {
        &self.cursor.segment
    }

    pub(super) fn offset(&self) -> u32 {
        self.cursor.offset
    }

    pub(super) fn file_offset(&self) -> u64 {
        self.image().file_offset(self.offset())
    }

    pub(super) fn highest_incarnation(&self) -> u32 {
        self.highest_incarnation.max(self.lsn().incarnation())
    }

    /// The segment that should have `sequence`, at `physical`.
    pub(super) fn open(&self, physical: u32, sequence: u64) -> Result<Option<Shared>> {
        SegmentImage::open(self.file, self.read_unit, (physical, sequence))
    }

    //= spec/recovery.md#r-2-2-continuations
    //# A reader MUST report corruption when all parts of a commit of incarnation 0 that would follow L are valid.
    //= spec/recovery.md#r-2-4-parts
    //# A reader MUST NOT accept any part of a commit before all of its parts, the part with LAST included, are
    //# valid.
    /// The commit that follows the last accepted one; none where any part of it is missing.
    pub(super) fn next(&mut self) -> Result<Option<Commit>> {
        let mut cursor = self.cursor.clone();
        let mut parts: Vec<Part> = Vec::new();
        loop {
            let Some(part) = cursor.next(self)? else { return Ok(None) };
            cursor.pass(&part);
            parts.push(part);
            if !cursor.is_within_commit() || seeded::is_on(Bug::FirstPartIsEnough) {
                break;
            }
        }
        if cursor.lsn.incarnation() == 0 {
            return Err(parts[0].broken("R-2.2", "a commit of incarnation 0, which has none"));
        }
        Ok(Some(Commit { lsn: cursor.lsn, parts }))
    }

    /// The segments behind `image`, with valid headers of the right sequence: where none is named, a life that came to nothing may have left one
    /// beside that of the next life (spec: ).
    pub(super) fn successors_of(&mut self, image: &Shared) -> Result<Rc<[Shared]>> {
        if let Some((of, known)) = &self.successors
            && Rc::ptr_eq(of, image)
        {
            return Ok(Rc::clone(known));
        }
        let sequence = image.sequence + 1;
        // The header of segment q was valid when the log entered it; only segment 0 of a new store is entered by its place.
        let found: Rc<[Shared]> = match self.reserved_by(image)[0] {
            Some(physical) => {
                self.open(physical, sequence)?.filter(|next| next.header.is_some()).into_iter().collect()
            }
            None => {
                let mut found = self.find_anywhere(sequence)?;
                if seeded::is_on(Bug::FirstSuccessorAlone) {
                    found.truncate(1);
                }
                found.into()
            }
        };
        self.successors = Some((Rc::clone(image), Rc::clone(&found)));
        Ok(found)
    }

    /// The physical indexes reserved for the successor of a segment and for the one after: as its header says; where the header of the
    /// segment in which replay began is damaged, as that start says.
    pub(super) fn reserved_by(&self, image: &SegmentImage) -> [Option<u32>; 2] {
        match &image.header {
            Some(header) => [header.next, header.after],
            // Every other segment was entered by its header.
            None => self.reserved_at_start,
        }
    }

    /// Looks at every physical index of the file for log segments of `sequence`.
    pub(super) fn find_anywhere(&self, sequence: u64) -> Result<Vec<Shared>> {
        let mut found = Vec::new();
        for physical in 0..self.geometry.segments_within(self.file.len) {
            found.extend(self.open(physical, sequence)?.filter(|image| image.header.is_some()));
        }
        Ok(found)
    }

    /// Enters the segments and stretches that `commit` begins into the table.
    pub(super) fn note_segments(&mut self, commit: &Commit, segments: &SegmentTable) {
        let lineage = &self.file.slot.lineage;
        for part in &commit.parts {
            let place = (part.segment.sequence, part.segment.physical);
            if place.0 != self.segment.sequence {
                self.segment = Arc::new(Segment::new(lineage, self.geometry, place.0, place.1, commit.lsn));
            } else if part.frame.header.flags.contains(FrameFlags::OPENING) {
                let segment = Segment::clone(&self.segment);
                self.segment = Arc::new(segment.with_stretch(lineage, part.frame.offset, commit.lsn));
            } else {
                continue;
            }
            segments.put(Arc::clone(&self.segment));
        }
    }

    /// The commit counts: the log goes on behind it.
    pub(super) fn accept(&mut self, commit: &Commit) {
        assert!(commit.lsn > self.lsn(), "LSNs only grow: {} after {}", commit.lsn, self.lsn());
        let last = commit.last();
        let (image, end) = (Rc::clone(&last.segment), last.frame.end());
        self.cursor = FrameCursor::behind_commit(self.geometry, image, end, commit.lsn);
    }

    /// Where the log goes on.
    pub(super) fn into_end(self) -> LogEnd {
        let reserved = self.reserved_by(self.image());
        LogEnd { offset: self.offset(), lsn: self.lsn(), segment: self.segment, reserved }
    }

    //= spec/recovery.md#r-8-1-what-holds-a-place
    //# A reader MUST report corruption when a reservation of the last log segment names an index that
    //# something else holds, when both name one, and when one is above 4n + 64, where the file has room for n
    //# segments, the one in which it ends included: a writer would write over what is in use, or fill the
    //# disk.
    /// A writer will place what comes next where the last header says. A checksum vouches for the header's bytes, not for its
    /// maker: an index that the log has in use would be written over, and one far beyond the end would fill the disk. What was reserved while
    /// the file was longer, as a power cut shows that may come in the midst of its growth, is not far.
    pub(super) fn check_reserved(&self, held: &BTreeSet<u32>) -> Result<()> {
        // spec: F-4.3
        let within = self.geometry.segments_within(self.file.len);
        let last = within.saturating_mul(RESERVED_FACTOR).saturating_add(RESERVED_SPARE);
        let reserved = self.reserved_by(self.image());
        let [next, after] = reserved;
        let wrong =
            reserved.into_iter().flatten().find(|physical| *physical > last || held.contains(physical));
        match wrong.or(after.filter(|_| next == after)) {
            None => Ok(()),
            Some(physical) => {
                let what = "a segment reserves what is in use, or lies far beyond the end of the file";
                let wrong = Corruption::new(self.image().file_offset(0), "R-8.1", what);
                Err(wrong.comparing(last.into(), physical.into()).into())
            }
        }
    }
}

/// A checkpoint, its successor and the log may all have been placed in the growth that was lost.
const RESERVED_FACTOR: u32 = 4;
const RESERVED_SPARE: u32 = 64;
