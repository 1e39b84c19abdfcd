//! Power cuts in ordinary work: at every write and sync of a life with real documents, in some of the ways in which the
//! cut may come out; then the store goes on, and power goes again.

use holotype::Document;
use holotype::storage::sim::Decisions;
use holotype_model::check::{self, Rng, minimise};
use holotype_model::{Durability, Ending, Op};

use crate::crash::{Failure, Tally};
use crate::live::{Live, Moment, Step, Violation};
use crate::setup::Setup;
use crate::{convert, random};

/// Ways in which each cut is tried.
const WAYS: u64 = 4;

/// In how many commits documents are loaded.
const LOADS: usize = 32;

/// Steps that the store takes after a cut, before the next one.
const STEPS_AFTER: usize = 2;

/// Begins a store with `documents` and takes steps that belong to `seed`.
///
/// # Errors
/// The first violation, with a short list of steps that leads there.
pub fn life(seed: u64, len: usize, setup: Setup, documents: &[Document]) -> Result<Tally, Failure> {
    let mut steps = vec![];
    let beginning = documents.iter().take(16).map(convert::model_document).collect();
    steps.push(check::Step::Do(Op::InsertMany {
        collection: "a".to_owned(),
        documents: beginning,
        durability: Durability::Buffered,
    }));
    steps.extend(random::steps(seed, len, setup, documents));
    let take = |steps: &[check::Step]| Life::new(seed, setup).take(steps);
    take(&steps).map_err(|failure| {
        let reduced = minimise(steps, |steps| take(steps).is_err());
        take(&reduced).err().unwrap_or(failure)
    })
}

/// Puts all of `documents` into a store, some at a time, and cuts the power on the way for as long as `goes_on` says so. At the
/// end each document is there.
///
/// # Errors
/// The first violation.
pub fn load(
    seed: u64,
    setup: Setup,
    documents: &[Document],
    goes_on: impl FnMut() -> bool,
) -> Result<Tally, Failure> {
    let mut life = Life::new(seed, setup);
    life.tally.sequences = 1;
    match life.load(documents, goes_on) {
        Ok(()) => Ok(life.tally),
        Err(what) => Err(Failure { trail: life.trail, what }),
    }
}

/// The choices follow from the seed and from what was done, so that a shorter list of steps is tried in the same way.
struct Life {
    setup: Setup,
    rng: Rng,
    tally: Tally,
    trail: Vec<String>,
}

impl Life {
    fn new(seed: u64, setup: Setup) -> Self {
        Life { setup, rng: Rng::seeded(seed), tally: Tally::default(), trail: Vec::new() }
    }

    fn take(mut self, steps: &[check::Step]) -> Result<Tally, Failure> {
        self.tally.sequences = 1;
        match self.take_all(steps) {
            Ok(()) => Ok(self.tally),
            Err(what) => Err(Failure { trail: self.trail, what }),
        }
    }

    fn take_all(&mut self, steps: &[check::Step]) -> Result<(), Violation> {
        let (mut live, _) = Live::create(self.setup)?;
        for (index, step) in steps.iter().enumerate() {
            let step = step_of(step);
            self.trail.push(step.to_string());
            let moments = live.step(&step)?;
            let after: Vec<Step> = steps[index + 1..].iter().take(STEPS_AFTER).map(step_of).collect();
            self.cut_each(&moments, &after, true)?;
        }
        live.look()?;
        live.step(&Step::Reopen)?;
        live.look()
    }

    fn load(&mut self, documents: &[Document], mut goes_on: impl FnMut() -> bool) -> Result<(), Violation> {
        let in_one = documents.len().div_ceil(LOADS).max(8);
        let (mut live, _) = Live::create(self.setup)?;
        for (index, chunk) in documents.chunks(in_one).enumerate() {
            let documents = chunk.iter().map(convert::model_document).collect();
            let durability = if index % 2 == 0 { Durability::Synced } else { Durability::Buffered };
            let op = Op::InsertMany { collection: "data".to_owned(), documents, durability };
            // Not the documents themselves: the trail is for a person.
            self.trail.push(format!("insert_many of documents {} on, {durability:?}", index * in_one + 1));
            let moments = live.step(&Step::Do(op))?;
            self.tally.windows += moments.len() as u64;
            // A recovery costs what the store holds: so each load is cut at its end, and once on the way there.
            let on_the_way = self.rng.below(moments.len().max(1));
            for at in [on_the_way, moments.len().saturating_sub(1)] {
                if let Some(moment) = moments.get(at).filter(|_| goes_on()) {
                    let choice = self.rng.next_u64();
                    self.trail.push(format!("power cut after change {}, choice {choice:#x}", at + 1));
                    self.cut(moment, choice, &[], false)?;
                    self.trail.pop();
                }
            }
        }
        live.look()?;
        live.step(&Step::Reopen)?;
        live.look()
    }

    fn cut_each(&mut self, moments: &[Moment], after: &[Step], again: bool) -> Result<(), Violation> {
        let depth = self.trail.len();
        for (index, moment) in moments.iter().enumerate() {
            self.tally.windows += 1;
            // In the long lists of a bulk load a few moments stand for the others, which are much the same.
            if moments.len() > 64 && !self.rng.one_in(moments.len() / 32) && index + 1 < moments.len() {
                continue;
            }
            for _ in 0..if again { WAYS } else { 1 } {
                let choice = self.rng.next_u64();
                self.trail.push(format!(
                    "power cut after change {} of {}, choice {choice:#x}",
                    index + 1,
                    moments.len()
                ));
                self.cut(moment, choice, after, again)?;
                self.trail.truncate(depth);
            }
        }
        Ok(())
    }

    fn cut(&mut self, moment: &Moment, choice: u64, after: &[Step], again: bool) -> Result<(), Violation> {
        let disk = moment.disk.fork();
        disk.set_decisions(Decisions::seeded(choice));
        disk.crash();
        let (mut live, _, survived) =
            Live::open(self.setup, disk.clone(), moment.oracle.clone(), Ending::PowerCut)?;
        live.verify()?;
        self.tally.leaves += 1;
        self.tally.states += 1.0;
        self.tally.depth = self.tally.depth.max(disk.decisions().len());
        self.tally.note(survived);
        if !again {
            return Ok(());
        }
        for step in after {
            self.trail.push(step.to_string());
            let moments = live.step(step)?;
            self.cut_each(&moments, &[], false)?;
        }
        live.look()
    }
}

/// A step of the model's driver as one of ours: power is cut between the steps, not by one of them.
fn step_of(step: &check::Step) -> Step {
    match step {
        check::Step::Do(op) => Step::Do(op.clone()),
        check::Step::End(Ending::Close, _) => Step::Reopen,
        check::Step::End(..) => Step::Kill,
    }
}
