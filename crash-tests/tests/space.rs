//! Files stay as short as they must.

use holotype_crash_tests::space::every_check;

#[test]
fn every_workload_keeps_its_file_within_its_bounds() {
    let tally = every_check().unwrap_or_else(|(_, what)| panic!("{what}"));
    assert!(tally.bounds > 1_000, "{tally}");
}
