//! What follows the last commit, and what does not.

use holotype::format::body::encode_opening;
use holotype::format::frame::FrameFlags;
use holotype::format::record::{Kind, RecordParts, Replaced};
use holotype::format::segment::{SegmentHeader, SegmentKind};
use holotype::format::{LogAddress, Lsn};
use holotype::{Db, Durability, Error, Options, Value, doc, inspect};

use super::forge::{End, Forge, Frame, n, nameless, options, put, read_all};

fn lsn_of(end: End, incarnations: u32, counts: u32) -> Lsn {
    Lsn::new(end.lsn.incarnation() + incarnations, end.lsn.count() + counts)
}

//= spec/recovery.md#r-1-2-start
//# A reader MUST compare the whole LSN, incarnation included, from the first frame after the start on.
//= spec/recovery.md#r-2-2-continuations
//# A reader MUST NOT accept anything else as following L.
#[test]
fn only_the_next_commit_of_the_same_incarnation_or_an_opening_frame_follows() {
    let store = Forge::new();
    let (end, body) = (store.end(), n(3).encode());
    let with = |lsn: Lsn| {
        let mut store = store.clone();
        store.append(&Frame::new(lsn, vec![put(3, &body)]));
        store.keys()
    };
    assert_eq!(with(lsn_of(end, 0, 1)), ["1", "2", "3"]);
    assert_eq!(with(lsn_of(end, 0, 2)), ["1", "2"], "a count is left out");
    assert_eq!(with(lsn_of(end, 1, 1)), ["1", "2"], "of another incarnation");
    assert_eq!(with(end.lsn), ["1", "2"], "the same again");
}

//= spec/recovery.md#r-2-2-continuations
//# A reader MUST NOT accept anything else as following L.
#[test]
fn an_opening_frame_that_names_another_end_is_not_followed() {
    let store = Forge::new();
    let (end, body) = (store.end(), n(3).encode());
    let geometry = store.newest().geometry;
    let x = geometry.address(end.sequence, end.offset);
    let with = |l: Lsn, x: LogAddress| {
        let mut store = store.clone();
        let opening = Lsn::new(end.lsn.incarnation() + 1, 1);
        let named = encode_opening(l, x);
        let flags = FrameFlags::OPENING | FrameFlags::SYSTEM;
        let frame = Frame::new(opening, vec![nameless(Kind::Opening, &named)]);
        let at = geometry.place(geometry.round_up_sector(end.offset)).expect("there is room");
        store.place(end, at, &Frame { flags, ..frame });
        store.append(&Frame::new(opening.next(), vec![put(3, &body)]));
        store.keys()
    };
    assert_eq!(with(end.lsn, x), ["1", "2", "3"]);
    assert_eq!(with(Lsn(end.lsn.0 - 1), x), ["1", "2"], "another commit");
    assert_eq!(with(end.lsn, LogAddress(x.0 - 8)), ["1", "2"], "another place");
}

//= spec/recovery.md#r-2-2-continuations
//# A reader MUST report corruption when a valid frame with the opening flag stands in a candidate's place, with
//# an incarnation above that of L or with the LSN and the part number that the commit to follow has there, and
//# is no opening frame.
//= spec/recovery.md#r-4-5-the-principle
//# A reader MUST NOT take a valid frame that would continue the log for a torn tail because of what its records
//# say.
#[test]
fn a_valid_frame_with_the_flag_of_an_opening_frame_is_one_or_is_damage() {
    let store = Forge::new();
    let (end, body) = (store.end(), n(3).encode());
    let geometry = store.newest().geometry;
    let opening = Lsn::new(end.lsn.incarnation() + 1, 1);
    let named = encode_opening(end.lsn, geometry.address(end.sequence, end.offset));
    let long = [&named[..], &[0]].concat();
    let names = nameless(Kind::Opening, &named);
    for (what, frame) in [
        ("two records", Frame::new(opening, vec![names, names])),
        ("a record of 17 bytes", Frame::new(opening, vec![nameless(Kind::Opening, &long)])),
        ("a record of kind 0", Frame::new(opening, vec![nameless(Kind::Reserved(0), &named)])),
        ("a put", Frame::new(opening, vec![put(3, &body)])),
        ("a second count", Frame { base: 2, ..Frame::new(opening.next(), vec![names]) }),
        ("two parts", Frame { last: false, ..Frame::new(opening, vec![names]) }),
        ("the LSN of the next commit", Frame::new(end.lsn.next(), vec![put(3, &body)])),
    ] {
        let with = |is_whole, flags| {
            let mut store = store.clone();
            let at = geometry.place(geometry.round_up_sector(end.offset)).expect("there is room");
            store.place(end, at, &Frame { flags, is_whole, ..frame.clone() });
            store
        };
        with(true, FrameFlags::OPENING).assert_corrupt(what);
        assert_eq!(with(false, FrameFlags::OPENING).keys(), ["1", "2"], "{what}: torn");
        assert_eq!(with(true, FrameFlags::OPENING | FrameFlags(1 << 9)).keys(), ["1", "2"], "{what}: newer");
    }
}

