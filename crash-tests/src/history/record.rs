//! Making a history: real threads on the real engine, and a clock beside them.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::time::Duration;

use holotype::storage::Storage;
use holotype::storage::sim::{Decisions, SimDisk};
use holotype::{Db, Durability, Options};

use super::call::{Answer, Call, Op};
use super::checker;
use super::disk::SlowDisk;
use super::perform::Hands;
use super::plan::{End, Plan, Step};
use super::snapshots::Snapshots;
use super::yield_now;

/// How long threads may take for some calls of microseconds each, on a machine that has much else to do.
const PATIENCE: Duration = Duration::from_secs(20);

/// A call of a history of the store.
pub type Event = checker::Event<Call, Answer>;

/// What the threads were told.
#[derive(Debug, Clone)]
pub struct History {
    /// The calls whose answers are about the store while it was open, and after it was closed.
    pub events: Vec<Event>,
    /// What power cuts left.
    pub cuts: Vec<Event>,
    /// How often snapshots were read again.
    pub snapshots_read: u64,
}

/// What one thread saw.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) events: Vec<Event>,
    /// Copies of the disk, each with the call that asked for it, unanswered as yet, and when that returned.
    pub(super) cuts: Vec<(Event, u64, SimDisk)>,
    pub(super) versions: Vec<(u32, u64)>,
    pub(super) snapshots_read: u64,
}

impl Seen {
    pub(super) fn add(&mut self, mut more: Seen) {
        self.events.append(&mut more.events);
        self.cuts.append(&mut more.cuts);
        self.versions.append(&mut more.versions);
        self.snapshots_read += more.snapshots_read;
    }
}

/// Carries out a plan.
///
/// # Errors
/// What is wrong already without looking for an order: a call that failed, a panic, a snapshot that changed, a store that cannot be
/// opened or is not in order at its end, two versions of one commit.
pub fn record(plan: &Plan) -> Result<History, String> {
    let (sender, receiver) = mpsc::channel();
    let plan = plan.clone();
    #[cfg(feature = "seeded")]
    let bug = holotype::seeded::switched_on();
    std::thread::spawn(move || {
        #[cfg(feature = "seeded")]
        holotype::seeded::switch_on(bug);
        let made = catch_unwind(AssertUnwindSafe(|| carry_out(&plan)));
        let _ = sender.send(made.unwrap_or_else(|_| Err("a panic at the end of the store".to_owned())));
    });
    // Closing a store can hang as any call can; the threads themselves are given up before.
    let made = receiver.recv_timeout(PATIENCE * 2);
    made.map_err(|_| format!("the store has not come to its end after {} s", PATIENCE.as_secs() * 2))?
}

fn carry_out(plan: &Plan) -> Result<History, String> {
    let disk = SlowDisk::new(plan.setup.disk(), plan.seed);
    let options = plan.setup.options().cache_bytes(plan.cache_bytes).flush_bytes(plan.flush_bytes);
    // The other threads do end their transactions.
    let options = options.write_wait(PATIENCE);
    let db = open(disk.clone(), &options)?;
    let initial: Vec<_> = plan.initial.iter().map(|(key, doc)| (key.clone(), *doc)).collect();
    Hands::new(&db).fill(&initial)?;

    let clock = Arc::new(AtomicU64::new(0));
    let mut seen = run_threads(plan, &db, &disk, &clock)?;
    end(plan, db, &disk, &options, &clock, &mut seen)?;

    let Seen { mut events, cuts, mut versions, snapshots_read } = seen;
    let cuts = (plan.seed..).zip(cuts);
    let cuts =
        cuts.map(|(seed, cut)| settle(cut, seed, &options, &mut versions)).collect::<Result<_, _>>()?;
    let lsns = lsns(&versions)?;
    for event in &mut events {
        event.lsn = lsns.get(&event.call.id).copied();
    }
    Ok(History { events, cuts, snapshots_read })
}

pub(super) fn open(storage: impl Storage + 'static, options: &Options) -> Result<Db, String> {
    Db::open_on(storage, options).map_err(|error| format!("opening: {error}"))
}

