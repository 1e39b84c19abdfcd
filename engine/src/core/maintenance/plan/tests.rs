//! What is due at each threshold, and just beside it. Segments of 1,000 bytes here have room for 900.

use super::*;

/// What a file of `len` bytes must hold comes to 16,000 bytes: a sixteenth of that, in which bounds are stated, is 1,000.
fn figures(len: u64) -> Figures {
    let usage = Usage { live: 14_000, checkpoint_bytes: 2_000, ..Usage::default() };
    Figures { segment_bytes: 1_000, room: 900, len, usage }
}

fn with(usage: Usage) -> Figures {
    Figures { usage, ..figures(0) }
}

#[test]
fn a_checkpoint_is_due_behind_enough_log_or_four_times_its_own_length() {
    let behind = |log, checkpoint| Behind { log, checkpoint, fits_first_segment: false };
    for (log, checkpoint, is_due) in [
        (4_999, 0, false),
        (5_000, 0, true),
        (5_000, 1_250, true),
        (5_003, 1_251, false),
        (5_004, 1_251, true),
    ] {
        let behind = behind(log, checkpoint);
        assert_eq!(behind.is_checkpoint_due(5_000), is_due, "{behind:?}");
        assert!(!Behind { fits_first_segment: true, ..behind }.is_checkpoint_due(5_000));
    }
    for (log, checkpoint, is_wanted) in [
        (1_000, 0, false),
        (1_001, 0, true),
        (1_001, 16_015, true),
        (1_002, 16_032, false),
        (1_003, 16_032, true),
    ] {
        let behind = behind(log, checkpoint);
        assert_eq!(behind.is_checkpoint_wanted_at_close(1_000), is_wanted, "{behind:?}");
        assert!(!Behind { fits_first_segment: true, ..behind }.is_checkpoint_wanted_at_close(1_000));
    }
}

#[test]
fn those_who_write_help_once_the_file_is_near_its_bound_and_has_nothing_to_spare() {
    // With four segments, the bounds are 40,000, 46,000 and 49,000. Of 32 segments more than two are more than a sixteenth.
    for (len, spare, pressure) in [
        (40_000, 0, Pressure::None),
        (40_001, 0, Pressure::Some),
        (40_001, 2, Pressure::Some),
        (40_001, 3, Pressure::None),
        (46_000, 0, Pressure::Some),
        (46_001, 2, Pressure::Much),
        (46_001, 3, Pressure::None),
        (49_000, 3, Pressure::None),
        (49_001, 3, Pressure::Much),
    ] {
        let mut figures = figures(len);
        figures.usage.in_use = 32;
        assert_eq!(figures.pressure(|| spare), pressure, "{len} bytes, {spare} to spare");
    }
}

#[test]
fn a_file_that_is_much_too_long_is_made_shorter_while_others_write() {
    assert_eq!(Effort::Keep.under(|| Pressure::Much), (Effort::Rest, true));
    assert_eq!(Effort::Keep.under(|| Pressure::Some), (Effort::Keep, false));
    for effort in [Effort::Rest, Effort::Room, Effort::All] {
        assert_eq!(effort.under(|| Pressure::Much), (effort, false));
    }
}

#[test]
fn a_checkpoint_is_due_for_what_waits_for_it() {
    let grows = u64::MAX;
    for (live, waiting_for_two, waiting, log_room, is_due) in [
        // More than a quarter of what is live, and of four segments.
        (0, 1, 1, grows, false),
        (0, 2, 2, grows, true),
        (7_999, 2, 2, grows, true),
        (8_000, 2, 2, grows, false),
        // More than a third of what is live, and of six segments.
        (0, 0, 2, grows, false),
        (0, 0, 3, grows, true),
        (8_999, 0, 3, grows, true),
        (9_000, 0, 3, grows, false),
        // In a file that may not grow, with the last segment and a quarter.
        (0, 9, 9, 1_250, false),
        (0, 0, 1, 1_249, true),
        (0, 0, 0, 1_249, false),
    ] {
        let figures = with(Usage { live, waiting_for_two, waiting, ..Usage::default() });
        assert_eq!(figures.is_release_due(log_room), is_due, "{figures:?}, room for {log_room}");
    }
}

