//! A scan that lends its documents: nothing is counted or moved for those that stand whole in one block.

mod blocks;

use std::fmt;
use std::ops::ControlFlow;

use crate::cache::Block;
use crate::document::KeyRef;
use crate::error::Result;
use crate::format::Lsn;
use crate::index::{Entries, Entry, Item};
use crate::log::Log;

use super::{Cursor, Located, Shared};
use blocks::{BATCH_MAX, BlockRecord, Blocks};

/// A document for as long as one call lasts.
#[derive(Clone, Copy)]
pub(crate) struct Visited<'a> {
    pub(crate) body: &'a [u8],
    place: FoundIn<'a>,
}

/// Where a document was found, which knows its key and its commit: few ask for them.
#[derive(Clone, Copy)]
enum FoundIn<'a> {
    Block { log: &'a Log, block: &'a Block, page: &'a Entries, item: &'a Item<Entry> },
    Elsewhere(&'a Located),
}

impl<'a> Visited<'a> {
    pub(crate) fn of(located: &'a Located) -> Self {
        Visited { body: located.body(), place: FoundIn::Elsewhere(located) }
    }

    #[inline]
    pub(crate) fn key(&self) -> KeyRef<'a> {
        match self.place {
            FoundIn::Block { page, item, .. } => page.key(item),
            FoundIn::Elsewhere(located) => located.key(),
        }
    }

    /// The commit that put it.
    pub(crate) fn lsn(&self) -> Lsn {
        match self.place {
            FoundIn::Block { log, block, item, .. } => {
                let address = item.value.address();
                block.lsn_at(log.within_block(address), log.geometry.split(address).1)
            }
            FoundIn::Elsewhere(located) => located.lsn(),
        }
    }
}

impl fmt::Debug for Visited<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Visited").field("key", &self.key()).field("body", &self.body).finish_non_exhaustive()
    }
}

impl Shared {
    /// Hands each document of what is left of the walk to `each`, until that breaks.
    pub(crate) fn visit<B>(
        &self,
        cursor: &mut Cursor,
        mut each: impl FnMut(Visited<'_>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>> {
        let collection = cursor.naming().documents.id;
        let mut blocks = Blocks::new(&self.log);
        while let Some((page, from)) = self.rest_of_page(cursor)? {
            let snapshot = cursor.snapshot();
            let mut rest = &page.items()[from..];
            while !rest.is_empty() {
                let (now, later) = rest.split_at(blocks.find(&self.log, rest));
                rest = later;
                let mut held = [None; BATCH_MAX];
                blocks.look(&self.log, collection, &page, now, &mut held);
                for (item, held) in now.iter().zip(&held) {
                    // The page was looked up while the snapshot lived, and what stands at an address stays.
                    snapshot.check_live()?;
                    let located;
                    let visited = match *held {
                        Some(BlockRecord { body, block }) => {
                            let place = FoundIn::Block { log: &self.log, block, page: &page, item };
                            Visited { body, place }
                        }
                        None => {
                            located = self.locate_again(cursor, page.key(item), item.value)?;
                            Visited::of(&located)
                        }
                    };
                    let flow = each(visited);
                    if flow.is_break() {
                        return Ok(flow);
                    }
                }
            }
            Shared::gone_through(cursor, page);
        }
        Ok(ControlFlow::Continue(()))
    }
}
