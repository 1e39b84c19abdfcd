//! The writer's end of the store: one commit at a time, each step saying what has become true.

use crate::error::{Error, Result};
use crate::format::Lsn;
use crate::format::superblock::Superblock;
use crate::index::Naming;
use crate::log::{Appender, Batch, Mark};
use crate::options::Durability;
use crate::recovery::NamedCheckpoints;
use crate::seeded::{self, Bug};
use crate::space::Accounts;
use crate::sync::Arc;

use super::maintenance::Work;
use super::room::{Room, Share};
use super::{Core, Turn};

/// All that only writers need.
#[derive(Debug)]
pub(crate) struct Writer {
    pub(super) appender: Appender,
    /// What the segments of the log still hold.
    pub(super) accounts: Accounts,
    /// The checkpoints that the slots name.
    pub(super) checkpoints: NamedCheckpoints,
    /// How much of the file is kept for what must go on when the disk is full.
    pub(super) room: Room,
    /// What this life of the store has placed and written, beside what its users asked for.
    pub(super) work: Work,
    /// The newest valid slot, or the one that was written since and that no sync has covered yet.
    pub(super) superblock: Superblock,
    /// Whether a sync must come before the next slot is written.
    pub(super) slot_unsynced: bool,
    /// The length of the file that the newest slot names of which a sync has told.
    pub(super) named_len: u64,
    /// Whether this life of the store has an incarnation of its own yet.
    pub(super) is_open: bool,
    pub(super) highest_incarnation: u32,
    /// The file is this long, and filled with zeros where nothing else stands.
    pub(super) file_len: u64,
    /// It was this long at the last sync.
    pub(super) synced_len: u64,
    /// How often it was cut.
    pub(super) cuts: u64,
    /// A checkpoint is named by one slot and not by the other, as it is being published, or for want of room: nothing is given out until one is
    /// named by both.
    pub(super) half_published: bool,
    /// The commit in the making; kept for its buffers.
    pub(crate) batch: Batch,
    /// What the name of the last commit's collection meant: the next one mostly goes to the same.
    pub(super) last_naming: Option<Arc<Naming>>,
    /// Bytes of a commit that found no room may stand behind the end of the log: it is sealed before it goes on.
    pub(super) unsealed: bool,
    /// The LSNs, first and last, of commits that were taken back, for those who wait for them.
    taken_back: Vec<(Lsn, Lsn)>,
    closed: bool,
    /// Who writes, and who waits to.
    pub(crate) turn: Turn,
}

/// What a commit has come to when it is placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) lsn: Lsn,
    /// Whether its caller must wait until it is visible.
    pub(crate) is_pending: bool,
}

impl Writer {
    pub(super) fn new(
        appender: Appender,
        (accounts, checkpoints): (Accounts, NamedCheckpoints),
        superblock: Superblock,
        highest_incarnation: u32,
        file_len: u64,
    ) -> Self {
        Writer {
            appender,
            accounts,
            checkpoints,
            room: Room::default(),
            work: Work::default(),
            named_len: superblock.file_len,
            superblock,
            slot_unsynced: false,
            is_open: false,
            highest_incarnation,
            file_len,
            synced_len: file_len,
            cuts: 0,
            half_published: false,
            batch: Batch::default(),
            last_naming: None,
            unsealed: false,
            taken_back: Vec::new(),
            closed: false,
            turn: Turn::default(),
        }
    }

    #[cfg(feature = "testing")]
    pub(super) fn fork(&self) -> Self {
        Writer {
            appender: self.appender.clone(),
            accounts: self.accounts.clone(),
            checkpoints: self.checkpoints.clone(),
            room: self.room.clone(),
            work: Work { arrangement: None, ..self.work.clone() },
            superblock: self.superblock.clone(),
            slot_unsynced: self.slot_unsynced,
            named_len: self.named_len,
            is_open: self.is_open,
            highest_incarnation: self.highest_incarnation,
            file_len: self.file_len,
            synced_len: self.synced_len,
            cuts: self.cuts,
            half_published: self.half_published,
            batch: Batch::default(),
            last_naming: None,
            unsealed: self.unsealed,
            taken_back: self.taken_back.clone(),
            closed: self.closed,
            turn: Turn::default(),
        }
    }

