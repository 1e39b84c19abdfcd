//! Write transactions and conditional writes, through the public face. Comments name the clause that a test shows.

use std::sync::Arc;
use std::time::Duration;

use holotype::storage::MemoryStorage;
use holotype::{Background, Db, Document, Durability, Error, Key, Options, WriteTransaction, doc};

fn n(value: i64) -> Document {
    doc! { "n": value }
}

fn value_of(document: Option<holotype::DocRef>) -> Option<i64> {
    document?.get("n")?.as_i64()
}

/// All that anybody outside sees: keys and values by collection.
fn contents(db: &Db) -> Vec<(String, Vec<(Key, i64)>)> {
    let of = |name: &String| {
        let entry = |doc: holotype::DocRef| (doc.key().to_key(), value_of(Some(doc)).unwrap());
        db.collection(name.as_str()).scan(..).unwrap().map(|doc| entry(doc.unwrap())).collect()
    };
    db.collections().iter().map(|name| (name.clone(), of(name))).collect()
}

/// The same store, closed and opened again.
fn reopened(db: Db, disk: &Arc<MemoryStorage>) -> Db {
    db.close().unwrap();
    Db::open_on(Arc::clone(disk), &Options::new()).unwrap()
}

fn fresh() -> (Db, Arc<MemoryStorage>) {
    let disk = Arc::new(MemoryStorage::new());
    (Db::open_on(Arc::clone(&disk), &Options::new()).unwrap(), disk)
}

/// Names are looked up once, until they change: after that, what is written to one must not go to what it meant before.
//= spec/transactions.md#t-2-7-refusals
//= type=test
//# A refused operation in a transaction MUST leave the transaction as it was before the operation; the
//# transaction goes on.
#[test]
fn what_is_too_much_at_once_leaves_the_transaction_as_it_was() {
    let options = Options::new().transaction_bytes(64 << 10);
    let db = Db::open_on(MemoryStorage::new(), &options).unwrap();
    let transaction = db.begin_write().unwrap();
    let a = transaction.collection("a");
    for _ in 0..2 {
        let many = a.put_many((0..10_000).map(|n| (format!("{n}"), doc! {})));
        assert!(matches!(many, Err(Error::TransactionTooLarge { len, .. }) if len < 80_000), "{many:?}");
        let many = a.insert_many((0..10_000).map(|_| doc! {}));
        assert!(matches!(many, Err(Error::TransactionTooLarge { len, .. }) if len < 80_000), "{many:?}");
    }
    assert_eq!(transaction.collections(), Vec::<String>::new());
    a.put("x", doc! {}).unwrap();
    drop(a);
    transaction.commit().unwrap();
    assert_eq!(db.collection("a").len().unwrap(), 1);
}

#[test]
fn writes_to_collections_in_turn_find_each_also_after_names_change() {
    let (db, disk) = fresh();
    let one_each = |tx: &WriteTransaction, value: i64| {
        ["a", "b", "c"].into_iter().for_each(|name| tx.collection(name).put(value, n(value)).unwrap());
    };
    db.collection("a").put(0, n(0)).unwrap();
    let mut tx = db.begin_write().unwrap();
    (1..=2).for_each(|value| one_each(&tx, value));
    let here = tx.savepoint();
    assert!(tx.rename_collection("a", "d").unwrap() && tx.drop_collection("b").unwrap());
    (3..=4).for_each(|value| one_each(&tx, value));
    tx.rollback_to(&here).unwrap();
    (5..=6).for_each(|value| one_each(&tx, value));
    assert!(tx.rename_collection("c", "e").unwrap());
    (7..=8).for_each(|value| one_each(&tx, value));
    tx.commit().unwrap();
    let with = |values: &[i64]| values.iter().map(|value| (Key::Int(*value), *value)).collect::<Vec<_>>();
    let expected = [
        ("a".to_owned(), with(&[0, 1, 2, 5, 6, 7, 8])),
        ("b".to_owned(), with(&[1, 2, 5, 6, 7, 8])),
        ("c".to_owned(), with(&[7, 8])),
        ("e".to_owned(), with(&[1, 2, 5, 6])),
    ];
    assert_eq!(contents(&db), expected);
    assert_eq!(contents(&reopened(db, &disk)), expected);
}

