//! Records and changes of the catalog, in frames that are valid: right, wrong, of newer formats.

use holotype_model::{Document, Key, Value};

use super::sample::{saying, small, text};
use super::{Maker, corrupt, newer};
use crate::case::Group;
use crate::forge::record::{Effect, map};
use crate::forge::{Forge, Record, cbor, lsn, varint};
use crate::make::ladder::{document, rungs};

pub(super) fn make() -> Group {
    let mut maker = Maker::new(
        "records",
        "Records and changes of the catalog in valid frames: carried out, skipped, refused",
    );
    documents(&mut maker);
    kinds_and_flags(&mut maker);
    forms(&mut maker);
    chunks(&mut maker);
    relocations(&mut maker);
    catalog(&mut maker);
    catalog_refused(&mut maker);
    maker.finish()
}

const FIRST: Key = Key::Int(1);

fn holds(maker: &mut Maker, clauses: &[&str], flag: &str, name: &str, records: &[Record]) {
    let mut forge = small();
    forge.commit(records);
    maker.holds(&[clauses, &["R-2.7"]].concat(), &[flag], name, &forge.data, forge.state());
}

/// A record that breaks a clause: the file is corrupt there.
fn broken(maker: &mut Maker, clauses: &[&str], flag: &str, name: impl Into<String>, record: Record) {
    let mut forge = small();
    forge.commit(&[record]);
    // Whoever reads the record may name the clause that it breaks, or the one that calls that corruption.
    let named = [clauses, &["R-2.7", "F-6.1", "F-6.3", "F-6.4", "F-7.1", "F-7.2"]].concat();
    let expect = corrupt(&named, None);
    maker.refused(&[clauses, &["R-2.7"]].concat(), &[flag], name, &forge.data, expect);
}

fn refused_as_newer(
    maker: &mut Maker,
    clauses: &[&str],
    flag: &str,
    name: impl Into<String>,
    record: Record,
) {
    let mut forge = small();
    forge.commit(&[record]);
    maker.refused(&[clauses, &["R-2.7"]].concat(), &[flag], name, &forge.data, newer());
}

fn documents(maker: &mut Maker) {
    for value in rungs().into_iter().flatten() {
        let key = match value {
            Value::Int(int) => Key::Int(int),
            Value::Text(text) if text.len() <= 100 => Key::Text(text),
            Value::Bytes(bytes) if bytes.len() <= 100 => Key::Bytes(bytes),
            _ => continue,
        };
        let name = format!("A document with the key {}", cbor::relaxed(&key_value(&key)));
        let put = Record::put(1, &key, &saying(5));
        holds(maker, &["F-6.1", "F-6.3", "F-8.5", "V-1.9", "R-9.2"], "IdCounter", &name, &[put]);
    }
    holds(
        maker,
        &["R-9.2", "F-6.6"],
        "Replay",
        "A document that is replaced",
        &[Record::put(1, &FIRST, &saying(2))],
    );
    holds(maker, &["R-9.2"], "Replay", "A document that is deleted", &[Record::delete(1, &FIRST)]);
    holds(
        maker,
        &["R-9.2"],
        "Replay",
        "A delete of a document that is not there",
        &[Record::delete(1, &Key::Int(8))],
    );
    let records = [Record::put(1, &Key::Int(40), &saying(1)), Record::delete(1, &Key::Int(40))];
    holds(
        maker,
        &["R-9.2", "F-8.5"],
        "IdCounter",
        "A document that is put and deleted leaves its id behind",
        &records,
    );
    let records =
        [Record::delete(1, &FIRST), Record::put(1, &FIRST, &saying(9)), Record::put(1, &FIRST, &saying(10))];
    holds(maker, &["R-9.2"], "Replay", "A delete and two puts of one key in one commit", &records);
    let mut twice = Document::new();
    twice.insert("list".to_owned(), Value::Array(vec![Value::Null; 30]));
    holds(
        maker,
        &["F-6.1", "E-3.4"],
        "Replay",
        "A document with a list",
        &[Record::put(2, &text("k"), &twice)],
    );
}

