//! What is to be done next: a plain function of where the bytes are, and one step of it (spec: P-6).

use crate::error::Result;
use crate::format::Lsn;
use crate::log::Appender;

use super::super::room::{Kept, Share};
use super::super::{Core, Writer};
use super::clean::Cleaned;
use super::usage::{Usage, Work};

/// How much work a saved byte is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effort {
    /// Others write: only what keeps the file within its bound.
    Keep,
    /// Nobody writes: until the file is as small as it is to be at rest.
    Rest,
    /// A commit waits for room.
    Room,
    /// Somebody asked for all of it.
    All,
}

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

/// How near the file is to its bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pressure {
    None,
    /// The thread of maintenance does not keep up: who writes takes a step.
    Some,
    /// Who writes waits until the file is shorter.
    Much,
}

/// A step that is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Due {
    Nothing,
    Checkpoint,
    /// This segment is to be cleaned.
    Clean(u64),
    /// The log is to go on in its next segment, nearer to the front of the file.
    Roll,
    /// The end of the file is to be cut off, but for this.
    Shrink(Kept),
}

impl Core {
    /// Whether ordinary commits may still find no room.
    pub(crate) fn is_still_short(&self) -> Result<bool> {
        Ok(self.writer()?.is_still_short(self))
    }

    //= spec/space.md#p-2-6-at-close
    //# A writer SHOULD take a checkpoint when it closes a store whose log since the last one is not short, so
    //# that the next opening is.
    /// Whether so much log lies behind the newest checkpoint that another, at the end, makes the next opening quicker.
    pub(crate) fn wants_checkpoint_at_close(&self) -> bool {
        let Ok(writer) = self.writer() else { return false };
        let enough = u64::from(self.log.geometry.segment_bytes()).max(writer.checkpoints.newest_bytes() / 16);
        writer.is_open
            && writer.check_open(self).is_ok()
            && !writer.fits_first_segment()
            && writer.log_since_checkpoint(self) > enough
    }

    /// Whether the file is so long that those who write must help.
    pub(crate) fn pressure(&self) -> Result<Pressure> {
        let mut writer = self.writer()?;
        let usage = writer.usage(self);
        if writer.is_in_vain(self, Effort::Keep, usage) {
            return Ok(Pressure::None);
        }
        Ok(writer.pressure(self, usage))
    }

    /// Takes one step of what is due. One at a time: whoever calls it sees to that.
    pub(crate) fn maintain(&self, effort: Effort) -> Result<Stepped> {
        let due = {
            let mut writer = self.writer()?;
            if writer.check_open(self).is_err() {
                return Ok(Stepped::Nothing);
            }
            if writer.reclaim(self)? {
                return Ok(Stepped::Done);
            }
            let usage = writer.usage(self);
            if writer.is_in_vain(self, effort, usage) {
                Due::Nothing
            } else {
                // A file that is much too long is made shorter, whoever writes meanwhile.
                let is_urgent = effort == Effort::Keep && writer.pressure(self, usage) == Pressure::Much;
                writer.due(self, if is_urgent { Effort::Rest } else { effort }, is_urgent, usage)
            }
        };
        match due {
            Due::Nothing => return Ok(Stepped::Nothing),
            Due::Checkpoint => self.checkpoint()?,
            Due::Clean(sequence) => {
                if self.clean(sequence)? == Cleaned::Busy {
                    return Ok(Stepped::Busy);
                }
            }
            Due::Roll => {
                let Some(mut writer) = self.writer_between_turns()? else { return Ok(Stepped::Busy) };
                writer.roll(self)?;
            }
            Due::Shrink(kept) => {
                let mut writer = self.writer()?;
                let keep = writer.kept_len(self, kept);
                if keep < writer.file_len {
                    writer.shrink(self, keep)?;
                }
            }
        }
        Ok(Stepped::Done)
    }
}

