//! Records: their fields, kinds and flags.

use holotype_model::{Key, Value};

use crate::forge::log::Frame;
use crate::forge::record::{Effect, map};
use crate::forge::{Forge, Record, cbor, lsn, varint};
use crate::make::stores::sample::{saying, small};
use crate::make::{Maker, corrupt, newer};

const FIRST: Key = Key::Int(1);
const OTHER: Key = Key::Int(2);

/// A store behind which these records may stand: none frees the segment in which it stands.
fn before(records: &[Record]) -> Forge {
    let mut forge = small();
    if records.iter().any(|record| record.kind == Record::freed(0, 0).kind) {
        forge.segment(forge.last + 1);
    }
    forge
}

fn holds(maker: &mut Maker, clauses: &[&str], flag: &str, name: &str, records: &[Record]) {
    let mut forge = before(records);
    forge.commit(records);
    maker.holds(clauses, &[flag], name, &forge.data, forge.state());
}

fn broken(maker: &mut Maker, clauses: &[&str], name: &str, record: Record) {
    let mut forge = before(std::slice::from_ref(&record));
    forge.commit(&[record.dead()]);
    // Whoever reads the record may name the clause that it breaks, or the one on the form of a record.
    let expect = corrupt(&[clauses, &["R-2.7", "F-6.1"]].concat(), None);
    maker.refused(&[clauses, &["R-2.7"]].concat(), &["RecordForm"], name, &forge.data, expect);
}

