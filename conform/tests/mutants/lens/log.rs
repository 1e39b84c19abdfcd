//! The frames of a log segment, and the records in them, made right again after they were misread.

use std::collections::BTreeSet;
use std::ops::Range;

use holotype_conform::forge::varint;

use super::form::{misread, u32_at, u64_at, varint_at};
use super::headers::Structure;
use super::records::{RecordField, marks};
use super::seeds::{FrameSeed, RecordSeed};
use super::{Lens, Misreading, Mistake, View};

/// A log segment that is being looked at.
struct Segment {
    /// In the file.
    bytes: Range<usize>,
    sequence: u64,
    /// Where the records stand that were looked at.
    done: BTreeSet<usize>,
}

impl Lens {
    pub(super) fn frames(&self, view: &mut View<'_>, start: usize, sequence: u64) {
        let bytes = start..view.seen.len().min(start + view.segment_bytes);
        let len = bytes.len();
        let mut segment = Segment { bytes, sequence, done: BTreeSet::new() };
        for at in (64..len).step_by(8) {
            if !self.frame(view, &mut segment, at) && matches!(self.0, Mistake::Record(..)) {
                self.loose_records(view, &mut segment, at + 32);
            }
        }
    }

    /// Looks at the frame at this offset. False if there is none.
    fn frame(&self, view: &mut View<'_>, segment: &mut Segment, at: usize) -> bool {
        let bytes = &view.seen[segment.bytes.clone()];
        let Some(header) = bytes.get(at..at + 32).filter(|header| u32_at(header, 8) != 0) else {
            return false;
        };
        let right = FrameSeed { lineage: view.weak.lineage, sequence: segment.sequence, at: at as u32 };
        let is_sealed = |seed: &FrameSeed| seed.sum(&[&header[4..]]) == header[..4];
        let Some(seed) = view.weak.frame(self, right, is_sealed) else { return false };
        let len = u32_at(header, 20) as usize;
        let body = bytes.get(at + 32..at + 32 + len).unwrap_or_default();
        let extents: Vec<_> =
            extents(body).into_iter().map(|record| at + 32 + record.start..at + 32 + record.end).collect();
        let sums = |bytes: &[u8]| -> Vec<u8> {
            extents.iter().flat_map(|record| bytes[record.start..record.start + 4].to_vec()).collect()
        };
        let fits = seed.sum(&[&header[8..], &sums(bytes)]) == header[4..8];
        let incarnation = (u64_at(header, 8) >> 32) as u32;
        let mut body = len;
        for (n, extent) in extents.iter().enumerate() {
            let is_last = n + 1 == extents.len() && extent.end == at + 32 + len;
            let read = self.record(view, segment, (extent.clone(), is_last), [incarnation]);
            body = body + read.unwrap_or(extent.len()) - extent.len();
        }
        let bytes = &mut view.seen[segment.bytes.clone()];
        let sums = sums(bytes);
        let header = &mut bytes[at..at + 32];
        header[20..24].copy_from_slice(&(body as u32).to_le_bytes());
        self.header(Structure::Frame, header);
        if fits {
            let body = right.sum(&[&header[8..], &sums]);
            header[4..8].copy_from_slice(&body);
        }
        self.checksum(Structure::Frame, 4, header);
        let sum = right.sum(&[&header[4..]]);
        header[..4].copy_from_slice(&sum);
        self.checksum(Structure::Frame, 0, header);
        true
    }

    /// Looks at the records that stand behind a frame header that is not whole: a checkpoint leads to them all the same.
    fn loose_records(&self, view: &mut View<'_>, segment: &mut Segment, mut at: usize) {
        let len = segment.bytes.len();
        while at + 8 < len && !segment.done.contains(&at) {
            let bytes = &view.seen[segment.bytes.clone()][at..];
            // Most bytes are no record: kind and flags show that fastest.
            if !(1..=8).contains(&bytes[4]) || bytes[5] > 15 {
                return;
            }
            let Some(extent) = first_extent(bytes) else { return };
            let extent = at..at + extent.len();
            at = extent.end;
            let incarnations = view.weak.incarnations.clone();
            if self.record(view, segment, (extent, false), incarnations).is_none() {
                return;
            }
        }
    }

