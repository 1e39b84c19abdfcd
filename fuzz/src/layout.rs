//! Where the checksums of a file stand, and what they cover.

use std::ops::Range;

use holotype::format::checksum::{crc, crc_append};
use holotype::format::frame::{FRAME_HEADER_LEN, SegmentSeed, parse_header};
use holotype::format::page::{PAGE_HEADER_LEN, Page};
use holotype::format::record::{RecordSeed, peek_len};
use holotype::format::segment::{SEGMENT_HEADER_LEN, SegmentHeader, SegmentKind};
use holotype::format::superblock::{SLOT_LEN, SLOT_OFFSETS, Slot, Superblock, parse_slot};

use holotype_crash_tests::input::Input;

/// In a slot: the references to the newest checkpoint and to the one before, and in each where its root lies.
const REFERENCES: [usize; 2] = [384, 432];
const ROOT_PHYSICAL: usize = 8;
const ROOT_OFFSET: usize = 12;
const ROOT_CRC: usize = 16;

/// The kind byte of a page header, and what it is for a root.
const PAGE_KIND: usize = 16;
const ROOT_KIND: u8 = 1;

/// The kinds of places that an edit may aim at.
pub(crate) const PLACES: u8 = 7;

/// The places of a valid file that an edit may aim at, and all its checksums.
#[derive(Debug)]
pub struct Layout {
    superblock: Superblock,
    segments: Vec<Segment>,
    frames: Vec<Frame>,
    pages: Vec<PageAt>,
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

#[derive(Debug)]
struct PageAt {
    /// In the file.
    range: Range<usize>,
    /// In its segment.
    offset: u32,
    physical: u32,
    checkpoint: u64,
}

impl Layout {
    /// The layout of `image`; none where neither slot is valid.
    #[must_use]
    pub fn of(image: &[u8]) -> Option<Layout> {
        let superblock = newest_slot(image)?;
        let mut layout = Layout { superblock, segments: Vec::new(), frames: Vec::new(), pages: Vec::new() };
        let (geometry, lineage) = (layout.superblock.geometry, layout.superblock.lineage);
        for physical in 0..geometry.segments_within(image.len() as u64) {
            let start = geometry.segment_offset(physical) as usize;
            let end = image.len().min(start + geometry.segment_bytes() as usize);
            let Some(header) = SegmentHeader::parse(&image[start..end], &lineage, physical) else { continue };
            layout.segments.push(Segment { start, physical });
            match header.kind {
                SegmentKind::Log => layout.find_frames(image, start..end, header.sequence),
                SegmentKind::Checkpoint => layout.find_pages(image, start..end, physical, &header),
            }
        }
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

    fn find_pages(&mut self, image: &[u8], segment: Range<usize>, physical: u32, header: &SegmentHeader) {
        let (lineage, checkpoint) = (&self.superblock.lineage, header.first_lsn);
        let bytes = &image[segment.clone()];
        for offset in (self.superblock.geometry.data_start()..bytes.len() as u32).step_by(8) {
            let rest = &bytes[offset as usize..];
            let Some(number) = Page::claimed_number(rest) else { break };
            if let Ok(page) = Page::parse(rest, lineage, checkpoint, number) {
                let start = segment.start + offset as usize;
                let range = start..start + page.page_len();
                self.pages.push(PageAt { range, offset, physical, checkpoint: checkpoint.0 });
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
                let start = self.pages[nth(self.pages.len())?].range.start;
                Some(start..start + PAGE_HEADER_LEN)
            }
            _ => {
                let range = &self.pages[nth(self.pages.len())?].range;
                Some(range.start + PAGE_HEADER_LEN..range.end)
            }
        }
    }

    /// How many places there are of each kind that `place` tells apart; for records, how many in each frame.
    pub fn counts(&self) -> (usize, usize, Vec<usize>, usize) {
        let records = self.frames.iter().map(|frame| frame.records.len()).collect();
        (self.segments.len(), self.frames.len(), records, self.pages.len())
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
        for page in &self.pages {
            self.reseal_page(image, page);
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

    fn reseal_page(&self, image: &mut [u8], page: &PageAt) {
        let start = page.range.start;
        let Some(header) = image.get(start..start + PAGE_HEADER_LEN) else { return };
        let life = crc_append(crc(&self.superblock.lineage), &page.checkpoint.to_le_bytes());
        let seed = crc_append(life, &header[8..12]);
        // A length that an edit made decides how much is covered.
        let len = u32::from_le_bytes(header[4..8].try_into().expect("four bytes")) as usize;
        let is_root = header[PAGE_KIND] == ROOT_KIND;
        seal(image, start + 4..start.saturating_add(len), start, seed);
        if !is_root {
            return;
        }
        let Ok(sum) = <[u8; 4]>::try_from(&image[start..start + 4]) else { return };
        for at in SLOT_OFFSETS.into_iter().flat_map(|slot| REFERENCES.map(|at| slot as usize + at)) {
            let is_named = image[at + ROOT_PHYSICAL..][..4] == page.physical.to_le_bytes()
                && image[at + ROOT_OFFSET..][..4] == page.offset.to_le_bytes();
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
