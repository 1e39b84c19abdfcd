//! Many runs from one seed.

use std::cell::RefCell;
use std::fmt;

use proptest::test_runner::{Config, TestCaseError, TestError, TestRunner};

use crate::oracle::Disagreement;

use super::rig::Rig;
use super::run::{Divergence, run};
use super::steps::Profile;
use super::strategy::{Case, CaseStrategy};
use super::tally::Tally;

/// What is to be run.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The seed of the first case; each further case has the next number, so that any case can be repeated alone.
    pub seed: u64,
    /// How many cases.
    pub cases: u64,
    /// How many steps in a case.
    pub steps: usize,
    /// What the steps are like.
    pub profile: Profile,
    /// The command that repeats a case when ` --seed N --cases 1` is put behind it.
    pub command: String,
    /// How many lists may be tried to reduce one that fails.
    pub reductions: u32,
}

impl Plan {
    /// A few hundred cases of a few dozen steps: some seconds for a store in memory.
    pub fn new(seed: u64, profile: Profile) -> Self {
        Plan { seed, cases: 200, steps: 80, profile, command: "holotype check".into(), reductions: 4096 }
    }
}

/// What a plan found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// The store departed from the model.
    Diverged(Box<Reduced>),
    /// Nothing went wrong, but too little was done to show anything.
    Idle {
        /// What was never done.
        missing: Vec<&'static str>,
        /// What was.
        tally: Box<Tally>,
    },
}

/// A case that fails, in the shortest form found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reduced {
    /// The case, reduced.
    pub case: Case,
    /// How many steps it had before.
    pub steps_before: usize,
    /// Where the store departed from the model.
    pub divergence: Divergence,
    /// The line that repeats it.
    pub repeat: String,
}

/// Runs the plan's cases, until one fails.
///
/// # Errors
///
/// The first case that failed, reduced by proptest; or that the cases did too little to count.
pub fn drive<R: Rig>(rig: &mut R, plan: &Plan) -> Result<Tally, Finding> {
    let mut profile = plan.profile.clone();
    let possible = rig.endings();
    profile.endings.retain(|ending| possible.contains(ending));
    let strategy = CaseStrategy { profile, len: plan.steps };
    let (rig, mut tally) = (RefCell::new(rig), Tally::default());
    for i in 0..plan.cases {
        tally += run_case(&rig, &strategy, plan.seed.wrapping_add(i), plan)?;
    }
    let missing = tally.missing(&strategy.profile.features, &strategy.profile.endings);
    if missing.is_empty() { Ok(tally) } else { Err(Finding::Idle { missing, tally: Box::new(tally) }) }
}

fn run_case<R: Rig>(
    rig: &RefCell<&mut R>,
    strategy: &CaseStrategy,
    seed: u64,
    plan: &Plan,
) -> Result<Tally, Finding> {
    let tally = RefCell::new(Tally::default());
    let config = Config {
        failure_persistence: None,
        max_shrink_iters: plan.reductions,
        max_shrink_time: 0,
        ..Config::default()
    };
    let outcome = TestRunner::new(config).run_one(strategy.tree(seed), |case| {
        *tally.borrow_mut() = run(*rig.borrow_mut(), &case.steps)
            .map_err(|divergence| TestCaseError::fail(divergence.doing))?;
        Ok(())
    });
    let Err(error) = outcome else { return Ok(tally.into_inner()) };
    let TestError::Fail(_, case) = error else { unreachable!("no case is ever rejected") };
    let divergence = run(*rig.borrow_mut(), &case.steps).err().unwrap_or_else(|| fickle(&case));
    let repeat = format!("{} --seed {seed} --cases 1", plan.command);
    Err(Finding::Diverged(Box::new(Reduced { case, steps_before: plan.steps, divergence, repeat })))
}

/// A case that failed and then passed: the store does not follow from its inputs, which is a finding as well.
fn fickle(case: &Case) -> Divergence {
    let disagreement = Disagreement {
        expected: vec!["the same steps to fail again".into()],
        found: "they passed: the store is not deterministic".into(),
    };
    Divergence { step: case.steps.len(), doing: "repeating the case".into(), disagreement }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Finding::Diverged(reduced) => reduced.fmt(f),
            Finding::Idle { missing, tally } => {
                write!(f, "nothing was shown, since there was not {}; done: {tally}", missing.join(", nor "))
            }
        }
    }
}

impl std::error::Error for Finding {}

impl fmt::Display for Reduced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let steps = &self.case.steps;
        writeln!(
            f,
            "the store departs from the model; reduced from {} steps to {}:",
            self.steps_before,
            steps.len()
        )?;
        for (i, step) in steps.iter().enumerate() {
            writeln!(f, "{i:>4}  {step}")?;
        }
        writeln!(f, "{}", self.divergence)?;
        write!(f, "repeat with: {}", self.repeat)
    }
}
