//! Records (F-6).

use holotype_model::{Key, Value};

use super::{Maker, corrupt, damage_frame, name_in_slot};
use crate::forge::checkpoint::{Changes, Checkpoint};
use crate::forge::log::Frame;
use crate::forge::{Forge, Record, cbor, lsn, varint};
use crate::make::ladder::document;
use crate::make::stores::sample::{saying, small, text};

pub(super) fn make(maker: &mut Maker) {
    collections(maker);
    commits(maker);
    replaced(maker);
    chunks(maker);
    freed(maker);
    moved(maker);
}

fn collections(maker: &mut Maker) {
    let mut forge = Forge::opened(64, 4096, 2);
    // One record a frame: behind the last one there is room for what is read in another length.
    for record in [Record::create(300, "wide"), Record::create(1001, "wider")] {
        forge.commit(&[record]);
    }
    for id in [300, 1001] {
        forge.commit(&[Record::put(id, &Key::Int(1), &saying(i64::from(id)))]);
    }
    let clauses = ["F-6.1", "F-1.2", "F-7.1"];
    let name = "Collections whose ids take two bytes";
    maker.holds(&clauses, &["ByteOrder"], name, &forge.data, forge.state());
    forge.commit(&[Record::clear(300, 1300)]);
    forge.commit(&[Record::put(1300, &Key::Int(2), &saying(3))]);
    let name = "A collection that goes on under an id of two bytes";
    maker.holds(&clauses, &["ByteOrder"], name, &forge.data, forge.state());
}

fn commits(maker: &mut Maker) {
    let mut forge = Forge::opened(64, 16_384, 1);
    forge.commit(&[Record::create(1, "notes")]);
    // What the field is when its first group is zero reads the other way round as a number of one byte: those frames have no records.
    for n in 2..140 {
        let put = Record::put(1, &Key::Int(n % 8), &saying(n));
        let has_record = n % 8 == 3 && n != 128 || n > 136;
        forge.frame(if has_record { std::slice::from_ref(&put) } else { &[] }, &Frame::default());
    }
    let name = "Commits more than 127 behind the beginning of their stretch";
    maker.holds(&["F-6.1", "F-6.2", "F-1.2"], &["ByteOrder"], name, &forge.data, forge.state());
}

fn replaced(maker: &mut Maker) {
    // The lowest group of the value would make it too great as the highest, and the highest one of no bits as the lowest.
    for value in [1 << 57 | 4, 1 << 57, 0x3f << 57] {
        let mut forge = small();
        forge.commit(&[Record::put(9, &Key::Int(1), &saying(2)).naming(&varint(value)).dead()]);
        let name = format!("A put that replaces a version whose value is {value:#x}");
        let expect = corrupt(&["F-6.6", "F-2.2", "F-6.1", "R-2.7"], None);
        maker.refused(&["F-2.2", "F-1.2", "R-2.7"], &["ByteOrder", "RecordForm"], &name, &forge.data, expect);
    }
}

/// More chunks than a byte of a varint can count.
const CHUNKS: usize = 132;
/// Where each part begins. Those from 128 on have a frame each, in which their number may as well be a byte shorter.
const PARTS: [usize; 8] = [0, 1, 2, 128, 129, 130, 131, CHUNKS];

fn chunks(maker: &mut Maker) {
    let (mut forge, bytes, addresses) = chunked(&PARTS);
    forge.frame(
        &[Record::put_chunked(1, &text("long"), &bytes, &addresses)],
        &Frame { lsn: Some(forge.last), part: (7, true), ..Frame::default() },
    );
    let name = format!("A document in {CHUNKS} chunks");
    let clauses = ["F-6.7", "F-6.3", "F-1.2", "R-9.5"];
    maker.holds(&clauses, &["ByteOrder", "Chunks"], name, &forge.data, forge.state());
    let (mut forge, bytes, mut addresses) = chunked(&PARTS);
    addresses.swap(130, 131);
    forge.frame(
        &[Record::put_chunked(1, &text("long"), &bytes, &addresses)],
        &Frame { lsn: Some(forge.last), part: (7, true), ..Frame::default() },
    );
    let name = format!("A document in {CHUNKS} chunks, the last two of which are in the wrong order");
    let expect = corrupt(&["F-6.7", "F-2.2", "F-6.1"], None);
    maker.refused(&["F-6.7", "F-1.2"], &["ByteOrder", "Chunks"], name, &forge.data, expect);
}

