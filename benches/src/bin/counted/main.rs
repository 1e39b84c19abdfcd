//! One hot path, run so that its instructions can be counted: `benches/counts/check` runs it under callgrind, which counts while
//! [`measured`] is on the stack and so leaves out what sets the path up.
//!
//! The same instructions in every run: no thread, no file, no clock that decides anything, and ids that follow from a seed. Each path
//! is held to what it did, so that one that does nothing has no count.
//!
//! ```text
//! counted paths        # the names of the paths
//! counted PATH         # runs one; says how many calls were measured
//! ```

mod indexes;
mod queries;
mod updates;

use std::hint::black_box;
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::sync::Arc;

use holotype::storage::MemoryStorage;
use holotype::{Background, Collection, Db, DocRef, Document, Durability, Options, Value, WriteTransaction};
use holotype_benches::fixture::documents_of;
use holotype_benches::workload::{SMALL_FIELDS, Small, UniformIds, small_document};

/// Documents in a store that is read, or opened.
const LOADED: u64 = 4_000;

/// Calls of a path that are measured, where a call is one document. With [`WARM`], more than a buffer of the log and three segments.
const CALLS: u64 = 4_000;

/// Calls before these, so that buffers have grown.
const WARM: u64 = 500;

/// Documents in one transaction.
const BATCH: u64 = 10;

/// Documents in a transaction of many writes.
const MANY: u64 = 10_000;

/// Collections that such a transaction writes to in turn.
const COLLECTIONS: u64 = 100;

/// How often the slowed path does its work once more: by a good 5 percent, which is beyond what is allowed.
const SLOWED: u64 = 16;

