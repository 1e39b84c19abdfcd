//! Openings: incarnations, opening frames and what earlier lives left behind.

use holotype_model::Key;

use super::sample::{commits, saying, small};
use super::{Maker, corrupt, state_before, valid};
use crate::case::{Group, Outcome};
use crate::forge::log::{Frame, NOTHING, OPENING, SYSTEM};
use crate::forge::{Forge, Record, lsn};

pub(super) fn make() -> Group {
    let mut maker = Maker::new(
        "openings",
        "Stores that were opened more than once: which opening frame continues the log, and what earlier lives left behind",
    );
    lives(&mut maker);
    wrong(&mut maker);
    stale(&mut maker);
    claims(&mut maker);
    maker.finish()
}

fn put(n: i64) -> Record {
    Record::put(1, &Key::Int(n), &saying(n))
}

fn reopen(forge: &mut Forge, incarnation: u32) {
    if forge.has_room(60) {
        forge.open(incarnation);
    } else {
        forge.segment(lsn(incarnation, 1));
        forge.open_at_start(incarnation, before_address(forge));
    }
    forge.slot(u64::from(incarnation) + 1, |slot| slot[360..364].copy_from_slice(&incarnation.to_le_bytes()));
}

fn lives(maker: &mut Maker) {
    for count in [2, 3, 5, 9] {
        for segment_bytes in [512, 4096] {
            let mut forge = Forge::opened(64, segment_bytes, 8);
            forge.commit(&[Record::create(1, "notes")]);
            for incarnation in 2..=count {
                reopen(&mut forge, incarnation);
                if forge.has_room(60) {
                    forge.commit(&[put(i64::from(incarnation))]);
                }
            }
            let name = format!("A store of {count} openings, in segments of {segment_bytes} bytes");
            maker.holds(
                &["R-2.2", "R-5.4", "R-5.5", "F-6.5", "F-6.2"],
                &["OpeningFrame"],
                name,
                &forge.data,
                forge.state(),
            );
        }
    }
    for incarnation in [2, 3, 100, u32::MAX] {
        let mut forge = small();
        reopen(&mut forge, 2);
        let mut forge_high = small();
        forge_high.open(incarnation);
        forge_high.commit(&[put(2)]);
        let name = format!("Incarnation {incarnation} follows incarnation 1");
        maker.holds(
            &["R-2.2", "F-1.5", "R-7.4"],
            &["Incarnation"],
            name,
            &forge_high.data,
            forge_high.state(),
        );
    }
    let mut last = small();
    reopen(&mut last, 2);
    last.slot(u64::from(u32::MAX) + 1, |slot| slot[360..364].copy_from_slice(&u32::MAX.to_le_bytes()));
    let state = maker.state(last.state());
    maker.written(
        &valid(&["R-5.4"], &["Incarnation"]),
        "A store whose incarnations are used up, opened for writing",
        &last.data,
        vec![Outcome::State(state)],
    );
    let mut forge = Forge::new(64, 512, 1);
    forge.open(1);
    maker.holds(
        &["R-2.2", "F-6.5", "R-1.2"],
        &["OpeningFrame"],
        "An opening frame in a store without commits",
        &forge.data,
        forge.state(),
    );
    let mut forge = small();
    forge.slot(3, |slot| slot[360] = 2);
    let name = "An incarnation that was taken, and whose opening frame was not written";
    maker.holds(&["R-5.4", "R-5.6"], &["OpeningFrame"], name, &forge.data, forge.state());
    let state = maker.state(forge.state());
    let name = "A store opened again for writing";
    maker.written(
        &valid(&["R-5.4", "R-5.5", "R-5.6", "R-7.3", "R-5.3"], &["OpeningFrame"]),
        name,
        &forge.data,
        vec![Outcome::State(state)],
    );
}

