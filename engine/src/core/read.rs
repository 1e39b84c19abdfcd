//! Point reads.

use std::ops::Range;

use crate::cache::Block;
use crate::document::{DOCUMENT_LEN_MAX, KeyRef};
use crate::error::{Clause, Corruption, Result};
use crate::format::body::{ChunkList, parse_chunk};
use crate::format::record::{Kind, RECORD_OVERHEAD_MAX, Record};
use crate::format::{LogAddress, Lsn};
use crate::index::{Birth, Documents, Entry, Naming, PrimaryIndex, State};
use crate::log::Found;
use crate::sync::Arc;
use crate::sync::race::{self, Race};
use crate::txn::Registered;

use super::Core;

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
    InBlock { block: Arc<Block>, within: u32, offset: u32 },
    /// With the LSN of the commit that put it; 0 where none has yet.
    Copied(Arc<Vec<u8>>, Lsn),
}

impl Located {
    /// A document that no commit has put yet.
    pub(super) fn uncommitted(key: &[u8], body: &[u8]) -> Self {
        let bytes = [key, body].concat();
        let (key, body) = (0..key.len() as u32, key.len() as u32..bytes.len() as u32);
        Located { bytes: Bytes::Copied(Arc::new(bytes), Lsn::ZERO), key, body }
    }

    fn slice(&self, range: &Range<u32>) -> &[u8] {
        let bytes = match &self.bytes {
            Bytes::InBlock { block, within, .. } => &block.bytes[*within as usize..],
            Bytes::Copied(bytes, _) => bytes,
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
            Bytes::Copied(_, lsn) => *lsn,
        }
    }

    pub(crate) fn key(&self) -> KeyRef<'_> {
        KeyRef::decode(self.slice(&self.key)).expect("it was decoded when the record was read").0
    }
}

