//! The blocks that a visit has at hand, so that most records cost it neither a lock nor a count.

use crate::cache::Block;
use crate::format::record::{PutShape, is_of_kind};
use crate::index::{Entries, Entry, Item};
use crate::log::Log;
use crate::sync::Arc;

use super::super::ahead::{LINE, touch};

#[cfg(test)]
mod tests;

/// At most so many records are found together, so that the processor waits for the memory of all of them at once.
pub(super) const BATCH_MAX: usize = 32;
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
#[derive(Debug, Default)]
pub(super) struct Blocks {
    slots: Vec<Slot>,
    /// How many records the last batch has, and how many blocks had to be asked for.
    found: usize,
    asked: usize,
    /// What the cache had given up when the slots were filled.
    evicted: u64,
    /// How many records were to be found together the last time.
    len: usize,
    /// Counts the batches.
    batch: u64,
    /// The runs of the batch, of which there are so many.
    runs: [Run; BATCH_MAX],
    runs_len: usize,
}

/// Records that follow one another and begin in one block.
#[derive(Debug, Clone, Copy, Default)]
struct Run {
    /// The slot of the block.
    place: u16,
    len: u16,
}

/// A record that a block holds.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockRecord<'a> {
    pub(super) body: &'a [u8],
    pub(super) block: &'a Block,
}

#[derive(Debug, Clone, Default)]
struct Slot {
    block: Option<Arc<Block>>,
    /// The last batch that it was used in.
    batch: u64,
}

impl Blocks {
    pub(super) fn new(log: &Log) -> Self {
        Blocks { evicted: log.cache.evicted(), ..Blocks::default() }
    }

    /// Finds the blocks of the first of these records, twice as many as the last time; and asks the memory for the records where they lie
    /// apart. Returns how many it went through, which is no less than one.
    pub(super) fn find(&mut self, log: &Log, entries: &[Item<Entry>]) -> usize {
        self.make_room(log);
        self.len = (self.len * 2).clamp(BATCH_FIRST, BATCH_MAX);
        self.batch += 1;
        (self.asked, self.runs_len, self.found) = (0, 0, 0);
        let mut rest = &entries[..entries.len().min(self.len)];
        while let [first, ..] = rest {
            let block = log.block_number(first.value.address());
            let Some(place) = self.slot_of(log, first.value, block) else { break };
            let is_in = |item: &&Item<Entry>| log.block_number(item.value.address()) == block;
            let len = 1 + rest[1..].iter().take_while(is_in).count();
            self.runs[self.runs_len] = Run { place, len: len as u16 };
            self.runs_len += 1;
            self.found += len;
            rest = &rest[len..];
        }
        // Once from one block to the next is how a visit goes on that reads in order.
        if self.runs_len > 2 {
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

    /// The runs of the batch, which `entries` is, and the block of each, where there is one at hand.
    fn runs<'a, 'e>(
        &'a self,
        entries: &'e [Item<Entry>],
    ) -> impl Iterator<Item = (Option<&'a Block>, &'e [Item<Entry>])> {
        self.runs[..self.runs_len].iter().scan(entries, |rest, run| {
            let (now, later) = rest.split_at(usize::from(run.len));
            *rest = later;
            let slot = self.slots.get(usize::from(run.place));
            Some((slot.and_then(|slot| slot.block.as_deref()), now))
        })
    }

    /// Asks the memory for the records of the batch, which `entries` is, or where nobody has read one before, for its beginning.
    fn touch<'a>(&'a self, log: &Log, entries: &'a [Item<Entry>]) {
        let of_run = |(block, run): (Option<&'a Block>, &'a [Item<Entry>])| {
            run.iter().filter_map(move |item| {
                let (block, within) = (block?, log.within_block(item.value.address()));
                Some((block.bytes.get(within..)?, block.known_len(within).unwrap_or(2 * LINE)))
            })
        };
        touch(self.runs(entries).flat_map(of_run));
    }

    /// Looks at the records of the batch, which `entries` of `page` is: puts into `held` what is the document of its key, plain and undamaged,
    /// and stands whole in a block at hand.
    pub(super) fn look<'a>(
        &'a self,
        log: &Log,
        collection: u32,
        page: &Entries,
        entries: &[Item<Entry>],
        held: &mut [Option<BlockRecord<'a>>; BATCH_MAX],
    ) {
        let mut held = &mut held[..];
        for (block, run) in self.runs(entries) {
            let (of_run, later) = held.split_at_mut(run.len());
            held = later;
            let Some(block) = block else { continue };
            let looked_at = Looked { block, log, collection, page };
            match run {
                [alone] => of_run[0] = looked_at.find_alone(alone),
                run => looked_at.find(run, of_run),
            }
        }
    }
}

/// What records that begin in one block are looked for with.
#[derive(Debug, Clone, Copy)]
struct Looked<'a, 'p> {
    block: &'a Block,
    log: &'p Log,
    collection: u32,
    page: &'p Entries,
}

/// As [`Blocks::look`]: functions by themselves, so that the processor's registers do for them.
impl<'a> Looked<'a, '_> {
    #[inline(never)]
    fn find(&self, run: &[Item<Entry>], held: &mut [Option<BlockRecord<'a>>]) {
        let (looked_at, block_mask) = (*self, self.log.block_bytes() - 1);
        for (item, held) in run.iter().zip(held) {
            *held = looked_at.held(item, block_mask);
        }
    }

    #[inline(never)]
    fn find_alone(&self, item: &Item<Entry>) -> Option<BlockRecord<'a>> {
        self.held(item, self.log.block_bytes() - 1)
    }

    #[inline(always)]
    fn held(&self, item: &Item<Entry>, block_mask: usize) -> Option<BlockRecord<'a>> {
        let Looked { block, log, collection, page } = *self;
        let address = item.value.address();
        let (within, offset) = (address.0 as usize & block_mask, || log.geometry.split(address).1);
        let kind = item.value.plain_kind();
        let quick = if let Some(int) = item.int() {
            let body_of = |shape: PutShape, bytes: &[u8]| shape.body_of_int(bytes, collection, int);
            block.body_of(within, offset, |shape, bytes| {
                body_of(shape, bytes).filter(|_| is_of_kind(bytes, kind))
            })
        } else if let Some(text) = page.text(item) {
            let body_of = |shape: PutShape, bytes: &[u8]| shape.body_of_text(bytes, collection, text);
            block.body_of(within, offset, |shape, bytes| {
                body_of(shape, bytes).filter(|_| is_of_kind(bytes, kind))
            })
        } else {
            None
        };
        let body = quick.or_else(|| body_by_any_key(block, log, collection, page, item))?;
        Some(BlockRecord { body, block })
    }
}

/// The same document, in as many steps as it takes.
#[inline(never)]
fn body_by_any_key<'a>(
    block: &'a Block,
    log: &Log,
    collection: u32,
    page: &Entries,
    item: &Item<Entry>,
) -> Option<&'a [u8]> {
    let (key, address) = (page.key(item), item.value.address());
    let (within, (_, offset)) = (log.within_block(address), log.geometry.split(address));
    let (_, body) = block.key_and_body(within, offset, item.value.plain_kind(), collection, key)?;
    block.bytes.get(within + body.start as usize..within + body.end as usize)
}
