//! Slots that disagree on what creation fixes, and slots that are valid to no reader of this version.

use super::story;
use crate::case::Outcome;
use crate::forge::Forge;
use crate::make::stores::sample::small;
use crate::make::stores::{Maker, corrupt, invalid, newer};

const NEWER: &[&str] = &["R-5.1", "F-3.3"];

/// The sample, whose slot of this generation is changed: 1 is the older one, 3 the newest.
fn with(generation: u64, change: impl FnOnce(&mut [u8])) -> Forge {
    let mut forge = small();
    forge.slot(generation, |slot| {
        slot[360] = u8::from(generation > 1);
        change(slot);
    });
    forge
}

/// Two valid slots that differ in what never changes after creation.
pub(super) fn two_valid(maker: &mut Maker) {
    let clauses = ["F-3.3", "F-3.1"];
    let fixed: [(usize, &[u8], &str); 5] = [
        (40, &128u32.to_le_bytes(), "sector"),
        (44, &1024u32.to_le_bytes(), "length of segments"),
        (48, b"L", "first byte of the lineage id"),
        (56, b"*", "ninth byte of the lineage id"),
        (63, b"*", "last byte of the lineage id"),
    ];
    for (generation, which) in [(3, "newest"), (1, "older")] {
        for (at, bytes, what) in fixed {
            let mut forge = with(generation, |slot| {
                slot[at..at + bytes.len()].copy_from_slice(bytes);
            });
            let name = format!("The {which} slot has another {what}");
            story(&clauses, "SlotSecond", &name).refused_as_corrupt(maker, &forge, &["F-3.3"]);
            forge.data[4096 + 200] ^= 1;
            story(&clauses, "SlotSecond", format!("{name}, and is not valid")).holds(maker, &forge);
            let forge = with(generation, |slot| {
                slot[8] = 4;
                slot[at..at + bytes.len()].copy_from_slice(bytes);
            });
            story(&["F-3.3", "F-3.4"], "Features", format!("{name}, and major version 4"))
                .refused_as_newer(maker, &forge);
        }
        for (at, what) in [(64, "instance id"), (79, "instance id, at its end"), (80, "application id")] {
            let forge = with(generation, |slot| slot[at] ^= 1);
            let name = format!("The {which} slot has another {what}");
            story(&clauses, "SlotSecond", name).holds(maker, &forge);
        }
    }
}

/// One slot is of a newer format, and the other one is what no writer of this one leaves.
pub(super) fn newer_first(maker: &mut Maker) {
    let newer: [(usize, &str); 3] =
        [(8, "major version"), (12, "checksum kind"), (16, "incompatible feature")];
    let corrupt: [(usize, &str); 3] =
        [(40, "a sector of no length that there is"), (400, "half a checkpoint"), (448, "half an older one")];
    for (at, what) in newer {
        for (broken, how) in corrupt {
            for (first, name) in [(0, "A"), (1, "B")] {
                let mut forge = small();
                forge.slot(2 + first, |slot| slot[broken] = 1);
                forge.slot(3 - first, |slot| slot[at] = 4);
                let name = format!("Slot {name} has {how}, the other one another {what}");
                story(&["F-3.4"], "Features", name).refused_as_newer(maker, &forge);
            }
        }
    }
}

/// Neither slot is valid to this version, and what they begin with says whether a newer one may know better.
pub(super) fn neither_valid(maker: &mut Maker) {
    let both_broken = |forge: &mut Forge| [200, 4296].iter().for_each(|at| forge.data[*at] ^= 1);
    for major in [4u16, 5, 256, u16::MAX] {
        for (slots, what) in
            [(&[0, 4096][..], "Both slots name"), (&[0], "Slot A names"), (&[4096], "Slot B names")]
        {
            let mut forge = small();
            both_broken(&mut forge);
            slots.iter().for_each(|at| forge.data[at + 8..at + 10].copy_from_slice(&major.to_le_bytes()));
            let name = format!("{what} major version {major}, and neither is valid");
            story(NEWER, "Features", name).refused_as_newer(maker, &forge);
        }
    }
    for (other, what) in [(0u8, "zeros"), (b'h', "what is no slot")] {
        for at in [0, 4096] {
            let mut forge = small();
            both_broken(&mut forge);
            forge.data[at + 8] = 4;
            forge.data[4096 - at..4096 - at + 512].fill(other);
            let name =
                format!("The slot at {at} names major version 4 and is not valid, and the other is {what}");
            story(NEWER, "Features", name).refused_as_newer(maker, &forge);
        }
    }
    for major in [0u8, 1, 2, 3] {
        let mut forge = small();
        both_broken(&mut forge);
        [8, 4104].iter().for_each(|at| forge.data[*at] = major);
        let name = format!("Both slots name major version {major}, and neither is valid");
        story(NEWER, "Features", name).refused_as_corrupt(maker, &forge, &["R-5.1", "F-3.3"]);
    }
    let mut forge = small();
    for at in [0, 4096] {
        (forge.data[at], forge.data[at + 8]) = (b'h', 4);
    }
    let expect = vec![Outcome::NotHolotype(true)];
    let name = "Both slots name major version 4 behind another magic";
    maker.file(&invalid(&["R-5.1"], &["NotOurs"]), name, &forge.data, expect);
    creations(maker);
}

/// A newer version may have begun to create what this one would take for a creation of its own.
fn creations(maker: &mut Maker) {
    let begun = |major: u8, len: usize| {
        let mut file = b"HOLOTYPE".to_vec();
        file.extend([major, 0, 7, 0]);
        file.resize(len, 0);
        file
    };
    let unfinished = Outcome::Incomplete(true);
    for (major, expect) in [(4, newer()), (3, unfinished)] {
        let name = format!("A creation of major version {major} that came to its first slot");
        maker.refused(NEWER, &["Creation"], name, &begun(major, 65_536), expect);
    }
    let name = "A creation of major version 4 that came to its first slot is opened for writing";
    maker.written(&invalid(NEWER, &["Creation"]), name, &begun(4, 65_536), vec![newer()]);
    let not_ours = corrupt(&["R-5.1"], None);
    for (len, expect) in [(11, not_ours), (12, newer()), (4096, newer()), (65_537, newer())] {
        let mut file = begun(4, len.max(12));
        file.truncate(len);
        let name = format!("{len} bytes that begin with the magic and major version 4");
        maker.refused(NEWER, &["Creation"], name, &file, expect);
    }
    for (len, expect) in [(4107, corrupt(&["R-5.1"], None)), (4108, newer())] {
        let mut file = [vec![0; 4096], begun(4, 12)].concat();
        file.truncate(len);
        let name = format!("{len} bytes, of which slot B begins with the magic and major version 4");
        maker.refused(NEWER, &["Creation"], name, &file, expect);
    }
}