impl Writer {
    /// Has the log go on in its next segment.
    fn roll(&mut self, core: &Core) -> Result<()> {
        // What is placed may be taken back, and with it the place that this rests on: so nothing is pending.
        self.begin(core)?;
        self.sync(core)?;
        let mark = self.appender.mark();
        // It may be left half empty, however close its records lie.
        self.accounts.set_loose(self.appender.end().segment.sequence);
        self.place(core, Share::Reserve, &mark, Appender::roll)?;
        self.work.rolls += 1;
        self.show_placed(core, &mark);
        self.sync(core)
    }
}

/// How little the file held at best, and how far at the front, since callers last changed it; and how much had been written by then.
#[derive(Debug, Clone, Copy)]
pub(in crate::core) struct Best {
    effort: Effort,
    user_bytes: u64,
    held: u64,
    written: u64,
}

impl Writer {
    /// Whether everything was moved more than once since anything was won by it. Records that fill segments badly (long ones, in small
    /// segments) could be moved about for ever (spec: P-6.4).
    fn is_in_vain(&mut self, core: &Core, effort: Effort, usage: Usage) -> bool {
        let segment_bytes = u64::from(core.log.geometry.segment_bytes());
        let segments = usage.in_use + usage.waiting + usage.pinned + usage.checkpoints;
        let held = segments + u64::from(self.held_top());
        let Work { user_bytes, relocated_bytes, checkpoint_written_bytes, rolls, .. } = self.work;
        let written = relocated_bytes + checkpoint_written_bytes + rolls * segment_bytes;
        let now = Best { effort, user_bytes, held, written };
        let best = self.work.best.get_or_insert(now);
        if best.effort != effort || best.user_bytes != user_bytes || held < best.held {
            *best = now;
        }
        written - best.written > 3 * (usage.live + usage.checkpoint_bytes) + 16 * segment_bytes
    }
}

/// What holds the highest place in the file that is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Top {
    Sealed(u64),
    /// The segment that the log ends in.
    Current,
    Checkpoint,
    /// A segment that is freed, or that cannot be moved.
    Other,
}

impl Writer {
    /// How much those who write must help.
    fn pressure(&mut self, core: &Core, usage: Usage) -> Pressure {
        match () {
            () if !self.is_above(core, usage, HIGH) => Pressure::None,
            () if self.is_above(core, usage, TOO_HIGH) => Pressure::Much,
            // What it has to spare is used before it grows.
            () if self.spare_segments(core) * SPARE_SHARE > usage.in_use => Pressure::None,
            () if self.is_above(core, usage, FULL) => Pressure::Much,
            () => Pressure::Some,
        }
    }

    /// The next step for this effort; `is_busy` while others write.
    fn due(&self, core: &Core, effort: Effort, is_busy: bool, usage: Usage) -> Due {
        if self.is_checkpoint_due(core) || self.is_release_due(core, usage) {
            return Due::Checkpoint;
        }
        if let Some(victim) = self.victim(core, effort, usage) {
            return Due::Clean(victim);
        }
        // What is freed is let go before anything is moved to make the file shorter.
        let is_wanted = match effort {
            Effort::Keep => self.is_above(core, usage, HIGH),
            Effort::Rest => self.is_above(core, usage, REST),
            Effort::Room | Effort::All => true,
        };
        if usage.waiting > 0 && is_wanted {
            return Due::Checkpoint;
        }
        match effort {
            Effort::Keep | Effort::Room => Due::Nothing,
            // What can be used again need not be cut off.
            Effort::Rest if is_busy && !self.is_above(core, usage, TOO_HIGH) => Due::Nothing,
            Effort::Rest | Effort::All => self.due_at_the_end(core, effort, is_busy, usage),
        }
    }

    /// So much log lies behind the newest checkpoint that opening would take long (spec: P-2.1).
    fn is_checkpoint_due(&self, core: &Core) -> bool {
        let since = self.log_since_checkpoint(core);
        let own = self.checkpoints.newest_bytes();
        !self.fits_first_segment() && since >= core.options.checkpoint_bytes.max(4 * own)
    }

