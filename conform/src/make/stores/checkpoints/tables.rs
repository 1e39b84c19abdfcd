//! The segment table, its stretches and its live records (F-8.6, F-8.14, F-8.15), and the list of segments (F-8.9).

use super::{PLACES, disbelieved_file, in_two_segments, name_in_slot, named, root};
use crate::forge::checkpoint::{Changes, Checkpoint};
use crate::forge::index::{absent, collection, indexes_of, ints, live, stretch, table};
use crate::forge::log::Row;
use crate::forge::{Forge, Record, lsn};
use crate::make::stores::sample::{saying, text};
use crate::make::stores::{Maker, corrupt};
use holotype_model::{Key, Value};

pub(super) fn tables(maker: &mut Maker) {
    rows(maker);
    stretches(maker);
    lives(maker);
    lists(maker);
    bounds(maker);
}

/// A store of two segments, whose checkpoint has these changes. The log is whole.
fn with(changes: &Changes) -> Forge {
    named(in_two_segments(), |checkpoint| checkpoint.finish(changes))
}

fn bytes(name: &str, bytes: Vec<u8>) -> Changes {
    root(name, Value::Bytes(bytes))
}

fn disbelieved(maker: &mut Maker, clause: &str, what: &str, changes: &Changes) {
    disbelieved_file(maker, &["F-8.6", clause], format!("A checkpoint with {what}"), with(changes));
}

/// The first frame is damaged, so that nothing but the checkpoint has what the log held.
fn believed(maker: &mut Maker, clause: &str, name: &str, changes: &Changes) {
    let mut forge = with(changes);
    let at = forge.placed[1].at;
    forge.data[at] ^= 1;
    maker.holds(&["F-8.6", clause], &["Checkpoint"], name, &forge.data, forge.state());
}

fn rows(maker: &mut Maker) {
    let right = in_two_segments().table;
    believed(maker, "R-9.1", "A table of two segments", &Changes::default());
    type Change = fn(&mut Vec<Row>);
    let wrong: [(&str, Change); 17] = [
        ("two segments of one number", |rows| rows[0].sequence = 1),
        ("two segments out of order", |rows| rows[0].sequence = 2),
        ("two segments of one place", |rows| rows[0].physical = 1),
        ("a segment in the place of the checkpoint", |rows| rows[0].physical = PLACES[0]),
        ("a segment beyond the end of the file", |rows| rows[0].physical = 900),
        ("a segment that ends in its header", |rows| rows[0].end = 8),
        ("a segment that ends at 0", |rows| rows[0].end = 0),
        ("a segment that ends beyond its end", |rows| rows[0].end = 4104),
        ("a segment that ends far beyond its end", |rows| rows[0].end = u32::MAX - 7),
        ("a segment that was freed behind the checkpoint", |rows| rows[0].freed = lsn(1, 6)),
        ("a segment that was freed far behind the checkpoint", |rows| rows[0].freed = lsn(2, 1)),
        ("a freed segment in the place of the checkpoint", |rows| {
            (rows[0].physical, rows[0].freed) = (PLACES[0], lsn(1, 5));
        }),
        ("a table without the current segment", |rows| drop(rows.pop())),
        ("a table that has the current segment in another place", |rows| rows[1].physical = 2),
        ("a table in which the current segment has another number", |rows| rows[1].sequence = 2),
        ("a current segment that was freed", |rows| rows[1].freed = lsn(1, 5)),
        ("a segment behind the current one", |rows| {
            let (physical, sequence) = (2, 2);
            rows.push(Row { physical, sequence, ..rows[1].clone() });
        }),
    ];
    for (what, change) in wrong {
        let mut rows = right.clone();
        change(&mut rows);
        disbelieved(maker, "F-8.7", what, &bytes("table", table(&rows)));
    }
    let mut rows = right.clone();
    (rows[0].physical, rows[0].freed) = (900, lsn(1, 5));
    let forge = with(&bytes("table", table(&rows)));
    maker.refused(
        &["R-8.2", "F-8.6"],
        &["Checkpoint"],
        "A checkpoint with a segment beyond the end of the file, which was freed above the floor",
        &forge.data,
        corrupt(&["R-8.2", "F-8.6"], None),
    );
    let whole = table(&right);
    for (what, value) in [
        ("no table", absent()),
        ("an empty table", Value::Bytes(Vec::new())),
        ("a table that is a byte short", Value::Bytes(whole[..79].to_vec())),
        ("a table with a byte behind it", Value::Bytes([&whole[..], &[0]].concat())),
        ("a table with a byte before it", Value::Bytes([&[0], &whole[..]].concat())),
        ("a table with half a row behind it", Value::Bytes([&whole[..], &[0; 20]].concat())),
        ("a table that is an array", Value::Array(vec![Value::Bytes(whole)])),
    ] {
        disbelieved(maker, "F-8.7", what, &root("table", value));
    }
}

