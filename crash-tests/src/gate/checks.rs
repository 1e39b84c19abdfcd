//! The checks of the gate.

use std::time::{Duration, Instant};

use holotype::{Document, doc};

use crate::crash::{self, Scope};
use crate::setup::Setup;
use crate::{faults, history, media, power, random, readers};

use super::Progress;

/// The seed of the case that failed, and what went wrong.
pub(super) type Failed = (u64, String);

pub(super) struct Check {
    pub(super) name: &'static str,
    /// Its part of the time.
    pub(super) weight: u32,
    pub(super) run: fn(&mut Run<'_>) -> Result<(), Failed>,
}

/// The checks, in the order in which they run.
pub(super) const CHECKS: &[Check] = &[
    Check { name: "power", weight: 4, run: power },
    Check { name: "crash", weight: 6, run: every_cut },
    Check { name: "lives", weight: 2, run: lives },
    Check { name: "readers", weight: 1, run: beside_a_writer },
    Check { name: "history", weight: 2, run: histories },
    Check { name: "media", weight: 5, run: damaged },
    Check { name: "faults", weight: 3, run: failing },
];

/// A check while it runs.
pub(super) struct Run<'a> {
    pub(super) seed: u64,
    pub(super) documents: &'a [Document],
    pub(super) start: Instant,
    pub(super) share: Duration,
    pub(super) name: &'static str,
    pub(super) progress: &'a mut dyn FnMut(Progress),
    pub(super) cases: u64,
    pub(super) notes: Vec<String>,
}

impl Run<'_> {
    /// Tells how far the check is; whether there is time left.
    fn goes_on(&mut self) -> bool {
        let fraction = self.start.elapsed().as_secs_f64() / self.share.as_secs_f64().max(0.001);
        (self.progress)(Progress { check: self.name, fraction: fraction.min(1.0) });
        fraction < 1.0
    }

    /// The seeds of this run, for as long as there is time; one at least.
    fn each_seed(
        &mut self,
        mut case: impl FnMut(&mut Self, u64) -> Result<(), String>,
    ) -> Result<(), Failed> {
        let mut seed = self.seed;
        loop {
            case(self, seed).map_err(|what| (seed, what))?;
            if !self.goes_on() {
                return Ok(());
            }
            seed = seed.wrapping_add(1);
        }
    }
}

/// Documents of several shapes, for those who bring none.
pub(super) fn built_in_documents() -> Vec<Document> {
    (0..400_i64)
        .map(|n| match n % 4 {
            0 => doc! { "id": n, "name": "benchmark user", "active": n % 8 == 0, "score": 87.5, "tags": ["a", "b"] },
            1 => doc! { "title": "On the Origin of Species", "year": 1859 + n, "author": { "first": "Charles", "last": "Darwin" } },
            2 => doc! { "blob": "x".repeat((n * 7 % 900) as usize) },
            _ => doc! { "n": n, "nothing": null, "nested": [[1, 2.5], { "deep": [n] }] },
        })
        .collect()
}

fn power(run: &mut Run<'_>) -> Result<(), Failed> {
    let documents = run.documents;
    let (seed, half) = (run.seed, run.start + run.share / 2);
    let mut tally = power::load(seed, Setup::DEFAULT, documents, || Instant::now() < half)
        .map_err(|failure| (run.seed, failure.to_string()))?;
    let result = run.each_seed(|_, seed| {
        let setup = if seed % 2 == 0 { Setup::SECTORS } else { Setup::LARGE };
        tally.add(
            &power::life(seed, 40, setup, documents)
                .map_err(|failure| format!("{}, {failure}", setup.name))?,
        );
        Ok(())
    });
    run.cases = tally.leaves;
    run.notes.push(tally.to_string());
    result
}

