//! Histories under schedules from a seed: shuttle stands behind every lock, atomic and thread of the engine, and at each of their steps the
//! seed says who goes on. Beside the callers, a cleaner takes steps of maintenance and checkpoints in segments of 512 bytes, so that places are
//! freed and used again; and at every sync, whoever asked for it, power is cut. What each power cut leaves is recovered, and must be explained
//! by the history up to then, as every answer must: strictly serializable, and durable up to what was acknowledged.
//!
//! A failure names its seed; with that in the variable, the very same schedule runs again, and no other:
//!
//! ```sh
//! RUSTFLAGS="--cfg shuttle" HOLOTYPE_SCHEDULE=17 cargo test --release -p holotype-crash-tests --lib --features seeded schedules_with
//! ```
//!
//! `HOLOTYPE_SCHEDULES=20000` runs as many.

mod bank;
mod day;
mod disk;
mod plan;
mod uneven;

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use holotype::seeded::Bug;
use holotype::{Race, switch_race_on};
use shuttle::scheduler::{RandomScheduler, Scheduler};
use shuttle::{Config, FailurePersistence, MaxSteps, Runner};

use day::{Counts, day};
use plan::Plan;
use uneven::Uneven;

/// No schedule takes so many steps unless a thread waits for ever.
const STEPS_MAX: usize = 2_000_000;

/// Enough for a commit or a recovery.
const STACK_BYTES: usize = 512 << 10;

/// What can be switched on to see that a schedule shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mistake {
    None,
    Race(Race),
    Bug(Bug),
}

impl Mistake {
    /// Switches it on in the place of any other. All threads of a schedule are on one thread of the machine, and see it.
    fn switch_on(self) {
        let (race, bug) = match self {
            Mistake::None => (None, None),
            Mistake::Race(race) => (Some(race), None),
            Mistake::Bug(bug) => (None, Some(bug)),
        };
        switch_race_on(race);
        holotype::seeded::switch_on(bug);
    }
}

/// Runs `scenario` under the schedule of `seed`; an error is the words in which it fails.
fn run<T: Copy + Default + Send + 'static>(
    seed: u64,
    scenario: impl Fn() -> Result<T, String> + Send + Sync + 'static,
) -> Result<T, String> {
    let mut config = Config::new();
    config.stack_size = STACK_BYTES;
    config.failure_persistence = FailurePersistence::None;
    config.max_steps = MaxSteps::FailAfter(STEPS_MAX);
    config.silence_warnings = true;
    let scheduler: Box<dyn Scheduler + Send> = if seed.is_multiple_of(2) {
        Box::new(RandomScheduler::new_from_seed(seed, 1))
    } else {
        Box::new(Uneven::new(seed))
    };
    let told = Arc::new(Mutex::new(T::default()));
    let tell = Arc::clone(&told);
    let ran = catch_unwind(AssertUnwindSafe(|| {
        Runner::new(scheduler, config).run(move || {
            let came = scenario().unwrap_or_else(|what| panic!("{what}"));
            *tell.lock().unwrap_or_else(PoisonError::into_inner) = came;
        })
    }));
    match ran {
        Ok(_) => Ok(*told.lock().unwrap_or_else(PoisonError::into_inner)),
        Err(panic) => {
            let said = panic.downcast_ref::<String>().map(String::as_str);
            Err(said.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or_default().to_owned())
        }
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("it is a number"))
}

/// As many schedules from the first on, or the one that the environment names.
fn seeds(count: u64) -> Range<u64> {
    number("HOLOTYPE_SCHEDULE").map_or(0..count, |seed| seed..seed + 1)
}

/// The day of `seed` under its schedule, with `mistake` switched on.
fn run_one(seed: u64, mistake: Mistake) -> Result<Counts, String> {
    // Its store is prepared without the mistake, and in a schedule of its own: so the day is the same whether it was prepared before or not.
    run(0, move || Plan::seeded(seed).prepare())?;
    mistake.switch_on();
    let counts = run(seed, move || {
        let plan = Plan::seeded(seed);
        day(&plan, &plan.image())
    });
    Mistake::None.switch_on();
    counts
}

#[test]
fn schedules_with_a_cleaner_and_a_power_cut_at_every_sync_leave_what_an_order_of_the_calls_explains() {
    let count = number("HOLOTYPE_SCHEDULES").unwrap_or(500);
    let seeds = seeds(count);
    let mut all = Counts::default();
    for seed in seeds.clone() {
        match run_one(seed, Mistake::None) {
            Ok(counts) => all.add(&counts),
            Err(what) => {
                panic!("schedule {seed} fails; it runs again with HOLOTYPE_SCHEDULE={seed}: {what}")
            }
        }
    }
    println!("{all:?}");
    if seeds.count() > 1 {
        assert!(all.overlaps > 10 * all.days, "the threads hardly met: {all:?}");
        assert!(all.moved > all.days / 2 && all.checkpoints > all.days, "there was little to clean: {all:?}");
        assert!(all.days_of_reuse > all.days / 4, "places were hardly used again: {all:?}");
        assert!(all.syncs > 20 * all.days, "power was hardly cut: {all:?}");
        assert!(all.forked > all.days, "power cuts hardly ever came out in two ways: {all:?}");
        assert!(all.whole > all.days / 2, "hardly any was looked at in every way: {all:?}");
        assert!(all.snapshots_read > all.days, "snapshots were hardly kept: {all:?}");
    }
}

/// Asserts that `mistake` shows under one of the first `count` schedules, in the words of `symptom`, and again under the same one.
fn is_found<T>(
    mistake: Mistake,
    symptom: &str,
    count: u64,
    run_one: impl Fn(u64, Mistake) -> Result<T, String>,
) {
    let shown = (0..count).filter_map(|seed| Some((seed, run_one(seed, mistake).err()?)));
    // Most mistakes show in more than one way: which comes first is the schedule's.
    let found = shown.inspect(|(seed, words)| println!("{mistake:?}: schedule {seed}: {words}"));
    let Some((seed, words)) = { found }.find(|(_, words)| words.contains(symptom)) else {
        panic!("{mistake:?} shows as {symptom:?} in none of {count} schedules")
    };
    assert_eq!(run_one(seed, mistake).err(), Some(words), "the same seed is the same schedule");
    if let Err(what) = run_one(seed, Mistake::None) {
        panic!("without the mistake the same day holds: {what}");
    }
}

fn shows(mistake: Mistake, symptom: &str, count: u64) {
    is_found(mistake, symptom, count, run_one);
}

// No check without a cleaner among its threads can see these two.
#[test]
fn schedules_show_a_cleaner_that_brings_back_what_was_replaced_meanwhile() {
    shows(Mistake::Race(Race::LivenessAskedEarly), "no order of these calls explains", 500);
}

#[test]
fn schedules_show_a_checkpoint_that_takes_what_came_after_its_sync_for_durable() {
    shows(Mistake::Race(Race::CheckpointSyncCoversLater), "a commit that was once durable", 500);
}

#[test]
fn schedules_show_places_that_are_used_again_too_soon() {
    shows(Mistake::Bug(Bug::ReuseWithoutCheckpoint), "the file is damaged", 100);
    shows(Mistake::Bug(Bug::ReuseAfterNewestCheckpoint), "the file is damaged", 100);
    // What a snapshot kept is gone, or something else stands in its place.
    shows(Mistake::Bug(Bug::PinsIgnored), "snapshot", 1_000);
}

#[test]
fn schedules_show_a_checkpoint_that_is_named_before_it_is_durable() {
    shows(Mistake::Bug(Bug::CheckpointNotSynced), "clause F-8.12", 100);
}
