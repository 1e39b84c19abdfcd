//! One run of the workload with a fault in it, beside all that may then be the case.

mod after;

use std::fmt;

use holotype::storage::sim::{Call, FaultKind, FaultPlan, Nth, SimDisk, SyncLoss};
use holotype::{Db, Error};
use holotype_model::{Ending, Failure, Op, Oracle, Outcome};

use crate::adapter;
use crate::client::Client;
use crate::live::Step;
use crate::setup::Setup;
use crate::witness::Witness;

use super::copies::Copies;
use super::{Act, Fault, Part, Tally};

/// More steps of maintenance than are due at once.
const MAINTENANCE_MAX: usize = 1000;

/// The calls of the workload on each disk whose calls can fail in it, when none does.
pub(super) fn calls(setup: Setup, part: Part) -> Vec<Vec<Call>> {
    // Beyond any call.
    let never = Fault { part, call: u64::MAX, kind: FaultKind::Io, lasts: false };
    let mut run = Run::new(setup, never);
    run.disk.record_calls();
    run.copies.record_calls();
    run.work().expect("nothing fails");
    match part {
        Part::Calls | Part::Upkeep => vec![run.disk.recorded_calls()],
        Part::Copies => run.copies.recorded,
    }
}

pub(super) struct Run {
    setup: Setup,
    fault: Fault,
    disk: SimDisk,
    witness: Witness,
    client: Option<Client>,
    /// Judges of all that may be the case.
    judges: Vec<Oracle>,
    /// Judges of what an ending may show besides: a commit that found no room, until the log behind it is sealed (S-8.5).
    unsealed: Vec<Oracle>,
    /// What happened so far, for the report.
    doing: String,
    stopped: bool,
    was_full: bool,
    any_failed: bool,
    reopened_after_failure: bool,
    hits: u64,
    copies: Copies,
}

impl Run {
    pub(super) fn new(setup: Setup, fault: Fault) -> Self {
        let disk = setup.disk();
        let plan = FaultPlan::none();
        let nth = Nth::Call(fault.call);
        let plan = if fault.lasts { plan.from(nth, fault.kind) } else { plan.once(nth, fault.kind) };
        let (of_store, of_copies) = match fault.part {
            Part::Calls | Part::Upkeep => (plan, FaultPlan::none()),
            Part::Copies => (FaultPlan::none(), plan),
        };
        disk.set_faults(of_store);
        Run {
            setup,
            fault,
            witness: Witness::new(disk.clone()),
            disk,
            client: None,
            judges: vec![Oracle::new(setup.limits())],
            unsealed: Vec::new(),
            doing: String::new(),
            stopped: false,
            was_full: false,
            any_failed: false,
            reopened_after_failure: false,
            hits: 0,
            copies: Copies::new(setup, of_copies),
        }
    }

    pub(super) fn go(&mut self, tally: &mut Tally) -> Result<(), String> {
        self.work()?;
        self.hits = self.hits_so_far();
        self.disk.set_faults(FaultPlan::none());
        if self.hits == 0 {
            return Ok(());
        }
        "the fault being over".clone_into(&mut self.doing);
        self.after_the_fault()?;
        tally.cases += 1;
        tally.unnoticed += u64::from(!self.any_failed);
        tally.stopped += u64::from(self.stopped);
        tally.full += u64::from(self.was_full);
        tally.backups += self.copies.whole;
        tally.backups_failed += self.copies.failed;
        self.must_be_harmless()?;
        self.recover(tally)
    }

    /// The whole workload, or as much of it as the fault leaves.
    fn work(&mut self) -> Result<(), String> {
        self.open()?;
        for act in self.fault.part.workload(self.setup.segment_bytes) {
            if self.client.is_none() {
                break;
            }
            self.doing = act.to_string();
            match &act {
                Act::Step(step) => self.step(step)?,
                Act::Backup => self.back_up()?,
            }
        }
        Ok(())
    }

    /// Whether the call that was to fail was ever made.
    pub(super) fn was_hit(&self) -> bool {
        self.hits_so_far() > 0 || self.hits > 0
    }

    fn hits_so_far(&self) -> u64 {
        self.disk.fault_hits() + self.copies.hits
    }

