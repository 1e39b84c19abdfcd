//! The index records of a segment.

use crate::format::index_record::{INDEX_RECORD_LEN_MAX, IndexPlace, IndexRecord, IndexRecordKind};
use crate::format::record::RecordFault;
use crate::format::{Lineage, Lsn, round_up_8};

use super::budget::Budget;

/// An index record whose checksum holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexRecordView {
    /// Where it begins in its segment.
    pub offset: u32,
    /// Its length in bytes.
    pub len: u32,
    /// Its checksum.
    pub crc: u32,
    /// What it is.
    pub kind: IndexRecordKind,
    /// The collection or index whose tree it is of; 0 for a part of a root.
    pub collection: u32,
    /// The checkpoint that wrote it.
    pub lsn: Lsn,
}

impl IndexRecordView {
    /// Where it ends in its segment.
    #[must_use]
    pub fn end(&self) -> u32 {
        self.offset + self.len
    }
}

/// The index records in the bytes of the segment at `physical`, which begins with the checkpoint at `first`, from `start` on.
pub(super) fn find(
    bytes: &[u8],
    lineage: &Lineage,
    physical: u32,
    first: Lsn,
    start: u32,
) -> Vec<IndexRecordView> {
    let mut found = Vec::new();
    let mut budget = Budget::of(bytes);
    let mut offset = start;
    while let Some(rest) = bytes.get(offset as usize..).filter(|rest| !rest.is_empty()) {
        let mut place = IndexPlace { lineage, physical, offset, lsn: first };
        match IndexRecord::find(rest, &mut place) {
            Ok((IndexRecord { kind, collection, .. }, extent)) => {
                let (len, crc, lsn) = (extent.len as u32, extent.crc, place.lsn);
                found.push(IndexRecordView { offset, len, crc, kind, collection, lsn });
                offset = round_up_8(offset + len);
            }
            Err(RecordFault::Crc { .. }) if !budget.spend(INDEX_RECORD_LEN_MAX) => break,
            Err(_) => offset += 8,
        }
    }
    found
}
