//! Logs that break off although something states that more was durable: corrupt, and never cut.

use holotype_model::Key;

use super::sample::{commits, saying, small};
use super::torn::HARMS;
use super::{Maker, corrupt, invalid, state_before};
use crate::case::Group;
use crate::forge::log::{Frame, NONE, NOTHING};
use crate::forge::{Forge, Record, lsn};

pub(super) fn make() -> Group {
    let mut maker = Maker::new(
        "claims",
        "Logs that break off where something states that more was durable: the file is corrupt, and the place where the log breaks off is named",
    );
    by_the_slot(&mut maker);
    by_later_frames(&mut maker);
    by_headers(&mut maker);
    along_the_chain(&mut maker);
    that_do_not_count(&mut maker);
    maker.finish()
}

const CLAUSES: [&str; 5] = ["R-4.1", "R-4.3", "R-3.1", "R-4.4", "R-1.1"];

fn lost(maker: &mut Maker, clauses: &[&str], name: String, forge: &Forge, before: u64) {
    maker.refused(
        &[&CLAUSES, clauses].concat(),
        &["LostCommit"],
        name,
        &forge.data,
        corrupt(&["R-4.1", "R-4.3"], Some(before)),
    );
}

fn by_the_slot(maker: &mut Maker) {
    let mut forge = super::sample::sample(64, 512);
    let last = forge.last;
    forge.slot(3, |slot| {
        slot[360] = 1;
        slot[368..376].copy_from_slice(&last.to_le_bytes());
    });
    maker.holds(
        &["F-3.5", "R-4.1", "R-4.3"],
        &[],
        "The slot states the last commit",
        &forge.data,
        forge.state(),
    );
    for placed in forge.placed.clone() {
        for (what, harm) in HARMS {
            let mut damaged = forge.clone();
            harm(&mut damaged.data, placed.at, placed.len);
            let name =
                format!("The slot states the last commit; of the frame of commit {:x}, {what}", placed.lsn);
            lost(maker, &["F-3.5"], name, &damaged, placed.before);
        }
    }
    let mut damaged = forge.clone();
    damaged.data[forge.placed[5].at + 9] ^= 1;
    let what = invalid(&["R-4.3"], &["LostCommit", "ReadOnly"]);
    let expect = vec![corrupt(&["R-4.1", "R-4.3"], Some(forge.placed[5].before))];
    maker.written(&what, "A writer does not change a file that is corrupt", &damaged.data, expect);
}

fn by_later_frames(maker: &mut Maker) {
    // Each frame states the one before: all but the last are attested.
    let forge = commits(Forge::opened(64, 512, 4), 12, 1);
    maker.holds(&["F-5.4", "R-4.1"], &[], "Each frame states the one before", &forge.data, forge.state());
    let count = forge.placed.len();
    for (number, placed) in forge.placed.iter().enumerate() {
        for (what, harm) in HARMS {
            let mut damaged = forge.clone();
            harm(&mut damaged.data, placed.at, placed.len);
            let name =
                format!("Each frame states the one before; of the frame of commit {:x}, {what}", placed.lsn);
            if number + 1 < count {
                lost(maker, &["F-5.4"], name, &damaged, placed.before);
            } else {
                maker.holds(
                    &["F-5.4", "R-4.2", "R-4.4"],
                    &["TornWrite"],
                    name,
                    &damaged.data,
                    state_before(&forge, number),
                );
            }
        }
    }
    for lag in [0, 1, 2, 3, 4, 5, 6, NOTHING] {
        let mut forge = small();
        let torn = forge.placed.len();
        for n in 2..7 {
            forge.frame(
                &[Record::put(1, &Key::Int(n), &saying(n))],
                &Frame { lag: if n == 6 { lag } else { NOTHING }, ..Frame::default() },
            );
        }
        let placed = forge.placed[torn].clone();
        forge.data[placed.at] ^= 1;
        let name = format!("The last frame has a lag of {lag:#x}, and four before it the log breaks off");
        if lag <= 4 {
            lost(maker, &["F-5.4"], name, &forge, placed.before);
        } else {
            maker.holds(&["F-5.4", "R-3.1"], &["TornWrite"], name, &forge.data, state_before(&forge, torn));
        }
    }
    // The header claims though the body is damaged.
    let mut forge = small();
    let torn = forge.placed.len();
    forge.commit(&[Record::put(1, &Key::Int(2), &saying(2))]);
    forge.frame(&[Record::put(1, &Key::Int(3), &saying(3))], &Frame { lag: 1, ..Frame::default() });
    let (first, second) = (forge.placed[torn].clone(), forge.placed[torn + 1].clone());
    forge.data[first.at] ^= 1;
    forge.data[second.at + 40] ^= 1;
    lost(maker, &["R-3.3"], "A frame claims though its body is damaged".to_owned(), &forge, first.before);
    forge.data[second.at + 10] ^= 1;
    let name = "A frame whose header is damaged claims nothing";
    maker.holds(&["R-3.1", "R-4.2"], &["TornWrite"], name, &forge.data, state_before(&forge, torn));
}

