//! Storage that fails: at each call in turn, in each way that calls can fail, once or from then on (law 4).
//!
//! The store must stop writing after a failure that leaves its state unknown, and only then; go on reading; take a full disk
//! for what it is, and write again once there is room; and whatever happened, what it acknowledged is there after a power cut.

mod copies;
mod run;
mod workload;

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use holotype::storage::sim::{FaultKind, SyncLoss};

use crate::part::Shard;
use crate::setup::Setup;

use run::Run;
pub use workload::{Act, Part};

/// One fault of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// In which workload, and on which disk.
    pub part: Part,
    /// Which call of that disk, counted from 0 when the store is created or the copy begun.
    pub call: u64,
    /// What happens to it.
    pub kind: FaultKind,
    /// And to each later one that it can happen to.
    pub lasts: bool,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lasts = if self.lasts { " and all later ones" } else { "" };
        write!(f, "{:?} at call {} {}{lasts}", self.kind, self.call, self.part)
    }
}

/// What came of the faults.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Runs in which the fault struck.
    pub cases: u64,
    /// Runs in which no call failed.
    pub unnoticed: u64,
    /// Runs in which the store stopped writing.
    pub stopped: u64,
    /// Runs in which it was full, and wrote again later.
    pub full: u64,
    /// Recoveries after a power cut.
    pub recoveries: u64,
    /// Backups that came to their end, and were whole after a power cut.
    pub backups: u64,
    /// Backups that did not.
    pub backups_failed: u64,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { cases, unnoticed, stopped, full, recoveries, backups, backups_failed } = self;
        write!(
            f,
            "{cases} runs with a fault: {unnoticed} in which no call failed, {stopped} in which the store stopped "
        )?;
        write!(
            f,
            "writing, {full} in which it was full and wrote again later; {recoveries} power cuts after them; {backups} \
             backups whole, {backups_failed} refused"
        )
    }
}

/// All that can happen to a call.
pub const KINDS: [FaultKind; 8] = [
    FaultKind::Io,
    FaultKind::StorageFull,
    FaultKind::Short,
    FaultKind::ZeroWrite,
    FaultKind::Interrupted,
    FaultKind::Sync(SyncLoss::Dropped),
    FaultKind::Sync(SyncLoss::Kept),
    FaultKind::Sync(SyncLoss::Late),
];

/// Runs the workload of `fault` with it. False if the workload is over before the call that was to fail.
///
/// # Errors
/// What the store did that it may not do.
pub fn try_fault(setup: Setup, fault: Fault, tally: &mut Tally) -> Result<bool, String> {
    let run = catch_unwind(AssertUnwindSafe(|| {
        let mut run = Run::new(setup, fault);
        run.go(tally)?;
        Ok(run.was_hit())
    }));
    run.unwrap_or_else(|_| Err("a panic".to_owned())).map_err(|what: String| format!("{fault}: {what}"))
}

/// Every fault of every call of the shard, the calls in turn: all kinds at the first of each part, then at the next. For as long as `goes_on`.
///
/// # Errors
/// The first fault that was not borne, and what the store did.
pub fn every_fault(
    setup: Setup,
    shard: Shard,
    tally: &mut Tally,
    mut goes_on: impl FnMut() -> bool,
) -> Result<bool, String> {
    let traces = Part::ALL.map(|part| (part, run::calls(setup, part)));
    let count = traces.iter().flat_map(|(_, disks)| disks).map(Vec::len).max().unwrap_or(0) as u64;
    for call in (shard.first()..count).step_by(shard.count() as usize) {
        for (part, disks) in &traces {
            // Up to the fault a run is as the one without: what cannot happen to this call would be one of the later calls' faults.
            let met: Vec<_> = disks.iter().filter_map(|calls| calls.get(call as usize)).collect();
            for kind in KINDS.into_iter().filter(|kind| met.iter().any(|call| kind.applies_to(**call))) {
                for lasts in [false, true] {
                    let has_struck = try_fault(setup, Fault { part: *part, call, kind, lasts }, tally)?;
                    assert!(has_struck, "{part}: call {call} is made again as it was recorded");
                }
            }
        }
        if !goes_on() {
            return Ok(false);
        }
    }
    Ok(true)
}
