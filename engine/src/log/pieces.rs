//! How the changes of a commit become records: most are one; a document too long for one record is cut into chunks, and a
//! put that lists them (spec: F-6.7).

use crate::error::{Error, Result};
use crate::format::LogAddress;
use crate::format::body::{encode_chunk, encode_chunk_list};
use crate::format::frame::PARTS_MAX;
use crate::format::record::{
    ENDED_CHUNK_LEN_MAX, Kind, RECORD_HEADER_LEN_MAX, RecordParts, Replaced, encode_ended,
};
use crate::format::varint::VARINT_LEN_MAX;
use crate::index::Entry;
use crate::seeded::{self, Bug};

use super::appender::{Appender, Parts};
use super::batch::{Action, Batch, Change, Chunk, PlacedChunk, Replaces, Touched};

#[cfg(test)]
mod tests;

impl Appender {
    //= spec/format.md#f-5-6-parts
    //# A writer MUST refuse a commit that needs more than 32,768 parts before it places any of them.
    /// Refuses what cannot be stored, before anything is placed: a commit of more parts than there are part numbers (spec: F-5.6),
    /// a chunk list too long for a segment, a key too long for a checkpoint; what is not has room in any segment. Of two neighbouring parts, one is at least half full: so the bound is at
    /// most twice too careful.
    pub(super) fn refuse_what_cannot_fit(&self, batch: &Batch) -> Result<()> {
        let (max, key_len_max) = (self.geometry.record_len_max(), self.geometry.checkpoint_key_len_max());
        let mut bytes = 0;
        for (number, change) in batch.changes.iter().enumerate().filter(|(_, change)| !change.is_moot) {
            if change.key_len() > key_len_max {
                // It could be stored, but in no checkpoint (spec: F-8.11).
                return Err(Error::KeyTooLong { len: change.key_len(), max: key_len_max });
            }
            let bound = record_bound(change) + self.ended_bound(batch, change.replaces, number);
            bytes += if bound <= max && moving(change).is_none() {
                bound
            } else {
                self.bound_of_chunks(batch, number)?
            };
        }
        if bytes / max * 2 + 2 > PARTS_MAX && !seeded::is_on(Bug::PartsUncounted) {
            return Err(Error::LimitReached { what: Error::PARTS_OF_A_COMMIT });
        }
        Ok(())
    }

    /// How long the chunks of change `number` and their list may become, wherever they are placed.
    fn bound_of_chunks(&self, batch: &Batch, number: usize) -> Result<usize> {
        let (record_len_max, change) = (self.geometry.record_len_max(), &batch.changes[number]);
        let (listed, chunks) = match moving(change) {
            Some((_, chunks)) => {
                let moves = chunks.iter().filter_map(|chunk| match chunk {
                    Chunk::Moves(_, len) => Some(chunk_overhead(change) + len),
                    Chunk::Stays(_) => None,
                });
                (chunks.len(), moves.sum::<usize>())
            }
            None => {
                let count = change.body_len().div_ceil(self.chunk_len(change));
                (count, count * record_len_max)
            }
        };
        let most = self.chunks_max(change);
        if listed > most && !seeded::is_on(Bug::ListOfAnyLength) {
            let max = most * self.chunk_len(change);
            return Err(Error::DocumentTooLarge { len: change.body_len(), max });
        }
        Ok(chunks + list_bound(change, listed) + self.ended_bound(batch, change.replaces, number))
    }

    //= spec/format.md#f-6-7-chunk-list
    //# A writer MUST refuse a document whose list of addresses would take more than half of the longest
    //# record's room for it.
    /// How many chunks the document of a change may have.
    fn chunks_max(&self, change: &Change) -> usize {
        let room = self.geometry.record_len_max() - list_bound(change, 0) - VARINT_LEN_MAX;
        room / (size_of::<LogAddress>() + ENDED_CHUNK_LEN_MAX)
    }