    /// Everything up to here is durable.
    pub(crate) fn durable(&self) -> Lsn {
        self.appender.durable()
    }

    /// The last commit placed.
    pub(crate) fn end(&self) -> Lsn {
        self.appender.end().lsn
    }

    /// Whether there is nothing that a sync would make durable.
    pub(crate) fn is_all_durable(&self) -> bool {
        self.end() == self.durable() && self.is_growth_named()
    }

    /// Whether a slot names the file's length as it is.
    pub(crate) fn is_growth_named(&self) -> bool {
        self.named_len == self.file_len
    }

    /// Everything up to here is handed to the operating system.
    pub(in crate::core) fn written(&self) -> Lsn {
        self.appender.written()
    }

    pub(super) fn superblock(&self) -> &Superblock {
        &self.superblock
    }

    /// The commits that were taken back since this was asked last.
    pub(crate) fn drain_taken_back(&mut self) -> Vec<(Lsn, Lsn)> {
        std::mem::take(&mut self.taken_back)
    }

    //= spec/semantics.md#s-8-5-full-disk
    //# A store MUST NOT let a write that failed for want of room take effect later.
    /// The commits from `first` to `last` are no more; the log ends where `mark` says.
    pub(super) fn took_back(&mut self, core: &Core, first: Lsn, last: Lsn, mark: Mark) {
        self.revert(core, mark);
        self.taken_back.push((first, last));
        // Some of them may be in the file: so nothing is placed before the end of the log is sealed.
        self.unsealed = true;
    }

    /// Ends the log where `mark` says, after what lies behind was shown.
    pub(super) fn revert(&mut self, core: &Core, mark: Mark) {
        core.log.segments.end_with(mark.segment());
        let sequence = mark.segment().sequence;
        self.accounts.end_with(sequence);
        self.appender.revert(mark);
        self.accounts.set_end(sequence, self.appender.end().offset);
        self.room.is_stale = true;
    }

    /// [`Error::Closed`], or why nothing is written any more.
    pub(crate) fn check_open(&self, core: &Core) -> Result<()> {
        if self.closed {
            return Err(Error::Closed);
        }
        core.log.storage.check_writable()
    }

