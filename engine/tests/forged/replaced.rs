//! What a record says that it replaces: believed as far as space goes, and compared as far as documents go.

use std::sync::Arc;

use holotype::format::body::{encode_chunk, encode_chunk_list};
use holotype::format::record::{Kind, RecordParts, Replaced, encode_ended};
use holotype::format::{LogAddress, Lsn};
use holotype::{Db, Document, Error, Value, doc};

use super::forge::{Forge, Frame, n, options, put};

/// The bits of a version's value (F-6.6).
const RELOCATED: u64 = 1;
const CHUNKED: u64 = 2;

fn naming(value: u64, record: RecordParts<'_>) -> RecordParts<'_> {
    RecordParts { replaces: Some(Replaced { value, ended: &[] }), ..record }
}

/// A move of a version that the commit of its put made, in another collection or not.
fn moving(value: u64, body: &[u8]) -> RecordParts<'_> {
    RecordParts { kind: Kind::RelocatedPut, own_lsn: Some(Lsn::new(1, 2)), ..naming(value, put(1, body)) }
}

fn with(records: Vec<RecordParts<'_>>) -> Forge {
    let mut store = Forge::new();
    let lsn = store.end().lsn.next();
    store.append(&Frame::new(lsn, records));
    store
}

//= spec/recovery.md#r-9-2-puts-and-deletes
//# A reader MUST report corruption when a put, delete or relocated put names a version by another value
//# than its key has by then, names one where its key has none, or names none where it has one.
#[test]
pub(crate) fn a_record_names_the_version_that_its_key_has_by_then() {
    let body = n(9).encode();
    let [one, two] = [1, 2].map(|key| Forge::new().value(key));
    let delete = |key| RecordParts { kind: Kind::Delete, ..put(key, &[]) };
    let again = |value| naming(value, put(1, &body));
    for (what, records, keys) in [
        ("a put", vec![again(one)], vec!["1", "2"]),
        ("a put of another", vec![put(3, &body)], vec!["1", "2", "3"]),
        ("a delete", vec![naming(one, delete(1))], vec!["2"]),
        ("a delete of nothing", vec![delete(3)], vec!["1", "2"]),
        ("a move", vec![moving(one, &body)], vec!["1", "2"]),
        ("a delete and a put", vec![naming(one, delete(1)), put(1, &body)], vec!["1", "2"]),
    ] {
        assert_eq!(with(records).keys(), keys, "{what}");
    }
    for (what, records) in [
        ("a put of what is there", vec![put(1, &body)]),
        ("a delete of what is there", vec![delete(1)]),
        ("a put of another place", vec![again(two)]),
        ("a delete of another place", vec![naming(two, delete(1))]),
        ("a move from another place", vec![moving(two, &body)]),
        ("a put of what is not there", vec![naming(one, put(3, &body))]),
        ("a delete of what is not there", vec![naming(one, delete(3))]),
        ("a move of what is not there", vec![naming(one, delete(1)), moving(one, &body)]),
        ("a put of what was moved, and was not", vec![again(one | RELOCATED)]),
        ("a put of what is there no longer", vec![again(one), again(one)]),
    ] {
        with(records).assert_corrupt(what);
    }
}

// spec: F-6.6
#[test]
fn nothing_is_asked_of_what_a_dead_record_names() {
    let body = n(9).encode();
    assert_eq!(with(vec![RecordParts { collection: 9, ..naming(4 * 64, put(1, &body)) }]).keys(), ["1", "2"]);
}

/// A long document under the key 3, whose two chunks stand in segment 0, and what replaces it, with this list of what dies.
fn over_a_long_one(ended: &[u8]) -> Forge {
    let document: Document = doc! { "t": Value::Bytes(vec![7; 60]) };
    let bytes = document.encode();
    let mut store = Forge::new();
    let lsn = store.end().lsn.next();
    let parts = bytes.chunks(40).enumerate().map(|(number, part)| {
        let mut body = Vec::new();
        encode_chunk(number as u64, part, &mut body);
        body
    });
    let parts: Vec<_> = parts.collect();
    let chunk = |body| RecordParts { kind: Kind::Chunk, ..put(3, body) };
    let frame = Frame { last: false, ..Frame::new(lsn, parts.iter().map(|body| chunk(body)).collect()) };
    let at = store.append(&frame);
    let at: Vec<_> = at.into_iter().map(|offset| store.newest().geometry.address(0, offset)).collect();
    let mut list = Vec::new();
    encode_chunk_list(bytes.len() as u64, &at, &mut list);
    let long = RecordParts { chunked: true, ..put(3, &list) };
    let at = store.append(&Frame { part: 1, ..Frame::new(lsn, vec![long]) });
    let value = (4 * store.newest().geometry.address(0, at[0]).0) | CHUNKED;
    let body = n(9).encode();
    let replaces = Some(Replaced { value, ended });
    store.append(&Frame::new(lsn.next(), vec![RecordParts { replaces, ..put(3, &body) }]));
    store
}

// spec: F-6.6, P-1.5
#[test]
fn a_list_of_chunks_that_is_wrong_costs_space_and_no_data() {
    for (sequences, is_right) in [
        (vec![0, 0], true),
        (vec![0], false),
        (vec![], false),
        (vec![0; 3], false),
        (vec![0; 90], false),
        (vec![0, 0, 7], true),
        (vec![7, 1 << 60], false),
    ] {
        let store = over_a_long_one(&encode_ended(sequences.clone()));
        let db = store.open().expect("a list is believed");
        let found = db.collection("c").get(3).expect("it is sound").expect("it was put");
        assert_eq!(found.bytes(), n(9).encode(), "{sequences:?}");
        assert_eq!(db.collection("c").len().expect("it is there"), 3, "{sequences:?}");
        let report = db.verify(true).expect("it can be read");
        let clauses: Vec<_> = report.problems.iter().map(|problem| problem.clause.0).collect();
        assert_eq!(clauses, if is_right { vec![] } else { vec!["P-1.5"] }, "{sequences:?}");
    }
}

// spec: F-6.7, M-5.1
#[test]
fn a_list_of_more_chunks_than_any_writer_makes_is_none_to_whoever_ends_it() {
    for (sequences, count) in [(1 << 40, 450), (1 << 50, 3)] {
        let mut store = Forge::new();
        let at: Vec<_> = (0..count).map(|number| LogAddress((sequences + number) << 12)).collect();
        let mut list = Vec::new();
        encode_chunk_list(9, &at, &mut list);
        let lsn = store.end().lsn.next();
        store.append(&Frame::new(lsn, vec![RecordParts { chunked: true, ..put(3, &list) }]));
        for end in [
            |db: &Db| db.collection("c").delete(3).map(drop),
            |db: &Db| db.collection("c").put(3, n(4)).map(drop),
        ] {
            let disk = store.disk();
            let db = Db::open_on(Arc::clone(&disk), &options()).expect("nobody has looked at the document");
            assert!(matches!(db.collection("c").get(3), Err(Error::Corrupt(_))));
            end(&db).expect("what is damaged can be replaced");
            db.maintain().expect("it goes on with others");
            db.close().expect("there is room");
            let db = Db::open_on(disk, &options()).expect("what was written is sound");
            assert!(db.verify(true).expect("it can be read").is_clean());
        }
    }
}
