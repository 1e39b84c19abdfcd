//! Every check that needs no special build, on the user's documents or on built-in ones, within a time.
//!
//! Each check gets a share of the time. What it tries comes in a fixed order that follows from the seed; the time only
//! says how far down the list it comes. So a failure is repeated by the seed that its replay line names.

mod checks;
mod report;

pub use report::{CheckReport, GateOptions, GateReport, Progress};

use std::time::{Duration, Instant};

use checks::{CHECKS, Check};

/// The names of the checks, in the order in which they run.
pub fn names() -> impl Iterator<Item = &'static str> {
    CHECKS.iter().map(|check| check.name)
}

/// Runs the checks and tells how each came out. `progress` is called now and then.
pub fn run(options: &GateOptions, progress: &mut dyn FnMut(Progress)) -> GateReport {
    let wanted = |check: &&Check| options.only.as_deref().is_none_or(|only| only == check.name);
    let weights: u32 = CHECKS.iter().filter(wanted).map(|check| check.weight).sum();
    let documents = options.documents.clone().unwrap_or_else(checks::built_in_documents);
    let checks: Vec<CheckReport> = CHECKS
        .iter()
        .filter(wanted)
        .map(|check| {
            let share = Duration::from_secs(options.seconds) * check.weight / weights.max(1);
            run_one(check, options, &documents, share, progress)
        })
        .collect();
    GateReport {
        held: !checks.is_empty() && checks.iter().all(|check| check.held),
        seed: options.seed,
        documents: documents.len() as u64,
        checks,
    }
}

fn run_one(
    check: &Check,
    options: &GateOptions,
    documents: &[holotype::Document],
    share: Duration,
    progress: &mut dyn FnMut(Progress),
) -> CheckReport {
    let start = Instant::now();
    let mut run = checks::Run {
        seed: options.seed,
        documents,
        start,
        share,
        name: check.name,
        progress,
        cases: 0,
        notes: Vec::new(),
    };
    let result = (check.run)(&mut run);
    let (cases, notes) = (run.cases, run.notes);
    let failure = match result {
        Ok(()) if cases == 0 => Some((options.seed, "nothing was tried, so nothing was shown".to_owned())),
        Ok(()) => None,
        Err(failure) => Some(failure),
    };
    CheckReport {
        name: check.name,
        held: failure.is_none(),
        cases,
        seconds: start.elapsed().as_secs_f64(),
        replay: failure
            .as_ref()
            .map(|(seed, _)| format!("holotype gate --seed {seed} --check {}", check.name)),
        failure: failure.map(|(_, what)| what),
        notes,
    }
}
