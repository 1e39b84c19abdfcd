//! What checksums are seeded with (F-1.3), and what else they might be seeded with where a reader does not mind.

use holotype_conform::forge::{crc, lsn};

use super::form::u64_at;
use super::{Lens, Mistake, SEGMENTS};

/// A part of the seed of a checksum (F-4.1, F-5.1, F-6.1, F-8.11).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seed {
    SegmentPlace,
    FrameLineage,
    FrameSequence,
    FrameOffset,
    RecordLineage,
    RecordIncarnation,
    RecordSequence,
    RecordOffset,
    IndexLineage,
    IndexSegment,
    IndexLsn,
    IndexOffset,
}

/// All of them.
pub(crate) const SEEDS: [Seed; 12] = [
    Seed::SegmentPlace,
    Seed::FrameLineage,
    Seed::FrameSequence,
    Seed::FrameOffset,
    Seed::RecordLineage,
    Seed::RecordIncarnation,
    Seed::RecordSequence,
    Seed::RecordOffset,
    Seed::IndexLineage,
    Seed::IndexSegment,
    Seed::IndexLsn,
    Seed::IndexOffset,
];

/// No vector that a whole segment is moved in has more segments, and none that an index record of another segment is in.
pub(super) const PLACES_MAX: u32 = 128;
/// No vector that bytes of another life are in has more lives, or more commits in one.
const INCARNATIONS_MAX: u32 = 8;
const COUNT_MAX: u32 = 64;
/// The other stores of which there are bytes in vectors.
const STRANGERS: [[u8; 16]; 2] = [*b"another lineage!", *b"lineage of forgd"];

/// What the checksums of a frame are seeded with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FrameSeed {
    pub(super) lineage: [u8; 16],
    pub(super) sequence: u64,
    pub(super) at: u32,
}

/// What the checksum of a record is seeded with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RecordSeed {
    pub(super) frame: FrameSeed,
    pub(super) incarnation: u32,
}

/// What the checksum of an index record is seeded with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct IndexSeed {
    pub(super) lineage: [u8; 16],
    pub(super) segment: u32,
    pub(super) lsn: u64,
    pub(super) offset: u32,
}

impl FrameSeed {
    pub(super) fn sum(&self, parts: &[&[u8]]) -> [u8; 4] {
        let seed = [&self.lineage[..], &self.sequence.to_le_bytes(), &self.at.to_le_bytes()].concat();
        crc(&[&[&seed[..]], parts].concat()).to_le_bytes()
    }
}

impl RecordSeed {
    pub(super) fn sum(&self, later: &[u8]) -> [u8; 4] {
        let FrameSeed { lineage, sequence, at } = self.frame;
        let (incarnation, sequence) = (self.incarnation.to_le_bytes(), sequence.to_le_bytes());
        crc(&[&lineage, &incarnation, &sequence, &at.to_le_bytes(), later]).to_le_bytes()
    }
}

impl IndexSeed {
    pub(super) fn sum(&self, later: &[u8]) -> [u8; 4] {
        let IndexSeed { lineage, segment, lsn, offset } = self;
        crc(&[lineage, &segment.to_le_bytes(), &lsn.to_le_bytes(), &offset.to_le_bytes(), later])
            .to_le_bytes()
    }
}

/// What a file gives to try in place of a part of a seed.
pub(super) struct Weak {
    pub(super) lineage: [u8; 16],
    /// The incarnations of its log.
    pub(super) incarnations: std::ops::Range<u32>,
    sequences: std::ops::Range<u64>,
    segment_bytes: u32,
}

impl Weak {
    pub(super) fn of(file: &[u8], lineage: [u8; 16], segment_bytes: usize) -> Weak {
        let starts = (SEGMENTS..file.len()).step_by(segment_bytes);
        let headers = starts.filter_map(|start| file.get(start..start + 64)).filter(|header| header[4] == 1);
        let sequences = headers.map(|header| u64_at(header, 8)).filter(|sequence| *sequence < 1 << 10);
        let sequences = 0..sequences.max().unwrap_or(0) + 2;
        Weak { lineage, incarnations: 0..INCARNATIONS_MAX, sequences, segment_bytes: segment_bytes as u32 }
    }

