//! The change feed: the visible commits behind an LSN, read back from the log itself.

use crate::document::{Key, KeyRef};
use crate::error::{Corruption, Error, Result};
use crate::format::catalog::CatalogChange;
use crate::format::frame::{FRAME_HEADER_LEN, Frame, FrameFlags, FrameHeader, parse_header_at};
use crate::format::record::{Kind, Record};
use crate::format::{LogAddress, Lsn};
use crate::index::{Entry, State};
use crate::log::{FrameCursor, Frames, Log, Met, NOTHING_FOLLOWS};
use crate::sync::{Arc, AtomicU64, Ordering};

use super::read::Located;
use super::shared::Shared;

/// Where a document's record stands. Made by the store, for the store to read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Location {
    pub(crate) collection: u32,
    pub(crate) address: LogAddress,
}

/// One change of a commit, as [`Watch`](crate::Watch) shows it. Collections go by their ids, which are never used again.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A document was put.
    Put {
        /// The collection.
        collection: u32,
        /// Its key.
        key: Key,
        /// Where it stands: see [`Db::document_at`](crate::Db::document_at).
        at: Location,
        /// Where the one stood that it replaced. That one may be gone by now.
        replaced: Option<Location>,
    },
    /// A document was deleted.
    Delete {
        /// The collection.
        collection: u32,
        /// Its key.
        key: Key,
        /// Where it stood. It may be gone by now.
        replaced: Option<Location>,
    },
    /// A collection was created.
    Create {
        /// Its id.
        collection: u32,
        /// Its name.
        name: String,
    },
    /// A collection was dropped with all its documents.
    Drop {
        /// Its id.
        collection: u32,
    },
    /// All documents were taken out of a collection, which goes on under another id.
    Clear {
        /// Its id so far.
        collection: u32,
        /// Its id from now on.
        new: u32,
    },
    /// A collection was given another name.
    Rename {
        /// Its id.
        collection: u32,
        /// Its name from now on.
        name: String,
    },
}

/// One commit, as [`Watch`](crate::Watch) shows it.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Its LSN: a feed from here goes on behind it.
    pub lsn: u64,
    /// What it changed, in order.
    pub changes: Vec<Change>,
}

/// How far a feed has come.
#[derive(Debug, Clone)]
pub(crate) struct Feed {
    /// Everything up to its commit was shown, or is not wanted. Its segment is a sequence.
    cursor: FrameCursor<u64>,
    /// What others see of that.
    position: Arc<AtomicU64>,
}

/// A frame in the segment of a sequence.
type MetFrame = Met<u64, ()>;

/// The log up to where it is visible.
struct VisibleLog<'a> {
    log: &'a Log,
    end: LogAddress,
}

impl Shared {
    //= spec/transactions.md#t-5-2-resuming
    //# A feed from the LSN of the last commit that a feed has shown MUST go on behind that commit.
    //= spec/transactions.md#t-5-3-gone
    //# A feed from an LSN behind which part of the log is no longer in place MUST be refused as `LsnGone`,
    //# which names the oldest LSN that it can begin with.
    //= spec/transactions.md#t-5-3-gone
    //# An LSN that the store has never given, or that a crash took back, MUST be refused as `LsnUnknown`.
    /// A feed of what comes behind `from`; 0 stands for the beginning.
    pub(crate) fn feed(&self, from: Lsn) -> Result<Feed> {
        let visible = self.visibility.visible();
        if from > visible.lsn {
            return Err(Error::LsnUnknown { lsn: from.0 });
        }
        // Entered before it is looked at what there is: what is found stays.
        let position = self.feeds.enter();
        let oldest = self.log.segments.first_unbroken().expect("a store has a segment");
        let geometry = self.log.geometry;
        let start = match from {
            Lsn::ZERO if oldest.sequence == 0 => {
                Some(FrameCursor::behind_commit(geometry, 0, geometry.data_start(), from))
            }
            _ => {
                let stretch = self.log.segments.stretch_before(from);
                let stretch = stretch.filter(|(sequence, ..)| *sequence >= oldest.sequence);
                stretch.map(|(sequence, offset, lsn)| {
                    FrameCursor::before_stretch(geometry, sequence, offset, lsn)
                })
            }
        };
        let Some(cursor) = start else {
            return Err(match oldest.sequence {
                0 => Error::LsnUnknown { lsn: from.0 },
                _ => Error::LsnGone { lsn: from.0, oldest: oldest.first_lsn().0 },
            });
        };
        position.store(cursor.segment, Ordering::Release);
        let mut feed = Feed { cursor, position };
        // Part of the commit itself may still be ahead.
        while feed.cursor.lsn < from || feed.cursor.is_within_commit() {
            let met = self.next_frame(&feed, visible)?.ok_or(Error::LsnUnknown { lsn: from.0 })?;
            if met.frame.header.lsn > from {
                return Err(Error::LsnUnknown { lsn: from.0 });
            }
            feed.cursor.pass(&met);
        }
        Ok(feed)
    }

