//! Follows the log of a damaged store as far as it goes, whatever its end means: `salvage` decides what that leaves unproven.

use crate::cache::SegmentTable;
use crate::error::{Corruption, Error, Result};
use crate::format::Lsn;
use crate::format::checkpoint::{Root, root_of as checkpoint_root};
use crate::format::index_record::Reference;
use crate::format::superblock::Superblock;
use crate::seeded::{self, Bug};
use crate::storage::FailStop;

use super::claims::{self, Claims};
use super::file::File;
use super::recover::{Following, Plan, Recovered};
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

/// Follows the log from the state that the slot names.
pub(crate) fn follow(file: File<'_>, segments: &SegmentTable, plan: Plan) -> Result<Followed> {
    let start = Start::find(file, segments, (plan.layout, plan.extent))?;
    let mut log = Following::begin(file, segments, plan, start)?;
    while let Some(commit) = log.scan.next()? {
        log.accept(&commit)?;
    }
    let claims = claims::search(&mut log.scan)?;
    let (claim, end_at) = (claims.highest.max(file.slot.durable_lsn), log.scan.file_offset());
    Ok(Followed { recovered: log.into_recovered(claims), claim, end_at })
}

/// The state of the commit at `lsn`, to which opening came by the checkpoint that the slot names in `position`: by the way that does not lead
/// through that (spec: ). For reading only.
pub(crate) fn recover_instead(
    file: File<'_>,
    segments: &SegmentTable,
    plan: Plan,
    (position, lsn): (usize, Lsn),
) -> Result<Recovered> {
    let start = Start::instead_of(position, file, segments, plan.layout)?;
    // The file may have grown meanwhile.
    let mut log = Following::begin(File::new(file.storage, file.slot)?, segments, plan, start)?;
    // What comes behind may be in the making.
    while log.scan.lsn() < lsn && !seeded::is_on(Bug::RebuiltWithoutLog) {
        let commit = log.scan.next()?.ok_or_else(|| broken_off(&log.scan, lsn))?;
        log.accept(&commit)?;
    }
    Ok(log.into_recovered(Claims::default()))
}

fn broken_off(scan: &Scan<'_>, lsn: Lsn) -> Error {
    Corruption::new(scan.file_offset(), "R-5.7", "the log since the checkpoint before breaks off")
        .comparing(lsn.0, scan.lsn().0)
        .into()
}

/// What the root of the checkpoint at `lsn` says that a record may be the last part of.
pub(crate) fn root_of(storage: &FailStop, slot: &Superblock, lsn: Lsn, last: Reference) -> Result<Root> {
    let file = File::new(storage, slot)?;
    checkpoint_root(&file, slot.geometry, &slot.lineage, lsn, last)
}
