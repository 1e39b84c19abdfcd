//! What behind the end of the log attests that it once went on, and what does not.

use holotype::format::Lsn;
use holotype::format::body::encode_opening;
use holotype::format::frame::{FRAME_HEADER_LEN, FrameFlags};
use holotype::format::record::Kind;
use holotype::format::segment::{SegmentHeader, SegmentKind};
use holotype::{Value, doc};

use super::forge::{End, Forge, Frame, n, nameless, options};

/// The header of a segment 1, which nothing follows.
fn second(first_lsn: Lsn, durable_lsn: Lsn) -> SegmentHeader {
    let (kind, next, after) = (SegmentKind::Log, None, None);
    SegmentHeader { kind, sequence: 1, first_lsn, durable_lsn, prev_end: 8, next, after }
}

fn later(end: End, counts: u32) -> Lsn {
    Lsn::new(end.lsn.incarnation(), end.lsn.count() + counts)
}

//= spec/recovery.md#r-3-3-where-to-look
//# A reader MUST look at every multiple of 8 from X on in segment q where a frame header can lie.
#[test]
fn a_claim_at_any_place_behind_the_end_is_found() {
    let store = Forge::new();
    let (end, geometry) = (store.end(), store.newest().geometry);
    let mut places = 0;
    for offset in (end.offset..geometry.segment_bytes()).step_by(8) {
        if offset % geometry.sector() + FRAME_HEADER_LEN as u32 > geometry.sector() {
            continue;
        }
        let mut store = store.clone();
        store.place(end, offset, &Frame::claiming(later(end, 9)));
        store.assert_corrupt(&format!("a claim at {offset}"));
        // It states no more than what is there.
        store.place(end, offset, &Frame { durable_lag: 9, ..Frame::claiming(later(end, 9)) });
        assert_eq!(store.keys(), ["1", "2"]);
        places += 1;
    }
    assert!(places > 200);
}

//= spec/recovery.md#r-3-2-what-counts
//# A reader MUST NOT count the claim of a frame or segment header whose incarnation (of its LSN; of its first
//# LSN) is below that of the newest valid slot.
#[test]
fn what_an_earlier_incarnation_claims_does_not_count() {
    let store = Forge::new().lengthened(4);
    let end = store.end();
    let mut by_frame = store.clone();
    by_frame.place(end, 1024, &Frame::claiming(later(end, 9)));
    let mut by_header = store.clone();
    by_header.set_header(1, second(later(end, 9), later(end, 8)));
    for mut store in [by_frame, by_header] {
        store.assert_corrupt("this life of the store attests it");
        // A later one took its incarnation, and power went before its opening frame was there.
        store.change_newest(|slot| slot.incarnation += 1);
        assert_eq!(store.keys(), ["1", "2"]);
    }
}

//= spec/recovery.md#r-3-2-what-counts
//# A reader MUST NOT count the claim of a frame whose LSN is below the first LSN of its segment, as far as
//# that is known, or whose flags it does not know.
#[test]
fn what_a_frame_from_before_its_segment_or_of_unknown_flags_claims_does_not_count() {
    let store = Forge::new().lengthened(4);
    let end = store.end();
    let mut unknown = store.clone();
    unknown.place(end, 1024, &Frame { flags: FrameFlags(1 << 9), ..Frame::claiming(later(end, 9)) });
    assert_eq!(unknown.keys(), ["1", "2"]);
    let in_second = |counts: u32| {
        let mut store = store.clone();
        store.set_header(1, second(later(end, 9), Lsn::ZERO));
        store.place(End { physical: 1, sequence: 1, ..end }, 1024, &Frame::claiming(later(end, counts)));
        store
    };
    in_second(9).assert_corrupt("a frame of the segment's own first commit");
    assert_eq!(in_second(8).keys(), ["1", "2"], "what lay there before");
}

//= spec/recovery.md#r-3-5-no-successor-named
//# Where segment q names no successor, a reader MUST look at the headers of all segments of the file, and
//# follow the chain from each whose header is valid for q + 1.
#[test]
pub(crate) fn where_no_successor_is_named_all_headers_are_looked_at() {
    let mut store = Forge::new().lengthened(6);
    let end = store.end();
    let header = store.header(0).expect("it was written at creation");
    let attests = second(later(end, 9), later(end, 8));
    store.set_header(3, attests);
    assert_eq!(store.keys(), ["1", "2"], "the chain leads elsewhere");
    store.set_header(0, SegmentHeader { next: None, after: None, ..header });
    store.assert_corrupt("no place is named, and the successor stands somewhere");
    store.set_header(3, SegmentHeader { sequence: 2, ..attests });
    assert_eq!(store.keys(), ["1", "2"], "that is no successor");
    // A life that came to nothing left a header, and the next life opened its segment elsewhere.
    store.set_header(2, second(later(end, 1), Lsn::ZERO));
    assert_eq!(store.keys(), ["1", "2"], "it attests nothing");
    store.set_header(3, attests);
    store.assert_corrupt("the second of two successors attests it");
}

//= spec/recovery.md#r-3-3-where-to-look
//# A reader MUST look at every multiple of 8 from X on in segment q where a frame header can lie.
#[test]
fn what_stands_in_front_of_the_end_claims_nothing() {
    let long = || doc! { "p": Value::Bytes(vec![7; 32]) };
    let store = Forge::of(&options(), |db| {
        (1..=3).for_each(|key| db.collection("c").put(key, long()).expect("there is room"));
    });
    let (end, geometry) = (store.end(), store.newest().geometry);
    let mut gaps = 0;
    for offset in (geometry.data_start()..end.offset).step_by(8) {
        let at = geometry.segment_offset(0) as usize + offset as usize;
        let is_gap = store.bytes[at..at + FRAME_HEADER_LEN].iter().all(|byte| *byte == 0);
        if is_gap && geometry.place(offset) == Some(offset) {
            let mut store = store.clone();
            store.place(end, offset, &Frame::claiming(later(end, 9)));
            assert_eq!(store.keys(), ["1", "2", "3"], "a claim at {offset}");
            gaps += 1;
        }
    }
    assert!(gaps > 0, "between two frames is room for a header");
}

// spec
#[test]
fn what_an_opening_frame_names_was_durable_wherever_it_stands() {
    let store = Forge::of(&options().sector(512), |db| {
        (1..=2).for_each(|key| db.collection("c").put(key, n(key)).expect("there is room"));
    });
    let (end, geometry) = (store.end(), store.newest().geometry);
    let x = geometry.address(end.sequence, end.offset);
    let flags = FrameFlags::OPENING | FrameFlags::SYSTEM;
    for offset in (end.offset + 64..end.offset + 512).step_by(8) {
        if offset % geometry.sector() + 64 > geometry.sector() {
            continue;
        }
        let with = |names: Lsn| {
            let (mut store, named) = (store.clone(), encode_opening(names, x));
            let lsn = Lsn::new(end.lsn.incarnation() + 1, 1);
            store.place(
                end,
                offset,
                &Frame { flags, ..Frame::new(lsn, vec![nameless(Kind::Opening, &named)]) },
            );
            store
        };
        with(later(end, 9)).assert_corrupt(&format!("an opening frame at {offset}"));
        assert_eq!(with(Lsn(end.lsn.0 - 1)).keys(), ["1", "2"], "it names less");
    }
}
