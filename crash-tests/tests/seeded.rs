//! Checks are shown to fail: a bug of the catalogue, switched on alone, turns at least one of them red. Those that do not yet
//! are named in `HOLES`.
#![cfg(feature = "seeded")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::time::Instant;

use holotype::seeded::{Bug, switch_on};
use holotype_crash_tests::crash::{Scope, run};
use holotype_crash_tests::media::{Damage, Specimen};
use holotype_crash_tests::setup::Setup;
use holotype_crash_tests::{faults, history, media, power, random, readers};

/// A check that ends by itself: how much it tried, or what it found and after how much.
type Check = (&'static str, fn() -> Result<u64, (u64, String)>);

/// Bugs that none of these checks catches: holes in them, to be closed. Most need damage together with a certain leftover of a
/// power cut, or two cuts in a row, which take longer than a test may. Some are caught elsewhere: `SectorSharedAcrossSyncs` and
/// `WatermarkForgotten` by the engine's own `tests/recovery.rs`, `EndedSnapshotAnswers` by its `tests/snapshots.rs`, and `WakeUpLost` under
/// loom, which needs no clock to see that somebody waits for ever.
const HOLES: &[Bug] = &[
    Bug::DamagedHeaderEndsTheChain,
    Bug::IncarnationFromTheSlotAlone,
    Bug::BodyChecksumIgnored,
    Bug::PredecessorEndIgnored,
    Bug::SectorSharedAcrossSyncs,
    Bug::WatermarkForgotten,
    Bug::EndedSnapshotAnswers,
    Bug::WakeUpLost,
];

/// The cheap ones first.
const CHECKS: &[Check] = &[
    ("readers", readers),
    ("lives", lives),
    ("creation", || every_cut(Setup::TINY, 0, 1)),
    ("crash", || every_cut(Setup::TINY, 2, 1)),
    ("faults", failing),
    ("media", damaged),
    ("power", cuts),
    ("short lives", || every_cut(Setup::SHORT_LIVES, 2, 1)),
    ("histories", histories),
];

fn readers() -> Result<u64, (u64, String)> {
    readers::every_check().map_err(|what| (1, what))
}

fn histories() -> Result<u64, (u64, String)> {
    for seed in 0..600 {
        history::check(seed).map_err(|what| (seed + 1, what))?;
    }
    Ok(600)
}

fn lives() -> Result<u64, (u64, String)> {
    let mut cases = 0;
    for seed in 0..40 {
        cases += 1;
        random::live(seed, 150, Setup::SECTORS, &[]).map_err(|reduced| (cases, reduced.to_string()))?;
    }
    Ok(cases)
}

fn every_cut(setup: Setup, len: usize, cuts: u32) -> Result<u64, (u64, String)> {
    match run(&Scope::new(setup, len, cuts)) {
        Ok((tally, _)) => Ok(tally.leaves),
        Err((tally, failure)) => Err((tally.leaves, failure.to_string())),
    }
}

fn failing() -> Result<u64, (u64, String)> {
    let mut tally = faults::Tally::default();
    let result = faults::every_fault(Setup::TINY, &mut tally, || true);
    result.map(|_| tally.cases).map_err(|what| (tally.cases, what))
}

fn damaged() -> Result<u64, (u64, String)> {
    let mut tally = media::Tally::default();
    for make in [Specimen::closed, Specimen::left_open] {
        let specimen = make(Setup::TINY).map_err(|what| (0, what))?;
        for (index, damage) in media::all(&specimen).iter().enumerate() {
            let is_wanted = match damage {
                Damage::Flip { .. } | Damage::Swap(..) => index % 7 == 0,
                Damage::Truncate(_) => index % 5 == 0,
                _ => true,
            };
            if is_wanted {
                media::try_damage(&specimen, damage, &mut tally).map_err(|what| (tally.cases, what))?;
            }
        }
    }
    Ok(tally.cases)
}

fn cuts() -> Result<u64, (u64, String)> {
    let mut cases = 0;
    for seed in 0..12 {
        let tally =
            power::life(seed, 40, Setup::SECTORS, &[]).map_err(|failure| (cases, failure.to_string()))?;
        cases += tally.leaves;
    }
    Ok(cases)
}

/// The first check that turns red while `bug` is on, after how many cases, and in how many seconds.
fn first_red(bug: Bug) -> Option<(&'static str, u64, f64, String)> {
    let start = Instant::now();
    CHECKS.iter().find_map(|(name, check)| {
        switch_on(Some(bug));
        let result = catch_unwind(AssertUnwindSafe(check));
        switch_on(None);
        let (cases, what) = match result {
            Ok(Ok(_)) => return None,
            Ok(Err(found)) => found,
            Err(_) => (0, "a panic".to_owned()),
        };
        Some((*name, cases, start.elapsed().as_secs_f64(), what))
    })
}

#[test]
fn every_seeded_bug_but_for_the_known_holes_turns_a_check_red() {
    // A bug that trips an assertion is caught; its backtrace is of no interest.
    std::panic::set_hook(Box::new(|_| {}));
    let bugs = Mutex::new(Bug::ALL.iter().filter(|bug| !HOLES.contains(bug)));
    let rows = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(bug) = { bugs.lock().expect("no check panics here").next() } {
                    let red = first_red(*bug);
                    rows.lock().expect("no check panics here").push((*bug, red));
                }
            });
        }
    });
    let _ = std::panic::take_hook();
    let mut rows = rows.into_inner().expect("no check panics here");
    rows.sort_by_key(|(bug, _)| *bug);
    println!("{} of {} bugs; not caught: {HOLES:?}", rows.len(), Bug::ALL.len());
    println!("| bug | check | cases | seconds |\n|---|---|---|---|");
    for (bug, red) in &rows {
        match red {
            Some((check, cases, seconds, _)) => println!("| {bug:?} | {check} | {cases} | {seconds:.1} |"),
            None => println!("| {bug:?} | none | | |"),
        }
    }
    let survivors: Vec<_> = rows.iter().filter(|(_, red)| red.is_none()).map(|(bug, _)| bug).collect();
    assert!(survivors.is_empty(), "these bugs turn no check red: {survivors:?}");
}

#[test]
fn without_a_bug_every_check_is_green() {
    switch_on(None);
    for (name, check) in CHECKS {
        match check() {
            Ok(cases) => assert!(cases > 0, "{name} tried nothing"),
            Err((_, what)) => panic!("{name}: {what}"),
        }
    }
}
