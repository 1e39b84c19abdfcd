//! The budget, and what stays within it.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::document::KeyRef;
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

#[test]
fn a_full_cache_turns_a_block_away_that_was_not_asked_for_lately() {
    // One place for what was turned away.
    let cache = Cache::new(SHARDS * 512);
    assert!(!cache.turns_away(1, 512), "there is room");
    assert!(cache.turns_away(1, 513), "it has more bytes than the budget");
    assert!(!cache.turns_away(1, 513), "it is asked for again");
    assert!(cache.turns_away(3, 513) && cache.turns_away(1, 513), "another was asked for in between");
    cache.put(1, block(256));
    assert!(!cache.turns_away(SHARDS as u64 + 2, 512), "another shard has room");
    assert!(cache.turns_away(SHARDS as u64 + 1, 512) && !cache.turns_away(SHARDS as u64 + 1, 512));
    // Two places.
    let cache = Cache::new(2 * ASKED_SHARE);
    assert!(cache.turns_away(1, ASKED_SHARE) && cache.turns_away(2, ASKED_SHARE));
    assert!(!cache.turns_away(1, ASKED_SHARE) && !cache.turns_away(2, ASKED_SHARE));
}

/// A document of `len` bytes under the key 7 of the collection 3.
fn whole(len: usize) -> Arc<Whole> {
    let bytes = [vec![7], vec![9; len]].concat();
    Arc::new(Whole { key: 0..1, body: 1..bytes.len() as u32, bytes, collection: 3, value: 4, lsn: Lsn::ZERO })
}

#[test]
fn a_document_is_kept_at_its_second_reading() {
    let (cache, at) = (Cache::new(SHARDS * 4096), LogAddress(1000));
    let documents = [whole(100), whole(100), whole(100)];
    cache.keep(at, &documents[0]);
    assert!(cache.whole(at).is_none() && cache.bytes() < 100, "it was read once");
    cache.keep(at, &documents[1]);
    cache.keep(at, &documents[2]);
    let kept = cache.whole(at).expect("it was read twice");
    assert!(Arc::ptr_eq(&kept, &documents[1]));
    assert!(cache.bytes() > 100 && cache.bytes() < 300, "{} bytes for one of them", cache.bytes());
    assert!(cache.whole(LogAddress(1001)).is_none() && cache.get(1000).is_none());
}

#[test]
fn a_document_is_that_of_its_key_and_collection_alone() {
    let document = whole(10);
    assert!(document.is_of(4, 3, KeyRef::Int(7)));
    assert!(!document.is_of(4, 2, KeyRef::Int(7)) && !document.is_of(4, 3, KeyRef::Int(8)));
    assert!(!document.is_of(4, 3, KeyRef::Text("7")) && !document.is_of(5, 3, KeyRef::Int(7)));
}

#[test]
fn a_document_that_takes_more_than_half_of_a_shard_is_not_kept() {
    for (len, is_kept) in [(1900, true), (2100, false)] {
        let (cache, at) = (Cache::new(SHARDS * 4096), LogAddress(1000));
        (0..3).for_each(|_| cache.keep(at, &whole(len)));
        assert_eq!(cache.whole(at).is_some(), is_kept, "{len} bytes");
    }
}

/// Two addresses of one shard.
fn neighbours(cache: &Cache) -> [LogAddress; 2] {
    let first = LogAddress(1);
    let is_other = |at: &LogAddress| std::ptr::eq(cache.shard_of(*at), cache.shard_of(first));
    [first, (2..).map(LogAddress).find(is_other).expect("there are few shards")]
}

#[test]
fn a_document_that_is_used_stays_and_one_that_is_not_goes() {
    let cache = Cache::new(SHARDS * 4096);
    let [hot, cold] = neighbours(&cache);
    (0..2).for_each(|_| cache.keep(hot, &whole(1500)));
    for round in 0..20 {
        assert!(cache.whole(hot).is_some(), "round {round}");
        (0..2).for_each(|_| cache.keep(cold, &whole(1500)));
        assert!(cache.bytes() <= 4096);
        // Blocks of the same shard drive out the one that nobody asks for.
        let shard = (0..SHARDS as u64).find(|n| std::ptr::eq(cache.shard(*n), cache.shard_of(hot)));
        let number = shard.expect("one of them") + round * SHARDS as u64;
        cache.put(number, block(1024));
        assert!(cache.whole(hot).is_some());
        cache.put(number + 1000 * SHARDS as u64, block(1024));
    }
    assert!(cache.evicted() > 0);
}

proptest! {
    #[test]
    fn blocks_and_documents_share_one_budget_and_each_is_itself(
        steps in proptest::collection::vec((0_u8..4, 0_u64..40, 1_usize..900), 1..400),
    ) {
        let cache = Cache::new(SHARDS * 2048);
        let mut lens = BTreeMap::new();
        for (step, at, len) in steps {
            match step {
                0 => cache.put(at, block(len)),
                1 => {
                    // What stands at an address is always the same.
                    let len = *lens.entry(at).or_insert(len);
                    cache.keep(LogAddress(at), &whole(len));
                }
                2 => {
                    if let Some(found) = cache.whole(LogAddress(at)) {
                        prop_assert_eq!(found.bytes.len(), lens[&at] + 1);
                    }
                }
                _ => drop(cache.get(at)),
            }
            for shard in &cache.shards {
                let shard = read(shard);
                let blocks = shard.blocks.values().map(|(block, _)| block.footprint());
                let wholes = shard.wholes.values().map(|(held, _)| held.footprint());
                prop_assert_eq!(shard.bytes, blocks.chain(wholes).sum::<usize>());
                prop_assert!(shard.bytes <= 2048);
                prop_assert_eq!(shard.ring.len(), shard.blocks.len() + shard.wholes.len());
            }
        }
    }
}
