//! Cleaning: the live records of a segment move to the end of the log, and a record says that the segment is free (spec: P-3).
//!
//! The victim's bytes never change, so they are read and verified without the writer; what of them is live is decided, and moved, in
//! one step under the writer.

use std::collections::BTreeSet;

use crate::cache::Segment;
use crate::document::{Key, KeyRef};
use crate::error::{Error, Result};
use crate::format::body::parse_chunk;
use crate::format::record::{Kind, Record};
use crate::format::{LogAddress, Lsn};
use crate::index::{Birth, Documents, Entry, PrimaryIndex};
use crate::log::{Chunk, Log, Relocation, Replaces, SegmentWalk};
use crate::options::Durability;
use crate::seeded::{self, Bug};
use crate::sync::race::{self, Race};
use crate::sync::{Arc, MutexGuard, give_way, read};
use crate::txn::AT_ONCE;

use super::super::Core;
use super::super::shared::Shared;
use super::super::space_budget::Share;
use super::super::writer::Writer;

#[cfg(test)]
mod tests;

/// What came of cleaning a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cleaned {
    /// It is free, as far as the log is concerned.
    Freed,
    /// It holds something that cannot be read and so cannot be moved.
    Unreadable,
    /// A transaction has the turn to write.
    Busy,
}

/// A record of the victim that may be live.
#[derive(Debug)]
pub(super) struct Candidate {
    collection: u32,
    key: Key,
    address: LogAddress,
    what: What,
}

impl Candidate {
    /// A document in one record, which was put by the commit `lsn`.
    pub(super) fn of_document(lsn: Lsn, address: LogAddress, key: KeyRef<'_>, record: &Record<'_>) -> Self {
        let what = What::Document { lsn, expiry: record.expiry, body: record.body.to_vec() };
        Candidate { collection: record.collection, key: key.to_key(), address, what }
    }

    /// The length of the document, of one in one record.
    pub(super) fn len(&self) -> usize {
        match &self.what {
            What::Document { body, .. } => body.len(),
            What::OfChunks => 0,
        }
    }
}

#[derive(Debug)]
enum What {
    /// A document, in one record.
    Document { lsn: Lsn, expiry: Option<i64>, body: Vec<u8> },
    /// The list of a document's chunks, or one of them.
    OfChunks,
}

/// Bytes of documents that are moved at a time: so nobody waits long for the writer.
pub(super) const BYTES_AT_ONCE: usize = 64 << 10;
/// Records that are looked at, and moved, in one commit: short ones come to few bytes, and nobody is to wait long for them either.
const RECORDS_AT_ONCE: usize = 32;

const _: () = assert!(RECORDS_AT_ONCE <= AT_ONCE, "they are seen all at once");

impl Core {
    //= spec/space.md#p-3-6-freed
    //# A writer MUST NOT free a segment before it has looked at every record in it that recovery would
    //# replay, up to the end of its last frame.
    /// Cleans the log segment `sequence`, which is sealed and written out.
    pub(crate) fn clean(&self, sequence: u64) -> Result<Cleaned> {
        let Some((segment, end)) = self.victim(sequence)? else { return Ok(Cleaned::Freed) };
        let mut walk = match self.shared.read_segment(&segment, end) {
            Ok(walk) => walk,
            Err(error) => return self.leave_alone(sequence, error),
        };
        loop {
            let (slice, is_last) = match self.next_slice(&mut walk) {
                Ok(slice) => slice,
                Err(error) => return self.leave_alone(sequence, error),
            };
            for (records, is_last) in parts(&slice, is_last) {
                let freed = is_last.then_some(&*segment);
                let Some(mut writer) = self.writer_between_turns()? else { return Ok(Cleaned::Busy) };
                if let Err(error) = writer.relocate(records, freed, Share::Reserve) {
                    drop(writer);
                    return self.leave_alone(sequence, error);
                }
            }
            if is_last {
                return Ok(Cleaned::Freed);
            }
        }
    }

    /// The segment, and where its last frame ended; none where it is gone, or freed.
    fn victim(&self, sequence: u64) -> Result<Option<(Arc<Segment>, u32)>> {
        let writer = self.writer()?;
        let account = writer.accounts.get(sequence).filter(|account| !account.is_freed());
        Ok(account.and_then(|account| Some((self.shared.log.segments.get(sequence)?, account.end))))
    }

