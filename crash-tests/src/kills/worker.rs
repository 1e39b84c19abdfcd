//! The worker: opens the store, does its work, and says so after each call, once it has returned.

use std::ffi::OsString;
use std::io::Write;

use holotype::Db;
use holotype_model::Op;

use super::assignment::{Assignment, Work};
use super::line::{Line, digest};
use super::plan::Plan;
use super::{documents, ledger};
use crate::adapter;
use crate::client::Client;

/// Carries out the assignment that `args` are, and says on `out` how far it has come.
///
/// # Errors
/// What kept it from coming to its end; it is on `out` as well.
pub fn work(args: &[OsString], out: &mut (impl Write + Send)) -> Result<(), String> {
    let result = Assignment::from_args(args).and_then(|assignment| live(&assignment, out));
    if let Err(what) = &result {
        say(out, &Line::Failed(what.clone()))?;
    }
    result
}

fn live(assignment: &Assignment, out: &mut (impl Write + Send)) -> Result<(), String> {
    switch_on(assignment.bug.as_deref())?;
    let plan = Plan::new(assignment.seed, &documents::read(&assignment.documents)?);
    let calls = plan.lives.get(assignment.life as usize).ok_or("there is no such life")?;
    say(out, &Line::Opening)?;
    let db = Db::open_with(&assignment.file, &plan.options()).map_err(|error| format!("opening: {error}"))?;
    let contents = adapter::contents(&db).map_err(|error| format!("reading what it holds: {error}"))?;
    say(out, &Line::Opened(digest(&contents)))?;
    match assignment.work {
        Work::Calls => call(db, calls, out)?,
        Work::Commands => return Err("commands need no worker".to_owned()),
        Work::Ledger => ledger::keep(db, &assignment.file, plan.rng(assignment.life).next_u64(), out)?,
    }
    say(out, &Line::Closed)
}

fn call(db: Db, calls: &[Op], out: &mut impl Write) -> Result<(), String> {
    let mut client = Client::new(db);
    for op in calls {
        let outcome = client.apply(op);
        say(out, &Line::Answered(digest(&outcome), outcome.to_string()))?;
    }
    client.close().map_err(|error| format!("closing: {error}"))
}

/// In one write: a worker that is killed in the midst of a line has not said it.
pub(super) fn say(out: &mut impl Write, line: &Line) -> Result<(), String> {
    let said = out.write_all(format!("{line}\n").as_bytes()).and_then(|()| out.flush());
    said.map_err(|error| format!("nobody listens: {error}"))
}

#[cfg(feature = "seeded")]
fn switch_on(bug: Option<&str>) -> Result<(), String> {
    use holotype::seeded::{self, Bug};
    let known = |name: &str| Bug::ALL.iter().copied().find(|bug| format!("{bug:?}") == name);
    let bug = bug.map(|name| known(name).ok_or_else(|| format!("no bug is called {name}"))).transpose()?;
    seeded::switch_on(bug);
    Ok(())
}

#[cfg(not(feature = "seeded"))]
fn switch_on(bug: Option<&str>) -> Result<(), String> {
    bug.map_or(Ok(()), |name| Err(format!("this build has no bug called {name}")))
}
