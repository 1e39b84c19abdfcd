//! What is to be done next: plain functions of a few numbers (spec: P-6). Where these come from, and what is done then: `due`.

use super::super::space_budget::Kept;
use super::super::work::{Best, Effort, Work};
use super::usage::Usage;

#[cfg(feature = "testing")]
pub(in crate::core) mod profile;
#[cfg(test)]
mod tests;

impl Effort {
    /// The effort that is made, and whether it is made while others write: a file that is much too long is made shorter, whoever does.
    pub(super) fn under(self, pressure: impl FnOnce() -> Pressure) -> (Effort, bool) {
        if self == Effort::Keep && pressure() == Pressure::Much {
            (Effort::Rest, true)
        } else {
            (self, false)
        }
    }
}

/// How near the file is to its bound, or what must stay in memory to its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pressure {
    None,
    /// Who writes takes a step, where the thread of maintenance does not keep up.
    Some,
    /// A writer waits until the file, or the log since the last checkpoint, is shorter.
    Much,
}

/// A step that is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Due {
    Nothing,
    Checkpoint(Purpose),
    /// This segment is to be cleaned.
    Clean(u64),
    /// The log is to go on in its next segment, nearer to the front of the file.
    Roll,
    /// The end of the file is to be cut off, but for this.
    Shrink(Kept),
}

/// What a checkpoint is taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The next opening, which reads less of the log after it.
    Opening,
    /// The segments that it gives back, or a shorter file.
    Space,
}

impl Purpose {
    //= spec/space.md#p-2-8-what-is-taken-over
    //# A checkpoint that is taken to make the file shorter (P-7.1, P-8.1), for the segments that it gives back
    //# (P-2.1), or in a file that may not grow, SHOULD take over nothing.
    /// Whether it takes over what did not change, in a file that may grow or not.
    pub(super) fn takes_over(self, may_grow: bool) -> bool {
        self == Purpose::Opening && may_grow
    }
}

/// The log and the newest checkpoint.
#[derive(Debug, Clone, Copy)]
pub(super) struct Behind {
    /// Bytes of log behind the newest checkpoint.
    pub(super) log: u64,
    /// Bytes of that checkpoint.
    pub(super) checkpoint: u64,
    /// So much log is enough, however large that is: what it changed stays in memory.
    pub(super) log_max: Option<u64>,
    /// Whether the whole log lies in its first segment: then it is read sooner than any checkpoint.
    pub(super) fits_first_segment: bool,
    /// Something of that checkpoint could not be read (spec: P-2.5).
    pub(super) has_damage: bool,
}

impl Behind {
    //= spec/space.md#p-2-5-the-one-before
    //# After something of it could not be read later, a writer SHOULD take the next checkpoint at once.
    /// So much log lies behind the newest checkpoint that opening would take long (spec: P-2.1), or that cannot be read whole.
    pub(super) fn is_checkpoint_due(&self, checkpoint_bytes: u64) -> bool {
        self.has_damage
            || !self.fits_first_segment
                && self.log >= checkpoint_bytes.max(self.log_max.unwrap_or(u64::MAX).min(4 * self.checkpoint))
    }

    //= spec/space.md#p-6-3-who-does-it
    //# So MAY one that finds the log since the last checkpoint twice as long as it is where a checkpoint
    //# comes due, in a store whose index may take a number of bytes in memory: what changed since
    //# then stays there (P-2.1).
    /// Whether writers must wait for a checkpoint: what they change would take more and more memory meanwhile.
    pub(super) fn is_much(&self, checkpoint_bytes: u64) -> bool {
        self.is_checkpoint_due(checkpoint_bytes)
            && self.log_max.is_some_and(|log_max| self.log / 2 >= checkpoint_bytes.max(log_max))
    }

