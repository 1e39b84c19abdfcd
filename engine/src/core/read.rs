//! Point reads.

use std::ops::Range;

use crate::cache::{Block, Whole};
use crate::document::KeyRef;
use crate::error::{Corruption, Result};
use crate::format::record::{Record, is_of_kind};
use crate::format::{LogAddress, Lsn};
use crate::index::{Birth, Documents, Entry, Naming, State};
use crate::log::Found;
use crate::sync::Arc;
use crate::sync::race::{self, Race};
use crate::txn::Registered;

use super::Shared;

mod apart;
#[cfg(test)]
mod tests;

/// A document where it was found: its bytes stay in memory for as long as this lives.
#[derive(Debug, Clone)]
pub(crate) struct Located {
    bytes: Bytes,
    key: Range<u32>,
    body: Range<u32>,
}

#[derive(Debug, Clone)]
enum Bytes {
    /// In a block of the cache, from `within` on; `offset` is the same place in the segment.
    InBlock {
        block: Arc<Block>,
        within: u32,
        offset: u32,
    },
    Whole(Arc<Whole>),
}

impl Located {
    /// A document that no commit has put yet.
    pub(super) fn uncommitted(key: &[u8], body: &[u8]) -> Self {
        let bytes = [key, body].concat();
        let (key, body) = (0..key.len() as u32, key.len() as u32..bytes.len() as u32);
        Self::whole(Whole { bytes, key, body, collection: 0, value: 0, lsn: Lsn::ZERO }.into())
    }

    fn whole(whole: Arc<Whole>) -> Self {
        let (key, body) = (whole.key.clone(), whole.body.clone());
        Located { bytes: Bytes::Whole(whole), key, body }
    }

    fn slice(&self, range: &Range<u32>) -> &[u8] {
        let bytes = match &self.bytes {
            Bytes::InBlock { block, within, .. } => &block.bytes[*within as usize..],
            Bytes::Whole(whole) => &whole.bytes,
        };
        &bytes[range.start as usize..range.end as usize]
    }

    /// The document's bytes, verified when it was read.
    pub(crate) fn body(&self) -> &[u8] {
        self.slice(&self.body)
    }

    /// The commit that put it; 0 where none has yet.
    pub(crate) fn lsn(&self) -> Lsn {
        match &self.bytes {
            Bytes::InBlock { block, within, offset } => block.lsn_at(*within as usize, *offset),
            Bytes::Whole(whole) => whole.lsn,
        }
    }

    pub(crate) fn key(&self) -> KeyRef<'_> {
        KeyRef::decode(self.slice(&self.key)).expect("it was decoded when the record was read").0
    }
}

impl Shared {
    //= spec/semantics.md#s-5-1-point-reads
    //# `get` MUST answer the document of the key, equal to the one that was put, or that there is none;
    //# `contains` MUST answer whether there is one.
    /// The visible document of `key`.
    pub(crate) fn get(&self, naming: &Naming, key: KeyRef<'_>) -> Result<Option<Located>> {
        let documents = &naming.documents;
        let ready = self.ready(documents, key)?;
        let look = || Ok(self.visibility.see(documents.id, key, || ready.entry(documents, key)));
        self.read(documents, key, look)
    }

    /// The document of `key` in the state that a snapshot holds.
    pub(crate) fn get_at(
        &self,
        snapshot: &Registered,
        documents: &Documents,
        key: KeyRef<'_>,
    ) -> Result<Option<Located>> {
        let look = || self.entry_at(snapshot.state(), documents, key);
        if race::is_on(Race::LiveAskedFirst) {
            snapshot.check_live()?;
            return self.read(documents, key, look);
        }
        let found = self.read(documents, key, look);
        snapshot.check_live()?;
        found
    }

    /// Whether `key` has a document in the state that a snapshot holds.
    pub(crate) fn contains_at(
        &self,
        snapshot: &Registered,
        documents: &Documents,
        key: KeyRef<'_>,
    ) -> Result<bool> {
        let found = self.entry_at(snapshot.state(), documents, key)?;
        snapshot.check_live()?;
        Ok(found.is_some())
    }

    /// How many documents a collection has in the state that a snapshot holds.
    pub(crate) fn len_at(&self, snapshot: &Registered, documents: &Documents) -> Result<u64> {
        let len = self.visibility.len_at(documents, snapshot.state());
        snapshot.check_live()?;
        Ok(len)
    }

    //= spec/transactions.md#t-3-1-one-state
    //# Every read through a snapshot MUST answer from one state: the visible state of the moment at which the
    //# snapshot was taken.
    /// Where `key`'s document of `state` stands, which a snapshot holds.
    ///
    /// The index first: what it no longer has was retained before it gave it up. And then both at once: what a commit had
    /// superseded goes back into the index where the commit is taken back.
    pub(super) fn entry_at(
        &self,
        state: State,
        documents: &Documents,
        key: KeyRef<'_>,
    ) -> Result<Option<Entry>> {
        let ready = self.ready(documents, key)?;
        loop {
            let take_backs = self.visibility.take_backs();
            let newest = ready.entry(documents, key);
            let is_in = newest.map_or(Ok(false), |entry| self.is_in(state, entry));
            if is_in.is_err() && ready.entry(documents, key) != newest {
                // It has moved on.
                continue;
            }
            let found = match newest {
                Some(entry) if is_in? => return Ok(Some(entry)),
                None if !self.visibility.is_unsettled() => None,
                _ => self.visibility.retained_version(state, documents.id, key),
            };
            // A commit that is taken back gives the index back what was retained of it, between the two looks.
            if found.is_some() || self.visibility.take_backs() == take_backs {
                return Ok(found);
            }
        }
    }