    /// Bytes of log behind the newest checkpoint.
    pub(in crate::core) fn log_since_checkpoint(&self, core: &Core) -> u64 {
        let start = self.superblock.checkpoints[0]
            .map_or(0, |newest| core.log.geometry.address(newest.replay_sequence, newest.replay_offset).0);
        self.appender.end_address().0.saturating_sub(start)
    }

    /// Whether the whole log lies in its first segment: then it is read sooner than any checkpoint.
    pub(in crate::core) fn fits_first_segment(&self) -> bool {
        self.superblock.checkpoints[0].is_none() && self.appender.end().segment.sequence == 0
    }

    /// Segments that are freed and that no checkpoint has as freed are more than a quarter of what is live, all that wait for a checkpoint more
    /// than a third; in a file that may not grow, only once the log needs them.
    fn is_release_due(&self, core: &Core, usage: Usage) -> bool {
        let segment_bytes = u64::from(core.log.geometry.segment_bytes());
        let log_room = self.log_room(core);
        if log_room < u64::MAX {
            return usage.waiting > 0 && log_room < segment_bytes + segment_bytes / 4;
        }
        usage.waiting_for_two * segment_bytes * 4 > usage.live.max(4 * segment_bytes)
            || usage.waiting * segment_bytes * 3 > usage.live.max(6 * segment_bytes)
    }

    //= spec/space.md#p-6-2-bounds
    //# With nothing pinned and no segment unreadable, the file MUST be at most 2.0 times the live bytes and 4 segments once no
    //# maintenance is due, and at most 3.0 times the live bytes and 4 segments at any moment.
    /// Whether the file is longer than `factor`, in sixteenths, of what it must hold, and four segments.
    fn is_above(&self, core: &Core, usage: Usage, factor: u64) -> bool {
        let segment_bytes = u64::from(core.log.geometry.segment_bytes());
        let wanted = (usage.live + usage.checkpoint_bytes) * factor / 16 + 4 * segment_bytes;
        self.file_len.saturating_sub(core.log.geometry.segment_offset(0)) > wanted
    }

    //= spec/space.md#p-3-1-victims
    //# A writer SHOULD choose the one that gives back the most for what it costs, as its accounts tell.
    /// The segment that is best cleaned, where the log takes more than it should: the one with the most to gain for what must be moved, and
    /// rather an old one, since what is young may still die by itself (the cost-benefit rule of Rosenblum and Ousterhout, 1991).
    fn victim(&self, core: &Core, effort: Effort, usage: Usage) -> Option<u64> {
        let segment_bytes = u64::from(core.log.geometry.segment_bytes());
        let (factor, slack, least) = match effort {
            Effort::Keep => (KEEP, 2, 8),
            Effort::Rest => (REST_LOG, 1, 16),
            Effort::Room => (0, 0, 6),
            Effort::All => (0, 0, 32),
        };
        if usage.in_use * segment_bytes <= usage.live * factor / 16 + slack * segment_bytes {
            return None;
        }
        let room = segment_bytes - u64::from(core.log.geometry.data_start());
        let current = self.appender.end().segment.sequence;
        let score = |(sequence, live): (u64, u64)| {
            let live = live.min(room);
            let gain = u128::from(room - live) * u128::from(current - sequence);
            (gain << 20) / u128::from(room + live)
        };
        // What is moved must have a place to go to, with the headers of its frames and the ends of segments.
        let log_room = self.log_room(core).saturating_sub(segment_bytes / 16);
        let gains = |live: u64| (room - live.min(room)) * least >= room;
        let candidates = self.candidates(core).filter(|(_, live)| gains(*live) && *live <= log_room);
        candidates.max_by_key(|candidate| score(*candidate)).map(|(sequence, _)| sequence)
    }

    /// The sealed segments that can be cleaned, with their live bytes.
    fn candidates(&self, core: &Core) -> impl Iterator<Item = (u64, u64)> {
        let current: std::collections::BTreeSet<u32> = {
            let catalog = crate::sync::read(&core.catalog);
            catalog.current().map(|naming| naming.documents.id).collect()
        };
        let written_below =
            self.appender.pending().first().map_or(u64::MAX, |extent| extent.segment.sequence);
        let end = self.appender.end().segment.sequence.min(written_below);
        self.accounts.iter().filter_map(move |(sequence, account)| {
            let live = account.live_records(|id| current.contains(&id));
            let can = sequence < end
                && account.freed == Lsn::ZERO
                && account.can_shrink(live)
                && !self.work.unreadable.contains(&sequence);
            can.then(|| (sequence, account.bytes_of(live)))
        })
    }

