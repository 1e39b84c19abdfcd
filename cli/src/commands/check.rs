//! `holotype check`: every life of a small store, to a depth.

use std::fmt::Write;
use std::net::ToSocketAddrs;

use clap::Args;
use holotype_crash_tests::machine::{self, Report, Scope};
use serde::Serialize;

use crate::exit::{Exit, Failure, Result};
use crate::{output, progress};

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Steps from a beginning
    #[arg(long, value_name = "N", default_value_t = Scope::default().depth)]
    depth: u32,
    /// Keys that documents are put under
    #[arg(long, value_name = "N", default_value_t = Scope::default().keys, value_parser = clap::value_parser!(u8).range(1..))]
    keys: u8,
    /// Different documents
    #[arg(long, value_name = "N", default_value_t = Scope::default().values, value_parser = clap::value_parser!(u8).range(1..))]
    values: u8,
    /// Begin with this store only: a blank disk or a prepared one [default: each of them]
    #[arg(long, value_name = "NAME")]
    from: Option<String>,
    /// End when so many different states were met
    #[arg(long, value_name = "N")]
    states: Option<usize>,
    /// Threads that search; with one, two runs do the same
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    threads: u16,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Serve the search for a browser, one step after the other
    #[arg(long, value_name = "ADDR", num_args = 0..=1, default_missing_value = "127.0.0.1:3000", conflicts_with_all = ["json", "replay", "states"])]
    explore: Option<String>,
    /// Walk one path again: a beginning and its steps, with commas between
    #[arg(long, value_name = "PATH", conflicts_with_all = ["json", "states", "from"])]
    replay: Option<String>,
}

#[derive(Debug, Serialize)]
struct Checked {
    held: bool,
    states: usize,
    transitions: usize,
    depth: usize,
    seconds: f64,
    states_per_second: f64,
    always: Vec<&'static str>,
    came_about: Vec<&'static str>,
    never_came_about: Vec<&'static str>,
    replay: Option<String>,
    failure: Option<String>,
}

pub(crate) fn run(args: &CheckArgs) -> Result<Exit> {
    if let Some(path) = &args.replay {
        return replay(path);
    }
    let scope = scope(args)?;
    if let Some(address) = &args.explore {
        return explore(scope, address);
    }
    let bar = progress::of_work();
    let report = machine::search(scope, |states| bar.set_message(format!("{states} states")));
    bar.finish_and_clear();
    let checked = Checked::new(&report);
    output::report(&checked, args.json, text)?;
    Ok(if checked.held { Exit::Done } else { Exit::No })
}

fn scope(args: &CheckArgs) -> Result<Scope> {
    let from = args.from.as_deref().map(|wanted| {
        let known = machine::BEGINNINGS.iter().find(|name| **name == wanted);
        known.copied().ok_or_else(|| {
            let known = machine::BEGINNINGS.join(", ");
            Failure::usage(format!("no beginning is called {wanted:?}; there are {known}"))
        })
    });
    Ok(Scope {
        depth: args.depth,
        keys: args.keys,
        values: args.values,
        from: from.transpose()?,
        states: args.states,
        threads: usize::from(args.threads),
    })
}

/// Serves until it is stopped.
fn explore(scope: Scope, address: &str) -> Result<Exit> {
    let unusable = |why: String| Failure::usage(format!("{address}: {why}"));
    let mut addresses = address.to_socket_addrs().map_err(|error| unusable(error.to_string()))?;
    let address = addresses.next().ok_or_else(|| unusable("no such address".to_owned()))?;
    std::net::TcpListener::bind(address).map_err(|error| unusable(error.to_string()))?;
    output::text(&format!("http://{address}/ until this is stopped"))?;
    machine::explore(scope, address);
    Ok(Exit::Done)
}

fn replay(path: &str) -> Result<Exit> {
    let mut text = String::new();
    let found = machine::replay(path, |step, state| {
        writeln!(text, "{step:<20} {state:?}").expect("a string takes all that is written to it");
    });
    let found = found.map_err(Failure::usage)?;
    output::text(text.trim_end())?;
    Ok(if found.is_none() { Exit::Done } else { Exit::No })
}

impl Checked {
    fn new(report: &Report) -> Self {
        let came = |wanted: bool| {
            let named = report.sometimes.iter().filter(move |(_, came)| *came == wanted);
            named.map(|(name, _)| *name).collect()
        };
        let counterexample = report.counterexample.as_ref();
        Checked {
            held: report.holds(),
            states: report.states,
            transitions: report.transitions,
            depth: report.depth,
            seconds: report.seconds,
            states_per_second: report.rate().round(),
            always: report.always.clone(),
            came_about: came(true),
            never_came_about: came(false),
            replay: counterexample.map(|found| format!("holotype check --replay '{}'", found.path)),
            failure: counterexample.map(|found| found.finding.to_string()),
        }
    }
}

fn text(checked: &Checked) -> String {
    let Checked { states, transitions, depth, seconds, states_per_second, .. } = checked;
    let mut lines = vec![format!(
        "{states} states ({transitions} transitions) to depth {depth} in {seconds:.1} s, {states_per_second} states a second"
    )];
    let mut list = |title: &str, names: &[&str]| {
        if !names.is_empty() {
            lines.push(format!("{title}: {}", names.join("; ")));
        }
    };
    if checked.failure.is_none() {
        list("always", &checked.always);
    }
    list("came about", &checked.came_about);
    list("never came about", &checked.never_came_about);
    lines.extend(checked.failure.as_ref().map(|failure| format!("\n{failure}")));
    lines.extend(checked.replay.as_ref().map(|replay| format!("replay with: {replay}")));
    lines.push(match (checked.held, &checked.failure) {
        (true, _) => "every law held".to_owned(),
        (false, Some(_)) => "NOT every law held".to_owned(),
        (false, None) => {
            "every law held, but not all came about that must: the search is too short".to_owned()
        }
    });
    lines.join("\n")
}