fn key_value(key: &Key) -> Value {
    match key {
        Key::Int(int) => Value::Int(*int),
        Key::Text(text) => Value::Text(text.clone()),
        Key::Bytes(bytes) => Value::Bytes(bytes.clone()),
    }
}

fn kinds_and_flags(maker: &mut Maker) {
    for kind in (128..=255u8).step_by(16).chain([255]) {
        let raw = Record::raw(kind, 0xff, 1, vec![1, 2, 3]);
        holds(
            maker,
            &["F-6.3"],
            "RecordKind",
            &format!("A record of kind {kind} is skipped"),
            &[raw, Record::put(1, &text("a"), &saying(1))],
        );
    }
    for kind in [9, 10, 11, 12, 13, 64, 127] {
        let name = format!("A record of kind {kind} is of a newer format");
        refused_as_newer(maker, &["F-6.3"], "RecordKind", name, Record::raw(kind, 0, 1, vec![1]));
    }
    broken(maker, &["F-6.3"], "RecordForm", "A record of kind 0", Record::raw(0, 0, 1, vec![1]));
    for flag in [16u8, 32, 48, 64, 128] {
        let put = Record { flags: flag, ..Record::put(1, &FIRST, &saying(2)) };
        refused_as_newer(maker, &["F-6.4"], "Reserved", format!("A put with flags {flag:#04x}"), put);
    }
    holds(
        maker,
        &["F-6.4", "F-6.6"],
        "RecordForm",
        "A put that names the version that it replaces",
        &[Record::put(1, &FIRST, &saying(2)).with(1, &varint(200))],
    );
    holds(
        maker,
        &["F-6.6"],
        "RecordForm",
        "A put that names a version that is not there",
        &[Record::put(1, &FIRST, &saying(2)).with(1, &varint(1 << 50))],
    );
    holds(
        maker,
        &["F-6.1", "F-6.4"],
        "RecordForm",
        "A put with an expiry",
        &[Record::put(1, &FIRST, &saying(2)).with(2, &[0xff; 8])],
    );
    for len in [0usize, 1, 127, 200] {
        let block = [varint(len as u64), vec![0xab; len]].concat();
        let put = Record::put(1, &FIRST, &saying(2)).with(4, &block);
        holds(
            maker,
            &["F-6.4", "F-1.2"],
            "RecordForm",
            &format!("A put with an extension block of {len} bytes"),
            &[put],
        );
    }
    let all = Record::put(1, &FIRST, &saying(2)).with(4, &[1, 9]).with(2, &[0; 8]).with(1, &varint(300));
    holds(maker, &["F-6.1", "F-6.4"], "RecordForm", "A put with everything that flags can ask for", &[all]);
    holds(maker, &["F-6.3"], "RecordKind", "A commit time", &[Record::raw(8, 0, 0, vec![0; 8])]);
}

