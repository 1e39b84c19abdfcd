//! The segment table: where the log segments lie, and what is live in them, as rows of fixed width (F-8.6, F-8.14, F-8.15), which are read
//! where they stand.
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
use crate::format::fields::{u32_at, u64_at};

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

/// A log segment in a checkpoint, as its row of `table` has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableRow {
    /// Its place in the log.
    pub sequence: u64,
    /// Its place in the file.
    pub physical: u32,
    /// LSN of the first frame placed in it: its first stretch begins at the first data byte with that.
    pub first_lsn: Lsn,
    /// Offset where its last frame ended.
    pub end: u32,
    /// LSN of the record that freed it; zero: it is not freed.
    pub freed: Lsn,
    /// How many put, relocated put and chunk records were ever placed in it.
    pub records: u32,
    /// The length of these records in bytes.
    pub bytes: u32,
}

/// A log segment in a checkpoint, with its rows of `stretches` and `live`.
#[derive(Debug, Clone, Copy)]
pub struct TableEntry<'a> {
    /// Its row of `table`.
    pub row: TableRow,
    stretches: &'a [[u8; STRETCH_LEN]],
    live: &'a [[u8; LIVE_LEN]],
}

impl<'a> TableEntry<'a> {
    /// Offset and first LSN of each other stretch, by offset.
    pub fn stretches(self) -> impl Iterator<Item = (u32, Lsn)> + 'a {
        self.stretches.iter().map(|row| (u32_at(row, WHICH), Lsn(u64_at(row, STRETCH_LSN))))
    }

    /// Collection and how many of the records are live, by collection.
    pub fn live(self) -> impl Iterator<Item = (u32, u32)> + 'a {
        self.live.iter().map(|row| (u32_at(row, WHICH), u32_at(row, COUNT)))
    }
}

/// The log segments in a checkpoint, by sequence.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    pub(super) rows: Vec<u8>,
    pub(super) stretches: Vec<u8>,
    pub(super) live: Vec<u8>,
}

impl Table {
    /// Adds a segment behind those that are there, with its other stretches by offset, and its live records by collection.
    pub fn push(
        &mut self,
        row: TableRow,
        stretches: impl IntoIterator<Item = (u32, Lsn)>,
        live: impl IntoIterator<Item = (u32, u32)>,
    ) {
        let is_last = self.rows.last_chunk().is_none_or(|last| TableRow::read(last).sequence < row.sequence);
        assert!(is_last, "log segments are in the order of their sequences");
        // The fields as they follow each other in the tables above.
        let TableRow { sequence, physical, first_lsn, end, freed, records, bytes } = row;
        let sequence = sequence.to_le_bytes();
        self.rows.extend(sequence);
        self.rows.extend([physical, end].into_iter().flat_map(u32::to_le_bytes));
        self.rows.extend([first_lsn.0, freed.0].into_iter().flat_map(u64::to_le_bytes));
        self.rows.extend([records, bytes].into_iter().flat_map(u32::to_le_bytes));
        for (offset, lsn) in stretches {
            self.stretches
                .extend(sequence.into_iter().chain(offset.to_le_bytes()).chain(lsn.0.to_le_bytes()));
        }
        for (collection, count) in live {
            self.live.extend(sequence.into_iter().chain(collection.to_le_bytes()).chain(count.to_le_bytes()));
        }
    }

    /// The table itself, if it has whole rows, in their order, of segments that there are.
    pub(super) fn verified(self) -> Result<Self, &'static str> {
        let ((rows, []), (stretches, []), (live, [])) = self.chunks() else {
            return Err("a table that is not whole rows");
        };
        if !rows.is_sorted_by(|a, b| TableRow::read(a).sequence < TableRow::read(b).sequence) {
            return Err("log segments out of order");
        }
        let which = |row: &[u8]| (u64_at(row, SEQUENCE), u32_at(row, WHICH));
        let are_in_order = stretches.is_sorted_by(|a, b| which(a) < which(b))
            && live.is_sorted_by(|a, b| which(a) < which(b));
        if !are_in_order {
            return Err("stretches or live records of log segments out of order");
        }
        // In order, the first that is of no segment is handed out with none, nor is one behind it.
        let count = |(stretches, live): (usize, usize), entry: TableEntry<'_>| {
            (stretches + entry.stretches.len(), live + entry.live.len())
        };
        if self.iter().fold((0, 0), count) != (stretches.len(), live.len()) {
            return Err("stretches or live records of a log segment that is not in the table");
        }
        Ok(self)
    }

    /// Whole rows, and what is left behind them.
    fn chunks(&self) -> (Chunks<'_, ROW_LEN>, Chunks<'_, STRETCH_LEN>, Chunks<'_, LIVE_LEN>) {
        (self.rows.as_chunks(), self.stretches.as_chunks(), self.live.as_chunks())
    }

    /// Each segment, by sequence.
    pub fn iter(&self) -> impl Iterator<Item = TableEntry<'_>> {
        let ((rows, _), (mut stretches, _), (mut live, _)) = self.chunks();
        rows.iter().map(move |row| {
            let row = TableRow::read(row);
            let (stretches, live) = (take_of(row.sequence, &mut stretches), take_of(row.sequence, &mut live));
            TableEntry { row, stretches, live }
        })
    }

    /// The last segment.
    #[must_use]
    pub fn last(&self) -> Option<TableRow> {
        self.rows.last_chunk().map(TableRow::read)
    }
}

