//! What is read of the file, and how far.

use super::checkpoint::Extent;
use super::image::SegmentImage;
use super::scan::Scan;
use super::start::Start;
use super::*;
use crate::cache::SegmentTable;
use crate::format::frame::{
    CLAIMS_NOTHING, FRAME_HEADER_LEN, FrameFlags, FrameHeader, SegmentSeed, write_header,
};
use crate::format::index_record::Reference;
use crate::format::superblock::{CheckpointRef, Superblock};
use crate::format::{Geometry, Lineage, Lsn};
use crate::index::Layout;
use crate::log::Frames;
use crate::storage::{FailStop, MemoryStorage, Storage, ZERO_FILL_BYTES};
use crate::sync::Arc;
use crate::{Db, Error, Options};

fn tiny() -> Geometry {
    Geometry::new(64, 512).expect("a geometry")
}

/// A file of this many bytes, each other than zero.
fn file(len: u64) -> FailStop {
    let storage = FailStop::new(Box::new(MemoryStorage::new()));
    storage.write_all_at(0, &vec![7; len as usize]).expect("memory takes all");
    storage
}

// spec: F-8.12
#[test]
fn a_checkpoint_that_the_file_does_not_hold_is_damaged_where_that_ends() {
    use crate::format::checkpoint::IndexSource;
    let storage = file(80);
    let slot = Superblock::new(tiny(), Lineage::default());
    let source = File { storage: &storage, slot: &slot, len: 100 };
    let mut bytes = [0; 20];
    assert!(source.read_at(60, &mut bytes).is_ok());
    assert_eq!(bytes, [7; 20]);
    let Err(Error::Corrupt(fault)) = source.read_at(70, &mut bytes) else { panic!("it was read") };
    assert_eq!(fault.at, 80);
}

//= spec/recovery.md#r-1-3-bytes-beyond-the-end
//= type=test
//# Bytes of a segment that lie beyond the end of the file MUST be treated as absent: no frame that
//# extends into them is valid.
#[test]
fn bytes_beyond_the_end_are_absent_whichever_end_is_nearer() {
    let slot = Superblock::new(tiny(), Lineage::default());
    let begins = slot.geometry.segment_offset(1);
    // What the file had when it was opened, and what it has when it is read.
    for (was, is) in [(100, 500), (500, 100), (100, 100)] {
        let storage = file(begins + is);
        for read_unit in [8, 64, 512] {
            let file = File { storage: &storage, slot: &slot, len: begins + was };
            let image = SegmentImage::open(file, read_unit, (1, 1));
            let image = image.expect("memory can be read").expect("it begins in the file");
            let there = |bytes: usize| image.need(&storage, bytes).expect("memory can be read");
            assert!(there(100), "{was} and {is} bytes, {read_unit} at a time");
            assert!(!there(101), "{was} and {is} bytes, {read_unit} at a time");
            assert_eq!(*image.bytes(), [7; 100]);
        }
    }
}

fn checkpoint(lsn: u64, segments: &[(u32, u64)]) -> HeldCheckpoint {
    let lsn = Lsn(lsn);
    let reference = CheckpointRef {
        lsn,
        root: Reference { physical: segments[0].0, offset: 64, len: 9, crc: 0 },
        replay_physical: 0,
        replay_sequence: 0,
        replay_offset: 64,
        replay_lsn: lsn,
    };
    HeldCheckpoint { reference, segments: segments.iter().copied().collect(), is_counted: true }
}

#[test]
fn of_the_named_checkpoints_the_newest_is_the_one_published_last() {
    let mut named = NamedCheckpoints::default();
    assert_eq!((named.newest_bytes(), named.newest_segments(), named.bytes()), (0, 0, 0));
    assert_eq!(named.publish(checkpoint(1, &[(3, 500), (4, 500), (5, 300)])), Vec::<u32>::new());
    assert_eq!((named.newest_bytes(), named.newest_segments(), named.bytes()), (1300, 3, 1300));
    assert_eq!(named.publish(checkpoint(2, &[(5, 100), (7, 600)])), Vec::<u32>::new());
    assert_eq!(named.segments(), [3, 4, 5, 7].into(), "one has records of both");
    assert_eq!((named.newest_bytes(), named.newest_segments(), named.bytes()), (700, 2, 2000));
    assert_eq!(named.publish(checkpoint(3, &[(8, 400)])), [3, 4], "nobody names the oldest");
    assert_eq!((named.newest_bytes(), named.newest_segments(), named.bytes()), (400, 1, 1100));
}

