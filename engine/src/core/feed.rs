//! The change feed: the visible commits behind an LSN, read back from the log itself.

use crate::document::{Key, KeyRef};
use crate::error::{Clause, Corruption, Error, Result};
use crate::format::body::parse_opening;
use crate::format::catalog::CatalogChange;
use crate::format::frame::{FRAME_HEADER_LEN, FrameFlags, FrameHeader, parse_header_at};
use crate::format::record::{Kind, Record};
use crate::format::{LogAddress, Lsn, round_up_8};
use crate::index::{Entry, State};
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

/// How far a feed has come: everything up to `lsn` was shown, or is not wanted.
#[derive(Debug, Clone)]
pub(crate) struct Feed {
    sequence: u64,
    /// Where the last frame that was looked at ended.
    offset: u32,
    /// The commit of that frame.
    lsn: Lsn,
    /// Whether a part of that commit is still to come.
    is_within: bool,
    /// What others see of `sequence`.
    position: Arc<AtomicU64>,
}

/// A frame that was read.
#[derive(Debug)]
struct Frame {
    header: FrameHeader,
    sequence: u64,
    offset: u32,
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
        let start = match from {
            Lsn::ZERO if oldest.sequence == 0 => Some((0, self.log.geometry.data_start())),
            _ => self.log.segments.stretch_before(from).filter(|(sequence, _)| *sequence >= oldest.sequence),
        };
        let Some((sequence, offset)) = start else {
            return Err(match oldest.sequence {
                0 => Error::LsnUnknown { lsn: from.0 },
                _ => Error::LsnGone { lsn: from.0, oldest: oldest.first_lsn().0 },
            });
        };
        position.store(sequence, Ordering::Release);
        let mut feed = Feed { sequence, offset, lsn: Lsn::ZERO, is_within: false, position };
        while feed.lsn < from {
            let frame = self.next_frame(&feed, visible)?.ok_or(Error::LsnUnknown { lsn: from.0 })?;
            if frame.header.lsn > from {
                return Err(Error::LsnUnknown { lsn: from.0 });
            }
            feed.pass(&frame);
        }
        // Part of the commit itself may still be ahead.
        while feed.is_within {
            let frame = self.next_frame(&feed, visible)?.ok_or(Error::LsnUnknown { lsn: from.0 })?;
            feed.pass(&frame);
        }
        Ok(feed)
    }

    /// A copy of a feed of another store, which keeps in place here what that keeps there.
    #[cfg(feature = "testing")]
    pub(super) fn fork_feed(&self, feed: &Feed) -> Feed {
        let position = self.feeds.enter();
        position.store(feed.sequence, Ordering::Release);
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
        while let Some(frame) = self.next_frame(&ahead, visible)? {
            if !frame.header.flags.contains(FrameFlags::SYSTEM) {
                self.read_changes(&frame, &mut changes)?;
            }
            ahead.pass(&frame);
            if ahead.is_within {
                continue;
            }
            *feed = ahead.clone();
            feed.position.store(feed.sequence, Ordering::Release);
            if !changes.is_empty() {
                return Ok(Some(Commit { lsn: feed.lsn.0, changes }));
            }
        }
        Ok(None)
    }

    /// The frame behind the one that `feed` has passed; none at the end of the visible log.
    fn next_frame(&self, feed: &Feed, visible: State) -> Result<Option<Frame>> {
        let geometry = self.log.geometry;
        if geometry.address(feed.sequence, feed.offset) >= visible.address {
            return Ok(None);
        }
        let near = geometry.place(feed.offset);
        let aligned = geometry.place(geometry.round_up_sector(feed.offset)).filter(|at| Some(*at) != near);
        let here = [near, aligned].into_iter().flatten().map(|offset| (feed.sequence, offset));
        let places: Vec<_> = here.chain([(feed.sequence + 1, geometry.data_start())]).collect();
        // spec. Where an opening frame goes on from here, what else there is was taken back.
        let mut opening = None;
        for place in &places {
            if geometry.address(place.0, place.1) < visible.address && self.opens(*place, feed)? {
                opening = Some(place);
            }
        }
        for &(sequence, offset) in opening.map_or(&places[..], std::slice::from_ref) {
            if geometry.address(sequence, offset) < visible.address
                && let Some(frame) = self.frame_at(sequence, offset)?
                && (opening.is_some() || feed.goes_on_with(&frame.header))
            {
                return Ok(Some(frame));
            }
        }
        let address = geometry.address(feed.sequence, feed.offset);
        Err(Corruption {
            at: self.log.segments.file_offset(address).unwrap_or(address.0),
            clause: Clause("R-2.1"),
            what: "no frame goes on with the log",
            expected: feed.lsn.0,
            found: 0,
        }
        .into())
    }

    /// Whether an incarnation begins at this place that goes on from where `feed` stands. The opening frame must name that very commit
    /// and address (spec: ): other commits may stand in front of it.
    fn opens(&self, (sequence, offset): (u64, u32), feed: &Feed) -> Result<bool> {
        let begins = self.log.segments.get(sequence).is_some_and(|segment| {
            let stretch = segment.stretch_at(offset);
            stretch.offset == offset
                && stretch.first_lsn.count() == 1
                && stretch.first_lsn.incarnation() > feed.lsn.incarnation()
        });
        if !begins {
            return Ok(false);
        }
        let geometry = self.log.geometry;
        let address = geometry.address(sequence, offset + FRAME_HEADER_LEN as u32);
        let found = self.log.find(address)?;
        let record = self.log.parse(&found, address)?;
        let here = (feed.lsn, geometry.address(feed.sequence, feed.offset));
        Ok(record.kind == Kind::Opening && parse_opening(record.body) == Some(here))
    }

    /// The frame whose valid header stands at this place.
    fn frame_at(&self, sequence: u64, offset: u32) -> Result<Option<Frame>> {
        let geometry = self.log.geometry;
        let Some(segment) = self.log.segments.get(sequence) else { return Ok(None) };
        let bytes = self.log.copy(geometry.address(sequence, offset), FRAME_HEADER_LEN)?;
        let header = parse_header_at(&bytes, offset, &segment.frame_seed, geometry.segment_bytes());
        Ok(header.map(|header| Frame { header, sequence, offset }))
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
        let key = record.key.map(KeyRef::to_key);
        match key {
            Some(key) => {
                let entry = Entry::new(location.address, record.kind == Kind::RelocatedPut);
                self.locate(location.collection, key.as_ref(), entry)
            }
            None => Err(self.wrong_record(location.address, location.collection, &record)),
        }
    }

    /// Appends what the records of `frame` change.
    fn read_changes(&self, frame: &Frame, changes: &mut Vec<Change>) -> Result<()> {
        let mut at = frame.offset + FRAME_HEADER_LEN as u32;
        for _ in 0..frame.header.record_count {
            let address = self.log.geometry.address(frame.sequence, at);
            let found = self.log.find(address)?;
            let record = self.log.parse(&found, address)?;
            changes.extend(change_of(&record, address)?);
            at += record.len as u32;
        }
        Ok(())
    }
}