type Chunks<'a, const LEN: usize> = (&'a [[u8; LEN]], &'a [u8]);

/// Takes the rows of a segment off the front.
fn take_of<'a, const LEN: usize>(sequence: u64, rows: &mut &'a [[u8; LEN]]) -> &'a [[u8; LEN]] {
    let count = rows.iter().take_while(|row| u64_at(&row[..], SEQUENCE) == sequence).count();
    let (of, behind) = rows.split_at(count);
    *rows = behind;
    of
}

impl TableRow {
    fn read(row: &[u8; ROW_LEN]) -> Self {
        TableRow {
            sequence: u64_at(row, SEQUENCE),
            physical: u32_at(row, PHYSICAL),
            first_lsn: Lsn(u64_at(row, FIRST_LSN)),
            end: u32_at(row, END),
            freed: Lsn(u64_at(row, FREED)),
            records: u32_at(row, RECORDS),
            bytes: u32_at(row, BYTES),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Given<'a> = (u64, &'a [u32], &'a [u32]);

    fn row(sequence: u64) -> TableRow {
        let (first_lsn, freed) = (Lsn(u64::MAX), Lsn(u64::MAX));
        TableRow {
            sequence,
            physical: u32::MAX,
            first_lsn,
            end: u32::MAX,
            freed,
            records: u32::MAX,
            bytes: u32::MAX,
        }
    }

    fn table(given: &[Given<'_>]) -> Table {
        let mut table = Table::default();
        for (sequence, stretches, live) in given {
            let stretches = stretches.iter().map(|&offset| (offset, Lsn(u64::MAX)));
            let live = live.iter().map(|&collection| (collection, u32::MAX));
            table.push(row(*sequence), stretches, live);
        }
        table
    }

    // spec: F-8.6, F-8.14, F-8.15
    #[test]
    fn rows_are_read_as_they_were_written() {
        let given: [Given<'_>; 3] = [(3, &[72, 80], &[]), (4, &[], &[1, 7]), (u64::MAX, &[72], &[1])];
        let table = table(&given);
        assert_eq!((table.rows.len(), table.stretches.len(), table.live.len()), (3 * 40, 3 * 20, 3 * 16));
        assert_eq!(table.last(), Some(row(u64::MAX)));
        let table = table.verified().expect("it is sound");
        assert_eq!(table.iter().count(), given.len());
        for ((sequence, stretches, live), entry) in given.into_iter().zip(table.iter()) {
            assert_eq!(entry.row, row(sequence));
            assert!(entry.stretches().eq(stretches.iter().map(|&offset| (offset, Lsn(u64::MAX)))));
            assert!(entry.live().eq(live.iter().map(|&collection| (collection, u32::MAX))));
        }
    }

    #[test]
    fn rows_out_of_order_or_twice_or_of_no_segment_are_damage() {
        let sound = || table(&[(3, &[72, 80], &[1, 2]), (4, &[72], &[1])]);
        assert!(sound().verified().is_ok());
        let cases: [fn(&mut Table); 8] = [
            |table| table.rows.truncate(41),
            |table| table.stretches.truncate(19),
            |table| table.live.truncate(17),
            |table| table.rows[0] = 4,
            |table| table.stretches[8] = 80,
            |table| table.live[8] = 2,
            |table| table.stretches[0] = 2,
            |table| table.live[32] = 5,
        ];
        for (index, spoil) in cases.into_iter().enumerate() {
            let mut table = sound();
            spoil(&mut table);
            assert!(table.verified().is_err(), "case {index}");
        }
    }

    #[test]
    #[should_panic(expected = "log segments are in the order of their sequences")]
    fn nothing_is_written_twice() {
        table(&[(3, &[], &[]), (3, &[], &[])]);
    }
}
