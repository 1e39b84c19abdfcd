//! Reads a record by its log address: in the cache, in the tail, or in the file; and verifies it, unless its block knows that it was.

use crate::cache::{Block, Cache, Segment, SegmentTable};
use crate::error::{Corruption, Error, Result};
use crate::format::record::{Record, RecordFault, parse, peek_len};
use crate::format::superblock::newer;
use crate::format::{Geometry, LogAddress, Lsn};
use crate::storage::FailStop;
use crate::sync::Arc;
use crate::sync::race::{self, Race};

use super::Tail;
use lengths::Lengths;

mod alone;
mod apart;
mod lengths;
#[cfg(test)]
mod tests;

/// The largest block of the cache; smaller segments are one block.
const BLOCK_BYTES_MAX: u32 = 16 << 10;

/// What readers and the writer share of the log.
#[derive(Debug)]
pub(crate) struct Log {
    pub(crate) storage: FailStop,
    pub(crate) geometry: Geometry,
    /// A block has `1 << block_shift` bytes.
    block_shift: u32,
    pub(crate) segments: SegmentTable,
    pub(crate) tail: Tail,
    pub(crate) cache: Cache,
    lengths: Lengths,
}

/// The bytes of one record, held in memory.
#[derive(Debug)]
pub(crate) enum Found {
    /// In a block of the cache, from this offset on.
    InBlock(Arc<Block>, u32),
    /// Copied out of the tail, or put together from more than one block.
    Copied(Vec<u8>, Arc<Segment>),
}

impl Found {
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Found::InBlock(block, offset) => &block.bytes[*offset as usize..],
            Found::Copied(bytes, _) => bytes,
        }
    }

    pub(crate) fn segment(&self) -> &Segment {
        match self {
            Found::InBlock(block, _) => &block.segment,
            Found::Copied(_, segment) => segment,
        }
    }
}

impl Log {
    pub(crate) fn new(storage: FailStop, geometry: Geometry, end: LogAddress, cache: Cache) -> Self {
        let block_bytes = geometry.segment_bytes().min(BLOCK_BYTES_MAX);
        let tail = Tail::new(geometry, block_bytes as usize, end);
        let (block_shift, segments) = (block_bytes.ilog2(), SegmentTable::new(geometry));
        Log { storage, geometry, block_shift, segments, tail, cache, lengths: Lengths::default() }
    }

    /// A copy that goes on from here on `storage`.
    #[cfg(feature = "testing")]
    pub(crate) fn fork(&self, storage: Box<dyn crate::storage::Storage>, cache: Cache) -> Self {
        Log {
            storage: self.storage.fork(storage),
            geometry: self.geometry,
            block_shift: self.block_shift,
            segments: self.segments.fork(),
            tail: self.tail.fork(),
            cache,
            lengths: Lengths::default(),
        }
    }

    pub(crate) fn block_bytes(&self) -> usize {
        1 << self.block_shift
    }

    /// From this length on a record is a long one: its bytes fill much of a block, and are little use to whoever reads another.
    pub(crate) fn long_record_len(&self) -> usize {
        self.block_bytes() / 4
    }