    /// A copy of a feed of another store, which keeps in place here what that keeps there.
    #[cfg(feature = "testing")]
    pub(super) fn fork_feed(&self, feed: &Feed) -> Feed {
        let position = self.feeds.enter();
        position.store(feed.cursor.segment, Ordering::Release);
        Feed { position, ..feed.clone() }
    }

    //= spec/transactions.md#t-5-1-what-it-shows
    //# A feed from LSN `n` MUST show every visible commit above `n` that changes the state, each once, in LSN
    //# order, and nothing that is not visible.
    //= spec/transactions.md#t-5-4-nobody-waits
    //# A feed MUST NOT keep a writer waiting.
    /// The next visible commit that changes the state; none for now where the feed has caught up.
    pub(crate) fn next_commit(&self, feed: &mut Feed) -> Result<Option<Commit>> {
        let visible = self.visibility.visible();
        let mut changes = Vec::new();
        // Nothing is passed for good before the whole commit was read: after an error the feed stands where it stood.
        let mut ahead = feed.clone();
        while let Some(met) = self.next_frame(&ahead, visible)? {
            if !met.frame.header.flags.contains(FrameFlags::SYSTEM) {
                self.read_changes(&met, &mut changes)?;
            }
            ahead.cursor.pass(&met);
            if ahead.cursor.is_within_commit() {
                continue;
            }
            *feed = ahead.clone();
            feed.position.store(feed.cursor.segment, Ordering::Release);
            if !changes.is_empty() {
                return Ok(Some(Commit { lsn: feed.cursor.lsn.0, changes }));
            }
        }
        Ok(None)
    }

    /// The frame behind the one that `feed` has passed; none at the end of the visible log.
    fn next_frame(&self, feed: &Feed, visible: State) -> Result<Option<MetFrame>> {
        let cursor = &feed.cursor;
        let address = self.log.geometry.address(cursor.segment, cursor.offset);
        if address >= visible.address {
            return Ok(None);
        }
        let mut frames = VisibleLog { log: &self.log, end: visible.address };
        let following = || {
            Corruption::new(self.log.segments.file_offset(address), "R-2.1", NOTHING_FOLLOWS)
                .comparing(cursor.lsn.0, 0)
        };
        Ok(Some(cursor.next(&mut frames)?.ok_or_else(following)?))
    }

    /// The document at `location`; none where the log no longer has that place.
    pub(crate) fn document_at(&self, location: Location) -> Result<Option<Located>> {
        if !self.is_in_place(location) {
            return Ok(None);
        }
        match self.document_in_place(location) {
            // It was given to something else while it was read.
            Err(_) if !self.is_in_place(location) => Ok(None),
            found => found.map(Some),
        }
    }

    /// Whether the log still has the segment of `location`, and those of the chunks that a list there names: they may go before it does.
    fn is_in_place(&self, location: Location) -> bool {
        let is_there = |at: LogAddress| self.log.segments.get(self.log.geometry.split(at).0).is_some();
        let list = Entry::new(location.address, false).with_chunked(true);
        is_there(location.address) && self.chunks_of(list).unwrap_or_default().into_iter().all(is_there)
    }

