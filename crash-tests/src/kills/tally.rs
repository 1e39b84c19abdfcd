//! What the kills met.

use std::fmt;
use std::ops::AddAssign;

use holotype_model::{Durability, Survived};

/// Where a worker was when it was killed: at this, or just before or behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// Opening the store.
    Opening,
    /// A commit of class `Synced`.
    Strong,
    /// A commit of a weaker class, or a write within a transaction.
    Weak,
    /// A checkpoint, a step of cleaning, a compaction, a flush.
    Upkeep,
    /// A read, or a step of a transaction or snapshot.
    Other,
    /// Several threads.
    Threads,
    /// Closing the store.
    Closing,
    /// A command.
    Command,
}

/// What the kills met and left.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Stories: a file each.
    pub stories: u64,
    /// Workers that were killed.
    pub kills: u64,
    /// Workers that had closed the store before.
    pub closes: u64,
    /// Kills by what they met, in the order of [`WHEN`].
    pub met: [u64; 8],
    /// Commits of each class that were acknowledged, the weakest first.
    pub acknowledged: [u64; 3],
    /// And of threads beside each other, of all classes.
    pub threads: u64,
    /// Kills that took commits which were not acknowledged as strong.
    pub took: u64,
    /// Kills that left such commits.
    pub left: u64,
    /// Looks at a backup that was there after a kill.
    pub backups: u64,
    /// Commands that were run on what a killed command left.
    pub commands: u64,
}

/// The names of what a kill can meet.
pub const WHEN: [&str; 8] = [
    "opening",
    "a synced commit",
    "a weaker commit",
    "upkeep",
    "another call",
    "threads",
    "closing",
    "a command",
];

impl Tally {
    pub(super) fn count_end(&mut self, killed: Option<When>) {
        match killed {
            Some(when) => {
                self.kills += 1;
                self.met[when as usize] += 1;
            }
            None => self.closes += 1,
        }
    }

    pub(super) fn count_acknowledged(&mut self, durability: Option<Durability>) {
        if let Some(durability) = durability {
            self.acknowledged[durability as usize] += 1;
        }
    }

    pub(super) fn count_survived(&mut self, survived: Survived) {
        self.took += u64::from(survived.kept < survived.unacknowledged);
        self.left += u64::from(survived.kept > 0);
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        // Taken apart by name, so that a count which is added to the type is not forgotten here.
        let Tally { stories, kills, closes, met, acknowledged, threads, took, left, backups, commands } =
            other;
        self.stories += stories;
        self.kills += kills;
        self.closes += closes;
        self.met.iter_mut().zip(met).for_each(|(sum, more)| *sum += more);
        self.acknowledged.iter_mut().zip(acknowledged).for_each(|(sum, more)| *sum += more);
        self.threads += threads;
        self.took += took;
        self.left += left;
        self.backups += backups;
        self.commands += commands;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let met: Vec<String> =
            WHEN.iter().zip(self.met).map(|(when, count)| format!("{count} at {when}")).collect();
        write!(
            f,
            "{} kills in {} stories ({}), {} closes; ",
            self.kills,
            self.stories,
            met.join(", "),
            self.closes
        )?;
        let [buffered, written, synced] = self.acknowledged;
        write!(
            f,
            "acknowledged: {buffered} buffered, {written} written, {synced} synced, {} of threads; ",
            self.threads
        )?;
        write!(
            f,
            "{} kills took and {} left commits that were not promised; {} backups whole; {} commands were \
             run on what killed commands left",
            self.took, self.left, self.backups, self.commands
        )
    }
}
