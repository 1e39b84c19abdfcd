//! `holotype gate`: does the store keep its promises, on this machine and on these documents?

use std::fmt::Write;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};

use clap::Args;
use holotype::Document;
use holotype_crash_tests::gate::{self, CheckReport, GateOptions, GateReport};
use serde::Serialize;

use crate::exit::{Exit, Failure, Result};
use crate::input::Input;
use crate::{output, progress};

#[derive(Debug, Args)]
pub(crate) struct GateArgs {
    /// Documents to fill stores with: JSON Lines, or one JSON array of objects; - for standard input [default: built-in ones]
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// What everything random follows from: the same seed tries the same things in the same order [default: a new one]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// For how long to try new things, about
    #[arg(long, value_name = "N", default_value_t = 40)]
    seconds: u64,
    /// Run this check only
    #[arg(long, value_name = "NAME")]
    check: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Report {
    held: bool,
    seed: u64,
    documents: u64,
    checks: Vec<Check>,
}

#[derive(Debug, Serialize)]
struct Check {
    name: &'static str,
    held: bool,
    cases: u64,
    seconds: f64,
    replay: Option<String>,
    failure: Option<String>,
    notes: Vec<String>,
}

pub(crate) fn run(args: &GateArgs) -> Result<Exit> {
    let options = GateOptions {
        seed: args.seed.unwrap_or_else(new_seed),
        seconds: args.seconds,
        documents: args.data.as_deref().map(read_documents).transpose()?,
        only: args.check.as_deref().map(known_check).transpose()?,
    };
    let report = Report::new(run_checks(&options), args.data.as_deref());
    output::report(&report, args.json, text)?;
    Ok(if report.held { Exit::Done } else { Exit::No })
}

/// Short enough to be typed again, and to be exact in every reader of JSON.
fn new_seed() -> u64 {
    RandomState::new().hash_one("seed") >> 32
}

fn read_documents(file: &Path) -> Result<Vec<Document>> {
    let documents = Input::open(file)?.items::<Document>()?;
    let documents = documents.map(|item| item.map(|(_, document)| document)).collect::<Result<Vec<_>>>()?;
    match documents.is_empty() {
        true => Err(Failure::usage(format!("{}: no document in it", file.display()))),
        false => Ok(documents),
    }
}

fn known_check(name: &str) -> Result<String> {
    if gate::names().any(|known| known == name) {
        return Ok(name.to_owned());
    }
    let known: Vec<_> = gate::names().collect();
    Err(Failure::usage(format!("no check is called {name:?}; there are {}", known.join(", "))))
}

fn run_checks(options: &GateOptions) -> GateReport {
    let bar = progress::of_work();
    let report = gate::run(options, &mut |now| {
        bar.set_message(now.check);
        bar.set_position((now.fraction * 1000.0) as u64);
    });
    bar.finish_and_clear();
    report
}

impl Report {
    fn new(report: GateReport, data: Option<&Path>) -> Self {
        let GateReport { held, seed, documents, checks, .. } = report;
        Report {
            held,
            seed,
            documents,
            checks: checks.into_iter().map(|check| Check::new(check, data)).collect(),
        }
    }
}

impl Check {
    fn new(check: CheckReport, data: Option<&Path>) -> Self {
        let CheckReport { name, held, cases, seconds, replay, failure, notes, .. } = check;
        let replay = replay.map(|line| match data {
            Some(data) => format!("{line} --data {}", quoted(data)),
            None => line,
        });
        Check { name, held, cases, seconds, replay, failure, notes }
    }
}

/// A path that a shell takes as it is.
fn quoted(path: &Path) -> String {
    let path = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/._-+:\\".contains(c);
    if path.chars().all(plain) { path } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

/// What each check tried, then the table, then what did not hold.
fn text(report: &Report) -> String {
    let mut text = String::new();
    for check in &report.checks {
        for note in &check.notes {
            line(&mut text, format_args!("{}: {note}", check.name));
        }
    }
    line(&mut text, format_args!("\n{:<12} {:>12} {:>9}  held", "check", "cases", "time"));
    for check in &report.checks {
        let held = if check.held { "yes" } else { "NO" };
        line(
            &mut text,
            format_args!("{:<12} {:>12} {:>7.1} s  {held}", check.name, check.cases, check.seconds),
        );
    }
    for check in &report.checks {
        if let Some(failure) = &check.failure {
            line(&mut text, format_args!("\n{} did not hold: {failure}", check.name));
        }
        if let Some(replay) = &check.replay {
            line(&mut text, format_args!("replay with: {replay}"));
        }
    }
    let verdict = if report.held { "every check held" } else { "NOT every check held" };
    write!(text, "\n{verdict} (seed {}, {} documents)", report.seed, report.documents).expect(STRING);
    text
}

const STRING: &str = "a string takes all that is written to it";

fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(text, "{line}").expect(STRING);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failing_report(data: Option<&Path>) -> Report {
        let failed = CheckReport {
            name: "crash",
            held: false,
            cases: 7,
            seconds: 0.5,
            replay: Some("holotype gate --seed 3 --check crash".to_owned()),
            failure: Some("a document came back".to_owned()),
            notes: Vec::new(),
        };
        Report::new(GateReport { held: false, seed: 3, documents: 1, checks: vec![failed] }, data)
    }

    #[test]
    fn a_failure_says_what_failed_and_prints_the_line_that_replays_it() {
        let text = text(&failing_report(None));
        assert!(text.contains("crash did not hold: a document came back\n"), "{text}");
        assert!(text.contains("replay with: holotype gate --seed 3 --check crash\n"), "{text}");
        assert!(text.ends_with("NOT every check held (seed 3, 1 documents)"), "{text}");
    }

    #[test]
    fn a_replay_on_documents_of_the_users_names_their_file() {
        let report = failing_report(Some(Path::new("my notes.jsonl")));
        let replay = report.checks[0].replay.as_deref();
        assert_eq!(replay, Some("holotype gate --seed 3 --check crash --data 'my notes.jsonl'"));
    }
}
