//! The list of commits, and what a crash may leave of it (spec: S-6, S-7, S-8).

use std::sync::Arc;

use crate::effect::effect;
use crate::limits::Limits;
use crate::op::{Durability, Op};
use crate::outcome::{Failure, Outcome, Refusal};
use crate::read::answer;
use crate::refuse::refusals;
use crate::session::Session;
use crate::state::{Change, State};
use crate::transaction::Transaction;

/// How one life of a store ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ending {
    /// It is closed, with success.
    Close,
    /// The process ends; the machine goes on.
    Kill,
    /// The machine stops.
    PowerCut,
}

/// Changes that are there together or not at all.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Commit {
    /// The changes, in order.
    pub changes: Vec<Change>,
    /// What the call that made it promised on its return.
    pub durability: Durability,
}

/// One history that a store may have: the commits C1 to Cn, of which those up to Cs are acknowledged durable.
///
/// The commits up to Cs are kept as the state that they lead to, the others one by one. The whole is a plain value, cheap to
/// clone and to compare, so that a model checker can hold one in each of its states.
///
/// It is what a caller sees of the machine in `spec/machine.md`. `durable` is that machine's state(promised), `since` the commits
/// behind promised, `written` is handed less promised, and `visible` is state(visible), with visible = n: a call here is placed and
/// published in one step. `poisoned` is the mode stopped, `in_doubt` the commit that FailSync leaves placed and unseen, and the session holds what
/// snapshot names. [`legal_after`](Self::legal_after) is PowerCut and ProcessEnd, with every k from promised or handed on, since a caller does
/// not know what else is safe. Slots, places and checkpoints are seen by nobody, and have no counterpart.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Model {
    limits: Limits,
    /// The state after Cs.
    durable: State,
    /// The commits after Cs.
    since: Vec<Arc<Commit>>,
    /// How many commits of `since` are acknowledged written.
    written: usize,
    /// The state after Cn, which readers see.
    visible: State,
    /// What came of a write or flush is unknown, so there are no further ones.
    poisoned: bool,
    /// The commit whose outcome is unknown. No reader sees it.
    in_doubt: Option<Arc<Commit>>,
    /// The commit that found no room while it was handed over. No reader sees it, but a crash may show it until the next commit.
    unsealed: Option<Arc<Commit>>,
    /// What the end of this life ends.
    session: Session,
}

impl Model {
    /// A new store, empty, with limits of its own.
    pub fn with_limits(limits: Limits) -> Self {
        Model { limits, ..Model::default() }
    }

    //= spec/semantics.md#s-1-3-one-at-a-time
    //# A store MUST behave as if each call took effect at one moment between its start and its return, in the
    //# order of the commits.
    //= spec/semantics.md#s-8-3-no-writes-after-an-unknown-outcome
    //# After a write or a flush whose outcome is unknown, a store MUST refuse each further write and flush
    //# with a failure until it is reopened.
    /// Does what `op` asks, and answers as a store does in which nothing breaks.
    ///
    /// # Panics
    ///
    /// If `op` holds one inside that is not plain, or not a plain read where it goes through a snapshot.
    pub fn apply(&mut self, op: &Op) -> Outcome {
        if self.poisoned && self.would_write(op) {
            self.fail(op);
            return Outcome::Failed(Failure::Poisoned); // spec: S-8.3
        }
        if let Some(reason) = self.refusals(op).first() {
            return Outcome::Refused(*reason); // spec: S-2.1, T-2.7
        }
        match op {
            Op::Inside(op) => {
                let limits = self.limits;
                let (changes, outcome) = effect(self.transaction().state(), op, &limits);
                self.transaction().change(changes);
                outcome
            }
            Op::Through { snapshot, op } => answer(&self.session.snapshots[snapshot], op, &self.limits),
            Op::Begin | Op::Savepoint | Op::RollbackTo { .. } | Op::Rollback => self.step_transaction(op),
            Op::TakeSnapshot => Outcome::Count(self.session.take_snapshot(&self.visible)),
            Op::Release { snapshot } => {
                self.session.snapshots.remove(snapshot);
                Outcome::Done
            }
            Op::Flush => {
                self.acknowledge_durable(); // spec: S-6.5
                Outcome::Done
            }
            _ => {
                let (changes, outcome) = self.changes_of(op);
                if let Some(durability) = op.durability() {
                    self.commit(changes, durability);
                }
                if let Op::Get { collection, key } = op {
                    self.session.see(collection, key, &self.visible);
                }
                outcome
            }
        }
    }