    fn step(&mut self, step: &Step) -> Result<(), String> {
        match step {
            Step::Do(op) => self.call(op),
            Step::All(ops) => ops.iter().try_for_each(|op| self.call(op)),
            Step::Overlap(first, second) => [first, second].into_iter().try_for_each(|op| self.call(op)),
            Step::DuringCheckpoint(op) | Step::BeforeSlotSync(op) => {
                [&Op::Checkpoint, op].into_iter().try_for_each(|op| self.call(op))
            }
            Step::Maintain => self.maintain(),
            Step::HalfPublish => self.call(&Op::Checkpoint),
            Step::DuringBackup(steps) => steps.iter().try_for_each(|step| self.step(step)),
            Step::DuringBuild { op, steps, .. } => {
                steps.iter().try_for_each(|step| self.step(step)).and_then(|()| self.call(op))
            }
            // The fault of the run is the only one.
            Step::NoRoom { op, .. } | Step::FailSync(op) => self.call(op),
            Step::Fill | Step::MakeRoom | Step::Follow | Step::CatchUp(_) | Step::Look => Ok(()),
            Step::Swap(_) | Step::Copy(_) => Ok(()),
            Step::Reopen | Step::Kill | Step::PowerCut(_) => self.reopen(),
        }
    }

    fn fail<T>(&self, what: impl fmt::Display) -> Result<T, String> {
        Err(format!("{}: {what}", self.doing))
    }

    fn open(&mut self) -> Result<(), String> {
        self.witness = Witness::new(self.disk.clone());
        match Db::open_on(self.witness.clone(), &self.setup.options()) {
            Ok(db) => self.client = Some(Client::new(db)),
            Err(Error::Io { .. } | Error::StorageFull { .. } | Error::Poisoned { .. }) => {
                self.any_failed = true;
            }
            // What a failed sync took, or an acknowledgement that was none, may be more than a store can do without.
            Err(Error::Corrupt(_)) if self.lost_by_the_disk() => self.any_failed = true,
            Err(error) => return self.fail(format!("opening: {error}")),
        }
        Ok(())
    }

    /// Whether the disk said that something is durable, or showed what is not, and no store can know better: a sync that
    /// failed and said `Ok`, or a cache that went on showing what a failed sync had lost to a store opened after it.
    fn lost_by_the_disk(&self) -> bool {
        match self.fault.kind {
            FaultKind::Sync(SyncLoss::Late) => true,
            FaultKind::Sync(SyncLoss::Kept) => self.reopened_after_failure,
            _ => false,
        }
    }

    fn call(&mut self, op: &Op) -> Result<(), String> {
        // Where it could not be opened, there is nothing to call.
        let Some(client) = &mut self.client else { return Ok(()) };
        let answer = client.try_apply(op);
        self.settle(op, answer)
    }

    fn maintain(&mut self) -> Result<(), String> {
        for _ in 0..MAINTENANCE_MAX {
            let Some(client) = &self.client else { return Ok(()) };
            let stepped = client.db().maintain();
            let is_over = !matches!(stepped, Ok(true));
            self.settle(&Op::Clean, stepped.map(|_| Outcome::Done))?;
            if is_over {
                return Ok(());
            }
        }
        self.fail("maintenance goes on for ever")
    }

    /// A copy is made of what is durable then, so for the store it is a flush.
    fn back_up(&mut self) -> Result<(), String> {
        let Some(client) = &self.client else { return Ok(()) };
        let copied = self.copies.make(client.db());
        match copied {
            Ok(_) => {
                self.settle(&Op::Flush, Ok(Outcome::Done))?;
                // Of a sync that lied, the copy knows no more than the store.
                let is_trusted = !matches!(self.fault.kind, FaultKind::Sync(SyncLoss::Late));
                if !is_trusted {
                    return Ok(());
                }
                let held = self.copies.check().or_else(|what| self.fail(what))?;
                let judged = self.judges.iter().map(|judge| judge.clone().judge_dump(&held));
                match judged.min_by_key(Result::is_err) {
                    Some(Err(disagreement)) => self.fail(format!("the copy holds {}", disagreement.found)),
                    _ => Ok(()),
                }
            }
            // What the store lost by a sync that failed, the copy would lack.
            Err(Error::Corrupt(_)) if matches!(self.fault.kind, FaultKind::Sync(_)) => {
                self.any_failed = true;
                Ok(())
            }
            // Whatever befell the copy is nothing to the store.
            Err(Error::Io { .. } | Error::StorageFull { .. }) if self.fault.part == Part::Copies => {
                self.any_failed = true;
                Ok(())
            }
            Err(error) => self.settle(&Op::Flush, Err(error)),
        }
    }