fn wrong(maker: &mut Maker) {
    let refused = |maker: &mut Maker, clauses: &[&str], name: &str, make: &dyn Fn(&mut Forge)| {
        let mut forge = small();
        let state = forge.state();
        make(&mut forge);
        maker.refused_as_tail(
            &[&["R-2.2"], clauses].concat(),
            "OpeningFrame",
            name.to_owned(),
            &forge,
            state,
        );
    };
    let l = small().last;
    refused(maker, &["F-6.5"], "An opening that names an earlier commit", &|forge| {
        forge.open_naming(2, Record::opening(l - 1, forge.address(forge.end)));
    });
    refused(maker, &["F-6.5"], "An opening that names another end", &|forge| {
        forge.open_naming(2, Record::opening(l, forge.address(forge.end) + 8));
    });
    refused(maker, &["F-6.5"], "An opening that names an end in another segment", &|forge| {
        forge.open_naming(2, Record::opening(l, forge.address(forge.end) + 4096));
    });
    refused(maker, &["F-6.5"], "An opening that names nothing", &|forge| {
        forge.open_naming(2, Record::opening(0, 0));
    });
    refused(maker, &["F-1.5"], "An opening of the same incarnation", &|forge| forge.open(1));
    let corrupted = |maker: &mut Maker, clauses: &[&str], name: &str, make: &dyn Fn(&mut Forge)| {
        let mut forge = small();
        make(&mut forge);
        let clauses = [&["R-2.2", "R-2.7", "F-6.5"], clauses].concat();
        maker.refused(&clauses, &["OpeningFrame"], name, &forge.data, corrupt(&clauses, None));
    };
    corrupted(maker, &["R-5.5"], "An opening of count 2", &|forge| {
        let names = Record::opening(forge.last, forge.address(forge.end));
        forge.base = 2;
        forge.frame(&[names], &Frame { lsn: Some(lsn(2, 2)), flags: OPENING | SYSTEM, ..Frame::default() });
    });
    corrupted(maker, &[], "An opening with two records", &|forge| {
        let names = Record::opening(forge.last, forge.address(forge.end));
        forge.base = 1;
        let frame = Frame { lsn: Some(lsn(2, 1)), flags: OPENING | SYSTEM, ..Frame::default() };
        forge.frame(&[names.clone(), names], &frame);
    });
    corrupted(maker, &[], "An opening of two parts", &|forge| {
        let names = Record::opening(forge.last, forge.address(forge.end));
        forge.base = 1;
        let frame =
            Frame { lsn: Some(lsn(2, 1)), flags: OPENING | SYSTEM, part: (0, false), ..Frame::default() };
        forge.frame(&[names], &frame);
    });
    refused(maker, &["F-6.5", "F-5.8"], "An opening frame without its flag", &|forge| {
        let names = Record::opening(forge.last, forge.address(forge.end));
        forge.base = 1;
        forge.frame(&[names], &Frame { lsn: Some(lsn(2, 1)), flags: SYSTEM, ..Frame::default() });
    });
    let mut forge = Forge::new(64, 512, 1);
    forge.base = 1;
    forge.frame(&[Record::create(1, "notes")], &Frame { lsn: Some(lsn(0, 1)), ..Frame::default() });
    let clauses = ["R-2.2", "R-5.4"];
    let expect = corrupt(&["R-2.2", "R-2.7", "R-5.4"], None);
    maker.refused(&clauses, &["OpeningFrame"], "A commit of incarnation 0", &forge.data, expect);
}

