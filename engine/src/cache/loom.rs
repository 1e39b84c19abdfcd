//! Eviction beside readers: in every order of their steps.

use super::{Block, Cache, SHARDS, Segment};
use crate::format::{Geometry, Lsn};
use crate::sync::explore::{PREEMPTIONS, every_order, is_found};
use crate::sync::race::Race;
use crate::sync::{Arc, thread};

const BLOCK_LEN: usize = 8;
/// With the one entry of what is known of its records.
const FOOTPRINT: usize = BLOCK_LEN + size_of::<u32>();

/// Two blocks that go to one shard.
const NUMBERS: [u64; 2] = [3, 3 + SHARDS as u64];

fn block(number: u64) -> Arc<Block> {
    let geometry = Geometry::new(64, 512).expect("a legal geometry");
    let segment = Arc::new(Segment::new(&[0; 16], geometry, 0, 0, Lsn::ZERO));
    Arc::new(Block::new(number, vec![number as u8; BLOCK_LEN], segment))
}

/// A cache with room for one block of a shard. One thread puts a second, a third puts the first again, and the reader holds what
/// it found.
fn two_blocks_for_one_place() {
    let cache = Arc::new(Cache::new(SHARDS * FOOTPRINT));
    cache.put(NUMBERS[0], block(NUMBERS[0]));
    let writers = NUMBERS.map(|number| {
        let cache = Arc::clone(&cache);
        thread::spawn(move || cache.put(number, block(number)))
    });
    for number in NUMBERS {
        if let Some(found) = cache.get(number) {
            assert_eq!(*found.bytes, [number as u8; BLOCK_LEN], "block {number} is itself, evicted or not");
        }
        assert!(cache.bytes() <= FOOTPRINT, "the budget holds at every moment");
    }
    for writer in writers {
        writer.join().expect("no writer panics");
    }
    assert_eq!(cache.bytes(), FOOTPRINT, "one of them stays");
    assert!(NUMBERS.iter().any(|number| cache.get(*number).is_some()));
}

#[test]
fn a_reader_holds_what_it_found_while_the_cache_evicts_it() {
    println!("{} executions", every_order(PREEMPTIONS - 1, two_blocks_for_one_place));
}

#[test]
fn loom_finds_a_budget_that_is_kept_only_afterwards() {
    is_found(
        Race::EvictedLater,
        "the budget holds at every moment",
        PREEMPTIONS - 1,
        two_blocks_for_one_place,
    );
}
