//! What checkpoints write of a large store, of which little or much changes between two of them.
//!
//! ```text
//! checkpoints few FILE DOCUMENTS      1,000 updates before each checkpoint: of neighbours, strewn, and strewn over
//!                                     other documents each time
//! checkpoints opened FILE DOCUMENTS   opens the store anew, 1,000 updates of neighbours, and the first checkpoint; three times
//! checkpoints steady FILE DOCUMENTS   strewn updates, three for each document, with checkpoints and cleaning when they are due
//! checkpoints beside FILE DOCUMENTS   single synced updates while checkpoints are taken one after the other, in turns with some while none is
//! ```
//!
//! FILE must not be there; it is made, and stays.

use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use holotype::{Background, Db, Document, Durability, Options, doc};

const COLLECTION: &str = "documents";
const BATCH: i64 = 1_000;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["few", file, documents] => few(file, documents.parse()?),
        ["opened", file, documents] => opened(file, documents.parse()?),
        ["steady", file, documents] => steady(file, documents.parse()?),
        ["beside", file, documents] => beside(file, documents.parse()?),
        _ => Err("checkpoints few, opened, steady or beside FILE DOCUMENTS".into()),
    }
}

/// A document of some 100 bytes.
fn document(version: i64) -> Document {
    doc! { "version": version, "text": "x".repeat(78) }
}

fn make(file: &str, documents: i64, options: &Options) -> Result<Db, Box<dyn Error>> {
    let db = Db::open_with(file, options)?;
    for first in (0..documents).step_by(BATCH as usize) {
        put(&db, first..(first + BATCH).min(documents), 0)?;
    }
    Ok(db)
}

fn put(db: &Db, keys: impl Iterator<Item = i64>, version: i64) -> holotype::Result<()> {
    db.write(|tx| {
        let to = tx.collection(COLLECTION);
        keys.into_iter().try_for_each(|key| to.put(key, document(version)).map(drop))
    })
}

/// A key that looks drawn at random, the same in each run.
fn strewn(number: i64, documents: i64) -> i64 {
    ((number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20) as i64 % documents
}

fn few(file: &str, documents: i64) -> Result<(), Box<dyn Error>> {
    let options = Options::new().durability(Durability::Buffered).background(Background::Manual);
    let db = make(file, documents, &options)?;
    let mut kinds =
        vec!["of all", "of all", "neighbours", "neighbours", "neighbours", "strewn", "strewn", "strewn"];
    kinds.extend(["others"; 24]);
    for what in kinds {
        let version = db.stats().lsn as i64;
        match what {
            "neighbours" => put(&db, documents / 2..documents / 2 + BATCH, version)?,
            "strewn" | "others" => {
                let first = if what == "others" { version * BATCH } else { version };
                let keys = (first..first + BATCH).map(|number| strewn(number, documents));
                put(&db, keys, version)?;
            }
            _ => put(&db, 0..1, version)?,
        }
        let (before, begun) = (db.stats().space.checkpoint_written_bytes, Instant::now());
        db.checkpoint()?;
        let written = db.stats().space.checkpoint_written_bytes - before;
        let held = db.stats().space.checkpoint_bytes;
        println!(
            "{what:<12} {:>9} bytes written {held:>10} of two {:>6} ms",
            written,
            millis(begun.elapsed())
        );
    }
    Ok(db.close()?)
}

fn opened(file: &str, documents: i64) -> Result<(), Box<dyn Error>> {
    let options = Options::new().durability(Durability::Buffered).background(Background::Manual);
    let db = make(file, documents, &options)?;
    for version in 1..=4 {
        // Two families of checkpoints, whose leaves are older than the base.
        put(&db, 0..1, version)?;
        db.checkpoint()?;
    }
    db.close()?;
    for version in 5..8 {
        let db = Db::open_with(file, &options)?;
        put(&db, documents / 2..documents / 2 + BATCH, version)?;
        let changed = db.stats().index_bytes;
        let begun = Instant::now();
        db.checkpoint()?;
        println!(
            "opened       {:>9} bytes written {:>9.2} ms, index in memory {changed:>9} before {:>9} after",
            db.stats().space.checkpoint_written_bytes,
            begun.elapsed().as_secs_f64() * 1e3,
            db.stats().index_bytes,
        );
        db.close()?;
    }
    Ok(())
}

fn steady(file: &str, documents: i64) -> Result<(), Box<dyn Error>> {
    let db = make(file, documents, &Options::new().durability(Durability::Buffered))?;
    let begun = Instant::now();
    for first in (0..3 * documents).step_by(BATCH as usize) {
        if first == documents {
            // From here on it is counted.
            report(&db, "before", begun);
        }
        put(&db, (first..first + BATCH).map(|number| strewn(number, documents)), first)?;
    }
    report(&db, "after", begun);
    Ok(db.close()?)
}

fn report(db: &Db, when: &str, begun: Instant) {
    let stats = db.stats();
    let space = stats.space;
    println!(
        "{when:<8} user {:>12} moved {:>12} checkpoints {:>12} file {:>12} live {:>12} {:>6} ms",
        space.user_bytes,
        space.relocated_bytes,
        space.checkpoint_written_bytes,
        stats.file_bytes,
        space.live_bytes + space.checkpoint_bytes,
        millis(begun.elapsed()),
    );
}

fn millis(took: Duration) -> u128 {
    took.as_millis()
}

/// How long commits take, alone and beside checkpoints.
fn beside(file: &str, documents: i64) -> Result<(), Box<dyn Error>> {
    const TURNS: i64 = 80;
    const CALLS: i64 = 125;
    drop(make(file, documents, &Options::new().durability(Durability::Buffered))?);
    let db = Db::open_with(file, &Options::new().background(Background::Manual))?;
    let to = db.collection(COLLECTION);
    let mut took: [Vec<Duration>; 2] = Default::default();
    let mut checkpoints = 0;
    for turn in 0..TURNS {
        let is_beside = turn % 2 == 1;
        let is_over = AtomicBool::new(!is_beside);
        let taken = std::thread::scope(|scope| {
            let taken = scope.spawn(|| {
                let mut taken = 0;
                while !is_over.load(Ordering::Relaxed) {
                    db.checkpoint()?;
                    taken += 1;
                }
                Ok::<_, holotype::Error>(taken)
            });
            let put = (0..CALLS).try_for_each(|call| {
                let begun = Instant::now();
                to.put((turn * CALLS + call) * 7_919 % documents, document(turn))?;
                took[usize::from(is_beside)].push(begun.elapsed());
                Ok(())
            });
            is_over.store(true, Ordering::Relaxed);
            put.and(taken.join().expect("a checkpoint does not panic"))
        })?;
        checkpoints += taken;
    }
    for (what, took) in ["alone", "beside checkpoints"].into_iter().zip(&mut took) {
        took.sort();
        let of = |share: usize| took[took.len() * share / 1_000];
        println!(
            "{what}: {:?} in the median, {:?} and {:?} for 99 and 99.9 of 100",
            of(500),
            of(990),
            of(999)
        );
    }
    println!("{checkpoints} checkpoints");
    Ok(())
}
