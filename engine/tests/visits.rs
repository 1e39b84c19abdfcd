//! A scan that lends its documents lends those that it would give, in the same order, and ends as it would end.

use std::ops::ControlFlow;

use holotype::storage::MemoryStorage;
use holotype::{Collection, Db, Document, Durability, Error, Key, Options, Result, Scan, doc};
use proptest::prelude::*;

/// What a document is told by: key, version, bytes.
type Told = (Key, u64, Vec<u8>);

fn given(scan: Scan) -> (Vec<Told>, Option<Error>) {
    let mut told = Vec::new();
    for document in scan {
        match document {
            Ok(document) => {
                told.push((document.key().to_key(), document.version(), document.bytes().to_vec()));
            }
            Err(error) => return (told, Some(error)),
        }
    }
    (told, None)
}

fn lent(scan: Scan) -> (Vec<Told>, Option<Error>) {
    let mut told = Vec::new();
    let end = scan.visit(|document| {
        told.push((document.key().to_key(), document.version(), document.bytes().to_vec()));
        ControlFlow::<()>::Continue(())
    });
    match end {
        Ok(end) => assert_eq!(end, None, "nobody broke it off"),
        Err(error) => return (told, Some(error)),
    }
    (told, None)
}

fn document(number: u64, len: usize) -> Document {
    doc! { "number": number as i64, "text": "x".repeat(len) }
}

fn tiny() -> Options {
    Options::new().segment_bytes(4096).cache_bytes(16 << 10).durability(Durability::Written)
}

fn any_key() -> impl Strategy<Value = Key> {
    prop_oneof![
        6 => (-3_i64..120).prop_map(Key::Int),
        2 => "[ab]{0,3}".prop_map(|text| Key::Text(text.as_str().into())),
        1 => proptest::collection::vec(0_u8..3, 0..3).prop_map(|bytes| Key::Bytes(bytes.into())),
    ]
}

#[derive(Debug, Clone)]
enum Step {
    Put(Key, usize),
    Delete(Key),
    Checkpoint,
    Compact,
}

fn any_step() -> impl Strategy<Value = Step> {
    let len = prop_oneof![12 => 0_usize..60, 3 => 60_usize..900, 1 => 4000_usize..9000];
    prop_oneof![
        30 => (any_key(), len).prop_map(|(key, len)| Step::Put(key, len)),
        6 => any_key().prop_map(Step::Delete),
        1 => Just(Step::Checkpoint),
        1 => Just(Step::Compact),
    ]
}

