//! Depth first through all sequences of steps.

use std::num::NonZeroU64;

use holotype::storage::sim::Level;

use crate::live::{Live, Step};
use crate::part::{Deadline, Shard};
use crate::setup::Setup;

use super::cut::{Cutter, fail};
use super::report::{Failure, Tally};
use super::starts::Start;

/// How far a walk goes.
#[derive(Debug, Clone)]
pub struct Scope {
    /// Sizes, and what a power cut may do.
    pub setup: Setup,
    /// The stores that sequences begin with.
    pub starts: Vec<Start>,
    /// The steps to make sequences of.
    pub steps: Vec<Step>,
    /// The longest sequence; 0 for power cuts while the store is created, and no others.
    pub len: usize,
    /// What the store does after a power cut.
    pub followers: Vec<Step>,
    /// Power cuts in a row.
    pub cuts: u32,
    /// Of the disks at which power would be cut a third time in a row, or once more, one in so many is tried: which follows from the disk.
    pub third: NonZeroU64,
    /// A walk that is not over by then ends.
    pub until: Deadline,
    /// Which of the sequences have power cut.
    pub shard: Shard,
}

impl Scope {
    /// All sequences of up to `len` steps of every kind, and `cuts` power cuts in a row.
    pub fn new(setup: Setup, len: usize, cuts: u32) -> Self {
        let segment_bytes = setup.segment_bytes;
        let (steps, followers) = (super::steps(segment_bytes), super::followers(segment_bytes));
        let starts = vec![Start::empty()];
        let (until, shard) = (Deadline::never(), Shard::WHOLE);
        Scope { setup, starts, steps, len, followers, cuts, third: NonZeroU64::MIN, until, shard }
    }

    /// The same for the steps of maintenance, which begin with stores that were prepared for them.
    pub fn of_maintenance(setup: Setup, len: usize, cuts: u32) -> Self {
        let segment_bytes = setup.segment_bytes;
        let (steps, followers) =
            (super::maintenance(segment_bytes), super::maintenance_followers(segment_bytes));
        let starts = super::starts(segment_bytes);
        let (until, shard) = (Deadline::never(), Shard::WHOLE);
        Scope { setup, starts, steps, len, followers, cuts, third: NonZeroU64::MIN, until, shard }
    }
}

/// Tries every sequence of `scope`. Gives how much that was, and whether it was all of it.
///
/// # Errors
/// The first failure. Shorter sequences are tried first, so none is shorter than its trail.
pub fn run(scope: &Scope) -> Result<(Tally, bool), (Tally, Box<Failure>)> {
    let mut cutter = Cutter::of(scope);
    let mut walk = Walk { scope, len: 0, met: 0, is_over: true };
    let result = (scope.len.min(1)..=scope.len).try_for_each(|len| {
        walk.len = len;
        walk.begin(&mut cutter)
    });
    match result {
        Ok(()) => Ok((cutter.tally, walk.is_over && !cutter.is_cut_short)),
        Err(failure) => Err((cutter.tally, Box::new(failure))),
    }
}

struct Walk<'a> {
    scope: &'a Scope,
    /// Sequences of this length have power cut in their last step. Shorter ones had their turn.
    len: usize,
    /// Sequences that were come to, those of other shards among them.
    met: u64,
    is_over: bool,
}

impl Walk<'_> {
    fn begin(&mut self, cutter: &mut Cutter<'_>) -> Result<(), Failure> {
        if self.len == 0 {
            return self.create(cutter);
        }
        let mut starts = Vec::new();
        for start in &self.scope.starts {
            let trail = vec![start.name.to_owned()];
            starts.push((start.make(self.scope.setup).map_err(|what| fail(&trail, what))?, trail));
        }
        // A walk that ends early has come to every start by then.
        for step in &self.scope.steps {
            for (live, trail) in &mut starts {
                self.take(live, step, 1, cutter, trail)?;
            }
        }
        Ok(())
    }

    /// Power cuts while a store is created.
    fn create(&mut self, cutter: &mut Cutter<'_>) -> Result<(), Failure> {
        if self.scope.setup.level == Level::Garbage {
            // Garbage in place of a new file's zeros cannot be told from a file that was never ours: opening says so.
            return Ok(());
        }
        if !self.is_ours() {
            return Ok(());
        }
        let mut trail = vec!["create".to_owned()];
        let (_, moments) = Live::create(self.scope.setup).map_err(|what| fail(&trail, what))?;
        cutter.tally.sequences += 1;
        cutter.cut_each(moments, self.scope.cuts, &mut trail)
    }

    /// Whether the next sequence is one of this shard's.
    fn is_ours(&mut self) -> bool {
        self.met += 1;
        self.scope.shard.has(self.met - 1)
    }

    /// Tries a step as the `depth`-th, and each step behind it.
    fn take(
        &mut self,
        live: &Live,
        step: &Step,
        depth: usize,
        cutter: &mut Cutter<'_>,
        trail: &mut Vec<String>,
    ) -> Result<(), Failure> {
        if self.scope.until.is_over() {
            self.is_over = false;
            return Ok(());
        }
        if depth == self.len && !self.is_ours() {
            return Ok(());
        }
        trail.push(step.to_string());
        let mut next = live.fork();
        let moments = next.step(step).map_err(|what| fail(trail, what))?;
        if depth == self.len {
            cutter.tally.sequences += 1;
            next.look().map_err(|what| fail(trail, what))?;
            cutter.cut_each(moments, self.scope.cuts, trail)?;
        } else {
            for step in &self.scope.steps {
                self.take(&next, step, depth + 1, cutter, trail)?;
            }
        }
        trail.pop();
        Ok(())
    }
}
