//! Follows the log of a damaged store as far as it goes, whatever its end means: `salvage` decides what that leaves unproven.

use std::collections::BTreeSet;

use crate::cache::SegmentTable;
use crate::error::{Corruption, Error, Result};
use crate::format::Lsn;
use crate::format::checkpoint::{CatalogEntry, Checkpoint, Root, root_of as checkpoint_root};
use crate::format::index_record::Reference;
use crate::format::superblock::{CheckpointRef, Superblock};
use crate::index::Layout;
use crate::seeded::{self, Bug};
use crate::space::FreeSegments;
use crate::storage::FailStop;

use super::checkpoint::{self, Extent, File};
use super::claims;
use super::recover::{Plan, Recovered};
use super::replay::Replay;
use super::scan::Scan;
use super::start::Start;

/// What the log says up to where it breaks off, or ends.
#[derive(Debug)]
pub(crate) struct Followed {
    /// For reading only: nothing is checked that only a writer relies on.
    pub(crate) recovered: Recovered,
    /// The highest LSN that somebody states to have been durable.
    pub(crate) claim: Lsn,
    /// Where the log goes on no further, in the file.
    pub(crate) end_at: u64,
}

/// Follows the log from the state that `slot` names.
pub(crate) fn follow(
    storage: &FailStop,
    slot: &Superblock,
    segments: &SegmentTable,
    plan: Plan,
) -> Result<Followed> {
    let file_len = storage.len()?;
    let mut start = Start::find(storage, slot, file_len, segments, (plan.layout, plan.extent))?;
    let mut scan = Scan::begin(storage, slot, file_len, plan.read_unit, &start)?;
    let mut replay = Replay::new(&mut start, plan.layout);
    let mut commits = 0;
    while let Some(commit) = scan.next()? {
        scan.note_segments(&commit, segments);
        replay.apply(&scan, &commit, segments)?;
        scan.accept(&commit);
        commits += 1;
    }
    let found = claims::search(&mut scan)?;
    let highest_incarnation = found.incarnation.max(scan.highest_incarnation());
    let end_at = scan.file_offset();
    let end = scan.into_end_to_read();
    let free = FreeSegments::around(&BTreeSet::new());
    let checkpoints = start.checkpoints;
    let recovered = Recovered { end, highest_incarnation, replay, free, checkpoints, commits };
    Ok(Followed { recovered, claim: found.highest.max(slot.durable_lsn), end_at })
}

/// The state of the commit at `lsn`, to which opening came by the checkpoint that the slot names in `position`: by the way that does not lead
/// through that (spec: ). For reading only.
pub(crate) fn recover_instead(
    storage: &FailStop,
    slot: &Superblock,
    segments: &SegmentTable,
    plan: Plan,
    (position, lsn): (usize, Lsn),
) -> Result<Recovered> {
    let mut start = Start::instead_of(position, storage, slot, segments, plan.layout)?;
    let mut scan = Scan::begin(storage, slot, storage.len()?, plan.read_unit, &start)?;
    let mut replay = Replay::new(&mut start, plan.layout);
    let mut commits = 0;
    // What comes behind may be in the making.
    while scan.lsn() < lsn && !seeded::is_on(Bug::RebuiltWithoutLog) {
        let commit = scan.next()?.ok_or_else(|| broken_off(&scan, lsn))?;
        scan.note_segments(&commit, segments);
        replay.apply(&scan, &commit, segments)?;
        scan.accept(&commit);
        commits += 1;
    }
    let highest_incarnation = scan.highest_incarnation();
    let end = scan.into_end_to_read();
    let free = FreeSegments::around(&BTreeSet::new());
    let checkpoints = start.checkpoints;
    Ok(Recovered { end, highest_incarnation, replay, free, checkpoints, commits })
}

fn broken_off(scan: &Scan<'_>, lsn: Lsn) -> Error {
    Corruption::new(scan.file_offset(), "R-5.7", "the log since the checkpoint before breaks off")
        .comparing(lsn.0, scan.lsn().0)
        .into()
}

/// The collections that a checkpoint names, where that much of it can be read.
pub(crate) fn catalog_of(
    storage: &FailStop,
    slot: &Superblock,
    reference: &CheckpointRef,
) -> Result<Vec<CatalogEntry>> {
    let file = File { storage, len: storage.len()? };
    let checkpoint = Checkpoint::open(&file, slot.geometry, &slot.lineage, reference)?;
    Ok(checkpoint.root().catalog.clone())
}

/// Whether a checkpoint can be read whole.
pub(crate) fn is_readable(storage: &FailStop, slot: &Superblock, reference: &CheckpointRef) -> bool {
    const PAGE_SHIFT: u32 = 12;
    let len = storage.len();
    len.and_then(|len| {
        checkpoint::load(storage, slot, len, reference, (Layout::new(PAGE_SHIFT), Extent::Whole))
    })
    .is_ok()
}

/// What the root of the checkpoint at `lsn` says that a record may be the last part of.
pub(crate) fn root_of(storage: &FailStop, slot: &Superblock, lsn: Lsn, last: Reference) -> Result<Root> {
    let file = File { storage, len: storage.len()? };
    Ok(checkpoint_root(&file, slot.geometry, &slot.lineage, lsn, last)?)
}
