//! The blocks that a visit has at hand, so that most records cost it neither a lock nor a count.

use crate::cache::Block;
use crate::document::KeyRef;
use crate::index::{Entry, Item};
use crate::log::Log;
use crate::sync::Arc;

use super::super::ahead::{LINE, touch};
use super::{Place, Visited};

#[cfg(test)]
mod tests;

/// At most so many records are found together, so that the processor waits for the memory of all of them at once.
const BATCH_MAX: usize = 32;
/// And so many at first, since many a visit ends early.
const BATCH_FIRST: usize = 4;

const SLOTS_FIRST: usize = 8;
/// 8 MiB of blocks that have the greatest length.
const SLOTS_MAX: usize = 512;
/// Where the cache gives blocks up all the time, they are held for one batch each: enough that few of one batch want the same slot.
const SLOTS_EVICTING: usize = 128;
/// The place of a record that none of these blocks holds.
const NOWHERE: u16 = u16::MAX;

const _: () =
    assert!(SLOTS_FIRST.is_power_of_two() && SLOTS_MAX.is_power_of_two() && SLOTS_MAX < NOWHERE as usize);

/// Blocks by the low bits of their numbers. They are the cache's, and held only while it gives none of its own up: so they are no memory
/// beside its budget, but for what it gives up while one batch is visited.
#[derive(Debug)]
pub(super) struct Blocks {
    slots: Vec<Slot>,
    /// How many records of the last batch were found, and for how many of them a block had to be asked for.
    found: usize,
    asked: usize,
    /// What the cache had given up when the slots were filled.
    evicted: u64,
    /// How many records were found together the last time.
    len: usize,
    /// Counts the batches.
    batch: u64,
    /// The slots of the batch's records.
    places: [u16; BATCH_MAX],
}

#[derive(Debug, Clone, Default)]
struct Slot {
    block: Option<Arc<Block>>,
    /// The last batch that it was used in.
    batch: u64,
}

impl Blocks {
    pub(super) fn new(log: &Log) -> Self {
        Blocks {
            slots: Vec::new(),
            found: 0,
            asked: 0,
            evicted: log.cache.evicted(),
            len: 0,
            batch: 0,
            places: [NOWHERE; BATCH_MAX],
        }
    }

    /// Finds the blocks of the first of these records, twice as many as the last time; and asks the memory for the records where they lie
    /// apart. Returns how many it went through, which is no less than one.
    pub(super) fn find(&mut self, log: &Log, entries: &[Item<Entry>]) -> usize {
        self.make_room(log);
        self.len = (self.len * 2).clamp(BATCH_FIRST, BATCH_MAX);
        self.batch += 1;
        (self.asked, self.places) = (0, [NOWHERE; BATCH_MAX]);
        self.found = entries.len().min(self.len);
        let (mut before, mut place, mut jumps) = (None, NOWHERE, 0);
        for (number, item) in entries[..self.found].iter().enumerate() {
            let block = log.block_number(item.value.address());
            if before != Some(block) {
                let Some(slot) = self.slot_of(log, item.value, block) else {
                    self.found = number;
                    break;
                };
                (before, place, jumps) = (Some(block), slot, jumps + 1);
            }
            self.places[number] = place;
        }
        // Once from one block to the next is how a visit goes on that reads in order.
        if jumps > 2 {
            self.touch(log, &entries[..self.found]);
        }
        self.found
    }

    /// The slot of a block, which is asked for if need be. None where that of another one of the batch is in the way.
    fn slot_of(&mut self, log: &Log, entry: Entry, number: u64) -> Option<u16> {
        let place = number as usize & (self.slots.len() - 1);
        let slot = &mut self.slots[place];
        if slot.block.as_ref().is_none_or(|block| block.number != number) {
            if slot.batch == self.batch {
                return None;
            }
            // What is not found here is met when its turn comes.
            let Some(block) = log.sealed_block(entry.address()) else { return Some(NOWHERE) };
            slot.block = Some(block);
            self.asked += 1;
        }
        slot.batch = self.batch;
        Some(place as u16)
    }

    /// Lets go of all blocks if the cache gave up any since; makes more room where most were asked for.
    fn make_room(&mut self, log: &Log) {
        let evicted = log.cache.evicted();
        let most = if evicted == self.evicted { SLOTS_MAX } else { SLOTS_EVICTING };
        if self.slots.is_empty() {
            self.slots.resize(SLOTS_FIRST, Slot::default());
        } else if evicted != self.evicted {
            self.slots.truncate(most);
            self.slots.fill(Slot::default());
        }
        self.evicted = evicted;
        if self.asked * 2 > self.found && self.len == BATCH_MAX && self.slots.len() < most {
            let before = std::mem::take(&mut self.slots);
            self.slots.resize(before.len() * 4, Slot::default());
            for block in before.into_iter().filter_map(|slot| slot.block) {
                let place = block.number as usize & (self.slots.len() - 1);
                self.slots[place] = Slot { block: Some(block), batch: 0 };
            }
        }
    }

    fn block(&self, number: usize) -> Option<&Arc<Block>> {
        self.slots.get(usize::from(self.places[number]))?.block.as_ref()
    }

    /// Asks the memory for these records, or where nobody has read one before, for its beginning.
    fn touch(&self, log: &Log, entries: &[Item<Entry>]) {
        let record = |(number, item): (usize, &Item<Entry>)| {
            let (block, within) = (self.block(number)?, log.within_block(item.value.address()));
            Some((block.bytes.get(within..)?, block.known_len(within).unwrap_or(2 * LINE)))
        };
        touch(entries.iter().enumerate().filter_map(record));
    }

    /// The document of record `number` of the batch, which stands at `entry`, if one of the blocks holds it whole, and it is the one of
    /// `key`, plain and undamaged.
    #[inline(always)]
    pub(super) fn document<'a>(
        &'a self,
        log: &Log,
        collection: u32,
        number: usize,
        key: KeyRef<'a>,
        entry: Entry,
    ) -> Option<Visited<'a>> {
        let block = self.block(number)?;
        let address = entry.address();
        let within = log.within_block(address);
        let (_, offset) = log.geometry.split(address);
        let (_, body) = block.put_of(within, offset, collection, key)?;
        let body = &block.bytes[within + body.start as usize..within + body.end as usize];
        Some(Visited { key, body, place: Place::InBlock { block, within, offset } })
    }
}
