//! Claims, lengths, creations and places.

use super::log::put;
use crate::case::Outcome;
use crate::forge::checkpoint::{Changes, Checkpoint};
use crate::forge::log::{Frame, NONE, OPENING, SYSTEM};
use crate::forge::{Forge, Record, lsn};
use crate::make::stores::checkpoints::{PLACES, name_in_slot, store, with_two};
use crate::make::stores::sample::{saying, small, text};
use crate::make::stores::state_before;
use crate::make::{Maker, corrupt, invalid};
use holotype_model::Key;

const CLAIMING: Frame = Frame {
    lsn: Some(lsn(1, 9)),
    lag: 0,
    part: (0, true),
    flags: 0,
    handed_over: true,
    change: |_| (),
    lineage: crate::forge::log::LINEAGE,
    at: None,
};

fn lost(maker: &mut Maker, clauses: &[&str], name: &str, forge: &Forge, at: u64) {
    let expect = corrupt(&["R-4.1", "R-4.3"], Some(at));
    maker.refused(&[clauses, &["R-4.1", "R-4.3"]].concat(), &["LostCommit"], name, &forge.data, expect);
}

pub(super) fn claims(maker: &mut Maker) {
    // The header of a frame is there, and the file ends within its body.
    let mut forge = small();
    let end = forge.x();
    forge.frame(&[put(2)], &CLAIMING);
    let at = forge.placed.last().expect("it was placed").at;
    forge.data.truncate(at + 40);
    forge.slot(4, |slot| slot[360] = 1);
    forge.slot(1, |_| ());
    lost(
        maker,
        &["R-1.3", "R-3.1"],
        "A header whose body is cut off by the end of the file claims",
        &forge,
        end,
    );

    let mut forge = small();
    let state = forge.state();
    let at = forge.place(true) + 64 + 8;
    forge.base = 1;
    let frame = Frame { at: Some(at), lsn: Some(lsn(2, 1)), flags: OPENING | SYSTEM, ..Frame::default() };
    forge.frame(&[Record::opening(lsn(1, 9), 64)], &frame);
    let name = "An opening frame that does not end in the sector in which it begins claims nothing";
    maker.refused_as_tail(&["R-3.1", "R-5.5"], "TornWrite", name, &forge, state);

    let mut forge = small();
    forge.segment_with(forge.last + 1, 3, |header| header[24..32].copy_from_slice(&lsn(1, 9).to_le_bytes()));
    forge.commit(&[put(2)]);
    let name = "The header of the segment in which the log ends claims nothing";
    maker.holds(&["R-3.1"], &["TornWrite"], name, &forge.data, forge.state());

    // A leftover between the end of a frame and the next sector, in front of X.
    let mut forge = Forge::opened(512, 4096, 2);
    forge.commit(&[Record::create(1, "notes")]);
    let gap = forge.end + 64;
    let mut left = forge.clone();
    left.frame(&[put(7)], &Frame { at: Some(gap), ..CLAIMING });
    forge.data = left.data;
    forge.commit(&[put(2)]);
    let name = "A leftover in front of X claims nothing";
    maker.holds(&["R-3.3", "F-5.3"], &["StaleFrame"], name, &forge.data, forge.state());
    let end = forge.x();
    let at = forge.place(false);
    assert_eq!(end, (forge.start() as u64) + u64::from(at), "a header can lie at X");
    forge.frame(&[put(3)], &Frame { at: Some(at), ..CLAIMING });
    lost(maker, &["R-3.3"], "A frame at X itself claims", &forge, end);
}

/// A store of three segments, of which the log breaks off in the first; the frame in the last one claims.
fn three_segments() -> (Forge, usize) {
    let mut forge = Forge::opened(64, 512, 6);
    forge.commit(&[Record::create(1, "notes")]);
    let torn = forge.placed.len();
    forge.commit(&[put(1)]);
    forge.segment(forge.last + 1);
    forge.commit(&[put(2)]);
    forge.segment(forge.last + 1);
    forge.frame(&[put(3)], &Frame { lag: 1, ..Frame::default() });
    forge.data[forge.placed[torn].at] ^= 1;
    (forge, torn)
}

pub(super) fn chains(maker: &mut Maker) {
    let (mut forge, torn) = three_segments();
    let before = forge.placed[torn].before;
    for index in 1..3 {
        forge.data[16_384 + index * 512] ^= 1;
    }
    let name = "The second of two segments in a row whose headers are damaged is searched as well";
    lost(maker, &["R-3.4"], name, &forge, before);

    let (mut forge, torn) = three_segments();
    let (physical, sequence, reserved) = (forge.physical, forge.sequence, forge.reserved);
    (forge.physical, forge.sequence, forge.reserved) = (0, 0, [40, 2]);
    forge.header(0, 0, |_| ());
    (forge.physical, forge.sequence, forge.reserved) = (physical, sequence, reserved);
    let state = state_before(&forge, torn);
    let name = "A segment that begins behind the end of the file ends the chain";
    maker.refused_as_tail(&["R-3.4"], "Chain", name, &forge, state);

    let mut forge = Forge::opened(64, 512, 6);
    forge.reserved = [NONE, NONE];
    forge.header(0, 0, |_| ());
    forge.commit(&[Record::create(1, "notes")]);
    let torn = forge.placed.len();
    forge.commit(&[put(1)]);
    forge.reserved = [1, 2];
    forge.segment(forge.last + 1);
    forge.commit(&[put(2)]);
    forge.segment(forge.last + 1);
    forge.frame(&[put(3)], &Frame { lag: 1, ..Frame::default() });
    forge.data[forge.placed[torn].at] ^= 1;
    let before = forge.placed[torn].before;
    let name = "The chain of a successor that nothing names is followed";
    lost(maker, &["R-3.5", "R-3.3"], name, &forge, before);
}

