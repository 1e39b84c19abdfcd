//! Real kills: a process works on a real file, is killed at some moment, and what it left is held against what it was told.
//!
//! | file | what it is |
//! |---|---|
//! | `assignment` | what a worker is told, on its command line |
//! | `line` | what it says, in a pipe |
//! | `worker` | the worker itself |
//! | `ledger` | its work where it has several threads, and the judge of that |
//! | `process` | the worker as its parent sees it: started, heard, killed |
//! | `plan` | all that follows from a seed |
//! | `calls` | the judge of single calls: the model |
//! | `commands` | the built command line in the place of a worker, and the judge of that |
//! | `story` | one file and its lives |
//! | `search` | many stories, some of them at a time |
//! | `tally` | what the kills met |
//!
//! A call counts as returned when the worker's line about it is in the pipe, so at most one call of a thread is in doubt. A kill
//! takes nothing from the operating system, so this shows nothing of power cuts, which the other checks are for: it shows what lies in
//! the process, in real threads and real files.
//!
//! Everything but the moment of a kill follows from the seed; that is as close to a line of the worker as the machine's clock allows.

mod assignment;
mod calls;
mod commands;
mod documents;
mod ledger;
mod line;
mod plan;
mod process;
mod search;
mod story;
mod tally;
mod worker;

pub use assignment::{Assignment, Work};
pub use commands::names as command_names;
pub use process::Worker;
pub use story::Violation;
pub use tally::{Tally, WHEN};
pub use worker::work;

use std::path::PathBuf;

use holotype::Document;

use story::Story;

/// The name by which the `holotype` command knows that it is a worker.
pub const COMMAND: &str = "torture-worker";

/// How kills are tried.
#[derive(Debug)]
pub struct Kills {
    /// The program that works.
    pub worker: Worker,
    /// Where the stores are; each story has a directory of its own in it.
    pub directory: PathBuf,
    /// Documents to fill them with, beside those that the seed makes up.
    pub documents: Vec<Document>,
    /// The only stories that are lived through; those of every kind where there is none.
    pub only: Option<Work>,
}

impl Kills {
    /// Lives through the story that belongs to `seed`, one life at least and for as long as `goes_on`, which is asked after each.
    ///
    /// # Errors
    /// What the store did that it may not do. Its file is kept.
    pub fn story(
        &self,
        seed: u64,
        tally: &mut Tally,
        mut goes_on: impl FnMut(&Tally) -> bool,
    ) -> Result<(), Violation> {
        let cannot = |what: String| Violation { seed, lives: 1, what, file: self.directory.clone() };
        let directory = tempfile::Builder::new()
            .prefix("holotype-kills-")
            .tempdir_in(&self.directory)
            .map_err(|error| cannot(format!("no directory can be made: {error}")))?;
        let mut all = *tally;
        all.stories += 1;
        let mut story =
            Story::begin(&self.worker, directory.path(), seed, &self.documents, &mut all).map_err(cannot)?;
        let mut lives = 1;
        let mut result = story.live(0);
        while result == Ok(true) && goes_on(story.tally()) {
            result = story.live(lives);
            lives += 1;
        }
        let result = result.and_then(|_| story.end());
        let name = story.file().file_name().map(PathBuf::from).unwrap_or_default();
        *tally = all;
        result.map_err(|what| Violation { seed, lives, what, file: directory.keep().join(name) })
    }
}
