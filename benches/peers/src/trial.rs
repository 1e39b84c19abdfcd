//! One trial: one store goes through the whole day of a document, from an empty file to a reopened one.

use std::path::Path;
use std::time::Duration;

use holotype_benches::workload::UniformIds;

use crate::clock::{Moment, timed};
use crate::peer::{Class, Peer};

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
pub fn run<P: Peer>(directory: &Path, documents: u64, class: Class) -> Figures {
    let directory = tempfile::tempdir_in(directory).expect("a directory for the files");
    let path = directory.path().join("store");
    let mut store = P::open(&path, class);
    let count = if class == Class::Synced { documents / SYNCED_SHARE } else { documents };
    let mut ids = Vec::with_capacity(count as usize);
    let mut insert = |i| {
        ids.push(store.insert(i as i64));
        1
    };
    // Where each insert waits for the device, the wait is what is measured.
    let (took, _) = match class {
        Class::Synced => holotype_benches::timing::timed(1..=count, &mut insert),
        Class::Buffered | Class::Written => timed(1..=count, &mut insert),
    };
    assert_eq!(store.len(), count, "every insert was kept");
    let rest = (class != Class::Synced).then(|| rest(store, &path, class, &ids));
    Figures { insert: each(took, count), rest }
}

fn rest<P: Peer>(mut store: P, path: &Path, class: Class, ids: &[P::Id]) -> Rest {
    store.flush();
    let file_bytes = std::fs::metadata(path).expect("the store's file").len() as f64 / ids.len() as f64;
    let reads = reads(&store, ids);
    let rewrites = rewrites(store, path, class, ids);
    Rest { file_bytes, reads, rewrites }
}

fn reads<P: Peer>(store: &P, ids: &[P::Id]) -> Reads {
    let count = ids.len() as u64;
    let all = count * (count + 1) / 2;
    let uniform = || UniformIds::new(count).take(ids.len());
    let uniform_sum: u64 = uniform().map(i64::unsigned_abs).sum();
    let at = |i: i64| ids[i as usize - 1];
    let read = |found: Option<i64>| found.expect("it was put there").unsigned_abs();

    let (decode_sequential, sum) = timed(ids, |id| read(store.decode(*id)));
    assert_eq!(sum, all);
    let (decode_uniform, sum) = timed(uniform(), |i| read(store.decode(at(i))));
    assert_eq!(sum, uniform_sum);
    let (field_uniform, sum) = timed(uniform(), |i| read(store.field(at(i))));
    assert_eq!(sum, uniform_sum);
    let (scanned, sum) = timed([()], |()| store.sum().unsigned_abs());
    assert_eq!(sum, all);
    let absent = |i: i64| store.absent(i.unsigned_abs());
    let (miss_never_given, found) = timed(uniform(), |i| u64::from(store.decode(absent(i)).is_some()));
    assert_eq!(found, 0);

    let each = |took| each(took, count);
    Reads {
        decode_sequential: each(decode_sequential),
        decode_uniform: each(decode_uniform),
        field_uniform: each(field_uniform),
        sum: each(scanned),
        miss_never_given: each(miss_never_given),
    }
}

fn rewrites<P: Peer>(mut store: P, path: &Path, class: Class, ids: &[P::Id]) -> Rewrites {
    let count = ids.len() as u64;
    let (replace, _) = timed(ids.iter().zip(1..), |(id, i)| {
        store.replace(*id, -i);
        1
    });
    assert_eq!(store.len(), count);
    let (reopen, mut store) = reopen(store, path, class, count);
    assert_eq!(store.decode(ids[6]), Some(-7), "the replaced document is what came back");

    // A tenth goes first, so that misses are looked for among documents.
    let tenth = |i: u64| i.is_multiple_of(10);
    let (delete_tenth, gone) = delete(&mut store, ids, (1..=count).filter(|i| tenth(*i)));
    assert_eq!(store.len(), count - gone);
    let deleted = UniformIds::new(gone).take(ids.len()).map(|i| ids[10 * i as usize - 1]);
    let (miss_deleted, found) = timed(deleted, |id| u64::from(store.decode(id).is_some()));
    assert_eq!(found, 0);
    let (delete_rest, gone_too) = delete(&mut store, ids, (1..=count).filter(|i| !tenth(*i)));
    assert_eq!((store.len(), gone + gone_too), (0, count));

    let each = |took| each(took, count);
    Rewrites {
        replace: each(replace),
        reopen: each(reopen),
        delete: each(delete_tenth + delete_rest),
        miss_deleted: each(miss_deleted),
    }
}

/// Deletes the documents of these numbers, counted from 1: the time, and how many there were.
fn delete<P: Peer>(store: &mut P, ids: &[P::Id], numbers: impl Iterator<Item = u64>) -> (Duration, u64) {
    timed(numbers, |i| {
        store.delete(ids[i as usize - 1]);
        1
    })
}

/// Closes the store and opens it again; the time of opening, and the store.
fn reopen<P: Peer>(mut store: P, path: &Path, class: Class, count: u64) -> (Duration, P) {
    store.flush();
    drop(store);
    let begun = Moment::now();
    let store = P::open(path, class);
    let took = begun.elapsed();
    assert_eq!(store.len(), count);
    (took, store)
}
