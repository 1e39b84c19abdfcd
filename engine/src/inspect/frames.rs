//! The frames of a log segment, and which of them count.

use crate::format::frame::{Frame, FrameFault, FrameFlags, FrameSearch, SegmentSeed, check_body};
use crate::format::record::{self, Kind, Record, RecordFault, RecordSeed, Replaced, parse_opening, peek_len};
use crate::format::{Geometry, Lineage, LogAddress, Lsn};

use super::budget::Budget;
use super::extent::Use;

/// A frame whose header is valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameView {
    /// Where it is, and its header.
    pub frame: Frame,
    /// What is wrong with its body, if anything.
    pub fault: Option<FrameFault>,
    /// Whether it counts.
    pub standing: Standing,
}

/// Whether a frame counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Standing {
    /// It is part of the log.
    InLog,
    /// It lies behind the end of the log, or was cut off: nobody was told that it is durable.
    Torn,
    /// The log has given up its segment.
    Old,
    /// The log breaks off before it, or cannot be followed.
    Unknown,
}

impl Standing {
    /// Its name, for machines too.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Standing::InLog => "log",
            Standing::Torn => "torn",
            Standing::Old => "old",
            Standing::Unknown => "unknown",
        }
    }
}

/// What became of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fate {
    /// It is what its key names.
    Live,
    /// Cleaning has moved it, and it may live on elsewhere.
    Moved,
    /// It was replaced or deleted.
    Dead,
    /// Nobody can tell, or it does not count.
    Unknown,
}

impl Fate {
    /// Its name, for machines too.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Fate::Live => "live",
            Fate::Moved => "moved",
            Fate::Dead => "dead",
            Fate::Unknown => "unknown",
        }
    }
}

/// A record whose checksum holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RecordView<'a> {
    /// Where it begins in its segment.
    pub offset: u32,
    /// Its log address.
    pub address: LogAddress,
    /// The commit that it is a part of.
    pub lsn: Lsn,
    /// What it says.
    pub record: Record<'a>,
    /// What became of the version, or of the piece of one, that it holds; none where it holds none.
    pub fate: Option<Fate>,
}

impl RecordView<'_> {
    pub(super) fn moved_from(&self) -> Option<LogAddress> {
        let is_moved = self.record.kind == Kind::RelocatedPut;
        self.record.replaces.filter(|_| is_moved).map(Replaced::address)
    }

    pub(super) fn usage(&self) -> Use {
        match self.fate {
            None => Use::Log,
            Some(Fate::Live) => Use::Live,
            Some(Fate::Dead | Fate::Moved) => Use::Dead,
            Some(Fate::Unknown) => Use::Unknown,
        }
    }
}

impl FrameView {
    /// Whether all of it is valid.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        self.fault.is_none()
    }
}

/// How a segment lies to the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// The log has frames in it up to `end`.
    Log {
        end: u32,
        /// Whether the log once went on behind its end.
        is_broken_off: bool,
    },
    /// The log would have gone on here, had it gone on.
    BehindTheEnd,
    /// The log has given it up.
    Before,
    Unknown,
}

/// Every frame in the bytes of the segment of a sequence whose header is valid.
pub(super) fn find(bytes: &[u8], lineage: &Lineage, place: (Geometry, u64)) -> Vec<FrameView> {
    let (geometry, sequence) = place;
    let seed = SegmentSeed::for_segment(lineage, sequence);
    let mut frames = Vec::new();
    let mut budget = Budget::of(bytes);
    let mut search = FrameSearch::new(bytes, 0, geometry.data_start(), seed, geometry.segment_bytes());
    while let Some(frame) = search.next().filter(|frame| budget.spend(frame.header.body_len as usize)) {
        let Frame { offset, header } = &frame;
        let record_seed = RecordSeed::new(lineage, header.lsn.incarnation(), sequence);
        let fault = check_body(bytes, *offset, header, (&seed, &record_seed)).err();
        if fault.is_none() {
            search.skip_to(frame.end());
        }
        frames.push(FrameView { frame, fault, standing: Standing::Unknown });
    }
    frames
}

/// Says of each frame whether it counts.
pub(super) fn judge(frames: &mut [FrameView], bytes: &[u8], lineage: &Lineage, sequence: u64, place: Reach) {
    // The lowest LSN behind which an opening frame further on says that the log was cut (spec: ).
    let mut cut_behind = Lsn(u64::MAX);
    for view in frames.iter_mut().rev() {
        let frame = &view.frame;
        view.standing = match place {
            Reach::Log { end, is_broken_off: true } if frame.offset >= end => Standing::Unknown,
            Reach::Log { end, .. } if frame.offset >= end => Standing::Torn,
            Reach::Log { .. } if frame.header.lsn > cut_behind => Standing::Torn,
            Reach::Log { .. } => Standing::InLog,
            Reach::BehindTheEnd => Standing::Torn,
            Reach::Before => Standing::Old,
            Reach::Unknown => Standing::Unknown,
        };
        if view.standing == Standing::InLog
            && let Some(last) = opened_behind(view, bytes, lineage, sequence)
        {
            cut_behind = cut_behind.min(last);
        }
    }
}

/// The last commit before an opening frame, as its record names it.
fn opened_behind(view: &FrameView, bytes: &[u8], lineage: &Lineage, sequence: u64) -> Option<Lsn> {
    let frame = &view.frame;
    if !view.is_whole() || !frame.header.flags.contains(FrameFlags::OPENING) {
        return None;
    }
    let seed = RecordSeed::new(lineage, frame.header.lsn.incarnation(), sequence);
    let at = frame.records_at();
    let record = record::parse(bytes.get(at as usize..)?, seed.at(at)).ok()?;
    if record.kind == Kind::Opening { parse_opening(record.body).map(|(last, _)| last) } else { None }
}

/// The records of `frame` whose checksums hold and that can be read, in order. Behind a damaged one it goes on where that says that it ends: the
/// checksum of the next one tells whether that is true.
pub(super) fn records<'a>(
    bytes: &'a [u8],
    lineage: &Lineage,
    place: (Geometry, u64),
    frame: &Frame,
    fate: impl Fn(LogAddress) -> Fate,
) -> Vec<RecordView<'a>> {
    let ((geometry, sequence), lsn) = (place, frame.header.lsn);
    let seed = RecordSeed::new(lineage, lsn.incarnation(), sequence);
    let mut records = Vec::new();
    let body_end = frame.body_end().min(bytes.len() as u32);
    let mut offset = frame.records_at();
    while offset < body_end {
        let rest = &bytes[offset as usize..body_end as usize];
        let len = match record::parse(rest, seed.at(offset)) {
            Ok(record) => {
                let address = geometry.address(sequence, offset);
                let has_fate = record.kind.has_document() || record.kind == Kind::Chunk;
                let fate = has_fate.then(|| fate(address));
                records.push(RecordView { offset, address, lsn, record, fate });
                record.len
            }
            Err(RecordFault::TooShort { .. }) => break,
            Err(_) => match peek_len(rest) {
                Some(len) if len <= rest.len() => len,
                _ => break,
            },
        };
        offset += len as u32;
    }
    records
}
