//! A scan that lends its documents: nothing is counted, moved or kept for those that stand whole in one block.

use std::ops::ControlFlow;

use crate::cache::Block;
use crate::document::{Key, KeyRef};
use crate::error::Result;
use crate::format::Lsn;
use crate::index::Entry;
use crate::log::Log;
use crate::sync::Arc;

use super::ahead::{BATCH_MAX, touch};
use super::{Core, Cursor};

/// A document for as long as one call lasts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Visited<'a> {
    pub(crate) key: KeyRef<'a>,
    pub(crate) body: &'a [u8],
    /// The commit that put it.
    pub(crate) lsn: Lsn,
}

/// The blocks that a few records stand in, in the order of the records, each once where they follow each other.
#[derive(Debug, Default)]
struct Blocks {
    blocks: Vec<Arc<Block>>,
    /// The one that the record before stood in.
    at: usize,
}

impl Core {
    /// Hands each document of what is left of the walk to `each`, until that breaks.
    pub(crate) fn visit<B>(
        &self,
        cursor: &mut Cursor,
        mut each: impl FnMut(Visited<'_>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>> {
        let collection = cursor.naming().documents.id;
        let mut blocks = Blocks::default();
        // As many as may be asked for in vain: many a walk ends early.
        let mut batch = 1;
        loop {
            let Some(page) = self.rest_of_page(cursor)? else { return Ok(ControlFlow::Continue(())) };
            let mut rest = page.as_slice();
            while !rest.is_empty() {
                let (now, later) = rest.split_at(rest.len().min(batch));
                (rest, batch) = (later, (batch * 2).min(BATCH_MAX));
                blocks.find(&self.log, now);
                for (key, entry) in now {
                    let flow = match blocks.document(&self.log, collection, key.as_ref(), *entry) {
                        Some(document) => each(document),
                        None => {
                            let located = self.locate_again(cursor, key, *entry)?;
                            each(Visited { key: located.key(), body: located.body(), lsn: located.lsn })
                        }
                    };
                    if flow.is_break() {
                        return Ok(flow);
                    }
                }
            }
        }
    }
}

impl Blocks {
    /// Finds the blocks of these records, as far as they are not in the tail, and asks the memory for the records where they lie apart.
    fn find(&mut self, log: &Log, entries: &[(Key, Entry)]) {
        self.blocks.drain(..self.at);
        self.blocks.truncate(1);
        self.at = 0;
        let before = self.blocks.len();
        for (_, entry) in entries {
            let number = log.block_number(entry.address());
            if self.blocks.last().is_none_or(|last| last.number != number) {
                // What is not found here is met when its turn comes.
                self.blocks.extend(log.sealed_block(entry.address()));
            }
        }
        if self.blocks.len() > before + 1 {
            let lent = |entry: &Entry| {
                let number = log.block_number(entry.address());
                let block = self.blocks.iter().find(|block| block.number == number)?;
                block.bytes.get(log.within_block(entry.address())..)
            };
            entries.iter().filter_map(|(_, entry)| lent(entry)).for_each(touch);
        }
    }

    /// The document at `entry`, if one of the blocks holds it whole, and it is the one of `key`, plain and undamaged.
    #[inline(always)]
    fn document<'a>(
        &'a mut self,
        log: &Log,
        collection: u32,
        key: KeyRef<'a>,
        entry: Entry,
    ) -> Option<Visited<'a>> {
        let address = entry.address();
        let number = log.block_number(address);
        if self.blocks.get(self.at)?.number != number {
            self.at =
                self.at + 1 + self.blocks[self.at + 1..].iter().position(|block| block.number == number)?;
        }
        let block = &self.blocks[self.at];
        let bytes = block.bytes.get(log.within_block(address)..)?;
        let (_, offset) = log.geometry.split(address);
        let (put, lsn) = block.segment.put_of(bytes, offset, collection, key)?;
        Some(Visited { key, body: &bytes[put.body.start as usize..put.body.end as usize], lsn })
    }
}
