//! Where the checksums of a file stand, and what they cover.

use std::collections::BTreeMap;
use std::ops::Range;

use holotype::format::Lsn;
use holotype::format::checksum::{crc, crc_append};
use holotype::format::frame::{FRAME_HEADER_LEN, SegmentSeed, parse_header};
use holotype::format::index_record::{IndexPlace, IndexRecord, Reference};
use holotype::format::record::{RecordSeed, peek_len};
use holotype::format::segment::{SEGMENT_HEADER_LEN, SegmentHeader, SegmentKind};
use holotype::format::superblock::{SLOT_LEN, SLOT_OFFSETS, Slot, Superblock, parse_slot};

use holotype_crash_tests::input::Input;

/// In a slot: the references to the newest checkpoint and to the one before, and in each where its root lies.
const REFERENCES: [usize; 2] = [384, 432];
const ROOT_PHYSICAL: usize = 8;
const ROOT_OFFSET: usize = 12;
const ROOT_CRC: usize = 16;

/// What an index record has before its body, at least.
const INDEX_HEAD_LEN: usize = 9;

/// The kinds of places that an edit may aim at.
pub(crate) const PLACES: u8 = 7;

/// The places of a valid file that an edit may aim at, and all its checksums.
#[derive(Debug)]
pub struct Layout {
    superblock: Superblock,
    segments: Vec<Segment>,
    frames: Vec<Frame>,
    /// Those that others lead to before these.
    index_records: Vec<IndexAt>,
}

#[derive(Debug)]
struct Segment {
    /// In the file.
    start: usize,
    physical: u32,
}

#[derive(Debug)]
struct Frame {
    /// In the file.
    start: usize,
    /// In its segment.
    offset: u32,
    sequence: u64,
    records: Vec<Range<usize>>,
}

/// An index record.
#[derive(Debug)]
struct IndexAt {
    /// In the file.
    range: Range<usize>,
    reference: Reference,
    lsn: Lsn,
    kind: u8,
    /// Of a part of a root.
    number: u8,
    /// Where in the file other index records have its checksum.
    named_at: Vec<usize>,
}

impl Layout {
    /// The layout of `image`; none where neither slot is valid.
    #[must_use]
    pub fn of(image: &[u8]) -> Option<Layout> {
        let superblock = newest_slot(image)?;
        let mut layout =
            Layout { superblock, segments: Vec::new(), frames: Vec::new(), index_records: Vec::new() };
        let (geometry, lineage) = (layout.superblock.geometry, layout.superblock.lineage);
        for physical in 0..geometry.segments_within(image.len() as u64) {
            let start = geometry.segment_offset(physical) as usize;
            let end = image.len().min(start + geometry.segment_bytes() as usize);
            let Some(header) = SegmentHeader::parse(&image[start..end], &lineage, physical) else { continue };
            layout.segments.push(Segment { start, physical });
            match header.kind {
                SegmentKind::Log => layout.find_frames(image, start..end, header.sequence),
                SegmentKind::Index => layout.find_index_records(image, start..end, physical, &header),
            }
        }
        layout.find_references(image);
        Some(layout)
    }

    fn find_frames(&mut self, image: &[u8], segment: Range<usize>, sequence: u64) {
        let geometry = self.superblock.geometry;
        let seed = SegmentSeed::for_segment(&self.superblock.lineage, sequence);
        let bytes = &image[segment.clone()];
        for offset in (geometry.data_start()..bytes.len() as u32).step_by(8) {
            let Some(header) = parse_header(bytes, offset, &seed, geometry.segment_bytes()) else { continue };
            let start = segment.start + offset as usize;
            let records = records(image, start + FRAME_HEADER_LEN, header.record_count);
            self.frames.push(Frame { start, offset, sequence, records });
        }
    }

    fn find_index_records(
        &mut self,
        image: &[u8],
        segment: Range<usize>,
        physical: u32,
        header: &SegmentHeader,
    ) {
        let lineage = &self.superblock.lineage;
        let bytes = &image[segment.clone()];
        for offset in (self.superblock.geometry.data_start()..bytes.len() as u32).step_by(8) {
            let mut place = IndexPlace { lineage, physical, offset, lsn: header.first_lsn };
            let Ok((record, extent)) = IndexRecord::find(&bytes[offset as usize..], &mut place) else {
                continue;
            };
            let (kind, start) = (record.kind.byte(), segment.start + offset as usize);
            self.index_records.push(IndexAt {
                range: start..start + extent.len,
                reference: Reference { physical, offset, len: extent.len as u32, crc: extent.crc },
                lsn: place.lsn,
                kind,
                number: record.body.first().copied().unwrap_or_default(),
                named_at: Vec::new(),
            });
        }
    }

