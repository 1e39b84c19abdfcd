use std::collections::BTreeMap;

use super::*;
use crate::doc;
use crate::document::KEY_LEN_MAX;
use proptest::prelude::*;

fn round_trip(geometry: Geometry, given: &Given) -> (Disk, Written) {
    let mut disk = Disk::new(geometry);
    let (reference, written) = given.write(&mut disk);
    assert_eq!(&read(&disk, geometry, &reference).expect("a sound checkpoint"), given);
    let checkpoint = Checkpoint::open(&disk, geometry, &LINEAGE, &reference).expect("a sound checkpoint");
    assert_eq!(checkpoint.places(), segments_of(&written));
    (disk, written)
}

fn ints(count: i64) -> Vec<(Key, u64)> {
    (0..count).map(|id| (Key::Int(id + 1), 4 * (100 + id as u64 * 57))).collect()
}

// spec: F-8.7
#[test]
fn an_empty_store_has_a_checkpoint_of_a_root() {
    let (disk, written) = round_trip(Geometry::default(), &Given::new(Vec::new()));
    assert_eq!((records(&disk, LSN).len(), &segments_of(&written)[..]), (1, &[LOG_SEGMENTS][..]));
}

// spec: F-8.4, F-8.7, F-8.13
#[test]
fn trees_of_many_directory_pages_come_back_in_the_smallest_records() {
    let text = |n: u64| (Key::from(format!("{n:03}{:097}", 0)), 4 * (n + 1));
    let given = Given::new(vec![
        Collection::new(1, ints(3000)),
        Collection::new(2, Vec::new()),
        Collection::new(3, (0..600).map(text).collect()),
    ]);
    let (disk, _) = round_trip(tiny(), &given);
    let found = records(&disk, LSN);
    let count = |kind| found.iter().filter(|(_, found, _)| *found == kind).count();
    // Four keys of 102 bytes in a leaf, three leaves in a page; and what leads to those is longer than a record.
    assert!(count(IndexRecordKind::Leaf) > 140, "{found:?}");
    assert!(count(IndexRecordKind::Directory) > 40, "{found:?}");
    assert!(count(IndexRecordKind::Root) > 10, "{found:?}");
}

// spec: F-8.6
#[test]
fn a_segment_with_more_rows_than_fit_into_a_record_comes_back_whole() {
    for geometry in [tiny(), Geometry::default()] {
        let start = geometry.data_start();
        let mut given = Given::new(Vec::new());
        let mut long = segment(5, 1);
        long.live = (1..400).map(|collection| (collection, collection * 7)).collect();
        long.stretches = (1..200).map(|n| (start + n, Lsn::new(n + 1, 1))).collect();
        let mut freed = Segment { live: Vec::new(), ..segment(4, 2) };
        freed.row.freed = LSN;
        given.table = vec![freed, long, segment(6, 0)];
        given.table[0].stretches = vec![(start + 64, Lsn::new(4, 1))];
        for entry in &mut given.table {
            entry.row.end = start + 448;
        }
        round_trip(geometry, &given);
    }
}

// spec: F-8.9
#[test]
fn a_checkpoint_holds_the_segments_of_its_root_and_of_its_trees() {
    for count in (0..2500).step_by(31) {
        let (disk, written) = round_trip(tiny(), &Given::new(vec![Collection::new(1, ints(count))]));
        assert_eq!(segments_of(&written), disk.segments(), "{count}");
    }
}

//= spec/format.md#f-7-3-unknown-keys
//= type=test
//# A writer MUST keep keys of a catalog map that it does not know when it writes the entry again.
#[test]
fn fields_that_are_not_known_are_kept() {
    let mut given = Given::new(Vec::new());
    given.kept = doc! { "colour": "green", "x": [1, { "deep": null }], "required": ["lsn", "log"] };
    round_trip(tiny(), &given);
    let mut disk = Disk::new(tiny());
    let kept = doc! { "a": 1, "indexes": [2] };
    let entry = CatalogEntry { id: 9, name: "birds".into(), next: 1 << 63, count: 0, tree: Vec::new(), kept };
    given.last = 9;
    let mut writer = IndexWriter::new(disk.geometry, &LINEAGE, LSN, LSN, None);
    let written = writer.finish(&mut disk, given.root(LSN, vec![entry.clone()])).expect("a checkpoint");
    let reference = given.reference(LSN, &written);
    let checkpoint = Checkpoint::open(&disk, tiny(), &LINEAGE, &reference).expect("a sound checkpoint");
    assert_eq!(checkpoint.root().catalog, [entry]);
}

