//! Holotype beside other stores: the same work in the same run, stores taking turns, medians and ratios.
//!
//! ```text
//! cargo run --release --manifest-path benches/peers/Cargo.toml [-- [--documents N] [--trials N] [DIRECTORY]]
//! ```
//!
//! The table goes to standard output as Markdown. The files of the stores are made in DIRECTORY, by default where temporary files
//! go; a file system in memory says nothing about writing. Every trial asserts that the work was done: how many documents there are,
//! what their fields add up to, how many were found missing.

mod bison;
mod clock;
mod holotype;
mod peer;
mod table;
mod trial;

use std::path::PathBuf;
use std::process::ExitCode;

use peer::{Class, Peer};
use trial::Figures;

/// What to run.
#[derive(Debug)]
struct Plan {
    documents: u64,
    trials: usize,
    directory: PathBuf,
}

const USAGE: &str = "usage: holotype-peers [--documents N] [--trials N] [DIRECTORY]";

fn plan(mut arguments: impl Iterator<Item = String>) -> Option<Plan> {
    let mut plan = Plan { documents: 100_000, trials: 7, directory: std::env::temp_dir() };
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--documents" => {
                plan.documents = arguments.next()?.parse().ok().filter(|count| *count >= 1_000)?
            }
            "--trials" => plan.trials = arguments.next()?.parse().ok().filter(|count| *count > 0)?,
            option if option.starts_with('-') => return None,
            directory => plan.directory = directory.into(),
        }
    }
    Some(plan)
}

/// One store in one class, and what its trials showed.
struct Contender {
    name: &'static str,
    class: Class,
    run: fn(&Plan, Class) -> Figures,
    trials: Vec<Figures>,
}

impl Contender {
    fn new<P: Peer>(class: Class) -> Self {
        let run = |plan: &Plan, class: Class| trial::run::<P>(&plan.directory, plan.documents, class);
        Contender { name: P::NAME, class, run, trials: Vec::new() }
    }
}

fn main() -> ExitCode {
    let Some(plan) = plan(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let mut contenders = [
        Contender::new::<bison::Bison>(Class::Written),
        Contender::new::<holotype::Holotype>(Class::Written),
        Contender::new::<holotype::Holotype>(Class::Buffered),
        Contender::new::<bison::Bison>(Class::Synced),
        Contender::new::<holotype::Holotype>(Class::Synced),
    ];
    let count = contenders.len();
    // The first trial of each warms the machine up and is thrown away.
    for trial in 0..=plan.trials {
        for turn in 0..count {
            let contender = &mut contenders[(trial + turn) % count];
            let figures = (contender.run)(&plan, contender.class);
            if trial > 0 {
                contender.trials.push(figures);
            }
        }
        eprintln!("trial {trial} of {}", plan.trials);
    }
    table::print(&contenders, plan.documents);
    ExitCode::SUCCESS
}
