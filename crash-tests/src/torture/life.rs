//! A life of a store: commits, closings, and a power cut at every change of its file.

use std::collections::HashSet;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use holotype::storage::sim::{Level, SimDisk};
use holotype_model::check::minimise;

use super::cut::{Cutter, Moment, Violation, panic_message};
use super::promises::Promises;
use super::steps::steps;
use super::{Disk, Durability, Step, Subject, Tally};

/// What a life is to be like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The seed that all follows from.
    pub seed: u64,
    /// How many steps it has.
    pub steps: usize,
    /// Recoveries for one cut before the rest of its outcomes is sampled.
    pub leaves: u64,
    /// How many of these are sampled.
    pub samples: u64,
    /// The length of a sector, in bytes: what persists or does not as a whole.
    pub sector: u32,
    /// Whether sectors in the midst of being written may hold anything after a cut.
    pub garbage: bool,
    /// Whether a length persists as a call made it or not at all. That is less than our own store must bear; others may rely on it.
    pub whole_lengths: bool,
    /// Whether power is cut while the store is created, too. A file cut off in its creation holds nothing that was promised; but a store that does not
    /// open it leaves that to its user.
    pub creation: bool,
}

impl Plan {
    /// A short life: 20 steps, sectors of 512 bytes.
    pub fn new(seed: u64) -> Self {
        Plan {
            seed,
            steps: 20,
            leaves: 24,
            samples: 8,
            sector: 512,
            garbage: false,
            whole_lengths: false,
            creation: true,
        }
    }
}

/// A life that went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The seed that it came from.
    pub seed: u64,
    /// The shortest list of steps found that goes wrong.
    pub steps: Vec<Step>,
    /// How many there were before.
    pub steps_before: usize,
    /// What went wrong in the shortest.
    pub what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {}, reduced from {} steps:", self.seed, self.steps_before)?;
        for (index, step) in self.steps.iter().enumerate() {
            writeln!(f, "  {}. {step}", index + 1)?;
        }
        write!(f, "  {}", self.what)
    }
}

impl std::error::Error for Finding {}

/// Takes the steps that belong to the plan's seed on a new store, and cuts the power at each change of its file on the way.
///
/// # Errors
/// The first thing that the store may not do, with a short list of steps that leads there.
pub fn life<S: Subject>(plan: &Plan) -> Result<Tally, Box<Finding>> {
    let steps = steps(plan.seed, plan.steps);
    run::<S>(plan, &steps).map_err(|what| {
        let steps_before = steps.len();
        let reduced = minimise(steps, |steps| run::<S>(plan, steps).is_err());
        let what = run::<S>(plan, &reduced).err().unwrap_or(what);
        Box::new(Finding { seed: plan.seed, steps: reduced, steps_before, what })
    })
}

fn run<S: Subject>(plan: &Plan, steps: &[Step]) -> Result<Tally, Violation> {
    let run = || {
        let mut life = Life::<S>::new(plan)?;
        for (index, step) in steps.iter().enumerate() {
            life.step(step).map_err(|what| format!("in step {}: {what}", index + 1))?;
        }
        life.step(&Step::Reopen).map_err(|what| format!("at the end: {what}"))?;
        life.cutter.tally.lives = 1;
        Ok(life.cutter.tally)
    };
    catch_unwind(AssertUnwindSafe(run))
        .unwrap_or_else(|panic| Err(format!("a panic: {}", panic_message(&*panic))))
}

/// A store that is open, and what it has promised.
struct Life<'a, S> {
    store: Option<S>,
    disk: Disk,
    promises: Promises,
    cutter: Cutter<'a, S>,
    /// Disks that power was cut at, with how much was promised then.
    seen: HashSet<(u64, usize)>,
}

impl<'a, S: Subject> Life<'a, S> {
    fn new(plan: &'a Plan) -> Result<Self, Violation> {
        let level = if plan.garbage { Level::Garbage } else { Level::Sectors };
        // The name is there, as a caller sees to before a store is given the file.
        let disk = SimDisk::from_bytes(plan.sector, level, &[]);
        if plan.whole_lengths {
            disk.set_whole_lengths();
        }
        let disk = Disk::recording(disk);
        let mut life = Life {
            store: None,
            disk,
            promises: Promises::new(),
            cutter: Cutter::new(plan),
            seen: HashSet::new(),
        };
        life.open()?;
        if plan.creation {
            life.cut_each()?;
            return Ok(life);
        }
        life.close()?;
        life.disk.sync().map_err(|error| format!("the disk: {error}"))?;
        life.open()?;
        Ok(life)
    }

    fn step(&mut self, step: &Step) -> Result<(), Violation> {
        match step {
            Step::Commit(changes, durability) => {
                self.disk.witness().record();
                self.promises.begin(changes);
                let store = self.store.as_mut().expect("it is open between steps");
                store.commit(changes, *durability).map_err(|error| format!("{step}: {error}"))?;
                self.cut_each()?;
                self.promises.acknowledge(*durability);
                self.cutter.tally.commits += 1;
                if *durability == Durability::Durable { self.cut_now() } else { Ok(()) }
            }
            Step::Reopen => {
                self.disk.witness().record();
                self.close()?;
                self.cut_each()?;
                self.promises.settle();
                self.cut_now()?;
                self.open()?;
                self.cut_each()
            }
            Step::Kill => {
                self.disk.witness().switch_off();
                drop(self.store.take());
                self.open()?;
                self.cut_each()?;
                if S::FOUND_STAYS {
                    self.promises.settle();
                }
                self.cut_now()
            }
        }
    }

    fn close(&mut self) -> Result<(), Violation> {
        let store = self.store.take().expect("it is open between steps");
        store.close().map_err(|error| format!("closing: {error}"))
    }

    /// Opens the store on the disk as it is, and looks at what it holds.
    fn open(&mut self) -> Result<(), Violation> {
        self.disk.witness().switch_off();
        self.disk = Disk::recording(self.disk.witness().disk().clone());
        let mut store = S::open(self.disk.clone()).map_err(|error| format!("opening: {error}"))?;
        let contents = store.contents().map_err(|error| format!("reading what it holds: {error}"))?;
        self.promises.found_after_kill(&contents)?;
        self.store = Some(store);
        Ok(())
    }

    /// Cuts the power at each moment of what was just done.
    fn cut_each(&mut self) -> Result<(), Violation> {
        let disks = self.disk.witness().take();
        let count = disks.len();
        for (index, disk) in disks.into_iter().enumerate() {
            self.cut(disk)
                .map_err(|what| format!("power cut after change {} of {count}: {what}", index + 1))?;
        }
        Ok(())
    }

    /// Cuts the power now that the call has returned.
    fn cut_now(&mut self) -> Result<(), Violation> {
        let disk = self.disk.witness().disk().fork();
        self.cut(disk).map_err(|what| format!("power cut after it returned: {what}"))
    }

    fn cut(&mut self, disk: SimDisk) -> Result<(), Violation> {
        let promised = self.promises.promised();
        if !self.seen.insert((disk.fingerprint(), promised)) {
            return Ok(());
        }
        self.cutter.cut(&Moment { disk, promises: self.promises.clone() })
    }
}

impl<S> Drop for Life<'_, S> {
    fn drop(&mut self) {
        self.disk.witness().switch_off();
    }
}