#[test]
fn a_checkpoint_is_wanted_for_what_waits_before_anything_is_moved_to_make_the_file_shorter() {
    for (effort, len, is_wanted) in [
        (Effort::Keep, 40_000, false),
        (Effort::Keep, 40_001, true),
        (Effort::Rest, 28_000, false),
        (Effort::Rest, 28_001, true),
        (Effort::Room, 0, true),
        (Effort::All, 0, true),
    ] {
        let mut figures = figures(len);
        assert!(!figures.is_release_wanted(effort), "nothing waits");
        figures.usage.waiting = 1;
        assert_eq!(figures.is_release_wanted(effort), is_wanted, "{effort:?}, {len} bytes");
    }
}

#[test]
fn a_segment_is_to_be_cleaned_where_the_log_takes_more_than_it_should() {
    for (effort, in_use, live, is_long) in [
        // 28 sixteenths and two segments.
        (Effort::Keep, 30, 16_000, false),
        (Effort::Keep, 30, 15_999, true),
        (Effort::Keep, 31, 16_000, true),
        // 22 sixteenths and one.
        (Effort::Rest, 23, 16_000, false),
        (Effort::Rest, 23, 15_999, true),
        (Effort::Rest, 24, 16_000, true),
        (Effort::Room, 0, 16_000, false),
        (Effort::Room, 1, 16_000, true),
        (Effort::All, 0, 16_000, false),
        (Effort::All, 1, 16_000, true),
    ] {
        let figures = with(Usage { in_use, live, ..Usage::default() });
        assert_eq!(figures.is_log_long(effort), is_long, "{effort:?}, {in_use} segments for {live}");
    }
}

#[test]
fn a_segment_is_worth_its_cleaning_from_a_share_of_its_room_on_that_the_effort_says() {
    let victim = |effort, live, log_room| figures(0).victim(effort, (9, log_room), [(3, live)].into_iter());
    // An eighth of 900, a sixteenth, a sixth, a thirty-second.
    for (effort, most) in [(Effort::Keep, 787), (Effort::Rest, 843), (Effort::Room, 750), (Effort::All, 871)]
    {
        assert_eq!(victim(effort, most, u64::MAX), Some(3), "{effort:?}");
        assert_eq!(victim(effort, most + 1, u64::MAX), None, "{effort:?}");
        assert_eq!(victim(effort, 2_000, u64::MAX), None, "accounts may say more than there is room for");
    }
    // A sixteenth of a segment is left beside what moves.
    assert_eq!(victim(Effort::All, 500, 562), Some(3));
    assert_eq!(victim(Effort::All, 500, 561), None);
    assert_eq!(victim(Effort::All, 0, 61), Some(3), "what holds nothing needs no place");
}

#[test]
fn the_victim_is_the_one_with_the_most_to_gain_by_its_age_for_what_must_be_read_and_moved() {
    for (candidates, expected) in [
        (vec![], None),
        // Of one age, the emptier; of one length, the older.
        (vec![(4, 300), (5, 100)], Some(5)),
        (vec![(4, 300), (5, 300)], Some(4)),
        // 300 won of 1,500, 9 and 11 segments ago; 900 of 900, 2 segments ago.
        (vec![(11, 600), (18, 0)], Some(18)),
        (vec![(9, 600), (18, 0)], Some(9)),
        // The young one would have to be twice as old, though three times as much is won of it.
        (vec![(0, 600), (19, 0)], Some(0)),
    ] {
        let mut both = [candidates.clone(), candidates];
        both[1].reverse();
        for candidates in both {
            let found = figures(0).victim(Effort::All, (20, u64::MAX), candidates.clone().into_iter());
            assert_eq!(found, expected, "{candidates:?}");
        }
    }
}

#[test]
fn the_end_of_the_file_is_looked_at_where_nobody_writes_or_it_is_far_too_long() {
    for (effort, is_busy, len, is_looked_at) in [
        (Effort::Keep, false, 99_999, false),
        (Effort::Room, false, 99_999, false),
        (Effort::Rest, false, 0, true),
        (Effort::Rest, true, 49_000, false),
        (Effort::Rest, true, 49_001, true),
        (Effort::All, false, 0, true),
        (Effort::All, true, 0, true),
    ] {
        let found = figures(len).is_end_looked_at(effort, is_busy);
        assert_eq!(found, is_looked_at, "{effort:?}, {is_busy}, {len} bytes");
    }
}

/// The end of a file in which nothing can be cut off, and room for a checkpoint of two segments is just there.
const END: End = End {
    beyond_held: 0,
    beyond_rest: 0,
    beyond_reserve: 0,
    is_reserve_wanted: false,
    is_put_since_cut: false,
    written_since_cut: 0,
    top: 20,
    at_top: Top::Other,
    below: 2,
    within: 4,
    spare: 0,
    checkpoint_segments: 2,
    kept: 3,
    next: None,
    reserved: None,
};

