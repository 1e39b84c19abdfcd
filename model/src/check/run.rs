//! One list of steps, on a store and under the oracle.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::model::Ending;
use crate::op::Op;
use crate::oracle::{Disagreement, Oracle};
use crate::outcome::{Failure, Outcome};
use crate::subject::{Features, Subject};

use super::rig::{Rig, Step};
use super::tally::Tally;

/// Where a store departed from what the model allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Divergence {
    /// The index of the step, or the number of steps when it showed at the end.
    pub step: usize,
    /// What was done.
    pub doing: String,
    /// What was legal and what was found.
    pub disagreement: Disagreement,
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "at step {}, {}", self.step, self.doing)?;
        writeln!(f, "  found:    {}", self.disagreement.found)?;
        let expected = self.disagreement.expected.join("\n  or:       ");
        write!(f, "  expected: {expected}")
    }
}

impl std::error::Error for Divergence {}

/// Takes the steps on a fresh store, judging each answer; at the end verifies the store, compares all that it shows, closes
/// it, opens it and does so again.
///
/// # Errors
///
/// The first thing that the model does not allow, a panic included.
pub fn run<R: Rig>(rig: &mut R, steps: &[Step]) -> Result<Tally, Divergence> {
    let mut step = 0;
    let result = catch_unwind(AssertUnwindSafe(|| run_to(rig, steps, &mut step)));
    let result = result.unwrap_or_else(|panic| Err(unforeseen("no panic", &panic_message(&*panic))));
    result.map_err(|disagreement| Divergence {
        step,
        doing: steps.get(step).map_or_else(|| "at the end".to_owned(), Step::to_string),
        disagreement,
    })
}

fn run_to<R: Rig>(rig: &mut R, steps: &[Step], at: &mut usize) -> Result<Tally, Disagreement> {
    let subject = rig.fresh().map_err(|failure| unforeseen("a new store", &failure))?;
    let features = subject.supports();
    let oracle = Oracle::new(features.limits());
    let mut run = Run { rig, subject, features, oracle, tally: Tally { cases: 1, ..Tally::default() } };
    for (i, step) in steps.iter().enumerate() {
        *at = i;
        match step {
            Step::Do(op) => run.call(op)?,
            Step::End(ending, choice) => run = run.end(*ending, *choice)?,
        }
    }
    *at = steps.len();
    run.compare()?;
    run = run.end(Ending::Close, 0)?;
    run.compare()?;
    Ok(run.tally)
}

struct Run<'a, R: Rig> {
    rig: &'a mut R,
    subject: R::Subject,
    features: Features,
    oracle: Oracle,
    tally: Tally,
}

impl<R: Rig> Run<'_, R> {
    fn call(&mut self, op: &Op) -> Result<(), Disagreement> {
        if !self.features.support(op) {
            self.tally.left_out += 1;
            return Ok(());
        }
        let was_poisoned = self.oracle.is_poisoned();
        let outcome = self.subject.apply(op);
        self.tally.count_call(op, &outcome);
        let may_fail =
            self.rig.take_fault() || (was_poisoned && outcome == Outcome::Failed(Failure::Poisoned));
        if !may_fail && matches!(outcome, Outcome::Unknown | Outcome::Failed(_)) {
            return Err(unforeseen("an answer, as nothing was broken", &outcome));
        }
        self.oracle.judge(op, &outcome)
    }

    fn end(mut self, ending: Ending, choice: u64) -> Result<Self, Disagreement> {
        let restarted = self.rig.restart(self.subject, ending, choice);
        self.subject = restarted.map_err(|failure| unforeseen("the store to open again", &failure))?;
        let dump = self.subject.dump().map_err(|failure| unforeseen("to read everything", &failure))?;
        let survived = self.oracle.judge_ending(ending, &dump)?;
        self.tally.count_ending(ending, survived);
        Ok(self)
    }

    fn compare(&mut self) -> Result<(), Disagreement> {
        self.subject.verify().map_err(|failure| unforeseen("nothing damaged", &failure))?;
        let dump = self.subject.dump().map_err(|failure| unforeseen("to read everything", &failure))?;
        self.oracle.judge_dump(&dump)
    }
}

fn unforeseen(expected: &str, found: &dyn fmt::Display) -> Disagreement {
    Disagreement { expected: vec![expected.to_owned()], found: found.to_string() }
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let message =
        panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    format!("a panic: {}", message.unwrap_or("without a message"))
}
