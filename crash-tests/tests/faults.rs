//! Storage calls that fail.

use holotype_crash_tests::faults::{Tally, every_fault};
use holotype_crash_tests::setup::Setup;

#[test]
fn every_call_of_the_workload_may_fail_in_every_way() {
    let mut tally = Tally::default();
    match every_fault(Setup::TINY, &mut tally, || true) {
        Ok(is_over) => assert!(is_over),
        Err(what) => panic!("{what}"),
    }
    println!("{tally}");
    assert!(tally.unnoticed > 0 && tally.stopped > 0 && tally.full > 0 && tally.recoveries > 0, "{tally}");
}