pub(super) fn lengths(maker: &mut Maker) {
    let mut forge = Forge::new(64, 512, 1);
    forge.data.truncate(16_384);
    forge.slot(2, |_| ());
    forge.slot(1, |_| ());
    let expect = corrupt(&["R-4.1", "R-4.3", "F-2.3"], Some(16_384));
    let name = "A file that ends where its first segment would begin, as its slots say";
    maker.refused(&["R-4.1"], &["ShortFile"], name, &forge.data, expect);

    let mut file = vec![0; 65_536];
    file[16_384 + 600] = 1;
    let name = "A byte in the second sector of segment 0 is of no creation";
    maker.file(&invalid(&["R-5.1"], &["NotOurs"]), name, &file, vec![Outcome::NotHolotype(true)]);
    let mut file = vec![b'x'; 4096];
    file.extend(b"HOLO");
    let name = "A file that ends within the magic of slot B";
    let expect = corrupt(&["R-5.1"], None);
    maker.refused(&["R-5.1"], &["NotOurs"], name, &file, expect);
}

pub(super) fn places(maker: &mut Maker) {
    for (reserved, is_near) in [(4 * 2 + 64, true), (4 * 2 + 65, false)] {
        for which in 0..2 {
            let mut forge = Forge::opened(64, 4096, 2);
            forge.reserved = [1, 3];
            forge.reserved[which] = reserved;
            forge.header(0, 0, |_| ());
            let name = format!("A reservation of place {reserved} in a file of two segments: number {which}");
            if is_near {
                maker.holds(&["R-8.1"], &["Reservation"], name, &forge.data, forge.state());
            } else {
                let expect = corrupt(&["R-8.1", "F-4.3"], None);
                maker.refused(&["R-8.1"], &["Reservation"], name, &forge.data, expect);
            }
        }
    }
    // The log is whole from its beginning, which is no reason to leave both checkpoints aside.
    let mut forge = with_two(None);
    for place in PLACES {
        forge.data[16_384 + place as usize * 4096 + 70] ^= 1;
    }
    let name = "Neither of two checkpoints can be read, and the log is whole";
    maker.refused(&["R-5.2"], &["Fallback"], name, &forge.data, corrupt(&[], None));
}

/// A store whose one checkpoint is of a log in segment 1, with all documents there; segment 0 is freed as of the checkpoint, or not.
/// Segment 0 is the next place of the log.
fn moved_on(is_freed: bool) -> Forge {
    let mut forge = store();
    forge.segment(forge.last + 1);
    let bytes = [&[0][..], &[0, 1]].map(|bytes| Key::Bytes(bytes.to_vec()));
    let [a, b, c] = [1, -7, 300].map(Key::Int);
    let [d, e] = ["name", "names"].map(text);
    let keys = [&[a, b, c, d, e][..], &bytes].concat();
    let records: Vec<_> = keys.iter().map(|key| Record::put(1, key, &saying(5))).collect();
    let freed = [Record::freed(0, 0)];
    forge.commit(&[&records[..], if is_freed { &freed } else { &[] }].concat());
    forge.table[0].freed = if is_freed { forge.last } else { 0 };
    forge.reserved = [0, 3];
    forge.header(forge.table[1].first, forge.table[0].end, |_| ());
    let reference = Checkpoint::begin(&mut forge, PLACES[0]).finish(&Changes::default());
    let last = forge.last;
    name_in_slot(&mut forge, &[&reference], last);
    forge
}

/// The log goes on in the place of segment 0.
fn over_segment_0(forge: &mut Forge) {
    forge.data[16_384..16_384 + 4096].fill(0);
    forge.segment_with(forge.last + 1, 6, |_| ());
    forge.commit(&[put(8)]);
}

pub(super) fn freed(maker: &mut Maker) {
    let mut forge = moved_on(true);
    // With one checkpoint there is no floor: the place is held, and reserved all the same.
    let name = "A place that was freed is reserved, and the slot names one checkpoint";
    let expect = corrupt(&["R-8.1", "F-4.3"], None);
    maker.refused(&["R-8.2", "R-8.1"], &["Reservation"], name, &forge.data, expect);
    over_segment_0(&mut forge);
    let name = "The log goes on over a segment that was freed at the LSN of the start";
    maker.holds(&["R-9.1"], &["Reservation"], name, &forge.data, forge.state());

    let mut forge = moved_on(false);
    forge.commit(&[Record::freed(0, 0)]);
    over_segment_0(&mut forge);
    let name = "The log goes on over a segment that was freed since the start";
    let expect = corrupt(&["R-9.1", "F-4.3"], None);
    maker.refused(&["R-9.1", "R-9.4"], &["Reservation"], name, &forge.data, expect);
}
