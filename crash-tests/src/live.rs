//! An open store on a simulated disk, and beside it the judge of all it answers.

use std::fmt;

use holotype::storage::sim::SimDisk;
use holotype::{CheckpointUnderWay, Db};
use holotype_model::{Disagreement, Durability, Ending, KeyRange, Op, Oracle, Outcome, Survived};

use crate::adapter;
use crate::client::Client;
use crate::follower::Follower;
use crate::setup::Setup;
use crate::witness::Witness;

/// One step of a sequence.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// A call.
    Do(Op),
    /// Calls, one after the other: a transaction, from its begin to its end.
    All(Vec<Op>),
    /// Two writes of class `Synced`. The second is placed while the sync for the first is under way.
    Overlap(Op, Op),
    /// Maintenance until nothing is due.
    Maintain,
    /// A checkpoint, and this call when the first of its pages are written.
    DuringCheckpoint(Op),
    /// A checkpoint, and this call when a slot that names it is written and not yet synced.
    BeforeSlotSync(Op),
    /// Somebody begins to follow the change feed, and listens at the next look.
    Follow,
    /// The store is closed and opened again.
    Reopen,
    /// The process is killed, and the store opened again.
    Kill,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Do(op) => write!(f, "{op}"),
            Step::All(ops) => {
                let ops: Vec<String> = ops.iter().map(Op::to_string).collect();
                f.write_str(&ops.join(", "))
            }
            Step::Overlap(first, second) => write!(f, "{first}, and during its sync {second}"),
            Step::Maintain => f.write_str("maintain"),
            Step::DuringCheckpoint(op) => write!(f, "checkpoint, and in its midst {op}"),
            Step::BeforeSlotSync(op) => write!(f, "checkpoint, and before the sync of its slot {op}"),
            Step::Follow => f.write_str("follow"),
            Step::Reopen => f.write_str("close, open"),
            Step::Kill => f.write_str("kill, open"),
        }
    }
}

/// A moment at which power may go: the disk then, and what is legal after it.
#[derive(Debug, Clone)]
pub struct Moment {
    /// The disk, with power still on.
    pub disk: SimDisk,
    /// Its judge.
    pub oracle: Oracle,
}

/// More steps of maintenance than any store of a check needs at once.
const MAINTENANCE_MAX: usize = 1000;

/// What the store did that it may not do, in words.
pub type Violation = String;

/// An open store with its judge. A fork shares nothing with it.
#[derive(Debug)]
pub struct Live {
    setup: Setup,
    // Let go before what it follows.
    follower: Option<Follower>,
    client: Client,
    witness: Witness,
    oracle: Oracle,
}

impl Drop for Live {
    fn drop(&mut self) {
        // The handle would close the store; whoever wants that asks for it.
        self.witness.switch_off();
    }
}

impl Live {
    /// Creates a store on a new disk. Gives the moments of the creation, too.
    pub fn create(setup: Setup) -> Result<(Live, Vec<Moment>), Violation> {
        let witness = Witness::recording(setup.disk());
        let db = open(setup, &witness)?;
        let oracle = Oracle::default();
        let moments = moments(witness.take(), &oracle, &oracle);
        let mut live = Live { setup, follower: None, client: Client::new(db), witness, oracle };
        live.look()?;
        Ok((live, moments))
    }

    /// Opens what a life of the store left on `disk`, which `oracle` has judged so far. Gives the moments of the opening, and
    /// how much of what was not acknowledged is there.
    pub fn open(
        setup: Setup,
        disk: SimDisk,
        oracle: Oracle,
        ending: Ending,
    ) -> Result<(Live, Vec<SimDisk>, Survived), Violation> {
        Live::begin(setup, Witness::recording(disk), oracle, ending)
    }

    fn begin(
        setup: Setup,
        witness: Witness,
        mut oracle: Oracle,
        ending: Ending,
    ) -> Result<(Live, Vec<SimDisk>, Survived), Violation> {
        let db = open(setup, &witness)?;
        let moments = witness.take();
        let dump = adapter::contents(&db).map_err(|error| format!("reading what it holds: {error}"))?;
        let survived = oracle.judge_ending(ending, &dump).map_err(say)?;
        Ok((Live { setup, follower: None, client: Client::new(db), witness, oracle }, moments, survived))
    }

