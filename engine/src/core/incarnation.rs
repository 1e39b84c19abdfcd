//! Beginning an incarnation: the slot that names it, and its opening frame.

use crate::error::{Error, Result};
use crate::seeded::{self, Bug};

use super::space_budget::Share;
use super::writer::Writer;

impl Writer {
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
        // spec: P-2.3.
        self.open_index = None;
        self.write_slot(|slot| slot.incarnation = incarnation)?;
        self.highest_incarnation = incarnation;
        if std::mem::take(&mut self.is_cut_due) {
            // spec: F-2.4. Neither slot names more.
            self.shared.log.storage.set_len(self.file_len)?;
        }
        let mark = self.appender.mark();
        let opened = self
            .place(Share::Reserve, usize::MAX, &mark, |writer| writer.appender.place_opening(incarnation));
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
}
