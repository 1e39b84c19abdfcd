use crate::document::Value;
use crate::error::Error;
use crate::format::SEGMENTS_START;
use crate::format::index_record::IndexRecordKind;
use crate::format::record::Kind;
use crate::storage::{MemoryStorage, Storage};
use crate::sync::Arc;
use crate::{Db, Options, doc};
use std::collections::BTreeSet;

use super::{Fate, Inspector, Outcome, SegmentState, SlotState, Standing, TreeSize, Use, open_on};

const TINY: u32 = 4096;

fn options() -> Options {
    Options::tiny().sector(64).segment_bytes(TINY).create(true).seed(7)
}

/// The bytes of a store after `life`.
fn store(life: impl FnOnce(&Db)) -> Vec<u8> {
    let disk = Arc::new(MemoryStorage::new());
    let db = Db::open_on(Arc::clone(&disk), &options()).unwrap();
    life(&db);
    db.close().unwrap();
    contents(&disk)
}

fn contents(disk: &MemoryStorage) -> Vec<u8> {
    let mut bytes = vec![0; disk.len().unwrap() as usize];
    disk.read_at(0, &mut bytes).unwrap();
    bytes
}

fn disk_of(bytes: &[u8]) -> Arc<MemoryStorage> {
    let disk = MemoryStorage::new();
    disk.write_at(0, bytes).unwrap();
    Arc::new(disk)
}

fn look(bytes: &[u8]) -> Inspector {
    let inspector = open_on(disk_of(bytes)).unwrap();
    check(&inspector);
    inspector
}

/// What holds of every file: the extents are the file, without gaps.
fn check(inspector: &Inspector) {
    let mut at = inspector.file_len().min(SEGMENTS_START);
    for physical in 0..inspector.segment_count() {
        let segment = inspector.segment(physical).unwrap();
        for extent in &segment.extents {
            assert_eq!(extent.at, at, "segment {physical}");
            at += extent.len;
        }
        for frame in &segment.frames {
            let _ = inspector.records(&segment, frame);
        }
    }
    assert_eq!(at, inspector.file_len());
    assert_eq!(inspector.totals().map(|(_, bytes)| bytes).sum::<u64>(), inspector.file_len());
}

fn total(inspector: &Inspector, usage: Use) -> u64 {
    inspector.totals().find(|(other, _)| *other == usage).unwrap().1
}

/// The fates of all records with a fate, of the whole log.
fn fates(inspector: &Inspector) -> Vec<(String, Fate)> {
    let mut fates = Vec::new();
    for physical in 0..inspector.segment_count() {
        let segment = inspector.segment(physical).unwrap();
        for frame in segment.frames.iter().filter(|frame| frame.standing == Standing::InLog) {
            for record in inspector.records(&segment, frame) {
                let key = record.record.key.map(|key| key.to_string()).unwrap_or_default();
                fates.extend(record.fate.map(|fate| (key, fate)));
            }
        }
    }
    fates
}

