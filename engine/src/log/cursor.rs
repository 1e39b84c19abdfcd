//! Which frame follows another (spec: R-2): one rule, for opening, feed, cleaner, `verify`, `salvage` and `inspect`.

use crate::error::{Corruption, Error, Result};
use crate::format::frame::{Frame, FrameFlags, FrameHeader};
use crate::format::superblock::newer;
use crate::format::{Geometry, LogAddress, Lsn};
use crate::seeded::{self, Bug};

/// What a cursor reads frames from.
pub(crate) trait Frames {
    /// A log segment.
    type Segment: Clone;
    /// What is known of a valid frame beside its header.
    type Body;

    fn sequence(&self, segment: &Self::Segment) -> u64;

    /// The place of an offset of a segment in the file.
    fn file_offset(&self, segment: &Self::Segment, offset: u32) -> u64;

    /// The segments that may come behind one whose last frame ended at `end`, each with its first LSN.
    fn successors(&mut self, segment: &Self::Segment, end: u32) -> Result<Vec<(Self::Segment, Lsn)>>;

    /// Whether a frame that [may open](may_open) an incarnation may begin here. It is asked of every place, so it reads nothing that
    /// the commits themselves do not need.
    fn may_open(&self, segment: &Self::Segment, offset: u32, above: u32) -> Result<bool>;

    /// The header of the frame here, if its checksum holds.
    fn header(&self, segment: &Self::Segment, offset: u32) -> Result<Option<FrameHeader>>;

    /// The body of a frame, if that is valid (spec: F-5.7).
    fn body(&self, segment: &Self::Segment, frame: &Frame) -> Result<Option<Self::Body>>;

    /// L and E as a valid frame with the opening flag names them.
    fn named(&self, opening: &Met<Self::Segment, Self::Body>) -> Result<Option<(Lsn, LogAddress)>>;
}

/// A frame that follows, and where it was found.
#[derive(Debug, Clone)]
pub(crate) struct Met<S, B> {
    pub(crate) segment: S,
    pub(crate) frame: Frame,
    pub(crate) body: B,
}

/// How far a reader of frames has come.
#[derive(Debug, Clone)]
pub(crate) struct FrameCursor<S> {
    geometry: Geometry,
    /// Where the last frame ended.
    pub(crate) segment: S,
    pub(crate) offset: u32,
    /// The commit of that frame; before the first frame of a stretch, the commit of that.
    pub(crate) lsn: Lsn,
    wanted: Wanted,
}

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// The first frame of a stretch: the commit may have begun before.
    First,
    /// This part of the same commit.
    Part(u16),
    /// Another commit, or an opening frame.
    Commit,
}

impl<S: Clone> FrameCursor<S> {
    /// Stands before the first frame of a stretch, which has this LSN.
    pub(crate) fn before_stretch(geometry: Geometry, segment: S, offset: u32, lsn: Lsn) -> Self {
        FrameCursor { geometry, segment, offset, lsn, wanted: Wanted::First }
    }

    /// Stands where the commit `lsn` ended.
    pub(crate) fn behind_commit(geometry: Geometry, segment: S, offset: u32, lsn: Lsn) -> Self {
        FrameCursor { geometry, segment, offset, lsn, wanted: Wanted::Commit }
    }

    /// Whether a part of the commit is still to come.
    pub(crate) fn is_within_commit(&self) -> bool {
        self.wanted != Wanted::Commit
    }

    /// Goes behind `met`.
    pub(crate) fn pass<B>(&mut self, met: &Met<S, B>) {
        let header = &met.frame.header;
        self.segment = met.segment.clone();
        self.offset = met.frame.end();
        self.lsn = header.lsn;
        self.wanted = if header.last { Wanted::Commit } else { Wanted::Part(header.part + 1) };
    }

    //= spec/recovery.md#r-1-2-start
    //# A reader MUST compare the whole LSN, incarnation included, from the first frame after the start on.
    //= spec/recovery.md#r-2-2-continuations
    //# A reader MUST NOT accept anything else as following L.
    /// The frame that comes next; none where the log does not go on.
    pub(crate) fn next<F: Frames<Segment = S>>(&self, frames: &mut F) -> Result<Option<Met<S, F::Body>>> {
        let candidates = self.candidates(frames)?;
        let (lsn, part) = match self.wanted {
            Wanted::First => (self.lsn, None),
            Wanted::Part(part) => (self.lsn, Some(part)),
            // spec. An opening frame has the higher incarnation, so it wins over a commit of the present one.
            Wanted::Commit => match self.opening(frames, &candidates)? {
                // No commit but an opening frame follows the last count of an incarnation.
                None if self.lsn.count() < u32::MAX => (self.lsn.next(), Some(0)),
                opening => return Ok(opening),
            },
        };
        for (segment, offset, first_lsn) in candidates {
            let Some(header) = frames.header(&segment, offset)? else { continue };
            if header.lsn != lsn
                || part.is_some_and(|part| part != header.part)
                || first_lsn.is_some_and(|first| first != lsn)
            {
                continue;
            }
            let frame = Frame { offset, header };
            if part.is_some() && header.flags.contains(FrameFlags::OPENING) {
                // spec: F-6.5. An opening frame has count 1, and no other part.
                if header.flags.is_known() && frames.body(&segment, &frame)?.is_some() {
                    return Err(broken(frames.file_offset(&segment, offset), "F-6.5", NO_OPENING));
                }
                continue;
            }
            // spec: F-5.7. It continues the log, so it may not be skipped; what it asks for is not known here.
            if !header.flags.is_known() {
                return Err(refused(header.flags));
            }
            if let Some(body) = frames.body(&segment, &frame)? {
                return Ok(Some(Met { segment, frame, body }));
            }
        }
        Ok(None)
    }

