//! Documents that no block holds whole: put together, verified, and kept for those that ask again.

use crate::cache::Whole;
use crate::document::{DOCUMENT_LEN_MAX, KeyRef};
use crate::error::{Corruption, Result};
use crate::format::body::{ChunkList, parse_chunk};
use crate::format::record::{Kind, RECORD_OVERHEAD_MAX, Record};
use crate::format::{LogAddress, Lsn, SEGMENT_BYTES_DEFAULT};
use crate::index::Entry;
use crate::log::Found;
use crate::seeded::{self, Bug};
use crate::sync::Arc;

use super::super::Shared;
use super::{Bytes, Located};

/// The first chunk of a document is taken to be as long as a segment is if nobody wants another length; the others as the one before.
const FIRST_CHUNK_LEN: usize = SEGMENT_BYTES_DEFAULT as usize;

impl Shared {
    //= spec/format.md#f-8-4-primary-leaves
    //# Bits of the value that contradict the record there are such a case: a reader goes by the record
    //# for what its body is.
    /// The document that `entry` leads to, if it is none of those that stand in one block and that
    /// [`put_of`](crate::format::record::put_of) knows; or what is wrong with it.
    #[cold]
    pub(super) fn locate_apart(&self, collection: u32, key: KeyRef<'_>, entry: Entry) -> Result<Located> {
        let (address, value) = (entry.address(), entry.value());
        let kept = self.log.cache.whole(address);
        if let Some(whole) = kept.filter(|whole| whole.is_of(value, collection, key)) {
            return Ok(Located::whole(whole));
        }
        // Asked before the first byte is read: what is settled by then is what is read.
        let settled = self.log.settled();
        let found = self.log.find(address)?;
        let record = self.log.parse(&found, address)?;
        if record.collection != collection
            || record.key != Some(key)
            || !matches!(record.kind, Kind::Put | Kind::RelocatedPut)
        {
            return Err(self.wrong_record(address, collection, &record));
        }
        let own = Entry::of(&record, address).value();
        if own != value && !seeded::is_on(Bug::EntryBitsBelieved) {
            return Err(self.contradicted(address, value, own));
        }
        let lsn = self.log.lsn(&found, &record, address);
        let end = LogAddress(address.0 + record.len as u64);
        if record.chunked {
            let placed = self.log.commit_in(found.segment(), &record, address);
            let (whole, last) = self.put_together(&record, [lsn, placed], entry)?;
            return Ok(self.kept_if(end.max(last) <= settled, address, whole));
        }
        let base = found.bytes().as_ptr() as usize;
        let range = |bytes: &[u8]| {
            let start = (bytes.as_ptr() as usize - base) as u32;
            start..start + bytes.len() as u32
        };
        let (key, body) = (range(record.key_bytes), range(record.body));
        match found {
            Found::InBlock(block, within) => {
                let (_, offset) = self.log.geometry.split(address);
                Ok(Located { bytes: Bytes::InBlock { block, within, offset }, key, body })
            }
            Found::Copied(bytes, _) => {
                let whole = Whole { bytes, key, body, collection, value, lsn };
                Ok(self.kept_if(end <= settled, address, whole))
            }
        }
    }

    #[cold]
    fn contradicted(&self, address: LogAddress, expected: u64, found: u64) -> crate::Error {
        let at = self.log.segments.file_offset(address);
        let what = "an index entry leads to a record of another form";
        Corruption::new(at, "F-8.4", what).comparing(expected, found).into()
    }

    /// The document, which the cache may keep if everything that was read of it is settled: what is not may be taken back, and another
    /// document be placed at its address.
    fn kept_if(&self, is_settled: bool, address: LogAddress, whole: Whole) -> Located {
        let whole = Arc::new(whole);
        if is_settled || seeded::is_on(Bug::KeptUnsettled) {
            self.log.cache.keep(address, &whole);
        }
        Located::whole(whole)
    }

    //= spec/format.md#f-6-7-chunk-list
    //# A reader MUST report a document as corrupt when its list leads to anything but these chunks, in their
    //# order and of that length altogether.
    /// The document whose chunks the put `record` lists (spec: F-6.7), and where the last of them ends in the log. The put was made by the
    /// commit `lsn` and placed by the commit `placed`, which differ where it was moved.
    fn put_together(
        &self,
        record: &Record<'_>,
        [lsn, placed]: [Lsn; 2],
        entry: Entry,
    ) -> Result<(Whole, LogAddress)> {
        let address = entry.address();
        let list = ChunkList::parse(record.body).ok_or_else(|| self.wrong_record(address, 0, record))?;
        // Not believed for more than a document may have, or than the chunks turn out to hold.
        if list.document_len() > DOCUMENT_LEN_MAX as u64 {
            return Err(self.wrong_record(address, record.collection, record));
        }
        let key_len = record.key_bytes.len();
        let longest = self.log.geometry.record_len_max();
        let capacity = (list.document_len() as usize).min(list.count() * longest);
        let mut bytes = Vec::with_capacity(2 * key_len + capacity + RECORD_OVERHEAD_MAX);
        bytes.extend_from_slice(record.key_bytes);
        let whole_len = key_len as u64 + list.document_len();
        let (mut front_len, mut likely_len, mut end) = (0, FIRST_CHUNK_LEN, LogAddress(0));
        for (number, at) in list.addresses().enumerate() {
            // A chunk is read so that its part follows what came before it: over the end of that, which is put back, if as much stands in
            // front of the part as of the one before.
            let (behind, start) = (bytes.len(), bytes.len() - front_len);
            let covered = bytes[start..].to_vec();
            bytes.truncate(start);
            // No more is gathered than the list says.
            let left = whole_len.saturating_sub(behind as u64);
            let needed = left as usize + if number == 0 { RECORD_OVERHEAD_MAX } else { front_len };
            let segment = self.log.append_record(at, needed.min(likely_len), &mut bytes)?;
            let chunk = self.log.parse_in(&segment, &bytes[start..], at)?;
            let made = self.log.lsn_in(&segment, &chunk, at);
            let part_len = match parse_chunk(chunk.body) {
                Some((n, part))
                    if n == number as u64
                        && part.len() as u64 <= left
                        && (made == placed || record.own_lsn.is_some() && made < placed)
                        && chunk.kind == Kind::Chunk
                        && chunk.collection == record.collection
                        && chunk.key == record.key =>
                {
                    part.len()
                }
                _ => return Err(self.wrong_record(at, record.collection, &chunk)),
            };
            let (chunk_len, from) = (chunk.len, start + chunk.len - part_len);
            end = end.max(LogAddress(at.0 + chunk_len as u64));
            bytes.resize(bytes.len().max(behind + part_len), 0);
            if from != behind {
                bytes.copy_within(from..from + part_len, behind);
            }
            bytes.truncate(behind + part_len);
            bytes[start..behind].copy_from_slice(&covered);
            likely_len = chunk_len;
            front_len = (chunk_len - part_len).min(bytes.len());
        }
        if bytes.len() as u64 != whole_len {
            return Err(self.wrong_record(address, record.collection, record));
        }
        let (key, body) = (0..key_len as u32, key_len as u32..bytes.len() as u32);
        let (collection, value) = (record.collection, entry.value());
        Ok((Whole { bytes, key, body, collection, value, lsn }, end))
    }
}
