//! What the records of a valid frame say.

use holotype::document::Value;
use holotype::format::LogAddress;
use holotype::format::body::{encode_chunk, encode_chunk_list, encode_segment_freed};
use holotype::format::frame::FrameFlags;
use holotype::format::record::{Kind, RecordParts};
use holotype::{Error, IndexDefinition, KeyRef, doc};

use super::forge::{Forge, Frame, n, nameless, options, put};

/// The store with a commit of this record behind its own.
fn with(record: RecordParts<'_>) -> Forge {
    let mut store = Forge::new();
    let lsn = store.end().lsn.next();
    let system = !record.kind.has_key() && record.kind != Kind::Catalog;
    let flags = if system { FrameFlags::SYSTEM } else { FrameFlags::NONE };
    store.append(&Frame { flags, ..Frame::new(lsn, vec![record]) });
    store
}

//= spec/versions.md#c-2-4-refused-is-not-corrupt
//# A reader that refuses because of something it does not know MUST say that a newer version wrote it, and
//# not that the file is corrupt.
//= spec/format.md#f-6-3-kinds
//# A reader MUST refuse a frame that is to be replayed and holds a record of a kind below 128 that it does
//# not know.
//= spec/format.md#f-6-3-kinds
//# A reader MUST skip a record of a kind of 128 or more that it does not know.
#[test]
fn a_record_of_an_unknown_kind_is_refused_below_128_and_skipped_from_there_on() {
    for kind in [9, 12, 13, 127] {
        with(nameless(Kind::Reserved(kind), b"?")).assert_newer(&format!("kind {kind}"));
    }
    for kind in [128, 255] {
        assert_eq!(with(nameless(Kind::Skippable(kind), b"?")).keys(), ["1", "2"]);
    }
}

//= spec/format.md#f-7-1-catalog-records
//# A reader MUST refuse, as a newer format, a catalog record whose `op` it does not know.
#[test]
fn a_change_of_the_catalog_that_is_not_known_is_of_a_newer_version() {
    let merge = doc! { "id": 1, "into": 2, "op": "merge" }.encode();
    with(nameless(Kind::Catalog, &merge)).assert_newer("an op that nobody knows");
    let required = doc! { "id": 9, "name": "d", "op": "create", "order": "hashed", "required": ["order"] };
    with(nameless(Kind::Catalog, &required.encode())).assert_newer("a key that must be known");
}

//= spec/recovery.md#r-2-7-contents
//# A commit whose frames are valid and whose records break F-6 or F-7 MUST be reported as corruption; a
//# record kind, flag or frame flag that F-5 and F-6 ask to refuse MUST be reported as a newer format.
#[test]
fn records_that_break_the_format_in_a_valid_frame_are_damage() {
    let twice = doc! { "id": 1, "name": "d", "op": "create" }.encode();
    let of_nothing = doc! { "id": 7, "op": "drop" }.encode();
    let body = n(3).encode();
    for (what, record) in [
        ("a change of the catalog that is no map", nameless(Kind::Catalog, &[0x01])),
        ("an id given twice", nameless(Kind::Catalog, &twice)),
        ("the end of a collection that is not there", nameless(Kind::Catalog, &of_nothing)),
        ("a freed record of a wrong length", nameless(Kind::SegmentFreed, &[0; 11])),
        ("a record that counts itself to another commit", RecordParts { commit: 1, ..put(3, &body) }),
    ] {
        with(record).assert_corrupt(what);
    }
}

//= spec/recovery.md#r-9-4-freed-records
//# The reader MUST report corruption when the record names the segment in which it stands, or a segment that
//# is not in place at that physical index by then.
#[test]
fn a_freed_record_that_names_no_segment_in_place_is_damage() {
    for (sequence, physical) in [(5, 5), (0, 1), (1, 0), (0, 0)] {
        let body = encode_segment_freed(sequence, physical);
        with(nameless(Kind::SegmentFreed, &body)).assert_corrupt("no such segment is there");
    }
}

//= spec/format.md#f-7-4-order-in-a-commit
//# A reader MUST treat a record of a collection that is unknown at that point of the log as dead.
#[test]
fn a_record_of_a_collection_that_is_unknown_at_that_point_is_dead() {
    let (lsn, body) = (Forge::new().end().lsn.next(), n(3).encode());
    let create = doc! { "id": 9, "name": "late", "op": "create" }.encode();
    let in_nine = RecordParts { collection: 9, ..put(3, &body) };
    let count = |records: Vec<RecordParts<'_>>| {
        let mut store = Forge::new();
        store.append(&Frame::new(lsn, records));
        assert_eq!(store.keys(), ["1", "2"]);
        store.open().expect("it is sound").collection("late").len().ok()
    };
    let created = nameless(Kind::Catalog, &create);
    assert_eq!(count(vec![in_nine]), None, "no such collection begins");
    assert_eq!(count(vec![in_nine, created]), Some(0), "it begins behind the put");
    assert_eq!(count(vec![created, in_nine]), Some(1), "it begins in front of it");
}

