//! The images of a crash are those that the definition allows, all of them and no others: against a second statement of
//! the definition that keeps the whole file after each change.

use super::*;

/// The definition (spec: M-2.2, M-2.3), by brute force.
struct Definition {
    /// The bytes after each change since the sync, far beyond the end. A cut changes none; growing back makes zeros.
    contents: Vec<Vec<u8>>,
    lens: Vec<u64>,
}

const REACH: usize = 512;

impl Definition {
    fn new(bytes: &[u8]) -> Self {
        let mut content = bytes.to_vec();
        content.resize(REACH, 0);
        Definition { contents: vec![content], lens: vec![bytes.len() as u64] }
    }

    fn change(&mut self, change: &Change) {
        let mut content = self.contents.last().unwrap().clone();
        let len = *self.lens.last().unwrap();
        let len = match change {
            Change::SetLen(to) => {
                content[len as usize..(*to).max(len) as usize].fill(0);
                *to
            }
            Change::Write(offset, bytes) => {
                content[len as usize..(*offset).max(len) as usize].fill(0);
                content[*offset as usize..*offset as usize + bytes.len()].copy_from_slice(bytes);
                len.max(offset + bytes.len() as u64)
            }
        };
        self.contents.push(content);
        self.lens.push(len);
    }

    fn lens(&self, unit: u64) -> Vec<u64> {
        let steps = self.lens.windows(2);
        let between = steps.flat_map(|pair| (pair[0]..pair[1]).filter(|len| len.is_multiple_of(unit)));
        self.lens.iter().copied().chain(between).collect()
    }

    fn images(&self, level: Level) -> Vec<Vec<u8>> {
        let unit = match level {
            Level::Prefix => {
                let states = self.contents.iter().zip(&self.lens);
                return in_order(states.map(|(content, len)| content[..*len as usize].to_vec()).collect());
            }
            Level::Pages => REACH,
            Level::Sectors | Level::Garbage => 64,
        };
        let tear = if level == Level::Pages { 4096 } else { 64 };
        let mut images = Vec::new();
        for len in self.lens(tear) {
            let mut partial = vec![Vec::new()];
            for start in (0..len as usize).step_by(unit) {
                let end = (start + unit).min(len as usize);
                let mut values: Vec<_> = self.contents.iter().map(|content| &content[start..end]).collect();
                values.sort_unstable();
                values.dedup();
                partial = partial
                    .iter()
                    .flat_map(|front| values.iter().map(move |value| [front.as_slice(), value].concat()))
                    .collect();
            }
            images.append(&mut partial);
        }
        in_order(images)
    }
}

fn in_order(mut images: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    images.sort();
    images.dedup();
    images
}

//= spec/media.md#m-2-2-sectors
//= type=test
//# After a crash it MUST hold one of these values, whole.
//= spec/media.md#m-2-3-length
//= type=test
//# After a crash the length MUST be one that the file had since the last successful sync, that one included,
//# or, where the file grew in between, a whole number of sectors between two of these.
#[test]
fn a_crash_leaves_exactly_the_images_that_the_definition_allows() {
    let mut several = 0;
    for seed in 0..300 {
        for level in [Level::Prefix, Level::Pages, Level::Sectors] {
            let mut random = Random(seed * 1000);
            let bytes = vec![7; random.below(200) as usize];
            let disk = disk_with(level, &bytes);
            let mut definition = Definition::new(&bytes);
            for _ in 0..1 + random.below(4) {
                let change = Change::random(&mut random, 250);
                change.make(&disk);
                definition.change(&change);
            }
            disk.crash();
            let found = images(&disk);
            assert_eq!(found, definition.images(level), "seed {seed}, {level:?}");
            several += u64::from(found.len() > 1);
        }
    }
    assert!(several > 800, "most crashes leave more than one image: {several}");
}

#[test]
fn at_the_level_of_garbage_the_images_of_sectors_are_among_them() {
    let mut gained = 0;
    for seed in 0..100 {
        let mut random = Random(seed * 1000);
        let [sectors, garbage] = [Level::Sectors, Level::Garbage].map(|level| disk_with(level, &[7; 100]));
        let changes: Vec<_> = (0..2).map(|_| Change::random(&mut random, 150)).collect();
        for disk in [&sectors, &garbage] {
            changes.iter().for_each(|change| change.make(disk));
            disk.crash();
        }
        let (fewer, more) = (images(&sectors), images(&garbage));
        assert!(fewer.iter().all(|image| more.binary_search(image).is_ok()), "seed {seed}");
        gained += u64::from(fewer.len() < more.len());
    }
    assert!(gained > 80, "garbage is seldom impossible: {gained}");
}

#[test]
fn changes_after_a_crash_that_nobody_looked_at_compose_with_it() {
    let mut undecided = 0;
    for seed in 0..300 {
        let mut random = Random(seed * 1000);
        let disk = disk_with(Level::Sectors, &[7; 150]);
        (0..2).for_each(|_| Change::random(&mut random, 200).make(&disk));
        disk.crash();
        let image = disk.fork();
        let (before, after): (Vec<_>, Vec<_>) = {
            let change = |random: &mut Random| Change::random(random, 128);
            ((0..1).map(|_| change(&mut random)).collect(), (0..1).map(|_| change(&mut random)).collect())
        };
        let is_synced = random.below(2) == 0;
        let go_on = |disk: &SimDisk| {
            before.iter().for_each(|change| change.make(disk));
            if is_synced {
                disk.sync().unwrap();
            }
            after.iter().for_each(|change| change.make(disk));
            disk.crash();
        };
        // All at once, with nothing settled but what the changes themselves need ...
        let together: Vec<_> = {
            let mut all = Vec::new();
            crate::storage::sim::explore_each(&image, 1 << 12, |disk| {
                go_on(&disk);
                undecided += u64::from(disk.states() > 4.0);
                all.extend(images(&disk));
            });
            in_order(all)
        };
        // ... and from each image of the first crash by itself.
        let each = naive(&image, 1 << 12).unwrap().into_iter().flat_map(|disk| {
            go_on(&disk);
            images(&disk)
        });
        assert_eq!(together, in_order(each.collect()), "seed {seed}");
    }
    assert!(undecided > 100, "overwriting left much undecided: {undecided}");
}
