//! `holotype torture`: the checks of the gate for as long as they are let, and kills of real processes by the thousand.

use std::ffi::OsString;
use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use holotype::Document;
use holotype_crash_tests::gate::{self, CheckReport, GateOptions};
use holotype_crash_tests::kills::{self, Kills, Tally, Violation, WHEN, Work, Worker};
use holotype_crash_tests::part::Shard;
use indicatif::ProgressBar;
use serde::Serialize;

use super::gate::report::quoted;
use super::gate::{known_check, new_seed, read_documents};
use crate::exit::{Exit, Failure, Result};
use crate::{output, progress};

#[derive(Debug, Args)]
pub(crate) struct TortureArgs {
    /// For how long, in all
    #[arg(long, value_name = "N", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
    /// Kill so many processes at least, however long that takes, and do nothing else
    #[arg(long, value_name = "N", conflicts_with = "seconds", value_parser = clap::value_parser!(u64).range(1..))]
    kills: Option<u64>,
    /// So many processes work, and are killed, at a time
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=64))]
    jobs: u64,
    /// What everything follows from but for the moment of a kill [default: a new one]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Where the killed processes have their stores; that of a violation stays there [default: where temporary files go]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Documents to fill stores with, as `gate --data` takes them [default: built-in ones]
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// The checks to run, such as crash,media,faults,kills,lives; of the kills, those of commands alone are called commands
    /// [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    what: Vec<String>,
    /// A power cut may leave garbage in the sectors that were being written, and in those that the file grew by
    #[arg(long, conflicts_with = "kills")]
    garbage: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The check that the gate runs for a moment, and this command for long.
const KILLS: &str = "kills";
/// The part of it in which the built commands are killed.
const COMMANDS: &str = "commands";

#[derive(Debug, Serialize)]
struct Report {
    held: bool,
    seed: u64,
    seconds: f64,
    /// Everything that was tried: recoveries, lives, damaged files, faults, kills.
    cases: u64,
    violations: usize,
    checks: Vec<Check>,
}

#[derive(Debug, Serialize)]
struct Check {
    name: String,
    held: bool,
    cases: u64,
    seconds: f64,
    kills: Option<KillFigures>,
    notes: Vec<String>,
    failure: Option<String>,
    replay: Option<String>,
}

#[derive(Debug, Serialize)]
struct KillFigures {
    stories: u64,
    kills: u64,
    closes: u64,
    /// Kills by what they met.
    met: serde_json::Map<String, serde_json::Value>,
    acknowledged_buffered: u64,
    acknowledged_written: u64,
    acknowledged_synced: u64,
    acknowledged_of_threads: u64,
    took: u64,
    left: u64,
    backups: u64,
    /// Commands that were run on what a killed command left.
    commands: u64,
}

pub(crate) fn run(args: &TortureArgs) -> Result<Exit> {
    let torture = Torture::new(args)?;
    let bar = progress::of_work();
    let report = torture.run(&bar)?;
    bar.finish_and_clear();
    output::report(&report, args.json, text)?;
    Ok(if report.held { Exit::Done } else { Exit::No })
}

/// The process that is killed.
pub(crate) fn work(assignment: &[OsString]) -> Result<Exit> {
    kills::work(assignment, &mut io::stdout()).map_err(Failure::not_found)?;
    Ok(Exit::Done)
}

/// What is asked for.
struct Torture<'a> {
    args: &'a TortureArgs,
    seed: u64,
    names: Vec<String>,
    documents: Option<Vec<Document>>,
}

