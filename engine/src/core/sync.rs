//! Making the log durable: in three steps, so that commits go on being placed while the disk works; or in one, for who holds the
//! writer anyway.

use std::ops::Range;

use crate::cache::Segment;
use crate::error::{Error, Result};
use crate::format::{LogAddress, Lsn};
use crate::log::Mark;
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
        if self.end() == self.durable() && self.is_growth_named() {
            return Ok(None);
        }
        let handed_over = self.attest_durable().and_then(|()| {
            if seeded::is_on(Bug::SyncBeforeWrite) {
                self.shared.log.storage.sync()?;
            }
            self.name_growth()?;
            self.write_out()
        });
        handed_over.map_err(|error| self.no_hand_over(error))?;
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
        // What is in the file already may be made durable yet, by the next sync, which has less to write.
        if self.take_back_unwritten(&error) || !self.shared.visibility.has_pending() {
            return error;
        }
        // There is no room to make that durable, and it can be neither kept nor taken back without a word of the disk.
        let storage = &self.shared.log.storage;
        storage.poison(format!("no room to make durable what is written ({error})"));
        storage.check_writable().err().unwrap_or(error)
    }

    fn end_sync(&mut self, job: SyncJob) {
        if job.cuts == self.cuts {
            self.synced_len = self.synced_len.max(job.file_len);
        }
        let later = race::is_on(Race::SyncedWhatCameLater);
        self.appender.synced(if later { self.appender.written() } else { job.lsn });
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
    /// Sees to it that what the hand-over to come carries attests what is durable: by a frame, or by a slot.
    fn attest_durable(&mut self) -> Result<()> {
        if !self.appender.needs_watermark() {
            return Ok(());
        }
        // spec. A frame of this incarnation would have the LSN of a commit that was taken back.
        if self.unsealed && !seeded::is_on(Bug::WatermarkBeforeSeal) {
            return self.write_slot(|_| {});
        }
        let mark = self.appender.mark();
        match self.place(Share::Reserve, usize::MAX, &mark, |writer| writer.appender.place_watermark()) {
            Err(Error::StorageFull { .. }) => self.write_slot(|_| {}),
            placed => placed.map(|()| self.show_placed(&mark, &[])),
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
