//! Room in the file: growing, the reserve that keeps deletes and maintenance going when the disk is full, and shrinking.

mod reserve;
#[cfg(test)]
mod tests;

use crate::error::{Error, Result};
use crate::log::{Appender, Mark};
use crate::recovery::zero_fill;
use crate::seeded::{self, Bug};
use crate::space::Limits;
use crate::sync::read;

use super::{Core, Writer};
pub(super) use reserve::documents;

//= spec/semantics.md#s-8-5-full-disk
//# Deletes MUST find room that other writes leave to them, as far as the reserve of P-5 goes.
//= spec/space.md#p-5-2-who-may-use-it
//# A delete of whatever the store holds, in commits of one delete each, MUST find room on a disk that is
//# full, where the disk has room for ten segments and a segment for some dozen commits.
/// Who asks for room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Share {
    /// What brings new data: it leaves the reserve alone.
    Ordinary,
    /// What takes more away than it brings: it leaves what cleaning needs.
    Deletes,
    /// The store's own commits.
    Reserve,
}

/// How much of the file is kept, as it was worked out last.
#[derive(Debug, Clone, Default)]
pub(super) struct Room {
    /// The length that the file must have for an ordinary commit that opens no segment.
    len: u64,
    /// Something has changed on which that rests.
    pub(super) is_stale: bool,
    /// The segment that the log ended in by then.
    sequence: u64,
    /// The disk had no room when the file was to grow last.
    is_full: bool,
    /// Where the log ended when the file was last cut.
    cut_at: u64,
    /// The last commit of a caller's put something.
    pub(super) is_reserve_wanted: bool,
    /// A caller's commit put something since the file was last cut.
    pub(super) is_put_since_cut: bool,
    /// The file may not grow, and has no segment to spare beyond the reserve.
    is_tight: bool,
    /// Segments that were opened since it was last held against its bound, and whether the file has grown since.
    pub(super) opened: u64,
    has_grown: bool,
    /// Of these segments, those for which a look was asked for.
    looked_for: u64,
    /// Records that had died by then, and how many more may before the next check; the documents at the last look.
    superseded: u64,
    check_after: u64,
    documents: u64,
}

/// What is due after a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Upkeep {
    Nothing,
    /// Maintenance may have something to do.
    Look,
    /// The length of the file is to be held against its bound.
    Check,
}

/// As many segments may be opened without a check as this share of the log.
const UNCHECKED_SHARE: u64 = 32;
/// In a file that may not grow, this share of the log is won back before there is no room left at all.
const SLACK_SHARE: u64 = 16;
/// So many records may die without a check in a store of fewer documents than `FEW`: there a check takes longer than what it would save.
const UNCHECKED_RECORDS: u64 = 256;
const FEW: u64 = 1024;

/// A store in its first segment keeps this much of it at least; a small one at rest keeps a whole segment where it has less left.
const SMALL_RESERVE: u64 = 16 << 10;
/// A store of no more segments is a small one.
const SMALL_SEGMENTS: u32 = 16;
/// A file grows by a thirty-second of itself at a time, and by no more than this.
const GROWTH_MAX: u64 = 4 << 20;

impl Writer {
    //= spec/space.md#p-5-3-full-disk
    //# Once space is given back, by cleaning or by the file system, writes MUST succeed again without
    //# reopening.
    /// Places what `what` places behind `mark`, where the log ends, and lets the file grow for it. Whether the disk is full is known from the
    /// last growth alone, which may be out of date either way: so what fails is tried again with the other belief. Where that fails as well,
    /// nothing is placed.
    pub(super) fn place(
        &mut self,
        core: &Core,
        share: Share,
        mark: &Mark,
        mut what: impl FnMut(&mut Appender) -> Result<()>,
    ) -> Result<()> {
        let mut attempt = |writer: &mut Writer| {
            writer.limit_the_log(core, share);
            what(&mut writer.appender).and_then(|()| writer.grow(core, share)).inspect_err(|_| {
                if !seeded::is_on(Bug::PlacementNotTakenBack) {
                    writer.appender.revert(mark.clone());
                }
            })
        };
        let was_full = self.room.is_full;
        match attempt(self) {
            Err(Error::StorageFull { .. }) => {
                self.room.is_full = !was_full;
                attempt(self).inspect_err(|_| self.room.is_full = true)
            }
            placed => placed,
        }
    }

