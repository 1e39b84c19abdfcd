//! An index record found by its reference, read in large pieces, and verified.

use crate::error::{Corruption, Result};
use crate::format::index_record::{IndexPlace, IndexRecord, IndexRecordKind, Reference};
use crate::format::record::RecordFault;
use crate::format::{Geometry, Lineage, Lsn};
use crate::seeded::{self, Bug};
use crate::sync::Arc;

/// Leaves stand one behind the other, so that reading ahead reads what is wanted next.
const PIECE_LEN: u64 = 256 * 1024;

/// What a checkpoint is read from.
pub trait IndexSource {
    /// The length of the file in bytes.
    fn file_len(&self) -> u64;

    /// Fills `out` with the bytes at offset `at`, all of which lie below [`file_len`](Self::file_len).
    ///
    /// # Errors
    /// Those of the disk.
    fn read_at(&self, at: u64, out: &mut [u8]) -> Result<()>;
}

/// What it takes to read the records of a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreePlace {
    pub(super) geometry: Geometry,
    lineage: Lineage,
    pub(super) lsn: Lsn,
    /// Where the last part of its root is: what a writer places last, so that nothing behind it is wanted.
    pub(super) root_at: u64,
    /// The segments that directory pages and leaves may lie in, sorted; none before the root is verified.
    segments: Arc<[u32]>,
}

impl TreePlace {
    /// Of a checkpoint whose root is yet to be read.
    pub(super) fn new(geometry: Geometry, lineage: &Lineage, lsn: Lsn, root: Reference) -> Self {
        let (lineage, root_at) = (*lineage, root.at(geometry));
        TreePlace { geometry, lineage, lsn, root_at, segments: Arc::default() }
    }

    /// In no file.
    #[cfg(test)]
    pub(crate) fn nowhere() -> Self {
        let geometry = Geometry::new(64, 512).expect("a legal geometry");
        let root = Reference { physical: 0, offset: 0, len: 0, crc: 0 };
        TreePlace::new(geometry, &Lineage::default(), Lsn::ZERO, root)
    }

    pub(crate) const fn geometry(&self) -> Geometry {
        self.geometry
    }
}

/// The index records of one checkpoint.
#[derive(Debug)]
pub(super) struct Records<'s, S> {
    source: &'s S,
    pub(super) place: TreePlace,
    /// Whether leaves are read ahead.
    is_ahead: bool,
    /// Leaves, read ahead.
    piece: Buffer,
    /// A record that is read by itself: what stands behind it is not wanted next.
    alone: Buffer,
}

/// What a reference stands for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    pub(super) kind: IndexRecordKind,
    pub(super) collection: u32,
    /// The checkpoint that wrote it.
    pub(super) lsn: Lsn,
    /// Where the record is that has the reference.
    pub(super) named_at: u64,
}

/// Bytes of the file from `at` on.
#[derive(Debug, Default)]
struct Buffer {
    at: u64,
    bytes: Vec<u8>,
}

impl Buffer {
    fn holds(&self, at: u64, len: u64) -> bool {
        self.at <= at && at + len <= self.at + self.bytes.len() as u64
    }

    fn fill(&mut self, source: &impl IndexSource, at: u64, len: u64) -> Result<()> {
        // Nothing is held while the read may fail.
        self.at = u64::MAX;
        self.bytes.resize(len as usize, 0);
        source.read_at(at, &mut self.bytes)?;
        self.at = at;
        Ok(())
    }
}

impl<'s, S: IndexSource> Records<'s, S> {
    /// Reads many leaves, and so ahead.
    pub(super) fn new(source: &'s S, place: TreePlace) -> Self {
        Records { source, place, is_ahead: true, piece: Buffer::default(), alone: Buffer::default() }
    }

    /// Reads one record at a time.
    pub(super) fn single(source: &'s S, place: TreePlace) -> Self {
        Records { is_ahead: false, ..Records::new(source, place) }
    }

    /// How many segments begin within the file.
    pub(super) fn segment_count(&self) -> u32 {
        self.place.geometry.segments_within(self.source.file_len())
    }

    /// Directory pages and leaves lie in these segments alone.
    pub(super) fn confine(&mut self, mut segments: Vec<u32>) {
        segments.sort_unstable();
        self.place.segments = segments.into();
    }

