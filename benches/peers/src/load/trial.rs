//! One trial: one store goes through the whole day of a document, from an empty file to a reopened one.

use std::path::Path;
use std::time::Duration;

use holotype_benches::workload::UniformIds;

use super::peer::{Class, Peer};
use crate::clock::{Moment, timed, timed_by_wall};
use crate::failure::{Failure, Of, Result, expect_equal};
use crate::place;

/// What one trial showed, in nanoseconds for each document unless told otherwise.
#[derive(Debug, Clone)]
pub struct Figures {
    pub insert: f64,
    /// The reads and rewrites, which are the same in every class but for their syncs.
    pub rest: Option<Rest>,
}

/// What a trial shows that does not sync each commit.
#[derive(Debug, Clone)]
pub struct Rest {
    /// Bytes of the file for each document, once all were inserted and flushed.
    pub file_bytes: f64,
    pub reads: Reads,
    pub rewrites: Rewrites,
}

#[derive(Debug, Clone)]
pub struct Reads {
    pub decode_sequential: f64,
    pub decode_uniform: f64,
    pub field_uniform: f64,
    pub sum: f64,
    pub miss_never_given: f64,
}

#[derive(Debug, Clone)]
pub struct Rewrites {
    pub replace: f64,
    pub reopen: f64,
    pub delete: f64,
    pub miss_deleted: f64,
}

/// A sync takes the device's time, not the store's: fewer documents show it as well.
const SYNCED_SHARE: u64 = 100;

fn each(took: Duration, count: u64) -> f64 {
    took.as_secs_f64() * 1e9 / count as f64
}

/// One trial of `P` in `class`, with a new file in `directory`.
pub fn run<P: Peer>(directory: &Path, documents: u64, class: Class) -> Result<Figures> {
    let directory = place::files_of(P::NAME, directory)?;
    let path = directory.path().join("store");
    let mut store = P::open(&path, class)?;
    let count = if class == Class::Synced { documents / SYNCED_SHARE } else { documents };
    let mut ids = Vec::with_capacity(count as usize);
    let insert = |i| {
        ids.push(store.insert(i as i64)?);
        Ok(1)
    };
    let (took, _) = match class {
        Class::Synced => timed_by_wall(1..=count, insert)?,
        Class::Buffered | Class::Written => timed(1..=count, insert)?,
    };
    expect_len(&store, count)?;
    let rest = if class == Class::Synced { None } else { Some(rest(store, &path, class, &ids)?) };
    Ok(Figures { insert: each(took, count), rest })
}

fn expect_len<P: Peer>(store: &P, count: u64) -> Result<()> {
    expect_equal(P::NAME, "how many documents there are", &count, &store.len()?)
}

fn expect_sum<P: Peer>(expected: u64, sum: u64) -> Result<()> {
    expect_equal(P::NAME, "the sum of a field over all reads", &expected, &sum)
}

fn expect_none<P: Peer>(found: u64) -> Result<()> {
    expect_equal(P::NAME, "how many were found that are not there", &0, &found)
}

fn rest<P: Peer>(mut store: P, path: &Path, class: Class, ids: &[P::Id]) -> Result<Rest> {
    store.flush()?;
    let file_bytes =
        std::fs::metadata(path).of(P::NAME, "looking at its file")?.len() as f64 / ids.len() as f64;
    let reads = reads(&store, ids)?;
    let rewrites = rewrites(store, path, class, ids)?;
    Ok(Rest { file_bytes, reads, rewrites })
}

fn reads<P: Peer>(store: &P, ids: &[P::Id]) -> Result<Reads> {
    let count = ids.len() as u64;
    let all = count * (count + 1) / 2;
    let uniform = || UniformIds::new(count).take(ids.len());
    let uniform_sum: u64 = uniform().map(i64::unsigned_abs).sum();
    let at = |i: i64| ids[i as usize - 1];

    let (decode_sequential, sum) = timed(ids, |id| there::<P>(store.decode(*id)?))?;
    expect_sum::<P>(all, sum)?;
    let (decode_uniform, sum) = timed(uniform(), |i| there::<P>(store.decode(at(i))?))?;
    expect_sum::<P>(uniform_sum, sum)?;
    let (field_uniform, sum) = timed(uniform(), |i| there::<P>(store.field(at(i))?))?;
    expect_sum::<P>(uniform_sum, sum)?;
    let (scanned, sum) = timed([()], |()| Ok(store.sum()?.unsigned_abs()))?;
    expect_sum::<P>(all, sum)?;
    let absent = |i: i64| store.absent(i.unsigned_abs());
    let (miss_never_given, found) = timed(uniform(), |i| Ok(u64::from(store.decode(absent(i))?.is_some())))?;
    expect_none::<P>(found)?;

    let each = |took| each(took, count);
    Ok(Reads {
        decode_sequential: each(decode_sequential),
        decode_uniform: each(decode_uniform),
        field_uniform: each(field_uniform),
        sum: each(scanned),
        miss_never_given: each(miss_never_given),
    })
}

fn there<P: Peer>(found: Option<i64>) -> Result<u64> {
    let field = found.ok_or_else(|| Failure::new(P::NAME, "reading", "a document is not there"))?;
    Ok(field.unsigned_abs())
}

fn rewrites<P: Peer>(mut store: P, path: &Path, class: Class, ids: &[P::Id]) -> Result<Rewrites> {
    let count = ids.len() as u64;
    let (replace, _) = timed(ids.iter().zip(1..), |(id, i)| store.replace(*id, -i).map(|()| 1))?;
    expect_len(&store, count)?;
    let (reopen, mut store) = reopen(store, path, class, count)?;
    expect_equal(P::NAME, "the replaced document that came back", &Some(-7), &store.decode(ids[6])?)?;

    // A tenth goes first, so that misses are looked for among documents.
    let tenth = |i: u64| i.is_multiple_of(10);
    let (delete_tenth, gone) = delete(&mut store, ids, (1..=count).filter(|i| tenth(*i)))?;
    expect_len(&store, count - gone)?;
    let deleted = UniformIds::new(gone).take(ids.len()).map(|i| ids[10 * i as usize - 1]);
    let (miss_deleted, found) = timed(deleted, |id| Ok(u64::from(store.decode(id)?.is_some())))?;
    expect_none::<P>(found)?;
    let (delete_rest, gone_too) = delete(&mut store, ids, (1..=count).filter(|i| !tenth(*i)))?;
    expect_len(&store, 0)?;
    expect_equal(P::NAME, "how many were deleted", &count, &(gone + gone_too))?;

    let each = |took| each(took, count);
    Ok(Rewrites {
        replace: each(replace),
        reopen: each(reopen),
        delete: each(delete_tenth + delete_rest),
        miss_deleted: each(miss_deleted),
    })
}

/// Deletes the documents of these numbers, counted from 1: the time, and how many there were.
fn delete<P: Peer>(
    store: &mut P,
    ids: &[P::Id],
    numbers: impl Iterator<Item = u64>,
) -> Result<(Duration, u64)> {
    timed(numbers, |i| store.delete(ids[i as usize - 1]).map(|()| 1))
}

/// Closes the store and opens it again; the time of opening, and the store.
fn reopen<P: Peer>(mut store: P, path: &Path, class: Class, count: u64) -> Result<(Duration, P)> {
    store.flush()?;
    drop(store);
    let begun = Moment::now();
    let store = P::open(path, class)?;
    let took = begun.elapsed();
    expect_len(&store, count)?;
    Ok((took, store))
}
