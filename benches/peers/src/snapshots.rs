//! A snapshot held open through a run of updates: what it costs those who read the newest state, and those who read it.

use std::path::Path;
use std::time::Duration;

use holotype_benches::workload::UniformIds;

use crate::clock::timed;
use crate::contents::{self, Contents, byte_sum, first, updated};
use crate::failure::{Failure, Result, expect_equal};
use crate::place;
use crate::plan::Plan;
use crate::report::{Better, Record, Report};
use crate::stores::{Read, Session, Snapshots, each_store};
use crate::turns::{Contender, take_turns};

/// How many documents there are, how many updates are made, and how many reads are timed.
const DOCUMENTS: u64 = 100_000;
const UPDATES: usize = 50_000;
const READS: usize = 200_000;

/// What one trial showed, in nanoseconds on the processor for each call.
#[derive(Debug, Clone, Copy)]
struct Trial {
    without: After,
    with: After,
    /// Reads through the snapshot itself, after the updates.
    through: f64,
}

/// What a run of updates cost, and reads of the newest state after it.
#[derive(Debug, Clone, Copy)]
struct After {
    update: f64,
    read: f64,
}

/// Prints the table of snapshots.
pub fn run(plan: &Plan, report: &mut Report) -> Result<()> {
    let mut contenders = Vec::new();
    macro_rules! add {
        ($store:ty) => {
            contenders.push(trials_of::<$store>(plan))
        };
    }
    each_store!(add);
    take_turns("snapshots", &mut contenders, plan.trials)?;
    print(&contenders);
    report.add(contenders.iter().flat_map(records_of).collect());
    Ok(())
}

fn trials_of<S: Snapshots>(plan: &Plan) -> Contender<Trial> {
    let directory = plan.directory.clone();
    Contender::new(S::NAME, move || trial::<S>(&directory))
}

fn records_of(contender: &Contender<Trial>) -> [Record; 5] {
    let record = |row: &str, figure: fn(&Trial) -> f64| {
        Record::of(["snapshots", row], ("ns", Better::Less), contender, figure)
    };
    [
        record("an update, none held", |trial| trial.without.update),
        record("an update, one held", |trial| trial.with.update),
        record("a read of the newest, none held", |trial| trial.without.read),
        record("a read of the newest, one held", |trial| trial.with.read),
        record("a read through the snapshot", |trial| trial.through),
    ]
}

fn print(contenders: &[Contender<Trial>]) {
    println!(
        "## A snapshot held through {UPDATES} updates of {DOCUMENTS} documents: ns on the processor for each call\n"
    );
    println!(
        "| | read | read, snapshot held | without : with | read through the snapshot | update | update, snapshot held | without : with |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|");
    for contender in contenders {
        let cell = |figure: fn(&Trial) -> f64| contender.spread(figure).cell();
        let ratio = |figure: fn(&Trial) -> f64| format!("{:.2}", contender.spread(figure).median);
        println!(
            "| {} | {} | {} | **{}** | {} | {} | {} | {} |",
            contender.name,
            cell(|trial| trial.without.read),
            cell(|trial| trial.with.read),
            ratio(|trial| trial.without.read / trial.with.read),
            cell(|trial| trial.through),
            cell(|trial| trial.without.update),
            cell(|trial| trial.with.update),
            ratio(|trial| trial.without.update / trial.with.update),
        );
    }
    println!();
}

fn trial<S: Snapshots>(directory: &Path) -> Result<Trial> {
    let without = {
        let directory = place::files_of(S::NAME, directory)?;
        let store = contents::load::<S>(directory.path(), DOCUMENTS)?;
        let after = updates_then_reads(&store)?;
        close(store, directory.path())?;
        after
    };
    let directory = place::files_of(S::NAME, directory)?;
    let store = contents::load::<S>(directory.path(), DOCUMENTS)?;
    let mut held = store.hold()?;
    let with = updates_then_reads(&store)?;
    let through = each(reads::<S>(&mut held)?, READS);
    still_first::<S>(&mut held)?;
    drop(held);
    close(store, directory.path())?;
    Ok(Trial { without, with, through })
}

fn updates_then_reads<S: Snapshots>(store: &S) -> Result<After> {
    let mut session = store.session()?;
    let (took, _) = timed(ids(UPDATES), |id| session.put(id, &updated(id)).map(|()| 1))?;
    Ok(After { update: each(took, UPDATES), read: each(reads::<S>(&mut session)?, READS) })
}

/// Reads documents, old or new: updates do not change the sum of their bytes.
fn reads<S: Snapshots>(from: &mut impl Read) -> Result<Duration> {
    let expected = ids(READS).map(|id| byte_sum(&first(id).encode())).sum();
    let (took, sum) = timed(ids(READS), |id| read::<S, _>(from, id, byte_sum))?;
    expect_equal(S::NAME, "the sum of all bytes read", &expected, &sum)?;
    Ok(took)
}

fn read<S: Snapshots, R>(from: &mut impl Read, id: u64, read: impl FnOnce(&[u8]) -> R) -> Result<R> {
    let found = from.get(id, read)?;
    found.ok_or_else(|| Failure::new(S::NAME, "reading", format!("document {id} is not there")))
}

/// The snapshot shows no update.
fn still_first<S: Snapshots>(held: &mut impl Read) -> Result<()> {
    for id in 1..=DOCUMENTS {
        let found = read::<S, _>(held, id, <[u8]>::to_vec)?;
        expect_equal(S::NAME, "a document in the snapshot", &first(id).encode(), &found)?;
    }
    Ok(())
}

fn close<S: Snapshots>(store: S, directory: &Path) -> Result<()> {
    store.close()?;
    let updates: std::collections::HashSet<u64> = ids(UPDATES).collect();
    let now = |id| if updates.contains(&id) { updated(id) } else { first(id) };
    contents::check::<S>(directory, Contents::of((1..=DOCUMENTS).map(|id| (id, now(id)))))
}

fn ids(count: usize) -> impl Iterator<Item = u64> {
    UniformIds::new(DOCUMENTS).take(count).map(i64::unsigned_abs)
}

fn each(took: Duration, count: usize) -> f64 {
    took.as_secs_f64() * 1e9 / count as f64
}
