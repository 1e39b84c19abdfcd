//! Making the log durable: in three steps, so that commits go on being placed while the disk works; or in one, for who holds the
//! writer anyway.

use std::ops::Range;

use crate::cache::Segment;
use crate::error::{Error, Result};
use crate::format::superblock::{SLOT_OFFSETS, Superblock};
use crate::format::{LogAddress, Lsn};
use crate::log::{Appender, Mark};
use crate::seeded::{self, Bug};
use crate::sync::Arc;
use crate::sync::race::{self, Race};

use super::Core;
use super::shared::Shared;
use super::space_budget::Share;
use super::writer::Writer;

//= spec/transactions.md#t-4-3-shared-syncs
//# A sync makes durable what was placed before its hand-over, and no more: a commit MUST NOT be
//# acknowledged durable by a sync that began before the commit was handed over.
/// What a sync of the storage, begun now, makes durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SyncJob {
    /// Everything up to here is handed over.
    lsn: Lsn,
    file_len: u64,
    /// How often the file had been cut by then: a length from before a cut says nothing.
    cuts: u64,
}

impl Core {
    /// The first step of a sync: hands over everything placed (spec: ). None where all of it is durable already.
    ///
    /// [`Core::sync_storage`] comes next, with no lock held, then [`Core::end_sync`].
    pub(crate) fn begin_sync(&self) -> Result<Option<SyncJob>> {
        let mut writer = self.writer()?;
        self.shared.log.storage.check_writable()?;
        writer.begin_sync()
    }

    //= spec/media.md#m-3-1-success
    //# A store MUST NOT acknowledge a commit as durable before that.
    /// The last step: what `job` handed over is durable, and so becomes visible.
    pub(crate) fn end_sync(&self, job: SyncJob) -> Result<()> {
        self.writer()?.end_sync(job);
        Ok(())
    }
}

impl Shared {
    /// The second step: the disk's.
    pub(crate) fn sync_storage(&self) -> Result<()> {
        if seeded::is_on(Bug::SyncSkipped) || seeded::is_on(Bug::SyncBeforeWrite) {
            return Ok(());
        }
        self.log.storage.sync()
    }
}

impl Writer {
    fn begin_sync(&mut self) -> Result<Option<SyncJob>> {
        if self.is_all_durable() {
            return Ok(None);
        }
        let handed_over = self.attest_durable().and_then(|()| {
            if seeded::is_on(Bug::SyncBeforeWrite) {
                self.shared.log.storage.sync()?;
            }
            self.name_growth()?;
            self.write_out()
        });
        if let Err(error) = handed_over {
            return Err(self.no_hand_over(error));
        }
        self.appender.handed_over();
        Ok(Some(SyncJob { lsn: self.end(), file_len: self.file_len, cuts: self.cuts }))
    }

    //= spec/transactions.md#t-4-8-no-room
    //# When there is no room to hand over what is pending, the pending commits MUST fail as `StorageFull`,
    //# all of them, and be taken back: the state is as if they had never been placed (S-8.5).
    /// There was no room to hand over what is pending: it is taken back, so that nobody waits for it (spec: T-4.8).
    fn no_hand_over(&mut self, error: Error) -> Error {
        if !matches!(error, Error::StorageFull { .. }) || seeded::is_on(Bug::FullDiskCommitKept) {
            return error;
        }
        self.take_back_unwritten();
        if self.shared.visibility.has_pending() {
            // What is left is in the file already and can be neither kept nor taken back without a word of the disk.
            self.shared.log.storage.poison(format!("no room to make durable what is written ({error})"));
        }
        error
    }

    fn end_sync(&mut self, job: SyncJob) {
        if job.cuts == self.cuts {
            self.synced_len = self.synced_len.max(job.file_len);
        }
        let later = race::is_on(Race::SyncedWhatCameLater);
        self.appender.synced(if later { self.written() } else { job.lsn });
        self.shared.publish_pending(self.durable());
    }

    /// Makes every placed commit durable, and visible, in one step (spec: ).
    pub(super) fn sync(&mut self) -> Result<()> {
        let Some(job) = self.begin_sync()? else { return Ok(()) };
        self.shared.sync_storage()?;
        self.end_sync(job);
        Ok(())
    }

