//! A commit: one at a time, each step saying what has become true.

use crate::document::KeyRef;
use crate::error::{Error, Result};
use crate::format::Lsn;
use crate::index::Target;
use crate::log::Mark;
use crate::options::Durability;
use crate::seeded::{self, Bug};
use crate::txn::AT_ONCE;

use super::shared::Shared;
use super::space_budget::Share;
use super::writer::Writer;

/// What a commit has come to when it is placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) lsn: Lsn,
    /// Whether its caller must wait until it is visible.
    pub(crate) is_pending: bool,
}

impl Writer {
    //= spec/semantics.md#s-8-5-full-disk
    //# A store MUST NOT let a write that failed for want of room take effect later.
    /// The commits from `first` to `last` are no more, because of `error`; the log ends where `mark` says.
    pub(super) fn took_back(&mut self, (first, last): (Lsn, Lsn), mark: Mark, error: &Error) {
        self.revert(mark);
        self.taken_back.push((first, last, error.clone()));
        // Some of them may be in the file: so nothing is placed before the end of the log is sealed.
        self.unsealed = !seeded::is_on(Bug::TakenBackNotSealed);
    }

    /// Ends the log where `mark` says, after what lies behind was shown.
    pub(super) fn revert(&mut self, mark: Mark) {
        self.shared.log.segments.end_with(mark.segment());
        let sequence = mark.segment().sequence;
        self.accounts.end_with(sequence);
        self.appender.revert(mark);
        self.accounts.set_end(sequence, self.appender.end().offset);
        self.budget.is_stale = true;
    }

    /// [`Error::Closed`], or why nothing is written any more.
    pub(crate) fn check_open(&self) -> Result<()> {
        if self.closed {
            return Err(Error::Closed);
        }
        self.shared.log.storage.check_writable()
    }

    //= spec/semantics.md#s-8-5-full-disk
    //# A store MUST NOT let a write that failed for want of room take effect later.
    /// Begins what may become a commit: where the end of the log is to be sealed it is, since what changes nothing is answered as well.
    pub(crate) fn begin(&mut self) -> Result<()> {
        self.check_open()?;
        if self.unsealed && !seeded::is_on(Bug::AnsweredUnsealed) {
            self.ensure_incarnation(Share::Reserve)?;
        }
        self.txn.begin();
        Ok(())
    }

    //= spec/recovery.md#r-7-4-a-new-incarnation-in-place
    //# A writer MUST acknowledge what the first of these syncs covered only after the slot's sync.
    //= spec/recovery.md#r-8-1-what-holds-a-place
    //# A writer MUST NOT give out any place before the slot of is durable: until then the older slot
    //# may name a checkpoint that the newest does not.
    /// Makes sure that something may be placed: an incarnation is taken, counts are left, the end of the log is sealed.
    pub(super) fn ensure_incarnation(&mut self, share: Share) -> Result<()> {
        self.check_open()?;
        if self.is_open && !self.unsealed && self.appender.has_counts_left() {
            return Ok(());
        }
        if self.is_open {
            // spec. A new incarnation in place: nothing of the old one is counted behind its opening frame.
            self.sync()?;
        }
        self.take_incarnation(share)
    }

    //= spec/semantics.md#s-2-1-nothing-changes
    //# A call that is refused, or that reports that it failed, MUST leave the state as it was.
    //= spec/semantics.md#s-8-5-full-disk
    //# A write that finds no room MUST fail, and leave the store able to read, and to write again once there
    //# is room.
    //= spec/transactions.md#t-4-7-buffered-commits
    //# A store SHOULD make `Buffered` commits durable within a stated interval, and MUST hand them over once
    //# a stated number of bytes is waiting.
    //= spec/durability.md#d-2-1-where-a-class-comes-from
    //# A store MUST NOT give a commit a class that is weaker than the one that was asked for.
    /// Places what is in `self.txn.batch` as one commit, does at once what its class asks of the writer, and applies it. Whoever
    /// asked for `Synced` waits for a sync next.
    pub(crate) fn commit(&mut self, durability: Durability) -> Result<Placed> {
        assert!(!self.txn.batch.is_empty(), "a commit changes something");
        let batch = &self.txn.batch;
        let is_system = batch.is_system;
        let share = match is_system {
            true if !batch.leaves_reserve => Share::Reserve,
            true => Share::Ordinary,
            false if batch.only_frees() => Share::Deletes,
            false => Share::Ordinary,
        };
        self.ensure_incarnation(share)?;
        let kept = self.shared.keep();
        kept.note_changes(self.txn.batch.changes.len() + self.txn.batch.entries.len());
        if self.txn.batch.replaces_chunks {
            self.shared.find_superseded_chunks(&mut self.txn.batch)?;
        }
        self.find_entries()?;
        if durability == Durability::Written && seeded::is_on(Bug::HandedOverBeforePlaced) {
            self.write_out()?;
        }
        let mark = self.appender.mark();
        let len_max = self.txn.batch.len_max();
        // Where that fails nothing is written and nothing is seen: refusing is free.
        self.place(share, len_max, &mark, |writer| writer.appender.place(&mut writer.txn.batch))?;
        let long = self.txn.batch.long_records(self.shared.log.long_record_len());
        self.show_placed(&mark, &long);
        let lsn = self.txn.batch.lsn;
        if !is_system {
            self.budget.is_reserve_wanted = share == Share::Ordinary;
            self.budget.is_put_since_cut |= share == Share::Ordinary;
        }
        let is_full = self.appender.pending_bytes() >= self.shared.options.flush_bytes;
        if seeded::is_on(Bug::IndexBeforeWrite) {
            self.shared.apply_and_publish(&mut self.txn.batch, &mut self.accounts);
            self.write_out()?;
            return Ok(Placed { lsn, is_pending: false });
        }
        let is_forgotten =
            seeded::is_on(Bug::WrittenNotHandedOver) || seeded::is_on(Bug::HandedOverBeforePlaced);
        if is_full || durability == Durability::Written && !is_forgotten {
            self.hand_down(&mark, lsn)?;
        }
        if !is_system {
            self.work.user_bytes += self.txn.batch.placed_bytes;
        }
        let needs_sync = durability == Durability::Synced && !seeded::is_on(Bug::VisibleBeforeDurable);
        if needs_sync || self.shared.visibility.has_pending() || !Shared::is_short(&self.txn.batch) {
            let batch = std::mem::take(&mut self.txn.batch);
            self.shared.apply_unseen(batch, needs_sync, mark, &mut self.accounts);
            self.shared.publish_pending(self.durable());
            return Ok(Placed { lsn, is_pending: self.shared.visibility.has_pending() });
        }
        self.shared.apply_and_publish(&mut self.txn.batch, &mut self.accounts);
        Ok(Placed { lsn, is_pending: false })
    }

