//! Calls of the store beside bare loops that do only what the system must do for them.
//!
//! ```text
//! cargo run --release -p holotype-benches --bin floor            # each row
//! cargo run --release -p holotype-benches --bin floor -- ROW...
//! ```
//!
//! A row has two arms. Both take turns within one run, on files in one directory, so that a slow
//! disk slows both. The arm that goes first changes from turn to turn. What is printed are the
//! figures of each arm and their ratios; nothing is held to a limit here, since the machine may be
//! busy.

mod bare;
mod store;
mod times;

use std::process::ExitCode;

use holotype::Durability;

use bare::Bare;
use store::Inserts;
use times::Times;

/// Calls of each arm.
const CALLS: usize = 10_000;

/// Calls of one arm before the other has its turn.
const TURN: usize = 250;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// One side of a row: a call that is timed.
trait Arm {
    fn call(&mut self) -> Result<()>;
}

struct Row {
    name: &'static str,
    what: &'static str,
    arms: fn() -> Result<[Box<dyn Arm>; 2]>,
}

const ROWS: [Row; 2] = [
    Row {
        name: "commit-synced",
        what: "single insert, `Synced`, beside an overwrite of 512 bytes and `fdatasync`",
        arms: || Ok([Box::new(Inserts::new(Durability::Synced)), Box::new(Bare::synced(CALLS)?)]),
    },
    Row {
        name: "insert-written",
        what: "single insert, `Written`, beside a write of 128 bytes",
        arms: || Ok([Box::new(Inserts::new(Durability::Written)), Box::new(Bare::written(CALLS)?)]),
    },
];

fn main() -> ExitCode {
    let wanted: Vec<_> = std::env::args().skip(1).collect();
    if let Some(unknown) = wanted.iter().find(|name| ROWS.iter().all(|row| row.name != **name)) {
        let names = ROWS.map(|row| row.name).join(", ");
        eprintln!("no row is named {unknown}; the rows are {names}");
        return ExitCode::from(2);
    }
    for row in ROWS.iter().filter(|row| wanted.is_empty() || wanted.iter().any(|name| name == row.name)) {
        if let Err(error) = run(row) {
            eprintln!("{}: {error}", row.name);
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// Times both arms in turns and prints what they took.
fn run(row: &Row) -> Result<()> {
    let mut arms = (row.arms)()?;
    let mut times = [Times::new(CALLS), Times::new(CALLS)];
    for turn in 0..CALLS / TURN {
        for which in [turn % 2, (turn + 1) % 2] {
            for _ in 0..TURN {
                times[which].time(|| arms[which].call())?;
            }
        }
    }
    let [store, bare] = times.map(Times::figures);
    println!("{}: {}; {CALLS} calls each", row.name, row.what);
    println!("{:8} {:>10} {:>10} {:>10}", "us", "mean", "median", "p99");
    println!("{:8} {:>10.2} {:>10.2} {:>10.2}", "store", store.mean, store.median, store.p99);
    println!("{:8} {:>10.2} {:>10.2} {:>10.2}", "bare", bare.mean, bare.median, bare.p99);
    let ratio = |of: fn(&times::Figures) -> f64| of(&store) / of(&bare);
    println!(
        "{:8} {:>10.2} {:>10.2} {:>10.2}\n",
        "ratio",
        ratio(|figures| figures.mean),
        ratio(|figures| figures.median),
        ratio(|figures| figures.p99)
    );
    Ok(())
}
