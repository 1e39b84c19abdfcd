//! Numbers that take the upper half of their width: long segments, high sequences, high counts.

use holotype_model::{Key, Value};

use super::maps::row;
use super::{Maker, corrupt, name_in_slot};
use crate::forge::checkpoint::{Changes, Checkpoint};
use crate::forge::index::{DIRECTORY, PART, collection, live};
use crate::forge::log::{Frame, NOTHING};
use crate::forge::{Forge, Record, cbor, lsn};
use crate::make::stores::newer;
use crate::make::stores::sample::{saying, small, text};

pub(super) const ID: u32 = 70_000;
const SEQUENCE: u64 = (1 << 32) + 5;
/// The count with which the segment begins.
const FIRST: u32 = 99_990;

pub(super) fn make(maker: &mut Maker) {
    long_segments(maker);
    late_stretch(maker);
    ages(maker);
    long_numbers(maker);
    slots(maker);
    freed_above_the_floor(maker);
}

/// A record that every reader skips, of so many zeros.
fn filler(len: usize) -> Record {
    Record::raw(200, 0, 0, vec![0; len])
}

/// A store whose log stands far into a long segment of a high number, as a checkpoint says that stands far into its own.
fn store() -> Forge {
    store_at(0, [1, 2]).0
}

/// The same with the log at this place, and these reserved behind it; beside it what names the checkpoint.
pub(super) fn store_at(physical: u32, reserved: [u32; 2]) -> (Forge, Vec<u8>) {
    store_with(log_at(physical, reserved), &Changes::default())
}

/// A document is put into this store, and a checkpoint taken that is changed so; beside it what names that.
fn store_with(mut forge: Forge, changes: &Changes) -> (Forge, Vec<u8>) {
    let address = forge.commit(&[Record::put(ID, &Key::Int(1), &saying(1))])[0];
    let mut checkpoint = Checkpoint::begin(&mut forge, 3);
    checkpoint.leave_gaps(66_000);
    let tree = checkpoint.tree(ID, &[(Key::Int(1), address * 4)], (1, 1), changes);
    let reference = checkpoint.finish_with(vec![collection(ID, "notes", 2, 1, tree)], changes);
    let last = forge.last;
    name_in_slot(&mut forge, &[&reference], last);
    (forge, reference)
}

/// The log alone: a collection, and a record that nobody reads.
fn log_at(physical: u32, reserved: [u32; 2]) -> Forge {
    let mut forge = Forge::new(512, 1 << 18, physical + 1);
    let first = lsn(1, FIRST);
    (forge.physical, forge.reserved) = (physical, reserved);
    (forge.sequence, forge.base, forge.last) = (SEQUENCE, FIRST, first - 1);
    forge.table = vec![row(&forge, first)];
    forge.header(first, 512, |_| ());
    forge.commit(&[Record::create(ID, "notes")]);
    forge.commit(&[filler(66_000)]);
    forge
}

/// A stretch that begins far into its segment, and records of a checkpoint long before.
fn late_stretch(maker: &mut Maker) {
    // In half of its width, and read the other way round, this id is below that of the other collection.
    const OTHER: u32 = 131_073;
    let mut forge = log_at(0, [1, 2]);
    // In half of its width, where the stretch begins is before this document.
    let mut addresses = forge.commit(&[Record::put(ID, &Key::Int(1), &saying(1))]);
    forge.open(2);
    forge.commit(&[Record::create(OTHER, "other")]);
    addresses.extend(forge.commit(&[Record::put(OTHER, &Key::Int(1), &saying(1))]));
    let rows = [live(SEQUENCE, ID, 1), live(SEQUENCE, OTHER, 1)].concat();
    let changes = Changes { root: [("live".to_owned(), Value::Bytes(rows))].into(), ..Changes::default() };
    let mut checkpoint = Checkpoint::begin(&mut forge, 3);
    let maps = [(ID, "notes"), (OTHER, "other")].into_iter().zip(addresses).map(|((id, name), address)| {
        let tree = checkpoint.tree(id, &[(Key::Int(1), address * 4)], (1, 1), &changes);
        collection(id, name, 2, 1, tree)
    });
    let maps = maps.collect();
    let reference = checkpoint.finish_with(maps, &changes);
    let last = forge.last;
    name_in_slot(&mut forge, &[&reference], last);
    let name = "A stretch that begins more than 65,536 bytes into a segment of a high number";
    let clauses = ["F-8.14", "F-8.15", "F-8.6"];
    maker.holds(&clauses, &["ByteOrder", "Checkpoint"], name, &forge.data, forge.state());
}

/// Records of checkpoints long before: a leaf that the page took over, which was taken over itself.
fn ages(maker: &mut Maker) {
    const AGE: u64 = 200;
    let changes = Changes {
        record: Some(|record| {
            record.age = match record.kind {
                PART => 0,
                DIRECTORY => AGE,
                _ => 2 * AGE,
            }
        }),
        leaf_entry: Some(|entry| entry.age = AGE),
        page_entry: Some(|entry| entry.age = AGE),
        ..Changes::default()
    };
    let (forge, _) = store_with(log_at(0, [1, 2]), &changes);
    let name = "A page of the checkpoint of 200 commits before, and a leaf of that of 400";
    maker.holds(
        &["F-8.13", "F-8.8", "F-1.2"],
        &["ByteOrder", "Checkpoint"],
        name,
        &forge.data,
        forge.state(),
    );
}

