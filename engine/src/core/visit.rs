//! A scan that lends its documents: nothing is counted or moved for those that stand whole in one block.

mod blocks;

use std::ops::ControlFlow;

use crate::cache::Block;
use crate::document::KeyRef;
use crate::error::Result;
use crate::format::Lsn;

use super::{Core, Cursor, Located};
use blocks::Blocks;

/// A document for as long as one call lasts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Visited<'a> {
    pub(crate) key: KeyRef<'a>,
    pub(crate) body: &'a [u8],
    place: Place<'a>,
}

/// Where a document was found.
#[derive(Debug, Clone, Copy)]
enum Place<'a> {
    InBlock { block: &'a Block, within: usize, offset: u32 },
    Elsewhere(&'a Located),
}

impl<'a> Visited<'a> {
    fn of(located: &'a Located) -> Self {
        Visited { key: located.key(), body: located.body(), place: Place::Elsewhere(located) }
    }

    /// The commit that put it.
    pub(crate) fn lsn(&self) -> Lsn {
        match self.place {
            Place::InBlock { block, within, offset } => block.lsn_at(within, offset),
            Place::Elsewhere(located) => located.lsn(),
        }
    }
}

impl Core {
    /// Hands each document of what is left of the walk to `each`, until that breaks.
    pub(crate) fn visit<B>(
        &self,
        cursor: &mut Cursor,
        mut each: impl FnMut(Visited<'_>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>> {
        let collection = cursor.naming().documents.id;
        let mut blocks = Blocks::new(&self.log);
        while let Some((page, from)) = self.rest_of_page(cursor)? {
            let mut rest = &page.items()[from..];
            while !rest.is_empty() {
                let (now, later) = rest.split_at(blocks.find(&self.log, rest));
                rest = later;
                for (number, item) in now.iter().enumerate() {
                    let (key, entry) = (page.key(item), item.value);
                    // Asked before the look: the page was looked up while the snapshot lived, and what stands at an address stays.
                    cursor.snapshot().check_live()?;
                    let flow = match blocks.document(&self.log, collection, number, key, entry) {
                        Some(document) => each(document),
                        None => each(Visited::of(&self.locate_again(cursor, key, entry)?)),
                    };
                    if flow.is_break() {
                        return Ok(flow);
                    }
                }
            }
            Core::gone_through(cursor, page);
        }
        Ok(ControlFlow::Continue(()))
    }
}
