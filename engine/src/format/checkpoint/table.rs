//! The segment table: where the log segments lie, and what is live in them, as rows of fixed width (F-8.6, F-8.14, F-8.15).
//!
//! | `table`: offset | length | field                                    spec F-8.6 |
//! |----------------:|-------:|-----------------------------------------------------|
//! |               0 |      8 | sequence                                            |
//! |               8 |      4 | physical index                                      |
//! |              12 |      4 | end offset                                          |
//! |              16 |      8 | first LSN                                           |
//! |              24 |      8 | LSN of the record that freed it; 0: not freed       |
//! |              32 |      4 | records ever placed in it                           |
//! |              36 |      4 | the length of these records in bytes                |
//!
//! | `stretches`, `live`: offset | length | field          spec F-8.14, F-8.15 |
//! |----------------------------:|-------:|------------------------------------|
//! |                           0 |      8 | sequence                           |
//! |                           8 |      4 | offset in the segment, collection  |
//! |                          12 | 8 or 4 | first LSN, count                   |

use std::ops::Range;

use crate::format::Lsn;
use crate::format::fields::{put, u32_at, u64_at};

const SEQUENCE: Range<usize> = 0..8;
const PHYSICAL: Range<usize> = SEQUENCE.end..SEQUENCE.end + 4;
const END: Range<usize> = PHYSICAL.end..PHYSICAL.end + 4;
const FIRST_LSN: Range<usize> = END.end..END.end + 8;
const FREED: Range<usize> = FIRST_LSN.end..FIRST_LSN.end + 8;
const RECORDS: Range<usize> = FREED.end..FREED.end + 4;
const BYTES: Range<usize> = RECORDS.end..RECORDS.end + 4;
const ROW_LEN: usize = BYTES.end;

/// Of a stretch: its offset. Of live records: their collection.
const WHICH: Range<usize> = SEQUENCE.end..SEQUENCE.end + 4;
const STRETCH_LSN: Range<usize> = WHICH.end..WHICH.end + 8;
const STRETCH_LEN: usize = STRETCH_LSN.end;
const COUNT: Range<usize> = WHICH.end..WHICH.end + 4;
const LIVE_LEN: usize = COUNT.end;

const _: () = assert!(ROW_LEN == 40 && STRETCH_LEN == 20 && LIVE_LEN == 16);

/// A log segment in a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableEntry {
    /// Its place in the log.
    pub sequence: u64,
    /// Its place in the file.
    pub physical: u32,
    /// LSN of the first frame placed in it: its first stretch begins at the first data byte with that.
    pub first_lsn: Lsn,
    /// Offset where its last frame ended.
    pub end: u32,
    /// Offset and first LSN of each other stretch, by offset.
    pub stretches: Vec<(u32, Lsn)>,
    /// LSN of the record that freed it; zero: it is not freed.
    pub freed: Lsn,
    /// How many put, relocated put and chunk records were ever placed in it.
    pub records: u32,
    /// The length of these records in bytes.
    pub bytes: u32,
    /// Collection and how many of these records are live, by collection.
    pub live: Vec<(u32, u32)>,
}

/// The three byte strings of a table.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub(super) table: Vec<u8>,
    pub(super) stretches: Vec<u8>,
    pub(super) live: Vec<u8>,
}

impl Rows {
    pub(super) fn of(entries: &[TableEntry]) -> Rows {
        let is_ascending = entries.is_sorted_by(|a, b| a.sequence < b.sequence);
        assert!(is_ascending, "log segments are in the order of their sequences");
        let mut rows = Rows::default();
        for entry in entries {
            let sequence = entry.sequence.to_le_bytes();
            let row = extended(&mut rows.table, ROW_LEN);
            put(row, SEQUENCE, sequence);
            put(row, PHYSICAL, entry.physical.to_le_bytes());
            put(row, END, entry.end.to_le_bytes());
            put(row, FIRST_LSN, entry.first_lsn.0.to_le_bytes());
            put(row, FREED, entry.freed.0.to_le_bytes());
            put(row, RECORDS, entry.records.to_le_bytes());
            put(row, BYTES, entry.bytes.to_le_bytes());
            for (offset, lsn) in &entry.stretches {
                let row = extended(&mut rows.stretches, STRETCH_LEN);
                put(row, SEQUENCE, sequence);
                put(row, WHICH, offset.to_le_bytes());
                put(row, STRETCH_LSN, lsn.0.to_le_bytes());
            }
            for (collection, count) in &entry.live {
                let row = extended(&mut rows.live, LIVE_LEN);
                put(row, SEQUENCE, sequence);
                put(row, WHICH, collection.to_le_bytes());
                put(row, COUNT, count.to_le_bytes());
            }
        }
        rows
    }