fn long_segments(maker: &mut Maker) {
    let clauses = ["F-1.1", "F-3.2", "F-8.11", "F-8.7", "R-1.2"];
    let forge = store();
    let name = "A checkpoint and a log that stand more than 65,536 bytes into their segments";
    maker.holds(&clauses, &["ByteOrder"], name, &forge.data, forge.state());
    let mut forge = store();
    forge.commit(&[filler(65_700)]);
    forge.commit(&[Record::put(ID, &Key::Int(2), &saying(2))]);
    let name = "A frame with a body of more than 65,536 bytes";
    maker.holds(&["F-1.1", "F-5.1"], &["ByteOrder"], name, &forge.data, forge.state());
    forge.segment_with(forge.last + 1, 4, |_| ());
    forge.commit(&[Record::put(ID, &Key::Int(3), &saying(3))]);
    let name = "A segment that ended behind more than 65,536 bytes, and its successor";
    maker.holds(&["F-1.1", "F-4.1", "R-2.1"], &["ByteOrder", "Chain"], name, &forge.data, forge.state());
}

fn long_numbers(maker: &mut Maker) {
    let mut forge = store();
    forge.open(2);
    forge.commit(&[Record::put(ID, &Key::Int(2), &saying(2))]);
    let name = "An opening that names an address of more than 32 bits";
    maker.holds(
        &["F-1.1", "F-6.5", "R-2.2"],
        &["ByteOrder", "OpeningFrame"],
        name,
        &forge.data,
        forge.state(),
    );
    let mut forge = store();
    let state = forge.state();
    forge.commit(&[Record::put(ID, &Key::Int(2), &saying(2))]);
    let torn = forge.placed.last().expect("it was just placed").at;
    forge.frame(&[], &Frame { lag: 65_537, ..Frame::default() });
    forge.data[torn] ^= 1;
    let name = "A torn frame, and a lag of more than 16 bits behind it that claims what is there";
    maker.holds(&["F-1.1", "F-5.4", "R-3.1"], &["ByteOrder", "TornWrite"], name, &forge.data, state);
    let mut forge = store();
    forge.segment_with(forge.last + 1, 4, |_| ());
    forge.commit(&[Record::put(ID, &Key::Int(1), &saying(2)), Record::freed(SEQUENCE, 0)]);
    let name = "A record that frees a segment whose number takes more than 32 bits";
    maker.holds(&["F-1.1", "F-6.3", "R-9.4"], &["ByteOrder"], name, &forge.data, forge.state());
    let mut forge = store();
    let bytes = cbor::document(&saying(9));
    let lsn = Some(forge.last + 1);
    let chunk = Record::chunk(ID, &text("long"), 0, &bytes);
    let chunks = forge.frame(&[chunk], &Frame { lsn, part: (0, false), ..Frame::default() });
    let put = Record::put_chunked(ID, &text("long"), &bytes, &chunks);
    forge.frame(&[put], &Frame { lsn, part: (1, true), ..Frame::default() });
    let name = "A chunk at an address of more than 32 bits";
    maker.holds(&["F-1.1", "F-6.7", "F-2.2"], &["ByteOrder", "Chunks"], name, &forge.data, forge.state());
    let mut forge = small();
    let block = [vec![0xac, 0x02], vec![0xab; 300]].concat();
    forge.commit(&[Record::put(1, &Key::Int(1), &saying(2)).with(4, &block)]);
    let name = "A put with an extension block of 300 bytes";
    maker.holds(&["F-1.2", "F-6.1", "F-6.4"], &["ByteOrder"], name, &forge.data, forge.state());
}

fn slots(maker: &mut Maker) {
    let mut forge = small();
    forge.slot(3, |slot| slot[8..10].copy_from_slice(&258u16.to_le_bytes()));
    let name = "A slot of the major version 258";
    maker.refused(&["F-3.4", "F-1.1"], &["ByteOrder", "Features"], name, &forge.data, newer());
    // What an earlier incarnation claims does not count.
    let mut forge = small();
    let (state, last) = (forge.state(), forge.last);
    forge.slot(3, |slot| {
        slot[360..364].copy_from_slice(&0x1_0001u32.to_le_bytes());
        slot[368..376].copy_from_slice(&last.to_le_bytes());
    });
    forge.frame(&[Record::put(1, &Key::Int(2), &saying(2))], &Frame { lag: NOTHING, ..Frame::default() });
    let torn = forge.placed.last().expect("it was just placed").at;
    forge.frame(&[], &Frame { lag: 1, ..Frame::default() });
    forge.data[torn] ^= 1;
    let name = "A slot of the incarnation 65,537, and a claim of the incarnation 1";
    maker.holds(&["F-1.1", "F-3.1", "R-3.2"], &["ByteOrder", "Incarnation"], name, &forge.data, state);
}

/// A segment that was freed above the floor still holds its place.
fn freed_above_the_floor(maker: &mut Maker) {
    let mut forge = small();
    let older = Checkpoint::begin(&mut forge, 4).finish(&Changes::default());
    forge.segment(forge.last + 1);
    forge.commit(&[Record::put(1, &Key::Int(1), &saying(2)), Record::freed(0, 0)]);
    forge.table[0].freed = forge.last;
    let (first, end) = (forge.table[1].first, forge.table[0].end);
    forge.reserved = [2, 0];
    forge.header(first, end, |_| ());
    let newest = Checkpoint::begin(&mut forge, 5).finish(&Changes::default());
    let last = forge.last;
    name_in_slot(&mut forge, &[&newest, &older], last);
    let name = "The log reserves the place of a segment that was freed behind the older checkpoint";
    let expect = corrupt(&["R-8.1", "F-4.3"], None);
    maker.refused(&["R-8.1", "R-8.2", "F-8.6"], &["ByteOrder", "Reservation"], name, &forge.data, expect);
}