fn forms(maker: &mut Maker) {
    let put = |rest: Vec<u8>| Record::raw(1, 0, 1, rest);
    let form = |maker: &mut Maker, clauses: &[&str], name: &str, record: Record| {
        broken(maker, &[&["F-6.1"], clauses].concat(), "RecordForm", name, record);
    };
    form(maker, &[], "A put without a key", put(vec![]));
    form(maker, &["E-2.2", "E-4.1"], "A put whose key is not in its shortest form", put(vec![0x18, 5, 0xa0]));
    form(maker, &["E-4.1"], "A put whose key is null", put(vec![0xf6, 0xa0]));
    form(
        maker,
        &["E-4.1", "V-4.1"],
        "A put whose key has 1,025 bytes",
        put([cbor::text(&"k".repeat(1025)), vec![0xa0]].concat()),
    );
    form(maker, &["F-6.3"], "A delete with a body", Record::raw(2, 0, 1, vec![1, 0xa0]));
    form(maker, &["F-6.4"], "A delete with a chunk list", Record::raw(2, 8, 1, vec![1]));
    form(
        maker,
        &["F-1.2"],
        "A put with a replaced version in a varint that is too long",
        Record::put(1, &FIRST, &saying(2)).dead().with(1, &[0x85, 0]),
    );
    form(
        maker,
        &["F-1.2"],
        "A put with a replaced version beyond 64 bits",
        Record::put(1, &FIRST, &saying(2))
            .dead()
            .with(1, &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2]),
    );
    form(
        maker,
        &["F-2.2"],
        "A put with a replaced version beyond 55 bits",
        Record::put(1, &FIRST, &saying(2)).dead().with(1, &varint(1 << 55)),
    );
    form(maker, &["F-6.4"], "A put with half an expiry", Record::raw(1, 2, 1, vec![0; 4]));
    form(
        maker,
        &["F-6.4"],
        "A put with an extension block that is not there",
        Record::raw(1, 4, 1, varint(100)),
    );
    form(
        maker,
        &["F-6.4"],
        "A put with an extension block of all that can be",
        Record::raw(1, 4, 1, varint(u64::MAX)),
    );
    form(maker, &["F-6.7"], "A put with a chunk list that is none", Record::raw(1, 8, 1, vec![1, 5]));
    form(
        maker,
        &["F-6.7"],
        "A put with a chunk list of more chunks than it has",
        Record::raw(1, 8, 1, vec![1, 5, 2, 0, 0, 0, 0, 0, 0, 0, 0]),
    );
    form(maker, &["F-6.7"], "A chunk without its number", Record::raw(4, 0, 1, vec![1]));
    form(maker, &["F-6.3"], "A freed record that is too short", Record::raw(6, 0, 0, vec![0; 11]));
    form(maker, &["F-6.3"], "A freed record that is too long", Record::raw(6, 0, 0, vec![0; 13]));
    form(maker, &["F-6.3"], "A commit time of 7 bytes", Record::raw(8, 0, 0, vec![0; 7]));
    form(maker, &["F-6.8"], "A relocated put without its own LSN", Record::raw(3, 0, 1, vec![0; 7]));
    let name = "A record that counts itself to the commit before";
    broken(
        maker,
        &["F-6.2"],
        "RecordForm",
        name,
        Record { commit_off: u32::MAX, ..Record::put(1, &FIRST, &saying(2)) },
    );
    let name = "A record that counts itself to the commit after";
    broken(
        maker,
        &["F-6.2"],
        "RecordForm",
        name,
        Record { commit_off: 1, ..Record::put(1, &FIRST, &saying(2)) },
    );
    for (sequence, physical, what) in [(9, 0, "that is not there"), (0, 1, "of another place")] {
        let name = format!("A record that frees a segment {what}");
        broken(maker, &["R-9.4", "F-6.3"], "Replay", name, Record::freed(sequence, physical));
    }
    let mut forge = small();
    forge.segment(forge.last + 1);
    forge.commit(&[Record::put(1, &FIRST, &saying(2)), Record::freed(0, 0)]);
    let name = "A record that frees a segment from which all has gone";
    maker.holds(&["R-9.4", "R-8.2"], &["Replay"], name, &forge.data, forge.state());
    // The body is no document: the frame is valid, and the document is not.
    for (body, what) in [
        (vec![0xa1], "cut short"),
        (vec![0xf6], "null"),
        (vec![0xa0, 0], "longer than its document"),
        (vec![0xbf, 0xff], "indefinite"),
    ] {
        let mut forge = small();
        forge.commit(&[put([vec![1], body].concat())]);
        let name = format!("A document whose encoding is {what}");
        maker.refused(&["E-1.2", "E-3.4", "R-2.7"], &["NotADocument"], name, &forge.data, corrupt(&[], None));
    }
}

fn chunked(len: usize, count: usize) -> (Forge, Vec<u8>, Vec<u64>) {
    let mut forge = small();
    let bytes = cbor::document(&document([("t", Value::from("z".repeat(len).as_str()))]));
    let key = text("long");
    let size = bytes.len().div_ceil(count);
    let lsn = forge.last + 1;
    let mut chunks = Vec::new();
    for (number, part) in bytes.chunks(size).enumerate() {
        let frame =
            crate::forge::log::Frame { lsn: Some(lsn), part: (number as u16, false), ..Default::default() };
        chunks.extend(forge.frame(&[Record::chunk(1, &key, number as u64, part)], &frame));
    }
    (forge, bytes, chunks)
}

