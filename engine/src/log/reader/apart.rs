//! Records that no block holds whole.

use crate::cache::Segment;
use crate::error::Result;
use crate::format::LogAddress;
use crate::format::record::{PEEK_LEN, peek_len};
use crate::sync::Arc;

use super::{Found, Log};

/// And for no longer than that.
const GUESS_MAX: usize = 256 << 10;

/// So much is read in one call.
const READ_AT_ONCE: usize = 1 << 20;

/// Whether memory for `capacity` bytes is more than a record of `len` is to keep.
pub(super) fn is_roomy(capacity: usize, len: usize) -> bool {
    capacity > len / 4 * 5
}

impl Log {
    /// Everything below is in its place for good, and written out; what is above may still be taken back, and something else be placed there.
    pub(crate) fn settled(&self) -> LogAddress {
        self.tail.base()
    }

    /// The bytes at `address`, put together; as [`find`](Log::find) says.
    #[cold]
    pub(super) fn find_apart(&self, address: LogAddress) -> Result<Found> {
        let mut bytes = Vec::new();
        let guess = if self.lengths.are_long() { self.lengths.last() } else { 0 };
        let segment = self.append_record(address, guess.min(GUESS_MAX), &mut bytes)?;
        if is_roomy(bytes.capacity(), bytes.len()) {
            // It may be kept for long, and was guessed to be longer.
            bytes.shrink_to_fit();
        }
        self.lengths.met(bytes.len(), bytes.len() >= self.long_record_len());
        Ok(Found::Copied(bytes, segment))
    }

    /// Appends the bytes at `address` to `out`, as many as the record's own length asks for, where that is possible: at most up to the end of
    /// its segment. Not verified. It is guessed to have `guess` bytes.
    pub(crate) fn append_record(
        &self,
        address: LogAddress,
        guess: usize,
        out: &mut Vec<u8>,
    ) -> Result<Arc<Segment>> {
        if self.tail.holds(address)
            && let Some((bytes, segment)) = self.tail.copy_record(address)
        {
            out.extend_from_slice(&bytes);
            return Ok(segment);
        }
        let (_, offset) = self.geometry.split(address);
        let room = (self.geometry.segment_bytes() - offset) as usize;
        let start = out.len();
        let segment = if guess >= self.long_record_len() {
            let segment = self.segment_of(address)?;
            self.append(&segment, address, guess.min(room), false, out)?;
            segment
        } else {
            let block = self.block(self.block_number(address))?;
            let rest = block.bytes.get(self.within_block(address)..).unwrap_or_default();
            out.extend_from_slice(&rest[..rest.len().min(peek_len(rest).unwrap_or(room))]);
            Arc::clone(&block.segment)
        };
        let mut have = out.len() - start;
        if peek_len(&out[start..]).is_none() {
            let missing = PEEK_LEN.min(room).saturating_sub(have);
            self.append(&segment, LogAddress(address.0 + have as u64), missing, true, out)?;
            have = out.len() - start;
        }
        let Some(len) = peek_len(&out[start..]) else { return Ok(segment) };
        let (at, missing) = (LogAddress(address.0 + have as u64), len.min(room).saturating_sub(have));
        out.reserve(missing.min(READ_AT_ONCE));
        // What lies behind a short record is asked for by others, too.
        self.append(&segment, at, missing, len < self.long_record_len(), out)?;
        out.truncate(start + len);
        Ok(segment)
    }

    /// Appends `len` bytes of `segment` from `address` on to `out`; fewer where the file ends. Not verified. What the cache has is copied;
    /// the rest comes in at once and goes nowhere else, or, where `is_kept`, by blocks that the cache keeps.
    pub(super) fn append(
        &self,
        segment: &Segment,
        address: LogAddress,
        len: usize,
        is_kept: bool,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let end = address.0 + len as u64;
        // Where what is to be read from the file begins.
        let (mut from, mut at) = (address.0, address.0);
        while at < end {
            let number = at >> self.block_shift;
            let next = ((number + 1) << self.block_shift).min(end);
            let in_file = !is_kept && !self.tail.holds(LogAddress(at));
            let block = if in_file { self.cache.peek(number) } else { Some(self.block(number)?) };
            if let Some(block) = block {
                if !self.append_from_file(segment, from, at, out)? {
                    return Ok(());
                }
                let rest = block.bytes.get(self.within_block(LogAddress(at))..).unwrap_or_default();
                let part = &rest[..rest.len().min((next - at) as usize)];
                out.extend_from_slice(part);
                if at + (part.len() as u64) < next {
                    return Ok(());
                }
                from = next;
            }
            at = next;
        }
        self.append_from_file(segment, from, end, out).map(|_| ())
    }

    /// Appends the bytes of the file from address `from` to `to`. Whether there were as many.
    fn append_from_file(&self, segment: &Segment, from: u64, to: u64, out: &mut Vec<u8>) -> Result<bool> {
        if from == to {
            return Ok(true);
        }
        let (_, offset) = self.geometry.split(LogAddress(from));
        let at = self.geometry.segment_offset(segment.physical) + u64::from(offset);
        let mut left = (to - from) as usize;
        let mut done = 0;
        while left > 0 {
            // A length that nothing vouches for yet asks for no more memory than the file fills.
            let (start, len) = (out.len(), left.min(READ_AT_ONCE));
            out.resize(start + len, 0);
            let have = self.storage.read_full(at + done, &mut out[start..])?;
            out.truncate(start + have);
            if have < len {
                return Ok(false);
            }
            (left, done) = (left - len, done + len as u64);
        }
        Ok(true)
    }
}
