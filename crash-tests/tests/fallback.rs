//! Damage to what is there twice.

use holotype_crash_tests::fallback::{Tally, every_check};
use holotype_crash_tests::setup::Setup;

//= spec/space.md#p-2-3-how-it-is-written
//# A segment MUST be free (P-4) when it becomes the open one, and MUST NOT be among those that the segment
//# table of the checkpoint names.
//= spec/space.md#p-2-5-the-one-before
//# The checkpoint that a slot names as the one before MUST be the one that was the newest, or, where that
//# could not be read whole at opening or later, the one that was read in its stead; none,
//# where that was the creation state.
//= spec/space.md#p-2-7-either-alone-suffices
//# From each checkpoint that a valid slot names, and the log behind it, recovery MUST give the same state.
//= spec/space.md#p-4-1-checkpoints
//# A writer MUST NOT give out the place of a segment freed at f before every checkpoint that a valid slot
//# names has an LSN at or above f.
//= spec/space.md#p-4-1-checkpoints
//# A place that a checkpoint held MUST NOT be given out before both slots are durable that name none which
//# holds it.
//= spec/recovery.md#r-5-2-checkpoint-fallback
//# When that cannot be read whole, the reader MUST take the one before that the same slot names; when the
//# slot names one checkpoint only, it MUST start as if there were none.
#[test]
fn either_slot_and_either_checkpoint_is_enough() {
    let mut tally = Tally::default();
    every_check(Setup::TINY, &mut tally, || true).unwrap_or_else(|what| panic!("{tally}\n{what}"));
    println!("{tally}");
    assert!(tally.single > 0 && tally.double > 0 && tally.again > 0 && tally.cut > 0, "{tally}");
}
