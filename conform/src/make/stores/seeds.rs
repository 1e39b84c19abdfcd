//! Bytes whose checksum was seeded for another place or life (F-1.3): frames, records and index records that are whole, and do not belong where they stand.

use holotype_model::Key;

use super::sample::{saying, small};
use super::{Maker, corrupt};
use crate::case::Group;
use crate::forge::checkpoint::{Changes, Checkpoint};
use crate::forge::index::{DIRECTORY, Entry, IndexRecord, LEAF, PART, Seal, collection, leaf};
use crate::forge::log::{Frame, LINEAGE, NOTHING};
use crate::forge::{Forge, Record, cbor, crc, lsn};

pub(super) fn make() -> Group {
    let mut maker = Maker::new(
        "seeds",
        "Frames, records and index records whose checksums were seeded for another store, segment, place or life",
    );
    frames(&mut maker);
    records(&mut maker);
    records_by_address(&mut maker);
    index_records(&mut maker);
    maker.finish()
}

/// Another store.
const OTHER: [u8; 16] = *b"another lineage!";

/// What a frame or a record is seeded with.
#[derive(Clone, Copy)]
struct Seed {
    lineage: [u8; 16],
    incarnation: u32,
    sequence: u64,
    off: u32,
}

const RIGHT: Seed = Seed { lineage: LINEAGE, incarnation: 1, sequence: 0, off: 0 };

/// Each part of the seed of a frame, made wrong.
const WRONG_FRAMES: [(&str, Seed); 3] = [
    ("of another store", Seed { lineage: OTHER, ..RIGHT }),
    ("of the next segment", Seed { sequence: 1, ..RIGHT }),
    ("of a place 8 bytes further on", Seed { off: 8, ..RIGHT }),
];

/// The same for a record.
const WRONG_RECORDS: [(&str, Seed); 4] = [
    ("of another store", Seed { lineage: OTHER, ..RIGHT }),
    ("of another incarnation", Seed { incarnation: 2, ..RIGHT }),
    ("of the next segment", Seed { sequence: 1, ..RIGHT }),
    ("of the next byte", Seed { off: 1, ..RIGHT }),
];

/// Seals the frame that was placed last under this seed. Its records keep theirs.
fn seal_frame(forge: &mut Forge, seed: Seed) {
    let placed = forge.placed.last().expect("there are commits");
    let at = (placed.at - forge.start()) as u32 + seed.off;
    let sums: Vec<u8> = placed
        .records
        .iter()
        .map(|address| forge.start() + (*address % u64::from(forge.segment_bytes)) as usize)
        .flat_map(|record| forge.data[record..record + 4].to_vec())
        .collect();
    let seed = [&seed.lineage[..], &seed.sequence.to_le_bytes(), &at.to_le_bytes()].concat();
    let header = &mut forge.data[placed.at..placed.at + 32];
    let body = crc(&[&seed, &header[8..], &sums]).to_le_bytes();
    header[4..8].copy_from_slice(&body);
    let sum = crc(&[&seed, &header[4..]]).to_le_bytes();
    header[..4].copy_from_slice(&sum);
}

/// Seals the only record of the frame that was placed last under this seed, and the frame as it must be.
fn seal_record(forge: &mut Forge, seed: Seed) {
    let placed = forge.placed.last().expect("there are commits").clone();
    let (start, end) = (placed.at + 32, placed.at + placed.len);
    let at = (start - forge.start()) as u32 + seed.off;
    let (incarnation, sequence) = (seed.incarnation.to_le_bytes(), seed.sequence.to_le_bytes());
    let later = &forge.data[start + 4..end];
    let sum = crc(&[&seed.lineage, &incarnation, &sequence, &at.to_le_bytes(), later]).to_le_bytes();
    forge.data[start..start + 4].copy_from_slice(&sum);
    seal_frame(forge, RIGHT);
}

fn frames(maker: &mut Maker) {
    let clauses = ["F-1.3", "F-5.1", "F-5.7"];
    for (what, seed) in WRONG_FRAMES {
        // A frame without records has no other checksum than its own.
        let mut forge = small();
        let state = forge.state();
        forge.frame(&[], &Frame::default());
        seal_frame(&mut forge, seed);
        let name = format!("A frame {what}");
        maker.refused_as_tail(&clauses, "FrameSeed", name, &forge, state);
        let mut forge = small();
        let state = forge.state();
        forge.frame(&[Record::put(1, &Key::Int(2), &saying(2))], &Frame::default());
        let torn = forge.placed.last().expect("it was just placed").at;
        forge.frame(&[], &Frame { lag: 1, ..Frame::default() });
        seal_frame(&mut forge, seed);
        forge.data[torn] ^= 1;
        let name = format!("A torn frame, and the claim of a frame {what} behind it");
        maker.refused_as_tail(&["F-1.3", "F-5.1", "R-3.1"], "FrameSeed", name, &forge, state);
    }
    let mut forge = small();
    let (torn, before) = (forge.place(true), forge.state());
    forge.frame(&[Record::put(1, &Key::Int(2), &saying(2))], &Frame::default());
    forge.frame(&[], &Frame { lag: NOTHING, ..Frame::default() });
    seal_frame(&mut forge, RIGHT);
    maker.holds(
        &clauses,
        &["FrameSeed"],
        "A frame of its store, segment and place",
        &forge.data,
        forge.state(),
    );
    let at = forge.start() + torn as usize;
    forge.data[at] ^= 1;
    let name = "A frame of its store, segment and place behind a torn one";
    maker.holds(&["F-1.3", "R-4.2"], &["FrameSeed"], name, &forge.data, before);
}

