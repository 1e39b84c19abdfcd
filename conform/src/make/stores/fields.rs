//! Numbers that take more than one byte, in every field that has room for them: a reader that takes their bytes in another order, or from
//! another place, is wrong about one of these.

mod dead;
mod maps;
mod places;
mod records;
mod slots;
mod trees;
mod wide;

use super::{Maker, corrupt};
use crate::case::Group;
use crate::forge::Forge;

pub(super) fn make() -> Group {
    let mut maker = Maker::new(
        "fields",
        "Numbers of more than one byte in the fields of records, of index records and of their entries, where each decides what is found",
    );
    records::make(&mut maker);
    trees::make(&mut maker);
    maps::make(&mut maker);
    wide::make(&mut maker);
    dead::make(&mut maker);
    slots::make(&mut maker);
    places::make(&mut maker);
    maker.finish()
}

/// Writes the slot that names these checkpoints, the newest first, as of this LSN.
fn name_in_slot(forge: &mut Forge, references: &[&[u8]], durable: u64) {
    forge.slot(3, |slot| {
        slot[360..364].copy_from_slice(&((durable >> 32) as u32).to_le_bytes());
        slot[368..376].copy_from_slice(&durable.to_le_bytes());
        for (n, reference) in references.iter().enumerate() {
            slot[384 + 48 * n..432 + 48 * n].copy_from_slice(reference);
        }
    });
}

/// Damages the header of a frame, so that nothing but a checkpoint has what it held.
fn damage_frame(forge: &mut Forge, frame: usize) {
    let at = forge.placed[frame].at;
    forge.data[at] ^= 1;
}