    /// Where index records refer to each other; but for what is cut between two parts of a root.
    fn find_references(&mut self, image: &[u8]) {
        self.index_records.sort_by_key(|record| (record.kind, record.number));
        let places = self.index_records.iter().enumerate();
        let places: BTreeMap<(u32, u32), usize> =
            places.map(|(at, record)| ((record.reference.physical, record.reference.offset), at)).collect();
        let ranges: Vec<_> = self.index_records.iter().map(|record| record.range.clone()).collect();
        for range in ranges {
            for at in range.start + INDEX_HEAD_LEN..range.end {
                let mut rest = &image[at..range.end];
                let Some(reference) = Reference::take(&mut rest) else { continue };
                let Some(named) = places.get(&(reference.physical, reference.offset)) else { continue };
                let named = &mut self.index_records[*named];
                if named.reference == reference {
                    named.named_at.push(range.end - rest.len() - 4);
                }
            }
        }
    }

    /// The place that choices from `input` lead to: what kind of place, which one of them, and for a record which in its frame.
    pub(crate) fn place(&self, kind: u8, input: &mut Input<'_>) -> Option<Range<usize>> {
        let which = usize::from(input.byte());
        let nth = |len: usize| (len > 0).then(|| which % len);
        match kind {
            0 => {
                let start = SLOT_OFFSETS[which % 2] as usize;
                Some(start..start + SLOT_LEN)
            }
            1 => {
                let start = self.segments[nth(self.segments.len())?].start;
                Some(start..start + SEGMENT_HEADER_LEN)
            }
            2 => {
                let start = self.frames[nth(self.frames.len())?].start;
                Some(start..start + FRAME_HEADER_LEN)
            }
            3 | 4 => {
                let frame = &self.frames[nth(self.frames.len())?];
                frame.records.get(input.short() % frame.records.len().max(1)).cloned()
            }
            5 => {
                let start = self.index_records[nth(self.index_records.len())?].range.start;
                Some(start..start + INDEX_HEAD_LEN)
            }
            _ => {
                let range = &self.index_records[nth(self.index_records.len())?].range;
                Some(range.start + INDEX_HEAD_LEN..range.end)
            }
        }
    }

    /// How many places there are of each kind that `place` tells apart; for records, how many in each frame.
    pub fn counts(&self) -> (usize, usize, Vec<usize>, usize) {
        let records = self.frames.iter().map(|frame| frame.records.len()).collect();
        (self.segments.len(), self.frames.len(), records, self.index_records.len())
    }

    /// Where the records lie, each with the number of its frame and its own in that.
    pub fn records(&self) -> impl Iterator<Item = (usize, usize, Range<usize>)> {
        self.frames.iter().enumerate().flat_map(|(frame, found)| {
            found.records.iter().cloned().enumerate().map(move |(record, range)| (frame, record, range))
        })
    }

    /// Makes every checksum right that edits broke: of records first, since frames cover those, and of slots last, since
    /// they name roots by theirs.
    pub fn reseal(&self, image: &mut [u8]) {
        for segment in &self.segments {
            let end = segment.start + SEGMENT_HEADER_LEN - 4;
            seal(image, segment.start..end, end, crc(&segment.physical.to_le_bytes()));
        }
        for frame in &self.frames {
            self.reseal_frame(image, frame);
        }
        for record in &self.index_records {
            self.reseal_index_record(image, record);
        }
        for slot in SLOT_OFFSETS {
            let slot = slot as usize;
            seal(image, slot..slot + SLOT_LEN - 4, slot + SLOT_LEN - 4, 0);
        }
    }

