//! Places that are in use and are reserved, or taken, all the same.

use super::{PLACES, name_in_slot, named, root, store};
use crate::forge::checkpoint::{Changes, Checkpoint};
use crate::forge::index::{DIRECTORY, IndexRecord, LEAF, PART, collection, indexes_of};
use crate::forge::log::Frame;
use crate::forge::{Forge, Record};
use crate::make::stores::sample::{saying, text};
use crate::make::stores::{Maker, corrupt};
use holotype_model::Key;

/// Places that are in use and are reserved, or taken, all the same.
pub(super) fn places(maker: &mut Maker) {
    for (reserved, what) in [
        ([0u32, 2], "itself"),
        ([1, 0], "itself as the one after"),
        ([1, 1], "one place twice"),
        ([4000, 2], "a place far beyond the end of the file"),
        ([1, u32::MAX - 1], "a place at the end of all places"),
        ([4, 2], "a place of the checkpoint"),
    ] {
        let mut forge = store();
        forge.reserved = reserved;
        forge.header(0, 0, |_| ());
        let reference = Checkpoint::begin(&mut forge, PLACES[0]).finish(&Changes::default());
        let last = forge.last;
        name_in_slot(&mut forge, &[&reference], last);
        let name = format!("The last segment of the log reserves {what}");
        maker.refused(
            &["R-8.1", "F-4.3"],
            &["Reservation"],
            name,
            &forge.data,
            corrupt(&["R-8.1", "F-4.3"], None),
        );
    }
    held_by_damaged(maker);
    let mut forge = store();
    forge.reserved = [1, 60];
    forge.header(0, 0, |_| ());
    maker.holds(
        &["R-8.1", "F-4.3"],
        &["Reservation"],
        "A reservation beyond the end of the file",
        &forge.data,
        forge.state(),
    );
    // The log goes on in the place of a segment that is in use.
    let mut forge = store();
    forge.reserved = [1, 2];
    forge.segment(forge.last + 1);
    forge.commit(&[Record::put(1, &text("a"), &saying(1))]);
    let before = forge.clone();
    forge.reserved = [0, 3];
    forge.header(before.table[1].first, before.table[0].end, |_| ());
    let last = forge.last;
    let saved: Vec<u8> = forge.data[16_384..16_384 + 4096].to_vec();
    forge.segment_with(last + 1, 3, |_| ());
    forge.frame(&[Record::put(1, &text("b"), &saying(2))], &Frame::default());
    assert!(saved[..64] != forge.data[16_384..16_384 + 64], "the segment was written over");
    let mut with_checkpoint = before;
    with_checkpoint.reserved = [0, 3];
    with_checkpoint.header(forge.table[1].first, forge.table[0].end, |_| ());
    let reference = Checkpoint::begin(&mut with_checkpoint, PLACES[0]).finish(&Changes::default());
    name_in_slot(&mut with_checkpoint, &[&reference], last);
    with_checkpoint.segment_with(last + 1, 3, |_| ());
    with_checkpoint.commit(&[Record::put(1, &text("b"), &saying(2))]);
    let name = "The log goes on in the place of a segment that is in use";
    maker.refused(
        &["R-9.1", "F-4.3"],
        &["Reservation"],
        name,
        &with_checkpoint.data,
        corrupt(&["R-9.1", "F-4.3"], None),
    );
    // And in the place of one that was freed: that is reuse. The table has it as freed, and both checkpoints do.
    let mut forge = with_a_freed_segment(7);
    let last = forge.last;
    let name = "A segment that was freed, and both checkpoints have it so";
    maker.holds(&["R-8.2", "R-9.4", "F-8.6"], &["Reservation"], name, &forge.data, forge.state());
    let name = "A segment that was freed, and a document stands there";
    let expect = corrupt(&["F-8.4", "F-2.2", "R-8.2"], None);
    maker.refused(&["F-8.4", "R-8.2"], &["Reservation"], name, &with_a_freed_segment(6).data, expect);
    forge.data[16_384..16_384 + 4096].fill(0);
    forge.segment_with(last + 1, 6, |_| ());
    forge.commit(&[Record::put(1, &text("reused"), &saying(3))]);
    let name = "The log goes on in the place of a segment that was freed";
    maker.holds(&["R-9.1", "R-8.2", "R-8.3", "F-4.2"], &["Reservation"], name, &forge.data, forge.state());
}

