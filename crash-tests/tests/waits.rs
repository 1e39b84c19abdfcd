//! The store tells those who wait what became of their commit.

use holotype_crash_tests::waits::every_check;

#[test]
fn who_waits_is_told() {
    every_check().unwrap_or_else(|what| panic!("{what}"));
}