    /// So much that another checkpoint, at the end, makes the next opening quicker (spec: P-2.6).
    pub(super) fn is_checkpoint_wanted_at_close(&self, segment_bytes: u64) -> bool {
        self.has_damage || !self.fits_first_segment && self.log > segment_bytes.max(self.checkpoint / 16)
    }
}

/// How long the file is, and what it holds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Figures {
    pub(super) segment_bytes: u64,
    /// What a segment has for frames.
    pub(super) room: u64,
    /// Length of the file, and what of it, in front of the first segment, is counted.
    pub(super) len: u64,
    pub(super) front: u64,
    /// So much longer than what it must hold the file may be, however little that is, while others write.
    pub(super) leeway: u64,
    pub(super) usage: Usage,
}

/// What stands at the end of the file, and what would have room further down.
#[derive(Debug, Clone, Copy)]
pub(super) struct End {
    /// So much could be cut off, if what is held were kept; or what a store at rest keeps; or the reserve.
    pub(super) beyond_held: u64,
    pub(super) beyond_rest: u64,
    pub(super) beyond_reserve: u64,
    /// The last commit of a caller's put something, so that the next may want the reserve.
    pub(super) is_reserve_wanted: bool,
    /// A document was put since the file was cut last.
    pub(super) is_put_since_cut: bool,
    /// Bytes of log that were written since the file was cut last.
    pub(super) written_since_cut: u64,
    /// The highest place that is held, and what holds it.
    pub(super) top: u32,
    pub(super) at_top: Top,
    /// Free segments below that, all that are free within the file, and those that the reserve does not take.
    pub(super) below: u32,
    pub(super) within: u32,
    pub(super) spare: u32,
    /// Segments of the newest checkpoint.
    pub(super) checkpoint_segments: u32,
    /// So many that are free the log leaves to the next one (spec: P-5.1).
    pub(super) kept: u32,
    /// The place that the log has reserved for its next segment, and the highest that it has reserved.
    pub(super) next: Option<u32>,
    pub(super) reserved: Option<u32>,
}

/// What holds the highest place in the file that is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Top {
    Sealed(u64),
    /// The segment that the log ends in.
    Current,
    Checkpoint,
    /// A segment that is freed, or that cannot be moved.
    Other,
}

impl Best {
    /// How things stand, and what was written to bring them there.
    pub(super) fn now(effort: Effort, figures: &Figures, top: u32, work: &Work) -> Best {
        let Usage { in_use, waiting, pinned, checkpoints, .. } = figures.usage;
        let held = in_use + waiting + pinned + checkpoints + u64::from(top);
        let written =
            work.relocated_bytes + work.checkpoint_written_bytes + work.rolls * figures.segment_bytes;
        Best { effort, user_bytes: work.user_bytes, held, written }
    }

    /// The better of the two; what was another effort's, or came before callers changed something, counts no more.
    pub(super) fn or(self, now: Best) -> Best {
        let is_of_now = self.effort == now.effort && self.user_bytes == now.user_bytes;
        if is_of_now && now.held >= self.held { self } else { now }
    }
}

impl Figures {
    /// Whether everything was moved more than once since anything was won by it. Records that fill segments badly (long ones, in small
    /// segments) could be moved about for ever (spec: P-6.4).
    pub(super) fn is_in_vain(&self, best: Best, now: Best) -> bool {
        let all = self.usage.live + self.usage.checkpoint_bytes;
        now.written - best.written > 3 * all + 16 * self.segment_bytes
    }

    //= spec/space.md#p-6-2-bounds
    //# With nothing pinned and no segment unreadable, the file MUST be at most 2.0 times the live bytes and 4 segments once no
    //# maintenance is due, and at most 3.0 times the live bytes and 4 segments at any moment.
    /// Whether the file is longer than `factor`, in sixteenths, of what it must hold, and four segments.
    fn is_above(&self, factor: u64) -> bool {
        let held = self.usage.live + self.usage.checkpoint_bytes;
        self.len > held * factor / 16 + 4 * self.segment_bytes
    }

