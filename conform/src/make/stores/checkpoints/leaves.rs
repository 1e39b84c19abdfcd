//! Primary leaves that are sealed, and must not be believed.

use super::{disbelieved, in_two_segments, named, store, with_one};
use crate::forge::checkpoint::Changes;
use crate::forge::index::{collection, leaf};
use crate::forge::{Record, cbor, varint, zigzag};
use crate::make::stores::sample::saying;
use crate::make::stores::{Maker, corrupt};
use holotype_model::Key;

pub(super) fn forged_leaves(maker: &mut Maker) {
    let forge = store();
    let entries = forge.world.collections()[&1].entries();
    let good = leaf(&entries);
    let with = |number: usize, entry: Vec<u8>| {
        let mut leaf = good.clone();
        leaf[number] = entry;
        Changes { leaf: Some(leaf), ..Changes::default() }
    };
    let address = entries[1].1 as i64 - entries[0].1 as i64;
    let clauses = ["F-8.4"];
    for (what, clauses, changes) in [
        (
            "an int that follows itself",
            &["F-8.4", "V-2.2"][..],
            with(1, [varint(0), zigzag(address)].concat()),
        ),
        (
            "an int below the one before",
            &["F-8.4", "V-3.8"],
            with(1, [varint(1), zigzag(-8), zigzag(address)].concat()),
        ),
        (
            "a first key that builds on another",
            &["F-8.4"],
            with(0, [varint(2), zigzag(entries[0].1 as i64)].concat()),
        ),
        (
            "an address beyond 55 bits",
            &["F-8.4", "F-2.2"],
            with(0, [varint(1), zigzag(-7), zigzag(1 << 57)].concat()),
        ),
        (
            "a text that shares more than there is",
            &["F-8.4"],
            with(4, [varint(8 * 9 + 3), varint(1), b"s".to_vec(), zigzag(4)].concat()),
        ),
        (
            "a text that shares with an int",
            &["F-8.4"],
            with(3, [varint(8 + 3), varint(1), b"s".to_vec(), zigzag(4)].concat()),
        ),
        (
            "a text that is not UTF-8",
            &["F-8.4", "V-1.4"],
            with(3, [varint(3), varint(1), vec![0xff], zigzag(4)].concat()),
        ),
        (
            "a key of an unknown sort",
            &["F-8.4"],
            with(3, [varint(7), varint(1), b"s".to_vec(), zigzag(4)].concat()),
        ),
        (
            "a text behind byte strings",
            &["F-8.4", "V-3.8"],
            with(6, [varint(3), varint(1), b"s".to_vec(), zigzag(4)].concat()),
        ),
        (
            "a varint that is not in its shortest form",
            &["F-8.4", "F-1.2"],
            with(0, [vec![0x81, 0], zigzag(-7), zigzag(entries[0].1 as i64)].concat()),
        ),
        ("an entry that is cut short", &["F-8.4"], with(6, vec![5])),
        ("bytes behind the last entry", &["F-8.4"], with(6, [good[6].clone(), vec![1]].concat())),
    ] {
        disbelieved(maker, clauses, format!("A leaf with {what}"), &changes);
    }
    // Entries that lead to another record: the checkpoint is sound by itself, and the document is not there.
    let swapped: Vec<_> = {
        let mut entries = entries.clone();
        (entries[1].1, entries[2].1) = (entries[2].1, entries[1].1);
        leaf(&entries)
    };
    for (what, leaf) in [
        ("two entries that lead to each other's documents", swapped),
        (
            "an entry that leads 8 bytes beside its document",
            leaf(&[&[(entries[0].0.clone(), entries[0].1 + 32)], &entries[1..]].concat()),
        ),
    ] {
        let forge = with_one(&Changes { leaf: Some(leaf), ..Changes::default() });
        let name = format!("A leaf with {what}");
        maker.refused(
            &clauses,
            &["Checkpoint"],
            name,
            &forge.data,
            corrupt(&["F-8.4", "F-2.2", "F-6.1"], None),
        );
    }
    contradicted(maker, &entries);
    at_no_place(maker, &entries);
}

/// Bits of a value that contradict the record are damage of the document (F-8.4).
fn contradicted(maker: &mut Maker, entries: &[(Key, u64)]) {
    for (bits, what) in [(1, "a relocated put"), (2, "of chunks"), (3, "a relocated put of chunks")] {
        let other = leaf(&[&[(entries[0].0.clone(), entries[0].1 + bits)], &entries[1..]].concat());
        let forge = with_one(&Changes { leaf: Some(other), ..Changes::default() });
        let name = format!("A leaf with an entry that says of a put that it is {what}");
        maker.refused(&["F-8.4"], &["Checkpoint"], name, &forge.data, corrupt(&["F-8.4", "F-6.1"], None));
    }
}

