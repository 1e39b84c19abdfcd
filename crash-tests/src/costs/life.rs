//! A store on a file that counts, and what it is at any moment.

use std::fmt::Write;

use holotype::{Background, Db, Durability, Error, Options};

use crate::metered::{Asked, Metered};
use crate::story::{ensure, say};

/// More steps than a store of these lives ever needs at once.
const STEPS_MAX: usize = 20_000;

/// How a store is made.
pub(super) struct Setup {
    pub(super) name: &'static str,
    /// Bytes of a segment.
    pub(super) segment: usize,
    options: fn() -> Options,
    /// The file may have so many bytes.
    file_max: Option<u64>,
}

pub(super) const SETUPS: &[Setup] = &[
    Setup {
        name: "written",
        segment: 16 << 10,
        options: || medium().durability(Durability::Written),
        file_max: None,
    },
    Setup {
        name: "synced, short segments",
        segment: 2 << 10,
        options: || {
            let options = Options::tiny().segment_bytes(2 << 10).cache_bytes(8 << 10);
            options.durability(Durability::Synced).checkpoint_bytes(24 << 10)
        },
        file_max: None,
    },
    Setup {
        name: "buffered, little room",
        segment: 16 << 10,
        options: || medium().durability(Durability::Buffered).flush_bytes(3000).index_bytes(4 << 10),
        file_max: Some(1 << 20),
    },
];

fn medium() -> Options {
    let options = Options::tiny().sector(512).segment_bytes(16 << 10).cache_bytes(64 << 10);
    options.background(Background::Manual).checkpoint_bytes(96 << 10)
}

impl Setup {
    fn open(&self, file: &Metered) -> Result<Db, String> {
        let options = (self.options)();
        let options = self.file_max.map_or(options.clone(), |most| options.max_file_bytes(most));
        Db::open_on(file.clone(), &options).map_err(say)
    }
}

/// A store, and what was counted until its last chapter.
pub(super) struct Life {
    pub(super) db: Db,
    pub(super) setup: &'static Setup,
    pub(super) file: Metered,
    before: Asked,
    /// What calls were refused for.
    refused: Vec<String>,
    steps: u64,
    /// What else a chapter counted.
    noted: Vec<(&'static str, u64)>,
}

impl Life {
    pub(super) fn begin(setup: &'static Setup) -> Result<Self, String> {
        let file = Metered::default();
        let db = setup.open(&file)?;
        let (refused, noted) = (Vec::new(), Vec::new());
        Ok(Life { db, setup, file, before: Asked::default(), refused, steps: 0, noted })
    }

    /// The answer of a call. Where the store refuses the call there is none, and the refusal is counted.
    pub(super) fn call<T>(&mut self, answer: Result<T, Error>) -> Option<T> {
        answer.map_err(|error| self.refused.push(error.to_string())).ok()
    }

    pub(super) fn note(&mut self, what: &'static str, count: u64) {
        self.noted.push((what, count));
    }

    /// Takes a step of maintenance. Whether there was one to take.
    pub(super) fn step(&mut self) -> Result<bool, String> {
        let is_taken = self.db.maintain().map_err(say)?;
        self.steps += u64::from(is_taken);
        Ok(is_taken)
    }

    pub(super) fn come_to_rest(&mut self) -> Result<(), String> {
        for _ in 0..STEPS_MAX {
            if !self.step()? {
                return Ok(());
            }
        }
        Err(format!("maintenance goes on for ever: {:#?}", self.db.stats()))
    }

    pub(super) fn reopen(&mut self) -> Result<(), String> {
        self.db.clone().close().map_err(say)?;
        self.db = self.setup.open(&self.file)?;
        Ok(())
    }

    /// A store that only reads what is in the file.
    pub(super) fn reader(&self) -> Result<Db, String> {
        Db::open_on(self.file.clone(), &(self.setup.options)().read_only(true)).map_err(say)
    }

    /// What was asked of the file since the last look, and what the store says of itself.
    pub(super) fn look(&mut self) -> String {
        let (asked, before) = (self.file.asked(), self.before);
        self.before = asked;
        let stats = self.db.stats();
        let space = stats.space;
        let counts = [
            ("reads", asked.reads - before.reads),
            ("read bytes", asked.read_bytes - before.read_bytes),
            ("writes", asked.writes - before.writes),
            ("written bytes", asked.written_bytes - before.written_bytes),
            ("syncs", asked.syncs - before.syncs),
            ("lengths", asked.lens - before.lens),
            ("steps", std::mem::take(&mut self.steps)),
            ("collections", stats.collections),
            ("documents", stats.documents),
            ("file", stats.file_bytes),
            ("segments", stats.segments),
            ("log", stats.log_end),
            ("slots", stats.superblock_generation),
            ("given up", stats.leaves_given_up),
            ("cached", stats.cache_bytes),
            ("missed", stats.cache_misses),
            ("pending", stats.pending_commits),
            ("snapshots", stats.snapshots),
            ("retained", stats.retained_versions),
            ("live", space.live_bytes),
            ("dead", space.dead_bytes),
            ("reclaimable", space.reclaimable_bytes),
            ("pinned", space.pinned_bytes),
            ("free", space.free_bytes),
            ("checkpoint", space.checkpoint_bytes),
            ("since", space.log_since_checkpoint),
            ("of callers", space.user_bytes),
            ("relocated", space.relocated_bytes),
            ("of checkpoints", space.checkpoint_written_bytes),
            ("unreadable", space.unreadable_segments),
        ];
        let mut line = String::new();
        for (what, count) in counts.into_iter().chain(self.noted.drain(..)).filter(|(_, count)| *count > 0) {
            write!(line, "{what} {count}, ").expect("text takes everything");
        }
        write!(line, "refused {}", self.refused.len()).expect("text takes everything");
        if let Some(last) = self.refused.drain(..).next_back() {
            write!(line, ", at last: {last}").expect("text takes everything");
        }
        line
    }

    /// Nothing is wrong with it at the end.
    pub(super) fn end(&self) -> Result<(), String> {
        let report = self.db.verify(true).map_err(say)?;
        let problem = report.problems.first().map(ToString::to_string);
        ensure(problem.is_none(), || format!("verify finds {}", problem.unwrap_or_default()))
    }
}
