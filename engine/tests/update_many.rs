//! Many documents changed or deleted at once: in one commit, in batches, and in transactions.

use std::thread;

use holotype::query::Filter;
use holotype::storage::sim::SimDisk;
use holotype::storage::{MemoryStorage, Storage};
use holotype::update::{JsonPatch, UpdateFault};
use holotype::{Collection, Db, Document, Error, Key, Options, Update, UpdateReport, doc};

fn numbers(count: i64) -> (Db, Collection) {
    let db = Db::in_memory();
    let numbers = db.collection("numbers");
    numbers.insert_many((1..=count).map(|n| doc! { "n": n })).unwrap();
    (db, numbers)
}

fn filter(text: &str) -> Filter {
    Filter::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn all(collection: &Collection) -> Vec<(Key, Document)> {
    let all = collection.scan(..).unwrap().map(|found| {
        let found = found.unwrap();
        (found.key().to_key(), found.to_document().unwrap())
    });
    all.collect()
}

fn values(collection: &Collection) -> Vec<i64> {
    all(collection).iter().map(|(_, document)| document.get("n").unwrap().as_i64().unwrap()).collect()
}

fn report(matched: u64, changed: u64) -> UpdateReport {
    UpdateReport { matched, changed }
}

//= spec/update.md#u-7-1-many-documents
//# The filter MUST be evaluated on the state before the call, and each document that it admits be changed once.
//= spec/update.md#u-7-1-many-documents
//# All changes of a call MUST become one commit, or part of one transaction.
#[test]
fn every_document_that_the_filter_admits_is_changed_once_in_one_commit() {
    let (db, numbers) = numbers(5);
    let before = db.snapshot().lsn();
    // What it makes of one document would be admitted again.
    assert_eq!(numbers.update_many(&filter("@.n >= 3"), Update::new().inc("$.n", 1)).unwrap(), report(3, 3));
    assert_eq!(values(&numbers), [1, 2, 4, 5, 6]);
    assert_eq!(db.snapshot().lsn(), before + 1);
    assert_eq!(numbers.delete_many(&filter("@.n < 5")).unwrap(), report(3, 3));
    assert_eq!(values(&numbers), [5, 6]);
    assert_eq!(db.snapshot().lsn(), before + 2);
    assert_eq!(numbers.delete_many(&filter("@.n < 5")).unwrap(), report(0, 0));
    assert_eq!(db.snapshot().lsn(), before + 2);
}

//= spec/update.md#u-6-2-equal
//# A document that the changes leave equal MUST NOT be written.
#[test]
fn documents_that_stay_equal_are_matched_and_not_written() {
    let (_db, numbers) = numbers(4);
    let versions = || numbers.scan(..).unwrap().map(|found| found.unwrap().version()).collect::<Vec<_>>();
    let before = versions();
    assert_eq!(numbers.update_many(&filter("@"), Update::new().max("$.n", 3)).unwrap(), report(4, 2));
    assert_eq!(versions()[2..], before[2..]);
    assert!(versions()[..2].iter().zip(&before).all(|(now, before)| now > before));
}

//= spec/update.md#u-7-1-many-documents
//# When one of them cannot be changed, the call MUST fail, and change nothing.
#[test]
fn a_call_that_fails_for_one_document_changes_none_also_within_a_transaction() {
    let (db, numbers) = numbers(5);
    numbers.put(4, doc! { "n": "four" }).unwrap();
    let (inc, every) = (Update::new().inc("$.n", 1), filter("@"));
    let before = all(&numbers);
    let Err(Error::Update(error)) = numbers.update_many(&every, &inc) else { panic!("4 is no number") };
    assert_eq!(error.key, Some(Key::Int(4)));
    assert!(matches!(error.fault, UpdateFault::WrongKind { .. }));
    assert_eq!(all(&numbers), before);
    db.write(|tx| {
        let numbers = tx.collection("numbers");
        numbers.put(9, doc! { "n": 9 })?;
        assert!(numbers.update_many(&every, &inc).is_err());
        assert_eq!(numbers.len()?, 6);
        assert_eq!(numbers.get(1)?.unwrap().to_document()?, doc! { "n": 1 });
        numbers.delete(4)?;
        assert_eq!(numbers.update_many(&every, &inc)?, report(5, 5));
        Ok::<_, Error>(())
    })
    .unwrap();
    assert_eq!(values(&numbers), [2, 3, 4, 6, 10]);
}

#[test]
fn a_transaction_changes_what_it_has_put_itself_and_nothing_that_it_has_deleted() {
    let (db, numbers) = numbers(3);
    db.write(|tx| {
        let numbers = tx.collection("numbers");
        numbers.put(7, doc! { "n": 7 })?;
        numbers.delete(2)?;
        assert_eq!(numbers.update_many(&filter("@.n > 1"), Update::new().mul("$.n", 2))?, report(2, 2));
        assert_eq!(numbers.delete_many(&filter("@.n == 14"))?, report(1, 1));
        Ok::<_, Error>(())
    })
    .unwrap();
    assert_eq!(values(&numbers), [1, 6]);
}

#[test]
fn patches_and_merges_change_many_too_and_keys_are_asked_for() {
    let (_db, numbers) = numbers(3);
    let patch = JsonPatch::parse(r#"[{"op":"move","from":"/n","path":"/m"}]"#).unwrap();
    assert_eq!(numbers.update_many(&filter("key() >= 2"), &patch).unwrap(), report(2, 2));
    let merge = doc! { "m": null, "n": 0 };
    let merged = numbers.update_many(&filter("@.m"), holotype::update::Changes::merge(&merge)).unwrap();
    assert_eq!(merged, report(2, 2));
    assert_eq!(values(&numbers), [1, 0, 0]);
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let (db, numbers) = numbers(2);
    let nowhere = db.collection("nowhere").update_many(&filter("@"), Update::new());
    assert!(matches!(nowhere, Err(Error::UnknownCollection { .. })));
    assert!(matches!(
        db.collection("nowhere").delete_many(&filter("@")),
        Err(Error::UnknownCollection { .. })
    ));
    let unbound = filter("@.n == arg('n')");
    assert!(matches!(numbers.delete_many(&unbound), Err(Error::Parameter { .. })));
    assert!(matches!(
        numbers.update_many(&filter("@"), Update::new().unset("n")),
        Err(Error::InvalidPath { .. })
    ));
    let stopped = numbers.batches_of(1).delete_many(&unbound).unwrap_err();
    assert!(matches!(stopped.error, Error::Parameter { .. }));
    assert_eq!(values(&numbers), [1, 2]);
}

#[test]
fn a_call_too_large_for_one_transaction_changes_nothing_and_batches_do_it() {
    let options = Options::new().transaction_bytes(64 << 10);
    let db = Db::open_on(MemoryStorage::new(), &options).unwrap();
    let blobs = db.collection("blobs");
    (0..100).for_each(|n| drop(blobs.insert(doc! { "n": n, "text": "x".repeat(1000) }).unwrap()));
    let before = all(&blobs);
    let mark = Update::new().set("$.marked", true);
    let lsn = db.snapshot().lsn();
    assert!(matches!(blobs.update_many(&filter("@"), &mark), Err(Error::TransactionTooLarge { .. })));
    assert_eq!((all(&blobs), db.snapshot().lsn()), (before, lsn));
    assert_eq!(blobs.batches_of(30).update_many(&filter("@"), &mark).unwrap(), report(100, 100));
    assert_eq!(db.snapshot().lsn(), lsn + 4);
    assert_eq!(blobs.batches_of(0).delete_many(&filter("@.n >= 98")).unwrap(), report(2, 2));
    assert_eq!(db.snapshot().lsn(), lsn + 6);
}

//= spec/update.md#u-7-2-batches
//# When a commit fails, the call MUST answer what the commits before it did, and their last key.
#[test]
fn batches_that_stop_say_how_far_they_came() {
    let (_db, numbers) = numbers(10);
    numbers.put(8, doc! { "n": "eight" }).unwrap();
    let stopped = numbers.batches_of(3).update_many(&filter("@"), Update::new().inc("$.n", 100)).unwrap_err();
    assert_eq!((stopped.report, stopped.last.clone()), (report(6, 6), Some(Key::Int(6))));
    assert!(
        stopped
            .to_string()
            .starts_with("6 of 6 documents were changed, the last of them 6; what came next failed: "),
        "{stopped}"
    );
    assert!(matches!(Error::from(stopped), Error::Update(_)));
    assert_eq!(numbers.get(6).unwrap().unwrap().to_document().unwrap(), doc! { "n": 106 });
    assert_eq!(numbers.get(7).unwrap().unwrap().to_document().unwrap(), doc! { "n": 7 });
}

//= spec/update.md#u-7-2-batches
//# The documents MUST be those that the filter admits in the state before the call, and in the state before
//# their commit.
#[test]
fn a_batch_leaves_alone_what_another_commit_has_changed_or_added_meanwhile() {
    let (db, numbers) = numbers(6);
    // The changes of a transaction that is open as the call begins come between its look and its first commit.
    let tx = db.begin_write().unwrap();
    let other = tx.collection("numbers");
    other.delete(2).unwrap();
    other.put(3, doc! { "n": -3 }).unwrap();
    other.put(4, doc! { "n": 40 }).unwrap();
    other.put(7, doc! { "n": 7 }).unwrap();
    thread::scope(|scope| {
        let inc = || numbers.batches_of(100).update_many(&filter("@.n > 0"), Update::new().inc("$.n", 1));
        let batches = scope.spawn(inc);
        while db.snapshots().is_empty() {
            thread::yield_now();
        }
        tx.commit().unwrap();
        assert_eq!(batches.join().unwrap().unwrap(), report(4, 4));
    });
    assert_eq!(values(&numbers), [2, -3, 41, 6, 7, 7]);
}

//= spec/update.md#u-7-1-many-documents
//# When one of them cannot be changed, the call MUST fail, and change nothing.
#[test]
fn a_disk_that_is_full_in_the_middle_leaves_nothing_or_whole_batches() {
    let disk = SimDisk::seeded(1);
    let options = Options::new().segment_bytes(64 << 10);
    let db = Db::open_on(disk.clone(), &options).unwrap();
    let blobs = db.collection("blobs");
    blobs.insert_many((0..200).map(|n| doc! { "n": n, "text": "x".repeat(1000) })).unwrap();
    db.flush().unwrap();
    disk.set_capacity(Some(disk.len().unwrap() + (128 << 10)));
    let before = all(&blobs);
    let (every, longer) = (filter("@"), Update::new().set("$.more", "y".repeat(8000)));
    let refused = blobs.update_many(&every, &longer);
    assert!(matches!(refused, Err(Error::StorageFull { .. })), "{refused:?}");
    assert_eq!(all(&blobs), before);
    let stopped = blobs.batches_of(2).update_many(&every, &longer).unwrap_err();
    assert!(matches!(stopped.error, Error::StorageFull { .. }), "{stopped}");
    let through = stopped.report.changed;
    assert!(through > 0 && through < 200, "{stopped}");
    assert_eq!(stopped.last, Some(Key::Int(through as i64)));
    let left = all(&blobs);
    let has_more = left.iter().filter(|(_, document)| document.get("more").is_some());
    assert_eq!(has_more.count() as u64, through);
    drop(blobs);
    db.close().unwrap();
    disk.set_capacity(None);
    let db = Db::open_on(disk, &options).unwrap();
    let blobs = db.collection("blobs");
    assert_eq!(all(&blobs), left);
    assert_eq!(blobs.update_many(&filter("!@.more"), &longer).unwrap(), report(200 - through, 200 - through));
}
