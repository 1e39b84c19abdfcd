//! Chunks, and versions that were moved.

use super::FIRST;
use crate::forge::{Forge, Record, cbor, lsn, varint};
use crate::make::ladder::document;
use crate::make::stores::sample::{saying, small, text};
use crate::make::stores::{Maker, corrupt};
use holotype_model::{Key, Value};

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

pub(super) fn chunks(maker: &mut Maker) {
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

pub(super) fn relocations(maker: &mut Maker) {
    let document = cbor::document(&saying(1));
    let moved = || Record::relocated(1, &FIRST, &document, lsn(1, 3));
    let mut forge = small();
    let from = forge.placed.last().expect("there are commits").records[0];
    let to = forge.commit(&[moved()])[0];
    maker.holds(&["R-9.3", "F-6.8"], &["Relocation"], "A version that was moved", &forge.data, forge.state());
    let again = forge.commit(&[moved()])[0];
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
    let mut refused = |mut forge: Forge, value: u64, name: &str| {
        forge.commit(&[moved().naming(&varint(value)).dead()]);
        let expect = corrupt(&["R-9.2", "F-6.6"], None);
        maker.refused(&["R-9.2", "R-9.3", "F-6.6", "F-6.8"], &["Relocation"], name, &forge.data, expect);
    };
    refused(forge.clone(), again * 4 + 1, "A move of a version that was replaced before");
    let mut deleted = small();
    deleted.commit(&[Record::delete(1, &FIRST)]);
    refused(deleted, from * 4, "A move of a version that was deleted before");
    let mut twice = small();
    twice.commit(&[moved()]);
    refused(twice.clone(), from * 4, "A move of a version from where it stood before it was moved");
    refused(twice, to * 4, "A move of a version that was moved, as if it were not");
    refused(small(), from * 4 + 1, "A move of a version that was not moved, as if it were");
    for off in [1, 8, 64, 4096] {
        let name = format!("A version that says to have stood {off} bytes further on");
        refused(small(), (from + off) * 4, &name);
    }
    let mut forge = small();
    forge.commit(&[moved().naming_none().dead()]);
    let name = "A relocated put that names no version";
    let expect = corrupt(&["F-6.8", "F-6.6", "F-6.1", "R-2.7"], None);
    maker.refused(&["F-6.8", "R-2.7"], &["Relocation", "RecordForm"], name, &forge.data, expect);
}
