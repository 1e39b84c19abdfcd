//! Slots, segment headers and frames.

use holotype_model::{Key, Value};

use crate::case::State;
use crate::forge::log::{Frame, OPENING, SYSTEM, WATERMARK};
use crate::forge::{Forge, Record, lsn};
use crate::make::ladder::document;
use crate::make::stores::sample::{saying, small};
use crate::make::{Maker, corrupt, newer};

const SECOND: Key = Key::Int(2);

fn put() -> Record {
    Record::put(1, &SECOND, &saying(2))
}

/// A store whose one valid slot was changed: nothing else says what the file is.
fn with_one_slot(change: fn(&mut [u8])) -> Forge {
    let mut forge = small();
    forge.slot(4, |slot| {
        slot[360] = 1;
        change(slot);
    });
    forge.data[4096..4608].fill(0);
    forge
}

pub(super) fn slots(maker: &mut Maker) {
    type Change = fn(&mut [u8]);
    let reserved: [(&str, Change); 8] = [
        ("the first byte behind the checksum kind", |slot| slot[13] = 1),
        ("the last byte behind the checksum kind", |slot| slot[15] = 0x80),
        ("the first byte that is kept for encryption", |slot| slot[96] = 1),
        ("the last byte that is kept for encryption", |slot| slot[351] = 0xff),
        ("a flag of the slot", |slot| slot[364] = 2),
        ("the last flag of the slot", |slot| slot[367] = 0x80),
        ("the first byte behind the references", |slot| slot[480] = 1),
        ("the last byte behind the references", |slot| slot[507] = 0xff),
    ];
    for (what, change) in reserved {
        let forge = with_one_slot(change);
        let name = format!("The only valid slot has {what} set, which is reserved");
        maker.holds(&["F-1.4", "F-3.1"], &["Reserved"], name, &forge.data, forge.state());
    }
    let mut forge = Forge::new(64, 64 << 20, 1);
    forge.data.truncate(65_536);
    forge.slot(2, |slot| slot[360] = 1);
    forge.slot(1, |_| ());
    forge.open(1);
    let name = "Segments of 64 MiB, the first of which is as long as the file";
    maker.holds(&["F-2.1", "F-2.3", "R-1.3"], &["Geometry"], name, &forge.data, forge.state());
}

pub(super) fn segments(maker: &mut Maker) {
    type Change = fn(&mut [u8]);
    let unread: [(&str, Change); 3] = [
        ("a codec", |header| header[5] = 1),
        ("a flag", |header| header[6] = 1),
        ("its last flag", |header| header[7] = 0x80),
    ];
    for (what, change) in unread {
        let mut forge = small();
        forge.segment_with(forge.last + 1, 3, change);
        forge.commit(&[put()]);
        let name = format!("A successor whose header has {what} is one");
        maker.holds(&["F-4.4", "R-2.1"], &["Reserved"], name, &forge.data, forge.state());
    }
    let mut forge = small();
    let state = forge.state();
    forge.reserved = [3, 4];
    forge.segment_with(forge.last + 1, 5, |_| ());
    forge.commit(&[put()]);
    let name = "A segment at a place that its predecessor does not name is not the successor";
    maker.refused_as_tail(&["F-4.3", "R-2.6"], "Chain", name, &forge, state);
}

