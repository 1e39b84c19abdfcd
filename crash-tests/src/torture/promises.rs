//! What a power cut may leave of a store, by what the store has said so far.

use std::collections::VecDeque;

use super::{Change, Contents, Durability};

/// The states that the store may be found in: what the last promise covers, and each commit after it.
#[derive(Debug, Clone)]
pub(super) struct Promises {
    states: VecDeque<Contents>,
    /// The number of the first of the states.
    promised: usize,
}

impl Promises {
    pub(super) fn new() -> Self {
        Promises { states: VecDeque::from([Contents::new()]), promised: 0 }
    }

    /// What the store shows.
    pub(super) fn visible(&self) -> &Contents {
        self.states.back().expect("there is always a state")
    }

    /// A commit was asked for, and has not returned: it may be there.
    pub(super) fn begin(&mut self, changes: &[Change]) {
        let mut next = self.visible().clone();
        changes.iter().for_each(|change| change.apply(&mut next));
        self.states.push_back(next);
    }

    /// The commit that was begun returned.
    pub(super) fn acknowledge(&mut self, durability: Durability) {
        if durability == Durability::Durable {
            self.settle();
        }
    }

    /// All that is visible is durable.
    pub(super) fn settle(&mut self) {
        self.promised += self.states.len() - 1;
        self.states.drain(..self.states.len() - 1);
    }

    /// How many commits are promised, of all that there ever were.
    pub(super) fn promised(&self) -> usize {
        self.promised
    }

    /// A store was opened on what a power cut left, and holds this: how many commits that were not promised it kept, of how many.
    /// From now on this is what it holds, and it is durable: nothing but the medium was left to be read.
    pub(super) fn found(&mut self, contents: &Contents) -> Result<(usize, usize), String> {
        let found = self.found_after_kill(contents)?;
        self.settle();
        Ok(found)
    }

    /// The same after a kill: what was written may not be on the medium yet.
    pub(super) fn found_after_kill(&mut self, contents: &Contents) -> Result<(usize, usize), String> {
        let unpromised = self.states.len() - 1;
        let Some(kept) = self.states.iter().rposition(|state| state == contents) else {
            return Err(self.explain(contents));
        };
        self.states.truncate(kept + 1);
        Ok((kept, unpromised))
    }

    fn explain(&self, contents: &Contents) -> String {
        let (promised, newest) = (&self.states[0], self.visible());
        let differ = |state: &Contents| {
            let keys = state.keys().chain(contents.keys().filter(|key| !state.contains_key(*key)));
            keys.filter(|key| state.get(*key) != contents.get(*key)).count()
        };
        let lost = promised.keys().filter(|key| !contents.contains_key(*key) && newest.contains_key(*key));
        format!(
            "what it holds is the state after none of the {} commits that may be the last: {} of {} keys are not as promised, {} not as \
             after the newest commit; {} keys are gone that nobody deleted",
            self.states.len(),
            differ(promised),
            promised.len(),
            differ(newest),
            lost.count()
        )
    }
}
