//! A block of a segment, and what is known of the records that were read in it.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::document::KeyRef;
use crate::format::Lsn;
use crate::format::record::{PutShape, is_of_kind, version_of};
use crate::seeded::{self, Bug};
use crate::sync::Arc;

use super::Segment;

/// The bytes of one block, its number, and the segment that they belong to. None of them ever changes.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) number: u64,
    pub(crate) bytes: Box<[u8]>,
    pub(crate) segment: Arc<Segment>,
    known: Known,
}

impl Block {
    pub(crate) fn new(number: u64, bytes: impl Into<Box<[u8]>>, segment: Arc<Segment>) -> Self {
        let bytes = bytes.into();
        let known = Known((0..Known::places(bytes.len())).map(|_| AtomicU32::new(0)).collect());
        Block { number, bytes, segment, known }
    }

    /// What a block of `len` bytes takes of the cache's budget, in bytes.
    pub(crate) fn footprint_of(len: usize) -> usize {
        len + Known::places(len) * size_of::<AtomicU32>()
    }

    /// What it takes of the cache's budget, in bytes.
    pub(crate) fn footprint(&self) -> usize {
        self.bytes.len() + self.known.0.len() * size_of::<AtomicU32>()
    }

    /// Where key and document of the record that begins at `within` lie, from its first byte on, if it is a put of `key` in
    /// `collection` as [`Segment::put_of`] has it, and of the kind with the byte `kind`; `offset` is its place in the segment. A record is
    /// verified and taken apart when it is read here first, and then only compared.
    #[inline(always)]
    pub(crate) fn key_and_body(
        &self,
        within: usize,
        offset: u32,
        kind: u8,
        collection: u32,
        key: KeyRef<'_>,
    ) -> Option<(Range<u32>, Range<u32>)> {
        let shape = self.known.at(within).or_else(|| self.first_shape_at(within, offset))?;
        let bytes = self.bytes.get(within..).filter(|bytes| is_of_kind(bytes, kind))?;
        shape.key_and_body(bytes, collection, key)
    }

    /// The document of that record, if `body_of` says of its shape and its bytes where it begins.
    #[inline(always)]
    pub(crate) fn body_of(
        &self,
        within: usize,
        offset: impl Fn() -> u32,
        body_of: impl Fn(PutShape, &[u8]) -> Option<usize>,
    ) -> Option<&[u8]> {
        let shape = match self.known.at(within) {
            Some(shape) => shape,
            None => self.first_shape_at(within, offset())?,
        };
        let bytes = self.bytes.get(within..)?;
        bytes.get(body_of(shape, bytes)?..shape.len)
    }

    /// The shape of the record that begins at `within`, and stands at `offset` in the segment, if it is a put as [`Segment::shape_of`] has it.
    /// It is asked for first: verified, taken apart, and noted.
    #[inline(never)]
    fn first_shape_at(&self, within: usize, offset: u32) -> Option<PutShape> {
        let shape = self.segment.shape_of(self.bytes.get(within..)?, offset)?;
        self.known.add(within, shape);
        Some(shape)
    }

    /// How long the record that begins at `within` is, if it was read before.
    #[inline]
    pub(crate) fn known_len(&self, within: usize) -> Option<usize> {
        self.known.at(within).map(|shape| shape.len)
    }

    /// The LSN of the commit that made the put that begins at `within`, which was read before and stands at `offset`.
    pub(crate) fn lsn_at(&self, within: usize, offset: u32) -> Lsn {
        let version = version_of(&self.bytes[within..]).expect("it was read as a put");
        self.segment.stretch_at(offset).lsn_of(version)
    }
}

/// So many bytes share an entry: few records are shorter, and the entries are a sixteenth of what a block takes.
const SHARE: usize = 64;

