//! One day of a store: threads that ask, one that cleans, and a power cut at every sync.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use holotype::storage::sim::{Decisions, SimDisk, explore_each};
use holotype::{Db, Durability, doc};
use shuttle::thread;

use crate::history::call::{Answer, Call, Op};
use crate::history::explain;
use crate::history::perform::Hands;
use crate::history::plan::Step;
use crate::history::record::{Actor, Event, History, Seen, lsns, open};
use crate::history::snapshots::Snapshots;
use crate::witness::Witness;

use super::disk::{Moment, SyncedDisk};
use super::plan::{Plan, SETUP};

/// Ways of one power cut, beyond which it is not looked at in every way.
const WAYS_MAX: u64 = 64;

/// How much a day had of what it is for.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) days: u64,
    pub(super) calls: u64,
    pub(super) overlaps: u64,
    /// Syncs that began, at each of which power was cut.
    pub(super) syncs: u64,
    /// What those power cuts, and those at any other time, left: so many disks were recovered.
    pub(super) recoveries: u64,
    /// Power cuts that were looked at in every way in which they may come out.
    pub(super) whole: u64,
    /// Power cuts that left one state or another, as it came out.
    pub(super) forked: u64,
    /// Steps of maintenance that came to something.
    pub(super) steps: u64,
    pub(super) checkpoints: u64,
    /// Days on which records were moved, and on which places were used again; and such places.
    pub(super) moved: u64,
    pub(super) days_of_reuse: u64,
    pub(super) reused: u64,
    pub(super) snapshots_read: u64,
}

impl Counts {
    pub(super) fn add(&mut self, other: &Counts) {
        let Counts { days, calls, overlaps, syncs, recoveries, whole, forked, .. } = other;
        let Counts { steps, checkpoints, moved, days_of_reuse, reused, snapshots_read, .. } = other;
        for (sum, more) in [
            (&mut self.days, days),
            (&mut self.calls, calls),
            (&mut self.overlaps, overlaps),
            (&mut self.syncs, syncs),
            (&mut self.recoveries, recoveries),
            (&mut self.whole, whole),
            (&mut self.forked, forked),
            (&mut self.steps, steps),
            (&mut self.checkpoints, checkpoints),
            (&mut self.moved, moved),
            (&mut self.days_of_reuse, days_of_reuse),
            (&mut self.reused, reused),
            (&mut self.snapshots_read, snapshots_read),
        ] {
            *sum += more;
        }
    }
}

/// Carries out a plan on a store that is `image`, under the schedule that the caller stands in.
pub(super) fn day(plan: &Plan, image: &[u8]) -> Result<Counts, String> {
    let clock = Arc::new(AtomicU64::new(0));
    let image = SimDisk::from_bytes(SETUP.sector, SETUP.level, image);
    let options = plan.options();
    let geometry = SETUP.geometry();
    let disk = SyncedDisk::new(image, geometry, Arc::clone(&clock));
    let mut counts = Counts { days: 1, ..Counts::default() };
    let db = open(disk.clone(), &options)?;
    let before = db.stats().space.relocated_bytes;
    let mut seen = threads(plan, &db, &disk, &clock, &mut counts)?;
    counts.moved = u64::from(db.stats().space.relocated_bytes > before);

    let mut look = |db: &Db, id, op| {
        let call = Call { id, class: Durability::Synced, op };
        let (db, disk, clock) = (db.clone(), disk.disk().clone(), Arc::clone(&clock));
        let actor = Actor { thread: plan.threads.len(), db, disk, clock, snapshots: Arc::default() };
        actor.run(&[Step { yields: 0, call }]).map(|more| seen.add(more))
    };
    look(&db, 101, Op::Scan)?;
    db.close().map_err(|error| format!("closing: {error}"))?;
    let db = open(disk.clone(), &options)?;
    look(&db, 102, Op::Reopen)?;
    is_in_order(&db, "after the end")?;

    counts.reused = disk.reused();
    counts.days_of_reuse = u64::from(counts.reused > 0);
    judge(plan, seen, disk.take_syncs(), &mut counts)?;
    Ok(counts)
}

/// Runs the threads to their end, the cleaner among them.
fn threads(
    plan: &Plan,
    db: &Db,
    disk: &SyncedDisk,
    clock: &Arc<AtomicU64>,
    counts: &mut Counts,
) -> Result<Seen, String> {
    let snapshots = Arc::new(Snapshots::default());
    let start = |(thread, steps): (usize, &Vec<Step>)| {
        let (db, disk, clock) = (db.clone(), disk.disk().clone(), Arc::clone(clock));
        let actor = Actor { thread, db, disk, clock, snapshots: Arc::clone(&snapshots) };
        let steps = steps.clone();
        thread::spawn(move || actor.run(&steps))
    };
    let threads: Vec<_> = plan.threads.iter().enumerate().map(start).collect();
    let (cleaned, checkpoints) = (db.clone(), plan.checkpoints.clone());
    let cleaner = thread::spawn(move || clean(&cleaned, &checkpoints));
    let (filled, classes) = (db.clone(), plan.fills.clone());
    let filler = thread::spawn(move || fill(&filled, &classes));
    let mut all = Seen::default();
    for thread in threads {
        all.add(thread.join().map_err(|_| "a panic".to_owned())??);
    }
    (counts.steps, counts.checkpoints) = cleaner.join().map_err(|_| "a panic".to_owned())??;
    filler.join().map_err(|_| "a panic".to_owned())??;
    all.snapshots_read += snapshots.read_again(&mut Hands::new(db))?;
    counts.snapshots_read = all.snapshots_read;
    Ok(all)
}