/// Entries that lead to where no document can be.
fn at_no_place(maker: &mut Maker, entries: &[(Key, u64)]) {
    let leading = |address: u64| {
        let leaf = leaf(&[&[(entries[0].0.clone(), 4 * address)], &entries[1..]].concat());
        Changes { leaf: Some(leaf), ..Changes::default() }
    };
    let end = u64::from(store().end);
    let last = entries.len() - 1;
    let zero = leaf(&[&entries[..last], &[(entries[last].0.clone(), 0)]].concat());
    let changes = Changes { leaf: Some(zero), ..Changes::default() };
    disbelieved(maker, &["F-8.4", "F-2.2"], "A leaf whose last address is 0", &changes);
    let far = leaf(&[&entries[..last], &[(entries[last].0.clone(), 4 * end)]].concat());
    let changes = Changes { leaf: Some(far), ..Changes::default() };
    disbelieved(maker, &["F-8.4"], "A leaf whose last address is where the log ended", &changes);
    for (what, address) in [
        ("no address", 0),
        ("where the log ended", end),
        ("a byte behind where the log ended", end + 1),
        ("a segment that is not there yet", 50 * 4096 + 64),
    ] {
        let name = format!("A leaf with an entry that leads to {what}");
        disbelieved(maker, &["F-8.4"], name, &leading(address));
    }
    let forge = with_one(&leading(8));
    let name = "A leaf with an entry that leads into the header of a segment, before all stretches";
    maker.refused(&["F-8.4"], &["Checkpoint"], name, &forge.data, corrupt(&["F-8.4", "F-6.1"], None));
    other_records(maker);
    // The table has the current segment alone, and documents stand in the one before.
    let mut forge = in_two_segments();
    forge.table.remove(0);
    let mut forge = named(forge, |checkpoint| checkpoint.finish(&Changes::default()));
    let at = forge.placed[1].at;
    forge.data[at] ^= 1;
    let name = "Leaves with entries that lead into a segment which the table does not have";
    let expect = corrupt(&["F-8.4", "F-2.2", "F-6.1"], None);
    maker.refused(&["F-8.4", "F-8.6"], &["Checkpoint"], name, &forge.data, expect);
}

/// Entries that lead to a valid record, which is not a put of the collection and the key.
fn other_records(maker: &mut Maker) {
    let one = |key: &Key, address: u64| vec![(key.clone(), 4 * address)];
    let gone = Key::from("gone");
    let mut forge = store();
    let bytes = cbor::document(&saying(1));
    let put = forge.commit(&[Record::put(2, &gone, &saying(1))])[0];
    let others = forge.commit(&[Record::delete(2, &gone), Record::chunk(2, &gone, 0, &bytes)]);
    let first = forge.world.version(1, &Key::Int(1)).expect("it is there").value / 4;
    for (what, key, address, is_right) in [
        ("the put of the key", &gone, put, true),
        ("a delete of the key", &gone, others[0], false),
        ("a chunk of the key", &gone, others[1], false),
        ("a put of the key in another collection", &Key::Int(1), first, false),
        ("a put of another key", &Key::from("gon"), put, false),
    ] {
        let mut forge = named(forge.clone(), |mut checkpoint| {
            let (documents, changes) = (checkpoint.documents(1), Changes::default());
            let entries = documents.entries();
            let tree = checkpoint.tree(1, &entries, (usize::MAX, usize::MAX), &changes);
            let notes = collection(1, "notes", documents.next, entries.len(), tree);
            let tree = checkpoint.tree(2, &one(key, address), (1, 1), &changes);
            checkpoint.finish_with(vec![notes, collection(2, "other", 2, 1, tree)], &changes)
        });
        let at = forge.placed[1].at;
        forge.data[at] ^= 1;
        let name = format!("A leaf with an entry that leads to {what}");
        if is_right {
            let mut state = forge.state();
            state.collections[1].next = Some("2".to_owned());
            state.collections[1].documents = vec![(cbor::key(key).into(), bytes.clone().into())];
            maker.holds(&["F-8.4"], &["Checkpoint"], name, &forge.data, state);
        } else {
            let expect = corrupt(&["F-8.4", "F-2.2", "F-6.1"], None);
            maker.refused(&["F-8.4"], &["Checkpoint"], name, &forge.data, expect);
        }
    }
}
