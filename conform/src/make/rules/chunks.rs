//! Lists of chunks.

use holotype_model::{Key, Value};

use crate::forge::log::Frame;
use crate::forge::record::{chunk_list, replaced};
use crate::forge::{Forge, Record, cbor, varint};
use crate::make::ladder::document;
use crate::make::stores::sample::{saying, small, text};
use crate::make::{Maker, corrupt};

/// A document of two chunks, and these.
fn parts() -> (Vec<u8>, Vec<u8>, Vec<u8>) {
    let bytes = cbor::document(&document([("t", Value::from("long".repeat(20).as_str()))]));
    let (first, second) = bytes.split_at(40);
    (bytes.clone(), first.to_vec(), second.to_vec())
}

fn chunk(number: u64, bytes: &[u8]) -> Record {
    Record::chunk(1, &text("long"), number, bytes)
}

fn part(forge: &mut Forge, of: u64, number: u16, records: &[Record]) -> Vec<u64> {
    forge.frame(records, &Frame { lsn: Some(of), part: (number, false), ..Frame::default() })
}

fn last(forge: &mut Forge, of: u64, number: u16, record: Record) -> Vec<u64> {
    forge.frame(&[record], &Frame { lsn: Some(of), part: (number, true), ..Frame::default() })
}

fn refused(maker: &mut Maker, name: &str, forge: &Forge) {
    let expect = corrupt(&["F-6.7", "F-2.2"], None);
    maker.refused(&["F-6.7"], &["Chunks"], name, &forge.data, expect);
}

pub(super) fn puts(maker: &mut Maker) {
    let (bytes, first, second) = parts();
    let put = |list: Vec<u8>| Record {
        flags: 8,
        ..Record::raw(1, 0, 1, [cbor::key(&text("long")), list].concat())
    };

    // Chunks of the commit before, whole and in order.
    let mut forge = small();
    let chunks = forge.commit(&[chunk(0, &first), chunk(1, &second)]);
    forge.commit(&[Record::put_chunked(1, &text("long"), &bytes, &chunks)]);
    refused(maker, "A put whose list leads to chunks of the commit before", &forge);

    // A put is no chunk, though its body would be one.
    let mut forge = small();
    let of = forge.last + 1;
    let rest = [cbor::key(&text("long")), varint(0), bytes.clone()].concat();
    let posing = part(&mut forge, of, 0, &[Record::raw(1, 0, 1, rest)]);
    let over = Record::put_chunked(1, &text("long"), &bytes, &posing);
    last(&mut forge, of, 1, over.naming(&varint(posing[0] * 4)));
    refused(maker, "A put whose list leads to a put", &forge);

    for numbers in [[1, 2], [0, 2], [0, 0], [1, 0]] {
        let mut forge = small();
        let of = forge.last + 1;
        let records = [chunk(numbers[0], &first), chunk(numbers[1], &second)];
        let chunks = part(&mut forge, of, 0, &records);
        last(&mut forge, of, 1, Record::put_chunked(1, &text("long"), &bytes, &chunks));
        refused(maker, &format!("Chunks with the numbers {numbers:?}"), &forge);
    }

    // A whole document, and a byte behind it in the last chunk.
    let mut forge = small();
    let of = forge.last + 1;
    let longer = [&second[..], &[0]].concat();
    let chunks = part(&mut forge, of, 0, &[chunk(0, &first), chunk(1, &longer)]);
    last(&mut forge, of, 1, Record::put_chunked(1, &text("long"), &bytes, &chunks));
    refused(maker, "Chunks that hold a byte more than the list says", &forge);

    for (behind, what) in [(vec![0], "a byte"), (vec![0; 7], "seven bytes"), (vec![0; 8], "an address")] {
        let mut forge = small();
        let of = forge.last + 1;
        let chunks = part(&mut forge, of, 0, &[chunk(0, &first), chunk(1, &second)]);
        let list = [chunk_list(bytes.len() as u64, &chunks), behind].concat();
        last(&mut forge, of, 1, put(list));
        let expect = corrupt(&["F-6.7", "F-6.1", "R-2.7"], None);
        let name = format!("A list of chunks with {what} behind it");
        maker.refused(&["F-6.7", "R-2.7"], &["Chunks"], name, &forge.data, expect);
    }

    // The form of a list is looked at though a later put replaces it; where it leads is not.
    let key = text("long");
    let whole = Record::put(1, &key, &saying(2));
    let mut forge = small();
    forge.commit(&[put(vec![1, 5]), whole.clone()]);
    let expect = corrupt(&["F-6.7", "F-6.1", "R-2.7"], None);
    let name = "A list of chunks that is none, of a version that was replaced";
    maker.refused(&["F-6.7", "R-2.7"], &["Chunks"], name, &forge.data, expect);
    let mut forge = small();
    forge.commit(&[Record::put_chunked(1, &key, &[0; 5], &[1 << 40]), whole]);
    let name = "A list that leads nowhere, of a version that was replaced";
    maker.holds(&["F-6.7", "R-2.7"], &["Chunks"], name, &forge.data, forge.state());
}

