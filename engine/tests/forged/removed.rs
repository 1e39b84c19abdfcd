//! Each rule taken away alone must turn its scenario red: otherwise the scenario shows nothing.

use std::panic::catch_unwind;

use holotype::seeded::{Bug, switch_on};

use super::{checkpoints, claims, frames};

#[test]
fn without_its_rule_each_scenario_is_red() {
    let scenarios: [(Bug, fn()); 7] = [
        (
            Bug::IncarnationFromTheSlotAlone,
            frames::a_leftover_of_an_incarnation_that_no_slot_names_never_comes_back,
        ),
        (
            Bug::BodyChecksumIgnored,
            frames::a_frame_whose_header_and_records_are_not_of_one_frame_is_a_torn_tail,
        ),
        (Bug::PredecessorEndIgnored, frames::a_segment_whose_predecessor_ended_elsewhere_is_no_successor),
        (Bug::FirstSuccessorAlone, frames::where_no_successor_is_named_the_log_goes_on_in_whichever_fits),
        (Bug::ClaimsOfFirstSuccessorAlone, claims::where_no_successor_is_named_all_headers_are_looked_at),
        (Bug::PlaceHeldTwice, checkpoints::a_log_segment_in_the_place_of_the_checkpoint_before_is_damage),
        (Bug::StretchesAnywhere, checkpoints::a_first_stretch_that_begins_elsewhere_is_damage),
    ];
    for (bug, scenario) in scenarios {
        // Green without it, so what turns red is the bug's doing.
        scenario();
        switch_on(Some(bug));
        let noticed = catch_unwind(scenario).is_err();
        switch_on(None);
        assert!(noticed, "{bug:?} went unnoticed");
    }
}
