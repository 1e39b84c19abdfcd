//! What a life consists of, made up from a seed.

use std::fmt;

use holotype_model::check::{Rng, Simplify};

use super::{Change, Durability};

/// One step of a life.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A commit.
    Commit(Vec<Change>, Durability),
    /// The store is closed and opened again.
    Reopen,
    /// The process is killed, and the store opened again.
    Kill,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (changes, durability) = match self {
            Step::Commit(changes, durability) => (changes, durability),
            Step::Reopen => return f.write_str("close, open"),
            Step::Kill => return f.write_str("kill, open"),
        };
        let word = |change: &Change| match change {
            Change::Put(key, value) => {
                format!("put {} ({} bytes)", String::from_utf8_lossy(key), value.len())
            }
            Change::Delete(key) => format!("delete {}", String::from_utf8_lossy(key)),
        };
        let class = if *durability == Durability::Durable { "durable" } else { "buffered" };
        match changes.as_slice() {
            [one] => write!(f, "{class}: {}", word(one)),
            [first, .., last] => {
                write!(f, "{class}: {} changes, {} to {}", changes.len(), word(first), word(last))
            }
            [] => write!(f, "{class}: nothing"),
        }
    }
}

impl Simplify for Step {
    fn simpler(&self) -> Vec<Self> {
        match self {
            Step::Commit(changes, durability) if changes.len() > 1 => {
                let (front, back) = changes.split_at(changes.len() / 2);
                vec![Step::Commit(front.to_vec(), *durability), Step::Commit(back.to_vec(), *durability)]
            }
            _ => Vec::new(),
        }
    }
}

/// Lengths of values: around what fills sectors and pages of usual sizes, and more.
const LENS: [usize; 10] = [0, 8, 40, 200, 500, 1000, 2000, 4000, 4200, 12_000];

/// Keys that commits are about. Few, so that they meet.
const KEYS: usize = 40;

/// The steps that belong to the seed.
pub(super) fn steps(seed: u64, len: usize) -> Vec<Step> {
    let mut rng = Rng::seeded(seed);
    let mut written = 0_u64;
    (0..len)
        .map(|_| {
            if rng.one_in(8) {
                return if rng.one_in(2) { Step::Reopen } else { Step::Kill };
            }
            // Most commits are small; some change everything.
            let count = if rng.one_in(8) { 1 + rng.below(2 * KEYS) } else { 1 + rng.below(3) };
            let changes = (0..count).map(|_| change(&mut rng, &mut written)).collect();
            Step::Commit(changes, if rng.one_in(3) { Durability::Buffered } else { Durability::Durable })
        })
        .collect()
}

fn change(rng: &mut Rng, written: &mut u64) -> Change {
    let key = format!("key {:02}", rng.below(KEYS)).into_bytes();
    if rng.one_in(4) {
        return Change::Delete(key);
    }
    // No two values are alike, so that an old one does not pass for a new one.
    *written += 1;
    let len = *rng.pick(&LENS);
    let mut value = written.to_le_bytes().to_vec();
    value.resize(8 + len, *written as u8);
    Change::Put(key, value)
}
