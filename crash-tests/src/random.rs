//! Long random lives: calls, closings, kills and power cuts from a seed, side by side with the model; and in between what such calls do not
//! bring about: backups with work in their midst, feeds that lag, disks without room, syncs that fail.

use std::fmt;
use std::iter::Peekable;
use std::panic::{AssertUnwindSafe, catch_unwind};

use holotype::Document;
use holotype_model::check::{self, Profile, Rng, Steps, Tally, minimise};
use holotype_model::{Durability, Features, Limits, Op, Value};

use crate::convert;
use crate::live::{IndexCalls, Live, Pairs, Step};
use crate::setup::Setup;

/// Beside what the model's driver asks for by itself, a step of maintenance comes before each step with a chance of one in so many.
const MAINTAINED_EVERY: usize = 8;

/// The steps of one run. `documents`, where there are any, take the place of most that the seed makes up.
pub fn steps(seed: u64, len: usize, setup: Setup, documents: &[Document]) -> Vec<check::Step> {
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
    let mut steps: Vec<check::Step> = Vec::with_capacity(len + len / MAINTAINED_EVERY);
    for step in Steps::seeded(seed, &profile).take(len) {
        if rng.one_in(MAINTAINED_EVERY) {
            steps.push(check::Step::Do(if rng.one_in(4) { Op::Checkpoint } else { Op::Clean }));
        }
        steps.push(step);
    }
    // Keys between what such segments hold and what others do: refused where they are put, and simply not there elsewhere.
    let (short, long) = (setup.limits().key_len, Limits::default().key_len);
    let is_between = |op: &Op| op.keys().iter().any(|key| (short + 1..=long).contains(&key.len()));
    steps.retain(|step| !matches!(step, check::Step::Do(op) if is_between(op)));
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

fn documents_of(step: &mut check::Step) -> Vec<&mut holotype_model::Document> {
    match step {
        check::Step::Do(op) => op.documents_mut(),
        check::Step::End(..) => Vec::new(),
    }
}

/// The steps of a life that mixes what [`steps`] makes with everything else. The lives in it are of different lengths, so that some are long enough for
/// segments to be freed, and used again, more than once.
pub fn mixed(seed: u64, len: usize, setup: Setup, documents: &[Document]) -> Vec<Step> {
    let mut rng = Rng::seeded(seed ^ 0x6d69_7865);
    let mut mixed = Vec::with_capacity(2 * len);
    let mut steps = steps(seed, len, setup, documents).into_iter().peekable();
    while let Some(step) = steps.next() {
        match step {
            check::Step::Do(op) if builds(&op) && rng.one_in(2) => {
                mixed.push(during_build(op, &mut steps, &mut rng, setup));
                continue;
            }
            check::Step::End(..) => {
                if rng.one_in(2) {
                    mixed.push(Step::Look);
                }
                if rng.one_in(3) {
                    if rng.one_in(8) {
                        mixed.extend(two_feeds());
                    }
                    mixed.push(Step::FailSync(upheaval(&mut rng, setup)));
                }
            }
            check::Step::Do(_) if rng.one_in(6) => {
                let event = event(&mut rng, setup);
                let next = after(&event, &mut rng);
                mixed.push(event);
                mixed.extend(next);
            }
            check::Step::Do(_) => {}
        }
        mixed.push(Step::from(step));
    }
    mixed
}

fn builds(op: &Op) -> bool {
    matches!(op, Op::CreateIndex { .. } | Op::ReplaceIndex { .. })
}

/// A build, and in its midst some of the calls that come next, or what a build does not like.
fn during_build(
    op: Op,
    next: &mut Peekable<impl Iterator<Item = check::Step>>,
    rng: &mut Rng,
    setup: Setup,
) -> Step {
    let collection = op.collection().expect("it is of one").to_owned();
    let mut steps = Vec::new();
    for _ in 0..1 + rng.below(4) {
        steps.push(match rng.below(10) {
            0 => Step::Do(Op::ClearCollection {
                collection: collection.clone(),
                durability: Durability::Written,
            }),
            1 => Step::NoRoom { write: rng.below(4) as u64, op: upheaval(rng, setup) },
            2 => Step::Swap(collection.clone()),
            3 => Step::Copy(collection.clone()),
            _ => match next.next_if(|step| matches!(step, check::Step::Do(_))) {
                Some(call) => Step::from(call),
                None => break,
            },
        });
    }
    Step::DuringBuild { op, steps, is_cancelled: rng.one_in(8) }
}

/// What happens beside the calls.
fn event(rng: &mut Rng, setup: Setup) -> Step {
    match rng.below(40) {
        36..40 => Step::Swap((*rng.pick(&["a", "b", "c"])).to_owned()),
        0 | 1 => Step::DuringBackup((0..3 + rng.below(9)).map(|_| beside(rng, setup)).collect()),
        2..7 => Step::Follow,
        7..12 => Step::CatchUp(1),
        12..14 => Step::CatchUp(0),
        14 | 15 => Step::HalfPublish,
        16..19 => Step::NoRoom { write: rng.below(4) as u64, op: upheaval(rng, setup) },
        19 => Step::NoRoom { write: rng.below(6) as u64, op: Op::Checkpoint },
        20 | 21 => Step::Fill,
        22..24 => Step::MakeRoom,
        24..27 => Step::Maintain,
        27..29 => Step::Do(Op::Compact),
        29 => Step::Look,
        30 => Step::Do(Op::TakeSnapshot),
        _ => Step::Do(upheaval(rng, setup)),
    }
}

/// Often, what makes a mistake show: a second follower beside the first; behind a write that found no room, one of the same shape; behind
/// a change that leaves an index as long as it was, checkpoints of this life and of the next.
fn after(event: &Step, rng: &mut Rng) -> Vec<Step> {
    let op = match event {
        Step::NoRoom { op, .. } => op,
        Step::Follow if rng.one_in(2) => return vec![Step::Follow],
        Step::Swap(_) if rng.one_in(2) => {
            return vec![Step::Do(Op::Checkpoint), Step::Reopen, Step::Do(Op::Checkpoint), Step::Reopen];
        }
        _ => return Vec::new(),
    };
    let (mut op, fill) = (op.clone(), rng.next_u64() as u8);
    for value in op.documents_mut().into_iter().flat_map(|document| document.values_mut()) {
        if let Value::Bytes(bytes) = value {
            bytes.fill(fill);
        }
    }
    if rng.one_in(2) { vec![Step::Do(op)] } else { Vec::new() }
}

/// Two begin to follow, and one comes further than the other.
fn two_feeds() -> [Step; 7] {
    let put = |int| {
        Step::Do(Op::Put {
            collection: "a".to_owned(),
            key: holotype_model::Key::from("x"),
            document: holotype_model::Document::from([("n".to_owned(), Value::Int(int))]),
            durability: Durability::Synced,
        })
    };
    let (one, other) = (Step::CatchUp(0), Step::CatchUp(1));
    [Step::Follow, Step::Follow, put(1), one.clone(), other, put(2), one]
}

/// Something that can be done while a backup is made.
fn beside(rng: &mut Rng, setup: Setup) -> Step {
    match rng.below(8) {
        0 | 1 => Step::Maintain,
        2 => Step::Do(Op::Checkpoint),
        3 => Step::Do(Op::Compact),
        _ => Step::Do(upheaval(rng, setup)),
    }
}

/// A write that makes much of the log dead, or takes much of it.
fn upheaval(rng: &mut Rng, setup: Setup) -> Op {
    let collection = (*rng.pick(&["a", "b", "c"])).to_owned();
    let durability =
        *rng.pick(&[Durability::Buffered, Durability::Written, Durability::Synced, Durability::Synced]);
    let segment = setup.segment_bytes as usize;
    // Few keys, so that each is superseded soon.
    let key = holotype_model::Key::from(*rng.pick(&["x", "y", "z"]));
    // In large segments a long document would be most of what a life does.
    let lens =
        [segment / 16, segment / 3, segment / 2, if segment <= 4096 { 2 * segment } else { segment / 2 }];
    let fill = rng.next_u64() as u8;
    let bytes = |len: usize| Value::Bytes((0..len).map(|at| fill.wrapping_add(at as u8)).collect());
    let document = |len| holotype_model::Document::from([("b".to_owned(), bytes(len))]);
    match rng.below(10) {
        0 => {
            Op::RenameCollection { collection, to: (*rng.pick(&["a", "b", "c", "d"])).to_owned(), durability }
        }
        1 => Op::DropCollection { collection, durability },
        2 => Op::Delete { collection, key, durability },
        3 | 4 => {
            let documents = (0..2 + rng.below(6)).map(|_| document(segment / 6)).collect();
            Op::InsertMany { collection, documents, durability }
        }
        _ => Op::Put { collection, key, document: document(*rng.pick(&lens)), durability },
    }
}

/// What came of a life.
#[derive(Debug, Clone, Default)]
pub struct Lived {
    /// What was asked and answered.
    pub tally: Tally,
    /// What was at work together.
    pub pairs: Pairs,
    /// What was asked of indexes, and answered.
    pub index_calls: IndexCalls,
}

/// Takes the steps that belong to `seed` on a new store.
///
/// # Errors
/// Where the store departed from the model, with a short list of steps that leads there.
pub fn live(seed: u64, len: usize, setup: Setup, documents: &[Document]) -> Result<Lived, Box<Reduced>> {
    let steps = mixed(seed, len, setup, documents);
    take(&steps, setup).map_err(|what| {
        let steps = minimise(steps, |steps| take(steps, setup).is_err());
        let what = take(&steps, setup).err().unwrap_or(what);
        Box::new(Reduced { steps, what })
    })
}

fn take(steps: &[Step], setup: Setup) -> Result<Lived, String> {
    let mut at = 0;
    let lived = catch_unwind(AssertUnwindSafe(|| take_all(steps, setup, &mut at)));
    let lived = lived.unwrap_or_else(|panic| Err(format!("a panic: {}", message(&*panic))));
    lived.map_err(|what| match steps.get(at) {
        Some(step) => format!("at step {at}, {step}: {what}"),
        None => format!("at the end: {what}"),
    })
}

fn take_all(steps: &[Step], setup: Setup, at: &mut usize) -> Result<Lived, String> {
    let (mut live, _) = Live::create(setup)?;
    // Nobody cuts power within a step.
    live.look_away();
    for (number, step) in steps.iter().enumerate() {
        *at = number;
        live.step(step)?;
    }
    *at = steps.len();
    for step in [Step::Look, Step::Reopen, Step::Look] {
        live.step(&step)?;
    }
    Ok(Lived { tally: live.tally(), pairs: live.pairs(), index_calls: live.index_calls() })
}

fn message(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message")
}

/// A life that went wrong, in the shortest form found.
#[derive(Debug, Clone)]
pub struct Reduced {
    /// The steps.
    pub steps: Vec<Step>,
    /// What went wrong.
    pub what: String,
}

impl fmt::Display for Reduced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, step) in self.steps.iter().enumerate() {
            writeln!(f, "  {index}. {step}")?;
        }
        write!(f, "  {}", self.what)
    }
}
