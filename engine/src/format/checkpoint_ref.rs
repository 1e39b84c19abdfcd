//! A superblock's reference to a checkpoint: where the last part of its root lies, and where replay begins after it
//! (F-3.2).
//!
//! | offset | length | field                                            spec F-3.2 |
//! |-------:|-------:|---------------------------------------------------------|
//! |      0 |      8 | LSN of the checkpoint; 0: none, all other fields zero   |
//! |      8 |      4 | root: physical index of its segment                     |
//! |     12 |      4 | root: offset in that segment                            |
//! |     16 |      4 | root: its CRC field                                     |
//! |     20 |      4 | replay start: physical index                            |
//! |     24 |      8 | replay start: sequence                                  |
//! |     32 |      4 | replay start: offset in the segment                     |
//! |     36 |      4 | root: its length                                        |
//! |     40 |      8 | replay start: LSN of the last commit before it          |

use std::ops::Range;

use super::fields::{put, u32_at, u64_at};
use super::index_record::Reference;
use super::{Geometry, LogAddress, Lsn};
use crate::error::Corruption;

/// The length of a checkpoint reference.
pub(super) const CHECKPOINT_REF_LEN: usize = 48;

const LSN: Range<usize> = 0..8;
const ROOT_PHYSICAL: Range<usize> = LSN.end..LSN.end + 4;
const ROOT_OFFSET: Range<usize> = ROOT_PHYSICAL.end..ROOT_PHYSICAL.end + 4;
const ROOT_CRC: Range<usize> = ROOT_OFFSET.end..ROOT_OFFSET.end + 4;
const REPLAY_PHYSICAL: Range<usize> = ROOT_CRC.end..ROOT_CRC.end + 4;
const REPLAY_SEQUENCE: Range<usize> = REPLAY_PHYSICAL.end..REPLAY_PHYSICAL.end + 8;
const REPLAY_OFFSET: Range<usize> = REPLAY_SEQUENCE.end..REPLAY_SEQUENCE.end + 4;
const ROOT_LEN: Range<usize> = REPLAY_OFFSET.end..REPLAY_OFFSET.end + 4;
const REPLAY_LSN: Range<usize> = ROOT_LEN.end..CHECKPOINT_REF_LEN;

const _: () = assert!(REPLAY_SEQUENCE.start == 24 && REPLAY_LSN.start == 40);
const _: () = assert!(REPLAY_LSN.end - REPLAY_LSN.start == 8);

/// Where a checkpoint lies, and where the log goes on behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckpointRef {
    /// The last commit that the checkpoint contains; never zero.
    pub lsn: Lsn,
    /// The last part of the root.
    pub root: Reference,
    /// Replay start: physical index of the segment.
    pub replay_physical: u32,
    /// Replay start: the segment's sequence number.
    pub replay_sequence: u64,
    /// Replay start: offset in the segment, where the commit at the checkpoint's LSN ended.
    pub replay_offset: u32,
    /// Replay start: LSN of the last commit before it.
    pub replay_lsn: Lsn,
}

impl CheckpointRef {
    /// Where the log ended at the checkpoint.
    #[must_use]
    pub const fn end(&self, geometry: Geometry) -> LogAddress {
        geometry.address(self.replay_sequence, self.replay_offset)
    }

    pub(super) fn encode(reference: Option<CheckpointRef>) -> [u8; CHECKPOINT_REF_LEN] {
        let mut bytes = [0; CHECKPOINT_REF_LEN];
        let Some(reference) = reference else { return bytes };
        assert!(reference.lsn > Lsn::ZERO, "LSN 0 stands for: no checkpoint");
        put(&mut bytes, LSN, reference.lsn.0.to_le_bytes());
        put(&mut bytes, ROOT_PHYSICAL, reference.root.physical.to_le_bytes());
        put(&mut bytes, ROOT_OFFSET, reference.root.offset.to_le_bytes());
        put(&mut bytes, ROOT_CRC, reference.root.crc.to_le_bytes());
        put(&mut bytes, ROOT_LEN, reference.root.len.to_le_bytes());
        put(&mut bytes, REPLAY_PHYSICAL, reference.replay_physical.to_le_bytes());
        put(&mut bytes, REPLAY_SEQUENCE, reference.replay_sequence.to_le_bytes());
        put(&mut bytes, REPLAY_OFFSET, reference.replay_offset.to_le_bytes());
        put(&mut bytes, REPLAY_LSN, reference.replay_lsn.0.to_le_bytes());
        bytes
    }

    //= spec/format.md#f-3-2-checkpoint-reference
    //# A reader MUST report the file as corrupt when a valid slot, the newest or not, has a reference of LSN 0
    //# with another field that is not zero; an offset at which no index record of the length can be (F-8.11); a
    //# replay start whose offset is not a multiple of 8 from `sector` to segment_bytes; or a sequence whose
    //# addresses do not fit into 55 bits.
    /// Reads the reference that lies `at` an offset in the file, under a slot checksum that held. The offsets in
    /// it are within the segments of `geometry`, so that whoever follows them need not ask again.
    pub(super) fn decode(
        bytes: &[u8],
        geometry: Geometry,
        at: u64,
    ) -> Result<Option<CheckpointRef>, Corruption> {
        let corrupt = |field: Range<usize>, what, expected: u64, found: u64| {
            Err(Corruption::new(at + field.start as u64, "F-3.2", what).comparing(expected, found))
        };
        let reference = CheckpointRef {
            lsn: Lsn(u64_at(bytes, LSN)),
            root: Reference {
                physical: u32_at(bytes, ROOT_PHYSICAL),
                offset: u32_at(bytes, ROOT_OFFSET),
                len: u32_at(bytes, ROOT_LEN),
                crc: u32_at(bytes, ROOT_CRC),
            },
            replay_physical: u32_at(bytes, REPLAY_PHYSICAL),
            replay_sequence: u64_at(bytes, REPLAY_SEQUENCE),
            replay_offset: u32_at(bytes, REPLAY_OFFSET),
            replay_lsn: Lsn(u64_at(bytes, REPLAY_LSN)),
        };
        if reference.lsn == Lsn::ZERO {
            return match bytes[LSN.end..CHECKPOINT_REF_LEN].iter().copied().find(|&byte| byte != 0) {
                Some(byte) => corrupt(LSN, "fields of no checkpoint are not zero", 0, u64::from(byte)),
                None => Ok(None),
            };
        }
        let in_data = |offset: u32| offset >= geometry.data_start() && offset.is_multiple_of(8);
        if !reference.root.is_possible(geometry) {
            let (max, found) = (u64::from(geometry.segment_bytes()), u64::from(reference.root.offset));
            return corrupt(ROOT_OFFSET, "a root where no index record can be", max, found);
        }
        if !in_data(reference.replay_offset) || reference.replay_offset > geometry.segment_bytes() {
            let (max, found) = (u64::from(geometry.segment_bytes()), u64::from(reference.replay_offset));
            return corrupt(REPLAY_OFFSET, "replay start outside of its segment", max, found);
        }
        if reference.replay_sequence > geometry.sequence_max() {
            let (max, found) = (geometry.sequence_max(), reference.replay_sequence);
            return corrupt(REPLAY_SEQUENCE, "replay start beyond the last log address", max, found);
        }
        Ok(Some(reference))
    }
}
