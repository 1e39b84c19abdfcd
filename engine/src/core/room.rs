//! Room in the file: growing, the reserve that keeps deletes and maintenance going when the disk is full, and shrinking.

mod reserve;
#[cfg(test)]
mod tests;

use crate::error::{Error, Result};
use crate::log::Mark;
use crate::seeded::{self, Bug};
use crate::space::Limits;
use crate::sync::read;

use super::space_budget::{Kept, Share, Upkeep};
use super::writer::Writer;
use reserve::SMALL_RESERVE;
pub(super) use reserve::documents;

/// As many segments may be opened without a check as this share of the log.
const UNCHECKED_SHARE: u64 = 32;
/// In a file that may not grow, this share of the log is won back before there is no room left at all.
const SLACK_SHARE: u64 = 16;
/// So many records may die without a check in a store of fewer documents than `FEW`: there a check takes longer than what it would save.
const UNCHECKED_RECORDS: u64 = 256;
const FEW: u64 = 1024;

/// A store of no more segments is a small one.
const SMALL_SEGMENTS: u32 = 16;
/// A file grows by a thirty-second of itself at a time, and by no more than this.
const GROWTH_MAX: u64 = 4 << 20;

impl Writer {
    //= spec/space.md#p-5-3-full-disk
    //# Once space is given back, by cleaning or by the file system, writes MUST succeed again without
    //# reopening.
    /// Places at the end of the log, which is `mark`, what `what` places, and lets the file grow for it. That is `len_max` bytes at
    /// most; with `usize::MAX` it may open a segment, and the reserve is worked out. Whether
    /// the disk is full is known from the last growth alone, which may be out of date either way: so what fails is tried again with
    /// the other belief. Where that fails as well, nothing is placed.
    pub(super) fn place(
        &mut self,
        share: Share,
        len_max: usize,
        mark: &Mark,
        mut what: impl FnMut(&mut Writer) -> Result<()>,
    ) -> Result<()> {
        let mut attempt = |writer: &mut Writer| {
            if !writer.appender.segment_holds(len_max) {
                writer.limit_the_log(share);
            }
            what(writer).and_then(|()| writer.grow(share, mark)).inspect_err(|_| {
                if !seeded::is_on(Bug::PlacementNotTakenBack) {
                    writer.appender.revert(mark.clone());
                }
            })
        };
        let was_full = self.budget.is_full;
        match attempt(self) {
            Err(Error::StorageFull { .. }) => {
                self.budget.is_full = !was_full;
                attempt(self).inspect_err(|_| self.budget.is_full = true)
            }
            placed => placed,
        }
    }

    //= spec/durability.md#d-5-1-before-the-acknowledgement
    //# A want of room MUST show before the commit is acknowledged, as a failure of its call or of a call in
    //# front of it.
    //= spec/space.md#p-5-2-who-may-use-it
    //# A commit that puts a document MUST be refused as `StorageFull` before it eats into the reserve.
    //= spec/space.md#p-5-2-who-may-use-it
    //# Where it would be the first of its incarnation, it MUST be refused before the opening frame eats
    //# into the reserve: else a program that is started again and again on a full disk would use up the reserve
    //# with frames that open nothing.
    /// Lets the file grow until everything placed has room, and, for an ordinary commit, the reserve behind it: so that a full disk shows
    /// before anything is written (spec: F-2.4, P-5).
    fn grow(&mut self, share: Share, mark: &Mark) -> Result<()> {
        let mut needed = self.appender.file_len_needed();
        if share == Share::Ordinary && !seeded::is_on(Bug::NoReserve) {
            needed = needed.max(self.len_with_reserve());
        } else if share != Share::Ordinary
            && self.appender.end().segment.sequence != self.budget.sequence
            && self.may_grow()
        {
            // A place that is reserved behind the end of the file could never be had if the disk is full by then.
            needed = needed.max(self.end_of_reserved());
            let has_opened = self.appender.end().segment.sequence != mark.segment().sequence;
            if share == Share::Reserve && has_opened && !seeded::is_on(Bug::CheckpointLeftWithoutRoom) {
                needed = needed.max(self.len_with_checkpoint());
            }
        }
        if needed <= self.file_len {
            return Ok(());
        }
        let grown = self.grow_to(needed);
        // A delete that got just what it needs tells nothing of more.
        self.budget.is_full =
            matches!(grown, Err(Error::StorageFull { .. })) || self.budget.is_full && share == Share::Deletes;
        self.limit_the_log(Share::Reserve);
        grown
    }