    //= spec/format.md#f-5-5-watermark
    //# If, at a hand-over, the last frame placed states less than the durable LSN of that moment, the writer
    //# MUST place a *watermark frame* that states it before the hand-over.
    /// Sees to it that what the hand-over to come carries attests what is durable (spec: F-5.5).
    fn attest_durable(&mut self) -> Result<()> {
        if !self.appender.needs_watermark() {
            return Ok(());
        }
        let mark = self.appender.mark();
        match self.place(Share::Reserve, &mark, Appender::place_watermark) {
            Ok(()) => {
                self.show_placed(&mark, &[]);
                Ok(())
            }
            // A slot says it as well, and needs no room.
            Err(Error::StorageFull { .. }) => self.write_slot(|_| {}),
            Err(error) => Err(error),
        }
    }

    /// Hands every placed frame to the operating system.
    pub(super) fn write_out(&mut self) -> Result<()> {
        for extent in self.appender.pending() {
            let at =
                self.shared.log.geometry.segment_offset(extent.segment.physical) + u64::from(extent.offset);
            self.shared.log.storage.write_all_at(at, &extent.bytes)?;
        }
        self.appender.written_out();
        let end = self.appender.end_address();
        self.shared.log.tail.seal(end, end, &self.shared.log.cache);
        Ok(())
    }

    //= spec/format.md#f-2-4-growth
    //# A writer MUST sync the growth, then write its length into a superblock slot as `file_len`, then sync
    //# again, before it acknowledges as durable any commit that lies in the grown range.
    //= spec/recovery.md#r-7-2-after-growth
    //# When the file has grown since the last slot was written, a writer MUST first sync the growth, and
    //# write and sync a slot with the new `file_len`; only a sync that begins after that may acknowledge commits
    //# that lie in the growth.
    /// Makes a grown length durable, and names it in a slot: before anything is synced that lies in the growth, and while
    /// nothing is lost if there is no room for it (spec: F-2.4, R-7.2).
    fn name_growth(&mut self) -> Result<()> {
        if self.is_growth_named() || seeded::is_on(Bug::GrowthNotNamed) {
            return Ok(());
        }
        if !seeded::is_on(Bug::GrowthNamedBeforeSync) {
            self.shared.log.storage.sync()?;
            self.slot_synced(self.superblock.generation);
        }
        self.synced_len = self.file_len;
        if self.is_growth_named() { Ok(()) } else { self.write_slot(|_| {}) }
    }

    //= spec/versions.md#c-3-1-a-file-of-a-newer-minor-version
    //# A writer MUST NOT lower the minor version, or change a feature mask, in the slots that it writes.
    //= spec/format.md#f-3-5-writing-a-slot
    //# A writer MUST write only the slot that is not the newest valid one, with a generation one higher.
    //= spec/format.md#f-3-5-writing-a-slot
    //# A writer MUST complete a sync between any two slot writes.
    //= spec/format.md#f-3-5-writing-a-slot
    //# A writer MUST set a slot's durable LSN to one whose sync has already returned success before the slot
    //# is written, and MUST NOT let it or the incarnation be lower than in the newest valid slot.
    //= spec/format.md#f-3-5-writing-a-slot
    //# A writer MUST NOT write the content of an invalid slot back under a fresh checksum.
    /// Writes the slot that is not the newest (spec: F-3.5). A sync is to follow: [`Writer::slot_synced`] is told of it.
    pub(super) fn place_slot(&mut self, change: impl FnOnce(&mut Superblock)) -> Result<()> {
        if self.slot_unsynced {
            // Whoever wrote it is waiting for a sync without the writer, and may find this one done in its stead.
            self.shared.log.storage.sync()?;
            self.slot_synced(self.superblock.generation);
        }
        let mut slot = self.superblock.clone();
        let step = if seeded::is_on(Bug::SlotWrittenInPlace) { 2 } else { 1 };
        let generation = slot.generation.checked_add(step);
        slot.generation =
            generation.ok_or(Error::LimitReached { what: "superblock generations of one file" })?;
        slot.durable_lsn = slot.durable_lsn.max(self.appender.durable());
        slot.file_len = self.synced_len;
        slot.clean = false;
        change(&mut slot);
        self.shared.log.storage.write_all_at(SLOT_OFFSETS[slot.slot()], &slot.encode())?;
        self.superblock = slot;
        self.slot_unsynced = true;
        Ok(())
    }

