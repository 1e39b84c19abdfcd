//! What single calls leave behind, by example.

use super::*;
use crate::storage::sim::{Decisions, FaultKind, FaultPlan, Nth, SyncLoss, What, explore};

/// The first byte of each sector, for every image.
fn fronts(disk: &SimDisk) -> Vec<Vec<u8>> {
    let mut fronts: Vec<Vec<u8>> =
        images(disk).iter().map(|image| image.chunks(64).map(|sector| sector[0]).collect()).collect();
    fronts.dedup();
    fronts
}

#[test]
fn reads_see_every_write_and_a_crash_without_a_sync_may_lose_any() {
    let disk = disk_with(Level::Sectors, &[0; 64]);
    for byte in [1, 2] {
        disk.write_at(0, &[byte; 64]).unwrap();
        assert_eq!(disk.bytes(), [byte; 64]);
    }
    disk.crash();
    assert_eq!(fronts(&disk), [[0], [1], [2]]);
}

//= spec/media.md#m-2-1-synced
//= type=test
//# What a sync that returned success covers, bytes and length, MUST be found after any later crash, but for
//# what was written since.
#[test]
fn what_was_synced_survives_any_number_of_crashes() {
    for level in LEVELS {
        let disk = disk_with(level, &[0; 64]);
        disk.write_at(0, &[1; 200]).unwrap();
        disk.sync().unwrap();
        disk.crash();
        disk.crash();
        assert_eq!(disk.states(), 1.0);
        assert_eq!(disk.bytes(), [1; 200]);
    }
}

#[test]
fn equal_bytes_are_one_version() {
    let disk = disk_with(Level::Sectors, &[0; 64]);
    for byte in [0, 1, 0, 1, 2, 1] {
        disk.write_at(0, &[byte; 64]).unwrap();
    }
    disk.crash();
    assert_eq!(disk.states(), 3.0);
}

#[test]
fn sectors_tear_apart_pages_do_not_and_a_prefix_keeps_the_order() {
    // spec: M-2.2, M-2.6
    let left = |level| {
        let disk = disk_with(level, &[0; 128]);
        disk.write_at(0, &[1; 128]).unwrap();
        disk.write_at(64, &[2; 64]).unwrap();
        disk.crash();
        fronts(&disk)
    };
    assert_eq!(left(Level::Prefix), [[0, 0], [1, 1], [1, 2]]);
    assert_eq!(left(Level::Pages), [[0, 0], [1, 1], [1, 2]]);
    assert_eq!(left(Level::Sectors), [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]);
    assert_eq!(left(Level::Garbage).len(), 12);
    // Two pages go each by itself.
    let disk = disk_with(Level::Pages, &[0; 8192]);
    disk.write_at(4000, &[1; 200]).unwrap();
    disk.crash();
    assert_eq!(disk.states(), 4.0);
}

//= spec/media.md#m-2-3-length
//= type=test
//# After a crash the length MUST be one that the file had since the last successful sync, that one included,
//# or, where the file grew in between, a whole number of sectors between two of these.
#[test]
fn a_file_may_have_grown_by_any_number_of_sectors() {
    let disk = disk_with(Level::Sectors, &[1; 70]);
    disk.write_at(70, &[1; 130]).unwrap();
    disk.crash();
    let mut lens: Vec<_> = images(&disk).iter().map(Vec::len).collect();
    lens.dedup();
    lens.sort_unstable();
    lens.dedup();
    assert_eq!(lens, [70, 128, 192, 200]);
}

#[test]
fn a_whole_length_is_one_that_the_file_had() {
    let disk = disk_with(Level::Sectors, &[1; 70]);
    disk.set_whole_lengths();
    disk.set_len(200).unwrap();
    disk.crash();
    let lens: Vec<u64> =
        explore(&disk, 100, |disk| disk.len().unwrap()).leaves.into_iter().map(|leaf| leaf.result).collect();
    assert_eq!(lens, [70, 200]);
}

#[test]
fn what_was_cut_off_may_be_there_again_but_not_after_a_sync() {
    let disk = disk_with(Level::Sectors, &[1; 128]);
    disk.set_len(64).unwrap();
    let synced = disk.fork();
    disk.crash();
    assert_eq!(fronts(&disk), [vec![1], vec![1, 1]]);
    synced.sync().unwrap();
    synced.set_len(128).unwrap();
    synced.crash();
    assert_eq!(fronts(&synced), [vec![1], vec![1, 0]]);
}

#[test]
fn a_new_file_may_be_gone_until_its_directory_is_synced() {
    // spec: M-2.4
    for level in LEVELS {
        let disk = SimDisk::new(64, level);
        disk.write_at(0, &[1; 64]).unwrap();
        disk.sync().unwrap();
        let synced = disk.fork();
        disk.crash();
        assert_eq!(fronts(&disk), [vec![], vec![1]], "{level:?}");
        let found = explore(&disk, 10, |disk| disk.len().unwrap());
        assert_eq!(found.leaves.iter().map(|leaf| leaf.result).collect::<Vec<_>>(), [0, 64]);
        synced.sync_directory().unwrap();
        synced.crash();
        assert_eq!(fronts(&synced), [[1]]);
    }
}

#[test]
fn a_lost_file_is_made_anew_and_may_be_lost_again() {
    let disk = SimDisk::new(64, Level::Sectors);
    disk.write_at(0, &[1; 64]).unwrap();
    disk.sync().unwrap();
    disk.crash();
    assert!(disk.is_empty().unwrap());
    assert_eq!(disk.decisions()[0].what, What::Name);
    disk.write_at(0, &[2; 64]).unwrap();
    disk.sync().unwrap();
    disk.crash();
    assert_eq!(fronts(&disk), [vec![], vec![2]]);
}