//= spec/recovery.md#r-2-2-continuations
//# A reader MUST report corruption when all parts of a commit of incarnation 0 that would follow L are valid.
#[test]
fn a_commit_of_incarnation_0_is_damage() {
    let mut store = Forge::of(&options(), |_| ());
    let geometry = store.newest().geometry;
    let create = doc! { "id": 1, "name": "c", "op": "create" }.encode();
    let at = geometry.data_start();
    let end = End { physical: 0, sequence: 0, start: at, offset: at, lsn: Lsn::ZERO };
    store.change_newest(|slot| slot.incarnation = 0);
    let frame = Frame::new(Lsn::new(0, 1), vec![nameless(Kind::Catalog, &create)]);
    store.place(end, at, &Frame { last: false, ..frame.clone() });
    assert_eq!(store.open().expect("nothing follows").collections(), Vec::<String>::new());
    store.place(end, at, &frame);
    store.assert_corrupt("incarnation 0 has no commits");
}

//= spec/recovery.md#r-2-7-contents
//# A reader MUST report corruption when the record count of a valid frame is not the number of its records.
#[test]
fn a_valid_frame_of_another_number_of_records_than_it_says_is_damage() {
    let (lsn, body) = (Forge::new().end().lsn.next(), n(3).encode());
    for more in [1, 2, u32::MAX] {
        let with = |is_whole| {
            let mut store = Forge::new();
            store.append(&Frame { more, is_whole, ..Frame::new(lsn, vec![put(3, &body)]) });
            store
        };
        with(true).assert_corrupt("its checksums hold");
        assert_eq!(with(false).keys(), ["1", "2"], "they do not");
    }
}

//= spec/format.md#f-5-7-frame-validity
//# A reader MUST refuse the file when the frame that continues the log has a valid header CRC and a flag that
//# it does not know.
#[test]
fn a_frame_that_continues_the_log_with_an_unknown_flag_is_of_a_newer_version() {
    let mut store = Forge::new();
    let (lsn, body) = (store.end().lsn.next(), n(3).encode());
    store.append(&Frame { flags: FrameFlags(1 << 8), ..Frame::new(lsn, vec![put(3, &body)]) });
    store.assert_newer("a flag that nobody knows");
}

//= spec/recovery.md#r-8-1-what-holds-a-place
//# A reader MUST report corruption when a reservation of the last log segment names an index that something
//# else holds, when both name one, and when one is above 4n + 64, where the file has room for n segments, the
//# one in which it ends included: a writer would write over what is in use, or fill the disk.
#[test]
fn a_reservation_of_what_is_in_use_or_far_beyond_the_end_is_damage() {
    let store = Forge::new().lengthened(6);
    let header = store.header(0).expect("it was written at creation");
    let with = |next: u32, after: u32| {
        let mut store = store.clone();
        store.set_header(0, SegmentHeader { next: Some(next), after: Some(after), ..header });
        store
    };
    assert_eq!(with(5, 3).keys(), ["1", "2"]);
    for (next, after, what) in [
        (0, 2, "the segment itself"),
        (2, 0, "the segment itself, later"),
        (3, 3, "one place twice"),
        (4 * 6 + 65, 2, "far beyond the end"),
    ] {
        with(next, after).assert_corrupt(what);
    }
    assert_eq!(with(4 * 6 + 64, 2).keys(), ["1", "2"], "beyond the end, and not far");
}