//= spec/transactions.md#t-2-1-one-commit
//# When it commits, all of them MUST become one commit; when it is rolled back, none of them takes effect.
#[test]
fn changes_in_any_number_of_collections_become_one_commit() {
    let (db, disk) = fresh();
    let mut watch = db.watch(0).unwrap();
    let lsn = {
        let tx = db.begin_write().unwrap();
        tx.collection("a").put("x", n(1)).unwrap();
        assert_eq!(tx.collection("b").insert(n(2)).unwrap(), Key::Int(1));
        tx.collection("b").insert_many([n(3), n(4)]).unwrap();
        tx.collection("a").put_many([("y", n(5)), ("y", n(6))]).unwrap();
        tx.commit().unwrap()
    };
    let commit = watch.try_next().unwrap().expect("one commit was made");
    assert_eq!(commit.lsn, lsn);
    assert!(watch.try_next().unwrap().is_none(), "and just one");
    let expected = [
        ("a".to_owned(), vec![(Key::from("x"), 1), (Key::from("y"), 6)]),
        ("b".to_owned(), vec![(Key::Int(1), 2), (Key::Int(2), 3), (Key::Int(3), 4)]),
    ];
    assert_eq!(contents(&db), expected);
    drop(watch);
    assert_eq!(contents(&reopened(db, &disk)), expected);
}

//= spec/transactions.md#t-2-3-read-your-writes
//# A read in a transaction MUST answer from the state after the last commit placed before it began, changed
//# by the changes that the transaction has made so far.
//= spec/transactions.md#t-2-4-nothing-shows-before-the-end
//# No reader outside a transaction MUST see any of its changes before it has committed.
#[test]
fn a_transaction_reads_what_it_writes_and_nobody_else_does() {
    let (db, _) = fresh();
    let outside = db.collection("a");
    outside.put_many((1..=4).map(|key| (key, n(key)))).unwrap();
    let tx = db.begin_write().unwrap();
    let inside = tx.collection("a");
    inside.put(2, n(20)).unwrap();
    inside.delete(3).unwrap();
    inside.put("t", n(50)).unwrap();
    inside.insert(n(60)).unwrap();
    assert_eq!(value_of(inside.get(2).unwrap()), Some(20));
    assert_eq!(inside.get(2).unwrap().unwrap().version(), 0, "no commit has put it");
    assert!(inside.get(3).unwrap().is_none() && !inside.contains(3).unwrap());
    assert!(inside.get(1).unwrap().unwrap().version() > 0);
    assert_eq!(inside.len().unwrap(), 5);
    let values = |scan: holotype::TxScan<'_>| scan.map(|doc| value_of(doc.ok()).unwrap()).collect::<Vec<_>>();
    assert_eq!(values(inside.scan(..).unwrap()), [1, 20, 4, 60, 50]);
    assert_eq!(values(inside.scan(2..=4).unwrap().reversed()), [4, 20]);
    assert_eq!(values(inside.scan_prefix("t").unwrap()), [50]);
    let keys: Vec<_> = inside.keys(..).unwrap().map(Result::unwrap).collect();
    assert_eq!(keys, [Key::Int(1), Key::Int(2), Key::Int(4), Key::Int(5), Key::from("t")]);
    tx.collection("new").put(1, n(1)).unwrap();
    assert_eq!(tx.collections(), ["a", "new"]);

    assert_eq!(value_of(outside.get(2).unwrap()), Some(2));
    assert_eq!(outside.len().unwrap(), 4);
    assert_eq!(db.collections(), ["a"]);
    assert_eq!(value_of(db.snapshot().collection("a").unwrap().get(3).unwrap()), Some(3));
    tx.commit().unwrap();
    assert_eq!(outside.len().unwrap(), 5);
    assert_eq!(db.collections(), ["a", "new"]);
}

