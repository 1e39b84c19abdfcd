//! Index records, of which checkpoints are made, and the references by which they are found (F-8.11, F-8.12). What a body holds is for
//! those who write and read checkpoints.
//!
//! | field                                                          | length     spec F-8.11 |
//! |----------------------------------------------------------------|------------------------|
//! | CRC(lineage, physical index, LSN of the checkpoint, offset, the rest) | 4               |
//! | kind                                                           | 1                      |
//! | flags: 0                                                       | 1                      |
//! | length: number of bytes after this field                       | varint                 |
//! | collection: the collection or index; 0 for a part of a root    | varint                 |
//! | commit: count of the checkpoint's LSN less that of the segment's first | varint         |
//! | body                                                           | to the end             |

pub use super::bounds::{INDEX_RECORD_LEN_MAX, INDEX_RECORD_LEN_MIN};

use super::record::{self, Kind, RecordFault, RecordParts, RecordSeed};
use super::{Geometry, Lineage, Lsn, varint};
use crate::seeded::{self, Bug};

/// The longest that the part of an index record before its body can be.
pub const INDEX_RECORD_OVERHEAD_MAX: usize = 4 + 1 + 1 + 2 + 5 + 5;

const KIND: usize = 4;
const FLAGS: usize = 5;

/// What the body of an index record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IndexRecordKind {
    /// Keys of a collection and where their documents lie, or the entries of an index.
    Leaf,
    /// What leads to leaves.
    Directory,
    /// A part of the map that leads to everything else.
    Root,
    /// What differs from a leaf of an earlier checkpoint.
    Patch,
}

impl IndexRecordKind {
    /// Its number in the file.
    #[must_use]
    pub const fn byte(self) -> u8 {
        match self {
            IndexRecordKind::Leaf => 16,
            IndexRecordKind::Directory => 17,
            IndexRecordKind::Root => 18,
            IndexRecordKind::Patch => 19,
        }
    }

    const fn from_byte(byte: u8) -> Option<IndexRecordKind> {
        match byte {
            16 => Some(IndexRecordKind::Leaf),
            17 => Some(IndexRecordKind::Directory),
            18 => Some(IndexRecordKind::Root),
            19 => Some(IndexRecordKind::Patch),
            _ => None,
        }
    }
}

/// Where an index record stands, and in which checkpoint.
#[derive(Debug, Clone, Copy)]
pub struct IndexPlace<'a> {
    /// Of the store.
    pub lineage: &'a Lineage,
    /// Physical index of the segment.
    pub physical: u32,
    /// Offset in it.
    pub offset: u32,
    /// LSN of the checkpoint.
    pub lsn: Lsn,
}

impl IndexPlace<'_> {
    /// What the checksum of a record in this place begins with: that of F-6.1, with the physical index where the incarnation is, and the
    /// LSN where the sequence is.
    fn seed(&self) -> u32 {
        let lsn = if seeded::is_on(Bug::RecordOfAnyCheckpoint) { Lsn::ZERO } else { self.lsn };
        RecordSeed::new(self.lineage, self.physical, lsn.0).at(self.offset)
    }
}

/// An index record: to be written, or with a checksum that held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexRecord<'a> {
    /// What the body is.
    pub kind: IndexRecordKind,
    /// The collection or index whose tree it is of; 0 for a part of a root.
    pub collection: u32,
    /// The count of the checkpoint's LSN less that of the segment's first LSN.
    pub commit: u64,
    /// What the kind asks for.
    pub body: &'a [u8],
}

