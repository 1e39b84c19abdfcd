//! The writer's end of the store: one commit at a time, each step saying what has become true.

use crate::error::{Error, Result};
use crate::format::Lsn;
use crate::format::superblock::Superblock;
use crate::index::Naming;
use crate::log::{Appender, Batch, Mark};
use crate::options::Durability;
use crate::seeded::{self, Bug};
use crate::sync::Arc;

use super::{Core, Turn};

/// All that only writers need.
#[derive(Debug)]
pub(crate) struct Writer {
    pub(super) appender: Appender,
    /// The newest valid slot.
    pub(super) superblock: Superblock,
    /// Whether this life of the store has an incarnation of its own yet.
    pub(super) is_open: bool,
    pub(super) highest_incarnation: u32,
    /// The file is this long, and filled with zeros where nothing else stands.
    pub(super) file_len: u64,
    /// It was this long at the last sync.
    pub(super) synced_len: u64,
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
        superblock: Superblock,
        highest_incarnation: u32,
        file_len: u64,
    ) -> Self {
        Writer {
            appender,
            superblock,
            is_open: false,
            highest_incarnation,
            file_len,
            synced_len: file_len,
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
            superblock: self.superblock.clone(),
            is_open: self.is_open,
            highest_incarnation: self.highest_incarnation,
            file_len: self.file_len,
            synced_len: self.synced_len,
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
        self.superblock.file_len == self.file_len
    }

    /// Everything up to here is handed to the operating system.
    pub(super) fn written(&self) -> Lsn {
        self.appender.written()
    }

    pub(super) fn superblock(&self) -> &Superblock {
        &self.superblock
    }

    /// The commits that were taken back since this was asked last.
    pub(crate) fn drain_taken_back(&mut self) -> Vec<(Lsn, Lsn)> {
        std::mem::take(&mut self.taken_back)
    }

    /// The commits from `first` to `last` are no more; the log ends where `mark` says.
    pub(super) fn took_back(&mut self, core: &Core, first: Lsn, last: Lsn, mark: Mark) {
        core.log.segments.end_with(mark.segment());
        self.appender.revert(mark);
        self.taken_back.push((first, last));
        // Some of them may be in the file: so nothing is placed before the end of the log is sealed.
        self.unsealed = true;
    }

    /// [`Error::Closed`], or why nothing is written any more.
    pub(crate) fn check_open(&self, core: &Core) -> Result<()> {
        if self.closed {
            return Err(Error::Closed);
        }
        core.log.storage.check_writable()
    }

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

    /// Places what is in `self.batch` as one commit, does at once what its class asks of the writer, and applies it. Whoever
    /// asked for `Synced` waits for a sync next.
    pub(crate) fn commit(&mut self, core: &Core, durability: Durability) -> Result<Placed> {
        assert!(!self.batch.is_empty(), "a commit changes something");
        let mut batch = std::mem::take(&mut self.batch);
        let mark = self.appender.mark();
        if let Err(error) = self.appender.place(&mut batch).and_then(|()| self.grow(core)) {
            // Nothing is written and nothing is seen: refusing is free.
            if !seeded::is_on(Bug::PlacementNotTakenBack) {
                self.appender.revert(mark);
            }
            self.batch = batch;
            return Err(error);
        }
        self.show_placed(core, &mark);
        let lsn = batch.lsn;
        let is_full = self.appender.pending_bytes() >= core.options.flush_bytes;
        if seeded::is_on(Bug::IndexBeforeWrite) {
            core.apply_and_publish(&mut batch);
            self.write_out(core)?;
            return Ok(Placed { lsn, is_pending: false });
        }
        if durability == Durability::Written || is_full {
            self.hand_down(core, &mark, lsn)?;
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
