//! The model checker is shown to fail: each of these bugs, switched on alone, is found within a short search.
#![cfg(feature = "seeded")]

use std::time::Instant;

use holotype::seeded::{Bug, switch_on};
use holotype_crash_tests::machine::{Finding, Report, Scope, replay, search};

/// Bugs, and how deep the search must go.
const BUGS: &[(Bug, u32)] = &[
    (Bug::SyncSkipped, 2),
    (Bug::SyncBeforeWrite, 2),
    (Bug::ClaimsIgnored, 2),
    (Bug::CreationInOneSync, 2),
    (Bug::DirectoryNotSynced, 2),
    (Bug::SlotWrittenInPlace, 2),
    (Bug::DurabilityOverstated, 2),
    (Bug::FirstPartIsEnough, 2),
    (Bug::DeletesNotReplayed, 2),
    (Bug::DropNotReplayed, 2),
    (Bug::IndexBeforeWrite, 2),
    (Bug::VersionsNotRetained, 2),
    (Bug::VisibleBeforeDurable, 2),
    (Bug::FailedSyncAcknowledged, 2),
    (Bug::FailureForgotten, 2),
    (Bug::FullDiskPoisons, 2),
    (Bug::CheckpointNotSynced, 2),
    (Bug::ManyUpdatedTwice, 2),
    (Bug::EntryNotRemoved, 2),
    (Bug::EntriesNotRetained, 2),
    (Bug::RemovalLostInReplay, 3),
];

fn with_bug(bug: Option<Bug>, depth: u32) -> Report {
    switch_on(bug);
    let report = search(Scope { depth, ..Scope::default() }, |_| {});
    switch_on(None);
    report
}

#[test]
fn the_machine_finds_bugs_of_the_catalogue_by_a_shortest_path_that_repeats_them() {
    // A bug that trips an assertion is found; its backtrace is of no interest.
    std::panic::set_hook(Box::new(|_| {}));
    let mut survivors = Vec::new();
    println!("| bug | states | seconds | path | found |\n|---|---|---|---|---|");
    for (bug, depth) in BUGS {
        let start = Instant::now();
        let report = with_bug(Some(*bug), *depth);
        let seconds = start.elapsed().as_secs_f64();
        let Some(found) = &report.counterexample else {
            survivors.push(bug);
            println!("| {bug:?} | {} | {seconds:.1} | - | - |", report.states);
            continue;
        };
        let what: String = found.finding.to_string().chars().take(90).collect();
        println!("| {bug:?} | {} | {seconds:.1} | `{}` | {what} |", report.states, found.path);
        switch_on(Some(*bug));
        let again = replay(&found.path, |_, _| {}).expect("its own path can be walked");
        switch_on(None);
        let law = |finding: &Finding| finding.law;
        assert_eq!(again.as_ref().map(law), Some(found.finding.law), "{bug:?}: its path shows it again");
    }
    let _ = std::panic::take_hook();
    assert!(survivors.is_empty(), "the machine does not find {survivors:?}");
}
