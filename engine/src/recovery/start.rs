//! Where recovery begins: at a checkpoint, or at the creation of the store (spec: ).

use crate::cache::{Segment, SegmentTable};
use crate::error::{Corruption, Error, Result};
use crate::format::Lsn;
use crate::index::{Catalog, Layout};
use crate::log::LogEnd;
use crate::space::Accounts;
use crate::sync::Arc;

use super::checkpoint::{self, Extent, Loaded, NamedCheckpoints};
use super::file::File;

/// The state in which replay begins.
#[derive(Debug)]
pub(super) struct Start {
    /// Where the last commit in it ended.
    pub(super) end: LogEnd,
    pub(super) catalog: Catalog,
    pub(super) accounts: Accounts,
    pub(super) checkpoints: NamedCheckpoints,
}

impl Start {
    //= spec/space.md#p-2-7-either-alone-suffices
    //# From each checkpoint that a valid slot names, and the log behind it, recovery MUST give the same
    //# state.
    //= spec/recovery.md#r-5-2-checkpoint-fallback
    //# When that cannot be read whole, the reader MUST take the one before that the same slot names; when the
    //# slot names one checkpoint only, it MUST start as if there were none.
    //= spec/recovery.md#r-5-2-checkpoint-fallback
    //# When it names two and neither can be read whole, the reader MUST report the file as corrupt.
    /// The newest checkpoint that can be read whole; the creation of the store where the slot names none, or no other. Its segments are put
    /// into the table.
    pub(super) fn find(file: File<'_>, segments: &SegmentTable, read: (Layout, Extent)) -> Result<Start> {
        let mut fault = None;
        for (position, reference) in file.slot.checkpoints.iter().enumerate() {
            let Some(reference) = reference else { break };
            match checkpoint::load(file, reference, read) {
                Ok(loaded) => return Ok(Start::at(file, segments, position, loaded)),
                // spec. Whatever keeps it from being read, the one before is as good.
                Err(error @ (Error::Corrupt(_) | Error::Io { .. })) => {
                    fault.get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
        }
        match fault {
            // Both are named, and neither can be read: the log before them may be gone.
            Some(error) if file.slot.checkpoints[1].is_some() => Err(error),
            _ => Ok(Start::at_creation(file, segments)),
        }
    }

    /// What takes the place of the checkpoint that the slot names in this position, if something of it cannot be read: the one before, or the
    /// creation of the store where the slot names no other.
    pub(super) fn instead_of(
        position: usize,
        file: File<'_>,
        segments: &SegmentTable,
        layout: Layout,
    ) -> Result<Start> {
        let slot = file.slot;
        match (position, &slot.checkpoints[1]) {
            (0, Some(before)) => {
                let loaded = checkpoint::load(file, before, (layout, Extent::Whole))?;
                Ok(Start::at(file, segments, 1, loaded))
            }
            (0, None) => Ok(Start::at_creation(file, segments)),
            _ => {
                let at = slot.checkpoints[0].map_or(0, |newest| newest.root.at(slot.geometry));
                Err(Corruption::new(at, "R-5.7", "neither checkpoint can be read").into())
            }
        }
    }

    fn at_creation(file: File<'_>, segments: &SegmentTable) -> Start {
        let slot = file.slot;
        let segment = Arc::new(Segment::new(&slot.lineage, slot.geometry, 0, 0, Lsn::ZERO));
        let mut accounts = Accounts::default();
        accounts.open(0, 0);
        segments.put(Arc::clone(&segment));
        // spec: F-4.5
        let reserved = [Some(1), Some(2)];
        let end = LogEnd { segment, offset: slot.geometry.data_start(), lsn: Lsn::ZERO, reserved };
        let (catalog, checkpoints) = (Catalog::default(), NamedCheckpoints::read(file, None));
        Start { end, catalog, accounts, checkpoints }
    }

    fn at(file: File<'_>, segments: &SegmentTable, position: usize, loaded: Loaded) -> Start {
        let Loaded { end, catalog, accounts, table, held } = loaded;
        segments.load(table);
        let checkpoints = NamedCheckpoints::read(file, Some((position, held)));
        Start { end, catalog, accounts, checkpoints }
    }
}
