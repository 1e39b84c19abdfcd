//! Commits that are durable when the call returns, beside what the machine allows.
//!
//! Stores and the ways of writing without one take turns in one run, so that each ratio is of figures that belong together.

mod batches;
mod commits;
pub mod limits;

use std::path::Path;

use crate::failure::Result;
use crate::latencies::Latencies;
use crate::plan::Plan;
use crate::report::{Better, Record, Report};
use crate::stores::sled::Sled;
use crate::stores::{Store, each_durable};
use crate::turns::{Contender, take_turns};

type Timed = Contender<Latencies>;

/// How many threads commit at once, where more than one does.
const THREADS: u64 = 8;

/// Prints the tables of durable commits.
pub fn run(plan: &Plan, report: &mut Report) -> Result<()> {
    let mut contenders = Vec::new();
    macro_rules! add {
        ($store:ty) => {
            contenders.extend(trials_of::<$store>(plan))
        };
    }
    each_durable!(add);
    let durable = contenders.len();
    add!(Sled);
    let all_stores = contenders.len();
    contenders.extend(limits::WAYS.map(|way| {
        let (directory, commits) = (plan.directory.clone(), plan.commits);
        Contender::new(way.name, move || limits::run(&directory, way, commits))
    }));
    take_turns("durable", &mut contenders, plan.trials)?;

    let (stores, limits) = contenders.split_at(all_stores);
    let (stores, apart) = stores.split_at(durable);
    let fastest = print_limits(limits, plan.commits);
    print_commits(stores, plan.commits, fastest);
    print_batches(stores);
    print_apart(apart);
    for rows in stores.chunks(ROWS_OF_A_STORE) {
        report.add(records_of(rows));
    }
    report.add(
        limits
            .iter()
            .map(|limit| {
                record("the machine: writes that are durable", limit, &limit.name, "writes a second", 1.0)
            })
            .collect(),
    );
    Ok(())
}

fn record(workload: &str, contender: &Timed, row: &str, unit: &'static str, times: f64) -> Record {
    let rate = |latencies: &Latencies| latencies.per_second() * times;
    let p99 = contender.spread(|latencies| latencies.micros(0.99)).median;
    Record::of([workload, row], (unit, Better::More), contender, rate).with_p99(p99)
}

fn records_of(rows: &[Timed]) -> Vec<Record> {
    let workload = "durable commits";
    vec![
        record(workload, &rows[0], "one document, 1 thread", "commits a second", 1.0),
        record(workload, &rows[1], "one document, 8 threads", "commits a second", 1.0),
        record(workload, &rows[2], "batches of 100 documents", "documents a second", batches::BATCH as f64),
    ]
}

/// One thread, many threads, batches.
const ROWS_OF_A_STORE: usize = 3;

fn trials_of<S: Store>(plan: &Plan) -> [Timed; ROWS_OF_A_STORE] {
    let contender = |run: fn(&Path, u64) -> Result<Latencies>| {
        let (directory, commits) = (plan.directory.clone(), plan.commits);
        Contender::new(S::NAME, move || run(&directory, commits))
    };
    [
        contender(|directory, commits| commits::run::<S>(directory, 1, commits)),
        contender(|directory, commits| commits::run::<S>(directory, THREADS, commits)),
        contender(|directory, _| batches::run::<S>(directory)),
    ]
}

fn per_second(contender: &Timed) -> f64 {
    contender.spread(Latencies::per_second).median
}

/// The best of all but the first, which is ours.
fn best_peer(figures: &[f64]) -> f64 {
    figures[1..].iter().copied().fold(0.0, f64::max)
}

fn micros(contender: &Timed, share: f64) -> String {
    format!("{:.0}", contender.spread(|latencies| latencies.micros(share)).median)
}

/// The writes a second of the fastest way.
fn print_limits(limits: &[Timed], count: u64) -> f64 {
    println!("## What the machine allows: {count} durable writes without a store\n");
    println!("| | writes a second | p50 µs | p99 µs |");
    println!("|---|---:|---:|---:|");
    for limit in limits {
        let rate = limit.spread(Latencies::per_second).cell();
        println!("| {} | {rate} | {} | {} |", limit.name, micros(limit, 0.5), micros(limit, 0.99));
    }
    println!();
    limits.iter().map(per_second).fold(0.0, f64::max)
}

fn print_commits(of_stores: &[Timed], count: u64, fastest: f64) {
    let rates = |threads: usize| -> Vec<f64> {
        of_stores.chunks(ROWS_OF_A_STORE).map(|rows| per_second(&rows[threads])).collect()
    };
    let (best_one, best_many) = (best_peer(&rates(0)), best_peer(&rates(1)));
    println!("## Durable commits of one document: {count} in all\n");
    println!(
        "| | 1 thread: commits a second | p50 µs | p99 µs | time : the fastest write's | : best peer | {THREADS} threads: commits a second | p50 µs | p99 µs | : best peer | {THREADS} threads : 1 |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
    for rows in of_stores.chunks(ROWS_OF_A_STORE) {
        let [one, many] = [&rows[0], &rows[1]];
        let [rate_of_one, rate_of_many] = [one, many].map(per_second);
        println!(
            "| {} | {} | {} | {} | **{:.2}** | {:.2} | {} | {} | {} | {:.2} | **{:.2}** |",
            one.name,
            one.spread(Latencies::per_second).cell(),
            micros(one, 0.5),
            micros(one, 0.99),
            fastest / rate_of_one,
            rate_of_one / best_one,
            many.spread(Latencies::per_second).cell(),
            micros(many, 0.5),
            micros(many, 0.99),
            rate_of_many / best_many,
            rate_of_many / rate_of_one,
        );
    }
    println!();
}

fn print_batches(of_stores: &[Timed]) {
    let batch = batches::BATCH as f64;
    let batches = || of_stores.chunks(ROWS_OF_A_STORE).map(|rows| &rows[2]);
    let best = best_peer(&batches().map(per_second).collect::<Vec<_>>());
    println!(
        "## Durable batches of {batch} documents: {} documents in all, one thread\n",
        batches::DOCUMENTS
    );
    println!("| | documents a second | p50 µs a batch | p99 µs a batch | : best peer |");
    println!("|---|---:|---:|---:|---:|");
    for contender in batches() {
        println!(
            "| {} | {} | {} | {} | **{:.2}** |",
            contender.name,
            contender.spread(|latencies| latencies.per_second() * batch).cell(),
            micros(contender, 0.5),
            micros(contender, 0.99),
            per_second(contender) / best
        );
    }
    println!();
}

/// The store whose flush does not reach the disk: its figures stand beside nobody's.
fn print_apart(rows: &[Timed]) {
    println!("## Not durable: {}, whose flush does not empty the disk's cache\n", rows[0].name);
    println!("| | flushes a second | p50 µs | p99 µs |");
    println!("|---|---:|---:|---:|");
    let names = ["1 thread", "8 threads", "1 thread, batches of 100 documents"];
    for (row, name) in rows.iter().zip(names) {
        let rate = row.spread(Latencies::per_second).cell();
        println!("| {name} | {rate} | {} | {} |", micros(row, 0.5), micros(row, 0.99));
    }
    println!();
}
