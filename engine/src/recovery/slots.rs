//! The superblock slots at opening (spec: F-3.3, R-5.1).

use crate::error::{Corruption, Error, Result};
use crate::format::segment::SegmentKind;
use crate::format::superblock::{MAGIC, SLOT_LEN, SLOT_OFFSETS, Slot, Superblock, newer_major, parse_slot};
use crate::format::{Geometry, Lsn, SEGMENTS_START};
use crate::storage::FailStop;

/// What the two slots say of the file.
#[derive(Debug)]
pub(crate) enum Opened {
    /// There is a store: its newest valid slot, and what the other one is.
    Store { slot: Box<Superblock>, other: OtherSlot },
    /// The file is empty, or a creation that did not get to its first slot.
    Unfinished,
}

/// The slot beside the newest valid one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OtherSlot {
    Valid,
    /// Zeros in slot B beside a slot A as creation writes it: without a commit in the log, it was never written.
    Blank,
    Invalid,
}

impl OtherSlot {
    //= spec/recovery.md#r-6-3-ended-between-its-slots
    //# A reader MUST NOT report an unwritten slot as damage.
    /// Whether the file is damaged there, in a store whose log ends with the commit `last`.
    pub(crate) fn is_damaged(self, last: Lsn) -> bool {
        match self {
            OtherSlot::Valid => false,
            OtherSlot::Blank => last != Lsn::ZERO,
            OtherSlot::Invalid => true,
        }
    }
}

//= spec/format.md#f-3-3-validity
//# A reader MUST take the valid slot of the higher generation as the newest.
//= spec/versions.md#c-2-5-older-minor
//# A reader MUST read every file of its own major with an equal or lower minor version.
/// Reads both slots. `geometry` is what a new store would get: an unfinished creation is no longer than it asks for.
pub(crate) fn open_slots(storage: &FailStop, geometry: Geometry) -> Result<Opened> {
    let mut slots = Vec::with_capacity(2);
    let mut newer = None;
    for (index, offset) in SLOT_OFFSETS.into_iter().enumerate() {
        let mut bytes = [0; SLOT_LEN];
        let have = storage.read_full(offset, &mut bytes)?;
        newer = newer.or_else(|| newer_major(&bytes[..have]));
        // A file that ends inside a slot has no such slot; what is missing is not taken for zeros of its own.
        slots.push(if have == SLOT_LEN { parse_slot(&bytes, index) } else { partial(&bytes[..have]) });
    }
    let [first, second] = <[Slot; 2]>::try_from(slots).expect("there are two slots");
    match (first, second) {
        (Slot::Valid(a), Slot::Valid(b)) => {
            same_creation(&a, &b)?;
            let slot = if a.generation > b.generation { a } else { b };
            Ok(Opened::Store { slot, other: OtherSlot::Valid })
        }
        // spec: F-3.4. Asked of both slots before anything else that either says.
        (Slot::Refused(error @ (Error::NewerFormat { .. } | Error::OlderFormat { .. })), _)
        | (_, Slot::Refused(error @ (Error::NewerFormat { .. } | Error::OlderFormat { .. }))) => Err(error),
        (Slot::Refused(error), _) | (_, Slot::Refused(error)) => Err(error),
        (Slot::Valid(slot), Slot::Blank) if slot.generation == 0 => {
            Ok(Opened::Store { slot, other: OtherSlot::Blank })
        }
        (Slot::Valid(slot), _) | (_, Slot::Valid(slot)) => {
            Ok(Opened::Store { slot, other: OtherSlot::Invalid })
        }
        (first, second) => match newer {
            Some(error) => Err(error),
            None => neither(storage, geometry, [&first, &second]),
        },
    }
}

//= spec/format.md#f-3-3-validity
//# A reader MUST report the file as corrupt when both slots are valid and their sector, segment_bytes or
//# lineage id differ: creation fixes these.
/// Two valid slots of one file say the same of what no writer changes.
pub(crate) fn same_creation(a: &Superblock, b: &Superblock) -> Result<()> {
    let Some((at, [expected, found])) = a.of_another_creation(b) else { return Ok(()) };
    Err(Corruption::new(SLOT_OFFSETS[1] + at as u64, "F-3.3", "the superblock slots are of two stores")
        .comparing(u64::from(expected), u64::from(found))
        .into())
}

fn partial(bytes: &[u8]) -> Slot {
    if bytes.iter().all(|byte| *byte == 0) {
        Slot::Blank
    } else if bytes.starts_with(&MAGIC[..bytes.len().min(8)]) {
        Slot::Torn
    } else {
        Slot::Foreign
    }
}

//= spec/recovery.md#r-5-1-no-valid-slot
//# When neither slot is valid otherwise, a reader MUST report the file as corrupt if either slot begins with
//# the magic, and else as not a Holotype file.
fn neither(storage: &FailStop, geometry: Geometry, slots: [&Slot; 2]) -> Result<Opened> {
    if is_unfinished(storage, geometry)? {
        return Ok(Opened::Unfinished);
    }
    if slots.iter().any(|slot| matches!(slot, Slot::Torn)) {
        return Err(Corruption::new(0, "R-5.1", "neither superblock slot is valid").into());
    }
    Err(Error::NotHolotype { found: "neither superblock slot begins with the magic" })
}

//= spec/recovery.md#r-5-1-no-valid-slot
//# A read-only open MUST report that it is incomplete; a writer MAY create the store anew.
/// Whether the file is what a creation may leave behind before its first slot is durable: zeros, but for the header of
/// segment 0, and for slot A once the whole length is durable; either may be torn. (A store that was cut short has a nonzero
/// slot in a file that is too short for it, and is no creation.)
fn is_unfinished(storage: &FailStop, geometry: Geometry) -> Result<bool> {
    let len = storage.len()?;
    if len == 0 {
        return Ok(true);
    }
    if len > geometry.creation_len() {
        return Ok(false);
    }
    let mut bytes = vec![0; len as usize];
    let have = storage.read_full(0, &mut bytes)?;
    let header = SEGMENTS_START as usize..SEGMENTS_START as usize + geometry.sector() as usize;
    let slot = if len == geometry.creation_len() { 0..SLOT_LEN } else { 0..0 };
    // What creation writes first in either place; torn, it is still zeros. Anything else is somebody's own file.
    let begins = |at: usize, with: &[u8]| {
        bytes
            .get(at..at + with.len())
            .is_none_or(|found| found == with || found.iter().all(|byte| *byte == 0))
    };
    if !begins(0, &MAGIC) || !begins(header.start, &SegmentKind::Log.magic()) {
        return Ok(false);
    }
    let mut others =
        bytes[..have].iter().enumerate().filter(|(at, _)| !slot.contains(at) && !header.contains(at));
    Ok(others.all(|(_, byte)| *byte == 0))
}
