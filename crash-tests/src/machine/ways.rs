//! All ways in which a step can come out.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::str::FromStr;

use holotype::storage::sim::{SimDisk, explore_each};

use super::Machine;
use super::events::Events;
use super::finding::{Finding, Law};
use super::off::Off;
use super::running::Running;
use super::state::{Life, State};
use super::step::Step;

/// More ways than any one step has. Beyond this the tree has grown by mistake, and that is a finding.
const WAYS_MAX: u64 = 100_000;

/// One way in which a step comes out, as a replay names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Way {
    pub(super) step: Step,
    /// After which change of the disk the power goes, the first being 1; none where the step is carried out.
    pub(super) cut: Option<usize>,
    /// What was read that a power cut had left open, in order: which of its versions it came out as.
    pub(super) choices: Vec<u32>,
}

/// A way, and the state that it leads to. Ways are found by taking the step, so the state is there when the way is known.
#[derive(Clone)]
pub struct Action {
    way: Way,
    state: State,
}

impl Action {
    pub(super) fn into_state(self) -> State {
        self.state
    }

    pub(super) fn way(&self) -> &Way {
        &self.way
    }
}

impl PartialEq for Action {
    fn eq(&self, other: &Self) -> bool {
        self.way == other.way
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.way.fmt(f)
    }
}

impl fmt::Debug for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.way.fmt(f)
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.step)?;
        if let Some(cut) = self.cut {
            write!(f, "@{cut}")?;
        }
        for (index, choice) in self.choices.iter().enumerate() {
            write!(f, "{}{choice}", if index == 0 { ':' } else { '.' })?;
        }
        Ok(())
    }
}

impl FromStr for Way {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = |_| format!("{text:?} is no step of a replay");
        let (rest, choices) =
            text.split_once(':').map_or((text, None), |(rest, choices)| (rest, Some(choices)));
        let (step, cut) = rest.split_once('@').map_or((rest, None), |(step, cut)| (step, Some(cut)));
        let choices = choices.map(|choices| choices.split('.').map(str::parse).collect::<Result<_, _>>());
        Ok(Way {
            step: step.parse()?,
            cut: cut.map(str::parse).transpose().map_err(bad)?,
            choices: choices.transpose().map_err(bad)?.unwrap_or_default(),
        })
    }
}

/// Everything that `step` can lead to from `state`.
pub(super) fn ways(machine: &Machine, state: &State, step: Step) -> Vec<Action> {
    let mut taken = Taken { machine, step, depth: state.depth() + 1, actions: Vec::new() };
    let life = state.life();
    let disk = match &*life {
        Life::Running(running) if running.allows(step) => running.disk(),
        Life::Off(off) if step == Step::Open => off.disk(),
        _ => return Vec::new(),
    };
    let tally = explore_each(disk, WAYS_MAX, |disk| {
        let before = taken.actions.len();
        let stepped = catch_unwind(AssertUnwindSafe(|| match &*life {
            Life::Running(running) => taken.go_on(running, &disk),
            Life::Off(off) => taken.open(off, &disk),
            Life::Over | Life::Deep => unreachable!("no step comes after it"),
        }));
        let stepped = stepped.unwrap_or_else(|panic| Err(panicked(&*panic)));
        if let Err(finding) = stepped {
            taken.lead_to(None, State::found(finding, taken.depth, Events::default()));
        }
        let choices: Vec<u32> = disk.decisions().iter().map(|decision| decision.choice).collect();
        taken.actions[before..].iter_mut().for_each(|action| action.way.choices.clone_from(&choices));
    });
    if !tally.complete {
        let finding =
            Finding::new(Law::RightOrTyped, format!("{step} has more than {WAYS_MAX} ways to come out"));
        taken.lead_to(None, State::found(finding, taken.depth, Events::default()));
    }
    taken.actions
}

fn panicked(panic: &(dyn std::any::Any + Send)) -> Finding {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without words");
    Finding::new(Law::RightOrTyped, format!("a panic: {text}"))
}

/// Looks at a copy, in every way in which what nobody has read yet may come out: so a look decides nothing for what comes.
fn look(running: &Running) -> Result<(), Finding> {
    let mut looked = Ok(());
    let tally = explore_each(running.disk(), WAYS_MAX, |disk| {
        if looked.is_ok() {
            looked = running.fork(disk).look();
        }
    });
    let too_many =
        || Finding::new(Law::RightOrTyped, format!("a look has more than {WAYS_MAX} ways to come out"));
    looked.and_then(|()| if tally.complete { Ok(()) } else { Err(too_many()) })
}

/// A step while it is taken.
struct Taken<'a> {
    machine: &'a Machine,
    step: Step,
    /// Of the states that it leads to.
    depth: u32,
    actions: Vec<Action>,
}

impl Taken<'_> {
    fn go_on(&mut self, running: &Running, disk: &SimDisk) -> Result<(), Finding> {
        let mut next = running.fork(disk.clone());
        if matches!(self.step, Step::Close | Step::Kill | Step::Cut | Step::LoseCheckpoint | Step::LoseSector)
        {
            let off = next.end(self.step)?;
            self.lead_to(None, State::new(Life::Off(off), self.depth, Events::default()));
            return Ok(());
        }
        let Some(cuts) = next.take(self.step)? else { return Ok(()) };
        self.note_cuts(cuts);
        self.look_and_lead_to(next, Events::default())
    }

    fn open(&mut self, off: &Off, disk: &SimDisk) -> Result<(), Finding> {
        let opened = off.on(disk.clone()).open(self.machine.setup)?;
        self.note_cuts(opened.cuts);
        match opened.running {
            Some(running) => self.look_and_lead_to(running, opened.events)?,
            None => self.lead_to(None, State::new(Life::Over, self.depth, opened.events)),
        }
        Ok(())
    }

    fn note_cuts(&mut self, cuts: Vec<Off>) {
        for (index, off) in cuts.into_iter().enumerate() {
            let state = State::new(Life::Off(off), self.depth, Events::default());
            self.lead_to(Some(index + 1), state);
        }
    }

    /// Adds an open store, having looked at it if that is a state that was not met before.
    fn look_and_lead_to(&mut self, running: Running, events: Events) -> Result<(), Finding> {
        let engine = running.engine_fingerprint();
        let fingerprint = running.fingerprint(engine);
        if !self.machine.has_met(fingerprint) {
            if self.step == Step::Open {
                self.look_at_opened(&running, engine)?;
            } else {
                look(&running)?;
            }
        }
        self.lead_to(None, State::with(fingerprint, Life::Running(Box::new(running)), self.depth, events));
        Ok(())
    }

    /// Looks at a store that was opened just now, which was read and judged in opening, unless one was found in order that has the same in memory and holds
    /// the same of the file: then a second recovery would differ only where the first one has just been, in what is left over beyond the end of the log.
    fn look_at_opened(&self, running: &Running, engine: u64) -> Result<(), Finding> {
        let held = running.held_fingerprint(engine);
        if !self.machine.looked_at().contains(&held) {
            look(running)?;
            // Only now: what was found is to be found again when its path is walked once more.
            self.machine.looked_at().insert(held);
        }
        Ok(())
    }

    fn lead_to(&mut self, cut: Option<usize>, state: State) {
        self.machine.note(&state);
        let is_last = self.depth == self.machine.scope.depth;
        let state = if is_last { state.into_last() } else { state };
        self.actions.push(Action { way: Way { step: self.step, cut, choices: Vec::new() }, state });
    }
}
