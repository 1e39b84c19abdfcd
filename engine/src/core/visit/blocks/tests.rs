//! Which blocks are at hand, and for how long.

use super::*;
use crate::core::{Core, Expect};
use crate::document::KeyRef;
use crate::index::{Entries, KeyRange, PrimaryIndex};
use crate::options::{Durability, Options};
use crate::storage::MemoryStorage;

const COUNT: u64 = 4001;
/// As long as a segment.
const BLOCK: usize = 4096;
const COLLECTION: &str = "a";

/// Documents whose neighbours in the order of keys lie some blocks apart, and where they stand, in that order.
fn strewn(cache: usize) -> (Core, Entries) {
    let options = Options::new().segment_bytes(BLOCK as u32).cache_bytes(cache);
    let core = Core::open(Box::new(MemoryStorage::new()), &options).expect("memory refuses nothing");
    let mut writer = core.writer().expect("it is opened for writing");
    for number in 0..COUNT {
        let key = KeyRef::Int((number * 1009 % COUNT) as i64);
        writer.begin().expect("memory refuses nothing");
        writer.txn.put(COLLECTION, key, Expect::Anything, &[0xA0]).expect("nothing is wrong with it");
        writer.commit(Durability::Written).expect("memory refuses nothing");
    }
    let naming = core.shared.naming(COLLECTION).expect("it was just begun");
    let mut entries = Entries::default();
    naming.documents.index.page(&KeyRange::all(), false, COUNT as usize, &mut entries);
    drop(writer);
    assert_eq!(entries.len() as u64, COUNT);
    (core, entries)
}

/// Visits all, and says how many were found in the blocks at hand.
fn visit(core: &Core, blocks: &mut Blocks, entries: &Entries, len: usize) -> usize {
    let collection = core.shared.naming(COLLECTION).expect("it is there").documents.id;
    let (mut rest, mut found) = (&entries.items()[..len], 0);
    while !rest.is_empty() {
        let (now, later) = rest.split_at(blocks.find(&core.shared.log, rest));
        assert!((1..=BATCH_MAX).contains(&now.len()));
        let mut held = [None; BATCH_MAX];
        blocks.look(&core.shared.log, collection, entries, now, &mut held);
        found += held.iter().flatten().filter(|held| held.body == [0xA0]).count();
        assert!(held[now.len()..].iter().all(Option::is_none), "there is no more");
        rest = later;
    }
    found
}

fn held(blocks: &Blocks) -> usize {
    blocks.slots.iter().filter(|slot| slot.block.is_some()).count()
}

#[test]
fn what_lies_strewn_over_more_blocks_than_a_few_is_soon_found_without_asking() {
    let (core, entries) = strewn(8 << 20);
    let mut blocks = Blocks::new(&core.shared.log);
    assert!(visit(&core, &mut blocks, &entries, 8) > 0);
    assert_eq!(blocks.slots.len(), SLOTS_FIRST, "few visits go far");
    let in_log = entries.iter().filter(|(_, entry)| !core.shared.log.tail.holds(entry.address())).count();
    let found = visit(&core, &mut blocks, &entries, entries.len());
    // But for those that go on in the next block.
    assert!(found <= in_log && found > in_log * 9 / 10, "{found} of {in_log}");
    let blocks_of_log = COUNT as usize * 40 / BLOCK;
    assert!(blocks.slots.len() >= blocks_of_log && held(&blocks) >= blocks_of_log / 2);
    let asked = core.shared.log.cache.evicted();
    assert_eq!(
        (visit(&core, &mut blocks, &entries, entries.len()), core.shared.log.cache.evicted()),
        (found, asked)
    );
    assert_eq!(blocks.asked, 0, "all are at hand");
}

#[test]
fn no_block_is_held_that_the_cache_gave_up_a_batch_ago() {
    let (core, entries) = strewn(1 << 20);
    let mut blocks = Blocks::new(&core.shared.log);
    visit(&core, &mut blocks, &entries, entries.len());
    assert!(held(&blocks) > BATCH_MAX, "{}", held(&blocks));
    let evicted = core.shared.log.cache.evicted();
    let segment = core.shared.log.segments.get(0).expect("the first");
    for number in 1 << 20..(1 << 20) + 1000 {
        core.shared.log.cache.put(number, Arc::new(Block::new(number, vec![0; BLOCK], Arc::clone(&segment))));
    }
    assert!(core.shared.log.cache.evicted() > evicted + 500);
    blocks.find(&core.shared.log, entries.items());
    assert!(held(&blocks) <= BATCH_MAX, "{} are held", held(&blocks));
    assert!(blocks.slots.len() <= SLOTS_EVICTING, "no more are let go at each batch");
    // Another copy of a block takes the place of one that somebody may hold.
    let evicted = core.shared.log.cache.evicted();
    core.shared.log.cache.put(1 << 20, Arc::new(Block::new(1 << 20, vec![0; BLOCK], Arc::clone(&segment))));
    core.shared.log.cache.put(1 << 20, Arc::new(Block::new(1 << 20, vec![0; BLOCK], segment)));
    assert!(core.shared.log.cache.evicted() > evicted);
}
