//! Other versions, features and reserved bytes: what must be refused, and what must be ignored.

use super::sample::{saying, small};
use super::{Maker, corrupt, invalid, newer, older, valid};
use crate::case::{Group, Outcome};
use crate::forge::log::Frame;
use crate::forge::{Forge, Record};
use holotype_model::Key;

pub(super) fn make() -> Group {
    let mut maker =
        Maker::new("versions", "Files of other versions, with unknown features and with reserved bytes set");
    slots(&mut maker);
    masks(&mut maker);
    reserved(&mut maker);
    frames(&mut maker);
    maker.finish()
}

/// A store whose slot of this generation is changed; the other slot is that of the sample.
fn with(generation: u64, change: impl FnOnce(&mut [u8])) -> Forge {
    let mut forge = small();
    forge.slot(generation, |slot| {
        slot[360] = u8::from(generation > 1);
        change(slot);
    });
    forge
}

fn slots(maker: &mut Maker) {
    for (generation, which) in [(3, "newest"), (1, "older")] {
        for major in [0u16, 1, 2, 4, 5, 255, 256, u16::MAX] {
            let forge = with(generation, |slot| slot[8..10].copy_from_slice(&major.to_le_bytes()));
            let name = format!("The {which} slot has major version {major}");
            let expect = if major < 3 { older() } else { newer() };
            maker.refused(&["F-3.4", "F-1.1"], &["Features", "SlotSecond"], name, &forge.data, expect);
        }
        for minor in [1u16, 2, 255, 256, u16::MAX] {
            let forge = with(generation, |slot| slot[10..12].copy_from_slice(&minor.to_le_bytes()));
            let name = format!("The {which} slot has minor version {minor}");
            maker.holds(&["F-3.4"], &["Features"], name, &forge.data, forge.state());
        }
        for kind in [0, 2, 3, 255] {
            let forge = with(generation, |slot| slot[12] = kind);
            let name = format!("The {which} slot has checksum kind {kind}");
            maker.refused(&["F-3.4", "F-3.1"], &["Features", "SlotSecond"], name, &forge.data, newer());
        }
    }
    let mut unread = with(3, |slot| slot[8] = 9);
    unread.data[4096 + 200] ^= 1;
    let name = "A slot that is not valid says nothing of the version";
    maker.holds(&["F-3.3", "F-3.4"], &["SlotChecksum"], name, &unread.data, unread.state());
}

fn masks(maker: &mut Maker) {
    for bit in [0u32, 1, 7, 8, 31, 32, 62, 63] {
        let mask = (1u64 << bit).to_le_bytes();
        for (generation, which) in [(3, "newest"), (1, "older")] {
            let forge = with(generation, |slot| slot[16..24].copy_from_slice(&mask));
            let name = format!("Bit {bit} of the incompatible mask of the {which} slot");
            maker.refused(&["F-3.4"], &["Features", "SlotSecond"], name, &forge.data, newer());
        }
        let forge = with(3, |slot| slot[24..32].copy_from_slice(&mask));
        let name = |to: &str| format!("Bit {bit} of the read-only-compatible mask, opened for {to}");
        maker.holds(&["F-3.4"], &["Features", "ReadOnly"], name("reading"), &forge.data, forge.state());
        maker.written(&invalid(&["F-3.4"], &["ReadOnly"]), name("writing"), &forge.data, vec![newer()]);
        let forge = with(3, |slot| slot[32..40].copy_from_slice(&mask));
        let name = |to: &str| format!("Bit {bit} of the compatible mask, opened for {to}");
        maker.holds(&["F-3.4"], &["Features"], name("reading"), &forge.data, forge.state());
        let state = maker.state(forge.state());
        maker.written(
            &valid(&["F-3.4"], &["Features"]),
            name("writing"),
            &forge.data,
            vec![Outcome::State(state)],
        );
    }
}

fn reserved(maker: &mut Maker) {
    for at in [13, 15, 96, 200, 351, 480, 507] {
        let forge = with(3, |slot| slot[at] = 0xff);
        maker.holds(
            &["F-1.4"],
            &["Reserved"],
            format!("Reserved byte {at} of a slot is set"),
            &forge.data,
            forge.state(),
        );
    }
    for bit in 1..8 {
        let forge = with(3, |slot| slot[364] = 1 << bit);
        maker.holds(
            &["F-1.4", "F-3.1"],
            &["Reserved"],
            format!("Reserved flag {bit} of a slot is set"),
            &forge.data,
            forge.state(),
        );
    }
    let forge = with(3, |slot| slot[80..96].fill(0x77));
    let name = "Application id, user version and quota are the application's own";
    maker.holds(&["F-3.1"], &["ByteOrder"], name, &forge.data, forge.state());
    let mut forge = small();
    forge.data[512..4096].fill(0);
    forge.data[8192..16_384].fill(0);
    maker.holds(
        &["F-2.1", "F-1.4"],
        &["Reserved"],
        "What lies between the slots and the segments is zero",
        &forge.data,
        forge.state(),
    );
    let forge = with(3, |slot| slot[364] = 1);
    maker.holds(&["R-7.3", "F-3.1"], &["CleanFlag"], "A store that was closed", &forge.data, forge.state());
    let mut forge = small();
    let torn = forge.placed[2].clone();
    forge.slot(3, |slot| (slot[360], slot[364]) = (1, 1));
    forge.data[torn.at + 40] ^= 1;
    let name = "The flag of a clean close does not keep a torn tail from being cut";
    maker.holds(&["R-7.3", "R-4.2"], &["CleanFlag"], name, &forge.data, super::state_before(&forge, 2));
    forge.slot(3, |slot| {
        (slot[360], slot[364]) = (1, 1);
        slot[368..376].copy_from_slice(&torn.lsn.to_le_bytes());
    });
    let name = "The flag of a clean close does not keep damage from being found";
    maker.refused(
        &["R-7.3", "R-4.1", "F-1.4"],
        &["CleanFlag"],
        name,
        &forge.data,
        corrupt(&["R-4.1", "R-4.3"], Some(torn.before)),
    );
}

fn frames(maker: &mut Maker) {
    for bit in 3..16 {
        let mut forge = small();
        let put = Record::put(1, &Key::Int(2), &saying(2));
        forge.frame(&[put], &Frame { flags: 1 << bit, ..Frame::default() });
        let name = format!("The frame that continues the log has flag {bit}");
        maker.refused(&["F-5.7", "R-2.7", "F-5.8"], &["Features"], name, &forge.data, newer());
    }
    // One frame further on nothing is asked of its flags, since the log does not come there.
    let mut forge = small();
    let torn = forge.placed.len();
    forge.commit(&[Record::put(1, &Key::Int(2), &saying(2))]);
    forge.frame(
        &[Record::put(1, &Key::Int(3), &saying(3))],
        &Frame { flags: 1 << 9, lag: 1, ..Frame::default() },
    );
    let at = forge.placed[torn].at;
    forge.data[at + 35] ^= 1;
    let name = "A frame with an unknown flag behind the end of the log claims nothing";
    maker.holds(&["F-5.7", "R-3.2"], &["Features"], name, &forge.data, super::state_before(&forge, torn));
}
