//! One step of what is to be done next, and the numbers by which [`plan`](super::plan) says what that is (spec: P-6).

use crate::error::Result;
use crate::format::Lsn;

use super::super::Core;
use super::super::space_budget::{Kept, Share};
use super::super::work::{Best, Effort};
use super::super::writer::Writer;
use super::clean::Cleaned;
use super::plan::{Behind, Due, End, Figures, Pressure, Purpose, Top};

#[cfg(test)]
mod tests;

/// The entries of the log since the last checkpoint stay in memory: that log may have one part in so many of what the
/// index may take there.
const INDEX_SHARE: u64 = 4;
/// What a small file may have beside what is live (spec: P-6.2), and how long segments are then, at least.
const LEEWAY: u64 = 4 << 20;
const LEEWAY_SEGMENT_MIN: u64 = 64 << 10;

/// What a step has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stepped {
    /// Something was done; there may be more.
    Done,
    /// There is nothing to do.
    Nothing,
    /// A transaction is in the way.
    Busy,
}

impl Core {
    /// Whether ordinary commits may still find no room.
    pub(crate) fn is_still_short(&self) -> Result<bool> {
        Ok(self.writer()?.is_still_short())
    }

    //= spec/space.md#p-2-6-at-close
    //# A writer SHOULD take a checkpoint when it closes a store whose log since the last one is not short, so
    //# that the next opening is.
    /// Whether so much log lies behind the newest checkpoint that another, at the end, makes the next opening quicker.
    pub(crate) fn wants_checkpoint_at_close(&self) -> bool {
        let Ok(writer) = self.writer() else { return false };
        let segment_bytes = u64::from(self.shared.log.geometry.segment_bytes());
        writer.is_open
            && writer.check_open().is_ok()
            && writer.behind().is_checkpoint_wanted_at_close(segment_bytes)
    }

    /// How much those who write must help.
    pub(crate) fn pressure(&self) -> Result<Pressure> {
        let mut writer = self.writer()?;
        if writer.is_much_behind() {
            return Ok(Pressure::Much);
        }
        let figures = writer.figures();
        if writer.is_in_vain(Effort::Keep, &figures) {
            return Ok(Pressure::None);
        }
        Ok(figures.pressure(|| writer.spare_segments()))
    }

    /// Takes one step of what is due. One at a time: whoever calls it sees to that.
    pub(crate) fn maintain(&self, effort: Effort) -> Result<Stepped> {
        let was_arranging;
        let due = {
            let mut writer = self.writer()?;
            if writer.check_open().is_err() {
                return Ok(Stepped::Nothing);
            }
            if writer.reclaim() {
                return Ok(Stepped::Done);
            }
            let figures = writer.figures();
            if writer.is_arranging() && figures.is_log_much_too_long() {
                // Others write: it is to be made shorter first, whatever order that leaves.
                writer.work.arrangement = None;
            }
            was_arranging = writer.is_arranging();
            let due = if was_arranging && effort != Effort::Room {
                // What would be cleaned meanwhile would be moved out of the way, and not into its order.
                let is_due = writer.behind().is_checkpoint_due(self.shared.options.checkpoint_bytes);
                if is_due { Due::Checkpoint(Purpose::Opening) } else { Due::Nothing }
            } else if writer.is_in_vain(effort, &figures) {
                // Whatever was moved about, what lies behind all that is held is cut off where somebody asks for it.
                let is_long = effort == Effort::All && writer.end_of_file().beyond_held > 0;
                if is_long { Due::Shrink(Kept::Held) } else { Due::Nothing }
            } else {
                let under = effort.under(|| figures.pressure(|| writer.spare_segments()));
                writer.due(under, &figures)
            };
            if due == Due::Nothing {
                writer.work.refused.clear();
            }
            due
        };
        match due {
            Due::Nothing if effort == Effort::All => {
                let arranged = self.arrange()?;
                // Where another compaction has ended it meanwhile, it is not known whether nothing is due.
                let is_unknown = was_arranging && arranged == Stepped::Nothing;
                return Ok(if is_unknown { Stepped::Done } else { arranged });
            }
            Due::Nothing => return Ok(Stepped::Nothing),
            Due::Checkpoint(purpose) => self.checkpoint(purpose)?,
            Due::Clean(sequence) => {
                if self.clean(sequence)? == Cleaned::Busy {
                    return Ok(Stepped::Busy);
                }
            }
            Due::Roll => {
                let Some(mut writer) = self.writer_between_turns()? else { return Ok(Stepped::Busy) };
                writer.roll()?;
            }
            Due::Shrink(kept) => self.writer()?.cut(kept)?,
        }
        Ok(Stepped::Done)
    }
}

impl Writer {
    /// Cuts off what lies behind `kept`, which may be nothing any more.
    fn cut(&mut self, kept: Kept) -> Result<()> {
        let keep = self.kept_len(kept);
        if keep < self.file_len { self.shrink(keep) } else { Ok(()) }
    }

    /// Has the log go on in its next segment.
    fn roll(&mut self) -> Result<()> {
        // What is placed may be taken back, and with it the place that this rests on: so nothing is pending.
        self.ensure_incarnation(Share::Reserve)?;
        self.sync()?;
        let mark = self.appender.mark();
        // It may be left half empty, however close its records lie.
        self.accounts.set_loose(self.appender.end().segment.sequence);
        self.place(Share::Reserve, usize::MAX, &mark, |writer| writer.appender.roll())?;
        self.work.rolls += 1;
        self.show_placed(&mark, &[]);
        self.sync()
    }

