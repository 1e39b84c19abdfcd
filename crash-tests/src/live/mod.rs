//! An open store on a simulated disk, and beside it the judge of all it answers.
//!
//! | file | job |
//! |---|---|
//! | `step` | the steps that a life is made of |
//! | `mixed` | steps in which several things are under way at once, or something fails |
//! | `ending` | the end of a life of the store, and the beginning of the next |
//! | `told` | what the store tells of itself |
//! | `at_work` | what was really met in a life, and which two of it together |
//! | `index_calls` | what indexes were asked and answered |

mod at_work;
mod ending;
mod index_calls;
mod mixed;
mod step;
mod told;

pub use at_work::{FEATURES, Feature, Pairs};
pub use index_calls::{INDEX_CALLS, IndexCall, IndexCalls};
pub use step::Step;

use holotype::storage::sim::SimDisk;
use holotype::{CheckpointUnderWay, Db, Error};
use holotype_model::check::Tally;
use holotype_model::index::TupleRange;
use holotype_model::{Disagreement, Durability, Ending, Failure, KeyRange, Op, Oracle, Outcome, Survived};

use crate::adapter;
use crate::client::Client;
use crate::follower::Follower;
use crate::setup::Setup;
use crate::witness::Witness;

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
    // Let go before what they follow. The oldest first, of which each may have listened to more or less.
    followers: Vec<Follower>,
    client: Client,
    witness: Witness,
    oracle: Oracle,
    at_work: at_work::AtWork,
    /// What was asked and answered, in this life of the store and those before it.
    tally: Tally,
    index_calls: IndexCalls,
    /// Of the lives of the store that are over.
    pairs: Pairs,
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
        let oracle = Oracle::new(setup.limits());
        let moments = moments(witness.take(), &oracle, &oracle);
        let mut live = Live::of(setup, db, witness, oracle);
        live.look()?;
        Ok((live, moments))
    }

    fn of(setup: Setup, db: Db, witness: Witness, oracle: Oracle) -> Live {
        Live {
            setup,
            followers: Vec::new(),
            client: Client::new(db),
            witness,
            oracle,
            at_work: at_work::AtWork::default(),
            tally: Tally { cases: 1, ..Tally::default() },
            index_calls: IndexCalls::default(),
            pairs: Pairs::default(),
        }
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
        let mut live = Live::of(setup, db, witness, oracle);
        live.at_work.is(Feature::Reopening);
        Ok((live, moments, survived))
    }

    /// An independent store in the same state.
    pub fn fork(&self) -> Live {
        let witness = Witness::new(self.witness.disk().fork());
        let client = self.client.fork(self.db().fork(witness.clone()));
        let followers = self.followers.iter().map(|follower| follower.fork(client.db())).collect();
        let (at_work, tally, pairs) = (self.at_work.clone(), self.tally, self.pairs.clone());
        let index_calls = self.index_calls;
        let oracle = self.oracle.clone();
        Live { setup: self.setup, followers, client, witness, oracle, at_work, tally, index_calls, pairs }
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

    /// What was asked and answered so far.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// What was asked of indexes, and answered, so far.
    pub fn index_calls(&self) -> IndexCalls {
        self.index_calls
    }

    /// What was at work together, in this life of the store and those before it.
    pub fn pairs(&self) -> Pairs {
        let mut pairs = self.pairs.clone();
        pairs.add_life(&self.at_work);
        pairs
    }

    /// Takes a step, holds what comes of it against the model, and gives every moment of it at which power may go.
    ///
    /// # Errors
    /// What the store did that it may not do.
    pub fn step(&mut self, step: &Step) -> Result<Vec<Moment>, Violation> {
        if self.oracle.is_poisoned() && !step.is_for_stopped() {
            // After a failed sync there is nothing but reads, writes that are refused, and the end.
            return Ok(Vec::new());
        }
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
            Step::DuringBackup(steps) => self.during_backup(steps),
            Step::DuringBuild { op, steps, is_cancelled } => self.during_build(op, steps, *is_cancelled),
            Step::Swap(collection) | Step::Copy(collection) => match self.rearranged(step, collection)? {
                Some(op) => self.call(&op),
                None => Ok(Vec::new()),
            },
            Step::HalfPublish => self.half_publish(),
            Step::NoRoom { write, op } => self.no_room(*write, op),
            Step::FailSync(op) => self.fail_sync(op),
            Step::Fill | Step::MakeRoom => self.fill(*step == Step::Fill),
            Step::Follow => self.follow(),
            Step::CatchUp(number) => self.catch_up(*number),
            Step::Look => self.look().map(|()| Vec::new()),
            Step::Reopen => self.reopen(),
            Step::Kill => self.kill(),
            Step::PowerCut(choice) => self.cut_power(*choice),
        }
    }

    /// The call for a step that rearranges documents which exist. `None` if the collection has too few of them.
    fn rearranged(&mut self, step: &Step, collection: &str) -> Result<Option<Op>, Violation> {
        let (collection, durability) = (collection.to_owned(), Durability::Synced);
        let (range, reverse, limit) = (KeyRange::ALL, false, Some(2));
        let scan = Op::Scan { collection: collection.clone(), range, reverse, limit };
        let Outcome::Entries(found) = self.answer(&scan)? else { return Ok(None) };
        Ok(match (&found[..], step) {
            ([(one, first), (other, second)], Step::Swap(_)) => {
                let entries = vec![(one.clone(), second.clone()), (other.clone(), first.clone())];
                Some(Op::PutMany { collection, entries, durability })
            }
            ([(_, first), ..], Step::Copy(_)) => {
                Some(Op::Insert { collection, document: first.clone(), durability })
            }
            _ => None,
        })
    }

    fn call(&mut self, op: &Op) -> Result<Vec<Moment>, Violation> {
        self.witness.record();
        let before = self.before(op);
        let outcome = self.answer(op)?;
        let disks = self.witness.take();
        // Only who cuts power here has a use for what is in the air.
        let in_flight = if disks.is_empty() { None } else { Some(in_flight(&self.oracle, op)) };
        self.oracle.judge(op, &outcome).map_err(say)?;
        self.note(op, &outcome, before);
        Ok(in_flight.map(|in_flight| moments(disks, &in_flight, &self.oracle)).unwrap_or_default())
    }

    /// What the store answers, which is no failure: nothing is wrong with the disk, but that it may be full or the store have stopped.
    fn answer(&mut self, op: &Op) -> Result<Outcome, Violation> {
        let outcome = self.client.apply(op);
        self.answered(op, outcome)
    }

    fn answered(&mut self, op: &Op, outcome: Outcome) -> Result<Outcome, Violation> {
        match outcome {
            full @ Outcome::Failed(Failure::StorageFull) if self.at_work.is_full() => {
                self.at_work.answered_full();
                Ok(full)
            }
            stopped @ Outcome::Failed(Failure::Poisoned) if self.oracle.is_poisoned() => Ok(stopped),
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
            let is_over = match self.db().maintain() {
                Err(Error::StorageFull { .. }) if self.at_work.is_full() => true,
                stepped => !stepped.map_err(|error| format!("maintaining: {error}"))?,
            };
            if is_over {
                self.observe();
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

    /// Reads everything, holds it against the model, and lets the store check itself.
    pub fn look(&mut self) -> Result<(), Violation> {
        let dump = self.contents()?;
        self.oracle.judge_dump(&dump).map_err(say)?;
        self.count(&dump)?;
        for snapshot in self.client.snapshots() {
            self.look_through(snapshot)?;
        }
        for number in 0..self.followers.len() {
            self.catch_up(number)?;
        }
        self.observe();
        // A store that stopped cannot read back what it could not write.
        if self.oracle.is_poisoned() { Ok(()) } else { self.verify() }
    }

    /// Reads everything through a snapshot.
    fn look_through(&mut self, snapshot: u64) -> Result<(), Violation> {
        let through = |op| Op::Through { snapshot, op: Box::new(op) };
        let collections = through(Op::Collections);
        let names = self.answer(&collections)?;
        self.oracle.judge(&collections, &names).map_err(say)?;
        let Outcome::Names(names) = names else { unreachable!("it was judged") };
        for collection in names {
            let indexes = through(Op::Indexes { collection: collection.clone() });
            let answer = self.answer(&indexes)?;
            self.oracle.judge(&indexes, &answer).map_err(say)?;
            let Outcome::Indexes(indexes) = answer else { unreachable!("it was judged") };
            let (reverse, limit) = (false, None);
            let mut reads: Vec<Op> = vec![];
            for (index, _) in indexes {
                let (collection, range) = (collection.clone(), TupleRange::ALL);
                reads.push(Op::IndexScan { collection, index, range, after: None, reverse, limit });
            }
            reads.push(Op::Scan { collection, range: KeyRange::ALL, reverse, limit });
            for read in reads.into_iter().map(through) {
                let answer = self.answer(&read)?;
                self.oracle.judge(&read, &answer).map_err(say)?;
            }
        }
        Ok(())
    }
}

fn open(setup: Setup, witness: &Witness) -> Result<Db, Violation> {
    let open = || Db::open_on(witness.clone(), &setup.options());
    let opened = open().or_else(|error| match error {
        // On a full disk that may be, and nothing is lost: where there is room, it opens.
        Error::StorageFull { .. } => {
            witness.disk().set_capacity(None);
            open()
        }
        error => Err(error),
    });
    opened.map_err(|error| format!("opening: {error}"))
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
