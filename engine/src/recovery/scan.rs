//! Follows the log, one commit at a time (spec: R-2). Pure but for reading: what the end means is decided elsewhere.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::cache::{Segment, SegmentTable};
use crate::error::{Clause, Corruption, Result};
use crate::format::frame::{FrameFlags, PARTS_MAX};
use crate::format::superblock::Superblock;
use crate::format::{Geometry, Lineage, Lsn};
use crate::log::LogEnd;
use crate::seeded::{self, Bug};
use crate::storage::FailStop;
use crate::sync::Arc;

use super::commit::{Commit, Part};
use super::image::{SegmentImage, Shared};
use super::refusal::{NO_OPENING, broken, newer};
use super::start::Start;

#[derive(Debug)]
pub(crate) struct Scan<'a> {
    pub(super) storage: &'a FailStop,
    pub(super) slot: &'a Superblock,
    pub(super) geometry: Geometry,
    pub(super) lineage: Lineage,
    pub(super) file_len: u64,
    read_unit: usize,
    /// The last accepted commit, L.
    pub(super) lsn: Lsn,
    /// The segment in which it ended, q.
    pub(super) image: Shared,
    segment: Arc<Segment>,
    /// The offset where it ended, X.
    pub(super) offset: u32,
    /// The segments that may come next; looked up once for each segment.
    successors: Option<Rc<[Shared]>>,
    highest_incarnation: u32,
    /// What was reserved for the first segment's successors, should its header be damaged.
    reserved_at_start: [Option<u32>; 2],
}

/// Which part of which commit is looked for.
#[derive(Debug, Clone, Copy)]
struct Wanted {
    lsn: Lsn,
    part: u16,
}

impl<'a> Scan<'a> {
    /// Stands where replay begins (spec: ).
    pub(super) fn begin(
        storage: &'a FailStop,
        slot: &'a Superblock,
        file_len: u64,
        read_unit: usize,
        start: &Start,
    ) -> Result<Self> {
        let (geometry, lineage) = (slot.geometry, slot.lineage);
        let segment = Arc::clone(&start.segment);
        let place = (segment.physical, segment.sequence);
        let image = SegmentImage::open(storage, geometry, &lineage, file_len, read_unit, place)?;
        let image = image.ok_or(Corruption {
            at: file_len,
            clause: Clause("F-2.3"),
            what: "the file ends before the segment in which replay begins",
            expected: geometry.segment_offset(segment.physical),
            found: file_len,
        })?;
        Ok(Scan {
            storage,
            slot,
            geometry,
            lineage,
            file_len,
            read_unit,
            lsn: start.lsn,
            reserved_at_start: start.reserved,
            image,
            segment,
            offset: start.offset,
            successors: None,
            highest_incarnation: slot.incarnation,
        })
    }

    pub(super) fn lsn(&self) -> Lsn {
        self.lsn
    }

    pub(super) fn offset(&self) -> u32 {
        self.offset
    }

    pub(super) fn file_offset(&self) -> u64 {
        self.image.file_offset(self.offset)
    }

    pub(super) fn highest_incarnation(&self) -> u32 {
        self.highest_incarnation.max(self.lsn.incarnation())
    }

    /// The segment that should have `sequence`, at `physical`.
    pub(super) fn open(&self, physical: u32, sequence: u64) -> Result<Option<Shared>> {
        let place = (physical, sequence);
        SegmentImage::open(self.storage, self.geometry, &self.lineage, self.file_len, self.read_unit, place)
    }

