//! Turns to write: waiting for one, and holding one for as long as a transaction is open.

use std::cell::Cell;
use std::hint;

use crate::core::{QueueNumber, WriteTxn, Writer};
use crate::error::{Error, Result};
use crate::options::Durability;
use crate::sync::race::{self, Race};
use crate::sync::{Arc, Duration, Instant, MutexGuard, Ordering, give_way, lock, thread, wait, wait_timeout};

use super::Store;
use super::deferred::Deferred;
use super::holder::Holder;

/// How often a writer looks whether it can have the writer before it sleeps: some 20 us. Under a checker it does not: each look would be
/// another order to try, and none of them another behaviour.
const SPINS: usize = if cfg!(any(loom, shuttle)) { 0 } else { 500 };

/// So long, at most, who has the writer again and again gives way to those who wait for it: writers that never cease keep nobody from going on.
const PASSING_MAX: Duration = Duration::from_micros(500);

/// A turn to write, longer than one commit. Dropped, it is given away.
#[derive(Debug)]
pub(crate) struct HeldTurn {
    store: Arc<Store>,
    is_held: bool,
    since: Instant,
    /// The thread that used it last.
    user: Cell<thread::ThreadId>,
}

impl HeldTurn {
    /// Takes note of who uses the turn: a transaction may have been sent to another thread, and that one would wait for itself.
    pub(crate) fn is_used(&self) {
        let user = thread::current().id();
        if self.user.replace(user) != user {
            *lock(&self.store.holder) = Some(Holder::this(self.since));
        }
    }

    /// Gives the turn away. The first of those who wait is told when the writer is let go.
    pub(super) fn give_away(&mut self, writer: &mut Writer) {
        if std::mem::take(&mut self.is_held) {
            *lock(&self.store.holder) = None;
            writer.turn.release();
        }
    }
}

impl Drop for HeldTurn {
    fn drop(&mut self) {
        let store = Arc::clone(&self.store);
        if self.is_held
            && let Ok(writer) = store.core.writer()
        {
            // Who dropped it without a word is told nothing; but it does not get ahead of what it may have read (spec: T-4.4).
            let _ = store.end_turn(writer, self);
        }
    }
}

