//! Holotype beside other stores: the same work in the same run, stores taking turns, medians and ratios.
//!
//! ```text
//! cargo run --release --manifest-path benches/peers/Cargo.toml [-- [WORKLOAD|all]... [OPTIONS]]
//! ```
//!
//! Tables go to standard output as Markdown, progress to standard error. Every trial holds the store to what it was timed for: how
//! many documents there are, what their bytes add up to, what is found when the store is opened again. A store that fails, or that
//! did something else, ends the run: it has no figures.
//!
//! | module | what it is |
//! |---|---|
//! | [`stores`] | what a store must do to take part, and the stores that do |
//! | [`limits`] | what the machine does without a store |
//! | [`ycsb`] | YCSB's mixes A to F |
//! | [`rows`] | one row for each thing that a store is asked for: writes, reads, scans, sizes |
//! | [`queries`], [`updates`] | documents found and changed by what is in them, beside SQLite's JSON |
//! | [`indexes`] | what indexes add to writes, and what they find |
//! | [`load`] | the day of a document, beside a store of documents |
//! | [`durable`] | durable commits, beside what the machine allows |
//! | [`readers`] | readers beside a writer |
//! | [`snapshots`] | a snapshot held through a run of updates |
//! | [`open`] | opening a store of many documents, closed before or not |
//! | [`space`] | the file while documents are replaced and deleted |
//! | [`amplification`] | bytes written for each byte asked for |
//! | [`cleaning`] | inserts beside cleaning and checkpoints |
//! | [`small`] | stores that hold next to nothing |
//! | [`memory`] | many documents under a small budget |
//! | [`upkeep`] | what only Holotype has: its accounts, and upkeep when asked |
//! | [`contents`] | the documents, and what must be found in the end |
//! | [`order`] | the order in which documents are changed |
//! | [`report`] | what a run showed, as Markdown, JSON and a page with bars |
//! | [`turns`] | trials in turn, medians |
//! | [`extent`] | the bytes of files |
//! | [`child`] | work in a process of its own |
//! | [`clock`], [`latencies`] | time on the processor; the time of each call |
//! | [`plan`], [`place`], [`failure`] | the command line; the file system; what ends a run |

mod amplification;
mod child;
mod cleaning;
mod clock;
mod contents;
mod durable;
mod extent;
mod failure;
mod indexes;
mod latencies;
mod limits;
mod load;
mod memory;
mod open;
mod order;
mod place;
mod plan;
mod queries;
mod readers;
mod report;
mod rows;
mod small;
mod snapshots;
mod space;
mod stores;
mod turns;
mod updates;
mod upkeep;
mod ycsb;

use std::process::ExitCode;

use failure::{Failure, Result};
use plan::{Plan, USAGE};
use report::Report;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match words[..] {
        [child::MARK, small::NAME, store, directory] => small::child(store, directory.as_ref()),
        [child::MARK, memory::NAME, work, count, directory] => memory::child(work, count, directory.as_ref()),
        [child::MARK, indexes::WORKLOAD, indexes, directory] => indexes::child(indexes, directory.as_ref()),
        [child::MARK, rows::footprint::NAME, work, count, store, directory] => {
            rows::footprint::child(work, count, store, directory.as_ref())
        }
        [child::MARK, amplification::peers::NAME, class, kind, count, store, directory] => {
            amplification::peers::child(class, kind, count, store, directory.as_ref())
        }
        _ => match Plan::parse(arguments.into_iter()) {
            Some(plan) => run(&plan),
            None => {
                eprintln!("{USAGE}");
                return ExitCode::from(2);
            }
        },
    };
    match result {
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
    let left_out = stores::left_out::known(rows::without_bolt());
    let mut report = Report::new(machine(&file_system, plan), left_out);
    for (name, told) in &report.machine {
        println!("* {name}: {told}");
    }
    println!("\n{}", report.left_out());
    for workload in plan.workloads() {
        (workload.run)(plan, &mut report)?;
    }
    plan.report.as_ref().map_or(Ok(()), |directory| report.write(directory))
}

/// What figures depend on besides the stores, by name.
fn machine(file_system: &str, plan: &Plan) -> Vec<(&'static str, String)> {
    let model = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = model.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    vec![
        ("processors", std::thread::available_parallelism().map_or(1, usize::from).to_string()),
        ("model", model.map_or("unknown", |(_, model)| model).to_owned()),
        ("system", told_by("/proc/sys/kernel/osrelease")),
        ("files on", file_system.to_owned()),
        ("load of the machine before", told_by("/proc/loadavg")),
        (
            "trials",
            match plan.trials {
                0 => "one, which is also the first: these figures show that rows run, and not how fast"
                    .to_owned(),
                trials => format!("{trials}, and one thrown away"),
            },
        ),
    ]
}

/// What the system says of itself in a file of one line.
fn told_by(path: &str) -> String {
    std::fs::read_to_string(path).map_or("unknown".to_owned(), |told| told.trim().to_owned())
}
