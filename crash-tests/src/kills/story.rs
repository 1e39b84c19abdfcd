//! One file, and its lives: a worker each, all but a few of them killed, and a look at what that left.

use std::fmt;
use std::path::{Path, PathBuf};

use holotype::{Db, Document, Error};
use holotype_model::{Durability, Ending, Op, Oracle};

use super::assignment::{Assignment, Work};
use super::calls::Calls;
use super::commands::Commands;
use super::documents;
use super::ledger::{self, Ledger};
use super::line::Line;
use super::plan::Plan;
use super::process::{Heard, Worker, hold_back_starts};
use super::tally::{Tally, When};
use crate::adapter::{self, Contents};

/// What one story did that it may not do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Its seed.
    pub seed: u64,
    /// The kills and closes up to there, this one among them.
    pub lives: u64,
    /// What is wrong.
    pub what: String,
    /// Where the store is kept, as the last kill left it or as the worker did that met the violation.
    pub file: PathBuf,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Violation { seed, lives, what, file } = self;
        write!(f, "story {seed}, life {}: {what}\n  the store is kept as {}", lives - 1, file.display())
    }
}

pub(super) struct Story<'a> {
    worker: &'a Worker,
    plan: Plan,
    assignment: Assignment,
    judge: Judge,
    has_opened: bool,
    tally: &'a mut Tally,
}

enum Judge {
    Calls(Calls),
    Ledger(Ledger),
    Commands(Commands),
}

impl<'a> Story<'a> {
    /// Begins a story in an empty directory.
    pub(super) fn begin(
        worker: &'a Worker,
        directory: &Path,
        seed: u64,
        documents: &[Document],
        tally: &'a mut Tally,
    ) -> Result<Story<'a>, String> {
        let assignment = Assignment {
            file: directory.join("store.holo"),
            documents: directory.join("documents"),
            work: Work::Calls,
            seed,
            life: 0,
            bug: bug(),
        };
        let written = documents::write(&assignment.documents, documents);
        written.map_err(|error| format!("{}: {error}", assignment.documents.display()))?;
        // From the same documents as the workers, which have a sample.
        let plan = Plan::new(seed, &documents::read(&assignment.documents)?);
        let assignment = Assignment { work: plan.work, ..assignment };
        let judge = match plan.work {
            Work::Calls => Judge::Calls(Calls::new(Oracle::new(plan.setup.limits()))),
            Work::Ledger => Judge::Ledger(Ledger::default()),
            Work::Commands => Judge::Commands(Commands::new(directory, plan.rng(0))),
        };
        Ok(Story { worker, plan, assignment, judge, has_opened: false, tally })
    }

    pub(super) fn file(&self) -> &Path {
        &self.assignment.file
    }

    pub(super) fn tally(&self) -> &Tally {
        self.tally
    }

    /// Lives through the next life; false where there is none left.
    pub(super) fn live(&mut self, life: u64) -> Result<bool, String> {
        if life as usize >= self.plan.lives.len() {
            return Ok(false);
        }
        if let Judge::Commands(commands) = &mut self.judge {
            return commands.live(self.worker, life, self.tally).map(|()| true);
        }
        self.assignment.life = life;
        let heard = self.worker.live(&self.assignment, self.plan.moment(life))?;
        self.has_opened |= heard.lines.iter().any(|line| matches!(line, Line::Opened(_)));
        let calls = std::mem::take(&mut self.plan.lives[life as usize]);
        self.judge(&calls, &heard)?;
        Ok(true)
    }

    fn judge(&mut self, calls: &[Op], heard: &Heard) -> Result<(), String> {
        let ending = if heard.is_killed { Ending::Kill } else { Ending::Close };
        match &mut self.judge {
            Judge::Calls(judge) => {
                let answered = judge.hear(calls, &heard.lines)?;
                for op in &calls[..answered] {
                    self.tally.count_acknowledged(op.durability());
                }
                let under_way = calls.get(answered).filter(|_| heard.is_killed);
                if let Some(op) = under_way {
                    judge.killed_during(op);
                }
                self.tally.count_end(heard.is_killed.then(|| when(&heard.lines, under_way)));
            }
            Judge::Ledger(_) => {
                let commits = heard.lines.iter().filter(|line| matches!(line, Line::Committed(..))).count();
                let when = if commits == 0 { when(&heard.lines, None) } else { When::Threads };
                self.tally.count_end(heard.is_killed.then_some(when));
                self.tally.threads += commits as u64;
            }
            Judge::Commands(_) => unreachable!("these say no lines"),
        }
        let contents = self.look(&self.assignment.file)?;
        match &mut self.judge {
            Judge::Calls(judge) => self.tally.count_survived(judge.found(ending, &contents)?),
            Judge::Ledger(before) => {
                let found = Ledger::read(&contents)?;
                found.follows(before, &heard.lines)?;
                *before = found;
                self.look_at_backup()?;
            }
            Judge::Commands(_) => unreachable!("these look for themselves"),
        }
        Ok(())
    }

    /// A backup that has its name is whole (spec: P-10.3), whatever the kill interrupted.
    fn look_at_backup(&mut self) -> Result<(), String> {
        let backup = ledger::backup_of(&self.assignment.file);
        if !backup.exists() {
            return Ok(());
        }
        let there = read(&backup, &self.plan).map_err(|error| format!("the backup: {error}"))?;
        let Judge::Ledger(now) = &self.judge else { unreachable!("only a ledger is backed up") };
        let then = Ledger::read(&there).map_err(|what| format!("the backup: {what}"))?;
        self.tally.backups += u64::from(then.commits() > 0);
        then.came_before(now)
    }

    /// All that the store holds, which finds itself in order. Nothing is written: what the next worker opens is what the kill left.
    fn look(&self, file: &Path) -> Result<Contents, String> {
        match read(file, &self.plan) {
            // Its creation was not over.
            Err(Error::NotFound { .. } | Error::Incomplete) if !self.has_opened => Ok(Contents::default()),
            read => read.map_err(|error| format!("looking at it: {error}")),
        }
    }

    /// The end: it is opened for writing and closed once more, and nothing changes by that.
    pub(super) fn end(&mut self) -> Result<(), String> {
        if matches!(self.judge, Judge::Commands(_)) {
            // Each life ended with commands that write to what is there.
            return Ok(());
        }
        let say = |error: Error| format!("at the end: {error}");
        let before = self.look(&self.assignment.file)?;
        let open = self.open_and_close().map_err(say)?;
        let after = self.look(&self.assignment.file)?;
        match before == open && open == after {
            true => Ok(()),
            false => Err("it holds something else once it was opened and closed".to_owned()),
        }
    }

    fn open_and_close(&self) -> Result<Contents, Error> {
        let _while_it_is_open = hold_back_starts();
        let db = Db::open_with(&self.assignment.file, &self.plan.options())?;
        let contents = adapter::contents(&db)?;
        db.close()?;
        Ok(contents)
    }
}

