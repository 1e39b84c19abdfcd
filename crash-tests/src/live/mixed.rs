//! Steps in which several things are under way at once, or something fails.

use std::ops::ControlFlow;
use std::sync::Arc;

use holotype::Error;
use holotype::storage::Storage;
use holotype::storage::sim::{CallKind, FaultKind, FaultPlan, Nth};
use holotype_model::{Failure, Op, Oracle, Outcome};

use crate::adapter;
use crate::copy;
use crate::follower::Follower;
use crate::indexes;

use super::told::Told;
use super::{Feature, IndexCall, Live, Moment, Step, Violation, in_flight, moments, say};

/// Followers at a time.
const FOLLOWERS: usize = 2;

impl Live {
    pub(super) fn follow(&mut self) -> Result<Vec<Moment>, Violation> {
        if self.followers.len() == FOLLOWERS {
            self.followers.remove(0);
        }
        let follower = Follower::begin(self.db())?;
        self.followers.push(follower);
        Ok(Vec::new())
    }

    pub(super) fn catch_up(&mut self, number: usize) -> Result<Vec<Moment>, Violation> {
        if let Some(follower) = self.followers.get_mut(number) {
            follower.catch_up(self.client.db()).map_err(|what| format!("follower {number}: {what}"))?;
        }
        self.observe();
        Ok(Vec::new())
    }

    /// The copy holds what was there when the backup began, whatever is done meanwhile (spec: P-10.1, P-4.4).
    pub(super) fn during_backup(&mut self, steps: &[Step]) -> Result<Vec<Moment>, Violation> {
        let (db, disk) = (self.db().clone(), Arc::new(self.setup.disk()));
        let (mut all, mut held, mut violation) = (Vec::new(), None, None);
        self.witness.record();
        let mut told = Told::default();
        let copied = db.backup_to_with(&disk, None, |progress| {
            told.is_at(*progress);
            if held.is_none() {
                let taken = self.in_midst_of_backup(steps);
                match taken {
                    Ok((moments, judge, changes)) => {
                        all.extend(moments);
                        held = Some((judge, changes));
                    }
                    Err(what) => {
                        violation = Some(what);
                        return ControlFlow::Break(());
                    }
                }
            }
            ControlFlow::Continue(())
        });
        if let Some(what) = violation {
            return Err(format!("during a backup, {what}"));
        }
        let report = match copied {
            Ok(report) => report,
            // Before it begins, what was placed is made durable, and that may need room for a frame.
            Err(Error::StorageFull { .. }) if self.at_work.is_full() => return Ok(all),
            Err(error) => return Err(format!("a backup: {error}")),
        };
        let (mut judge, changes) = held.ok_or("a backup copies no segment")?;
        disk.sync_directory().map_err(|error| format!("the copy: {error}"))?;
        let dump = copy::contents(self.setup, &disk)?;
        judge.judge_dump(&dump).map_err(|d| format!("the copy: {}", say(d)))?;
        let len = Storage::len(&*disk).map_err(|error| error.to_string())?;
        told.ended(&report, &dump, len).map_err(|what| format!("a backup: {what}"))?;
        if changes {
            self.at_work.is(Feature::Backup);
        }
        Ok(all)
    }

    /// The judge of what a backup holds that began just now; then the steps, and whether they changed the file.
    fn in_midst_of_backup(&mut self, steps: &[Step]) -> Result<(Vec<Moment>, Oracle, bool), Violation> {
        // What it copies, it has made durable before.
        let (disks, before) = (self.witness.take(), in_flight(&self.oracle, &Op::Flush));
        self.oracle.judge(&Op::Flush, &Outcome::Done).map_err(say)?;
        let mut all = moments(disks, &before, &self.oracle);
        let (judge, disk) = (self.oracle.clone(), self.disk().fingerprint());
        for step in steps {
            all.extend(self.step(step).map_err(|what| format!("{step}: {what}"))?);
        }
        Ok((all, judge, self.disk().fingerprint() != disk))
    }

