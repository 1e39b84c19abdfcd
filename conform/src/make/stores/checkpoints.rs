//! Checkpoints: read whole or fallen back from, and what is free beside them.

use holotype_model::{Document, Key, Value};

use super::sample::{saying, small, text};
use super::{Maker, corrupt, newer};
use crate::case::{Group, Outcome};
use crate::forge::checkpoint::{Changes, PRIMARY, Page, Pages, absent, ints, leaf, pointer};
use crate::forge::log::Frame;
use crate::forge::{Forge, Record, cbor, lsn, varint, zigzag};

pub(super) fn make() -> Group {
    let mut maker = Maker::new(
        "checkpoints",
        "Stores with checkpoints: read whole, damaged, fallen back from; and what is free beside them",
    );
    healthy(&mut maker);
    damaged(&mut maker);
    forged_leaves(&mut maker);
    forged_maps(&mut maker);
    trees(&mut maker);
    places(&mut maker);
    maker.finish()
}

/// Every page of a checkpoint, and both that a slot names.
const PLACES: [u32; 2] = [4, 5];

/// A store with documents of every kind of key in segments of 4,096 bytes.
fn store() -> Forge {
    let mut forge = small();
    forge.commit(&[
        Record::put(1, &Key::Int(-7), &saying(-7)),
        Record::put(1, &Key::Int(300), &saying(300)),
        Record::put(1, &text("name"), &saying(5)),
        Record::put(1, &text("names"), &saying(6)),
        Record::put(1, &Key::Bytes(vec![0]), &saying(7)),
        Record::put(1, &Key::Bytes(vec![0, 1]), &saying(8)),
    ]);
    forge
}

fn name_in_slot(forge: &mut Forge, references: &[&[u8]], durable: u64) {
    forge.slot(3, |slot| {
        slot[360] = 1;
        slot[368..376].copy_from_slice(&durable.to_le_bytes());
        for (n, reference) in references.iter().enumerate() {
            slot[384 + 48 * n..384 + 48 * n + 48].copy_from_slice(reference);
        }
    });
}

/// Takes the log away up to X, so that nothing but the checkpoint has what it held.
fn erase_log(forge: &mut Forge) {
    let (start, end) = (forge.start() + forge.sector as usize, forge.x() as usize);
    forge.data[start..end].fill(0);
}

/// A store whose newest slot names a checkpoint with `changes`, and none before. The log is there from its beginning.
fn with_one(changes: &Changes) -> Forge {
    let mut forge = store();
    let reference = Pages::begin(&mut forge, PLACES[0]).finish(changes);
    let last = forge.last;
    name_in_slot(&mut forge, &[&reference], last);
    forge
}