//= spec/recovery.md#r-9-1-the-segments-in-place
//# When the segment that stood there was not freed at or below the start's LSN, the reader MUST report
//# corruption.
#[test]
fn a_log_that_goes_on_over_a_segment_in_use_is_damage() {
    let sizes = options().segment_bytes(512);
    let mut store = Forge::of(&sizes, |db| {
        (1..=20).for_each(|key| db.collection("c").put(key, n(key)).expect("there is room"));
        db.checkpoint().expect("nothing hinders it");
    });
    let (end, body) = (store.end(), n(3).encode());
    assert!(end.sequence > 1 && end.physical > 0);
    let header = store.header(end.physical).expect("the log has entered it");
    store.set_header(end.physical, SegmentHeader { next: Some(0), ..header });
    let over = End { physical: 0, sequence: end.sequence + 1, ..end };
    let first_lsn = end.lsn.next();
    let header = SegmentHeader {
        kind: SegmentKind::Log,
        sequence: over.sequence,
        first_lsn,
        durable_lsn: Lsn::ZERO,
        prev_end: end.offset,
        next: None,
        after: None,
    };
    store.set_header(0, header);
    store.place(over, 64, &Frame { base: first_lsn.count(), ..Frame::new(first_lsn, vec![put(3, &body)]) });
    let refused = store.open_with(&sizes).map(|db| db.stats());
    let Err(Error::Corrupt(what)) = refused else { panic!("{refused:?}") };
    assert!(what.to_string().contains("in the place of another"), "{what}");
}

//= spec/format.md#f-7-2-ids-and-names
//# A writer MUST NOT give a collection id twice in the life of a store.
//= spec/semantics.md#s-3-5-collection-ids
//# A store MUST NOT give out the id of a collection that any commit in its order gave out.
//= spec/semantics.md#s-3-5-collection-ids
//# When no id is left, the call MUST be refused as `LimitReached`.
#[test]
pub(crate) fn a_collection_id_is_never_given_again() {
    let sizes: Options = options();
    let mut store = Forge::of(&sizes, |db| {
        for _ in 0..3 {
            db.create_collection("c").expect("there is room");
            db.drop_collection("c").expect("there is room");
            db.checkpoint().expect("nothing hinders it");
        }
    });
    let db = store.open().expect("it is sound");
    db.create_collection("c").expect("there is room");
    assert_eq!(db.collection_ids(), [("c".to_owned(), 4)]);
    db.collection("c").put(1, n(1)).expect("there is room");
    db.collection("c").clear().expect("there is room");
    assert_eq!(db.collection_ids(), [("c".to_owned(), 5)], "a collection that is cleared takes a new one");
    // The last id that there is.
    let last = doc! { "id": i64::from(u32::MAX), "name": "z", "op": "create" }.encode();
    let lsn = store.end().lsn.next();
    store.append(&Frame::new(lsn, vec![nameless(Kind::Catalog, &last)]));
    let db = store.open().expect("it is sound");
    assert!(matches!(db.create_collection("d"), Err(Error::LimitReached { .. })));
    assert!(matches!(db.collection("d").put(1, n(1)), Err(Error::LimitReached { .. })));
    assert!(matches!(db.collection("z").clear(), Err(Error::LimitReached { .. })));
    assert_eq!(db.collections(), ["z"]);
}

