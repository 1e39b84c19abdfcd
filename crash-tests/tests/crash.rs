//! Every power cut in every short sequence of steps.

use std::num::NonZeroU64;

use holotype_crash_tests::crash::{Scope, Tally, run};
use holotype_crash_tests::setup::Setup;

fn survives(setup: Setup, len: usize, cuts: u32) -> Tally {
    tries(&Scope::new(setup, len, cuts))
}

fn tries(scope: &Scope) -> Tally {
    let setup = scope.setup;
    match run(scope) {
        Ok((tally, is_over)) => {
            assert!(is_over, "nobody set an end");
            assert!(tally.leaves > 0 && tally.windows > 0 && tally.sequences > 0, "{tally}");
            println!("{}: {tally}", setup.name);
            tally
        }
        Err((_, failure)) => panic!("{}:\n{failure}", setup.name),
    }
}

#[test]
fn a_store_survives_every_power_cut_while_it_is_created() {
    survives(Setup::TINY, 0, 1);
}

//= spec/media.md#m-2-6-levels
//# A store MUST keep its promises at M2.
//= spec/media.md#m-3-1-success
//# A store MUST NOT acknowledge a commit as durable before that.
//= spec/semantics.md#s-1-4-all-or-nothing
//# A store MUST NOT show a state that holds a part of a commit, to any reader, at any time, or after any
//# crash.
//= spec/semantics.md#s-6-2-synced
//# When a call with class `Synced` has returned with success, its commit and every commit before it MUST
//# survive a power cut.
//= spec/semantics.md#s-6-5-flush
//# When `flush` has returned with success, every commit before it MUST survive a power cut, whatever its
//# class.
//= spec/semantics.md#s-6-7-what-opening-found
//# Once a store is open, every commit that opening found MUST survive a power cut.
//= spec/semantics.md#s-7-1-power-cut
//# After a power cut at any moment, the state MUST be the state after Ck for one k with s <= k <= n.
#[test]
fn every_sequence_of_two_steps_survives_every_power_cut() {
    let tally = survives(Setup::TINY, 2, 1);
    // A run in which no commit was torn away, and none came through, has shown nothing about either.
    assert!(tally.lost > 0 && tally.partial > 0 && tally.kept > 0, "{tally}");
}

#[test]
fn every_step_survives_every_power_cut_where_segments_hold_more() {
    survives(Setup::SMALL, 1, 1);
}

#[test]
fn every_step_survives_every_power_cut_that_leaves_garbage() {
    survives(Setup::GARBAGE, 1, 1);
}

//= spec/space.md#p-2-2-what-it-is-of
//# When c is chosen, every commit up to c MUST be visible, and nothing pending.
//= spec/space.md#p-2-3-how-it-is-written
//# A segment MUST be free (P-4) when it becomes the open one, and MUST NOT be among those that the segment
//# table of the checkpoint names.
//= spec/space.md#p-4-2-retained-versions
//# A writer MUST NOT give out the place of a segment in which a pinned record stands.
//= spec/space.md#p-4-3-feeds
//# A writer MUST NOT give out the place of a segment that holds a commit which a live feed has not shown yet.
//= spec/space.md#p-4-5-which-first
//# The freed record MUST be durable before the place is given out.
#[test]
fn every_step_of_maintenance_survives_every_power_cut() {
    let tally = tries(&Scope::of_maintenance(Setup::TINY, 1, 1));
    assert!(tally.lost > 0 && tally.kept > 0, "{tally}");
}

//= spec/recovery.md#r-7-4-a-new-incarnation-in-place
//# A writer MUST acknowledge what the first of these syncs covered only after the slot's sync.
#[test]
fn every_step_survives_every_power_cut_where_an_incarnation_is_soon_used_up() {
    let mut scope = Scope::new(Setup::SHORT_LIVES, 2, 1);
    // Two commits, whatever they are, and the one that follows: the counts run out in between.
    scope.steps.truncate(4);
    tries(&scope);
}

//= spec/recovery.md#r-5-6-repeatable
//# A crash at any step of opening MUST leave a file from which recovery gives the same state.
#[test]
fn an_opening_survives_every_power_cut() {
    // The second cut comes while the store recovers from the first; what it would do after that is left out.
    tries(&Scope { followers: Vec::new(), ..Scope::new(Setup::TINY, 1, 2) });
}

#[test]
fn an_opening_that_was_cut_short_survives_a_sample_of_power_cuts_in_the_opening_after_it() {
    let sampled = |one_in| {
        let third = NonZeroU64::new(one_in).expect("it is not 0");
        tries(&Scope { followers: Vec::new(), third, ..Scope::new(Setup::TINY, 1, 3) })
    };
    let (all, some) = (sampled(1), sampled(4));
    assert!(some.thirds > 0 && 3 * some.thirds < all.thirds, "{some} is about a quarter of {all}");
    assert_eq!(all.windows - all.thirds, some.windows - some.thirds, "the first two cuts are no sample");
}

//= spec/update.md#u-6-1-one-commit
//# The document that a call reads and the one that it writes MUST follow each other in the order of commits,
//# with no other change of that document between them.
#[test]
fn every_sequence_of_updates_survives_every_power_cut() {
    let setup = Setup::TINY;
    let steps = holotype_crash_tests::crash::updates(setup.segment_bytes);
    let tally = tries(&Scope { steps, ..Scope::new(setup, 3, 1) });
    assert!(tally.lost > 0 && tally.kept > 0, "{tally}");
}

//= spec/index.md#i-8-1-entries-are-not-logged
//# A reader that replays a log MUST make the entries those of the state to which it leads (I-2.3).
//= spec/index.md#i-4-1-create
//# Creating an index MUST make the definition part of the state, in a commit of its own, with the entries of the
//# documents of that state.
#[test]
fn every_sequence_of_steps_with_indexes_survives_every_power_cut() {
    let steps = holotype_crash_tests::crash::indexes();
    let tally = tries(&Scope { steps, ..Scope::new(Setup::TINY, 3, 1) });
    assert!(tally.lost > 0 && tally.kept > 0, "{tally}");
}