    /// How long the list may become of the chunks that die with what change `number` replaces.
    #[inline]
    fn ended_bound(&self, batch: &Batch, replaces: Replaces, number: usize) -> usize {
        let chunks = match replaces {
            Replaces::Version(entry, _) if entry.is_chunked() => batch.superseded_chunks(number).count(),
            Replaces::Nothing | Replaces::Version(..) => return 0,
            // Whether it will be of chunks is not known yet.
            Replaces::Change(earlier) => {
                let earlier = &batch.changes[earlier];
                earlier.body_len().div_ceil(self.chunk_len(earlier))
            }
        };
        VARINT_LEN_MAX + chunks * ENDED_CHUNK_LEN_MAX
    }

    /// The bytes of the document that one chunk of a change holds: as many as fill a segment.
    fn chunk_len(&self, change: &Change) -> usize {
        self.geometry.record_len_max() - chunk_overhead(change)
    }

    /// Places change `number` of `batch`: a record, or chunks and the record that lists them.
    #[inline]
    pub(super) fn place_change(&mut self, parts: &mut Parts, batch: &mut Batch, number: usize) -> Result<()> {
        let change = &batch.changes[number];
        let replaced = batch.replaced(change).map(|(entry, _)| entry);
        let ended = match replaced {
            Some(entry) if entry.is_chunked() => self.ended_chunks(batch, number),
            _ => Vec::new(),
        };
        let replaces = replaced.and_then(|entry| named(entry, &ended));
        let bound = record_bound(change) + ended.len();
        let placed = if bound <= self.geometry.record_len_max() && moving(change).is_none() {
            let bytes = [batch.key_and_body(change)];
            self.place_record(parts, &mut record_of(batch, number, replaces), &bytes, bound)?
        } else {
            let placed = self.place_chunks(parts, batch, number, replaces)?;
            batch.changes[number].is_chunked = true;
            placed
        };
        let change = &mut batch.changes[number];
        (change.address, change.len) = placed;
        batch.note_placed(placed.1);
        Ok(())
    }

    //= spec/format.md#f-6-6-replaced-version
    //# A writer MUST list all chunks of a version that a put or a delete replaces; of one that a relocated put
    //# replaces, those that were moved with it.
    /// The list of the chunks that die with what change `number` replaces.
    fn ended_chunks(&self, batch: &Batch, number: usize) -> Vec<u8> {
        let sequence = |at| self.geometry.split(at).0;
        let left_out = usize::from(seeded::is_on(Bug::EndedChunkLeftOut));
        encode_ended(batch.superseded_chunks(number).map(sequence).skip(left_out).collect())
    }

    /// Places the chunks of change `number`, then the record that lists them: of a version that moves, the chunks that move with it.
    fn place_chunks(
        &mut self,
        parts: &mut Parts,
        batch: &mut Batch,
        number: usize,
        replaces: Option<Replaced<'_>>,
    ) -> Result<(LogAddress, u32)> {
        let change = &batch.changes[number];
        let (key, body) = (batch.key_bytes(change), batch.body(change));
        let max = self.geometry.record_len_max();
        let first = batch.chunks.len();
        let mut listed = Vec::new();
        let mut placed = Vec::new();
        // What is made for the record alone: in front of a chunk its number, or a list. The document's bytes are copied to their place only.
        let mut made = Vec::new();
        let mut place_chunk = |log: &mut Self, index: usize, part: &[u8], bound: usize| {
            made.clear();
            encode_chunk(index as u64, &[], &mut made);
            let record = record_of(batch, number, None);
            let mut chunk = RecordParts { kind: Kind::Chunk, own_lsn: None, expiry: None, ..record };
            let (address, len) = log.place_record(parts, &mut chunk, &[key, &made, part], bound)?;
            placed.push(PlacedChunk { change: number, address, len });
            Ok::<_, Error>(address)
        };
        let document_len = match moving(change) {
            Some((document_len, chunks)) => {
                let mut rest = body;
                for (index, chunk) in chunks.iter().enumerate() {
                    listed.push(match *chunk {
                        Chunk::Stays(address) => address,
                        Chunk::Moves(_, len) => {
                            let (part, behind) = rest.split_at(len);
                            rest = behind;
                            place_chunk(self, index, part, chunk_overhead(change) + len)?
                        }
                    });
                }
                *document_len
            }
            None => {
                for (index, part) in body.chunks(self.chunk_len(change)).enumerate() {
                    listed.push(place_chunk(self, index, part, max)?);
                }
                body.len() as u64
            }
        };
        made.clear();
        encode_chunk_list(document_len, &listed, &mut made);
        let mut list = RecordParts { chunked: true, ..record_of(batch, number, replaces) };
        let bound = list_bound(change, listed.len()) + replaces.map_or(0, |replaced| replaced.ended.len());
        let list = self.place_record(parts, &mut list, &[key, &made], bound)?;
        assert_eq!(batch.chunks.len(), first, "they are noted once all of them are placed");
        placed.iter().for_each(|chunk| batch.note_placed(chunk.len));
        batch.chunks.append(&mut placed);
        Ok(list)
    }
}