/// A document of two bytes a chunk, in parts that begin with these chunks: its bytes and the addresses of its chunks. The list is still to come.
fn chunked(parts: &[usize]) -> (Forge, Vec<u8>, Vec<u64>) {
    let mut forge = small();
    let filling = "z".repeat(2 * CHUNKS - 6);
    let bytes = cbor::document(&document([("t", Value::from(filling.as_str()))]));
    assert_eq!(bytes.len(), 2 * CHUNKS, "every chunk has two bytes");
    let lsn = forge.last + 1;
    let mut addresses = Vec::new();
    for (part, bounds) in parts.windows(2).enumerate() {
        let chunk = |n: usize| Record::chunk(1, &text("long"), n as u64, &bytes[2 * n..2 * n + 2]);
        let records: Vec<_> = (bounds[0]..bounds[1]).map(chunk).collect();
        let frame = Frame { lsn: Some(lsn), part: (part as u16, false), ..Frame::default() };
        addresses.extend(forge.frame(&records, &frame));
    }
    (forge, bytes, addresses)
}

fn freed(maker: &mut Maker) {
    let mut forge = small();
    forge.segment(forge.last + 1);
    forge.commit(&[Record::put(2, &Key::Int(5), &saying(5))]);
    forge.segment(forge.last + 1);
    forge.commit(&[Record::put(2, &Key::Int(5), &saying(6)), Record::freed(1, 1)]);
    let name = "A record that frees the second segment, which is in the second place";
    maker.holds(&["R-9.4", "F-6.3"], &["ByteOrder"], name, &forge.data, forge.state());
    // A sequence and a place of two bytes, neither the same in the opposite order.
    let mut forge = Forge::new(64, 512, 2);
    (forge.physical, forge.sequence, forge.reserved) = (258, 300, [259, 260]);
    forge.data.resize(16_384 + 512 * 261, 0);
    forge.table.clear();
    forge.table.push(super::maps::row(&forge, lsn(1, 1)));
    forge.header(lsn(1, 1), 64, |_| ());
    forge.open(1);
    forge.commit(&[Record::create(1, "notes"), Record::put(1, &Key::Int(1), &saying(1))]);
    let reference = Checkpoint::begin(&mut forge, 1).finish(&Changes::default());
    let last = forge.last;
    forge.segment_with(last + 1, 261, |_| ());
    forge.commit(&[Record::put(1, &Key::Int(1), &saying(2)), Record::freed(300, 258)]);
    name_in_slot(&mut forge, &[&reference], last);
    let name = "A record that frees a segment whose number and place take two bytes";
    maker.holds(&["R-9.4", "F-6.3", "R-1.2"], &["ByteOrder"], name, &forge.data, forge.state());
}

/// A version that was moved behind a checkpoint. The record that it was moved from is damaged since: nobody has to read it.
fn moved(maker: &mut Maker) {
    let mut forge = small();
    let from = forge.placed[2].records[0] * 4;
    let reference = Checkpoint::begin(&mut forge, 4).finish(&Changes::default());
    let last = forge.last;
    name_in_slot(&mut forge, &[&reference], last);
    let document = cbor::document(&saying(1));
    let relocated = || Record::relocated(1, &Key::Int(1), &document, lsn(1, 3));
    let damaged = |mut forge: Forge| {
        let end = forge.placed[2].at + forge.placed[2].len;
        forge.data[end - 1] ^= 1;
        forge
    };
    let mut whole = forge.clone();
    whole.commit(&[relocated()]);
    let whole = damaged(whole);
    let name = "A version that was moved behind a checkpoint, and what it was moved from is damaged";
    let clauses = ["R-9.2", "F-6.6", "F-6.8", "F-6.1"];
    maker.holds(&clauses, &["ByteOrder", "Relocation"], name, &whole.data, whole.state());
    let mut elsewhere = forge.clone();
    elsewhere.commit(&[relocated().naming(&varint(from + 4)).dead()]);
    let elsewhere = damaged(elsewhere);
    let name = "A version that says to have stood a byte further on";
    let expect = corrupt(&["R-9.2", "F-6.6"], None);
    maker.refused(&clauses, &["ByteOrder", "Relocation"], name, &elsewhere.data, expect);
    // The whole log is read here: what the address says decides even so.
    let mut torn = forge;
    torn.commit(&[relocated()]);
    damage_frame(&mut torn, 3);
    let name = "A version that was moved in a torn commit stands where it stood";
    let before = torn.placed[2].after.clone();
    maker.holds(
        &["R-9.3", "R-4.2"],
        &["Relocation", "TornWrite"],
        name,
        &torn.data,
        before.1.state(before.0),
    );
}