impl Store {
    //= spec/transactions.md#t-2-2-one-writer-at-a-time
    //# Between the begin and the end of a write transaction a store MUST NOT place a commit of anybody else.
    /// The writer, once it is the caller's turn.
    pub(super) fn enter(&self) -> Result<MutexGuard<'_, Writer>> {
        let mut writer = self.writer_soon().map_or_else(|| self.core.writer(), Ok)?;
        match writer.turn.queue_up() {
            None => Ok(writer),
            Some(number) => self.wait_for_turn(writer, number),
        }
    }

    /// Lets those pass who wait, for the writer or for a processor: who lets go of a lock and takes it again at once has it before whoever is
    /// asleep for it.
    pub(crate) fn let_pass(&self) {
        let begun = Instant::now();
        give_way();
        while self.core.is_waited_for() && begun.elapsed() < PASSING_MAX {
            give_way();
        }
    }

    /// The writer, if it is free or soon will be. Upkeep has it for some microseconds at a time, and to be put to sleep and woken takes longer
    /// than that. One at a time waits so: the others would only take the processor from whoever has the writer, as each would where writers
    /// wait for writers.
    fn writer_soon(&self) -> Option<MutexGuard<'_, Writer>> {
        if SPINS == 0 || !self.steps.is_held() {
            return None;
        }
        let writer = self.core.try_writer();
        if writer.is_some() || self.is_awaited.swap(true, Ordering::Relaxed) {
            return writer;
        }
        let writer = (0..SPINS).find_map(|_| {
            hint::spin_loop();
            self.core.try_writer()
        });
        self.is_awaited.store(false, Ordering::Relaxed);
        writer
    }

    //= spec/transactions.md#t-2-9-waiting-for-the-writer
    //# A writer that waits longer than the limit set for it MUST be refused as `WriterBusy`, which says who
    //# writes and since when.
    //= spec/transactions.md#t-2-9-waiting-for-the-writer
    //# A thread that writes outside the transaction that it has open itself MUST be refused at once: it would
    //# wait for ever.
    #[cold]
    fn wait_for_turn<'a>(
        &'a self,
        mut writer: MutexGuard<'a, Writer>,
        number: QueueNumber,
    ) -> Result<MutexGuard<'a, Writer>> {
        let began = Instant::now();
        loop {
            if writer.turn.has_come(number) {
                return Ok(writer);
            }
            let left =
                self.core.shared.options.write_wait.map(|longest| longest.saturating_sub(began.elapsed()));
            let holder = lock(&self.holder).clone();
            let is_own = holder.as_ref().is_some_and(|holder| holder.thread == thread::current().id());
            if is_own || left.is_some_and(|left| left.is_zero()) {
                writer.turn.give_up(number);
                // Whoever is next may have waited for this one.
                if let Some(next) = writer.turn.tell_next() {
                    self.turn_ended.tell(next);
                }
                let (holder, held_for) = match holder {
                    Some(holder) => (holder.name, holder.since.elapsed()),
                    None => ("another thread".to_owned(), began.elapsed()),
                };
                return Err(Error::WriterBusy { holder, held_for });
            }
            writer = match left {
                Some(left) => wait_timeout(self.turn_ended.of(number), writer, left),
                None => wait(self.turn_ended.of(number), writer),
            };
        }
    }

    /// Lets the writer go, and the next one know that waits for a turn.
    pub(super) fn leave(&self, mut writer: MutexGuard<'_, Writer>) {
        let next = writer.turn.tell_next();
        drop(writer);
        if let Some(next) = next
            && !race::is_on(Race::TurnEndNotTold)
        {
            self.turn_ended.tell(next);
        }
    }

    /// Takes the turn to write until the returned value is dropped.
    pub(crate) fn take_turn(self: &Arc<Self>) -> Result<HeldTurn> {
        let mut writer = self.enter_with_room()?;
        if let Err(error) = writer.check_open() {
            self.leave(writer);
            return Err(error);
        }
        writer.turn.hold();
        let since = Instant::now();
        *lock(&self.holder) = Some(Holder::this(since));
        let user = Cell::new(thread::current().id());
        Ok(HeldTurn { store: Arc::clone(self), is_held: true, since, user })
    }

    //= spec/durability.md#d-3-2-deferred-waiting
    //# A commit that returns a ticket in place of waiting MUST keep T-2.2 and T-4.2 as if it waited.
    /// Places a transaction as one commit, and gives its turn away.
    pub(crate) fn commit_deferred(
        self: &Arc<Self>,
        mut turn: HeldTurn,
        txn: WriteTxn,
        durability: Durability,
    ) -> Result<Deferred> {
        let mut writer = self.core.writer()?;
        // The turn goes with the lock, and not before.
        turn.give_away(&mut writer);
        if let Err(error) = writer.begin() {
            return self.give_up(writer, error);
        }
        let staged = txn.hand_to(&mut writer.txn);
        let deferred = self.place(writer, durability, staged.is_err())?;
        staged.map(|_| deferred)
    }

    //= spec/transactions.md#t-2-5-rollback
    //# A transaction that is dropped, whose function fails or panics, or that is rolled back MUST leave the
    //# state as it was, the largest ids among it, and the next writer free to begin.
    /// Gives up a transaction. Where it may have read pending commits, they are waited for (spec: T-4.4).
    pub(crate) fn roll_back(self: &Arc<Self>, mut turn: HeldTurn) -> Result<()> {
        self.end_turn(self.core.writer()?, &mut turn)
    }

    pub(super) fn end_turn(
        self: &Arc<Self>,
        mut writer: MutexGuard<'_, Writer>,
        turn: &mut HeldTurn,
    ) -> Result<()> {
        turn.give_away(&mut writer);
        self.wait_for(&self.leave_unchanged(writer))
    }
}