//= spec/format.md#f-6-7-chunk-list
//# A reader MUST report a document as corrupt when its list leads to anything but these chunks, in their
//# order and of that length altogether.
#[test]
fn a_chunk_list_that_leads_elsewhere_is_damage() {
    let document = doc! { "t": Value::Bytes(vec![7; 60]) }.encode();
    let (first, second) = document.split_at(30);
    let chunk = |number, bytes: &[u8]| {
        let mut body = Vec::new();
        encode_chunk(number, bytes, &mut body);
        body
    };
    let (first, second) = (chunk(0, first), chunk(1, second));
    let store = Forge::new();
    let (end, lsn) = (store.end(), store.end().lsn.next());
    let read = |len: u64, order: &[usize], key: i64| {
        let mut store = store.clone();
        let chunks = [&first, &second].map(|body| RecordParts { kind: Kind::Chunk, ..put(3, body) });
        let at = store.append(&Frame { last: false, ..Frame::new(lsn, chunks.to_vec()) });
        let at: Vec<LogAddress> =
            at.into_iter().map(|offset| store.newest().geometry.address(end.sequence, offset)).collect();
        let listed: Vec<LogAddress> = order.iter().map(|index| at[*index]).collect();
        let mut list = Vec::new();
        encode_chunk_list(len, &listed, &mut list);
        let record = RecordParts { chunked: true, ..put(key, &list) };
        store.append(&Frame { part: 1, ..Frame::new(lsn, vec![record]) });
        let db = store.open().expect("the list is looked at when it is read");
        let read = db.collection("c").get(key);
        assert!(db.collection("c").get(1).expect("it is sound").is_some());
        read.map(|found| found.expect("it was put").bytes().to_vec())
    };
    let len = document.len() as u64;
    assert_eq!(read(len, &[0, 1], 3).expect("this is the list"), document);
    for (what, found) in [
        ("the other order", read(len, &[1, 0], 3)),
        ("one twice", read(len, &[0, 0], 3)),
        ("one too few", read(len, &[0], 3)),
        ("another length", read(len + 1, &[0, 1], 3)),
        ("those of another key", read(len, &[0, 1], 4)),
    ] {
        assert!(matches!(found, Err(Error::Corrupt(_))), "{what}: {found:?}");
    }
}

//= spec/format.md#f-8-4-primary-leaves
//# A reader MUST report a document as corrupt when there is no such segment in place or no such
//# stretch, or when what stands there is not a valid put or relocated put of that collection and key.
#[test]
fn an_entry_that_leads_elsewhere_is_damage_of_its_document_alone() {
    let mut store = Forge::of(&options(), |db| {
        (1..=3).for_each(|key| db.collection("c").put(key, n(key)).expect("there is room"));
        db.checkpoint().expect("nothing hinders it");
    });
    // The last frame is that of document 3. The checkpoint leads there, and the log is read from behind it.
    let end = store.end();
    let body = n(3).encode();
    // A commit of its own hand-over: it begins a sector, and ends in it.
    let offset = (end.offset - 1) / 64 * 64;
    assert_eq!(store.open().expect("it is sound").collection("c").len().expect("it is there"), 3);
    for (what, record) in [
        ("of another key", put(4, &body)),
        ("of another collection", RecordParts { collection: 2, ..put(3, &body) }),
        ("no put", RecordParts { kind: Kind::Chunk, key: Some(KeyRef::Int(3)), ..put(3, &body) }),
    ] {
        store.place(end, offset, &Frame::new(end.lsn, vec![record]));
        assert_eq!(store.end(), end, "{what}: the frame is as long as before");
        let db = store.open().expect("entries are looked at when they are read");
        let found = db.collection("c").get(3).map(|found| found.is_some());
        assert!(matches!(found, Err(Error::Corrupt(_))), "{what}: {found:?}");
        assert!(db.collection("c").get(2).expect("it is sound").is_some());
    }
}

//= spec/index.md#i-8-2-damage
//= type=test
//# A reader MUST then refuse what asks the index as `Corrupt`, and go on with the documents.
#[test]
fn a_document_that_fits_into_no_entry_costs_the_index_and_nothing_else() {
    let by_n = || IndexDefinition::new("by_n", ["$.n"]).expect("a definition");
    let mut store = Forge::of(&options(), |db| {
        db.collection("c").put(1, n(1)).expect("room");
        db.collection("c").create_index(by_n()).expect("room");
    });
    let (long, body) = ("k".repeat(1000), n(2).encode());
    let refused = store.open().expect("a sound file").collection("c").put(long.as_str(), n(2));
    assert!(matches!(refused, Err(Error::KeyTooLong { .. })), "{refused:?}");
    let record = RecordParts { key: Some(KeyRef::Text(&long)), ..put(0, &body) };
    store.append(&Frame::new(store.end().lsn.next(), vec![record]));
    let db = store.open().expect("the documents are sound");
    let c = db.collection("c");
    assert_eq!((c.len().expect("no damage"), c.get(long.as_str()).expect("no damage").is_some()), (2, true));
    let asked = c.index("by_n").get(1).map(drop);
    assert!(matches!(&asked, Err(Error::Corrupt(damage)) if damage.clause.0 == "I-8.2"), "{asked:?}");
    let report = db.verify(true).expect("it is told of, and does not end the check");
    assert!(report.problems.iter().any(|problem| problem.clause.0 == "I-8.2"), "{:?}", report.problems);
    // The document can go, and without it the index can be made again.
    assert!(c.delete(long.as_str()).expect("room"));
    c.drop_index("by_n").expect("it is there");
    c.create_index(by_n()).expect("room");
    assert_eq!(c.index("by_n").count(..).expect("no damage"), 1);
}
