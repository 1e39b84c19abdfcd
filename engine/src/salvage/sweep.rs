//! Everything that can be proven to have been in the log: every segment is searched, whatever leads there, for frames and records whose
//! checksums hold.

use std::collections::{BTreeMap, BTreeSet};

use crate::document::Key;
use crate::error::Result;
use crate::format::catalog::CatalogChange;
use crate::format::segment::{SegmentHeader, SegmentKind};
use crate::format::{LogAddress, Lsn};

use super::segment::{Frame, search};
use super::source::Source;

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Swept {
    /// Commits, by LSN, as far as there is a frame of them.
    pub(super) commits: BTreeMap<Lsn, Found>,
    /// What changes documents.
    pub(super) changes: Vec<Change>,
    /// What changes the catalog, by LSN.
    pub(super) catalog: BTreeMap<Lsn, Vec<CatalogChange>>,
    /// Chunks, by log address. A sequence may have been given twice, so that two stand at one address.
    pub(super) chunks: BTreeMap<LogAddress, Vec<Place>>,
    /// The highest LSN that anybody states to have been durable.
    pub(super) claim: Lsn,
}

/// What there is of a commit.
#[derive(Debug, Default)]
pub(super) struct Found {
    parts: BTreeSet<u16>,
    /// The number of the part that says that it is the last.
    last: Option<u16>,
    /// What its opening record names as the commit before.
    pub(super) opens_behind: Option<Lsn>,
}

impl Found {
    /// Whether nothing of it is missing.
    pub(super) fn is_whole(&self) -> bool {
        self.last.is_some_and(|last| self.parts.len() == usize::from(last) + 1)
    }
}

/// Where a record stands, and all that its checksum is seeded with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) physical: u32,
    pub(super) sequence: u64,
    pub(super) offset: u32,
    pub(super) lsn: Lsn,
}

/// A record that changes a document, or that moved it.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) collection: u32,
    pub(super) key: Key,
    pub(super) place: Place,
    /// The commit that made the version: an older one than that of the record, where it was moved.
    pub(super) version: Lsn,
    pub(super) is_delete: bool,
}

/// How many sequences that no header has are tried on segments without a header.
const MISSING_MAX: usize = 4096;

impl Swept {
    /// Searches the whole file. `known` are sequences that segments at these places should have.
    pub(super) fn of(source: &Source, known: &[(u32, u64)]) -> Result<Swept> {
        let mut swept = Swept::default();
        let (slot, geometry) = (&source.slot, source.slot.geometry);
        let count = geometry.segments_within(source.file_len);
        let mut headers: BTreeMap<u32, SegmentHeader> = BTreeMap::new();
        for physical in 0..count {
            let bytes = source.read(geometry.segment_offset(physical), geometry.data_start() as usize)?;
            if let Some(header) = SegmentHeader::parse(&bytes, &slot.lineage, physical) {
                headers.insert(physical, header);
            }
        }
        let candidates = Candidates::new(&headers, known);
        for physical in 0..count {
            match headers.get(&physical) {
                Some(header) if header.kind == SegmentKind::Checkpoint => {}
                Some(header) if header.sequence > geometry.sequence_max() => {}
                Some(header) => {
                    swept.claim = swept.claim.max(header.durable_lsn);
                    let bytes = source.segment(physical)?;
                    search(slot, (physical, header.sequence), Some(header.first_lsn), &bytes, &mut swept);
                }
                None => {
                    let bytes = source.segment(physical)?;
                    for sequence in candidates.at(physical) {
                        if sequence <= geometry.sequence_max() {
                            search(slot, (physical, sequence), None, &bytes, &mut swept);
                        }
                    }
                }
            }
        }
        swept.claim = swept.claim.max(slot.durable_lsn);
        Ok(swept)
    }

    /// A frame was found; whole, or only its header.
    pub(super) fn note_frame(&mut self, frame: &Frame) {
        let header = &frame.header;
        self.claim = self.claim.max(header.claim().unwrap_or(Lsn::ZERO));
        let found = self.commits.entry(header.lsn).or_default();
        if frame.is_whole {
            found.parts.insert(header.part);
            if header.last {
                found.last = Some(header.part);
            }
        }
    }

    /// An opening record was found.
    pub(super) fn note_opening(&mut self, lsn: Lsn, behind: Lsn) {
        self.claim = self.claim.max(behind);
        self.commits.entry(lsn).or_default().opens_behind = Some(behind);
    }
}

/// The sequences that a segment without a valid header may have.
#[derive(Debug)]
struct Candidates {
    /// Those that something leads to, by physical index.
    named: BTreeMap<u32, BTreeSet<u64>>,
    /// Those that no header has, though there are lower and higher ones.
    missing: Vec<u64>,
}

impl Candidates {
    fn new(headers: &BTreeMap<u32, SegmentHeader>, known: &[(u32, u64)]) -> Self {
        let mut named: BTreeMap<u32, BTreeSet<u64>> = BTreeMap::new();
        let mut name = |physical: u32, sequence: Option<u64>| {
            named.entry(physical).or_default().extend(sequence);
        };
        // spec: F-4.5
        name(0, Some(0));
        known.iter().for_each(|(physical, sequence)| name(*physical, Some(*sequence)));
        let mut sequences = BTreeSet::new();
        for header in headers.values().filter(|header| header.kind == SegmentKind::Log) {
            sequences.insert(header.sequence);
            for (reserved, ahead) in [(header.next, 1), (header.after, 2)] {
                if let Some(physical) = reserved {
                    name(physical, header.sequence.checked_add(ahead));
                }
            }
        }
        let missing = match (sequences.first(), sequences.last()) {
            (Some(first), Some(last)) => {
                let all = first.saturating_sub(2)..=last.saturating_add(2);
                all.filter(|sequence| !sequences.contains(sequence)).take(MISSING_MAX).collect()
            }
            _ => vec![0],
        };
        Candidates { named, missing }
    }

    fn at(&self, physical: u32) -> BTreeSet<u64> {
        let named = self.named.get(&physical).into_iter().flatten().copied();
        named.chain(self.missing.iter().copied()).collect()
    }
}
