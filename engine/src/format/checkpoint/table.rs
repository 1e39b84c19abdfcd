//! Segment table leaves: where a log segment lies, and what is live in it (F-8.6).
//!
//! A segment has one entry, or several behind one another where its stretches and live records do not fit into one page:
//! each of these holds a part of both, and all else is the same in all of them.

use super::map::{array, uint32};
use crate::document::cbor::encode;
use crate::document::cbor::head::{Head, Reader};
use crate::format::Lsn;
use crate::format::catalog::CatalogFault;

/// How many fields the array of an entry has.
const FIELDS: usize = 9;
/// The fields beside the two arrays take at most: seven numbers, and the heads of three arrays.
const FIXED_LEN_MAX: usize = 5 * 9 + 2 * 5 + 1 + 2 * 3;
/// An array of two numbers, the greater of which has 64 bits.
const STRETCH_LEN_MAX: usize = 1 + 5 + 9;
/// An array of two numbers of 32 bits.
const LIVE_LEN_MAX: usize = 1 + 5 + 5;

/// A log segment in a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableEntry {
    /// Its place in the log.
    pub sequence: u64,
    /// Its place in the file.
    pub physical: u32,
    /// LSN of the first frame placed in it.
    pub first_lsn: Lsn,
    /// Offset where its last frame ended.
    pub end: u32,
    /// Offset and first LSN of each stretch, by offset.
    pub stretches: Vec<(u32, Lsn)>,
    /// LSN of the record that freed it; zero: it is not freed.
    pub freed: Lsn,
    /// How many put, relocated put and chunk records were ever placed in it.
    pub records: u64,
    /// The length of these records in bytes.
    pub bytes: u64,
    /// Collection and how many of these records are live, by collection.
    pub live: Vec<(u32, u32)>,
}

impl TableEntry {
    /// The entry in parts of at most `len_max` bytes each.
    pub(super) fn encode(&self, len_max: usize) -> Vec<Vec<u8>> {
        let is_ascending = self.stretches.is_sorted_by(|a, b| a.0 < b.0);
        assert!(is_ascending, "stretches are in the order of their offsets");
        assert!(
            self.live.is_sorted_by(|a, b| a.0 < b.0),
            "live records are in the order of their collections"
        );
        let room = len_max - FIXED_LEN_MAX;
        let (mut stretches, mut live) = (&self.stretches[..], &self.live[..]);
        let mut parts = Vec::new();
        loop {
            let (part_stretches, rest) = stretches.split_at(stretches.len().min(room / STRETCH_LEN_MAX));
            stretches = rest;
            let room = room - part_stretches.len() * STRETCH_LEN_MAX;
            let (part_live, rest) = live.split_at(live.len().min(room / LIVE_LEN_MAX));
            live = rest;
            parts.push(self.encode_part(part_stretches, part_live));
            if stretches.is_empty() && live.is_empty() {
                return parts;
            }
        }
    }

    fn encode_part(&self, stretches: &[(u32, Lsn)], live: &[(u32, u32)]) -> Vec<u8> {
        let mut out = Vec::new();
        encode::head(&mut out, encode::ARRAY, FIELDS as u64);
        uint(&mut out, self.sequence);
        uint(&mut out, self.physical.into());
        uint(&mut out, self.first_lsn.0);
        uint(&mut out, self.end.into());
        pairs(&mut out, stretches.iter().map(|(offset, lsn)| [(*offset).into(), lsn.0]));
        uint(&mut out, self.freed.0);
        uint(&mut out, self.records);
        uint(&mut out, self.bytes);
        pairs(&mut out, live.iter().map(|(collection, count)| [(*collection).into(), (*count).into()]));
        out
    }

    /// Reads one entry, which may be a part.
    pub(super) fn decode(reader: &mut Reader<'_>) -> Result<TableEntry, CatalogFault> {
        let Head::Array(FIELDS) = reader.head()? else {
            return Err(CatalogFault::Malformed("a segment is an array of nine"));
        };
        let sequence = reader.uint()?;
        let physical = uint32(reader)?;
        let first_lsn = Lsn(reader.uint()?);
        let end = uint32(reader)?;
        let stretches = read_pairs(reader, |reader| Ok((uint32(reader)?, Lsn(reader.uint()?))))?;
        let freed = Lsn(reader.uint()?);
        let records = reader.uint()?;
        let bytes = reader.uint()?;
        let live = read_pairs(reader, |reader| Ok((uint32(reader)?, uint32(reader)?)))?;
        Ok(TableEntry { sequence, physical, first_lsn, end, stretches, freed, records, bytes, live })
    }