    /// Whether the version at `entry` belongs to `state`, if nothing superseded it before.
    pub(super) fn is_in(&self, state: State, entry: Entry) -> Result<bool> {
        // What stands below was there, moved or not: so most need no look at the record.
        Ok(entry.address() < state.address || entry.is_relocated() && self.birth(entry)?.is_within(state))
    }

    //= spec/space.md#p-9-2-places-that-move
    //# A read whose record does not verify, or whose segment is not in place, MUST look its key up again, and
    //# read again when the answer is another.
    /// The document of `key` that `look` leads to.
    #[inline]
    pub(super) fn read(
        &self,
        documents: &Documents,
        key: KeyRef<'_>,
        look: impl Fn() -> Result<Option<Entry>>,
    ) -> Result<Option<Located>> {
        let mut before = None;
        loop {
            let Some(entry) = look()? else { return Ok(None) };
            match self.locate_alone(documents.id, key, entry) {
                Ok(located) => return Ok(Some(located)),
                // The record may have moved on between the look in the index and the read: only an answer that stays the
                // same is damage.
                Err(_) if before != Some(entry) => before = Some(entry),
                Err(error) => return Err(error),
            }
        }
    }

    //= spec/semantics.md#s-5-1-point-reads
    //# `get` MUST answer the document of the key, equal to the one that was put, or that there is none;
    //# `contains` MUST answer whether there is one.
    /// Whether `key` has a visible document; from the index alone.
    pub(crate) fn contains(&self, naming: &Naming, key: KeyRef<'_>) -> Result<bool> {
        let documents = &naming.documents;
        let ready = self.ready(documents, key)?;
        Ok(self.visibility.see(documents.id, key, || ready.entry(documents, key)).is_some())
    }

    //= spec/semantics.md#s-5-2-count
    //# `len` MUST answer the number of documents in the collection.
    /// How many visible documents the collection has.
    pub(crate) fn len(&self, naming: &Naming) -> u64 {
        self.visibility.len(&naming.documents)
    }

    //= spec/format.md#f-8-4-primary-leaves
    //# A reader MUST report a document as corrupt when there is no such segment in place or no such
    //# stretch, or when what stands there is not a valid put or relocated put of that collection and key.
    /// The document that `entry` leads to, which must be that of `key`.
    #[inline]
    pub(crate) fn locate(&self, collection: u32, key: KeyRef<'_>, entry: Entry) -> Result<Located> {
        let found = self.log.look(entry.address())?;
        self.locate_in(found, collection, key, entry)
    }

    /// The same, for who does not go on to the document's neighbours.
    #[inline]
    fn locate_alone(&self, collection: u32, key: KeyRef<'_>, entry: Entry) -> Result<Located> {
        let found = self.log.look_alone(entry.address())?;
        self.locate_in(found, collection, key, entry)
    }

    /// The same document, whose record was looked for already.
    #[inline(always)]
    pub(super) fn locate_in(
        &self,
        found: Option<Found>,
        collection: u32,
        key: KeyRef<'_>,
        entry: Entry,
    ) -> Result<Located> {
        let (_, offset) = self.log.geometry.split(entry.address());
        let kind = entry.plain_kind();
        match found {
            Some(Found::InBlock(block, within)) => {
                match block.key_and_body(within as usize, offset, kind, collection, key) {
                    Some((key, body)) => {
                        Ok(Located { bytes: Bytes::InBlock { block, within, offset }, key, body })
                    }
                    None => self.locate_apart(collection, key, entry),
                }
            }
            Some(Found::Copied(bytes, segment)) => match segment.put_of(&bytes, offset, collection, key) {
                Some(put) if is_of_kind(&bytes, kind) => {
                    let lsn = segment.stretch_at(offset).lsn_of(put.version);
                    let (key, body) = (put.key, put.body);
                    let value = entry.value();
                    Ok(Located::whole(Whole { bytes, key, body, collection, value, lsn }.into()))
                }
                _ => self.locate_apart(collection, key, entry),
            },
            None => self.locate_apart(collection, key, entry),
        }
    }

    //= spec/semantics.md#s-8-6-damage
    //# A call that meets damaged bytes MUST fail as `Corrupt` rather than answer from them.
    #[cold]
    pub(super) fn wrong_record(
        &self,
        address: LogAddress,
        collection: u32,
        record: &Record<'_>,
    ) -> crate::Error {
        let at = self.log.segments.file_offset(address);
        Corruption::new(at, "F-2.2", "an index entry leads to another record")
            .comparing(u64::from(collection), u64::from(record.collection))
            .into()
    }

    /// When the version that `entry` leads to came to be.
    pub(crate) fn birth(&self, entry: Entry) -> Result<Birth> {
        if !entry.is_relocated() {
            return Ok(Birth::At(entry.address()));
        }
        let found = self.log.find(entry.address())?;
        let record = self.log.parse(&found, entry.address())?;
        Ok(Birth::Lsn(self.log.lsn(&found, &record, entry.address())))
    }
}
