//! Whether a history can be explained: is there an order of its calls, each taking effect at one moment between its invocation
//! and its return, in which every answer is right? With whole transactions as calls, that is strict serializability.
//!
//! The search is that of Wing and Gong ("Testing and Verifying Concurrent Objects", 1993) with the memory of Lowe ("Testing for
//! Linearizability", 2017): a set of calls that has led to a state once is not tried from that state again. Without that memory
//! a history that has no order takes as many tries as its calls have interleavings.

use std::collections::HashSet;
use std::hash::Hash;

/// What one caller after the other would see.
pub trait Specification: Clone + Eq + Hash {
    /// What is asked.
    type Call;
    /// What is answered.
    type Answer;

    /// Carries out `call`. Whether `answer` is a right one; where nobody knows the answer, any is.
    fn step(&mut self, call: &Self::Call, answer: Option<&Self::Answer>) -> bool;
}

/// A call as somebody outside saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event<C, A> {
    /// Who called.
    pub thread: usize,
    /// What was asked.
    pub call: C,
    /// When, on a clock that all threads share.
    pub invoked: u64,
    /// When it returned, and with which answer. A call without may have taken effect at any time after its invocation, or never.
    pub returned: Option<(u64, A)>,
    /// The place of its commit in the log, where that is known: commits take effect in that order (spec: T-1.1).
    pub lsn: Option<u64>,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The calls in an order that explains every answer, by index.
    Explained(Vec<usize>),
    /// There is no such order.
    Inexplicable,
    /// The search was given up: it took too many states.
    Undecided,
}

/// States enough for any history that threads make. Those of some twenty calls take some hundreds.
pub const STATES_MAX: usize = 2_000_000;

/// The longest history: sets of calls are bits of a word.
pub const EVENTS_MAX: usize = 64;

/// Looks for an order of `events` that begins with `initial`, through up to `states_max` states.
///
/// # Panics
/// Where there are more than [`EVENTS_MAX`].
pub fn explain<S: Specification>(
    initial: &S,
    events: &[Event<S::Call, S::Answer>],
    states_max: usize,
) -> Verdict {
    assert!(events.len() <= EVENTS_MAX, "a set of calls is a word");
    let answered = (0..events.len()).filter(|index| events[*index].returned.is_some());
    let mut search = Search {
        events,
        before: (0..events.len()).map(|index| predecessors(events, index)).collect(),
        answered: answered.fold(0, |set, index| set | 1 << index),
        seen: HashSet::new(),
        states_max,
        order: Vec::new(),
    };
    match search.go_on(0, initial) {
        true => Verdict::Explained(search.order),
        false if search.seen.len() > states_max => Verdict::Undecided,
        false => Verdict::Inexplicable,
    }
}

/// The calls that took effect before this one did, if it did: those that had returned, and the commits in front of its own.
fn predecessors<C, A>(events: &[Event<C, A>], index: usize) -> u64 {
    let this = &events[index];
    let is_before = |other: &Event<C, A>| {
        let had_returned = other.returned.as_ref().is_some_and(|(returned, _)| *returned < this.invoked);
        had_returned || other.lsn.zip(this.lsn).is_some_and(|(theirs, ours)| theirs < ours)
    };
    let before = (0..events.len()).filter(|other| is_before(&events[*other]));
    before.fold(0, |set, other| set | 1 << other)
}

struct Search<'a, S: Specification> {
    events: &'a [Event<S::Call, S::Answer>],
    /// Of each call, the set of those that come first.
    before: Vec<u64>,
    /// The set of calls that the order must contain.
    answered: u64,
    /// What has been tried: the calls so far, and the state that they led to.
    seen: HashSet<(u64, S)>,
    states_max: usize,
    order: Vec<usize>,
}

impl<S: Specification> Search<'_, S> {
    /// Whether the order so far, which contains the calls `done` and leads to `state`, can be completed.
    fn go_on(&mut self, done: u64, state: &S) -> bool {
        if self.answered & !done == 0 {
            return true;
        }
        for index in 0..self.events.len() {
            let this = 1 << index;
            if done & this != 0 || self.before[index] & !done != 0 {
                continue;
            }
            let event = &self.events[index];
            let mut next = state.clone();
            let answer = event.returned.as_ref().map(|(_, answer)| answer);
            if !next.step(&event.call, answer) || !self.is_news(done | this, &next) {
                continue;
            }
            self.order.push(index);
            if self.go_on(done | this, &next) {
                return true;
            }
            self.order.pop();
        }
        false
    }

    fn is_news(&mut self, done: u64, state: &S) -> bool {
        self.seen.len() <= self.states_max && self.seen.insert((done, state.clone()))
    }
}
