//! `holotype verify`: is everything as it was written?

use std::path::PathBuf;

use clap::Args;
use holotype::{Corruption, Db, Error, Options};
use serde::Serialize;

use crate::advice::Advice;
use crate::exit::{Exit, Failure, Result};
use crate::output;
use crate::wait;

/// The clause that a superblock slot breaks which is not valid beside one that is.
const INVALID_SLOT: &str = "F-3.3";

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// The store
    store: PathBuf,
    /// Check every byte of the log too, not just the documents that are there now
    #[arg(long)]
    deep: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Verified {
    clean: bool,
    documents: u64,
    /// Of indexes, compared with the documents that give them.
    entries: u64,
    /// Null unless the check was a deep one.
    commits: Option<u64>,
    problems: Vec<Problem>,
}

#[derive(Debug, Serialize)]
struct Problem {
    at: u64,
    clause: &'static str,
    what: &'static str,
    expected: u64,
    found: u64,
    #[serde(skip)]
    message: String,
}

impl From<&Corruption> for Problem {
    fn from(corruption: &Corruption) -> Self {
        let Corruption { at, clause, what, expected, found } = corruption;
        let (at, expected, found) = (*at, *expected, *found);
        Problem { at, clause: clause.0, what, expected, found, message: corruption.to_string() }
    }
}

pub(crate) fn run(args: &VerifyArgs) -> Result<Exit> {
    let verified = verify(args).map_err(|error| Failure::store(&args.store, &error))?;
    output::report(&verified, args.json, text)?;
    Ok(if verified.clean { Exit::Done } else { Exit::Damaged })
}

/// Damage that keeps the store from opening is a finding like any other.
fn verify(args: &VerifyArgs) -> holotype::Result<Verified> {
    let options = Options::new().read_only(true).create(false);
    let opened = wait::until_unlocked(|| Db::open_with(&args.store, &options));
    let checked = opened.and_then(|db| db.verify(args.deep));
    match checked {
        Ok(report) => Ok(Verified {
            clean: report.is_clean(),
            documents: report.documents,
            entries: report.entries,
            commits: args.deep.then_some(report.commits),
            problems: report.problems.iter().map(Problem::from).collect(),
        }),
        Err(Error::Corrupt(corruption)) => Ok(Verified {
            clean: false,
            documents: 0,
            entries: 0,
            commits: None,
            problems: vec![Problem::from(&corruption)],
        }),
        Err(error) => Err(error),
    }
}

fn text(verified: &Verified) -> String {
    let mut lines: Vec<_> =
        verified.problems.iter().map(|problem| format!("damaged: {}", problem.message)).collect();
    let entries = match verified.entries {
        0 => String::new(),
        entries => format!(" and {entries} entries of indexes"),
    };
    let commits = verified.commits.map(|commits| format!(" and {commits} commits")).unwrap_or_default();
    // One valid slot opens the store, and any command that writes mends the other.
    let is_slot = |problem: &Problem| problem.clause == INVALID_SLOT;
    let advice = if verified.problems.iter().all(is_slot) { Advice::WriteSlotAnew } else { Advice::Salvage };
    let found = match verified.problems.len() {
        0 => "all as they were written".to_owned(),
        count => format!("{}; {advice}", output::problems(count as u64)),
    };
    lines.push(format!("{} documents{entries}{commits} checked: {found}", verified.documents));
    lines.join("\n")
}
