//! `holotype gate`: does the store keep its promises, on this machine and on these documents?

mod attached;
mod escape;
mod github;
mod html;
mod junit;
mod matrix;
mod merge;
pub(super) mod report;
mod shard;
mod soak;
mod text;

use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use holotype::Document;
use holotype_crash_tests::gate::{self, GateOptions, Progress};
use holotype_crash_tests::part::Shard;
use indicatif::ProgressBar;

use crate::exit::{Exit, Failure, Result};
use crate::input::Input;
use crate::{output, progress};

use attached::Attached;
use report::Report;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct GateArgs {
    #[command(subcommand)]
    command: Option<GateCommand>,
    /// Documents to fill stores with: JSON Lines, or one JSON array of objects; - for standard input [default: built-in ones]
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// What everything random follows from: the same seed tries the same things in the same order [default: a new one]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// How long to search
    #[arg(long, value_name = "NAME", default_value = "quick")]
    profile: Profile,
    /// For how long to try new things, about, whatever the profile; when soaking, the length of the first round
    #[arg(long, value_name = "N")]
    seconds: Option<u64>,
    /// Try the K-th of N parts of the cases: one for each machine, `gate merge` puts the results together
    #[arg(long, value_name = "K/N", requires = "seed", value_parser = shard::parse)]
    shard: Option<Shard>,
    /// Run this check only
    #[arg(long, value_name = "NAME")]
    check: Option<String>,
    /// End with the first check that does not hold
    #[arg(long)]
    fail_fast: bool,
    #[command(flatten)]
    outputs: Outputs,
}

#[derive(Debug, Subcommand)]
enum GateCommand {
    /// Put the results of shards together, and fail where they do not make a whole
    Merge(MergeArgs),
}

#[derive(Debug, Args)]
struct MergeArgs {
    /// What `gate --shard K/N --json` printed, a file for each shard
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    outputs: Outputs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Profile {
    /// About 45 seconds: for every change
    Quick,
    /// Ten minutes
    Standard,
    /// Until it is stopped, or a check fails
    Soak,
}

impl Profile {
    /// For soaking, of the first round.
    fn seconds(self) -> u64 {
        match self {
            Profile::Quick | Profile::Soak => gate::SECONDS,
            Profile::Standard => 600,
        }
    }
}

/// In which forms to tell how it went, besides the table.
#[derive(Debug, Args)]
struct Outputs {
    /// Print one JSON object in place of the table
    #[arg(long)]
    json: bool,
    /// Print, before the table, in how many lives each two of twelve features were at work; --json and --html always tell it
    #[arg(long, conflicts_with = "json")]
    report: bool,
    /// Write each check as a test case of JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Annotate what failed, and add to the summary of the step, as GitHub Actions take it
    #[arg(long)]
    github: bool,
    /// Write a page for a browser, with everything in it
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Show this matrix of seeded bugs on the page
    #[arg(long, value_name = "FILE", requires = "html")]
    matrix: Option<PathBuf>,
    /// Show on the page which lines the fuzz corpora reach, as `fuzz/coverage --json FILE` tells it
    #[arg(long, value_name = "FILE", requires = "html")]
    coverage: Option<PathBuf>,
}

pub(crate) fn run(args: &GateArgs) -> Result<Exit> {
    match &args.command {
        Some(GateCommand::Merge(args)) => {
            let attached = args.outputs.read_attached()?;
            args.outputs.tell(&merge::merge_files(&args.files)?, &attached)
        }
        None => {
            let attached = args.outputs.read_attached()?;
            args.outputs.tell(&run_checks(args)?, &attached)
        }
    }
}

fn run_checks(args: &GateArgs) -> Result<Report> {
    let mut options = GateOptions {
        seed: args.seed.unwrap_or_else(new_seed),
        seconds: args.seconds.unwrap_or(args.profile.seconds()),
        documents: args.data.as_deref().map(read_documents).transpose()?,
        only: args.check.as_deref().map(known_check).transpose()?,
        shard: args.shard.unwrap_or_default(),
        garbage: false,
        fail_fast: args.fail_fast,
        stop: None,
    };
    if options
        .only
        .as_deref()
        .is_some_and(|only| !gate::names_of_shard(options.shard).any(|name| name == only))
    {
        let check = args.check.as_deref().unwrap_or_default();
        return Err(Failure::usage(format!(
            "the first shard alone does the check {check:?}, which is short"
        )));
    }
    let bar = progress::of_work();
    let progress = |now: Progress| show(&bar, now);
    let report = match args.profile {
        Profile::Soak => soak::run(&mut options, &bar, &progress)?,
        Profile::Quick | Profile::Standard => gate::run(&options, &progress),
    };
    bar.finish_and_clear();
    Ok(Report::new(report, args.data.as_deref()))
}

fn show(bar: &ProgressBar, now: Progress) {
    bar.set_message(now.check);
    bar.set_position((now.fraction * 1000.0) as u64);
}

/// Short enough to be typed again, and to be exact in every reader of JSON.
pub(super) fn new_seed() -> u64 {
    RandomState::new().hash_one("seed") >> 32
}

pub(super) fn read_documents(file: &Path) -> Result<Vec<Document>> {
    let documents = Input::open(file)?.items::<Document>()?;
    let documents = documents.map(|item| item.map(|(_, document)| document)).collect::<Result<Vec<_>>>()?;
    match documents.is_empty() {
        true => Err(Failure::usage(format!("{}: no document in it", file.display()))),
        false => Ok(documents),
    }
}

pub(super) fn known_check(name: &str) -> Result<String> {
    if gate::names().any(|known| known == name) {
        return Ok(name.to_owned());
    }
    let known: Vec<_> = gate::names().collect();
    Err(Failure::usage(format!("no check is called {name:?}; there are {}", known.join(", "))))
}

impl Outputs {
    /// Before anything that takes time, so that a wrong name is told at once.
    fn read_attached(&self) -> Result<Attached> {
        Attached::read(self.matrix.as_deref(), self.coverage.as_deref())
    }

    fn tell(&self, report: &Report, attached: &Attached) -> Result<Exit> {
        // A file that cannot be written is told, but does not keep back the result.
        let written = self.write_files(report, attached);
        let table = if self.report { text::table_with_pairs } else { text::table };
        output::report(report, self.json, table)?;
        written?;
        Ok(if report.held { Exit::Done } else { Exit::No })
    }

    fn write_files(&self, report: &Report, attached: &Attached) -> Result<()> {
        if let Some(file) = &self.junit {
            output::file(file, "--junit", &junit::xml(report)?)?;
        }
        if let Some(file) = &self.html {
            output::file(file, "--html", &html::page(report, attached))?;
        }
        if self.github {
            github::tell(report)?;
        }
        Ok(())
    }
}
