//! A superblock put together where neither slot is valid: segment headers tell geometry and lineage, roots tell which checkpoints there are.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::format::frame::{SegmentSeed, parse_header};
use crate::format::index_record::{IndexPlace, IndexRecord, IndexRecordKind, Reference};
use crate::format::segment::{SEGMENT_HEADER_LEN, SegmentHeader, SegmentKind};
use crate::format::superblock::{CheckpointRef, Superblock};
use crate::format::{
    Geometry, Lineage, Lsn, SECTOR_DEFAULT, SECTOR_MAX, SECTOR_MIN, SEGMENT_BYTES_MAX, SEGMENT_BYTES_MIN,
    SEGMENTS_START,
};
use crate::recovery;
use crate::storage::FailStop;

/// Where lineage ids stand in a segment header.
const LINEAGE_AT: usize = 44;
/// Bytes read at a time.
const PIECE_LEN: usize = 1 << 20;

/// A segment header that is valid in a file of segments of some length. That of the first segment is valid for every length.
#[derive(Debug, Clone, Copy)]
struct Sighting {
    segment_bytes: u32,
    physical: u32,
    lineage: Lineage,
    header: SegmentHeader,
}

/// The superblock that fits to what the file holds.
pub(crate) fn superblock(storage: &FailStop, file_len: u64) -> Result<Superblock> {
    let sightings = sightings(storage, file_len)?;
    let Some((segment_bytes, lineage)) = most_plausible(&sightings, file_len) else {
        return Err(Error::NotHolotype { found: "neither a superblock nor the header of any segment" });
    };
    let fits = |sighting: &&Sighting| (sighting.segment_bytes, sighting.lineage) == (segment_bytes, lineage);
    let headers: Vec<_> =
        sightings.iter().filter(fits).map(|sighting| (sighting.physical, sighting.header)).collect();
    let sector = sector(storage, segment_bytes, &lineage, &headers)?;
    let geometry = Geometry::new(sector, segment_bytes)?;
    let mut slot = Superblock { file_len, ..Superblock::new(geometry, lineage) };
    slot.checkpoints = checkpoints(storage, &slot, &headers)?;
    Ok(slot)
}

/// Every segment header in the file.
fn sightings(storage: &FailStop, file_len: u64) -> Result<Vec<Sighting>> {
    let mut found = Vec::new();
    let mut at = SEGMENTS_START;
    while at < file_len {
        let len = PIECE_LEN.min((file_len - at) as usize);
        let bytes = storage.read_up_to(at, len)?;
        for offset in (0..bytes.len()).step_by(SEGMENT_BYTES_MIN as usize) {
            let Some(header) = bytes.get(offset..offset + SEGMENT_HEADER_LEN) else { break };
            let kinds = [SegmentKind::Log, SegmentKind::Index];
            if kinds.iter().any(|kind| header.starts_with(&kind.magic())) {
                let from_start = at + offset as u64 - SEGMENTS_START;
                found.extend(segment_lengths().filter_map(|len| sighting(header, from_start, len)));
            }
        }
        if bytes.len() < len {
            break;
        }
        at += len as u64;
    }
    Ok(found)
}

fn segment_lengths() -> impl Iterator<Item = u32> {
    std::iter::successors(Some(SEGMENT_BYTES_MIN), |len| len.checked_mul(2))
        .take_while(|len| *len <= SEGMENT_BYTES_MAX)
}

/// The header so far behind the start of the first segment, where it is valid in a file of segments of this length.
fn sighting(header: &[u8], from_start: u64, segment_bytes: u32) -> Option<Sighting> {
    if !from_start.is_multiple_of(u64::from(segment_bytes)) {
        return None;
    }
    let physical = u32::try_from(from_start / u64::from(segment_bytes)).ok()?;
    let lineage = header[LINEAGE_AT..LINEAGE_AT + 16].try_into().expect("16 bytes are 16 bytes");
    let header = SegmentHeader::parse(header, &lineage, physical)?;
    Some(Sighting { segment_bytes, physical, lineage, header })
}

