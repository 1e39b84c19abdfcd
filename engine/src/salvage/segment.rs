//! One segment: its frames, and the records in what no frame vouches for any more.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::format::catalog::CatalogChange;
use crate::format::frame::{Frame, FrameFlags, FrameSearch, SegmentSeed, check_body};
use crate::format::record::{self, Kind, PEEK_LEN, Record, RecordSeed, parse_opening, peek_len};
use crate::format::segment::SEGMENT_HEADER_LEN;
use crate::format::superblock::Superblock;
use crate::format::{Geometry, Lineage, Lsn};
use crate::seeded::{self, Bug};

use super::found::{Change, Origin, Swept, SweptFrame};

/// A segment that is taken to have a sequence.
struct Search<'a> {
    geometry: Geometry,
    lineage: &'a Lineage,
    physical: u32,
    sequence: u64,
    bytes: &'a [u8],
    frames: Vec<SweptFrame>,
    /// The count with which the stretch of each incarnation begins (spec: F-6.2).
    bases: BTreeMap<u32, u32>,
}

/// Searches the bytes of the segment at `place`, a physical index, as one of a sequence. `first` is the LSN that its header says it begins with.
pub(super) fn search(
    slot: &Superblock,
    place: (u32, u64),
    first: Option<Lsn>,
    bytes: &[u8],
    swept: &mut Swept,
) {
    let (physical, sequence) = place;
    let (geometry, lineage) = (slot.geometry, &slot.lineage);
    let bases = first.map(|first| (first.incarnation(), first.count())).into_iter().collect();
    let mut search = Search { geometry, lineage, physical, sequence, bytes, frames: Vec::new(), bases };
    search.find_frames();
    search.find_bases();
    for found in &search.frames {
        swept.note_frame(found);
        if found.is_whole {
            search.records_of(&found.frame, swept);
        }
    }
    let uncovered = if seeded::is_on(Bug::SalvageSkipsTornFrames) { Vec::new() } else { search.uncovered() };
    for range in uncovered {
        for incarnation in search.incarnations_around(&range) {
            search.records_between(&range, incarnation, swept);
        }
    }
}

