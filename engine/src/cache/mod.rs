//! File blocks in memory, under a byte budget. A block is a fixed-size piece of a log segment, named by its log address:
//! since addresses are never used twice, what is in the cache is never stale.
//!
//! A block comes in as it was read; each record is verified when it is first read from it.

mod block;
#[cfg(all(test, loom))]
mod loom;
mod segment;

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

pub(crate) use block::Block;
pub(crate) use segment::{Segment, SegmentTable};

use crate::sync::race::{self, Race};
use crate::sync::{Arc, AtomicBool, AtomicU64, Ordering, RwLock, read, write};

/// Block numbers count up, so multiplying spreads them well enough; and unlike the standard hasher it is the same in
/// every run.
#[derive(Debug, Default)]
struct BlockHasher(u64);

impl Hasher for BlockHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

#[derive(Debug, Default)]
struct Shard {
    blocks: HashMap<u64, (Arc<Block>, AtomicBool), BuildHasherDefault<BlockHasher>>,
    /// The clock: block numbers in the order in which the hand meets them.
    ring: VecDeque<u64>,
    bytes: usize,
}

impl Shard {
    /// Second chance: the hand passes over a block that was used since it last came by. How many were given up.
    fn evict_to(&mut self, budget: usize) -> u64 {
        let mut evicted = 0;
        while self.bytes > budget {
            let Some(number) = self.ring.pop_front() else { break };
            let (block, used) = &self.blocks[&number];
            if used.swap(false, Ordering::Relaxed) {
                self.ring.push_back(number);
            } else {
                self.bytes -= block.footprint();
                self.blocks.remove(&number);
                evicted += 1;
            }
        }
        evicted
    }
}

const SHARDS: usize = 16;

/// Blocks by number, in shards so that readers seldom meet on one lock.
#[derive(Debug)]
pub(crate) struct Cache {
    shards: [RwLock<Shard>; SHARDS],
    /// For each shard.
    budget: usize,
    misses: AtomicU64,
    /// How many blocks were given up.
    evicted: AtomicU64,
}

impl Cache {
    /// An empty cache that keeps at most `budget` bytes, and one block a shard if that is more.
    pub(crate) fn new(budget: usize) -> Self {
        Cache {
            shards: Default::default(),
            budget: budget / SHARDS,
            misses: AtomicU64::new(0),
            evicted: AtomicU64::new(0),
        }
    }

    fn shard(&self, number: u64) -> &RwLock<Shard> {
        &self.shards[(number % SHARDS as u64) as usize]
    }

    pub(crate) fn get(&self, number: u64) -> Option<Arc<Block>> {
        let shard = read(self.shard(number));
        match shard.blocks.get(&number) {
            Some((block, used)) => {
                if !used.load(Ordering::Relaxed) {
                    used.store(true, Ordering::Relaxed);
                }
                Some(Arc::clone(block))
            }
            None => {
                self.misses.fetch_add(1, Ordering::Relaxed);
                None
            }
        }
    }

    pub(crate) fn put(&self, number: u64, block: Arc<Block>) {
        let mut shard = write(self.shard(number));
        let len = block.footprint();
        match shard.blocks.insert(number, (block, AtomicBool::new(false))) {
            Some((old, _)) => {
                shard.bytes -= old.footprint();
                self.evicted.fetch_add(1, Ordering::Relaxed);
            }
            None => shard.ring.push_back(number),
        }
        shard.bytes += len;
        let budget = self.budget.max(len);
        if race::is_on(Race::EvictedLater) {
            drop(shard);
            shard = write(self.shard(number));
        }
        let evicted = shard.evict_to(budget);
        if evicted > 0 {
            self.evicted.fetch_add(evicted, Ordering::Relaxed);
        }
    }

    /// Bytes of blocks held now.
    pub(crate) fn bytes(&self) -> usize {
        self.shards.iter().map(|shard| read(shard).bytes).sum()
    }

    /// How many blocks were given up so far, those among them that another copy took the place of.
    pub(crate) fn evicted(&self) -> u64 {
        self.evicted.load(Ordering::Relaxed)
    }

    /// How often a block was asked for that was not here.
    pub(crate) fn misses(&self) -> u64 {
        self.misses.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Geometry, Lsn};

    fn block(len: usize) -> Arc<Block> {
        let geometry = Geometry::new(64, 512).expect("a legal geometry");
        let segment = Arc::new(Segment::new(&[0; 16], geometry, 0, 0, Lsn::ZERO));
        Arc::new(Block::new(0, vec![0; len], segment))
    }

    #[test]
    fn the_budget_holds_and_what_is_used_stays() {
        let cache = Cache::new(SHARDS * 1024);
        let (hot, stride) = (3, SHARDS as u64);
        cache.put(hot, block(256));
        for i in 1..100 {
            assert!(cache.get(hot).is_some(), "block {hot} was used before each of {i} others came");
            cache.put(hot + i * stride, block(256));
            assert!(cache.bytes() <= 1024, "{} bytes in one shard", cache.bytes());
        }
        assert_eq!(cache.misses(), 0);
        assert!(cache.get(hot + stride).is_none(), "what was not used is gone");
    }

    #[test]
    fn a_budget_below_one_block_still_holds_one() {
        let cache = Cache::new(0);
        cache.put(1, block(512));
        assert!(cache.get(1).is_some());
    }
}
