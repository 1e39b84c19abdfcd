//! A disk that is full: what brings data is refused in time, so that deleting and cleaning always find the room that they need; and once
//! there is room, writing goes on (law 4).

use holotype::{Db, Document, Error, doc};

use crate::setup::Setup;

/// Segments that the disk has room for: the reserve is most of the smallest.
const CAPACITIES: std::ops::Range<u64> = 10..24;

/// Fills stores of many sizes, empties them and fills them again. How many documents that were.
///
/// # Errors
/// What a store did that it may not do.
pub fn every_check(setup: Setup) -> Result<u64, (u64, String)> {
    let mut put = 0;
    for segments in CAPACITIES {
        for len in [0, 40, 100, 300] {
            put += fill_and_empty(setup, segments, len)
                .map_err(|what| (put, format!("{segments} segments, documents of {len} bytes: {what}")))?;
        }
    }
    // Here the table of the segments is what a checkpoint mostly has.
    let many: &[(u64, usize)] = if setup != Setup::SECTORS { &[] } else { &[(90, 3000), (150, 1900)] };
    for &(segments, len) in many {
        put += fill_and_empty(setup, segments, len)
            .map_err(|what| (put, format!("{segments} segments, documents of {len} bytes: {what}")))?;
    }
    for segments in (12..30).step_by(2) {
        for (share, refused) in [(4, 0), (4, 9), (8, 0), (8, 9)] {
            let len = setup.segment_bytes as usize / share;
            put += wear_out(setup, segments, len, refused).map_err(|what| {
                (
                    put,
                    format!(
                        "{segments} segments, documents of {len} bytes, {refused} puts are refused: {what}"
                    ),
                )
            })?;
        }
    }
    Ok(put)
}

/// Fills a store with documents of this length, has puts refused, compacts it, deletes a few documents, compacts
/// it again and deletes all: whatever the file comes to by then, another document finds room. How many documents that were.
///
/// # Errors
/// What the store did that it may not do.
pub fn wear_out(setup: Setup, segments: u64, len: usize, refused: u32) -> Result<u64, String> {
    let disk = setup.disk();
    disk.set_capacity(Some((16 << 10) + segments * u64::from(setup.segment_bytes) + 4096));
    // Nobody knows of a disk that is full but who has found it so: each call is of a life of its own.
    let open = || Db::open_on(disk.clone(), &setup.options()).map_err(|error| format!("opening: {error}"));
    let there = fill(&open()?, len).map_err(|error| format!("putting: {error}"))?;
    for _ in 0..refused {
        let put = open()?.collection("a").put(-1, doc! {});
        put.or_else(unless_full).map_err(|error| format!("putting once more: {error}"))?;
    }
    let compact =
        || open()?.compact().map(drop).or_else(unless_full).map_err(|error| format!("compacting: {error}"));
    let delete = |keys: std::ops::Range<i64>| {
        let db = open()?;
        let all = db.write(|tx| keys.clone().try_for_each(|key| tx.collection("a").delete(key).map(drop)));
        let say = |error: Error| format!("deleting {keys:?}: {error}");
        match all {
            // So much at once need find no room; one by one they do.
            Err(Error::StorageFull { .. }) => {
                keys.clone().try_for_each(|key| db.collection("a").delete(key).map(drop)).map_err(say)
            }
            done => done.map_err(say),
        }
    };
    compact()?;
    delete(0..there / 16)?;
    compact()?;
    delete(-1..there)?;
    let db = open()?;
    while db.maintain().map_err(|error| format!("maintaining: {error}"))? {}
    db.collection("a")
        .put(0, doc! {})
        .map_err(|error| format!("all was deleted, and a put: {error}; {:#?}", db.stats()))?;
    Ok(there as u64)
}

fn unless_full(error: Error) -> holotype::Result<()> {
    match error {
        Error::StorageFull { .. } => Ok(()),
        other => Err(other),
    }
}

/// Fills a store that has room for so many segments with documents of this length, empties it, and does so again. How many documents that were.
///
/// # Errors
/// What the store did that it may not do.
pub fn fill_and_empty(setup: Setup, segments: u64, len: usize) -> Result<u64, String> {
    let disk = setup.disk();
    disk.set_capacity(Some((16 << 10) + segments * u64::from(setup.segment_bytes)));
    let mut put = 0;
    let open = || Db::open_on(disk.clone(), &setup.options()).map_err(|error| format!("opening: {error}"));
    let mut db = open()?;
    for round in 0..3 {
        let say = |what: &str, error: Error| format!("round {round}, {what}: {error}");
        let a = db.collection("a");
        let there = fill(&db, len).map_err(|error| say("putting", error))?;
        if there == 0 {
            return Err(format!("round {round}: not one document finds room"));
        }
        put += there as u64;
        for key in 0..there {
            let gone = a.delete(key).map_err(|error| {
                say(&format!("deleting document {key} of {there} where the disk is full"), error)
            })?;
            if !gone || a.len().map_err(|error| say("counting", error))? != (there - key - 1) as u64 {
                return Err(format!("round {round}: document {key} of {there} is not there any more"));
            }
        }
        while db.maintain().map_err(|error| say("maintaining", error))? {}
        drop(a);
        db.close().map_err(|error| say("closing", error))?;
        db = open()?;
    }
    Ok(put)
}

/// Puts documents until there is no more room for them. How many.
fn fill(db: &Db, len: usize) -> holotype::Result<i64> {
    let document: Document = doc! { "b": vec![7_u8; len] };
    let a = db.collection("a");
    let mut there = 0;
    loop {
        match a.put(there, &document) {
            Ok(()) => there += 1,
            Err(Error::StorageFull { .. }) => return Ok(there),
            Err(error) => return Err(error),
        }
    }
}
