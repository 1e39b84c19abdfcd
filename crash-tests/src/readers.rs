//! Readers beside a writer: a scan shows one state however long it takes, a commit all at once, and damage as an error.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use holotype::storage::MemoryStorage;
use holotype::storage::sim::SimDisk;
use holotype::{Collection, Db, Durability, Error, IndexDefinition, doc};

use crate::setup::Setup;
use crate::story::say;
use crate::witness::Witness;

/// More documents than a scan looks up at a time.
const DOCUMENTS: i64 = 600;

/// Runs all of them. How many commits and scans that were.
///
/// # Errors
/// What a reader saw that it may not see.
pub fn every_check() -> Result<u64, String> {
    Ok(a_scan_keeps_its_state()?
        + a_commit_shows_at_once()?
        + an_index_is_whole_when_it_is_seen()?
        + a_document_is_always_there()?
        + a_scan_tells_of_damage()?)
}

/// Changes every document, and more, while a scan is under way.
pub fn a_scan_keeps_its_state() -> Result<u64, String> {
    let db = Db::open_on(MemoryStorage::new(), &Setup::LARGE.options()).map_err(say)?;
    let numbers = db.collection("numbers").with_durability(Durability::Buffered);
    numbers.insert_many((1..=DOCUMENTS).map(|n| doc! { "n": n })).map_err(say)?;
    for reverse in [false, true] {
        let scan = numbers.scan(..).map_err(say)?;
        let mut scan = if reverse { scan.reversed() } else { scan };
        let mut found = vec![number(scan.next())?];
        let expected: Vec<i64> = values(&numbers)?;
        for key in 1..=DOCUMENTS {
            match key % 3 {
                0 => numbers.delete(key).map(|_| ()).map_err(say)?,
                1 => numbers.put(key, doc! { "n": -key }).map_err(say)?,
                _ => {}
            }
        }
        numbers.insert(doc! { "n": 0 }).map_err(say)?;
        for next in scan {
            found.push(number(Some(next))?);
        }
        if reverse {
            found.reverse();
        }
        if found != expected {
            return Err(format!("a scan that began before them shows later commits (reverse: {reverse})"));
        }
    }
    Ok(2)
}

/// One thread puts the same number under several keys in each commit; another never finds two numbers.
pub fn a_commit_shows_at_once() -> Result<u64, String> {
    const COMMITS: i64 = 1500;
    let db = Db::open_on(MemoryStorage::new(), &Setup::LARGE.options()).map_err(say)?;
    let same = db.collection("same").with_durability(Durability::Buffered);
    let put = |n: i64| same.put_many((1..=8_i64).map(|key| (key, doc! { "n": n })));
    put(0).map_err(say)?;
    let (is_over, scans) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                let found = values(&same)?;
                scans.fetch_add(1, Ordering::Relaxed);
                if found.len() != 8 || found.iter().any(|n| *n != found[0]) {
                    return Err(format!("a part of a commit is visible: {found:?}"));
                }
            }
            Ok(())
        });
        // It goes on until the other has seen enough of it.
        let mut written = (1..=COMMITS).chain(COMMITS + 1..COMMITS * 20);
        let result = written.try_for_each(|n| {
            if reader.is_finished() || n > COMMITS && scans.load(Ordering::Relaxed) > 500 {
                return Ok(());
            }
            put(n).map(|_| ()).map_err(say)
        });
        is_over.store(true, Ordering::Relaxed);
        reader.join().map_err(|_| "a panic".to_owned())?.and(result)
    })?;
    Ok(scans.into_inner())
}

