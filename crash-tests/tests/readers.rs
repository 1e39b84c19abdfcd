//! Readers beside a writer.

use holotype_crash_tests::readers;

#[test]
fn a_scan_shows_the_state_in_which_it_began() {
    readers::a_scan_keeps_its_state().unwrap_or_else(|what| panic!("{what}"));
}

//= spec/transactions.md#t-1-3-whole-commits
//# A reader MUST see all changes of a commit, or none.
#[test]
fn a_commit_becomes_visible_as_a_whole() {
    let scans = readers::a_commit_shows_at_once().unwrap_or_else(|what| panic!("{what}"));
    assert!(scans > 10, "the reader looked {scans} times only");
}

//= spec/semantics.md#s-8-6-damage
//# A call that meets damaged bytes MUST fail as `Corrupt` rather than answer from them.
#[test]
fn a_scan_ends_with_an_error_where_a_document_is_damaged() {
    readers::a_scan_tells_of_damage().unwrap_or_else(|what| panic!("{what}"));
}
