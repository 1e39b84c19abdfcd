//! Generations of more than 32 bits, and the checkpoint before (F-3.1, F-3.2, F-3.3).

use holotype_model::Key;

use super::maps::far_with_two;
use super::wide::{ID, store_at};
use super::{Maker, corrupt, damage_frame, name_in_slot};
use crate::forge::Forge;
use crate::forge::Record;
use crate::forge::checkpoint::{Changes, Checkpoint};
use crate::forge::log::SEGMENTS;
use crate::make::stores::sample::{saying, small};
use crate::make::stores::state_before;

pub(super) fn make(maker: &mut Maker) {
    generations(maker);
    checkpoint_before(maker);
}

/// A higher generation and a lower one, for the two places in turn: in half of its width, the higher is the lower.
const GENERATIONS: [(u64, u64); 2] = [((1 << 32) + 1, 6), ((1 << 32) + 2, 7)];

fn generations(maker: &mut Maker) {
    let clauses = ["F-1.1", "F-3.1", "F-3.3"];
    let flags = ["ByteOrder", "SlotChoice"];
    for (higher, lower) in GENERATIONS {
        // Which slot states what is the whole difference between a loss and a torn tail.
        let torn = |states_it: u64| {
            let mut forge = small();
            let (number, last) = (forge.placed.len() - 1, forge.last);
            for generation in [higher, lower] {
                let durable = if generation == states_it { last } else { 0 };
                forge.slot(generation, |slot| {
                    slot[360] = 1;
                    slot[368..376].copy_from_slice(&durable.to_le_bytes());
                });
            }
            damage_frame(&mut forge, number);
            (forge, number)
        };
        let (forge, number) = torn(higher);
        let name =
            format!("The slot of generation {higher}, newer than {lower}, states a commit that is lost");
        let expect = corrupt(&["R-4.1", "R-4.3"], Some(forge.placed[number].before));
        maker.refused(&[&clauses[..], &["R-4.1"]].concat(), &flags, name, &forge.data, expect);
        let (forge, number) = torn(lower);
        let name =
            format!("The slot of generation {lower}, older than {higher}, states a commit that is lost");
        maker.holds(
            &[&clauses[..], &["R-3.1"]].concat(),
            &flags,
            name,
            &forge.data,
            state_before(&forge, number),
        );
        // Nothing but the checkpoint that the newest slot names has what the log held.
        let mut forge = small();
        let (last, state) = (forge.last, forge.state());
        let reference = Checkpoint::begin(&mut forge, 4).finish(&Changes::default());
        forge.slot(lower, |slot| slot[360] = 1);
        forge.slot(higher, |slot| {
            slot[360] = 1;
            slot[368..376].copy_from_slice(&last.to_le_bytes());
            slot[384..432].copy_from_slice(&reference);
        });
        let lost = forge.placed.len() - 1;
        damage_frame(&mut forge, lost);
        let name = format!("The slot of generation {higher} names a checkpoint, and that of {lower} none");
        maker.holds(&[&clauses[..], &["R-5.2"]].concat(), &flags, name, &forge.data, state);
    }
}

/// Where a reference says that the root stands.
fn root(forge: &Forge, reference: &[u8]) -> usize {
    let number =
        |at: usize| u32::from_le_bytes(reference[at..at + 4].try_into().expect("four bytes")) as usize;
    SEGMENTS + number(8) * forge.segment_bytes as usize + number(12)
}

/// Recovery starts from the older checkpoint, and no log reaches back behind it.
fn checkpoint_before(maker: &mut Maker) {
    let clauses = ["F-1.1", "F-3.2", "R-5.2", "R-1.2"];
    let flags = ["ByteOrder", "CheckpointRef", "Fallback"];
    let (mut forge, newest) = far_with_two();
    let at = root(&forge, &newest);
    forge.data[at] ^= 1;
    let name =
        "The newest checkpoint is damaged, and the one before has places, numbers and ids of two bytes";
    maker.holds(&clauses, &flags, name, &forge.data, forge.state());
    let (mut forge, older) = store_at(1, [2, 5]);
    forge.commit(&[Record::put(ID, &Key::Int(2), &saying(2))]);
    let newest = Checkpoint::begin(&mut forge, 4).finish(&Changes::default());
    let last = forge.last;
    name_in_slot(&mut forge, &[&newest, &older], last);
    let at = root(&forge, &newest);
    forge.data[at] ^= 1;
    let name = "The newest checkpoint is damaged, and the one before and its replay start stand more than 65,536 bytes into their segments";
    maker.holds(&clauses, &flags, name, &forge.data, forge.state());
}