    /// A sync that began after the slot of this generation was written has returned.
    pub(super) fn slot_synced(&mut self, generation: u64) {
        if self.superblock.generation == generation {
            self.slot_unsynced = false;
            self.named_len = self.superblock.file_len;
        }
    }

    /// Writes the slot that is not the newest, and syncs.
    pub(super) fn write_slot(&mut self, change: impl FnOnce(&mut Superblock)) -> Result<()> {
        self.place_slot(change)?;
        self.shared.log.storage.sync()?;
        self.slot_synced(self.superblock.generation);
        Ok(())
    }

    //= spec/format.md#f-1-5-lsn
    //# A writer MUST NOT give one LSN to two commits, in any life of the file.
    //= spec/recovery.md#r-5-4-new-incarnation
    //# A writer MUST write that incarnation into the slot that is not the newest valid one, with L as the
    //# durable LSN, and sync, before it writes any frame of that incarnation.
    //= spec/recovery.md#r-5-5-opening-frame
    //# A writer MUST then place the opening frame, which names L and X, at the first sector boundary at or
    //# after X, or as the first frame of the successor when no frame fits there, and sync, before it places
    //# any other frame.
    //= spec/semantics.md#s-7-3-after-a-crash
    //# A store MUST NOT show a commit that a crash has removed, after any later crash or reopening.
    /// Begins a life of the log of its own: an incarnation above all others, then the opening frame (spec: ).
    pub(super) fn take_incarnation(&mut self) -> Result<()> {
        assert!(!self.shared.visibility.has_pending(), "what the old incarnation placed is visible");
        if seeded::is_on(Bug::IncarnationKept) && self.superblock.incarnation > 0 {
            self.is_open = true;
            return Ok(());
        }
        if seeded::is_on(Bug::IncarnationFromTheSlotAlone) {
            self.highest_incarnation = self.end().incarnation();
        }
        let incarnation = self.highest_incarnation.max(self.superblock.incarnation).checked_add(1);
        let incarnation = incarnation.ok_or(Error::LimitReached { what: "incarnations of one file" })?;
        self.write_slot(|slot| slot.incarnation = incarnation)?;
        self.highest_incarnation = incarnation;
        let mark = self.appender.mark();
        let opened = self.place(Share::Reserve, &mark, |appender| appender.place_opening(incarnation));
        let opened = opened.and_then(|()| {
            self.show_placed(&mark, &[]);
            self.write_out()?;
            if seeded::is_on(Bug::OpeningFrameNotSynced) { Ok(()) } else { self.shared.log.storage.sync() }
        });
        if let Err(error) = opened {
            // The next attempt takes yet another incarnation, so nothing is given twice.
            self.revert(mark);
            return Err(error);
        }
        self.synced_len = self.file_len;
        self.appender.handed_over();
        self.appender.synced(self.appender.end().lsn);
        (self.is_open, self.unsealed) = (true, false);
        self.shared.show_opening(self.appender.end().lsn, self.appender.end_address());
        Ok(())
    }

    /// Puts what was placed since `mark` where readers can find it, once an address leads them there; `long` are the long records of it.
    pub(super) fn show_placed(&mut self, mark: &Mark, long: &[Range<LogAddress>]) {
        for (segment, offset, bytes) in self.appender.placed_since(mark) {
            let segment: &Arc<Segment> = segment;
            if !mark.ends_in(segment) {
                self.shared.log.segments.put(Arc::clone(segment));
                self.accounts.open(segment.sequence, segment.physical);
                self.budget.is_stale = true;
                self.budget.opened += 1;
            }
            self.accounts.set_end(segment.sequence, offset + bytes.len() as u32);
            let address = self.shared.log.geometry.address(segment.sequence, offset);
            self.shared.log.tail.put(segment, address, bytes, long);
        }
    }
}