//= spec/transactions.md#t-2-3-read-your-writes
//# A scan in a transaction MUST answer from the state in which it began, in the order of S-5.3.
#[test]
fn a_scan_shows_the_state_in_which_it_began_also_within_a_transaction() {
    let (db, _) = fresh();
    db.collection("a").insert_many((1..=600).map(n)).unwrap();
    let tx = db.begin_write().unwrap();
    let inside = tx.collection("a");
    inside.put(700, n(700)).unwrap();
    let mut seen = 0;
    for found in inside.scan(..).unwrap() {
        let key = found.unwrap().key().to_key();
        seen += 1;
        assert!(seen <= 601, "what the loop puts does not show in its own scan");
        inside.delete(&key).unwrap();
        inside.insert(n(0)).unwrap();
    }
    assert_eq!(seen, 601);
    assert_eq!(inside.len().unwrap(), 601);
}

//= spec/transactions.md#t-2-5-rollback
//# A transaction that is dropped, whose function fails or panics, or that is rolled back MUST leave the state
//# as it was, the largest ids among it, and the next writer free to begin.
#[test]
fn what_fails_panics_or_is_dropped_leaves_nothing_behind_and_lets_the_next_one_in() {
    let (db, _) = fresh();
    db.collection("a").put("x", n(1)).unwrap();
    let before = contents(&db);
    let failed = db.write(|tx| {
        tx.collection("a").insert(n(9))?;
        tx.collection("b").put("y", n(9))?;
        tx.drop_collection("a")?;
        Err::<(), _>(Error::IdsExhausted)
    });
    assert!(matches!(failed, Err(Error::IdsExhausted)));
    assert_eq!(contents(&db), before);
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        db.write(|tx: &mut WriteTransaction| -> Result<(), Error> {
            tx.collection("a").insert(n(9))?;
            panic!("on purpose");
        })
    }));
    assert!(panicked.is_err());
    assert_eq!(contents(&db), before);
    let tx = db.begin_write().unwrap();
    tx.collection("a").insert(n(9)).unwrap();
    drop(tx);
    let tx = db.begin_write().unwrap();
    tx.collection("a").clear().unwrap();
    tx.rollback().unwrap();
    assert_eq!(contents(&db), before);
    assert_eq!(db.collection("a").insert(n(2)).unwrap(), Key::Int(1), "the ids that it took are free again");
}

#[test]
fn an_empty_transaction_is_no_commit() {
    let (db, _) = fresh();
    let last = {
        let tx = db.begin_write().unwrap();
        tx.collection("a").put("x", n(1)).unwrap();
        tx.commit().unwrap()
    };
    let mut tx = db.begin_write().unwrap();
    let here = tx.savepoint();
    tx.collection("a").put("x", n(2)).unwrap();
    tx.rollback_to(&here).unwrap();
    assert_eq!(tx.commit().unwrap(), last);
    assert!(db.watch(last).unwrap().try_next().unwrap().is_none());
}

//= spec/transactions.md#t-2-6-savepoints
//# Going back to it MUST undo exactly the changes made after it; the savepoints made after it are gone, and
//# it stays itself.
#[test]
fn savepoints_nest_and_take_back_just_what_came_after_them() {
    let (db, _) = fresh();
    db.collection("a").put("x", n(0)).unwrap();
    let mut tx = db.begin_write().unwrap();
    tx.collection("a").put("x", n(1)).unwrap();
    let outer = tx.savepoint();
    tx.collection("a").put("x", n(2)).unwrap();
    tx.collection("b").insert(n(1)).unwrap();
    let inner = tx.savepoint();
    tx.collection("a").delete("x").unwrap();
    tx.rename_collection("b", "c").unwrap();
    tx.rollback_to(&inner).unwrap();
    assert_eq!(value_of(tx.collection("a").get("x").unwrap()), Some(2));
    assert_eq!(tx.collections(), ["a", "b"]);
    tx.rollback_to(&outer).unwrap();
    assert_eq!(value_of(tx.collection("a").get("x").unwrap()), Some(1));
    assert_eq!(tx.collections(), ["a"]);
    assert!(matches!(tx.rollback_to(&inner), Err(Error::UnknownSavepoint)));
    tx.collection("a").put("y", n(3)).unwrap();
    tx.rollback_to(&outer).unwrap();
    tx.commit().unwrap();
    assert_eq!(contents(&db), [("a".to_owned(), vec![(Key::from("x"), 1)])]);
}