    //= spec/space.md#p-6-2-bounds
    //# While it is written to, a file for which no greatest length is set, and whose segments have 65,536 bytes or more, MAY be as
    //# long as the live bytes and 4 MiB where that is longer than the second of these bounds.
    /// Whether the file is no longer than what it must hold and `factor` parts of 48 of its leeway.
    fn has_leeway(&self, factor: u64) -> bool {
        self.leeway > 0
            && self.len <= self.usage.live + self.usage.checkpoint_bytes + self.leeway * factor / BOUND
    }

    /// Whether so little is held that nothing is moved or let go for room while others write.
    pub(super) fn is_little_held(&self) -> bool {
        let Usage { in_use, waiting, checkpoints, .. } = self.usage;
        Figures { len: (in_use + waiting + checkpoints) * self.segment_bytes, ..*self }.has_leeway(KEEP)
    }

    /// Whether the file is above `factor`, and has no leeway there, while others write.
    fn is_beyond(&self, factor: u64) -> bool {
        self.is_above(factor) && !self.has_leeway(factor)
    }

    /// How much those who write must help. `spare` are the segments that they can still take before the file grows.
    pub(super) fn pressure(&self, spare: impl FnOnce() -> u64) -> Pressure {
        match () {
            () if !self.is_beyond(HIGH) => Pressure::None,
            () if self.is_beyond(TOO_HIGH) => Pressure::Much,
            // What it has to spare is used before it grows.
            () if spare() * SPARE_SHARE > self.usage.in_use => Pressure::None,
            () if self.is_beyond(FULL) => Pressure::Much,
            () => Pressure::Some,
        }
    }

    /// Segments that are freed and that no checkpoint has as freed are more than a quarter of what is live, all that wait for a checkpoint more
    /// than a third; in a file that may not grow, only once the log needs them.
    pub(super) fn is_release_due(&self, log_room: u64) -> bool {
        let Usage { waiting, waiting_for_two, live, .. } = self.usage;
        if log_room < u64::MAX {
            return waiting > 0 && log_room < self.segment_bytes + self.segment_bytes / 4;
        }
        waiting_for_two * self.segment_bytes * 4 > live.max(4 * self.segment_bytes)
            || waiting * self.segment_bytes * 3 > live.max(6 * self.segment_bytes)
    }

    /// Whether a checkpoint is wanted for what it gives back of the segments that wait for one: what is freed is let go before anything is
    /// moved to make the file shorter.
    pub(super) fn is_release_wanted(&self, effort: Effort) -> bool {
        self.usage.waiting > 0
            && match effort {
                Effort::Keep => self.is_beyond(HIGH),
                Effort::Rest => self.is_above(REST),
                Effort::Room | Effort::All => true,
            }
    }

    /// Whether the log takes more than it should, so that some segment of it is to be cleaned.
    pub(super) fn is_log_long(&self, effort: Effort) -> bool {
        let (factor, slack) = match effort {
            Effort::Keep => (KEEP, 2),
            Effort::Rest => (REST_LOG, 1),
            Effort::Room | Effort::All => (0, 0),
        };
        self.usage.in_use * self.segment_bytes > self.usage.live * factor / 16 + slack * self.segment_bytes
    }

    /// Whether the log is so long that the file would be beyond its bound, were nothing else in it.
    pub(super) fn is_log_much_too_long(&self) -> bool {
        Figures { len: self.usage.in_use * self.segment_bytes, ..*self }.is_above(TOO_HIGH)
    }