/// Runs the threads to their end. They are not waited for for ever: a thread that is never woken is a finding, too.
fn run_threads(plan: &Plan, db: &Db, disk: &SlowDisk, clock: &Arc<AtomicU64>) -> Result<Seen, String> {
    let (barrier, snapshots) = (Arc::new(Barrier::new(plan.threads.len())), Arc::new(Snapshots::default()));
    let (sender, receiver) = mpsc::channel();
    let start = |(thread, steps): (usize, &Vec<Step>)| {
        let (db, disk, clock) = (db.clone(), disk.disk().clone(), Arc::clone(clock));
        let actor = Actor { thread, db, disk, clock, snapshots: Arc::clone(&snapshots) };
        let (barrier, steps, sender) = (Arc::clone(&barrier), steps.clone(), sender.clone());
        #[cfg(feature = "seeded")]
        let bug = holotype::seeded::switched_on();
        std::thread::spawn(move || {
            #[cfg(feature = "seeded")]
            holotype::seeded::switch_on(bug);
            barrier.wait();
            let seen = catch_unwind(AssertUnwindSafe(|| actor.run(&steps)));
            // Who gave up after another's finding does not listen any more.
            let _ = sender.send(seen.unwrap_or_else(|_| Err("a panic".to_owned())));
        })
    };
    let threads: Vec<_> = plan.threads.iter().enumerate().map(start).collect();
    let mut all = Seen::default();
    for _ in &threads {
        let seen = receiver.recv_timeout(PATIENCE);
        all.add(seen.map_err(|_| format!("a call has not returned after {} s", PATIENCE.as_secs()))??);
    }
    // Their handles of the store are to be gone before it ends.
    for thread in threads {
        thread.join().map_err(|_| "a panic outside any call".to_owned())?;
    }
    all.snapshots_read += snapshots.read_again(&mut Hands::new(db))?;
    Ok(all)
}

/// One thread of a history, and what it has before it.
pub(super) struct Actor {
    pub(super) thread: usize,
    pub(super) db: Db,
    pub(super) disk: SimDisk,
    pub(super) clock: Arc<AtomicU64>,
    pub(super) snapshots: Arc<Snapshots>,
}

impl Actor {
    pub(super) fn run(&self, steps: &[Step]) -> Result<Seen, String> {
        let mut seen = Seen::default();
        let mut hands = Hands::new(&self.db).slowly(self.thread);
        for Step { yields, call } in steps {
            (0..*yields).for_each(|_| yield_now());
            let (thread, invoked) = (self.thread, self.tick());
            let mut event = Event { thread, call: call.clone(), invoked, returned: None, lsn: None };
            if call.op == Op::Cut {
                let image = self.disk.fork();
                seen.cuts.push((event, self.tick(), image));
                continue;
            }
            event.returned = Some(match call.op {
                Op::Snapshot => self.snapshots.take(&mut hands, call, || self.tick())?,
                _ => {
                    let answer = hands.perform(call)?;
                    (self.tick(), answer)
                }
            });
            seen.events.push(event);
            if call.id.is_multiple_of(4) {
                seen.snapshots_read += self.snapshots.read_again(&mut hands)?;
            }
        }
        seen.versions = hands.versions;
        Ok(seen)
    }

    fn tick(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::SeqCst)
    }
}

/// Looks at the state once more, and at what is left of it when the store has ended.
fn end(
    plan: &Plan,
    db: Db,
    disk: &SlowDisk,
    options: &Options,
    clock: &Arc<AtomicU64>,
    seen: &mut Seen,
) -> Result<(), String> {
    let thread = plan.threads.len();
    let last_id = plan.threads.iter().flatten().map(|step| step.call.id).max().unwrap_or(0);
    let mut look = |db: &Db, id, op| {
        let step = Step { yields: 0, call: Call { id: last_id + id, class: Durability::Synced, op } };
        let (db, disk, clock) = (db.clone(), disk.disk().clone(), Arc::clone(clock));
        let actor = Actor { thread, db, disk, clock, snapshots: Arc::default() };
        actor.run(&[step]).map(|more| seen.add(more))
    };
    look(&db, 1, Op::Scan)?;
    match plan.end {
        End::Cut => return look(&db, 2, Op::Cut),
        End::Close => db.close().map_err(|error| format!("closing: {error}"))?,
        End::Drop => drop(db),
    }
    let db = open(disk.clone(), options)?;
    look(&db, 2, Op::Reopen)?;
    let report = db.verify(true).map_err(|error| format!("verifying: {error}"))?;
    match report.problems.first() {
        None => Ok(()),
        Some(problem) => Err(format!("after the end: {problem}")),
    }
}

/// Opens the store on what a power cut has left, and looks.
fn settle(
    (mut event, returned, image): (Event, u64, SimDisk),
    seed: u64,
    options: &Options,
    versions: &mut Vec<(u32, u64)>,
) -> Result<Event, String> {
    // Half of the cuts lose all that was not synced, which shows best what should have been.
    image.set_decisions(if seed.is_multiple_of(2) {
        Decisions::path(vec![])
    } else {
        Decisions::seeded(seed)
    });
    image.crash();
    let db = open(image, options).map_err(|error| format!("{}: {error}", event.call))?;
    let mut hands = Hands::new(&db);
    event.returned = Some((returned, hands.perform(&event.call)?));
    versions.append(&mut hands.versions);
    Ok(event)
}

/// The place of each commit of which a document was read.
pub(super) fn lsns(versions: &[(u32, u64)]) -> Result<BTreeMap<u32, u64>, String> {
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