//= spec/recovery.md#r-2-3-highest-incarnation
//# Where several candidates hold a valid continuation, the reader MUST take the one of the highest
//# incarnation.
#[test]
fn an_opening_frame_wins_over_a_commit_in_front_of_it() {
    let mut store = Forge::of(&options(), |db| {
        for key in 1..=2 {
            // So long that a frame fits behind it into the sector.
            db.collection("c").put(key, doc! { "p": Value::Bytes(vec![7; 20]) }).expect("there is room");
        }
    });
    let (end, body) = (store.end(), n(3).encode());
    let geometry = store.newest().geometry;
    // The commit that a torn tail took, back where the log ended; and the life that did not see it, one sector on.
    store.append(&Frame::new(end.lsn.next(), vec![put(3, &body)]));
    let named = encode_opening(end.lsn, geometry.address(end.sequence, end.offset));
    let opening = Lsn::new(end.lsn.incarnation() + 1, 1);
    let flags = FrameFlags::OPENING | FrameFlags::SYSTEM;
    let at = geometry.round_up_sector(end.offset);
    assert!(geometry.place(end.offset).expect("there is room") < at);
    let short = store.clone();
    store.place(end, at, &Frame { flags, ..Frame::new(opening, vec![nameless(Kind::Opening, &named)]) });
    assert_eq!(short.keys(), ["1", "2", "3"]);
    assert_eq!(store.keys(), ["1", "2"]);
}

//= spec/recovery.md#r-2-3-highest-incarnation
//# Where several candidates hold a valid continuation, the reader MUST take the one of the highest
//# incarnation.
#[test]
fn of_several_opening_frames_the_highest_incarnation_wins_and_of_one_the_first_place() {
    let mut store = Forge::new().lengthened(4);
    let end = store.end();
    let geometry = store.newest().geometry;
    let named = encode_opening(end.lsn, geometry.address(end.sequence, end.offset));
    let flags = FrameFlags::OPENING | FrameFlags::SYSTEM;
    let here = geometry.round_up_sector(end.offset);
    let there = End { physical: 1, sequence: 1, ..end };
    // A life in the segment in which the log ended, with document 3, and one in its successor, with document 4.
    let mut with = |[here_incarnation, there_incarnation]: [u32; 2]| {
        for (segment, offset, incarnation, key) in
            [(end, here, here_incarnation, 3), (there, 64, there_incarnation, 4)]
        {
            let (lsn, body) = (Lsn::new(incarnation, 1), n(key).encode());
            if key == 4 {
                store.set_header(1, second(lsn, end.offset));
            }
            let opening = Frame::new(lsn, vec![nameless(Kind::Opening, &named)]);
            store.place(segment, offset, &Frame { flags, ..opening });
            store.place(segment, offset + 64, &Frame::new(lsn.next(), vec![put(key, &body)]));
        }
        store.keys()
    };
    assert_eq!(with([3, 2]), ["1", "2", "3"]);
    assert_eq!(with([2, 3]), ["1", "2", "4"]);
    assert_eq!(with([2, 2]), ["1", "2", "3"], "no writer leaves that");
}

// spec: F-5.2
#[test]
fn a_frame_that_ends_with_its_segment_is_read_to_its_last_byte() {
    let replaces = Some(Replaced { value: Forge::new().value(1), ended: &[] });
    let delete = |key| RecordParts { kind: Kind::Delete, replaces, ..put(key, &[]) };
    for filling in 0..4096 {
        let mut store = Forge::new();
        let (end, body) = (store.end(), vec![7; filling]);
        let document = doc! { "p": Value::Bytes(body) }.encode();
        let last = store.append(&Frame::new(end.lsn.next(), vec![put(3, &document), delete(1)]));
        // Its last record is shorter than what is looked at of a record to learn its length.
        if store.end().offset == 4096 && last[1] > 4096 - 16 {
            assert_eq!(store.keys(), ["2", "3"]);
            return;
        }
    }
    panic!("no frame ends with the segment");
}

// spec: F-5.7
/// The header holds, each record holds, and they are not of one frame.
#[test]
pub(crate) fn a_frame_whose_header_and_records_are_not_of_one_frame_is_a_torn_tail() {
    let (store, body) = (Forge::new(), n(3).encode());
    let with = |is_whole: bool| {
        let mut store = store.clone();
        store.append(&Frame { is_whole, ..Frame::new(store.end().lsn.next(), vec![put(3, &body)]) });
        store.keys()
    };
    assert_eq!(with(true), ["1", "2", "3"]);
    assert_eq!(with(false), ["1", "2"]);
}