/// A record of each kind that this version knows but a put, in its right form.
fn kinds() -> [(&'static str, Record); 7] {
    [
        ("delete", Record::delete(1, &OTHER)),
        ("relocated put", Record::relocated(1, &FIRST, &cbor::document(&saying(1)), lsn(1, 3))),
        ("chunk", Record::chunk(1, &FIRST, 0, b"part")),
        ("change of the catalog", Record::rename(1, "renamed")),
        ("freed record", Record::freed(0, 0)),
        ("opening record in an ordinary frame", Record::opening(0, 64)),
        ("commit time", Record::raw(8, 0, 0, vec![7; 8])),
    ]
}

pub(super) fn fields(maker: &mut Maker) {
    for (beyond, clauses, what) in [
        ([1 << 32, 0], &["F-6.1"][..], "whose collection is beyond 32 bits"),
        ([0, 1 << 32], &["F-6.1", "F-6.2"], "whose commit is beyond 32 bits"),
        ([0, 1 << 33], &["F-6.1", "F-6.2"], "whose commit is beyond 33 bits"),
    ] {
        let put = Record { beyond, ..Record::put(1, &OTHER, &saying(2)) };
        broken(maker, clauses, &format!("A put {what}"), put);
    }
    let clauses = &["F-6.6", "F-2.2", "F-6.8", "F-6.1"];
    let moved = Record::relocated(1, &FIRST, &cbor::document(&saying(1)), lsn(1, 3));
    for from in [1 << 55, 1 << 56, u64::MAX / 4] {
        let name = format!("A relocated put from {from}, beyond 55 bits");
        broken(maker, clauses, &name, moved.clone().naming(&varint(from * 4)));
    }
    for len in [15, 17] {
        let name = format!("An opening record of {len} bytes in another frame");
        broken(maker, &["F-6.3", "F-6.5"], &name, Record::raw(7, 0, 0, vec![0; len]));
    }
    // No document has such a version, and a record of an unknown collection is dead: its form is judged even so.
    let clauses = &["F-6.6", "F-2.2", "F-6.1"];
    for (value, what) in
        [(0, "at address 0"), (3, "at address 0, of chunks and moved"), (1 << 57, "beyond 55 bits")]
    {
        let named = [varint(value), varint(0)].concat();
        let named = if value & 2 == 0 { &named[..named.len() - 1] } else { &named };
        for (kind, record) in
            [("put", Record::put(9, &OTHER, &saying(2))), ("delete", Record::delete(9, &OTHER))]
        {
            broken(maker, clauses, &format!("A {kind} with a replaced version {what}"), record.naming(named));
        }
    }
    let named = varint(((1 << 55) - 1) * 4);
    let dead = [Record::delete(9, &OTHER).naming(&named), Record::put(9, &OTHER, &saying(2)).naming(&named)];
    let name = "Records of an unknown collection with a replaced version of 55 bits";
    holds(maker, &["F-6.6", "F-2.2", "R-9.2", "F-7.4"], "RecordForm", name, &dead);
}

fn contradicts(maker: &mut Maker, name: &str, record: Record) {
    let mut forge = before(std::slice::from_ref(&record));
    forge.commit(&[record.dead()]);
    let expect = corrupt(&["R-9.2", "F-6.6"], None);
    maker.refused(&["R-9.2", "F-6.6", "R-4.5"], &["Replay"], name, &forge.data, expect);
}

/// What a record says that it replaces, and what is there.
pub(super) fn replaced(maker: &mut Maker) {
    let at = small().placed.last().expect("there are commits").records[0] * 4;
    let put = |key: &Key| Record::put(1, key, &saying(9));
    for (kind, record) in [("put", put as fn(&Key) -> Record), ("delete", |key| Record::delete(1, key))] {
        contradicts(
            maker,
            &format!("A {kind} of a document that names no version"),
            record(&FIRST).naming_none(),
        );
        for (value, what) in
            [(at + 4, "a byte further on"), (at + 1, "that was moved"), (at ^ 1 << 20, "that is far away")]
        {
            let name = format!("A {kind} that names a version {what}");
            contradicts(maker, &name, record(&FIRST).naming(&varint(value)));
        }
        let chunked = [varint(at + 2), varint(1), varint(0), varint(2)].concat();
        contradicts(
            maker,
            &format!("A {kind} that names a version of chunks"),
            record(&FIRST).naming(&chunked),
        );
        let name = format!("A {kind} of what is not there that names a version");
        contradicts(maker, &name, record(&OTHER).naming(&varint(at)));
    }
    let mut forge = small();
    forge.commit(&[put(&FIRST)]);
    forge.commit(&[put(&FIRST).naming(&varint(at)).dead()]);
    let expect = corrupt(&["R-9.2", "F-6.6"], None);
    let name = "A put that names the version before the last";
    maker.refused(&["R-9.2", "F-6.6"], &["Replay"], name, &forge.data, expect);
    let records = [put(&FIRST), Record::delete(1, &FIRST), put(&FIRST), put(&FIRST)];
    let name = "Each record of a commit names what the one before it left";
    holds(maker, &["R-9.2", "F-6.6"], "Replay", name, &records);
}

pub(super) fn flags(maker: &mut Maker) {
    for (kind, record) in kinds() {
        for flags in [16, 64, 128] {
            let mut forge = small();
            forge.commit(&[Record { flags, ..record.clone() }.dead()]);
            let name = format!("{kind} with flags {flags:#04x} is of a newer format");
            maker.refused(&["F-6.4", "R-2.7"], &["Reserved"], name, &forge.data, newer());
        }
        if kind != "relocated put" {
            let name = format!("{kind} with a chunk list's flag");
            broken(maker, &["F-6.4"], &name, Record { flags: 8, ..record.clone() });
        }
        for (named, what) in [
            (varint(300), "a replaced version"),
            ([302, 2, 0, 1, 300, 200].map(varint).concat(), "a replaced version of chunks"),
        ] {
            if !["delete", "relocated put"].contains(&kind) {
                let name = format!("{kind} with {what}, which is stepped over");
                holds(
                    maker,
                    &["F-6.4", "F-6.1", "F-6.6"],
                    "RecordForm",
                    &name,
                    &[record.clone().naming(&named)],
                );
            }
        }
        for (flag, field, what) in [
            (2, vec![9; 8], "an expiry"),
            (4, vec![3, 1, 2, 3], "an extension block"),
            (4, [varint(200), vec![5; 200]].concat(), "an extension block of 200 bytes"),
        ] {
            let mut record = record.clone();
            record.flags |= flag;
            record.rest.splice(0..0, field);
            let name = format!("{kind} with {what}, which is stepped over");
            holds(maker, &["F-6.4", "F-6.1"], "RecordForm", &name, &[record]);
        }
        let name = format!("{kind} with a collection that it has no use for");
        if record.collection == 0 {
            holds(maker, &["F-6.4"], "RecordForm", &name, &[Record { collection: 9, ..record }]);
        }
    }
    let expired = Record::put(1, &OTHER, &saying(2)).with(2, &1u64.to_le_bytes());
    holds(maker, &["F-6.4"], "Replay", "A document whose expiry is past is there", &[expired]);
}

pub(super) fn openings(maker: &mut Maker) {
    let names = Record::opening(lsn(1, 3), 64);
    let name = "An opening record in another frame says nothing";
    holds(maker, &["F-6.5"], "OpeningFrame", name, &[names, Record::put(1, &OTHER, &saying(2))]);
    let mut forge = small();
    let state = forge.state();
    let frame = Frame { lsn: Some(lsn(1, 9)), ..Frame::default() };
    forge.base = 9;
    forge.frame(&[Record::opening(lsn(1, 8), 64)], &frame);
    let name = "An opening record in a frame without that flag claims nothing";
    maker.refused_as_tail(&["F-6.5", "R-3.1"], "TornWrite", name, &forge, state);
}

/// A change of the catalog: its op, its ids, its name and what it does.
type Change = (&'static str, &'static [(&'static str, i64)], Option<&'static str>, Effect);

pub(super) fn catalog(maker: &mut Maker) {
    for (clauses, name, records) in [
        (
            &["F-7.1", "F-7.2"][..],
            "An id of a collection that ended comes again",
            vec![Record::drop(2), Record::create(2, "third")],
        ),
        (
            &["F-7.1", "F-7.2"],
            "A clear to the id of a collection that ended",
            vec![Record::drop(2), Record::clear(1, 2)],
        ),
        (
            &["F-7.1", "F-7.2"],
            "A create below the id that a clear gave",
            vec![Record::clear(1, 9), Record::create(8, "third")],
        ),
        (&["F-7.1"], "A rename to the name that the collection has", vec![Record::rename(1, "notes")]),
        (
            &["F-7.1"],
            "A drop of a collection that was cleared, by its old id",
            vec![Record::clear(1, 9), Record::drop(1)],
        ),
        (&["F-7.2"], "A name of 128 characters of two bytes", vec![Record::create(3, &"\u{e9}".repeat(128))]),
    ] {
        let mut forge = small();
        forge.commit(&records);
        let expect = corrupt(&["F-7.1", "F-7.2", "R-2.7"], None);
        maker.refused(&[clauses, &["R-2.7"]].concat(), &["Catalog"], name, &forge.data, expect);
    }
    for op in ["drop", "rename"] {
        let mut change = map(op, &[], (op == "rename").then_some("new name"));
        change.insert("id".to_owned(), Value::Bool(true));
        let record = Record::catalog(&change, Effect::None);
        broken(maker, &["F-7.1", "F-7.2"], &format!("A {op} whose id is true"), record);
    }
    holds(maker, &["F-7.2"], "Catalog", "A name that begins with a dollar", &[Record::create(3, "$third")]);
    holds(
        maker,
        &["F-7.2"],
        "Catalog",
        "A name of 127 characters of two bytes",
        &[Record::create(3, &"\u{e9}".repeat(127))],
    );
    let create: Change = ("create", &[("id", 3)], Some("third"), Effect::Create(3, "third".to_owned()));
    let rename: Change = ("rename", &[("id", 1)], Some("x"), Effect::Rename(1, "x".to_owned()));
    let drop: Change = ("drop", &[("id", 2)], None, Effect::Drop(2));
    for (required, (op, ids, name, effect)) in
        [("new", create.clone()), ("required", create), ("new", rename), ("name", drop)]
    {
        let mut change = map(op, ids, name);
        change.insert("required".to_owned(), Value::Array(vec![Value::from(required)]));
        let name = format!("A {op} that requires the key {required}");
        holds(maker, &["F-7.3"], "Features", &name, &[Record::catalog(&change, effect)]);
    }
}