#[test]
fn a_sector_that_is_synced_unread_stays_one_unknown() {
    // spec: M-2.5
    let disk = disk_with(Level::Sectors, &[0; 64]);
    disk.write_at(0, &[1; 64]).unwrap();
    disk.crash();
    disk.sync().unwrap();
    assert_eq!(disk.states(), 2.0);
    let found = explore(&disk, 10, |disk| {
        let first = disk.bytes();
        disk.crash();
        assert_eq!(disk.bytes(), first, "it is decided once");
        first[0]
    });
    assert_eq!(found.leaves.iter().map(|leaf| leaf.result).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn a_sector_that_is_overwritten_unread_may_fall_back_to_any_of_what_it_was() {
    let disk = disk_with(Level::Sectors, &[0; 64]);
    disk.write_at(0, &[1; 64]).unwrap();
    disk.crash();
    disk.write_at(0, &[2; 64]).unwrap();
    assert_eq!(disk.states(), 2.0, "what lies below is open still");
    let synced = disk.fork();
    disk.crash();
    assert_eq!(fronts(&disk), [[0], [1], [2]]);
    synced.sync().unwrap();
    assert_eq!(synced.states(), 2.0, "states that were left behind are counted");
    synced.crash();
    assert_eq!(fronts(&synced), [[2]]);
}

#[test]
fn a_write_to_a_part_of_an_open_sector_settles_it() {
    let disk = disk_with(Level::Sectors, &[0; 64]);
    disk.write_at(0, &[1; 64]).unwrap();
    disk.crash();
    disk.write_at(1, &[2; 63]).unwrap();
    assert_eq!(disk.decisions().len(), 1);
    assert_eq!(disk.bytes()[..2], [0, 2]);
}

#[test]
fn a_sync_that_drops_pages_shows_the_old_bytes() {
    let disk = disk_with(Level::Sectors, &[0; 64]);
    disk.write_at(0, &[1; 64]).unwrap();
    disk.set_faults(FaultPlan::none().once(Nth::Call(0), FaultKind::Sync(SyncLoss::Dropped)));
    disk.sync().unwrap_err();
    assert_eq!(disk.bytes(), [0; 64]);
    disk.crash();
    assert_eq!(fronts(&disk), [[0]]);
}

#[test]
fn a_sync_that_keeps_pages_shows_bytes_that_no_later_sync_saves() {
    let disk = disk_with(Level::Sectors, &[0; 128]);
    disk.write_at(0, &[1; 128]).unwrap();
    disk.set_faults(FaultPlan::none().once(Nth::Call(0), FaultKind::Sync(SyncLoss::Kept)));
    disk.sync().unwrap_err();
    disk.sync().unwrap();
    assert_eq!(disk.bytes(), [1; 128]);
    // Only what is written again can be saved, even if with the same bytes.
    disk.write_at(64, &[1; 64]).unwrap();
    disk.sync().unwrap();
    disk.crash();
    assert_eq!(fronts(&disk), [[0, 1]]);
}

#[test]
fn a_sync_that_fails_late_says_so_at_the_next() {
    let disk = disk_with(Level::Sectors, &[0; 64]);
    disk.write_at(0, &[1; 64]).unwrap();
    disk.set_faults(FaultPlan::none().once(Nth::Call(0), FaultKind::Sync(SyncLoss::Late)));
    disk.sync().unwrap();
    let cut = disk.fork();
    cut.crash();
    assert_eq!(fronts(&cut), [[0]]);
    disk.sync().unwrap_err();
    disk.sync().unwrap();
    disk.crash();
    assert_eq!(fronts(&disk), [[0]]);
}

#[test]
fn garbage_may_stand_where_a_write_was_under_way_or_the_file_grew_and_nowhere_else() {
    let disk = disk_with(Level::Garbage, &[1; 192]);
    disk.write_at(64, &[2; 64]).unwrap();
    disk.set_len(256).unwrap();
    disk.crash();
    for image in images(&disk) {
        assert_eq!((image[..64].to_vec(), image[128..192].to_vec()), (vec![1; 64], vec![1; 64]));
    }
    // Old, new or garbage; a length of 192, or of 256 with zeros or garbage.
    assert_eq!(disk.states(), 3.0 * 3.0);
}

#[test]
fn a_seed_repeats_itself_and_seeds_meet_every_corner() {
    let outcome = |seed| {
        let disk = disk_with(Level::Sectors, &[0; 512]);
        disk.set_decisions(Decisions::seeded(seed));
        disk.write_at(0, &[1; 512]).unwrap();
        disk.write_at(448, &[2; 64]).unwrap();
        disk.cut_power();
        disk.bytes()
    };
    let outcomes: Vec<_> = (0..200).map(outcome).collect();
    assert_eq!(outcomes, (0..200).map(outcome).collect::<Vec<_>>());
    let corner = |sectors: [u8; 8]| {
        let bytes: Vec<u8> = sectors.iter().flat_map(|byte| [*byte; 64]).collect();
        outcomes.iter().filter(|outcome| **outcome == bytes).count()
    };
    assert!(corner([0; 8]) > 5, "nothing");
    assert!(corner([1, 1, 1, 1, 1, 1, 1, 2]) > 5, "everything");
    assert!(corner([0, 0, 0, 0, 0, 0, 0, 2]) > 5, "only the last");
    assert!(
        (0..7).any(|old| corner(std::array::from_fn(|at| if at == 7 { 2 } else { u8::from(at != old) })) > 0),
        "all but one"
    );
}