    /// What there is to do for the end of the file: to cut it off, or to bring away what stands there.
    fn due_at_the_end(&self, core: &Core, effort: Effort, is_busy: bool, usage: Usage) -> Due {
        let segment_bytes = u64::from(core.log.geometry.segment_bytes());
        let slack = match effort {
            Effort::All => 0,
            // Less than a segment is not worth two slots.
            Effort::Keep | Effort::Rest | Effort::Room => {
                ((usage.live + usage.checkpoint_bytes) / 8).max(segment_bytes - 1)
            }
        };
        let kept = if effort == Effort::All { Kept::Held } else { Kept::AtRest };
        let gives_back = |kept| self.file_len.saturating_sub(self.kept_len(core, kept) + slack);
        let gain = gives_back(kept);
        if gain > 0 && (effort == Effort::All || self.pays_for_cut(gain + slack)) {
            return Due::Shrink(kept);
        }
        if effort == Effort::Rest && !self.is_above(core, usage, REST_FILE) {
            return Due::Nothing;
        }
        // A file that is beyond its bound, or near it where others write, is cut in any case, though not by what the next commit would want back.
        let most = if is_busy { TOO_HIGH } else { REST_MAX };
        if self.is_above(core, usage, most) && gives_back(Kept::Reserve) > 0 {
            return Due::Shrink(Kept::Reserve);
        }
        let top = self.held_top();
        let below = self.appender.free.within(top);
        let least = self.checkpoints.newest_segments().max(1);
        let has_room = self.log_room(core) > 2 * segment_bytes;
        // A file does not end far before what the log has reserved (spec: F-4.3): then the log goes on until that is behind it.
        let reserved = self.appender.end().reserved.into_iter().flatten().max();
        let within = self.appender.free.within(core.log.geometry.segments_within(self.file_len));
        let is_spare = below > 1 && below >= least || within > least + 2;
        if has_room && is_spare && reserved.is_some_and(|reserved| reserved > top + 2) {
            return Due::Roll;
        }
        // There must be more room further down than what stands at the top needs, or things would move in a circle.
        if below < least {
            return Due::Nothing;
        }
        match self.top(top) {
            Top::Sealed(sequence) if has_room && !self.work.unreadable.contains(&sequence) => {
                Due::Clean(sequence)
            }
            // What is reserved may lie further up still: then the log comes down behind that. It reserves another place for the one that it
            // goes to, and the checkpoints that give back the one that it leaves need theirs.
            Top::Current if has_room && below > 1 => Due::Roll,
            Top::Checkpoint => Due::Checkpoint,
            Top::Sealed(_) | Top::Current | Top::Other => Due::Nothing,
        }
    }

    fn top(&self, index: u32) -> Top {
        let end = self.appender.end();
        if end.segment.physical == index {
            return Top::Current;
        }
        match self.accounts.at_physical(index) {
            Some((sequence, account)) if !account.is_freed() => Top::Sealed(sequence),
            Some(_) => Top::Other,
            None if self.checkpoints.segments().any(|held| held == index) => Top::Checkpoint,
            None => Top::Other,
        }
    }
}

/// In sixteenths of what it must hold: how long the log may be while others write, and how long the file may be before they help, and before
/// they wait; the same at rest, and how long the file should be then, and may be.
const KEEP: u64 = 28;
const HIGH: u64 = 36;
const FULL: u64 = 42;
const TOO_HIGH: u64 = 45;
const REST_LOG: u64 = 22;
const REST: u64 = 24;
const REST_FILE: u64 = 28;
const REST_MAX: u64 = 32;
/// Who writes need not help while this share of the log is free to be written to.
const SPARE_SHARE: u64 = 16;