    /// Every reason there is to refuse `op`; empty when it is to be done.
    ///
    /// # Panics
    ///
    /// As [`apply`](Model::apply).
    pub fn refusals(&self, op: &Op) -> Vec<Refusal> {
        match op {
            Op::Inside(inner) => assert!(inner.is_plain(), "{inner} does not go inside a transaction"),
            Op::Through { op, .. } => assert!(op.is_plain_read(), "{op} does not go through a snapshot"),
            _ => {}
        }
        let state = match self.session.state_for(op, &self.visible) {
            Ok(state) => state,
            Err(reason) => return vec![reason],
        };
        let mut reasons = refusals(state, op.plain(), &self.limits);
        reasons.extend(self.session.refusals(op, state));
        reasons.into_iter().collect()
    }

    /// Notes that `op` failed. A transaction that was to end has ended, without a commit.
    pub fn fail(&mut self, op: &Op) {
        if matches!(op, Op::Commit { .. } | Op::Rollback) {
            self.session.transaction = None;
        }
    }

    //= spec/semantics.md#s-8-5-full-disk
    //# A store MUST NOT let a write that failed for want of room take effect later.
    /// Notes that `op`, a write, found no room while it was handed to the operating system: it failed, and yet a crash before the next commit
    /// or close may show it. Where the same is so of an earlier write, this one was not handed over.
    pub fn take_back(&mut self, op: &Op) {
        if self.unsealed.is_none() {
            self.unsealed = self.commit_of(op);
        }
        self.fail(op);
    }

    /// Notes that the log is sealed, so that no crash shows what was taken back.
    pub fn seal(&mut self) {
        self.unsealed = None;
    }

    /// Whether a crash may show a commit that failed for want of room.
    pub fn is_unsealed(&self) -> bool {
        self.unsealed.is_some()
    }

    /// Notes that the outcome of `op`, a write or a flush, is unknown.
    ///
    /// # Panics
    ///
    /// If an earlier outcome is unknown already: then nothing more is begun.
    pub fn doubt(&mut self, op: &Op) {
        assert!(!self.poisoned, "nothing is begun after an unknown outcome");
        self.poisoned = true;
        if self.unsealed.is_none() {
            self.in_doubt = self.commit_of(op); // spec: S-8.2
        }
        self.fail(op);
    }

    /// The commit that `op` would make, if any. Ends the transaction that it commits.
    fn commit_of(&mut self, op: &Op) -> Option<Arc<Commit>> {
        let durability = op.durability().filter(|_| self.refusals(op).is_empty())?;
        let (changes, _) = self.changes_of(op);
        (!changes.is_empty()).then(|| Arc::new(Commit { changes, durability }))
    }

    /// Whether a store that writes no more has to say so when asked for `op`. A transaction that changed nothing is no commit.
    fn would_write(&self, op: &Op) -> bool {
        match (op, &self.session.transaction) {
            (Op::Commit { .. }, Some(transaction)) => transaction.has_changes(),
            (Op::Commit { .. }, None) => false,
            _ => op.is_write() || matches!(op, Op::Flush),
        }
    }

    /// The changes that `op`, which is not refused, makes in one commit, and its answer. Ends the transaction that it commits.
    fn changes_of(&mut self, op: &Op) -> (Vec<Change>, Outcome) {
        match op {
            Op::Commit { .. } => {
                let transaction = self.session.transaction.take().expect("refused where none is open");
                (transaction.into_changes(), Outcome::Done)
            }
            _ => effect(&self.visible, op, &self.limits),
        }
    }

    fn step_transaction(&mut self, op: &Op) -> Outcome {
        match op {
            Op::Begin => self.session.transaction = Some(Transaction::begin(self.visible.clone())),
            Op::Savepoint => return Outcome::Count(self.transaction().savepoint() as u64),
            Op::RollbackTo { savepoint } => self.transaction().rollback_to(*savepoint),
            Op::Rollback => self.session.transaction = None, // spec: T-2.5
            _ => unreachable!("{op} is no step of a transaction"),
        }
        Outcome::Done
    }

    fn transaction(&mut self) -> &mut Transaction {
        self.session.transaction.as_mut().expect("refused where none is open")
    }

    /// Whether a write transaction is open.
    pub fn is_in_transaction(&self) -> bool {
        self.session.transaction.is_some()
    }

    /// The numbers of the snapshots that are held.
    pub fn snapshots(&self) -> impl Iterator<Item = u64> {
        self.session.snapshots.keys().copied()
    }

