//! The segment table: what a log address needs to become a place in the file and the seed of a checksum.

use std::collections::BTreeMap;

use smallvec::{SmallVec, smallvec};

use crate::document::KeyRef;
use crate::format::frame::SegmentSeed;
use crate::format::record::{PutParts, PutShape, RecordSeed, Version, put_of, shape_of};
use crate::format::{Geometry, Lineage, LogAddress, Lsn};
use crate::sync::{Arc, RwLock, read, write};

/// A run of frames of one incarnation in one segment (spec: F-6.2).
#[derive(Debug, Clone)]
pub(crate) struct Stretch {
    /// Where it begins in the segment.
    pub(crate) offset: u32,
    /// The LSN that it begins with; the commit field of its records counts from there.
    pub(crate) first_lsn: Lsn,
    pub(crate) seed: RecordSeed,
}

/// What readers must know of one log segment.
#[derive(Debug, Clone)]
pub(crate) struct Segment {
    pub(crate) sequence: u64,
    pub(crate) physical: u32,
    /// What the checksums of its frame headers are seeded with.
    pub(crate) frame_seed: SegmentSeed,
    /// In the order of their offsets; never empty. Most have one: an opening enters thousands of segments.
    stretches: SmallVec<[Stretch; 1]>,
}

impl Stretch {
    /// The LSN of the commit whose records have `commit` in that field.
    pub(crate) fn lsn(&self, commit: u32) -> Lsn {
        Lsn::new(self.first_lsn.incarnation(), self.first_lsn.count().saturating_add(commit))
    }

    /// The LSN of the commit that put a document.
    pub(crate) fn lsn_of(&self, version: Version) -> Lsn {
        match version {
            Version::Commit(commit) => self.lsn(commit),
            Version::Own(lsn) => lsn,
        }
    }
}

impl Segment {
    /// A segment whose first frame has `first_lsn`.
    pub(crate) fn new(
        lineage: &Lineage,
        geometry: Geometry,
        sequence: u64,
        physical: u32,
        first_lsn: Lsn,
    ) -> Self {
        let seed = RecordSeed::new(lineage, first_lsn.incarnation(), sequence);
        let first = Stretch { offset: geometry.data_start(), first_lsn, seed };
        let frame_seed = SegmentSeed::for_segment(lineage, sequence);
        Segment { sequence, physical, frame_seed, stretches: smallvec![first] }
    }

    /// Its stretches, in the order of their offsets.
    pub(crate) fn stretches(&self) -> &[Stretch] {
        &self.stretches
    }

    /// The LSN of its first frame.
    pub(crate) fn first_lsn(&self) -> Lsn {
        self.stretches[0].first_lsn
    }

    /// The same segment, with the stretch that the opening frame at `offset` begins.
    pub(crate) fn with_stretch(mut self, lineage: &Lineage, offset: u32, first_lsn: Lsn) -> Self {
        self.stretches.truncate(self.stretches.partition_point(|stretch| stretch.offset < offset));
        let seed = RecordSeed::new(lineage, first_lsn.incarnation(), self.sequence);
        self.stretches.push(Stretch { offset, first_lsn, seed });
        self
    }

    /// The stretch that the byte at `offset` belongs to.
    pub(crate) fn stretch_at(&self, offset: u32) -> &Stretch {
        if let [only] = &self.stretches[..] {
            return only;
        }
        let after = self.stretches.partition_point(|stretch| stretch.offset <= offset);
        &self.stretches[after.saturating_sub(1)]
    }

    /// Whether a stretch of an incarnation above `above` begins at `offset`.
    pub(crate) fn opens_at(&self, offset: u32, above: u32) -> bool {
        let stretch = self.stretch_at(offset);
        stretch.offset == offset && stretch.first_lsn.incarnation() > above
    }

    /// The put of `key` in `collection` whose record begins `bytes` and stands at `offset`; as [`put_of`] says.
    #[inline(always)]
    pub(crate) fn put_of(
        &self,
        bytes: &[u8],
        offset: u32,
        collection: u32,
        key: KeyRef<'_>,
    ) -> Option<PutParts> {
        put_of(bytes, self.stretch_at(offset).seed.at(offset), collection, key)
    }

    /// The shape of the record that begins `bytes` and stands at `offset`; as [`shape_of`] says.
    #[inline(always)]
    pub(crate) fn shape_of(&self, bytes: &[u8], offset: u32) -> Option<PutShape> {
        shape_of(bytes, self.stretch_at(offset).seed.at(offset))
    }

    /// The stretch at the end of the segment.
    pub(crate) fn last_stretch(&self) -> &Stretch {
        &self.stretches[self.stretches.len() - 1]
    }
}

/// The log segments in place, by sequence.
#[derive(Debug)]
pub(crate) struct SegmentTable {
    geometry: Geometry,
    segments: RwLock<BTreeMap<u64, Arc<Segment>>>,
}

impl SegmentTable {
    pub(crate) fn new(geometry: Geometry) -> Self {
        SegmentTable { geometry, segments: RwLock::default() }
    }

    /// Has these segments, and no others.
    pub(crate) fn load(&self, segments: Vec<Arc<Segment>>) {
        *write(&self.segments) = segments.into_iter().map(|segment| (segment.sequence, segment)).collect();
    }

    #[cfg(feature = "testing")]
    pub(crate) fn fork(&self) -> Self {
        SegmentTable { geometry: self.geometry, segments: RwLock::new(read(&self.segments).clone()) }
    }

    pub(crate) fn get(&self, sequence: u64) -> Option<Arc<Segment>> {
        read(&self.segments).get(&sequence).cloned()
    }

    /// The oldest segment from which on all are in place.
    pub(crate) fn first_unbroken(&self) -> Option<Arc<Segment>> {
        let segments = read(&self.segments);
        let mut first: Option<&Arc<Segment>> = None;
        for segment in segments.values().rev() {
            if first.is_some_and(|first| first.sequence != segment.sequence + 1) {
                break;
            }
            first = Some(segment);
        }
        first.cloned()
    }

    /// Where the last stretch begins that begins with `lsn` or below: segment, offset, and what it begins with.
    pub(crate) fn stretch_before(&self, lsn: Lsn) -> Option<(u64, u32, Lsn)> {
        let segments = read(&self.segments);
        let segment = segments.values().rev().find(|segment| segment.first_lsn() <= lsn)?;
        let stretch = segment.stretches.iter().rev().find(|stretch| stretch.first_lsn <= lsn)?;
        Some((segment.sequence, stretch.offset, stretch.first_lsn))
    }

    /// Adds a segment, or puts it in the place of its shorter self.
    pub(crate) fn put(&self, segment: Arc<Segment>) {
        write(&self.segments).insert(segment.sequence, segment);
    }

    /// Makes `segment` the last one, as it is: what was placed behind it was taken back.
    pub(crate) fn end_with(&self, segment: &Arc<Segment>) {
        let mut segments = write(&self.segments);
        segments.split_off(&segment.sequence);
        segments.insert(segment.sequence, Arc::clone(segment));
    }

    /// Takes out a segment whose place is given to something else.
    pub(crate) fn remove(&self, sequence: u64) {
        write(&self.segments).remove(&sequence);
    }

    pub(crate) fn count(&self) -> usize {
        read(&self.segments).len()
    }

    /// The place of `address` in the file, for a message; the address itself, if its segment is not known.
    pub(crate) fn file_offset(&self, address: LogAddress) -> u64 {
        let (sequence, offset) = self.geometry.split(address);
        self.get(sequence)
            .map_or(address.0, |segment| self.geometry.segment_offset(segment.physical) + u64::from(offset))
    }
}