/// Length of segments and lineage with the most headers. Where there is only that of the first segment, the least length of which that one
/// segment holds the whole file.
fn most_plausible(sightings: &[Sighting], file_len: u64) -> Option<(u32, Lineage)> {
    let mut votes: BTreeMap<(u32, Lineage), u32> = BTreeMap::new();
    for sighting in sightings {
        *votes.entry((sighting.segment_bytes, sighting.lineage)).or_default() += 1;
    }
    let one_holds_all = |segment_bytes: u32| SEGMENTS_START + u64::from(segment_bytes) >= file_len;
    let best = votes.into_iter().max_by_key(|((segment_bytes, _), count)| {
        (*count, one_holds_all(*segment_bytes), std::cmp::Reverse(*segment_bytes))
    });
    best.map(|(found, _)| found)
}

/// The sector, which is where the first frame of a segment begins.
fn sector(
    storage: &FailStop,
    segment_bytes: u32,
    lineage: &Lineage,
    headers: &[(u32, SegmentHeader)],
) -> Result<u32> {
    let legal = |sector: &u32| Geometry::new(*sector, segment_bytes).is_ok();
    let sectors = std::iter::successors(Some(SECTOR_MIN), |sector| sector.checked_mul(2))
        .take_while(|sector| *sector <= SECTOR_MAX);
    let sectors: Vec<u32> = sectors.filter(legal).collect();
    let mut votes: BTreeMap<u32, u32> = BTreeMap::new();
    for (physical, header) in headers.iter().filter(|(_, header)| header.kind == SegmentKind::Log) {
        let at = SEGMENTS_START + u64::from(*physical) * u64::from(segment_bytes);
        let bytes = storage.read_up_to(at, SECTOR_MAX as usize * 2)?;
        let seed = SegmentSeed::for_segment(lineage, header.sequence);
        // Frames stand at other such offsets too; none stands before the first.
        let first =
            sectors.iter().find(|sector| parse_header(&bytes, **sector, &seed, segment_bytes).is_some());
        if let Some(first) = first {
            *votes.entry(*first).or_default() += 1;
        }
    }
    let best = votes.into_iter().max_by_key(|(sector, count)| (*count, std::cmp::Reverse(*sector)));
    let fallback = if legal(&SECTOR_DEFAULT) { SECTOR_DEFAULT } else { SECTOR_MIN };
    Ok(best.map_or(fallback, |(sector, _)| sector))
}

/// The two newest checkpoints whose root is found.
fn checkpoints(
    storage: &FailStop,
    slot: &Superblock,
    headers: &[(u32, SegmentHeader)],
) -> Result<[Option<CheckpointRef>; 2]> {
    let mut found: BTreeMap<Lsn, CheckpointRef> = BTreeMap::new();
    let geometry = slot.geometry;
    for (physical, header) in headers.iter().filter(|(_, header)| header.kind == SegmentKind::Index) {
        let at = geometry.segment_offset(*physical);
        let bytes = storage.read_up_to(at, geometry.segment_bytes() as usize)?;
        for offset in (geometry.data_start()..bytes.len() as u32).step_by(8) {
            let (lineage, physical) = (&slot.lineage, *physical);
            let mut place = IndexPlace { lineage, physical, offset, lsn: header.first_lsn };
            let record = IndexRecord::find(&bytes[offset as usize..], &mut place);
            let Ok((IndexRecord { kind: IndexRecordKind::Root, .. }, extent)) = record else { continue };
            // Any part may be the last one: it is, where those before it make a map with it.
            let (lsn, len, crc) = (place.lsn, extent.len as u32, extent.crc);
            let reference = Reference { physical, offset, len, crc };
            let Ok(root) = recovery::root_of(storage, slot, lsn, reference) else { continue };
            found.insert(lsn, root.log.checkpoint(lsn, reference));
        }
    }
    let mut newest = found.into_values().rev();
    Ok([newest.next(), newest.next()])
}