    //= spec/recovery.md#r-2-3-highest-incarnation
    //# Where several candidates hold a valid continuation, the reader MUST take the one of the highest
    //# incarnation.
    /// The commit that follows the last accepted one, or none.
    pub(super) fn next(&mut self) -> Result<Option<Commit>> {
        // spec. An opening frame has the higher incarnation, so it wins over a commit of the present one.
        if let Some(part) = self.opening()? {
            let lsn = self.opening_lsn(&part)?.expect("an opening frame was just read");
            return Ok(Some(Commit { lsn, parts: vec![part] }));
        }
        if self.lsn.count() == u32::MAX {
            // No commit but an opening frame follows there.
            return Ok(None);
        }
        if self.lsn.incarnation() == 0 {
            return self.nothing_of_incarnation_0();
        }
        self.parts(self.lsn.next())
    }

    //= spec/recovery.md#r-2-4-parts
    //# A reader MUST NOT accept any part of a commit before all of its parts, the part with LAST included, are
    //# valid.
    /// All parts of the commit `lsn`, or none where any of them is missing (spec: ).
    pub(super) fn parts(&mut self, lsn: Lsn) -> Result<Option<Commit>> {
        let mut parts: Vec<Part> = Vec::new();
        loop {
            let wanted = Wanted { lsn, part: parts.len() as u16 };
            let (image, end) = match parts.last() {
                Some(part) => (Rc::clone(&part.image), part.end),
                None => (Rc::clone(&self.image), self.offset),
            };
            let Some((part, last)) = self.part(&image, end, wanted)? else { return Ok(None) };
            parts.push(part);
            if last || seeded::is_on(Bug::FirstPartIsEnough) {
                return Ok(Some(Commit { lsn, parts }));
            }
            if parts.len() == PARTS_MAX {
                return Ok(None);
            }
        }
    }

    //= spec/recovery.md#r-1-2-start
    //# A reader MUST compare the whole LSN, incarnation included, from the first frame after the start on.
    //= spec/recovery.md#r-2-2-continuations
    //# A reader MUST NOT accept anything else as following L.
    /// The frame that holds the wanted part, behind `end` in `image`, and whether it is the last.
    fn part(&mut self, image: &Shared, end: u32, wanted: Wanted) -> Result<Option<(Part, bool)>> {
        for (image_there, offset) in self.candidates(image, end)? {
            let Some(header) = self.header(&image_there, offset)? else { continue };
            let first_of_segment = !Rc::ptr_eq(&image_there, image);
            let fits = image_there.header.as_ref().is_some_and(|segment| segment.first_lsn == wanted.lsn);
            if header.lsn != wanted.lsn || header.part != wanted.part || (first_of_segment && !fits) {
                continue;
            }
            if header.flags.contains(FrameFlags::OPENING) {
                // spec: F-6.5. An opening frame has count 1, and no other part.
                if header.flags.is_known() && self.frame(&image_there, offset, &header)?.is_some() {
                    return Err(broken(image_there.file_offset(offset), "F-6.5", NO_OPENING));
                }
                continue;
            }
            // spec: F-5.7. It continues the log, so it may not be skipped; what it asks for is not known here.
            if !header.flags.is_known() {
                return Err(newer(header.flags));
            }
            if let Some(part) = self.frame(&image_there, offset, &header)? {
                return Ok(Some((part, header.last)));
            }
        }
        Ok(None)
    }

    /// The places where the frame behind `end` may begin (spec: ).
    pub(super) fn candidates(&mut self, image: &Shared, end: u32) -> Result<Vec<(Shared, u32)>> {
        let mut places = Vec::with_capacity(3);
        let near = self.geometry.place(end);
        let aligned = self.geometry.place(self.geometry.round_up_sector(end));
        places.extend(near.map(|offset| (Rc::clone(image), offset)));
        places.extend(aligned.filter(|_| aligned != near).map(|offset| (Rc::clone(image), offset)));
        for next in self.successors_of(image)?.iter() {
            let header = next.header.as_ref();
            let is_behind = header.is_some_and(|header| header.prev_end == end);
            if is_behind || seeded::is_on(Bug::PredecessorEndIgnored) {
                places.push((Rc::clone(next), self.geometry.data_start()));
            }
        }
        Ok(places)
    }

