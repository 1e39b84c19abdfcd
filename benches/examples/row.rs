//! One row of the benches beside other stores, over and over, for a profiler: of Holotype alone, in a file that the system has in memory.
//!
//! ```text
//! cargo build --release -p holotype-benches --example row
//! perf record -e cpu-clock target/release/examples/row get 5
//! ```
//!
//! The second argument says for how many seconds. What a row reads is added up.

use std::hint::black_box;
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use holotype::{Collection, Db, Durability, Result, Scan};
use holotype_benches::fixture::{Store, documents_of, path_in};
use holotype_benches::workload::{COUNT, UniformIds, small_document};

/// Does a row until the time is over; how many documents it came to, and how long they took.
type Row = fn(Duration) -> Result<(u64, Duration)>;

const ROWS: [(&str, Row); 12] = [
    ("get", |time| read(time, &by_ids()?, |it, id| Ok(added(it.get(id)?.expect("it is there").bytes())))),
    ("get-decoded", |time| {
        read(time, &by_ids()?, |it, id| {
            Ok(it.get(id)?.expect("it is there").to_document()?.len().min(1) as u64)
        })
    }),
    ("get-by-name", |time| {
        read(time, &by_names()?, |it, id| Ok(added(it.get(name(id))?.expect("it is there").bytes())))
    }),
    ("prefix-of-1000", |time| read(time, &by_names()?, |it, id| visited(it.scan_prefix(&name(id)[..10])?))),
    ("range-of-1000", |time| read(time, &by_ids()?, |it, id| visited(it.scan(id..id + 1_000)?))),
    ("range-of-10", |time| read(time, &by_ids()?, |it, id| visited(it.scan(id..id + 10)?))),
    ("first-scan", first_scan),
    ("insert-kept", |time| insert(time, Durability::Buffered, 1)),
    ("insert-written", |time| insert(time, Durability::Written, 1)),
    ("insert-durable", |time| insert(time, Durability::Synced, 1)),
    ("batch-kept", |time| insert(time, Durability::Buffered, 100)),
    ("batch-written", |time| insert(time, Durability::Written, 100)),
];

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let asked = match &arguments[..] {
        [row, seconds] => ROWS.iter().find(|(name, _)| name == row).zip(seconds.parse().ok()),
        _ => None,
    };
    let Some(((_, row), seconds)) = asked else {
        let names: Vec<_> = ROWS.iter().map(|(name, _)| *name).collect();
        eprintln!("usage: row ROW SECONDS, where ROW is one of {}", names.join(", "));
        return ExitCode::from(2);
    };
    match row(Duration::from_secs(seconds)) {
        Ok((documents, time)) => {
            println!("{:.1} ns a document, {documents} of them", time.as_nanos() as f64 / documents as f64);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn by_ids() -> Result<Store> {
    Ok(Store::loaded(COUNT, Durability::Buffered))
}

fn by_names() -> Result<Store> {
    let store = Store::empty(Durability::Buffered);
    for id in 1..=COUNT as i64 {
        store.documents.put(name(id), small_document(id))?;
    }
    Ok(store)
}

fn name(id: i64) -> String {
    format!("user:{id:08}")
}

/// Whether there were bytes to add up: a document.
fn added(bytes: &[u8]) -> u64 {
    u64::from(black_box(bytes.iter().map(|byte| u64::from(*byte)).sum::<u64>()) > 0)
}

fn visited(scan: Scan) -> Result<u64> {
    let mut documents = 0;
    scan.visit(|document| {
        documents += added(document.bytes());
        ControlFlow::<()>::Continue(())
    })?;
    Ok(documents)
}

/// Calls `each` with uniform ids; it says how many documents it came to.
fn read(
    time: Duration,
    store: &Store,
    mut each: impl FnMut(&Collection, i64) -> Result<u64>,
) -> Result<(u64, Duration)> {
    let (mut documents, mut ids, begun) = (0, UniformIds::new(COUNT), Instant::now());
    while begun.elapsed() < time {
        for id in ids.by_ref().take(64) {
            documents += each(&store.documents, id)?;
        }
    }
    Ok((documents, begun.elapsed()))
}

/// What is timed is the scan behind each opening, not that.
fn first_scan(time: Duration) -> Result<(u64, Duration)> {
    let directory = by_ids()?.close();
    let (mut documents, mut scanning, begun) = (0, Duration::ZERO, Instant::now());
    while begun.elapsed() < time {
        let db = Db::open(path_in(directory.path()))?;
        let began = Instant::now();
        documents += visited(documents_of(&db).scan(..)?)?;
        scanning += began.elapsed();
        db.close()?;
    }
    Ok((documents, scanning))
}

fn insert(time: Duration, durability: Durability, at_once: i64) -> Result<(u64, Duration)> {
    let store = Store::empty(durability);
    let (mut documents, begun) = (0, Instant::now());
    while begun.elapsed() < time {
        for _ in 0..16 {
            let first = documents as i64;
            match at_once {
                1 => store.documents.put(first, small_document(first))?,
                _ => drop(
                    store.documents.put_many((first..first + at_once).map(|id| (id, small_document(id))))?,
                ),
            }
            documents += at_once as u64;
        }
    }
    Ok((documents, begun.elapsed()))
}