/// One thread puts the same number under several keys in each commit, and makes and ends an index of it in between; another finds no
/// index, or one that has each of the keys once and no two numbers.
pub fn an_index_is_whole_when_it_is_seen() -> Result<u64, String> {
    const INDEXES: i64 = 300;
    let db = Db::open_on(MemoryStorage::new(), &Setup::LARGE.options()).map_err(say)?;
    let same = db.collection("same").with_durability(Durability::Buffered);
    let put = |n: i64| same.put_many((1..=8_i64).map(|key| (key, doc! { "n": n })));
    put(0).map_err(say)?;
    let definition = IndexDefinition::new("n", ["$.n"]).map_err(say)?;
    let (is_over, seen) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                let found = match same.index("n").range(..) {
                    Err(Error::UnknownIndex { .. }) => continue,
                    scan => scan.map_err(say)?,
                };
                let found: Vec<_> = found.collect::<Result<_, _>>().map_err(say)?;
                seen.fetch_add(1, Ordering::Relaxed);
                if found.len() != 8 || found.iter().any(|entry| entry.values() != found[0].values()) {
                    return Err(format!("an index shows {found:?}"));
                }
            }
            Ok(())
        });
        // It goes on until the other has seen enough of it.
        let mut made = (1..=INDEXES).chain(INDEXES + 1..INDEXES * 20);
        let result = made.try_for_each(|n| {
            if reader.is_finished() || n > INDEXES && seen.load(Ordering::Relaxed) > 100 {
                return Ok(());
            }
            let built = same.create_index_with(definition.clone(), false, |_| match put(-n) {
                Ok(_) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            });
            built.map_err(say)?;
            put(n).map_err(say)?;
            same.drop_index("n").map(|_| ()).map_err(say)
        });
        is_over.store(true, Ordering::Relaxed);
        reader.join().map_err(|_| "a panic".to_owned())?.and(result)
    })?;
    Ok(seen.into_inner())
}

/// One thread puts the same document again and again; another finds it each time, and never an older one than before.
pub fn a_document_is_always_there() -> Result<u64, String> {
    const GETS: u64 = 100_000;
    let db = Db::open_on(MemoryStorage::new(), &Setup::LARGE.options()).map_err(say)?;
    let same = db.collection("same").with_durability(Durability::Buffered);
    let put = |n: i64| same.put(1, doc! { "n": n });
    put(0).map_err(say)?;
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writer = scope
            .spawn(|| (1..).take_while(|_| !is_over.load(Ordering::Relaxed)).try_for_each(put).map_err(say));
        let mut last = 0;
        let result = (0..GETS).try_for_each(|_| {
            let found = same.get(1).map_err(say)?.ok_or("a document that is put again is not there")?;
            let n = found.get("n").and_then(|n| n.as_i64()).ok_or("another document")?;
            if n < last {
                return Err(format!("version {n} is found after version {last}"));
            }
            last = n;
            Ok(())
        });
        is_over.store(true, Ordering::Relaxed);
        writer.join().map_err(|_| "a panic".to_owned())?.and(result)
    })?;
    Ok(1)
}

/// Damages one document after another under an open store. A scan ends with an error there, and not before.
pub fn a_scan_tells_of_damage() -> Result<u64, String> {
    let setup = Setup::SECTORS;
    let disk = setup.disk();
    let open = |disk: &SimDisk| Db::open_on(Witness::new(disk.clone()), &setup.options().cache_bytes(0));
    let db = open(&disk).map_err(say)?;
    let text = |n: i64| format!("document number {n:03}, {}", "x".repeat(300));
    db.collection("texts").insert_many((1..=20).map(|n| doc! { "text": text(n) })).map_err(say)?;
    db.close().map_err(say)?;
    let bytes = disk.bytes();
    for n in 1..=20 {
        let needle = text(n);
        let at = bytes.windows(needle.len()).position(|window| window == needle.as_bytes());
        let at = at.ok_or("a document is not in the file as it is")? as u64;
        let damaged = disk.fork();
        let db = open(&damaged).map_err(say)?;
        damaged.flip_bit(at * 8);
        let texts = db.collection("texts");
        let mut scan = texts.scan(..).map_err(say)?;
        let good = scan.by_ref().take_while(Result::is_ok).count() as i64;
        let after = scan.count();
        let is_cached = good == 20 && texts.get(n).map_err(say)?.is_some();
        if !is_cached && (good != n - 1 || after != 0) {
            return Err(format!(
                "document {n} of 20 is damaged; a scan gives {good}, and {after} behind the error"
            ));
        }
    }
    Ok(20)
}

fn number(found: Option<holotype::Result<holotype::DocRef>>) -> Result<i64, String> {
    let found = found.ok_or("the scan ends too soon")?.map_err(say)?;
    found.get("n").and_then(|n| n.as_i64()).ok_or_else(|| "another document".to_owned())
}

fn values(collection: &Collection) -> Result<Vec<i64>, String> {
    collection.scan(..).map_err(say)?.map(|found| number(Some(found))).collect()
}