    //= spec/space.md#p-3-1-victims
    //# A writer SHOULD choose the one that gives back the most for what it costs, as its accounts tell.
    /// The one of `candidates`, sealed segments with their live bytes, that is best cleaned: the one with the most to gain for what must be
    /// moved, and rather an old one, since what is young may still die by itself (the cost-benefit rule of Rosenblum and Ousterhout, 1991).
    /// `current` is where the log ends, and `log_room` what it can take.
    pub(super) fn victim(
        &self,
        effort: Effort,
        (current, log_room): (u64, u64),
        candidates: impl Iterator<Item = (u64, u64)>,
    ) -> Option<u64> {
        // What is not at least this part of a segment is not worth the work.
        let least = match effort {
            Effort::Keep => 8,
            Effort::Rest => 16,
            Effort::Room => 6,
            Effort::All => 32,
        };
        let gain = |live: u64| self.room - live.min(self.room);
        let score = |(sequence, live): (u64, u64)| {
            let benefit = u128::from(gain(live)) * u128::from(current - sequence);
            (benefit << 20) / u128::from(self.room + live.min(self.room))
        };
        // What is moved must have a place to go to, with the headers of its frames and the ends of segments.
        let log_room = log_room.saturating_sub(self.segment_bytes / 16);
        candidates
            .filter(|(_, live)| gain(*live) * least >= self.room && *live <= log_room)
            .max_by_key(|candidate| score(*candidate))
            .map(|(sequence, _)| sequence)
    }

    /// Whether something is to be done for the end of the file.
    pub(super) fn is_end_looked_at(&self, effort: Effort, is_busy: bool) -> bool {
        match effort {
            Effort::Keep | Effort::Room => false,
            // What can be used again need not be cut off.
            Effort::Rest => !is_busy || self.is_above(TOO_HIGH),
            Effort::All => true,
        }
    }

    //= spec/space.md#p-5-4-at-rest
    //# A file within the bound of P-6.2 at rest, or into which a document was put since it was cut last, SHOULD NOT be cut before at least
    //# half as many bytes of log were written since then as the cut gives back: so that a store that writes little does not take
    //# and give back its reserve for ever.
    /// What there is to do for the end of the file: to cut it off, or to bring away what stands there.
    pub(super) fn due_at_the_end(&self, end: &End, effort: Effort, is_busy: bool, log_room: u64) -> Due {
        if effort == Effort::All {
            // It is cut once, behind all else: in a shorter file less would be free than a checkpoint needs, and the log, which leaves that
            // alone, would go on behind the end again and again.
            let brought = self.due_at_the_top(end, log_room);
            return match brought {
                Due::Nothing if self.is_log_in_the_way(end, COMPACTED, log_room) => Due::Roll,
                Due::Nothing if self.is_log_far_behind(end, COMPACTED, log_room) => Due::Roll,
                Due::Nothing if end.beyond_held > 0 => Due::Shrink(Kept::Held),
                _ => brought,
            };
        }
        // Less than a segment is not worth two slots.
        let slack = ((self.usage.live + self.usage.checkpoint_bytes) / 8).max(self.segment_bytes - 1);
        // While others put documents, the next commit wants the reserve back: it is neither cut off nor given back for ever.
        let is_kept = is_busy && end.is_reserve_wanted;
        if !is_kept && end.beyond_rest > slack && end.written_since_cut >= end.beyond_rest / 2 {
            return Due::Shrink(Kept::AtRest);
        }
        if !self.is_above(REST_FILE) {
            return Due::Nothing;
        }
        // A file that is beyond its bound, or near it where others write, is cut in any case, though not by what the next commit would want back.
        let most = if is_busy { TOO_HIGH } else { REST_MAX };
        if self.is_above(most) && end.beyond_reserve > slack {
            return Due::Shrink(Kept::Reserve);
        }
        // Where documents are deleted and none is put nobody wants it back: the bound is what counts.
        if self.is_above(most) && !end.is_put_since_cut && end.beyond_rest > slack {
            return Due::Shrink(Kept::AtRest);
        }
        // What is free is what the reserve takes, and what the log takes next: whatever were brought further down, the file would soon be as
        // long again.
        if is_kept && u64::from(end.spare) * self.segment_bytes <= slack + 1 {
            return Due::Nothing;
        }
        let may_roll = !is_busy || !end.is_put_since_cut;
        match self.due_at_the_top(end, log_room) {
            Due::Nothing if may_roll && self.is_log_in_the_way(end, most, log_room) => Due::Roll,
            brought => brought,
        }
    }

