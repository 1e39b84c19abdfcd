//! How the changes of a commit become records: most are one; a document too long for one record is cut into chunks, and a
//! put that lists them (spec: F-6.7).

use crate::error::{Error, Result};
use crate::format::LogAddress;
use crate::format::body::{encode_chunk, encode_chunk_list};
use crate::format::frame::PARTS_MAX;
use crate::format::record::{Kind, RECORD_HEADER_LEN_MAX, RecordParts};
use crate::format::varint::VARINT_LEN_MAX;

use super::batch::PlacedChunk;
use super::piece::{Piece, nameless};
use super::{Action, Appender, Batch, Chunk};

#[cfg(test)]
mod tests;

impl Appender {
    //= spec/format.md#f-5-6-parts
    //# A writer MUST refuse a commit that needs more than 32,768 parts before it places any of them.
    /// Refuses what cannot be stored, before anything is placed: a commit of more parts than there are part numbers (spec: F-5.6),
    /// a chunk list too long for a segment, a key too long for a checkpoint; what is not has room in any segment. Of two neighbouring parts, one is at least half full: so the bound is at
    /// most twice too careful.
    pub(super) fn refuse_what_cannot_fit(&self, batch: &Batch) -> Result<()> {
        let max = self.geometry.record_len_max();
        let mut bytes = 0;
        let mut piece = Piece::first(batch);
        while let Some(next) = piece {
            let change = &batch.changes[next.change];
            let key_len_max = self.geometry.checkpoint_key_len_max();
            if change.key_len() > key_len_max {
                // It could be stored, but in no page of a checkpoint (spec: F-8.3).
                return Err(Error::KeyTooLong { len: change.key_len(), max: key_len_max });
            }
            let bound = self.piece_bound(batch, next);
            if bound > max {
                let chunks = (max - Self::list_overhead(batch, next.change)) / size_of::<LogAddress>();
                return Err(Error::DocumentTooLarge {
                    len: change.body_len(),
                    max: chunks * self.chunk_len(batch, next.change),
                });
            }
            bytes += bound;
            piece = self.piece_behind(batch, next);
        }
        if bytes / max * 2 + 2 > PARTS_MAX {
            return Err(Error::LimitReached { what: Error::PARTS_OF_A_COMMIT });
        }
        Ok(())
    }

    /// How long the record of change `index` may become, wherever it is placed, if it is one record.
    fn record_bound(batch: &Batch, index: usize) -> usize {
        let change = &batch.changes[index];
        RECORD_HEADER_LEN_MAX + change.key_len() + change.body_len()
    }

    /// How many chunks are placed for change `index`: as many as its document is cut into, none where one record holds it; of a version
    /// that moves, those that move with it.
    fn chunk_count(&self, batch: &Batch, index: usize) -> usize {
        if let Some((_, chunks)) = moving(batch, index) {
            return chunks.iter().filter(|chunk| matches!(chunk, Chunk::Moves(..))).count();
        }
        if Self::record_bound(batch, index) <= self.geometry.record_len_max() {
            return 0;
        }
        batch.changes[index].body_len().div_ceil(self.chunk_len(batch, index))
    }

    /// The bytes of the document that one chunk of change `index` holds: as many as fill a segment.
    fn chunk_len(&self, batch: &Batch, index: usize) -> usize {
        self.geometry.record_len_max() - Self::chunk_overhead(batch, index)
    }

    /// The most that a chunk of change `index` takes beside its bytes of the document: it has a number.
    fn chunk_overhead(batch: &Batch, index: usize) -> usize {
        RECORD_HEADER_LEN_MAX + batch.changes[index].key_len() + VARINT_LEN_MAX
    }

    /// The most that the list of the chunks takes beside their addresses: it has the length of the document, and their number.
    fn list_overhead(batch: &Batch, index: usize) -> usize {
        Self::chunk_overhead(batch, index) + VARINT_LEN_MAX
    }

    /// How long the record of `piece` may become, wherever it is placed.
    pub(super) fn piece_bound(&self, batch: &Batch, piece: Piece) -> usize {
        let chunks = self.chunk_count(batch, piece.change);
        let moving = moving(batch, piece.change);
        if chunks == 0 && moving.is_none() {
            Self::record_bound(batch, piece.change)
        } else if piece.chunk < chunks && moving.is_some() {
            Self::chunk_overhead(batch, piece.change) + self.chunk(batch, piece).1.len()
        } else if piece.chunk < chunks {
            self.geometry.record_len_max()
        } else {
            let listed = moving.map_or(chunks, |(_, all)| all.len());
            Self::list_overhead(batch, piece.change) + listed * size_of::<LogAddress>()
        }
    }

    /// What is placed behind `piece`: a document's chunks, then the put that lists them, then the next change.
    pub(super) fn piece_behind(&self, batch: &Batch, piece: Piece) -> Option<Piece> {
        if piece.chunk < self.chunk_count(batch, piece.change) {
            return Some(Piece { chunk: piece.chunk + 1, ..piece });
        }
        Piece::from(batch, piece.change + 1)
    }

