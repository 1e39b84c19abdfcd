//! Each way of being wrong is caught, and reduced to a few steps.

use holotype_model::Ending;
use holotype_model::check::{CaseStrategy, Finding, Plan, Profile, Reduced, Step, drive, minimise, run};
use proptest::test_runner::{Config, TestCaseError, TestError, TestRunner};

use crate::bug::Bug;
use crate::rig::ToyRig;
use crate::toy::features;

/// What the driver makes of a store with this bug.
fn caught(rig: &mut ToyRig) -> Reduced {
    let plan = Plan { cases: 4000, ..Plan::new(1, Profile::new(features())) };
    match drive(rig, &plan) {
        Err(Finding::Diverged(reduced)) => *reduced,
        Err(idle) => panic!("{idle}"),
        Ok(tally) => panic!("not caught in {tally}"),
    }
}

#[track_caller]
fn is_caught_within(steps_max: usize, bug: Bug) -> Reduced {
    let reduced = caught(&mut ToyRig::new(Some(bug)));
    assert!(reduced.case.steps.len() <= steps_max, "{reduced}");
    reduced
}

fn endings(reduced: &Reduced) -> Vec<Ending> {
    let ending = |step: &Step| if let Step::End(ending, _) = step { Some(*ending) } else { None };
    reduced.case.steps.iter().filter_map(ending).collect()
}

#[test]
fn deletes_forgotten_on_reopen() {
    // A put, a delete; every run is closed and opened at its end.
    is_caught_within(2, Bug::ForgetsDeletesOnReopen);
}

#[test]
fn an_id_given_out_again_after_delete_and_reopen() {
    let reduced = is_caught_within(4, Bug::ReissuesIdAfterDeleteAndReopen);
    assert_eq!(endings(&reduced).len(), 1, "{reduced}");
}

#[test]
fn half_a_batch_after_a_crash() {
    let reduced = is_caught_within(2, Bug::SplitsBatches);
    assert_eq!(endings(&reduced).len(), 1, "{reduced}");
}

#[test]
fn scans_in_the_wrong_order_or_beyond_their_bounds() {
    is_caught_within(3, Bug::LimitsBeforeReversing);
    is_caught_within(2, Bug::SortsIntsUnsigned);
    is_caught_within(3, Bug::KeepsExcludedBound);
    is_caught_within(2, Bug::PrefixCrossesKinds);
}

#[test]
fn acknowledged_commits_that_a_crash_takes() {
    assert_eq!(endings(&is_caught_within(2, Bug::LosesAcknowledgedCommit)), [Ending::PowerCut]);
    assert_eq!(endings(&is_caught_within(3, Bug::FlushLies)).len(), 1);
    assert_eq!(endings(&is_caught_within(2, Bug::LosesWrittenAtKill)), [Ending::Kill]);
}

#[test]
fn crashes_that_leave_no_prefix() {
    is_caught_within(2, Bug::RevivesLostCommits);
    is_caught_within(5, Bug::LeavesHoles);
}

#[test]
fn catalog_changes_that_do_too_much_or_too_little() {
    is_caught_within(2, Bug::RefusalCreates);
    is_caught_within(3, Bug::DropKeepsIds);
    is_caught_within(4, Bug::ClearResetsIds);
    is_caught_within(4, Bug::RenameCovers);
}

#[test]
fn wrong_answers_at_the_corners() {
    is_caught_within(4, Bug::InsertCovers);
    is_caught_within(2, Bug::WrapsIds);
    is_caught_within(2, Bug::LosesSignOfZero);
}

#[test]
fn transactions_that_others_see_or_that_others_disturb() {
    // spec: T-1.3, T-2.1, T-2.2, T-2.4
    is_caught_within(3, Bug::ShowsTransaction);
    is_caught_within(2, Bug::LetsWritersIn);
    assert_eq!(endings(&is_caught_within(6, Bug::CommitsInPieces)).len(), 1);
    assert_eq!(endings(&is_caught_within(4, Bug::BuffersTransactions)).len(), 1);
}