/// A name, and what runs the path: how many calls it measured.
type Path = (&'static str, fn() -> u64);

const PATHS: [Path; 21] = [
    ("insert_buffered", || insert(Durability::Buffered)),
    ("insert_written", || insert(Durability::Written)),
    ("replace", replace),
    ("delete", delete),
    ("commit", commit),
    ("tx_put", tx_put),
    ("tx_put_name", tx_put_name),
    ("tx_update", tx_update),
    ("tx_collections", tx_collections),
    ("get_decode", || get(decoded)),
    ("get_field", || get(field)),
    ("miss", miss),
    ("scan_field", || scan(field)),
    ("scan_decode", || scan(decoded)),
    ("visit_field", visit),
    ("put_name", put_name),
    ("get_name", get_name),
    ("miss_name", miss_name),
    ("visit_prefix", visit_prefix),
    ("open_log", || open(false)),
    ("open_checkpoint", || open(true)),
];

/// Not among the paths: one call each, whose files `benches/counts/files` counts.
const ONE_CALL: [Path; 2] = [("put_once", put_once), ("get_once", get_once)];

/// Not among the paths: what `check` takes for `get_field` to see that it would tell.
const SLOWED_PATH: Path = ("get_field_slowed", get_field_slowed);

fn main() -> ExitCode {
    let wanted = std::env::args().nth(1).unwrap_or_default();
    if wanted == "paths" {
        for (name, _) in all_paths() {
            println!("{name}");
        }
        return ExitCode::SUCCESS;
    }
    let path = all_paths().chain(ONE_CALL).chain([SLOWED_PATH]).find(|(name, _)| *name == wanted);
    let Some((_, run)) = path else {
        eprintln!("usage: counted paths|PATH");
        return ExitCode::from(2);
    };
    println!("{}", run());
    ExitCode::SUCCESS
}

fn all_paths() -> impl Iterator<Item = Path> {
    PATHS.into_iter().chain(updates::PATHS).chain(queries::PATHS).chain(indexes::PATHS)
}

/// What callgrind counts. It has one name, however many paths there are, and is never a part of another function.
#[inline(never)]
fn measured(work: &mut dyn FnMut()) {
    work();
}

/// Adds up what `call` says of each of `inputs`, measured.
fn sum_measured<I>(inputs: impl IntoIterator<Item = I>, mut call: impl FnMut(I) -> u64) -> u64 {
    let mut inputs = inputs.into_iter();
    let mut sum = 0u64;
    measured(&mut || sum = inputs.by_ref().map(|input| call(black_box(input))).sum());
    black_box(sum)
}

fn options(durability: Durability) -> Options {
    // The cache's size would else follow from the machine's memory.
    Options::new().durability(durability).background(Background::Manual).seed(7).cache_bytes(64 << 20)
}

fn open_on(storage: &Arc<MemoryStorage>, durability: Durability) -> Db {
    Db::open_on(Arc::clone(storage), &options(durability)).expect("memory refuses nothing")
}

/// A store with small documents under the ids `1..=count`, each a commit of its own.
fn loaded(count: u64, durability: Durability) -> (Db, Collection) {
    let db = open_on(&Arc::default(), durability);
    let documents = documents_of(&db);
    for i in 1..=count {
        documents.insert(small_document(i as i64)).expect("room");
    }
    (db, documents)
}

/// A store that is read: opened again, so that its documents are in blocks and none in the end of the log, which is read in
/// another way; and each was read once.
fn settled() -> (Db, Collection) {
    let storage = Arc::default();
    let db = open_on(&storage, Durability::Buffered);
    documents_of(&db).insert_many(made(LOADED)).expect("room");
    db.close().expect("nothing went wrong before");
    let db = open_on(&storage, Durability::Buffered);
    let documents = documents_of(&db);
    let warm: u64 =
        documents.scan(..).expect("it was created").map(|doc| field(&doc.expect("undamaged"))).sum();
    assert_eq!(warm, sum_of(1..=LOADED as i64));
    (db, documents)
}

/// As [`settled`], under names.
fn settled_under_names() -> (Db, Collection) {
    let storage = Arc::default();
    let db = open_on(&storage, Durability::Buffered);
    documents_of(&db).put_many((1..=LOADED as i64).map(name).zip(made(LOADED))).expect("room");
    db.close().expect("nothing went wrong before");
    let db = open_on(&storage, Durability::Buffered);
    let documents = documents_of(&db);
    let warm: u64 =
        documents.scan(..).expect("it was created").map(|doc| field(&doc.expect("undamaged"))).sum();
    assert_eq!(warm, sum_of(1..=LOADED as i64));
    (db, documents)
}

/// In the order of ids.
fn name(id: i64) -> String {
    format!("user-{id:08}")
}

/// Made before anything is counted: what the application pays for its documents is not the store's.
fn made(count: u64) -> Vec<Document> {
    (1..=count).map(|i| small_document(i as i64)).collect()
}

fn insert(durability: Durability) -> u64 {
    let (_db, documents) = loaded(WARM, durability);
    let inserted =
        sum_measured(&made(CALLS), |document| documents.insert(document).map(|_| 1).expect("room"));
    assert_eq!(inserted, CALLS);
    assert_eq!(documents.len().expect("it was created"), WARM + CALLS);
    CALLS
}

fn replace() -> u64 {
    let (_db, documents) = loaded(LOADED, Durability::Buffered);
    let new = made(CALLS);
    let replaced = sum_measured(UniformIds::new(LOADED).zip(&new), |(id, document)| {
        u64::from(documents.replace(id, document).expect("room"))
    });
    assert_eq!(replaced, CALLS);
    CALLS
}

fn delete() -> u64 {
    let (_db, documents) = loaded(LOADED, Durability::Buffered);
    let deleted = sum_measured(1..=LOADED as i64, |id| u64::from(documents.delete(id).expect("room")));
    assert_eq!(deleted, LOADED);
    assert!(documents.is_empty().expect("it was created"));
    LOADED
}

/// Transactions of some documents, durable each.
fn commit() -> u64 {
    let (db, documents) = loaded(WARM, Durability::Synced);
    let name = documents.name().to_owned();
    let new = made(CALLS);
    let committed = sum_measured(new.chunks(BATCH as usize), |batch| {
        let insert_all = |transaction: &mut WriteTransaction| -> holotype::Result<u64> {
            let documents = transaction.collection(&*name);
            batch.iter().try_for_each(|document| documents.insert(document).map(|_| ()))?;
            Ok(1)
        };
        db.write(insert_all).expect("room")
    });
    assert_eq!(committed, CALLS / BATCH);
    assert_eq!(documents.len().expect("it was created"), WARM + CALLS);
    committed
}

/// Typed documents, made before anything is counted.
fn typed(count: u64) -> Vec<Small> {
    (1..=count as i64).map(Small::new).collect()
}

/// Carries out `work` in one transaction.
fn one_transaction(db: &Db, mut work: impl FnMut(&WriteTransaction) -> holotype::Result<()>) {
    measured(&mut || db.write(|transaction| work(transaction)).expect("room"));
}

/// Puts of new typed documents under ids.
fn tx_put() -> u64 {
    let (db, documents) = loaded(WARM, Durability::Written);
    let new = typed(MANY);
    one_transaction(&db, |transaction| {
        let documents = transaction.collection(documents.name());
        let mut puts = (WARM as i64 + 1..).zip(&new);
        puts.try_for_each(|(id, document)| documents.put_as(black_box(id), document))
    });
    assert_eq!(documents.len().expect("it was created"), WARM + MANY);
    MANY
}

/// Puts of new typed documents under names of ten bytes, each in a place of its own among those that are there.
fn tx_put_name() -> u64 {
    let (db, documents) = loaded(WARM, Durability::Written);
    let new = typed(MANY);
    // 1,999 and the number of names have no common divisor.
    let names: Vec<_> = (0..MANY as i64).map(|at| format!("u-{:08}", at * 1_999 % MANY as i64 + 1)).collect();
    one_transaction(&db, |transaction| {
        let documents = transaction.collection(documents.name());
        names.iter().zip(&new).try_for_each(|(name, document)| documents.put_as(black_box(name), document))
    });
    assert_eq!(documents.len().expect("it was created"), WARM + MANY);
    MANY
}

/// Puts of typed documents in the place of others.
fn tx_update() -> u64 {
    let (db, documents) = loaded(MANY, Durability::Written);
    let new = typed(MANY);
    one_transaction(&db, |transaction| {
        let documents = transaction.collection(documents.name());
        let mut puts = UniformIds::new(MANY).zip(&new);
        puts.try_for_each(|(id, document)| documents.put_as(black_box(id), document))
    });
    assert_eq!(documents.len().expect("it was created"), MANY);
    MANY
}

/// As [`tx_put`], to many collections in turn.
fn tx_collections() -> u64 {
    let db = open_on(&Arc::default(), Durability::Written);
    let collections: Vec<_> = (0..COLLECTIONS).map(|at| db.collection(format!("c{at}"))).collect();
    for collection in &collections {
        collection.insert(small_document(1)).expect("room");
    }
    let new = typed(MANY);
    one_transaction(&db, |transaction| {
        let of: Vec<_> =
            collections.iter().map(|collection| transaction.collection(collection.name())).collect();
        let mut puts = (2..).zip(&new);
        puts.try_for_each(|(id, document)| of[id as usize % of.len()].put_as(black_box(id), document))
    });
    assert_eq!(collections[0].len().expect("it was created"), 1 + MANY / COLLECTIONS);
    MANY
}

fn id_in(value: Option<i64>) -> u64 {
    value.expect("a small document has an id").unsigned_abs()
}

fn field(document: &DocRef) -> u64 {
    id_in(document.get("id").and_then(|id| id.as_i64()))
}

fn decoded(document: &DocRef) -> u64 {
    let document = document.to_document().expect("a document");
    assert_eq!(document.len(), SMALL_FIELDS);
    id_in(document.get("id").and_then(Value::as_i64))
}

fn uniform() -> impl Iterator<Item = i64> {
    UniformIds::new(LOADED).take(CALLS as usize)
}

fn sum_of(ids: impl Iterator<Item = i64>) -> u64 {
    ids.map(i64::unsigned_abs).sum()
}

fn get(read: fn(&DocRef) -> u64) -> u64 {
    let (_db, documents) = settled();
    let sum =
        sum_measured(uniform(), |id| read(&documents.get(id).expect("undamaged").expect("it was put there")));
    assert_eq!(sum, sum_of(uniform()));
    CALLS
}

fn get_field_slowed() -> u64 {
    let (_db, documents) = settled();
    let get = |id| field(&documents.get(id).expect("undamaged").expect("it was put there"));
    let mut calls = 0;
    let sum = sum_measured(uniform(), |id| {
        calls += 1;
        if calls % SLOWED == 0 {
            black_box(get(id));
        }
        get(id)
    });
    assert_eq!(sum, sum_of(uniform()));
    CALLS
}

fn miss() -> u64 {
    let (_db, documents) = settled();
    let ids = uniform().map(|id| id + 1_000_000);
    let missed = sum_measured(ids, |id| u64::from(documents.get(id).expect("undamaged").is_none()));
    assert_eq!(missed, CALLS);
    CALLS
}

fn scan(read: fn(&DocRef) -> u64) -> u64 {
    let (_db, documents) = settled();
    let sum = sum_measured([&documents], |documents| {
        documents.scan(..).expect("it was created").map(|document| read(&document.expect("undamaged"))).sum()
    });
    assert_eq!(sum, sum_of(1..=LOADED as i64));
    LOADED
}

/// A scan that lends its documents, and asks each for the same field.
fn visit() -> u64 {
    let (_db, documents) = settled();
    let sum = sum_measured([&documents], |documents| {
        let mut sum = 0;
        let end = documents.scan(..).expect("it was created").visit(|document| {
            sum += id_in(document.get("id").and_then(|id| id.as_i64()));
            ControlFlow::<()>::Continue(())
        });
        assert_eq!(end.expect("undamaged"), None);
        sum
    });
    assert_eq!(sum, sum_of(1..=LOADED as i64));
    LOADED
}

/// Each in a place of its own among the names that are there.
fn put_name() -> u64 {
    let db = open_on(&Arc::default(), Durability::Buffered);
    let documents = documents_of(&db);
    let new = made(CALLS);
    // 1,999 and the number of names have no common divisor.
    let names: Vec<_> = (0..CALLS as i64).map(|at| name(at * 1_999 % CALLS as i64 + 1)).collect();
    sum_measured(names.iter().zip(&new), |(name, document)| {
        documents.put(name, document).expect("room");
        1
    });
    assert_eq!(documents.len().expect("it was created"), CALLS);
    CALLS
}

fn get_name() -> u64 {
    let (_db, documents) = settled_under_names();
    let names: Vec<_> = uniform().map(name).collect();
    let sum = sum_measured(&names, |name| {
        field(&documents.get(name).expect("undamaged").expect("it was put there"))
    });
    assert_eq!(sum, sum_of(uniform()));
    CALLS
}

/// One durable put of a named document, after others.
fn put_once() -> u64 {
    let db = open_on(&Arc::default(), Durability::Synced);
    let documents = documents_of(&db);
    for (id, document) in made(WARM).into_iter().enumerate() {
        documents.put(name(id as i64), document).expect("room");
    }
    let new = made(1);
    sum_measured([name(WARM as i64)], |name| {
        documents.put(name, &new[0]).expect("room");
        1
    });
    assert_eq!(documents.len().expect("it was created"), WARM + 1);
    1
}

/// One get of a field of a named document, after others.
fn get_once() -> u64 {
    let (_db, documents) = settled_under_names();
    let sum = sum_measured([name(7)], |name| {
        field(&documents.get(name).expect("undamaged").expect("it was put there"))
    });
    assert_eq!(sum, 7);
    1
}

/// Names that would stand between those that are there.
fn miss_name() -> u64 {
    let (_db, documents) = settled_under_names();
    let names: Vec<_> = uniform().map(|id| name(id) + "x").collect();
    let missed = sum_measured(&names, |name| u64::from(documents.get(name).expect("undamaged").is_none()));
    assert_eq!(missed, CALLS);
    CALLS
}

/// Scans of a hundred names that begin alike.
fn visit_prefix() -> u64 {
    let (_db, documents) = settled_under_names();
    let prefixes: Vec<_> = (1..LOADED as i64 / 100).map(|hundred| format!("user-{hundred:06}")).collect();
    let mut visited = 0;
    let sum = sum_measured(&prefixes, |prefix| {
        let mut sum = 0;
        let end = documents.scan_prefix(prefix).expect("it was created").visit(|document| {
            visited += 1;
            sum += id_in(document.get("id").and_then(|id| id.as_i64()));
            ControlFlow::<()>::Continue(())
        });
        assert_eq!(end.expect("undamaged"), None);
        sum
    });
    assert_eq!(sum, sum_of(100..LOADED as i64));
    visited
}

/// Opens a store of documents: all of them in the log as a crash leaves it, or in a checkpoint as closing leaves them.
fn open(closed: bool) -> u64 {
    let storage = Arc::default();
    let db = open_on(&storage, Durability::Written);
    let documents = documents_of(&db);
    for document in made(LOADED) {
        documents.insert(document).expect("room");
    }
    if closed {
        db.checkpoint().expect("room");
        drop(documents);
        db.close().expect("nothing went wrong before");
    } else {
        // No last sync, no word that all is well: the process is gone.
        std::mem::forget((db, documents));
    }
    let mut opened = None;
    measured(&mut || opened = Some(open_on(&storage, Durability::Written)));
    let opened = opened.expect("it was opened");
    assert_eq!(documents_of(&opened).len().expect("it was created"), LOADED);
    LOADED
}