#[test]
fn a_savepoint_of_another_transaction_is_unknown() {
    let (db, _) = fresh();
    let foreign = db.begin_write().unwrap().savepoint();
    let mut tx = db.begin_write().unwrap();
    let own = tx.savepoint();
    tx.collection("a").put("x", n(1)).unwrap();
    assert!(matches!(tx.rollback_to(&foreign), Err(Error::UnknownSavepoint)));
    assert_eq!(tx.collection("a").len().unwrap(), 1, "nothing was undone");
    let (other, _) = fresh();
    let foreign = other.begin_write().unwrap().savepoint();
    assert!(matches!(tx.rollback_to(&foreign), Err(Error::UnknownSavepoint)), "nor is one of another store");
    tx.rollback_to(&own).unwrap();
}

//= spec/transactions.md#t-2-9-waiting-for-the-writer
//# A thread that writes outside the transaction that it has open itself MUST be refused at once: it would wait for ever.
#[test]
fn whoever_only_goes_back_in_a_transaction_has_it_open() {
    let (db, _) = fresh();
    let mut tx = db.begin_write().unwrap();
    let start = tx.savepoint();
    std::thread::spawn(move || {
        tx.rollback_to(&start).unwrap();
        let refused = db.collection("a").put("x", n(1));
        assert!(matches!(refused, Err(Error::WriterBusy { .. })), "{refused:?}");
    })
    .join()
    .unwrap();
}

#[test]
fn many_changes_of_one_key_leave_the_last_and_the_largest_id_stays_used() {
    let (db, disk) = fresh();
    db.write(|tx| {
        let a = tx.collection("a");
        for value in 0..10 {
            a.put("x", n(value))?;
        }
        a.delete("x")?;
        a.put("x", n(10))?;
        a.put(5, n(5))?;
        a.delete(5)?;
        Ok::<_, Error>(())
    })
    .unwrap();
    let db = reopened(db, &disk);
    assert_eq!(contents(&db), [("a".to_owned(), vec![(Key::from("x"), 10)])]);
    assert_eq!(db.collection("a").insert(n(6)).unwrap(), Key::Int(6), "id 5 was given in a commit (S-4.2)");
    assert!(db.verify(true).unwrap().is_clean());
}

#[test]
fn the_catalog_changes_with_the_documents() {
    let (db, disk) = fresh();
    db.collection("old").insert_many([n(1), n(2)]).unwrap();
    db.collection("full").insert_many([n(3), n(4)]).unwrap();
    db.write(|tx| {
        assert!(tx.rename_collection("old", "new")?);
        assert!(!tx.rename_collection("old", "newer")?);
        assert!(matches!(tx.rename_collection("new", "full"), Err(Error::InvalidName { .. })));
        tx.collection("new").delete(1)?;
        tx.collection("full").clear()?;
        assert_eq!(tx.collection("full").insert(n(5))?, Key::Int(3), "the counter goes on");
        assert!(tx.create_collection("gone")?);
        tx.collection("gone").insert(n(6))?;
        assert!(tx.drop_collection("gone")?);
        assert!(matches!(tx.collection("gone").get(1), Err(Error::UnknownCollection { .. })));
        tx.collection("old").insert(n(7))?;
        Ok::<_, Error>(())
    })
    .unwrap();
    let expected = [
        ("full".to_owned(), vec![(Key::Int(3), 5)]),
        ("new".to_owned(), vec![(Key::Int(2), 2)]),
        ("old".to_owned(), vec![(Key::Int(1), 7)]),
    ];
    assert_eq!(contents(&db), expected);
    assert_eq!(contents(&reopened(db, &disk)), expected);
}

