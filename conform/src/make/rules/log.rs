//! What continues the log.

use holotype_model::Key;

use crate::forge::log::{Frame, NONE, OPENING, SYSTEM};
use crate::forge::{Forge, Record, lsn};
use crate::make::stores::sample::{saying, small};
use crate::make::{Maker, corrupt};

pub(super) fn put(n: i64) -> Record {
    Record::put(1, &Key::Int(n), &saying(n))
}

/// A store of the second incarnation.
fn second_life() -> Forge {
    let mut forge = small();
    forge.open(2);
    forge.commit(&[put(2)]);
    forge
}

pub(super) fn continuations(maker: &mut Maker) {
    for (incarnation, what) in [(1, "lower"), (3, "higher")] {
        let mut forge = second_life();
        let state = forge.state();
        let next = lsn(incarnation, forge.last as u32 + 1);
        forge.frame(&[put(3)], &Frame { lsn: Some(next), ..Frame::default() });
        let name =
            format!("A valid frame of the next count in a {what} incarnation does not continue the log");
        maker.refused_as_tail(&["R-1.2", "R-2.2"], "Incarnation", name, &forge, state);
    }

    let mut forge = small();
    let (state, next) = (forge.state(), forge.last + 1);
    forge.frame(&[put(2)], &Frame { lsn: Some(next), part: (0, false), ..Frame::default() });
    forge.frame(&[put(3)], &Frame { lsn: Some(next + 1), part: (1, true), ..Frame::default() });
    let name = "A second part of the commit behind is no part of this one";
    maker.refused_as_tail(&["R-2.4", "F-5.6"], "PartialCommit", name, &forge, state);

    // Two opening frames of one incarnation, of which the one at place(X) comes first.
    let mut forge = Forge::opened(512, 4096, 2);
    forge.commit(&[Record::create(1, "notes")]);
    let names = Record::opening(forge.last, forge.address(forge.end));
    let (first, second) = (forge.place(false), forge.place(true));
    assert!(first + 64 < second, "both have room");
    let opening =
        |at| Frame { at: Some(at), lsn: Some(lsn(2, 1)), flags: OPENING | SYSTEM, ..Frame::default() };
    forge.base = 1;
    let mut other = forge.clone();
    other.frame(std::slice::from_ref(&names), &opening(second));
    forge.data = other.data;
    forge.frame(&[names], &opening(first));
    forge.frame(&[put(2)], &Frame { handed_over: false, ..Frame::default() });
    let name = "Of two opening frames of one incarnation, the first in the order of places is taken";
    maker.holds(&["R-2.3", "R-2.1"], &["OpeningFrame"], name, &forge.data, forge.state());

    // A record count that is wrong is told whatever the frame names.
    let mut forge = small();
    let names = Record::opening(lsn(1, 1), 64);
    let wrong = Frame {
        lsn: Some(lsn(2, 1)),
        flags: OPENING | SYSTEM,
        change: |header| header[20] = 1,
        ..Frame::default()
    };
    forge.base = 1;
    forge.frame(&[names.clone(), names], &wrong);
    let name = "A frame with the opening flag of two records that counts one, and names another end";
    let expect = corrupt(&["R-2.7", "F-6.5", "R-2.2"], None);
    maker.refused(&["R-2.7", "F-6.5"], &["OpeningFrame"], name, &forge.data, expect);
}

pub(super) fn successors(maker: &mut Maker) {
    let mut forge = small();
    let state = forge.state();
    forge.reserved = [2, 3];
    forge.segment_with(forge.last + 1, 4, |_| ());
    forge.commit(&[put(2)]);
    let name = "A segment at the place that is named as `after` is not the successor";
    maker.refused_as_tail(&["R-2.6"], "Chain", name, &forge, state);

    let mut forge = small();
    let state = forge.state();
    forge.data[16_384] ^= 1;
    forge.reserved = [3, 4];
    forge.segment_with(forge.last + 1, 5, |_| ());
    forge.commit(&[put(2)]);
    let name = "The header of segment 0 is damaged: its successor is looked for at 1, and not at 3";
    maker.refused_as_tail(&["R-2.6", "F-4.5"], "Chain", name, &forge, state);

    // Two segments of the next sequence, where none is named: the first one goes on.
    let mut forge = Forge::opened(64, 4096, 4);
    forge.reserved = [NONE, NONE];
    forge.header(0, 0, |_| ());
    forge.commit(&[Record::create(1, "notes")]);
    let mut left = forge.clone();
    left.reserved = [3, NONE];
    left.segment_with(lsn(1, 9), NONE, |header| header[32] += 8);
    forge.data = left.data;
    forge.reserved = [1, NONE];
    forge.segment_with(forge.last + 1, NONE, |_| ());
    forge.commit(&[put(2)]);
    let name = "Of two segments of the next sequence that nothing names, the first one is the successor";
    maker.holds(&["R-2.6", "R-2.1"], &["Chain"], name, &forge.data, forge.state());
}

pub(super) fn replay(maker: &mut Maker) {
    for (clauses, name, record) in [
        (
            &["R-9.5"][..],
            "A chunk leaves documents and the next id as they are",
            Record::chunk(1, &Key::Int(60), 0, b"x"),
        ),
        (
            &["R-9.5"],
            "A chunk of a key that has a document leaves it as it is",
            Record::chunk(1, &Key::Int(1), 0, b"x"),
        ),
    ] {
        let mut forge = small();
        forge.commit(&[record]);
        maker.holds(clauses, &["IdCounter", "Chunks"], name, &forge.data, forge.state());
    }
}
