//! What is read of the file, and what is kept in memory.

use holotype::storage::Storage;
use holotype::{Background, Collection, Db, Durability, Options, Value, doc};
use holotype_model::check::Rng;

use crate::metered::Metered;
use crate::story::{ensure, say};

/// The length of a block of the cache; from a quarter of it on a record is a long one.
const BLOCK: usize = 16 << 10;

fn options(cache_bytes: usize) -> Options {
    Options::new()
        .seed(1)
        .durability(Durability::Buffered)
        .background(Background::Manual)
        .cache_bytes(cache_bytes)
}

fn open(file: &Metered, cache_bytes: usize) -> Result<Collection, String> {
    Ok(Db::open_on(file.clone(), &options(cache_bytes)).map_err(say)?.collection("a"))
}

/// A store of `count` documents of `len` bytes each, closed.
fn filled(count: usize, len: usize) -> Result<Metered, String> {
    let file = Metered::default();
    let db = Db::open_on(file.clone(), &options(1 << 20)).map_err(say)?;
    let a = db.collection("a");
    for key in 0..count {
        a.put(key as i64, doc! { "p": bytes(key, len) }).map_err(say)?;
    }
    drop(a);
    db.close().map_err(say)?;
    Ok(file)
}

fn bytes(key: usize, len: usize) -> Value {
    Value::Bytes(vec![key as u8; len])
}

/// Reads one document, which must be what was put.
fn get(a: &Collection, key: usize, len: usize) -> Result<(), String> {
    let found = a.get(key as i64).map_err(say)?.ok_or("it is gone")?.to_document().map_err(say)?;
    ensure(found == doc! { "p": bytes(key, len) }, || format!("document {key} is another one"))
}

/// As much is read as it is long; from the third time on, nothing, since it is kept whole.
pub(super) fn a_long_document() -> Result<(), String> {
    // Of chunks, and in one record that no block holds.
    for len in [1 << 20, BLOCK * 5 / 4] {
        let file = filled(8, len)?;
        let a = open(&file, 64 << 20)?;
        let read = file.read_by(|| get(&a, 1, len))?;
        let most = len as u64 * 11 / 10 + BLOCK as u64;
        ensure(read < most, || format!("{read} bytes are read of one of {len}"))?;
        get(&a, 1, len)?;
        let read = file.read_by(|| get(&a, 1, len))?;
        ensure(read == 0, || format!("{read} bytes are read of one of {len} that was read twice"))?;
    }
    Ok(())
}

/// In a cache that is full, a short document is read by itself the first time.
pub(super) fn one_by_one() -> Result<(), String> {
    for (len, most) in [(100, 600), (900, 1100), (3000, 3200)] {
        let file = filled((4 << 20) / len, len)?;
        let a = open(&file, 4 * BLOCK)?;
        let mut rng = Rng::seeded(len as u64);
        let mut any = |count: usize| (0..count).try_for_each(|_| get(&a, rng.below((4 << 20) / len), len));
        any(50)?;
        let read = file.read_by(|| any(200))? / 200;
        // Now and then a block comes in that is asked for again.
        ensure(read < most + BLOCK as u64 / 3, || format!("{read} bytes are read of documents of {len}"))?;
    }
    Ok(())
}

/// What fills blocks is read alone, and its neighbours are not.
pub(super) fn of_some_blocks() -> Result<(), String> {
    for len in [BLOCK / 2, 3 * BLOCK] {
        let count = (8 << 20) / len;
        let file = filled(count, len)?;
        let a = open(&file, 4 * BLOCK)?;
        let mut rng = Rng::seeded(1);
        let read = file.read_by(|| (0..100).try_for_each(|_| get(&a, rng.below(count), len)))? / 100;
        drop(a);
        let most = len as u64 * 5 / 4 + BLOCK as u64;
        ensure(read < most, || format!("{read} bytes are read of documents of {len}, not {most}"))?;
        // Read once, it is not worth the memory.
        let db = Db::open_on(file.clone(), &options(64 << 20)).map_err(say)?;
        let a = db.collection("a");
        (0..50).try_for_each(|key| get(&a, key, len))?;
        let kept = db.stats().cache_bytes;
        let most = 50 * (BLOCK as u64 + 1000);
        ensure(kept < most, || {
            format!("{kept} bytes are kept of 50 documents of {len} that were read once")
        })?;
    }
    Ok(())
}

/// A scan in the order in which all was written reads the file about once.
pub(super) fn a_scan() -> Result<(), String> {
    for len in [100, 2000, 20_000] {
        let count = (4 << 20) / len;
        let file = filled(count, len)?;
        let a = open(&file, 1 << 20)?;
        let read = file.read_by(|| {
            let found = a.scan(..).map_err(say)?.try_fold(0, |found, next| next.map(|_| found + 1));
            ensure(found.map_err(say)? == count, || "documents are missing".to_owned())
        })?;
        let all = file.len().map_err(|error| error.to_string())?;
        ensure(read < all * 11 / 10, || format!("{read} bytes of {all} are read for a scan, each of {len}"))?;
    }
    Ok(())
}

/// What was written last is kept, as far as there is room and as it is short: it is read again soon.
pub(super) fn what_was_written() -> Result<(), String> {
    for (len, is_kept) in [(100, true), (10 * BLOCK, false)] {
        let file = Metered::default();
        let db = Db::open_on(file.clone(), &options(2 << 20)).map_err(say)?;
        let a = db.collection("a");
        let count = (4 << 20) / len;
        for key in 0..count {
            a.put(key as i64, doc! { "p": bytes(key, len) }).map_err(say)?;
        }
        db.flush().map_err(say)?;
        let kept = db.stats().cache_bytes;
        let is_so = if is_kept { (1 << 20..=2 << 20).contains(&kept) } else { kept < 1 << 20 };
        ensure(is_so, || format!("{kept} bytes are kept of documents of {len}, just written"))?;
        let few = count - 20.min(count)..count;
        let read = file.read_by(|| few.clone().try_for_each(|key| get(&a, key, len)))?;
        ensure(!is_kept || read == 0, || format!("{read} bytes are read of what was just written"))?;
    }
    Ok(())
}
