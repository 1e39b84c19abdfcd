//! One run of the workload with a fault in it, beside all that may then be the case.

use std::fmt;

use holotype::storage::sim::{Decisions, FaultKind, FaultPlan, Nth, SimDisk, SyncLoss};
use holotype::{Db, Error};
use holotype_model::{Document, Durability, Ending, Failure, Key, Op, Oracle, Outcome, Value};

use crate::adapter;
use crate::client::Client;
use crate::live::{Live, Step};
use crate::setup::Setup;
use crate::witness::Witness;

use super::{Fault, Tally, workload};

/// Ways in which the power cut after each run is tried.
const CUTS: u64 = 3;

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
}

impl Run {
    pub(super) fn new(setup: Setup, fault: Fault) -> Self {
        let disk = setup.disk();
        let plan = FaultPlan::none();
        let nth = Nth::Call(fault.call);
        disk.set_faults(if fault.lasts { plan.from(nth, fault.kind) } else { plan.once(nth, fault.kind) });
        Run {
            setup,
            fault,
            witness: Witness::new(disk.clone()),
            disk,
            client: None,
            judges: vec![Oracle::default()],
            unsealed: Vec::new(),
            doing: String::new(),
            stopped: false,
            was_full: false,
            any_failed: false,
            reopened_after_failure: false,
            hits: 0,
        }
    }

    pub(super) fn go(&mut self, tally: &mut Tally) -> Result<(), String> {
        self.open()?;
        for step in workload(self.setup.segment_bytes) {
            if self.client.is_none() {
                break;
            }
            self.doing = step.to_string();
            match &step {
                Step::Do(op) => self.call(op)?,
                Step::All(ops) => ops.iter().try_for_each(|op| self.call(op))?,
                Step::Overlap(first, second) => {
                    [first, second].into_iter().try_for_each(|op| self.call(op))?;
                }
                Step::Reopen | Step::Kill => self.reopen()?,
            }
        }
        self.hits = self.disk.fault_hits();
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
        self.must_be_harmless()?;
        self.recover(tally)
    }

    /// Whether the call that was to fail was ever made.
    pub(super) fn was_hit(&self) -> bool {
        self.disk.fault_hits() > 0 || self.hits > 0
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
        let writes = op.is_write() || matches!(op, Op::Flush);
        match client.try_apply(op) {
            Ok(outcome) if self.stopped && writes && !matches!(outcome, Outcome::Refused(_)) => {
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
                self.judge(op, &Outcome::Unknown)
            }
            Err(Error::Io { .. }) => {
                self.any_failed = true;
                Ok(())
            }
            Err(Error::StorageFull { .. }) if writes => {
                self.any_failed = true;
                self.was_full = true;
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
        self.reopened_after_failure |= self.disk.fault_hits() > 0;
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

    /// Reads go on; writes do if all that was wrong was a full disk.
    fn after_the_fault(&mut self) -> Result<(), String> {
        let Some(mut client) = self.client.take() else { return Ok(()) };
        let result = self.goes_on(&mut client);
        self.client = Some(client);
        result
    }

    fn goes_on(&mut self, client: &mut Client) -> Result<(), String> {
        let key = Key::from("room");
        let document = Document::from([("n".to_owned(), Value::Int(1))]);
        let collection = "a".to_owned();
        let put = Op::Put { collection, key, document, durability: Durability::Synced };
        if !self.stopped || self.judges.is_empty() {
            if let Err(error) = client.try_apply(&put)
                && !self.lost_by_the_disk()
            {
                return self.fail(format!("nothing is wrong any more, and yet a write fails: {error}"));
            }
            for judge in &mut self.judges {
                let foretold = judge.histories()[0].clone().apply(&put);
                judge.judge(&put, &foretold).map_err(|d| d.found)?;
            }
        } else if !matches!(client.try_apply(&put), Err(Error::Poisoned { .. })) {
            return self.fail("it stopped writing, and now goes on");
        }
        match adapter::contents(client.db()) {
            Ok(dump) => {
                let shown = |judge: &Oracle| judge.clone().judge_dump(&dump).is_ok();
                if self.judges.iter().any(shown) || self.lost_by_the_disk() {
                    Ok(())
                } else {
                    self.fail("reads show what no legal state holds")
                }
            }
            // A failed sync may have dropped what was written out and not yet durable.
            Err(Error::Corrupt(_)) if matches!(self.fault.kind, FaultKind::Sync(_)) => Ok(()),
            Err(error) => self.fail(format!("reads do not go on: {error}")),
        }
    }

    /// Short and interrupted calls are no failures.
    fn must_be_harmless(&self) -> Result<(), String> {
        let harmless = match self.fault.kind {
            FaultKind::Short => true,
            FaultKind::Interrupted => !self.fault.lasts,
            _ => false,
        };
        if harmless && self.any_failed {
            self.fail("a call failed that only had to be repeated")
        } else {
            Ok(())
        }
    }

    /// The process is gone, then the power: what was acknowledged is there.
    fn recover(&mut self, tally: &mut Tally) -> Result<(), String> {
        self.witness.switch_off();
        self.client = None;
        for choice in 0..CUTS {
            let disk = self.disk.fork();
            // All old, then by the seed.
            disk.set_decisions(if choice == 0 {
                Decisions::path(Vec::new())
            } else {
                Decisions::seeded(self.fault.call * CUTS + choice)
            });
            disk.crash();
            tally.recoveries += 1;
            let opened = self
                .judges
                .iter()
                .map(|judge| Live::open(self.setup, disk.fork(), judge.clone(), Ending::PowerCut))
                .find_map(|opened| opened.map_err(|what| self.doing = what).ok());
            match opened {
                Some((live, ..)) => live.verify()?,
                // It promised on the word of a disk that lied.
                None if self.lost_by_the_disk() => self.must_open_or_say(&disk)?,
                None => return self.fail("after a power cut"),
            }
        }
        Ok(())
    }

    fn must_open_or_say(&self, disk: &SimDisk) -> Result<(), String> {
        match Db::open_on(Witness::new(disk.clone()), &self.setup.options()) {
            Ok(_) | Err(Error::Corrupt(_) | Error::NotHolotype { .. }) => Ok(()),
            Err(error) => self.fail(format!("after a power cut: {error}")),
        }
    }
}