    fn reseal_frame(&self, image: &mut [u8], frame: &Frame) {
        let Some(header) = image.get(frame.start..frame.start + FRAME_HEADER_LEN) else { return };
        // The LSN may have been edited; the records' seed follows it.
        let incarnation = u32::from_le_bytes(header[12..16].try_into().expect("four bytes"));
        let records = RecordSeed::new(&self.superblock.lineage, incarnation, frame.sequence);
        let seed = SegmentSeed::for_segment(&self.superblock.lineage, frame.sequence).at(frame.offset);
        let mut body = crc_append(seed, &header[8..FRAME_HEADER_LEN]);
        for Range { start, end } in frame.records.iter().cloned() {
            let offset = frame.offset + (start - frame.start) as u32;
            seal(image, start + 4..end, start, records.at(offset));
            body = crc_append(body, image.get(start..start + 4).unwrap_or_default());
        }
        image[frame.start + 4..frame.start + 8].copy_from_slice(&body.to_le_bytes());
        seal(image, frame.start + 4..frame.start + FRAME_HEADER_LEN, frame.start, seed);
    }

    fn reseal_index_record(&self, image: &mut [u8], record: &IndexAt) {
        let (start, place) = (record.range.start, record.reference);
        let Some(bytes) = image.get(start..) else { return };
        // A length that an edit made decides how much is covered.
        let len = peek_len(bytes).unwrap_or(record.range.len());
        let seed = RecordSeed::new(&self.superblock.lineage, place.physical, record.lsn.0).at(place.offset);
        seal(image, start + 4..start.saturating_add(len), start, seed);
        let Some(Ok(sum)) = image.get(start..start + 4).map(<[u8; 4]>::try_from) else { return };
        for at in &record.named_at {
            if let Some(named) = image.get_mut(*at..at + 4) {
                named.copy_from_slice(&sum);
            }
        }
        for at in SLOT_OFFSETS.into_iter().flat_map(|slot| REFERENCES.map(|at| slot as usize + at)) {
            let is_named = image[at + ROOT_PHYSICAL..][..4] == place.physical.to_le_bytes()
                && image[at + ROOT_OFFSET..][..4] == place.offset.to_le_bytes();
            if is_named {
                image[at + ROOT_CRC..][..4].copy_from_slice(&sum);
            }
        }
    }
}

/// Writes the checksum of the bytes in `range` to `at`; nothing where the edits cut the file before that.
fn seal(image: &mut [u8], range: Range<usize>, at: usize, seed: u32) {
    let Some(covered) = image.get(range) else { return };
    let sum = crc_append(seed, covered);
    if let Some(place) = image.get_mut(at..at + 4) {
        place.copy_from_slice(&sum.to_le_bytes());
    }
}

fn newest_slot(image: &[u8]) -> Option<Superblock> {
    let slots = SLOT_OFFSETS.iter().enumerate().filter_map(|(index, &offset)| {
        match parse_slot(image.get(offset as usize..)?.first_chunk::<SLOT_LEN>()?, index) {
            Slot::Valid(superblock) => Some(*superblock),
            _ => None,
        }
    });
    slots.max_by_key(|slot| slot.generation)
}

/// Where the records of a frame lie whose body begins at `at`.
fn records(image: &[u8], mut at: usize, count: u32) -> Vec<Range<usize>> {
    let mut records = Vec::new();
    for _ in 0..count {
        let Some(len) = image.get(at..).and_then(peek_len).filter(|len| at + len <= image.len()) else {
            break;
        };
        records.push(at..at + len);
        at += len;
    }
    records
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{aged_store, sample_store};

    #[test]
    fn sealing_a_file_that_nobody_edited_changes_nothing() {
        for sample in [sample_store(), aged_store()] {
            let layout = Layout::of(&sample).unwrap();
            let mut image = sample.clone();
            layout.reseal(&mut image);
            assert!(image == sample);
        }
    }

    #[test]
    fn every_kind_of_place_is_found_and_an_edit_in_it_is_sealed() {
        let sample = aged_store();
        let layout = Layout::of(&sample).unwrap();
        let before = layout.counts();
        // In each place a byte that no length, no number and no other place depends on.
        for (kind, at) in [(0, 500), (1, 37), (2, 16), (3, 20), (5, 13), (6, 3)] {
            let place = layout.place(kind, &mut Input::new(&[2, 0, 0])).unwrap();
            let mut image = sample.clone();
            image[place.start + at] ^= 1;
            let edited = image.clone();
            layout.reseal(&mut image);
            assert!(image != edited, "a checksum covers the place, kind {kind}");
            let again = Layout::of(&image).unwrap();
            assert_eq!(again.counts(), before, "kind {kind}");
            let sealed = image.clone();
            again.reseal(&mut image);
            assert!(image == sealed, "nothing is left to seal, kind {kind}");
        }
    }
}