fn records(maker: &mut Maker) {
    let put = Record::put(1, &Key::Int(2), &saying(2));
    for (what, seed) in WRONG_RECORDS {
        let mut forge = small();
        let state = forge.state();
        forge.commit(std::slice::from_ref(&put));
        seal_record(&mut forge, seed);
        let name = format!("A frame that is right, with a record {what}");
        maker.refused_as_tail(&["F-1.3", "F-6.1", "F-5.7"], "RecordSeed", name, &forge, state);
    }
    let mut forge = small();
    forge.commit(&[put]);
    seal_record(&mut forge, RIGHT);
    let name = "A frame that is right, with a record of its place";
    maker.holds(&["F-1.3", "F-6.1", "F-5.7"], &["RecordSeed"], name, &forge.data, forge.state());
}

/// A checkpoint leads to a document without its frame.
fn records_by_address(maker: &mut Maker) {
    for (what, seed) in WRONG_RECORDS {
        let mut forge = small();
        seal_record(&mut forge, seed);
        name_written(&mut forge, |checkpoint| checkpoint.finish(&Changes::default()));
        let name = format!("A checkpoint that leads to a record {what}");
        let expect = corrupt(&["F-6.1", "F-8.4", "F-1.3"], None);
        maker.refused(&["F-1.3", "F-6.1", "F-8.4"], &["RecordSeed"], name, &forge.data, expect);
    }
}

/// Names the checkpoint that is written so in the newest slot.
fn name_written(forge: &mut Forge, write: impl FnOnce(Checkpoint<'_>) -> Vec<u8>) {
    let reference = write(Checkpoint::begin(forge, 3));
    let last = forge.last;
    forge.slot(3, |slot| {
        slot[360] = 1;
        slot[368..376].copy_from_slice(&last.to_le_bytes());
        slot[384..432].copy_from_slice(&reference);
    });
}

fn index_records(maker: &mut Maker) {
    let last = small().last;
    let right = Seal::default();
    for (what, seal, age) in [
        ("of its store, place and checkpoint", right, 0),
        ("of another store", Seal { lineage: Some(OTHER), ..right }, 0),
        ("of an earlier checkpoint", right, 1),
        ("of another incarnation", right, last.wrapping_sub(lsn(2, 3))),
        ("of the next segment", Seal { segment_off: 1, ..right }, 0),
        ("of a place 8 bytes further on", Seal { offset_off: 8, ..right }, 0),
    ] {
        for (kind, which) in [(LEAF, "leaf"), (DIRECTORY, "page"), (PART, "root")] {
            let mut forge = small();
            name_written(&mut forge, |mut checkpoint| {
                sealed(&mut checkpoint, |found| match found {
                    found if found == kind => (seal, age),
                    _ => (right, 0),
                })
            });
            let clauses = ["F-1.3", "F-8.11", "F-8.12"];
            let name = format!("A checkpoint whose {which} is sealed as one {what}");
            if what.starts_with("of its") {
                let at = forge.placed[1].at;
                forge.data[at] ^= 1;
                maker.holds(&clauses, &["IndexSeed"], name, &forge.data, forge.state());
                continue;
            }
            let flags = ["IndexSeed", "Fallback"];
            maker.holds(
                &clauses,
                &flags,
                format!("{name}: the log is read instead"),
                &forge.data,
                forge.state(),
            );
            let (start, end) = (forge.start() + forge.sector as usize, forge.x() as usize);
            forge.data[start..end].fill(0);
            let expect = corrupt(&["R-4.1"], Some(start as u64));
            maker.refused(&clauses, &flags, format!("{name}, and the log is gone"), &forge.data, expect);
        }
    }
}

/// Writes a checkpoint of `small`, each record sealed as `seal` says of its kind. What refers to a record has the checksum that it has.
fn sealed(checkpoint: &mut Checkpoint<'_>, seal: impl Fn(u8) -> (Seal, u64)) -> Vec<u8> {
    let documents = checkpoint.documents(1);
    let entries = documents.entries();
    let write = |checkpoint: &mut Checkpoint<'_>, kind, body| {
        let ((seal, age), collection) = (seal(kind), u32::from(kind != PART));
        checkpoint.record(&IndexRecord { kind, collection, body, seal, age, ..IndexRecord::default() })
    };
    let (key, count) = (cbor::key(&entries[0].0), entries.len() as u64);
    let reference = write(checkpoint, LEAF, leaf(&entries).concat());
    let first = Entry { key: key.clone(), reference, count, age: 0, patch: None };
    let reference = write(checkpoint, DIRECTORY, first.bytes());
    let tree = Entry { key, reference, count, age: 0, patch: None }.bytes();
    let notes = collection(1, "notes", documents.next, entries.len(), tree);
    let map = checkpoint.root(vec![notes, collection(2, "other", 1, 0, Vec::new())], &Changes::default());
    let root = write(checkpoint, PART, [vec![0], map].concat());
    checkpoint.reference_to(root, &Changes::default())
}
