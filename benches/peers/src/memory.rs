//! The most memory that a process ever uses which loads many documents and reads them all, under a small budget for its cache.

use std::path::Path;

use holotype::{Durability, Options};

use crate::contents::{self, Contents, byte_sum, first};
use crate::failure::{Failure, Of, Result, expect_equal};
use crate::order::scattered;
use crate::plan::Plan;
use crate::report::{Better, Record, Report};
use crate::stores::holotype::Holotype;
use crate::stores::{Read, Session, Store};
use crate::turns::{Contender, take_turns};
use crate::{child, place};

/// The name of the workload, and of its work as a child.
pub const NAME: &str = "memory";

/// What the child does in one process.
const LOAD: &str = "load";
const REOPEN: &str = "reopen";

const CACHE_BYTES: u64 = 16 << 20;

/// What there may be besides the budget: for each document, and for everything else.
const EACH: u64 = 40;
const BESIDE: u64 = 16 << 20;

/// In bytes.
#[derive(Debug, Clone, Copy)]
struct Trial {
    /// Of a process that loads all documents and reads each once.
    load: u64,
    /// Of a process that opens the store again and reads each once.
    reopen: u64,
    /// Of either, before it did anything.
    before: u64,
    file: u64,
}

/// Prints the table of memory.
pub fn run(plan: &Plan, report: &mut Report) -> Result<()> {
    let (directory, count) = (plan.directory.clone(), plan.many);
    let mut contenders = [Contender::new(Holotype::NAME, move || trial(&directory, count))];
    take_turns(NAME, &mut contenders, plan.trials)?;
    print(&contenders[0], plan.many);
    let workload = format!("the most memory, with {} documents", plan.many);
    let record = |row, figure: fn(&Trial) -> u64| Record {
        done: Some(format!("{} documents read", plan.many)),
        ..Record::of([&workload, row], ("bytes", Better::Less), &contenders[0], |trial| figure(trial) as f64)
    };
    report.add(vec![
        record("load and read", |trial| trial.load),
        record("open and read", |trial| trial.reopen),
    ]);
    Ok(())
}

fn print(contender: &Contender<Trial>, count: u64) {
    let bound = CACHE_BYTES + EACH * count + BESIDE;
    let mebibytes =
        |figure: fn(&Trial) -> u64| contender.spread(|trial| figure(trial) as f64 / f64::from(1 << 20));
    println!(
        "## Memory of {count} documents under a budget of {} MiB: the most that a process ever used\n",
        CACHE_BYTES >> 20
    );
    println!("| | MiB | of it before anything | : bound | bytes a document besides the budget |");
    println!("|---|---:|---:|---:|---:|");
    for (what, figure) in [
        ("load, each a commit, and read all in random order", (|trial| trial.load) as fn(&Trial) -> u64),
        ("open again and read all in random order", |trial| trial.reopen),
    ] {
        let worst = contender.spread(|trial| figure(trial) as f64).greatest;
        println!(
            "| {what} | {} | {:.1} | **{:.2}** | {:.1} |",
            mebibytes(figure).cell(),
            mebibytes(|trial| trial.before).median,
            worst / bound as f64,
            (worst - CACHE_BYTES as f64) / count as f64,
        );
    }
    println!();
    println!(
        "Bound: {:.1} MiB, the budget, {EACH} bytes a document, and {} MiB. The file has {} MiB.\n",
        bound as f64 / f64::from(1 << 20),
        BESIDE >> 20,
        mebibytes(|trial| trial.file).cell()
    );
}

fn trial(directory: &Path, count: u64) -> Result<Trial> {
    let directory = place::files_of(Holotype::NAME, directory)?;
    let number = count.to_string();
    let [before, load] = child::run(Holotype::NAME, &[NAME, LOAD, &number], directory.path())?;
    let [_, reopen] = child::run(Holotype::NAME, &[NAME, REOPEN, &number], directory.path())?;
    let file = crate::extent::of(Holotype::NAME, directory.path())?.len;
    contents::check::<Holotype>(directory.path(), Contents::of((1..=count).map(|id| (id, first(id)))))?;
    Ok(Trial { load, reopen, before, file })
}

/// The child: tells the most memory it used before it opened a store, and in the end.
pub fn child(work: &str, count: &str, directory: &Path) -> Result<()> {
    let count: u64 = count.parse().of(Holotype::NAME, "reading what to do")?;
    let options = Options::new().durability(Durability::Written).cache_bytes(CACHE_BYTES as usize);
    let before = child::memory_highest(Holotype::NAME)?;
    let store = Holotype::open_with(directory, &options)?;
    let mut session = store.session()?;
    match work {
        LOAD => (1..=count).try_for_each(|id| session.put(id, &first(id)))?,
        REOPEN => {}
        other => {
            return Err(Failure::new(Holotype::NAME, "reading what to do", format!("{other} is no work")));
        }
    }
    // The list of ids would count as the store's memory: an order without one.
    for id in scattered(count) {
        let sum = session.get(id, byte_sum)?;
        expect_equal(Holotype::NAME, "a document", &Some(byte_sum(&first(id).encode())), &sum)?;
    }
    drop(session);
    child::tell(&[before, child::memory_highest(Holotype::NAME)?]);
    store.close()
}