    /// The places where the next frame may begin, in the order of; in another segment with the LSN that it must have there.
    fn candidates<F: Frames<Segment = S>>(&self, frames: &mut F) -> Result<Vec<(S, u32, Option<Lsn>)>> {
        let geometry = self.geometry;
        let near = geometry.place(self.offset);
        let aligned = geometry.place(geometry.round_up_sector(self.offset));
        let here = [near, aligned.filter(|_| aligned != near)].into_iter().flatten();
        let mut candidates = Vec::with_capacity(3);
        candidates.extend(here.map(|offset| (self.segment.clone(), offset, None)));
        for (segment, first_lsn) in frames.successors(&self.segment, self.offset)? {
            candidates.push((segment, geometry.data_start(), Some(first_lsn)));
        }
        Ok(candidates)
    }

    //= spec/recovery.md#r-2-3-highest-incarnation
    //# Where several candidates hold a valid continuation, the reader MUST take the one of the highest
    //# incarnation.
    /// The opening frame of the highest incarnation that names exactly L and E (spec: ).
    fn opening<F: Frames<Segment = S>>(
        &self,
        frames: &F,
        candidates: &[(S, u32, Option<Lsn>)],
    ) -> Result<Option<Met<S, F::Body>>> {
        let before = self.lsn.incarnation();
        let end = self.geometry.address(frames.sequence(&self.segment), self.offset);
        let mut best: Option<Met<S, F::Body>> = None;
        for (segment, offset, first_lsn) in candidates {
            if !frames.may_open(segment, *offset, before)? {
                continue;
            }
            let header = frames.header(segment, *offset)?.filter(|header| may_open(header, before));
            let Some(header) = header.filter(|header| first_lsn.is_none_or(|first| first == header.lsn))
            else {
                continue;
            };
            let frame = Frame { offset: *offset, header };
            let Some(body) = frames.body(segment, &frame)? else { continue };
            let met = Met { segment: segment.clone(), frame, body };
            let names = match frames.named(&met) {
                // What a flag makes of a record that is not known here, nobody can tell here.
                Err(_) if !header.flags.is_known() => continue,
                names => names?,
            };
            let best_lsn = best.as_ref().map(|best| best.frame.header.lsn);
            let is_higher = best_lsn.is_none_or(|best| header.lsn.incarnation() > best.incarnation());
            if is_higher && (names == Some((self.lsn, end)) || seeded::is_on(Bug::OpeningFrameNamesIgnored)) {
                best = Some(met);
            }
        }
        match best {
            // spec: F-5.7. It continues the log, so it may not be skipped; what it asks for is not known here.
            Some(best) if !best.frame.header.flags.is_known() => Err(refused(best.frame.header.flags)),
            best => Ok(best),
        }
    }
}

/// Whether a frame with this header may open an incarnation above `incarnation`.
pub(crate) fn may_open(header: &FrameHeader, incarnation: u32) -> bool {
    header.flags.contains(FrameFlags::OPENING) && header.lsn.incarnation() > incarnation
}

pub(crate) const NOTHING_FOLLOWS: &str = "no frame goes on with the log";
pub(crate) const NO_OPENING: &str =
    "a frame with the flag of an opening frame, which has one part, of one opening record, and count 1";

pub(crate) fn broken(at: u64, clause: &'static str, what: &'static str) -> Error {
    Corruption::new(at, clause, what).into()
}

//= spec/format.md#f-5-7-frame-validity
//# A reader MUST refuse the file when the frame that continues the log has a valid header CRC and a flag that
//# it does not know.
//= spec/versions.md#c-2-4-refused-is-not-corrupt
//# A reader that refuses because of something it does not know MUST say that a newer version wrote it, and
//# not that the file is corrupt.
/// A frame that continues the log asks for something that this version does not know.
fn refused(flags: FrameFlags) -> Error {
    newer(u64::from(flags.0))
}
