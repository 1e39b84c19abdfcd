//! Frames where the log ends: which of them continue it, and which no writer can have placed.

use super::{Story, break_the_last_body, corrupt_unless_broken, names_the_end, open, story};
use crate::forge::log::{Frame, OPENING, SYSTEM};
use crate::forge::{Forge, Record, lsn};
use crate::make::ladder::document;
use crate::make::stores::Maker;
use crate::make::stores::sample::{saying, small};
use holotype_model::{Key, Value};

const FLAG: &str = "OpeningFrame";

fn put(n: i64) -> Record {
    Record::put(1, &Key::Int(n), &saying(n))
}

/// An opening frame with a flag that is not known locks a file only where it continues the log.
pub(super) fn unknown_flags(maker: &mut Maker) {
    fn about<'a>(name: &str, bit: u16) -> Story<'a> {
        story(&["F-5.7", "R-2.2"], "Features", format!("An opening frame with flag {bit} {name}"))
    }
    for bit in [3, 4, 9, 15] {
        let flagged = || Frame { flags: 1 << bit, ..Frame::default() };
        let state = small().state();
        let mut forge = small();
        let names = names_the_end(&forge);
        open(&mut forge, std::slice::from_ref(&names), &flagged());
        about("that continues the log", bit).refused_as_newer(maker, &forge);
        break_the_last_body(&mut forge);
        about("whose body is broken", bit).cut_as_a_tail(maker, &forge, state.clone());
        let end = small().address(small().end);
        for (record, what) in [
            (Record::opening(small().last - 1, end), "that names an earlier commit"),
            (Record::opening(small().last, end + 8), "that names another end"),
            (Record::raw(0, 0, 0, vec![]), "and a record of kind 0"),
            (Record::raw(9, 0, 0, vec![]), "and a record of kind 9"),
        ] {
            let mut forge = small();
            open(&mut forge, &[record], &flagged());
            about(what, bit).cut_as_a_tail(maker, &forge, state.clone());
        }
        let mut forge = small();
        open(&mut forge, &[names], &Frame { part: (0, false), ..flagged() });
        about("and without LAST", bit).cut_as_a_tail(maker, &forge, state);
    }
    // The frame of the commit to follow is known by its header, whatever its body.
    let mut forge = small();
    forge.frame(&[put(2)], &Frame { flags: 1 << 9, ..Frame::default() });
    break_the_last_body(&mut forge);
    story(&["F-5.7", "R-2.2"], "Features", "The frame of the next commit has flag 9, and its body is broken")
        .refused_as_newer(maker, &forge);
    // One that is there beside an opening frame that continues the log is a leftover.
    for (flags, name) in [
        (0, "The next commit of the old life is whole, and an opening stands at the next sector"),
        (1 << 9, "The next commit of the old life has flag 9, and an opening stands at the next sector"),
    ] {
        let mut forge = with_half_a_sector_left();
        let (x, last) = (forge.end, forge.last);
        forge.frame(&[], &Frame { flags: SYSTEM | flags, handed_over: false, ..Frame::default() });
        (forge.end, forge.last) = (x, last);
        forge.open(2);
        story(&["F-5.7", "R-2.3", "R-4.5"], "Features", name).holds(maker, &forge);
    }
}

/// A store whose log ends where a frame without records has room before the next sector.
fn with_half_a_sector_left() -> Forge {
    let ends = (0..64).map(|len| {
        let mut forge = small();
        let document = document([("t", Value::from("x".repeat(len).as_str()))]);
        forge.commit(&[Record::put(1, &Key::Int(2), &document)]);
        forge
    });
    ends.into_iter().find(|forge| forge.end % 64 == 32).expect("some length ends there")
}

