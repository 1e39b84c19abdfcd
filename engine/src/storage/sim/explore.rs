//! All ways to settle the image of a crash.

use super::decisions::{Decision, Decisions};
use super::disk::SimDisk;
use super::sectors::Cache;
use super::state::{Name, State};

/// How much an exploration did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tally {
    /// Runs, each with choices of its own.
    pub leaves: u64,
    /// States of the medium that they stand for: each leaf counts for every state that agrees with what its run has asked
    /// about. All are different, but for a sector in which the file may end: that is counted with what lies beyond.
    pub states: f64,
    /// The most choices in one run.
    pub depth: usize,
    /// Whether that was all of them.
    pub complete: bool,
}

/// One run of an exploration.
#[derive(Debug, Clone)]
pub struct Leaf<R> {
    /// What the run returned.
    pub result: R,
    /// Its choices: [`Decisions::path`] makes a disk take them again.
    pub path: Vec<u32>,
    /// States that it stands for.
    pub states: f64,
}

/// What an exploration found.
#[derive(Debug, Clone)]
pub struct Exploration<R> {
    /// The runs, in the order of their paths.
    pub leaves: Vec<Leaf<R>>,
    /// How many they are.
    pub tally: Tally,
}

/// Runs `run` on the image of a crash once for each way of settling what it asks about, up to `leaves_max` times.
///
/// If it is complete, every legal state of the medium that `image` stands for gives one of the results. `run` may crash
/// the disk again: the choices about that crash are explored with the others. It must be a function of its disk, and
/// reach the same choices in the same order from the same bytes.
pub fn explore<R>(image: &SimDisk, leaves_max: u64, mut run: impl FnMut(SimDisk) -> R) -> Exploration<R> {
    let mut leaves = Vec::new();
    let mut results = Vec::new();
    let tally = walk(
        image,
        leaves_max,
        |disk| results.push(run(disk)),
        |taken, states| {
            leaves.push((taken.iter().map(|decision| decision.choice).collect(), states));
        },
    );
    let leaves =
        results.into_iter().zip(leaves).map(|(result, (path, states))| Leaf { result, path, states });
    Exploration { leaves: leaves.collect(), tally }
}

/// [`explore`] without keeping what the runs return, for millions of them.
pub fn explore_each(image: &SimDisk, leaves_max: u64, run: impl FnMut(SimDisk)) -> Tally {
    walk(image, leaves_max, run, |_, _| {})
}

/// Depth first: each run follows the path of the one before up to its last choice that has a next alternative.
fn walk(
    image: &SimDisk,
    leaves_max: u64,
    mut run: impl FnMut(SimDisk),
    mut visit: impl FnMut(&[Decision], f64),
) -> Tally {
    let mut tally = Tally { leaves: 0, states: 0.0, depth: 0, complete: false };
    let mut path = Vec::new();
    while tally.leaves < leaves_max {
        let disk = image.fork();
        disk.set_decisions(Decisions::path(path));
        run(disk.clone());
        let state = disk.state();
        let taken = state.decisions.taken();
        tally.leaves += 1;
        tally.states += state.states();
        tally.depth = tally.depth.max(taken.len());
        visit(taken, state.states());
        match next_path(taken) {
            Some(next) => path = next,
            None => {
                tally.complete = true;
                break;
            }
        }
    }
    tally
}

fn next_path(taken: &[Decision]) -> Option<Vec<u32>> {
    let turn = taken.iter().rposition(|decision| decision.choice + 1 < decision.alternatives)?;
    let kept = taken[..turn].iter().map(|decision| decision.choice);
    Some(kept.chain([taken[turn].choice + 1]).collect())
}

/// Every state of the medium that the image of a crash stands for, each as a disk with nothing open; `None` if there
/// are more than `states_max`.
///
/// This goes by the product of what each thing may be, and knows nothing of reads: it is what [`explore`] is certified
/// against, on images small enough.
pub fn naive(image: &SimDisk, states_max: u64) -> Option<Vec<SimDisk>> {
    let state = image.state();
    if state.states() > states_max as f64 {
        return None;
    }
    let mut images = Vec::new();
    if state.name == Name::Unsettled {
        let lost = State { capacity: state.capacity, ..State::new(state.sector, state.level) };
        images.push(SimDisk::of(lost));
    }
    if state.prefix_unsettled {
        for kept in 0..=state.changes - state.synced {
            let mut prefix = state.clone();
            prefix.name = if state.name == Name::Unsettled { Name::Durable } else { state.name };
            prefix.keep_prefix(kept);
            images.push(SimDisk::of(prefix));
        }
    } else {
        let lens =
            state.length.unsettled.as_deref().map_or_else(|| vec![state.length.current], <[u64]>::to_vec);
        for len in lens {
            products(&state, len, &mut images);
        }
    }
    Some(images)
}

/// Adds every combination of the versions of unread sectors in a file of `len` bytes.
fn products(state: &State, len: u64, images: &mut Vec<SimDisk>) {
    let unit = state.sectors.sector_len();
    let mut bytes = vec![0; len as usize];
    state.pages.read(0, &mut bytes);
    let unread =
        state.sectors.within(0..len.div_ceil(unit)).filter(|(_, sector)| sector.cache == Cache::Unread);
    // Where each lies, and its different bytes as far as the file goes.
    let unread: Vec<(usize, Vec<&[u8]>)> = unread
        .map(|(number, sector)| {
            let (_, place) = state.sectors.place(number);
            let part = place.start..place.start + (len - number * unit).min(unit) as usize;
            let mut parts: Vec<_> =
                sector.versions.iter().map(|version| &version.page.bytes()[part.clone()]).collect();
            parts.sort_unstable();
            parts.dedup();
            ((number * unit) as usize, parts)
        })
        .collect();
    let mut choice = vec![0; unread.len()];
    loop {
        for ((at, parts), choice) in unread.iter().zip(&choice) {
            let part: &[u8] = parts[*choice];
            bytes[*at..at + part.len()].copy_from_slice(part);
        }
        let image = SimDisk::from_bytes(state.sector, state.level, &bytes);
        image.state().capacity = state.capacity;
        if state.name == Name::Pending {
            image.state().name = Name::Pending;
        }
        images.push(image);
        // Counts on, the first sector fastest.
        let Some(turn) = (0..choice.len()).find(|at| choice[*at] + 1 < unread[*at].1.len()) else { return };
        choice[turn] += 1;
        choice[..turn].fill(0);
    }
}