    //= spec/durability.md#d-5-1-before-the-acknowledgement
    //# A want of room MUST show before the commit is acknowledged, as a failure of its call or of a call in
    //# front of it.
    //= spec/space.md#p-5-2-who-may-use-it
    //# A commit that puts a document MUST be refused as `StorageFull` before it eats into the reserve.
    /// Lets the file grow until everything placed has room, and, for an ordinary commit, the reserve behind it: so that a full disk shows
    /// before anything is written (spec: F-2.4, P-5).
    fn grow(&mut self, core: &Core, share: Share) -> Result<()> {
        let mut needed = self.appender.file_len_needed();
        if share == Share::Ordinary && !seeded::is_on(Bug::NoReserve) {
            needed = needed.max(self.len_with_reserve(core));
        } else if share != Share::Ordinary
            && self.appender.end().segment.sequence != self.room.sequence
            && self.may_grow(core)
        {
            // A place that is reserved behind the end of the file could never be had if the disk is full by then.
            needed = needed.max(self.end_of_reserved(core));
        }
        if needed <= self.file_len {
            return Ok(());
        }
        let grown = self.grow_to(core, needed);
        self.room.is_full = matches!(grown, Err(Error::StorageFull { .. }));
        self.limit_the_log(core, Share::Reserve);
        grown
    }

    /// Makes the file at least `needed` bytes long, and somewhat more where there is room.
    pub(super) fn grow_to(&mut self, core: &Core, needed: u64) -> Result<()> {
        if needed <= self.file_len {
            return Ok(());
        }
        let mut to = self.file_len;
        while to < needed {
            to = core.log.geometry.next_len(to);
        }
        let exact = to;
        let ahead = needed + (self.file_len / 32).min(GROWTH_MAX);
        if self.file_len >= core.log.geometry.segment_end(0) {
            while core.log.geometry.next_len(to) <= ahead {
                to = core.log.geometry.next_len(to);
            }
        }
        match self.extend(core, to) {
            Err(Error::StorageFull { .. }) if to > exact => self.extend(core, exact),
            extended => extended,
        }
    }

    //= spec/format.md#f-2-4-growth
    //# A writer MUST fill a grown range with zeros before it places a frame or a page in it.
    //= spec/space.md#p-5-1-what-is-kept
    //# A writer MUST NOT place a commit that puts a document before the file is long enough for the reserve
    //# that is wanted behind that commit.
    //= spec/space.md#p-5-1-what-is-kept
    //# The reserve MUST be allocated: zeros written and synced, not a hole.
    fn extend(&mut self, core: &Core, to: u64) -> Result<()> {
        if core.options.max_file_bytes.is_some_and(|max| to > max) {
            return Err(Error::StorageFull {
                operation: format!("growth of the file to {to} bytes, which is beyond max_file_bytes"),
            });
        }
        core.log.storage.set_len(to)?;
        zero_fill(&core.log.storage, self.file_len, to)?;
        self.file_len = to;
        self.appender.free.set_len(core.log.geometry.segments_within(to));
        self.room.has_grown = true;
        Ok(())
    }

    fn refresh_room(&mut self, core: &Core) {
        let segment_bytes = u64::from(core.log.geometry.segment_bytes());
        self.room.len = self.reserve_end(core);
        self.room.sequence = self.appender.end().segment.sequence;
        self.room.documents = documents(&read(&core.catalog));
        self.room.is_stale = false;
        let spare = self.file_len.saturating_sub(self.room.len) / segment_bytes;
        let slack = (self.accounts.count() / SLACK_SHARE).max(1);
        // Once it is tight, more is made than just enough: so that the checkpoints which that takes serve many segments.
        let wanted = if self.room.is_tight { 2 * slack } else { slack };
        self.room.is_tight = !self.may_grow(core) && spare < wanted;
        self.limit_the_log(core, Share::Reserve);
    }

    fn may_grow(&self, core: &Core) -> bool {
        let segment_bytes = u64::from(core.log.geometry.segment_bytes());
        !self.room.is_full
            && core.options.max_file_bytes.is_none_or(|max| self.file_len + segment_bytes <= max)
    }

    /// Has the log leave alone what a checkpoint will need.
    pub(super) fn limit_the_log(&mut self, core: &Core, share: Share) {
        let may_grow = self.may_grow(core);
        let kept = match share {
            _ if seeded::is_on(Bug::NoReserve) => 0,
            Share::Ordinary | Share::Deletes => self.checkpoint_segments(core) + self.relocation_segments(),
            Share::Reserve => self.checkpoint_segments(core),
        };
        let len = core.log.geometry.segments_within(self.file_len);
        self.appender.free.limit(Limits { len, kept, may_grow });
    }

    /// Segments that ordinary commits can still take before the file grows.
    pub(super) fn spare_segments(&mut self, core: &Core) -> u64 {
        if self.room.is_stale {
            self.refresh_room(core);
        }
        self.file_len.saturating_sub(self.room.len) / u64::from(core.log.geometry.segment_bytes())
    }

    /// Whether the next ordinary commits may find no room, unless some is made.
    pub(crate) fn is_short(&mut self, core: &Core) -> bool {
        if self.room.is_stale {
            self.refresh_room(core);
        }
        self.room.is_tight || self.room.is_full && self.room.len > self.file_len
    }