    /// Looks at a record, which may be the last of its frame. Answers its length then; none if its checksum does not hold.
    fn record(
        &self,
        view: &mut View<'_>,
        segment: &mut Segment,
        (extent, is_last): (Range<usize>, bool),
        incarnations: impl IntoIterator<Item = u32>,
    ) -> Option<usize> {
        let bytes = &mut view.seen[segment.bytes.clone()];
        let frame =
            FrameSeed { lineage: view.weak.lineage, sequence: segment.sequence, at: extent.start as u32 };
        let record = &bytes[extent.clone()];
        let is_sealed = |seed: &RecordSeed| seed.sum(&record[4..]) == record[..4];
        let right = incarnations
            .into_iter()
            .map(|incarnation| RecordSeed { frame, incarnation })
            .find(|right| view.weak.record(self, *right, is_sealed).is_some())?;
        segment.done.insert(extent.start);
        let mut len = extent.len();
        if let Mistake::Record(field, misreading) = self.0 {
            match read_as(&bytes[extent.clone()], field, misreading) {
                Some(read) if read.len() == len => bytes[extent.clone()].copy_from_slice(&read),
                // The last record of a frame has a few bytes behind it that nothing stands in.
                Some(read) if is_last && takes_as_much_room(extent.start, len, read.len()) => {
                    bytes[extent.start..extent.start + len.max(read.len())].fill(0);
                    len = read.len();
                    bytes[extent.start..extent.start + len].copy_from_slice(&read);
                }
                _ => view.is_shown = false,
            }
            if field == RecordField::Length {
                // The checksum is over what the reader takes for the record.
                let read = first_extent(&bytes[extent.start..]).map_or(0, |found| found.len());
                let sealed = read.max(7).min(bytes.len() - extent.start);
                reseal(bytes, right, sealed);
                return Some(len);
            }
        }
        reseal(bytes, right, len);
        Some(len)
    }
}

/// Damages the header of every frame that is at no multiple of `step` and follows no whole frame: the log does not come to it, and who looks
/// for claims at these multiples alone does not see it. Sectors begin at multiples of 64, so a frame behind a whole one begins where that one ends, or at
/// such a multiple.
pub(super) fn hide_claims(view: &mut View<'_>, start: usize, sequence: u64, step: usize) {
    let end = view.seen.len().min(start + view.segment_bytes);
    let bytes = &mut view.seen[start..end];
    let mut follows = 0;
    for at in (64..bytes.len()).step_by(8) {
        let seed = FrameSeed { lineage: view.weak.lineage, sequence, at: at as u32 };
        let Some(header) = bytes.get(at..at + 32).filter(|header| u32_at(header, 8) != 0) else { continue };
        if seed.sum(&[&header[4..]]) != header[..4] {
            continue;
        }
        let body = bytes.get(at + 32..at + 32 + u32_at(header, 20) as usize).unwrap_or_default();
        let records = extents(body).into_iter();
        let sums: Vec<u8> =
            records.flat_map(|record| body[record.start..record.start + 4].to_vec()).collect();
        if seed.sum(&[&header[8..], &sums]) == header[4..8] {
            if at % step == 0 || at == follows {
                follows = (at + 32 + body.len()).next_multiple_of(8);
                continue;
            }
        } else if at % step == 0 {
            continue;
        }
        bytes[at] ^= 1;
    }
}

/// A record with a field as it is read; none where nothing would be read so.
fn read_as(record: &[u8], field: RecordField, misreading: Misreading) -> Option<Vec<u8>> {
    let mut read = record.to_vec();
    // From the last one on, so that the others stay where they are.
    for (_, spot) in marks(record).into_iter().rev().filter(|(found, _)| *found == field) {
        let bytes = misread(record, spot, misreading)?;
        read.splice(spot.at..spot.at + spot.len, bytes);
    }
    if read.len() != record.len() {
        let (said, width) = varint_at(record, 6)?;
        let len = varint((said as usize + read.len()).checked_sub(record.len())? as u64);
        read.splice(6..6 + width, (len.len() == width).then_some(len)?);
    }
    Some(read)
}

/// Whether a frame ends at the same place (F-5.2) if its last record has another length.
fn takes_as_much_room(start: usize, before: usize, after: usize) -> bool {
    (start + before).next_multiple_of(8) == (start + after).next_multiple_of(8)
}

fn reseal(segment: &mut [u8], seed: RecordSeed, len: usize) {
    let record = &mut segment[seed.frame.at as usize..][..len];
    let sum = seed.sum(&record[4..]);
    record[..4].copy_from_slice(&sum);
}

/// The first record of a body.
fn first_extent(body: &[u8]) -> Option<Range<usize>> {
    let (len, width) = varint_at(body, 6)?;
    let end = usize::try_from(len).ok()?.checked_add(6 + width)?;
    (end <= body.len()).then_some(0..end)
}

/// The records of a body, as far as they can be told.
fn extents(body: &[u8]) -> Vec<Range<usize>> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(extent) = body.get(at..).and_then(first_extent) {
        found.push(at..at + extent.end);
        at += extent.end;
    }
    found
}