fn finish_chunked(forge: &mut Forge, count: usize, record: Record) {
    let frame =
        crate::forge::log::Frame { lsn: Some(forge.last), part: (count as u16, true), ..Default::default() };
    forge.frame(&[record], &frame);
}

fn chunks(maker: &mut Maker) {
    for (len, count) in [(10, 1), (100, 2), (300, 3), (1000, 7), (5, 5)] {
        let (mut forge, bytes, chunks) = chunked(len, count);
        finish_chunked(&mut forge, chunks.len(), Record::put_chunked(1, &text("long"), &bytes, &chunks));
        let name = format!("A document of {} bytes in {} chunks", bytes.len(), chunks.len());
        maker.holds(&["F-6.7", "R-9.5", "F-5.6"], &["Chunks"], name, &forge.data, forge.state());
    }
    let (mut forge, _, chunks) = chunked(100, 2);
    finish_chunked(&mut forge, chunks.len(), Record::put(1, &Key::Int(3), &saying(3)));
    maker.holds(
        &["R-9.5"],
        &["Chunks"],
        "Chunks that no list names change nothing",
        &forge.data,
        forge.state(),
    );
    type Change = fn(&mut Vec<u64>, &mut Vec<u8>);
    let wrong: [(&str, Change); 8] = [
        ("two chunks in the wrong order", |chunks, _| chunks.swap(0, 1)),
        ("a chunk twice", |chunks, _| chunks[1] = chunks[0]),
        ("a chunk too few", |chunks, _| _ = chunks.pop()),
        ("a length that is one too great", |_, bytes| bytes.push(0)),
        ("a length that is one too small", |_, bytes| _ = bytes.pop()),
        ("an address 8 bytes on", |chunks, _| chunks[1] += 8),
        ("an address in a segment that is not there", |chunks, _| chunks[1] += 1 << 30),
        ("the address of another document", |chunks, _| chunks[2] = 64 + 64 * 3 + 32),
    ];
    for (what, change) in wrong {
        let (mut forge, mut bytes, mut chunks) = chunked(300, 3);
        let count = chunks.len();
        change(&mut chunks, &mut bytes);
        finish_chunked(&mut forge, count, Record::put_chunked(1, &text("long"), &bytes, &chunks));
        let name = format!("A chunk list with {what}");
        maker.refused(
            &["F-6.7", "F-2.2"],
            &["Chunks"],
            name,
            &forge.data,
            corrupt(&["F-6.7", "F-2.2", "F-6.1", "F-8.4"], None),
        );
    }
    for (collection, key, what) in
        [(2, text("long"), "another collection"), (1, text("other"), "another key")]
    {
        let (mut forge, bytes, chunks) = chunked(300, 3);
        finish_chunked(&mut forge, chunks.len(), Record::put_chunked(collection, &key, &bytes, &chunks));
        let name = format!("A chunk list of chunks of {what}");
        maker.refused(
            &["F-6.7"],
            &["Chunks"],
            name,
            &forge.data,
            corrupt(&["F-6.7", "F-2.2", "F-6.1"], None),
        );
    }
}

fn relocations(maker: &mut Maker) {
    let document = cbor::document(&saying(1));
    let moved = |from: u64| Record::relocated(1, &FIRST, &document, lsn(1, 3), from);
    let mut forge = small();
    let from = forge.placed.last().expect("there are commits").records[0];
    let to = forge.commit(&[moved(from)])[0];
    maker.holds(&["R-9.3", "F-6.8"], &["Relocation"], "A version that was moved", &forge.data, forge.state());
    forge.commit(&[moved(to)]);
    maker.holds(
        &["R-9.3", "F-6.8"],
        &["Relocation"],
        "A version that was moved twice",
        &forge.data,
        forge.state(),
    );
    forge.commit(&[Record::put(1, &FIRST, &saying(2))]);
    maker.holds(
        &["R-9.3", "R-9.2"],
        &["Relocation"],
        "A version that was moved and then replaced",
        &forge.data,
        forge.state(),
    );
    forge.commit(&[moved(to)]);
    maker.holds(
        &["R-9.3"],
        &["Relocation"],
        "A moved version of a document that was replaced before is dead",
        &forge.data,
        forge.state(),
    );
    let mut forge = small();
    forge.commit(&[Record::delete(1, &FIRST)]);
    forge.commit(&[moved(from)]);
    maker.holds(
        &["R-9.3"],
        &["Relocation"],
        "A moved version of a document that was deleted is dead",
        &forge.data,
        forge.state(),
    );
    for off in [8, 64, 4096] {
        let mut forge = small();
        let other = cbor::document(&saying(99));
        forge.commit(&[Record::relocated(1, &FIRST, &other, lsn(1, 3), from + off)]);
        let state = forge.state();
        let name = format!("A version that says to have stood {off} bytes further on is dead");
        maker.refused_as_tail(&["R-9.3", "F-6.8"], "Relocation", name, &forge, state);
    }
}

