//! What is due for the end of the file.

use super::*;

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
    assert_eq!(due(End { beyond_held: 1, at_top: Top::Checkpoint, ..END }), Due::Checkpoint(Purpose::Space));
    assert_eq!(due(End { beyond_held: 1, reserved: Some(23), ..END }), Due::Roll);
}

#[test]
fn a_file_beyond_its_bound_is_cut_down_to_its_reserve() {
    // A checkpoint at the end shows that the file is long enough for things to be moved, at 32,000, and not for being cut.
    let long = End { at_top: Top::Checkpoint, ..END };
    for (len, is_busy, beyond_reserve, expected) in [
        (32_000, false, 2_001, Due::Nothing),
        (32_001, false, 2_001, Due::Checkpoint(Purpose::Space)),
        (36_000, false, 2_001, Due::Checkpoint(Purpose::Space)),
        (36_001, false, 2_000, Due::Checkpoint(Purpose::Space)),
        (36_001, false, 2_001, Due::Shrink(Kept::Reserve)),
        (49_000, true, 2_001, Due::Checkpoint(Purpose::Space)),
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
    for (spare, expected) in [(2, Due::Nothing), (3, Due::Checkpoint(Purpose::Space))] {
        let end = End { at_top: Top::Checkpoint, spare, ..wanted };
        assert_eq!(due(end, true), expected, "{spare} to spare");
        let unwanted = End { is_reserve_wanted: false, is_put_since_cut: false, written_since_cut: 0, ..end };
        assert_eq!(due(End { beyond_rest: 2_000, ..unwanted }, true), Due::Checkpoint(Purpose::Space));
        assert_eq!(due(unwanted, true), Due::Shrink(Kept::AtRest), "beyond its bound it is cut in any case");
    }
    let small = Figures { len: 49_001, ..with(Usage { live: 4_000, ..Usage::default() }) };
    for (spare, expected) in [(1, Due::Nothing), (2, Due::Checkpoint(Purpose::Space))] {
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
        (Top::Checkpoint, 2, 2, 0, Due::Checkpoint(Purpose::Space)),
        (Top::Checkpoint, 1, 2, 0, Due::Nothing),
        (Top::Checkpoint, 1, 0, 0, Due::Checkpoint(Purpose::Space)),
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
        (End { below: 2, ..held_up }, 2_001, Due::Checkpoint(Purpose::Space)),
        (End { below: 0, checkpoint_segments: 0, ..held_up }, 2_001, Due::Roll),
        (End { below: 1, checkpoint_segments: 0, ..held_up }, 2_001, Due::Checkpoint(Purpose::Space)),
    ] {
        let found = figures(0).due_at_the_end(&end, Effort::All, false, log_room);
        assert_eq!(found, expected, "{end:?}, room for {log_room}");
    }
    let at_rest = |live| Figures { len: 12_001, ..with(Usage { live, ..Usage::default() }) };
    // Where others write, it does so for who deletes alone, and in a file that is much too long: 45 sixteenths, and four segments.
    for (live, is_busy, is_put_since_cut, expected) in [
        (3_999, false, true, Due::Roll),
        (4_000, false, false, Due::Nothing),
        (2_844, true, false, Due::Roll),
        (2_844, true, true, Due::Nothing),
        (2_845, true, false, Due::Nothing),
    ] {
        let end = End { top: 11, is_put_since_cut, ..held_up };
        let found = at_rest(live).due_at_the_end(&end, Effort::Rest, is_busy, u64::MAX);
        assert_eq!(found, expected, "{live}, {is_busy}, {is_put_since_cut}");
    }
    let counted = Figures { front: 1, ..at_rest(4_000) };
    let end = End { top: 11, ..held_up };
    assert_eq!(
        counted.due_at_the_end(&end, Effort::Rest, false, u64::MAX),
        Due::Roll,
        "and what is in front"
    );
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