    /// An independent store in the same state.
    pub fn fork(&self) -> Live {
        let witness = Witness::new(self.witness.disk().fork());
        let client = self.client.fork(self.db().fork(witness.clone()));
        let follower = self.follower.as_ref().map(|follower| follower.fork(client.db()));
        Live { setup: self.setup, follower, client, witness, oracle: self.oracle.clone() }
    }

    /// From now on its steps give no moments: nobody cuts power in them.
    pub fn look_away(&self) {
        self.witness.look_away();
    }

    /// The store.
    pub fn db(&self) -> &Db {
        self.client.db()
    }

    /// Its disk.
    pub fn disk(&self) -> &SimDisk {
        self.witness.disk()
    }

    /// Its judge.
    pub fn oracle(&self) -> &Oracle {
        &self.oracle
    }

    /// Takes a step, holds what comes of it against the model, and gives every moment of it at which power may go.
    pub fn step(&mut self, step: &Step) -> Result<Vec<Moment>, Violation> {
        match step {
            Step::Do(op) => self.call(op),
            Step::All(ops) => {
                let moments = ops.iter().map(|op| self.call(op)).collect::<Result<Vec<_>, _>>()?;
                Ok(moments.into_iter().flatten().collect())
            }
            Step::Overlap(first, second) => self.overlap(first, second),
            Step::Maintain => self.maintain(),
            Step::DuringCheckpoint(op) => self.during_checkpoint(op),
            Step::BeforeSlotSync(op) => self.before_slot_sync(op),
            Step::Follow => {
                self.follower = Some(Follower::begin(self.db())?);
                Ok(Vec::new())
            }
            Step::Reopen => self.reopen(),
            Step::Kill => self.kill(),
        }
    }

    fn call(&mut self, op: &Op) -> Result<Vec<Moment>, Violation> {
        self.witness.record();
        let outcome = self.answer(op)?;
        let disks = self.witness.take();
        let before = in_flight(&self.oracle, op);
        self.oracle.judge(op, &outcome).map_err(say)?;
        Ok(moments(disks, &before, &self.oracle))
    }

    /// What the store answers, which is no failure: nothing is wrong with the disk.
    fn answer(&mut self, op: &Op) -> Result<Outcome, Violation> {
        match self.client.apply(op) {
            failed @ (Outcome::Failed(_) | Outcome::Unknown) => Err(format!("{op}: {failed}")),
            outcome => Ok(outcome),
        }
    }

    /// Nobody sees the first write before its sync is over, nor the second before its own is; but the second builds on the first.
    fn overlap(&mut self, first: &Op, second: &Op) -> Result<Vec<Moment>, Violation> {
        let say_error = |error: holotype::Error| format!("committing while a sync is under way: {error}");
        let unseen = self.oracle.clone();
        self.witness.record();
        let (answer, ticket) = self.client.defer(first).map_err(say_error)?;
        let sync = self.db().begin_sync().map_err(say_error)?.expect("a commit waits for it");
        let mut all = moments_during(self.witness.take(), &pending(&unseen, &[first]));

        self.witness.record();
        let (next_answer, next_ticket) = self.client.defer(second).map_err(say_error)?;
        let in_the_air = pending(&unseen, &[first, second]);
        all.extend(moments_during(self.witness.take(), &in_the_air));
        if self.oracle.judge_dump(&self.contents()?).is_err() {
            // The second needed an incarnation of its own, which waits for all before it: so the first may be seen, and must be durable.
            self.oracle = unseen.clone();
            self.oracle.judge(first, &answer).map_err(say)?;
            let oracle = pending(&self.oracle, &[second]);
            all.push(Moment { disk: self.disk().fork(), oracle });
            self.oracle.judge_dump(&self.contents()?).map_err(say)?;
        }

        self.witness.record();
        sync.finish().map_err(say_error)?;
        if self.oracle == unseen {
            self.oracle.judge(first, &answer).map_err(say)?;
        }
        all.extend(moments(self.witness.take(), &in_the_air, &pending(&self.oracle, &[second])));
        self.oracle.judge_dump(&self.contents()?).map_err(say)?;

        self.witness.record();
        ticket.wait().map_err(say_error)?;
        next_ticket.wait().map_err(say_error)?;
        let in_the_air = pending(&self.oracle, &[second]);
        self.oracle.judge(second, &next_answer).map_err(say)?;
        all.extend(moments(self.witness.take(), &in_the_air, &self.oracle));
        Ok(all)
    }

