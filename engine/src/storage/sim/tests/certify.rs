//! The explorer against the naive product: every outcome of a reader on some state is an outcome of some leaf, and the
//! other way round.

use std::collections::BTreeSet;

use super::*;
use crate::storage::Probe;
use crate::storage::sim::{Decisions, explore, explore_each};

/// Reads sectors from the front for as long as they begin with `good`.
fn prefix_of(disk: &SimDisk, good: u8) -> Vec<u8> {
    let mut found = Vec::new();
    let mut bytes = [0; 64];
    while disk.read_at(found.len() as u64, &mut bytes).unwrap() == 64 && bytes[0] == good {
        found.extend(bytes);
    }
    found
}

/// The largest first byte of any sector, and whether any sector ends in a 1.
fn largest(disk: &SimDisk) -> Option<[u64; 2]> {
    let look = |_: u64, bytes: &[u8]| {
        let ends = bytes.len() == 64 && bytes[63] == 1;
        (bytes[0] > 0).then_some([u64::from(bytes[0]), u64::from(ends)])
    };
    let probe = Probe { offset: 0, len: 4096, unit: 64, look: &look };
    let answers = disk.probe(&probe).unwrap().expect("a simulated disk answers");
    answers.into_iter().reduce(|a, b| [a[0].max(b[0]), a[1].max(b[1])])
}

/// A small recovery: finds the good prefix, cuts what is behind it, seals it.
fn recover(disk: &SimDisk) -> Vec<u8> {
    let found = prefix_of(disk, 1);
    disk.write_at(found.len() as u64, &[2; 64]).unwrap();
    disk.sync().unwrap();
    disk.write_at(0, &[1; 64]).unwrap();
    found
}

/// An image with at most 12 sectors open, after random changes.
fn window(seed: u64, level: Level) -> Option<SimDisk> {
    let mut random = Random(seed * 1000);
    let disk = disk_with(level, &vec![1; 64 * random.below(5) as usize]);
    for _ in 0..2 + random.below(6) {
        let sector = random.below(8);
        match random.below(8) {
            0 => disk.set_len(64 * random.below(9)).unwrap(),
            1 => disk.sync().unwrap(),
            2 => Change::random(&mut random, 400).make(&disk),
            _ => Change::Write(64 * sector, vec![1 + random.below(2) as u8; 64]).make(&disk),
        }
    }
    disk.crash();
    (disk.states() > 1.0 && disk.states() <= 4096.0).then_some(disk)
}

/// Both sets of outcomes; and that the leaves stand for all states.
fn certify<R: Ord + std::fmt::Debug>(image: &SimDisk, seed: u64, run: impl Fn(&SimDisk) -> R) {
    let explored = explore(image, 1 << 20, |disk| run(&disk));
    assert!(explored.tally.complete, "seed {seed}");
    let all = naive(image, 1 << 12).expect("the window is small");
    let tear_len = image.state().sectors.sector_len();
    if all.iter().all(|disk| disk.len().unwrap().is_multiple_of(tear_len)) {
        assert_eq!(explored.tally.states, all.len() as f64, "seed {seed}");
    } else {
        assert!(explored.tally.states >= all.len() as f64, "seed {seed}");
    }
    assert!(explored.tally.leaves as f64 <= explored.tally.states, "seed {seed}");
    let found: BTreeSet<R> = explored.leaves.into_iter().map(|leaf| leaf.result).collect();
    let expected: BTreeSet<R> = all.iter().map(run).collect();
    assert_eq!(found, expected, "seed {seed}");
}

