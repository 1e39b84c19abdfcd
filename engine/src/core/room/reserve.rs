//! How much of the file ordinary commits leave: what the next checkpoints and what cleaning moves will need.

use crate::format::varint;
use crate::index::Catalog;
use crate::sync::read;

use super::super::writer::Writer;

/// A store in its first segment keeps this much of it at least; a small one at rest keeps a whole segment where it has less left.
pub(super) const SMALL_RESERVE: u64 = 16 << 10;
/// This share of the log is left for what is moved.
const RELOCATION_SHARE: u64 = 32;

/// What an index record has beside its entries, in it and in the directory, and what is left over at its end.
const RECORD_OVERHEAD: u64 = 64;
/// What a log segment takes in the table, and a collection in the catalog.
const TABLE_ENTRY_BYTES: u64 = 64;
const CATALOG_ENTRY_BYTES: u64 = 128;

impl Writer {
    //= spec/space.md#p-5-1-what-is-kept
    //# A writer MUST NOT place a commit that puts a document before the file is long enough for the reserve
    //# that is wanted behind that commit.
    /// How long the file must be for an ordinary commit that ends where the log ends now.
    pub(super) fn len_with_reserve(&mut self) -> u64 {
        let geometry = self.shared.log.geometry;
        let end = self.appender.end();
        let first_end = geometry.segment_end(0);
        if end.segment.physical == 0 && self.file_len < first_end {
            // No delete takes more than the put that it undoes.
            let reserve = SMALL_RESERVE.max(u64::from(end.offset));
            let len = geometry.segment_offset(0) + u64::from(end.offset) + reserve;
            if len <= first_end {
                return len;
            }
        }
        if self.budget.is_stale || self.budget.len == 0 || self.budget.sequence != end.segment.sequence {
            self.refresh_room();
        }
        self.budget.len
    }

    /// Segments that ordinary commits leave for what is moved: each segment that is cleaned gives back less than it takes until the next
    /// checkpoints are there.
    pub(super) fn relocation_segments(&self) -> u32 {
        let share = u32::try_from(self.accounts.count() / RELOCATION_SHARE).unwrap_or(u32::MAX / 4);
        share.max(1)
    }

    /// The least length of the file that holds the reserved successors of the log, one to relocate into and one for deletes, and
    /// room for a whole checkpoint (spec: P-5.1).
    pub(in crate::core) fn reserve_end(&self) -> u64 {
        let end = self.appender.end();
        let reserved = end.reserved.iter().flatten();
        let last = reserved.copied().chain([end.segment.physical]).max().unwrap_or(0);
        self.len_with_free(last.saturating_add(1), self.reserved_free_segments())
    }

    /// The least length of the file, of `len` segments at least, within which so many are free.
    fn len_with_free(&self, len: u32, wanted: u32) -> u64 {
        let len = self.appender.free.len_with(len, wanted);
        self.shared.log.geometry.segment_end(len.saturating_sub(1))
    }

    //= spec/space.md#p-5-1-what-is-kept
    //# A writer MUST NOT open a segment for a system commit (F-5.8) before the file has room for the segments
    //# that are kept for checkpoints, unless it cannot grow so far.
    /// The length of the file with room for the next checkpoint: without that nothing that is freed would ever be given back.
    pub(super) fn len_with_checkpoint(&self) -> u64 {
        self.len_with_free(1, self.checkpoint_segments())
    }

    /// How many free segments the reserve takes.
    pub(in crate::core) fn reserved_free_segments(&self) -> u32 {
        // A successor that could not be reserved is wanted all the same.
        let missing =
            self.appender.end().reserved.iter().filter(|reserved| reserved.is_none()).count() as u32;
        self.checkpoint_segments() + missing + self.relocation_segments()
    }