#[cfg(feature = "seeded")]
#[test]
fn unknown_keys_that_are_forgotten_go_not_unnoticed() {
    crate::seeded::assert_noticed(
        crate::seeded::Bug::UnknownKeysForgotten,
        fields_that_are_not_known_are_kept,
    );
}

//= spec/format.md#f-8-11-index-records
//= type=test
//# The CBOR form of a key MUST have at most a third of what is left of the longest index record without
//# 66 bytes, so that a directory page has room for two leaves.
#[test]
fn keys_of_every_length_fit_from_segments_of_4_kib_on() {
    for (sector, segment_bytes) in [(64, 4096), (512, 4096), (4096, 32_768)] {
        let geometry = Geometry::new(sector, segment_bytes).expect("a geometry");
        let longest = |n: u64| {
            let mut key = vec![0xff; KEY_LEN_MAX];
            key[KEY_LEN_MAX - 8..].copy_from_slice(&(u64::MAX - 100 + n).to_le_bytes().map(u8::reverse_bits));
            key
        };
        let keys: BTreeMap<Key, u64> = (0..100).map(|n| (Key::from(longest(n)), 4 * (n + 1))).collect();
        let mut given = Given::new(vec![Collection::new(1, keys.into_iter().collect())]);
        given.table[0].row.end = sector;
        round_trip(geometry, &given);
    }
}

//= spec/format.md#f-8-11-index-records
//= type=test
//# The CBOR form of a key MUST have at most a third of what is left of the longest index record without
//# 66 bytes, so that a directory page has room for two leaves.
#[test]
fn a_key_for_which_records_are_too_short_is_refused_when_it_is_pushed() {
    let mut disk = Disk::new(tiny());
    let mut writer = IndexWriter::new(disk.geometry, &LINEAGE, LSN, LSN, None);
    let len_max = tiny().checkpoint_key_len_max();
    let mut tree = writer.tree(1, None);
    let longest = "x".repeat(len_max - 2);
    let mut out = Output { writer: &mut writer, sink: &mut disk };
    tree.push(&mut out, (Key::from(longest.clone()).as_ref(), 4), true).expect("room for the longest key");
    assert!(tree.push(&mut out, (Key::from(longest + "y").as_ref(), 8), true).is_err());
}

// spec: F-8.4
#[test]
fn ints_that_are_further_apart_than_a_difference_can_say_come_back() {
    let keys = [i64::MIN, i64::MIN + 1, -1, 0, i64::MAX - 1, i64::MAX];
    let entries = keys.iter().map(|&key| (Key::Int(key), (1 << 57) - 1)).collect();
    round_trip(tiny(), &Given::new(vec![Collection::new(1, entries)]));
}

#[test]
fn a_checkpoint_goes_down_in_pieces_however_long_its_segments_are() {
    let geometry = Geometry::new(512, 4 << 20).expect("a geometry");
    let entries = (0..400_000).map(|id| (Key::Int(id * 3), 4 * (1 + id as u64 * 57))).collect();
    let (disk, written) = round_trip(geometry, &Given::new(vec![Collection::new(1, entries)]));
    assert!(disk.writes as u64 > written.bytes / (300 * 1024), "{} writes", disk.writes);
    let most = written.bytes / (200 * 1024) + segments_of(&written).len() as u64;
    assert!(disk.writes as u64 <= most, "{} writes", disk.writes);
}

fn any_key() -> impl Strategy<Value = Key> {
    prop_oneof![
        (-200_i64..5000).prop_map(Key::Int),
        any::<i64>().prop_map(Key::Int),
        "[ab]{0,6}".prop_map(Key::from),
        "\\PC{0,25}".prop_map(Key::from),
        prop::collection::vec(any::<u8>(), 0..100).prop_map(Key::from),
        prop::collection::vec(0_u8..2, 0..12).prop_map(Key::from),
    ]
}

fn any_collections() -> impl Strategy<Value = Vec<Collection>> {
    let entries = prop::collection::btree_map(any_key(), 4_u64..1 << 57, 0..300);
    prop::collection::btree_map(1_u32.., entries, 0..4).prop_map(|collections| {
        let collections = collections.into_iter();
        collections.map(|(id, entries)| Collection::new(id, entries.into_iter().collect())).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    // spec: F-8
    #[test]
    fn whatever_is_written_comes_back(collections in any_collections()) {
        round_trip(tiny(), &Given::new(collections.clone()));
        round_trip(Geometry::default(), &Given::new(collections));
    }
}
