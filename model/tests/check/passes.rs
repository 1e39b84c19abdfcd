//! A store that is right passes, and a check that did nothing does not.

use holotype_model::check::{Finding, Plan, Profile, Step, Tally, drive, run};
use holotype_model::{Durability, Ending, Feature, Features, Op};

use crate::rig::ToyRig;
use crate::toy::features;

fn plan() -> Plan {
    Plan::new(1, Profile::new(features()))
}

#[test]
fn a_store_that_is_right_passes_and_has_met_everything() {
    let tally = drive(&mut ToyRig::new(None), &plan()).unwrap_or_else(|finding| panic!("{finding}"));
    let Tally { refusals, crashes_that_took, crashes_that_left, left_out, unknown, failures, .. } = tally;
    assert!(refusals > 100 && crashes_that_took > 10 && crashes_that_left > 10, "{tally}");
    assert_eq!((left_out, unknown, failures), (0, 0, 0));
    let Tally { transactions, rollbacks, snapshot_reads, matches, mismatches, .. } = tally;
    assert!(transactions > 100 && rollbacks > 100 && snapshot_reads > 100, "{tally}");
    assert!(matches > 10 && mismatches > 100, "{tally}");
}

#[test]
fn a_store_that_is_right_passes_under_faults() {
    let mut rig = ToyRig::with_faults(None);
    let tally = drive(&mut rig, &plan()).unwrap_or_else(|finding| panic!("{finding}"));
    assert!(tally.unknown > 100 && tally.failures > 100, "{tally}");
}

#[test]
fn the_same_seed_does_the_same() {
    let tally =
        || drive(&mut ToyRig::with_faults(None), &plan()).unwrap_or_else(|finding| panic!("{finding}"));
    assert_eq!(tally(), tally());
}

#[test]
fn a_plan_without_cases_is_idle_and_no_pass() {
    let nothing = Plan { cases: 0, ..plan() };
    let Err(Finding::Idle { missing, .. }) = drive(&mut ToyRig::new(None), &nothing) else {
        panic!("nothing was done");
    };
    assert!(missing.contains(&"a write that was done") && missing.contains(&"a power cut"));
    assert!(missing.contains(&"a transaction that was committed"));
}

#[test]
fn a_store_that_lacks_transactions_snapshots_and_versions_need_not_meet_them() {
    let lacking = [Feature::Transactions, Feature::Snapshots, Feature::Versions];
    let fewer = lacking.into_iter().fold(features(), Features::without);
    let plan = Plan { profile: Profile::new(fewer), ..plan() };
    let tally = drive(&mut ToyRig::new(None), &plan).unwrap_or_else(|finding| panic!("{finding}"));
    let met = tally.transactions + tally.rollbacks + tally.busy;
    assert_eq!(met + tally.snapshot_reads + tally.matches + tally.mismatches, 0);
}

#[test]
fn a_list_of_steps_of_ones_own_can_be_run() {
    let create = Op::CreateCollection { collection: "a".into(), durability: Durability::Buffered };
    let steps = [Step::Do(create), Step::End(Ending::PowerCut, 0), Step::Do(Op::Collections)];
    let tally = run(&mut ToyRig::new(None), &steps).expect("the store is right");
    assert_eq!((tally.calls, tally.crashes_that_took, tally.closes), (2, 1, 1));
}