#[test]
fn rollbacks_and_refusals_that_undo_too_much_or_too_little() {
    // spec: T-2.5, T-2.6, T-2.7
    is_caught_within(5, Bug::RollbackKeepsIds);
    is_caught_within(6, Bug::SavepointKeepsIds);
    is_caught_within(4, Bug::SavepointServesOnce);
    is_caught_within(5, Bug::KeepsLaterSavepoints);
    is_caught_within(4, Bug::RefusalUndoesTransaction);
}

#[test]
fn snapshots_that_move() {
    // spec: T-3.1
    is_caught_within(4, Bug::SnapshotLosesWhatIsDropped);
    is_caught_within(4, Bug::SnapshotFollowsReplaces);
}

#[test]
fn versions_that_are_taken_for_others() {
    // spec: T-2.10
    is_caught_within(2, Bug::IgnoresVersions);
    is_caught_within(4, Bug::ComparesDocumentsForVersions);
}

#[test]
fn a_panic_is_a_finding_like_any_other() {
    let reduced = is_caught_within(1, Bug::PanicsOnEmptyKey);
    assert_eq!(reduced.divergence.disagreement.found, "a panic: the key is empty");
}

#[test]
fn mistakes_under_faults() {
    for bug in [Bug::WritesAfterUnknown, Bug::ShowsCommitInDoubt, Bug::AppliesWhatFailed] {
        let reduced = caught(&mut ToyRig::with_faults(Some(bug)));
        // Faults come by the number of the call, so calls that only count are a part of the shortest list.
        assert!(reduced.case.steps.len() <= 30, "{bug:?}: {reduced}");
    }
}

#[test]
fn a_failure_that_nothing_caused_is_a_finding() {
    // The store meets its fault, and the rig denies it.
    let mut denied = Denying(ToyRig::with_faults(None));
    let plan = Plan::new(1, Profile::new(features()));
    let Err(Finding::Diverged(reduced)) = drive(&mut denied, &plan) else { panic!("not caught") };
    assert_eq!(reduced.divergence.disagreement.expected, ["an answer, as nothing was broken"]);
}

struct Denying(ToyRig);

impl holotype_model::check::Rig for Denying {
    type Subject = crate::toy::Toy;

    fn fresh(&mut self) -> Result<Self::Subject, holotype_model::Failure> {
        self.0.fresh()
    }

    fn restart(
        &mut self,
        toy: Self::Subject,
        ending: Ending,
        choice: u64,
    ) -> Result<Self::Subject, holotype_model::Failure> {
        self.0.restart(toy, ending, choice)
    }

    fn take_fault(&mut self) -> bool {
        self.0.take_fault();
        false
    }
}

#[test]
fn the_report_shows_the_steps_what_was_found_and_how_to_repeat_it() {
    let reduced = caught(&mut ToyRig::new(Some(Bug::LosesAcknowledgedCommit)));
    let report = reduced.to_string();
    let last = report.lines().last().expect("a report has lines");
    assert_eq!(last, format!("repeat with: holotype check --seed {} --cases 1", reduced.case.seed));
    assert!(report.contains("power cut") && report.contains("Synced"), "{report}");

    let plan = Plan { cases: 1, ..Plan::new(reduced.case.seed, Profile::new(features())) };
    let again = drive(&mut ToyRig::new(Some(Bug::LosesAcknowledgedCommit)), &plan);
    assert_eq!(again, Err(Finding::Diverged(Box::new(reduced))), "the line repeats it");
}

#[test]
fn proptest_reduces_as_well_as_the_reduction_alone() {
    let strategy = CaseStrategy { profile: Profile::new(features()), len: 80 };
    let config = Config { failure_persistence: None, cases: 1000, ..Config::default() };
    let fails = |steps: &[Step]| run(&mut ToyRig::new(Some(Bug::ClearResetsIds)), steps).is_err();
    let found = TestRunner::new(config).run(&strategy, |case| {
        if fails(&case.steps) { Err(TestCaseError::fail("it departs")) } else { Ok(()) }
    });
    let Err(TestError::Fail(_, reduced)) = found else { panic!("not caught: {found:?}") };
    let whole = holotype_model::check::Steps::seeded(reduced.seed, &strategy.profile).take(80).collect();
    assert_eq!(reduced.steps, minimise(whole, fails));
    assert!(fails(&reduced.steps));
}