    /// What is done while an index is built is in it once it is there; a build that is cancelled changes nothing (spec: I-5).
    pub(super) fn during_build(
        &mut self,
        op: &Op,
        steps: &[Step],
        is_cancelled: bool,
    ) -> Result<Vec<Moment>, Violation> {
        let (db, before, count) = (self.db().clone(), self.before(op), steps.len());
        let (mut all, mut steps, mut violation) = (Vec::new(), steps.iter(), None);
        self.witness.record();
        let built = indexes::build(&db, op, || {
            let taken = steps.next().map(|step| self.step(step).map_err(|what| format!("{step}: {what}")));
            self.witness.record();
            match taken {
                Some(Ok(moments)) => all.extend(moments),
                Some(Err(what)) => violation = Some(what),
                None => {}
            }
            let ends = violation.is_some() || is_cancelled && steps.len() == 0;
            if ends { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        if let Some(what) = violation {
            return Err(format!("while an index is built, {what}"));
        }
        let disks = self.witness.take();
        let outcome = match built {
            Err(Error::Cancelled { .. }) if is_cancelled => {
                self.index_calls.count(IndexCall::Cancel);
                all.extend(moments(disks, &self.oracle, &self.oracle));
                return Ok(all);
            }
            Err(error) => match adapter::refusal_of(&error) {
                Some(refusal) => Outcome::Refused(refusal),
                None => adapter::outcome_of(error, op),
            },
            Ok(outcome) => outcome,
        };
        let outcome = self.answered(op, outcome)?;
        let in_flight = in_flight(&self.oracle, op);
        self.oracle.judge(op, &outcome).map_err(say)?;
        self.note(op, &outcome, before);
        if outcome == Outcome::Bool(true) && steps.len() < count {
            self.index_calls.count(IndexCall::Beside);
        }
        all.extend(moments(disks, &in_flight, &self.oracle));
        Ok(all)
    }

    /// The first slot names a new checkpoint, and for the second there is no room (spec: P-4.1).
    pub(super) fn half_publish(&mut self) -> Result<Vec<Moment>, Violation> {
        self.witness.record();
        let named = self.name_once();
        match named {
            Err(Error::StorageFull { .. }) if self.at_work.is_full() => {}
            named => named.map_err(|error| format!("a checkpoint: {error}"))?,
        }
        self.at_work.may_be_half = true;
        Ok(moments(self.witness.take(), &self.oracle, &self.oracle))
    }

    fn name_once(&self) -> holotype::Result<()> {
        let Some(checkpoint) = self.db().begin_checkpoint()? else { return Ok(()) };
        let sealed = checkpoint.seal()?;
        sealed.name()?;
        sealed.sync()
    }

    /// A call that finds no room only while it is written. It fails, and a crash may show it until the next commit (spec: S-8.5).
    pub(super) fn no_room(&mut self, write: u64, op: &Op) -> Result<Vec<Moment>, Violation> {
        let Some(nth) = self.writes_of(op).and_then(|writes| (writes - 1).checked_sub(write % writes)) else {
            // It writes nothing.
            return self.call(op);
        };
        let nth = Nth::Of(CallKind::Write, nth);
        self.disk().set_faults(FaultPlan::none().once(nth, FaultKind::StorageFull));
        self.witness.record();
        let before = self.before(op);
        let outcome = self.client.apply(op);
        let has_struck = self.disk().fault_hits() > 0;
        self.disk().set_faults(FaultPlan::none());
        let in_flight = in_flight(&self.oracle, op);
        match outcome {
            Outcome::Failed(Failure::StorageFull) if has_struck || self.at_work.is_full() => {
                self.at_work.answered_full();
                self.oracle.take_back(op);
            }
            failed @ (Outcome::Failed(_) | Outcome::Unknown) => return Err(format!("{op}: {failed}")),
            outcome => {
                self.oracle.judge(op, &outcome).map_err(say)?;
                self.note(op, &outcome, before);
            }
        }
        // A checkpoint may have got as far as one slot.
        self.at_work.may_be_half |= has_struck && *op == Op::Checkpoint;
        Ok(moments(self.witness.take(), &in_flight, &self.oracle))
    }

    /// How often the call would write to the disk; none where it would not.
    fn writes_of(&self, op: &Op) -> Option<u64> {
        let mut copy = self.fork();
        copy.look_away();
        let before = copy.disk().calls().of(CallKind::Write);
        copy.client.apply(op);
        Some(copy.disk().calls().of(CallKind::Write) - before).filter(|writes| *writes > 0)
    }

    /// A call whose first sync fails: what it wrote may be there or not, and nothing is written any more (spec: S-8.3).
    pub(super) fn fail_sync(&mut self, op: &Op) -> Result<Vec<Moment>, Violation> {
        self.disk().set_faults(FaultPlan::none().once(Nth::Of(CallKind::Sync, 0), FaultKind::Io));
        self.witness.record();
        let before = self.before(op);
        let outcome = self.client.apply(op);
        let has_struck = self.disk().fault_hits() > 0;
        self.disk().set_faults(FaultPlan::none());
        let in_flight = in_flight(&self.oracle, op);
        match outcome {
            Outcome::Unknown if has_struck => self.at_work.is(Feature::FailedSync),
            Outcome::Failed(Failure::StorageFull) if self.at_work.is_full() => self.at_work.answered_full(),
            failed @ (Outcome::Failed(_) | Outcome::Unknown) => return Err(format!("{op}: {failed}")),
            _ if has_struck => return Err(format!("{op}: a sync failed, and it says {outcome}")),
            _ => {}
        }
        self.oracle.judge(op, &outcome).map_err(say)?;
        self.note(op, &outcome, before);
        Ok(moments(self.witness.take(), &in_flight, &self.oracle))
    }

    pub(super) fn fill(&mut self, is_full: bool) -> Result<Vec<Moment>, Violation> {
        let len = Storage::len(self.disk()).map_err(|error| error.to_string())?;
        self.disk().set_capacity(is_full.then_some(len));
        self.at_work.set_full(is_full);
        Ok(Vec::new())
    }
}