#[test]
fn at_rest_a_file_is_cut_that_is_longer_than_it_should_be_by_an_eighth_once_that_pays() {
    let due = |beyond_rest, written_since_cut| {
        let end = End { beyond_rest, written_since_cut, ..END };
        figures(0).due_at_the_end(&end, Effort::Rest, false, u64::MAX)
    };
    assert_eq!(due(2_001, 1_000), Due::Shrink(Kept::AtRest));
    assert_eq!(due(2_000, 1_000), Due::Nothing);
    assert_eq!(due(2_001, 999), Due::Nothing);
    // Less than a segment is not worth two slots.
    let small = with(Usage::default());
    for (beyond_rest, expected) in [(999, Due::Nothing), (1_000, Due::Shrink(Kept::AtRest))] {
        let end = End { beyond_rest, written_since_cut: 500, ..END };
        assert_eq!(small.due_at_the_end(&end, Effort::Rest, false, u64::MAX), expected);
    }
}

#[test]
fn all_is_cut_that_is_not_held_where_somebody_asks_for_it() {
    let due = |end: End| figures(0).due_at_the_end(&end, Effort::All, false, u64::MAX);
    assert_eq!(due(End { beyond_held: 1, ..END }), Due::Shrink(Kept::Held));
    assert_eq!(due(End { beyond_rest: 99_999, written_since_cut: 99_999, ..END }), Due::Nothing);
    // What can be brought further down comes first.
    assert_eq!(due(End { beyond_held: 1, at_top: Top::Checkpoint, ..END }), Due::Checkpoint);
    assert_eq!(due(End { beyond_held: 1, reserved: Some(23), ..END }), Due::Roll);
}

#[test]
fn a_file_beyond_its_bound_is_cut_down_to_its_reserve() {
    // A checkpoint at the end shows that the file is long enough for things to be moved, at 32,000, and not for being cut.
    let long = End { at_top: Top::Checkpoint, ..END };
    for (len, is_busy, beyond_reserve, expected) in [
        (32_000, false, 2_001, Due::Nothing),
        (32_001, false, 2_001, Due::Checkpoint),
        (36_000, false, 2_001, Due::Checkpoint),
        (36_001, false, 2_000, Due::Checkpoint),
        (36_001, false, 2_001, Due::Shrink(Kept::Reserve)),
        (49_000, true, 2_001, Due::Checkpoint),
        (49_001, true, 2_001, Due::Shrink(Kept::Reserve)),
    ] {
        let end = End { beyond_reserve, ..long };
        let found = figures(len).due_at_the_end(&end, Effort::Rest, is_busy, u64::MAX);
        assert_eq!(found, expected, "{len} bytes, {is_busy}, {beyond_reserve} beyond the reserve");
    }
}

#[test]
fn the_reserve_is_left_to_those_who_go_on_putting_documents() {
    let due = |end: End, is_busy| figures(49_001).due_at_the_end(&end, Effort::Rest, is_busy, u64::MAX);
    let cut = End { beyond_rest: 2_001, written_since_cut: 1_001, ..END };
    let wanted = End { is_reserve_wanted: true, is_put_since_cut: true, ..cut };
    assert_eq!(due(cut, true), Due::Shrink(Kept::AtRest), "who deletes does not want it back");
    assert_eq!(due(wanted, false), Due::Shrink(Kept::AtRest), "nobody writes");
    assert_eq!(due(wanted, true), Due::Nothing);
    assert_eq!(due(End { beyond_reserve: 2_001, ..wanted }, true), Due::Shrink(Kept::Reserve));
    // What would have room further down is brought there where more is free than the reserve and an eighth, and a part of a segment.
    for (spare, expected) in [(2, Due::Nothing), (3, Due::Checkpoint)] {
        let end = End { at_top: Top::Checkpoint, spare, ..wanted };
        assert_eq!(due(end, true), expected, "{spare} to spare");
        let unwanted = End { is_reserve_wanted: false, is_put_since_cut: false, written_since_cut: 0, ..end };
        assert_eq!(due(End { beyond_rest: 2_000, ..unwanted }, true), Due::Checkpoint);
        assert_eq!(due(unwanted, true), Due::Shrink(Kept::AtRest), "beyond its bound it is cut in any case");
    }
    let small = Figures { len: 49_001, ..with(Usage { live: 4_000, ..Usage::default() }) };
    for (spare, expected) in [(1, Due::Nothing), (2, Due::Checkpoint)] {
        let end = End { at_top: Top::Checkpoint, spare, ..wanted };
        let found = small.due_at_the_end(&end, Effort::Rest, true, u64::MAX);
        assert_eq!(found, expected, "{spare} to spare, of a small file");
    }
}