    /// What is kept up in small steps changes nothing that anybody sees.
    fn maintain(&mut self) -> Result<Vec<Moment>, Violation> {
        self.witness.record();
        for _ in 0..MAINTENANCE_MAX {
            if !self.db().maintain().map_err(|error| format!("maintaining: {error}"))? {
                return Ok(moments(self.witness.take(), &self.oracle, &self.oracle));
            }
        }
        Err(format!("maintenance goes on for ever: {:?}", self.db().stats()))
    }

    fn during_checkpoint(&mut self, op: &Op) -> Result<Vec<Moment>, Violation> {
        let say_error = |error: holotype::Error| format!("a checkpoint: {error}");
        self.witness.record();
        let mut checkpoint = self.db().begin_checkpoint().map_err(say_error)?;
        if let Some(checkpoint) = &mut checkpoint {
            checkpoint.step().map_err(say_error)?;
        }
        let mut all = moments(self.witness.take(), &self.oracle, &self.oracle);
        all.extend(self.call(op)?);
        self.witness.record();
        if let Some(checkpoint) = checkpoint {
            checkpoint.finish().map_err(say_error)?;
        }
        all.extend(moments(self.witness.take(), &self.oracle, &self.oracle));
        Ok(all)
    }

    fn before_slot_sync(&mut self, op: &Op) -> Result<Vec<Moment>, Violation> {
        let say_error = |error: holotype::Error| format!("a checkpoint: {error}");
        self.witness.record();
        let checkpoint = self.db().begin_checkpoint().map_err(say_error)?;
        let sealed = checkpoint.map(CheckpointUnderWay::seal).transpose().map_err(say_error)?;
        if let Some(sealed) = &sealed {
            sealed.name().map_err(say_error)?;
        }
        let mut all = moments(self.witness.take(), &self.oracle, &self.oracle);
        all.extend(self.call(op)?);
        self.witness.record();
        if let Some(sealed) = sealed {
            let named_twice = sealed.sync().and_then(|()| sealed.name()).and_then(|()| sealed.sync());
            named_twice.and_then(|()| sealed.publish()).map_err(say_error)?;
        }
        all.extend(moments(self.witness.take(), &self.oracle, &self.oracle));
        Ok(all)
    }

    fn contents(&self) -> Result<adapter::Contents, Violation> {
        adapter::contents(self.db()).map_err(|error| format!("reading what it holds: {error}"))
    }

    fn reopen(&mut self) -> Result<Vec<Moment>, Violation> {
        self.witness.record();
        self.client.close().map_err(|error| format!("closing: {error}"))?;
        let disks = self.witness.take();
        // Until it returns, a close promises no more than a flush.
        let before = in_flight(&self.oracle, &Op::Flush);
        self.oracle.judge(&Op::Flush, &Outcome::Done).map_err(say)?;
        let mut all = moments(disks, &before, &self.oracle);
        let opening = self.next_life(Ending::Close)?;
        all.extend(moments(opening, &self.oracle, &self.oracle));
        Ok(all)
    }

    fn kill(&mut self) -> Result<Vec<Moment>, Violation> {
        let before = self.oracle.clone();
        // Power may go before the opening is over: then nothing that it found is promised yet.
        let opening = self.next_life(Ending::Kill)?;
        let mut all = moments(opening, &before, &self.oracle);
        // spec. Whatever it did, or left undone: what it answers with from now on is there to stay.
        all.push(Moment { disk: self.disk().fork(), oracle: self.oracle.clone() });
        Ok(all)
    }

