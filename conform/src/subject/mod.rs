//! Whom is asked.

mod asked;
mod engine;
mod process;

use std::fmt;

use crate::answer::Answer;
use crate::case::Request;

pub use engine::Engine;
pub use process::Process;

/// An implementation that can be asked.
pub trait Subject {
    /// Carries out `request`. `file` holds the bytes of the file that the request is about, and afterwards what the subject made of them.
    ///
    /// # Errors
    /// [`Trouble`] where no answer came; the subject can be asked again.
    fn ask(&mut self, request: &Request, file: Option<&mut Vec<u8>>) -> Result<Answer, Trouble>;
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trouble {
    /// The subject could not be started.
    NotStarted {
        /// What the operating system said.
        what: String,
    },
    /// The subject ended.
    Died,
    /// No answer came in time.
    TimedOut {
        /// The limit in seconds.
        seconds: u64,
    },
    /// What came is no answer.
    Garbage {
        /// What is wrong with it.
        what: String,
    },
    /// It was not asked, since it had failed to answer this often in a row.
    GivenUp {
        /// How often.
        times: u32,
    },
    /// The file could not be handed over.
    Scratch {
        /// What the operating system said.
        what: String,
    },
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::NotStarted { what } => write!(f, "the subject could not be started: {what}"),
            Trouble::Died => f.write_str("the subject ended without an answer"),
            Trouble::TimedOut { seconds } => write!(f, "no answer within {seconds} seconds"),
            Trouble::Garbage { what } => write!(f, "not an answer: {what}"),
            Trouble::GivenUp { times } => write!(f, "not asked: there was no answer {times} times in a row"),
            Trouble::Scratch { what } => write!(f, "the file could not be handed over: {what}"),
        }
    }
}

impl std::error::Error for Trouble {}
