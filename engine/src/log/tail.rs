//! The end of the log in memory: frames that are placed, whether written out yet or not.
//!
//! Readers copy out of it under a short lock; nobody holds that lock across I/O. A block moves to the cache once it
//! is full and all of it is written out, so that what leaves the tail can always be read from the file again. One that long records fill
//! goes no further: new memory for it costs more than the copy that a reader makes of it, once there is one.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::cache::{Block, Cache, Segment};
use crate::format::record::{PEEK_LEN, peek_len};
use crate::format::{Geometry, LogAddress};
use crate::sync::race::{self, Race};
use crate::sync::{Arc, AtomicU64, Ordering, RwLock, read, write};

#[derive(Debug, Clone)]
struct OpenBlock {
    bytes: Vec<u8>,
    segment: Arc<Segment>,
    /// How many of its bytes belong to long records.
    long_bytes: u64,
}

/// A block on its way out of the tail.
#[derive(Debug, Clone)]
enum TailBlock {
    Open(OpenBlock),
    /// Full and written out: nothing in it changes any more.
    Sealed(Arc<Block>),
}

impl TailBlock {
    fn bytes(&self) -> &[u8] {
        match self {
            TailBlock::Open(block) => &block.bytes,
            TailBlock::Sealed(block) => &block.bytes,
        }
    }

    fn segment(&self) -> &Arc<Segment> {
        match self {
            TailBlock::Open(block) => &block.segment,
            TailBlock::Sealed(block) => &block.segment,
        }
    }
}

/// A block counts as filled by long records when all but this part of it belongs to them.
const FILLED_DIVISOR: u64 = 8;

#[derive(Debug)]
pub(crate) struct Tail {
    block_bytes: u64,
    segment_bytes: u64,
    /// Addresses at or above it are looked for here first.
    base: AtomicU64,
    blocks: RwLock<BTreeMap<u64, TailBlock>>,
}

impl Tail {
    pub(crate) fn new(geometry: Geometry, block_bytes: usize, end: LogAddress) -> Self {
        let block_bytes = block_bytes as u64;
        Tail {
            block_bytes,
            segment_bytes: u64::from(geometry.segment_bytes()),
            base: AtomicU64::new(end.0 / block_bytes * block_bytes),
            blocks: RwLock::default(),
        }
    }

    #[cfg(feature = "testing")]
    pub(crate) fn fork(&self) -> Self {
        Tail {
            block_bytes: self.block_bytes,
            segment_bytes: self.segment_bytes,
            base: AtomicU64::new(self.base.load(Ordering::Acquire)),
            blocks: RwLock::new(read(&self.blocks).clone()),
        }
    }

    /// Puts the bytes that recovery read, or that a writer placed, at `address`. They lie in one segment. Of `long`, which are in order and
    /// do not overlap, some may be long records among them.
    pub(crate) fn put(
        &self,
        segment: &Arc<Segment>,
        address: LogAddress,
        bytes: &[u8],
        long: &[Range<LogAddress>],
    ) {
        let mut blocks = write(&self.blocks);
        let (mut at, mut rest) = (address.0, bytes);
        while !rest.is_empty() {
            let within = (at % self.block_bytes) as usize;
            let len = rest.len().min(self.block_bytes as usize - within);
            let block = blocks.entry(at / self.block_bytes).or_insert_with(|| {
                let bytes = Vec::with_capacity(self.block_bytes as usize);
                TailBlock::Open(OpenBlock { bytes, segment: Arc::clone(segment), long_bytes: 0 })
            });
            let TailBlock::Open(block) = block else {
                unreachable!("nothing is placed in what was written out")
            };
            if !Arc::ptr_eq(&block.segment, segment) {
                block.segment = Arc::clone(segment);
            }
            // What was taken back is gone, and what was left out is zeros.
            block.long_bytes = block.long_bytes.min(within as u64);
            block.bytes.resize(within, 0);
            block.bytes.extend_from_slice(&rest[..len]);
            block.long_bytes += common(long, at..at + len as u64);
            at += len as u64;
            rest = &rest[len..];
        }
    }

