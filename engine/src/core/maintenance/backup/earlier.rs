//! What of an earlier backup can be taken over, and how it is known to be one.

use crate::cache::SegmentTable;
use crate::error::{Error, Result};
use crate::format::checksum::crc;
use crate::format::superblock::Superblock;
use crate::options::Options;
use crate::recovery::{self, Extent, File, Opened, Plan};
use crate::seeded::{self, Bug};
use crate::storage::FailStop;

use super::contents::{Contents, Part};
use super::hold::unusable;

/// The first bytes of an instance id are random; the rest seal it.
const RANDOM_LEN: usize = 12;

/// The instance id of a backup of the store of instance `of`, whose slots say what `slot` does. It stops to fit once the backup is written to,
/// since that begins with an incarnation: so nobody goes on from a copy that has a history of its own.
pub(super) fn sealed(random: &[u8; 16], of: &[u8; 16], slot: &Superblock) -> [u8; 16] {
    let mut instance = *random;
    let mut sealed = Vec::with_capacity(64);
    sealed.extend_from_slice(&random[..RANDOM_LEN]);
    sealed.extend_from_slice(of);
    sealed.extend_from_slice(&slot.lineage);
    sealed.extend_from_slice(&slot.incarnation.to_le_bytes());
    sealed.extend_from_slice(&slot.durable_lsn.0.to_le_bytes());
    sealed.extend_from_slice(&slot.file_len.to_le_bytes());
    instance[RANDOM_LEN..].copy_from_slice(&crc(&sealed).to_le_bytes());
    instance
}

/// An earlier backup.
#[derive(Debug)]
pub(super) struct Earlier<'a> {
    pub(super) storage: &'a FailStop,
    contents: Contents,
}

impl<'a> Earlier<'a> {
    //= spec/space.md#p-10-4-from-an-earlier-backup
    //# A backup whose seal does not fit with the instance id of the source MUST be refused: it is of another
    //# store or another branch of it, or was opened for writing since, which takes an incarnation.
    /// Opens the file, which must be a backup of the store whose newest slot is `of`, as it was made.
    pub(super) fn open(storage: &'a FailStop, of: &Superblock, options: &Options) -> Result<Earlier<'a>> {
        let slot = match recovery::open_slots(storage, of.geometry)? {
            Opened::Store { slot, .. } => *slot,
            Opened::Unfinished => return Err(Error::Incomplete),
        };
        let is_sealed = slot.instance == sealed(&slot.instance, &of.instance, &slot);
        let is_sealed = is_sealed || seeded::is_on(Bug::BackupOfAnyBranch);
        if !is_sealed || slot.lineage != of.lineage || slot.geometry != of.geometry {
            return Err(unusable());
        }
        let segments = SegmentTable::new(slot.geometry);
        let plan =
            Plan { read_unit: options.check.read_unit, layout: options.layout(), extent: Extent::Whole };
        let recovered = recovery::recover(File::new(storage, &slot)?, &segments, plan)?;
        let accounts = &recovered.replay.accounts;
        let len = (slot.geometry, slot.file_len);
        let contents = Contents::of(recovered.end.lsn, len, accounts, &segments, &recovered.checkpoints);
        Ok(Earlier { storage, contents })
    }

    //= spec/space.md#p-10-4-from-an-earlier-backup
    //# Index segments are copied from the source always.
    /// Whether this very part of the log stands at the same place there.
    pub(super) fn has(&self, physical: u32, part: &Part) -> bool {
        match (self.contents.segments.get(&physical), part) {
            (Some(Part::Index { .. }), Part::Index { .. }) => seeded::is_on(Bug::IndexSegmentFromEarlier),
            (there, part) => there == Some(part),
        }
    }
}