impl Feed {
    fn pass(&mut self, frame: &Frame) {
        self.sequence = frame.sequence;
        self.offset = round_up_8(frame.offset + FRAME_HEADER_LEN as u32 + frame.header.body_len);
        self.lsn = frame.header.lsn;
        self.is_within = !frame.header.last;
    }

    /// Whether a frame with this header comes next in its incarnation.
    fn goes_on_with(&self, header: &FrameHeader) -> bool {
        match self.lsn {
            // A feed begins at the front of a segment, which may be in the middle of a commit.
            Lsn::ZERO => true,
            lsn if self.is_within => header.lsn == lsn,
            lsn => header.lsn == lsn.next() && header.part == 0,
        }
    }
}

/// What a record says to a feed; none where that is nothing of its own, as with chunks.
fn change_of(record: &Record<'_>, address: LogAddress) -> Result<Option<Change>> {
    let collection = record.collection;
    let replaced = record.replaces.map(|address| Location { collection, address });
    let key = || record.key.map(KeyRef::to_key).expect("a document's record was parsed with its key");
    Ok(match record.kind {
        Kind::Put => {
            Some(Change::Put { collection, key: key(), at: Location { collection, address }, replaced })
        }
        Kind::Delete => Some(Change::Delete { collection, key: key(), replaced }),
        Kind::Catalog => {
            let change = CatalogChange::decode(record.body).map_err(|_| Corruption {
                at: address.0,
                clause: Clause("F-7.1"),
                what: "a catalog record that was replayed cannot be read",
                expected: 0,
                found: 0,
            })?;
            Some(match change {
                CatalogChange::Create { id, name } => Change::Create { collection: id, name },
                CatalogChange::Drop { id } => Change::Drop { collection: id },
                CatalogChange::Clear { id, new } => Change::Clear { collection: id, new },
                CatalogChange::Rename { id, name } => Change::Rename { collection: id, name },
            })
        }
        _ => None,
    })
}