fn healthy(maker: &mut Maker) {
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
    let from = moved.placed[2].records[0];
    moved.commit(&[Record::relocated(1, &Key::Int(1), &cbor::document(&saying(1)), lsn(1, 3), from)]);
    let collections = moved.world.collections()[&1].found.clone();
    let entries: Vec<_> = collections
        .iter()
        .map(|(key, (address, _))| (key.clone(), address * 4 + u64::from(*key == Key::Int(1))))
        .collect();
    let reference =
        Pages::begin(&mut moved, 4).finish(&Changes { leaf: Some(leaf(&entries)), ..Changes::default() });
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

/// A store whose slot names two checkpoints, the newest with `damage` at that offset of its segment.
fn with_two(damage: Option<usize>) -> Forge {
    let mut forge = store();
    let before = Pages::begin(&mut forge, PLACES[0]).finish(&Changes::default());
    forge.commit(&[Record::put(1, &text("between"), &saying(1))]);
    let newest = Pages::begin(&mut forge, PLACES[1]).finish(&Changes::default());
    let last = forge.last;
    name_in_slot(&mut forge, &[&newest, &before], last);
    if let Some(at) = damage {
        forge.data[16_384 + PLACES[1] as usize * 4096 + at] ^= 1;
    }
    forge
}

/// The offsets in a checkpoint's segment that pages take: what lies between them means nothing.
fn page_bytes(forge: &Forge, place: u32) -> Vec<usize> {
    let segment = &forge.data[16_384 + place as usize * 4096..][..4096];
    let (mut at, mut offsets) = (64, Vec::new());
    while at + 8 <= segment.len() {
        let len = u32::from_le_bytes(segment[at + 4..at + 8].try_into().expect("four bytes")) as usize;
        if len == 0 {
            break;
        }
        offsets.extend(at..at + len);
        at = (at + len).next_multiple_of(8);
    }
    offsets
}

fn damaged(maker: &mut Maker) {
    // Pages begin at offset 64. Whatever is damaged in them, the checkpoint before is as good.
    for at in page_bytes(&with_two(None), PLACES[1]).into_iter().step_by(13) {
        let forge = with_two(Some(at));
        let name = format!(
            "The newest checkpoint is damaged at offset {at} of its segment, and the one before is not"
        );
        maker.holds(
            &["R-5.2", "F-1.3", "F-8.1"],
            &["Fallback", "Checkpoint"],
            name,
            &forge.data,
            forge.state(),
        );
        let mut both = with_two(Some(at));
        erase_log(&mut both);
        let start = 16_384 + PLACES[0] as usize * 4096;
        both.data[start + 70] ^= 1;
        let name = format!("Both checkpoints are damaged, the newest at offset {at} of its segment");
        maker.refused(&["R-5.2", "F-8.1"], &["Fallback"], name, &both.data, corrupt(&[], None));
    }
    for at in page_bytes(&with_one(&Changes::default()), PLACES[0]).into_iter().step_by(29) {
        let mut forge = with_one(&Changes::default());
        forge.data[16_384 + PLACES[0] as usize * 4096 + at] ^= 1;
        let name =
            format!("The only checkpoint is damaged at offset {at} of its segment, and the log is whole");
        maker.holds(&["R-5.2"], &["Fallback"], name, &forge.data, forge.state());
        erase_log(&mut forge);
        let name =
            format!("The only checkpoint is damaged at offset {at} of its segment, and the log is gone");
        maker.refused(
            &["R-5.2", "R-4.1"],
            &["Fallback", "LostCommit"],
            name,
            &forge.data,
            corrupt(&["R-4.1", "R-4.3"], Some(16_384 + 64)),
        );
    }
    // The document that an entry leads to is damaged, behind the back of the checkpoint.
    let mut forge = with_one(&Changes::default());
    let placed = forge.placed[2].clone();
    forge.data[placed.at + placed.len - 1] ^= 1;
    let name = "A document that a checkpoint leads to is damaged";
    maker.refused(
        &["F-8.4", "F-6.1"],
        &["RecordSeed", "Checkpoint"],
        name,
        &forge.data,
        corrupt(&["F-6.1", "F-8.4", "F-1.3"], None),
    );
}

/// A forged checkpoint that must not be believed: the log behind it is gone, so whoever believes it, or falls back, shows.
fn disbelieved(maker: &mut Maker, clauses: &[&str], name: impl Into<String>, changes: &Changes) {
    let mut forge = with_one(changes);
    let name = name.into();
    maker.holds(
        &[&["R-5.2"], clauses].concat(),
        &["Checkpoint", "Fallback"],
        format!("{name}: the log is read instead"),
        &forge.data,
        forge.state(),
    );
    erase_log(&mut forge);
    let expect = corrupt(&["R-4.1", "R-4.3"], Some(16_384 + 64));
    maker.refused(
        &[&["R-5.2"], clauses].concat(),
        &["Checkpoint", "Fallback"],
        format!("{name}, and the log is gone"),
        &forge.data,
        expect,
    );
}

fn forged_leaves(maker: &mut Maker) {
    let forge = store();
    let entries: Vec<(Key, u64)> = forge.world.collections()[&1]
        .found
        .iter()
        .map(|(key, (address, _))| (key.clone(), address * 4))
        .collect();
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
        ("an address of 0", &["F-8.4", "F-2.2"], with(0, [varint(1), zigzag(-7), zigzag(0)].concat())),
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
    beyond_the_end(maker, &entries);
}

/// An entry that leads beyond the end of the log: a reader may tell of the document, or of the checkpoint, and then falls back.
fn beyond_the_end(maker: &mut Maker, entries: &[(Key, u64)]) {
    let far = leaf(&[&[(entries[0].0.clone(), entries[0].1 + 4 * 4096 * 50)], &entries[1..]].concat());
    let forge = with_one(&Changes { leaf: Some(far), ..Changes::default() });
    let state = Outcome::State(maker.state(forge.state()));
    let expect = vec![corrupt(&["F-8.4", "F-2.2", "F-6.1"], None), state];
    let name = "A leaf with an entry that leads into a segment that is not there";
    maker.file(&super::may(&["F-8.4", "R-5.2"], &["Checkpoint"]), name, &forge.data, expect);
}

fn collection(id: i64, name: &str, next: i64) -> Document {
    Document::from([
        ("id".to_owned(), Value::Int(id)),
        ("name".to_owned(), Value::from(name)),
        ("next".to_owned(), Value::Int(next)),
        ("count".to_owned(), Value::Int(0)),
    ])
}

fn row(sequence: i64, physical: i64, first: u64, end: i64, stretches: Vec<Value>) -> Value {
    let zero = || Value::Int(0);
    Value::Array(vec![
        Value::Int(sequence),
        Value::Int(physical),
        Value::Int(first as i64),
        Value::Int(end),
        Value::Array(stretches),
        zero(),
        zero(),
        zero(),
        Value::Array(Vec::new()),
    ])
}

fn forged_maps(maker: &mut Maker) {
    let root =
        |name: &str, value: Value| Changes { root: [(name.to_owned(), value)].into(), ..Changes::default() };
    let end = i64::from(store().end);
    let stretch = || vec![ints(&[64, lsn(1, 1) as i64])];
    for (what, clauses, changes) in [
        ("a root of another LSN", &["F-8.7"][..], root("lsn", Value::Int(lsn(1, 2) as i64))),
        ("a root without an LSN", &["F-8.7"], root("lsn", absent())),
        ("a root without a list of segments", &["F-8.7", "F-8.9"], root("segments", absent())),
        ("a root without its end of the log", &["F-8.7"], root("log", absent())),
        ("a root with another end of the log", &["F-8.7"], root("log", ints(&[0, 0, 64]))),
        ("a root with another segment of the log", &["F-8.7"], root("log", ints(&[1, 1, end]))),
        ("a root without its reservations", &["F-8.7"], root("reserved", absent())),
        ("a root whose last id is below one that is there", &["F-8.5", "F-8.7"], root("last", Value::Int(1))),
        ("a root without a table", &["F-8.6", "F-8.7"], root("table", absent())),
        ("a pointer into the header of a segment", &["F-8.2"], root("catalog", ints(&[0, 4, 0]))),
        ("a pointer to no multiple of 8", &["F-8.2"], root("catalog", ints(&[0, 4, 65]))),
        ("a pointer beyond its segment", &["F-8.2"], root("catalog", ints(&[0, 4, 4096]))),
        (
            "a pointer into a segment that is not listed",
            &["F-8.2", "F-8.9"],
            root("catalog", ints(&[0, 1, 64])),
        ),
        ("a pointer to a page of another kind", &["F-8.3", "F-8.1"], root("catalog", ints(&[0, 4, 64]))),
        ("a pointer with another number", &["F-8.2", "F-8.1"], root("table", ints(&[9, 4, 64]))),
        (
            "a list that names a segment twice",
            &["F-8.9"],
            Changes { listed: Some(vec![4, 4]), ..Changes::default() },
        ),
        (
            "a list that names a segment beyond the end of the file",
            &["F-8.9"],
            Changes { listed: Some(vec![4, 900]), ..Changes::default() },
        ),
        (
            "a list that does not name the segment of its pages",
            &["F-8.9", "F-8.2"],
            Changes { listed: Some(vec![3]), ..Changes::default() },
        ),
        (
            "two collections of one name",
            &["F-8.5"],
            Changes {
                catalog: Some(vec![collection(1, "a", 1), collection(2, "a", 1)]),
                ..Changes::default()
            },
        ),
        (
            "two collections of one id",
            &["F-8.5"],
            Changes {
                catalog: Some(vec![collection(1, "a", 1), collection(1, "b", 1)]),
                ..Changes::default()
            },
        ),
        (
            "collections out of order",
            &["F-8.5"],
            Changes {
                catalog: Some(vec![collection(2, "a", 1), collection(1, "b", 1)]),
                ..Changes::default()
            },
        ),
        (
            "an id above the last",
            &["F-8.5"],
            Changes { catalog: Some(vec![collection(3, "a", 1)]), ..Changes::default() },
        ),
        (
            "an empty name",
            &["F-8.5", "F-7.2"],
            Changes { catalog: Some(vec![collection(1, "", 1)]), ..Changes::default() },
        ),
        (
            "a next id of 0",
            &["F-8.5"],
            Changes { catalog: Some(vec![collection(1, "a", 0)]), ..Changes::default() },
        ),
        (
            "a count without a tree",
            &["F-8.5"],
            Changes {
                catalog: Some(vec![Document::from([
                    ("id".to_owned(), Value::Int(1)),
                    ("name".to_owned(), Value::from("a")),
                    ("next".to_owned(), Value::Int(1)),
                    ("count".to_owned(), Value::Int(3)),
                ])]),
                ..Changes::default()
            },
        ),
        (
            "two segments of one place",
            &["F-8.6"],
            Changes {
                table: Some(vec![row(0, 1, lsn(1, 1), end, stretch()), row(1, 1, lsn(1, 1), end, stretch())]),
                ..Changes::default()
            },
        ),
        (
            "two segments out of order",
            &["F-8.6"],
            Changes {
                table: Some(vec![row(1, 1, lsn(1, 1), end, stretch()), row(0, 0, lsn(1, 1), end, stretch())]),
                ..Changes::default()
            },
        ),
        (
            "a segment in the place of the checkpoint",
            &["F-8.6"],
            Changes { table: Some(vec![row(0, 4, lsn(1, 1), end, stretch())]), ..Changes::default() },
        ),
        (
            "a segment beyond the end of the file",
            &["F-8.6"],
            Changes { table: Some(vec![row(0, 900, lsn(1, 1), end, stretch())]), ..Changes::default() },
        ),
        (
            "a segment that ends in its header",
            &["F-8.6"],
            Changes { table: Some(vec![row(0, 0, lsn(1, 1), 8, stretch())]), ..Changes::default() },
        ),
        (
            "a segment that ends beyond its end",
            &["F-8.6"],
            Changes { table: Some(vec![row(0, 0, lsn(1, 1), 5000, stretch())]), ..Changes::default() },
        ),
        (
            "a segment whose stretch begins with another LSN",
            &["F-8.6"],
            Changes { table: Some(vec![row(0, 0, lsn(1, 2), end, stretch())]), ..Changes::default() },
        ),
        (
            "stretches out of order",
            &["F-8.6"],
            Changes {
                table: Some(vec![row(
                    0,
                    0,
                    lsn(1, 1),
                    end,
                    vec![ints(&[64, lsn(1, 1) as i64]), ints(&[64, lsn(2, 1) as i64])],
                )]),
                ..Changes::default()
            },
        ),
        (
            "a table row of eight",
            &["F-8.6"],
            Changes { table: Some(vec![ints(&[0; 8])]), ..Changes::default() },
        ),
        (
            "another checksum of the root in the reference",
            &["F-8.7", "F-3.2"],
            Changes { reference: Some((16, vec![1, 2, 3, 4])), ..Changes::default() },
        ),
        (
            "another replay LSN in the reference",
            &["F-8.7", "F-3.2"],
            Changes { reference: Some((40, lsn(1, 2).to_le_bytes().to_vec())), ..Changes::default() },
        ),
        (
            "another replay offset in the reference",
            &["F-8.7", "F-3.2"],
            Changes { reference: Some((32, 128u32.to_le_bytes().to_vec())), ..Changes::default() },
        ),
        (
            "another replay segment in the reference",
            &["F-8.7", "F-3.2"],
            Changes { reference: Some((20, 1u32.to_le_bytes().to_vec())), ..Changes::default() },
        ),
        (
            "a root beyond the end of the file in the reference",
            &["F-8.7"],
            Changes { reference: Some((8, 900u32.to_le_bytes().to_vec())), ..Changes::default() },
        ),
    ] {
        disbelieved(maker, clauses, format!("A checkpoint with {what}"), &changes);
    }
    for (name, value, what) in [
        ("later", Value::Int(1), "a key that this version does not know"),
        ("required", Value::Array(vec![]), "nothing required"),
        ("required", Value::Array(vec![Value::from("lsn")]), "a key required that this version knows"),
    ] {
        let forge = with_one(&root(name, value));
        maker.holds(
            &["F-7.3", "F-8.7"],
            &["Features"],
            format!("A checkpoint with {what}"),
            &forge.data,
            forge.state(),
        );
    }
    let forge = with_one(&root("required", Value::Array(vec![Value::from("later")])));
    let name = "A checkpoint that requires a key that this version does not know";
    maker.refused(&["F-7.3", "R-5.2"], &["Features"], name, &forge.data, newer());
}

fn trees(maker: &mut Maker) {
    let build = |change: &dyn Fn(&mut Page, &mut Page, &mut Page)| {
        let mut forge = store();
        let found = forge.world.collections()[&1].found.clone();
        let entries: Vec<_> = found.iter().map(|(key, (address, _))| (key.clone(), address * 4)).collect();
        let fence = cbor::key(&entries[3].0);
        let mut left = Page {
            kind: PRIMARY,
            tree: 1,
            fences: (vec![], fence.clone()),
            entries: leaf(&entries[..3]),
            ..Page::default()
        };
        let mut right = Page {
            kind: PRIMARY,
            tree: 1,
            fences: (fence.clone(), vec![]),
            entries: leaf(&entries[3..]),
            ..Page::default()
        };
        let mut top = Page { kind: PRIMARY, tree: 1, level: 1, ..Page::default() };
        change(&mut left, &mut right, &mut top);
        let mut pages = Pages::begin(&mut forge, PLACES[0]);
        let children = [(vec![], pages.page(&left)), (fence, pages.page(&right))];
        if top.entries.is_empty() {
            top.entries = children
                .iter()
                .map(|(fence, at)| {
                    [
                        varint(fence.len() as u64),
                        fence.clone(),
                        varint(at.0.into()),
                        varint(at.1.into()),
                        varint(at.2.into()),
                    ]
                    .concat()
                })
                .collect();
        }
        let tree = pages.page(&top);
        let mut notes = collection(1, "notes", 301);
        notes.insert("count".to_owned(), Value::Int(entries.len() as i64));
        notes.insert("tree".to_owned(), pointer(tree));
        let reference = pages.finish_with(vec![notes, collection(2, "other", 1)], &Changes::default());
        let last = forge.last;
        name_in_slot(&mut forge, &[&reference], last);
        forge
    };
    let forge = build(&|_, _, _| ());
    maker.holds(
        &["F-8.3", "F-8.1"],
        &["Checkpoint"],
        "A tree of two leaves and a branch",
        &forge.data,
        forge.state(),
    );
    let mut erased = build(&|_, _, _| ());
    let header = erased.placed[1].at;
    erased.data[header] ^= 1;
    maker.holds(
        &["F-8.3", "R-5.2"],
        &["Checkpoint"],
        "A tree of two leaves and a branch, and no log to read instead",
        &erased.data,
        erased.state(),
    );
    type Change = fn(&mut Page, &mut Page, &mut Page);
    let wrong: [(&str, Change); 11] = [
        ("a leaf of another tree", |left, _, _| left.tree = 2),
        ("a leaf of level 1", |_, right, _| right.level = 1),
        ("a branch of level 2 above leaves", |_, _, top| top.level = 2),
        ("a branch of level 33", |_, _, top| top.level = 33),
        ("a leaf with another upper fence", |left, _, _| left.fences.1 = vec![0x61, b'a']),
        ("a leaf without its lower fence", |_, right, _| right.fences.0.clear()),
        ("a topmost page with a fence", |_, _, top| top.fences.0 = vec![0x01]),
        ("a leaf with a key that is not below its upper fence", |left, _, _| {
            left.entries.push([varint(3), varint(5), b"zzzzz".to_vec(), zigzag(4)].concat());
        }),
        ("a leaf that says to have one entry more", |left, _, _| left.count = Some(4)),
        ("a leaf without entries", |left, _, _| left.entries.clear()),
        ("leaves whose numbers fall", |left, right, _| (left.number, right.number) = (Some(1), Some(0))),
    ];
    for (what, change) in wrong {
        let mut forge = build(&change);
        let name = format!("A checkpoint with {what}");
        maker.holds(
            &["F-8.3", "F-8.1", "R-5.2"],
            &["Checkpoint"],
            format!("{name}: the log is read instead"),
            &forge.data,
            forge.state(),
        );
        erase_log(&mut forge);
        maker.refused(
            &["F-8.3", "F-8.1"],
            &["Checkpoint"],
            format!("{name}, and the log is gone"),
            &forge.data,
            corrupt(&["R-4.1", "R-4.3"], Some(16_384 + 64)),
        );
    }
}

/// Places that are in use and are reserved, or taken, all the same.
fn places(maker: &mut Maker) {
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
        let reference = Pages::begin(&mut forge, PLACES[0]).finish(&Changes::default());
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
    let reference = Pages::begin(&mut with_checkpoint, PLACES[0]).finish(&Changes::default());
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
    .chain([Record::freed(0, 0)])
    .collect();
    forge.commit(&records);
    forge.table[0].freed = forge.last;
    forge.reserved = [0, 3];
    let (first, end) = (forge.table[1].first, forge.table[0].end);
    forge.header(first, end, |_| ());
    let older = Pages::begin(&mut forge, PLACES[0]).finish(&Changes::default());
    forge.commit(&[Record::put(1, &text("between"), &saying(1))]);
    let newest = Pages::begin(&mut forge, PLACES[1]).finish(&Changes::default());
    let last = forge.last;
    name_in_slot(&mut forge, &[&newest, &older], last);
    let name = "A segment that was freed, and both checkpoints have it so";
    maker.holds(&["R-8.2", "R-9.4", "F-8.6"], &["Reservation"], name, &forge.data, forge.state());
    forge.data[16_384..16_384 + 4096].fill(0);
    forge.segment_with(last + 1, 6, |_| ());
    forge.commit(&[Record::put(1, &text("reused"), &saying(3))]);
    let name = "The log goes on in the place of a segment that was freed";
    maker.holds(&["R-9.1", "R-8.2", "R-8.3", "F-4.2"], &["Reservation"], name, &forge.data, forge.state());
}