/// Steps of maintenance that came to something, and checkpoints.
fn clean(db: &Db, checkpoints: &[bool]) -> Result<(u64, u64), String> {
    let (mut steps, mut taken) = (0, 0);
    for is_checkpoint in checkpoints {
        if *is_checkpoint {
            db.checkpoint().map_err(|error| format!("a checkpoint: {error}"))?;
            taken += 1;
        }
        let stepped = db.maintain().map_err(|error| format!("a step of maintenance: {error}"))?;
        steps += u64::from(stepped);
    }
    Ok((steps, taken))
}

/// Commits that are no part of the history, and so make no search for an order longer: each takes most of a segment.
fn fill(db: &Db, classes: &[Durability]) -> Result<(), String> {
    for (n, class) in (0..).zip(classes) {
        let filler = doc! { "n": n, "filler": "y".repeat(200) };
        let put = db.collection("filler").with_durability(*class).put(n % 2, filler);
        put.map_err(|error| format!("filling a segment: {error}"))?;
    }
    Ok(())
}

fn is_in_order(db: &Db, when: &str) -> Result<(), String> {
    let report = db.verify(true).map_err(|error| format!("verifying {when}: {error}"))?;
    report.problems.first().map_or(Ok(()), |problem| Err(format!("{when}: {problem}")))
}

/// Holds what was answered, and what each power cut leaves, against what is legal.
fn judge(plan: &Plan, seen: Seen, syncs: Vec<Moment>, counts: &mut Counts) -> Result<(), String> {
    let Seen { mut events, cuts: asked, mut versions, .. } = seen;
    counts.calls = (events.len() + asked.len()) as u64;
    counts.syncs = syncs.len() as u64;
    counts.overlaps = crate::history::overlaps(&events);
    let mut cuts = Cuts { plan, versions: &mut versions, found: Vec::new(), counts };
    for (event, returned, image) in asked {
        cuts.cut(&event, returned, &image)?;
    }
    for (id, Moment { invoked, returned, image }) in (1_000..).zip(syncs) {
        let call = Call { id, class: Durability::Synced, op: Op::Cut };
        let thread = plan.threads.len();
        cuts.cut(&Event { thread, call, invoked, returned: None, lsn: None }, returned, &image)?;
    }
    let cuts = cuts.found;
    let lsns = lsns(&versions)?;
    for event in &mut events {
        event.lsn = lsns.get(&event.call.id).copied();
    }
    explain::judge(&plan.initial, &History { events, cuts, snapshots_read: 0 })
        .map_err(|what| what.to_string())
}

/// Power cuts, and what they leave.
struct Cuts<'a> {
    plan: &'a Plan,
    versions: &'a mut Vec<(u32, u64)>,
    /// Each with an answer of its own: two ways that leave the same say the same.
    found: Vec<Event>,
    counts: &'a mut Counts,
}

impl Cuts<'_> {
    /// The power goes while the disk is `image`. In two ways: all that was not synced is lost, and as the seed decides; now and then in every way.
    fn cut(&mut self, event: &Event, returned: u64, image: &SimDisk) -> Result<(), String> {
        let seed = self.plan.seed.wrapping_mul(64).wrapping_add(returned);
        let mut answers: Vec<Answer> = Vec::new();
        let mut open = |cuts: &mut Self, image: SimDisk| {
            let answer = cuts.recover(event, image)?;
            if !answers.contains(&answer) {
                answers.push(answer);
            }
            Ok::<_, String>(())
        };
        if seed.is_multiple_of(16) {
            let crashed = image.fork();
            crashed.crash();
            let mut opened = Ok(());
            let tally = explore_each(&crashed, WAYS_MAX, |image| {
                if opened.is_ok() {
                    opened = open(self, image);
                }
            });
            opened?;
            self.counts.whole += u64::from(tally.complete);
        } else {
            for decisions in [Decisions::path(Vec::new()), Decisions::seeded(seed)] {
                let image = image.fork();
                image.set_decisions(decisions);
                image.crash();
                open(self, image)?;
            }
        }
        self.counts.forked += u64::from(answers.len() > 1);
        self.found.extend(
            answers.into_iter().map(|answer| Event { returned: Some((returned, answer)), ..event.clone() }),
        );
        Ok(())
    }

    /// Opens what the power cut left, looks, and has the store check itself.
    fn recover(&mut self, event: &Event, image: SimDisk) -> Result<Answer, String> {
        self.counts.recoveries += 1;
        let witness = Witness::new(image);
        let mut recover = || {
            let db = open(witness.clone(), &self.plan.options())?;
            let mut hands = Hands::new(&db);
            let answer = hands.perform(&event.call)?;
            self.versions.append(&mut hands.versions);
            is_in_order(&db, "recovered")?;
            // Nobody closes it.
            witness.switch_off();
            Ok(answer)
        };
        recover().map_err(|what: String| format!("a power cut at {}: {what}", event.invoked))
    }
}