    fn parts_of<'a>(&self, batch: &'a Batch, index: usize, commit: u32) -> RecordParts<'a> {
        let change = &batch.changes[index];
        let kind = match change.action {
            Action::Put => Kind::Put,
            Action::Delete => Kind::Delete,
            Action::Catalog(..) => Kind::Catalog,
            Action::Relocate(_) => Kind::RelocatedPut,
            Action::Free(_) => Kind::SegmentFreed,
        };
        if let Action::Relocate(relocation) = &change.action {
            return RecordParts {
                collection: batch.documents(change).map_or(0, |documents| documents.id),
                commit,
                moved: Some((relocation.lsn, relocation.from)),
                expiry: relocation.expiry,
                key: batch.key(change),
                body: batch.body(change),
                ..nameless(kind)
            };
        }
        RecordParts {
            collection: batch.documents(change).map_or(0, |documents| documents.id),
            commit,
            replaces: batch.replaced(change).map(|(entry, _)| entry.address()),
            key: batch.documents(change).and_then(|_| batch.key(change)),
            body: batch.body(change),
            ..nameless(kind)
        }
    }

    /// Encodes `piece` behind what the open frame holds already. False where it does not fit any more.
    pub(super) fn place_piece(&mut self, batch: &mut Batch, piece: Piece) -> bool {
        let chunks = self.chunk_count(batch, piece.change);
        let is_list = chunks > 0 || moving(batch, piece.change).is_some();
        // What is made for the record alone: in front of a chunk its number, or a list. The document's bytes are copied to their place only.
        let mut made = Vec::new();
        let stretch = self.end.segment.last_stretch();
        let commit = self.end.lsn.next().count() - stretch.first_lsn.count();
        let mut parts = self.parts_of(batch, piece.change, commit);
        let mut front: &[u8] = &[];
        if piece.chunk < chunks {
            let (number, body) = self.chunk(batch, piece);
            encode_chunk(number, &[], &mut made);
            front = &made;
            parts =
                RecordParts { kind: Kind::Chunk, moved: None, expiry: None, replaces: None, body, ..parts };
        } else if is_list {
            self.encode_list(batch, piece.change, &mut made);
            parts = RecordParts { chunked: true, body: &made, ..parts };
        }
        let extent = self.pending.last_mut().expect("a frame was begun");
        let at = extent.offset + extent.bytes.len() as u32;
        if u64::from(at) + parts.encoded_len_behind(front) as u64 > u64::from(self.geometry.segment_bytes()) {
            return false;
        }
        self.crcs.push(parts.encode_behind(front, stretch.seed.at(at), &mut extent.bytes));
        let address = self.geometry.address(self.end.segment.sequence, at);
        let len = extent.offset + extent.bytes.len() as u32 - at;
        if piece.chunk < chunks {
            self.chunks.truncate(piece.chunk);
            self.chunks.push(address);
            batch.chunks.push(PlacedChunk { change: piece.change, address, len });
        } else {
            let change = &mut batch.changes[piece.change];
            (change.address, change.len) = (address, len);
        }
        true
    }

    /// Number and bytes of the chunk that `piece` places.
    fn chunk<'a>(&self, batch: &'a Batch, piece: Piece) -> (u64, &'a [u8]) {
        let body = batch.body(&batch.changes[piece.change]);
        let Some((_, chunks)) = moving(batch, piece.change) else {
            let mut pieces = body.chunks(self.chunk_len(batch, piece.change));
            return (piece.chunk as u64, pieces.nth(piece.chunk).expect("as many chunks as were counted"));
        };
        let mut start = 0;
        let moves = chunks.iter().enumerate().filter_map(|(number, chunk)| match chunk {
            Chunk::Moves(_, len) => {
                start += len;
                Some((number as u64, &body[start - len..start]))
            }
            Chunk::Stays(_) => None,
        });
        moves.into_iter().nth(piece.chunk).expect("as many chunks as were counted")
    }

    /// The list of the chunks of change `index`, of which those that were just placed stand in `self.chunks`.
    fn encode_list(&self, batch: &Batch, index: usize, out: &mut Vec<u8>) {
        let Some((document_len, chunks)) = moving(batch, index) else {
            return encode_chunk_list(batch.body(&batch.changes[index]).len() as u64, &self.chunks, out);
        };
        let mut placed = self.chunks.iter().copied();
        let addresses: Vec<_> = chunks
            .iter()
            .map(|chunk| match chunk {
                Chunk::Stays(address) => *address,
                Chunk::Moves(..) => placed.next().expect("what moves was placed before its list"),
            })
            .collect();
        encode_chunk_list(*document_len, &addresses, out);
    }
}

/// Length and chunks of the document of change `index`, if that is a move of one that is made of chunks.
fn moving(batch: &Batch, index: usize) -> Option<&(u64, Vec<Chunk>)> {
    match &batch.changes[index].action {
        Action::Relocate(relocation) => relocation.chunks.as_ref(),
        _ => None,
    }
}
