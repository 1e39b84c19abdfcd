//! What is left behind: by commits one by one, at close, and in the order of keys.

use holotype::Durability;
use holotype_model::check::Rng;

use super::Tally;
use super::measured::{Measured, SEGMENT, options, say};

//= spec/space.md#p-2-6-at-close
//# A writer SHOULD take a checkpoint when it closes a store whose log since the last one is not short, so
//# that the next opening is.
pub(super) fn close(tally: &mut Tally) -> Result<(), String> {
    for (documents, is_taken) in [(600, true), (3, false)] {
        let mut store = Measured::create(&options(), 200)?;
        for key in 0..documents {
            store.put(key, key)?;
            tally.calls += 1;
        }
        store.reopen(&options())?;
        let space = store.db.stats().space;
        let is_short = space.log_since_checkpoint < u64::from(SEGMENT);
        if is_taken && !is_short || (space.checkpoint_bytes > 0) != is_taken {
            return Err(format!("{documents} documents, closed and opened: {space:#?}"));
        }
        // Behind a checkpoint, a few documents are no reason for another.
        let generation = store.db.stats().superblock_generation;
        store.put(0, 1)?;
        store.reopen(&options())?;
        let written = store.db.stats().superblock_generation - generation;
        if written > 4 {
            return Err(format!("{documents} documents: {written} slots were written for one document more"));
        }
        store.look()?;
    }
    Ok(())
}

/// What a commit alone takes of the log beside its document: a frame and the rest of its sector, and nothing for a watermark, which
/// the next commit states (spec: F-5.5).
pub(super) fn one_by_one(tally: &mut Tally) -> Result<(), String> {
    for (durability, most) in [(Durability::Written, 50), (Durability::Synced, 320)] {
        let mut store = Measured::create(&options().durability(durability), 200)?;
        store.put(0, 0)?;
        let before = store.db.stats();
        for n in 0..400 {
            store.put(n, n)?;
            tally.calls += 1;
        }
        let after = store.db.stats();
        let log = after.log_end - before.log_end;
        let user = after.space.user_bytes - before.space.user_bytes;
        if log > user + 400 * most + 400 * user / u64::from(SEGMENT) {
            return Err(format!("{log} bytes of log for {user} of callers' in 400 commits, {durability:?}"));
        }
    }
    Ok(())
}

/// Stores of a few segments, where one more is much.
pub(super) fn small(tally: &mut Tally) -> Result<(), String> {
    for count in (4..240).step_by(6) {
        for len in [150, 700, 2600] {
            let mut store = Measured::create(&options(), len)?;
            let mut rng = Rng::seeded(count as u64);
            for n in 0..3 * count {
                store.put(rng.below(count) as i64, n as i64)?;
            }
            for key in 0..count as i64 / 3 {
                if rng.one_in(2) && store.has(key) {
                    store.delete(key)?;
                }
            }
            let shape = format!("{count} documents of {len} bytes");
            store.come_to_rest(tally)?;
            store.is_within(20, 6, &format!("{shape} at rest"), tally)?;
            store.compact(tally)?;
            store.is_within(11, 6, &format!("{shape} compacted"), tally)?;
            tally.calls += 1;
        }
    }
    Ok(())
}

//= spec/space.md#p-7-4-order-of-keys
//# A compaction SHOULD move the documents of a collection into the order of their keys, where many of them stand in another, all have
//# room in the cache, and the file may grow by as much as is live.
pub(super) fn order(tally: &mut Tally) -> Result<(), String> {
    let mut store = Measured::create(&options(), 200)?;
    let mut rng = Rng::seeded(7);
    let mut keys: Vec<i64> = (0..4000).collect();
    while !keys.is_empty() {
        let key = keys.swap_remove(rng.below(keys.len()));
        store.put(key, key)?;
        tally.calls += 1;
    }
    let before = reads_of_a_scan(&mut store)?;
    store.compact(tally)?;
    let after = reads_of_a_scan(&mut store)?;
    // In order, each block is read about once.
    if after * 10 > before {
        return Err(format!("a scan reads {before} blocks before, and {after} after"));
    }
    // The second may bring some of it further down the file; what is left for a third is nothing.
    store.compact(tally)?;
    let before = store.db.stats().written_bytes;
    store.compact(tally)?;
    let again = store.db.stats().written_bytes - before;
    if again > 0 {
        return Err(format!("{again} bytes were written to compact what was compacted"));
    }
    store.look()?;
    not_in_order(tally)
}

/// Where a compaction does not move documents into the order of their keys, or ends while it does.
fn not_in_order(tally: &mut Tally) -> Result<(), String> {
    let strewn = |options: &holotype::Options| {
        let mut store = Measured::create(options, 200)?;
        (0..3000).try_for_each(|n| store.put(n * 1009 % 3000, 0))?;
        store.come_to_rest(&mut Tally::default())?;
        Ok::<_, String>(store)
    };
    let moved = |store: &Measured| store.db.stats().space.relocated_bytes;
    // Not all have room in the cache.
    let small = strewn(&options().cache_bytes(256 << 10))?;
    let before = moved(&small);
    small.compact(tally)?;
    let bytes = moved(&small) - before;
    if bytes > 1_000_000 {
        return Err(format!("{bytes} bytes are moved about of 700,000, of which few have room in the cache"));
    }
    // Whatever it has left, maintenance goes on afterwards.
    let mut store = strewn(&options())?;
    let before = moved(&store);
    let stopped = store.db.compact_with(|progress| match progress.moved_bytes {
        0..100_000 => std::ops::ControlFlow::Continue(()),
        _ => std::ops::ControlFlow::Break(()),
    });
    let stopped = stopped.map_err(|error| say("compacting", &error))?;
    if stopped.is_complete || moved(&store) - before < 100_000 {
        return Err(format!("it was to be stopped in its midst: {stopped:?}"));
    }
    for n in 0..2000 {
        store.put(n, n)?;
    }
    store.come_to_rest(tally)?;
    store.is_within(20, 5, "at rest behind a compaction that was stopped", tally)?;
    store.look()
}

/// How many blocks a scan reads where next to none have room in memory.
fn reads_of_a_scan(store: &mut Measured) -> Result<u64, String> {
    store.reopen(&options().cache_bytes(2 * SEGMENT as usize))?;
    let before = store.db.stats().cache_misses;
    let scan = store.db.collection("a").scan(..).map_err(|error| say("scanning", &error))?;
    for found in scan {
        found.map_err(|error| say("scanning", &error))?;
    }
    let reads = store.db.stats().cache_misses - before;
    store.reopen(&options())?;
    Ok(reads)
}