pub(super) fn places(maker: &mut Maker) {
    let mut forge = Forge::opened(64, 512, 2);
    forge.commit(&[Record::create(1, "notes")]);
    let room = |forge: &Forge, text: usize| {
        let document = document([("t", Value::from("f".repeat(text).as_str()))]);
        let put = Record::put(1, &SECOND, &document);
        let len = forge.record(&put, 0, forge.last + 1, &[0; 16]).len();
        (put, forge.place(true) as usize + 32 + len)
    };
    let fitting = (0..500).map(|text| room(&forge, text)).find(|(_, end)| *end == 512).expect("one fits");
    forge.commit(&[fitting.0]);
    let name = "A frame that ends with its segment";
    maker.holds(&["F-5.2", "F-5.7"], &["Placement"], name, &forge.data, forge.state());

    let claims = Frame { lag: 0, lsn: Some(lsn(1, 9)), ..Frame::default() };
    let mut forge = small();
    let state = forge.state();
    let at = forge.place(true) + 64 + 40;
    forge.frame(&[put()], &Frame { at: Some(at), ..claims.clone() });
    let name = "A header across a sector boundary claims nothing";
    unheard(maker, &["F-5.2", "R-3.3"], name, &forge, state);

    let mut forge = small();
    let state = forge.state();
    forge.frame(&[put()], &Frame { change: |header| header[14] = 0xff, ..claims.clone() });
    let name = "A header whose body does not lie inside its segment claims nothing";
    unheard(maker, &["F-5.2", "F-5.7", "F-1.3", "R-3.1"], name, &forge, state);

    let mut forge = small();
    let state = forge.state();
    forge.frame(&[put()], &Frame { lag: 0, lsn: Some(lsn(2, 0)), ..Frame::default() });
    let name = "A header of count 0 claims nothing";
    unheard(maker, &["F-5.7", "R-3.1"], name, &forge, state);
}

/// A file whose last frame neither continues the log nor claims anything.
fn unheard(maker: &mut Maker, clauses: &[&str], name: &str, forge: &Forge, state: State) {
    maker.refused_as_tail(&[clauses, &["R-4.1", "R-4.2"]].concat(), "TornWrite", name, forge, state);
}

pub(super) fn lags(maker: &mut Maker) {
    for (number, lag, what) in [
        (lsn(3, 1), 2, "of one above its count"),
        (lsn(3, 1), 5, "above its count"),
        (lsn(3, 7), u32::MAX - 1, "far above its count"),
        (lsn(2, u32::MAX), u32::MAX, "that states nothing, and is its count"),
    ] {
        let mut forge = small();
        let state = forge.state();
        forge.frame(&[put()], &Frame { lag, lsn: Some(number), ..Frame::default() });
        let name = format!("A frame of a higher incarnation with a lag {what} claims nothing");
        unheard(maker, &["F-5.4", "R-3.1"], &name, &forge, state);
    }
    for (number, lag) in [(lsn(2, 1), 1), (lsn(2, 9), 9), (lsn(2, 9), 8), (lsn(2, 9), 0)] {
        let mut forge = small();
        let end = forge.x();
        forge.frame(&[put()], &Frame { lag, lsn: Some(number), ..Frame::default() });
        let name =
            format!("A frame of count {} of a higher incarnation claims with a lag of {lag}", number as u32);
        let expect = corrupt(&["R-4.1", "R-4.3"], Some(end));
        maker.refused(&["F-5.4", "R-3.1", "R-4.1"], &["LostCommit"], name, &forge.data, expect);
    }
}

pub(super) fn flags(maker: &mut Maker) {
    for bit in [3, 4, 9, 15] {
        let mut forge = small();
        let parts = Some(forge.last + 1);
        forge.frame(&[put()], &Frame { lsn: parts, part: (0, false), ..Frame::default() });
        forge.frame(&[put()], &Frame { lsn: parts, part: (1, true), flags: 1 << bit, ..Frame::default() });
        let name = format!("A second part with the flag {bit} is of a newer format");
        maker.refused(&["F-5.7", "R-2.7"], &["Features"], name, &forge.data, newer());
    }
    for (flags, what) in [(SYSTEM, "system commit"), (WATERMARK, "watermark"), (SYSTEM | WATERMARK, "both")] {
        let mut forge = small();
        forge.frame(&[put()], &Frame { flags, ..Frame::default() });
        let name = format!("A document in a frame with the flags of {what} is there");
        maker.holds(&["F-5.8"], &["Replay"], name, &forge.data, forge.state());
    }
    let mut forge = small();
    let names = Record::opening(forge.last, forge.address(forge.end));
    forge.base = 1;
    forge.frame(&[names], &Frame { lsn: Some(lsn(2, 1)), flags: OPENING, ..Frame::default() });
    forge.commit(&[put()]);
    let name = "An opening frame without the flag of a system commit";
    maker.holds(&["F-5.8", "R-2.2"], &["OpeningFrame"], name, &forge.data, forge.state());
}
