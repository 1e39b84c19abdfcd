//! Checkpoints that are read.

use super::{PLACES, name_in_slot, store, with_one, with_two};
use crate::forge::checkpoint::{Changes, Checkpoint};
use crate::forge::{Forge, Record, cbor, lsn};
use crate::make::stores::Maker;
use crate::make::stores::sample::{saying, text};
use holotype_model::Key;

pub(super) fn healthy(maker: &mut Maker) {
    let clauses = [
        "F-8.4", "F-8.5", "F-8.6", "F-8.7", "F-8.8", "F-8.9", "F-8.11", "F-8.12", "F-8.13", "F-8.14",
        "F-8.15", "F-3.2", "R-5.2", "R-9.1",
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
    behind_one_another(maker);
    let mut empty = Forge::opened(64, 4096, 2);
    let reference = Checkpoint::begin(&mut empty, 3).finish(&Changes::default());
    let last = empty.last;
    name_in_slot(&mut empty, &[&reference], last);
    maker.holds(
        &["F-8.7", "F-8.9"],
        &["Checkpoint"],
        "A checkpoint of a store without collections",
        &empty.data,
        empty.state(),
    );
    let mut many = store();
    let next = many.last + 1;
    many.segment(next);
    many.commit(&[Record::put(1, &Key::Int(1), &saying(11)), Record::put(1, &Key::Int(12), &saying(12))]);
    let reference = Checkpoint::begin(&mut many, 6).finish(&Changes::default());
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
    let reference = Checkpoint::begin(&mut moved, 4).finish(&Changes::default());
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

/// Two checkpoints in one segment: the newest stands behind the one before.
fn behind_one_another(maker: &mut Maker) {
    let built = || {
        let mut forge = store();
        let before = Checkpoint::begin(&mut forge, PLACES[0]).finish(&Changes::default());
        forge.commit(&[Record::put(1, &text("between"), &saying(1))]);
        let second = Checkpoint::behind(&mut forge, &before).finish(&Changes::default());
        let last = forge.last;
        name_in_slot(&mut forge, &[&second, &before], last);
        (forge, second)
    };
    let root = |reference: &[u8]| {
        let offset = u32::from_le_bytes(reference[12..16].try_into().expect("four bytes"));
        16_384 + PLACES[0] as usize * 4096 + offset as usize
    };
    let clauses = ["F-8.11", "F-4.1", "R-5.2"];
    let (forge, second) = built();
    let mut newest = forge.clone();
    let header = newest.placed[1].at;
    newest.data[header] ^= 1;
    let name = "Two checkpoints in one segment";
    maker.holds(&clauses, &["Checkpoint"], name, &newest.data, newest.state());
    let mut older = forge.clone();
    older.data[root(&second)] ^= 1;
    older.data[header] ^= 1;
    let name = "Two checkpoints in one segment, and the newest is damaged";
    maker.holds(&clauses, &["Fallback", "Checkpoint"], name, &older.data, older.state());
    // A lost write: at the place of the third checkpoint stands the second, whose checksum is right.
    let mut forge = forge;
    forge.commit(&[Record::put(1, &text("later"), &saying(2))]);
    let mut lost = forge.clone();
    let third = Checkpoint::behind(&mut lost, &second).finish(&Changes::default());
    let at = root(&third) - root(&second);
    let (from, to) = (root(&second), root(&third));
    let saved = forge.data[from..to].to_vec();
    lost.data[to..to + at].copy_from_slice(&saved);
    let last = lost.last;
    name_in_slot(&mut lost, &[&third, &second], last);
    lost.data[header] ^= 1;
    let name = "The root of the newest of three checkpoints shows what stands before it";
    maker.holds(&["F-8.11", "F-8.12", "R-5.2"], &["IndexSeed", "Fallback"], name, &lost.data, lost.state());
}
