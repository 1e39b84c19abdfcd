//! Targets are shown to fail: with a bug of the catalogue switched on, some input of the target's corpus breaks.
#![cfg(feature = "seeded")]

use std::fs;
use std::panic::{catch_unwind, set_hook, take_hook};
use std::path::Path;

use holotype::seeded::{Bug, switch_on};
use holotype_fuzz::TARGETS;

const FOUND: [(Bug, &str); 16] = [
    (Bug::ReuseWithoutCheckpoint, "file_image"),
    (Bug::ReuseAfterNewestCheckpoint, "resealed_image"),
    (Bug::DeletesNotReplayed, "operations"),
    (Bug::PlacementNotTakenBack, "operations"),
    (Bug::EntryNotRemoved, "operations"),
    (Bug::ClearKeepsEntries, "operations"),
    (Bug::SyncSkipped, "lives"),
    (Bug::EntryNotRemoved, "lives"),
    (Bug::BuildMissesWrites, "lives"),
    (Bug::BackupWithoutHold, "backups"),
    (Bug::BackupOfAnyBranch, "backups"),
    (Bug::PrintedWithoutParentheses, "query_texts"),
    (Bug::NothingEqualsNull, "filters"),
    (Bug::CursorIncludesItself, "queries"),
    (Bug::GroupedOncePerItem, "queries"),
    (Bug::CountOfFieldsKept, "updates"),
];

#[test]
fn a_corpus_has_an_input_that_shows_each_bug() {
    set_hook(Box::new(|_| {}));
    let unnoticed: Vec<_> = FOUND.iter().filter(|(bug, target)| !shows(*bug, target)).collect();
    let _ = take_hook();
    assert!(unnoticed.is_empty(), "no input shows {unnoticed:?}");
}

fn shows(bug: Bug, name: &str) -> bool {
    let (_, target) = TARGETS.into_iter().find(|(target, _)| *target == name).expect("it is a target");
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
    let mut files: Vec<_> = fs::read_dir(corpus)
        .expect("it has a corpus")
        .map(|entry| entry.expect("it is there").path())
        .collect();
    files.sort();
    files.into_iter().any(|file| {
        let bytes = fs::read(file).expect("it can be read");
        switch_on(Some(bug));
        let broken = catch_unwind(|| target(&bytes)).is_err();
        switch_on(None);
        broken
    })
}
