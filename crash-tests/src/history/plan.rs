//! What the threads of a history will do: all of it follows from a seed, but for who comes first.

use holotype::Durability;
use holotype_model::Key;
use holotype_model::check::Rng;

use crate::setup::Setup;

use super::call::{Call, Doc, Op};
use super::store::Documents;

/// One history to be made.
#[derive(Debug, Clone)]
pub struct Plan {
    /// All else follows from it.
    pub seed: u64,
    /// The geometry.
    pub setup: Setup,
    /// Bytes that the store caches. With none, every read goes to the disk.
    pub cache_bytes: usize,
    /// Bytes after which what is buffered is written out.
    pub flush_bytes: usize,
    /// What the store holds when the threads begin.
    pub initial: Documents,
    /// What each thread does, in its order.
    pub threads: Vec<Vec<Step>>,
    /// How the store ends.
    pub end: End,
}

/// A call, and how often its thread lets others go first.
#[derive(Debug, Clone)]
pub struct Step {
    /// How often.
    pub yields: usize,
    /// The call.
    pub call: Call,
}

/// How a store ends, before it is opened again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It is closed.
    Close,
    /// Its last handle goes.
    Drop,
    /// The power is cut.
    Cut,
}

/// Few keys, so that calls meet; of those kinds that the index keeps apart, and one that ids come to.
pub(super) fn keys() -> [Key; 5] {
    [Key::from("a"), Key::from(1), Key::from("b"), Key::from(2), Key::from(4)]
}

impl Plan {
    /// The plan that belongs to `seed`.
    pub fn seeded(seed: u64) -> Self {
        let mut rng = Rng::seeded(seed);
        let keys = &keys()[..2 + rng.below(4)];
        let initial = keys.iter().filter(|key| **key != Key::from(4));
        let initial = initial.map(|key| (key.clone(), Doc { n: 10, by: 0 })).collect();
        let threads_count = 3 + rng.below(2);
        let calls = 16 + rng.below(9);
        let mut threads = vec![Vec::new(); threads_count];
        for id in 1..=calls as u32 {
            let yields = if rng.one_in(2) { rng.below(4) } else { 0 };
            let call = Call { id, class: class(&mut rng), op: op(&mut rng, keys) };
            threads[rng.below(threads_count)].push(Step { yields, call });
        }
        let mut plan = Plan {
            seed,
            setup: *rng.pick(&[Setup::TINY, Setup::SMALL, Setup::SECTORS, Setup::SHORT_LIVES]),
            cache_bytes: *rng.pick(&[0, 1 << 20]),
            flush_bytes: *rng.pick(&[1, 300, 256 << 10]),
            initial,
            threads,
            end: *rng.pick(&[End::Close, End::Drop, End::Cut]),
        };
        if rng.one_in(3) {
            plan.be_unique(&mut rng, calls as u32);
        }
        plan
    }

    /// No two documents have one number at first, and may have none while there is the unique index. `calls` were planned before.
    fn be_unique(&mut self, rng: &mut Rng, calls: u32) {
        self.initial.values_mut().zip(8..).for_each(|(doc, n)| doc.n = n);
        for (id, op) in (calls + 1..).zip([Op::MakeUnique, Op::MakeUnique, Op::DropUnique]) {
            let thread = rng.below(self.threads.len());
            let place = rng.below(self.threads[thread].len() + 1);
            let call = Call { id, class: class(rng), op };
            self.threads[thread].insert(place, Step { yields: 0, call });
        }
    }
}

pub(super) fn class(rng: &mut Rng) -> Durability {
    *rng.pick(&[Durability::Synced, Durability::Synced, Durability::Written, Durability::Buffered])
}

pub(super) fn op(rng: &mut Rng, keys: &[Key]) -> Op {
    let n = rng.below(20) as i64;
    let key = rng.pick(keys).clone();
    match rng.below(56) {
        0..6 => Op::Get(key),
        6 => Op::Contains(key),
        7..12 => Op::Scan,
        12..15 => Op::Cut,
        15..20 => Op::Put(key, n),
        20..24 => Op::PutMany(some_of(rng, keys)),
        24 => Op::Insert(n),
        25 => Op::InsertWithKey(key, n),
        26 => Op::Replace(key, n),
        27 => Op::Delete(key),
        28 => Op::Clear,
        29 => Op::Flush,
        30..33 => Op::Snapshot,
        33 => Op::RollBack(some_of(rng, keys)),
        34 => Op::GoBack((key, n), some_of(rng, keys)),
        35..38 => Op::Increment(key),
        38 => Op::Take(key),
        39 => Op::Insert(n),
        44 | 45 => Op::Add(key, n),
        46 => Op::AddToMany(n, 1),
        47 => Op::DeleteMany(n - 10),
        48..52 => Op::ByNumber,
        52..55 => Op::MakeIndex,
        55 => Op::DropIndex,
        place => {
            let (one, other) = two_of(rng, keys);
            let amount = rng.below(12) as i64;
            if place < 42 {
                Op::Transfer { from: one, to: other, amount }
            } else {
                Op::Spend { from: one, beside: other, amount }
            }
        }
    }
}

fn two_of(rng: &mut Rng, keys: &[Key]) -> (Key, Key) {
    let one = rng.below(keys.len());
    let other = (one + 1 + rng.below(keys.len() - 1)) % keys.len();
    (keys[one].clone(), keys[other].clone())
}

/// At least two of the keys, each with a number.
fn some_of(rng: &mut Rng, keys: &[Key]) -> Vec<(Key, i64)> {
    let first = rng.below(keys.len() - 1);
    let count = 2 + rng.below(keys.len() - first - 1);
    keys[first..first + count].iter().map(|key| (key.clone(), rng.below(20) as i64)).collect()
}
