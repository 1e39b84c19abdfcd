//! Beginning an incarnation: the slot that names it, and its opening frame.

use crate::error::{Error, Result};
use crate::format::superblock::Superblock;
use crate::seeded::{self, Bug};

use super::space_budget::Share;
use super::writer::Writer;

impl Writer {
    //= spec/format.md#f-1-5-lsn
    //# A writer MUST NOT give one LSN to two commits, in any life of the file.
    //= spec/recovery.md#r-5-4-new-incarnation
    //# A writer MUST refuse a call that needs a new incarnation where the highest is 2^32 - 1, the opening
    //# itself where a slot was invalid, as `LimitReached`, and leave the file as it is.
    //= spec/recovery.md#r-5-4-new-incarnation
    //# A writer MUST write that incarnation into the slot that is not the newest valid one, with L as the
    //# durable LSN, and sync, before it writes any frame of that incarnation.
    //= spec/recovery.md#r-5-4-new-incarnation
    //# Where the opening frame finds no room, and so nothing of the incarnation is handed over, the writer MUST
    //# keep it for its next attempt, and write no slot for it again: a call that is tried again and again on a
    //# full disk would use up the incarnations.
    //= spec/recovery.md#r-5-5-opening-frame
    //# A writer MUST then place the opening frame, which names L and X, at the first sector boundary at or
    //# after X, or as the first frame of the successor when no frame fits there, and sync, before it places
    //# any other frame.
    //= spec/semantics.md#s-7-3-after-a-crash
    //# A store MUST NOT show a commit that a crash has removed, after any later crash or reopening.
    /// Begins a life of the log of its own: an incarnation above all others, then the opening frame, which takes the same share of the
    /// room as what comes behind it (spec, P-5.2).
    pub(super) fn take_incarnation(&mut self, share: Share) -> Result<()> {
        assert!(!self.shared.visibility.has_pending(), "what the old incarnation placed is visible");
        if seeded::is_on(Bug::IncarnationKept) && self.superblock.incarnation > 0 {
            self.is_open = true;
            return Ok(());
        }
        if seeded::is_on(Bug::IncarnationFromTheSlotAlone) {
            self.highest_incarnation = self.end().incarnation().max(self.superblock.incarnation);
        }
        let is_renewed = seeded::is_on(Bug::IncarnationForEachRefusal);
        let highest = self.highest_incarnation.max(if is_renewed { self.superblock.incarnation } else { 0 });
        let next = if seeded::is_on(Bug::IncarnationStartsOver) { highest % u32::MAX } else { highest };
        let incarnation =
            next.checked_add(1).ok_or(Error::LimitReached { what: "incarnations of one file" })?;
        // spec: P-2.3.
        self.open_index = None;
        if self.superblock.incarnation != incarnation {
            let is_early = seeded::is_on(Bug::IncarnationSlotNotSynced);
            let name = |slot: &mut Superblock| slot.incarnation = incarnation;
            (if is_early { self.place_slot(name) } else { self.write_slot(name) })?;
        }
        if std::mem::take(&mut self.is_cut_due) {
            // spec: F-2.4. Neither slot names more.
            self.shared.log.storage.set_len(self.file_len)?;
        }
        let share = if seeded::is_on(Bug::OpeningFromTheReserve) { Share::Reserve } else { share };
        let mark = self.appender.mark();
        let opening = |writer: &mut Writer| writer.appender.place_opening(incarnation);
        let opened = self.place(share, usize::MAX, &mark, opening).and_then(|()| {
            // Whatever fails from here on, its frame may be in the file: the next attempt takes another one, so nothing is given twice.
            self.highest_incarnation = incarnation;
            self.show_placed(&mark, &[]);
            self.write_out()?;
            if seeded::is_on(Bug::OpeningFrameNotSynced) { Ok(()) } else { self.shared.log.storage.sync() }
        });
        opened.inspect_err(|_| self.revert(mark))?;
        self.synced_len = self.file_len;
        self.appender.handed_over();
        self.appender.synced(self.appender.end().lsn);
        (self.is_open, self.unsealed) = (true, false);
        self.shared.show_opening(self.appender.end().lsn, self.appender.end_address());
        Ok(())
    }
}