/// How long the record of a change may become, wherever it is placed, if it is one record.
#[inline]
fn record_bound(change: &Change) -> usize {
    RECORD_HEADER_LEN_MAX + change.key_len() + change.body_len()
}

/// The most that a chunk of a change takes beside its bytes of the document: it has a number.
fn chunk_overhead(change: &Change) -> usize {
    RECORD_HEADER_LEN_MAX + change.key_len() + VARINT_LEN_MAX
}

/// The most that the list of so many chunks takes: it has the length of the document, and their number.
fn list_bound(change: &Change, chunks: usize) -> usize {
    chunk_overhead(change) + VARINT_LEN_MAX + chunks * size_of::<LogAddress>()
}

/// The record of change `number`, as if it were one, without key and body, of a commit that is still to be named.
#[inline(always)]
fn record_of<'a>(batch: &Batch, number: usize, replaces: Option<Replaced<'a>>) -> RecordParts<'a> {
    let change = &batch.changes[number];
    let kind = match change.action {
        Action::Put => Kind::Put,
        Action::Delete => Kind::Delete,
        Action::Catalog(..) => Kind::Catalog,
        Action::Relocate(_) => Kind::RelocatedPut,
        Action::Free(_) => Kind::SegmentFreed,
    };
    let Some(Touched { documents, .. }) = batch.touched(change) else { return RecordParts::nameless(kind) };
    let record = RecordParts { collection: documents.id, replaces, ..RecordParts::nameless(kind) };
    match &change.action {
        Action::Relocate(relocation) => {
            RecordParts { own_lsn: Some(relocation.lsn), expiry: relocation.expiry, ..record }
        }
        _ => record,
    }
}

//= spec/format.md#f-6-6-replaced-version
//# A put, delete or relocated put MUST name the version that its key has before it, if there is one, and none
//# if there is none.
/// The version at `entry` as the record that replaces it names it, with the list of the chunks that die with it.
#[inline]
fn named(entry: Entry, ended: &[u8]) -> Option<Replaced<'_>> {
    if seeded::is_on(Bug::ReplacedLeftOut) && !entry.is_relocated() && ended.is_empty() {
        return None;
    }
    let wrong = u64::from(seeded::is_on(Bug::ReplacedBitWrong));
    Some(Replaced { value: entry.value() ^ wrong, ended })
}

/// Length and chunks of the document of a change, if that is a move of one that is made of chunks.
#[inline]
fn moving(change: &Change) -> Option<&(u64, Vec<Chunk>)> {
    match &change.action {
        Action::Relocate(relocation) => relocation.chunks.as_ref(),
        _ => None,
    }
}