    /// As [`is_short`](Self::is_short), after room may have been made.
    pub(super) fn is_still_short(&mut self, core: &Core) -> bool {
        self.refresh_room(core);
        self.is_short(core)
    }

    /// What the commits since this was asked last have made due.
    pub(crate) fn upkeep(&mut self) -> Upkeep {
        let died = self.accounts.superseded() - self.room.superseded;
        let is_much_dead = died > self.room.check_after;
        if self.room.opened == 0 && !self.room.has_grown && !is_much_dead {
            return Upkeep::Nothing;
        }
        if !self.room.has_grown
            && !is_much_dead
            && self.room.opened <= self.accounts.count() / UNCHECKED_SHARE
        {
            // Once for each segment: whoever is asked holds the writer while it looks.
            let is_new = std::mem::replace(&mut self.room.looked_for, self.room.opened) != self.room.opened;
            return if is_new { Upkeep::Look } else { Upkeep::Nothing };
        }
        (self.room.opened, self.room.looked_for, self.room.has_grown) = (0, 0, false);
        self.room.superseded = self.accounts.superseded();
        self.room.check_after = check_after(self.room.documents);
        Upkeep::Check
    }

    //= spec/format.md#f-2-5-shrinking
    //# To shrink a file, a writer MUST lower `file_len` in both slots, with a sync after each, before it
    //# truncates.
    /// Cuts the file to `keep`, below which nothing lies (spec: F-2.5).
    pub(super) fn shrink(&mut self, core: &Core, keep: u64) -> Result<()> {
        assert!(
            self.kept_len(core, Kept::Held) <= keep && keep < self.file_len,
            "nothing lies in what is cut off"
        );
        if keep > self.synced_len && !seeded::is_on(Bug::GrowthNamedBeforeSync) {
            // What is kept may be a growth that no sync has covered yet (spec: F-2.4).
            core.log.storage.sync()?;
            self.synced_len = self.file_len;
        }
        if !seeded::is_on(Bug::TruncatedBeforeSlots) {
            for _ in 0..2 {
                self.write_slot(core, |slot| slot.file_len = keep)?;
            }
        }
        core.log.storage.set_len(keep)?;
        (self.file_len, self.synced_len) = (keep, keep);
        self.cuts += 1;
        (self.room.cut_at, self.room.is_put_since_cut) = (self.appender.end_address().0, false);
        // What the log reserves must not lie far beyond the end of the file (spec: F-4.3).
        self.appender.free.set_len(core.log.geometry.segments_within(keep));
        self.room.is_stale = true;
        if seeded::is_on(Bug::TruncatedBeforeSlots) {
            self.write_slot(core, |slot| slot.file_len = keep)?;
        }
        Ok(())
    }

    /// Bytes of log that were written since the file was cut last.
    pub(super) fn written_since_cut(&self) -> u64 {
        self.appender.end_address().0.saturating_sub(self.room.cut_at)
    }

    //= spec/space.md#p-8-1-what-is-cut
    //# The file MUST NOT become shorter than segment 0.
    /// The length below which the file cannot shrink now.
    pub(super) fn kept_len(&self, core: &Core, kept: Kept) -> u64 {
        let geometry = core.log.geometry;
        let end = self.appender.end();
        let held = self.held_top();
        // A reader takes nothing for a successor that lies further beyond the end of the file than that.
        let reserved = end.reserved.iter().flatten().map(|index| index.saturating_sub(2)).max().unwrap_or(0);
        let needed = geometry.segment_end(held.max(reserved)).max(self.appender.file_len_needed());
        match kept {
            Kept::Reserve => needed.max(self.reserve_end(core)),
            Kept::AtRest if !self.is_small() || self.room.is_full => needed.max(self.reserve_end(core)),
            Kept::AtRest if u64::from(geometry.segment_bytes() - end.offset) < SMALL_RESERVE => {
                needed.max(end.reserved[0].map_or(0, |next| geometry.segment_end(next)))
            }
            Kept::AtRest | Kept::Held => needed,
        }
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

    /// Whether the reserve would be much beside what the store holds, so that it is let go at rest (spec: P-5.4).
    fn is_small(&self) -> bool {
        self.held_top() < SMALL_SEGMENTS
    }
}

/// How many records may die without a check: few beside all of them, since by so much the file would pass its bound.
fn check_after(documents: u64) -> u64 {
    if documents < FEW { UNCHECKED_RECORDS } else { documents / UNCHECKED_SHARE }
}

/// What a file that shrinks keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    /// What something lies in. The next ordinary commit lets it grow again.
    Held,
    /// And the reserve.
    Reserve,
    /// And the reserve, or what a small store keeps of it.
    AtRest,
}
