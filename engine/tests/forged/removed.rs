//! Each rule taken away alone must turn its scenario red: otherwise the scenario shows nothing.

use holotype::seeded::{Bug, assert_noticed};

use super::{accounts, checkpoints, claims, frames, replaced, slots};

#[test]
fn without_its_rule_each_scenario_is_red() {
    let scenarios: [(Bug, fn()); 9] = [
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
        (
            Bug::RecordOfAnyCheckpoint,
            checkpoints::a_leaf_of_the_checkpoint_that_stood_in_the_same_place_is_damage,
        ),
        (Bug::ReplacedNotCompared, replaced::a_record_names_the_version_that_its_key_has_by_then),
        (Bug::StretchesAnywhere, checkpoints::a_stretch_that_begins_outside_of_its_segment_is_damage),
    ];
    for (bug, scenario) in scenarios {
        assert_noticed(bug, scenario);
    }
}

#[test]
fn without_its_rule_of_a_writer_each_scenario_is_red() {
    let after_a_crash = accounts::after_a_crash_the_accounts_are_those_that_there_would_have_been_without_it;
    let scenarios: [(Bug, fn()); 7] = [
        (Bug::ReplacedLeftOut, after_a_crash),
        (Bug::ReplacedBitWrong, after_a_crash),
        (Bug::EndedChunkLeftOut, after_a_crash),
        (Bug::ReadOnlyFeatureIgnored, slots::an_unknown_feature_that_readers_may_ignore_keeps_writers_out),
        (Bug::IncarnationStartsOver, slots::a_store_whose_incarnations_are_used_up_is_read_and_not_written),
        (Bug::MendedBeforeDecided, slots::a_corrupt_file_is_left_as_it_is_though_a_slot_is_invalid),
        (Bug::CollectionIdsFromTheCatalog, frames::a_collection_id_is_never_given_again),
    ];
    for (bug, scenario) in scenarios {
        assert_noticed(bug, scenario);
    }
}
