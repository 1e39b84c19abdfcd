//! What only Holotype has: its own accounts, and the upkeep that it does in steps.
//!
//! The workloads that are about space, opening and memory call the engine for these through here and nowhere else.

use std::ops::ControlFlow;

use holotype::{CompactProgress, Db, Options};

use crate::failure::{Of, Result, expect_equal};

const NAME: &str = "Holotype";

/// Where its bytes are, as the store accounts for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accounts {
    /// The records of the newest documents, headers included.
    pub records: u64,
    /// All checkpoints that are kept: two, once two were taken.
    pub checkpoints: u64,
    pub segment: u64,
    /// Written through this handle, whatever for.
    pub written: u64,
    /// Written through this handle as records that users asked for.
    pub user: u64,
    /// Written through this handle by moving records.
    pub relocated: u64,
    /// Written through this handle as checkpoints.
    pub checkpoint_written: u64,
    /// The log address where the log ends.
    pub log_end: u64,
}

impl Accounts {
    pub fn of(db: &Db) -> Accounts {
        let stats = db.stats();
        Accounts {
            records: stats.space.live_bytes,
            checkpoints: stats.space.checkpoint_bytes,
            segment: stats.segment_bytes.into(),
            written: stats.written_bytes,
            user: stats.space.user_bytes,
            relocated: stats.space.relocated_bytes,
            checkpoint_written: stats.space.checkpoint_written_bytes,
            log_end: stats.log_end,
        }
    }

    /// What bounds on space are multiples of: the newest documents, and the checkpoints that are kept.
    pub fn live(&self) -> u64 {
        self.records + self.checkpoints
    }
}

/// Options under which a checkpoint is due once this many bytes of log have gathered since the last one.
pub fn checkpoint_after(options: Options, bytes: u64) -> Options {
    options.checkpoint_bytes(bytes)
}

/// Takes a checkpoint now; how many bytes it has.
pub fn checkpoint(db: &Db) -> Result<u64> {
    let before = Accounts::of(db).checkpoint_written;
    db.checkpoint().of(NAME, "taking a checkpoint")?;
    Ok(Accounts::of(db).checkpoint_written - before)
}

/// One bounded step of what is due; whether more is.
pub fn step(db: &Db) -> Result<bool> {
    db.maintain().of(NAME, "cleaning")
}

/// Goes on until nothing is due, and calls `each` after each step.
pub fn settle(db: &Db, mut each: impl FnMut() -> Result<()>) -> Result<()> {
    while step(db)? {
        each()?;
    }
    each()
}

/// Makes the file as small as it gets, and calls `each` after each step.
pub fn compact(db: &Db, mut each: impl FnMut() -> Result<()>) -> Result<()> {
    let mut looked = Ok(());
    let look = |_: &CompactProgress| {
        looked = each();
        if looked.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let report = db.compact_with(look).of(NAME, "compacting")?;
    looked?;
    expect_equal(NAME, "whether a compaction came to its end", &true, &report.is_complete)
}
