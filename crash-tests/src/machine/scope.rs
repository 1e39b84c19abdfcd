//! How far a search goes, and where it begins.

use crate::crash::starts;
use crate::setup::Setup;

use super::events::Events;
use super::finding::{Finding, Law};
use super::off::Off;
use super::running::Running;
use super::state::{Life, State};
use super::step::Step;

/// What is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scope {
    /// Steps from a beginning.
    pub depth: u32,
    /// Keys that documents are put under.
    pub keys: u8,
    /// Different small documents.
    pub values: u8,
    /// The one of [`BEGINNINGS`] to begin with; none for each of them.
    pub from: Option<&'static str>,
    /// The search is over when it has met so many states.
    pub states: Option<usize>,
    /// Threads that search. With one, two runs meet the same states in the same order.
    pub threads: usize,
}

impl Default for Scope {
    fn default() -> Self {
        Scope { depth: 3, keys: 1, values: 1, from: None, states: None, threads: 1 }
    }
}

const BLANK: &str = "blank";
const INDEXED: &str = "an-index-in-a-checkpoint";

/// Where searches begin: with nothing on the disk, with a store that has acknowledged two commits, with one whose checkpoint has an index, or with a prepared store whose caller holds nothing.
pub const BEGINNINGS: &[&str] = &[
    BLANK,
    "two-commits",
    INDEXED,
    "two-checkpoints",
    "segments-that-are-freed-and-wait",
    "segments-that-one-checkpoint-has-as-freed",
    "segments-that-are-used-again",
];

impl Scope {
    /// Every step, in the order in which they are tried.
    pub(super) fn steps(&self) -> Vec<Step> {
        let each_key = |step: fn(u8) -> Step| (0..self.keys).map(step);
        let mut steps = vec![Step::Open];
        for key in 0..self.keys {
            steps.extend((0..self.values).map(|value| Step::Put(key, value)));
        }
        steps.push(Step::PutSynced(0, 0));
        steps.extend(each_key(Step::Delete));
        steps.extend(each_key(Step::Increment));
        steps.extend([Step::IncrementAll, Step::Long, Step::Insert, Step::Drop]);
        steps.extend([Step::Index, Step::Unindex, Step::Begin]);
        steps.extend(each_key(Step::PutInside));
        steps.extend([
            Step::DeleteInside(0),
            Step::IncrementAllInside,
            Step::Commit,
            Step::Rollback,
            Step::Flush,
        ]);
        steps.extend(each_key(Step::Defer));
        steps.extend([
            Step::BeginSync,
            Step::AskDisk,
            Step::EndSync,
            Step::Checkpoint,
            Step::CheckpointAround,
            Step::Maintain,
            Step::Snapshot,
            Step::Release,
            Step::SyncFails,
            Step::Fill,
            Step::MakeRoom,
            Step::Close,
            Step::Kill,
            Step::Cut,
            Step::LoseCheckpoint,
            Step::LoseSector,
        ]);
        steps
    }
}

/// Those of [`BEGINNINGS`] that are wanted, with their names.
pub(super) fn beginnings(setup: Setup, from: Option<&str>) -> Vec<(&'static str, State)> {
    let prepared = starts(setup.segment_bytes);
    let wanted = BEGINNINGS.iter().filter(|name| from.is_none_or(|from| from == **name));
    let begun = wanted.map(|name| {
        let life = match prepared.iter().find(|start| start.name.replace(' ', "-") == *name) {
            Some(start) => start
                .make(setup)
                .map(|live| Life::Running(Box::new(Running::of(setup, &live))))
                .map_err(|what| Finding::new(Law::RightOrTyped, what)),
            None if *name == BLANK => Ok(Life::Off(Off::blank(setup))),
            None => made(setup, name).map(|running| Life::Running(Box::new(running))),
        };
        let state = match life {
            Ok(life) => State::new(life, 0, Events::default()),
            Err(finding) => State::found(finding, 0, Events::default()),
        };
        (*name, state)
    });
    begun.collect()
}

/// Each of the two commits is a batch of its own, so the second one's attests the first.
fn made(setup: Setup, name: &str) -> Result<Running, Finding> {
    let opened = Off::blank(setup).open(setup)?;
    let mut running = opened.running.expect("nothing is damaged");
    for step in [Step::PutSynced(0, 0), Step::PutSynced(1, 0)] {
        running.take(step)?;
    }
    if name == INDEXED {
        running.take(Step::Index)?;
        running.take(Step::Checkpoint)?;
    }
    Ok(running)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_beginning_but_the_first_three_is_a_prepared_store() {
        let prepared = starts(Setup::TINY.segment_bytes);
        for name in &BEGINNINGS[3..] {
            assert!(prepared.iter().any(|start| start.name.replace(' ', "-") == *name), "{name}");
        }
    }
}
