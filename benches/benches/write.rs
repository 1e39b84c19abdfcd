//! What a write costs, by durability class. Each arm begins with an empty store and counts the documents afterwards.

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use holotype::{Durability, Key};
use holotype_benches::fixture::Store;
use holotype_benches::timing::timed;
use holotype_benches::workload::{Small, UniformIds, small_document};

const CLASSES: [(&str, Durability); 3] =
    [("buffered", Durability::Buffered), ("written", Durability::Written), ("synced", Durability::Synced)];

/// Documents in one commit of `insert_many`.
const BATCH: u64 = 100;

/// Runs `iterations` calls of `write` on an empty store, and takes their time.
fn on_empty_store(
    iterations: u64,
    durability: Durability,
    documents_each: u64,
    write: impl Fn(&Store, u64) -> u64,
) -> Duration {
    let store = Store::empty(durability);
    let (took, written) = timed(0..iterations, |i| write(&store, i));
    assert_eq!(written, iterations * documents_each, "each call says what it wrote");
    assert_eq!(store.documents.len().expect("it was created"), iterations * documents_each);
    took
}

fn is_int(key: &Key) -> u64 {
    u64::from(matches!(key, Key::Int(_)))
}

fn insert(c: &mut Criterion) {
    let mut group = c.benchmark_group("insert");
    for (name, durability) in CLASSES {
        group.bench_function(BenchmarkId::from_parameter(name), |b| {
            b.iter_custom(|iterations| {
                on_empty_store(iterations, durability, 1, |store, i| {
                    is_int(&store.documents.insert(small_document(i as i64)).expect("room"))
                })
            });
        });
    }
    group.finish();
}

fn insert_as(c: &mut Criterion) {
    let value = Small::new(1);
    c.bench_function("insert_as/buffered", |b| {
        b.iter_custom(|iterations| {
            on_empty_store(iterations, Durability::Buffered, 1, |store, _| {
                is_int(&store.documents.insert_as(&value).expect("room"))
            })
        });
    });
}

fn insert_many(c: &mut Criterion) {
    let mut group = c.benchmark_group("insert_many_100");
    group.throughput(Throughput::Elements(BATCH));
    for (name, durability) in CLASSES {
        group.bench_function(BenchmarkId::from_parameter(name), |b| {
            b.iter_custom(|iterations| {
                on_empty_store(iterations, durability, BATCH, |store, i| {
                    let documents = (i * BATCH..(i + 1) * BATCH).map(|i| small_document(i as i64));
                    store.documents.insert_many(documents).expect("room").len() as u64
                })
            });
        });
    }
    group.finish();
}

fn put(c: &mut Criterion) {
    const DOCUMENTS: u64 = 10_000;
    let mut group = c.benchmark_group("put_over");
    for (name, durability) in &CLASSES[..2] {
        group.bench_function(BenchmarkId::from_parameter(name), |b| {
            b.iter_custom(|iterations| {
                let store = Store::loaded(DOCUMENTS, *durability);
                let ids = UniformIds::new(DOCUMENTS).take(iterations as usize);
                let (took, replaced) = timed(ids, |id| {
                    u64::from(store.documents.replace(id, small_document(-id)).expect("room"))
                });
                assert_eq!(replaced, iterations);
                assert_eq!(store.documents.len().expect("it was created"), DOCUMENTS);
                took
            });
        });
    }
    group.finish();
}

fn delete(c: &mut Criterion) {
    let mut group = c.benchmark_group("delete");
    for (name, durability) in &CLASSES[..2] {
        group.bench_function(BenchmarkId::from_parameter(name), |b| {
            b.iter_custom(|iterations| {
                let store = Store::loaded(iterations, *durability);
                let (took, deleted) =
                    timed(1..=iterations, |id| u64::from(store.documents.delete(id as i64).expect("room")));
                assert_eq!(deleted, iterations);
                assert!(store.documents.is_empty().expect("it was created"));
                took
            });
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    targets = insert, insert_as, insert_many, put, delete
}
criterion_main!(benches);
