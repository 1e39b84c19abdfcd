//! Readers beside a writer.

use holotype_crash_tests::readers;

#[test]
fn a_scan_shows_the_state_in_which_it_began() {
    readers::a_scan_keeps_its_state().unwrap_or_else(|what| panic!("{what}"));
}

#[test]
fn a_commit_becomes_visible_as_a_whole() {
    let scans = readers::a_commit_shows_at_once().unwrap_or_else(|what| panic!("{what}"));
    assert!(scans > 10, "the reader looked {scans} times only");
}

#[test]
fn a_scan_ends_with_an_error_where_a_document_is_damaged() {
    readers::a_scan_tells_of_damage().unwrap_or_else(|what| panic!("{what}"));
}