    /// Looks up every entry that the commit changes: applying it reads nothing, and cannot fail.
    fn find_entries(&mut self) -> Result<()> {
        let Writer { shared, txn, .. } = self;
        let entries = &mut txn.batch.entries;
        entries.settle();
        let mut found = std::mem::take(&mut entries.found);
        for (Target { entries, .. }, sought) in txn.batch.entries.by_index(AT_ONCE) {
            if !entries.is_all_read() && entries.damage().is_none() {
                let read =
                    sought.clone().try_for_each(|entry| shared.read_key(entries, KeyRef::Bytes(entry)));
                entries.unless_damaged(read)?;
            }
            entries.index.get_byte_strings(sought, &mut found);
        }
        txn.batch.entries.found = found;
        Ok(())
    }

    //= spec/semantics.md#s-6-3-written
    //# When a call with class `Written` has returned with success, its commit and every commit before it MUST
    //# survive the end of the process.
    /// Hands everything placed to the operating system, the commit `lsn` among it, which is not applied yet. Where there is no
    /// room, it and the pending commits in front of it are taken back.
    fn hand_down(&mut self, mark: &Mark, lsn: Lsn) -> Result<()> {
        self.write_out().inspect_err(|error| {
            if !matches!(error, Error::StorageFull { .. }) {
                return;
            }
            if seeded::is_on(Bug::FullDiskCommitKept) {
                self.unsealed = true;
            } else if !self.take_back_unwritten(error) {
                self.took_back((lsn, lsn), mark.clone(), error);
            }
        })
    }

    //= spec/semantics.md#s-6-6-close
    //# When a store has been closed with success, every commit MUST survive a power cut.
    //= spec/semantics.md#s-7-4-reopening
    //# Reopening a store that was closed with success MUST give the state after Cn.
    //= spec/durability.md#d-6-3-a-failure-at-close
    //# When a close fails, the store MUST report it.
    /// Ends this life of the store (spec: ). All that was placed is durable already.
    pub(super) fn close(&mut self) -> Result<()> {
        if self.closed {
            return Ok(());
        }
        let closed = self.check_open().and_then(|()| self.sync()).and_then(|()| {
            if self.unsealed {
                self.take_incarnation(Share::Reserve)?;
            }
            if self.is_open { self.write_slot(|slot| slot.clean = true) } else { Ok(()) }
        });
        // A full disk is no end: what waits in memory can still be written once there is room.
        self.closed = !matches!(closed, Err(Error::StorageFull { .. }));
        closed
    }

    /// Writes out what is pending. Whether the file then stands for the state that the next writer sees: not after a failure, nor
    /// while bytes of a commit that was taken back may stand behind the end of the log.
    pub(super) fn hand_over(&mut self) -> Result<bool> {
        if self.shared.log.storage.check_writable().is_err() || self.unsealed {
            return Ok(false);
        }
        if !self.closed {
            self.write_out()?;
        }
        Ok(true)
    }

    //= spec/transactions.md#t-4-8-no-room
    //# When there is no room to hand over what is pending, the pending commits MUST fail as `StorageFull`,
    //# all of them, and be taken back: the state is as if they had never been placed (S-8.5).
    /// Takes every pending commit that is not handed over out of index, catalog and log, as if it had never been placed
    /// (spec: T-4.8), because of `error`. Whether there were any.
    pub(super) fn take_back_unwritten(&mut self, error: &Error) -> bool {
        let Writer { shared, accounts, appender, .. } = self;
        let _kept = shared.keep();
        let taken = shared.visibility.take_back(appender.written(), |pending, undoing| {
            shared.undo(pending, undoing, accounts);
        });
        let Some(first) = taken.last() else { return false };
        self.took_back((first.batch.lsn, taken[0].batch.lsn), first.mark.clone(), error);
        true
    }
}
