//! What a worker is told to do, as the words on its command line.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// One life of one story: everything that the worker does follows from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The file of the store.
    pub file: PathBuf,
    /// Documents to fill it with, as the parent wrote them.
    pub documents: PathBuf,
    /// What the worker does.
    pub work: Work,
    /// The seed of the story.
    pub seed: u64,
    /// Which of its lives this is, counted from 0.
    pub life: u64,
    /// The seeded bug to be switched on, in a build that has them.
    pub bug: Option<String>,
}

/// What a worker does with its store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Work {
    /// Calls of every kind, one after the other, each judged by the model.
    Calls,
    /// Transactions of several threads, with maintenance and backups beside them, judged by the ledger that they keep.
    Ledger,
    /// Commands of the built command line, one a life: these are no workers, and have no assignment.
    Commands,
}

/// In the place of a bug, where there is none.
const NO_BUG: &str = "-";

impl Work {
    fn name(self) -> &'static str {
        match self {
            Work::Calls => "calls",
            Work::Ledger => "ledger",
            Work::Commands => "commands",
        }
    }
}

impl Assignment {
    /// The words for the command line.
    pub fn to_args(&self) -> Vec<OsString> {
        vec![
            self.work.name().into(),
            self.seed.to_string().into(),
            self.life.to_string().into(),
            self.bug.as_deref().unwrap_or(NO_BUG).into(),
            self.file.clone().into(),
            self.documents.clone().into(),
        ]
    }

    /// Reads them.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn from_args(args: &[OsString]) -> Result<Assignment, String> {
        let [work, seed, life, bug, file, documents] = args else {
            return Err(format!("an assignment has six words, not {}", args.len()));
        };
        let work = [Work::Calls, Work::Ledger].into_iter().find(|known| work == known.name());
        let bug = Some(bug).filter(|bug| *bug != NO_BUG);
        Ok(Assignment {
            work: work.ok_or("this is no kind of work")?,
            seed: number(seed)?,
            life: number(life)?,
            bug: bug.map(|bug| bug.to_string_lossy().into_owned()),
            file: file.into(),
            documents: documents.into(),
        })
    }
}

fn number(word: &OsStr) -> Result<u64, String> {
    word.to_str().and_then(|word| word.parse().ok()).ok_or_else(|| format!("{word:?} is no number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_assignment_comes_through_the_command_line_as_it_was() {
        for (work, bug) in [(Work::Calls, None), (Work::Ledger, Some("SyncSkipped".to_owned()))] {
            let (file, documents) = ("a store".into(), "documents".into());
            let assignment = Assignment { file, documents, work, seed: u64::MAX, life: 7, bug };
            assert_eq!(Assignment::from_args(&assignment.to_args()), Ok(assignment));
        }
    }

    #[test]
    fn words_that_are_no_assignment_are_refused() {
        let words = |words: &str| words.split(' ').map(OsString::from).collect::<Vec<_>>();
        for bad in ["calls", "flying 1 2 - a b", "calls x 2 - a b", "calls 1 -2 - a b"] {
            assert!(Assignment::from_args(&words(bad)).is_err(), "{bad}");
        }
    }
}