/// A checkpoint holds its places where its root is sound, whatever its pages and leaves are (F-8.9).
fn held_by_damaged(maker: &mut Maker) {
    let [place, other] = PLACES;
    type Change = fn(&mut IndexRecord);
    let damages: [(&str, bool, Change); 4] = [
        ("damaged leaf", true, |record| record.flags |= u8::from(record.kind == LEAF)),
        ("damaged page", true, |record| record.flags |= u8::from(record.kind == DIRECTORY)),
        ("leaf with a byte behind it", true, |record| {
            if record.kind == LEAF {
                record.body.push(0);
            }
        }),
        ("damaged root", false, |record| record.flags |= u8::from(record.kind == PART)),
    ];
    for (what, holds, change) in damages {
        // The list names a segment from which nothing is read; the parts of the root stand in a third.
        for (reserved, whose) in [(place, "of its leaves"), (3, "that it names"), (other, "of its root")] {
            let mut forge = store();
            forge.reserved = [1, reserved];
            forge.header(0, 0, |_| ());
            let forge = named(forge, |mut checkpoint| {
                let changes = Changes { record: Some(change), ..root("segments", indexes_of(&[3, place])) };
                let documents = checkpoint.documents(1);
                let entries = documents.entries();
                let tree = checkpoint.tree(1, &entries, (usize::MAX, usize::MAX), &changes);
                checkpoint.go_on_in(other);
                let notes = collection(1, "notes", documents.next, entries.len(), tree);
                checkpoint.finish_with(vec![notes, collection(2, "other", 1, 0, Vec::new())], &changes)
            });
            let name =
                format!("The log reserves the place {whose} of the only checkpoint, which has a {what}");
            let clauses = ["R-8.1", "R-5.2", "F-8.9"];
            if holds {
                let expect = corrupt(&["R-8.1", "F-4.3"], None);
                maker.refused(&clauses, &["Reservation"], name, &forge.data, expect);
            } else {
                maker.holds(&clauses, &["Reservation", "Fallback"], name, &forge.data, forge.state());
            }
        }
    }
    both_in_one(maker);
}

/// A place may be held by both checkpoints, and is held as long as one of them holds it.
fn both_in_one(maker: &mut Maker) {
    for (is_damaged, what) in [(false, "both stand"), (true, "both stand, and the newest has a damaged root")]
    {
        let mut forge = store();
        forge.reserved = [1, PLACES[0]];
        forge.header(0, 0, |_| ());
        let before = Checkpoint::begin(&mut forge, PLACES[0]).finish(&Changes::default());
        forge.commit(&[Record::put(1, &text("between"), &saying(1))]);
        let newest = Checkpoint::behind(&mut forge, &before).finish(&Changes::default());
        let last = forge.last;
        name_in_slot(&mut forge, &[&newest, &before], last);
        let at = u32::from_le_bytes(newest[12..16].try_into().expect("four bytes")) as usize;
        forge.data[16_384 + PLACES[0] as usize * 4096 + at] ^= u8::from(is_damaged);
        let name = format!("The log reserves the place where of two checkpoints {what}");
        let expect = corrupt(&["R-8.1", "F-4.3"], None);
        maker.refused(&["R-8.1", "F-8.9"], &["Reservation"], name, &forge.data, expect);
    }
}

/// A store whose first segment was freed, and both checkpoints have it so, once so many of its seven documents were put anew.
fn with_a_freed_segment(moved: usize) -> Forge {
    let mut forge = store();
    forge.segment(forge.last + 1);
    let records: Vec<_> = [
        Key::Int(1),
        Key::Int(-7),
        Key::Int(300),
        text("name"),
        text("names"),
        Key::Bytes(vec![0]),
        Key::Bytes(vec![0, 1]),
    ]
    .iter()
    .map(|key| Record::put(1, key, &saying(50)))
    .take(moved)
    .chain([Record::freed(0, 0)])
    .collect();
    forge.commit(&records);
    forge.table[0].freed = forge.last;
    forge.reserved = [0, 3];
    let (first, end) = (forge.table[1].first, forge.table[0].end);
    forge.header(first, end, |_| ());
    let older = Checkpoint::begin(&mut forge, PLACES[0]).finish(&Changes::default());
    forge.commit(&[Record::put(1, &text("between"), &saying(1))]);
    let newest = Checkpoint::begin(&mut forge, PLACES[1]).finish(&Changes::default());
    let last = forge.last;
    name_in_slot(&mut forge, &[&newest, &older], last);
    forge
}