    /// Takes out every block that lies wholly below `placed` and `written`: it will not change again. It goes to the cache, unless it is long
    /// records that fill it.
    pub(crate) fn seal(&self, placed: LogAddress, written: LogAddress, cache: &Cache) {
        let full = if race::is_on(Race::SealedUnwritten) { placed.0 } else { placed.0.min(written.0) };
        let end = full / self.block_bytes;
        if end * self.block_bytes <= self.base.load(Ordering::Relaxed) {
            return;
        }
        let stale = race::is_on(Race::TailCutFromCopy).then(|| read(&self.blocks).clone());
        let mut sealed = Vec::new();
        for (number, in_tail) in write(&self.blocks).range_mut(..end) {
            let TailBlock::Open(block) = in_tail else { continue };
            if block.long_bytes >= self.block_bytes / FILLED_DIVISOR * (FILLED_DIVISOR - 1) {
                continue;
            }
            let mut bytes = std::mem::take(&mut block.bytes);
            bytes.resize(self.block_bytes as usize, 0);
            let block = Arc::new(Block::new(*number, bytes, Arc::clone(&block.segment)));
            *in_tail = TailBlock::Sealed(Arc::clone(&block));
            sealed.push(block);
        }
        sealed.into_iter().for_each(|block| cache.put(block.number, block));
        // The cache has them before the tail gives them up, so a reader finds them in the one or the other; or in the file.
        self.base.store(end * self.block_bytes, Ordering::Release);
        let mut blocks = write(&self.blocks);
        if let Some(stale) = stale {
            *blocks = stale;
        }
        *blocks = blocks.split_off(&end);
    }

    /// Everything below has left the tail.
    pub(crate) fn base(&self) -> LogAddress {
        LogAddress(self.base.load(Ordering::Acquire))
    }

    pub(crate) fn holds(&self, address: LogAddress) -> bool {
        address.0 >= self.base.load(Ordering::Acquire)
    }

    /// A copy of the record at `address`, as long as its own length field says, and its segment. None where the tail
    /// does not hold it (any more).
    pub(crate) fn copy_record(&self, address: LogAddress) -> Option<(Vec<u8>, Arc<Segment>)> {
        let blocks = read(&self.blocks);
        let segment = Arc::clone(blocks.get(&(address.0 / self.block_bytes))?.segment());
        let segment_end = (address.0 / self.segment_bytes + 1) * self.segment_bytes;
        let mut prefix = [0; PEEK_LEN];
        let have = copy(&blocks, self.block_bytes, address.0, &mut prefix);
        let len = peek_len(&prefix[..have])?;
        if len as u64 > segment_end - address.0 {
            return None;
        }
        let mut record = vec![0; len];
        (copy(&blocks, self.block_bytes, address.0, &mut record) == len).then_some((record, segment))
    }

    /// A copy of block `number` as far as it goes.
    pub(crate) fn copy_block(&self, number: u64) -> Option<(Vec<u8>, Arc<Segment>)> {
        let blocks = read(&self.blocks);
        blocks.get(&number).map(|block| (block.bytes().to_vec(), Arc::clone(block.segment())))
    }
}

/// How many bytes of `range` lie in `ranges`, which are in order and do not overlap.
fn common(ranges: &[Range<LogAddress>], range: Range<u64>) -> u64 {
    let first = ranges.partition_point(|other| other.end.0 <= range.start);
    let met = ranges[first..].iter().take_while(|other| other.start.0 < range.end);
    met.map(|other| other.end.0.min(range.end) - other.start.0.max(range.start)).sum()
}

