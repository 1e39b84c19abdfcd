//! One segment: its state, and what stands in it.

use std::collections::BTreeSet;

use crate::format::segment::{SegmentHeader, SegmentKind};
use crate::format::superblock::Superblock;
use crate::format::{Geometry, Lineage, LogAddress, Lsn};

use super::extent::{Extent, Strip, Use};
use super::frames::{self, Fate, FrameView, RecordView, Standing};
use super::index_records::{self, IndexRecordView};
use super::known::Known;

/// Who holds a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SegmentState {
    /// The log: it ends here.
    Open,
    /// The log: it went on elsewhere.
    Sealed,
    /// The log, which has nothing live here any more; its place is kept until every checkpoint that the superblock names knows that.
    Freed,
    /// The log, which will go on here.
    Waiting,
    /// A checkpoint that the superblock names.
    Checkpoint,
    /// Nobody.
    Free,
    /// Nobody can tell: the log breaks off, or cannot be followed.
    Unknown,
}

impl SegmentState {
    /// Its name, for machines too.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            SegmentState::Open => "open",
            SegmentState::Sealed => "sealed",
            SegmentState::Freed => "freed",
            SegmentState::Waiting => "waiting",
            SegmentState::Checkpoint => "checkpoint",
            SegmentState::Free => "free",
            SegmentState::Unknown => "unknown",
        }
    }

    /// Whether it belongs to the log as recovery followed it.
    const fn is_of_the_log(self) -> bool {
        matches!(self, SegmentState::Open | SegmentState::Sealed | SegmentState::Freed)
    }
}

/// One segment.
#[derive(Debug)]
pub struct SegmentView {
    /// Its place in the file.
    pub physical: u32,
    /// Where it begins in the file.
    pub at: u64,
    /// Its length in bytes, as far as the file has it.
    pub len: u32,
    /// Who holds it.
    pub state: SegmentState,
    /// Its header, where that is valid.
    pub header: Option<SegmentHeader>,
    /// The sequence that frames in it are taken to have: that of its header, or the one that recovery knows.
    pub sequence: Option<u64>,
    /// Where the last frame ended that the log has in it; none where the log has none.
    pub end: Option<u32>,
    /// Offset and first LSN of each stretch, where the log has any.
    pub stretches: Vec<(u32, Lsn)>,
    /// The frames whose headers are valid, by offset. Those of a torn tail may overlap with others.
    pub frames: Vec<FrameView>,
    /// The index records whose checksums hold, by offset, of an index segment.
    pub index_records: Vec<IndexRecordView>,
    /// What each byte is used for.
    pub extents: Vec<Extent>,
    /// Bytes that the disk refused to read; they are shown as zeros.
    pub unreadable: u64,
    geometry: Geometry,
    lineage: Lineage,
    bytes: Vec<u8>,
}

impl SegmentView {
    pub(super) fn of(
        slot: &Superblock,
        known: &Known,
        physical: u32,
        bytes: Vec<u8>,
        unreadable: u64,
    ) -> SegmentView {
        let (geometry, lineage) = (slot.geometry, slot.lineage);
        let header = SegmentHeader::parse(&bytes, &lineage, physical);
        let mut view = SegmentView {
            physical,
            at: geometry.segment_offset(physical),
            len: bytes.len() as u32,
            state: SegmentState::Unknown,
            header,
            sequence: None,
            end: None,
            stretches: Vec::new(),
            frames: Vec::new(),
            index_records: Vec::new(),
            extents: Vec::new(),
            unreadable,
            geometry,
            lineage,
            bytes,
        };
        view.sequence = view.log_sequence(known);
        view.state = view.state(known);
        view.take_place(known);
        view.find_contents(known);
        view.extents = view.extents(known);
        view
    }

