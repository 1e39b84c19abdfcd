//! Checkpoints that are read.

use super::{name_in_slot, store, with_one, with_two};
use crate::forge::checkpoint::{Changes, Pages};
use crate::forge::{Forge, Record, cbor, lsn};
use crate::make::stores::Maker;
use crate::make::stores::sample::{saying, text};
use holotype_model::Key;

pub(super) fn healthy(maker: &mut Maker) {
    let clauses = [
        "F-8.1", "F-8.2", "F-8.3", "F-8.4", "F-8.5", "F-8.6", "F-8.7", "F-8.8", "F-8.9", "F-3.2", "R-5.2",
        "R-9.1",
    ];
    let forge = with_one(&Changes::default());
    maker.holds(&clauses, &["ByteOrder"], "A store with a checkpoint", &forge.data, forge.state());
    // What the checkpoint has is not read from the log.
    for placed in &forge.placed[..3] {
        let mut damaged = forge.clone();
        damaged.data[placed.at] ^= 1;
        let name =
            format!("The header of frame {:x} is damaged, and the checkpoint has what it held", placed.lsn);
        maker.holds(&["R-1.2", "R-5.2"], &["Checkpoint"], name, &damaged.data, damaged.state());
    }
    let mut forge = with_one(&Changes::default());
    let last = forge.last;
    forge.commit(&[Record::put(1, &text("after"), &saying(1)), Record::delete(1, &Key::Int(300))]);
    forge.open(2);
    forge.commit(&[Record::put(2, &text("later"), &saying(2))]);
    maker.holds(
        &["R-1.2", "R-9.2", "F-6.2"],
        &["Replay"],
        "A checkpoint, and commits and an opening behind it",
        &forge.data,
        forge.state(),
    );
    assert!(last < forge.last, "there is something behind the checkpoint");
    let mut forge = with_one(&Changes::default());
    forge.segment(forge.last + 1);
    forge.commit(&[Record::put(1, &text("after"), &saying(1))]);
    maker.holds(
        &["R-1.2", "R-9.1", "R-2.6"],
        &["Chain", "Replay"],
        "A checkpoint, and a segment behind it",
        &forge.data,
        forge.state(),
    );
    let header = forge.table[0].physical;
    let at = 16_384 + header as usize * 4096;
    forge.data[at + 61] ^= 1;
    let name =
        "The header of the segment where recovery starts is damaged, and the root says what it reserved";
    maker.holds(&["R-2.6", "F-8.7"], &["Chain"], name, &forge.data, forge.state());
    let two = with_two(None);
    maker.holds(&["R-5.2", "R-8.1"], &["Fallback"], "A store with two checkpoints", &two.data, two.state());
    let mut empty = Forge::opened(64, 4096, 2);
    let reference = Pages::begin(&mut empty, 3).finish(&Changes::default());
    let last = empty.last;
    name_in_slot(&mut empty, &[&reference], last);
    maker.holds(
        &["F-8.7", "F-8.1"],
        &["Checkpoint"],
        "A checkpoint of a store without collections",
        &empty.data,
        empty.state(),
    );
    let mut many = store();
    let next = many.last + 1;
    many.segment(next);
    many.commit(&[Record::put(1, &Key::Int(1), &saying(11)), Record::put(1, &Key::Int(12), &saying(12))]);
    let reference = Pages::begin(&mut many, 6).finish(&Changes::default());
    let last = many.last;
    name_in_slot(&mut many, &[&reference], last);
    maker.holds(
        &["F-8.6", "F-8.4", "F-2.2"],
        &["Checkpoint"],
        "A checkpoint of two segments of the log",
        &many.data,
        many.state(),
    );
    let mut moved = store();
    moved.commit(&[Record::relocated(1, &Key::Int(1), &cbor::document(&saying(1)), lsn(1, 3))]);
    let reference = Pages::begin(&mut moved, 4).finish(&Changes::default());
    let last = moved.last;
    name_in_slot(&mut moved, &[&reference], last);
    maker.holds(
        &["F-8.4", "F-6.8"],
        &["Relocation"],
        "A checkpoint with a version that was moved",
        &moved.data,
        moved.state(),
    );
}
