//! A store that is open, with all that checks hold beside it.

use holotype::SyncUnderWay;
use holotype::storage::Storage;
use holotype::storage::sim::{CallKind, FaultKind, FaultPlan, Nth, SimDisk, SyncLoss};
use holotype_model::{Durability, Failure, Op, Oracle, Outcome};

use crate::adapter;
use crate::client::Client;
use crate::live::{Live, in_flight, pending};
use crate::setup::Setup;
use crate::witness::Witness;

use super::finding::{Finding, Law};
use super::off::Off;
use super::step::{self, Step};

/// So many commits that nobody waits for are in the air at most.
const DEFERRED_MAX: usize = 2;

/// Where segments begin in a file.
const FIRST_SEGMENT: u64 = 16 << 10;

/// A commit that nobody has waited for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Deferred {
    op: Op,
    answer: Outcome,
    /// Whether the sync under way is for it, too.
    is_handed_over: bool,
}

/// A sync of which the first part is over.
#[derive(Debug)]
pub(super) struct Sync {
    under_way: SyncUnderWay,
    /// Whether the second is.
    pub(super) is_on_disk: bool,
}

/// An open store with its judge. A fork shares nothing with it.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) setup: Setup,
    // Let go before what they speak of.
    pub(super) sync: Option<Sync>,
    pub(super) client: Client,
    pub(super) witness: Witness,
    pub(super) oracle: Oracle,
    /// Judges of what an ending may show besides: a commit that found no room, until the log behind it is sealed (spec: S-8.5).
    pub(super) unsealed: Vec<Oracle>,
    pub(super) deferred: Vec<Deferred>,
    /// The judge for the case that the last batch that was acknowledged is lost: until something durable stands behind it, no store can
    /// know (law 3). None before this life has acknowledged one.
    pub(super) unattested: Option<Oracle>,
    pub(super) is_full: bool,
    /// A sync has failed.
    pub(super) is_stopped: bool,
}

impl Drop for Running {
    fn drop(&mut self) {
        // The handle would close the store; whoever wants that asks for it.
        self.witness.switch_off();
    }
}

impl Running {
    /// A store that was opened just now.
    pub(super) fn new(setup: Setup, client: Client, witness: Witness, oracle: Oracle) -> Self {
        Running {
            setup,
            sync: None,
            client,
            witness,
            oracle,
            unsealed: Vec::new(),
            deferred: Vec::new(),
            unattested: None,
            is_full: false,
            is_stopped: false,
        }
    }

    /// A copy of a store at whose caller holds neither a transaction nor a snapshot.
    pub(super) fn of(setup: Setup, live: &Live) -> Self {
        let witness = Witness::new(live.disk().fork());
        let client = Client::new(live.db().fork(witness.clone()));
        Running::new(setup, client, witness, live.oracle().clone())
    }

    /// The same store on `disk`, a copy of its disk.
    pub(super) fn fork(&self, disk: SimDisk) -> Self {
        let witness = Witness::new(disk);
        let client = self.client.fork(self.client.db().fork(witness.clone()));
        let fork =
            |sync: &Sync| Sync { under_way: sync.under_way.fork(client.db()), is_on_disk: sync.is_on_disk };
        Running {
            setup: self.setup,
            sync: self.sync.as_ref().map(fork),
            client,
            witness,
            oracle: self.oracle.clone(),
            unsealed: self.unsealed.clone(),
            deferred: self.deferred.clone(),
            unattested: self.unattested.clone(),
            is_full: self.is_full,
            is_stopped: self.is_stopped,
        }
    }

    pub(super) fn disk(&self) -> &SimDisk {
        self.witness.disk()
    }

    pub(super) fn stats(&self) -> holotype::Stats {
        self.client.db().stats()
    }

