//! Roots: their fields, their parts, and the reference that leads to them (F-8.7).

use super::{PLACES, disbelieved, disbelieved_file, named, root, store, with_one};
use crate::forge::checkpoint::{Changes, Checkpoint};
use crate::forge::index::{IndexRecord, PART, Reference, absent, collection, ints};
use crate::forge::{Forge, cbor, lsn, varint};
use crate::make::stores::{Maker, newer};
use holotype_model::{Document, Value};

pub(super) fn roots(maker: &mut Maker) {
    fields(maker);
    references(maker);
    maps(maker);
    parts(maker);
}

fn fields(maker: &mut Maker) {
    let end = i64::from(store().end);
    for (what, value) in [
        ("lsn", Value::Int(lsn(1, 2) as i64)),
        ("lsn", absent()),
        ("lsn", Value::Null),
        ("last", Value::Int(1)),
        ("last", absent()),
        ("log", absent()),
        ("log", ints(&[0, 0, 64])),
        ("log", ints(&[1, 0, end])),
        ("log", ints(&[0, 1, end])),
        ("log", ints(&[0, 0])),
        ("log", ints(&[0, 0, end, 0])),
        ("reserved", absent()),
        ("reserved", ints(&[1])),
        ("reserved", ints(&[1, 2, 3])),
        ("reserved", ints(&[1, -1])),
        ("catalog", absent()),
        ("catalog", Value::Bytes(Vec::new())),
        ("indexes", absent()),
        ("indexes", Value::Object(Document::new())),
        ("required", Value::from("lsn")),
    ] {
        let name = match &value {
            value if *value == absent() => format!("A checkpoint with a root without `{what}`"),
            value => format!("A checkpoint with a root whose `{what}` is {}", cbor::canonical(value)),
        };
        disbelieved(maker, &["F-8.7"], name, &root(what, value));
    }
    for (name, value, what) in [
        ("later", Value::Int(1), "a key that this version does not know"),
        ("required", Value::Array(vec![]), "nothing required"),
        ("required", Value::Array(vec![Value::from("lsn")]), "a key required that this version knows"),
        (
            "required",
            Value::Array(["live", "stretches", "table", "required"].map(Value::from).to_vec()),
            "keys required that are byte strings",
        ),
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
    for required in ["later", "tree"] {
        let forge = with_one(&root("required", Value::Array(vec![Value::from(required)])));
        let name =
            format!("A checkpoint that requires the key `{required}`, which this version does not know");
        maker.refused(&["F-7.3", "R-5.2"], &["Features"], name, &forge.data, newer());
    }
}

fn references(maker: &mut Maker) {
    for (what, at, bytes) in [
        ("another LSN of the checkpoint", 0, lsn(1, 3).to_le_bytes().to_vec()),
        ("a root beyond the end of the file", 8, 900u32.to_le_bytes().to_vec()),
        ("a root in the segment before", 8, 3u32.to_le_bytes().to_vec()),
        ("a root at its first leaf", 12, 64u32.to_le_bytes().to_vec()),
        ("another checksum of the root", 16, vec![1, 2, 3, 4]),
        ("another replay segment", 20, 1u32.to_le_bytes().to_vec()),
        ("another replay sequence", 24, 1u64.to_le_bytes().to_vec()),
        ("another replay offset", 32, 128u32.to_le_bytes().to_vec()),
        ("a root of 9 bytes", 36, 9u32.to_le_bytes().to_vec()),
        ("another replay LSN", 40, lsn(1, 2).to_le_bytes().to_vec()),
    ] {
        let changes = Changes { reference: Some((at, bytes)), ..Changes::default() };
        let name = format!("A checkpoint with {what} in the reference");
        disbelieved(maker, &["F-8.7", "F-3.2"], name, &changes);
    }
}

/// The store, whose checkpoint has this for its root's map.
fn of_map(change: impl FnOnce(Vec<u8>) -> Vec<u8>) -> Forge {
    named(store(), |mut checkpoint| {
        let map = change(map(&mut checkpoint));
        checkpoint.finish_root(&map, &Changes::default())
    })
}

/// Writes the trees. Answers the root's map.
fn map(checkpoint: &mut Checkpoint<'_>) -> Vec<u8> {
    let documents = checkpoint.documents(1);
    let (entries, whole) = (documents.entries(), (usize::MAX, usize::MAX));
    let tree = checkpoint.tree(1, &entries, whole, &Changes::default());
    let notes = collection(1, "notes", documents.next, entries.len(), tree);
    checkpoint.root(vec![notes, collection(2, "other", 1, 0, Vec::new())], &Changes::default())
}

fn maps(maker: &mut Maker) {
    type Change = fn(Vec<u8>) -> Vec<u8>;
    let wrong: [(&str, Change); 6] = [
        ("that is a byte short", |map| map[..map.len() - 1].to_vec()),
        ("with a byte behind it", |map| [map, vec![0]].concat()),
        ("with another map behind it", |map| [&map[..], &map].concat()),
        ("that is an array", |_| cbor::value(&ints(&[1]))),
        ("that has its first key twice", |map| {
            // `log` comes first, and is 3 and a length of 3 and some.
            let len = 4 + cbor::value(&ints(&[0, 0, store().end.into()])).len();
            [vec![map[0] + 1], map[1..=len].to_vec(), map[1..].to_vec()].concat()
        }),
        ("whose head is longer than it needs to be", |map| {
            [vec![0xb8, map[0] & 0x1f], map[1..].to_vec()].concat()
        }),
    ];
    for (what, change) in wrong {
        let name = format!("A checkpoint with a root {what}");
        disbelieved_file(maker, &["F-8.7", "E-1.2"], name, of_map(change));
    }
}

/// Maps that are cut into parts.
fn parts(maker: &mut Maker) {
    for len in [12, 100, 200] {
        let changes = Changes { part: Some(len), ..Changes::default() };
        let mut forge = with_one(&changes);
        let at = forge.placed[1].at;
        forge.data[at] ^= 1;
        let name = format!("A root in parts of {len} bytes of its map");
        maker.holds(&["F-8.7", "F-8.12"], &["Checkpoint"], name, &forge.data, forge.state());
    }
    let mut forge = spread(&|_, _| ());
    let at = forge.placed[1].at;
    forge.data[at] ^= 1;
    let name = "A root in parts that stand in three segments, which its list does not name";
    maker.holds(&["F-8.7", "F-8.9"], &["Checkpoint"], name, &forge.data, forge.state());
    type Numbers = fn(u64) -> u64;
    let numbers: [(&str, Numbers); 6] = [
        ("whose numbers begin with 1", |n| n + 1),
        ("that all say 0", |_| 0),
        ("that all say 1", |_| 1),
        ("of which one number is missing", |n| if n < 2 { n } else { n + 1 }),
        ("of which the last says one more", |n| if n < 3 { n } else { 4 }),
        ("whose numbers fall", |n| 3 - n.min(3)),
    ];
    for (what, numbers) in numbers {
        let changes = Changes { part: Some(50), numbers: Some(numbers), ..Changes::default() };
        disbelieved(maker, &["F-8.7"], format!("A checkpoint with parts of its root {what}"), &changes);
    }
    type Change = fn(usize, &mut Reference);
    let wrong: [(&str, Change); 8] = [
        ("another checksum", |n, link| link.crc ^= u32::from(n == 1)),
        ("a part that is a byte longer", |n, link| link.len += u32::from(n == 1)),
        ("a part that is a byte shorter", |n, link| link.len -= u32::from(n == 1)),
        ("a part at another offset", |n, link| link.offset += 8 * u32::from(n == 1)),
        ("a part at no multiple of 8", |n, link| link.offset += u32::from(n == 1)),
        ("a part in another segment", |n, link| link.segment += u32::from(n == 1)),
        ("a part beyond the end of the file", |n, link| link.segment += 900 * u32::from(n == 1)),
        ("a part in the header of its segment", |n, link| {
            link.offset -= (link.offset - 8) * u32::from(n == 1);
        }),
    ];
    for (what, change) in wrong {
        let name = format!("A checkpoint with a part of its root that refers to {what}");
        disbelieved_file(maker, &["F-8.7", "F-8.12"], name, spread(&change));
    }
    // A part may be as damaged as any other record.
    for segment in [5, 6] {
        let mut forge = spread(&|_, _| ());
        forge.data[16_384 + segment * 4096 + 80] ^= 1;
        let name = format!("A checkpoint with a damaged part of its root in segment {segment}");
        disbelieved_file(maker, &["F-8.7", "F-1.3"], name, forge);
    }
}

/// The store, whose checkpoint has its root in parts that stand in three segments. The links between them are as `change` leaves them.
fn spread(change: &dyn Fn(usize, &mut Reference)) -> Forge {
    named(store(), |mut checkpoint| {
        let map = map(&mut checkpoint);
        let mut link: Option<Reference> = None;
        for (n, bytes) in map.chunks(map.len().div_ceil(3)).enumerate() {
            checkpoint.go_on_in(PLACES[0] + 1 + n as u32);
            let before = link.map_or(Vec::new(), |mut link| {
                change(n, &mut link);
                link.bytes()
            });
            let body = [varint(n as u64), before, bytes.to_vec()].concat();
            link = Some(checkpoint.record(&IndexRecord { kind: PART, body, ..IndexRecord::default() }));
        }
        checkpoint.reference_to(link.expect("there are parts"), &Changes::default())
    })
}
