//! Threads on one store, and the order that explains what they were told.

use holotype_crash_tests::history::{self, Tally};

#[test]
fn every_history_of_threads_has_an_order_that_explains_it() {
    let mut tally = Tally::default();
    for seed in 0..1000 {
        tally += history::check(seed).unwrap_or_else(|what| panic!("{what}"));
    }
    println!("{tally}");
    assert!(tally.overlaps > tally.histories, "the threads hardly met: {tally}");
    assert!(tally.cuts > tally.histories, "the power was hardly ever cut: {tally}");
}
