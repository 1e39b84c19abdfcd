//! Makes a new store, in an order that a crash at any point leaves either nothing or all of (spec: R-6).

use crate::error::Result;
use crate::format::segment::{SegmentHeader, SegmentKind};
use crate::format::superblock::{SLOT_OFFSETS, Superblock};
use crate::format::{Geometry, Lsn};
use crate::seeded::{self, Bug};
use crate::storage::FailStop;

//= spec/recovery.md#r-6-1-order
//# A writer MUST NOT return from creation before the last of these.
/// Creates the store in an empty file, or over an unfinished creation. `template` says everything but what is fixed at
/// creation; the newest slot is returned. What is left to do is the sync of the directory, which falls to whoever opens a
/// store that was never written to: a creation that was killed here is then finished like any other.
pub(crate) fn create(storage: &FailStop, geometry: Geometry, template: &Superblock) -> Result<Superblock> {
    let len = geometry.creation_len();
    storage.set_len(len)?;
    storage.zero_fill(0, len)?;
    let header = SegmentHeader {
        kind: SegmentKind::Log,
        sequence: 0,
        first_lsn: Lsn::ZERO,
        durable_lsn: Lsn::ZERO,
        prev_end: 0,
        next: Some(1),
        after: Some(2),
    };
    storage.write_all_at(geometry.segment_offset(0), &header.encode(&template.lineage, 0))?;
    if !seeded::is_on(Bug::CreationInOneSync) {
        storage.sync()?;
    }
    let mut slot = template.clone();
    slot.file_len = len;
    for generation in 0..2 {
        slot.generation = generation;
        storage.write_all_at(SLOT_OFFSETS[slot.slot()], &slot.encode())?;
        storage.sync()?;
    }
    Ok(slot)
}
