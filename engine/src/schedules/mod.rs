//! Whole stores under random schedules of their threads: shuttle stands behind every lock, atomic and thread of `sync`, and at each of
//! their steps the seed says who goes on.
//!
//! A run tries many seeds from a first one on. A failure names its seed; with that in the variable, the very same schedule runs
//! again, and no other:
//!
//! ```sh
//! RUSTFLAGS="--cfg shuttle" HOLOTYPE_SCHEDULE=17 cargo test --release -p holotype --lib --features seeded schedules
//! ```

mod bank;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use shuttle::scheduler::RandomScheduler;
use shuttle::{Config, FailurePersistence, MaxSteps, Runner};

use crate::sync::race::{Mistake, failure_with};

/// No schedule of these scenarios takes so many steps unless a thread waits for ever.
const STEPS_MAX: usize = 200_000;

/// Enough for a commit or a recovery.
const STACK_BYTES: usize = 512 << 10;

/// Runs `scenario` under one schedule.
fn run_one(seed: u64, scenario: fn(u64)) {
    let mut config = Config::new();
    config.stack_size = STACK_BYTES;
    config.failure_persistence = FailurePersistence::None;
    config.max_steps = MaxSteps::FailAfter(STEPS_MAX);
    config.silence_warnings = true;
    let scheduler = RandomScheduler::new_from_seed(seed, 1);
    Runner::new(scheduler, config).run(move || scenario(seed));
}

/// Runs `scenario` under the schedules of `count` seeds, or under the one that the environment names.
fn every_seed(count: u64, scenario: fn(u64)) {
    let seeds = match std::env::var("HOLOTYPE_SCHEDULE") {
        Ok(seed) => {
            let seed = seed.parse().expect("HOLOTYPE_SCHEDULE is the number of a schedule");
            seed..seed + 1
        }
        Err(_) => 0..count,
    };
    for seed in seeds {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| run_one(seed, scenario))) {
            eprintln!("schedule {seed} fails; it runs again with HOLOTYPE_SCHEDULE={seed}");
            resume_unwind(panic);
        }
    }
}

/// Asserts that with `mistake` switched on `scenario` fails under one of the first `count` seeds, in the words of `symptom`; which one.
fn is_found(mistake: impl Mistake, symptom: &str, count: u64, scenario: fn(u64)) -> u64 {
    let failure = |seed| failure_with(mistake, || run_one(seed, scenario));
    let Some((seed, words)) = (0..count).find_map(|seed| Some((seed, failure(seed)?))) else {
        panic!("{mistake:?} shows in none of {count} schedules")
    };
    assert!(words.contains(symptom), "{mistake:?} shows as {words:?}, not as {symptom:?}");
    assert_eq!(failure(seed), Some(words), "the same seed is the same schedule");
    run_one(seed, scenario);
    seed
}