fn stretches(maker: &mut Maker) {
    let right = in_two_segments().table;
    let (first, second) = (right[0].first, right[1].first);
    // Stretches of the incarnation and the base of the first one, so that nothing depends on where they begin.
    let rows = |rows: &[(u64, u32, u64)]| {
        let row = |(sequence, at, first): &(u64, u32, u64)| stretch(*sequence, (*at, *first));
        bytes("stretches", rows.iter().flat_map(row).collect())
    };
    let both = [(0, 72, first), (0, 128, first), (1, 72, second)];
    believed(maker, "F-8.14", "A table with stretches", &rows(&both));
    let end = right[0].end;
    believed(maker, "F-8.14", "A stretch at the end of its segment", &rows(&[(0, end, first)]));
    for (what, stretches) in [
        ("stretches of segments out of order", [both[2], both[0]]),
        ("stretches of a segment out of order", [both[1], both[0]]),
        ("a stretch twice", [both[0], both[0]]),
        ("two stretches at one offset", [both[0], (0, 72, first + 1)]),
        ("a stretch of a segment that is not there", [both[0], (2, 72, first)]),
        ("a stretch of a segment far from those that are there", [both[0], (1 << 32, 72, first)]),
        ("a stretch at the first data byte", [(0, 64, first), both[1]]),
        ("a stretch in the header of its segment", [(0, 8, first), both[1]]),
        ("a stretch at offset 0", [(0, 0, first), both[1]]),
        ("a stretch behind the end of its segment", [both[0], (0, end + 8, first)]),
        ("a stretch beyond its segment", [both[0], (0, 4104, first)]),
    ] {
        disbelieved(maker, "F-8.14", what, &rows(&stretches));
    }
    let whole = stretch(0, (72, first));
    for (what, value) in [
        ("no stretches", absent()),
        ("stretches that are a byte short", Value::Bytes(whole[..19].to_vec())),
        ("stretches with a byte behind them", Value::Bytes([&whole[..], &[0]].concat())),
        ("stretches that are an array", ints(&[0, 72, first as i64])),
    ] {
        disbelieved(maker, "F-8.14", what, &root("stretches", value));
    }
}

fn lives(maker: &mut Maker) {
    let rows = |rows: &[(u64, u32, u32)]| {
        let row = |(sequence, collection, count): &(u64, u32, u32)| live(*sequence, *collection, *count);
        bytes("live", rows.iter().flat_map(row).collect())
    };
    let right = [(0, 1, 7), (0, 2, 1), (1, 1, 1)];
    believed(maker, "F-8.15", "A table with live records", &rows(&right));
    for (what, lives) in [
        ("live records of segments out of order", [right[2], right[0]]),
        ("live records of collections out of order", [right[1], right[0]]),
        ("live records of one collection twice", [right[0], (0, 1, 6)]),
        ("live records of a segment that is not there", [right[0], (2, 1, 1)]),
        ("live records of a segment far from those that are there", [right[0], (1 << 32, 1, 1)]),
    ] {
        disbelieved(maker, "F-8.15", what, &rows(&lives));
    }
    let whole = live(0, 1, 7);
    for (what, value) in [
        ("no live records", absent()),
        ("live records that are a byte short", Value::Bytes(whole[..15].to_vec())),
        ("live records with a byte behind them", Value::Bytes([&whole[..], &[0]].concat())),
        ("live records that are an array", Value::Array(Vec::new())),
    ] {
        disbelieved(maker, "F-8.15", what, &root("live", value));
    }
}

