//! How long a store of many small documents takes to open, closed before or not.
//!
//! The files are made once; then stores take turns at opening them, with all of their bytes in the system's cache.

mod bison;
mod crash;
mod limit;
mod reopened;

use std::rc::Rc;

use crate::failure::Result;
use crate::place;
use crate::plan::Plan;
use crate::report::{Better, Record, Report};
use crate::stores::{Lack, each_reader};
use crate::turns::{Contender, take_turns};
use reopened::Reopened;

/// What one opening took, in milliseconds by the wall.
#[derive(Debug, Clone, Copy)]
pub struct Opening {
    open: f64,
    /// From the beginning of the opening until the first document was read.
    first_read: f64,
}

/// What opening is meant to be: so many times as fast as bison-db, at most so many times the limit, and so many milliseconds more
/// after a crash.
const GOAL_PEER: f64 = 10.0;
const GOAL_LIMIT: f64 = 3.0;
const GOAL_CRASH_MILLIS: f64 = 200.0;

/// Prints the table of openings.
pub fn run(plan: &Plan, report: &mut Report) -> Result<()> {
    let mut contenders = Vec::new();
    macro_rules! add {
        ($store:ty) => {
            contenders.push(openings_of::<$store>(plan)?)
        };
    }
    macro_rules! add_if_it_can {
        ($store:ty) => {
            if !Lack::any::<$store>(|lack| matches!(lack, Lack::Reopened(_))) {
                add!($store);
            }
        };
    }
    each_reader!(add_if_it_can);
    add!(bison::Bison);
    let peers = contenders.len();
    contenders.extend(limit::contenders(plan)?);
    contenders.push(crash::contender(plan)?);
    take_turns("open", &mut contenders, plan.trials)?;
    print(&contenders, peers, plan.many);
    let workload = format!("opening {} documents", plan.many);
    for contender in &contenders[..peers] {
        report.add(records_of(&workload, contender, plan.many));
    }
    Ok(())
}

fn records_of(workload: &str, contender: &Contender<Opening>, count: u64) -> Vec<Record> {
    let record = |row, figure: fn(&Opening) -> f64| Record {
        done: Some(format!("{count} documents there")),
        ..Record::of([workload, row], ("ms", Better::Less), contender, figure)
    };
    vec![
        record("open, closed before", |opening| opening.open),
        record("open and read one document", |opening| opening.first_read),
    ]
}

fn openings_of<R: Reopened + 'static>(plan: &Plan) -> Result<Contender<Opening>> {
    eprintln!("open: filling {}", R::WHO);
    let (directory, count) = (Rc::new(place::files_of(R::WHO, &plan.directory)?), plan.many);
    R::fill(directory.path(), count)?;
    Ok(Contender::new(R::WHO, move || reopened::run::<R>(directory.path(), count)))
}

fn print(contenders: &[Contender<Opening>], peers: usize, count: u64) {
    let median = |index: usize| contenders[index].spread(|opening| opening.open).median;
    let (ours, bison) = (median(0), median(peers - 1));
    let (limit, kept, crash) = (median(peers), median(peers + 1), median(peers + 2));
    println!("## Opening {count} small documents\n");
    println!("Milliseconds by the wall, files in the system's cache: median (least to greatest).\n");
    println!("| | open | open and read one document | bison-db : it | it : the limit |");
    println!("|---|---:|---:|---:|---:|");
    for contender in contenders {
        let open = contender.spread(|opening| opening.open);
        println!(
            "| {} | {} | {} | {:.2} | {:.2} |",
            contender.name,
            open.cell(),
            contender.spread(|opening| opening.first_read).cell(),
            bison / open.median,
            open.median / limit
        );
    }
    println!();
    let verdict = |held: bool| if held { "met" } else { "missed" };
    println!("| goal | | |");
    println!("|---|---:|---|");
    println!(
        "| at least {GOAL_PEER} times as fast as bison-db | **{:.2}** | {} |",
        bison / ours,
        verdict(bison / ours >= GOAL_PEER)
    );
    println!(
        "| at most {GOAL_LIMIT} times the limit | **{:.2}** | {} |",
        ours / limit,
        verdict(ours / limit <= GOAL_LIMIT)
    );
    println!("| ... of what an index in memory takes at least | {:.2} | |", ours / kept);
    println!(
        "| at most {GOAL_CRASH_MILLIS} ms more after a crash | **{:.1}** | {} |\n",
        crash - ours,
        verdict(crash - ours <= GOAL_CRASH_MILLIS)
    );
}