/// A store with a long document, its bytes, the addresses of its chunks, and the LSN of its put.
fn long() -> (Forge, Vec<u8>, Vec<u64>, u64) {
    let (bytes, first, second) = parts();
    let mut forge = small();
    let of = forge.last + 1;
    let chunks = part(&mut forge, of, 0, &[chunk(0, &first), chunk(1, &second)]);
    last(&mut forge, of, 1, Record::put_chunked(1, &text("long"), &bytes, &chunks));
    (forge, bytes, chunks, of)
}

fn moved(bytes: &[u8], chunks: &[u64], of: u64) -> Record {
    Record::relocated_chunked(1, &text("long"), bytes, chunks, of)
}

pub(super) fn relocated(maker: &mut Maker) {
    let (_, first, second) = parts();
    for (again, what) in [(0, "none"), (1, "the second"), (2, "both")] {
        let (mut forge, bytes, mut chunks, origin) = long();
        let of = forge.last + 1;
        let copies = [chunk(0, &first), chunk(1, &second)];
        let placed = part(&mut forge, of, 0, &copies[2 - again..]);
        chunks.splice(2 - again.., placed);
        last(&mut forge, of, 1, moved(&bytes, &chunks, origin));
        let name = format!("A long document that was moved, with {what} of its chunks");
        maker.holds(
            &["F-6.7", "F-6.8", "R-9.3"],
            &["Chunks", "Relocation"],
            name,
            &forge.data,
            forge.state(),
        );
    }
    // The second chunk stands in the commit behind, where it would have to stand in this one or before it.
    let (mut forge, bytes, mut chunks, origin) = long();
    let mut later = forge.clone();
    later.commit(&[moved(&bytes, &chunks, origin)]);
    chunks[1] = later.commit(&[chunk(1, &second)])[0];
    forge.commit(&[moved(&bytes, &chunks, origin)]);
    assert_eq!(forge.commit(&[chunk(1, &second)])[0], chunks[1], "the chunk is where the list says");
    refused(maker, "A long document that was moved, with a chunk of a later commit", &forge);
    // The flag says which body it has.
    let (mut forge, bytes, chunks, origin) = long();
    forge.commit(&[moved(&bytes, &chunks, origin), Record::put(1, &Key::Int(7), &saying(7))]);
    let name = "A relocated put has the flag of a chunk list";
    maker.holds(&["F-6.4", "F-6.8"], &["Chunks"], name, &forge.data, forge.state());
}

/// The list of the chunks that die with a version (F-6.6).
pub(super) fn ended(maker: &mut Maker) {
    let (forge, ..) = long();
    let value = forge.world.version(1, &text("long")).expect("it was put").value;
    let over =
        |list: &[u8]| Record::put(1, &text("long"), &saying(2)).naming(&[&varint(value)[..], list].concat());
    let right = replaced(value, &[64, 72], 4096);
    assert_eq!(right, [varint(value), vec![1, 0, 2]].concat());
    for (list, what) in [
        (vec![1, 0, 2], "is right"),
        (vec![0], "names none"),
        (vec![1, 0, 1], "counts one of two"),
        (vec![1, 0, 100], "counts a hundred of two"),
        (vec![1, 9, 2], "names another segment"),
        (vec![3, 0, 2, 1, 1, 0xac, 2, 0x80, 1], "names more segments than there are"),
    ] {
        let mut forge = forge.clone();
        forge.commit(&[over(&list)]);
        let name = format!("A put over a long document whose list of what dies {what}");
        maker.holds(&["F-6.6", "R-9.6"], &["Chunks"], &name, &forge.data, forge.state());
    }
    for (list, what) in [
        (vec![], "is missing"),
        (vec![1], "lacks its only pair"),
        (vec![1, 0], "ends within its pair"),
        (vec![2, 0, 2], "lacks its second pair"),
        (vec![1, 0, 0], "counts none in a segment"),
        (vec![2, 1, 1, 0, 1], "has two segments in the wrong order"),
        (vec![2, 0, 1, 0, 1], "has a segment twice"),
        (vec![1, 0x80, 0, 2], "has a sequence in two bytes that needs one"),
    ] {
        let mut forge = forge.clone();
        let delete = Record::delete(1, &text("long"));
        forge.commit(&[delete.naming(&[varint(value), list].concat()).dead()]);
        let expect = corrupt(&["F-6.6", "F-6.1", "F-1.2", "F-6.3", "R-2.7"], None);
        let name = format!("A delete of a long document whose list of what dies {what}");
        maker.refused(&["F-6.6", "R-2.7"], &["Chunks", "RecordForm"], &name, &forge.data, expect);
    }
}