/// The geometries of the exhaustive check, with the longest sequence and the cuts in a row of each round. Rounds are gone
/// through in order until the time is up.
const ROUNDS: &[(Setup, usize, u32)] = &[
    (Setup::TINY, 0, 1),
    (Setup::TINY, 2, 1),
    (Setup::TINY, 1, 2),
    (Setup::SHORT_LIVES, 2, 1),
    (Setup::SMALL, 2, 1),
    (Setup::GARBAGE, 1, 1),
    (Setup::TINY, 2, 2),
    (Setup::TINY, 3, 1),
    (Setup::SHORT_LIVES, 3, 1),
    (Setup::GARBAGE, 2, 1),
    (Setup::SMALL, 3, 1),
    (Setup::TINY, 0, 2),
    (Setup::TINY, 3, 2),
];

fn every_cut(run: &mut Run<'_>) -> Result<(), Failed> {
    let until = run.start + run.share;
    for (setup, len, cuts) in ROUNDS {
        let scope = Scope { until: Some(until), ..Scope::new(*setup, *len, *cuts) };
        let (tally, is_over) =
            crash::run(&scope).map_err(|(_, failure)| (run.seed, format!("{}, {failure}", setup.name)))?;
        run.cases += tally.leaves;
        let all = if is_over { "every sequence" } else { "as far as time allowed, sequences" };
        run.notes.push(format!("{}: {all} of up to {len} steps, {cuts} cuts in a row: {tally}", setup.name));
        if !run.goes_on() {
            break;
        }
    }
    Ok(())
}

fn lives(run: &mut Run<'_>) -> Result<(), Failed> {
    let documents = run.documents;
    let mut tally = holotype_model::check::Tally::default();
    let result = run.each_seed(|run, seed| {
        let setup = if seed % 2 == 0 { Setup::SECTORS } else { Setup::LARGE };
        tally += random::live(seed, 200, setup, documents)
            .map_err(|reduced| format!("{}\n{reduced}", setup.name))?;
        run.cases += 1;
        Ok(())
    });
    run.notes.push(tally.to_string());
    result
}

fn damaged(run: &mut Run<'_>) -> Result<(), Failed> {
    let mut tally = media::Tally::default();
    let mut result = Ok(());
    'kinds: for make in [media::Specimen::closed, media::Specimen::left_open] {
        for setup in [Setup::TINY, Setup::SECTORS] {
            let specimen = make(setup).map_err(|what| (run.seed, what))?;
            // Each of the four gets its part of the time; those with a store that is small come to the end of the list.
            let end = run.start + run.share * (run.notes.len() as u32 + 1) / 4;
            let (all, before) = (media::all(&specimen), tally);
            for (index, damage) in all.iter().enumerate() {
                if let Err(what) = media::try_damage(&specimen, damage, &mut tally) {
                    result = Err((run.seed, format!("{}: {what}", setup.name)));
                    break 'kinds;
                }
                if index % 256 == 255 && (!run.goes_on() || Instant::now() >= end) {
                    break;
                }
            }
            let tried = tally.cases - before.cases;
            run.notes.push(format!("{}: {tried} of {} damages tried", setup.name, all.len()));
        }
    }
    run.cases = tally.cases;
    run.notes.push(tally.to_string());
    result
}

fn failing(run: &mut Run<'_>) -> Result<(), Failed> {
    let mut tally = faults::Tally::default();
    for setup in [Setup::TINY, Setup::SHORT_LIVES, Setup::SMALL, Setup::SECTORS] {
        let is_over = faults::every_fault(setup, &mut tally, || run.goes_on())
            .map_err(|what| (run.seed, format!("{}: {what}", setup.name)))?;
        let all = if is_over { "every call" } else { "calls, as far as time allowed" };
        run.notes.push(format!("{}: {all}", setup.name));
        if !run.goes_on() {
            break;
        }
    }
    run.cases = tally.cases;
    run.notes.push(tally.to_string());
    Ok(())
}

fn beside_a_writer(run: &mut Run<'_>) -> Result<(), Failed> {
    run.cases = readers::every_check().map_err(|what| (run.seed, what))?;
    run.notes.push(format!("{} scans", run.cases));
    Ok(())
}

fn histories(run: &mut Run<'_>) -> Result<(), Failed> {
    let mut tally = history::Tally::default();
    let result = run.each_seed(|_, seed| {
        tally += history::check(seed)?;
        Ok(())
    });
    run.cases = tally.histories;
    run.notes.push(tally.to_string());
    result
}
