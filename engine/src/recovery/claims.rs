//! Looks behind the end of the log for what attests that it once went on (spec: R-3).
//!
//! A frame header lies in one sector, so this is a question about each sector by itself: it is put to the storage
//! as one, and a simulated disk whose sectors are not decided yet can leave undecided those where it makes no difference.

use std::collections::HashSet;

use crate::error::Result;
use crate::format::Lsn;
use crate::format::frame::{FRAME_HEADER_LEN, Frame, FrameSearch, body_crc};
use crate::format::record::{self, RecordSeed};
use crate::seeded::{self, Bug};

use super::image::Shared;
use super::scan::Scan;

/// What the search found.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Claims {
    /// The highest LSN that somebody states to have been durable, as far as it is above the last accepted one.
    pub(crate) highest: Lsn,
    /// The highest incarnation of any header met, as far as it is above those known before (spec: ).
    pub(crate) incarnation: u32,
}

impl Claims {
    fn add(&mut self, claim: Lsn, incarnation: u32) {
        self.highest = self.highest.max(claim);
        self.incarnation = self.incarnation.max(incarnation);
    }
}

//= spec/recovery.md#r-3-2-what-counts
//# A reader MUST NOT count the claim of a frame or segment header whose incarnation (of its LSN; of its first
//# LSN) is below that of the newest valid slot.
//= spec/recovery.md#r-3-3-where-to-look
//# A reader MUST then follow the chain: the segment named as `next`, with sequence q + 1, and so on.
//= spec/recovery.md#r-3-5-no-successor-named
//# Where segment q names no successor, a reader MUST look at the headers of all segments of the file, and
//# follow the chain from each whose header is valid for q + 1.
/// Searches the rest of the segment in which the log ended, and the chain of its successors.
pub(super) fn search(scan: &mut Scan<'_>) -> Result<Claims> {
    let mut claims = Claims::default();
    let current = std::rc::Rc::clone(scan.image());
    search_segment(scan, &current, scan.offset(), &mut claims)?;
    if seeded::is_on(Bug::ClaimsNotFollowedAlongTheChain) {
        return Ok(claims);
    }
    let (named, mut searched) = (Link::after(scan, &current), HashSet::new());
    if named.next.is_some() {
        search_chain(scan, named, &mut searched, &mut claims)?;
    } else {
        for image in scan.find_anywhere(named.sequence)? {
            search_chain(scan, Link { next: Some(image.physical), ..named }, &mut searched, &mut claims)?;
            if seeded::is_on(Bug::ClaimsOfFirstSuccessorAlone) {
                break;
            }
        }
    }
    Ok(claims)
}

/// Up to a segment that was searched already, from which the chain goes on as it did then.
fn search_chain(
    scan: &mut Scan<'_>,
    mut link: Link,
    searched: &mut HashSet<(u32, u64)>,
    claims: &mut Claims,
) -> Result<()> {
    // spec. The chain cannot turn in a circle: the sequence grows, each segment has one, and no two damaged headers in a row
    // are stepped over.
    while let Some(physical) = link.next.filter(|physical| searched.insert((*physical, link.sequence))) {
        let Some(image) = scan.open(physical, link.sequence)? else { break };
        if image.header.is_none() && seeded::is_on(Bug::DamagedHeaderEndsTheChain) {
            break;
        }
        if let Some(header) = &image.header {
            if header.first_lsn.incarnation() >= scan.file.slot.incarnation {
                claims.add(header.durable_lsn, 0);
            }
            claims.add(Lsn::ZERO, header.first_lsn.incarnation());
        }
        search_segment(scan, &image, scan.geometry.data_start(), claims)?;
        link = if image.header.is_some() { Link::after(scan, &image) } else { link.over() };
    }
    Ok(())
}

/// Where the chain goes on.
#[derive(Debug, Clone, Copy)]
struct Link {
    next: Option<u32>,
    after: Option<u32>,
    sequence: u64,
}

impl Link {
    fn after(scan: &Scan<'_>, image: &Shared) -> Self {
        let [next, after] = scan.reserved_by(image);
        Link { next, after, sequence: image.sequence + 1 }
    }

    /// One damaged header is stepped over; a second one in a row ends the chain, as it has no `after` to give.
    fn over(self) -> Self {
        Link { next: self.after, after: None, sequence: self.sequence + 1 }
    }
}

//= spec/recovery.md#r-3-2-what-counts
//# A reader MUST NOT count the claim of a frame or segment header whose incarnation (of its LSN; of its first
//# LSN) is below that of the newest valid slot.
//= spec/recovery.md#r-3-2-what-counts
//# A reader MUST NOT count the claim of a frame whose LSN is below the first LSN of its segment, as far as
//# that is known, or whose flags it does not know.
//= spec/recovery.md#r-3-3-where-to-look
//# A reader MUST look at every multiple of 8 from X on in segment q where a frame header can lie.
fn search_segment(scan: &Scan<'_>, image: &Shared, from: u32, claims: &mut Claims) -> Result<()> {
    let known = (scan.lsn(), scan.highest_incarnation());
    let sector = scan.geometry.sector();
    let start = scan.geometry.round_down_sector(from);
    let first_lsn = image.header.as_ref().map_or(Lsn::ZERO, |header| header.first_lsn);
    let look = |file_offset: u64, bytes: &[u8]| {
        let offset = (file_offset - image.file_offset(0)) as u32;
        let mut found = Claims::default();
        // No frame begins before `from`; `offset` is a multiple of the sector.
        for frame in FrameSearch::new(bytes, offset, from, image.seed, scan.geometry.segment_bytes()) {
            let header = &frame.header;
            // spec. Any valid header counts for the incarnation.
            found.add(Lsn::ZERO, header.lsn.incarnation());
            // spec. For the claim it must be of this life of the file.
            if header.flags.is_known()
                && header.lsn.incarnation() >= scan.file.slot.incarnation
                && header.lsn >= first_lsn
            {
                let opening = opened(scan, image, &bytes[(frame.offset - offset) as usize..], &frame);
                found.add(header.claim().max(opening).unwrap_or(Lsn::ZERO), 0);
            }
        }
        // Only what is news is worth telling apart.
        let claim = if found.highest > known.0 { found.highest.0 } else { 0 };
        let incarnation = if found.incarnation > known.1 { found.incarnation } else { 0 };
        (claim != 0 || incarnation != 0).then_some([claim, u64::from(incarnation)])
    };
    let len = image.limit().saturating_sub(start as usize);
    for [claim, incarnation] in
        scan.file.storage.probe(image.file_offset(start), len, sector as usize, &look)?
    {
        claims.add(Lsn(claim), incarnation as u32);
    }
    Ok(())
}

/// The L of a valid opening frame that ends in the sector in which it begins (spec: ).
fn opened(scan: &Scan<'_>, image: &Shared, bytes: &[u8], frame: &Frame) -> Option<Lsn> {
    let Frame { offset, header } = frame;
    if !header.is_opening() {
        return None;
    }
    let body = bytes.get(FRAME_HEADER_LEN..FRAME_HEADER_LEN + header.body_len as usize)?;
    let seed = RecordSeed::new(&scan.file.slot.lineage, header.lsn.incarnation(), image.sequence);
    let record = record::parse(body, seed.at(frame.records_at())).ok()?;
    let crc = body_crc(header, image.seed.at(*offset), [record.crc].into_iter());
    let (l, _) = record.opening().filter(|_| record.len == body.len() && crc == header.body_crc)?;
    Some(l)
}
