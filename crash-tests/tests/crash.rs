//! Every power cut in every short sequence of steps.

use holotype_crash_tests::crash::{Scope, Tally, run};
use holotype_crash_tests::setup::Setup;

fn survives(setup: Setup, len: usize, cuts: u32) -> Tally {
    match run(&Scope::new(setup, len, cuts)) {
        Ok((tally, is_over)) => {
            assert!(is_over, "nobody set an end");
            assert!(tally.leaves > 0 && tally.windows > 0 && tally.sequences > 0, "{tally}");
            println!("{}: {tally}", setup.name);
            tally
        }
        Err((_, failure)) => panic!("{}:\n{failure}", setup.name),
    }
}

#[test]
fn a_store_survives_every_power_cut_while_it_is_created() {
    survives(Setup::TINY, 0, 1);
}

#[test]
fn every_sequence_of_two_steps_survives_every_power_cut() {
    let tally = survives(Setup::TINY, 2, 1);
    // A run in which no commit was torn away, and none came through, has shown nothing about either.
    assert!(tally.lost > 0 && tally.partial > 0 && tally.kept > 0, "{tally}");
}

#[test]
fn every_step_survives_every_power_cut_where_segments_hold_more() {
    survives(Setup::SMALL, 1, 1);
}

#[test]
fn every_step_survives_every_power_cut_that_leaves_garbage() {
    survives(Setup::GARBAGE, 1, 1);
}