    /// The records of one of its frames.
    pub(super) fn records<'a>(
        &'a self,
        view: &FrameView,
        known: &Known,
        moved: &BTreeSet<LogAddress>,
    ) -> Vec<RecordView<'a>> {
        let Some(sequence) = self.sequence else { return Vec::new() };
        let place = (self.geometry, sequence);
        let fate = |address| match &known.log {
            _ if view.standing != Standing::InLog => Fate::Unknown,
            None => Fate::Unknown,
            Some(log) if log.is_live(address) => Fate::Live,
            Some(_) if moved.contains(&address) => Fate::Moved,
            Some(_) => Fate::Dead,
        };
        frames::records(&self.bytes, &self.lineage, place, &view.frame, fate)
    }

    fn log_sequence(&self, known: &Known) -> Option<u64> {
        let of_header = self.header.filter(|header| header.kind == SegmentKind::Log);
        let sequence = match (of_header, self.header) {
            (Some(header), _) => Some(header.sequence),
            (None, Some(_)) => None,
            (None, None) => known.log.as_ref()?.at_physical(self.physical).map(|(sequence, _)| sequence),
        };
        sequence.filter(|sequence| *sequence <= self.geometry.sequence_max())
    }

    fn state(&self, known: &Known) -> SegmentState {
        if known.is_checkpoint_segment(self.physical) {
            return SegmentState::Checkpoint;
        }
        let Some(log) = &known.log else { return SegmentState::Unknown };
        match log.at_physical(self.physical) {
            Some((sequence, _)) if sequence == log.end.sequence => return SegmentState::Open,
            Some((_, account)) if account.is_freed() && account.freed <= log.reuse_floor => {}
            Some((_, account)) if account.is_freed() => return SegmentState::Freed,
            Some(_) => return SegmentState::Sealed,
            None => {}
        }
        // spec. Where the log breaks off, what lies behind may have been part of it.
        let is_behind = self.sequence.is_some_and(|sequence| sequence > log.end.sequence);
        if !known.opens() && is_behind {
            SegmentState::Unknown
        } else if log.end.reserved.contains(&Some(self.physical)) {
            SegmentState::Waiting
        } else {
            SegmentState::Free
        }
    }

    /// What the log says of the segment.
    fn take_place(&mut self, known: &Known) {
        let Some(log) = known.log.as_ref().filter(|_| self.state.is_of_the_log()) else { return };
        let Some((sequence, account)) = log.at_physical(self.physical) else { return };
        self.sequence = Some(sequence);
        self.end = Some(if sequence == log.end.sequence { log.end.offset } else { account.end });
        let stretches = log.segment(sequence).map(|segment| {
            segment.stretches().iter().map(|stretch| (stretch.offset, stretch.first_lsn)).collect()
        });
        self.stretches = stretches.unwrap_or_default();
    }

    fn find_contents(&mut self, known: &Known) {
        let start = self.geometry.data_start();
        if let Some(header) = self.header.filter(|header| header.kind == SegmentKind::Index) {
            let first = header.first_lsn;
            self.index_records = index_records::find(&self.bytes, &self.lineage, self.physical, first, start);
        } else if let Some(sequence) = self.sequence {
            self.frames = frames::find(&self.bytes, &self.lineage, (self.geometry, sequence));
            let place = self.place(known);
            frames::judge(&mut self.frames, &self.bytes, &self.lineage, sequence, place);
        }
    }

    /// How the segment lies to the log.
    fn place(&self, known: &Known) -> frames::Reach {
        let Some(log) = &known.log else { return frames::Reach::Unknown };
        let is_behind = self.sequence.is_some_and(|sequence| sequence > log.end.sequence);
        match self.end {
            Some(end) => frames::Reach::Log { end, is_broken_off: !known.opens() },
            None if is_behind && known.opens() => frames::Reach::BehindTheEnd,
            None if is_behind => frames::Reach::Unknown,
            None => frames::Reach::Before,
        }
    }

    fn extents(&self, known: &Known) -> Vec<Extent> {
        let mut strip = Strip::new(self.at, &self.bytes, self.geometry.sector());
        match self.state {
            SegmentState::Checkpoint => self.fill_checkpoint(&mut strip, known),
            SegmentState::Open | SegmentState::Sealed | SegmentState::Freed => {
                self.fill_log(&mut strip, known, Use::Damaged);
            }
            SegmentState::Unknown => self.fill_log(&mut strip, known, Use::Unknown),
            // Of a torn tail there may be frames in the place where the log would have gone on.
            SegmentState::Waiting | SegmentState::Free => {
                for view in self.frames.iter().filter(|view| view.standing == Standing::Torn) {
                    strip.fill(view.frame.offset, Use::Free);
                    strip.fill(view.frame.end(), Use::Torn);
                }
                strip.fill(self.len, Use::Free);
            }
        }
        strip.finish()
    }

    fn fill_header(&self, strip: &mut Strip<'_>) {
        let start = self.geometry.data_start();
        if self.header.is_some() {
            strip.fill(start, Use::Header);
        } else {
            strip.fill_unexplained(start, Use::Damaged);
        }
    }

    fn fill_checkpoint(&self, strip: &mut Strip<'_>, known: &Known) {
        // What the root leads to can be read, so that anything else is nothing of its.
        let unexplained = if known.is_sound_checkpoint(self.physical) { Use::Leftover } else { Use::Damaged };
        self.fill_header(strip);
        for record in &self.index_records {
            strip.fill_unexplained(record.offset, unexplained);
            let is_named = known.checkpoints.iter().any(|named| named.reference.lsn == record.lsn);
            strip.fill(record.end(), if is_named { Use::Checkpoint } else { Use::Leftover });
        }
        strip.fill_unexplained(self.len, unexplained);
    }

    /// `unexplained` is what bytes before the end of the log are that belong to no frame, and are not zero.
    fn fill_log(&self, strip: &mut Strip<'_>, known: &Known, unexplained: Use) {
        self.fill_header(strip);
        let end = self.end.unwrap_or(self.len);
        let is_broken_off = !known.opens() && self.state == SegmentState::Open;
        let behind = if is_broken_off { Use::Damaged } else { Use::Leftover };
        let fill_gap = |strip: &mut Strip<'_>, to: u32| {
            // spec: F-5.3. What is skipped at a hand-over keeps what an earlier use of the place left there.
            if self.is_skipped(known, strip.end(), to.min(end)) {
                strip.fill_unexplained(to.min(end), Use::Leftover);
            }
            strip.fill_unexplained(to.min(end), unexplained);
            strip.fill_unexplained(to, behind);
        };
        for (index, view) in self.frames.iter().enumerate() {
            let next = self.frames.get(index + 1).map_or(self.len, |next| next.frame.offset);
            fill_gap(strip, view.frame.offset);
            match view.standing {
                Standing::InLog => self.fill_frame(strip, view, known),
                Standing::Torn => strip.fill(view.frame.end().min(next), Use::Torn),
                Standing::Old | Standing::Unknown => {
                    let usage = if view.is_whole() { Use::Unknown } else { Use::Damaged };
                    strip.fill(view.frame.end().min(next), usage);
                }
            }
        }
        fill_gap(strip, self.len);
    }

    /// Whether bytes between two frames may be there for no more than that the next one begins at a sector boundary.
    fn is_skipped(&self, known: &Known, from: u32, to: u32) -> bool {
        let (Some(log), Some(sequence)) = (&known.log, self.sequence) else { return false };
        let address = |offset| self.geometry.address(sequence, offset);
        to <= self.geometry.round_up_sector(from)
            && (from >= to || !log.has_live_within(address(from), address(to)))
    }

    fn fill_frame(&self, strip: &mut Strip<'_>, view: &FrameView, known: &Known) {
        strip.fill(view.frame.records_at(), Use::Log);
        for record in self.records(view, known, &BTreeSet::new()) {
            strip.fill(record.offset, Use::Damaged);
            strip.fill(record.offset + record.record.len as u32, record.usage());
        }
        // What is left of the body belongs to records that cannot be read.
        strip.fill(view.frame.body_end(), if view.is_whole() { Use::Log } else { Use::Damaged });
        strip.fill(view.frame.end(), Use::Log);
    }
}
