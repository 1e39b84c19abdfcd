//! The two superblock slots, and the one by which the rest of the file is read.

use crate::error::{Error, Result};
use crate::format::Geometry;
use crate::format::superblock::{SLOT_LEN, SLOT_OFFSETS, Slot, Superblock, parse_slot};
use crate::recovery::{self, Opened};
use crate::salvage::guess_superblock;
use crate::storage::FailStop;

/// A superblock slot.
#[derive(Debug, Clone)]
pub struct SlotView {
    /// Where it stands in the file.
    pub at: u64,
    /// What it holds.
    pub state: SlotState,
    /// Whether it is the one that counts.
    pub is_newest: bool,
}

/// What a slot holds.
#[derive(Debug, Clone)]
pub enum SlotState {
    /// As it was written.
    Valid(Box<Superblock>),
    /// The file ends before it does.
    Absent,
    /// Zeros.
    Blank,
    /// It does not begin with the magic.
    Foreign,
    /// Its checksum does not hold, or it is of a generation that belongs into the other slot.
    Torn,
    /// As it was written, but by a newer version, or not by the rules.
    Refused(Error),
}

/// What there is to read the file by.
#[derive(Debug)]
pub(super) struct Root {
    pub(super) slots: [SlotView; 2],
    pub(super) superblock: Superblock,
    pub(super) is_inferred: bool,
    /// What opening the store says of its slots, where it gets no further.
    pub(super) refusal: Option<Error>,
}

impl Root {
    pub(super) fn find(storage: &FailStop, file_len: u64) -> Result<Root> {
        let mut slots = [view(storage, 0)?, view(storage, 1)?];
        let refusal = match recovery::open_slots(storage, Geometry::default()) {
            Ok(Opened::Store { .. }) => None,
            Ok(Opened::Unfinished) => return Err(Error::Incomplete),
            Err(error) => Some(error),
        };
        let newest = newest(&slots);
        if let Some(index) = newest {
            slots[index].is_newest = true;
        }
        let valid = newest.and_then(|index| match &slots[index].state {
            SlotState::Valid(superblock) => Some((**superblock).clone()),
            _ => None,
        });
        if let Some(superblock) = valid {
            return Ok(Root { slots, superblock, is_inferred: false, refusal });
        }
        match refusal {
            // What is written in another format is not for us to guess at.
            Some(error @ (Error::NewerFormat { .. } | Error::OlderFormat { .. })) => Err(error),
            refusal => match guess_superblock(storage, file_len) {
                Ok(superblock) => Ok(Root { slots, superblock, is_inferred: true, refusal }),
                // The slots have the better reason: a store that was, and of which nothing else is left.
                Err(guess) => Err(refusal.unwrap_or(guess)),
            },
        }
    }
}

fn view(storage: &FailStop, index: usize) -> Result<SlotView> {
    let at = SLOT_OFFSETS[index];
    let mut bytes = [0; SLOT_LEN];
    let have = storage.read_full(at, &mut bytes)?;
    let state = match parse_slot(&bytes, index) {
        _ if have < SLOT_LEN => SlotState::Absent,
        Slot::Valid(superblock) => SlotState::Valid(superblock),
        Slot::Blank => SlotState::Blank,
        Slot::Foreign => SlotState::Foreign,
        Slot::Torn => SlotState::Torn,
        Slot::Refused(error) => SlotState::Refused(error),
    };
    Ok(SlotView { at, state, is_newest: false })
}

/// The valid slot of the higher generation (spec: F-3.3).
fn newest(slots: &[SlotView; 2]) -> Option<usize> {
    let generation = |slot: &SlotView| match &slot.state {
        SlotState::Valid(superblock) => Some(superblock.generation),
        _ => None,
    };
    let valid = slots.iter().enumerate().filter_map(|(index, slot)| Some((generation(slot)?, index)));
    valid.max().map(|(_, index)| index)
}