impl Core {
    //= spec/semantics.md#s-5-1-point-reads
    //# `get` MUST answer the document of the key, equal to the one that was put, or that there is none;
    //# `contains` MUST answer whether there is one.
    /// The visible document of `key`.
    pub(crate) fn get(&self, naming: &Naming, key: KeyRef<'_>) -> Result<Option<Located>> {
        let documents = &naming.documents;
        let look = || Ok(self.visibility.see(documents.id, key, || documents.index.get(key)));
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
        loop {
            let take_backs = self.visibility.take_backs();
            let newest = documents.index.get(key);
            let is_in = newest.map_or(Ok(false), |entry| self.is_in(state, entry));
            if is_in.is_err() && documents.index.get(key) != newest {
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
            match self.locate(documents.id, key, entry) {
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
    pub(crate) fn contains(&self, naming: &Naming, key: KeyRef<'_>) -> bool {
        let documents = &naming.documents;
        self.visibility.see(documents.id, key, || documents.index.get(key)).is_some()
    }

    //= spec/semantics.md#s-5-2-count
    //# `len` MUST answer the number of documents in the collection.
    /// How many visible documents the collection has.
    pub(crate) fn len(&self, naming: &Naming) -> u64 {
        self.visibility.len(&naming.documents)
    }

    //= spec/format.md#f-8-4-primary-leaves
    //# A reader MUST report a document as corrupt when there is no such segment or stretch, or when what
    //# stands there is not a valid put or relocated put of that collection and key.
    /// The document that `entry` leads to, which must be that of `key`.
    #[inline]
    pub(crate) fn locate(&self, collection: u32, key: KeyRef<'_>, entry: Entry) -> Result<Located> {
        let found = self.log.find(entry.address())?;
        self.locate_in(found, collection, key, entry)
    }

    /// The same document, whose record was found already.
    #[inline(always)]
    pub(super) fn locate_in(
        &self,
        found: Found,
        collection: u32,
        key: KeyRef<'_>,
        entry: Entry,
    ) -> Result<Located> {
        let address = entry.address();
        let (_, offset) = self.log.geometry.split(address);
        match found {
            Found::InBlock(block, within) => match block.put_of(within as usize, offset, collection, key) {
                Some((key, body)) => {
                    Ok(Located { bytes: Bytes::InBlock { block, within, offset }, key, body })
                }
                None => self.locate_unusual(collection, key, address, Found::InBlock(block, within)),
            },
            Found::Copied(bytes, segment) => match segment.put_of(&bytes, offset, collection, key) {
                Some(put) => {
                    let lsn = segment.stretch_at(offset).lsn_of(put.version);
                    Ok(Located { bytes: Bytes::Copied(bytes, lsn), key: put.key, body: put.body })
                }
                None => self.locate_unusual(collection, key, address, Found::Copied(bytes, segment)),
            },
        }
    }

    /// The document in `found`, which stands at `address`, if it is none of those that [`put_of`](crate::format::record::put_of) knows; or what is wrong with it.
    #[cold]
    fn locate_unusual(
        &self,
        collection: u32,
        key: KeyRef<'_>,
        address: LogAddress,
        found: Found,
    ) -> Result<Located> {
        let record = self.log.parse(&found, address)?;
        if record.collection != collection
            || record.key != Some(key)
            || !matches!(record.kind, Kind::Put | Kind::RelocatedPut)
        {
            return Err(self.wrong_record(address, collection, &record));
        }
        if record.chunked {
            return self.put_together(&found, &record, address);
        }
        let base = found.bytes().as_ptr() as usize;
        let range = |bytes: &[u8]| {
            let start = (bytes.as_ptr() as usize - base) as u32;
            start..start + bytes.len() as u32
        };
        let (key, body) = (range(record.key_bytes), range(record.body));
        let lsn = self.log.lsn(&found, &record, address);
        let (_, offset) = self.log.geometry.split(address);
        let bytes = match found {
            Found::InBlock(block, within) => Bytes::InBlock { block, within, offset },
            Found::Copied(bytes, _) => Bytes::Copied(bytes, lsn),
        };
        Ok(Located { bytes, key, body })
    }

    //= spec/format.md#f-6-7-chunk-list
    //# A reader MUST report a document as corrupt when its list leads to anything but these chunks, in their
    //# order and of that length altogether.
    /// The document whose chunks the put `record` lists (spec: F-6.7).
    fn put_together(&self, found: &Found, record: &Record<'_>, address: LogAddress) -> Result<Located> {
        let list = ChunkList::parse(record.body).ok_or_else(|| self.wrong_record(address, 0, record))?;
        // Not believed for more than a document may have, or than the chunks turn out to hold.
        if list.document_len() > DOCUMENT_LEN_MAX as u64 {
            return Err(self.wrong_record(address, record.collection, record));
        }
        let longest = self.log.geometry.record_len_max();
        let capacity = (list.document_len() as usize).min(list.count() * longest);
        // Each chunk is copied to the end of what came before it, and loses what stands in front of its part there.
        let mut bytes = Vec::with_capacity(record.key_bytes.len() + capacity + RECORD_OVERHEAD_MAX);
        bytes.extend_from_slice(record.key_bytes);
        let key_len = bytes.len() as u32;
        let lsn = self.log.lsn(found, record, address);
        for (number, at) in list.addresses().enumerate() {
            let start = bytes.len();
            let segment = self.log.append_record(at, &mut bytes)?;
            let chunk = self.log.parse_in(&segment, &bytes[start..], at)?;
            // No more is gathered than the list says.
            let left = (u64::from(key_len) + list.document_len()).saturating_sub(start as u64);
            let part_len = match parse_chunk(chunk.body) {
                Some((n, part))
                    if n == number as u64
                        && part.len() as u64 <= left
                        && (record.moved.is_some() || self.log.lsn_in(&segment, &chunk, at) == lsn)
                        && chunk.kind == Kind::Chunk
                        && chunk.collection == record.collection
                        && chunk.key == record.key =>
                {
                    part.len()
                }
                _ => return Err(self.wrong_record(at, record.collection, &chunk)),
            };
            let end = start + chunk.len;
            bytes.copy_within(end - part_len..end, start);
            bytes.truncate(start + part_len);
        }
        if bytes.len() as u64 != u64::from(key_len) + list.document_len() {
            return Err(self.wrong_record(address, record.collection, record));
        }
        let (key, body) = (0..key_len, key_len..bytes.len() as u32);
        Ok(Located { bytes: Bytes::Copied(Arc::new(bytes), lsn), key, body })
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
        Corruption {
            at: self.log.segments.file_offset(address).unwrap_or(address.0),
            clause: Clause("F-2.2"),
            what: "an index entry leads to another record",
            expected: u64::from(collection),
            found: u64::from(record.collection),
        }
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
