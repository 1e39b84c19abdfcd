//! Puts another store under the power cuts that Holotype is put under.
//!
//! ```text
//! cargo run --release -- redb --seconds 60          lives from seed 0 on, and what they came to
//! cargo run --release -- redb --seed 17             one life: the replay of what was found
//! cargo run --release -- controls                   redb on a storage without syncs, and commits said to be durable that are not: each must be found
//! ```
//!
//! Options: `--use plain|two-phase|quick-repair|no-sync|overstated`, `--first N` for another first seed, `--steps N`, `--sector N`, `--creation yes` to cut the
//! power while the store is created, too, and `--lengths any` for lengths that a cut may leave in between of two.

mod redb_store;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use holotype_crash_tests::torture::{Finding, Plan, Tally, life};
use redb_store::{Redb, Use};

/// What was asked for.
struct Wanted {
    store: String,
    way: Use,
    plan: Plan,
    /// One life, or as many as there is time for.
    only: bool,
    time: Duration,
}

fn main() -> ExitCode {
    let wanted = match wanted() {
        Ok(wanted) => wanted,
        Err(what) => {
            eprintln!(
                "{what}\nusage: holotype-other-stores redb|controls [--use USE] [--seed N | --first N] [--seconds N] [--steps N] [--sector N] [--creation yes|no] [--lengths whole|any]"
            );
            return ExitCode::from(2);
        }
    };
    // A panic of a store is a finding, and says what there is to say.
    std::panic::set_hook(Box::new(|_| {}));
    if wanted.store == "controls" { controls(&wanted.plan) } else { search(&wanted) }
}

fn wanted() -> Result<Wanted, String> {
    let mut arguments = std::env::args().skip(1);
    let store = arguments.next().ok_or("which store?")?;
    if !["redb", "controls"].contains(&store.as_str()) {
        return Err(format!("no store is named {store}"));
    }
    let mut wanted = Wanted {
        store,
        way: Use::Plain,
        plan: Plan { creation: false, whole_lengths: true, ..Plan::new(0) },
        only: false,
        time: Duration::from_secs(60),
    };
    while let Some(option) = arguments.next() {
        let value = arguments.next().ok_or(format!("{option} needs a value"))?;
        let number = || value.parse::<u64>().map_err(|_| format!("{option} needs a number"));
        match option.as_str() {
            "--use" => wanted.way = way(&value)?,
            "--seed" => (wanted.plan.seed, wanted.only) = (number()?, true),
            "--first" => wanted.plan.seed = number()?,
            "--seconds" => wanted.time = Duration::from_secs(number()?),
            "--steps" => wanted.plan.steps = number()? as usize,
            "--creation" => wanted.plan.creation = value == "yes",
            "--lengths" => wanted.plan.whole_lengths = value == "whole",
            "--sector" => wanted.plan.sector = number()? as u32,
            _ => return Err(format!("no option is named {option}")),
        }
    }
    Ok(wanted)
}

fn way(name: &str) -> Result<Use, String> {
    Ok(match name {
        "plain" => Use::Plain,
        "two-phase" => Use::TwoPhase,
        "quick-repair" => Use::QuickRepair,
        "no-sync" => Use::NoSync,
        "overstated" => Use::Overstated,
        _ => return Err(format!("redb is not used as {name}")),
    })
}

fn one(way: Use, plan: &Plan) -> Result<Tally, Box<Finding>> {
    match way {
        Use::Plain => life::<Redb<{ Use::Plain as u8 }>>(plan),
        Use::TwoPhase => life::<Redb<{ Use::TwoPhase as u8 }>>(plan),
        Use::QuickRepair => life::<Redb<{ Use::QuickRepair as u8 }>>(plan),
        Use::NoSync => life::<Redb<{ Use::NoSync as u8 }>>(plan),
        Use::Overstated => life::<Redb<{ Use::Overstated as u8 }>>(plan),
    }
}

fn search(wanted: &Wanted) -> ExitCode {
    let began = Instant::now();
    let mut all = Tally::default();
    let mut plan = wanted.plan.clone();
    loop {
        match one(wanted.way, &plan) {
            Ok(tally) => all.add(&tally),
            Err(finding) => {
                println!("{all}\n\nfound with {finding}");
                return ExitCode::FAILURE;
            }
        }
        if wanted.only || began.elapsed() >= wanted.time {
            break;
        }
        plan.seed += 1;
    }
    println!("{all}, {} seconds; nothing found", began.elapsed().as_secs());
    ExitCode::SUCCESS
}

/// Lives in which a control must be found.
const CONTROL_LIVES: u64 = 5;

fn controls(plan: &Plan) -> ExitCode {
    let mut all_found = true;
    for way in [Use::NoSync, Use::Overstated] {
        let found = (0..CONTROL_LIVES).find_map(|seed| one(way, &Plan { seed, ..plan.clone() }).err());
        all_found &= found.is_some();
        match found {
            Some(finding) => println!("{way:?} is found with {finding}\n"),
            None => println!("{way:?} is NOT found in {CONTROL_LIVES} lives\n"),
        }
    }
    if all_found { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
