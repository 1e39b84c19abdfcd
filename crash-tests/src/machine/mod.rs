//! Every life of a small store, breadth first, by a model checker (stateright).
//!
//! A state is the real engine on a simulated disk of tiny segments, with the pure model beside it; or, between two lives, the disk alone with
//! all that the next opening may find. From each state every step is taken, each in every way in which it can come out: a power cut leaves
//! open what the medium holds, and who reads splits the search there. After each change of the disk within a step, power may go as well.
//!
//! States merge by one number for everything that matters to what comes: what the disk holds and may hold, what the engine has in memory, the
//! model. LSNs, incarnations and the generation of the superblock only grow and are on the disk, so the search is bounded by its depth, not
//! by an end of new states.

mod events;
mod finding;
mod hash;
mod look;
mod off;
mod running;
mod scope;
mod search;
mod state;
mod step;
mod ways;

pub use finding::{Finding, Law};
pub use scope::{BEGINNINGS, Scope};
pub use search::{Counterexample, Report, explore, replay, search};
pub use state::State;
pub use step::Step;
pub use ways::Action;

use std::collections::HashSet;
use std::hash::BuildHasherDefault;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use stateright::{Model, Property};

use crate::setup::Setup;

use events::Events;
use hash::Mixer;
use running::Running;
use state::Life;

type Met = HashSet<u64, BuildHasherDefault<Mixer>>;

/// The store as a transition system.
#[derive(Debug)]
pub struct Machine {
    scope: Scope,
    setup: Setup,
    steps: Vec<Step>,
    /// The fingerprints of the states that were met, and looked at, and found in order: looking once is enough.
    met: Mutex<Met>,
    /// What stores had in memory and held of the file when they had just been opened, and were found in order.
    looked_at: Mutex<Met>,
    has_found: AtomicBool,
    /// When the search is over, the paths to what it found are walked once more, and nothing is enough then.
    is_searching: AtomicBool,
    /// Switched on in each thread that takes steps.
    #[cfg(feature = "seeded")]
    bug: Option<holotype::seeded::Bug>,
}

impl Machine {
    /// One with all steps of `scope`.
    pub fn new(scope: Scope) -> Self {
        Machine {
            scope,
            setup: Setup::TINY,
            steps: scope.steps(),
            met: Mutex::default(),
            looked_at: Mutex::default(),
            has_found: AtomicBool::new(false),
            is_searching: AtomicBool::new(true),
            #[cfg(feature = "seeded")]
            bug: holotype::seeded::switched_on(),
        }
    }

    fn met(&self) -> MutexGuard<'_, Met> {
        self.met.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_met(&self, fingerprint: u64) -> bool {
        self.met().contains(&fingerprint)
    }

    fn looked_at(&self) -> MutexGuard<'_, Met> {
        self.looked_at.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers a state.
    fn note(&self, state: &State) {
        if state.finding().is_none() {
            self.met().insert(state.fingerprint());
        } else {
            self.has_found.store(true, Ordering::Relaxed);
        }
    }

    /// Whether no further steps are wanted: something was found, which breadth first is the nearest, or as many states were met as were
    /// asked for.
    fn has_enough(&self) -> bool {
        let has_states = || self.scope.states.is_some_and(|states| self.met().len() >= states);
        self.is_searching.load(Ordering::Relaxed) && (self.has_found.load(Ordering::Relaxed) || has_states())
    }

    fn switch_bug_on(&self) {
        #[cfg(feature = "seeded")]
        holotype::seeded::switch_on(self.bug);
    }
}

fn keeps(state: &State, law: Law) -> bool {
    state.finding().is_none_or(|finding| finding.law != law)
}

fn came_about(state: &State, event: Events) -> bool {
    state.events().has(event)
}

fn is_open_and(state: &State, holds: fn(&Running) -> bool) -> bool {
    matches!(&*state.life(), Life::Running(running) if holds(running))
}

impl Model for Machine {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        self.switch_bug_on();
        scope::beginnings(self.setup, self.scope.from).into_iter().map(|(_, state)| state).collect()
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        self.switch_bug_on();
        if state.depth() < self.scope.depth && !self.has_enough() {
            actions.extend(self.steps.iter().flat_map(|step| ways::ways(self, state, *step)));
        }
    }

    fn next_state(&self, _: &State, action: Action) -> Option<State> {
        Some(action.into_state())
    }

    fn format_action(&self, action: &Action) -> String {
        action.to_string()
    }

    fn format_step(&self, _: &State, action: Action) -> Option<String> {
        Some(action.into_state().about())
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("1 prefix", |_, state| keeps(state, Law::Prefix)),
            Property::always("2 right data or a typed error", |_, state| keeps(state, Law::RightOrTyped)),
            Property::always("3 torn is not corrupt", |_, state| keeps(state, Law::TornIsNotCorrupt)),
            Property::always("4 a failed sync is final", |_, state| keeps(state, Law::FailedSync)),
            Property::always("5 snapshots are stable", |_, state| keeps(state, Law::Snapshots)),
            Property::always("6 strictly serializable", |_, state| keeps(state, Law::Serial)),
            Property::always("verify is clean", |_, state| keeps(state, Law::Verify)),
            Property::sometimes("a torn tail is cut", |_, state| came_about(state, Events::TORN_TAIL)),
            Property::sometimes("a slot is in doubt", |_, state| came_about(state, Events::SLOT_IN_DOUBT)),
            Property::sometimes("some commits in the air survive", |_, state| {
                came_about(state, Events::PARTLY_KEPT)
            }),
            Property::sometimes("recovery falls back to a checkpoint", |_, state| {
                came_about(state, Events::FALLBACK)
            }),
            Property::sometimes("a watermark attests a loss", |_, state| came_about(state, Events::ATTESTED)),
            Property::sometimes("a segment is reused", |_, state| is_open_and(state, Running::has_reused)),
            Property::sometimes("the disk is full", |_, state| is_open_and(state, Running::is_full)),
            Property::sometimes("a sync has failed", |_, state| is_open_and(state, Running::is_stopped)),
        ]
    }
}
