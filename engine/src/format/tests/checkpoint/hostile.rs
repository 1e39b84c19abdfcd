use super::forge::{Forged, live, row, stretch};
use super::*;
use crate::document::{KEY_LEN_MAX, Value};
use crate::{Error, doc};

/// What is wrong with a checkpoint, and how it comes to be.
type Flaw = (&'static str, fn(&mut Forged));

/// Each change to a sound checkpoint is refused, for the reason given.
fn refused(cases: &[Flaw]) {
    for (index, (what, spoil)) in cases.iter().enumerate() {
        let mut forged = Forged::sound();
        spoil(&mut forged);
        match forged.read() {
            Err(Error::Corrupt(corruption)) => assert_eq!(corruption.what, *what, "case {index}"),
            other => panic!("case {index}, {what}: {other:?}"),
        }
    }
}

#[test]
fn what_is_forged_without_a_flaw_is_believed() {
    let given = Forged::sound().read().expect("a sound checkpoint");
    let entries = [(1, 400), (2, 800), (10, 400), (11, 800)].map(|(id, value)| (Key::Int(id), value));
    assert_eq!(given.collections[0].entries, entries);
    assert_eq!((given.table[0].row.first_lsn, &*given.table[0].stretches), (Lsn(1), &[(128, Lsn(9))][..]));
}

//= spec/format.md#f-8-4-primary-leaves
//= type=test
//# A reader MUST take a checkpoint for damaged when an address in it is 0, or not below that where the log ended at the checkpoint (F-8.7).
#[test]
fn a_leaf_with_a_flaw_is_refused() {
    refused(&[
        ("a difference to a key that is no int", |c| c.left.body = hex("02 a006  02 a006")),
        ("a difference to a key that is no int", |c| text(c, "03 01 61 a006  02 a006", "6161")),
        ("keys out of order", |c| c.left.body = hex("01 02 a006  00 a006")),
        ("keys out of order", |c| c.left.body = hex("01 02 a006  01 02 a006")),
        ("an int key beyond 64 bits", |c| {
            c.right.body = hex("01 feffffffffffffffff01 a006  02 a006");
        }),
        ("no varint where one is due in a leaf", |c| c.left.body = hex("01 02 a006  8200 a006")),
        ("no varint where one is due in a leaf", |c| c.left.body = hex("01 02 a006  82")),
        ("no varint where one is due in a leaf", |c| c.leaves = |leaves| leaves[0].count = 3),
        ("more entries than the segments of the checkpoint have bytes", |c| {
            c.leaves = |leaves| leaves[0].count = u32::MAX.into();
        }),
        ("more entries than the segments of the checkpoint have bytes", |c| {
            c.leaves = |leaves| leaves[0].count = 1 << 32;
        }),
        ("bytes behind the last entry of a leaf", |c| c.leaves = |leaves| leaves[0].count = 1),
        ("a leaf begins with another key than the directory says", |c| {
            c.right.body = hex("01 12 a006  04 a006");
        }),
        ("a leaf begins with another key than the directory says", |c| {
            c.leaves = |leaves| leaves[1].first = hex("60");
        }),
        ("keys out of order", |c| c.left.body = hex("01 02 a006  12 a006")),
        ("an address that no record has", |c| c.left.body = hex("01 02 06  02 a006")),
        ("an address that no record has", |c| c.left.body = hex("01 02 a006  02 9f06")),
        ("an address that no record has", |c| {
            // 2^57 is four times 2^55.
            c.left.body = hex("01 02 8080808080808080 04  02 a006");
        }),
        ("an unknown sort of key", |c| c.left.body = hex("07 01 61 a006")),
        ("a key shares more than the key before has", |c| c.left.body = hex("0b 01 61 a006")),
        ("a key shares more than the key before has", |c| {
            text(c, "03 02 6162 a006  1b 01 63 a006", "626162");
        }),
        ("a key shares more than the key before has", |c| {
            text(c, "03 02 6162 a006  0d 01 63 a006", "626162");
        }),
        ("a leaf ends within a key", |c| c.right.body = hex("03 ff7f 61 a006")),
        ("text that is not UTF-8", |c| c.right.body = hex("03 01 ff a006  03 01 61 a006")),
        ("keys out of order", |c| text(c, "03 02 6162 a006  13 00 a006", "626162")),
        ("keys out of order", |c| text(c, "03 02 6162 a006  0b 01 61 a006", "626162")),
        ("keys out of order", |c| text(c, "03 01 61 a006  01 7e a006", "6161")),
        ("keys out of order", |c| text(c, "05 01 61 a006  03 01 62 a006", "4161")),
        ("a key longer than a key may be", |c| {
            c.right.body = hex("03 8108");
            c.right.body.extend_from_slice(&[b'a'; KEY_LEN_MAX + 1]);
        }),
    ]);
}

//= spec/format.md#f-8-16-patches
//= type=test
//# Such a leaf has the entries of its record, without the keys that are removed, and with those that are put,
//# each in the place of the one of its key if there is one.
#[test]
fn a_leaf_has_what_the_patch_over_it_makes_of_it() {
    let entries = |body, count| {
        let mut forged = Forged::sound();
        forged.with_patch(body, count);
        forged.catalog[0].insert("next", 21);
        let given = forged.read().expect("a sound checkpoint");
        given.collections[0].entries[2..].to_vec()
    };
    let pairs = |pairs: &[(i64, u64)]| -> Vec<(Key, u64)> {
        pairs.iter().map(|(id, value)| (Key::Int(*id), *value)).collect()
    };
    assert_eq!(entries("00 01  01 16 e012", 2), pairs(&[(10, 400), (11, 1200)]), "another address");
    assert_eq!(entries("01 00  0b", 1), pairs(&[(10, 400)]), "a key less");
    assert_eq!(
        entries("01 02  0b  01 18 e012 10 00", 3),
        pairs(&[(10, 400), (12, 1200), (20, 1200)]),
        "one less, two more"
    );
    assert_eq!(entries("00 00", 2), pairs(&[(10, 400), (11, 800)]), "nothing");
}

//= spec/format.md#f-8-16-patches
//= type=test
//# A reader MUST take a checkpoint for damaged when a patch has another number of keys than it says, or bytes
//# behind its last entry; when a key is not above the one before it, of those removed or of those put; when a
//# key that is removed is not in the record of the leaf, or is put; and when the record of the leaf begins with
//# another key than the leaf with its patch.
#[test]
fn a_patch_with_a_flaw_is_refused() {
    let lacks = "a patch removes a key that its leaf does not have, or keys out of order";
    let count = "a leaf with a patch of another number of keys";
    let first = "a patch over another first key";
    refused(&[
        ("a patch without its numbers", |c| c.with_patch("", 2)),
        ("a patch without its numbers", |c| c.with_patch("00", 2)),
        ("a patch removes what is no key", |c| c.with_patch("02 00  0b", 1)),
        ("a patch removes what is no key", |c| c.with_patch("01 00  f6", 1)),
        ("no varint where one is due in a leaf", |c| c.with_patch("00 02  01 16 a006", 2)),
        ("a patch of too few entries", |c| c.with_patch("00 8080808010  01 16 a006", 2)),
        ("bytes behind the last entry of a leaf", |c| c.with_patch("00 01  01 16 a006 00", 2)),
        ("bytes behind the last key of a patch", |c| c.with_patch("01 00  0b 00", 1)),
        ("keys out of order", |c| c.with_patch("00 02  01 16 a006 00 00", 2)),
        ("an address that no record has", |c| c.with_patch("00 01  01 16 06", 2)),
        (lacks, |c| c.with_patch("01 00  0c", 2)),
        (lacks, |c| c.with_patch("02 00  0b 0b", 1)),
        (lacks, |c| c.with_patch("01 01  0c  01 18 a006", 2)),
        ("a patch removes a key that it puts", |c| c.with_patch("01 01  0b  01 16 a006", 2)),
        (first, |c| c.with_patch("01 00  0a", 1)),
        (first, |c| c.with_patch("00 01  01 12 a006", 3)),
        (first, |c| c.with_patch("02 00  0a 0b", 0)),
        (count, |c| c.with_patch("01 00  0b", 2)),
        (count, |c| c.with_patch("00 01  01 16 a006", 3)),
        ("a key that is yet to be issued", |c| c.with_patch("00 01  01 18 a006", 3)),
        ("an index record of another kind", |c| {
            c.with_patch("00 01  01 16 a006", 2);
            c.patch.as_mut().expect("there is a patch").0.kind = IndexRecordKind::Leaf;
        }),
        ("an index record of another tree", |c| {
            c.with_patch("00 01  01 16 a006", 2);
            c.patch.as_mut().expect("there is a patch").0.collection = 2;
        }),
        ("bytes behind the last entry of a leaf", |c| {
            c.with_patch("00 01  01 16 a006", 2);
            c.leaves = |leaves| leaves[1].over().own = 1;
        }),
        ("bytes behind the last entry of a leaf", |c| {
            c.with_patch("00 01  01 16 a006", 2);
            c.leaves = |leaves| leaves[1].over().own = 0;
        }),
        ("an age that no record has", |c| {
            c.with_patch("00 01  01 16 a006", 2);
            c.leaves = |leaves| leaves[1].over().age = LSN.0;
        }),
        ("an index record has a wrong checksum", |c| {
            c.with_patch("00 01  01 16 a006", 2);
            c.leaves = |leaves| leaves[1].over().age = 1;
        }),
        ("a reference into a segment that is not the checkpoint's", |c| {
            c.with_patch("00 01  01 16 a006", 2);
            c.leaves = |leaves| leaves[1].over().reference.physical = 2;
        }),
    ]);
}

/// The right leaf holds these, and begins with this key.
fn text(c: &mut Forged, body: &str, first: &str) {
    (c.right.body, c.right_first) = (hex(body), hex(first));
}

//= spec/format.md#f-8-13-directory
//= type=test
//# A reader MUST take a checkpoint for damaged when a directory page or a leaf is empty or has bytes behind its last entry; when a leaf begins with another key than its entry says, or a page with another than its entry says; when a key is not above the one before it, in a leaf, from a leaf to the next,
//# or from an entry to the next; when a count is not that of what the entry leads to; and when an age is not below the LSN of the record that has the entry.
#[test]
fn a_directory_with_a_flaw_is_refused() {
    let lsn = "an age that no record has";
    let count = "a directory page of another number of keys than the root says";
    refused(&[
        ("a directory page without entries", |c| {
            c.leaves = Vec::clear;
            c.catalog[0].insert("count", 4);
            c.top = |top| top[0].count = 4;
        }),
        ("a directory entry without a key", |c| c.page.body = hex("f6")),
        ("a directory entry without a key", |c| c.behind_top = hex("f6")),
        ("a directory ends within an entry", |c| c.page.body = hex("14 03 40")),
        ("a directory ends within an entry", |c| c.behind_top = hex("14 03 40")),
        ("a directory ends within an entry", |c| c.page.body = hex("14 03 40 09 01020304 02")),
        ("keys out of order", |c| c.leaves = |leaves| leaves.push(leaves[0].clone())),
        ("a directory page begins with another key than the root says", |c| {
            c.top = |top| top[0].first = hex("00");
        }),
        ("a directory page begins with another key than the root says", |c| {
            c.leaves = |leaves| leaves[0].first = hex("00");
        }),
        ("directory entries out of order", |c| c.top = |top| top.push(top[0].clone())),
        (lsn, |c| c.leaves = |leaves| leaves[1].age = LSN.0),
        (lsn, |c| c.top = |top| top[0].age = LSN.0),
        (lsn, |c| c.top = |top| top[0].age = u64::MAX),
        (lsn, |c| {
            c.page.age = 2;
            c.top = |top| top[0].age = 2;
            c.leaves = |leaves| leaves[0].age = LSN.0 - 2;
        }),
        (count, |c| {
            c.leaves = |leaves| leaves.truncate(1);
            c.catalog[0].insert("count", 4);
            c.top = |top| top[0].count = 4;
        }),
        ("a collection has another number of documents than its tree", |c| c.top = |top| top[0].count = 3),
        ("a collection has another number of documents than its tree", |c| {
            c.top = |top| top[0].count = u64::MAX;
        }),
        (count, |c| {
            c.catalog[0].insert("count", 5);
            c.top = |top| top[0].count = 5;
        }),
        ("an index record has a wrong checksum", |c| c.leaves = |leaves| leaves[0].age = 1),
        ("an index record has a wrong checksum", |c| c.top = |top| top[0].age = 1),
        ("an index record has a wrong checksum", |c| {
            // The ages of its leaves, as they are from the root.
            (c.left.age, c.right.age, c.page.age) = (2, 2, 2);
            c.top = |top| top[0].age = 2;
            c.leaves = |leaves| leaves.iter_mut().for_each(|leaf| leaf.age = 2);
        }),
    ]);
}

// spec: F-8.13
#[test]
fn the_ages_in_a_page_that_was_taken_over_count_from_the_page() {
    let mut forged = Forged::sound();
    (forged.left.age, forged.right.age, forged.page.age) = (5, 2, 2);
    forged.top = |top| top[0].age = 2;
    forged.leaves = |leaves| leaves[0].age = 3;
    let sound = Forged::sound().read().expect("a sound checkpoint");
    assert_eq!(forged.read().expect("a sound checkpoint"), sound);
}

// spec: F-8.13. Two ways to one leaf, or to one directory page, are no longer than one: keys grow from leaf to leaf.
#[test]
fn directories_that_lead_to_one_record_twice_do_not_make_a_walk_longer() {
    refused(&[
        ("keys out of order", |c| c.leaves = |leaves| leaves.push(leaves[1].clone())),
        ("a directory page begins with another key than the root says", |c| {
            c.catalog[0].insert("count", 8);
            c.top = |top| {
                top.push(top[0].clone());
                top[1].first = hex("0b");
            };
        }),
    ]);
}

//= spec/format.md#f-8-12-references
//= type=test
//# A reader MUST take a checkpoint for damaged when a reference leads to where no index record of that length can be (F-8.11), or beyond the end of the file; when the record there has another length or another CRC field; when that CRC does not hold; and
//# when its kind or its collection is not what the reference stands for, or its flags are not 0.
//= spec/format.md#f-8-12-references
//= type=test
//# A reader MUST take a checkpoint for damaged when a reference to a directory page, a leaf or a patch leads into
//# a segment that `segments` (F-8.9) does not name.
#[test]
fn a_reference_to_what_it_does_not_stand_for_is_refused() {
    let nowhere = "a reference to where no index record can be";
    let length = "an index record of another length";
    refused(&[
        (nowhere, |c| c.leaves = |leaves| leaves[0].reference.offset = 56),
        (nowhere, |c| c.leaves = |leaves| leaves[0].reference.offset += 4),
        (nowhere, |c| c.top = |top| top[0].reference.len = 8),
        (nowhere, |c| c.top = |top| top[0].reference.len = 8192),
        (nowhere, |c| c.top = |top| top[0].reference.offset = 8192),
        (nowhere, |c| c.to_parts[0] = |part| part.offset = u32::MAX - 7),
        ("a reference into a segment that is not the checkpoint's", |c| {
            c.top = |top| top[0].reference.physical = 2;
        }),
        ("a reference into a segment that is not the checkpoint's", |c| c.segments.clear()),
        ("a reference beyond the end of the file", |c| c.to_parts[0] = |part| part.physical = 4),
        ("a reference beyond the end of the file", |c| c.to_parts[1] = |part| part.physical = u32::MAX),
        (length, |c| c.leaves = |leaves| leaves[0].reference.len += 1),
        (length, |c| c.top = |top| top[0].reference.len -= 1),
        (length, |c| c.to_parts[0] = |part| part.len -= 1),
        ("an index record other than the one that is referred to", |c| {
            c.leaves = |leaves| leaves[0].reference.crc ^= 1;
        }),
        ("an index record other than the one that is referred to", |c| {
            c.to_parts[1] = |part| part.crc ^= 1;
        }),
        ("an index record of another kind", |c| c.left.kind = IndexRecordKind::Directory),
        ("an index record of another kind", |c| c.page.kind = IndexRecordKind::Leaf),
        ("an index record of another kind", |c| c.parts[0] = |part| part.kind = IndexRecordKind::Leaf),
        ("an index record of another tree", |c| c.right.collection = 2),
        ("an index record of another tree", |c| c.page.collection = 0),
        ("an index record of another tree", |c| c.parts[1] = |part| part.collection = 1),
    ]);
}

//= spec/format.md#f-8-5-catalog
//= type=test
//# A reader MUST take a checkpoint for damaged when two collections have one id or one name, when an id is above `last` of the root, or when
//# a tree has another number of entries than `count`, or an int key that is not below `next`.
#[test]
fn a_catalog_with_a_flaw_is_refused() {
    refused(&[
        ("collections out of order", |c| {
            c.catalog.push(empty(1, "a"));
        }),
        ("collections out of order", |c| {
            c.catalog.push(empty(2, "a"));
        }),
        ("two collections of one name", |c| {
            c.root.insert("last", 2);
            c.catalog.push(empty(2, "birds"));
        }),
        ("a collection that cannot be", |c| change(&mut c.catalog[0], "id", 0)),
        ("a collection that cannot be", |c| change(&mut c.catalog[0], "name", "")),
        ("a collection that cannot be", |c| change(&mut c.catalog[0], "name", "x".repeat(256))),
        ("a collection that cannot be", |c| change(&mut c.catalog[0], "next", 0)),
        ("a collection that cannot be", |c| change(&mut c.catalog[0], "count", 0)),
        ("no unsigned number where one is due", |c| change(&mut c.catalog[0], "count", -1)),
        ("a number beyond 32 bits", |c| change(&mut c.catalog[0], "id", 1_i64 << 32)),
        ("a collection lacks one of its fields", |c| {
            c.catalog[0].remove("next");
        }),
        ("no byte string where one is due", |c| change(&mut c.catalog[0], "tree", 5)),
        ("a collection has another number of documents than its tree", |c| {
            change(&mut c.catalog[0], "count", 5);
        }),
        ("a key that is yet to be issued", |c| change(&mut c.catalog[0], "next", 11)),
        ("`required` is not an array of text", |c| change(&mut c.catalog[0], "required", 1)),
    ]);
}

fn empty(id: i64, name: &str) -> Document {
    doc! { "id": id, "name": name, "next": 1, "count": 0, "tree": Value::Bytes(Vec::new()) }
}

fn change(document: &mut Document, name: &str, value: impl Into<crate::Value>) {
    document.insert(name, value.into());
}

//= spec/format.md#f-8-6-segment-table
//= type=test
//# A reader MUST take a checkpoint for damaged when one of the three is not whole rows; when rows are out of their order, or one stands twice; when a row of `stretches` or `live` names a sequence that `table` does not have; when two segments have one physical index; when the end of a segment is outside of its data;
//# when a stretch begins at or before the first data byte, or behind the end of its segment; when a segment is freed above the LSN of the checkpoint, or stands in a place that the checkpoint holds (F-8.9); and when one that is not freed lies beyond the end of the file.
#[test]
fn a_segment_table_with_a_flaw_is_refused() {
    let cannot = "a log segment that cannot be";
    let order = "stretches or live records of log segments out of order";
    let unknown = "stretches or live records of a log segment that is not in the table";
    refused(&[
        ("a table that is not whole rows", |c| c.table[0].truncate(39)),
        ("a table that is not whole rows", |c| c.stretches.push(vec![0])),
        ("a table that is not whole rows", |c| c.live.push(vec![0])),
        ("log segments out of order", |c| c.table.swap(0, 1)),
        ("log segments out of order", |c| c.table.push(row(7, 2, 512, 0))),
        (cannot, |c| c.table[0] = row(5, 4, 512, 0)),
        (cannot, |c| c.table[0] = row(5, 0, 56, 0)),
        (cannot, |c| c.table[0] = row(5, 0, 8200, 0)),
        (cannot, |c| c.table[0] = row(5, 0, 512, LSN.0 + 1)),
        (cannot, |c| c.stretches[0] = stretch(5, 513)),
        (cannot, |c| c.stretches[0] = stretch(5, 64)),
        ("two log segments at one place", |c| c.table[0] = row(5, 1, 512, 0)),
        ("a log segment in the place of the checkpoint", |c| c.table[0] = row(5, LOG_SEGMENTS, 512, 0)),
        (order, |c| c.stretches.push(stretch(5, 128))),
        (order, |c| c.stretches.insert(0, stretch(5, 136))),
        (order, |c| c.live.push(live(5, 1))),
        (order, |c| c.live.insert(0, live(7, 1))),
        (unknown, |c| c.stretches[0] = stretch(6, 128)),
        (unknown, |c| c.live[0] = live(8, 1)),
        ("no byte string where one is due", |c| change(&mut c.root, "live", 3)),
    ]);
    let mut cut_off = Forged::sound();
    cut_off.table[0] = row(5, 400, 512, LSN.0);
    assert!(cut_off.read().is_ok(), "what is freed may be cut off");
}

//= spec/format.md#f-8-7-root
//= type=test
//# The reference MUST have the root's `lsn` as its own and as its replay start's LSN, and `log` as its replay start; the last segment of the table MUST have the sequence and the physical index of `log`, and not be freed.
//= spec/format.md#f-8-7-root
//= type=test
//# A reader MUST take a checkpoint for damaged where that does not hold.
#[test]
fn a_root_with_a_flaw_is_refused() {
    refused(&[
        ("the root is of another LSN than the superblock says", |c| change(&mut c.root, "lsn", 8)),
        ("the root lacks one of its fields", |c| {
            c.root.remove("log");
        }),
        ("the log ends in two places", |c| change(&mut c.root, "log", array![2, 7, 512])),
        ("the log ends in two places", |c| change(&mut c.root, "log", array![1, 6, 512])),
        ("the log ends in two places", |c| change(&mut c.root, "log", array![1, 7, 520])),
        ("the log ends in two places", |c| c.table.truncate(1)),
        ("the log ends in two places", |c| c.table[1] = row(7, 2, 512, 0)),
        ("the log ends in two places", |c| c.table[1] = row(8, 1, 512, 0)),
        ("the log's position is an array of three", |c| change(&mut c.root, "log", array![1, 7])),
        ("the log's reservation is an array of two", |c| change(&mut c.root, "reserved", array![1])),
        ("a reserved index is a number or null", |c| change(&mut c.root, "reserved", array!["x", 1])),
        ("a reserved index that cannot be", |c| {
            change(&mut c.root, "reserved", array![u32::MAX, 1]);
        }),
        ("bytes behind the root's map", |c| c.behind_root = vec![0]),
    ]);
}

//= spec/format.md#f-8-7-root
//= type=test
//# A reader MUST take a checkpoint for damaged when a part has another number than one less than the part that refers to it.
#[test]
fn parts_of_a_root_that_do_not_make_a_map_are_refused() {
    let number = "a part of a root of another number";
    refused(&[
        (number, |c| c.parts[0] = |part| part.body[0] = 1),
        (number, |c| c.parts[1] = |part| part.body[0] = 2),
        ("a part of a root without a number", |c| c.parts[0] = |part| part.body.clear()),
        ("a part of a root without a number", |c| c.parts[1] = |part| part.body = hex("80")),
        ("a part of a root that leads to none before it", |c| c.parts[1] = |part| part.body.truncate(3)),
    ]);
    let mut alone = Forged::sound();
    alone.parts[1] = |part| part.body[0] = 0;
    assert!(matches!(alone.read(), Err(crate::Error::Corrupt(_))), "the second part alone is no map");
}

//= spec/format.md#f-8-9-segments-of-a-checkpoint
//= type=test
//# A reader MUST take a checkpoint for damaged when `segments` is not whole indexes, names a segment twice, or one beyond the end of the file.
#[test]
fn a_list_of_segments_with_a_flaw_is_refused() {
    refused(&[
        ("a segment comes twice", |c| c.segments.push(3)),
        ("a segment beyond the end of the file", |c| c.segments.push(4)),
        ("segments that are not whole indexes", |c| {
            change(&mut c.root, "segments", Value::Bytes(vec![3, 0, 0]));
        }),
        ("a log segment in the place of the checkpoint", |c| c.segments.push(0)),
    ]);
}

//= spec/format.md#f-7-3-unknown-keys
//= type=test
//# A reader MUST refuse the file when the map has an array `required` that names a key it does not know.
#[test]
fn a_map_that_requires_a_field_that_is_not_known_is_of_a_newer_version() {
    let required = || array!["count", "weight"];
    let spoil: [fn(&mut Forged, crate::Value); 2] = [
        |c, required| change(&mut c.catalog[0], "required", required),
        |c, required| change(&mut c.root, "required", required),
    ];
    for spoil in spoil {
        let mut forged = Forged::sound();
        spoil(&mut forged, required());
        let failed = forged.read();
        assert!(matches!(failed, Err(Error::NewerFormat { .. })), "{failed:?}");
    }
}
