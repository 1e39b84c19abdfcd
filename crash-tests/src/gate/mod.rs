//! Every check that needs no special build, on the user's documents or on built-in ones, within a time.
//!
//! Each check gets a share of the time, and two are at work at once. What a check tries comes in a fixed order that follows from the seed;
//! the time only says how far down the list it comes. So a failure is repeated by the seed that its replay line names. Several machines
//! share the cases by [`Shard`]; [`soak`] goes on until it is stopped.

mod checks;
mod report;
mod soak;

pub use report::{CheckReport, GateOptions, GateReport, Progress};
pub use soak::{Round, soak};

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use holotype::Document;

use crate::crash::CutPoint;
use crate::live::{IndexCalls, Pairs};
use crate::part::{Deadline, Shard};

use checks::{CHECKS, Cases, Check, Failed, Run};

/// For how long the gate runs if nobody says otherwise. Some checks do their whole work whatever their share, so it takes some ten seconds more.
pub const SECONDS: u64 = 35;

/// How many checks are at work at once. Most use one processor each.
const LANES: u32 = 2;

/// The check whose lives are asked what was at work in them.
pub const LIVES: &str = "lives";

/// The names of the checks, in the order in which they begin.
pub fn names() -> impl Iterator<Item = &'static str> {
    CHECKS.iter().map(|check| check.name)
}

/// The checks of which the first of several shards does all and the others nothing.
pub fn names_of_the_first_shard_alone() -> impl Iterator<Item = &'static str> {
    CHECKS.iter().filter(|check| check.cases == Cases::Once).map(|check| check.name)
}

/// The checks of a shard.
pub fn names_of_shard(shard: Shard) -> impl Iterator<Item = &'static str> {
    CHECKS.iter().filter(move |check| is_done_by(check, shard)).map(|check| check.name)
}

/// Runs the checks and tells how each came out. `progress` is called now and then.
pub fn run(options: &GateOptions, progress: &(dyn Fn(Progress) + Sync)) -> GateReport {
    run_checks(CHECKS, options, progress)
}

fn run_checks(checks: &[Check], options: &GateOptions, progress: &(dyn Fn(Progress) + Sync)) -> GateReport {
    let wanted: Vec<_> = checks.iter().filter(|check| is_wanted(check, options)).collect();
    let weights: u32 = wanted.iter().map(|check| check.weight).sum();
    let built_in;
    let documents = match &options.documents {
        Some(documents) => documents.as_slice(),
        None => {
            built_in = checks::built_in_documents();
            &built_in
        }
    };
    let lanes = LANES.min(wanted.len() as u32);
    let waiting = Mutex::new(wanted.iter().enumerate());
    let (ended, far) = (Mutex::new(Vec::new()), Mutex::new(vec![0.0; wanted.len()]));
    // No other check is to begin, and those at work are to end.
    let is_over = Arc::new(AtomicBool::new(false));
    let lane = || {
        let _ends = EndsWithPanic(&is_over);
        while !options.is_stopped() && !is_over.load(Ordering::Relaxed) {
            let Some((index, check)) = locked(&waiting).next() else { break };
            let share = Duration::from_secs(options.seconds) * lanes * check.weight / weights.max(1);
            let stops = options.stop.iter().chain([&is_over]).cloned();
            let until = Deadline::new(Instant::now() + share, stops);
            let tell = |fraction| {
                let mut far = locked(&far);
                far[index] = fraction * f64::from(check.weight) / f64::from(weights.max(1));
                progress(Progress { check: check.name, fraction: far.iter().sum() });
            };
            let outcome = run_one(check, options, documents, (share, until), &tell);
            tell(1.0);
            if let Some(outcome) = outcome {
                is_over.fetch_or(options.fail_fast && !outcome.report.held, Ordering::Relaxed);
                locked(&ended).push((index, outcome));
            }
        }
    };
    side_by_side(lane);
    let mut ended = ended.into_inner().unwrap_or_else(PoisonError::into_inner);
    ended.sort_by_key(|(index, _)| *index);
    let is_to_meet_every_pair = is_to_meet_every_pair(options) && !is_over.load(Ordering::Relaxed);
    let (mut reports, mut cut_points) = (Vec::new(), Vec::new());
    let (mut pairs, mut index_calls) = (Pairs::default(), IndexCalls::default());
    for (_, outcome) in ended {
        reports.push(outcome.report);
        cut_points.extend(outcome.cut_points);
        pairs.add(&outcome.pairs);
        index_calls.add(&outcome.index_calls);
    }
    // A part of the lives may well have met a part of the pairs: `gate merge` looks at them together.
    if is_to_meet_every_pair && options.shard == Shard::WHOLE {
        require_all_met(&pairs, &index_calls, options.seed, &mut reports);
    }
    GateReport {
        held: !reports.is_empty() && reports.iter().all(|check| check.held),
        seed: options.seed,
        documents: documents.len() as u64,
        shard: options.shard,
        checks: reports,
        cut_points,
        is_to_meet_every_pair,
        pairs,
        index_calls,
    }
}

