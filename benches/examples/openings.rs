//! How long it takes to open a large store, to get one document, and to read all keys. Making the store is a step of its
//! own, which is not timed.
//!
//! ```text
//! openings make FILE DOCUMENTS INDEXES
//! openings time FILE TRIALS
//! openings killed FILE BATCH           as a kill leaves it: 100,000 documents in commits of so many since the checkpoint
//! ```
//!
//! To compare two versions on a busy machine, run a build of each in turns over one file. The best trial then says
//! most.

use std::error::Error;
use std::time::{Duration, Instant};

use holotype::{Background, Db, Durability, IndexDefinition, Options, doc};

const COLLECTION: &str = "documents";
const BATCH: i64 = 10_000;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["make", file, documents, indexes] => make(file, documents.parse()?, indexes.parse()?),
        ["time", file, trials] => time(file, trials.parse()?),
        ["killed", file, batch] => killed(file, batch.parse()?),
        _ => Err("openings make FILE DOCUMENTS INDEXES, time FILE TRIALS or killed FILE BATCH".into()),
    }
}

fn make(file: &str, documents: i64, indexes: usize) -> Result<(), Box<dyn Error>> {
    let db = Db::open_with(file, &Options::new().durability(Durability::Buffered))?;
    for first in (0..documents).step_by(BATCH as usize) {
        db.write(|tx| {
            let to = tx.collection(COLLECTION);
            for number in first..(first + BATCH).min(documents) {
                let strewn = (number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
                let text = format!("{strewn:016x}");
                to.insert(doc! { "a": strewn as i64, "b": text, "c": number % 1000 })?;
            }
            Ok::<_, holotype::Error>(())
        })?;
    }
    for (name, path) in [("a", "$.a"), ("b", "$.b"), ("c", "$.c")].into_iter().take(indexes) {
        db.collection(COLLECTION).create_index(IndexDefinition::new(name, [path])?)?;
    }
    db.checkpoint()?;
    Ok(db.close()?)
}

/// Puts documents into a store that `make` left, where they stay, and opens what a kill then would leave: a copy, which was not closed.
fn killed(file: &str, batch: i64) -> Result<(), Box<dyn Error>> {
    const ADDED: i64 = 100_000;
    const TRIALS: usize = 12;
    let copy = format!("{file}.killed");
    let options = Options::new().durability(Durability::Buffered).background(Background::Manual);
    let db = Db::open_with(file, &options)?;
    let to = db.collection(COLLECTION);
    let before = to.len()?;
    for first in (0..ADDED).step_by(batch as usize) {
        let numbers = first..(first + batch).min(ADDED);
        to.put_many(
            numbers.map(|number| (before as i64 + 1 + number, doc! { "a": number, "c": number % 1000 })),
        )?;
    }
    db.flush()?;
    let mut took = Vec::new();
    for _ in 0..TRIALS {
        std::fs::copy(file, &copy)?;
        let begun = Instant::now();
        let db = Db::open_with(&copy, &options)?;
        took.push(begun.elapsed());
        assert_eq!(db.collection(COLLECTION).len()?, before + ADDED as u64);
    }
    std::fs::remove_file(&copy)?;
    took.sort();
    println!("opening after a kill: {:?} at best, {:?} in the middle", took[0], took[TRIALS / 2]);
    Ok(())
}

fn time(file: &str, trials: usize) -> Result<(), Box<dyn Error>> {
    let mut took: [Vec<Duration>; 3] = Default::default();
    for _ in 0..trials {
        let begun = Instant::now();
        let db = Db::open(file)?;
        took[0].push(begun.elapsed());
        let documents = db.collection(COLLECTION);
        let len = documents.len()?;
        let begun = Instant::now();
        assert!(documents.get(len as i64 / 2)?.is_some(), "it was put there");
        took[1].push(begun.elapsed());
        let begun = Instant::now();
        assert_eq!(documents.keys(..)?.count() as u64, len);
        took[2].push(begun.elapsed());
    }
    for (what, mut took) in ["opening", "the first get", "all keys"].into_iter().zip(took) {
        took.sort();
        let Some(best) = took.first() else { return Err("no trials".into()) };
        println!("{what}: {best:?} at best, {:?} in the middle", took[took.len() / 2]);
    }
    Ok(())
}