    fn lineages(&self) -> impl Iterator<Item = [u8; 16]> + use<> {
        STRANGERS.into_iter()
    }

    /// The seed under which `holds`: the right one, or one that a reader takes for as good.
    pub(super) fn frame(
        &self,
        lens: &Lens,
        right: FrameSeed,
        holds: impl Fn(&FrameSeed) -> bool,
    ) -> Option<FrameSeed> {
        if holds(&right) {
            return Some(right);
        }
        let found = |mut seeds: Box<dyn Iterator<Item = FrameSeed> + '_>| seeds.find(|seed| holds(seed));
        match lens.0 {
            Mistake::Seed(Seed::FrameLineage) => {
                found(Box::new(self.lineages().map(|lineage| FrameSeed { lineage, ..right })))
            }
            Mistake::Seed(Seed::FrameSequence) => {
                found(Box::new(self.sequences.clone().map(|sequence| FrameSeed { sequence, ..right })))
            }
            Mistake::Seed(Seed::FrameOffset) => {
                found(Box::new((64..self.segment_bytes).step_by(8).map(|at| FrameSeed { at, ..right })))
            }
            _ => None,
        }
    }

    /// The same for a record.
    pub(super) fn record(
        &self,
        lens: &Lens,
        right: RecordSeed,
        holds: impl Fn(&RecordSeed) -> bool,
    ) -> Option<RecordSeed> {
        if holds(&right) {
            return Some(right);
        }
        let frame = right.frame;
        let framed = |frame| RecordSeed { frame, ..right };
        let found = |mut seeds: Box<dyn Iterator<Item = RecordSeed> + '_>| seeds.find(|seed| holds(seed));
        match lens.0 {
            Mistake::Seed(Seed::RecordLineage) => {
                found(Box::new(self.lineages().map(|lineage| framed(FrameSeed { lineage, ..frame }))))
            }
            Mistake::Seed(Seed::RecordIncarnation) => found(Box::new(
                self.incarnations.clone().map(|incarnation| RecordSeed { incarnation, ..right }),
            )),
            Mistake::Seed(Seed::RecordSequence) => found(Box::new(
                self.sequences.clone().map(|sequence| framed(FrameSeed { sequence, ..frame })),
            )),
            Mistake::Seed(Seed::RecordOffset) => {
                found(Box::new((64..self.segment_bytes).map(|at| framed(FrameSeed { at, ..frame }))))
            }
            _ => None,
        }
    }

    /// The same for an index record.
    pub(super) fn index(
        &self,
        lens: &Lens,
        right: IndexSeed,
        holds: impl Fn(&IndexSeed) -> bool,
    ) -> Option<IndexSeed> {
        if holds(&right) {
            return Some(right);
        }
        match lens.0 {
            Mistake::Seed(Seed::IndexLineage) => {
                self.lineages().map(|lineage| IndexSeed { lineage, ..right }).find(holds)
            }
            Mistake::Seed(Seed::IndexSegment) => {
                (0..PLACES_MAX).map(|segment| IndexSeed { segment, ..right }).find(holds)
            }
            Mistake::Seed(Seed::IndexLsn) => self
                .incarnations
                .clone()
                .flat_map(|incarnation| (1..COUNT_MAX).map(move |count| lsn(incarnation, count)))
                .map(|lsn| IndexSeed { lsn, ..right })
                .find(holds),
            Mistake::Seed(Seed::IndexOffset) => {
                let offsets = (64..self.segment_bytes).step_by(8);
                offsets.map(|offset| IndexSeed { offset, ..right }).find(holds)
            }
            _ => None,
        }
    }
}