    /// Reads what [`of`](Self::of) wrote: whole rows, in their order, of segments that there are.
    pub(super) fn entries(&self) -> Result<Vec<TableEntry>, &'static str> {
        let (table, stretches, live) = (&self.table, &self.stretches, &self.live);
        let is_whole = table.len().is_multiple_of(ROW_LEN)
            && stretches.len().is_multiple_of(STRETCH_LEN)
            && live.len().is_multiple_of(LIVE_LEN);
        if !is_whole {
            return Err("a table that is not whole rows");
        }
        let mut entries: Vec<_> = table.chunks_exact(ROW_LEN).map(entry).collect();
        if !entries.is_sorted_by(|a, b| a.sequence < b.sequence) {
            return Err("log segments out of order");
        }
        each_of(&mut entries, stretches.chunks_exact(STRETCH_LEN), |entry, offset, row| {
            entry.stretches.push((offset, Lsn(u64_at(row, STRETCH_LSN))));
        })?;
        each_of(&mut entries, live.chunks_exact(LIVE_LEN), |entry, collection, row| {
            entry.live.push((collection, u32_at(row, COUNT)));
        })?;
        Ok(entries)
    }
}

fn extended(out: &mut Vec<u8>, len: usize) -> &mut [u8] {
    let start = out.len();
    out.resize(start + len, 0);
    &mut out[start..]
}

fn entry(row: &[u8]) -> TableEntry {
    TableEntry {
        sequence: u64_at(row, SEQUENCE),
        physical: u32_at(row, PHYSICAL),
        first_lsn: Lsn(u64_at(row, FIRST_LSN)),
        end: u32_at(row, END),
        stretches: Vec::new(),
        freed: Lsn(u64_at(row, FREED)),
        records: u32_at(row, RECORDS),
        bytes: u32_at(row, BYTES),
        live: Vec::new(),
    }
}

/// Hands each row to `take`, with the segment that it names.
fn each_of<'a>(
    entries: &mut [TableEntry],
    rows: impl Iterator<Item = &'a [u8]>,
    mut take: impl FnMut(&mut TableEntry, u32, &[u8]),
) -> Result<(), &'static str> {
    let mut before = None;
    for row in rows {
        let (sequence, which) = (u64_at(row, SEQUENCE), u32_at(row, WHICH));
        if before.is_some_and(|before| before >= (sequence, which)) {
            return Err("stretches or live records of log segments out of order");
        }
        before = Some((sequence, which));
        let found = entries.binary_search_by_key(&sequence, |entry| entry.sequence);
        let found =
            found.map_err(|_| "stretches or live records of a log segment that is not in the table")?;
        take(&mut entries[found], which, row);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(sequence: u64, stretches: &[u32], live: &[u32]) -> TableEntry {
        TableEntry {
            sequence,
            physical: u32::MAX,
            first_lsn: Lsn(u64::MAX),
            end: u32::MAX,
            stretches: stretches.iter().map(|&offset| (offset, Lsn(u64::MAX))).collect(),
            freed: Lsn(u64::MAX),
            records: u32::MAX,
            bytes: u32::MAX,
            live: live.iter().map(|&collection| (collection, u32::MAX)).collect(),
        }
    }

    // spec: F-8.6, F-8.14, F-8.15
    #[test]
    fn rows_are_read_as_they_were_written() {
        let entries = [entry(3, &[72, 80], &[]), entry(4, &[], &[1, 7]), entry(u64::MAX, &[72], &[1])];
        let rows = Rows::of(&entries);
        assert_eq!((rows.table.len(), rows.stretches.len(), rows.live.len()), (3 * 40, 3 * 20, 3 * 16));
        assert_eq!(rows.entries().expect("they are sound"), entries);
    }

    #[test]
    fn rows_out_of_order_or_twice_or_of_no_segment_are_damage() {
        let of = |entries: &[TableEntry]| Rows::of(entries);
        let sound = || of(&[entry(3, &[72, 80], &[1, 2]), entry(4, &[72], &[1])]);
        assert!(sound().entries().is_ok());
        let cases: [fn(&mut Rows); 8] = [
            |rows| rows.table.truncate(41),
            |rows| rows.stretches.truncate(19),
            |rows| rows.live.truncate(17),
            |rows| rows.table[0] = 4,
            |rows| rows.stretches[8] = 80,
            |rows| rows.live[8] = 2,
            |rows| rows.stretches[0] = 2,
            |rows| rows.live[32] = 5,
        ];
        for (index, spoil) in cases.into_iter().enumerate() {
            let mut rows = sound();
            spoil(&mut rows);
            assert!(rows.entries().is_err(), "case {index}");
        }
    }

    #[test]
    #[should_panic(expected = "log segments are in the order of their sequences")]
    fn nothing_is_written_twice() {
        Rows::of(&[entry(3, &[], &[]), entry(3, &[], &[])]);
    }
}
