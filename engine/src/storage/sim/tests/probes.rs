//! A search settles no more than it must.

use super::*;
use crate::storage::sim::{explore, explore_each};
use crate::storage::{Answer, Probe};

/// `count` sectors, each of which may be zeros, or begin with its own number from 1 on.
fn open(count: u64) -> SimDisk {
    let disk = disk_with(Level::Sectors, &vec![0; 64 * count as usize]);
    for sector in 0..count {
        disk.write_at(sector * 64, &[sector as u8 + 1; 64]).unwrap();
    }
    disk.crash();
    disk
}

fn ask(disk: &SimDisk, unit: usize, look: &dyn Fn(u64, &[u8]) -> Option<Answer>) -> Option<Answer> {
    let answers = disk.probe(&Probe { offset: 0, len: 1 << 20, unit, look }).unwrap().unwrap();
    assert!(answers.len() < 2, "only the largest is told");
    answers.first().copied()
}

fn number(_: u64, bytes: &[u8]) -> Option<Answer> {
    (bytes[0] > 0).then_some([u64::from(bytes[0]), 0])
}

#[test]
fn the_largest_of_many_open_sectors_has_one_leaf_each_and_one_for_none() {
    let found = explore(&open(12), 1 << 12, |disk| ask(&disk, 64, &number).map_or(0, |answer| answer[0]));
    let mut results: Vec<_> = found.leaves.iter().map(|leaf| leaf.result).collect();
    results.sort_unstable();
    assert_eq!(results, (0..=12).collect::<Vec<_>>());
    assert_eq!(found.tally.states, 4096.0);
}

#[test]
fn whether_any_sector_answers_settles_no_more_than_up_to_the_first() {
    let any = |_: u64, bytes: &[u8]| (bytes[0] > 0).then_some([1, 0]);
    let tally = explore_each(&open(10), 1 << 12, |disk| assert!(ask(&disk, 64, &any) <= Some([1, 0])));
    assert_eq!((tally.leaves, tally.states), (11, 1024.0));
}

#[test]
fn what_no_version_says_is_not_asked() {
    let tally = explore_each(&open(10), 10, |disk| assert_eq!(ask(&disk, 64, &|_, _| None), None));
    assert_eq!((tally.leaves, tally.depth, tally.complete), (1, 0, true));
    // Nor what all versions say alike.
    let tally = explore_each(&open(10), 10, |disk| {
        assert_eq!(ask(&disk, 64, &|at, _| Some([at, 0])), Some([576, 0]));
    });
    assert_eq!((tally.leaves, tally.depth), (1, 0));
}

#[test]
fn a_sector_is_settled_only_as_far_as_its_versions_differ() {
    let disk = disk_with(Level::Sectors, &[0; 64]);
    (1..=4).for_each(|byte| assert_eq!(disk.write_at(0, &[byte; 64]).unwrap(), 64));
    disk.crash();
    let odd = |_: u64, bytes: &[u8]| (bytes[0] % 2 == 1).then_some([1, 0]);
    let found = explore(&disk, 100, |disk| ask(&disk, 64, &odd).is_some());
    assert_eq!(
        found.leaves.iter().map(|leaf| (leaf.result, leaf.states)).collect::<Vec<_>>(),
        [(false, 3.0), (true, 2.0)]
    );
    // A read afterwards finds one of those that are left.
    let found = explore(&disk, 100, |disk| (ask(&disk, 64, &odd).is_some(), disk.bytes()[0]));
    let results: Vec<_> = found.leaves.into_iter().map(|leaf| leaf.result).collect();
    assert_eq!(results, [(false, 0), (false, 2), (false, 4), (true, 1), (true, 3)]);
}

#[test]
fn both_numbers_count_by_themselves() {
    let disk = disk_with(Level::Sectors, &[0; 128]);
    disk.write_at(0, &[1; 64]).unwrap();
    disk.write_at(64, &[2; 64]).unwrap();
    disk.crash();
    let look = |_: u64, bytes: &[u8]| [None, Some([5, 1]), Some([1, 5])][usize::from(bytes[0])];
    let found = explore(&disk, 100, |disk| ask(&disk, 64, &look));
    let mut results: Vec<_> = found.leaves.into_iter().map(|leaf| leaf.result).collect();
    results.sort();
    assert_eq!(results, [None, Some([1, 5]), Some([5, 1]), Some([5, 5])]);
}

#[test]
fn units_may_be_larger_or_smaller_than_what_tears() {
    for level in [Level::Sectors, Level::Pages] {
        for unit in [32, 64, 128, 96] {
            let outcome = |disk: &SimDisk| {
                ask(disk, unit, &|at, bytes| {
                    bytes
                        .iter()
                        .position(|byte| *byte > 1)
                        .map(|within| [at + within as u64, bytes.len() as u64])
                })
            };
            let disk = disk_with(level, &[0; 300]);
            disk.write_at(70, &[1; 60]).unwrap();
            disk.write_at(80, &[2; 110]).unwrap();
            disk.write_at(260, &[3; 40]).unwrap();
            disk.crash();
            let mut found: Vec<_> = explore(&disk, 1 << 12, |disk| outcome(&disk))
                .leaves
                .into_iter()
                .map(|leaf| leaf.result)
                .collect();
            let mut expected: Vec<_> = naive(&disk, 1 << 12).unwrap().iter().map(outcome).collect();
            for outcomes in [&mut found, &mut expected] {
                outcomes.sort();
                outcomes.dedup();
            }
            assert_eq!(found, expected, "{level:?}, {unit}");
        }
    }
}