//= spec/transactions.md#t-2-7-refusals
//# A refused operation in a transaction MUST leave the transaction as it was before the operation; the
//# transaction goes on.
//= spec/transactions.md#t-2-8-size
//# A transaction whose changes take more memory than the limit set for it MUST be refused as
//# `TransactionTooLarge` at the operation that passes the limit.
#[test]
fn a_refused_operation_leaves_the_transaction_as_it_was() {
    let options = Options::new().transaction_bytes(20_000);
    let db = Db::open_on(MemoryStorage::new(), &options).unwrap();
    let tx = db.begin_write().unwrap();
    let a = tx.collection("a");
    a.put("x", n(1)).unwrap();
    assert!(matches!(a.insert_with_key("x", n(2)), Err(Error::KeyExists { .. })));
    assert!(matches!(a.put("k".repeat(1025).as_str(), n(2)), Err(Error::KeyTooLong { .. })));
    assert!(matches!(tx.collection("$b").insert(n(1)), Err(Error::InvalidName { .. })));
    let blob = doc! { "b": vec![0_u8; 15_000] };
    a.put("big", &blob).unwrap();
    assert!(matches!(
        tx.collection("new").insert(&blob),
        Err(Error::TransactionTooLarge { max: 20_000, .. })
    ));
    assert!(matches!(a.insert_many([&n(1), &blob]), Err(Error::TransactionTooLarge { .. })));
    assert_eq!(tx.collections(), ["a"]);
    assert_eq!(a.len().unwrap(), 2);
    a.put("y", n(2)).unwrap();
    tx.commit().unwrap();
    assert_eq!(db.collection("a").len().unwrap(), 3);
}

//= spec/transactions.md#t-2-8-size
//# A transaction whose changes take more memory than the limit set for it MUST be refused as
//# `TransactionTooLarge` at the operation that passes the limit.
#[test]
fn changes_of_the_catalog_count_towards_the_limit() {
    let options = Options::new().transaction_bytes(10_000);
    let db = Db::open_on(MemoryStorage::new(), &options).unwrap();
    let tx = db.begin_write().unwrap();
    let refused = (0..1_000).find_map(|number| tx.create_collection(&format!("c{number}")).err());
    assert!(matches!(refused, Some(Error::TransactionTooLarge { max: 10_000, .. })), "{refused:?}");
    let collections = tx.collections();
    let changes: [Error; 3] = [
        tx.drop_collection("c0").unwrap_err(),
        tx.rename_collection("c0", "other").unwrap_err(),
        tx.collection("c0").clear().unwrap_err(),
    ];
    assert!(changes.iter().all(|error| matches!(error, Error::TransactionTooLarge { .. })), "{changes:?}");
    assert_eq!(tx.collections(), collections);
    tx.commit().unwrap();
    assert_eq!(db.collections(), collections);
}

#[test]
fn a_transaction_may_be_longer_than_a_segment() {
    // spec: T-2.8
    let disk = Arc::new(MemoryStorage::new());
    let options = Options::new().segment_bytes(64 << 10);
    let db = Db::open_on(Arc::clone(&disk), &options).unwrap();
    db.write(|tx| {
        let a = tx.collection("a");
        (0..2000).try_for_each(|i| a.put(i, doc! { "n": i, "b": vec![7_u8; 200] }))
    })
    .unwrap();
    let db = reopened(db, &disk);
    assert_eq!(db.collection("a").len().unwrap(), 2000);
    assert!(db.verify(true).unwrap().is_clean());
}

