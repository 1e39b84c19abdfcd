//! Runs as proptest sees them: made from a seed, reduced by proptest's own loop.

use proptest::num::u64::ANY;
use proptest::strategy::{NewTree, Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use super::reduce::Reduction;
use super::rig::Step;
use super::steps::{Profile, Steps};

/// A run, and the seed that it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// The seed. It makes the steps as they were before any reduction.
    pub seed: u64,
    /// The steps.
    pub steps: Vec<Step>,
}

/// Makes cases of a number of steps.
#[derive(Debug, Clone)]
pub struct CaseStrategy {
    /// What the steps are like.
    pub profile: Profile,
    /// How many there are in a case.
    pub len: usize,
}

/// A case while it is reduced.
#[derive(Debug, Clone)]
pub struct CaseTree {
    seed: u64,
    reduction: Reduction<Step>,
}

impl CaseStrategy {
    /// The case that belongs to `seed`.
    pub fn tree(&self, seed: u64) -> CaseTree {
        let steps = Steps::seeded(seed, &self.profile).take(self.len).collect();
        CaseTree { seed, reduction: Reduction::new(steps) }
    }
}

impl Strategy for CaseStrategy {
    type Tree = CaseTree;
    type Value = Case;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        Ok(self.tree(ANY.new_tree(runner)?.current()))
    }
}

impl ValueTree for CaseTree {
    type Value = Case;

    fn current(&self) -> Case {
        Case { seed: self.seed, steps: self.reduction.current().to_vec() }
    }

    fn simplify(&mut self) -> bool {
        self.reduction.advance()
    }

    fn complicate(&mut self) -> bool {
        if !self.reduction.is_trying() {
            return false;
        }
        self.reduction.reject();
        self.reduction.advance()
    }
}
