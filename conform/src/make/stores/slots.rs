//! Superblock slots: which is believed, and what makes a file no file of ours.

mod creation;

use super::sample::sample;
use super::{Maker, corrupt};
use crate::case::{Group, Outcome};
use crate::forge::{Forge, lsn};

pub(super) fn make() -> Group {
    let about = "Files that differ in their superblock slots: which of them is believed, and when a file is corrupt, unfinished or none of ours";
    let mut maker = Maker::new("slots", about);
    geometries(&mut maker);
    choice(&mut maker);
    damaged(&mut maker);
    references(&mut maker);
    lengths(&mut maker);
    creation::creation(&mut maker);
    creation::strangers(&mut maker);
    creation::between_slots(&mut maker);
    maker.finish()
}

fn geometries(maker: &mut Maker) {
    for (sector, segment_bytes) in [
        (64, 512),
        (64, 1024),
        (64, 4096),
        (64, 65_536),
        (128, 1024),
        (256, 2048),
        (512, 4096),
        (512, 16_384),
        (1024, 8192),
        (2048, 16_384),
        (4096, 32_768),
    ] {
        let forge = sample(sector, segment_bytes);
        let name = format!("A store with sectors of {sector} and segments of {segment_bytes} bytes");
        maker.holds(
            &["F-1.1", "F-1.6", "F-2.1", "F-2.2", "F-3.1", "F-4.1", "F-5.1"],
            &["ByteOrder"],
            name,
            &forge.data,
            forge.state(),
        );
    }
    let wrong: [(u32, u32, &str); 12] = [
        (32, 512, "a sector of 32"),
        (0, 512, "a sector of zero"),
        (96, 1024, "a sector that is no power of two"),
        (8192, 65_536, "a sector of 8,192"),
        (64, 256, "segments of 4 sectors"),
        (512, 2048, "segments of 4 sectors of 512"),
        (64, 1536, "segments that are no power of two"),
        (64, 0, "segments of zero"),
        (512, 128 << 20, "segments of 128 MiB"),
        (64u32.swap_bytes(), 512, "a sector with its bytes the wrong way round"),
        (64, 1 << 30, "segments of 1 GiB"),
        (u32::MAX, u32::MAX, "both of all ones"),
    ];
    for (sector, segment_bytes, what) in wrong {
        for (generation, which) in [(3, "newest"), (1, "older")] {
            let mut forge = sample(64, 512);
            if generation == 3 {
                forge.slot(2, |slot| slot[360] = 1);
            }
            forge.slot(generation, |slot| {
                slot[40..44].copy_from_slice(&sector.to_le_bytes());
                slot[44..48].copy_from_slice(&segment_bytes.to_le_bytes());
            });
            let name = format!("The {which} slot has {what}");
            maker.refused(
                &["F-2.1", "F-1.1"],
                &["Geometry", "SlotSecond"],
                name,
                &forge.data,
                corrupt(&["F-2.1"], None),
            );
        }
    }
}

/// A newer slot that would make the file corrupt, if it was believed.
fn with_a_lying_slot(generation: u64, change: impl FnOnce(&mut [u8])) -> Forge {
    let mut forge = sample(64, 512);
    forge.slot_in(1, generation, |slot| {
        slot[360] = 1;
        slot[368..376].copy_from_slice(&lsn(1, 1000).to_le_bytes());
        slot[376..384].copy_from_slice(&16_384u64.to_le_bytes());
        change(slot);
    });
    forge
}

