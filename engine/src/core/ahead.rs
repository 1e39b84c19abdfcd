//! Looking ahead of a scan. Where documents stand one behind the other, one look in the cache does for all of a block; where they do not,
//! the records of a few are found together, so that the processor waits for the memory of all of them at once.

use std::hint::black_box;

use crate::cache::Block;
use crate::error::Result;
use crate::format::record::peek_len;
use crate::index::{Entry, Item};
use crate::log::{Found, Log};
use crate::sync::Arc;

/// At most so many records are found together: about as many as a processor can wait for.
const BATCH_MAX: usize = 8;
/// So much of a record is asked for beforehand; what follows, the processor sees coming.
const TOUCHED_MAX: usize = 2048;
/// What the processor asks the memory for at a time.
pub(super) const LINE: usize = 64;

/// What was found ahead of a walk.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    /// The last block of the cache that a record was found in when its turn came.
    near: Option<Arc<Block>>,
    /// The records of the next entries, the next one last; none for one that would have to be put together.
    found: Vec<Option<Found>>,
    /// How many were found together the last time.
    batch: usize,
}

impl Ahead {
    /// The walk goes on elsewhere.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.found.clear();
    }

    /// The record at `entry`, behind which the walk has `following`.
    #[inline(always)]
    pub(super) fn next(
        &mut self,
        log: &Log,
        entry: Entry,
        following: &[Item<Entry>],
    ) -> Result<Option<Found>> {
        if let Some(found) = self.found.pop() {
            return Ok(found);
        }
        let address = entry.address();
        let number = log.block_number(address);
        if let Some(next) = following.first()
            && log.block_number(next.value.address()) != number
        {
            self.look(log, following);
        }
        let found = log.look_near(address, self.near.as_ref())?;
        if let Some(Found::InBlock(block, _)) = &found
            && self.near.as_ref().is_none_or(|near| near.number != number)
        {
            self.near = Some(Arc::clone(block));
        }
        Ok(found)
    }

    /// Finds some of the records that follow: one at first, then twice as many each time, since many a walk ends early.
    fn look(&mut self, log: &Log, following: &[Item<Entry>]) {
        self.batch = (self.batch * 2).clamp(1, BATCH_MAX);
        for item in following.iter().take(self.batch) {
            // What cannot be read is met when its turn comes.
            let Ok(found) = log.look(item.value.address()) else { break };
            // Behind a long record that had to be copied nothing is looked for: copies are waited for anyway, and few should be held.
            let is_long = matches!(&found, Some(Found::Copied(bytes, _)) if bytes.len() > TOUCHED_MAX);
            self.found.push(found);
            if is_long {
                break;
            }
        }
        let records = self.found.iter().flatten().map(Found::bytes);
        touch(records.map(|bytes| (bytes, peek_len(bytes).unwrap_or(0))));
        self.found.reverse();
    }
}

/// Asks the memory for records at once: each begins its bytes, and is believed to have so many.
pub(super) fn touch<'a>(records: impl Iterator<Item = (&'a [u8], usize)>) {
    let seen = records.fold(0, |seen, (bytes, len)| {
        let lines = bytes[..len.min(TOUCHED_MAX).min(bytes.len())].chunks(LINE);
        lines.fold(seen, |seen, line| seen ^ line[0])
    });
    black_box(seen);
}
