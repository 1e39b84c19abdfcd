//! The gate until it is stopped: rounds, each twice as long as the one before and with seeds of its own.
//!
//! The lists that have no seeds are gone through from their beginning in each round, since a place in the middle of one cannot be kept
//! cheaply; doubling the time keeps what is tried twice below what is new.

use std::time::Instant;

use super::{CheckReport, GateOptions, GateReport, Progress, run};

/// Between the seeds of two rounds: more than one round comes to, and few enough that a seed stays exact in every reader of JSON.
const SEEDS_PER_ROUND: u64 = 1 << 32;

/// A round that is over, with all before it.
#[derive(Debug)]
pub struct Round<'a> {
    /// Which, from 1.
    pub number: u64,
    /// How long it was to be.
    pub seconds: u64,
    /// Since the first round began.
    pub seconds_in_all: f64,
    /// What all rounds together came to.
    pub report: &'a GateReport,
}

/// Runs rounds until a check fails or `options.stop` is set; the first takes `options.seconds`. Gives what they came to together.
pub fn soak(
    options: &GateOptions,
    progress: &(dyn Fn(Progress) + Sync),
    status: &mut dyn FnMut(Round<'_>),
) -> GateReport {
    let start = Instant::now();
    let mut options = options.clone();
    let mut sum: Option<GateReport> = None;
    let mut number = 1;
    loop {
        let round = run(&options, progress);
        let report = match sum.take() {
            None => round,
            Some(mut sum) => {
                // Stopped before any check of the round had begun: nothing to add, and nothing against the others.
                if !round.checks.is_empty() {
                    add(&mut sum, round);
                }
                sum
            }
        };
        let seconds_in_all = start.elapsed().as_secs_f64();
        status(Round { number, seconds: options.seconds, seconds_in_all, report: &report });
        if !report.held || options.is_stopped() {
            return report;
        }
        sum = Some(report);
        options.seed = options.seed.wrapping_add(SEEDS_PER_ROUND);
        options.seconds = options.seconds.saturating_mul(2);
        number += 1;
    }
}

/// Adds a later round. Its notes stand in the place of the earlier ones, since it came further.
fn add(sum: &mut GateReport, round: GateReport) {
    for check in round.checks {
        match sum.checks.iter_mut().find(|known| known.name == check.name) {
            Some(known) => {
                *known = CheckReport {
                    cases: known.cases + check.cases,
                    seconds: known.seconds + check.seconds,
                    ..check
                };
            }
            None => sum.checks.push(check),
        }
    }
    sum.pairs.add(&round.pairs);
    sum.index_calls.add(&round.index_calls);
    sum.held &= round.held;
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn a_soak_goes_on_in_longer_rounds_until_it_is_stopped_and_sums_them_up() {
        let stop = Arc::new(AtomicBool::new(false));
        let options = GateOptions {
            seed: 5,
            seconds: 0,
            only: Some("lives".to_owned()),
            stop: Some(Arc::clone(&stop)),
            ..GateOptions::default()
        };
        let mut cases = Vec::new();
        let report = soak(&options, &|_| {}, &mut |round| {
            cases.push((round.number, round.report.checks[0].cases));
            if round.number == 3 {
                stop.store(true, Ordering::Relaxed);
            }
        });
        assert!(report.held, "{report:?}");
        assert_eq!(cases, [(1, 1), (2, 2), (3, 3)]);
        assert_eq!((report.checks[0].cases, report.seed), (3, 5));
    }

    #[test]
    fn a_soak_that_is_stopped_before_it_tried_anything_has_not_held() {
        let options =
            GateOptions { stop: Some(Arc::new(AtomicBool::new(true))), seconds: 1, ..GateOptions::default() };
        let report = soak(&options, &|_| {}, &mut |_| {});
        assert!(report.checks.is_empty() && !report.held, "{report:?}");
    }
}
