//! Reads cost what they must, and feeds lead to documents.

use holotype_crash_tests::reads::every_check;

#[test]
fn reads_cost_what_they_must_and_feeds_lead_to_documents() {
    every_check().unwrap_or_else(|what| panic!("{what}"));
}
