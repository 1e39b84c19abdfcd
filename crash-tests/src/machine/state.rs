//! A state of the machine: a store with its judge, what came about on the way there, and what was found wrong.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::events::Events;
use super::finding::Finding;
use super::hash::Mixer;
use super::off::Off;
use super::running::Running;

/// What there is of the store.
#[derive(Debug)]
pub(super) enum Life {
    Running(Box<Running>),
    Off(Off),
    /// Nothing comes after it: something was found, or the damage was told.
    Over,
    /// The search ends here, and the store was let go.
    Deep,
}

impl Life {
    /// One number for all that matters to what comes: how it came to be is no part of it.
    pub(super) fn fingerprint(&self) -> u64 {
        let mut mixer = Mixer::default();
        match self {
            Life::Running(running) => return running.fingerprint(running.engine_fingerprint()),
            Life::Off(off) => (1u8, off.fingerprint()).hash(&mut mixer),
            Life::Over | Life::Deep => 2u8.hash(&mut mixer),
        }
        mixer.finish()
    }
}

/// A state. Clones share it: it never changes.
#[derive(Clone)]
pub struct State {
    node: Arc<Node>,
}

struct Node {
    /// Behind a lock, since a transaction goes from thread to thread, but is in one at a time.
    life: Mutex<Life>,
    fingerprint: u64,
    /// Steps from the beginning.
    depth: u32,
    /// What the last of them brought about.
    events: Events,
    finding: Option<Finding>,
}

impl State {
    /// One at which nothing was found.
    pub(super) fn new(life: Life, depth: u32, events: Events) -> State {
        let mut fingerprint = life.fingerprint();
        if matches!(life, Life::Over) {
            // Nothing comes after it, so how it came about is all that tells it from others.
            let mut mixer = Mixer::default();
            (fingerprint, events).hash(&mut mixer);
            fingerprint = mixer.finish();
        }
        State::with(fingerprint, life, depth, events)
    }

    /// The same, of which the fingerprint is known.
    pub(super) fn with(fingerprint: u64, life: Life, depth: u32, events: Events) -> State {
        let life = Mutex::new(life);
        State { node: Arc::new(Node { life, fingerprint, depth, events, finding: None }) }
    }

    /// The store did what it may not do. Nothing comes after that.
    pub(super) fn found(finding: Finding, depth: u32, events: Events) -> State {
        let mut mixer = Mixer::default();
        finding.what.hash(&mut mixer);
        let fingerprint = mixer.finish();
        let life = Mutex::new(Life::Over);
        State { node: Arc::new(Node { life, fingerprint, depth, events, finding: Some(finding) }) }
    }

    /// The same with its store let go, as nobody asks what comes after it.
    pub(super) fn into_last(self) -> State {
        let Node { fingerprint, depth, events, ref finding, .. } = *self.node;
        let (life, finding) = (Mutex::new(Life::Deep), finding.clone());
        State { node: Arc::new(Node { life, fingerprint, depth, events, finding }) }
    }

    pub(super) fn life(&self) -> MutexGuard<'_, Life> {
        self.node.life.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn depth(&self) -> u32 {
        self.node.depth
    }

    pub(super) fn events(&self) -> Events {
        self.node.events
    }

    pub(super) fn fingerprint(&self) -> u64 {
        self.node.fingerprint
    }

    /// What was found wrong here.
    pub fn finding(&self) -> Option<&Finding> {
        self.node.finding.as_ref()
    }

    /// What a person wants to know of it.
    pub(super) fn about(&self) -> String {
        match (&*self.life(), &self.node.finding) {
            (_, Some(finding)) => format!("BROKEN: {finding}"),
            (Life::Running(running), None) => running.about(),
            (Life::Off(off), None) => off.about(),
            (Life::Over, None) => "damaged, and told so".to_owned(),
            (Life::Deep, None) => "the search ends here".to_owned(),
        }
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.about())
    }
}

impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        self.fingerprint() == other.fingerprint()
    }
}

impl Hash for State {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.node.fingerprint);
    }
}
