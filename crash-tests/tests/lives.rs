//! Long lives from a seed.

use holotype_crash_tests::live::Pairs;
use holotype_crash_tests::setup::Setup;
use holotype_crash_tests::{power, random};

//= spec/space.md#p-9-1-nothing
//# Checkpoint, cleaning, reuse, shrinking, compaction and backup MUST NOT change what any read answers, nor
//# what version a document has (S-7.5).
//= spec/semantics.md#s-2-1-nothing-changes
//# A call that is refused, or that reports that it failed, MUST leave the state as it was.
//= spec/semantics.md#s-4-7-put-of-many
//# A put of many MUST leave each document under its key in one commit, the last one where a key comes twice,
//# and answer how many were given.
//= spec/semantics.md#s-5-7-keys-alone
//# A scan of keys MUST answer the keys that a scan with the same arguments answers, without the documents.
//= spec/semantics.md#s-6-3-written
//# When a call with class `Written` has returned with success, its commit and every commit before it MUST
//# survive the end of the process.
//= spec/semantics.md#s-6-6-close
//# When a store has been closed with success, every commit MUST survive a power cut.
//= spec/semantics.md#s-7-2-end-of-the-process
//# After the process ends at any moment without a power cut, the state MUST be the state after Ck for one k
//# with w <= k <= n, where Cw is the last commit that is acknowledged written.
//= spec/format.md#f-7-4-order-in-a-commit
//# A record MUST follow the catalog record that creates its collection in the log.
#[test]
fn long_lives_with_crashes_agree_with_the_model() {
    let mut pairs = Pairs::default();
    for seed in 0..60 {
        for setup in [Setup::TINY, Setup::SMALL, Setup::SECTORS, Setup::LARGE] {
            match random::live(seed, 150, setup, &[]) {
                Ok(lived) => pairs.add(&lived.pairs),
                Err(reduced) => panic!("seed {seed}, {}:\n{reduced}", setup.name),
            }
        }
    }
    assert!(pairs.missing().is_empty(), "never at work together: {}", pairs.missing().join("; "));
}

//= spec/recovery.md#r-5-6-repeatable
//# A crash at any step of opening MUST leave a file from which recovery gives the same state.
#[test]
fn a_life_survives_power_cuts_at_all_its_writes() {
    for seed in 0..4 {
        let tally =
            power::life(seed, 30, Setup::SECTORS, &[]).unwrap_or_else(|failure| panic!("{seed}:\n{failure}"));
        assert!(tally.leaves > 0, "{tally}");
    }
}
