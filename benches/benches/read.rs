//! What a read costs in a store of 100,000 small documents that are all in memory. The sum of what was read is checked.

use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use holotype::{DocRef, Durability, Value};
use holotype_benches::fixture::Store;
use holotype_benches::timing::timed;
use holotype_benches::workload::{COUNT, SMALL_FIELDS, Small, UniformIds};

fn loaded() -> Store {
    Store::loaded(COUNT, Durability::Buffered)
}

fn sequential(iterations: u64) -> impl Iterator<Item = i64> {
    (0..iterations).map(|i| (i % COUNT) as i64 + 1)
}

fn uniform(iterations: u64) -> impl Iterator<Item = i64> {
    UniformIds::new(COUNT).take(iterations as usize)
}

fn id_of(document: &DocRef) -> u64 {
    document.get("id").and_then(|id| id.as_i64()).expect("a small document has an id").unsigned_abs()
}

/// Reads each of `ids`, and takes the time; `read` returns the id that it found in the document.
fn sum_ids<I: Iterator<Item = i64>>(ids: impl Fn() -> I, read: impl Fn(i64) -> u64) -> Duration {
    let expected = ids().map(i64::unsigned_abs).fold(0u64, u64::wrapping_add);
    let (took, sum) = timed(ids(), read);
    assert_eq!(sum, expected, "every document was read, and said which it was");
    took
}

fn get(c: &mut Criterion) {
    let store = loaded();
    let documents = &store.documents;
    let get = |id: i64| documents.get(id).expect("undamaged").expect("it was put there");
    let mut group = c.benchmark_group("get");
    group.bench_function("bytes/uniform", |b| {
        b.iter_custom(|n| {
            let expected: u64 = uniform(n).map(|id| get(id).bytes().len() as u64).sum();
            let (took, bytes) = timed(uniform(n), |id| get(id).bytes().len() as u64);
            assert_eq!(bytes, expected);
            took
        });
    });
    group.bench_function("field/sequential", |b| {
        b.iter_custom(|n| sum_ids(|| sequential(n), |id| id_of(&get(id))));
    });
    group
        .bench_function("field/uniform", |b| b.iter_custom(|n| sum_ids(|| uniform(n), |id| id_of(&get(id)))));
    let decoded = |id| {
        let document = get(id).to_document().expect("a document");
        assert_eq!(document.len(), SMALL_FIELDS);
        document.get("id").and_then(Value::as_i64).expect("a small document has an id").unsigned_abs()
    };
    group.bench_function("to_document/sequential", |b| b.iter_custom(|n| sum_ids(|| sequential(n), decoded)));
    group.bench_function("to_document/uniform", |b| b.iter_custom(|n| sum_ids(|| uniform(n), decoded)));
    let typed = |id| {
        let small: Small = documents.get_as(id).expect("undamaged").expect("it was put there");
        small.id.unsigned_abs()
    };
    group.bench_function("get_as/uniform", |b| b.iter_custom(|n| sum_ids(|| uniform(n), typed)));
    group.finish();
}

fn miss(c: &mut Criterion) {
    let store = loaded();
    let documents = &store.documents;
    for id in (10..=COUNT).step_by(10) {
        assert!(documents.delete(id as i64).expect("room"));
    }
    let found = |id: i64| u64::from(documents.get(id).expect("undamaged").is_some());
    let mut group = c.benchmark_group("miss");
    group.bench_function("deleted", |b| {
        b.iter_custom(|n| {
            let (took, found) = timed(uniform(n).map(|id| (id + 9) / 10 * 10), found);
            assert_eq!(found, 0);
            took
        });
    });
    group.bench_function("never_given", |b| {
        b.iter_custom(|n| {
            let (took, found) = timed(uniform(n).map(|id| id + 1_000_000), found);
            assert_eq!(found, 0);
            took
        });
    });
    group.finish();
}

fn scan(c: &mut Criterion) {
    let store = loaded();
    let documents = &store.documents;
    let mut group = c.benchmark_group("scan");
    group.throughput(Throughput::Elements(COUNT)).sample_size(10);
    let ids: u64 = (1..=COUNT).sum();
    let scanned = |n: u64, each: fn(&DocRef) -> u64| {
        let walk =
            |_| documents.scan(..).expect("it was created").map(|doc| each(&doc.expect("undamaged"))).sum();
        let (took, sum) = timed(0..n, walk);
        assert_eq!(sum, n * ids);
        took
    };
    group.bench_function("keys", |b| {
        b.iter_custom(|n| {
            let (took, keys) = timed(0..n, |_| {
                documents.keys(..).expect("it was created").map(|key| u64::from(key.is_ok())).sum()
            });
            assert_eq!(keys, n * COUNT);
            took
        });
    });
    group.bench_function("field", |b| b.iter_custom(|n| scanned(n, id_of)));
    group.bench_function("to_document", |b| {
        b.iter_custom(|n| {
            scanned(n, |doc| {
                let document = doc.to_document().expect("a document");
                document.get("id").and_then(Value::as_i64).expect("a small document has an id").unsigned_abs()
            })
        });
    });
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    targets = get, miss, scan
}
criterion_main!(benches);