/// A store of two segments, the second of which is opened with a header that states `durable`, and the frame with which the log breaks off.
fn two_segments(durable: u64, change: fn(&mut [u8])) -> (Forge, usize) {
    let mut forge = small();
    let torn = forge.placed.len();
    forge.commit(&[Record::put(1, &Key::Int(2), &saying(2))]);
    forge.segment_with(forge.last + 1, 3, |header| {
        header[24..32].copy_from_slice(&durable.to_le_bytes());
        change(header);
    });
    forge.commit(&[Record::put(1, &Key::Int(3), &saying(3))]);
    let at = forge.placed[torn].at;
    forge.data[at] ^= 1;
    (forge, torn)
}

fn by_headers(maker: &mut Maker) {
    for count in 1..6 {
        let (forge, torn) = two_segments(lsn(1, count), |_| ());
        let name = format!("The header of the next segment states commit {count}");
        if count >= 4 {
            lost(maker, &["F-4.1", "R-3.3"], name, &forge, forge.placed[torn].before);
        } else {
            maker.holds(&["F-4.1", "R-3.1"], &["TornWrite"], name, &forge.data, state_before(&forge, torn));
        }
    }
    let (mut forge, torn) = two_segments(lsn(1, 4), |_| ());
    let header = forge.start();
    forge.data[header + 30] ^= 1;
    maker.holds(
        &["F-4.4", "R-3.1"],
        &["SegmentSeed"],
        "A damaged header of a segment claims nothing",
        &forge.data,
        state_before(&forge, torn),
    );
    let (forge, torn) = two_segments(lsn(1, 4), |header| header[8] += 1);
    maker.holds(
        &["R-3.3", "F-4.4", "R-3.4"],
        &["Chain"],
        "A header with another sequence claims nothing",
        &forge.data,
        state_before(&forge, torn),
    );
}

/// A store of several segments with so many frames each, where only the last frame states anything.
fn chain(segments: u32, last_lag: u32) -> (Forge, usize) {
    let mut forge = Forge::opened(64, 512, segments + 3);
    forge.commit(&[Record::create(1, "notes")]);
    let torn = forge.placed.len();
    forge.commit(&[Record::put(1, &Key::Int(1), &saying(1))]);
    for n in 1..segments {
        forge.segment(forge.last + 1);
        let lag = if n + 1 == segments { last_lag } else { NOTHING };
        forge.frame(
            &[Record::put(1, &Key::Int(i64::from(n) + 1), &saying(1))],
            &Frame { lag, ..Frame::default() },
        );
    }
    let at = forge.placed[torn].at;
    forge.data[at] ^= 1;
    (forge, torn)
}

