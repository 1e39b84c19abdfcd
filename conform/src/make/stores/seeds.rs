//! Bytes whose checksum was seeded for another place or life (F-1.3): frames, records and pages that are whole, and do not belong where they stand.

use holotype_model::Key;

use super::sample::{saying, small};
use super::{Maker, corrupt};
use crate::case::Group;
use crate::forge::checkpoint::{Changes, Pages};
use crate::forge::log::{Frame, LINEAGE, NOTHING};
use crate::forge::{Forge, Record, crc, lsn};

pub(super) fn make() -> Group {
    let mut maker = Maker::new(
        "seeds",
        "Frames, records and pages whose checksums were seeded for another store, segment, place or life",
    );
    frames(&mut maker);
    records(&mut maker);
    records_by_address(&mut maker);
    pages(&mut maker);
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
        name_a_checkpoint(&mut forge, |_, _| ());
        let name = format!("A checkpoint that leads to a record {what}");
        let expect = corrupt(&["F-6.1", "F-8.4", "F-1.3"], None);
        maker.refused(&["F-1.3", "F-6.1", "F-8.4"], &["RecordSeed"], name, &forge.data, expect);
    }
}

/// Writes a checkpoint of all there is, changes it by its segment's bytes and its reference, and names it in the newest slot.
fn name_a_checkpoint(forge: &mut Forge, change: impl FnOnce(&mut [u8], &mut Vec<u8>)) {
    const PLACE: u32 = 3;
    let mut reference = Pages::begin(forge, PLACE).finish(&Changes::default());
    let start = 16_384 + (PLACE * forge.segment_bytes) as usize;
    change(&mut forge.data[start..], &mut reference);
    let last = forge.last;
    forge.slot(3, |slot| {
        slot[360] = 1;
        slot[368..376].copy_from_slice(&last.to_le_bytes());
        slot[384..432].copy_from_slice(&reference);
    });
}

fn pages(maker: &mut Maker) {
    let last = small().last;
    for (what, lineage, of, off) in [
        ("of another store", OTHER, last, 0),
        ("of an earlier checkpoint", LINEAGE, lsn(1, 2), 0),
        ("of another number", LINEAGE, last, 1),
    ] {
        // The first page is a primary leaf; the root comes last, and its checksum is in the reference.
        for (page, which) in [(0, "first page"), (4, "root")] {
            let seal = |segment: &mut [u8], reference: &mut Vec<u8>| {
                let at = page_starts(segment)[page];
                let len = field(segment, at + 4) as usize;
                let number = (field(segment, at + 8) + off).to_le_bytes();
                let sum = crc(&[&lineage, &of.to_le_bytes(), &number, &segment[at + 4..at + len]]);
                segment[at..at + 4].copy_from_slice(&sum.to_le_bytes());
                if page == 4 {
                    reference[16..20].copy_from_slice(&sum.to_le_bytes());
                }
            };
            let mut forge = small();
            name_a_checkpoint(&mut forge, seal);
            let clauses = ["F-1.3", "F-8.1", "R-5.2"];
            let name = format!("A checkpoint whose {which} is sealed as one {what}: the log is read instead");
            maker.holds(&clauses, &["PageSeed", "Fallback"], name, &forge.data, forge.state());
            let (start, end) = (forge.start() + forge.sector as usize, forge.x() as usize);
            forge.data[start..end].fill(0);
            let name = format!("A checkpoint whose {which} is sealed as one {what}, and the log is gone");
            let expect = corrupt(&["R-4.1"], Some(start as u64));
            maker.refused(&clauses, &["PageSeed", "Fallback"], name, &forge.data, expect);
        }
    }
}

fn field(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

/// Where the pages of a checkpoint segment begin.
fn page_starts(segment: &[u8]) -> Vec<usize> {
    let (mut at, mut starts) = (64, Vec::new());
    while segment.get(at + 4..at + 8).is_some_and(|len| len != [0; 4]) {
        starts.push(at);
        at = (at + field(segment, at + 4) as usize).next_multiple_of(8);
    }
    starts
}
