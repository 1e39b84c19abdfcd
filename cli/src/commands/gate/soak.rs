//! `--profile soak`: until somebody stops it.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use holotype_crash_tests::gate::{self, GateOptions, GateReport, Progress, Round};
use indicatif::ProgressBar;

use crate::exit::{Failure, Result};

/// Runs rounds until a check fails, or until the process is asked to end: then what was found so far is still told.
pub(super) fn run(
    options: &mut GateOptions,
    bar: &ProgressBar,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<GateReport> {
    let stop = Arc::new(AtomicBool::new(false));
    options.stop = Some(Arc::clone(&stop));
    ctrlc::set_handler(move || stop.store(true, Ordering::Relaxed))
        .map_err(|error| Failure::usage(format!("cannot listen for the signal that ends a soak: {error}")))?;
    let mut status = |round: Round<'_>| {
        let line = status_line(&round);
        // Where nobody reads standard error, the soak goes on.
        bar.suspend(|| _ = writeln!(std::io::stderr(), "{line}"));
    };
    Ok(gate::soak(options, progress, &mut status))
}

fn status_line(round: &Round<'_>) -> String {
    let cases: u64 = round.report.checks.iter().map(|check| check.cases).sum();
    let seconds = round.seconds_in_all as u64;
    let time = format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    let held = if round.report.held { "every check held" } else { "NOT every check held" };
    format!("soak: round {} of {} s is over: {cases} cases in {time}, {held}", round.number, round.seconds)
}

#[cfg(test)]
mod tests {
    use holotype_crash_tests::gate::CheckReport;
    use holotype_crash_tests::live::{IndexCalls, Pairs};
    use holotype_crash_tests::part::Shard;

    use super::*;

    #[test]
    fn the_status_says_how_much_was_tried_and_for_how_long() {
        let check = CheckReport {
            name: "lives",
            held: true,
            cases: 12,
            seconds: 1.0,
            replay: None,
            failure: None,
            notes: Vec::new(),
        };
        let report = GateReport {
            held: true,
            seed: 1,
            documents: 1,
            shard: Shard::WHOLE,
            checks: vec![check.clone(), check],
            cut_points: Vec::new(),
            is_to_meet_every_pair: false,
            pairs: Pairs::default(),
            index_calls: IndexCalls::default(),
        };
        let round = Round { number: 3, seconds: 160, seconds_in_all: 3725.5, report: &report };
        let line = status_line(&round);
        assert_eq!(line, "soak: round 3 of 160 s is over: 24 cases in 1:02:05, every check held");
    }
}
