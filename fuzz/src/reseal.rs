//! Edits of a valid file, whose checksums are then made right again.
//!
//! Random bytes end at the first checksum. A file made by an enemy, or by a program with a bug, has right checksums over wrong
//! fields; law 2 holds for these files too, and this is how a fuzzer gets behind the checksums.

use std::sync::OnceLock;

use holotype::format::checksum::{crc, crc_append};
use holotype::format::frame::{FRAME_HEADER_LEN, SegmentSeed, parse_header};
use holotype::format::record::{RecordSeed, peek_len};
use holotype::format::segment::{SEGMENT_HEADER_LEN, SegmentHeader};
use holotype::format::superblock::{SLOT_LEN, SLOT_OFFSETS, Slot, Superblock, parse_slot};

use crate::image::file_image;
use crate::input::Input;
use crate::sample::sample_store;

/// More edits than this only hide each other.
const EDITS_MAX: usize = 16;

/// Applies edits to a small valid store: for each, three bytes say where (what kind of place, which one of them, which byte in it) and
/// one what to change the byte by. Makes all checksums right, and opens the result as [`file_image`] does.
///
/// # Panics
/// As [`file_image`].
pub fn resealed_image(bytes: &[u8]) {
    static SAMPLE: OnceLock<(Vec<u8>, Map)> = OnceLock::new();
    let (sample, map) = SAMPLE.get_or_init(|| {
        let sample = sample_store();
        let map = Map::of(&sample);
        (sample, map)
    });
    let mut image = sample.clone();
    let mut input = Input::new(bytes);
    for _ in 0..EDITS_MAX {
        let Some(kind) = input.next() else { break };
        edit(&mut image, map, kind, &mut input);
    }
    map.reseal(&mut image);
    file_image(&image);
}

fn edit(image: &mut Vec<u8>, map: &Map, kind: u8, input: &mut Input<'_>) {
    let which = usize::from(input.byte());
    let (start, len) = match kind % 6 {
        0 => (SLOT_OFFSETS[which % 2] as usize, SLOT_LEN),
        1 => {
            let segment = &map.segments[which % map.segments.len()];
            (segment.start, SEGMENT_HEADER_LEN)
        }
        2 => (map.frames[which % map.frames.len()].start, FRAME_HEADER_LEN),
        3 | 4 => {
            let frame = &map.frames[which % map.frames.len()];
            let Some(record) = frame.records.get(input.short() % frame.records.len().max(1)) else { return };
            *record
        }
        _ => {
            let len = image.len() + 512 - (input.short() % 1024).min(image.len());
            return image.resize(len, 0);
        }
    };
    let at = start + input.short() % len;
    let by = input.byte();
    if let Some(byte) = image.get_mut(at) {
        *byte ^= by;
    }
}

/// Where the checksums of the sample stand, and what they cover.
#[derive(Debug)]
struct Map {
    superblock: Superblock,
    segments: Vec<Segment>,
    frames: Vec<Frame>,
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
    /// Start in the file, and length.
    records: Vec<(usize, usize)>,
}

impl Map {
    fn of(sample: &[u8]) -> Map {
        let superblock = newest_slot(sample);
        let (geometry, lineage) = (superblock.geometry, superblock.lineage);
        let (mut segments, mut frames) = (Vec::new(), Vec::new());
        for physical in 0..geometry.segments_within(sample.len() as u64) {
            let start = geometry.segment_offset(physical) as usize;
            let Some(header) = SegmentHeader::parse(&sample[start..], &lineage, physical) else { continue };
            let sequence = header.sequence;
            segments.push(Segment { start, physical });
            let bytes = &sample[start..sample.len().min(start + geometry.segment_bytes() as usize)];
            let seed = SegmentSeed::for_segment(&lineage, sequence);
            for offset in (geometry.data_start()..geometry.segment_bytes()).step_by(8) {
                let Some(header) = parse_header(bytes, offset, &seed, geometry.segment_bytes()) else {
                    continue;
                };
                let start = start + offset as usize;
                let records = records(sample, start + FRAME_HEADER_LEN, header.record_count);
                frames.push(Frame { start, offset, sequence, records });
            }
        }
        assert!(segments.len() > 3 && frames.len() > 10, "the sample has something of everything");
        Map { superblock, segments, frames }
    }

    /// Makes every checksum right that the edits broke: records first, since frames cover their checksums.
    fn reseal(&self, image: &mut [u8]) {
        for slot in SLOT_OFFSETS {
            let slot = slot as usize;
            seal(image, slot..slot + SLOT_LEN - 4, slot + SLOT_LEN - 4, 0);
        }
        for segment in &self.segments {
            let end = segment.start + SEGMENT_HEADER_LEN - 4;
            seal(image, segment.start..end, end, crc(&segment.physical.to_le_bytes()));
        }
        for frame in &self.frames {
            self.reseal_frame(image, frame);
        }
    }

    fn reseal_frame(&self, image: &mut [u8], frame: &Frame) {
        let Some(header) = image.get(frame.start..frame.start + FRAME_HEADER_LEN) else { return };
        // The LSN may have been edited; the records' seed follows it.
        let incarnation = u32::from_le_bytes(header[12..16].try_into().expect("four bytes"));
        let records = RecordSeed::new(&self.superblock.lineage, incarnation, frame.sequence);
        let mut body = SegmentSeed::for_segment(&self.superblock.lineage, frame.sequence).at(frame.offset);
        let seed = body;
        body = crc_append(body, &header[8..FRAME_HEADER_LEN]);
        for &(start, len) in &frame.records {
            let offset = frame.offset + (start - frame.start) as u32;
            seal(image, start + 4..start + len, start, records.at(offset));
            body = crc_append(body, image.get(start..start + 4).unwrap_or_default());
        }
        image[frame.start + 4..frame.start + 8].copy_from_slice(&body.to_le_bytes());
        seal(image, frame.start + 4..frame.start + FRAME_HEADER_LEN, frame.start, seed);
    }
}

/// Writes the checksum of the bytes in `range` to `at`; nothing where the edits cut the file before that.
fn seal(image: &mut [u8], range: std::ops::Range<usize>, at: usize, seed: u32) {
    let Some(covered) = image.get(range) else { return };
    let sum = crc_append(seed, covered);
    if let Some(place) = image.get_mut(at..at + 4) {
        place.copy_from_slice(&sum.to_le_bytes());
    }
}

fn newest_slot(sample: &[u8]) -> Superblock {
    let slots = SLOT_OFFSETS.iter().enumerate().filter_map(|(index, &offset)| {
        let bytes = sample[offset as usize..].first_chunk::<SLOT_LEN>().expect("the sample has both slots");
        match parse_slot(bytes, index) {
            Slot::Valid(superblock) => Some(*superblock),
            _ => None,
        }
    });
    slots.max_by_key(|slot| slot.generation).expect("the sample is valid")
}

/// Where the records of a frame lie whose body begins at `at`.
fn records(sample: &[u8], mut at: usize, count: u32) -> Vec<(usize, usize)> {
    let mut records = Vec::new();
    for _ in 0..count {
        let len = peek_len(&sample[at..]).expect("the sample is valid");
        records.push((at, len));
        at += len;
    }
    records
}