    //= spec/space.md#p-5-1-what-is-kept
    //# A writer that reserves a successor (F-4.3) beyond the end of the file MUST let the file grow up to it
    //# before the frame that opens the segment is handed over, or, where the disk has no room, reserve none.
    /// The length of the file up to the last place that the log has reserved, as long as it does not lie in the segment it began with: a new
    /// store has neither of them.
    pub(super) fn end_of_reserved(&self) -> u64 {
        let end = self.appender.end();
        let last = end.reserved.iter().flatten().max().filter(|_| end.segment.sequence > 0);
        last.map_or(0, |last| self.shared.log.geometry.segment_end(*last))
    }

    /// How many bytes the log can take before a step of maintenance must free some.
    pub(in crate::core) fn log_room(&self) -> u64 {
        if self.may_grow() {
            return u64::MAX;
        }
        let geometry = self.shared.log.geometry;
        let len = geometry.segments_within(self.file_len);
        let end = self.appender.end();
        let reserved = end.reserved.iter().flatten().take_while(|index| **index < len).count() as u64;
        let spare = self.appender.free.within(len).saturating_sub(self.checkpoint_segments());
        let spare = if end.reserved[0].is_none() || reserved > 0 { u64::from(spare) } else { 0 };
        let segment_bytes = u64::from(geometry.segment_bytes() - geometry.data_start());
        u64::from(geometry.segment_bytes() - end.offset) + (reserved + spare) * segment_bytes
    }

    /// How many free segments the next checkpoints need before they give anything back: one does that when two are named already, and two
    /// until then (spec: P-4.1). Of what those two share, the next one gives nothing back.
    pub(in crate::core) fn checkpoint_segments(&self) -> u32 {
        let next = self.next_checkpoint_segments();
        let named = self.superblock.checkpoints.iter().flatten().count();
        next.saturating_add(if named < 2 { next } else { self.checkpoints.shared_segments().min(next) })
    }

    /// How many segments the next checkpoint takes at most.
    fn next_checkpoint_segments(&self) -> u32 {
        let geometry = self.shared.log.geometry;
        let (all, record) = (self.next_checkpoint_bytes(), geometry.index_record_len_written() as u64);
        // Of each segment but the last, less than a record is left over; and of two in a row, at least half is used.
        let room = u64::from(geometry.segment_bytes() - geometry.data_start());
        let segments = match room - record {
            _ if all <= room => 1,
            0 => (2 * all).div_ceil(room),
            used => all.div_ceil(used).min((2 * all).div_ceil(room)),
        };
        u32::try_from(segments).unwrap_or(u32::MAX / 4).max(1)
    }

    /// How many bytes the next checkpoint has at most, as far as can be told.
    pub(in crate::core) fn next_checkpoint_bytes(&self) -> u64 {
        let geometry = self.shared.log.geometry;
        let (documents, collections) = {
            let catalog = read(&self.shared.catalog);
            // The first document comes with a collection.
            (documents(&catalog), catalog.current().count().max(1) as u64)
        };
        // A difference between two addresses, both ways, and what goes before it.
        let entry = 2 + varint::len(self.appender.end_address().0.saturating_mul(8)) as u64;
        let last = self.checkpoints.newest_bytes_max(geometry.segment_bytes());
        let entries =
            documents * entry + self.accounts.count() * TABLE_ENTRY_BYTES + collections * CATALOG_ENTRY_BYTES;
        let record = geometry.index_record_len_written() as u64;
        let records = entries.div_ceil(record.saturating_sub(RECORD_OVERHEAD).max(RECORD_OVERHEAD));
        // The last leaf of each collection, what the root says of the store, and the gap before it all.
        let all = entries + entries / 8 + (records + collections + 2) * RECORD_OVERHEAD;
        all.max(last + last / 8)
    }
}

/// How many documents there are after the newest commit.
pub(in crate::core) fn documents(catalog: &Catalog) -> u64 {
    catalog.current().map(|naming| naming.documents.newest_len()).sum()
}