/// The header of a segment 1 that begins with the next commit, and that commit in it.
fn successor(store: &mut Forge, physical: u32, prev_end: u32, body: &[u8]) {
    let end = store.end();
    let first_lsn = end.lsn.next();
    store.set_header(physical, second(first_lsn, prev_end));
    let frame = Frame { base: first_lsn.count(), ..Frame::new(first_lsn, vec![put(3, body)]) };
    store.place(End { physical, sequence: 1, ..end }, 64, &frame);
}

fn second(first_lsn: Lsn, prev_end: u32) -> SegmentHeader {
    let (kind, next, after) = (SegmentKind::Log, None, None);
    SegmentHeader { kind, sequence: 1, first_lsn, durable_lsn: Lsn::ZERO, prev_end, next, after }
}

// spec
#[test]
pub(crate) fn a_segment_whose_predecessor_ended_elsewhere_is_no_successor() {
    let (store, body) = (Forge::new().lengthened(4), n(3).encode());
    let with = |prev_end: u32| {
        let mut store = store.clone();
        successor(&mut store, 1, prev_end, &body);
        store.keys()
    };
    let end = store.end().offset;
    assert_eq!(with(end), ["1", "2", "3"]);
    assert_eq!(with(end - 8), ["1", "2"]);
}

// spec
#[test]
pub(crate) fn where_no_successor_is_named_the_log_goes_on_in_whichever_fits() {
    let (mut store, body) = (Forge::new().lengthened(6), n(3).encode());
    let (end, header) = (store.end(), store.header(0).expect("it was written at creation"));
    store.set_header(0, SegmentHeader { next: None, after: None, ..header });
    successor(&mut store, 3, end.offset, &body);
    assert_eq!(store.keys(), ["1", "2", "3"]);
    // A life that came to nothing left a header in front of it.
    store.set_header(2, second(Lsn::new(end.lsn.incarnation() + 1, 1), end.offset));
    assert_eq!(store.keys(), ["1", "2", "3"]);
}

// spec
/// Another writer's life: it took incarnation 2, and wrote a commit whose frame states nothing. Then its slot and its opening frame were
/// damaged. The next life has an opening frame and no commit; if it took incarnation 2 as well, the old commit would follow that.
#[test]
pub(crate) fn a_leftover_of_an_incarnation_that_no_slot_names_never_comes_back() {
    let mut store = Forge::new();
    let taken = store.end().lsn.incarnation() + 1;
    let first_of_a_life = {
        let disk = store.disk();
        let db = Db::open_on(disk.clone(), &options()).expect("it is sound");
        db.collection("c").put(3, n(3)).expect("there is room");
        let next = Forge { bytes: read_all(&disk) }.end();
        assert_eq!(next.lsn, Lsn::new(taken, 2));
        next
    };
    let body = n(3).encode();
    let frame = Frame::new(Lsn::new(taken, 2), vec![put(3, &body)]);
    store.place(store.end(), first_of_a_life.start, &frame);
    assert_eq!(store.keys(), ["1", "2"], "its opening frame is not there");
    let disk = store.disk();
    let db = Db::open_on(disk.clone(), &options()).expect("it is sound");
    // Power goes when the opening frame is durable, and the commit that asked for it in memory.
    db.collection("c").with_durability(Durability::Buffered).put(4, n(4)).expect("there is room");
    let cut = Forge { bytes: read_all(&disk) };
    assert_ne!(cut.bytes, store.bytes, "the life has begun");
    assert_eq!(cut.keys(), ["1", "2"]);
}

#[test]
fn the_commits_that_recovery_follows_are_counted() {
    let mut store = Forge::new();
    let body = n(3).encode();
    let count = store.end().lsn.count();
    for more in 1..=3 {
        let key = 2 + i64::from(more);
        store.append(&Frame::new(store.end().lsn.next(), vec![put(key, &body)]));
        let inspector = inspect::open_on(store.disk()).expect("it is sound");
        assert_eq!(inspector.recovery().commits, u64::from(count + more));
        let report = store.open().expect("it is sound").verify(true).expect("it can be read");
        assert_eq!(report.commits, u64::from(count + more));
    }
}