    /// Whether the file would be longer than `factor` of what it must hold, and what stands at its end could come down if the log had not
    /// reserved the places for its next segments there: then the log goes on in these, and reserves others, which need not lie within the file.
    fn is_log_in_the_way(&self, end: &End, factor: u64, log_room: u64) -> bool {
        end.next.is_some_and(|next| next < end.top)
            && self.is_worth_a_roll(end, end.top + 1, factor, log_room)
    }

    /// Whether the file would stay longer than that because it must not end far before what the log has reserved (spec: F-4.3). The way to
    /// places further down may lead through the far one, which makes the file longer first: that is for who asks for all of it.
    fn is_log_far_behind(&self, end: &End, factor: u64, log_room: u64) -> bool {
        let far = end.reserved.filter(|reserved| *reserved > end.top + BEYOND_END);
        far.is_some_and(|far| self.is_worth_a_roll(end, far - BEYOND_END + 1, factor, log_room))
    }

    /// Whether so many segments are more than `factor` of what the file must hold, which the log can make fewer by going on. In a file of more
    /// segments than a few, two are no part to speak of.
    fn is_worth_a_roll(&self, end: &End, segments: u32, factor: u64, log_room: u64) -> bool {
        let cut = Figures { len: self.front + u64::from(segments) * self.segment_bytes, ..*self };
        end.top < SMALL
            && end.at_top != Top::Other
            && cut.is_above(factor)
            && log_room > 2 * self.segment_bytes
    }

    /// What brings further down what stands at the end of the file, where there is room for it.
    fn due_at_the_top(&self, end: &End, log_room: u64) -> Due {
        let has_room = log_room > 2 * self.segment_bytes;
        // A file does not end far before what the log has reserved (spec: F-4.3): then the log goes on until that is behind it, and reserves
        // another place, which lies further down where more is free than it leaves alone.
        let is_far = end.reserved.is_some_and(|reserved| reserved > end.top + BEYOND_END);
        if has_room && is_far && end.within > end.kept {
            return Due::Roll;
        }
        // There must be more room further down than what stands at the top needs, or things would move in a circle.
        if end.below < end.checkpoint_segments.max(1) {
            return Due::Nothing;
        }
        match end.at_top {
            Top::Sealed(sequence) if has_room => Due::Clean(sequence),
            // What is reserved may lie further up still: then the log comes down behind that. It reserves another place for the one that it
            // goes to, and the checkpoints that give back the one that it leaves need theirs.
            Top::Current if has_room && end.below > 1 => Due::Roll,
            Top::Checkpoint => Due::Checkpoint(Purpose::Space),
            Top::Sealed(_) | Top::Current | Top::Other => Due::Nothing,
        }
    }
}

/// In sixteenths of what it must hold: how long the log may be while others write, and how long the file may be before they help, before
/// they wait, and the bound itself; the same at rest, and how long the file should be then, and may be.
const KEEP: u64 = 28;
const HIGH: u64 = 36;
const FULL: u64 = 42;
const TOO_HIGH: u64 = 45;
const BOUND: u64 = 48;
const REST_LOG: u64 = 22;
const REST: u64 = 24;
const REST_FILE: u64 = 28;
const REST_MAX: u64 = 32;
/// A place that the log has reserved lies no further behind the end of the file (spec: F-4.3).
const BEYOND_END: u32 = 2;
/// In a file whose last segment has a number from this on, one or two are little.
const SMALL: u32 = 12;
/// And once it was compacted.
const COMPACTED: u64 = 17;
/// Who writes need not help while this share of the log is free to be written to.
const SPARE_SHARE: u64 = 16;