    /// Makes the file at least `needed` bytes long, and somewhat more where there is room.
    pub(super) fn grow_to(&mut self, needed: u64) -> Result<()> {
        if needed <= self.file_len {
            return Ok(());
        }
        let mut to = self.file_len;
        while to < needed {
            to = self.shared.log.geometry.next_len(to);
        }
        let exact = to;
        let ahead = needed + (self.file_len / 32).min(GROWTH_MAX);
        if self.file_len >= self.shared.log.geometry.segment_end(0) {
            while self.shared.log.geometry.next_len(to) <= ahead {
                to = self.shared.log.geometry.next_len(to);
            }
        }
        match self.extend(to) {
            Err(Error::StorageFull { .. }) if to > exact => self.extend(exact),
            extended => extended,
        }
    }

    //= spec/format.md#f-2-4-growth
    //# A writer MUST fill a grown range with zeros before it places a frame or an index record in it.
    //= spec/space.md#p-5-1-what-is-kept
    //# A writer MUST NOT place a commit that puts a document before the file is long enough for the reserve
    //# that is wanted behind that commit.
    //= spec/space.md#p-5-1-what-is-kept
    //# The reserve MUST be allocated: zeros written and synced, not a hole.
    fn extend(&mut self, to: u64) -> Result<()> {
        if self.shared.options.max_file_bytes.is_some_and(|max| to > max) {
            return Err(Error::StorageFull {
                operation: format!("growth of the file to {to} bytes, which is beyond max_file_bytes"),
            });
        }
        let storage = &self.shared.log.storage;
        storage.set_len(to)?;
        if !seeded::is_on(Bug::GrowthNotZeroed) {
            // What the disk had no room for is a hole. Where the file cannot be cut either, the next growth fills it.
            storage.zero_fill(self.file_len, to).inspect_err(|_| _ = storage.set_len(self.file_len))?;
        }
        self.file_len = to;
        self.budget.has_grown = true;
        Ok(())
    }

    fn refresh_room(&mut self) {
        let segment_bytes = u64::from(self.shared.log.geometry.segment_bytes());
        self.budget.len = self.reserve_end();
        self.budget.sequence = self.appender.end().segment.sequence;
        self.budget.documents = documents(&read(&self.shared.catalog));
        self.budget.is_stale = false;
        let spare = self.file_len.saturating_sub(self.budget.len) / segment_bytes;
        let slack = (self.accounts.count() / SLACK_SHARE).max(1);
        // Once it is tight, more is made than just enough: so that the checkpoints which that takes serve many segments.
        let wanted = if self.budget.is_tight { 2 * slack } else { slack };
        self.budget.is_tight = !self.may_grow() && spare < wanted;
        self.limit_the_log(Share::Reserve);
    }

    pub(in crate::core) fn may_grow(&self) -> bool {
        let segment_bytes = u64::from(self.shared.log.geometry.segment_bytes());
        !self.budget.is_full
            && self.shared.options.max_file_bytes.is_none_or(|max| self.file_len + segment_bytes <= max)
    }

    /// Has the log leave alone what a checkpoint will need.
    pub(super) fn limit_the_log(&mut self, share: Share) {
        let may_grow = self.may_grow();
        let kept = match share {
            _ if seeded::is_on(Bug::NoReserve) => 0,
            Share::Ordinary | Share::Deletes => self.checkpoint_segments() + self.relocation_segments(),
            Share::Reserve => self.checkpoint_segments(),
        };
        let len = self.shared.log.geometry.segments_within(self.file_len);
        let may_open_behind = may_grow || share == Share::Deletes;
        self.appender.free.limit(Limits { len, kept, may_grow, may_open_behind });
    }

    /// Segments that ordinary commits can still take before the file grows.
    pub(super) fn spare_segments(&mut self) -> u64 {
        if self.budget.is_stale {
            self.refresh_room();
        }
        self.file_len.saturating_sub(self.budget.len) / u64::from(self.shared.log.geometry.segment_bytes())
    }

    /// Whether the next ordinary commits may find no room, unless some is made.
    pub(crate) fn is_short(&mut self) -> bool {
        if self.budget.is_stale {
            self.refresh_room();
        }
        self.budget.is_tight || self.budget.is_full && self.budget.len > self.file_len
    }

    /// As [`is_short`](Self::is_short), after room may have been made.
    pub(super) fn is_still_short(&mut self) -> bool {
        self.refresh_room();
        self.is_short()
    }

    /// What the commits since this was asked last have made due.
    pub(crate) fn upkeep(&mut self) -> Upkeep {
        let died = self.accounts.superseded() - self.budget.superseded;
        let is_much_dead = died > self.budget.check_after;
        if self.budget.opened == 0 && !self.budget.has_grown && !is_much_dead {
            return Upkeep::Nothing;
        }
        if !self.budget.has_grown
            && !is_much_dead
            && self.budget.opened <= self.accounts.count() / UNCHECKED_SHARE
        {
            // Once for each segment: whoever is asked holds the writer while it looks.
            let looked_for = std::mem::replace(&mut self.budget.looked_for, self.budget.opened);
            return match () {
                () if looked_for == self.budget.opened => Upkeep::Nothing,
                () if self.is_much_behind() => Upkeep::Check,
                () => Upkeep::Look,
            };
        }
        (self.budget.opened, self.budget.looked_for, self.budget.has_grown) = (0, 0, false);
        self.budget.superseded = self.accounts.superseded();
        self.budget.check_after = check_after(self.budget.documents);
        Upkeep::Check
    }