//= spec/media.md#m-2-5-settled-once
//= type=test
//# A read after the crash MUST NOT return a value that an earlier read since that crash contradicts, unless a
//# write lies between.
#[test]
fn every_reader_finds_lazily_what_it_finds_on_all_states() {
    let mut windows = 0;
    for level in [Level::Pages, Level::Sectors, Level::Garbage] {
        for (seed, image) in (0..70).filter_map(|seed| Some((seed, window(seed, level)?))) {
            windows += 1;
            certify(&image, seed, |disk| prefix_of(disk, 1));
            certify(&image, seed, |disk| prefix_of(disk, 2).len());
            certify(&image, seed, largest);
            certify(&image, seed, |disk| (largest(disk), prefix_of(disk, 1)));
            certify(&image, seed, |disk| (prefix_of(disk, 1), disk.len().unwrap(), largest(disk)));
            certify(&image, seed, |disk| (recover(disk), largest(disk)));
            certify(&image, seed, SimDisk::bytes);
        }
    }
    assert!(windows > 80, "the windows were not trivial: {windows}");
}

#[test]
fn a_prefix_is_found_lazily_as_on_all_states() {
    for (seed, image) in (0..150).filter_map(|seed| Some((seed, window(seed, Level::Prefix)?))) {
        certify(&image, seed, |disk| (prefix_of(disk, 1), largest(disk)));
    }
}

#[test]
fn crashes_during_recovery_are_explored_with_the_first_crash() {
    let mut deep = 0;
    for level in LEVELS {
        for (seed, image) in (0..40).filter_map(|seed| Some((seed, window(seed, level)?))) {
            let twice = explore(&image, 1 << 20, |disk| {
                let first = recover(&disk);
                disk.crash();
                (first, recover(&disk), largest(&disk))
            });
            assert!(twice.tally.complete);
            deep += usize::from(twice.tally.depth > 3);
            let found: BTreeSet<_> = twice.leaves.into_iter().map(|leaf| leaf.result).collect();
            let mut expected = BTreeSet::new();
            for disk in naive(&image, 1 << 12).unwrap() {
                let first = recover(&disk);
                disk.crash();
                for disk in naive(&disk, 1 << 12).unwrap() {
                    expected.insert((first.clone(), recover(&disk), largest(&disk)));
                }
            }
            assert_eq!(found, expected, "seed {seed}, {level:?}");
        }
    }
    assert!(deep > 20, "many paths are long: {deep}");
}

#[test]
fn a_store_that_trusts_a_later_sector_is_caught() {
    // The rule under test: the second sector is written after the first, so it attests it. That holds in order only.
    let leaps = |level| {
        let disk = disk_with(level, &[0; 128]);
        disk.write_at(0, &[1; 64]).unwrap();
        disk.write_at(64, &[1; 64]).unwrap();
        disk.crash();
        let mut lies = 0;
        explore_each(&disk, 100, |disk| {
            let (mut first, mut second) = ([0], [0]);
            disk.read_at(64, &mut second).unwrap();
            disk.read_at(0, &mut first).unwrap();
            lies += u64::from(second[0] == 1 && first[0] == 0);
        });
        lies
    };
    assert_eq!(leaps(Level::Prefix), 0);
    assert_eq!(leaps(Level::Sectors), 1);
}

#[test]
fn an_exploration_that_stops_early_says_so() {
    let disk = disk_with(Level::Sectors, &[0; 640]);
    disk.write_at(0, &[1; 640]).unwrap();
    disk.crash();
    let tally = explore_each(&disk, 100, |disk| assert_eq!(disk.bytes().len(), 640));
    assert_eq!((tally.leaves, tally.complete, tally.depth), (100, false, 10));
    let tally = explore_each(&disk, 1024, |disk| assert_eq!(disk.bytes().len(), 640));
    assert_eq!((tally.leaves, tally.complete, tally.states), (1024, true, 1024.0));
    assert!(naive(&disk, 1023).is_none());
}

#[test]
fn a_leaf_can_be_run_again_by_its_path() {
    let image = (0..).find_map(|seed| window(seed, Level::Sectors)).unwrap();
    let explored = explore(&image, 1 << 12, |disk| disk.bytes());
    assert!(explored.leaves.len() > 1);
    for leaf in explored.leaves {
        let disk = image.fork();
        disk.set_decisions(Decisions::path(leaf.path));
        assert_eq!(disk.bytes(), leaf.result);
    }
}