fn lists(maker: &mut Maker) {
    let place = PLACES[0];
    let four = place.to_le_bytes();
    for (what, value) in [
        ("no list of segments", absent()),
        ("a list that names a segment twice", indexes_of(&[place, place])),
        ("a list that names another segment twice", indexes_of(&[place, 3, 3])),
        ("a list that names a segment beyond the end of the file", indexes_of(&[place, 900])),
        ("a list that names a segment beyond all places", indexes_of(&[place, u32::MAX])),
        ("a list that names a segment of the log", indexes_of(&[place, 0])),
        ("a list that does not name the segment of its leaves", indexes_of(&[3])),
        ("a list that is a byte short", Value::Bytes(four[..3].to_vec())),
        ("a list with a byte behind it", Value::Bytes([&four[..], &[0]].concat())),
        ("a list that is an array", ints(&[place.into()])),
    ] {
        disbelieved(maker, "F-8.9", what, &root("segments", value));
    }
    // The parts of the root are among the places that a checkpoint holds, though the list does not name them.
    for (physical, is_held) in [(5, true), (4, false)] {
        let mut rows = in_two_segments().table;
        rows[0].physical = physical;
        let forge = named(in_two_segments(), |mut checkpoint| {
            let catalog = vec![collection(1, "notes", 1, 0, Vec::new())];
            checkpoint.go_on_in(5);
            checkpoint.finish_with(catalog, &bytes("table", table(&rows)))
        });
        if is_held {
            let name = "A checkpoint with a segment of the log in the place of its root alone";
            disbelieved_file(maker, &["F-8.6", "F-8.9"], name, forge);
        } else {
            let mut nothing = forge.state();
            nothing.collections.truncate(1);
            nothing.collections[0].documents.clear();
            nothing.collections[0].next = Some("1".to_owned());
            let name =
                "A checkpoint with a segment of the log in a place of its own, from which nothing is read";
            maker.holds(&["F-8.6", "F-8.9"], &["Checkpoint"], name, &forge.data, nothing);
        }
    }
}

/// A store whose documents all stand in its second segment.
fn moved_on() -> Forge {
    let mut forge = in_two_segments();
    let [a, b, c] = [1, -7, 300].map(Key::Int);
    let [d, e] = ["name", "names"].map(text);
    let [f, g] = [&[0][..], &[0, 1]].map(|bytes| Key::Bytes(bytes.to_vec()));
    let puts: Vec<_> = [a, b, c, d, e, f, g].iter().map(|key| Record::put(1, key, &saying(5))).collect();
    forge.commit(&[&puts[..], &[Record::freed(0, 0)]].concat());
    forge
}

/// Such a store, and how its checkpoint has the first segment. In the second one its first frame is damaged.
fn left(change: impl FnOnce(&mut Row, u64)) -> (Forge, Forge) {
    let forge = moved_on();
    let mut rows = forge.table.clone();
    change(&mut rows[0], forge.last);
    let changes = bytes("table", table(&rows));
    let forge = named(forge, |checkpoint| checkpoint.finish(&changes));
    let mut broken = forge.clone();
    let at = broken.placed[1].at;
    broken.data[at] ^= 1;
    (forge, broken)
}

/// Rows at the bounds of what they may say.
fn bounds(maker: &mut Maker) {
    type Change = fn(&mut Row, u64);
    let right: [(&str, Change); 3] = [
        ("is freed at its LSN", |row, last| row.freed = last),
        ("ends where its data begins", |row, _| row.end = 64),
        ("ends with its data", |row, _| row.end = 4096),
    ];
    for (what, change) in right {
        let (_, broken) = left(change);
        let name = format!("A checkpoint whose first segment {what}");
        maker.holds(&["F-8.6"], &["Checkpoint"], name, &broken.data, broken.state());
    }
    let mut forge = moved_on();
    let freed = forge.last;
    let named = PLACES.map(|place| {
        let mut rows = forge.table.clone();
        (rows[0].physical, rows[0].freed) = (900, freed);
        let named = Checkpoint::begin(&mut forge, place).finish(&bytes("table", table(&rows)));
        forge.commit(&[Record::put(1, &Key::Int(place.into()), &saying(1))]);
        named
    });
    let last = forge.last;
    name_in_slot(&mut forge, &[&named[1], &named[0]], last);
    let at = forge.placed[1].at;
    forge.data[at] ^= 1;
    let name = "Two checkpoints whose first segment is freed and lies beyond the end of the file";
    maker.holds(&["F-8.6", "R-8.2"], &["Checkpoint"], name, &forge.data, forge.state());
    let (forge, _) = left(|row, _| row.physical = 900);
    let name = "A checkpoint whose first segment lies beyond the end of the file and is not freed";
    disbelieved_file(maker, &["F-8.6"], name, forge);
}