    /// Whether some segment of the file holds its second part of the log: more was placed than the file has room for.
    pub(super) fn has_reused(&self) -> bool {
        let stats = self.stats();
        stats.log_end > stats.file_bytes - FIRST_SEGMENT
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.is_stopped
    }

    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    pub(super) fn is_in_transaction(&self) -> bool {
        self.oracle.histories()[0].is_in_transaction()
    }

    /// Whether the step can come next. What has no meaning then, or would have one caller wait for itself, does not.
    pub(super) fn allows(&self, step: Step) -> bool {
        let holds_none = self.client.snapshots().is_empty();
        match step {
            Step::Open => false,
            Step::Kill | Step::Cut => true,
            Step::PutSynced(0, 0) if self.is_stopped => true,
            _ if self.is_stopped => false,
            Step::PutInside(_)
            | Step::DeleteInside(_)
            | Step::IncrementAllInside
            | Step::Commit
            | Step::Rollback => self.is_in_transaction(),
            _ if self.is_in_transaction() => false,
            Step::AskDisk => self.sync.as_ref().is_some_and(|sync| !sync.is_on_disk),
            Step::EndSync => self.sync.as_ref().is_some_and(|sync| sync.is_on_disk),
            Step::Defer(_) => self.deferred.len() < DEFERRED_MAX && !self.is_full,
            Step::Put(..) => self.deferred.is_empty(),
            Step::Snapshot => holds_none,
            Step::Release => !holds_none,
            _ if self.sync.is_some() => false,
            Step::BeginSync => !self.is_full,
            Step::Flush => true,
            _ if !self.deferred.is_empty() => false,
            Step::CheckpointAround | Step::Fill => !self.is_full,
            Step::MakeRoom => self.is_full,
            Step::LoseCheckpoint => self.has_two_checkpoints(),
            Step::LoseSector => self.unattested.is_some() && self.first_record().is_some(),
            _ => true,
        }
    }

    /// The sector in which the record of the first key stands.
    fn first_record(&self) -> Option<u64> {
        let offset =
            self.client.db().record_offset(step::COLLECTION, &holotype::Key::from(step::FIRST_KEY))?;
        Some(offset / u64::from(self.setup.sector))
    }

    fn has_two_checkpoints(&self) -> bool {
        let [newest, before] = self.client.db().checkpoint_places();
        !newest.is_empty() && !before.is_empty() && newest != before
    }

    /// Takes the step, which does not end this life, and holds what comes of it against the model. Gives what a power cut
    /// after each change of the disk on the way leaves to be opened; none where the step comes to nothing.
    pub(super) fn take(&mut self, step: Step) -> Result<Option<Vec<Off>>, Finding> {
        self.witness.record();
        let before = self.judges();
        match step {
            Step::Defer(_) => self.defer(step)?,
            Step::BeginSync => match self.client.db().begin_sync().map_err(say_error)? {
                Some(under_way) => {
                    self.deferred.iter_mut().for_each(|deferred| deferred.is_handed_over = true);
                    self.sync = Some(Sync { under_way, is_on_disk: false });
                }
                None => return Ok(None),
            },
            Step::AskDisk => {
                let sync = self.sync.as_mut().expect("it is under way");
                sync.under_way.ask_disk().map_err(say_error)?;
                sync.is_on_disk = true;
            }
            Step::EndSync => self.end_sync()?,
            Step::CheckpointAround => return self.checkpoint_around().map(Some),
            Step::SyncFails => return self.fail_a_sync(),
            Step::Release => {
                let snapshot = self.client.snapshots()[0];
                self.call(&Op::Release { snapshot })?;
            }
            Step::Fill | Step::MakeRoom => {
                self.is_full = step == Step::Fill;
                let len = self.disk().len().expect("the disk is well");
                self.disk().set_capacity(self.is_full.then_some(len));
            }
            step => {
                let op = step.op(self.setup.segment_bytes).expect("all other steps are calls");
                return self.call_and_tell(&op).map(Some);
            }
        }
        Ok(Some(self.moments(&before)))
    }