/// Runs `lane` in each of the [`LANES`], to the end of all.
fn side_by_side(lane: impl Fn() + Sync) {
    #[cfg(feature = "seeded")]
    let bug = holotype::seeded::switched_on();
    thread::scope(|scope| {
        for _ in 0..LANES {
            scope.spawn(|| {
                #[cfg(feature = "seeded")]
                holotype::seeded::switch_on(bug);
                lane();
            });
        }
    });
}

/// Sets what it has where its lane panics: the panic is told once the other lane has ended, too.
struct EndsWithPanic<'a>(&'a AtomicBool);

impl Drop for EndsWithPanic<'_> {
    fn drop(&mut self) {
        self.0.fetch_or(thread::panicking(), Ordering::Relaxed);
    }
}

/// A list or numbers that no panic leaves half changed.
fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether it is long enough, with the other shards of it, to meet each two features at work together.
fn is_to_meet_every_pair(options: &GateOptions) -> bool {
    options.only.is_none() && options.seconds >= SECONDS && !options.is_stopped()
}

/// A gate in which two features were never at work together has not shown that they get on, nor one without some call what comes of it.
fn require_all_met(pairs: &Pairs, index_calls: &IndexCalls, seed: u64, reports: &mut [CheckReport]) {
    let lives = reports.iter_mut().find(|check| check.name == LIVES && check.held);
    if let Some((lives, missing)) = lives.zip(never_met(&pairs.missing(), &index_calls.missing())) {
        lives.held = false;
        lives.failure = Some(missing);
        lives.replay = Some(format!("holotype gate --seed {seed} --report"));
    }
}

/// What a gate says in which these pairs were never at work together, and these calls on indexes never answered; nothing where all were.
pub fn never_met(pairs: &[String], index_calls: &[String]) -> Option<String> {
    let parts = [("no life had at work together", pairs), ("no life had answered of indexes", index_calls)];
    let parts = parts.iter().filter(|(_, missing)| !missing.is_empty());
    let parts: Vec<_> = parts.map(|(what, missing)| format!("{what}: {}", missing.join("; "))).collect();
    (!parts.is_empty()).then(|| parts.join("\n"))
}

fn is_done_by(check: &Check, shard: Shard) -> bool {
    check.cases != Cases::Once || shard.has(0)
}

fn is_wanted(check: &Check, options: &GateOptions) -> bool {
    is_done_by(check, options.shard) && options.only.as_deref().is_none_or(|only| only == check.name)
}

/// What a check came to, and what the gate tells of all checks together.
struct Outcome {
    report: CheckReport,
    cut_points: Vec<CutPoint>,
    pairs: Pairs,
    index_calls: IndexCalls,
}

/// Runs one check. None where it was stopped before it had tried anything: there is nothing to tell then.
fn run_one(
    check: &Check,
    options: &GateOptions,
    documents: &[Document],
    (share, until): (Duration, Deadline),
    progress: &dyn Fn(f64),
) -> Option<Outcome> {
    let start = Instant::now();
    let mut run = Run {
        seed: options.seed.wrapping_add(options.shard.first()),
        shard: options.shard,
        garbage: options.garbage,
        documents,
        start,
        share,
        until,
        progress,
        is_to_meet_every_pair: is_to_meet_every_pair(options) && options.shard == Shard::WHOLE,
        cases: 0,
        notes: Vec::new(),
        cut_points: Vec::new(),
        pairs: Pairs::default(),
        index_calls: IndexCalls::default(),
    };
    let result = (check.run)(&mut run);
    let Run { until, cases, notes, cut_points, pairs, index_calls, .. } = run;
    let seconds = start.elapsed().as_secs_f64();
    let failure = match result {
        Ok(()) if cases == 0 && until.is_stopped() => return None,
        Ok(()) if cases == 0 => Some((options.seed, "nothing was tried, so nothing was shown".to_owned())),
        Ok(()) => None,
        Err(failure) => Some(failure),
    };
    let replay = failure.as_ref().map(|failed| replay(check, options, failed, seconds));
    let failure = failure.map(|(_, what)| what);
    let report =
        CheckReport { name: check.name, held: failure.is_none(), cases, seconds, replay, failure, notes };
    Some(Outcome { report, cut_points, pairs, index_calls })
}