    fn document_in_place(&self, location: Location) -> Result<Located> {
        let found = self.log.find(location.address)?;
        let record = self.log.parse(&found, location.address)?;
        let Some(key) = record.key else {
            return Err(self.wrong_record(location.address, location.collection, &record));
        };
        self.locate(location.collection, key, Entry::of(&record, location.address))
    }

    /// Appends what the records of a frame change.
    fn read_changes(&self, met: &MetFrame, changes: &mut Vec<Change>) -> Result<()> {
        let mut at = met.frame.records_at();
        for _ in 0..met.frame.header.record_count {
            let address = self.log.geometry.address(met.segment, at);
            let found = self.log.find(address)?;
            let record = self.log.parse(&found, address)?;
            changes.extend(change_of(&record, address)?);
            at += record.len as u32;
        }
        Ok(())
    }
}

impl Frames for VisibleLog<'_> {
    /// Its sequence.
    type Segment = u64;
    type Body = ();

    fn sequence(&self, sequence: &u64) -> u64 {
        *sequence
    }

    fn file_offset(&self, sequence: &u64, offset: u32) -> u64 {
        self.log.segments.file_offset(self.log.geometry.address(*sequence, offset))
    }

    fn successors(&mut self, sequence: &u64, _: u32) -> Result<Vec<(u64, Lsn)>> {
        let next = self.log.segments.get(sequence + 1);
        Ok(next.into_iter().map(|segment| (segment.sequence, segment.first_lsn())).collect())
    }

    fn may_open(&self, sequence: &u64, offset: u32, above: u32) -> Result<bool> {
        let segment = self.log.segments.get(*sequence);
        Ok(segment.is_some_and(|segment| segment.opens_at(offset, above)))
    }

    fn header(&self, sequence: &u64, offset: u32) -> Result<Option<FrameHeader>> {
        let address = self.log.geometry.address(*sequence, offset);
        let Some(segment) = self.log.segments.get(*sequence).filter(|_| address < self.end) else {
            return Ok(None);
        };
        let bytes = self.log.copy(address, FRAME_HEADER_LEN)?;
        Ok(parse_header_at(&bytes, offset, &segment.frame_seed, self.log.geometry.segment_bytes()))
    }

    /// Each record is verified when it is read.
    fn body(&self, _: &u64, _: &Frame) -> Result<Option<()>> {
        Ok(Some(()))
    }

    fn named(&self, opening: &MetFrame) -> Result<Option<(Lsn, LogAddress)>> {
        let address = self.log.geometry.address(opening.segment, opening.frame.records_at());
        let found = self.log.find(address)?;
        Ok(self.log.parse(&found, address)?.opening())
    }
}

/// What a record says to a feed; none where that is nothing of its own, as with chunks.
fn change_of(record: &Record<'_>, address: LogAddress) -> Result<Option<Change>> {
    let collection = record.collection;
    let replaced = record.replaces.map(|replaced| Location { collection, address: replaced.address() });
    let key = || record.key.map(KeyRef::to_key).expect("a document's record was parsed with its key");
    Ok(Some(match record.kind {
        Kind::Put => Change::Put { collection, key: key(), at: Location { collection, address }, replaced },
        Kind::Delete => Change::Delete { collection, key: key(), replaced },
        Kind::Catalog => {
            let change = CatalogChange::decode(record.body).map_err(|_| {
                Corruption::new(address.0, "F-7.1", "a catalog record that was replayed cannot be read")
            })?;
            match change {
                CatalogChange::Create { id, name } => Change::Create { collection: id, name },
                CatalogChange::Drop { id } => Change::Drop { collection: id },
                CatalogChange::Clear { id, new } => Change::Clear { collection: id, new },
                CatalogChange::Rename { id, name } => Change::Rename { collection: id, name },
                // Indexes follow from the documents: who follows the documents has its own.
                CatalogChange::Index { .. }
                | CatalogChange::Unindex { .. }
                | CatalogChange::Reindex { .. } => return Ok(None),
            }
        }
        _ => return Ok(None),
    }))
}