fn along_the_chain(maker: &mut Maker) {
    for segments in 2..7 {
        let (mut forge, torn) = chain(segments, 1);
        let before = forge.placed[torn].before;
        lost(
            maker,
            &["R-3.3"],
            format!("The claim stands {} segments further on", segments - 1),
            &forge,
            before,
        );
        if segments < 3 {
            continue;
        }
        forge.data[16_384 + 512 + 60] ^= 1;
        let name = format!(
            "The claim stands {} segments further on, behind one whose header is damaged",
            segments - 1
        );
        lost(maker, &["R-3.4"], name, &forge, before);
        if segments > 3 {
            forge.data[16_384 + 1024 + 60] ^= 1;
            let name = format!(
                "The claim stands {} segments further on, behind two whose headers are damaged",
                segments - 1
            );
            maker.holds(&["R-3.4"], &["Chain"], name, &forge.data, state_before(&forge, torn));
        }
    }
    let (mut forge, torn) = chain(2, 1);
    forge.data[16_384 + 512 + 60] ^= 1;
    let name = "The claim stands in a segment whose header is damaged".to_owned();
    lost(maker, &["R-3.4", "R-3.3"], name, &forge, forge.placed[torn].before);
    // Nothing names the successor.
    let mut forge = Forge::opened(64, 512, 6);
    forge.reserved = [NONE, NONE];
    forge.header(0, 0, |_| ());
    forge.commit(&[Record::create(1, "notes")]);
    let torn = forge.placed.len();
    forge.commit(&[Record::put(1, &Key::Int(1), &saying(1))]);
    forge.reserved = [4, NONE];
    forge.segment_with(forge.last + 1, NONE, |_| ());
    forge.frame(&[Record::put(1, &Key::Int(2), &saying(1))], &Frame { lag: 1, ..Frame::default() });
    let placed = forge.placed[torn].clone();
    forge.data[placed.at] ^= 1;
    lost(
        maker,
        &["R-3.5"],
        "The claim stands in a segment that nothing names".to_owned(),
        &forge,
        placed.before,
    );
    let header = forge.start();
    forge.data[header] ^= 1;
    let name = "The claim stands in a segment that nothing names, whose header is damaged";
    maker.holds(&["R-3.5", "R-3.4"], &["Chain"], name, &forge.data, state_before(&forge, torn));
}

fn that_do_not_count(maker: &mut Maker) {
    // Of an incarnation before that of the slot.
    let (mut forge, torn) = chain(3, 1);
    forge.slot(3, |slot| slot[360] = 2);
    let name = "A claim of an incarnation below that of the slot does not count";
    maker.holds(&["R-3.2"], &["StaleFrame"], name, &forge.data, state_before(&forge, torn));
    let (mut forge, torn) = two_segments(lsn(1, 4), |_| ());
    forge.slot(3, |slot| slot[360] = 2);
    let name = "The claim of a header whose incarnation is below that of the slot does not count";
    maker.holds(&["R-3.2"], &["StaleFrame"], name, &forge.data, state_before(&forge, torn));
    let (mut forge, torn) = chain(3, 1);
    forge.slot(3, |slot| slot[360] = 2);
    forge.slot(4, |slot| slot[360] = 1);
    let name = "A claim of the incarnation of the newest slot counts, whatever the older one says".to_owned();
    lost(maker, &["R-3.2"], name, &forge, forge.placed[torn].before);
    // A frame of a commit before the first of its segment.
    let mut forge = small();
    let torn = forge.placed.len();
    forge.commit(&[Record::put(1, &Key::Int(2), &saying(2))]);
    forge.segment(lsn(1, 9));
    forge.frame(&[], &Frame { lsn: Some(lsn(1, 6)), lag: 1, ..Frame::default() });
    let placed = forge.placed[torn].clone();
    forge.data[placed.at] ^= 1;
    let name = "The claim of a frame below the first LSN of its segment does not count";
    maker.holds(&["R-3.2"], &["StaleFrame"], name, &forge.data, state_before(&forge, torn));
    // Stale bytes of another lineage.
    let mut forge = small();
    let torn = forge.placed.len();
    forge.commit(&[Record::put(1, &Key::Int(2), &saying(2))]);
    let other = *b"another lineage!";
    forge.frame(&[], &Frame { lag: 1, lineage: other, ..Frame::default() });
    let placed = forge.placed[torn].clone();
    forge.data[placed.at] ^= 1;
    let name = "The claim of a frame of another store does not count";
    maker.holds(&["R-3.1", "F-5.1"], &["FrameSeed"], name, &forge.data, state_before(&forge, torn));
    // A claim that begins before X is not looked at, and one at no multiple of 8 is none.
    let (forge, torn) = chain(3, 4);
    let name = "A claim of a commit that is there";
    maker.holds(&["R-3.1", "R-4.1"], &["TornWrite"], name, &forge.data, state_before(&forge, torn));
}