#[test]
fn a_file_beyond_its_bound_is_cut_however_little_was_written_where_nobody_wants_the_reserve() {
    let end = End { beyond_rest: 2_001, written_since_cut: 0, ..END };
    for (len, is_busy, end, expected) in [
        (36_000, false, end, Due::Nothing),
        (36_001, false, end, Due::Shrink(Kept::AtRest)),
        (36_001, false, End { is_put_since_cut: true, ..end }, Due::Nothing),
        (
            36_001,
            false,
            End { is_put_since_cut: true, written_since_cut: 1_001, ..end },
            Due::Shrink(Kept::AtRest),
        ),
        (36_001, false, End { beyond_rest: 2_000, ..end }, Due::Nothing),
        (49_000, true, end, Due::Nothing),
        (49_001, true, end, Due::Shrink(Kept::AtRest)),
    ] {
        let found = figures(len).due_at_the_end(&end, Effort::Rest, is_busy, u64::MAX);
        assert_eq!(found, expected, "{len} bytes, {is_busy}, {end:?}");
    }
}

#[test]
fn the_log_goes_on_until_what_it_has_reserved_far_up_lies_behind_it() {
    let far = End { reserved: Some(23), ..END };
    for (end, log_room, expected) in [
        (far, 2_001, Due::Roll),
        (far, 2_000, Due::Nothing),
        (End { reserved: Some(22), ..far }, 2_001, Due::Nothing),
        (End { reserved: None, ..far }, 2_001, Due::Nothing),
        // The place that is reserved then is a free one only where more are than the log leaves alone.
        (End { within: 3, ..far }, 2_001, Due::Nothing),
        (End { kept: 4, ..far }, 2_001, Due::Nothing),
        (End { kept: 0, below: 0, within: 1, ..far }, 2_001, Due::Roll),
    ] {
        let found = figures(0).due_at_the_end(&end, Effort::All, false, log_room);
        assert_eq!(found, expected, "{end:?}, room for {log_room}");
    }
}

#[test]
fn what_stands_at_the_end_is_brought_down_where_it_has_room() {
    for (at_top, below, checkpoint_segments, log_room, expected) in [
        (Top::Sealed(7), 2, 2, 2_001, Due::Clean(7)),
        (Top::Sealed(7), 2, 2, 2_000, Due::Nothing),
        (Top::Sealed(7), 1, 2, 2_001, Due::Nothing),
        (Top::Current, 2, 2, 2_001, Due::Roll),
        (Top::Current, 2, 2, 2_000, Due::Nothing),
        (Top::Current, 1, 1, 2_001, Due::Nothing),
        (Top::Checkpoint, 2, 2, 0, Due::Checkpoint),
        (Top::Checkpoint, 1, 2, 0, Due::Nothing),
        (Top::Checkpoint, 1, 0, 0, Due::Checkpoint),
        (Top::Checkpoint, 0, 0, 0, Due::Nothing),
        (Top::Other, 9, 2, 9_999, Due::Nothing),
    ] {
        let end = End { at_top, below, checkpoint_segments, ..END };
        let found = figures(0).due_at_the_end(&end, Effort::All, false, log_room);
        assert_eq!(found, expected, "{end:?}, room for {log_room}");
    }
}