impl<'a> Torture<'a> {
    fn new(args: &'a TortureArgs) -> Result<Torture<'a>> {
        let names = match (&args.kills, args.what.is_empty()) {
            (None, true) => gate::names().map(str::to_owned).collect(),
            (Some(_), true) => vec![KILLS.to_owned()],
            (Some(_), false) if args.what != [KILLS] && args.what != [COMMANDS] => {
                return Err(Failure::usage("--kills is for the checks kills or commands alone"));
            }
            _ => args.what.iter().map(|name| known(name)).collect::<Result<Vec<String>>>()?,
        };
        if let Some(dir) = args.dir.as_deref().filter(|dir| !dir.is_dir()) {
            return Err(Failure::usage(format!("{} is no directory", dir.display())));
        }
        let documents = args.data.as_deref().map(read_documents).transpose()?;
        Ok(Torture { args, seed: args.seed.unwrap_or_else(new_seed), names, documents })
    }

    /// Each check gets its part of the time that is left: what one that comes to an end does not need goes to the others.
    fn run(&self, bar: &ProgressBar) -> Result<Report> {
        let (start, all) = (Instant::now(), Duration::from_secs(self.args.seconds));
        let mut checks = Vec::new();
        for (index, name) in self.names.iter().enumerate() {
            let left = all.saturating_sub(start.elapsed());
            let share = left / (self.names.len() - index) as u32;
            bar.set_message(name.clone());
            checks.push(match name.as_str() {
                KILLS | COMMANDS => self.kill(name, share, bar)?,
                name => self.check(name, share, bar),
            });
        }
        let violations = checks.iter().filter(|check| !check.held).count();
        Ok(Report {
            held: violations == 0,
            seed: self.seed,
            seconds: start.elapsed().as_secs_f64(),
            cases: checks.iter().map(|check| check.cases).sum(),
            violations,
            checks,
        })
    }

    /// A check of the gate.
    fn check(&self, name: &str, share: Duration, bar: &ProgressBar) -> Check {
        let options = GateOptions {
            seed: self.seed,
            seconds: share.as_secs().max(1),
            documents: self.documents.clone(),
            only: Some(name.to_owned()),
            shard: Shard::WHOLE,
            garbage: self.args.garbage,
            fail_fast: false,
            stop: None,
        };
        let report = gate::run(&options, &|now| bar.set_position((now.fraction * 1000.0) as u64));
        let report = report.checks.into_iter().next().expect("the gate knows the check");
        let CheckReport { held, cases, seconds, failure, notes, .. } = report;
        // It comes as far again only if it gets as long.
        let replay = failure.as_ref().map(|_| {
            let garbage = if self.args.garbage { " --garbage" } else { "" };
            self.replay(format_args!(
                "--what {name} --seed {} --seconds {}{garbage}",
                self.seed, options.seconds
            ))
        });
        Check { name: name.to_owned(), held, cases, seconds, kills: None, notes, failure, replay }
    }

    fn kill(&self, name: &str, share: Duration, bar: &ProgressBar) -> Result<Check> {
        let start = Instant::now();
        let kills = Kills {
            worker: Worker::this_program().map_err(Failure::not_found)?,
            directory: self.args.dir.clone().unwrap_or_else(std::env::temp_dir),
            documents: self.documents.clone().unwrap_or_default(),
            only: (name == COMMANDS).then_some(Work::Commands),
        };
        let goes_on = |count: u64| {
            let fraction = match self.args.kills {
                Some(wanted) => count as f64 / wanted as f64,
                None => start.elapsed().as_secs_f64() / share.as_secs_f64().max(0.001),
            };
            bar.set_position((fraction * 1000.0) as u64);
            fraction < 1.0
        };
        let (tally, violation) = kills.search(self.seed, self.args.jobs as usize, &goes_on);
        Ok(Check {
            name: name.to_owned(),
            held: violation.is_none(),
            cases: tally.kills,
            seconds: start.elapsed().as_secs_f64(),
            kills: Some(KillFigures::from(&tally)),
            notes: vec![tally.to_string()],
            failure: violation.as_ref().map(Violation::to_string),
            replay: violation.map(|Violation { seed, lives, .. }| {
                self.replay(format_args!("--what {KILLS} --seed {seed} --kills {lives} --jobs 1"))
            }),
        })
    }

    fn replay(&self, how: std::fmt::Arguments<'_>) -> String {
        let with = |name: &str, path: &Option<PathBuf>| {
            let path: Option<&Path> = path.as_deref();
            path.map_or_else(String::new, |path| format!(" {name} {}", quoted(path)))
        };
        format!("holotype torture {how}{}{}", with("--data", &self.args.data), with("--dir", &self.args.dir))
    }
}

fn known(name: &str) -> Result<String> {
    if name == COMMANDS { Ok(name.to_owned()) } else { known_check(name) }
}

impl From<&Tally> for KillFigures {
    fn from(tally: &Tally) -> KillFigures {
        let [acknowledged_buffered, acknowledged_written, acknowledged_synced] = tally.acknowledged;
        let met = WHEN.iter().zip(tally.met).map(|(when, count)| ((*when).to_owned(), count.into()));
        KillFigures {
            stories: tally.stories,
            kills: tally.kills,
            closes: tally.closes,
            met: met.collect(),
            acknowledged_buffered,
            acknowledged_written,
            acknowledged_synced,
            acknowledged_of_threads: tally.threads,
            took: tally.took,
            left: tally.left,
            backups: tally.backups,
            commands: tally.commands,
        }
    }
}

/// What each check tried, what did not hold, and the sums.
fn text(report: &Report) -> String {
    const STRING: &str = "a string takes all that is written to it";
    let mut text = String::new();
    let mut line = |line: std::fmt::Arguments<'_>| writeln!(text, "{line}").expect(STRING);
    for check in &report.checks {
        for note in &check.notes {
            line(format_args!("{}: {note}", check.name));
        }
    }
    line(format_args!("\n{:<12} {:>12} {:>9}  held", "check", "cases", "time"));
    for check in &report.checks {
        let held = if check.held { "yes" } else { "NO" };
        line(format_args!("{:<12} {:>12} {:>7.1} s  {held}", check.name, check.cases, check.seconds));
    }
    for check in &report.checks {
        if let (Some(failure), Some(replay)) = (&check.failure, &check.replay) {
            line(format_args!("\n{} did not hold: {failure}\nreplay with: {replay}", check.name));
        }
    }
    let Report { seed, seconds, cases, violations, .. } = report;
    line(format_args!("\n{cases} cases in {seconds:.0} s, {violations} violations (seed {seed})"));
    text.trim_end().to_owned()
}