fn choice(maker: &mut Maker) {
    let clauses = ["F-3.3", "R-4.1"];
    let lying = with_a_lying_slot(3, |_| ());
    let torn = lying.placed.last().expect("there are commits").end();
    maker.refused(
        &clauses,
        &["SlotChoice"],
        "The slot of the higher generation counts",
        &lying.data,
        corrupt(&["R-4.1", "R-4.3"], Some(torn)),
    );
    let older = with_a_lying_slot(1, |_| ());
    maker.holds(
        &clauses,
        &["SlotChoice"],
        "The slot of the lower generation does not count",
        &older.data,
        older.state(),
    );
    let far = with_a_lying_slot(u64::MAX, |_| ());
    maker.refused(
        &clauses,
        &["SlotChoice"],
        "Generations are unsigned",
        &far.data,
        corrupt(&["R-4.1", "R-4.3"], Some(torn)),
    );
    let misplaced = with_a_lying_slot(4, |_| ());
    maker.holds(
        &clauses,
        &["SlotChecksum"],
        "A slot in the place of the other does not count",
        &misplaced.data,
        misplaced.state(),
    );
    let mut unmarked = with_a_lying_slot(3, |slot| slot[0] = b'h');
    maker.holds(
        &clauses,
        &["SlotChecksum"],
        "A slot without the magic does not count",
        &unmarked.data,
        unmarked.state(),
    );
    unmarked.data[4096..4608].fill(0);
    maker.holds(
        &clauses,
        &["SlotChoice"],
        "A slot of zeros does not count",
        &unmarked.data,
        unmarked.state(),
    );
    for at in (0..512).step_by(8).chain([508, 509, 510, 511]) {
        let mut damaged = lying.clone();
        damaged.data[4096 + at] ^= 0x10;
        let name = format!("The newest slot is damaged at byte {at}");
        maker.holds(
            &["F-3.3", "F-1.3", "F-3.5", "R-5.4"],
            &["SlotChecksum"],
            name,
            &damaged.data,
            damaged.state(),
        );
    }
    for sectors in 1..8 {
        // Every sector of the new slot differs from the old one's.
        let mut torn = with_a_lying_slot(3, |slot| {
            [13, 96, 130, 200, 260, 300, 480].iter().for_each(|at| slot[*at] = 0xee);
        });
        let before = with_a_lying_slot(1, |slot| slot[368..376].fill(0));
        torn.data[4096..4096 + 64 * sectors].copy_from_slice(&before.data[4096..4096 + 64 * sectors]);
        let name =
            format!("A slot was being written when the power was cut: {sectors} sectors of 8 are as before");
        maker.holds(
            &["F-3.3", "F-3.5", "F-1.6"],
            &["SlotChecksum", "TornWrite"],
            name,
            &torn.data,
            torn.state(),
        );
    }
    let mut mended = lying.clone();
    mended.data[4096 + 100] ^= 1;
    let state = maker.state(mended.state());
    maker.written(
        &super::valid(&["R-5.4", "F-3.5", "R-5.6"], &["SlotChecksum"]),
        "A writer mends an invalid slot",
        &mended.data,
        vec![Outcome::State(state)],
    );
}

fn damaged(maker: &mut Maker) {
    let healthy = sample(64, 512);
    for at in [8, 12, 40, 48, 100, 352, 360, 376, 500, 508, 511] {
        let mut both = healthy.clone();
        // A bit that does not make the major a higher one.
        both.data[at] ^= 2;
        both.data[4096 + at] ^= 2;
        let name = format!("Both slots are damaged at byte {at}");
        maker.refused(
            &["R-5.1", "F-3.3", "F-1.3"],
            &["SlotChecksum"],
            name,
            &both.data,
            corrupt(&["R-5.1", "F-3.3"], None),
        );
    }
    for index in [0, 1] {
        let mut one = healthy.clone();
        one.data[4096 * index..4096 * index + 512].fill(0);
        one.data[4096 * (1 - index) + 360] ^= 1;
        let name = format!("Slot {} is of zeros and the other one is damaged", ["A", "B"][index]);
        maker.refused(&["R-5.1"], &["Creation"], name, &one.data, corrupt(&["R-5.1", "F-3.3"], None));
    }
    let mut other_sum = healthy.clone();
    for index in [0, 4096] {
        (508..512).for_each(|at| other_sum.data[index + at] ^= 0xff);
    }
    let name = "Checksums without the final exclusive-or";
    maker.refused(
        &["F-1.3", "R-5.1"],
        &["SlotChecksum"],
        name,
        &other_sum.data,
        corrupt(&["R-5.1", "F-3.3"], None),
    );
    let mut swapped = healthy.clone();
    let (a, b) = (healthy.data[..512].to_vec(), healthy.data[4096..4608].to_vec());
    swapped.data[..512].copy_from_slice(&b);
    swapped.data[4096..4608].copy_from_slice(&a);
    maker.refused(
        &["F-3.3", "R-5.1"],
        &["SlotChecksum"],
        "The slots stand in each other's place",
        &swapped.data,
        corrupt(&["R-5.1", "F-3.3"], None),
    );
}