    /// The segments behind `image`, with valid headers of the right sequence: where none is named, a life that came to nothing may have left one
    /// beside that of the next life (spec: ).
    fn successors_of(&mut self, image: &Shared) -> Result<Rc<[Shared]>> {
        let of_current = Rc::ptr_eq(image, &self.image);
        if of_current && let Some(known) = &self.successors {
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
        if of_current {
            self.successors = Some(Rc::clone(&found));
        }
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
        for physical in 0..self.geometry.segments_within(self.file_len) {
            found.extend(self.open(physical, sequence)?.filter(|image| image.header.is_some()));
        }
        Ok(found)
    }

    /// Enters the segments and stretches that `commit` begins into the table.
    pub(super) fn note_segments(&mut self, commit: &Commit, segments: &SegmentTable) {
        for part in &commit.parts {
            if part.image.sequence != self.segment.sequence {
                let place = (part.image.sequence, part.image.physical);
                self.segment =
                    Arc::new(Segment::new(&self.lineage, self.geometry, place.0, place.1, commit.lsn));
            } else if part.opening {
                self.segment = Arc::new(self.segment.with_stretch(&self.lineage, part.offset, commit.lsn));
            }
            segments.put(Arc::clone(&self.segment));
        }
    }

    /// The commit counts: the log goes on behind it.
    pub(super) fn accept(&mut self, commit: &Commit) {
        assert!(commit.lsn > self.lsn, "LSNs only grow: {} after {}", commit.lsn, self.lsn);
        self.lsn = commit.lsn;
        let last = commit.last();
        self.offset = last.end;
        if !Rc::ptr_eq(&self.image, &last.image) {
            self.image = Rc::clone(&last.image);
            self.successors = None;
        }
    }

    /// Where a writer goes on.
    pub(super) fn into_end(self, held: &BTreeSet<u32>) -> Result<LogEnd> {
        self.check_reserved(self.reserved_by(&self.image), held)?;
        Ok(self.into_end_to_read())
    }

    /// The same for who writes nothing there.
    pub(super) fn into_end_to_read(self) -> LogEnd {
        let reserved = self.reserved_by(&self.image);
        LogEnd { segment: self.segment, offset: self.offset, lsn: self.lsn, reserved }
    }

    //= spec/recovery.md#r-8-1-what-holds-a-place
    //# A reader MUST report corruption when a reservation of the last log segment names an index that
    //# something else holds, when both name one, and when one is above 4n + 64, where the file has room for n
    //# segments, the one in which it ends included: a writer would write over what is in use, or fill the
    //# disk.
    /// A writer will place what comes next where the last header says. A checksum vouches for the header's bytes, not for its
    /// maker: an index that the log has in use would be written over, and one far beyond the end would fill the disk. What was reserved while
    /// the file was longer, as a power cut shows that may come in the midst of its growth, is not far.
    fn check_reserved(&self, reserved: [Option<u32>; 2], held: &BTreeSet<u32>) -> Result<()> {
        // spec: F-4.3
        let within = self.geometry.segments_within(self.file_len);
        let last = within.saturating_mul(RESERVED_FACTOR).saturating_add(RESERVED_SPARE);
        let [next, after] = reserved;
        let wrong =
            reserved.into_iter().flatten().find(|physical| *physical > last || held.contains(physical));
        match wrong.or(after.filter(|_| next == after)) {
            None => Ok(()),
            Some(physical) => Err(Corruption {
                at: self.image.file_offset(0),
                clause: Clause("R-8.1"),
                what: "a segment reserves what is in use, or lies far beyond the end of the file",
                expected: u64::from(last),
                found: u64::from(physical),
            }
            .into()),
        }
    }
}

/// A checkpoint, its successor and the log may all have been placed in the growth that was lost.
const RESERVED_FACTOR: u32 = 4;
const RESERVED_SPARE: u32 = 64;
