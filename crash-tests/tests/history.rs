//! Threads on one store, and the order that explains what they were told.

use holotype_crash_tests::history::{self, Tally};

//= spec/space.md#p-3-3-one-step
//# Whether a record is live, and the placing of its relocation, MUST be one step in which nobody else places
//# a commit, and in which nothing is pending.
//= spec/semantics.md#s-1-3-one-at-a-time
//# A store MUST behave as if each call took effect at one moment between its start and its return, in the
//# order of the commits.
//= spec/semantics.md#s-6-8-visibility
//# A store MUST NOT return from a write before its commit is visible to every reader that begins later.
//= spec/transactions.md#t-2-2-one-writer-at-a-time
//# Between the begin and the end of a write transaction a store MUST NOT place a commit of anybody else.
#[test]
fn every_history_of_threads_has_an_order_that_explains_it() {
    let mut tally = Tally::default();
    for seed in 0..150 {
        tally += history::check(seed).unwrap_or_else(|what| panic!("{what}"));
    }
    println!("{tally}");
    assert!(tally.overlaps > tally.histories, "the threads hardly met: {tally}");
    assert!(tally.cuts > tally.histories, "the power was hardly ever cut: {tally}");
    assert!(tally.snapshots_read > tally.histories, "snapshots were hardly kept: {tally}");
}

/// The check can fail: each of these mistakes is one that threads meet, and the histories show it.
#[cfg(feature = "seeded")]
#[test]
fn no_order_explains_what_threads_see_of_a_seeded_bug() {
    use holotype::seeded::{Bug, switch_on};

    for bug in [
        Bug::CommitVisibleInPieces,
        Bug::VersionsNotRetained,
        Bug::IndexBeforeWrite,
        Bug::VisibleBeforeDurable,
        Bug::SyncSkipped,
        Bug::SyncBeforeWrite,
        Bug::ManyUpdatedTwice,
        Bug::UniqueInOldState,
    ] {
        switch_on(Some(bug));
        let red = (0..5000).find_map(|seed| Some((seed, history::check(seed).err()?)));
        switch_on(None);
        let (seed, what) = red.unwrap_or_else(|| panic!("{bug:?} is explained"));
        println!("{bug:?}: after {} histories, {what}", seed + 1);
    }
}
