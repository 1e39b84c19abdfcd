//! One run of a command: its words, whether it was killed, its exit code, and what it printed.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use super::super::process::{Answered, Worker};

/// One run of a command.
#[derive(Debug)]
pub(super) struct Run {
    words: Vec<String>,
    answered: Answered,
}

/// The longest part of an answer that a report shows.
const SHOWN_LEN: usize = 600;

impl Run {
    /// A whole run of a command whose words hold no spaces.
    pub(super) fn of(worker: &Worker, directory: &Path, words: &str) -> Result<Run, String> {
        let words = words.split(' ').map(str::to_owned).collect();
        let run = Self::killed_after(None, worker, directory, words)?;
        // The exit codes that `holotype --help` lists.
        match run.code() {
            Some(0..=5) if !run.said("panicked") => Ok(run),
            _ => Err(format!("no documented end: {run}")),
        }
    }

    /// A run that is killed after `delay`, unless it has ended by then.
    pub(super) fn killed_after(
        delay: Option<Duration>,
        worker: &Worker,
        directory: &Path,
        words: Vec<String>,
    ) -> Result<Run, String> {
        let answered = worker.answer(directory, &words, delay)?;
        Ok(Run { words, answered })
    }

    /// None where it was killed.
    pub(super) fn code(&self) -> Option<i32> {
        self.answered.code
    }

    pub(super) fn is_killed(&self) -> bool {
        self.code().is_none()
    }

    /// How long it ran.
    pub(super) fn took(&self) -> Duration {
        self.answered.took
    }

    pub(super) fn out(&self) -> &str {
        &self.answered.out
    }

    /// Whether its message holds these words.
    pub(super) fn said(&self, words: &str) -> bool {
        self.answered.err.contains(words)
    }

    /// What it printed, where it ended with exit code 0.
    pub(super) fn done(&self) -> Result<&str, String> {
        match self.code() {
            Some(0) => Ok(self.out()),
            _ => Err(format!("it is refused: {self}")),
        }
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`holotype {}`", self.words.join(" "))?;
        match self.code() {
            None => write!(f, ", killed")?,
            Some(code) => write!(f, ", exit code {code}")?,
        }
        for printed in [&self.answered.out, &self.answered.err] {
            let shown: String = printed.trim().chars().take(SHOWN_LEN).collect();
            if !shown.is_empty() {
                write!(f, "\n  {shown}")?;
            }
        }
        Ok(())
    }
}