    /// Ends this life, and begins the next on the same disk. Gives the disk after each change that opening makes.
    fn next_life(&mut self, ending: Ending) -> Result<Vec<SimDisk>, Violation> {
        self.witness.switch_off();
        let (next, opening, _) =
            Live::begin(self.setup, self.witness.of_next_life(), self.oracle.clone(), ending)?;
        *self = next;
        Ok(opening)
    }

    /// Reads everything, holds it against the model, and lets the store check itself.
    pub fn look(&mut self) -> Result<(), Violation> {
        let dump = self.contents()?;
        self.oracle.judge_dump(&dump).map_err(say)?;
        for snapshot in self.client.snapshots() {
            self.look_through(snapshot)?;
        }
        if let Some(follower) = &mut self.follower {
            follower.catch_up(self.client.db())?;
        }
        self.verify()
    }

    /// Reads everything through a snapshot.
    fn look_through(&mut self, snapshot: u64) -> Result<(), Violation> {
        let through = |op| Op::Through { snapshot, op: Box::new(op) };
        let collections = through(Op::Collections);
        let names = self.answer(&collections)?;
        self.oracle.judge(&collections, &names).map_err(say)?;
        let Outcome::Names(names) = names else { unreachable!("it was judged") };
        for collection in names {
            let scan = Op::Scan { collection, range: KeyRange::ALL, reverse: false, limit: None };
            let scan = through(scan);
            let answer = self.answer(&scan)?;
            self.oracle.judge(&scan, &answer).map_err(say)?;
        }
        Ok(())
    }

    /// Lets the store check itself, as deep as it can.
    pub fn verify(&self) -> Result<(), Violation> {
        let report = self.db().verify(true).map_err(|error| format!("verify: {error}"))?;
        match report.problems.first() {
            None => Ok(()),
            Some(problem) => {
                Err(format!("verify finds {} problems, first: {problem}", report.problems.len()))
            }
        }
    }
}

fn open(setup: Setup, witness: &Witness) -> Result<Db, Violation> {
    Db::open_on(witness.clone(), &setup.options()).map_err(|error| format!("opening: {error}"))
}

/// The judge while a call is under way.
pub(crate) fn in_flight(oracle: &Oracle, op: &Op) -> Oracle {
    let mut oracle = oracle.clone();
    if op.is_write() || matches!(op, Op::Flush) {
        oracle.judge(op, &Outcome::Unknown).expect("a call that may write may be cut short");
    }
    oracle
}

/// The judge while these commits are placed, and none of them is durable for certain.
pub(crate) fn pending(oracle: &Oracle, ops: &[&Op]) -> Oracle {
    let mut oracle = oracle.clone();
    for op in ops {
        let op = op.with_durability(Durability::Buffered);
        let foretold = oracle.histories()[0].clone().apply(&op);
        oracle.judge(&op, &foretold).expect("this is what it foretells");
    }
    oracle
}

/// All of these disks are from before anything was promised.
fn moments_during(disks: Vec<SimDisk>, oracle: &Oracle) -> Vec<Moment> {
    disks.into_iter().map(|disk| Moment { disk, oracle: oracle.clone() }).collect()
}

/// At the last moment of a step its promise holds already: no power cut between it and the return can leave less.
fn moments(disks: Vec<SimDisk>, before: &Oracle, after: &Oracle) -> Vec<Moment> {
    let last = disks.len().saturating_sub(1);
    let oracle = |index| if index == last { after } else { before };
    disks
        .into_iter()
        .enumerate()
        .map(|(index, disk)| Moment { disk, oracle: oracle(index).clone() })
        .collect()
}

#[expect(clippy::needless_pass_by_value, reason = "what `map_err` hands over")]
pub(crate) fn say(disagreement: Disagreement) -> Violation {
    format!("found {}; legal is: {}", disagreement.found, disagreement.expected.join(" | or: "))
}