    /// Whether an outcome is unknown, so that writes are refused.
    pub fn is_poisoned(&self) -> bool {
        self.poisoned
    }

    /// The limits of the store.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The state that readers see.
    pub fn visible(&self) -> &State {
        &self.visible
    }

    /// The commits that are not acknowledged durable, the one in doubt, or taken back, last.
    pub fn unacknowledged(&self) -> impl Iterator<Item = &Commit> {
        self.since.iter().chain(&self.in_doubt).chain(&self.unsealed).map(Arc::as_ref)
    }

    /// The states that are legal after this ending, each with the number of unacknowledged commits in it, ascending.
    pub fn legal_after(&self, ending: Ending) -> impl Iterator<Item = (usize, State)> {
        let changes = self.unacknowledged().map(|commit| Some(commit.changes.as_slice()));
        let mut state = self.durable.clone();
        // One state at a time, so that a caller who looks and lets go has one copy made in all.
        let states = std::iter::once(None).chain(changes).enumerate().map(move |(k, changes)| {
            changes.into_iter().for_each(|changes| state.commit(changes));
            (k, state.clone())
        });
        // A close that succeeds seals the log behind what was taken back (S-8.5).
        let most = if ending == Ending::Close && !self.poisoned { self.since.len() } else { usize::MAX - 1 };
        states.take(most + 1).skip(self.certain_after(ending))
    }

    //= spec/semantics.md#s-6-7-what-opening-found
    //# Once a store is open, every commit that opening found MUST survive a power cut.
    /// Goes on, as a store does that was opened again, from the state with the first `kept` unacknowledged commits.
    ///
    /// # Panics
    ///
    /// If there are not so many.
    pub fn crash_to(&mut self, kept: usize) {
        let commits = self.since.drain(..).chain(self.in_doubt.take()).chain(self.unsealed.take());
        let commits: Vec<Arc<Commit>> = commits.collect();
        assert!(kept <= commits.len(), "{kept} commits cannot be kept of {}", commits.len());
        self.since = commits;
        self.since.truncate(kept);
        // spec: S-6.7. What opening found is durable.
        self.acknowledge_durable();
        self.durable.renumber_versions();
        self.visible = self.durable.clone();
        self.poisoned = false;
        self.session = Session::default(); // spec: T-2.5
    }

    //= spec/semantics.md#s-6-6-close
    //# When a store has been closed with success, every commit MUST survive a power cut.
    //= spec/semantics.md#s-7-1-power-cut
    //# After a power cut at any moment, the state MUST be the state after Ck for one k with s <= k <= n.
    //= spec/semantics.md#s-7-2-end-of-the-process
    //# After the process ends at any moment without a power cut, the state MUST be the state after Ck for one
    //# k with w <= k <= n, where Cw is the last commit that is acknowledged written.
    //= spec/semantics.md#s-7-4-reopening
    //# Reopening a store that was closed with success MUST give the state after Cn.
    /// How many unacknowledged commits are sure to be there after this ending.
    fn certain_after(&self, ending: Ending) -> usize {
        match ending {
            _ if self.poisoned => 0,           // spec: S-8.4
            Ending::Close => self.since.len(), // spec: S-6.6, S-7.4
            Ending::Kill => self.written,      // spec: S-7.2
            Ending::PowerCut => 0,             // spec: S-7.1
        }
    }

    //= spec/semantics.md#s-6-2-synced
    //# When a call with class `Synced` has returned with success, its commit and every commit before it MUST
    //# survive a power cut.
    //= spec/semantics.md#s-6-3-written
    //# When a call with class `Written` has returned with success, its commit and every commit before it MUST
    //# survive the end of the process.
    fn commit(&mut self, changes: Vec<Change>, durability: Durability) {
        if changes.is_empty() {
            return; // spec: S-1.5
        }
        self.unsealed = None;
        self.visible.commit(&changes);
        self.since.push(Arc::new(Commit { changes, durability }));
        match durability {
            Durability::Buffered => {}                              // spec: S-6.4
            Durability::Written => self.written = self.since.len(), // spec: S-6.3
            Durability::Synced => self.acknowledge_durable(),       // spec: S-6.2
        }
    }

    /// Everything so far survives a power cut. The commits are applied again rather than the visible state taken over: two
    /// states that share nothing can both be changed without a copy.
    fn acknowledge_durable(&mut self) {
        for commit in self.since.drain(..) {
            self.durable.commit(&commit.changes);
        }
        self.written = 0;
    }
}
