//! Puts and deletes, kinds and flags.

use super::{FIRST, broken, holds, refused_as_newer};
use crate::forge::{Record, cbor, varint};
use crate::make::ladder::rungs;
use crate::make::stores::Maker;
use crate::make::stores::sample::{saying, text};
use holotype_model::{Document, Key, Value};

pub(super) fn documents(maker: &mut Maker) {
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

pub(super) fn kinds_and_flags(maker: &mut Maker) {
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
    let all = Record::put(1, &FIRST, &saying(2)).with(4, &[1, 9]).with(2, &[0; 8]);
    holds(maker, &["F-6.1", "F-6.4"], "RecordForm", "A put with everything that flags can ask for", &[all]);
    holds(maker, &["F-6.3"], "RecordKind", "A commit time", &[Record::raw(8, 0, 0, vec![0; 8])]);
}
