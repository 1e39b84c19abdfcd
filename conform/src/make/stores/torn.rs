//! What a crash may leave behind the end of the log: nothing states that any of it was durable, so it is cut off silently.

use holotype_model::Key;

use super::sample::{commits, sample, saying, small};
use super::{Maker, state_before};
use crate::case::Group;
use crate::forge::log::{Frame, LINEAGE, NONE, NOTHING, SYSTEM, WATERMARK};
use crate::forge::{Forge, Record, lsn};

pub(super) fn make() -> Group {
    let mut maker = Maker::new(
        "torn",
        "Logs that break off where nothing states that more was durable: what is behind is dropped, and what is before is all there",
    );
    every_commit(&mut maker);
    placement(&mut maker);
    headers(&mut maker);
    seeds(&mut maker);
    parts(&mut maker);
    successors(&mut maker);
    maker.finish()
}

/// What may become of a frame: a name, and what it does to the file, given where the frame lies.
pub(super) type Harm = (&'static str, fn(&mut [u8], usize, usize));

pub(super) const HARMS: [Harm; 9] = [
    ("its first sector was not written", |data, at, len| data[at..at + len.min(64)].fill(0)),
    ("its last sector was not written", |data, at, len| {
        let start = (at + len - 1) / 64 * 64;
        data[start.max(at)..at + len].fill(0);
    }),
    ("none of it was written", |data, at, len| data[at..at + len].fill(0)),
    ("a bit of its header checksum is wrong", |data, at, _| data[at] ^= 1),
    ("a bit of its body checksum is wrong", |data, at, _| data[at + 4] ^= 0x80),
    ("a bit of its LSN is wrong", |data, at, _| data[at + 8] ^= 2),
    ("a bit of its body length is wrong", |data, at, _| data[at + 20] ^= 4),
    ("a bit of a record's checksum is wrong", |data, at, _| data[at + 32] ^= 1),
    ("its last bit is wrong", |data, at, len| data[at + len - 1] ^= 1),
];

fn every_commit(maker: &mut Maker) {
    for (sector, segment_bytes) in [(64, 512), (64, 1024)] {
        let forge = sample(sector, segment_bytes);
        for (number, placed) in forge.placed.iter().enumerate() {
            for (what, harm) in HARMS {
                let mut torn = forge.clone();
                harm(&mut torn.data, placed.at, placed.len);
                let name = format!(
                    "Of the frame of commit {:x}, in segments of {segment_bytes} bytes, {what}",
                    placed.lsn
                );
                let clauses = ["R-4.1", "R-4.2", "R-4.4", "F-5.7", "R-1.1"];
                maker.holds(&clauses, &["TornWrite"], name, &torn.data, state_before(&forge, number));
            }
        }
    }
    let forge = sample(64, 512);
    let state = maker.state(state_before(&forge, 6));
    let mut torn = forge.clone();
    torn.data[forge.placed[6].at] ^= 1;
    let what = super::valid(&["R-4.2", "R-5.4", "R-5.5", "R-5.6"], &["TornWrite", "StaleFrame"]);
    let name = "A writer goes on behind a torn tail, and what it dropped does not come back";
    maker.written(&what, name, &torn.data, vec![crate::case::Outcome::State(state)]);
}

fn placement(maker: &mut Maker) {
    // Frames that follow without a hand-over, of many lengths, so that some have to skip to the next sector.
    for len in [0, 1, 7, 8, 20, 31, 40, 63, 64, 100] {
        let mut forge = small();
        for n in 0..6 {
            let document =
                crate::make::ladder::document([("t", holotype_model::Value::from("y".repeat(len).as_str()))]);
            let put = Record::put(1, &Key::Int(n), &document);
            forge.frame(&[put], &Frame { handed_over: false, ..Frame::default() });
        }
        let name = format!("Frames behind one another without a hand-over, with texts of {len} bytes");
        maker.holds(
            &["F-5.2", "F-5.3", "R-2.1"],
            &["Placement", "Padding"],
            name,
            &forge.data,
            forge.state(),
        );
    }
    for off in [8u32, 16, 24, 64, 128] {
        let mut forge = small();
        let state = forge.state();
        let at = forge.place(true) + off;
        forge.frame(&[Record::put(1, &Key::Int(2), &saying(2))], &Frame { at: Some(at), ..Frame::default() });
        let name = format!("A frame that stands {off} bytes behind where it must does not continue the log");
        maker.refused_as_tail(&["F-5.2", "F-5.3", "R-2.1", "R-2.2"], "Placement", name, &forge, state);
    }
}

fn headers(maker: &mut Maker) {
    type Change = fn(&mut [u8; 24]);
    let wrong: [(&str, &[&str], Change); 7] = [
        ("the LSN after the next", &["R-2.2", "R-2.1"], |h| h[0] += 1),
        ("the LSN before", &["R-2.2", "F-1.5"], |h| h[0] -= 1),
        (
            "the next count in a higher incarnation, and no flag of an opening",
            &["R-2.2", "R-1.2", "F-1.5"],
            |h| h[4] = 2,
        ),
        ("the next count in a lower incarnation", &["R-2.2", "R-1.2", "F-1.5"], |h| h[4] = 0),
        ("count 0", &["F-5.7"], |h| h[..4].fill(0)),
        ("a body beyond its segment", &["F-5.2", "F-5.7"], |h| h[14] = 0xff),
        ("part number 1", &["F-5.6", "R-2.4"], |h| h[16] = 1),
    ];
    for (what, clauses, change) in wrong {
        let mut forge = small();
        let state = forge.state();
        forge.frame(&[Record::put(1, &Key::Int(2), &saying(2))], &Frame { change, ..Frame::default() });
        let name = format!("A frame that says {what} does not continue the log");
        maker.refused_as_tail(clauses, "Incarnation", name, &forge, state);
    }
    let mut forge = small();
    forge.frame(&[], &Frame { flags: WATERMARK | SYSTEM, lag: 1, ..Frame::default() });
    maker.holds(
        &["F-5.5", "F-5.8", "F-5.4"],
        &["Replay"],
        "A watermark frame is a commit of no records",
        &forge.data,
        forge.state(),
    );
    forge.commit(&[Record::put(1, &Key::Int(3), &saying(3))]);
    maker.holds(
        &["F-5.5", "F-5.4", "R-7.1"],
        &["Replay"],
        "A commit behind a watermark frame",
        &forge.data,
        forge.state(),
    );
    let mut forge = small();
    forge.frame(&[], &Frame::default());
    maker.holds(&["F-5.1"], &["Replay"], "A frame without records", &forge.data, forge.state());
}

fn seeds(maker: &mut Maker) {
    let clauses = ["F-1.3", "F-5.1", "F-5.7"];
    let mut other = LINEAGE;
    other[15] ^= 1;
    let mut forge = small();
    let state = forge.state();
    forge.frame(&[Record::put(1, &Key::Int(2), &saying(2))], &Frame { lineage: other, ..Frame::default() });
    maker.refused_as_tail(&clauses, "FrameSeed", "A frame of another store", &forge, state);

    // Bytes of a frame in another place.
    let mut forge = small();
    forge.commit(&[Record::put(1, &Key::Int(2), &saying(2))]);
    let state = forge.state();
    let from = forge.placed.last().expect("there are commits").clone();
    let at = forge.start() + forge.place(true) as usize;
    forge.data.copy_within(from.at..from.at + from.len, at);
    maker.refused_as_tail(
        &clauses,
        "FrameSeed",
        "A frame that was written to another place by mistake",
        &forge,
        state,
    );

    // A whole segment in the place of another: the frames fit, but not the sequence.
    let mut forge = sample(64, 512);
    let second =
        forge.placed.iter().position(|placed| placed.at >= 16_384 + 512).expect("there are segments");
    let state = state_before(&forge, second);
    forge.data.copy_within(16_384..16_384 + 512, 16_384 + 512);
    maker.refused_as_tail(
        &["F-4.4", "F-5.1", "F-1.3"],
        "SegmentSeed",
        "Segment 0 in the place of segment 1",
        &forge,
        state,
    );

    // Header and records are each whole, and of two versions of one sector.
    let mut forge = small();
    let state = forge.state();
    let mut other = forge.clone();
    forge.commit(&[Record::put(1, &Key::Int(2), &saying(2))]);
    other.commit(&[Record::put(1, &Key::Int(2), &saying(3))]);
    let body =
        forge.placed.last().map(|placed| placed.at + 32..placed.at + placed.len).expect("there are commits");
    forge.data[body.clone()].copy_from_slice(&other.data[body]);
    let name = "A header and the record of another frame in the same place";
    maker.refused_as_tail(&["F-5.1", "F-5.7", "F-1.3"], "FrameSeed", name, &forge, state);

    // A record of another incarnation: its checksum does not hold in this one.
    let mut forge = small();
    let state = forge.state();
    let at = forge.place(true);
    forge.commit(&[Record::put(1, &Key::Int(2), &saying(2))]);
    let foreign = forge.record(&Record::put(1, &Key::Int(2), &saying(2)), at + 32, lsn(2, 4), &LINEAGE);
    let start = forge.start() + at as usize + 32;
    forge.data[start..start + foreign.len()].copy_from_slice(&foreign);
    maker.refused_as_tail(
        &["F-6.1", "F-1.3"],
        "RecordSeed",
        "A record of another incarnation in a frame",
        &forge,
        state,
    );
}

fn parts(maker: &mut Maker) {
    let part = |number: u16, is_last: bool| Frame { part: (number, is_last), ..Frame::default() };
    let put = |n: i64| Record::put(1, &Key::Int(n), &saying(n));
    let place = |forge: &mut Forge, lsn: u64, parts: &[(u16, bool)]| {
        for (n, (number, is_last)) in parts.iter().enumerate() {
            forge.frame(&[put(10 + n as i64)], &Frame { lsn: Some(lsn), ..part(*number, *is_last) });
        }
    };
    for count in 2..6u16 {
        let mut forge = small();
        let (state, lsn) = (forge.state(), forge.last + 1);
        place(&mut forge, lsn, &(0..count).map(|n| (n, n + 1 == count)).collect::<Vec<_>>());
        let name = format!("A commit of {count} parts");
        maker.holds(&["F-5.6", "R-2.4"], &["PartialCommit"], name, &forge.data, forge.state());
        for missing in 0..count as usize {
            let mut torn = forge.clone();
            let frame = torn.placed[torn.placed.len() - count as usize + missing].clone();
            torn.data[frame.at..frame.at + frame.len].fill(0);
            let name = format!("A commit of {count} parts, of which part {missing} is missing");
            maker.refused_as_tail(&["F-5.6", "R-2.4", "R-2.3"], "PartialCommit", name, &torn, state.clone());
        }
    }
    for (parts, what) in [
        (&[(0, false), (1, false)][..], "without a last part"),
        (&[(0, false), (2, true)], "with a gap in its parts"),
        (&[(1, false), (0, true)], "with its parts in the wrong order"),
        (&[(0, false), (0, true)], "with one part twice"),
    ] {
        let mut forge = small();
        let (state, lsn) = (forge.state(), forge.last + 1);
        place(&mut forge, lsn, parts);
        maker.refused_as_tail(
            &["F-5.6", "R-2.4"],
            "PartialCommit",
            format!("A commit {what}"),
            &forge,
            state,
        );
    }
    let mut forge = small();
    let (state, lsn) = (forge.state(), forge.last + 1);
    place(&mut forge, lsn, &[(0, false)]);
    place(&mut forge, lsn + 1, &[(0, true)]);
    maker.refused_as_tail(
        &["F-5.6", "R-2.4"],
        "PartialCommit",
        "A commit that begins in the midst of another".to_owned(),
        &forge,
        state,
    );
    // A commit that goes on in the next segment.
    let mut forge = Forge::opened(64, 512, 4);
    forge.commit(&[Record::create(1, "notes")]);
    let lsn = forge.last + 1;
    for number in 0..12u16 {
        if !forge.has_room(40) {
            forge.segment(lsn);
        }
        forge.frame(&[put(i64::from(number))], &Frame { lsn: Some(lsn), ..part(number, number == 11) });
    }
    maker.holds(
        &["F-5.6", "R-2.4", "R-2.1"],
        &["PartialCommit", "Chain"],
        "A commit of 12 parts in three segments",
        &forge.data,
        forge.state(),
    );
}

fn successors(maker: &mut Maker) {
    type Change = fn(&mut [u8]);
    let wrong: [(&str, &[&str], Change); 9] = [
        ("another sequence", &["F-4.4", "F-4.2", "R-2.1"], |h| h[8] += 1),
        ("another first LSN", &["R-2.1", "F-4.1"], |h| h[16] += 1),
        ("another incarnation in its first LSN", &["R-2.1", "F-4.1"], |h| h[20] += 1),
        ("another prev_end, 8 too high", &["R-2.1", "F-4.1"], |h| h[32] += 8),
        ("another prev_end, 8 too low", &["R-2.1", "F-4.1"], |h| h[32] -= 8),
        ("another lineage", &["F-4.4", "F-1.3"], |h| h[50] ^= 1),
        ("another magic", &["F-4.4"], |h| h[0] = b'h'),
        ("the magic of a checkpoint", &["F-4.4"], |h| h[..4].copy_from_slice(b"HCPK")),
        ("the kind of a checkpoint", &["F-4.4"], |h| h[4] = 2),
    ];
    for (what, clauses, change) in wrong {
        let mut forge = small();
        let state = forge.state();
        forge.segment_with(forge.last + 1, 3, change);
        forge.commit(&[Record::put(1, &Key::Int(2), &saying(2))]);
        let name = format!("A segment with {what} is not the successor");
        maker.refused_as_tail(clauses, "Chain", name, &forge, state);
    }
    let mut forge = small();
    let state = forge.state();
    forge.segment(forge.last + 1);
    forge.commit(&[Record::put(1, &Key::Int(2), &saying(2))]);
    maker.holds(&["R-2.1", "F-4.3", "F-4.4"], &["Chain"], "A successor", &forge.data, forge.state());
    let header = forge.start();
    forge.data[header + 61] ^= 1;
    maker.refused_as_tail(
        &["F-4.4", "F-1.3"],
        "SegmentSeed",
        "A successor whose header is damaged",
        &forge,
        state.clone(),
    );
    let mut forge = small();
    let placed_at = |forge: &mut Forge, index: u32| {
        forge.segment_with(forge.last + 1, 9, |_| ());
        // The header is right for another place.
        let (start, sequence_at) = (forge.start(), forge.physical);
        forge.physical = index;
        let elsewhere = forge.start();
        forge.data.resize(elsewhere.max(forge.data.len()) + 4096, 0);
        forge.header(forge.last + 1, forge.table[0].end, |_| ());
        forge.data.copy_within(elsewhere..elsewhere + 64, start);
        forge.data[elsewhere..elsewhere + 64].fill(0);
        forge.physical = sequence_at;
    };
    placed_at(&mut forge, 3);
    forge.commit(&[Record::put(1, &Key::Int(2), &saying(2))]);
    maker.refused_as_tail(
        &["F-4.1", "F-1.3", "F-4.4"],
        "SegmentSeed",
        "A header that was made for another place",
        &forge,
        state,
    );
    // Where no successor is named it is looked for everywhere.
    for index in [1, 2, 5] {
        let mut forge = Forge::opened(64, 512, 7);
        forge.reserved = [NONE, NONE];
        forge.header(0, 0, |_| ());
        let mut forge = commits(forge, 4, NOTHING);
        forge.reserved = [index, NONE];
        forge.segment_with(forge.last + 1, NONE, |_| ());
        forge.commit(&[Record::put(1, &Key::Int(2), &saying(2))]);
        let name = format!("A successor that nothing names, at place {index}");
        maker.holds(&["R-2.6", "F-4.3"], &["Chain"], name, &forge.data, forge.state());
    }
    for order in [[3, 1, 2], [2, 3, 1], [6, 4, 5]] {
        let mut forge = Forge::opened(64, 512, 7);
        forge.reserved = [order[0], order[1]];
        forge.header(0, 0, |_| ());
        forge = commits(forge, 4, NOTHING);
        forge.segment_with(forge.last + 1, order[2], |_| ());
        forge.commit(&[Record::put(1, &Key::Int(2), &saying(2))]);
        forge.segment_with(forge.last + 1, 8, |_| ());
        forge.commit(&[Record::put(1, &Key::Int(3), &saying(3))]);
        let name = format!("Successors at the places {order:?}");
        maker.holds(&["F-4.3", "F-2.2", "R-2.6"], &["Chain"], name, &forge.data, forge.state());
    }
}

impl Maker {
    /// A file whose last frame is not taken: what it holds is `state`.
    pub(in crate::make) fn refused_as_tail(
        &mut self,
        clauses: &[&str],
        flag: &str,
        name: impl Into<String>,
        forge: &Forge,
        state: crate::case::State,
    ) {
        let state = self.state(state);
        let expect = vec![crate::case::Outcome::State(state)];
        self.file(&super::invalid(clauses, &[flag]), name, &forge.data, expect);
    }
}
