//! Records that are read without their block: in a cache that is full each block drives out another, and most that are asked for once are
//! not asked for again while they could be kept. So a block comes in when it is asked for the second time (a doorkeeper, as in TinyLFU by
//! Einziger, Friedman and Manes, 2017).

use crate::error::Result;
use crate::format::LogAddress;
use crate::format::record::peek_len;
use crate::sync::race::{self, Race};

use super::{Found, Log};

#[cfg(test)]
mod tests;

/// So much is read at first: most documents are shorter.
const FIRST_READ: usize = 512;

impl Log {
    /// The bytes of the record at `address`, and no more; none where it is a long one, or not in its place for good.
    #[cold]
    pub(super) fn record_alone(&self, address: LogAddress) -> Result<Option<Found>> {
        let (_, offset) = self.geometry.split(address);
        let room = (self.geometry.segment_bytes() - offset) as usize;
        // Asked before the read: what is settled by then is what is read.
        let settled = self.settled();
        let segment = self.segment_of(address)?;
        let at = self.geometry.segment_offset(segment.physical) + u64::from(offset);
        let mut front = [0; FIRST_READ];
        let have = self.storage.read_full(at, &mut front[..FIRST_READ.min(room)])?;
        let front = &front[..have];
        let settled = if race::is_on(Race::SettledAskedLate) { self.settled() } else { settled };
        let is_alone =
            |len: usize| len < self.long_record_len() && len <= room && address.0 + len as u64 <= settled.0;
        let Some(len) = peek_len(front).filter(|len| is_alone(*len)) else { return Ok(None) };
        let mut bytes = Vec::with_capacity(len);
        bytes.extend_from_slice(&front[..len.min(have)]);
        if len > have {
            bytes.resize(len, 0);
            let rest = self.storage.read_full(at + have as u64, &mut bytes[have..])?;
            bytes.truncate(have + rest);
        }
        Ok(Some(Found::Copied(bytes, segment)))
    }
}
