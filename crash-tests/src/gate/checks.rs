//! The checks of the gate.

use std::num::NonZeroU64;
use std::time::{Duration, Instant};

use holotype::storage::sim::Level;
use holotype::{Document, doc};

use crate::crash::{self, CutPoint, Scope};
use crate::kills::{self, Kills, Worker};
use crate::live::{IndexCalls, Pairs};
use crate::part::{Deadline, Shard};
use crate::setup::Setup;
use crate::{
    costs, fallback, faults, full, history, media, own_thread, power, queries, random, readers, reads, seen,
    space, updates, waits,
};

/// The seed of the case that failed, and what went wrong.
pub(super) type Failed = (u64, String);

pub(super) struct Check {
    pub(super) name: &'static str,
    /// Its part of the time.
    pub(super) weight: u32,
    pub(super) cases: Cases,
    pub(super) run: fn(&mut Run<'_>) -> Result<(), Failed>,
}

/// Where the cases of a check come from, and so how several machines share them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cases {
    /// From seeds, each shard its own. A failure is repeated by its seed alone.
    Seeds,
    /// From a list, of which each shard takes its part. A failure is repeated by going through that part again.
    List,
    /// From a list so short that the first shard takes all of it.
    Once,
}

/// The checks, in the order in which they begin.
pub(super) const CHECKS: &[Check] = &[
    // The broadest of those that are quick.
    Check { name: "lives", weight: 3, cases: Cases::Seeds, run: lives },
    Check { name: "space", weight: 1, cases: Cases::Once, run: short_files },
    Check { name: "updates", weight: 1, cases: Cases::Seeds, run: changed },
    Check { name: "queries", weight: 1, cases: Cases::Seeds, run: asked },
    Check { name: "power", weight: 4, cases: Cases::Seeds, run: power },
    Check { name: "crash", weight: 6, cases: Cases::List, run: every_cut },
    Check { name: "readers", weight: 1, cases: Cases::Once, run: beside_a_writer },
    Check { name: "thread", weight: 1, cases: Cases::Once, run: by_itself },
    Check { name: "history", weight: 3, cases: Cases::Seeds, run: histories },
    Check { name: "media", weight: 5, cases: Cases::List, run: damaged },
    Check { name: "fallback", weight: 6, cases: Cases::Once, run: once },
    Check { name: "faults", weight: 3, cases: Cases::List, run: failing },
    Check { name: "kills", weight: 2, cases: Cases::Seeds, run: killed },
    // What is wrong in what a store answers shows before what is wrong in how it does so.
    Check { name: "costs", weight: 2, cases: Cases::Once, run: counted },
];

/// A check while it runs.
pub(super) struct Run<'a> {
    /// The first seed of this shard.
    pub(super) seed: u64,
    pub(super) shard: Shard,
    /// Whether every power cut may leave garbage.
    pub(super) garbage: bool,
    pub(super) documents: &'a [Document],
    pub(super) start: Instant,
    pub(super) share: Duration,
    /// The end of the share, or of the patience of whoever started the gate.
    pub(super) until: Deadline,
    /// Is told the part of the time that is used up, from 0 to 1.
    pub(super) progress: &'a dyn Fn(f64),
    /// Whether two features that were never at work together make the gate red.
    pub(super) is_to_meet_every_pair: bool,
    pub(super) cases: u64,
    pub(super) notes: Vec<String>,
    /// From the check that makes them.
    pub(super) cut_points: Vec<CutPoint>,
    /// What was at work together, in the lives of those that count it.
    pub(super) pairs: Pairs,
    /// What was asked of indexes, and answered, in these lives.
    pub(super) index_calls: IndexCalls,
}

