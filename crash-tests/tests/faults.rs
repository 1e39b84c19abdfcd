//! Storage calls that fail.

use holotype_crash_tests::faults::{Tally, every_fault};
use holotype_crash_tests::part::Shard;
use holotype_crash_tests::setup::Setup;

//= spec/media.md#m-3-4-the-commit-in-flight
//# A store MUST NOT report it as rolled back.
//= spec/media.md#m-3-5-reopening
//# After a failed sync a store MUST decide what is durable by opening the file anew, and make what it finds
//# there durable before it answers from it; what the cache happened to show before proves nothing.
//= spec/semantics.md#s-8-1-three-answers
//# A store MUST NOT report a write as refused or failed when a crash could still show its commit, but for the
//# case of S-8.5.
//= spec/durability.md#d-5-1-before-the-acknowledgement
//# A want of room MUST show before the commit is acknowledged, as a failure of its call or of a call in front
//# of it.
#[test]
fn every_other_call_of_the_workload_may_fail_in_every_way() {
    every_second(1);
}

#[test]
fn and_so_may_the_calls_between_them() {
    every_second(2);
}

/// In two halves, so that they run side by side.
fn every_second(half: u32) {
    let mut tally = Tally::default();
    let shard = Shard::new(half, 2).expect("there are two halves");
    match every_fault(Setup::TINY, shard, &mut tally, || true) {
        Ok(is_over) => assert!(is_over),
        Err(what) => panic!("{what}"),
    }
    println!("{tally}");
    assert!(tally.unnoticed > 0 && tally.stopped > 0 && tally.full > 0 && tally.recoveries > 0, "{tally}");
}
