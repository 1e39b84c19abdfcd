//! Roots, catalogs, tables and lists that are sealed, and must not be believed.

use super::{collection, disbelieved, store, with_one};
use crate::forge::checkpoint::{Changes, absent, ints};
use crate::forge::lsn;
use crate::make::stores::{Maker, newer};
use holotype_model::{Document, Value};

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

/// The row with these live records, by collection.
fn with_live(row: Value, live: Vec<Value>) -> Value {
    let Value::Array(mut fields) = row else { panic!("a row is an array") };
    fields[8] = Value::Array(live);
    Value::Array(fields)
}

pub(super) fn forged_maps(maker: &mut Maker) {
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
            "live records of one collection twice",
            &["F-8.6"],
            Changes {
                table: Some(vec![with_live(
                    row(0, 0, lsn(1, 1), end, stretch()),
                    vec![ints(&[1, 1]), ints(&[1, 2])],
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
