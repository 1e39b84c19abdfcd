//! The judge of a story of calls: after a kill, the store holds what is promised and nothing else.

use holotype_model::{Durability, Ending, Model, Op, Oracle, Outcome, Survived};

use super::line::{Line, digest};
use crate::adapter::Contents;

/// Judges a store by what its workers said and by what is found in it.
#[derive(Debug)]
pub(super) struct Calls {
    /// One for each answer that the call under way may have given.
    judges: Vec<Oracle>,
    /// What stood in the store when it was last looked at.
    found: u64,
}

impl Calls {
    /// The judge of a store that is not there yet.
    pub(super) fn new(oracle: Oracle) -> Calls {
        Calls { judges: vec![oracle], found: digest(&Contents::default()) }
    }

    /// Hears what a worker said that was to make these calls. How many of them returned.
    pub(super) fn hear(&mut self, calls: &[Op], lines: &[Line]) -> Result<usize, String> {
        let mut answered = 0;
        for line in lines {
            match line {
                Line::Opened(found) if *found != self.found => {
                    return Err(
                        "who opens it for writing finds something else than who only looked".to_owned()
                    );
                }
                Line::Answered(found, text) => {
                    let op = calls.get(answered).ok_or("it answers what was not asked")?;
                    self.answered(op, *found, text)
                        .map_err(|what| format!("call {answered}, {op}: {what}"))?;
                    answered += 1;
                }
                Line::Closed => self.judge(&Op::Flush, &Outcome::Done)?,
                _ => {}
            }
        }
        Ok(answered)
    }

    fn answered(&mut self, op: &Op, found: u64, text: &str) -> Result<(), String> {
        let legal: Vec<Outcome> = self.histories().flat_map(|history| answers(history, op)).collect();
        let Some(outcome) = legal.iter().find(|outcome| digest(outcome) == found) else {
            let legal: Vec<String> = legal.iter().map(Outcome::to_string).collect();
            return Err(format!("it answers {text}; legal is {}", legal.join(", or ")));
        };
        self.judge(op, outcome)
    }

    fn histories(&self) -> impl Iterator<Item = &Model> {
        self.judges.iter().flat_map(Oracle::histories)
    }

    fn judge(&mut self, op: &Op, outcome: &Outcome) -> Result<(), String> {
        self.narrow(|judge| judge.judge(op, outcome).map(drop)).map(drop)
    }

    /// The worker was killed during this call, or before it, or when it had returned and nothing was said yet.
    pub(super) fn killed_during(&mut self, op: &Op) {
        if !op.is_write() {
            return;
        }
        // Its commit is there or not, and a weak class promises just that.
        let weak = op.with_durability(Durability::Buffered);
        let mut judges: Vec<Oracle> = Vec::new();
        for judge in &self.judges {
            for history in judge.histories() {
                let foretold = history.clone().apply(&weak);
                let mut next = judge.clone();
                next.judge(&weak, &foretold).expect("this is what it foretells");
                if !judges.contains(&next) {
                    judges.push(next);
                }
            }
        }
        self.judges = judges;
    }

    /// This is what stands in the store after the worker's end.
    pub(super) fn found(&mut self, ending: Ending, contents: &Contents) -> Result<Survived, String> {
        self.found = digest(contents);
        self.narrow(|judge| judge.judge_ending(ending, contents))
    }

    /// Keeps the judges that agree; what the first of them says.
    fn narrow<T>(
        &mut self,
        mut judge: impl FnMut(&mut Oracle) -> Result<T, holotype_model::Disagreement>,
    ) -> Result<T, String> {
        let (mut said, mut disagreement) = (None, None);
        self.judges.retain_mut(|oracle| match judge(oracle) {
            Ok(answer) => {
                said.get_or_insert(answer);
                true
            }
            Err(found) => {
                disagreement = Some(found);
                false
            }
        });
        match (said, disagreement) {
            (Some(answer), _) => Ok(answer),
            (None, Some(found)) => {
                Err(format!("found {}; legal is: {}", found.found, found.expected.join(" | or: ")))
            }
            (None, None) => unreachable!("there is always one judge at least"),
        }
    }
}

/// What a store in which nothing breaks may answer.
fn answers(history: &Model, op: &Op) -> Vec<Outcome> {
    let refusals = history.refusals(op);
    match refusals.is_empty() {
        true => vec![history.clone().apply(op)],
        false => refusals.into_iter().map(Outcome::Refused).collect(),
    }
}