    //= spec/format.md#f-2-5-shrinking
    //# To shrink a file, a writer MUST lower `file_len` in both slots, with a sync after each, before it
    //# truncates.
    /// Cuts the file to `keep`, below which nothing lies (spec: F-2.5).
    pub(super) fn shrink(&mut self, keep: u64) -> Result<()> {
        assert!(self.kept_len(Kept::Held) <= keep && keep < self.file_len, "nothing lies in what is cut off");
        if keep > self.synced_len && !seeded::is_on(Bug::GrowthNamedBeforeSync) {
            // What is kept may be a growth that no sync has covered yet (spec: F-2.4).
            self.shared.log.storage.sync()?;
            self.synced_len = self.file_len;
        }
        if !seeded::is_on(Bug::TruncatedBeforeSlots) {
            for _ in 0..2 {
                self.write_slot(|slot| slot.file_len = keep)?;
            }
        }
        self.shared.log.storage.set_len(keep)?;
        (self.file_len, self.synced_len) = (keep, keep);
        self.cuts += 1;
        (self.budget.cut_at, self.budget.is_put_since_cut) = (self.appender.end_address().0, false);
        // The segment of a checkpoint that no slot came to name: where the file grows again, it is written over with zeros.
        let is_kept = seeded::is_on(Bug::CutSegmentKept);
        self.open_index = self
            .open_index
            .filter(|open| self.shared.log.geometry.segment_end(open.physical) <= keep || is_kept);
        self.budget.is_stale = true;
        if seeded::is_on(Bug::TruncatedBeforeSlots) {
            self.write_slot(|slot| slot.file_len = keep)?;
        }
        Ok(())
    }

    /// Bytes of log that were written since the file was cut last.
    pub(super) fn written_since_cut(&self) -> u64 {
        self.appender.end_address().0.saturating_sub(self.budget.cut_at)
    }

    //= spec/space.md#p-8-1-what-is-cut
    //# The file MUST NOT become shorter than segment 0.
    /// The length below which the file cannot shrink now.
    pub(super) fn kept_len(&self, kept: Kept) -> u64 {
        let geometry = self.shared.log.geometry;
        let end = self.appender.end();
        let held = self.held_top();
        // A reader takes nothing for a successor that lies further beyond the end of the file than that.
        let reserved = end.reserved.iter().flatten().map(|index| index.saturating_sub(2)).max().unwrap_or(0);
        let needed = geometry.segment_end(held.max(reserved)).max(self.appender.file_len_needed());
        match kept {
            Kept::Reserve => needed.max(self.reserve_end()),
            // The reserve would be much beside what a small store holds, and is let go at rest (spec: P-5.4).
            Kept::AtRest if held >= SMALL_SEGMENTS || self.budget.is_full => needed.max(self.reserve_end()),
            Kept::AtRest if u64::from(geometry.segment_bytes() - end.offset) < SMALL_RESERVE => {
                needed.max(end.reserved[0].map_or(0, |next| geometry.segment_end(next)))
            }
            Kept::AtRest | Kept::Held => needed,
        }
    }

    //= spec/format.md#f-2-4-growth
    //# A writer MUST NOT take for a part of the file what lies behind the length that the newest slot names
    //# and behind everything that is held: it cuts that off before its first commit.
    /// The length of the file that was opened, which may be longer: a growth may have ended before its zeros.
    pub(super) fn filled_len(&self, len: u64) -> u64 {
        let geometry = self.shared.log.geometry;
        let held = match self.held_top() {
            0 => geometry.segment_offset(0) + u64::from(self.appender.end().offset),
            top => geometry.segment_end(top),
        };
        let mut filled = if seeded::is_on(Bug::HoleTakenForReserve) { len } else { self.superblock.file_len };
        while filled < held.min(len) {
            filled = geometry.next_len(filled);
        }
        filled.min(len)
    }

    /// The highest place in which something lies. What is merely reserved need not lie within the file.
    pub(super) fn held_top(&self) -> u32 {
        let log = self.accounts.iter().map(|(_, account)| account.physical);
        let current = self.appender.end().segment.physical;
        log.chain(self.checkpoints.segments())
            .chain([current])
            .chain(self.work.held_back.iter().copied())
            .max()
            .unwrap_or(0)
    }
}

/// How many records may die without a check: few beside all of them, since by so much the file would pass its bound.
fn check_after(documents: u64) -> u64 {
    if documents < FEW { UNCHECKED_RECORDS } else { documents / UNCHECKED_SHARE }
}
