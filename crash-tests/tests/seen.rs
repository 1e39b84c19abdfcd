//! A store that checks itself sees what is wrong with its file.

#[test]
fn what_is_wrong_under_an_open_store_is_seen() {
    let stories = holotype_crash_tests::seen::every_check().unwrap_or_else(|what| panic!("{what}"));
    assert!(stories > 4);
}
