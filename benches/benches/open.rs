//! What it costs to open a store: its log is read from the last checkpoint on, and while there is none, from its beginning.

use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use holotype::{Db, Durability};
use holotype_benches::fixture::{Store, documents_of, path_in};

fn open(c: &mut Criterion) {
    let mut group = c.benchmark_group("open");
    for count in [1_000u64, 100_000] {
        let directory = Store::loaded(count, Durability::Buffered).close();
        group.throughput(Throughput::Elements(count));
        group.bench_function(BenchmarkId::from_parameter(count), |b| {
            b.iter_custom(|iterations| {
                let mut took = Duration::ZERO;
                for _ in 0..iterations {
                    let begun = Instant::now();
                    let db = Db::open(path_in(directory.path())).expect("it was closed in order");
                    took += begun.elapsed();
                    assert_eq!(documents_of(&db).len().expect("it was created"), count);
                }
                took
            });
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(3));
    targets = open
}
criterion_main!(benches);