    //= spec/space.md#p-3-7-unreadable-victims
    //# A segment with a frame or a live record that does not verify, or that the disk refuses to read, MUST
    //# be left as it is, and reported; cleaning goes on with others.
    /// What cannot be read is not moved, and stays where it is for `verify` and `salvage` to tell of.
    fn leave_alone(&self, sequence: u64, error: Error) -> Result<Cleaned> {
        let mut writer = self.writer()?;
        let work = &mut writer.work;
        match error {
            Error::Corrupt(_) | Error::NewerFormat { .. } => work.unreadable.insert(sequence),
            // A write or a sync that failed would have stopped the store.
            Error::Io { .. } if !self.shared.log.storage.is_poisoned() => work.refused.insert(sequence),
            _ => return Err(error),
        };
        Ok(Cleaned::Unreadable)
    }

    //= spec/space.md#p-3-3-one-step
    //# Whether a record is live, and the placing of its relocation, MUST be one step in which nobody else
    //# places a commit, and in which nothing is pending.
    //= spec/space.md#p-3-8-bounded-steps
    //# A writer MUST let waiting writers in between two steps.
    /// The writer; none where a transaction has the turn: it has looked at where things stand, and they do not move then.
    pub(in crate::core) fn writer_between_turns(&self) -> Result<Option<MutexGuard<'_, Writer>>> {
        // Who sleeps for the writer has it while the next records are read, if they have a processor.
        give_way();
        let writer = self.writer()?;
        Ok((!writer.turn.is_held).then_some(writer))
    }

    //= spec/space.md#p-3-7-unreadable-victims
    //# A record MUST be verified before it is moved.
    /// The candidates of some more frames, and whether these were the last.
    fn next_slice(&self, walk: &mut SegmentWalk) -> Result<(Vec<Candidate>, bool)> {
        let (mut slice, mut bytes) = (Vec::new(), 0);
        while let Some(frame) = walk.next()? {
            for record in walk.records(&frame) {
                let (address, record) = record?;
                let candidate = candidate(&self.shared.log, walk.segment(), address, &record);
                let wanted = |candidate: &Candidate| {
                    !race::is_on(Race::LivenessAskedEarly) || self.shared.stands_where_it_did(candidate)
                };
                slice.extend(candidate.filter(wanted).inspect(|_| bytes += record.len));
            }
            if bytes >= BYTES_AT_ONCE || slice.len() >= RECORDS_AT_ONCE {
                return Ok((slice, false));
            }
        }
        Ok((slice, true))
    }
}

impl Shared {
    /// The whole segment from the file: past the cache, which is for what readers want.
    pub(in crate::core) fn read_segment(&self, segment: &Arc<Segment>, end: u32) -> Result<SegmentWalk> {
        let geometry = self.log.geometry;
        let bytes = self.log.storage.read_up_to(geometry.segment_offset(segment.physical), end as usize)?;
        Ok(SegmentWalk::new(geometry, Arc::clone(segment), bytes, end))
    }

    /// Whether the newest version of its key is this very record.
    fn stands_where_it_did(&self, candidate: &Candidate) -> bool {
        let naming = read(&self.catalog).by_id(candidate.collection).cloned();
        let entry = naming.and_then(|naming| naming.documents.index.get(candidate.key.as_ref()));
        entry.is_some_and(|entry| entry.address() == candidate.address)
    }
}

impl Writer {
    //= spec/space.md#p-3-3-one-step
    //# Whether a record is live, and the placing of its relocation, MUST be one step in which nobody else
    //# places a commit, and in which nothing is pending.
    //= spec/space.md#p-9-1-nothing
    //# Checkpoint, cleaning, reuse, shrinking, compaction and backup MUST NOT change what any read answers,
    //# nor what version a document has (S-7.5).
    //= spec/semantics.md#s-7-5-maintenance
    //# Verifying, writing a checkpoint and cleaning MUST NOT change the state.
    /// Moves what is live of `records`, in one commit; which says, too, that `freed` is free.
    pub(super) fn relocate(
        &mut self,
        records: &[Candidate],
        freed: Option<&Segment>,
        share: Share,
    ) -> Result<()> {
        if self.shared.visibility.has_pending() {
            // A version that a pending commit supersedes may come back: so nothing is pending when it is asked what is live.
            self.sync()?;
        }
        self.begin()?;
        let mut moved = BTreeSet::new();
        for candidate in records {
            self.relocate_if_live(candidate, &mut moved)?;
        }
        if let Some(segment) = freed {
            self.txn.batch.push_free(segment.sequence, segment.physical);
        }
        if self.txn.batch.is_empty() {
            return Ok(());
        }
        (self.txn.batch.is_system, self.txn.batch.leaves_reserve) = (true, share != Share::Reserve);
        self.commit(Durability::Buffered)?;
        self.work.relocated_bytes += self.txn.batch.placed_bytes;
        Ok(())
    }