//= spec/transactions.md#t-2-10-versions
//# A `replace_if` or `delete_if` MUST be refused as `VersionMismatch` unless the newest version of the
//# document is the one given.
#[test]
fn a_version_lets_a_writer_notice_what_came_between() {
    let (db, _) = fresh();
    let a = db.collection("a");
    a.put("x", n(1)).unwrap();
    let seen = a.get("x").unwrap().unwrap().version();
    a.replace_if("x", seen, n(2)).unwrap();
    let found = a.get("x").unwrap().unwrap().version();
    assert!(found > seen);
    let refused = a.replace_if("x", seen, n(3)).unwrap_err();
    assert!(
        matches!(refused, Error::VersionMismatch { expected, found: Some(now) } if expected == seen && now == found)
    );
    assert!(matches!(a.delete_if("x", seen), Err(Error::VersionMismatch { .. })));
    assert!(matches!(a.delete_if("y", seen), Err(Error::VersionMismatch { found: None, .. })));
    db.write(|tx| {
        let a = tx.collection("a");
        a.replace_if("x", found, n(4))?;
        assert!(matches!(a.replace_if("x", found, n(5)), Err(Error::VersionMismatch { found: Some(0), .. })));
        Ok::<_, Error>(())
    })
    .unwrap();
    assert_eq!(value_of(a.get("x").unwrap()), Some(4));
    a.delete_if("x", a.get("x").unwrap().unwrap().version()).unwrap();
    assert!(a.is_empty().unwrap());
}

//= spec/transactions.md#t-2-9-waiting-for-the-writer
//# A writer that waits longer than the limit set for it MUST be refused as `WriterBusy`, which says who
//# writes and since when.
#[test]
fn who_waits_too_long_for_the_writer_is_told_who_writes() {
    let options = Options::new().write_wait(Duration::ZERO);
    let db = Db::open_on(MemoryStorage::new(), &options).unwrap();
    let other = db.clone();
    let named = std::thread::Builder::new().name("the other".into());
    let tx = named.spawn(move || other.begin_write().unwrap()).unwrap().join().unwrap();
    for refused in [
        db.collection("a").insert(n(1)).map(|_| ()),
        db.begin_write().map(|_| ()),
        db.drop_collection("a").map(|_| ()),
    ] {
        assert!(matches!(refused, Err(Error::WriterBusy { holder, .. }) if holder.contains("the other")));
    }
    assert!(db.flush().is_ok(), "it places nothing");
    drop(tx);
    db.collection("a").insert(n(1)).unwrap();
}

//= spec/transactions.md#t-2-9-waiting-for-the-writer
//# A thread that writes outside the transaction that it has open itself MUST be refused at once: it would
//# wait for ever.
#[test]
fn a_thread_that_would_wait_for_itself_is_told_at_once() {
    let (db, _) = fresh();
    let refused = db.write(|_| db.collection("a").insert(n(1)));
    assert!(matches!(refused, Err(Error::WriterBusy { .. })));
    assert!(matches!(db.write(|_| db.write(|_| Ok::<_, Error>(()))), Err(Error::WriterBusy { .. })));
    db.collection("a").insert(n(1)).unwrap();
}

#[test]
fn a_transaction_belongs_to_the_thread_that_used_it_last() {
    // spec: T-2.9
    let options = Options::new().write_wait(Duration::from_secs(60));
    let db = Db::open_on(MemoryStorage::new(), &options).unwrap();
    let tx = db.begin_write().unwrap();
    std::thread::scope(|scope| {
        let moved = scope.spawn(|| {
            tx.collection("a").insert(n(1)).unwrap();
            // It would wait for itself.
            assert!(matches!(db.collection("a").insert(n(2)), Err(Error::WriterBusy { .. })));
            tx
        });
        let tx = moved.join().unwrap();
        let waiting = scope.spawn(|| db.collection("a").insert(n(3)).unwrap());
        for _ in 0..100 {
            std::thread::yield_now();
        }
        assert!(!waiting.is_finished());
        tx.commit().unwrap();
    });
    assert_eq!(db.collection("a").len().unwrap(), 2);
}

#[test]
fn waiting_writers_are_all_let_in() {
    let (db, _) = fresh();
    db.collection("a").put("n", n(0)).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let db = db.clone();
            scope.spawn(move || {
                for round in 0..50 {
                    if (thread + round) % 4 == 0 {
                        db.collection("b").insert(n(round)).unwrap();
                    }
                    db.write(|tx| {
                        let a = tx.collection("a");
                        let now = value_of(a.get("n")?).unwrap();
                        a.put("n", n(now + 1))
                    })
                    .unwrap();
                }
            });
        }
    });
    assert_eq!(value_of(db.collection("a").get("n").unwrap()), Some(200));
    assert!(db.verify(true).unwrap().is_clean());
}

