//! What is due at each threshold, and just beside it. Segments of 1,000 bytes here have room for 900.

use super::*;

mod end;

/// What a file of `len` bytes must hold comes to 16,000 bytes: a sixteenth of that, in which bounds are stated, is 1,000.
fn figures(len: u64) -> Figures {
    let usage = Usage { live: 14_000, checkpoint_bytes: 2_000, ..Usage::default() };
    Figures { segment_bytes: 1_000, room: 900, len, front: 0, leeway: 0, usage }
}

fn with(usage: Usage) -> Figures {
    Figures { usage, ..figures(0) }
}

#[test]
fn a_checkpoint_is_due_behind_enough_log_or_four_times_its_own_length() {
    let behind = |log, checkpoint| Behind {
        log,
        checkpoint,
        log_max: None,
        fits_first_segment: false,
        has_damage: false,
    };
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
    // What memory keeps of a log is bounded, however large the checkpoint is.
    for (log, log_max, is_due) in
        [(7_999, 8_000, false), (8_000, 8_000, true), (4_999, 100, false), (5_000, 100, true)]
    {
        let behind = Behind { log_max: Some(log_max), ..behind(log, 1 << 20) };
        assert_eq!(behind.is_checkpoint_due(5_000), is_due, "{behind:?}");
        for (log, is_much) in [(2 * log - 1, false), (2 * log, is_due)] {
            assert_eq!(Behind { log, ..behind }.is_much(5_000), is_much, "{behind:?}");
            assert!(!Behind { log, log_max: None, ..behind }.is_much(5_000));
            assert!(!Behind { log, fits_first_segment: true, ..behind }.is_much(5_000));
        }
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

//= spec/space.md#p-2-5-the-one-before
//= type=test
//# After something of it could not be read later, a writer SHOULD take the next checkpoint at once.
#[test]
fn a_checkpoint_is_due_behind_one_with_damage_however_short_the_log_is() {
    let behind = Behind { log: 0, checkpoint: 0, log_max: None, fits_first_segment: true, has_damage: true };
    assert!(behind.is_checkpoint_due(5_000) && behind.is_checkpoint_wanted_at_close(1_000));
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
fn a_small_file_may_be_longer_while_others_write() {
    // Beside 16,000 that it must hold it may have 48,000: of these, who writes helps from 36,000 on, and waits from 42,000 or 45,000.
    for (len, pressure) in [
        (52_000, Pressure::None),
        (52_001, Pressure::Some),
        (58_000, Pressure::Some),
        (58_001, Pressure::Much),
        (61_001, Pressure::Much),
    ] {
        let mut small = Figures { leeway: 48_000, ..figures(len) };
        small.usage.waiting = 1;
        assert_eq!(small.pressure(|| 0), pressure, "{len} bytes");
        assert_eq!(small.is_release_wanted(Effort::Keep), pressure != Pressure::None, "{len} bytes");
        assert!(small.is_release_wanted(Effort::Rest), "at rest it may not");
        let long = Figures { leeway: 0, ..small };
        assert_eq!(long.pressure(|| 0), Pressure::Much, "{len} bytes");
    }
    // Of segments with 44,000 bytes none is cleaned meanwhile.
    for (in_use, is_little) in [(40, true), (41, false)] {
        let mut small = Figures { leeway: 48_000, ..figures(100_000) };
        (small.usage.in_use, small.usage.waiting, small.usage.checkpoints) = (in_use, 1, 3);
        assert_eq!(small.is_little_held(), is_little);
        assert!(!Figures { leeway: 0, ..small }.is_little_held());
    }
    assert!(
        !with(Usage { live: 10_000, ..Usage::default() }).is_little_held(),
        "without leeway, whatever is held"
    );
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

#[test]
fn a_log_is_much_too_long_at_which_the_file_would_be_beyond_its_bound_for_others() {
    // 45 sixteenths of 16,000 bytes, and four segments.
    for (in_use, is_too_long) in [(49, false), (50, true)] {
        let figures = with(Usage { in_use, live: 16_000, ..Usage::default() });
        assert_eq!(figures.is_log_much_too_long(), is_too_long, "{in_use}");
    }
}