/// Reads all of a store that finds itself in order.
fn read(file: &Path, plan: &Plan) -> Result<Contents, Error> {
    let _while_it_is_open = hold_back_starts();
    let db = Db::open_with(file, &plan.options().read_only(true))?;
    match db.verify(true)?.problems.into_iter().next() {
        None => adapter::contents(&db),
        Some(problem) => Err(Error::Corrupt(problem)),
    }
}

/// What a kill has met, as far as those know who heard the worker.
fn when(lines: &[Line], under_way: Option<&Op>) -> When {
    if !lines.iter().any(|line| matches!(line, Line::Opened(_))) {
        return When::Opening;
    }
    match under_way {
        None => When::Closing,
        Some(op) if op.durability() == Some(Durability::Synced) => When::Strong,
        Some(op) if op.is_write() => When::Weak,
        Some(Op::Checkpoint | Op::Clean | Op::Compact | Op::Flush) => When::Upkeep,
        Some(_) => When::Other,
    }
}

/// The bug that is switched on here is switched on in the workers.
#[cfg(feature = "seeded")]
fn bug() -> Option<String> {
    holotype::seeded::switched_on().map(|bug| format!("{bug:?}"))
}

#[cfg(not(feature = "seeded"))]
fn bug() -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    use holotype::format::superblock::{SLOT_OFFSETS, Slot, parse_slot};

    use super::*;

    /// The file that a process leaves which is killed after it has written slot A (spec: ).
    #[test]
    fn a_store_whose_creation_ended_between_its_slots_finds_itself_in_order() {
        let directory = tempfile::tempdir().unwrap();
        let (file, plan) = (directory.path().join("s"), Plan::new(0, &[]));
        Db::open_with(&file, &plan.options()).unwrap().close().unwrap();
        let whole = std::fs::read(&file).unwrap();
        let cut = |generation: u64| {
            let mut bytes = whole.clone();
            let slot: &mut [u8; 512] = (&mut bytes[..512]).try_into().unwrap();
            let Slot::Valid(mut superblock) = parse_slot(slot, 0) else { panic!("slot A is valid") };
            superblock.generation = generation;
            *slot = superblock.encode();
            bytes[SLOT_OFFSETS[1] as usize..][..512].fill(0);
            std::fs::write(&file, bytes).unwrap();
            read(&file, &plan)
        };
        assert_eq!(cut(0).unwrap(), Contents::default());
        assert!(matches!(cut(2), Err(Error::Corrupt(_))), "no creation writes slot A again");
    }
}
