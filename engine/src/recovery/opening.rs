//! Which opening frame continues the log (spec, F-6.5), and what stands in its place that no writer makes.

use std::rc::Rc;

use crate::error::Result;
use crate::format::frame::{FRAME_HEADER_LEN, FrameFlags, FrameHeader, parse_header_at};
use crate::format::record::{self, RecordSeed};
use crate::format::{LogAddress, Lsn};
use crate::log::record_fault;
use crate::seeded::{self, Bug};

use super::commit::{Commit, Part};
use super::image::Shared;
use super::refusal::{NO_OPENING, broken, newer};
use super::scan::Scan;

impl Scan<'_> {
    //= spec/recovery.md#r-2-2-continuations
    //# A reader MUST report corruption when all parts of a commit of incarnation 0 that would follow L are valid.
    /// No commit of incarnation 0 follows: no writer makes one. Goes by the headers first, as an opening frame is looked for.
    pub(super) fn nothing_of_incarnation_0(&mut self) -> Result<Option<Commit>> {
        let lsn = self.lsn.next();
        for (image, offset) in self.candidates(&Rc::clone(&self.image), self.offset)? {
            if self.may_stand(&image, offset, &|header| header.lsn == lsn)?
                && let Some(commit) = self.parts(lsn)?
            {
                let at = commit.parts[0].image.file_offset(commit.parts[0].offset);
                return Err(broken(at, "R-2.2", "a commit of incarnation 0, which has none"));
            }
        }
        Ok(None)
    }

    //= spec/recovery.md#r-2-2-continuations
    //# A reader MUST NOT accept anything else as following L.
    /// The opening frame of the highest incarnation that names exactly L and X (spec: ).
    pub(super) fn opening(&mut self) -> Result<Option<Part>> {
        let mut best: Option<(u32, FrameFlags, Part)> = None;
        let named = (self.lsn, self.geometry.address(self.image.sequence, self.offset));
        let before = self.lsn.incarnation();
        let is_opening = |header: &FrameHeader| {
            header.flags.contains(FrameFlags::OPENING) && header.lsn.incarnation() > before
        };
        for (image, offset) in self.candidates(&Rc::clone(&self.image), self.offset)? {
            if !self.may_stand(&image, offset, &is_opening)? {
                continue;
            }
            let Some(header) = self.header(&image, offset)?.filter(&is_opening) else { continue };
            let first_of_segment = !Rc::ptr_eq(&image, &self.image);
            if first_of_segment && image.header.as_ref().is_none_or(|segment| segment.first_lsn != header.lsn)
            {
                continue;
            }
            let Some(part) = self.frame(&image, offset, &header)? else { continue };
            let names = match self.named(&part, &header) {
                // What a flag makes of a record that is not known here, nobody can tell here.
                Err(_) if !header.flags.is_known() => continue,
                names => names?,
            };
            let incarnation = header.lsn.incarnation();
            let is_higher = best.as_ref().is_none_or(|(best, ..)| incarnation > *best);
            if is_higher && (names == named || seeded::is_on(Bug::OpeningFrameNamesIgnored)) {
                best = Some((incarnation, header.flags, part));
            }
        }
        match best {
            // spec: F-5.7. It continues the log, so it may not be skipped; what it asks for is not known here.
            Some((_, flags, _)) if !flags.is_known() => Err(newer(flags)),
            best => Ok(best.map(|(.., part)| part)),
        }
    }

    /// Whether a frame that is `wanted` begins at `offset`, going by its header. Asked of every place that
    /// follows a commit, so it reads no further than the commit itself needs, where it can be told without.
    pub(super) fn may_stand(
        &self,
        image: &Shared,
        offset: u32,
        wanted: &dyn Fn(&FrameHeader) -> bool,
    ) -> Result<bool> {
        let (seed, segment_bytes) = (&image.seed, self.geometry.segment_bytes());
        let is_wanted = |header: &[u8]| {
            parse_header_at(header, offset, seed, segment_bytes).is_some_and(|header| wanted(&header))
        };
        let end = offset as usize + FRAME_HEADER_LEN;
        if let Some(header) = image.bytes().get(offset as usize..end) {
            return Ok(is_wanted(header));
        }
        if end > image.limit() {
            return Ok(false);
        }
        let sector = self.geometry.sector();
        let start = self.geometry.round_down_sector(offset);
        let within = (offset - start) as usize;
        let look = |_: u64, bytes: &[u8]| {
            bytes.get(within..within + FRAME_HEADER_LEN).filter(|header| is_wanted(header)).map(|_| [1, 0])
        };
        let found = self.storage.probe(image.file_offset(start), sector as usize, sector as usize, &look)?;
        Ok(!found.is_empty())
    }

    //= spec/recovery.md#r-2-2-continuations
    //# A reader MUST report corruption when a valid frame with the opening flag stands in a candidate's place, with
    //# an incarnation above that of L or with the LSN and the part number that the commit to follow has there, and
    //# is no opening frame.
    //= spec/recovery.md#r-4-5-the-principle
    //# A reader MUST NOT take a valid frame that would continue the log for a torn tail because of what its records
    //# say.
    /// L and X as a valid frame with the opening flag names them. It is an opening frame, or what no crash of a correct writer leaves.
    fn named(&self, part: &Part, header: &FrameHeader) -> Result<(Lsn, LogAddress)> {
        part.check_count()?;
        let [at] = *part.records else { return Err(part.broken("F-6.5", NO_OPENING)) };
        if !header.is_opening() {
            return Err(part.broken("F-6.5", NO_OPENING));
        }
        let seed = RecordSeed::new(&self.lineage, header.lsn.incarnation(), part.image.sequence);
        let bytes = part.image.bytes();
        let record = record::parse(&bytes[at as usize..], seed.at(at));
        let record = record.map_err(|fault| record_fault(part.image.file_offset(at), &fault))?;
        record.opening().ok_or_else(|| part.broken("F-6.5", NO_OPENING))
    }

    pub(super) fn opening_lsn(&self, part: &Part) -> Result<Option<Lsn>> {
        Ok(self.header(&part.image, part.offset)?.map(|header| header.lsn))
    }
}