fn catalog(maker: &mut Maker) {
    holds(maker, &["F-7.1", "F-7.2"], "Catalog", "A collection begins", &[Record::create(3, "third")]);
    holds(maker, &["F-7.2"], "Catalog", "A name of 255 bytes", &[Record::create(3, &"n".repeat(255))]);
    holds(
        maker,
        &["F-7.2"],
        "Catalog",
        "A name of one character of four bytes",
        &[Record::create(3, "\u{1f600}")],
    );
    holds(maker, &["F-7.2"], "Catalog", "The greatest id", &[Record::create(u32::MAX, "last")]);
    holds(maker, &["F-7.2"], "Catalog", "A gap in the ids", &[Record::create(70, "far")]);
    holds(maker, &["F-7.1"], "Catalog", "A collection ends", &[Record::drop(1)]);
    holds(
        maker,
        &["F-7.1"],
        "IdCounter",
        "A collection is emptied, and its ids go on",
        &[Record::clear(1, 3)],
    );
    holds(maker, &["F-7.1"], "Catalog", "A collection is renamed", &[Record::rename(1, "zebra")]);
    let records = [Record::drop(1), Record::create(3, "notes"), Record::put(3, &text("a"), &saying(1))];
    holds(
        maker,
        &["F-7.1", "F-7.4"],
        "IdCounter",
        "A collection ends, and another one takes its name and begins with id 1",
        &records,
    );
    let records = [Record::rename(1, "x"), Record::rename(2, "notes"), Record::rename(1, "other")];
    holds(maker, &["F-7.1"], "Catalog", "Two collections change their names", &records);
    let records = [
        Record::clear(1, 3),
        Record::put(3, &Key::Int(1), &saying(4)),
        Record::put(1, &text("dead"), &saying(5)),
    ];
    holds(
        maker,
        &["F-7.1", "F-7.4"],
        "DeadRecord",
        "A record of the id that a collection had before it was emptied is dead",
        &records,
    );
    let records = [
        Record::put(9, &text("a"), &saying(1)),
        Record::create(9, "ninth"),
        Record::put(9, &text("b"), &saying(2)),
    ];
    holds(
        maker,
        &["F-7.4"],
        "DeadRecord",
        "A record before the one that creates its collection is dead",
        &records,
    );
    let records = [Record::put(77, &text("a"), &saying(1)), Record::delete(78, &text("a"))];
    let mut forge = small();
    forge.commit(&records);
    let state = forge.state();
    maker.refused_as_tail(
        &["F-7.4", "R-9.2"],
        "DeadRecord",
        "Records of collections that are not there are dead".to_owned(),
        &forge,
        state,
    );
    let mut more = map("create", &[("id", 3), ("later", 7)], Some("third"));
    more.insert("note".to_owned(), Value::Array(vec![Value::Null]));
    holds(
        maker,
        &["F-7.3"],
        "Features",
        "A change with keys that this version does not know",
        &[Record::catalog(&more, Effect::Create(3, "third".into()))],
    );
    more.insert("required".to_owned(), Value::Array(vec![]));
    holds(
        maker,
        &["F-7.3"],
        "Features",
        "A change that requires nothing",
        &[Record::catalog(&more, Effect::Create(3, "third".into()))],
    );
    more.insert("required".to_owned(), Value::Array(vec![Value::from("name"), Value::from("id")]));
    holds(
        maker,
        &["F-7.3"],
        "Features",
        "A change that requires keys that this version knows",
        &[Record::catalog(&more, Effect::Create(3, "third".into()))],
    );
    more.insert("required".to_owned(), Value::Array(vec![Value::from("name"), Value::from("later")]));
    refused_as_newer(
        maker,
        &["F-7.3"],
        "Features",
        "A change that requires a key that this version does not know",
        Record::catalog(&more, Effect::None),
    );
    for op in ["merge", "", "Create", "createx"] {
        let record = Record::catalog(&map(op, &[("id", 3)], Some("third")), Effect::None);
        refused_as_newer(
            maker,
            &["F-7.1"],
            "Features",
            format!("The change {op:?} is of a newer format"),
            record,
        );
    }
}

