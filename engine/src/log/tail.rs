//! The end of the log in memory: frames that are placed, whether written out yet or not.
//!
//! Readers copy out of it under a short lock; nobody holds that lock across I/O. A block moves to the cache once it
//! is full and all of it is written out, so that what leaves the tail can always be read from the file again.

use std::collections::BTreeMap;

use crate::cache::{Block, Cache, Segment};
use crate::format::record::{PEEK_LEN, peek_len};
use crate::format::{Geometry, LogAddress};
use crate::sync::race::{self, Race};
use crate::sync::{Arc, AtomicU64, Ordering, RwLock, read, write};

#[derive(Debug, Clone)]
struct OpenBlock {
    bytes: Vec<u8>,
    segment: Arc<Segment>,
}

#[derive(Debug)]
pub(crate) struct Tail {
    block_bytes: u64,
    segment_bytes: u64,
    /// Addresses at or above it are looked for here first.
    base: AtomicU64,
    blocks: RwLock<BTreeMap<u64, OpenBlock>>,
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

    /// Puts the bytes that recovery read, or that a writer placed, at `address`. They lie in one segment.
    pub(crate) fn put(&self, segment: &Arc<Segment>, address: LogAddress, bytes: &[u8]) {
        let mut blocks = write(&self.blocks);
        let (mut at, mut rest) = (address.0, bytes);
        while !rest.is_empty() {
            let within = (at % self.block_bytes) as usize;
            let len = rest.len().min(self.block_bytes as usize - within);
            let block = blocks.entry(at / self.block_bytes).or_insert_with(|| OpenBlock {
                bytes: Vec::with_capacity(self.block_bytes as usize),
                segment: Arc::clone(segment),
            });
            if !Arc::ptr_eq(&block.segment, segment) {
                block.segment = Arc::clone(segment);
            }
            let end = block.bytes.len().max(within + len);
            block.bytes.resize(end, 0);
            block.bytes[within..within + len].copy_from_slice(&rest[..len]);
            at += len as u64;
            rest = &rest[len..];
        }
    }

    /// Moves to the cache every block that lies wholly below `placed` and `written`: it will not change again.
    pub(crate) fn seal(&self, placed: LogAddress, written: LogAddress, cache: &Cache) {
        let full = if race::is_on(Race::SealedUnwritten) { placed.0 } else { placed.0.min(written.0) };
        let end = full / self.block_bytes;
        if end * self.block_bytes <= self.base.load(Ordering::Relaxed) {
            return;
        }
        let stale = race::is_on(Race::TailCutFromCopy).then(|| read(&self.blocks).clone());
        let sealed: Vec<_> =
            read(&self.blocks).range(..end).map(|(number, block)| (*number, block.clone())).collect();
        for (number, mut block) in sealed {
            block.bytes.resize(self.block_bytes as usize, 0);
            cache.put(number, Arc::new(Block::new(number, block.bytes, block.segment)));
        }
        // The cache has them before the tail gives them up, so a reader finds them in the one or the other.
        self.base.store(end * self.block_bytes, Ordering::Release);
        let mut blocks = write(&self.blocks);
        if let Some(stale) = stale {
            *blocks = stale;
        }
        *blocks = blocks.split_off(&end);
    }

    pub(crate) fn holds(&self, address: LogAddress) -> bool {
        address.0 >= self.base.load(Ordering::Acquire)
    }

    /// A copy of the record at `address`, as long as its own length field says, and its segment. None where the tail
    /// does not hold it (any more).
    pub(crate) fn copy_record(&self, address: LogAddress) -> Option<(Vec<u8>, Arc<Segment>)> {
        let blocks = read(&self.blocks);
        let segment = Arc::clone(&blocks.get(&(address.0 / self.block_bytes))?.segment);
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
        read(&self.blocks).get(&number).map(|block| (block.bytes.clone(), Arc::clone(&block.segment)))
    }
}

/// Copies from `at` on into `out`; how many bytes there were.
fn copy(blocks: &BTreeMap<u64, OpenBlock>, block_bytes: u64, mut at: u64, out: &mut [u8]) -> usize {
    let mut done = 0;
    while done < out.len() {
        let Some(block) = blocks.get(&(at / block_bytes)) else { break };
        let within = (at % block_bytes) as usize;
        let Some(from) = block.bytes.get(within..).filter(|from| !from.is_empty()) else { break };
        let len = from.len().min(out.len() - done);
        out[done..done + len].copy_from_slice(&from[..len]);
        done += len;
        at += len as u64;
    }
    done
}

#[cfg(test)]
mod tests {
    use super::super::pieces::nameless;
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
        tail.put(&segment, LogAddress(64), &[1; 300]);
        tail.seal(LogAddress(364), LogAddress(64), &cache);
        assert!(tail.copy_block(0).is_some(), "placed, not written out");
        tail.seal(LogAddress(364), LogAddress(364), &cache);
        assert!(tail.copy_block(0).is_none() && !tail.holds(LogAddress(100)));
        let block = cache.get(0).expect("sealed into the cache");
        assert_eq!((block.bytes[63], block.bytes[64], block.bytes[255]), (0, 1, 1));
        assert!(tail.copy_block(1).is_some(), "the last block is not full");
    }

    #[test]
    fn a_copy_goes_across_blocks_and_ends_with_what_is_there() {
        let (tail, _, segment) = fixture();
        let bytes: Vec<u8> = (0..=255).collect();
        tail.put(&segment, LogAddress(200), &bytes);
        let mut out = [0; 300];
        assert_eq!(copy(&read(&tail.blocks), 256, 250, &mut out), 206);
        assert_eq!(out[..206], bytes[50..]);
    }

    /// A put of `len` bytes in all that would stand at `at`.
    fn record(segment: &Segment, at: u64, len: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        let body = vec![9; len - 10];
        let record = RecordParts { key: Some(KeyRef::Int(1)), body: &body, ..nameless(Kind::Put) };
        record.encode(segment.last_stretch().seed.at(at as u32), &mut bytes);
        assert_eq!(bytes.len(), len);
        bytes
    }

    #[test]
    fn the_tail_holds_what_lies_behind_the_last_full_block() {
        let (tail, cache, segment) = fixture();
        tail.put(&segment, LogAddress(64), &[1; 900]);
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
            tail.put(&segment, at, &bytes[..len - 1]);
            assert!(tail.copy_record(at).is_none(), "its last byte is not there");
            tail.put(&segment, at, &[&bytes[..], &[1; 30]].concat());
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
            tail.put(&segment, at, &record(&segment, at.0, len));
            assert_eq!(tail.copy_record(at).is_some(), is_whole);
        }
    }
}
