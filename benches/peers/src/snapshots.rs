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
use crate::stores::{Read, Session, Snapshots, each_snapshot};
use crate::turns::{Contender, take_turns};

/// How many documents there are, how many updates are made, and how many reads are timed.
#[derive(Debug, Clone, Copy)]
struct Size {
    documents: u64,
    updates: usize,
    reads: usize,
}

const FULL: Size = Size { documents: 100_000, updates: 50_000, reads: 200_000 };
/// A store that syncs each commit makes a part of the updates: the time of all would be that of the disk.
const SYNCED_PART: usize = 10;

const QUICK: Size = Size { documents: 3_200, updates: 1_600, reads: 6_400 };

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
    each_snapshot!(add);
    take_turns("snapshots", &mut contenders, plan.trials)?;
    print(&contenders, size_of(plan));
    report.add(contenders.iter().flat_map(records_of).collect());
    Ok(())
}

fn size_of(plan: &Plan) -> Size {
    if plan.quick { QUICK } else { FULL }
}

fn trials_of<S: Snapshots>(plan: &Plan) -> Contender<Trial> {
    let (directory, mut size) = (plan.directory.clone(), size_of(plan));
    if S::SYNCS_ALWAYS {
        size.updates /= SYNCED_PART;
    }
    Contender::new(S::NAME, move || trial::<S>(&directory, size))
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

fn print(contenders: &[Contender<Trial>], size: Size) {
    println!(
        "## A snapshot held through {} updates of {} documents: ns on the processor for each call\n",
        size.updates, size.documents
    );
    println!(
        "native_db and byodb-rust sync each update, and make {} of them. Left out: sled (it keeps no state for a reader), ToonDB (opened again, it may hold older versions of what was replaced), DBX (a snapshot shows only what was put with a version), bbolt (its program does rows alone).\n",
        size.updates / SYNCED_PART
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

fn trial<S: Snapshots>(directory: &Path, size: Size) -> Result<Trial> {
    let without = {
        let directory = place::files_of(S::NAME, directory)?;
        let store = contents::load::<S>(directory.path(), size.documents)?;
        let after = updates_then_reads(&store, size)?;
        close(store, directory.path(), size)?;
        after
    };
    let directory = place::files_of(S::NAME, directory)?;
    let store = contents::load::<S>(directory.path(), size.documents)?;
    let mut held = store.hold()?;
    let with = updates_then_reads(&store, size)?;
    let through = each(reads::<S>(&mut held, size)?, size.reads);
    still_first::<S>(&mut held, size)?;
    drop(held);
    close(store, directory.path(), size)?;
    Ok(Trial { without, with, through })
}

fn updates_then_reads<S: Snapshots>(store: &S, size: Size) -> Result<After> {
    let mut session = store.session()?;
    let (took, _) = timed(size.ids(size.updates), |id| session.put(id, &updated(id)).map(|()| 1))?;
    Ok(After { update: each(took, size.updates), read: each(reads::<S>(&mut session, size)?, size.reads) })
}

/// Reads documents, old or new: updates do not change the sum of their bytes.
fn reads<S: Snapshots>(from: &mut impl Read, size: Size) -> Result<Duration> {
    let expected = size.ids(size.reads).map(|id| byte_sum(&first(id).encode())).sum();
    let (took, sum) = timed(size.ids(size.reads), |id| read::<S, _>(from, id, byte_sum))?;
    expect_equal(S::NAME, "the sum of all bytes read", &expected, &sum)?;
    Ok(took)
}

fn read<S: Snapshots, R>(from: &mut impl Read, id: u64, read: impl FnOnce(&[u8]) -> R) -> Result<R> {
    let found = from.get(id, read)?;
    found.ok_or_else(|| Failure::new(S::NAME, "reading", format!("document {id} is not there")))
}

/// The snapshot shows no update.
fn still_first<S: Snapshots>(held: &mut impl Read, size: Size) -> Result<()> {
    for id in 1..=size.documents {
        let found = read::<S, _>(held, id, <[u8]>::to_vec)?;
        expect_equal(S::NAME, "a document in the snapshot", &first(id).encode(), &found)?;
    }
    Ok(())
}

fn close<S: Snapshots>(store: S, directory: &Path, size: Size) -> Result<()> {
    store.close()?;
    let updates: std::collections::HashSet<u64> = size.ids(size.updates).collect();
    let now = |id| if updates.contains(&id) { updated(id) } else { first(id) };
    contents::check::<S>(directory, Contents::of((1..=size.documents).map(|id| (id, now(id)))))
}

impl Size {
    fn ids(self, count: usize) -> impl Iterator<Item = u64> {
        UniformIds::new(self.documents).take(count).map(i64::unsigned_abs)
    }
}

fn each(took: Duration, count: usize) -> f64 {
    took.as_secs_f64() * 1e9 / count as f64
}