fn references(maker: &mut Maker) {
    // In the order of F-3.2, of a store with sectors of 64 and segments of 512.
    type Change = fn(&mut [u8]);
    let wrong: [(&str, Change); 20] = [
        ("no LSN and a place", |r| r[8] = 1),
        ("no LSN and an offset", |r| r[12] = 64),
        ("no LSN and a checksum", |r| r[16] = 1),
        ("no LSN and a replay start", |r| r[32] = 64),
        ("no LSN and a length", |r| r[36] = 64),
        ("no LSN and a replay LSN", |r| r[40] = 1),
        ("a root at no multiple of 8", |r| good(r, |r| r[12] = 65)),
        ("a root in the sector of the header", |r| good(r, |r| r[12] = 56)),
        ("a root at offset zero", |r| good(r, |r| r[12] = 0)),
        ("a root that leaves its segment", |r| {
            good(r, |r| r[12..16].copy_from_slice(&456u32.to_le_bytes()));
        }),
        ("a root beyond the segment", |r| good(r, |r| r[12..16].copy_from_slice(&4096u32.to_le_bytes()))),
        ("a root of no length", |r| good(r, |r| r[36] = 0)),
        ("a root of 8 bytes", |r| good(r, |r| r[36] = 8)),
        ("a root longer than its segment", |r| {
            good(r, |r| r[36..40].copy_from_slice(&449u32.to_le_bytes()));
        }),
        ("a root of a length that takes four bytes", |r| good(r, |r| r[39] = 1)),
        ("a replay start in the sector of the header", |r| good(r, |r| r[32] = 56)),
        ("a replay start beyond the segment", |r| {
            good(r, |r| r[32..36].copy_from_slice(&520u32.to_le_bytes()));
        }),
        ("a replay start at no multiple of 8", |r| good(r, |r| r[32] = 68)),
        ("a sequence beyond 55 bits", |r| {
            good(r, |r| r[24..32].copy_from_slice(&(1u64 << 46).to_le_bytes()));
        }),
        ("a sequence of all ones", |r| good(r, |r| r[24..32].fill(0xff))),
    ];
    for (what, change) in wrong {
        for (generation, field, which) in [
            (3, 384, "newest checkpoint in the newest slot"),
            (3, 432, "checkpoint before in the newest slot"),
            (1, 384, "newest checkpoint in the older slot"),
        ] {
            let mut forge = sample(64, 512);
            forge.slot(generation, |slot| {
                slot[360] = if generation == 3 { 1 } else { 0 };
                change(&mut slot[field..field + 48]);
            });
            let name = format!("The {which} has {what}");
            maker.refused(
                &["F-3.2"],
                &["CheckpointRef", "SlotSecond"],
                name,
                &forge.data,
                corrupt(&["F-3.2"], None),
            );
        }
    }
    lengths_of_roots(maker);
    replay_at_the_end(maker);
}