/// The newest slot of a new store.
fn slot_of(disk: &Arc<MemoryStorage>) -> Superblock {
    let options = Options::new().sector(64).segment_bytes(512);
    drop(Db::open_on(Arc::clone(disk), &options).expect("a new store"));
    let storage = FailStop::new(Box::new(Arc::clone(disk)));
    match open_slots(&storage, tiny()).expect("there are slots") {
        Opened::Store { slot, .. } => *slot,
        Opened::Unfinished => panic!("a store was made"),
    }
}

//= spec/recovery.md#r-2-2-continuations
//= type=test
//# A reader MUST NOT accept anything else as following L.
/// The look at each place that asks whether more than the commit itself need be read there.
#[test]
fn an_opening_frame_may_stand_where_a_header_of_a_higher_incarnation_says_so() {
    let disk = Arc::new(MemoryStorage::new());
    let (slot, segments) = (slot_of(&disk), SegmentTable::new(tiny()));
    let storage = FailStop::new(Box::new(Arc::clone(&disk)));
    let file = File::new(&storage, &slot).expect("memory has a length");
    let mut start = Start::find(file, &segments, (Layout::new(4), Extent::Whole)).expect("a new store");
    start.end.lsn = Lsn::new(3, 5);
    let (seed, at) = (SegmentSeed::for_segment(&slot.lineage, 0), tiny().segment_offset(0));
    let place = |offset: u32, incarnation: u32, flags: FrameFlags| {
        let mut bytes = [0; FRAME_HEADER_LEN];
        let header = FrameHeader {
            body_crc: 0,
            lsn: Lsn::new(incarnation, 1),
            durable_lag: CLAIMS_NOTHING,
            body_len: 0,
            part: 0,
            last: true,
            flags,
            record_count: 0,
        };
        write_header(&mut bytes, &header, seed.at(offset), std::iter::empty());
        disk.write_at(at + u64::from(offset), &bytes).expect("memory takes all");
    };
    let last = 512 - FRAME_HEADER_LEN as u32;
    for (offset, incarnation, flags, expected) in [
        (128, 4, FrameFlags::OPENING, true),
        (last, 4, FrameFlags::OPENING, true),
        (128, 3, FrameFlags::OPENING, false),
        (128, 2, FrameFlags::OPENING, false),
        (128, 4, FrameFlags::NONE, false),
    ] {
        let what = format!("{flags:?} of incarnation {incarnation} at {offset}");
        place(offset, incarnation, flags);
        let scan = Scan::begin(file, 64, &start).expect("it can be read");
        let image = scan.image();
        let stands = |offset| scan.may_open(image, offset, 3).expect("it can be read");
        assert_eq!(stands(offset), expected, "{what}");
        assert!(image.bytes().len() < 256, "{what}: no more than the one sector is looked at");
        assert!(image.need(&storage, 512).expect("it can be read"));
        assert_eq!(stands(offset), expected, "{what}, read before");
        place(offset, 9, FrameFlags::OPENING);
        assert_eq!(stands(offset), expected, "{what}: what was read is not read again");
        assert!(!stands(last + 8), "no header has room there");
    }
}

//= spec/format.md#f-2-4-growth
//= type=test
//# A writer MUST fill a grown range with zeros before it places a frame or an index record in it.
#[test]
fn just_the_range_that_has_grown_is_filled_with_zeros() {
    let piece = ZERO_FILL_BYTES as u64;
    for (from, to) in [(10, 11), (64, 64 + piece), (10, 3 * piece - 1)] {
        let storage = file(4 * piece);
        storage.zero_fill(from, to).expect("memory takes all");
        let mut bytes = vec![1; 4 * ZERO_FILL_BYTES];
        storage.read_full(0, &mut bytes).expect("memory can be read");
        let zeros = from as usize..to as usize;
        assert!(bytes[zeros.clone()].iter().all(|byte| *byte == 0), "{from} to {to}");
        assert!(
            bytes[..zeros.start].iter().chain(&bytes[zeros.end..]).all(|byte| *byte == 7),
            "{from} to {to}"
        );
    }
}
