//! What a file is made of.

use std::collections::BTreeMap;

use crate::cache::SegmentTable;
use crate::format::superblock::CheckpointRef;
use crate::format::{Geometry, Lsn};
use crate::recovery::{HeldCheckpoint, NamedCheckpoints};
use crate::space::Accounts;

/// The segments of a store as of one commit.
#[derive(Debug)]
pub(super) struct Contents {
    /// The last commit.
    pub(super) lsn: Lsn,
    pub(super) file_len: u64,
    /// The checkpoint that is known to be good, and the other one that the slots name.
    pub(super) checkpoints: [Option<CheckpointRef>; 2],
    /// By physical index.
    pub(super) segments: BTreeMap<u32, Part>,
}

/// One segment, and all that tells it apart: in the files of one store, equal parts are equal bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// Of the log, up to where its last frame ended; with its stretches, by offset and first LSN.
    Log { sequence: u64, end: u32, stretches: Vec<(u32, Lsn)> },
    /// Of checkpoints, up to where the last record of those that are named ended.
    Index { end: u32 },
}

impl Part {
    /// How many bytes from its start on count. What lies behind is of an older life.
    pub(super) fn len(&self, geometry: Geometry) -> u32 {
        match self {
            Part::Log { end, .. } => (*end).max(geometry.data_start()),
            Part::Index { end } => *end,
        }
    }
}

impl Contents {
    /// What the accounts, the table and the named checkpoints of a store say.
    pub(super) fn of(
        lsn: Lsn,
        (geometry, file_len): (Geometry, u64),
        accounts: &Accounts,
        table: &SegmentTable,
        checkpoints: &NamedCheckpoints,
    ) -> Contents {
        let sound = checkpoints.sound();
        let other = checkpoints.named().find(|held| Some(*held) != sound);
        let segment_bytes = geometry.segment_bytes();
        let mut segments = BTreeMap::new();
        for held in [sound, other].into_iter().flatten() {
            let HeldCheckpoint { reference, segments: places, .. } = held;
            // The root is the last record of a checkpoint. What other segments have behind their last record does no harm.
            let root = reference.root;
            let end =
                |physical| if physical == root.physical { root.offset + root.len } else { segment_bytes };
            for physical in places.keys().copied() {
                let part = segments.entry(physical).or_insert(Part::Index { end: 0 });
                if let Part::Index { end: ends } = part {
                    *ends = end(physical).max(*ends);
                }
            }
        }
        for (sequence, account) in accounts.iter() {
            let Some(segment) = table.get(sequence) else { continue };
            let stretches = segment.stretches().iter().map(|stretch| (stretch.offset, stretch.first_lsn));
            let part = Part::Log { sequence, end: account.end, stretches: stretches.collect() };
            segments.insert(account.physical, part);
        }
        let checkpoints = [sound, other].map(|held| held.map(|held| held.reference));
        Contents { lsn, file_len, checkpoints, segments }
    }

    /// Bytes of all of them.
    pub(super) fn bytes(&self, geometry: Geometry) -> u64 {
        self.segments.values().map(|part| u64::from(part.len(geometry))).sum()
    }
}
