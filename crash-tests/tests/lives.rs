//! Long lives from a seed.

use holotype_crash_tests::setup::Setup;
use holotype_crash_tests::{power, random};

#[test]
fn long_lives_with_crashes_agree_with_the_model() {
    for seed in 0..30 {
        for setup in [Setup::SECTORS, Setup::LARGE] {
            if let Err(reduced) = random::live(seed, 150, setup, &[]) {
                panic!("seed {seed}, {}:\n{reduced}", setup.name);
            }
        }
    }
}

#[test]
fn a_life_survives_power_cuts_at_all_its_writes() {
    for seed in 0..4 {
        let tally =
            power::life(seed, 30, Setup::SECTORS, &[]).unwrap_or_else(|failure| panic!("{seed}:\n{failure}"));
        assert!(tally.leaves > 0, "{tally}");
    }
}
