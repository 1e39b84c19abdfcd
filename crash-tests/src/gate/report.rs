//! What the gate is asked, and what it answers.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use holotype::Document;

use crate::crash::CutPoint;
use crate::live::{IndexCalls, Pairs};
use crate::part::Shard;

/// What to run.
#[derive(Debug, Clone, Default)]
pub struct GateOptions {
    /// Everything random follows from it.
    pub seed: u64,
    /// For how long, about.
    pub seconds: u64,
    /// Documents to fill stores with; none for built-in ones.
    pub documents: Option<Vec<Document>>,
    /// The one check to run; none for all. See [`names`](super::names).
    pub only: Option<String>,
    /// Which part of the cases to try.
    pub shard: Shard,
    /// Whether a power cut may leave garbage in what was being written, in every check that cuts the power (spec: M-2.6, M3). Without, a
    /// few rounds of the check `crash` have that alone.
    pub garbage: bool,
    /// Whether the first check that does not hold is the last one to run.
    pub fail_fast: bool,
    /// Once it is set, the gate ends early, with what it has.
    pub stop: Option<Arc<AtomicBool>>,
}

impl GateOptions {
    pub(super) fn is_stopped(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.load(std::sync::atomic::Ordering::Relaxed))
    }
}

/// How far the gate has come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// The check that tells it; another may be at work beside it.
    pub check: &'static str,
    /// The part of the time of all checks that is used up or no longer needed, from 0 to 1.
    pub fraction: f64,
}

/// How the checks came out.
#[derive(Debug, Clone, PartialEq)]
pub struct GateReport {
    /// Whether all held.
    pub held: bool,
    /// The seed.
    pub seed: u64,
    /// Documents that stores were filled with.
    pub documents: u64,
    /// Which part of the cases was tried.
    pub shard: Shard,
    /// Each check, in the order in which they began.
    pub checks: Vec<CheckReport>,
    /// Power cuts along one life, where the check `crash` ran in the first shard.
    pub cut_points: Vec<CutPoint>,
    /// Whether all of it, with the other shards, is long enough to meet each two features at work together and each kind of call on indexes,
    /// and red where it does not.
    pub is_to_meet_every_pair: bool,
    /// In how many lives each two features were at work.
    pub pairs: Pairs,
    /// How often indexes were asked and answered.
    pub index_calls: IndexCalls,
}

/// How one check came out.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckReport {
    /// Its name.
    pub name: &'static str,
    /// Whether it found nothing wrong, having tried something.
    pub held: bool,
    /// How much it tried: recoveries, lives, damaged files, faults.
    pub cases: u64,
    /// How long it took.
    pub seconds: f64,
    /// After a failure: the command that repeats it.
    pub replay: Option<String>,
    /// After a failure: what went wrong, and by which steps. Several lines.
    pub failure: Option<String>,
    /// What it tried, in words.
    pub notes: Vec<String>,
}