#[test]
fn the_log_goes_on_where_what_it_has_reserved_keeps_the_end_of_a_long_file_from_coming_down() {
    // What must be held comes to 4,000 bytes: 8 segments are the bound of a compacted file, and 12 that of a file at rest.
    let figures = |len| Figures { len, ..with(Usage { live: 4_000, ..Usage::default() }) };
    let held_up = End { next: Some(7), reserved: Some(9), below: 1, top: 8, at_top: Top::Checkpoint, ..END };
    for (end, log_room, expected) in [
        (held_up, 2_001, Due::Roll),
        (held_up, 2_000, Due::Nothing),
        (End { beyond_held: 1, ..held_up }, 2_001, Due::Roll),
        (End { top: 7, next: Some(6), ..held_up }, 2_001, Due::Nothing),
        (End { top: 11, ..held_up }, 2_001, Due::Roll),
        (End { top: 12, ..held_up }, 2_001, Due::Nothing),
        (End { next: Some(8), ..held_up }, 2_001, Due::Nothing),
        (End { next: None, ..held_up }, 2_001, Due::Nothing),
        // What cannot be moved does not come down, whatever makes way.
        (End { at_top: Top::Other, ..held_up }, 2_001, Due::Nothing),
        (End { at_top: Top::Current, ..held_up }, 2_001, Due::Roll),
        (End { at_top: Top::Current, below: 1, checkpoint_segments: 1, ..held_up }, 2_001, Due::Roll),
        (End { below: 2, ..held_up }, 2_001, Due::Checkpoint),
        (End { below: 0, checkpoint_segments: 0, ..held_up }, 2_001, Due::Roll),
        (End { below: 1, checkpoint_segments: 0, ..held_up }, 2_001, Due::Checkpoint),
    ] {
        let found = figures(0).due_at_the_end(&end, Effort::All, false, log_room);
        assert_eq!(found, expected, "{end:?}, room for {log_room}");
    }
    let at_rest = |live| Figures { len: 12_001, ..with(Usage { live, ..Usage::default() }) };
    for (live, is_busy, expected) in
        [(3_999, false, Due::Roll), (3_999, true, Due::Nothing), (4_000, false, Due::Nothing)]
    {
        let end = End { top: 11, ..held_up };
        let found = at_rest(live).due_at_the_end(&end, Effort::Rest, is_busy, u64::MAX);
        assert_eq!(found, expected, "{live}, {is_busy}");
    }
}

#[test]
fn a_compaction_has_the_log_go_on_where_a_place_it_has_reserved_far_up_keeps_the_file_long() {
    // As above, 8 segments are the bound; a file that the log has reserved a place for has no fewer than those in front of it but one.
    let figures = Figures { ..with(Usage { live: 4_000, ..Usage::default() }) };
    let far = End { reserved: Some(10), below: 0, within: 1, top: 6, at_top: Top::Checkpoint, ..END };
    for (end, effort, log_room, expected) in [
        (far, Effort::All, 2_001, Due::Roll),
        (far, Effort::All, 2_000, Due::Nothing),
        (End { reserved: Some(9), ..far }, Effort::All, 2_001, Due::Nothing),
        (End { top: 8, ..far }, Effort::All, 2_001, Due::Nothing),
        (End { top: 7, ..far }, Effort::All, 2_001, Due::Roll),
        (End { top: 12, reserved: Some(15), ..far }, Effort::All, 2_001, Due::Nothing),
        (End { at_top: Top::Other, ..far }, Effort::All, 2_001, Due::Nothing),
        (far, Effort::Rest, 2_001, Due::Nothing),
    ] {
        let found = figures.due_at_the_end(&end, effort, false, log_room);
        assert_eq!(found, expected, "{end:?}, {effort:?}, room for {log_room}");
    }
}

#[test]
fn upkeep_ends_where_all_was_moved_thrice_and_nothing_won() {
    let usage = Usage {
        in_use: 10,
        waiting: 20,
        pinned: 40,
        checkpoints: 80,
        live: 100,
        checkpoint_bytes: 20,
        ..Usage::default()
    };
    let figures = with(usage);
    let work = Work {
        user_bytes: 7,
        relocated_bytes: 10_000,
        checkpoint_written_bytes: 200,
        rolls: 3,
        ..Work::default()
    };
    let best = Best::now(Effort::Rest, &figures, 160, &work);
    assert_eq!(best, Best { effort: Effort::Rest, user_bytes: 7, held: 310, written: 13_200 });
    // Three times 120 bytes, and sixteen segments.
    assert!(!figures.is_in_vain(best, Best { written: 13_200 + 16_360, ..best }));
    assert!(figures.is_in_vain(best, Best { written: 13_200 + 16_361, ..best }));
    let later = Best { written: 99_999, ..best };
    assert_eq!(best.or(later), best, "nothing was won");
    for now in [
        Best { held: 309, ..later },
        Best { effort: Effort::All, ..later },
        Best { user_bytes: 8, ..later },
        Best { user_bytes: 8, held: 999, ..later },
    ] {
        assert_eq!(best.or(now), now);
    }
    assert_eq!(best.or(Best { held: 311, ..later }), best);
}