    //= spec/format.md#f-8-12-references
    //# A reader MUST take a checkpoint for damaged when a reference leads to where no index record of that length can be (F-8.11), or beyond the end of the file; when the record there has another length or another CRC field; when that CRC does not hold; and
    //# when its kind or its collection is not what the reference stands for, or its flags are not 0.
    /// The body of the record that `reference` leads to; and where it lies in the file.
    pub(super) fn body(&mut self, reference: Reference, wanted: Wanted) -> Result<(&[u8], u64)> {
        self.check_place(reference, wanted)?;
        let (at, len) = (reference.at(self.place.geometry), u64::from(reference.len));
        let is_ahead = wanted.kind == IndexRecordKind::Leaf && self.is_ahead;
        let (buffer, most) = if is_ahead { (&mut self.piece, PIECE_LEN) } else { (&mut self.alone, len) };
        if !buffer.holds(at, len) {
            let segment_end = self.place.geometry.segment_end(reference.physical).min(self.source.file_len());
            let root_at = self.place.root_at;
            let end = if (at..segment_end).contains(&root_at) { root_at } else { segment_end };
            buffer.fill(self.source, at, (end - at).min(most).max(len))?;
        }
        let bytes = &buffer.bytes[(at - buffer.at) as usize..][..len as usize];
        let Reference { physical, offset, .. } = reference;
        let place = IndexPlace { lineage: &self.place.lineage, physical, offset, lsn: wanted.lsn };
        Ok((parse(bytes, &place, reference, wanted, at)?, at))
    }

    //= spec/format.md#f-8-12-references
    //# A reader MUST take a checkpoint for damaged when a reference to a directory page, a leaf or a patch leads into
    //# a segment that `segments` (F-8.9) does not name.
    /// Whether a record of what is wanted can be there.
    pub(super) fn check_place(&self, reference: Reference, wanted: Wanted) -> Result<()> {
        let damaged = |what, expected: u64, found: u32| {
            let corruption = Corruption::new(wanted.named_at, "F-8.12", what);
            Err(corruption.comparing(expected, found.into()).into())
        };
        let Reference { physical, offset, len, .. } = reference;
        if !reference.is_possible(self.place.geometry) {
            return damaged("a reference to where no index record can be", len.into(), offset);
        }
        let is_in_root = wanted.kind == IndexRecordKind::Root;
        if !is_in_root && self.place.segments.binary_search(&physical).is_err() {
            return damaged("a reference into a segment that is not the checkpoint's", 0, physical);
        }
        if reference.at(self.place.geometry) + u64::from(len) > self.source.file_len() {
            return damaged("a reference beyond the end of the file", self.segment_count().into(), physical);
        }
        Ok(())
    }
}

/// Verifies the record that fills `bytes`, which lie at `at` in the file.
fn parse<'a>(
    bytes: &'a [u8],
    place: &IndexPlace<'_>,
    reference: Reference,
    wanted: Wanted,
    at: u64,
) -> Result<&'a [u8], Corruption> {
    let damaged = |what, expected, found| Corruption::new(at, "F-8.12", what).comparing(expected, found);
    let (record, extent) = IndexRecord::parse(bytes, place).map_err(|fault| match fault {
        RecordFault::TooShort { needed } => {
            let found = needed.unwrap_or_default() as u64;
            damaged("an index record of another length", bytes.len() as u64, found)
        }
        RecordFault::Crc { expected, found } => {
            damaged("an index record has a wrong checksum", expected.into(), found.into())
        }
        RecordFault::Malformed(what) => damaged(what, 0, 0),
        RecordFault::Unsupported(found) => damaged("no index record", 0, found.into()),
    })?;
    if extent.len != bytes.len() {
        let found = extent.len as u64;
        return Err(damaged("an index record of another length", bytes.len() as u64, found));
    }
    if extent.crc != reference.crc && !seeded::is_on(Bug::RecordOfAnyCheckpoint) {
        let what = "an index record other than the one that is referred to";
        return Err(damaged(what, reference.crc.into(), extent.crc.into()));
    }
    if record.kind != wanted.kind {
        let (expected, found) = (wanted.kind.byte().into(), record.kind.byte().into());
        return Err(damaged("an index record of another kind", expected, found));
    }
    if record.collection != wanted.collection && !seeded::is_on(Bug::LeavesOfAnotherIndex) {
        let (expected, found) = (wanted.collection.into(), record.collection.into());
        return Err(damaged("an index record of another tree", expected, found));
    }
    Ok(record.body)
}
