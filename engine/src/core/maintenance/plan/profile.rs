//! How often each decision comes out as what, over figures that are drawn at random. For a check that shows it when one of them changes.

use super::*;

/// What was decided, and how often; and a sum of when, since two decisions may change in opposite ways.
#[derive(Default)]
pub(crate) struct Profile {
    counts: Vec<(&'static str, u64)>,
    round: u64,
    sum: u64,
}

impl Profile {
    /// So many rounds of figures; `draw` gives a number below what it is given.
    pub(crate) fn of(rounds: u64, draw: &mut dyn FnMut(u64) -> u64) -> Vec<(&'static str, u64)> {
        let mut profile = Profile::default();
        for round in 0..rounds {
            profile.round = round;
            profile.decide(draw);
        }
        profile.counts.push(("sum of when", profile.sum));
        profile.counts
    }

    fn note(&mut self, what: &'static str, is_so: bool) {
        let at = self.counts.iter().position(|(known, _)| *known == what).unwrap_or_else(|| {
            self.counts.push((what, 0));
            self.counts.len() - 1
        });
        self.counts[at].1 += u64::from(is_so);
        self.sum = (self.sum + u64::from(is_so) * (self.round + 1) * (at as u64 + 1)) % 1_000_000_007;
    }

    /// Small figures, of which many are equal to each other: there the decisions lie close together.
    fn decide(&mut self, draw: &mut dyn FnMut(u64) -> u64) {
        let figures = figures(draw);
        let is_busy = draw(2) == 0;
        let spare = draw(4);
        let pressure = figures.pressure(|| spare);
        self.note("pressure: some", pressure == Pressure::Some);
        self.note("pressure: much", pressure == Pressure::Much);
        let log_room = if draw(2) == 0 { u64::MAX } else { draw(20) * 4 };
        self.note("a release is due", figures.is_release_due(log_room));
        self.note("little is held", figures.is_little_held());
        self.note("the log is much too long", figures.is_log_much_too_long());
        for effort in [Effort::Keep, Effort::Rest, Effort::Room, Effort::All] {
            self.note("it is done for callers", effort.under(|| pressure) == (Effort::Rest, true));
            self.note("a release is wanted", figures.is_release_wanted(effort));
            self.note("the log is long", figures.is_log_long(effort));
            self.note("the end is looked at", figures.is_end_looked_at(effort, is_busy));
            let candidates: Vec<_> = (0..draw(5)).map(|sequence| (sequence, draw(16))).collect();
            match figures.victim(effort, (8, log_room), candidates.into_iter()) {
                Some(sequence) => self.note("a victim", sequence % 2 == 0),
                None => self.note("no victim", true),
            }
            let end = end(draw);
            match figures.due_at_the_end(&end, effort, is_busy, log_room) {
                Due::Nothing => self.note("due: nothing", true),
                Due::Checkpoint(purpose) => self.note("due: a checkpoint", purpose == Purpose::Space),
                Due::Clean(sequence) => self.note("due: cleaning", sequence % 2 == 0),
                Due::Roll => self.note("due: another segment", true),
                Due::Shrink(kept) => self.note(cut_to(kept), true),
            }
            self.note("the log is in the way", figures.is_log_in_the_way(&end, COMPACTED, log_room));
            self.note("the log is far behind", figures.is_log_far_behind(&end, COMPACTED, log_room));
            self.best(effort, &figures, draw);
        }
        let behind = Behind {
            log: draw(16) * 4,
            checkpoint: draw(4) * if draw(2) == 0 { 4 } else { 256 },
            log_max: None,
            fits_first_segment: draw(4) == 0,
            has_damage: draw(8) == 0,
        };
        self.note("a checkpoint is due", behind.is_checkpoint_due(16));
        self.note("a checkpoint at the close", behind.is_checkpoint_wanted_at_close(figures.segment_bytes));
        for purpose in [Purpose::Opening, Purpose::Space] {
            self.note("leaves are taken over", purpose.takes_over(is_busy));
        }
    }

    fn best(&mut self, effort: Effort, figures: &Figures, draw: &mut dyn FnMut(u64) -> u64) {
        let mut work = |user_bytes| Work {
            user_bytes,
            relocated_bytes: draw(80) * 8,
            checkpoint_written_bytes: draw(20) * 8,
            rolls: draw(4),
            ..Work::default()
        };
        let before = Best::now(effort, figures, 6, &work(1));
        let others = [Best { effort: Effort::All, ..before }, Best { user_bytes: 2, ..before }];
        let after = Best::now(effort, figures, 4 + figures.usage.free as u32, &work(1));
        self.note("held", after.held.is_multiple_of(2));
        self.note("written", after.written.is_multiple_of(16));
        self.note("the best was before", before.or(after) == before);
        others.into_iter().for_each(|other| self.note("the best was of others", other.or(after) == other));
        if after.written >= before.written {
            self.note("in vain", figures.is_in_vain(before, after));
        }
    }
}

fn cut_to(kept: Kept) -> &'static str {
    match kept {
        Kept::Held => "due: a cut to what is held",
        Kept::AtRest => "due: a cut to what is kept at rest",
        Kept::Reserve => "due: a cut to the reserve",
    }
}

fn figures(draw: &mut dyn FnMut(u64) -> u64) -> Figures {
    let segments = 1 + draw(12);
    let usage = Usage {
        live: draw(segments * 8 + 1) * 2,
        in_use: draw(segments + 1),
        waiting: draw(4),
        waiting_for_two: draw(4),
        pinned: draw(3),
        checkpoints: draw(3),
        checkpoint_bytes: draw(9) * 4,
        free: draw(6),
    };
    let (len, leeway) = (16 + (segments + draw(8)) * 16, draw(2) * draw(6) * 48);
    Figures { segment_bytes: 16, room: 14, len, front: 16, leeway, usage }
}

fn end(draw: &mut dyn FnMut(u64) -> u64) -> End {
    let top = draw(14) as u32;
    let mut near = |below| (draw(4) > 0).then(|| (top + draw(below) as u32).saturating_sub(3));
    let (next, reserved) = (near(6), near(12));
    End {
        beyond_held: draw(3) * 16,
        beyond_rest: draw(5) * 15,
        beyond_reserve: draw(5) * 15,
        is_reserve_wanted: draw(2) == 0,
        is_put_since_cut: draw(2) == 0,
        written_since_cut: draw(5) * 15,
        top,
        at_top: match draw(4) {
            0 => Top::Sealed(draw(2)),
            1 => Top::Current,
            2 => Top::Checkpoint,
            _ => Top::Other,
        },
        below: draw(3) as u32,
        within: draw(4) as u32,
        spare: draw(4) as u32,
        checkpoint_segments: draw(3) as u32,
        kept: draw(4) as u32,
        next,
        reserved,
    }
}
