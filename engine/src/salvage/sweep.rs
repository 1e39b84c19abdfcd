//! Everything that can be proven to have been in the log: every segment is searched, whatever leads there, for frames and records whose
//! checksums hold.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Result;
use crate::format::segment::{SegmentHeader, SegmentKind};

use super::found::Swept;
use super::segment::search;
use super::source::Source;

/// How many sequences that no header has are tried on segments without a header.
const MISSING_MAX: usize = 4096;

/// Searches the whole file. `known` are sequences that segments at these places should have.
pub(super) fn sweep(source: &Source, known: &[(u32, u64)]) -> Result<Swept> {
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
            Some(header) if header.kind == SegmentKind::Index => {}
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
