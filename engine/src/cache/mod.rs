//! File blocks in memory, under a byte budget. A block is a fixed-size piece of a log segment, named by its log address:
//! since addresses are never used twice, what is in the cache is never stale.
//!
//! A block comes in as it was read; each record is verified when it is first read from it. A document that no block holds whole is put
//! together at each reading and kept at the second, under the same budget.

mod block;
#[cfg(all(test, loom))]
mod loom;
mod segment;
mod whole;

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{OnceLock, atomic as hint};

pub(crate) use block::Block;
pub(crate) use segment::{Segment, SegmentTable};
pub(crate) use whole::Whole;

use crate::format::LogAddress;
use crate::sync::race::{self, Race};
use crate::sync::{Arc, AtomicBool, AtomicU64, Ordering, RwLock, read, write};
use whole::Cached;

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
    /// Documents that no block holds whole, by log address.
    wholes: HashMap<u64, (Cached, AtomicBool), BuildHasherDefault<BlockHasher>>,
    /// The clock: block numbers, and addresses with [`IS_ADDRESS`], in the order in which the hand meets them.
    ring: VecDeque<u64>,
    bytes: usize,
}

/// No address has this bit (F-2.2).
const IS_ADDRESS: u64 = 1 << 63;

impl Shard {
    /// Second chance: the hand passes over a block that was used since it last came by. How many were given up.
    fn evict_to(&mut self, budget: usize) -> u64 {
        let mut evicted = 0;
        while self.bytes > budget {
            let Some(number) = self.ring.pop_front() else { break };
            if number & IS_ADDRESS != 0 {
                self.evict_whole(number);
                continue;
            }
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

    fn evict_whole(&mut self, marked: u64) {
        let address = marked & !IS_ADDRESS;
        let (cached, used) = &self.wholes[&address];
        if used.swap(false, Ordering::Relaxed) {
            self.ring.push_back(marked);
        } else {
            self.bytes -= cached.footprint();
            self.wholes.remove(&address);
        }
    }
}

const SHARDS: usize = 16;

/// Of so many bytes of budget one block that was turned away is remembered: some two for each that has room.
const ASKED_SHARE: usize = 8 << 10;

/// A document may take this part of a shard's budget.
const WHOLE_SHARE: usize = 2;

/// Blocks by number, in shards so that readers seldom meet on one lock.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    shards: [RwLock<Shard>; SHARDS],
    /// For each shard.
    budget: usize,
    /// Blocks that were asked for lately and turned away, each in a place that is its own but for others of the same remainder; made when the
    /// first is, since most caches have room. A guess, which nothing rests on: these are not the atomics of [`crate::sync`].
    asked: OnceLock<Box<[hint::AtomicU64]>>,
    misses: AtomicU64,
    /// How many blocks were given up.
    evicted: AtomicU64,
}

impl Cache {
    /// An empty cache that keeps at most `budget` bytes, and one block a shard if that is more.
    pub(crate) fn new(budget: usize) -> Self {
        Cache { budget: budget / SHARDS, ..Cache::default() }
    }

    /// How many bytes it keeps at most.
    pub(crate) fn budget(&self) -> usize {
        self.budget * SHARDS
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

    /// Whether block `number`, of that footprint, would drive out another, and was not asked for lately.
    pub(crate) fn turns_away(&self, number: u64, footprint: usize) -> bool {
        if read(self.shard(number)).bytes + footprint <= self.budget {
            return false;
        }
        let asked = self.asked.get_or_init(|| {
            let places = (self.budget * SHARDS / ASKED_SHARE).max(1);
            (0..places).map(|_| hint::AtomicU64::new(u64::MAX)).collect()
        });
        asked[(number % asked.len() as u64) as usize].swap(number, hint::Ordering::Relaxed) != number
    }

    /// Block `number` for a part of a longer copy: whether it is here says nothing of what is asked for.
    pub(crate) fn peek(&self, number: u64) -> Option<Arc<Block>> {
        let shard = read(self.shard(number));
        shard.blocks.get(&number).map(|(block, _)| Arc::clone(block))
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

    fn shard_of(&self, address: LogAddress) -> &RwLock<Shard> {
        &self.shards[(address.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 60) as usize % SHARDS]
    }

    /// The document at `address`, if it was put together before and kept.
    pub(crate) fn whole(&self, address: LogAddress) -> Option<Arc<Whole>> {
        let shard = read(self.shard_of(address));
        let (Cached::Whole(whole), used) = shard.wholes.get(&address.0)? else { return None };
        if !used.load(Ordering::Relaxed) {
            used.store(true, Ordering::Relaxed);
        }
        Some(Arc::clone(whole))
    }

    /// Keeps the document at `address`, if it was read before not long ago. One that would take much of the budget is not kept, so that it
    /// does not drive out all else.
    pub(crate) fn keep(&self, address: LogAddress, whole: &Arc<Whole>) {
        if whole.footprint() > self.budget / WHOLE_SHARE {
            return;
        }
        let mut shard = write(self.shard_of(address));
        let before = match shard.wholes.get(&address.0) {
            Some((Cached::Whole(_), _)) => return,
            Some((cached, _)) => Some(cached.footprint()),
            None => None,
        };
        let cached = before.map_or(Cached::Read, |_| Cached::Whole(Arc::clone(whole)));
        shard.bytes += cached.footprint();
        shard.bytes -= before.unwrap_or(0);
        if before.is_none() {
            shard.ring.push_back(address.0 | IS_ADDRESS);
        }
        // The hand may be about to come by.
        shard.wholes.insert(address.0, (cached, AtomicBool::new(before.is_some())));
        let evicted = shard.evict_to(self.budget);
        if evicted > 0 {
            self.evicted.fetch_add(evicted, Ordering::Relaxed);
        }
    }

    /// Bytes of blocks and documents held now.
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
mod tests;