/// The puts that were read in a block: for each stretch of [`SHARE`] bytes none, which is 0, or the shape of one that begins there. Of two
/// in one stretch the last one read is remembered.
///
/// These are not the atomics of [`crate::sync`]: an entry follows from bytes that do not change, so it is true in every order of loads and
/// stores, and one that is not seen costs a checksum.
#[derive(Debug)]
struct Known(Box<[AtomicU32]>);

/// From the lowest bit on: where in the stretch the record begins, where its fields and its key begin, its length.
const WITHIN_BITS: u32 = SHARE.ilog2();
const PAYLOAD_BITS: u32 = 4;
const KEY_BITS: u32 = 6;
const LEN_BITS: u32 = u32::BITS - WITHIN_BITS - PAYLOAD_BITS - KEY_BITS;

impl Known {
    /// How many entries are made for `len` bytes.
    fn places(len: usize) -> usize {
        len.div_ceil(SHARE)
    }

    #[inline]
    fn at(&self, within: usize) -> Option<PutShape> {
        let entry = self.0.get(within / SHARE)?.load(Ordering::Relaxed);
        let take = |from: u32, bits: u32| (entry >> from) as usize & ((1 << bits) - 1);
        let is_its_own =
            (entry as usize ^ within).is_multiple_of(SHARE) || seeded::is_on(Bug::NeighbourVerified);
        (entry != 0 && is_its_own).then(|| PutShape {
            payload_start: take(WITHIN_BITS, PAYLOAD_BITS),
            key_start: take(WITHIN_BITS + PAYLOAD_BITS, KEY_BITS),
            len: take(u32::BITS - LEN_BITS, LEN_BITS),
        })
    }

