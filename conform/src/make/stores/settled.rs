//! Questions that two readers of the text answered in two ways (`docs/decisions/0026`): cases on both sides of each answer.

mod frames;
mod records;
mod slots;
mod texts;

use super::sample::small;
use super::{Maker, corrupt, invalid, newer};
use crate::case::{Group, State};
use crate::forge::log::{Frame, OPENING, SYSTEM};
use crate::forge::{Forge, Record, lsn};

pub(super) fn make() -> Group {
    let mut maker = Maker::new(
        "settled",
        "Files and texts that readers of the specification once took in two ways: what is accepted, and what is refused beside it",
    );
    frames::unknown_flags(&mut maker);
    frames::openings(&mut maker);
    frames::flags_of_openings(&mut maker);
    frames::counts(&mut maker);
    records::lengths(&mut maker);
    records::skipped(&mut maker);
    records::required(&mut maker);
    texts::entries(&mut maker);
    slots::two_valid(&mut maker);
    slots::newer_first(&mut maker);
    slots::neither_valid(&mut maker);
    maker.finish()
}

/// An opening frame of incarnation 2 behind the sample, but for what `frame` has of its own.
fn open(forge: &mut Forge, records: &[Record], frame: &Frame) {
    forge.base = 1;
    let lsn = Some(frame.lsn.unwrap_or(lsn(2, 1)));
    forge.frame(records, &Frame { lsn, flags: OPENING | SYSTEM | frame.flags, ..frame.clone() });
}

/// The opening record that continues the log where it ends now.
fn names_the_end(forge: &Forge) -> Record {
    Record::opening(forge.last, forge.address(forge.end))
}

/// The last frame is not valid any more; its header is.
fn break_the_last_body(forge: &mut Forge) {
    let last = forge.placed.last().expect("a frame was placed");
    let end = last.at + last.len;
    forge.data[end - 1] ^= 1;
}

/// What a file holds, how it is told apart, and the clauses on it.
struct Story<'a> {
    clauses: &'a [&'a str],
    flag: &'a str,
    name: String,
}

fn story<'a>(clauses: &'a [&'a str], flag: &'a str, name: impl Into<String>) -> Story<'a> {
    Story { clauses, flag, name: name.into() }
}

impl Story<'_> {
    /// The file is corrupt, where its last frame begins or behind that.
    fn refused_as_corrupt(self, maker: &mut Maker, forge: &Forge, named: &[&str]) {
        let Story { clauses, flag, name } = self;
        maker.refused(&[clauses, &["R-4.5"]].concat(), &[flag], name, &forge.data, corrupt(named, None));
    }

    fn refused_as_newer(self, maker: &mut Maker, forge: &Forge) {
        let Story { clauses, flag, name } = self;
        maker.refused(clauses, &[flag], name, &forge.data, newer());
    }

    /// What is behind `state` is left out without a word.
    fn cut_as_a_tail(self, maker: &mut Maker, forge: &Forge, state: State) {
        let state = maker.state(state);
        let expect = vec![crate::case::Outcome::State(state)];
        let clauses = [self.clauses, &["R-4.1", "R-4.2"]].concat();
        maker.file(&invalid(&clauses, &[self.flag]), self.name, &forge.data, expect);
    }

    fn holds(self, maker: &mut Maker, forge: &Forge) {
        maker.holds(self.clauses, &[self.flag], self.name, &forge.data, forge.state());
    }
}

/// The file is corrupt; and with the body of its last frame broken, what is in that frame is a torn tail.
fn corrupt_unless_broken(
    maker: &mut Maker,
    clauses: &[&str],
    flag: &str,
    name: &str,
    mut forge: Forge,
    named: &[&str],
) {
    let state = small().state();
    story(clauses, flag, name).refused_as_corrupt(maker, &forge, named);
    break_the_last_body(&mut forge);
    story(clauses, flag, format!("{name}, and its body is broken")).cut_as_a_tail(maker, &forge, state);
}