#[test]
fn a_replaced_and_a_deleted_document_are_dead_and_the_last_one_is_live() {
    let bytes = store(|db| {
        let birds = db.collection("birds");
        birds.put("wren", doc! { "seen": 1 }).unwrap();
        birds.put("wren", doc! { "seen": 2 }).unwrap();
        birds.put("rook", doc! { "seen": 1 }).unwrap();
        birds.delete("rook").unwrap();
    });
    let inspector = look(&bytes);
    let [wren, rook] = [r#""wren""#, r#""rook""#].map(str::to_owned);
    let expected = vec![(wren.clone(), Fate::Dead), (wren, Fate::Live), (rook, Fate::Dead)];
    assert_eq!(fates(&inspector), expected);
    assert!(matches!(inspector.recovery().outcome, Outcome::Opens));
    assert!(inspector.slots().iter().all(|slot| matches!(slot.state, SlotState::Valid(_))));
    assert_eq!(inspector.collections().len(), 1);
    assert_eq!(
        (inspector.collections()[0].name.as_str(), inspector.collections()[0].documents),
        ("birds", 1)
    );
    assert_eq!(total(&inspector, Use::Damaged), 0);
    assert_eq!(total(&inspector, Use::Torn), 0);
    assert!(inspector.watermark() <= inspector.recovery().end.unwrap().lsn);
}

#[test]
fn the_chunks_of_a_long_document_are_as_live_as_the_document() {
    let bytes = store(|db| {
        db.collection("logs").put("long", doc! { "text": Value::Bytes(vec![7; 9000]) }).unwrap();
    });
    let fates = fates(&look(&bytes));
    assert!(fates.len() > 2 && fates.iter().all(|(_, fate)| *fate == Fate::Live), "{fates:?}");
    let dead = store(|db| {
        db.collection("logs").put("long", doc! { "text": Value::Bytes(vec![7; 9000]) }).unwrap();
        db.collection("logs").delete("long").unwrap();
    });
    let inspector = look(&dead);
    assert_eq!(total(&inspector, Use::Live), 0);
    assert!(total(&inspector, Use::Dead) > 9000);
}

/// A store that has been checkpointed and cleaned.
fn aged() -> Vec<u8> {
    store(|db| {
        let birds = db.collection("birds");
        for round in 0..6_i64 {
            for key in 0..60_i64 {
                birds.put(key, doc! { "round": round, "filling": Value::Bytes(vec![1; 60]) }).unwrap();
            }
            birds.put("once", doc! { "round": round }).unwrap();
            db.checkpoint().unwrap();
            while db.maintain().unwrap() {}
        }
        db.compact().unwrap();
        db.checkpoint().unwrap();
        birds.put("last", doc! {}).unwrap();
    })
}

#[test]
fn every_segment_of_an_aged_store_has_its_holder() {
    let bytes = aged();
    let inspector = look(&bytes);
    let states: Vec<_> =
        (0..inspector.segment_count()).map(|physical| inspector.segment(physical).unwrap().state).collect();
    assert_eq!(states.iter().filter(|state| **state == SegmentState::Open).count(), 1, "{states:?}");
    assert!(states.contains(&SegmentState::Checkpoint), "{states:?}");
    assert!(!states.contains(&SegmentState::Unknown), "{states:?}");
    assert_eq!(total(&inspector, Use::Unknown) + total(&inspector, Use::Damaged), 0);
    let live = fates(&inspector).iter().filter(|(_, fate)| *fate == Fate::Live).count();
    assert_eq!(live as u64, inspector.collections()[0].documents);
    assert!(inspector.checkpoints().iter().all(|checkpoint| checkpoint.problem.is_none()));
    let segments = inspector.checkpoints()[0].segments.iter();
    let records = segments.flat_map(|physical| inspector.segment(*physical).unwrap().index_records);
    let newest = inspector.checkpoints()[0].reference.lsn;
    let kinds: BTreeSet<_> =
        records.filter(|record| record.lsn == newest).map(|record| record.kind.byte()).collect();
    assert_eq!(kinds, BTreeSet::from([16, 17, 18]), "a leaf, a directory page and a root");
}

#[test]
fn a_version_that_cleaning_has_moved_says_so() {
    let (disk, options) = (Arc::new(MemoryStorage::new()), options());
    let db = Db::open_on(Arc::clone(&disk), &options).unwrap();
    let birds = db.collection("birds");
    for key in 0..200_i64 {
        birds.put(key, doc! { "filling": Value::Bytes(vec![1; 60]) }).unwrap();
    }
    (0..200_i64).filter(|key| key % 4 > 0).for_each(|key| assert!(birds.delete(key).unwrap()));
    // Cleaned, and not yet given away: that takes two checkpoints.
    let mut moved = 0;
    while db.maintain().unwrap() {
        let inspector = look(&contents(&disk));
        moved = moved.max(fates(&inspector).iter().filter(|(_, fate)| *fate == Fate::Moved).count());
    }
    assert!(moved > 0, "cleaning has moved something");
}

#[test]
fn what_a_torn_commit_left_is_torn_and_the_store_opens() {
    let disk = Arc::new(MemoryStorage::new());
    let db = Db::open_on(Arc::clone(&disk), &options()).unwrap();
    db.collection("birds").put("wren", doc! { "seen": 1 }).unwrap();
    let before = contents(&disk);
    db.collection("birds").put("rook", doc! { "filling": Value::Bytes(vec![9; 500]) }).unwrap();
    let mut bytes = contents(&disk);
    let mut changed = (0..before.len()).filter(|at| bytes[*at] != before[*at]);
    let last = changed.next_back().unwrap();
    bytes[last - 8..].fill(0);
    let inspector = look(&bytes);
    assert!(matches!(inspector.recovery().outcome, Outcome::Opens));
    assert!(total(&inspector, Use::Torn) > 400);
    let open = inspector.segment(inspector.recovery().end.unwrap().physical).unwrap();
    let torn: Vec<_> = open.frames.iter().filter(|frame| frame.standing == Standing::Torn).collect();
    assert!(matches!(torn.as_slice(), [frame] if !frame.is_whole()), "{torn:?}");
}

#[test]
fn a_flipped_bit_shows_where_the_log_breaks_off_by_which_clause_and_what_lies_behind() {
    let mut bytes = store(|db| {
        for key in 0..20_i64 {
            db.collection("birds").put(key, doc! { "seen": "siskin" }).unwrap();
        }
    });
    let at = bytes.windows(6).position(|window| window == b"siskin").unwrap();
    bytes[at] ^= 1;
    let inspector = look(&bytes);
    let Outcome::Refused(Error::Corrupt(corruption)) = &inspector.recovery().outcome else {
        panic!("{:?}", inspector.recovery())
    };
    assert_eq!(corruption.clause.0, "R-4.1");
    assert_eq!(corruption.at, inspector.recovery().end.unwrap().at);
    assert!(total(&inspector, Use::Damaged) > 0 && total(&inspector, Use::Unknown) > 0);
}

#[test]
fn a_damaged_record_before_the_checkpoint_is_damaged_and_its_neighbours_are_live() {
    let mut bytes = store(|db| {
        let documents = ["wren", "siskin", "rook"].map(|name| doc! { "name": name });
        db.collection("birds").insert_many(documents).unwrap();
        db.checkpoint().unwrap();
    });
    let at = bytes.windows(6).position(|window| window == b"siskin").unwrap();
    bytes[at] ^= 1;
    let inspector = look(&bytes);
    assert!(matches!(inspector.recovery().outcome, Outcome::Opens));
    let fates = fates(&inspector);
    assert_eq!(fates, [("1".to_owned(), Fate::Live), ("3".to_owned(), Fate::Live)]);
    assert!(total(&inspector, Use::Damaged) > 0);
}

#[test]
fn without_superblocks_the_segments_are_still_shown() {
    let mut bytes = aged();
    bytes[..8192].fill(0xaa);
    let inspector = look(&bytes);
    assert!(inspector.is_superblock_inferred());
    assert!(matches!(inspector.recovery().outcome, Outcome::Refused(Error::NotHolotype { .. })));
    assert!(fates(&inspector).iter().any(|(_, fate)| *fate == Fate::Live));
}

#[test]
fn no_store_is_a_typed_error() {
    let refusal = |bytes: &[u8]| open_on(disk_of(bytes)).unwrap_err();
    assert!(matches!(refusal(b""), Error::Incomplete));
    assert!(matches!(refusal(&[0; 65_536]), Error::Incomplete));
    assert!(matches!(refusal(b"PK\x03\x04 an archive"), Error::NotHolotype { .. }));
    assert!(matches!(refusal(&[b'x'; 100_000]), Error::NotHolotype { .. }));
}

#[test]
fn looking_at_flipped_and_shortened_files_never_panics_and_always_covers_the_file() {
    let bytes = aged();
    let mut state = 1_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let (mut refused, mut opened) = (0, 0);
    for _ in 0..150 {
        let mut damaged = bytes.clone();
        for _ in 0..1 + random(20) {
            let at = random(damaged.len());
            damaged[at] ^= 1 << random(8);
        }
        if random(3) == 0 {
            damaged.truncate(random(bytes.len()));
        }
        match open_on(disk_of(&damaged)) {
            Ok(inspector) => {
                check(&inspector);
                match inspector.recovery().outcome {
                    Outcome::Opens => opened += 1,
                    Outcome::Refused(_) => refused += 1,
                }
                // Opening the store comes to the same.
                let db = Db::open_on(disk_of(&damaged), &options().read_only(true).verify_index(true));
                let opens = matches!(inspector.recovery().outcome, Outcome::Opens);
                assert_eq!(db.is_ok(), opens, "{:?}", inspector.recovery());
            }
            Err(error) => {
                let typed = matches!(
                    error,
                    Error::NotHolotype { .. }
                        | Error::Incomplete
                        | Error::NewerFormat { .. }
                        | Error::Corrupt(_)
                );
                assert!(typed, "{error}");
            }
        }
    }
    assert!(refused > 0 && opened > 0, "both happen: {refused} refused, {opened} opened");
}

#[test]
fn the_kinds_of_records_are_all_there() {
    let inspector = look(&aged());
    let mut kinds = Vec::new();
    for physical in 0..inspector.segment_count() {
        let segment = inspector.segment(physical).unwrap();
        for frame in &segment.frames {
            kinds.extend(inspector.records(&segment, frame).iter().map(|record| record.record.kind));
        }
    }
    for kind in [Kind::Put, Kind::RelocatedPut, Kind::SegmentFreed] {
        assert!(kinds.contains(&kind), "{kind:?}");
    }
}

#[test]
fn the_trees_of_a_checkpoint_have_the_index_records_that_stand_in_its_segments() {
    let bytes = store(|db| {
        let birds = db.collection("birds");
        birds.insert_many((0..2_000).map(|number| doc! { "n": number % 100 })).unwrap();
        let definition = crate::IndexDefinition::new("by_n", ["$.n"]).unwrap();
        birds.create_index(definition.clone()).unwrap();
        db.checkpoint().unwrap();
    });
    let inspector = look(&bytes);
    let [index] = inspector.indexes() else { panic!("{:?}", inspector.indexes()) };
    assert_eq!((index.of, index.definition.name()), (inspector.collections()[0].id, "by_n"));
    let [newest, ..] = inspector.checkpoints() else { panic!("there is one") };
    let [birds, by_n] = &newest.trees[..] else { panic!("{:?}", newest.trees) };
    assert_eq!((birds.of, by_n.of, by_n.id), (None, Some(birds.id), index.id));
    for tree in [birds, by_n] {
        assert_eq!(tree.entries, 2_000);
        let mut size = TreeSize::default();
        for physical in newest.segments.iter().copied() {
            for record in inspector.segment(physical).unwrap().index_records {
                if (record.lsn, record.collection) == (newest.reference.lsn, tree.id) {
                    let is_leaf = record.kind == IndexRecordKind::Leaf;
                    *if is_leaf { &mut size.leaves } else { &mut size.pages } += 1;
                    size.bytes += u64::from(record.len);
                }
            }
        }
        assert!(size.leaves > 1 && tree.size == Some(size), "{tree:?}, {size:?}");
    }
}