    fn add(&self, within: usize, shape: PutShape) {
        let [payload_start, key_start, len] =
            [shape.payload_start, shape.key_start, shape.len].map(|at| at as u32);
        // Longer ones are verified at each reading; there are few in a block.
        if payload_start >> PAYLOAD_BITS == 0 && key_start >> KEY_BITS == 0 && len >> LEN_BITS == 0 {
            let shape = payload_start | key_start << PAYLOAD_BITS | len << (PAYLOAD_BITS + KEY_BITS);
            let entry = (within % SHARE) as u32 | shape << WITHIN_BITS;
            self.0[within / SHARE].store(entry, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Geometry;
    use crate::format::record::{Kind, RecordParts};

    const COLLECTION: u32 = 3;

    /// A block of two puts of some 20 bytes, of the keys 1 and 2, and where the second begins.
    fn two_puts() -> (Segment, Vec<u8>, usize) {
        let geometry = Geometry::new(64, 512).expect("a legal geometry");
        let segment = Segment::new(&[7; 16], geometry, 0, 0, Lsn::ZERO);
        let mut bytes = vec![0; geometry.data_start() as usize];
        let mut second = 0;
        for key in 1..=2 {
            second = bytes.len();
            let put = RecordParts {
                kind: Kind::Put,
                collection: COLLECTION,
                commit: 0,
                own_lsn: None,
                replaces: None,
                expiry: None,
                chunked: false,
                key: Some(KeyRef::Int(key)),
                body: &[9; 10],
            };
            put.encode(segment.last_stretch().seed.at(second as u32), &mut bytes);
        }
        (segment, bytes, second)
    }

    fn key_and_body(block: &Block, at: usize, key: i64) -> Option<(Range<u32>, Range<u32>)> {
        block.key_and_body(at, at as u32, Kind::Put.byte(), COLLECTION, KeyRef::Int(key))
    }

    #[test]
    fn a_record_is_taken_apart_once_and_read_as_before() {
        let (segment, bytes, second) = two_puts();
        let (_, len) = (second, bytes.len() - second);
        let block = Block::new(0, bytes.clone(), Arc::new(segment));
        assert_eq!(block.known_len(second), None);
        let first = key_and_body(&block, second, 2).expect("it was written");
        assert_eq!(block.known_len(second), Some(len));
        assert!(block.known_len(second + 1).is_none() && block.known_len(second - 1).is_none());
        assert_eq!(key_and_body(&block, second, 2), Some(first.clone()));
        let long_way = block.segment.put_of(&bytes[second..], second as u32, COLLECTION, KeyRef::Int(2));
        assert_eq!(long_way.map(|put| (put.key, put.body)), Some(first));
        assert_eq!(key_and_body(&block, second, 1), None, "it is another's");
        for (kind, collection) in [(Kind::Put, COLLECTION + 1), (Kind::RelocatedPut, COLLECTION)] {
            assert_eq!(
                block.key_and_body(second, second as u32, kind.byte(), collection, KeyRef::Int(2)),
                None
            );
        }
        assert_eq!(key_and_body(&block, bytes.len() + 1, 2), None, "behind the end");
    }

    #[test]
    fn a_document_is_lent_from_where_its_record_says_and_never_from_a_damaged_one() {
        let (segment, bytes, second) = two_puts();
        let (first, segment) = (segment.stretches()[0].offset as usize, Arc::new(segment));
        let body_of = |block: &Block, at: usize, key| {
            let key = KeyRef::Int(key);
            let start = |shape: PutShape, bytes: &[u8]| {
                shape.key_and_body(bytes, COLLECTION, key).map(|(_, body)| body.start as usize)
            };
            block.body_of(at, || at as u32, start).map(<[u8]>::to_vec)
        };
        let whole = Block::new(0, bytes.clone(), Arc::clone(&segment));
        for _ in 0..2 {
            assert_eq!(body_of(&whole, first, 1), Some(vec![9; 10]));
            assert_eq!(body_of(&whole, second, 2), Some(vec![9; 10]));
            assert_eq!(body_of(&whole, second, 1), None, "it is another's");
            assert_eq!(body_of(&whole, second + 1, 2), None, "none begins there");
            assert_eq!(body_of(&whole, bytes.len() + 1, 2), None, "behind the end");
        }
        for at in second..bytes.len() {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1;
            let damaged = Block::new(0, bytes, Arc::clone(&segment));
            for _ in 0..2 {
                assert_eq!(body_of(&damaged, second, 2), None, "byte {at}");
                assert_eq!(damaged.known_len(second), None);
            }
        }
    }

    /// Whether damage of either of two records that share a mark is seen once the other was read.
    fn damage_is_seen() -> bool {
        let (segment, bytes, second) = two_puts();
        let first = segment.stretches()[0].offset as usize;
        assert_eq!(first / SHARE, second / SHARE, "they share a mark");
        let segment = Arc::new(segment);
        [((first, 1), (second, 2)), ((second, 2), (first, 1))].iter().all(|(damaged, sound)| {
            let mut bytes = bytes.clone();
            bytes[damaged.0] ^= 1;
            let block = Block::new(0, bytes, Arc::clone(&segment));
            assert!(key_and_body(&block, sound.0, sound.1).is_some());
            key_and_body(&block, damaged.0, damaged.1).is_none()
        })
    }

    #[test]
    fn what_was_verified_says_nothing_of_what_stands_beside_it() {
        assert!(damage_is_seen());
    }

    #[cfg(feature = "seeded")]
    #[test]
    fn a_mark_that_counts_for_its_neighbours_is_noticed() {
        seeded::switch_on(Some(Bug::NeighbourVerified));
        let is_seen = damage_is_seen();
        seeded::switch_on(None);
        assert!(!is_seen, "the check cannot fail");
    }

    #[test]
    fn what_is_known_is_a_sixteenth_of_what_a_block_takes() {
        let (segment, ..) = two_puts();
        let block = Block::new(0, vec![0; 16 << 10], Arc::new(segment));
        assert_eq!(block.footprint(), (16 << 10) + (1 << 10));
        assert_eq!(block.footprint(), Block::footprint_of(16 << 10));
    }
}