/// A valid frame with the opening flag is an opening frame, or no writer placed it.
pub(super) fn openings(maker: &mut Maker) {
    const NAMED: &[&str] = &["F-6.5", "R-2.2", "R-2.7", "F-1.2", "F-6.1", "F-6.2", "F-6.3"];
    let clauses = ["F-6.5", "R-2.2", "F-6.3"];
    let ends = |more: &[u8]| [&small().last.to_le_bytes()[..], &1096u64.to_le_bytes(), more].concat();
    for (record, what) in [
        (Record::raw(0, 0, 0, ends(&[])), "of kind 0"),
        (Record::raw(7, 0, 0, ends(&[0])), "of 17 bytes"),
        (Record::raw(7, 0, 0, ends(&[])[..15].to_vec()), "of 15 bytes"),
        (put(2).dead(), "that is a put"),
        (Record::raw(6, 0, 0, vec![0; 12]), "that frees a segment"),
        (Record::raw(130, 0, 0, ends(&[])), "of a kind that is skipped elsewhere"),
        (Record { commit_off: 1, ..names_the_end(&small()) }, "that counts itself to the commit after"),
        (Record { length_more: 1, ..names_the_end(&small()) }, "of a length in a form that is too long"),
    ] {
        let mut forge = small();
        open(&mut forge, &[record], &Frame::default());
        let name = format!("An opening frame with a record {what}");
        corrupt_unless_broken(maker, &clauses, FLAG, &name, forge, NAMED);
    }
    for (records, frame, what) in [
        (vec![], Frame::default(), "without a record"),
        (vec![names_the_end(&small()), put(2).dead()], Frame::default(), "with a put behind its record"),
        (vec![names_the_end(&small())], Frame { part: (1, true), ..Frame::default() }, "of part number 1"),
        (
            vec![names_the_end(&small())],
            Frame { change: |h| h[20] = 2, ..Frame::default() },
            "that counts two records",
        ),
    ] {
        let mut forge = small();
        open(&mut forge, &records, &frame);
        let name = format!("An opening frame {what}");
        corrupt_unless_broken(maker, &clauses, FLAG, &name, forge, NAMED);
    }
    // It need not be the one that continues the log.
    let mut forge = small();
    open(&mut forge, &[Record::opening(1, 8)], &Frame { change: |h| h[20] = 2, ..Frame::default() });
    let name = "An opening frame that names another commit, and counts two records";
    corrupt_unless_broken(maker, &clauses, FLAG, name, forge, NAMED);
    for kind in [9, 127] {
        let mut forge = small();
        open(&mut forge, &[Record::raw(kind, 0, 0, vec![1])], &Frame::default());
        let name = format!("An opening frame with a record of kind {kind} is of a newer format");
        story(&["F-6.3", "R-2.7", "R-2.2"], "RecordKind", name).refused_as_newer(maker, &forge);
    }
    let mut forge = small();
    let names = names_the_end(&forge).with(4, &[2, 1, 1]);
    open(&mut forge, &[names], &Frame::default());
    forge.commit(&[put(2)]);
    story(&["F-6.5", "F-6.4"], FLAG, "An opening record with an extension block").holds(maker, &forge);
}

/// The opening flag where a commit goes on.
pub(super) fn flags_of_openings(maker: &mut Maker) {
    const NAMED: &[&str] = &["F-6.5", "R-2.2", "R-2.4", "R-2.7"];
    let clauses = ["F-6.5", "R-2.2", "R-2.4"];
    let mut forge = small();
    forge.frame(&[put(2)], &Frame { flags: OPENING, ..Frame::default() });
    corrupt_unless_broken(maker, &clauses, FLAG, "The next commit has the opening flag", forge, NAMED);
    let mut forge = small();
    forge.frame(&[put(2)], &Frame { part: (0, false), ..Frame::default() });
    let second = Some(forge.last);
    let frame = Frame { lsn: second, part: (1, true), flags: OPENING, ..Frame::default() };
    forge.frame(&[put(3)], &frame);
    let name = "The second part of the next commit has the opening flag";
    corrupt_unless_broken(maker, &clauses, FLAG, name, forge, NAMED);
    let empty = || Forge::new(64, 512, 1);
    let state = crate::forge::World::default().state(0);
    let mut forge = empty();
    forge.base = 1;
    let names = names_the_end(&forge);
    forge.frame(&[names], &Frame { lsn: Some(lsn(0, 1)), flags: OPENING | SYSTEM, ..Frame::default() });
    let clauses = ["F-6.5", "R-2.2", "R-5.4"];
    story(&clauses, FLAG, "An opening frame of incarnation 0").refused_as_corrupt(maker, &forge, NAMED);
    break_the_last_body(&mut forge);
    story(&clauses, FLAG, "An opening frame of incarnation 0, and its body is broken").cut_as_a_tail(
        maker,
        &forge,
        state.clone(),
    );
    let mut forge = empty();
    forge.base = 1;
    let frame = Frame { lsn: Some(lsn(0, 1)), part: (0, false), ..Frame::default() };
    forge.frame(&[Record::create(1, "notes")], &frame);
    let name = "A commit of incarnation 0 without its last part";
    story(&clauses, "PartialCommit", name).cut_as_a_tail(maker, &forge, state);
}

/// The record count of a frame whose checksums hold.
pub(super) fn counts(maker: &mut Maker) {
    const NAMED: &[&str] = &["R-2.7", "F-5.7", "F-5.1"];
    for (count, what) in [(0, "none"), (1, "one"), (3, "three"), (u32::MAX, "all that can be")] {
        let mut forge = small();
        let change: fn(&mut [u8; 24]) = match count {
            0 => |h| h[20..].copy_from_slice(&0u32.to_le_bytes()),
            1 => |h| h[20..].copy_from_slice(&1u32.to_le_bytes()),
            3 => |h| h[20..].copy_from_slice(&3u32.to_le_bytes()),
            _ => |h| h[20..].copy_from_slice(&u32::MAX.to_le_bytes()),
        };
        forge.frame(&[put(2), put(3)], &Frame { change, ..Frame::default() });
        let name = format!("A frame of two records that counts {what}");
        corrupt_unless_broken(maker, &["R-2.7", "F-5.7"], "RecordForm", &name, forge, NAMED);
    }
    // Of a commit that is not all there nothing is judged.
    let mut forge = small();
    let state = forge.state();
    forge.frame(&[put(2)], &Frame { part: (0, false), change: |h| h[20] = 2, ..Frame::default() });
    let name = "A frame that counts two records for one, of a commit without its last part";
    story(&["R-2.7", "R-2.4"], "PartialCommit", name).cut_as_a_tail(maker, &forge, state);
}