fn take(db: &Db, all: &Collection, number: u64, step: &Step) -> Result<()> {
    match step {
        Step::Put(Key::Int(key), len) => all.put(*key, document(number, *len)),
        Step::Put(Key::Text(key), len) => all.put(key.as_str(), document(number, *len)),
        Step::Put(Key::Bytes(key), len) => all.put(key.to_vec(), document(number, *len)),
        Step::Delete(key) => all.delete(key).map(|_| ()),
        Step::Checkpoint => db.checkpoint().map(|_| ()),
        Step::Compact => db.compact().map(|_| ()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn what_is_lent_is_what_is_given(
        steps in proptest::collection::vec(any_step(), 1..250),
        (from, to) in (any_key(), any_key()),
        taken in 0_usize..40,
        is_reversed: bool,
    ) {
        let db = Db::open_on(MemoryStorage::new(), &tiny()).expect("a store");
        let _ = db.create_collection("all").expect("a new name");
        let documents = db.collection("all");
        for (number, step) in steps.iter().enumerate() {
            take(&db, &documents, number as u64, step).expect("room");
        }
        for range in [true, false] {
            let scan = || {
                let scan = if range { documents.scan((
                    std::ops::Bound::Included(from.clone()), std::ops::Bound::Included(to.clone())
                )) } else { documents.scan(..) };
                let mut scan = scan.expect("a collection");
                // Some are given before the rest is lent, perhaps from the other end.
                for _ in 0..taken {
                    let _ = scan.next();
                }
                if is_reversed { scan.reversed() } else { scan }
            };
            let (given, lent) = (given(scan()), lent(scan()));
            prop_assert!(given.1.is_none() && lent.1.is_none());
            prop_assert_eq!(given.0, lent.0);
        }
    }
}

#[test]
fn documents_that_lie_strewn_over_many_blocks_are_lent_as_they_are_given() {
    const COUNT: u64 = 6007;
    for cache in [4 << 20, 64 << 10] {
        let options = Options::new().segment_bytes(4096).cache_bytes(cache).durability(Durability::Buffered);
        let db = Db::open_on(MemoryStorage::new(), &options).expect("a store");
        let documents = db.collection("all");
        for round in 0..2 {
            // Each neighbour in the order of keys is far off in the order of writing, and in one round in another direction.
            for number in 0..COUNT {
                let key = number * (1009 + round * 2003) % COUNT;
                documents.put(key as i64, document(key + round, 30)).expect("room");
            }
            for range in [0_i64..COUNT as i64, 1000..1033, 2000..2300] {
                let scan = || documents.scan(range.clone()).expect("a collection");
                let (given, lent) = (given(scan()), lent(scan()));
                assert!(given.1.is_none() && lent.1.is_none());
                assert_eq!(given.0.len() as i64, range.end - range.start);
                assert!(given.0 == lent.0, "{range:?} with {cache} bytes");
            }
        }
    }
}

#[test]
fn what_is_broken_off_is_lent_no_further() {
    let db = Db::in_memory();
    let all = db.collection("all");
    all.insert_many((0..1000).map(|number| document(number, 20))).unwrap();
    for last in [1, 2, 31, 32, 33, 700] {
        let mut count = 0;
        let end = all.scan(..).unwrap().visit(|document| {
            count += 1;
            if count == last { ControlFlow::Break(document.version()) } else { ControlFlow::Continue(()) }
        });
        assert_eq!((end.unwrap().is_some(), count), (true, last));
    }
    let nothing = all.scan(5000..).unwrap().visit(|_| ControlFlow::Break(()));
    assert_eq!(nothing.unwrap(), None);
}

#[test]
fn what_is_changed_and_moved_meanwhile_is_lent_as_it_was() {
    let db = Db::open_on(MemoryStorage::new(), &tiny()).unwrap();
    let all = db.collection("all");
    let ids = all.insert_many((0..2000).map(|number| document(number, 100))).unwrap();
    for id in ids.iter().step_by(3) {
        all.delete(id).unwrap();
    }
    let before = given(all.scan(..).unwrap()).0;
    let (mut told, mut moved) = (Vec::new(), 0);
    let end = all.scan(..).unwrap().visit(|document| {
        told.push((document.key().to_key(), document.version(), document.bytes().to_vec()));
        if told.len() % 256 == 1 {
            for id in ids.iter().skip(told.len() % 7).step_by(7) {
                all.put(id.clone(), doc! { "new": told.len() as i64 }).unwrap();
            }
            moved += db.compact().unwrap().moved_bytes;
        }
        ControlFlow::<()>::Continue(())
    });
    assert_eq!(end.unwrap(), None);
    assert_eq!(told, before);
    assert!(moved > 100_000, "{moved} bytes were moved, more than the cache holds");
}

#[test]
fn damage_is_met_where_iterating_meets_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("whole");
    {
        let db = Db::open_with(&path, &tiny().create(true)).unwrap();
        db.collection("all").insert_many((0..300).map(|number| document(number, 100))).unwrap();
        db.checkpoint().unwrap();
        db.close().unwrap();
    }
    let whole = std::fs::read(&path).unwrap();
    let damaged = directory.path().join("damaged");
    let mut met = 0;
    for at in (16_384..whole.len()).step_by(997) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        std::fs::write(&damaged, bytes).unwrap();
        let Ok(db) = Db::open_with(&damaged, &tiny().read_only(true)) else { continue };
        let Ok(scan) = db.collection("all").scan(..) else { continue };
        let ((given, why), (lent, why_lent)) = (given(scan), lent(db.collection("all").scan(..).unwrap()));
        assert_eq!(given, lent, "at {at}");
        let told = |error: &Option<Error>| error.as_ref().map(ToString::to_string);
        assert_eq!(told(&why), told(&why_lent), "at {at}");
        if why.is_some() {
            met += 1;
            let mut scan = db.collection("all").scan(..).unwrap();
            assert!(scan.by_ref().any(|document| document.is_err()));
            assert!(
                matches!(self::lent(scan), (none, None) if none.is_empty()),
                "after an error nothing is lent"
            );
        }
    }
    assert!(met > 10, "damage was met {met} times");
}

#[test]
fn a_scan_of_a_snapshot_that_was_ended_says_so() {
    let options = tiny().snapshot_max_age(std::time::Duration::ZERO);
    let db = Db::open_on(MemoryStorage::new(), &options).unwrap();
    let all = db.collection("all");
    for key in 0..100 {
        all.put(key, document(key as u64, 20)).unwrap();
    }
    let mut count = 0;
    let lent = all.scan(..).unwrap().visit(|_| {
        count += 1;
        if count == 1 {
            all.delete(90).unwrap();
            assert_eq!(db.snapshots(), [], "that it was asked for ended it");
        }
        ControlFlow::<()>::Continue(())
    });
    assert!(matches!(lent, Err(Error::SnapshotTooOld { .. })), "{lent:?}");
    assert_eq!(count, 1, "none is lent from then on, whatever was looked up before");
    let mut scan = all.scan(..).unwrap();
    assert!(scan.next().unwrap().is_ok());
    all.delete(91).unwrap();
    assert_eq!(db.snapshots(), []);
    let next = scan.next().unwrap();
    assert!(matches!(next, Err(Error::SnapshotTooOld { .. })), "{next:?}");
    let mut keys = all.keys(..).unwrap();
    assert!(keys.next().unwrap().is_ok());
    assert_eq!(db.snapshots(), []);
    let next = keys.next().unwrap();
    assert!(matches!(next, Err(Error::SnapshotTooOld { .. })), "{next:?}");
}