/// The command that comes to the failure again: at once where its case has a seed, else by going through the same list.
fn replay(check: &Check, options: &GateOptions, (seed, _): &Failed, seconds: f64) -> String {
    if check.cases == Cases::Seeds {
        return format!("holotype gate --seed {seed} --check {}", check.name);
    }
    let mut line = format!("holotype gate --seed {} --check {}", options.seed, check.name);
    // Twice the time that it took: another machine may be slower.
    let enough = (2.0 * seconds).ceil() as u64;
    if enough > SECONDS {
        line += &format!(" --seconds {enough}");
    }
    if options.shard != Shard::WHOLE {
        line += &format!(" --shard {}/{}", options.shard.number(), options.shard.count());
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::{INDEX_CALLS, IndexCall};

    fn check(name: &str) -> &'static Check {
        CHECKS.iter().find(|check| check.name == name).expect("the test names a check")
    }

    fn second_of_three(seed: u64) -> GateOptions {
        let shard = Shard::new(2, 3).expect("there is a second of three");
        GateOptions { seed, seconds: 0, shard, ..GateOptions::default() }
    }

    #[test]
    fn a_case_with_a_seed_is_replayed_by_it_whatever_the_shard() {
        let line = replay(check("lives"), &second_of_three(7), &(11, String::new()), 900.0);
        assert_eq!(line, "holotype gate --seed 11 --check lives");
    }

    #[test]
    fn a_case_of_a_list_is_replayed_in_its_shard_and_with_time_enough() {
        let failed = (8, String::new());
        let line = replay(check("media"), &second_of_three(7), &failed, 100.2);
        assert_eq!(line, "holotype gate --seed 7 --check media --seconds 201 --shard 2/3");
        let line = replay(check("media"), &GateOptions { seed: 7, ..Default::default() }, &failed, 3.0);
        assert_eq!(line, "holotype gate --seed 7 --check media");
    }

    #[test]
    fn only_the_first_shard_runs_what_is_not_shared() {
        let shard = |number| Shard::new(number, 2).expect("there are two");
        let first: Vec<_> = names_of_shard(shard(1)).collect();
        let second: Vec<_> = names_of_shard(shard(2)).collect();
        let alone: Vec<_> = names_of_the_first_shard_alone().collect();
        assert_eq!(first, super::names().collect::<Vec<_>>());
        assert_eq!(second, super::names().filter(|name| !alone.contains(name)).collect::<Vec<_>>());
        assert!(!alone.is_empty() && !second.is_empty());
    }

    fn held(name: &'static str) -> CheckReport {
        let (replay, failure, notes) = (None, None, Vec::new());
        CheckReport { name, held: true, cases: 1, seconds: 1.0, replay, failure, notes }
    }

    #[test]
    fn a_gate_in_which_two_features_never_met_is_red_and_names_them() {
        let mut checks = [held("power"), held(LIVES)];
        require_all_met(&Pairs::default(), &every_call(), 7, &mut checks);
        assert!(checks[0].held && !checks[1].held, "{checks:?}");
        let said = checks[1].failure.as_deref().unwrap_or_default();
        assert!(said.contains("; two feeds and failed sync; "), "{said}");
        assert_eq!(said.matches("; ").count(), 65, "{said}");
    }

    /// Each answered once.
    fn every_call() -> IndexCalls {
        let mut calls = IndexCalls::default();
        INDEX_CALLS.iter().for_each(|kind| calls.count(*kind));
        calls
    }

    #[test]
    fn a_gate_without_some_call_on_indexes_is_red_and_names_it() {
        let missing = |kind: &IndexCall| {
            let mut calls = IndexCalls::default();
            INDEX_CALLS.iter().filter(|other| *other != kind).for_each(|other| calls.count(*other));
            never_met(&[], &calls.missing())
        };
        for kind in INDEX_CALLS {
            let named = format!("no life had answered of indexes: {}", kind.name());
            assert_eq!(missing(kind), Some(named));
        }
        assert_eq!(never_met(&[], &every_call().missing()), None);
    }

    #[test]
    fn some_dozens_of_lives_have_each_two_features_at_work_together_and_each_call_on_indexes() {
        let (mut pairs, mut index_calls) = (Pairs::default(), IndexCalls::default());
        for seed in 0..160 {
            let setup = [crate::setup::Setup::TINY, crate::setup::Setup::SMALL][seed as usize % 2];
            let lived =
                crate::random::live(seed, 200, setup, &[]).unwrap_or_else(|red| panic!("{seed}: {red}"));
            pairs.add(&lived.pairs);
            index_calls.add(&lived.index_calls);
        }
        let mut checks = [held(LIVES)];
        require_all_met(&pairs, &index_calls, 7, &mut checks);
        assert!(checks[0].held, "{checks:?}");
    }

    #[test]
    fn only_a_whole_gate_of_full_length_is_to_meet_every_pair() {
        let whole = GateOptions { seconds: SECONDS, ..GateOptions::default() };
        assert!(is_to_meet_every_pair(&whole));
        let (short, one) = (SECONDS - 1, Some("lives".to_owned()));
        assert!(!is_to_meet_every_pair(&GateOptions { seconds: short, ..whole.clone() }));
        assert!(!is_to_meet_every_pair(&GateOptions { only: one, ..whole }));
    }

    fn holds(run: &mut Run<'_>) -> Result<(), Failed> {
        run.cases = 1;
        Ok(())
    }

    fn fails(_: &mut Run<'_>) -> Result<(), Failed> {
        Err((7, "it is wrong".to_owned()))
    }

    fn panics(_: &mut Run<'_>) -> Result<(), Failed> {
        panic!("this check panics")
    }

    fn goes_on_for_long(run: &mut Run<'_>) -> Result<(), Failed> {
        loop {
            run.cases += 1;
            if !run.goes_on() {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    type Runs = fn(&mut Run<'_>) -> Result<(), Failed>;

    fn checks_of(runs: &[(&'static str, Runs)]) -> Vec<Check> {
        runs.iter().map(|&(name, run)| Check { name, weight: 1, cases: Cases::Once, run }).collect()
    }

    fn an_hour() -> GateOptions {
        GateOptions { seconds: 3600, ..GateOptions::default() }
    }

    #[test]
    fn a_gate_that_is_to_fail_fast_ends_with_the_first_check_that_does_not_hold() {
        let checks = checks_of(&[("long", goes_on_for_long), ("wrong", fails), ("other", holds)]);
        let report = run_checks(&checks, &GateOptions { fail_fast: true, ..an_hour() }, &|_| {});
        let held: Vec<_> = report.checks.iter().map(|check| (check.name, check.held)).collect();
        assert_eq!(held, [("long", true), ("wrong", false)]);
        assert!(!report.held && !report.is_to_meet_every_pair);
    }

    #[test]
    fn what_failed_before_a_gate_was_stopped_is_told() {
        let stop = Arc::new(AtomicBool::new(false));
        let options = GateOptions { stop: Some(Arc::clone(&stop)), ..an_hour() };
        let checks = checks_of(&[("long", goes_on_for_long), ("wrong", fails), ("other", holds)]);
        let report = run_checks(&checks, &options, &|now| {
            // The last is over: what is left is the long one.
            stop.fetch_or(now.check == "other", Ordering::Relaxed);
        });
        let held: Vec<_> = report.checks.iter().map(|check| (check.name, check.held)).collect();
        assert_eq!(held, [("long", true), ("wrong", false), ("other", true)]);
    }

    #[test]
    fn a_check_that_panics_ends_the_others_and_the_gate() {
        let checks = checks_of(&[("long", goes_on_for_long), ("panic", panics), ("other", goes_on_for_long)]);
        let ended = std::panic::catch_unwind(|| run_checks(&checks, &an_hour(), &|_| {}));
        assert!(ended.is_err());
    }

    #[test]
    fn shards_try_different_seeds() {
        let mut options = second_of_three(7);
        options.only = Some("lives".to_owned());
        let report = run(&options, &|_| {});
        assert!(report.held, "{report:?}");
        // No time at all is one case; the others begin at the next seed of the shard.
        assert_eq!(report.checks[0].cases, 1);
        assert_eq!(report.shard.number(), 2);
    }
}
