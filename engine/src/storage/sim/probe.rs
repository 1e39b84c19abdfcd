//! Searches that settle no more than they must.
//!
//! Only the largest answer of all units counts. So an unread sector stays as it is where none of its versions could
//! raise that; and where it must be known, it is settled only as far as its versions answer differently.

use std::ops::Range;

use super::decisions::What;
use super::state::State;
use crate::storage::{Answer, Probe};

/// An unread sector, and what the units in it would say for each of its versions.
struct Open {
    sector: u64,
    answers: Vec<Option<Answer>>,
}

impl Open {
    /// The most that any version says.
    fn highest(&self) -> Answer {
        self.answers.iter().flatten().fold([0, 0], |high, answer| larger(high, *answer))
    }
}

fn larger(a: Answer, b: Answer) -> Answer {
    [a[0].max(b[0]), a[1].max(b[1])]
}

fn raised(sure: Option<Answer>, answer: Option<Answer>) -> Option<Answer> {
    match (sure, answer) {
        (Some(a), Some(b)) => Some(larger(a, b)),
        (one, other) => one.or(other),
    }
}

impl State {
    /// The largest numbers of all answers, or none if no unit has one.
    pub(super) fn probe(&mut self, probe: &Probe<'_>) -> Option<Answer> {
        let len = self.readable(probe.offset, probe.len);
        // A unit and a sector: the longer of the two is a whole number of the shorter, or the question does not fit.
        let sector_len = self.sectors.sector_len() as usize;
        let step = probe.unit.max(sector_len);
        let is_aligned = probe.offset.is_multiple_of(probe.unit as u64);
        let fits = step.is_multiple_of(probe.unit) && step.is_multiple_of(sector_len);
        if !(is_aligned && fits) {
            let mut whole = vec![0; len];
            self.read(probe.offset, &mut whole);
            return units(probe, probe.offset, &whole);
        }
        let mut sure = None;
        let mut open = Vec::new();
        let mut bytes = vec![0; step.min(len)];
        let mut at = probe.offset;
        let end = probe.offset + len as u64;
        while at < end {
            let to = (at / step as u64 + 1) * step as u64;
            let to = to.min(end);
            match self.look_at(probe, at..to, &mut bytes[..(to - at) as usize]) {
                Ok(answer) => sure = raised(sure, answer),
                Err(sector) => open.push(sector),
            }
            at = to;
        }
        // The promising ones first: what they say makes the others idle soonest.
        open.sort_by_key(|open| std::cmp::Reverse(open.highest()));
        for open in open {
            sure = self.ask(&open, sure);
        }
        sure
    }

    /// What the units in a range say, or, if that depends on the one unread sector there, all that they may say. `bytes` has room for the range.
    fn look_at(
        &mut self,
        probe: &Probe<'_>,
        range: Range<u64>,
        bytes: &mut [u8],
    ) -> Result<Option<Answer>, Open> {
        let touched = self.sectors.touched(range.start, bytes.len());
        let Some(sector) = self.sectors.first_unread(touched.clone()) else {
            self.pages.read(range.start, bytes);
            return Ok(units(probe, range.start, bytes));
        };
        if self.sectors.first_unread(sector + 1..touched.end).is_some() {
            // What two of them say together is no property of either.
            self.read(range.start, bytes);
            return Ok(units(probe, range.start, bytes));
        }
        self.pages.read(range.start, bytes);
        let (_, place) = self.sectors.place(sector);
        let sector_start = sector * self.sectors.sector_len();
        let from = range.start.max(sector_start);
        let to = range.end.min(sector_start + self.sectors.sector_len());
        let within = (from - range.start) as usize..(to - range.start) as usize;
        let source = place.start + (from - sector_start) as usize..place.start + (to - sector_start) as usize;
        let versions = &self.sectors.get(sector).expect("it was found above").versions;
        let answers = versions
            .iter()
            .map(|version| {
                bytes[within.clone()].copy_from_slice(&version.page.bytes()[source.clone()]);
                units(probe, range.start, bytes)
            })
            .collect();
        Err(Open { sector, answers })
    }

    /// Settles an unread sector as far as it makes a difference to the largest answer.
    fn ask(&mut self, open: &Open, sure: Option<Answer>) -> Option<Answer> {
        let mut classes: Vec<(Option<Answer>, Vec<usize>)> = Vec::new();
        for (index, answer) in open.answers.iter().enumerate() {
            let outcome = raised(sure, *answer);
            match classes.iter_mut().find(|(known, _)| *known == outcome) {
                Some((_, members)) => members.push(index),
                None => classes.push((outcome, vec![index])),
            }
        }
        if classes.len() == 1 {
            return classes[0].0;
        }
        let sector = self.sectors.get(open.sector).expect("nobody settled it in between");
        let is_last = self.is_of_last_change(sector);
        let choice = self.decisions.decide(classes.len() as u32, What::Sector(open.sector), is_last);
        let (outcome, members) = &classes[choice as usize];
        self.narrow(open.sector, members);
        *outcome
    }
}

/// The largest answer of the units in `bytes`, which lie at `offset`.
fn units(probe: &Probe<'_>, offset: u64, bytes: &[u8]) -> Option<Answer> {
    let mut at = offset;
    let mut largest = None;
    let mut rest = bytes;
    while !rest.is_empty() {
        // A range that does not begin at a unit has the rest of one in front.
        let within = ((at - probe.offset) % probe.unit as u64) as usize;
        let (unit, after) = rest.split_at(rest.len().min(probe.unit - within));
        largest = raised(largest, (probe.look)(at, unit));
        at += unit.len() as u64;
        rest = after;
    }
    largest
}
