//! One power cut, in every way that it may come out, and the life of the store after it.

use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::num::NonZeroU64;

use holotype::storage::sim::{SimDisk, explore_each};
use holotype_model::{Ending, Oracle};

use crate::live::{Live, Moment, Step, Violation};
use crate::part::Deadline;
use crate::setup::Setup;

use super::report::{Failure, Tally};
use super::walk::Scope;

/// More recoveries than any one power cut needs. Beyond this the tree has grown by mistake, and that is a failure.
pub const LEAVES_MAX: u64 = 200_000;

/// Cuts the power, and remembers where it did.
#[derive(Debug)]
pub(super) struct Cutter<'a> {
    pub(super) setup: Setup,
    /// What the store does after a power cut, each on a copy of its own.
    pub(super) followers: &'a [Step],
    pub(super) tally: Tally,
    /// With so many cuts to come, or fewer, the next one is the third in a row or a later one; and of those one in so many is tried.
    thirds: (u32, NonZeroU64),
    /// From then on power is not cut any more.
    until: Deadline,
    /// Whether a power cut was left out for want of time.
    pub(super) is_cut_short: bool,
    /// Disks that were tried, with their judge and the cuts that were still to come.
    seen: Seen,
    /// Stores that were tried when they had been opened: what they had in memory and on the disk, with their judge and the cuts that were still to come.
    opened: Seen,
}

type Seen = HashSet<u64, BuildHasherDefault<DefaultHasher>>;

impl<'a> Cutter<'a> {
    pub(super) fn new(setup: Setup, followers: &'a [Step]) -> Self {
        Cutter {
            setup,
            followers,
            tally: Tally::default(),
            thirds: (0, NonZeroU64::MIN),
            until: Deadline::never(),
            is_cut_short: false,
            seen: Seen::default(),
            opened: Seen::default(),
        }
    }

    /// One for `scope`.
    pub(super) fn of(scope: &'a Scope) -> Self {
        let thirds = (scope.cuts.saturating_sub(2), scope.third);
        Cutter { thirds, until: scope.until.clone(), ..Cutter::new(scope.setup, &scope.followers) }
    }

    /// Cuts the power at each of these moments. `cuts` says how many cuts in a row: with 2, another one while the store
    /// recovers, or during the step after that.
    pub(super) fn cut_each(
        &mut self,
        moments: Vec<Moment>,
        cuts: u32,
        trail: &mut Vec<String>,
    ) -> Result<(), Failure> {
        let count = moments.len();
        for (index, moment) in moments.into_iter().enumerate() {
            trail.push(format!("power cut after change {} of {count}", index + 1));
            self.cut(&moment.disk, &moment.oracle, cuts, trail)?;
            trail.pop();
        }
        Ok(())
    }

    fn cut(
        &mut self,
        disk: &SimDisk,
        oracle: &Oracle,
        cuts: u32,
        trail: &mut Vec<String>,
    ) -> Result<(), Failure> {
        if self.until.is_over() {
            self.is_cut_short = true;
            return Ok(());
        }
        let key = key(disk, oracle, cuts);
        let (is_third, one_in) = (cuts <= self.thirds.0, self.thirds.1);
        if is_third && key % one_in != 0 || !self.seen.insert(key) {
            return Ok(());
        }
        self.tally.windows += 1;
        self.tally.thirds += u64::from(is_third);
        let image = disk.fork();
        image.crash();
        let mut failure = None;
        let tally = explore_each(&image, LEAVES_MAX, |disk| {
            if failure.is_none() {
                failure = self.live_on(&disk, oracle, cuts, trail).err();
            }
        });
        self.tally.leaves += tally.leaves;
        self.tally.states += tally.states;
        self.tally.depth = self.tally.depth.max(tally.depth);
        match failure {
            Some(failure) => Err(failure),
            None if !tally.complete => {
                Err(fail(trail, format!("more than {LEAVES_MAX} ways to recover, so not all were tried")))
            }
            None => Ok(()),
        }
    }

    /// The life after a power cut: what is found, and what can be done with it.
    fn live_on(
        &mut self,
        disk: &SimDisk,
        oracle: &Oracle,
        cuts: u32,
        trail: &mut Vec<String>,
    ) -> Result<(), Failure> {
        let opened = Live::open(self.setup, disk.clone(), oracle.clone(), Ending::PowerCut);
        let decided = |trail: &[String], what| {
            let mut trail = trail.to_vec();
            if let Some(last) = trail.last_mut() {
                last.push_str(&decisions(disk));
            }
            Failure { trail, what }
        };
        let (live, opening, survived) = opened.map_err(|what| decided(trail, what))?;
        live.verify().map_err(|what| decided(trail, what))?;
        self.tally.note(survived);
        // Two recoveries often come to one and the same: then all that follows is, too, but for power cuts on the way there. Asked only now, when all is read
        // that is read of this disk: what a run decides must not depend on the runs before it.
        let is_new = self.opened.insert(key_of_opened(&live, cuts));
        self.tally.same += u64::from(!is_new);
        let place = trail.len() - 1;
        let plain = trail[place].clone();
        trail[place].push_str(&decisions(disk));
        if cuts > 1 {
            // spec. What it found, it finds again, wherever the opening was cut short.
            let moments = opening.into_iter().map(|disk| Moment { disk, oracle: live.oracle().clone() });
            self.cut_each(moments.collect(), cuts - 1, trail)?;
        }
        for step in self.followers.iter().filter(|_| is_new) {
            trail.push(step.to_string());
            self.follow(live.fork(), step, cuts, trail)?;
            trail.pop();
        }
        trail[place] = plain;
        Ok(())
    }

    /// Takes one more step, after which the store is opened once more.
    fn follow(
        &mut self,
        mut live: Live,
        step: &Step,
        cuts: u32,
        trail: &mut Vec<String>,
    ) -> Result<(), Failure> {
        let fail = |what: Violation| fail(trail, what);
        if cuts <= 1 {
            live.look_away();
        }
        let moments = live.step(step).map_err(fail)?;
        live.look().map_err(fail)?;
        if cuts > 1 {
            self.cut_each(moments, cuts - 1, trail)?;
        } else {
            self.tally.lives += 1;
            live.step(&Step::Kill).map_err(|what| Failure { trail: trail.clone(), what })?;
            live.look().map_err(|what| Failure { trail: trail.clone(), what })?;
        }
        Ok(())
    }
}

pub(super) fn fail(trail: &[String], what: String) -> Failure {
    Failure { trail: trail.to_vec(), what }
}

/// The choices that this recovery met, as a person may want to see them.
fn decisions(disk: &SimDisk) -> String {
    let taken = disk.decisions();
    if taken.is_empty() {
        return String::new();
    }
    let choices: Vec<String> = taken
        .iter()
        .map(|decision| format!("{:?}: {} of {}", decision.what, decision.choice + 1, decision.alternatives))
        .collect();
    format!(" [{}]", choices.join(", "))
}

fn key_of_opened(live: &Live, cuts: u32) -> u64 {
    let mut hasher = DefaultHasher::new();
    (live.db().fingerprint(), live.disk().fingerprint(), live.oracle(), cuts).hash(&mut hasher);
    hasher.finish()
}

fn key(disk: &SimDisk, oracle: &Oracle, cuts: u32) -> u64 {
    let mut hasher = DefaultHasher::new();
    (disk.fingerprint(), oracle, cuts).hash(&mut hasher);
    hasher.finish()
}