impl Search<'_> {
    fn seed(&self, incarnation: u32) -> RecordSeed {
        RecordSeed::new(self.lineage, incarnation, self.sequence)
    }

    fn find_frames(&mut self) {
        let seed = SegmentSeed::for_segment(self.lineage, self.sequence);
        let (from, segment_bytes) = (SEGMENT_HEADER_LEN as u32, self.geometry.segment_bytes());
        let mut search = FrameSearch::new(self.bytes, 0, from, seed, segment_bytes);
        while let Some(frame) = search.next() {
            let Frame { offset, header } = frame;
            if !header.flags.is_known() {
                continue;
            }
            let seeds = (&seed, &self.seed(header.lsn.incarnation()));
            let is_whole = check_body(self.bytes, offset, &header, seeds).is_ok();
            if is_whole {
                search.skip_to(frame.end());
            }
            self.frames.push(SweptFrame { frame, is_whole });
        }
    }

    fn find_bases(&mut self) {
        for SweptFrame { frame, is_whole } in &self.frames {
            let (lsn, flags) = (frame.header.lsn, frame.header.flags);
            if flags.contains(FrameFlags::OPENING) {
                self.bases.entry(lsn.incarnation()).or_insert(lsn.count());
            }
            if !is_whole || self.bases.contains_key(&lsn.incarnation()) {
                continue;
            }
            let mut records = frame.records(self.bytes, &self.seed(lsn.incarnation()));
            if let Some(Ok((_, record))) = records.next()
                && let Some(base) = lsn.count().checked_sub(record.commit)
            {
                self.bases.insert(lsn.incarnation(), base);
            }
        }
    }

    fn records_of(&self, frame: &Frame, swept: &mut Swept) {
        let lsn = frame.header.lsn;
        let seed = self.seed(lsn.incarnation());
        // A record of a kind that is not known here ends what can be read of the frame.
        for (at, record) in frame.records(self.bytes, &seed).map_while(Result::ok) {
            self.note(lsn, at, &record, swept);
        }
    }

    /// What no valid frame covers.
    fn uncovered(&self) -> Vec<Range<u32>> {
        let mut ranges = Vec::new();
        let mut from = SEGMENT_HEADER_LEN as u32;
        for SweptFrame { frame, .. } in self.frames.iter().filter(|found| found.is_whole) {
            if from < frame.offset {
                ranges.push(from..frame.offset);
            }
            from = frame.body_end();
        }
        if (from as usize) < self.bytes.len() {
            ranges.push(from..self.bytes.len() as u32);
        }
        ranges
    }

    /// The incarnations whose records may stand in `range`: those of the frames in it and next to it, and the one that the segment begins with.
    fn incarnations_around(&self, range: &Range<u32>) -> BTreeSet<u32> {
        let frames = || self.frames.iter().map(|found| &found.frame);
        let before = frames().rev().find(|frame| frame.offset < range.start);
        let after = frames().find(|frame| frame.offset >= range.end);
        let within = frames().filter(|frame| range.contains(&frame.offset));
        let around = within.chain(before).chain(after).map(|frame| frame.header.lsn.incarnation());
        around.chain(self.bases.keys().next().copied()).collect()
    }

    /// Records of an incarnation, wherever one begins whose checksum holds.
    fn records_between(&self, range: &Range<u32>, incarnation: u32, swept: &mut Swept) {
        let seed = self.seed(incarnation);
        let mut at = range.start;
        while at < range.end {
            let rest = &self.bytes[at as usize..range.end as usize];
            let may_begin = may_be_record(rest);
            let record = may_begin.then(|| record::parse(rest, seed.at(at)).ok()).flatten();
            match record {
                Some(record) => {
                    if let Some(lsn) = self.lsn_of(incarnation, at, record.commit) {
                        self.note(lsn, at, &record, swept);
                    }
                    at += record.len as u32;
                }
                None => at += 1,
            }
        }
    }

    /// The commit of a record that stands at `at`.
    fn lsn_of(&self, incarnation: u32, at: u32, commit: u32) -> Option<Lsn> {
        if let Some(base) = self.bases.get(&incarnation) {
            return Some(Lsn::new(incarnation, base.checked_add(commit)?));
        }
        let holds = |frame: &&Frame| {
            frame.header.lsn.incarnation() == incarnation
                && (frame.records_at()..frame.body_end()).contains(&at)
        };
        self.frames.iter().rev().map(|found| &found.frame).find(holds).map(|frame| frame.header.lsn)
    }

    fn note(&self, lsn: Lsn, offset: u32, record: &Record<'_>, swept: &mut Swept) {
        let place = Origin { physical: self.physical, sequence: self.sequence, offset, lsn };
        match record.kind {
            Kind::Put | Kind::RelocatedPut | Kind::Delete => {
                let Some(key) = record.key else { return };
                swept.changes.push(Change {
                    collection: record.collection,
                    key: key.to_key(),
                    place,
                    version: record.own_lsn.unwrap_or(lsn),
                    is_delete: record.kind == Kind::Delete,
                });
            }
            Kind::Chunk => {
                let address = self.geometry.address(self.sequence, offset);
                swept.chunks.entry(address).or_default().push(place);
            }
            Kind::Catalog => {
                let change = CatalogChange::decode(record.body).ok();
                swept.catalog.entry(lsn).or_default().extend(change);
            }
            Kind::Opening => {
                if let Some((behind, _)) = parse_opening(record.body) {
                    swept.note_opening(lsn, behind);
                }
            }
            Kind::SegmentFreed | Kind::CommitTime | Kind::Reserved(_) | Kind::Skippable(_) => {}
        }
    }
}

/// Whether a record may begin with these bytes: asked at every byte, so that most checksums are never computed.
fn may_be_record(bytes: &[u8]) -> bool {
    const KIND: usize = 4;
    bytes.len() > PEEK_LEN.min(KIND + 2)
        && !matches!(Kind::from_byte(bytes[KIND]), Kind::Reserved(_) | Kind::Skippable(_))
        && peek_len(&bytes[..bytes.len().min(PEEK_LEN)]).is_some_and(|len| len <= bytes.len())
}
