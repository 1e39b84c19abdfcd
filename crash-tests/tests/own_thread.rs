//! A store does by itself what nobody waits for.

#[test]
fn a_store_with_a_thread_does_by_itself_what_nobody_waits_for() {
    holotype_crash_tests::own_thread::every_check().unwrap_or_else(|what| panic!("{what}"));
}