impl Run<'_> {
    /// The setup with what a power cut may leave.
    fn with_media(&self, setup: Setup) -> Setup {
        if self.garbage { Setup { level: Level::Garbage, ..setup } } else { setup }
    }

    fn note_media(&mut self) {
        if self.garbage {
            self.notes.push("power cuts leave garbage, too, in what was being written".to_owned());
        }
    }

    /// Tells how far the check is; whether there is time left.
    pub(super) fn goes_on(&mut self) -> bool {
        let fraction = self.start.elapsed().as_secs_f64() / self.share.as_secs_f64().max(0.001);
        (self.progress)(fraction.min(1.0));
        !self.until.is_over()
    }

    /// The seeds of this shard, for as long as there is time; one at least.
    fn each_seed(&mut self, case: impl FnMut(&mut Self, u64) -> Result<(), String>) -> Result<(), Failed> {
        self.each_seed_while(case, Self::goes_on)
    }

    fn each_seed_while(
        &mut self,
        mut case: impl FnMut(&mut Self, u64) -> Result<(), String>,
        mut goes_on: impl FnMut(&mut Self) -> bool,
    ) -> Result<(), Failed> {
        let mut seed = self.seed;
        loop {
            case(self, seed).map_err(|what| (seed, what))?;
            if !goes_on(self) {
                return Ok(());
            }
            seed = seed.wrapping_add(self.shard.count().into());
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
    let (seed, until) = (run.seed, run.until.clone());
    let half = run.start + run.share / 2;
    let goes_on = || !until.is_over() && Instant::now() < half;
    let mut tally = power::load(seed, run.with_media(Setup::DEFAULT), documents, goes_on)
        .map_err(|failure| (run.seed, failure.to_string()))?;
    run.note_media();
    let result = run.each_seed(|run, seed| {
        let setup = run.with_media(if seed % 2 == 0 { Setup::SECTORS } else { Setup::LARGE });
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

/// Which sequences of which geometry, how long and with how many cuts.
type Round = (fn(Setup, usize, u32) -> Scope, Setup, usize, u32);

/// The sequences and geometries of the exhaustive check, with the longest sequence and the cuts in a row of each round. Rounds are gone
/// through in order until the time is up.
const ROUNDS: &[Round] = &[
    (Scope::new, Setup::TINY, 0, 1),
    (Scope::of_maintenance, Setup::TINY, 1, 1),
    (Scope::new, Setup::TINY, 2, 1),
    (Scope::new, Setup::TINY, 1, 2),
    (Scope::new, Setup::TINY, 1, 3),
    (Scope::of_maintenance, Setup::TINY, 1, 3),
    (Scope::of_maintenance, Setup::SMALL, 1, 1),
    (Scope::new, Setup::SHORT_LIVES, 2, 1),
    (Scope::new, Setup::SMALL, 2, 1),
    (Scope::new, Setup::GARBAGE, 1, 1),
    (Scope::of_maintenance, Setup::SHORT_LIVES, 1, 1),
    (Scope::of_maintenance, Setup::GARBAGE, 1, 1),
    (Scope::of_maintenance, Setup::TINY, 2, 1),
    (Scope::new, Setup::TINY, 2, 2),
    (Scope::new, Setup::TINY, 3, 1),
    (Scope::of_maintenance, Setup::TINY, 1, 2),
    (Scope::new, Setup::SHORT_LIVES, 3, 1),
    (Scope::new, Setup::GARBAGE, 2, 1),
    (Scope::new, Setup::SMALL, 3, 1),
    (Scope::new, Setup::TINY, 0, 2),
    (Scope::new, Setup::TINY, 3, 2),
];

/// Three cuts in a row are tried where there is time for much else: a sixteenth of it for each round, and of the third cuts one in so many.
const SHARE_FOR_THIRDS: Duration = Duration::from_secs(60);
const ONE_THIRD_IN: NonZeroU64 = NonZeroU64::new(32).expect("it is not 0");

fn every_cut(run: &mut Run<'_>) -> Result<(), Failed> {
    run.note_media();
    if run.shard.has(0) {
        run.cut_points = crash::points(run.with_media(Setup::TINY))
            .map_err(|failure| (run.seed, format!("tiny, {failure}")))?;
        run.cases += run.cut_points.iter().map(|point| point.recoveries).sum::<u64>();
        run.notes.push(format!("tiny: one life, power cut at each of its {} changes", run.cut_points.len()));
    }
    for (of, setup, len, cuts) in ROUNDS {
        if run.garbage && *setup == Setup::GARBAGE {
            // That is what the rounds of its geometry are now.
            continue;
        }
        let setup = run.with_media(*setup);
        let mut scope = Scope { until: run.until.clone(), shard: run.shard, ..of(setup, *len, *cuts) };
        if *cuts > 2 {
            if run.share < SHARE_FOR_THIRDS {
                continue;
            }
            scope.third = ONE_THIRD_IN;
            scope.until = run.until.within(run.share / 16);
        }
        let start = Instant::now();
        let (tally, is_over) =
            crash::run(&scope).map_err(|(_, failure)| (run.seed, format!("{}, {failure}", setup.name)))?;
        run.cases += tally.leaves;
        let all = if is_over { "every sequence" } else { "as far as time allowed, sequences" };
        let (starts, seconds) = (scope.starts.len(), start.elapsed().as_secs_f64().max(0.001));
        let what = format!("{all} of up to {len} steps on {starts} stores, {cuts} cuts in a row");
        let rates = (tally.leaves as f64 / seconds, tally.states / seconds);
        let rates = format!("{:.0} recoveries a second, for {:.1e} states a second", rates.0, rates.1);
        run.notes.push(format!("{}: {what}: {tally}; {rates}", setup.name));
        if !run.goes_on() {
            break;
        }
    }
    Ok(())
}

/// A slow machine goes on beyond its time until all pairs were met, for so many lives at most.
const LIVES_MAX: u64 = 240;

fn lives(run: &mut Run<'_>) -> Result<(), Failed> {
    let documents = run.documents;
    let mut tally = holotype_model::check::Tally::default();
    let goes_on = |run: &mut Run<'_>| {
        let is_due = || super::never_met(&run.pairs.missing(), &run.index_calls.missing()).is_some();
        let is_short = run.is_to_meet_every_pair && run.cases < LIVES_MAX && is_due();
        run.goes_on() || is_short && !run.until.is_stopped()
    };
    let one = |run: &mut Run<'_>, seed: u64| {
        let setups = [Setup::TINY, Setup::SECTORS, Setup::SMALL, Setup::LARGE];
        let setup = setups[(seed % setups.len() as u64) as usize];
        let lived = random::live(seed, 200, setup, documents)
            .map_err(|reduced| format!("{}\n{reduced}", setup.name))?;
        tally += lived.tally;
        run.pairs.add(&lived.pairs);
        run.index_calls.add(&lived.index_calls);
        run.cases += 1;
        Ok(())
    };
    let result = run.each_seed_while(one, goes_on);
    run.notes.push(tally.to_string());
    run.notes.push(run.pairs.to_string());
    result
}

/// How many changes are tried between two looks at the clock.
const CHANGES: u64 = 1_000;

fn changed(run: &mut Run<'_>) -> Result<(), Failed> {
    run.each_seed(|run, seed| {
        // A range of its own for each.
        let first = seed.wrapping_mul(CHANGES);
        let tried = updates::every_check(first, CHANGES);
        run.cases += tried.map_err(|(case, what)| format!("change {case}: {what}"))?;
        Ok(())
    })
}

/// How many questions of each kind are asked between two looks at the clock.
const QUESTIONS: u64 = 200;

fn asked(run: &mut Run<'_>) -> Result<(), Failed> {
    run.each_seed(|run, seed| {
        let asked = queries::every_check(seed.wrapping_mul(QUESTIONS), QUESTIONS);
        run.cases += asked.map_err(|(case, what)| format!("question {case}: {what}"))?;
        Ok(())
    })
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
            let shard = run.shard;
            for (index, damage) in (0_u64..).zip(&all).filter(|(index, _)| shard.has(*index)) {
                if let Err(what) = media::try_damage(&specimen, damage, &mut tally) {
                    result = Err((run.seed, format!("{}: {what}", setup.name)));
                    break 'kinds;
                }
                // The clock is not looked at each time.
                let tried = index / u64::from(shard.count());
                if tried % 256 == 255 && (!run.goes_on() || Instant::now() >= end) {
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

fn once(run: &mut Run<'_>) -> Result<(), Failed> {
    for setup in [Setup::TINY, Setup::SMALL, Setup::SECTORS] {
        let mut tally = fallback::Tally::default();
        let is_over = fallback::every_check(setup, &mut tally, || run.goes_on())
            .map_err(|what| (run.seed, format!("{}: {what}", setup.name)))?;
        run.cases += tally.cases();
        let far = if is_over { "" } else { ", as far as time allowed" };
        run.notes.push(format!("{}: {tally}{far}", setup.name));
        if !run.goes_on() {
            break;
        }
    }
    Ok(())
}

fn short_files(run: &mut Run<'_>) -> Result<(), Failed> {
    let tally = space::every_check().map_err(|(_, what)| (run.seed, what))?;
    run.cases = tally.bounds;
    run.notes.push(tally.to_string());
    let put =
        full::every_check(Setup::SECTORS).map_err(|(_, what)| (run.seed, format!("a full disk: {what}")))?;
    run.cases += put;
    run.notes
        .push(format!("{put} documents put on disks until they were full, deleted there, and put again"));
    Ok(())
}

fn failing(run: &mut Run<'_>) -> Result<(), Failed> {
    let mut tally = faults::Tally::default();
    for setup in [Setup::TINY, Setup::SHORT_LIVES, Setup::SMALL, Setup::SECTORS] {
        let is_over = faults::every_fault(setup, run.shard, &mut tally, || run.goes_on())
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

fn killed(run: &mut Run<'_>) -> Result<(), Failed> {
    let worker = Worker::this_program().map_err(|what| (run.seed, what))?;
    let kills =
        Kills { worker, directory: std::env::temp_dir(), documents: run.documents.to_vec(), only: None };
    let mut tally = kills::Tally::default();
    let result = run.each_seed_while(
        |run, seed| {
            let goes_on = |tally: &kills::Tally| tally.kills == 0 || run.goes_on();
            let told = kills.story(seed, &mut tally, goes_on).map_err(|violation| violation.to_string());
            run.cases = tally.kills;
            told
        },
        // Without a kill, nothing was shown.
        |run| run.goes_on() || run.cases == 0 && !run.until.is_stopped(),
    );
    run.notes.push(tally.to_string());
    result
}

fn beside_a_writer(run: &mut Run<'_>) -> Result<(), Failed> {
    let scans = readers::every_check().map_err(|what| (run.seed, what))?;
    let wrongs = seen::every_check().map_err(|what| (run.seed, what))?;
    let stories = reads::every_check().map_err(|what| (run.seed, what))?;
    run.cases = scans + wrongs + stories;
    run.notes.push(format!(
        "{scans} scans; {wrongs} things that are wrong under an open store; {stories} stories of reads and feeds"
    ));
    Ok(())
}

fn counted(run: &mut Run<'_>) -> Result<(), Failed> {
    run.cases = costs::every_check().map_err(|what| (run.seed, what))?;
    Ok(())
}

fn by_itself(run: &mut Run<'_>) -> Result<(), Failed> {
    run.cases = own_thread::every_check().map_err(|what| (run.seed, what))?;
    run.cases += waits::every_check().map_err(|what| (run.seed, what))?;
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
