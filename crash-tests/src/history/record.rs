//! Making a history: real threads on the real engine, and a clock beside them.

use std::collections::BTreeMap;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{ScopedJoinHandle, yield_now};

use holotype::storage::Storage;
use holotype::storage::sim::{Decisions, SimDisk};
use holotype::{Db, Durability, Options};

use super::call::{Answer, Call, Op};
use super::checker;
use super::disk::SlowDisk;
use super::perform::Hands;
use super::plan::{End, Plan, Step};

/// A call of a history of the store.
pub type Event = checker::Event<Call, Answer>;

/// What the threads were told.
#[derive(Debug, Clone)]
pub struct History {
    /// The calls whose answers are about the store while it was open, and after it was closed.
    pub events: Vec<Event>,
    /// What power cuts left.
    pub cuts: Vec<Event>,
}

/// What one thread saw.
#[derive(Debug, Default)]
struct Seen {
    events: Vec<Event>,
    /// Copies of the disk, each with the call that asked for it, unanswered as yet, and when that returned.
    cuts: Vec<(Event, u64, SimDisk)>,
    versions: Vec<(u32, u64)>,
}

/// Carries out a plan.
///
/// # Errors
/// What is wrong already without looking for an order: a call that failed, a panic, a store that cannot be opened or is not in
/// order at its end, two versions of one commit.
pub fn record(plan: &Plan) -> Result<History, String> {
    let disk = SlowDisk::new(plan.setup.disk(), plan.seed);
    let options = plan.setup.options().cache_bytes(plan.cache_bytes).flush_bytes(plan.flush_bytes);
    let db = open(disk.clone(), &options)?;
    let initial: Vec<_> = plan.initial.iter().map(|(key, doc)| (key.clone(), *doc)).collect();
    Hands::new(&db).fill(&initial)?;

    let clock = AtomicU64::new(0);
    let mut seen = run_threads(plan, &db, &disk, &clock)?;
    end(plan, db, &disk, &options, &clock, &mut seen)?;

    let mut cuts = Vec::new();
    for (index, (mut event, returned, image)) in std::mem::take(&mut seen.cuts).into_iter().enumerate() {
        // Half of the cuts lose all that was not synced, which shows best what should have been.
        let seed = plan.seed.wrapping_add(index as u64);
        image.set_decisions(if index % 2 == 0 { Decisions::path(vec![]) } else { Decisions::seeded(seed) });
        image.crash();
        let db = open(image, &options)?;
        let mut hands = Hands::new(&db);
        event.returned = Some((returned, hands.perform(&reopen())?));
        seen.versions.append(&mut hands.versions);
        cuts.push(event);
    }
    let lsns = lsns(&seen.versions)?;
    for event in &mut seen.events {
        event.lsn = lsns.get(&event.call.id).copied();
    }
    Ok(History { events: seen.events, cuts })
}

fn open(storage: impl Storage + 'static, options: &Options) -> Result<Db, String> {
    Db::open_on(storage, options).map_err(|error| format!("opening: {error}"))
}

fn run_threads(plan: &Plan, db: &Db, disk: &SlowDisk, clock: &AtomicU64) -> Result<Seen, String> {
    let barrier = Barrier::new(plan.threads.len());
    #[cfg(feature = "seeded")]
    let bug = holotype::seeded::switched_on();
    let of_threads: Vec<Result<Seen, String>> = std::thread::scope(|scope| {
        let start = |thread: usize| {
            let (barrier, steps) = (&barrier, &plan.threads[thread]);
            scope.spawn(move || {
                #[cfg(feature = "seeded")]
                holotype::seeded::switch_on(bug);
                barrier.wait();
                run_steps(thread, steps, db, disk, clock)
            })
        };
        let threads: Vec<_> = (0..plan.threads.len()).map(start).collect();
        let join =
            |thread: ScopedJoinHandle<'_, _>| thread.join().unwrap_or_else(|_| Err("a panic".to_owned()));
        threads.into_iter().map(join).collect()
    });
    let mut all = Seen::default();
    for seen in of_threads {
        let mut seen = seen?;
        all.events.append(&mut seen.events);
        all.cuts.append(&mut seen.cuts);
        all.versions.append(&mut seen.versions);
    }
    Ok(all)
}

fn run_steps(
    thread: usize,
    steps: &[Step],
    db: &Db,
    disk: &SlowDisk,
    clock: &AtomicU64,
) -> Result<Seen, String> {
    let tick = || clock.fetch_add(1, Ordering::SeqCst);
    let mut seen = Seen::default();
    let mut hands = Hands::new(db).slowly(thread);
    for Step { yields, call } in steps {
        (0..*yields).for_each(|_| yield_now());
        let mut event = Event { thread, call: call.clone(), invoked: tick(), returned: None, lsn: None };
        if call.op == Op::Cut {
            let image = disk.disk().fork();
            seen.cuts.push((event, tick(), image));
        } else {
            let answer = hands.perform(call)?;
            event.returned = Some((tick(), answer));
            seen.events.push(event);
        }
    }
    seen.versions = hands.versions;
    Ok(seen)
}

/// Looks at the state once more, and at what is left of it when the store has ended.
fn end(
    plan: &Plan,
    db: Db,
    disk: &SlowDisk,
    options: &Options,
    clock: &AtomicU64,
    seen: &mut Seen,
) -> Result<(), String> {
    let thread = plan.threads.len();
    let id = 1 + plan.threads.iter().flatten().map(|step| step.call.id).max().unwrap_or(0);
    let look = |id, op, yields| Step { yields, call: Call { id, class: Durability::Synced, op } };
    let last = [look(id, Op::Scan, 0), look(id + 1, Op::Cut, 0)];
    let mut add = |mut more: Seen| {
        seen.events.append(&mut more.events);
        seen.cuts.append(&mut more.cuts);
        seen.versions.append(&mut more.versions);
    };
    match plan.end {
        End::Cut => return run_steps(thread, &last, &db, disk, clock).map(add),
        End::Close => {
            add(run_steps(thread, &last[..1], &db, disk, clock)?);
            db.close().map_err(|error| format!("closing: {error}"))?;
        }
        End::Drop => {
            add(run_steps(thread, &last[..1], &db, disk, clock)?);
            drop(db);
        }
    }
    let db = open(disk.clone(), options)?;
    add(run_steps(thread, &[look(id + 1, Op::Reopen, 0)], &db, disk, clock)?);
    let report = db.verify(true).map_err(|error| format!("verifying: {error}"))?;
    match report.problems.first() {
        None => Ok(()),
        Some(problem) => Err(format!("after the end: {problem}")),
    }
}

fn reopen() -> Call {
    Call { id: 0, class: Durability::Synced, op: Op::Reopen }
}

/// The place of each commit of which a document was read.
fn lsns(versions: &[(u32, u64)]) -> Result<BTreeMap<u32, u64>, String> {
    let mut lsns = BTreeMap::new();
    for (by, version) in versions {
        let known = *lsns.entry(*by).or_insert(*version);
        if known != *version {
            return Err(format!("the commit of #{by} is shown with the versions {known} and {version}"));
        }
    }
    let mut calls = BTreeMap::new();
    for (by, lsn) in &lsns {
        if let Some(other) = calls.insert(*lsn, *by) {
            return Err(format!("#{other} and #{by} have the version {lsn} both"));
        }
    }
    Ok(lsns)
}
