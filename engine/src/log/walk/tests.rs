//! A walk tells a frame that goes on with the log from one that only looks like it.

use super::super::fixtures::{BEFORE, KEY, LINEAGE, ending, geometry, put};
use super::*;
use crate::Error;
use crate::format::frame::{FRAME_HEADER_LEN, FrameFlags, write_header};
use crate::format::record::{Kind, RecordParts};

/// A segment in the making, frame by frame.
struct Made {
    segment: Arc<Segment>,
    bytes: Vec<u8>,
}

impl Made {
    fn new() -> Self {
        let segment = Arc::new(Segment::new(&LINEAGE, geometry(), 0, 3, BEFORE.next()));
        Made { segment, bytes: vec![0; 64] }
    }

    /// A frame of one record, whose header may be meddled with, or the checksum that it has of the record.
    fn frame(mut self, lsn: Lsn, (part, last): (u16, bool), flip: u32) -> Self {
        let offset = self.bytes.len() as u32;
        let at = offset + FRAME_HEADER_LEN as u32;
        self.bytes.resize(at as usize, 0);
        let record =
            RecordParts { collection: 1, key: Some(KEY), body: &[7; 10], ..RecordParts::nameless(Kind::Put) };
        let crc = record.encode(self.segment.last_stretch().seed.at(at), &mut self.bytes);
        let header = FrameHeader {
            body_crc: 0,
            lsn,
            durable_lag: 0,
            body_len: self.bytes.len() as u32 - at,
            part,
            last,
            flags: FrameFlags::NONE,
            record_count: 1,
        };
        let seed = self.segment.frame_seed.at(offset);
        write_header(&mut self.bytes[offset as usize..], &header, seed, [crc ^ flip].into_iter());
        self.bytes.resize(self.bytes.len().next_multiple_of(64), 0);
        self
    }

    /// How many frames a walk finds, and where it sees damage.
    fn walk(self) -> (usize, Option<(u64, &'static str)>) {
        let end = self.bytes.len() as u32;
        let mut walk = SegmentWalk::new(geometry(), self.segment, self.bytes, end);
        let mut found = 0;
        loop {
            match walk.next() {
                Ok(Some(_)) => found += 1,
                Ok(None) => return (found, None),
                Err(Error::Corrupt(corruption)) => {
                    return (found, Some((corruption.at, corruption.clause.0)));
                }
                Err(error) => panic!("{error}"),
            }
        }
    }
}

/// Where the segment stands in the file: at physical index 3.
const START: u64 = 16_384 + 3 * 512;

#[test]
fn a_frame_goes_on_with_the_log_where_its_commit_is_the_next_or_it_is_a_part_of_the_same() {
    let (first, second, third) = (BEFORE.next(), BEFORE.next().next(), BEFORE.next().next().next());
    let whole = (0, true);
    let broken = |at: u64| Some((START + at, "R-2.1"));
    let cases = [
        ("commit after commit", vec![(first, whole), (second, whole), (third, whole)], None),
        ("a commit of two parts", vec![(first, (0, false)), (first, (1, true)), (second, whole)], None),
        ("the end of a commit that began before", vec![(first, (4, true)), (second, whole)], None),
        ("another commit than that of the segment first", vec![(second, whole)], broken(64)),
        ("one commit too far", vec![(first, whole), (third, whole)], broken(128)),
        ("the same commit again", vec![(first, whole), (first, whole)], broken(128)),
        ("the next, but not from its beginning", vec![(first, whole), (second, (1, true))], broken(128)),
        ("another, from its beginning", vec![(first, whole), (third, (0, false))], broken(128)),
        ("one part too far", vec![(first, (0, false)), (first, (2, true))], broken(128)),
        ("the next within a commit", vec![(first, (0, false)), (second, whole)], broken(128)),
        ("another within a commit", vec![(first, (0, false)), (third, (1, true))], broken(128)),
    ];
    for (name, frames, damage) in cases {
        let sound = frames.len() - usize::from(damage.is_some());
        let made = frames.into_iter().fold(Made::new(), |made, (lsn, part)| made.frame(lsn, part, 0));
        assert_eq!(made.walk(), (sound, damage), "{name}");
    }
}

#[test]
fn a_frame_whose_checksum_is_of_other_records_is_damage() {
    let first = BEFORE.next();
    let made = Made::new().frame(first, (0, true), 0).frame(first.next(), (0, true), 1);
    assert_eq!(made.walk(), (1, Some((START + 128, "F-5.7"))));
}

#[test]
fn a_frame_that_is_cut_off_is_none() {
    // Behind the last whole frame, as many bytes as may be.
    for cut in 0..80 {
        let first = BEFORE.next();
        let mut made = Made::new().frame(first, (0, true), 0);
        let sound = made.bytes.len();
        made = made.frame(first.next(), (0, true), 0);
        made.bytes.truncate(sound + cut);
        let mut walk = SegmentWalk::new(geometry(), made.segment, made.bytes, 512);
        let whole = FRAME_HEADER_LEN + 6 + 3 + 6 + 10;
        assert!(walk.next().is_ok_and(|frame| frame.is_some()));
        assert_eq!(walk.next().is_ok(), cut >= whole, "{cut} bytes of it");
    }
}

#[test]
fn a_walk_finds_what_an_appender_has_placed() {
    let mut log = ending(64, BEFORE);
    for _ in 0..3 {
        log.place(&mut put(KEY, 10)).expect("there is room");
    }
    let mut bytes = vec![0; 64];
    bytes.extend_from_slice(&log.pending()[0].bytes);
    let end = log.end().offset;
    let mut walk = SegmentWalk::new(geometry(), Arc::clone(&log.end().segment), bytes, end);
    let mut found = 0;
    while let Some(frame) = walk.next().expect("it is sound") {
        assert_eq!(walk.records(&frame).count(), 1);
        found += 1;
    }
    assert_eq!(found, 3);
}
