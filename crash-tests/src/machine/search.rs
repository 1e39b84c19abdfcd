//! A search from its beginnings to its depth, and what it met; or one path of it, walked again.

use std::fmt;
use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use stateright::{Checker, Expectation, HasDiscoveries, Model, Path};

use super::finding::Finding;
use super::scope::{self, Scope};
use super::ways::{self, Way};
use super::{Action, Machine, State};

/// So many ways of a step are told to who asks for one that there is not.
const WAYS_TOLD: usize = 8;

/// What a search met.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Different states.
    pub states: usize,
    /// Steps that were taken, in all the ways in which they came out.
    pub transitions: usize,
    /// Steps on the longest path.
    pub depth: usize,
    /// For how long it ran.
    pub seconds: f64,
    /// What must come about somewhere, and whether it did: asked only of a search from every beginning.
    pub sometimes: Vec<(&'static str, bool)>,
    /// Whether it was from every beginning.
    pub is_whole: bool,
    /// What must hold everywhere.
    pub always: Vec<&'static str>,
    /// The shortest path to a state in which something does not hold.
    pub counterexample: Option<Counterexample>,
}

/// A path to a state in which a law is broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counterexample {
    /// What [`replay`] takes.
    pub path: String,
    /// What is wrong there.
    pub finding: Finding,
}

impl Report {
    /// Whether nothing was found, and everything came about that a search must meet to have shown something.
    pub fn holds(&self) -> bool {
        self.counterexample.is_none() && (!self.is_whole || self.sometimes.iter().all(|(_, came)| *came))
    }

    /// Different states a second.
    pub fn rate(&self) -> f64 {
        self.states as f64 / self.seconds.max(0.001)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { states, transitions, depth, seconds, .. } = self;
        write!(
            f,
            "{states} states ({transitions} transitions) to depth {depth} in {seconds:.1} s, {:.0} states a second",
            self.rate()
        )
    }
}

/// Searches, and tells now and then how many states were met.
pub fn search(scope: Scope, mut progress: impl FnMut(usize)) -> Report {
    let start = Instant::now();
    let checker = Machine::new(scope).checker().threads(scope.threads);
    let mut checker = checker.finish_when(HasDiscoveries::AnyFailures).spawn_bfs();
    let threads = checker.handles();
    while !threads.iter().all(std::thread::JoinHandle::is_finished) {
        progress(checker.unique_state_count());
        std::thread::sleep(Duration::from_millis(20));
    }
    let seconds = start.elapsed().as_secs_f64();
    checker.model().is_searching.store(false, Ordering::Relaxed);
    let found = checker.discoveries();
    let mut report = Report {
        states: checker.unique_state_count(),
        transitions: checker.state_count(),
        depth: checker.max_depth().saturating_sub(1),
        seconds,
        sometimes: Vec::new(),
        is_whole: scope.from.is_none(),
        always: Vec::new(),
        counterexample: None,
    };
    for property in checker.model().properties() {
        if property.expectation == Expectation::Sometimes {
            report.sometimes.push((property.name, found.contains_key(property.name)));
        } else {
            report.always.push(property.name);
        }
    }
    let broken = found.into_iter().filter(|(name, _)| report.always.contains(name)).map(|(_, path)| path);
    let shortest = broken.min_by_key(|path| path.clone().into_actions().len());
    report.counterexample = shortest.map(|path| counterexample(checker.model(), path));
    report
}

fn counterexample(machine: &Machine, path: Path<State, Action>) -> Counterexample {
    let finding = path.last_state().finding().expect("its path leads to the same state again").clone();
    let first = path.clone().into_states().remove(0);
    let begun = scope::beginnings(machine.setup, None).into_iter().find(|(_, state)| *state == first);
    let mut words = vec![begun.expect("paths start at a beginning").0.to_owned()];
    words.extend(path.into_actions().iter().map(ToString::to_string));
    Counterexample { path: words.join(","), finding }
}

/// Serves the search at `address` for a browser, in which a person takes one step after the other. Does not return.
pub fn explore(scope: Scope, address: SocketAddr) {
    let checker = Machine::new(scope).checker().threads(scope.threads);
    checker.serve(address);
}

/// Walks a path once more. What each step leads to is told; the last one says what was found, if anything was.
///
/// # Errors
/// A word that is no step, or a step that cannot come there.
pub fn replay(path: &str, mut tell: impl FnMut(&str, &State)) -> Result<Option<Finding>, String> {
    let machine = Machine::new(Scope { depth: u32::MAX, ..Scope::default() });
    machine.switch_bug_on();
    let mut words = path.split(',').map(str::trim);
    let beginning = words.next().unwrap_or_default();
    let begun = scope::beginnings(machine.setup, Some(beginning)).pop();
    let known = scope::BEGINNINGS.join(", ");
    let begun = begun.ok_or_else(|| format!("no beginning is called {beginning:?}; there are {known}"));
    let (_, mut state) = begun?;
    tell(beginning, &state);
    for word in words {
        let way: Way = word.parse()?;
        let actions = ways::ways(&machine, &state, way.step);
        let known: Vec<String> = actions.iter().take(WAYS_TOLD).map(ToString::to_string).collect();
        let action = actions.into_iter().find(|action| *action.way() == way);
        let action = action.ok_or_else(|| match known.is_empty() {
            true => format!("{word:?} cannot come here: {state:?}"),
            false => format!("{word:?} cannot come here; its first ways are {}", known.join(", ")),
        });
        state = action?.into_state();
        tell(word, &state);
    }
    Ok(state.finding().cloned())
}