    //= spec/recovery.md#r-7-4-a-new-incarnation-in-place
    //# A writer MUST acknowledge what the first of these syncs covered only after the slot's sync.
    //= spec/recovery.md#r-8-1-what-holds-a-place
    //# A writer MUST NOT give out any place before the slot of is durable: until then the older slot
    //# may name a checkpoint that the newest does not.
    /// Makes sure that a commit may be begun: an incarnation is taken, counts are left, the end of the log is sealed.
    pub(crate) fn begin(&mut self, core: &Core) -> Result<()> {
        self.check_open(core)?;
        self.batch.clear();
        if self.unsealed || self.is_open && !self.appender.has_counts_left() {
            // spec. A new incarnation in place: nothing of the old one is counted behind its opening frame.
            self.sync(core)?;
            self.take_incarnation(core)
        } else if !self.is_open {
            self.take_incarnation(core)
        } else {
            Ok(())
        }
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
    /// Places what is in `self.batch` as one commit, does at once what its class asks of the writer, and applies it. Whoever
    /// asked for `Synced` waits for a sync next.
    pub(crate) fn commit(&mut self, core: &Core, durability: Durability) -> Result<Placed> {
        assert!(!self.batch.is_empty(), "a commit changes something");
        core.find_superseded_chunks(&mut self.batch)?;
        let mut batch = std::mem::take(&mut self.batch);
        if durability == Durability::Written && seeded::is_on(Bug::HandedOverBeforePlaced) {
            self.write_out(core)?;
        }
        let mark = self.appender.mark();
        let share = match batch.is_system {
            true if !batch.leaves_reserve => Share::Reserve,
            true => Share::Ordinary,
            false if batch.only_frees() => Share::Deletes,
            false => Share::Ordinary,
        };
        // Where that fails nothing is written and nothing is seen: refusing is free.
        if let Err(error) = self.place(core, share, &mark, |appender| appender.place(&mut batch)) {
            self.batch = batch;
            return Err(error);
        }
        self.show_placed(core, &mark, &batch.long_records(core.log.long_record_len()));
        if !batch.is_system {
            self.room.is_reserve_wanted = share == Share::Ordinary;
            self.room.is_put_since_cut |= share == Share::Ordinary;
        }
        let lsn = batch.lsn;
        let is_full = self.appender.pending_bytes() >= core.options.flush_bytes;
        if seeded::is_on(Bug::IndexBeforeWrite) {
            self.accounts.enter(core.log.geometry, &batch);
            core.apply_and_publish(&mut batch);
            self.write_out(core)?;
            return Ok(Placed { lsn, is_pending: false });
        }
        let is_forgotten =
            seeded::is_on(Bug::WrittenNotHandedOver) || seeded::is_on(Bug::HandedOverBeforePlaced);
        if is_full || durability == Durability::Written && !is_forgotten {
            self.hand_down(core, &mark, lsn)?;
        }
        self.accounts.enter(core.log.geometry, &batch);
        if !batch.is_system {
            self.work.user_bytes += batch.placed_bytes();
        }
        let needs_sync = durability == Durability::Synced && !seeded::is_on(Bug::VisibleBeforeDurable);
        if needs_sync || core.visibility.has_pending() || !Core::is_short(&batch) {
            core.apply_unseen(batch, needs_sync, mark);
            core.publish_pending(self);
            return Ok(Placed { lsn, is_pending: core.visibility.has_pending() });
        }
        core.apply_and_publish(&mut batch);
        self.batch = batch;
        Ok(Placed { lsn, is_pending: false })
    }

    //= spec/semantics.md#s-6-3-written
    //# When a call with class `Written` has returned with success, its commit and every commit before it MUST
    //# survive the end of the process.
    /// Hands everything placed to the operating system, the commit `lsn` among it, which is not applied yet. Where there is no
    /// room, it and the pending commits in front of it are taken back.
    fn hand_down(&mut self, core: &Core, mark: &Mark, lsn: Lsn) -> Result<()> {
        self.write_out(core).inspect_err(|error| {
            if !matches!(error, Error::StorageFull { .. }) {
                return;
            }
            if seeded::is_on(Bug::FullDiskCommitKept) {
                self.unsealed = true;
            } else if !core.take_back_unwritten(self) {
                self.took_back(core, lsn, lsn, mark.clone());
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
    pub(super) fn close(&mut self, core: &Core) -> Result<()> {
        if self.closed {
            return Ok(());
        }
        let closed = self.check_open(core).and_then(|()| self.sync(core)).and_then(|()| {
            if self.unsealed {
                self.take_incarnation(core)?;
            }
            if self.is_open { self.write_slot(core, |slot| slot.clean = true) } else { Ok(()) }
        });
        // A full disk is no end: what waits in memory can still be written once there is room.
        self.closed = !matches!(closed, Err(Error::StorageFull { .. }));
        closed
    }

    /// Writes out what is pending. Whether the file then stands for the state that the next writer sees: not after a failure, nor
    /// while bytes of a commit that was taken back may stand behind the end of the log.
    pub(super) fn hand_over(&mut self, core: &Core) -> Result<bool> {
        if core.log.storage.check_writable().is_err() || self.unsealed {
            return Ok(false);
        }
        if !self.closed {
            self.write_out(core)?;
        }
        Ok(true)
    }
}
