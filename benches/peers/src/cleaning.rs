//! What an insert takes while the store cleans and writes checkpoints at the same time, and while it does neither.
//!
//! Between two inserts, untimed, an older document is replaced, in uniform order: so there is something to clean for as long as it
//! goes on. What goes on in the background has a thread of its own, and the machine's other processors.

use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use holotype::{Background, Durability, Key, Options};
use holotype_benches::workload::UniformIds;

use crate::contents::{self, Contents, first, updated};
use crate::failure::{Failure, Of, Result, expect_equal};
use crate::latencies::{Latencies, time};
use crate::place;
use crate::plan::Plan;
use crate::stores::Store;
use crate::stores::holotype::Holotype;
use crate::turns::{Contender, take_turns};
use crate::upkeep::{self, Accounts};

/// How many documents there are before, and how many are inserted.
const DOCUMENTS: u64 = 100_000;
const INSERTS: u64 = 300_000;

/// A checkpoint is due after so much log: a quarter of the default, so that several are written during the inserts.
const CHECKPOINT_AFTER: u64 = 4 << 20;
const NEVER: u64 = 1 << 40;

/// How often the store's own thread makes `Buffered` commits durable, by default.
const FLUSH_INTERVAL: Duration = Duration::from_millis(100);

/// How many times what it is without upkeep an insert may take.
const GOAL_MEDIAN: f64 = 1.3;
const GOAL_RARE: f64 = 10.0;

/// The share of inserts that are no slower than the figure for rare ones.
const RARE: f64 = 0.999;

const CLASSES: [Durability; 2] = [Durability::Written, Durability::Buffered];

struct Trial {
    inserts: Latencies,
    /// Bytes moved, and bytes of checkpoints, while the inserts went on.
    relocated: u64,
    checkpoint_written: u64,
}

/// Prints the table of inserts.
pub fn run(plan: &Plan) -> Result<()> {
    let mut contenders = Vec::new();
    for class in CLASSES {
        for upkeep in [false, true] {
            let directory = plan.directory.clone();
            let name = format!("`{class:?}`, {}", if upkeep { "beside upkeep" } else { "alone" });
            contenders.push(Contender::new(name, move || trial(&directory, class, upkeep)));
        }
    }
    take_turns("cleaning", &mut contenders, plan.trials)?;
    print(&contenders);
    Ok(())
}

fn print(contenders: &[Contender<Trial>]) {
    println!("## {INSERTS} inserts beside cleaning and checkpoints, and alone\n");
    println!(
        "| | p50 µs | beside : alone | p99.9 µs | beside : alone | slowest µs | MiB moved | MiB of checkpoints |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|");
    for pair in contenders.chunks(2) {
        for contender in pair {
            let cell = |share: f64| contender.spread(|trial| trial.inserts.micros(share));
            let ratio =
                |share: f64| cell(share).median / pair[0].spread(|trial| trial.inserts.micros(share)).median;
            let mebibytes = |bytes: fn(&Trial) -> u64| {
                contender.spread(|trial| bytes(trial) as f64).median / f64::from(1 << 20)
            };
            println!(
                "| {} | {} | **{:.2}** | {} | **{:.2}** | {} | {:.1} | {:.1} |",
                contender.name,
                cell(0.5).cell(),
                ratio(0.5),
                cell(RARE).cell(),
                ratio(RARE),
                cell(1.0).cell(),
                mebibytes(|trial| trial.relocated),
                mebibytes(|trial| trial.checkpoint_written),
            );
        }
    }
    println!();
    println!("Goals: p50 at most {GOAL_MEDIAN} times, p99.9 at most {GOAL_RARE} times.\n");
}

fn trial(directory: &Path, class: Durability, upkeep: bool) -> Result<Trial> {
    let directory = place::files_of(Holotype::NAME, directory)?;
    let directory = directory.path();
    contents::load::<Holotype>(directory, DOCUMENTS)?.close()?;
    let options = Options::new().durability(class);
    let options = if upkeep {
        upkeep::checkpoint_after(options, CHECKPOINT_AFTER)
    } else {
        upkeep::checkpoint_after(options.background(Background::Manual), NEVER)
    };
    let store = Holotype::open_with(directory, &options)?;
    let before = Accounts::of(store.db());
    let flushed_by_us = !upkeep && class == Durability::Buffered;
    let inserts = if flushed_by_us { beside_flushes(&store)? } else { insert(&store)? };
    let after = Accounts::of(store.db());
    let relocated = after.relocated - before.relocated;
    let checkpoint_written = after.checkpoint_written - before.checkpoint_written;
    expect_equal(Holotype::NAME, "whether records were moved", &upkeep, &(relocated > 0))?;
    expect_equal(Holotype::NAME, "whether a checkpoint was written", &upkeep, &(checkpoint_written > 0))?;
    store.close()?;

    let replaced: std::collections::HashSet<i64> = replaced().collect();
    let now = |id: u64| {
        if replaced.contains(&(id as i64)) { updated(id) } else { first(id) }
    };
    let ids = 1..=DOCUMENTS + INSERTS;
    contents::check::<Holotype>(directory, Contents::of(ids.map(|id| (id, now(id)))))?;
    Ok(Trial { inserts, relocated, checkpoint_written })
}

/// Inserts beside a thread that flushes as often as the store's own would, which there is not where upkeep is the caller's: else the
/// figures would show what flushes cost, not upkeep.
fn beside_flushes(store: &Holotype) -> Result<Latencies> {
    let (done, until_done) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let flushes = scope.spawn(move || {
            while until_done.recv_timeout(FLUSH_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                store.db().flush().of(Holotype::NAME, "flushing")?;
            }
            Ok(())
        });
        let inserts = insert(store);
        drop(done);
        let panicked = |_| Failure::new(Holotype::NAME, "flushing", "a thread panicked");
        flushes.join().map_err(panicked)??;
        inserts
    })
}

fn replaced() -> impl Iterator<Item = i64> {
    UniformIds::new(DOCUMENTS).take(INSERTS as usize)
}

fn insert(store: &Holotype) -> Result<Latencies> {
    let documents = store.documents();
    let mut latencies = Vec::with_capacity(INSERTS as usize);
    let begun = Instant::now();
    for (id, old) in (DOCUMENTS + 1..).zip(replaced()) {
        let key = time(&mut latencies, || documents.insert(first(id))).of(Holotype::NAME, "inserting")?;
        expect_equal(Holotype::NAME, "the id of an insert", &Key::Int(id as i64), &key)?;
        documents.put(old, updated(old as u64)).of(Holotype::NAME, "replacing")?;
    }
    Ok(Latencies::new(latencies, begun.elapsed()))
}