    /// What can be opened after a power cut at each change so far but the last one: that is the state that the step leads to.
    fn moments(&self, judges: &[Oracle]) -> Vec<Off> {
        let mut disks = self.witness.take();
        disks.pop();
        disks.into_iter().map(|disk| Off::cut(disk, judges.to_vec())).collect()
    }

    /// Everything that an ending now may be judged by.
    pub(super) fn judges(&self) -> Vec<Oracle> {
        let ops: Vec<&Op> = self.deferred.iter().map(|deferred| &deferred.op).collect();
        let mut judges = vec![pending(&self.oracle, &ops)];
        judges.extend(self.unsealed.iter().cloned());
        judges
    }

    fn call_and_tell(&mut self, op: &Op) -> Result<Vec<Off>, Finding> {
        let mut during = self.judges();
        if !self.is_stopped {
            during = during.iter().map(|judge| in_flight(judge, op)).collect();
        }
        self.call(op)?;
        Ok(self.moments(&during))
    }

    /// Carries out the call, and has its answer judged.
    fn call(&mut self, op: &Op) -> Result<(), Finding> {
        let changes = op.is_write() || matches!(op, Op::Flush);
        let answer = self.client.try_apply(op);
        match answer {
            Ok(outcome) if self.is_stopped && changes => {
                Err(Finding::new(Law::FailedSync, format!("{op}: it writes on, and answers {outcome}")))
            }
            Ok(outcome) => {
                self.note_sealed(op, &outcome);
                self.settle_deferred(op)?;
                self.judge(op, &outcome)
            }
            Err(holotype::Error::Poisoned { .. }) if self.is_stopped => self.judge(op, &adapter::POISONED),
            Err(holotype::Error::StorageFull { .. }) if self.is_full => {
                if changes {
                    self.note_taken_back(op);
                }
                self.judge(op, &Outcome::Failed(Failure::StorageFull))
            }
            Err(error) => Err(Finding::new(Law::of_error(&error), format!("{op}: {error}"))),
        }
    }

    fn judge(&mut self, op: &Op, outcome: &Outcome) -> Result<(), Finding> {
        let acknowledges = matches!(op, Op::Flush) || op.durability() == Some(Durability::Synced);
        let has_news = op.is_write() || self.oracle.histories()[0].unacknowledged().next().is_some();
        if acknowledges && has_news && matches!(outcome, Outcome::Done) && !self.is_stopped {
            self.unattested = Some(in_flight(&self.oracle, op));
        }
        self.oracle.judge(op, outcome).map_err(|what| Finding::disagreement(Law::Serial, &what))
    }

    /// A flush waits for all that nobody has waited for.
    fn settle_deferred(&mut self, op: &Op) -> Result<(), Finding> {
        if !matches!(op, Op::Flush) {
            return Ok(());
        }
        for Deferred { op, answer, .. } in std::mem::take(&mut self.deferred) {
            self.judge(&op, &answer)?;
        }
        Ok(())
    }

    /// Whoever comes to the writer seals the log before anything else (spec: S-8.5).
    fn note_sealed(&mut self, op: &Op, outcome: &Outcome) {
        let comes_to_the_writer = op.is_write() || matches!(op, Op::Checkpoint | Op::Clean | Op::Compact);
        if matches!(op, Op::Flush) {
            self.unsealed.retain_mut(|judge| judge.judge(op, outcome).is_ok());
        } else if comes_to_the_writer && !matches!(outcome, Outcome::Refused(_)) {
            self.unsealed.clear();
        }
    }

    /// The commit found no room, and the state is as before; only an ending may still show it.
    fn note_taken_back(&mut self, op: &Op) {
        let mut shown = self.oracle.clone();
        let foretold = shown.histories()[0].clone().apply(op);
        shown.judge(op, &foretold).expect("this is what it foretells");
        if shown != self.oracle && !self.unsealed.contains(&shown) {
            self.unsealed.push(shown);
        }
    }