    fn figures(&self) -> Figures {
        let geometry = self.shared.log.geometry;
        let (segment_bytes, before) = (u64::from(geometry.segment_bytes()), geometry.segment_offset(0));
        // Beside segments that are not much longer it would be one more of them.
        let front = if segment_bytes < 8 * before { 0 } else { before };
        let has_room = self.shared.options.max_file_bytes.is_none() && self.may_grow();
        Figures {
            segment_bytes,
            room: u64::from(geometry.segment_bytes() - geometry.data_start()),
            len: self.file_len.saturating_sub(before) + front,
            front,
            leeway: if segment_bytes >= LEEWAY_SEGMENT_MIN && has_room { LEEWAY } else { 0 },
            usage: self.usage(),
        }
    }

    fn is_in_vain(&mut self, effort: Effort, figures: &Figures) -> bool {
        let now = Best::now(effort, figures, self.held_top(), &self.work);
        let best = self.work.best.map_or(now, |best| best.or(now));
        self.work.best = Some(best);
        figures.is_in_vain(best, now)
    }

    /// The next step for this effort, and whether others write meanwhile.
    fn due(&self, (effort, is_busy): (Effort, bool), figures: &Figures) -> Due {
        let log_room = self.log_room();
        let is_left = effort == Effort::Keep && figures.is_little_held();
        if !is_left && figures.is_release_due(log_room) {
            return Due::Checkpoint(Purpose::Space);
        }
        if self.behind().is_checkpoint_due(self.shared.options.checkpoint_bytes) {
            let purpose = if effort == Effort::All { Purpose::Space } else { Purpose::Opening };
            return Due::Checkpoint(purpose);
        }
        if !is_left && figures.is_log_long(effort) {
            let log = (self.appender.end().segment.sequence, log_room);
            if let Some(victim) = figures.victim(effort, log, self.candidates()) {
                return Due::Clean(victim);
            }
        }
        if figures.is_release_wanted(effort) {
            return Due::Checkpoint(Purpose::Space);
        }
        if figures.is_end_looked_at(effort, is_busy) {
            return figures.due_at_the_end(&self.end_of_file(), effort, is_busy, log_room);
        }
        Due::Nothing
    }

    fn behind(&self) -> Behind {
        Behind {
            log: self.log_since_checkpoint(),
            checkpoint: self.checkpoints.newest_bytes(),
            log_max: self.shared.options.index_bytes.map(|bytes| bytes / INDEX_SHARE),
            fits_first_segment: self.fits_first_segment(),
            has_damage: self.shared.opening.has_damage(),
        }
    }

    /// Whether those who write must wait for a checkpoint.
    pub(in crate::core) fn is_much_behind(&self) -> bool {
        self.behind().is_much(self.shared.options.checkpoint_bytes)
    }

    /// Bytes of log behind the newest checkpoint.
    pub(in crate::core) fn log_since_checkpoint(&self) -> u64 {
        let newest = self.superblock.checkpoints[0];
        let start = newest.map_or(0, |newest| newest.end(self.shared.log.geometry).0);
        self.appender.end_address().0.saturating_sub(start)
    }

    /// Whether the whole log lies in its first segment: then it is read sooner than any checkpoint.
    pub(in crate::core) fn fits_first_segment(&self) -> bool {
        self.superblock.checkpoints[0].is_none() && self.appender.end().segment.sequence == 0
    }

    /// The sealed segments that can be cleaned, with their live bytes.
    fn candidates(&self) -> impl Iterator<Item = (u64, u64)> {
        let current = self.shared.current_collections();
        let written_below =
            self.appender.pending().first().map_or(u64::MAX, |extent| extent.segment.sequence);
        let end = self.appender.end().segment.sequence.min(written_below);
        self.accounts.iter().filter_map(move |(sequence, account)| {
            let live = account.live_records(|id| current.contains(&id));
            let can = sequence < end
                && account.freed == Lsn::ZERO
                && account.can_shrink(live)
                && !self.work.is_left_alone(sequence);
            can.then(|| (sequence, account.bytes_of(live)))
        })
    }

    fn end_of_file(&self) -> End {
        let beyond = |kept| self.file_len.saturating_sub(self.kept_len(kept));
        let top = self.held_top();
        let free = &self.appender.free;
        let within = free.within(self.shared.log.geometry.segments_within(self.file_len));
        End {
            beyond_held: beyond(Kept::Held),
            beyond_rest: beyond(Kept::AtRest),
            beyond_reserve: beyond(Kept::Reserve),
            is_reserve_wanted: self.budget.is_reserve_wanted,
            is_put_since_cut: self.budget.is_put_since_cut,
            written_since_cut: self.written_since_cut(),
            top,
            at_top: self.top(top),
            below: free.within(top),
            within,
            spare: within.saturating_sub(self.reserved_free_segments()),
            checkpoint_segments: self.checkpoints.newest_segments(),
            kept: self.checkpoint_segments(),
            next: self.appender.end().reserved[0],
            reserved: self.appender.end().reserved.into_iter().flatten().max(),
        }
    }

    fn top(&self, index: u32) -> Top {
        if self.appender.end().segment.physical == index {
            return Top::Current;
        }
        match self.accounts.at_physical(index) {
            Some((sequence, account)) if account.is_freed() || self.work.is_left_alone(sequence) => {
                Top::Other
            }
            Some((sequence, _)) => Top::Sealed(sequence),
            None if self.checkpoints.segments().contains(&index) => Top::Checkpoint,
            None => Top::Other,
        }
    }
}
