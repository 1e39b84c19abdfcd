//! Holotype beside other stores: the same work in the same run, stores taking turns, medians and ratios.
//!
//! ```text
//! cargo run --release --manifest-path benches/peers/Cargo.toml [-- [load|durable|readers|snapshots|all]... [OPTIONS]]
//! ```
//!
//! Tables go to standard output as Markdown, progress to standard error. Every trial holds the store to what it was timed for: how
//! many documents there are, what their bytes add up to, what is found when the store is opened again. A store that fails, or that
//! did something else, ends the run: it has no figures.
//!
//! | module | what it is |
//! |---|---|
//! | [`stores`] | what a store must do to take part, and the stores that do |
//! | [`load`] | the day of a document, beside a store of documents |
//! | [`durable`] | durable commits, beside what the machine allows |
//! | [`readers`] | readers beside a writer |
//! | [`snapshots`] | a snapshot held through a run of updates |
//! | [`contents`] | the documents, and what must be found in the end |
//! | [`turns`] | trials in turn, medians |
//! | [`clock`], [`latencies`] | time on the processor; the time of each call |
//! | [`plan`], [`place`], [`failure`] | the command line; the file system; what ends a run |

mod clock;
mod contents;
mod durable;
mod failure;
mod latencies;
mod load;
mod place;
mod plan;
mod readers;
mod snapshots;
mod stores;
mod turns;

use std::process::ExitCode;

use failure::{Failure, Result};
use plan::{Plan, USAGE};

fn main() -> ExitCode {
    let Some(plan) = Plan::parse(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match run(&plan) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(plan: &Plan) -> Result<()> {
    let file_system = place::file_system(&plan.directory)?;
    if plan.syncs() && place::is_in_memory(&file_system) && !plan.sync_in_memory {
        let refusal =
            "a sync does nothing there: name a directory on a disk with --dir, or say --sync-in-memory";
        return Err(Failure::new(
            "the directory of the files",
            "finding it on a file system in memory",
            refusal,
        ));
    }
    println!(
        "{} processors, {}, files on {file_system}; load of the machine before: {}. Trials: {}, and one thrown away.\n",
        std::thread::available_parallelism().map_or(1, usize::from),
        told_by("/proc/sys/kernel/osrelease"),
        told_by("/proc/loadavg"),
        plan.trials
    );
    for workload in plan.workloads() {
        (workload.run)(plan)?;
    }
    Ok(())
}

/// What the system says of itself in a file of one line.
fn told_by(path: &str) -> String {
    std::fs::read_to_string(path).map_or("unknown".to_owned(), |told| told.trim().to_owned())
}