    fn defer(&mut self, step: Step) -> Result<(), Finding> {
        let op = step.op(self.setup.segment_bytes).expect("it is a put");
        let (answer, _ticket) = self.client.defer(&op).map_err(say_error)?;
        self.unsealed.clear();
        self.deferred.push(Deferred { op, answer, is_handed_over: false });
        Ok(())
    }

    /// What was handed over is durable, and shown.
    fn end_sync(&mut self) -> Result<(), Finding> {
        let sync = self.sync.take().expect("it is under way");
        sync.under_way.end().map_err(say_error)?;
        let (shown, rest) =
            std::mem::take(&mut self.deferred).into_iter().partition(|deferred| deferred.is_handed_over);
        self.deferred = rest;
        let shown: Vec<Deferred> = shown;
        shown.iter().try_for_each(|deferred| self.judge(&deferred.op, &deferred.answer))
    }

    fn checkpoint_around(&mut self) -> Result<Vec<Off>, Finding> {
        let before = self.judges();
        let mut checkpoint = self.client.db().begin_checkpoint().map_err(say_error)?;
        if let Some(checkpoint) = &mut checkpoint {
            checkpoint.step().map_err(say_error)?;
        }
        let all = |disks: Vec<SimDisk>, judges: &[Oracle]| {
            disks.into_iter().map(|disk| Off::cut(disk, judges.to_vec())).collect::<Vec<_>>()
        };
        let mut cuts = all(self.witness.take(), &before);
        self.witness.record();
        cuts.extend(self.call_and_tell(&step::amid_checkpoint())?);
        self.witness.record();
        if let Some(checkpoint) = checkpoint {
            checkpoint.finish().map_err(say_error)?;
        }
        cuts.extend(all(self.witness.take(), &self.judges()));
        Ok(cuts)
    }

    /// A flush whose first sync fails, so that the disk drops what was to become durable. None where nothing was to.
    fn fail_a_sync(&mut self) -> Result<Option<Vec<Off>>, Finding> {
        let dropped = FaultKind::Sync(SyncLoss::Dropped);
        self.disk().set_faults(FaultPlan::none().once(Nth::Of(CallKind::Sync, 0), dropped));
        let answer = self.client.try_apply(&Op::Flush);
        let was_hit = self.disk().fault_hits() > 0;
        self.disk().set_faults(FaultPlan::none());
        if !was_hit {
            return Ok(None);
        }
        match answer {
            Err(holotype::Error::Io { .. }) => {}
            answer => {
                let what = format!("a sync failed, and the flush that asked for it says {answer:?}");
                return Err(Finding::new(Law::FailedSync, what));
            }
        }
        self.is_stopped = true;
        self.judge(&Op::Flush, &Outcome::Unknown)?;
        Ok(Some(Vec::new()))
    }

    /// What this life leaves if it ends in this way.
    pub(super) fn end(&mut self, step: Step) -> Result<Off, Finding> {
        let disk = self.disk().fork();
        disk.set_capacity(None);
        Ok(match step {
            Step::Close => {
                self.call(&Op::Flush)?;
                self.client.close().map_err(say_error)?;
                Off::closed(self.disk().fork(), self.judges())
            }
            Step::Kill => Off::killed(disk, self.judges()),
            Step::Cut => Off::cut(disk, self.judges()),
            Step::LoseCheckpoint => {
                let [newest, _] = self.client.db().checkpoint_places();
                let root = newest.last().expect("there are two").start;
                Off::checkpoint_lost(disk, self.judges(), root / u64::from(self.setup.sector))
            }
            Step::LoseSector => {
                let mut judges = self.judges();
                judges.extend(self.unattested.clone());
                Off::sector_lost(disk, judges, self.first_record().expect("it is there"))
            }
            step => unreachable!("{step} is no ending"),
        })
    }
}

#[expect(clippy::needless_pass_by_value, reason = "what `map_err` hands over")]
fn say_error(error: holotype::Error) -> Finding {
    Finding::new(Law::of_error(&error), error.to_string())
}