#[test]
fn a_transaction_can_be_sent_to_another_thread_and_outlives_the_handle() {
    let (db, disk) = fresh();
    let mut tx = db.begin_write().unwrap();
    tx.set_durability(Durability::Buffered);
    drop(db);
    std::thread::spawn(move || {
        tx.collection("a").insert(n(1)).unwrap();
        tx.commit().unwrap();
    })
    .join()
    .unwrap();
    let db = Db::open_on(disk, &Options::new()).unwrap();
    assert_eq!(db.collection("a").len().unwrap(), 1, "the last handle to go has closed the store");
}

#[test]
fn a_store_closed_beneath_a_transaction_refuses_its_commit() {
    let (db, disk) = fresh();
    let tx = db.begin_write().unwrap();
    tx.collection("a").insert(n(1)).unwrap();
    db.close().unwrap();
    assert!(matches!(tx.commit(), Err(Error::Closed)));
    let db = Db::open_on(disk, &Options::new()).unwrap();
    assert_eq!(db.collections(), Vec::<String>::new());
}

#[test]
fn a_store_opened_for_reading_begins_no_transaction() {
    let (db, disk) = fresh();
    db.close().unwrap();
    let db = Db::open_on(disk, &Options::new().read_only(true)).unwrap();
    assert!(matches!(db.begin_write(), Err(Error::ReadOnly)));
}

#[test]
fn a_bulk_load_commits_in_batches_and_says_how_far_it_came() {
    // spec: T-6.1
    let (db, disk) = fresh();
    let a = db.collection("a");
    let blob = |i: i64| doc! { "n": i, "b": vec![1_u8; 100_000] };
    assert_eq!(a.bulk_load((0..100).rev().map(|i| (i, blob(i)))).unwrap(), 100);
    assert_eq!(a.bulk_insert((0..50).map(blob)).unwrap(), 50);
    assert_eq!(a.bulk_insert(std::iter::empty::<Document>()).unwrap(), 0);
    let commits = |db: &Db| {
        let mut watch = db.watch(0).unwrap();
        std::iter::from_fn(move || watch.try_next().unwrap()).count()
    };
    assert_eq!(commits(&db), 3 + 2, "4 MiB each");
    let db = reopened(db, &disk);
    let a = db.collection("a");
    assert_eq!(a.len().unwrap(), 150);
    let long = "k".repeat(2000);
    let keys =
        (0..100).map(|i| (if i == 90 { Key::from(long.as_str()) } else { Key::Int(1000 + i) }, blob(i)));
    match a.bulk_load(keys) {
        Err(Error::BulkLoad { loaded, cause }) => {
            assert!(matches!(*cause, Error::KeyTooLong { .. }));
            assert_eq!(a.len().unwrap(), 150 + loaded);
            assert_eq!(loaded, 84, "two whole batches of 42 documents");
        }
        other => panic!("{other:?}"),
    }
}
//= spec/format.md#f-5-6-parts
//# A writer MUST refuse a commit that needs more than 32,768 parts before it places any of them.
#[test]
fn a_commit_of_too_many_parts_is_refused_before_any_is_placed() {
    // Each part is a segment of 512 bytes at most, so each holds one of these documents.
    let options = Options::new().sector(64).segment_bytes(512).background(Background::Manual);
    let db = Db::open_on(MemoryStorage::new(), &options).unwrap();
    db.collection("a").put("x", n(1)).unwrap();
    let before = (db.stats().lsn, db.stats().log_end);
    let many = (0..33_000).map(|key| (key, doc! { "b": vec![7_u8; 300] }));
    let refused = db.collection("a").put_many(many).unwrap_err();
    assert!(matches!(refused, Error::LimitReached { .. }), "{refused}");
    assert_eq!((db.stats().lsn, db.stats().log_end), before);
    assert_eq!(db.collection("a").len().unwrap(), 1);
}
