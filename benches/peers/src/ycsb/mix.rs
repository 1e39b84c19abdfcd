//! The six mixes of YCSB, as lists of operations that are made before the clock starts.

use super::keys::{Draw, Keys, Random};

/// What one call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Read(u64),
    Update(u64),
    /// Reads a document, and puts in its place what was made of it.
    Rewrite(u64),
    Insert(u64),
    /// As many documents, from this id on.
    Scan(u64, usize),
}

/// What comes beside the reads of a mix, or beside the scans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Other {
    None,
    Update,
    Rewrite,
    Insert,
}

/// One of YCSB's core workloads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mix {
    pub name: &'static str,
    pub what: &'static str,
    other: Other,
    /// Of a hundred operations.
    pub others: u64,
    pub scans: bool,
}

const fn mix(name: &'static str, what: &'static str, other: Other, others: u64) -> Mix {
    Mix { name, what, other, others, scans: false }
}

/// In the order that YCSB advises: those that insert come last.
pub const MIXES: [Mix; 6] = [
    mix("A", "half reads, half updates", Other::Update, 50),
    mix("B", "95 percent reads, 5 updates", Other::Update, 5),
    mix("C", "reads", Other::None, 0),
    mix("F", "half reads, half reads and what was made of it put back", Other::Rewrite, 50),
    mix("D", "95 percent reads, most of what was inserted last; 5 inserts", Other::Insert, 5),
    Mix { scans: true, ..mix("E", "95 percent scans of 10 to 99 documents, 5 inserts", Other::Insert, 5) },
];

/// Documents that one scan returns.
const SCANNED: std::ops::Range<u64> = 10..100;

/// The mean of them.
pub const SCANNED_MEAN: f64 = 54.5;

impl Mix {
    pub fn rewrites(&self) -> bool {
        self.other == Other::Rewrite
    }

    /// What each of `threads` does in a store that has the ids `1..=count`: `each` operations for a thread. Threads insert
    /// under ids of their own, and all of these together go on behind `count` without a gap.
    pub fn operations(&self, keys: Keys, count: u64, threads: u64, each: usize) -> Vec<Vec<Operation>> {
        let draw = Draw::new(keys, if self.scans { count - SCANNED.end } else { count });
        let seed = self.name.bytes().fold(threads, |seed, byte| seed << 8 | u64::from(byte));
        let mut next = count + 1;
        let of_thread = |thread| {
            let mut random = Random::new(seed << 8 | thread);
            let own = next;
            (0..each)
                .map(|_| {
                    if random.below(100) < self.others {
                        return self.other_than_read(&draw, &mut random, &mut next);
                    }
                    self.read(keys, &draw, &mut random, count, own..next)
                })
                .collect()
        };
        (0..threads).map(of_thread).collect()
    }

    fn other_than_read(&self, draw: &Draw, random: &mut Random, next: &mut u64) -> Operation {
        match self.other {
            Other::Update => Operation::Update(draw.scattered(random) + 1),
            Other::Rewrite => Operation::Rewrite(draw.scattered(random) + 1),
            Other::Insert => {
                *next += 1;
                Operation::Insert(*next - 1)
            }
            Other::None => unreachable!("it has no share"),
        }
    }

    /// Reads what is there for certain: what was there before, and what the same thread has inserted since.
    fn read(
        &self,
        keys: Keys,
        draw: &Draw,
        random: &mut Random,
        count: u64,
        own: std::ops::Range<u64>,
    ) -> Operation {
        if self.scans {
            let len = SCANNED.start + random.below(SCANNED.end - SCANNED.start);
            return Operation::Scan(draw.scattered(random) + 1, len as usize);
        }
        if self.other == Other::Insert && keys == Keys::Zipfian {
            // The most frequent is the newest.
            let (rank, inserted) = (draw.rank(random), own.end - own.start);
            return Operation::Read(if rank < inserted {
                own.end - 1 - rank
            } else {
                count + inserted - rank
            });
        }
        Operation::Read(draw.scattered(random) + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNT: u64 = 2_000;
    const EACH: usize = 5_000;

    fn all(mix: &Mix, keys: Keys, threads: u64) -> Vec<Vec<Operation>> {
        mix.operations(keys, COUNT, threads, EACH)
    }

    #[test]
    fn each_mix_has_the_shares_that_it_says() {
        for mix in &MIXES {
            let of_one = all(mix, Keys::Zipfian, 1).remove(0);
            let plain =
                of_one.iter().filter(|op| matches!(op, Operation::Read(_) | Operation::Scan(..))).count();
            let expected = EACH * (100 - mix.others as usize) / 100;
            assert!(plain.abs_diff(expected) < EACH / 40, "{}: {plain} of {EACH}", mix.name);
            assert_eq!(of_one.iter().any(|op| matches!(op, Operation::Scan(..))), mix.scans, "{}", mix.name);
        }
    }

    #[test]
    fn what_is_read_was_there_before_or_is_the_threads_own() {
        for (mix, keys) in MIXES.iter().flat_map(|mix| [Keys::Uniform, Keys::Zipfian].map(|keys| (mix, keys)))
        {
            let mut inserted = Vec::new();
            for of_thread in all(mix, keys, 4) {
                let mut own = Vec::new();
                for operation in of_thread {
                    match operation {
                        Operation::Read(id) | Operation::Update(id) | Operation::Rewrite(id) => {
                            assert!((1..=COUNT).contains(&id) || own.contains(&id), "{}: {id}", mix.name);
                        }
                        Operation::Scan(id, len) => assert!(id >= 1 && id + len as u64 - 1 <= COUNT),
                        Operation::Insert(id) => own.push(id),
                    }
                }
                inserted.extend(own);
            }
            let expected: Vec<u64> = (COUNT + 1..=COUNT + inserted.len() as u64).collect();
            assert_eq!(inserted, expected, "without a gap, and each id once");
        }
    }

    #[test]
    fn the_newest_are_read_most_where_the_mix_says_so() {
        let latest = MIXES.iter().find(|mix| mix.name == "D").unwrap();
        let of_one = all(latest, Keys::Zipfian, 1).remove(0);
        let of_new = of_one.iter().filter(|op| matches!(op, Operation::Read(id) if *id > COUNT)).count();
        assert!(of_new > EACH / 3, "{of_new} reads of what was inserted");
    }

    #[test]
    fn no_two_threads_do_the_same() {
        let of_threads = all(&MIXES[0], Keys::Zipfian, 2);
        assert_ne!(of_threads[0], of_threads[1]);
    }
}