    /// The record in `found`, verified: the seed of its checksum is the place that the caller believes it has.
    #[inline]
    pub(crate) fn parse<'a>(&self, found: &'a Found, address: LogAddress) -> Result<Record<'a>> {
        self.parse_in(found.segment(), found.bytes(), address)
    }

    /// As [`parse`](Self::parse), of the record of `segment` that begins `bytes`.
    #[inline]
    pub(crate) fn parse_in<'a>(
        &self,
        segment: &Segment,
        bytes: &'a [u8],
        address: LogAddress,
    ) -> Result<Record<'a>> {
        let (_, offset) = self.geometry.split(address);
        let stretch = segment.stretch_at(offset);
        parse(bytes, stretch.seed.at(offset)).map_err(|fault| self.fault(address, &fault))
    }

    /// The LSN of the commit whose record stands at `address`.
    pub(crate) fn lsn(&self, found: &Found, record: &Record<'_>, address: LogAddress) -> Lsn {
        self.lsn_in(found.segment(), record, address)
    }

    /// As [`lsn`](Self::lsn), of a record of `segment`.
    pub(crate) fn lsn_in(&self, segment: &Segment, record: &Record<'_>, address: LogAddress) -> Lsn {
        record.own_lsn.unwrap_or_else(|| self.commit_in(segment, record, address))
    }

    /// The LSN of the commit that placed a record of `segment`, moved or not.
    pub(crate) fn commit_in(&self, segment: &Segment, record: &Record<'_>, address: LogAddress) -> Lsn {
        let (_, offset) = self.geometry.split(address);
        segment.stretch_at(offset).lsn(record.commit)
    }

    #[cold]
    fn fault(&self, address: LogAddress, fault: &RecordFault) -> Error {
        record_fault(self.segments.file_offset(address), fault)
    }

    /// The bytes at `address`, as many as the record's own length asks for, where that is possible. Not verified.
    pub(crate) fn find(&self, address: LogAddress) -> Result<Found> {
        match self.look(address)? {
            Some(found) => Ok(found),
            None => self.find_apart(address),
        }
    }

    /// As [`find`](Self::find), but puts nothing together: none where no block holds the record whole, or so it seems.
    #[inline]
    pub(crate) fn look(&self, address: LogAddress) -> Result<Option<Found>> {
        self.look_for(address, false)
    }

    /// As [`look`](Self::look), for who does not go on to the record's neighbours.
    #[inline]
    pub(crate) fn look_alone(&self, address: LogAddress) -> Result<Option<Found>> {
        self.look_for(address, true)
    }

    #[inline(always)]
    fn look_for(&self, address: LogAddress, is_alone: bool) -> Result<Option<Found>> {
        if self.tail.holds(address)
            && let Some((bytes, segment)) = self.tail.copy_record(address)
        {
            return Ok(Some(Found::Copied(bytes, segment)));
        }
        match self.cache.get(self.block_number(address)) {
            Some(block) => Ok(self.look_in(block, address)),
            None => self.look_outside(address, is_alone),
        }
    }

    /// As [`look`](Self::look), where the cache does not have the block in which the record begins.
    #[cold]
    fn look_outside(&self, address: LogAddress, is_alone: bool) -> Result<Option<Found>> {
        if self.lengths.are_long() || self.cache.whole(address).is_some() {
            return Ok(None);
        }
        let number = self.block_number(address);
        if is_alone
            && self.cache.turns_away(number, Block::footprint_of(self.block_bytes()))
            && let Some(found) = self.record_alone(address)?
        {
            return Ok(Some(found));
        }
        let block = self.missing_block(number)?;
        Ok(self.look_in(block, address))
    }

    /// As [`look`](Self::look), for a record that is likely to stand in the block of the one before.
    #[inline(always)]
    pub(crate) fn look_near(
        &self,
        address: LogAddress,
        before: Option<&Arc<Block>>,
    ) -> Result<Option<Found>> {
        match before {
            Some(block) if block.number == self.block_number(address) => {
                Ok(self.look_in(Arc::clone(block), address))
            }
            _ => self.look(address),
        }
    }

    /// The block that the byte at `address` belongs to.
    #[inline]
    pub(crate) fn block_number(&self, address: LogAddress) -> u64 {
        address.0 >> self.block_shift
    }

    /// Where in its block the byte at `address` stands.
    #[inline]
    pub(crate) fn within_block(&self, address: LogAddress) -> usize {
        (address.0 & ((1 << self.block_shift) - 1)) as usize
    }

    /// The block of `address`; none where the tail has it, or it cannot be read.
    pub(crate) fn sealed_block(&self, address: LogAddress) -> Option<Arc<Block>> {
        if self.tail.holds(address) { None } else { self.block(self.block_number(address)).ok() }
    }

    /// The bytes at `address`, which begin in `block`.
    #[inline]
    fn look_in(&self, block: Arc<Block>, address: LogAddress) -> Option<Found> {
        let within = self.within_block(address);
        let rest = block.bytes.get(within..).unwrap_or_default();
        match peek_len(rest) {
            Some(len) if len <= rest.len() => Some(Found::InBlock(block, within as u32)),
            _ => None,
        }
    }

    /// Copies `len` bytes of one segment from `address` on; fewer where the file ends. Not verified.
    pub(crate) fn copy(&self, address: LogAddress, len: usize) -> Result<Vec<u8>> {
        let block_bytes = self.block_bytes() as u64;
        let mut bytes = Vec::with_capacity(len);
        while bytes.len() < len {
            let at = address.0 + bytes.len() as u64;
            let block = self.block(at / block_bytes)?;
            let rest = block.bytes.get((at % block_bytes) as usize..).unwrap_or_default();
            if rest.is_empty() {
                break;
            }
            bytes.extend_from_slice(&rest[..rest.len().min(len - bytes.len())]);
        }
        Ok(bytes)
    }

    /// Block `number`, from the cache, the tail or the file; short where the file ends.
    fn block(&self, number: u64) -> Result<Arc<Block>> {
        match self.cache.get(number) {
            Some(block) => Ok(block),
            None => self.missing_block(number),
        }
    }

    /// As [`block`](Self::block), where the cache was asked already.
    fn missing_block(&self, number: u64) -> Result<Arc<Block>> {
        if !race::is_on(Race::TailNotAsked)
            && let Some((bytes, segment)) = self.tail.copy_block(number)
        {
            return Ok(Arc::new(Block::new(number, bytes, segment)));
        }
        if let Some(block) = self.cache.get(number) {
            // It moved from the tail to the cache between the two looks.
            return Ok(block);
        }
        let address = LogAddress(number * self.block_bytes() as u64);
        let (_, offset) = self.geometry.split(address);
        let segment = self.segment_of(address)?;
        let at = self.geometry.segment_offset(segment.physical) + u64::from(offset);
        // Asked before the read: what is settled by then is what is read. Behind the end of the log stands anything, until something is placed.
        let last = LogAddress(address.0 + self.block_bytes() as u64 - 1);
        let is_settled = !self.tail.holds(last) || race::is_on(Race::TailNotAsked);
        let bytes = self.storage.read_up_to(at, self.block_bytes())?;
        let len = bytes.len();
        let block = Arc::new(Block::new(number, bytes, segment));
        if is_settled && len == self.block_bytes() {
            self.cache.put(number, Arc::clone(&block));
        }
        Ok(block)
    }

    /// The segment that the byte at `address` belongs to.
    fn segment_of(&self, address: LogAddress) -> Result<Arc<Segment>> {
        let (sequence, _) = self.geometry.split(address);
        let missing = || {
            Corruption::new(address.0, "F-2.2", "a log address names a segment that is not there")
                .comparing(sequence, 0)
        };
        Ok(self.segments.get(sequence).ok_or_else(missing)?)
    }
}

/// What a record that does not verify at file offset `at` is to the caller.
pub(crate) fn record_fault(at: u64, fault: &RecordFault) -> Error {
    let corruption =
        |what, expected, found| Error::Corrupt(Corruption::new(at, "F-6.1", what).comparing(expected, found));
    match fault {
        RecordFault::Crc { expected, found } => {
            corruption("a record has a wrong checksum", u64::from(*expected), u64::from(*found))
        }
        RecordFault::TooShort { needed } => {
            corruption("a record is cut short", needed.map_or(0, |needed| needed as u64), 0)
        }
        RecordFault::Malformed(what) => corruption(what, 0, 0),
        RecordFault::Unsupported(kind) => newer(u64::from(*kind)),
    }
}