/// Copies from `at` on into `out`; how many bytes there were.
fn copy(blocks: &BTreeMap<u64, TailBlock>, block_bytes: u64, mut at: u64, out: &mut [u8]) -> usize {
    let mut done = 0;
    while done < out.len() {
        let Some(block) = blocks.get(&(at / block_bytes)) else { break };
        let within = (at % block_bytes) as usize;
        let Some(from) = block.bytes().get(within..).filter(|from| !from.is_empty()) else { break };
        let len = from.len().min(out.len() - done);
        out[done..done + len].copy_from_slice(&from[..len]);
        done += len;
        at += len as u64;
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::KeyRef;
    use crate::format::Lsn;
    use crate::format::record::{Kind, RecordParts};

    fn fixture() -> (Tail, Cache, Arc<Segment>) {
        let geometry = Geometry::new(64, 1024).expect("a legal geometry");
        let segment = Arc::new(Segment::new(&[7; 16], geometry, 0, 0, Lsn::ZERO));
        (Tail::new(geometry, 256, LogAddress(64)), Cache::new(1 << 20), segment)
    }

    #[test]
    fn a_block_leaves_the_tail_only_when_it_is_full_and_written_out() {
        let (tail, cache, segment) = fixture();
        tail.put(&segment, LogAddress(64), &[1; 300], &[]);
        tail.seal(LogAddress(364), LogAddress(64), &cache);
        assert!(tail.copy_block(0).is_some(), "placed, not written out");
        tail.seal(LogAddress(364), LogAddress(364), &cache);
        assert!(tail.copy_block(0).is_none() && !tail.holds(LogAddress(100)));
        let block = cache.get(0).expect("sealed into the cache");
        assert_eq!((block.bytes[63], block.bytes[64], block.bytes[255]), (0, 1, 1));
        assert!(tail.copy_block(1).is_some(), "the last block is not full");
    }

    #[test]
    fn a_block_that_long_records_fill_goes_no_further_than_the_file() {
        // Seven eighths of block 1 are 224 bytes, which end in block 2.
        for (long_start, is_cached) in [(256 + 32, false), (256 + 33, true)] {
            let (tail, cache, segment) = fixture();
            let long = [10..20, long_start..520].map(|range| LogAddress(range.start)..LogAddress(range.end));
            // In two pieces, of which the first alone would not fill it.
            tail.put(&segment, LogAddress(64), &[1; 300], &long);
            tail.put(&segment, LogAddress(364), &[1; 300], &long);
            tail.seal(LogAddress(664), LogAddress(664), &cache);
            assert!(cache.get(0).is_some(), "it has next to nothing of them");
            assert_eq!(cache.get(1).is_some(), is_cached);
            assert!(tail.copy_block(1).is_none() && !tail.holds(LogAddress(511)));
            assert!(tail.copy_block(2).is_some());
        }
    }

    #[test]
    fn a_long_record_that_was_taken_back_fills_no_block() {
        // Of block 1 so much stays: 224 bytes of it would fill it.
        for (kept_end, is_cached) in [(256 + 224, false), (256 + 223, true)] {
            let (tail, cache, segment) = fixture();
            let (from, end) = (LogAddress(256), LogAddress(512));
            tail.put(&segment, from, &[1; 256], &[from..end]);
            tail.put(&segment, LogAddress(kept_end), &[1; 40], &[]);
            tail.seal(end, end, &cache);
            assert_eq!(cache.get(1).is_some(), is_cached, "up to {kept_end}");
        }
    }

    #[test]
    fn what_is_placed_anew_takes_the_place_of_what_was_taken_back() {
        let (tail, _, segment) = fixture();
        tail.put(&segment, LogAddress(64), &[1; 100], &[]);
        tail.put(&segment, LogAddress(96), &[2; 10], &[]);
        let (bytes, _) = tail.copy_block(0).expect("it is there");
        assert_eq!((bytes.len(), &bytes[95..97], bytes[105]), (106, &[1, 2][..], 2));
    }

    #[test]
    fn a_copy_goes_across_blocks_and_ends_with_what_is_there() {
        let (tail, _, segment) = fixture();
        let bytes: Vec<u8> = (0..=255).collect();
        tail.put(&segment, LogAddress(200), &bytes, &[]);
        let mut out = [0; 300];
        assert_eq!(copy(&read(&tail.blocks), 256, 250, &mut out), 206);
        assert_eq!(out[..206], bytes[50..]);
    }

    /// A put of `len` bytes in all that would stand at `at`.
    fn record(segment: &Segment, at: u64, len: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        let body = vec![9; len - 10];
        let record =
            RecordParts { key: Some(KeyRef::Int(1)), body: &body, ..RecordParts::nameless(Kind::Put) };
        record.encode(segment.last_stretch().seed.at(at as u32), &mut bytes);
        assert_eq!(bytes.len(), len);
        bytes
    }

    #[test]
    fn the_tail_holds_what_lies_behind_the_last_full_block() {
        let (tail, cache, segment) = fixture();
        tail.put(&segment, LogAddress(64), &[1; 900], &[]);
        for blocks in 1..=3 {
            let end = LogAddress(256 * blocks + 10);
            tail.seal(end, end, &cache);
            assert!(!tail.holds(LogAddress(256 * blocks - 1)) && tail.holds(LogAddress(256 * blocks)));
            assert!(tail.copy_block(blocks - 1).is_none() && tail.copy_block(blocks).is_some());
        }
    }

    #[test]
    fn a_record_is_copied_whole_or_not_at_all() {
        for len in [20, 100, 130] {
            let (tail, _, segment) = fixture();
            let at = LogAddress(200);
            assert!(tail.copy_record(at).is_none(), "nothing is there");
            let bytes = record(&segment, at.0, len);
            tail.put(&segment, at, &bytes[..len - 1], &[]);
            assert!(tail.copy_record(at).is_none(), "its last byte is not there");
            tail.put(&segment, at, &[&bytes[..], &[1; 30]].concat(), &[]);
            let (copied, found) = tail.copy_record(at).expect("it is there");
            assert_eq!((&*copied, Arc::ptr_eq(&found, &segment)), (&bytes[..], true));
        }
    }

    #[test]
    fn no_record_is_copied_that_goes_on_behind_its_segment() {
        // In the second segment, so that its end is not the length of a segment.
        for (len, is_whole) in [(100, true), (101, false)] {
            let (tail, _, segment) = fixture();
            let at = LogAddress(2 * 1024 - 100);
            tail.put(&segment, at, &record(&segment, at.0, len), &[]);
            assert_eq!(tail.copy_record(at).is_some(), is_whole);
        }
    }
}