fn catalog_refused(maker: &mut Maker) {
    let refused = |maker: &mut Maker, clauses: &[&str], name: &str, record: Record| {
        broken(maker, clauses, "Catalog", name, record.dead());
    };
    let change = |map: Document| Record::catalog(&map, Effect::None);
    let with = |op: &str, id: Value, name: Option<Value>| {
        let mut map = Document::from([("op".to_owned(), Value::from(op)), ("id".to_owned(), id)]);
        map.extend(name.map(|name| ("name".to_owned(), name)));
        Record::catalog(&map, Effect::None)
    };
    for (name, record) in [
        ("A create without a name", change(map("create", &[("id", 3)], None))),
        ("A create without an id", change(map("create", &[], Some("third")))),
        ("A create of id 0", change(map("create", &[("id", 0)], Some("third")))),
        ("A create of a negative id", change(map("create", &[("id", -3)], Some("third")))),
        ("A create of an id beyond 32 bits", change(map("create", &[("id", 1 << 32)], Some("third")))),
        ("A create of an id that is a float", with("create", Value::Float(3.0), Some(Value::from("third")))),
        ("A create of an empty name", change(map("create", &[("id", 3)], Some("")))),
        ("A create of a name of 256 bytes", change(map("create", &[("id", 3)], Some(&"n".repeat(256))))),
        ("A create of a name of bytes", with("create", Value::Int(3), Some(Value::Bytes(b"third".to_vec())))),
        ("A create of a name that is there", Record::create(3, "notes")),
        ("A create of an id that is there", Record::create(2, "third")),
        ("A rename to a name that is there", Record::rename(1, "other")),
        ("A rename of a collection that is not there", Record::rename(9, "ninth")),
        ("A rename to an empty name", change(map("rename", &[("id", 1)], Some("")))),
        ("A drop of a collection that is not there", Record::drop(9)),
        ("A clear of a collection that is not there", Record::clear(9, 10)),
        ("A clear to an id that is there", Record::clear(1, 2)),
        ("A clear without a new id", change(map("clear", &[("id", 1)], None))),
    ] {
        refused(maker, &["F-7.1", "F-7.2"], name, record);
    }
    let mut no_op = map("create", &[("id", 3)], Some("third"));
    no_op.remove("op");
    refused(maker, &["F-7.1"], "A change that does nothing", change(no_op.clone()));
    no_op.insert("op".to_owned(), Value::Int(1));
    refused(maker, &["F-7.1"], "A change whose op is an int", change(no_op));
    let mut required = map("create", &[("id", 3)], Some("third"));
    required.insert("required".to_owned(), Value::from("name"));
    refused(maker, &["F-7.3"], "A change that requires a text and not an array", change(required));
    refused(maker, &["F-7.1", "E-1.2"], "A change that is no map", Record::raw(5, 0, 0, vec![0x80]));
    refused(maker, &["F-7.1", "E-1.2"], "A change that is nothing", Record::raw(5, 0, 0, vec![]));
    let out_of_order = [vec![0xa2], cbor::text("op"), cbor::text("drop"), cbor::text("id"), vec![1]].concat();
    refused(
        maker,
        &["F-7.1", "E-3.2"],
        "A change whose keys are out of order",
        Record::raw(5, 0, 0, out_of_order),
    );
}
