//! One power cut, in the ways that it may come out, and what the store does after it.

use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use holotype::storage::sim::{Decisions, SimDisk, explore_each};
use holotype_model::check::Rng;

use super::promises::Promises;
use super::{Change, Disk, Durability, Plan, Subject, Tally};

/// A moment at which power may go: the disk then, and what was promised.
#[derive(Debug, Clone)]
pub(super) struct Moment {
    pub(super) disk: SimDisk,
    pub(super) promises: Promises,
}

/// What a store may not do, and in which outcome of the cut it did.
pub(super) type Violation = String;

/// Cuts the power of stores of one kind.
#[derive(Debug)]
pub(super) struct Cutter<'a, S> {
    plan: &'a Plan,
    pub(super) tally: Tally,
    rng: Rng,
    subject: PhantomData<S>,
}

impl<'a, S: Subject> Cutter<'a, S> {
    pub(super) fn new(plan: &'a Plan) -> Self {
        Cutter { plan, tally: Tally::default(), rng: Rng::seeded(!plan.seed), subject: PhantomData }
    }

    /// Cuts the power at this moment: in every way that makes a difference to the recovery, if these are no more than the plan has recoveries for; else
    /// in so many, and then in some by chance, half of them corners.
    pub(super) fn cut(&mut self, moment: &Moment) -> Result<(), Violation> {
        self.tally.cuts += 1;
        let image = moment.disk.fork();
        image.crash();
        let mut outcome = ControlFlow::Continue(());
        let mut found = Vec::new();
        let walked = catch_unwind(AssertUnwindSafe(|| {
            explore_each(&image, self.plan.leaves, |disk| {
                if outcome.is_continue() {
                    match recover::<S>(&disk, moment, None) {
                        Ok(kept) => found.push(kept),
                        Err(violation) => outcome = ControlFlow::Break(violation),
                    }
                }
            })
        }));
        self.tally.recoveries += found.len() as u64;
        found.into_iter().for_each(|kept| self.tally.note(kept));
        if let ControlFlow::Break(violation) = outcome {
            return Err(violation);
        }
        // A store that reads in another order each time cannot be walked, only sampled.
        let complete = walked.ok().filter(|tally| tally.complete);
        if let Some(tally) = &complete {
            self.tally.complete += 1;
            self.tally.states += tally.states;
        }
        let samples = if complete.is_some() { 1 } else { self.plan.samples };
        for _ in 0..samples {
            let disk = image.fork();
            disk.set_decisions(Decisions::seeded(self.rng.next_u64()));
            // The corner is drawn when the power goes.
            disk.crash();
            let kept = recover::<S>(&disk, moment, Some(self.rng.next_u64()))?;
            self.tally.recoveries += 1;
            self.tally.twice += 1;
            self.tally.note(kept);
        }
        Ok(())
    }
}

/// Opens what the cut left, and holds it against what was promised. With a number, power goes once more: while the store opened, at a change that
/// the number chooses, and after the next commit.
fn recover<S: Subject>(
    image: &SimDisk,
    moment: &Moment,
    again: Option<u64>,
) -> Result<(usize, usize), Violation> {
    let opened = catch_unwind(AssertUnwindSafe(|| open_and_go_on::<S>(image, moment, again)));
    let result = opened.unwrap_or_else(|panic| Err(format!("a panic: {}", panic_message(&*panic))));
    result.map_err(|what| format!("{what}\n     where the cut left {}", outcome(image)))
}

fn open_and_go_on<S: Subject>(
    image: &SimDisk,
    moment: &Moment,
    again: Option<u64>,
) -> Result<(usize, usize), Violation> {
    let disk = Disk::recording(image.clone());
    let mut promises = moment.promises.clone();
    let kept = reopen::<S>(&disk, &mut promises, "after the cut")?;
    let changes = disk.witness().take();
    let Some(choice) = again else { return Ok(kept) };
    let mut rng = Rng::seeded(choice);
    if !changes.is_empty() {
        // The opening had not returned: nothing that it found was promised yet.
        let second = crashed(rng.pick(&changes), &mut rng);
        let mut promises = moment.promises.clone();
        reopen::<S>(&Disk::recording(second), &mut promises, "after a second cut, in recovery")?;
    }
    goes_on::<S>(image, promises, &mut rng)?;
    Ok(kept)
}

/// Makes a durable commit on what was recovered, cuts the power and opens it again.
fn goes_on<S: Subject>(image: &SimDisk, mut promises: Promises, rng: &mut Rng) -> Result<(), Violation> {
    let disk = Disk::recording(image.clone());
    let mut store = S::open(disk.clone()).map_err(|error| format!("opening once more: {error}"))?;
    let changes = [Change::Put(b"after".to_vec(), rng.next_u64().to_le_bytes().to_vec())];
    promises.begin(&changes);
    store
        .commit(&changes, Durability::Durable)
        .map_err(|error| format!("a commit after the cut: {error}"))?;
    promises.acknowledge(Durability::Durable);
    let left = crashed(image, rng);
    disk.witness().switch_off();
    drop(store);
    reopen::<S>(&Disk::recording(left), &mut promises, "after a commit and another cut").map(|_| ())
}

fn crashed(disk: &SimDisk, rng: &mut Rng) -> SimDisk {
    let disk = disk.fork();
    disk.set_decisions(Decisions::seeded(rng.next_u64()));
    disk.crash();
    disk
}

/// Opens the store, and looks at it. The process ends then, and closes nothing.
fn reopen<S: Subject>(disk: &Disk, promises: &mut Promises, when: &str) -> Result<(usize, usize), Violation> {
    let mut store = S::open(disk.clone()).map_err(|error| format!("it does not open {when}: {error}"))?;
    let result = look(&mut store, promises).map_err(|what| format!("{when}: {what}"));
    disk.witness().switch_off();
    // Nothing that it does now reaches the disk, and a panic on the way is not ours to judge.
    let _ = catch_unwind(AssertUnwindSafe(move || drop(store)));
    result
}

fn look<S: Subject>(store: &mut S, promises: &mut Promises) -> Result<(usize, usize), Violation> {
    let contents = store.contents().map_err(|error| format!("reading what it holds: {error}"))?;
    let kept = promises.found(&contents)?;
    store.verify().map_err(|error| format!("it is not in order: {error}"))?;
    Ok(kept)
}

/// The choices by which a cut came out, for a person.
fn outcome(disk: &SimDisk) -> String {
    const SHOWN: usize = 24;
    let decisions = disk.decisions();
    let words = decisions.iter().take(SHOWN).map(|decision| {
        let which = match (decision.choice, decision.alternatives) {
            (0, _) => "old".to_owned(),
            (choice, alternatives) if choice + 1 == alternatives => "new".to_owned(),
            (choice, alternatives) => format!("value {choice} of {alternatives}"),
        };
        format!("{:?} {which}", decision.what)
    });
    let words = words.collect::<Vec<_>>().join(", ");
    match decisions.len() {
        0 => "one state only".to_owned(),
        len if len > SHOWN => format!("{words}, and {} more", len - SHOWN),
        _ => words,
    }
}

pub(super) fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without words".to_owned())
}