fn stale(maker: &mut Maker) {
    // An opening over a tail that is there in full, and was cut in another life.
    for kept in 2..8 {
        let whole = commits(Forge::opened(64, 4096, 2), 10, NOTHING);
        let mut forge = commits(Forge::opened(64, 4096, 2), kept, NOTHING);
        let tail = forge.x() as usize;
        forge.data[tail..].copy_from_slice(&whole.data[tail..]);
        reopen(&mut forge, 2);
        let name = format!("An opening behind {kept} commits, and behind it frames of the life before");
        maker.holds(
            &["R-2.2", "R-2.3", "R-5.5", "R-8.3"],
            &["StaleFrame", "Incarnation"],
            name,
            &forge.data,
            forge.state(),
        );
        forge.commit(&[put(77)]);
        let name = format!(
            "An opening behind {kept} commits and a commit, and behind them frames of the life before"
        );
        maker.holds(
            &["R-2.2", "R-2.3", "R-1.2"],
            &["StaleFrame", "Incarnation"],
            name,
            &forge.data,
            forge.state(),
        );
    }
    // Two openings that name the same end: the second life saw nothing of the first.
    let mut forge = small();
    let (x, last) = (forge.end, forge.last);
    let names = Record::opening(last, forge.address(x));
    forge.open_naming(2, names.clone());
    (forge.end, forge.last) = (x, last);
    forge.segment(lsn(3, 1));
    forge.base = 1;
    forge.frame(&[names], &Frame { lsn: Some(lsn(3, 1)), flags: OPENING | SYSTEM, ..Frame::default() });
    let name =
        "Two openings that name one end, in this segment and in the next: the higher incarnation counts";
    maker.holds(&["R-2.3", "R-2.1"], &["OpeningFrame", "Incarnation"], name, &forge.data, forge.state());
    // A part of a commit is missing, and an opening stands where the commit began.
    let mut forge = small();
    let before = (forge.end, forge.last, forge.world.clone());
    forge.frame(&[put(5)], &Frame { part: (0, false), ..Frame::default() });
    let half = forge.place(true);
    (forge.end, forge.last, forge.world) = before;
    forge.segment(lsn(2, 1));
    forge.open_at_start(2, before_address(&forge));
    assert!(half > 0, "the half commit stays where it is");
    let name = "A commit without its last part, and an opening where it began, in the next segment";
    maker.holds(&["R-2.3", "R-2.4"], &["PartialCommit", "OpeningFrame"], name, &forge.data, forge.state());
}

/// The log address of the end of the segment before the current one.
fn before_address(forge: &Forge) -> u64 {
    let row = &forge.table[forge.table.len() - 2];
    row.sequence * u64::from(forge.segment_bytes) + u64::from(row.end)
}

impl Forge {
    /// Places the opening frame of an incarnation as the first of its segment; the log ended at `address`.
    fn open_at_start(&mut self, incarnation: u32, address: u64) {
        self.base = 1;
        let names = Record::opening(self.last, address);
        self.frame(
            &[names],
            &Frame { lsn: Some(lsn(incarnation, 1)), flags: OPENING | SYSTEM, ..Frame::default() },
        );
    }
}

fn claims(maker: &mut Maker) {
    // An opening frame attests the commit that it names.
    for gone in 2..5 {
        let mut forge = commits(Forge::opened(64, 4096, 2), 5, NOTHING);
        reopen(&mut forge, 2);
        let placed = forge.placed[gone].clone();
        forge.data[placed.at..placed.at + placed.len].fill(0);
        let name = format!("An opening names a commit of which frame {gone} is missing");
        let clauses = ["R-3.1", "R-4.1", "R-4.3", "F-6.5"];
        maker.refused(
            &clauses,
            &["LostCommit"],
            name,
            &forge.data,
            corrupt(&["R-4.1", "R-4.3"], Some(placed.before)),
        );
    }
    let mut forge = small();
    let state = forge.state();
    let names = Record::opening(forge.last - 1, forge.address(forge.end));
    forge.open_naming(2, names);
    let name = "An opening that names an earlier commit attests no more than that";
    maker.holds(&["R-3.1", "R-2.2"], &["OpeningFrame"], name, &forge.data, state);
    let mut forge = small();
    let x = forge.x();
    let names = Record::opening(forge.last + 1, forge.address(forge.end));
    forge.open_naming(2, names);
    let name = "An opening that names a later commit attests that it was there";
    maker.refused(
        &["R-3.1", "R-2.2", "R-4.1"],
        &["LostCommit"],
        name,
        &forge.data,
        corrupt(&["R-4.1", "R-4.3"], Some(x)),
    );
    let mut forge = small();
    forge.open(2);
    forge.commit(&[put(3)]);
    let opening = forge.placed[forge.placed.len() - 2].clone();
    forge.data[opening.at + 33] ^= 1;
    let name = "An opening frame that is damaged, and a commit of its life behind it that states nothing";
    maker.holds(
        &["R-5.5", "R-4.2"],
        &["OpeningFrame"],
        name,
        &forge.data,
        state_before(&forge, forge.placed.len() - 2),
    );
}