/// Roots at the bounds of what an index record may be (F-8.11). One that could be there and is not is damage of its checkpoint alone.
fn lengths_of_roots(maker: &mut Maker) {
    for (segment_bytes, at, len, is_one) in [
        (512u32, 496u32, 9u32, true),
        (512, 504, 9, false),
        (512, 64, 448, true),
        (512, 72, 440, true),
        (512, 72, 441, false),
        (32_768, 64, 16_384, true),
        (32_768, 64, 16_385, false),
    ] {
        let mut forge = sample(64, segment_bytes);
        forge.slot(3, |slot| {
            slot[360] = 1;
            good(&mut slot[384..432], |_| ());
            slot[396..400].copy_from_slice(&at.to_le_bytes());
            slot[420..424].copy_from_slice(&len.to_le_bytes());
        });
        let clauses = ["F-3.2", "F-8.11"];
        let name = format!("A slot names a root of {len} bytes at offset {at} of {segment_bytes}");
        if is_one {
            let name = format!("{name}, and none is there");
            maker.holds(&clauses, &["CheckpointRef", "Fallback"], name, &forge.data, forge.state());
        } else {
            maker.refused(&clauses, &["CheckpointRef"], name, &forge.data, corrupt(&["F-3.2"], None));
        }
    }
}

/// A replay start at the end of a segment is as good as any.
fn replay_at_the_end(maker: &mut Maker) {
    let mut forge = sample(64, 512);
    forge.slot(3, |slot| {
        slot[360] = 1;
        good(&mut slot[384..432], |r| r[32..36].copy_from_slice(&512u32.to_le_bytes()));
    });
    let name = "A slot names a checkpoint that is not there, whose replay start is the end of a segment";
    maker.holds(&["F-3.2", "R-5.2"], &["CheckpointRef", "Fallback"], name, &forge.data, forge.state());
}

/// A reference that could be, before `change`.
fn good(reference: &mut [u8], change: fn(&mut [u8])) {
    reference[..8].copy_from_slice(&lsn(1, 2).to_le_bytes());
    (reference[12], reference[32], reference[36]) = (64, 64, 64);
    reference[40..48].copy_from_slice(&lsn(1, 2).to_le_bytes());
    change(reference);
}

fn lengths(maker: &mut Maker) {
    let healthy = sample(64, 512);
    let len = healthy.data.len();
    for by in [1, 7, 8, 64, 100, 512, 1000] {
        let short = &healthy.data[..len - by];
        let name = format!("The file is {by} bytes shorter than it was");
        maker.refused(
            &["R-4.1", "R-1.3", "F-2.5"],
            &["ShortFile"],
            name,
            short,
            corrupt(&["R-4.1", "R-4.3"], Some((len - by) as u64)),
        );
    }
    for by in [1, 8, 64, 512, 1000, 5000] {
        let mut long = healthy.clone();
        long.data.resize(len + by, 0);
        let name = format!("The file has grown by {by} bytes that no slot knows of");
        maker.holds(&["R-4.1", "F-2.4", "F-2.5"], &["TornWrite"], name, &long.data, long.state());
    }
    // Segment 0 ends beyond the end of the file.
    for len in [16_384 + 1024, 16_384 + 2048, 16_384 + 4096] {
        let mut forge = super::sample::small();
        forge.data.truncate(len);
        forge.slot(1, |_| ());
        forge.slot(2, |slot| slot[360] = 1);
        let name = format!("Segment 0 is cut short by the end of the file, after {} bytes", len - 16_384);
        maker.holds(&["F-2.3", "F-2.4", "R-1.3", "R-7.2"], &["ShortFile"], name, &forge.data, forge.state());
    }
    let mut forge = super::sample::small();
    let last = forge.placed.last().expect("there are commits").clone();
    let kept = last.at + 8 * ((last.len - 8) / 8);
    forge.data.truncate(kept);
    forge.slot(1, |_| ());
    forge.slot(2, |slot| slot[360] = 1);
    let state = super::state_before(&forge, forge.placed.len() - 1);
    maker.holds(
        &["R-1.3", "R-4.2"],
        &["ShortInput"],
        "The last frame goes on beyond the end of the file",
        &forge.data,
        state,
    );
}
