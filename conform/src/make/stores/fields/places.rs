//! Claims at every multiple of 8, and headers of segments that are not what they should be (F-4.4).

use holotype_model::Key;

use super::{Maker, corrupt, damage_frame};
use crate::forge::log::Frame;
use crate::forge::{Forge, Record};
use crate::make::stores::sample::{saying, small};
use crate::make::stores::state_before;

pub(super) fn make(maker: &mut Maker) {
    claims(maker);
    headers(maker);
}

/// Places two frames in one hand-over, the second so far behind a multiple of 64, which states that everything before both is durable.
fn two_of_a_hand_over(forge: &mut Forge, behind: u32, states: bool) {
    let ends = |len: usize| {
        let mut tried = forge.clone();
        tried.commit(&[Record::raw(200, 0, 0, vec![0; len])]);
        tried.place(false) % 64 == behind
    };
    let len = (0..64).find(|len| ends(*len)).expect("some length ends there");
    forge.commit(&[Record::raw(200, 0, 0, vec![0; len])]);
    let mut frame = Frame { handed_over: false, ..Frame::default() };
    if states {
        frame.lag = 2;
    }
    forge.frame(&[], &frame);
}

/// A commit that was durable before a hand-over of two frames: the first of them is damaged as well, and the second claims it.
fn claims(maker: &mut Maker) {
    let clauses = ["R-3.3", "R-3.1", "F-5.2", "F-5.4"];
    for in_the_next in [false, true] {
        for behind in [8, 16, 24, 32] {
            for states in [true, false] {
                let mut forge = small();
                let lost = forge.placed.len();
                forge.commit(&[Record::put(1, &Key::Int(2), &saying(2))]);
                if in_the_next {
                    forge.segment(forge.last + 1);
                }
                two_of_a_hand_over(&mut forge, behind, states);
                damage_frame(&mut forge, lost);
                damage_frame(&mut forge, lost + 1);
                let segment = if in_the_next { " of the next segment" } else { "" };
                if states {
                    let name = format!(
                        "Two frames are damaged, and one behind them, {behind} behind a multiple of 64{segment}, claims the first"
                    );
                    let expect = corrupt(&["R-4.1", "R-4.3"], Some(forge.placed[lost].before));
                    maker.refused(&clauses, &["LostCommit"], name, &forge.data, expect);
                } else {
                    let name = format!(
                        "Two frames are damaged, and one behind them, {behind} behind a multiple of 64{segment}, claims nothing"
                    );
                    maker.holds(&clauses, &["TornWrite"], name, &forge.data, state_before(&forge, lost));
                }
            }
        }
    }
}

/// What is done to a header before its checksum is made.
type Change = fn(&mut [u8]);

/// What can be wrong in the header of a successor whose checksum holds.
const WRONG: [(&str, Change); 5] = [
    ("the magic of a checkpoint segment", |header| header[..4].copy_from_slice(b"HCPK")),
    ("no magic", |header| header[..4].fill(0)),
    ("the kind of a checkpoint segment", |header| header[4] = 2),
    ("a kind that is reserved", |header| header[4] = 3),
    ("the lineage of another store", |header| header[44..60].copy_from_slice(b"another lineage!")),
];

/// The log does not go on in a segment whose header is not valid for it, and such a header claims nothing.
fn headers(maker: &mut Maker) {
    let clauses = ["F-4.1", "F-4.4", "R-2.1"];
    let right = |change: Change| {
        let mut forge = small();
        let number = forge.placed.len();
        forge.segment_with(forge.last + 1, 3, change);
        forge.commit(&[Record::put(1, &Key::Int(2), &saying(2))]);
        (forge, number)
    };
    let (forge, _) = right(|_| ());
    let name = "The header of a successor, and the log goes on behind it";
    maker.holds(&clauses, &["Chain"], name, &forge.data, forge.state());
    for (what, change) in WRONG {
        let (forge, number) = right(change);
        let name = format!("The header of a successor has {what}: the log does not go on behind it");
        maker.holds(&clauses, &["Chain"], name, &forge.data, state_before(&forge, number));
        let (mut forge, number) = right(change);
        let states = forge.last;
        // The header is made again: as it was, and stating a commit that is nowhere.
        let (first, end) = (forge.table[1].first, forge.table[0].end);
        forge.header(first, end, |header| {
            header[24..32].copy_from_slice(&states.to_le_bytes());
            change(header);
        });
        damage_frame(&mut forge, number);
        let name = format!("The header of a successor has {what}, and claims nothing");
        maker.holds(
            &["F-4.1", "F-4.4", "R-3.1"],
            &["Chain"],
            name,
            &forge.data,
            state_before(&forge, number),
        );
    }
    // The same claim by a header that is right.
    let (mut forge, number) = right(|_| ());
    let states = forge.last;
    let (first, end) = (forge.table[1].first, forge.table[0].end);
    forge.header(first, end, |header| header[24..32].copy_from_slice(&states.to_le_bytes()));
    damage_frame(&mut forge, number);
    let name = "The header of a successor claims a commit that is lost";
    let expect = corrupt(&["R-4.1", "R-4.3"], Some(forge.placed[number].before));
    maker.refused(&["F-4.1", "R-3.1", "R-4.1"], &["LostCommit"], name, &forge.data, expect);
}