    /// Adds `part`, which stands behind what there is of the same sequence. Whether it fits to that.
    pub(super) fn join(&mut self, mut part: TableEntry) -> bool {
        let fields = |entry: &TableEntry| {
            let TableEntry { sequence, physical, first_lsn, end, freed, records, bytes, .. } = *entry;
            (sequence, physical, first_lsn, end, freed, records, bytes)
        };
        if fields(self) != fields(&part) {
            return false;
        }
        self.stretches.append(&mut part.stretches);
        self.live.append(&mut part.live);
        true
    }

    /// Whether what stands in arrays stands in order, and so nothing twice.
    pub(super) fn is_in_order(&self) -> bool {
        self.stretches.is_sorted_by(|a, b| a.0 < b.0) && self.live.is_sorted_by(|a, b| a.0 < b.0)
    }
}

fn uint(out: &mut Vec<u8>, value: u64) {
    encode::head(out, encode::UNSIGNED, value);
}

fn pairs(out: &mut Vec<u8>, pairs: impl ExactSizeIterator<Item = [u64; 2]>) {
    encode::head(out, encode::ARRAY, pairs.len() as u64);
    for [first, second] in pairs {
        encode::head(out, encode::ARRAY, 2);
        uint(out, first);
        uint(out, second);
    }
}

fn read_pairs<T>(
    reader: &mut Reader<'_>,
    mut pair: impl FnMut(&mut Reader<'_>) -> Result<T, CatalogFault>,
) -> Result<Vec<T>, CatalogFault> {
    let mut pairs = Vec::new();
    for _ in 0..array(reader)? {
        let Head::Array(2) = reader.head()? else {
            return Err(CatalogFault::Malformed("no pair where one is due"));
        };
        pairs.push(pair(reader)?);
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(stretches: &[u32], live: &[u32]) -> TableEntry {
        TableEntry {
            sequence: u64::MAX,
            physical: u32::MAX,
            first_lsn: Lsn(u64::MAX),
            end: u32::MAX,
            stretches: stretches.iter().map(|&offset| (offset, Lsn(u64::MAX))).collect(),
            freed: Lsn(u64::MAX),
            records: u64::MAX,
            bytes: u64::MAX,
            live: live.iter().map(|&collection| (collection, u32::MAX)).collect(),
        }
    }

    // spec: F-8.6
    #[test]
    fn what_stands_twice_is_not_in_order() {
        assert!(entry(&[8, 16], &[1, 2]).is_in_order());
        assert!(!entry(&[8, 8], &[1, 2]).is_in_order());
        assert!(!entry(&[8, 16], &[2, 2]).is_in_order());
    }

    #[test]
    #[should_panic(expected = "in the order of their offsets")]
    fn nothing_is_written_twice() {
        entry(&[8, 8], &[]).encode(1000);
    }

    #[test]
    fn the_longest_parts_are_as_long_as_they_are_counted() {
        let (live, first_lsn) = ((0..256).map(|n| (u32::MAX - 256 + n, u32::MAX)).collect(), Lsn(u64::MAX));
        let stretches: Vec<_> = (0..256).map(|n| (u32::MAX - 256 + n, Lsn(u64::MAX))).collect();
        let (sequence, records, bytes, freed) = (u64::MAX, u64::MAX, u64::MAX, Lsn(u64::MAX));
        let (physical, end) = (u32::MAX, u32::MAX);
        let longest =
            TableEntry { sequence, physical, first_lsn, end, stretches, freed, records, bytes, live };
        let part = longest.encode_part(&longest.stretches, &longest.live);
        assert_eq!(part.len(), FIXED_LEN_MAX + 256 * (STRETCH_LEN_MAX + LIVE_LEN_MAX));
    }

    #[test]
    fn parts_are_as_many_as_they_must_and_as_long_as_they_may() {
        let many: Vec<u32> = (u32::MAX - 100..u32::MAX).collect();
        let len_max = FIXED_LEN_MAX + 10 * STRETCH_LEN_MAX;
        let parts = entry(&many, &many).encode(len_max);
        assert!(parts.iter().all(|part| part.len() <= len_max));
        let bytes = many.len() * (STRETCH_LEN_MAX + LIVE_LEN_MAX);
        assert_eq!(parts.len(), bytes.div_ceil(10 * STRETCH_LEN_MAX));
    }
}
