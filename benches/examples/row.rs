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

use holotype::query::Filter;
use holotype::{
    Collection, Db, DocRef, Document, Durability, IndexDefinition, IndexEntry, Result, Scan, doc,
};
use holotype_benches::fixture::{Store, documents_of, path_in};
use holotype_benches::workload::{COUNT, UniformIds, small_document};

/// Does a row until the time is over; how many documents it came to, and how long they took.
type Row = fn(Duration) -> Result<(u64, Duration)>;

const ROWS: [(&str, Row); 19] = [
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
    ("index-keys", |time| {
        read(time, &by_texts()?, |it, id| {
            Ok(it.index("text").get(text(id))?.keys().map(black_box).count() as u64)
        })
    }),
    ("index-documents", |time| {
        read(time, &by_texts()?, |it, id| each(it.index("text").get(text(id))?.documents()))
    }),
    ("index-range-of-100", |time| {
        read(time, &by_texts()?, |it, id| {
            Ok(it.index("text").range(text(id)..)?.take(100).map(entry).count() as u64)
        })
    }),
    ("query-keys", |time| {
        let filter = Filter::parse("@.text == arg('t')")?;
        read(time, &by_texts()?, |it, id| {
            Ok(it.find(&filter).bind("t", text(id)).keys()?.map(black_box).count() as u64)
        })
    }),
    ("query-documents", |time| {
        let filter = Filter::parse("@.text == arg('t')")?;
        read(time, &by_texts()?, |it, id| each(it.find(&filter).bind("t", text(id)).run()?))
    }),
    ("batch-with-index", |time| batches(time, |first, at| first + at)),
    ("update-with-index", |time| batches(time, |first, at| (first + at) % COUNT as i64)),
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

fn text(id: i64) -> String {
    format!("{:016x}", (id as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

fn with_text(id: i64, round: i64) -> Document {
    doc! { "id": id, "text": text(id + round), "number": id, "score": 87, "active": true }
}

fn by_texts() -> Result<Store> {
    let store = Store::empty(Durability::Buffered);
    store.documents.put_many((1..=COUNT as i64).map(|id| (id, with_text(id, 0))))?;
    store.documents.create_index(IndexDefinition::new("text", ["$.text"])?)?;
    Ok(store)
}

fn entry(found: Result<IndexEntry>) -> IndexEntry {
    black_box(found.expect("it can be read"))
}

fn each(found: impl Iterator<Item = Result<DocRef>>) -> Result<u64> {
    let mut documents = 0;
    for document in found {
        documents += added(document?.bytes());
    }
    Ok(documents)
}

/// Puts documents beside an index of texts in no order, a thousand in one commit.
fn batches(time: Duration, key: impl Fn(i64, i64) -> i64) -> Result<(u64, Duration)> {
    let store = by_texts()?;
    let (mut documents, begun) = (COUNT as i64, Instant::now());
    while begun.elapsed() < time {
        let all = (1..=1_000).map(|at| key(documents, at));
        store.documents.put_many(all.map(|id| (id, with_text(id, documents))))?;
        documents += 1_000;
    }
    Ok((documents as u64 - COUNT, begun.elapsed()))
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