    //= spec/space.md#p-1-5-accounts
    //# A writer MUST NOT rest anything else on them: what is live is decided by P-3.3.
    fn relocate_if_live(&mut self, candidate: &Candidate, moved: &mut BTreeSet<(u32, Key)>) -> Result<()> {
        let naming = read(&self.shared.catalog).by_id(candidate.collection).cloned();
        let Some(documents) = naming.map(|naming| Arc::clone(&naming.documents)) else { return Ok(()) };
        let key = candidate.key.as_ref();
        let ready = self.shared.ready(&documents, key)?;
        let Some(entry) = ready.entry(&documents, key) else { return Ok(()) };
        match &candidate.what {
            What::Document { lsn, expiry, body }
                if entry.address() == candidate.address || race::is_on(Race::LivenessAskedEarly) =>
            {
                let lsn = if seeded::is_on(Bug::RelocationTakesNewLsn) { self.end().next() } else { *lsn };
                let relocation = Relocation { lsn, expiry: *expiry, chunks: None };
                let replaces = Replaces::Version(entry, Birth::At(entry.address()));
                self.txn.batch.push_relocation(&documents, key, replaces, relocation, body);
                Ok(())
            }
            What::OfChunks
                if entry.is_chunked() && !moved.contains(&(documents.id, candidate.key.clone())) =>
            {
                if self.relocate_chunks(&documents, key, entry, candidate.address)? {
                    moved.insert((documents.id, candidate.key.clone()));
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Moves the put of a document of chunks, and those of its chunks that stand in the same segment as `address`, if anything of it does.
    fn relocate_chunks(
        &mut self,
        documents: &Arc<Documents>,
        key: KeyRef<'_>,
        entry: Entry,
        address: LogAddress,
    ) -> Result<bool> {
        let victim = self.shared.log.geometry.split(address).0;
        let is_in_victim = |at: LogAddress| self.shared.log.geometry.split(at).0 == victim;
        let found = self.shared.log.find(entry.address())?;
        let put = self.shared.log.parse(&found, entry.address())?;
        let list = self.shared.chunk_list(entry.address(), documents.id, &put)?;
        if !is_in_victim(entry.address()) && !list.addresses().any(is_in_victim) {
            return Ok(false);
        }
        let (mut chunks, mut bytes) = (Vec::with_capacity(list.count()), Vec::new());
        for at in list.addresses() {
            if !is_in_victim(at) || seeded::is_on(Bug::ChunksLeftBehind) {
                chunks.push(Chunk::Stays(at));
                continue;
            }
            let found = self.shared.log.find(at)?;
            let chunk = self.shared.log.parse(&found, at)?;
            let body = parse_chunk(chunk.body).filter(|_| chunk.kind == Kind::Chunk);
            let (_, part) = body.ok_or_else(|| self.shared.wrong_record(at, documents.id, &chunk))?;
            chunks.push(Chunk::Moves(at, part.len()));
            bytes.extend_from_slice(part);
        }
        let lsn = self.shared.log.lsn(&found, &put, entry.address());
        let chunks = Some((list.document_len(), chunks));
        let relocation = Relocation { lsn, expiry: put.expiry, chunks };
        let replaces = Replaces::Version(entry, Birth::At(entry.address()));
        self.txn.batch.push_relocation(documents, key, replaces, relocation, &bytes);
        Ok(true)
    }
}

/// What is moved in one commit each, one at least, and whether it is the last of all.
pub(super) fn parts<T>(slice: &[T], is_last: bool) -> impl Iterator<Item = (&[T], bool)> {
    let mut rest = Some(slice);
    std::iter::from_fn(move || {
        let (part, behind) = rest?.split_at(rest?.len().min(RECORDS_AT_ONCE));
        rest = (!behind.is_empty()).then_some(behind);
        Some((part, is_last && behind.is_empty()))
    })
}

//= spec/space.md#p-3-4-what-is-never-moved
//# Deletes and catalog records MUST NOT be moved, nor any dead record.
/// What of a record the cleaner must ask the index about: deletes and changes of the catalog stay where they are, and go with their segment
/// once every checkpoint has them in it (spec: P-3.4).
fn candidate(log: &Log, segment: &Segment, address: LogAddress, record: &Record<'_>) -> Option<Candidate> {
    let key = || record.key.expect("a document's record was parsed with its key");
    match record.kind {
        Kind::Put | Kind::RelocatedPut if !record.chunked => {
            let lsn = log.lsn_in(segment, record, address);
            Some(Candidate::of_document(lsn, address, key(), record))
        }
        Kind::Put | Kind::RelocatedPut | Kind::Chunk => {
            let (collection, key) = (record.collection, key().to_key());
            Some(Candidate { collection, key, address, what: What::OfChunks })
        }
        _ => None,
    }
}
