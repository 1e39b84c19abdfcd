//! Where the chunks of a superseded version stand: recovery keeps the accounts of their segments, too.

use crate::cache::SegmentTable;
use crate::format::LogAddress;
use crate::format::body::ChunkList;
use crate::format::record::{self, PEEK_LEN, peek_len};
use crate::index::Entry;

use super::scan::Scan;

/// The chunks of the version at `entry`. None of them where that cannot be read: a superseded record that is damaged is no loss, and the
/// chunks are found dead when their segment is cleaned.
pub(super) fn chunks_of(scan: &Scan<'_>, segments: &SegmentTable, entry: Entry) -> Vec<LogAddress> {
    if !entry.is_chunked() {
        return Vec::new();
    }
    let (sequence, offset) = scan.geometry.split(entry.address());
    let Some(segment) = segments.get(sequence) else { return Vec::new() };
    let at = scan.geometry.segment_offset(segment.physical) + u64::from(offset);
    let room = (scan.geometry.segment_bytes() - offset) as usize;
    let mut bytes = vec![0; PEEK_LEN.min(room)];
    let Ok(have) = scan.storage.read_full(at, &mut bytes) else { return Vec::new() };
    let Some(len) = peek_len(&bytes[..have]).filter(|len| *len <= room) else { return Vec::new() };
    bytes.resize(len, 0);
    let Ok(have) = scan.storage.read_full(at, &mut bytes) else { return Vec::new() };
    let seed = segment.stretch_at(offset).seed.at(offset);
    let list = record::parse(&bytes[..have], seed).ok();
    let list = list.filter(|record| record.chunked).and_then(|record| ChunkList::parse(record.body));
    list.map(|list| list.addresses().collect()).unwrap_or_default()
}
