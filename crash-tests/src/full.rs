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
    Ok(put)
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
