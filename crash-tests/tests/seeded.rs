//! Checks are shown to fail: a bug of the catalogue, switched on alone, turns at least one of them red.
#![cfg(feature = "seeded")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;

use holotype::seeded::{Bug, switch_on};
use holotype_crash_tests::crash::{Scope, run};
use holotype_crash_tests::seeded::{
    CHECKS, ELSEWHERE, SAID_BY_A_TEST, found_in, is_for_a_check, table, try_bug_first_by,
};
use holotype_crash_tests::setup::Setup;

fn file_of_the_repository(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn every_seeded_bug_that_a_check_is_for_turns_one_red() {
    // A bug that trips an assertion is caught; its backtrace is of no interest.
    std::panic::set_hook(Box::new(|_| {}));
    // What the table says is where to look first, so that a bug takes no longer than it must; whatever it says, all is tried.
    let document = file_of_the_repository("docs/testing.md");
    let known: BTreeMap<_, _> = found_in(&document).expect("it has the table").into_iter().collect();
    let bugs = Mutex::new(Bug::ALL.iter().filter(|bug| is_for_a_check(**bug)));
    let rows = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(bug) = { bugs.lock().expect("no check panics here").next() } {
                    let likely = known.get(format!("{bug:?}").as_str()).copied().unwrap_or_default();
                    let row = try_bug_first_by(*bug, likely);
                    rows.lock().expect("no check panics here").push(row);
                }
            });
        }
    });
    let _ = std::panic::take_hook();
    let mut rows = rows.into_inner().expect("no check panics here");
    rows.sort_by_key(|row| row.bug);
    println!("{} of {} bugs\n{}", rows.len(), Bug::ALL.len(), table(&rows));
    let survivors: Vec<_> = rows.iter().filter(|row| row.found_by.is_empty()).map(|row| row.bug).collect();
    assert!(survivors.is_empty(), "these bugs turn no check red: {survivors:?}");
}

/// Checks of which `cargo test` runs the same cases without the feature, and which take longer than all others together.
const GREEN_IN_TESTS: [&str; 4] = ["fallback", "faults", "maintenance", "crash"];

#[test]
fn without_a_bug_every_check_is_green() {
    switch_on(None);
    for (name, check) in CHECKS.iter().filter(|(name, _)| !GREEN_IN_TESTS.contains(name)) {
        let start = std::time::Instant::now();
        match check() {
            Ok(cases) => {
                println!("{name}: {cases} cases in {:.1} s", start.elapsed().as_secs_f64());
                assert!(cases > 0, "{name} tried nothing");
            }
            Err((_, what)) => panic!("{name}: {what}"),
        }
    }
}

#[test]
fn the_catalogue_has_sixty_bugs() {
    assert!(Bug::ALL.len() >= 60, "{}", Bug::ALL.len());
}

#[test]
fn a_bug_that_is_said_to_be_found_by_a_test_is_switched_on_in_its_file() {
    for (bug, file) in ELSEWHERE.iter().chain(SAID_BY_A_TEST) {
        let test = file_of_the_repository(file);
        assert!(test.contains(&format!("Bug::{bug:?}")), "{file} says nothing of {bug:?}");
    }
}

#[test]
fn a_bug_of_which_the_costs_alone_tell_has_a_test_that_says_what_is_wrong() {
    let document = file_of_the_repository("docs/testing.md");
    let rows = found_in(&document).expect("it has the table");
    let by_costs: BTreeSet<_> =
        rows.iter().filter(|(_, check)| *check == "costs").map(|(bug, _)| (*bug).to_owned()).collect();
    let said: BTreeSet<_> = SAID_BY_A_TEST.iter().map(|(bug, _)| format!("{bug:?}")).collect();
    assert_eq!(by_costs, said);
}

#[test]
fn the_table_in_the_documentation_names_every_bug() {
    let document = file_of_the_repository("docs/testing.md");
    let rows = found_in(&document).expect("it has the table");
    let named: BTreeSet<_> = rows.into_iter().map(|(name, _)| name).collect();
    let names: Vec<_> = Bug::ALL.iter().map(|bug| format!("{bug:?}")).collect();
    let all: BTreeSet<_> = names.iter().map(String::as_str).collect();
    let differ: Vec<_> = all.symmetric_difference(&named).collect();
    assert!(differ.is_empty(), "run the example `matrix` with --docs docs/testing.md for {differ:?}");
}

/// What was synced is gone only where a cut leaves garbage in the sector: old bytes and new ones both have it.
#[test]
fn a_frame_in_a_synced_sector_is_found_where_a_power_cut_leaves_garbage_and_only_there() {
    let noticed = |name: &str| {
        let (_, check) = CHECKS.iter().find(|(known, _)| *known == name).expect("a check of this name");
        switch_on(Some(Bug::SectorSharedAcrossSyncs));
        let outcome = check();
        switch_on(None);
        outcome.is_err()
    };
    assert_eq!(["crash", "garbage"].map(noticed), [false, true]);
}

/// What is wrong after any power cut is met first where it is the last of a row: the walk is depth first.
#[test]
fn a_third_power_cut_in_a_row_is_judged_as_the_first_is() {
    for cuts in 1..=3 {
        switch_on(Some(Bug::OpeningFrameNotSynced));
        let ran = run(&Scope::new(Setup::TINY, 1, cuts));
        switch_on(None);
        let (tally, failure) = ran.expect_err("the mistake shows after each");
        let met = failure.trail.iter().filter(|line| line.starts_with("power cut")).count();
        assert_eq!(met, cuts as usize, "{tally}\n{failure}");
    }
}