    /// Holds what was answered against all that may be the case.
    fn settle(&mut self, op: &Op, answer: holotype::Result<Outcome>) -> Result<(), String> {
        let changes = op.is_write() || matches!(op, Op::Flush);
        let writes = changes || matches!(op, Op::Checkpoint | Op::Clean | Op::Compact);
        match answer {
            Ok(outcome) if self.stopped && changes && !matches!(outcome, Outcome::Refused(_)) => {
                self.fail(format!("it writes on, and answers {outcome}"))
            }
            Ok(outcome) => {
                if matches!(op, Op::Flush) {
                    self.unsealed.retain_mut(|judge| judge.judge(op, &outcome).is_ok());
                } else if writes && !matches!(outcome, Outcome::Refused(_)) {
                    // It came to the writer, which seals the log before anything else.
                    self.unsealed.clear();
                }
                self.judge(op, &outcome)
            }
            Err(Error::Poisoned { .. }) if self.stopped && (writes || matches!(op, Op::Begin)) => {
                self.judge(op, &adapter::POISONED)
            }
            Err(Error::Io { operation, .. }) if writes => {
                self.any_failed = true;
                if operation.starts_with("read") {
                    // It could not be prepared, and nothing was written.
                    return self.judge(op, &Outcome::Failed(Failure::Other(operation)));
                }
                if self.fault.kind == FaultKind::StorageFull && !operation.starts_with("sync") {
                    return self.fail("a full disk is no reason to stop writing");
                }
                self.stopped = true;
                // A step of maintenance makes durable what others have placed, as a flush does.
                self.judge(if changes { op } else { &Op::Flush }, &Outcome::Unknown)
            }
            Err(Error::Io { .. }) => {
                self.any_failed = true;
                Ok(())
            }
            Err(Error::StorageFull { .. }) if writes => {
                self.any_failed = true;
                self.was_full = true;
                if !changes {
                    return Ok(());
                }
                self.taken_back(op);
                self.judge(op, &Outcome::Failed(Failure::StorageFull))
            }
            Err(error) => self.fail(format!("an error that does not fit: {error}")),
        }
    }

    fn judge(&mut self, op: &Op, outcome: &Outcome) -> Result<(), String> {
        let mut disagreement = None;
        self.judges.retain_mut(|judge| judge.judge(op, outcome).map_err(|d| disagreement = Some(d)).is_ok());
        match disagreement {
            Some(disagreement) if self.judges.is_empty() => self.fail(format!(
                "found {}; legal is: {}",
                disagreement.found,
                disagreement.expected.join(" | or: ")
            )),
            _ => Ok(()),
        }
    }

    /// The commit found no room, and the state is as before; only an ending may still show it.
    fn taken_back(&mut self, op: &Op) {
        let mut shown = self.judges.clone();
        for judge in &mut shown {
            let foretold = judge.histories()[0].clone().apply(op);
            judge.judge(op, &foretold).expect("this is what it foretells");
        }
        shown.retain(|judge| !self.judges.contains(judge));
        self.unsealed.append(&mut shown);
    }

    fn reopen(&mut self) -> Result<(), String> {
        let Some(mut client) = self.client.take() else { return Ok(()) };
        let closed = client.close();
        match closed {
            Ok(()) => {
                self.unsealed.clear();
                self.judge(&Op::Flush, &Outcome::Done)?;
            }
            Err(Error::Poisoned { .. }) if self.stopped => {}
            Err(Error::Io { .. }) => {
                self.any_failed = true;
                self.stopped = true;
                self.judge(&Op::Flush, &Outcome::Unknown)?;
            }
            Err(Error::StorageFull { .. }) => {
                self.any_failed = true;
                self.was_full = true;
            }
            Err(error) => return self.fail(format!("closing: {error}")),
        }
        self.witness.switch_off();
        drop(client);
        self.stopped = false;
        self.reopened_after_failure |= self.hits_so_far() > 0;
        self.open()?;
        let Some(client) = &self.client else { return Ok(()) };
        match adapter::contents(client.db()) {
            Ok(dump) => self.judge_ending(Ending::Kill, &dump),
            Err(Error::Io { .. }) => {
                // What it holds is not known, so what it does from here on cannot be judged.
                self.any_failed = true;
                self.witness.switch_off();
                self.client = None;
                Ok(())
            }
            Err(error) => self.fail(format!("reading: {error}")),
        }
    }

    fn judge_ending(&mut self, ending: Ending, dump: &adapter::Contents) -> Result<(), String> {
        let mut disagreement = None;
        self.judges.append(&mut self.unsealed);
        self.judges
            .retain_mut(|judge| judge.judge_ending(ending, dump).map_err(|d| disagreement = Some(d)).is_ok());
        match disagreement {
            Some(disagreement) if self.judges.is_empty() && !self.lost_by_the_disk() => self.fail(format!(
                "found {}; legal is: {}",
                disagreement.found,
                disagreement.expected.join(" | or: ")
            )),
            _ => Ok(()),
        }
    }
}
