//! Long random lives: calls, closings, kills and power cuts from a seed, side by side with the model.

use holotype::storage::sim::{Decisions, SimDisk};
use holotype::{Db, Document};
use holotype_model::check::{Divergence, Profile, Rig, Rng, Step, Steps, Tally, minimise, run};
use holotype_model::{Ending, Failure, Features, Limits, Op, Outcome, Subject};

use crate::client::Client;
use crate::follower::Follower;
use crate::setup::Setup;
use crate::witness::Witness;
use crate::{adapter, convert};

/// An open store, as the model's driver sees any.
#[derive(Debug)]
pub struct Engine {
    // Let go before what it follows.
    follower: Follower,
    client: Client,
    witness: Witness,
    setup: Setup,
}

/// What is left of a store that is not open: its disk, and the sizes that a new one would get.
#[derive(Debug)]
pub struct Image {
    /// The disk.
    pub disk: SimDisk,
    /// The sizes.
    pub setup: Setup,
}

impl Drop for Engine {
    fn drop(&mut self) {
        // A process that ends closes nothing.
        self.witness.switch_off();
    }
}

impl Subject for Engine {
    type Image = Image;

    fn open(image: Image) -> Result<Self, Failure> {
        let witness = Witness::new(image.disk);
        let db = Db::open_on(witness.clone(), &image.setup.options()).map_err(adapter::failure_of)?;
        let follower = Follower::begin(&db).map_err(Failure::Other)?;
        Ok(Engine { follower, client: Client::new(db), witness, setup: image.setup })
    }

    fn apply(&mut self, op: &Op) -> Outcome {
        let outcome = self.client.apply(op);
        // Now and then, so that there is something to hold in place for it.
        if outcome == Outcome::Done
            && matches!(op, Op::Flush | Op::Verify)
            && let Err(what) = self.follower.catch_up(self.client.db())
        {
            return Outcome::Failed(Failure::Other(what));
        }
        outcome
    }

    fn verify(&mut self) -> Result<(), Failure> {
        match self.apply(&Op::Verify) {
            Outcome::Failed(failure) => Err(failure),
            _ => Ok(()),
        }
    }

    fn supports(&self) -> Features {
        Features::all().with_limits(self.setup.limits())
    }
}

/// Keeps the disk from one life of the store to the next.
#[derive(Debug)]
pub struct DiskRig {
    setup: Setup,
    disk: SimDisk,
}

impl DiskRig {
    /// A rig for stores of these sizes.
    pub fn new(setup: Setup) -> Self {
        DiskRig { setup, disk: setup.disk() }
    }

    fn open(&self) -> Result<Engine, Failure> {
        Engine::open(Image { disk: self.disk.clone(), setup: self.setup })
    }
}

impl Rig for DiskRig {
    type Subject = Engine;

    fn fresh(&mut self) -> Result<Engine, Failure> {
        self.disk = self.setup.disk();
        self.open()
    }

    fn restart(&mut self, mut engine: Engine, ending: Ending, choice: u64) -> Result<Engine, Failure> {
        if ending == Ending::Close {
            engine.client.close().map_err(adapter::failure_of)?;
        }
        drop(engine);
        if ending == Ending::PowerCut {
            self.disk.set_decisions(Decisions::seeded(choice));
            self.disk.crash();
        }
        self.open()
    }

    fn endings(&self) -> Vec<Ending> {
        vec![Ending::Close, Ending::Kill, Ending::PowerCut]
    }
}

/// A life that went wrong, in the shortest form found.
#[derive(Debug, Clone)]
pub struct Reduced {
    /// The steps.
    pub steps: Vec<Step>,
    /// What went wrong.
    pub divergence: Divergence,
}

/// Beside what the model's driver asks for by itself, a step of maintenance comes before each step with a chance of one in so many.
const MAINTAINED_EVERY: usize = 8;

/// The steps of one run. `documents`, where there are any, take the place of most that the seed makes up.
pub fn steps(seed: u64, len: usize, setup: Setup, documents: &[Document]) -> Vec<Step> {
    let segment = setup.segment_bytes as usize;
    let sector = setup.sector as usize;
    let mut profile = Profile::new(Features::all().with_limits(setup.limits()));
    // Near the ends of sectors and, with what a record adds, of half segments: two of these do not share one.
    profile.lens = vec![sector - 64, sector - 32, sector, 2 * sector, segment / 2 - 128, segment / 2];
    if segment <= 4096 {
        // One of several chunks.
        profile.lens.push(2 * segment);
    }
    let mut rng = Rng::seeded(seed ^ 0x686f_6c6f);
    let mut steps: Vec<Step> = Vec::with_capacity(len + len / MAINTAINED_EVERY);
    for step in Steps::seeded(seed, &profile).take(len) {
        if rng.one_in(MAINTAINED_EVERY) {
            steps.push(Step::Do(if rng.one_in(4) { Op::Checkpoint } else { Op::Clean }));
        }
        steps.push(step);
    }
    // Keys between what such segments hold and what others do: refused where they are put, and simply not there elsewhere.
    let (short, long) = (setup.limits().key_len, Limits::default().key_len);
    let is_between = |op: &Op| op.keys().iter().any(|key| (short + 1..=long).contains(&key.len()));
    steps.retain(|step| !matches!(step, Step::Do(op) if is_between(op)));
    let bodies: Vec<&Document> =
        documents.iter().filter(|document| document.encode().len() < segment / 2).collect();
    if bodies.is_empty() {
        return steps;
    }
    for document in steps.iter_mut().flat_map(documents_of) {
        if !rng.one_in(4) {
            *document = convert::model_document(bodies[rng.below(bodies.len())]);
        }
    }
    steps
}

fn documents_of(step: &mut Step) -> Vec<&mut holotype_model::Document> {
    match step {
        Step::Do(op) => op.documents_mut(),
        Step::End(..) => Vec::new(),
    }
}

/// Takes the steps that belong to `seed` on a new store.
///
/// # Errors
/// Where the store departed from the model, with a short list of steps that leads there.
pub fn live(seed: u64, len: usize, setup: Setup, documents: &[Document]) -> Result<Tally, Box<Reduced>> {
    let steps = steps(seed, len, setup, documents);
    run(&mut DiskRig::new(setup), &steps).map_err(|divergence| {
        let fails = |steps: &[Step]| run(&mut DiskRig::new(setup), steps).is_err();
        let steps = minimise(steps, fails);
        let divergence = run(&mut DiskRig::new(setup), &steps).err().unwrap_or(divergence);
        Box::new(Reduced { steps, divergence })
    })
}

impl std::fmt::Display for Reduced {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, step) in self.steps.iter().enumerate() {
            writeln!(f, "  {index}. {step}")?;
        }
        write!(f, "  {}", self.divergence)
    }
}