impl<'a> IndexRecord<'a> {
    fn parts(&self) -> RecordParts<'a> {
        let IndexRecord { kind, collection, commit, body } = *self;
        let commit = u32::try_from(commit).expect("counts of one incarnation have 32 bits");
        RecordParts { collection, commit, body, ..RecordParts::nameless(Kind::Reserved(kind.byte())) }
    }

    /// Its length in bytes.
    #[must_use]
    pub fn encoded_len(&self) -> u32 {
        self.parts().encoded_len() as u32
    }

    /// Appends the record to `out`. Returns its checksum.
    ///
    /// # Panics
    /// If the record is too long for any segment, or its `commit` has more than 32 bits.
    pub fn encode(&self, place: &IndexPlace<'_>, out: &mut Vec<u8>) -> u32 {
        self.parts().encode(place.seed(), out)
    }

    /// Reads the record of this place at the start of `bytes`, which go on to at most the end of the segment; and its extent.
    ///
    /// # Errors
    /// As [`RecordFault`] says. [`RecordFault::Malformed`] comes only once the checksum held.
    pub fn parse(
        bytes: &'a [u8],
        place: &IndexPlace<'_>,
    ) -> Result<(IndexRecord<'a>, record::Extent), RecordFault> {
        let extent = record::verify(bytes, place.seed())?;
        let kind = IndexRecordKind::from_byte(bytes[KIND]);
        let kind = kind.filter(|_| bytes[FLAGS] == 0).ok_or(RecordFault::Malformed("no index record"))?;
        let record = fields(kind, &bytes[..extent.len], extent.payload_start);
        Ok((record.ok_or(RecordFault::Malformed("an index record without its fields"))?, extent))
    }

    /// As [`parse`](Self::parse), for who comes by no reference: the header of the segment says its first LSN, and the record how far
    /// behind that its checkpoint is. `place` has the former, and is given the latter.
    ///
    /// # Errors
    /// As there. [`RecordFault::Crc`] comes only where the bytes look like an index record.
    pub fn find(
        bytes: &'a [u8],
        place: &mut IndexPlace<'_>,
    ) -> Result<(IndexRecord<'a>, record::Extent), RecordFault> {
        let none = RecordFault::Malformed("no index record");
        let kind = bytes.get(KIND).copied().and_then(IndexRecordKind::from_byte).ok_or(none)?;
        let len = record::peek_len(bytes).filter(|len| *len <= bytes.len().min(INDEX_RECORD_LEN_MAX));
        let len = len.filter(|_| bytes[FLAGS] == 0).ok_or(none)?;
        let (_, length_len) = varint::get(&bytes[FLAGS + 1..]).ok_or(none)?;
        let claimed = fields(kind, &bytes[..len], FLAGS + 1 + length_len).ok_or(none)?;
        let commit = u32::try_from(claimed.commit).map_err(|_| none)?;
        let count = place.lsn.count().checked_add(commit).ok_or(none)?;
        place.lsn = Lsn::new(place.lsn.incarnation(), count);
        Self::parse(bytes, place)
    }
}

/// What stands behind the length of a record.
fn fields(kind: IndexRecordKind, record: &[u8], at: usize) -> Option<IndexRecord<'_>> {
    let mut rest = &record[at..];
    let collection = u32::try_from(varint::take(&mut rest)?).ok()?;
    let commit = varint::take(&mut rest)?;
    Some(IndexRecord { kind, collection, commit, body: rest })
}

/// Where an index record is, and what must stand there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reference {
    /// Physical index of the segment.
    pub physical: u32,
    /// Offset in it.
    pub offset: u32,
    /// Length in bytes.
    pub len: u32,
    /// The record's CRC field.
    pub crc: u32,
}

impl Reference {
    /// Appends it as it stands in a record.
    pub fn put(self, out: &mut Vec<u8>) {
        [self.physical, self.offset, self.len].into_iter().for_each(|field| varint::put(out, field.into()));
        out.extend_from_slice(&self.crc.to_le_bytes());
    }

    /// Takes the one at the start of `rest`.
    pub fn take(rest: &mut &[u8]) -> Option<Reference> {
        let mut field = || u32::try_from(varint::take(rest)?).ok();
        let (physical, offset, len) = (field()?, field()?, field()?);
        let (crc, behind) = rest.split_first_chunk()?;
        *rest = behind;
        Some(Reference { physical, offset, len, crc: u32::from_le_bytes(*crc) })
    }

    /// Whether an index record of that length can be there (F-8.11), in a file of any length.
    #[must_use]
    pub fn is_possible(self, geometry: Geometry) -> bool {
        self.offset >= geometry.data_start()
            && self.offset.is_multiple_of(8)
            && (INDEX_RECORD_LEN_MIN..=geometry.index_record_len_max() as u32).contains(&self.len)
            && u64::from(self.offset) + u64::from(self.len) <= geometry.segment_bytes().into()
    }

    /// Where it begins in the file.
    #[must_use]
    pub fn at(self, geometry: Geometry) -> u64 {
        geometry.segment_offset(self.physical) + u64::from(self.offset)
    }
}
