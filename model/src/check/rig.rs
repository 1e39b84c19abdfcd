//! What the driver needs besides the store itself.

use std::fmt;

use crate::model::Ending;
use crate::op::Op;
use crate::outcome::Failure;
use crate::subject::Subject;

/// Holds the disk under a store: makes new stores, ends their lives and opens what is left.
pub trait Rig {
    /// The store.
    type Subject: Subject;

    /// A new, empty store. Whatever stores were there before are gone.
    ///
    /// # Errors
    ///
    /// What kept the store from being created.
    fn fresh(&mut self) -> Result<Self::Subject, Failure>;

    /// Ends the store's life in this way and opens what is left. Where there is a choice of what is left, as after a power
    /// cut, `choice` makes it, so that the same number leaves the same.
    ///
    /// # Errors
    ///
    /// What kept the store from being closed or opened.
    fn restart(
        &mut self,
        subject: Self::Subject,
        ending: Ending,
        choice: u64,
    ) -> Result<Self::Subject, Failure>;

    /// The endings that this rig can bring about.
    fn endings(&self) -> Vec<Ending> {
        vec![Ending::Close]
    }

    /// Whether a fault was injected since the last time this was asked: only then may a call fail.
    fn take_fault(&mut self) -> bool {
        false
    }
}

/// One step of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A call.
    Do(Op),
    /// The end of one life and the beginning of the next; the number goes to [`Rig::restart`].
    End(Ending, u64),
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Do(op) => op.fmt(f),
            Step::End(ending, choice) => write!(f, "-- {ending} (choice {choice:#x}) and open"),
        }
    }
}
