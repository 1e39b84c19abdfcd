//! redb-bench: keys of 24 bytes in no order, values of 150. As it is, keys and values are drawn within the clock, one byte of a value is
//! read, all reads of a thread share one transaction, threads are begun within the clock, and what is put without a sync survives in one
//! store more than in another. What is corrected goes through the lists that every store is asked for.

use std::path::Path;
use std::time::Instant;

use holotype::Document;

use crate::contents::byte_sum;
use crate::failure::{Failure, Result, expect_equal};
use crate::plan::Plan;
use crate::report::{Better, Record, Report};
use crate::rows::lists::{self, OfRedb};
use crate::rows::step::Naming;
use crate::rows::{measure, print, readers, table, writers};
use crate::stores::{Class, Commits, FIRST_NAME, ReadNamed, Session, Snapshots, Store, each_store};
use crate::turns::{Contender, take_turns};
use crate::{extent, place};

const RATE: (&str, Better) = ("items a second", Better::More);
const BYTES: (&str, Better) = ("bytes an item", Better::Less);

/// What a trial shows, in its order.
const ROWS: [(&str, (&str, Better)); 12] = [
    ("bulk load", RATE),
    ("individual writes", RATE),
    ("batch writes", RATE),
    ("nosync writes", RATE),
    ("len()", ("ns", Better::Less)),
    ("random reads", RATE),
    ("random range reads", RATE),
    ("random reads, 4 threads", RATE),
    ("random reads, 8 threads", RATE),
    ("removals", RATE),
    ("uncompacted size", BYTES),
    ("compacted size", BYTES),
];

type Figures = [f64; ROWS.len()];

const BATCH: usize = 1_000;
const SCAN_LEN: usize = 10;
const THREADS: [u64; 2] = [4, 8];

/// Prints redb-bench as it is, and corrected.
pub fn run(plan: &Plan, report: &mut Report) -> Result<()> {
    let size = OfRedb::new(plan.documents, plan.commits / 2);
    as_it_is(plan, report, size)?;
    for class in Class::ALL {
        // What it puts without a sync is, class against class, the single writes of those that are not durable.
        let count = plan.documents / 2;
        let size = OfRedb::new(count, if class == Class::Durable { plan.commits / 2 } else { count });
        let workload = format!("redb-bench, corrected, {}", class.name());
        measure(plan, report, &workload, writers(class, plan, &lists::of_redb(size)))?;
        let sorted = lists::sorted_load_of_redb(size.bulk);
        measure(plan, report, &workload, writers(class, plan, &sorted))?;
        print(report, &workload);
    }
    table(plan, report, "redb-bench, corrected, reads", readers(plan, &lists::reads_of_redb(plan.documents)))
}

fn as_it_is(plan: &Plan, report: &mut Report, size: OfRedb) -> Result<()> {
    let workload = format!("redb-bench, as it is: {} items, durability of nosync not matched", total(size));
    let mut contenders = Vec::new();
    macro_rules! add {
        ($store:ty) => {
            let directory = plan.directory.clone();
            contenders.push(Contender::new(<$store>::NAME, move || trial::<$store>(&directory, size)))
        };
    }
    each_store!(add);
    take_turns(&workload, &mut contenders, plan.trials)?;
    for contender in &contenders {
        let record = |(at, (row, unit)): (usize, &(&str, (&'static str, Better)))| Record {
            done: Some(format!("{} items put, half of them removed", total(size))),
            ..Record::of([&workload, row], *unit, contender, |figures: &Figures| figures[at])
        };
        report.add(ROWS.iter().enumerate().map(record).collect());
    }
    print(report, &workload);
    Ok(())
}

/// What is put without a sync, beside what [`OfRedb`] counts.
fn unsynced(size: OfRedb) -> u64 {
    size.bulk / 2
}

fn total(size: OfRedb) -> u64 {
    size.documents() + unsynced(size)
}

/// Drawn anew each time, as there.
fn pair(id: u64) -> (String, Document) {
    (Naming::Random.name(id), Naming::Random.document(id))
}

/// The one byte of an item that is read.
fn byte_of(bytes: &[u8]) -> u64 {
    bytes.last().copied().map_or(0, u64::from)
}

fn rate(items: u64, begun: Instant) -> f64 {
    items as f64 / begun.elapsed().as_secs_f64()
}

fn trial<S: Snapshots>(directory: &Path, size: OfRedb) -> Result<Figures> {
    let directory = place::files_of(S::NAME, directory)?;
    let directory = directory.path();
    let [bulk, singles, batches] = synced_writes::<S>(directory, size)?;
    let nosync = unsynced_writes::<S>(directory, size)?;
    let store = S::open(directory, Commits::Durable)?;
    let len = len::<S>(&store, total(size))?;
    let random = random_reads(&store, 1, size.bulk)?;
    let ranges = range_reads(&store, size)?;
    let [four, eight] = THREADS.map(|threads| threaded_reads(&store, total(size), threads));
    let removals = removals(&store, total(size))?;
    holds_the_rest(&store, total(size))?;
    store.close()?;
    let left = (total(size) - total(size) / 2) as f64;
    let uncompacted = extent::of(S::NAME, directory)?.len as f64 / left;
    S::open(directory, Commits::Durable)?.clean()?;
    let compacted = extent::of(S::NAME, directory)?.len as f64 / left;
    let store = S::open(directory, Commits::Durable)?;
    holds_the_rest(&store, total(size))?;
    store.close()?;
    let (four, eight) = (four?, eight?);
    Ok([bulk, singles, batches, nosync, len, random, ranges, four, eight, removals, uncompacted, compacted])
}

fn synced_writes<S: Store>(directory: &Path, size: OfRedb) -> Result<[f64; 3]> {
    let store = S::open(directory, Commits::Durable)?;
    let mut session = store.session()?;
    let begun = Instant::now();
    session.put_named((1..=size.bulk).map(pair))?;
    let bulk = rate(size.bulk, begun);
    let begun = Instant::now();
    for id in size.singles() {
        session.put_named(std::iter::once(pair(id)))?;
    }
    let singles = rate(size.singles, begun);
    let begun = Instant::now();
    for from in size.batches().step_by(BATCH) {
        session.put_named((from..from + BATCH as u64).map(pair))?;
    }
    let batches = rate(size.batches * BATCH as u64, begun);
    drop(session);
    store.close()?;
    Ok([bulk, singles, batches])
}

fn unsynced_writes<S: Store>(directory: &Path, size: OfRedb) -> Result<f64> {
    let store = S::open(directory, Commits::Unsynced)?;
    let mut session = store.session()?;
    let begun = Instant::now();
    for id in size.documents() + 1..=total(size) {
        session.put_named(std::iter::once(pair(id)))?;
    }
    let nosync = rate(unsynced(size), begun);
    drop(session);
    store.close()?;
    Ok(nosync)
}

/// Once, as there.
fn len<S: Store>(store: &S, total: u64) -> Result<f64> {
    let mut session = store.session()?;
    let begun = Instant::now();
    let found = session.count_named()?;
    let nanos = begun.elapsed().as_secs_f64() * 1e9;
    expect_equal(S::NAME, "how many items there are", &total, &found)?;
    Ok(nanos)
}

/// Items in the order in which they were put, which is none of names.
fn random_reads<S: Snapshots>(store: &S, from: u64, count: u64) -> Result<f64> {
    let begun = Instant::now();
    let mut held = store.hold_named()?;
    let (mut expected, mut sum) = (0, 0);
    for id in from..from + count {
        let (name, document) = pair(id);
        sum += held.get_named(&name, byte_of)?.unwrap_or_default();
        expected += byte_of(&document.encode());
    }
    drop(held);
    let rate = rate(count, begun);
    expect_equal(S::NAME, "the sum of what was read", &expected, &sum)?;
    Ok(rate)
}

fn range_reads<S: Snapshots>(store: &S, size: OfRedb) -> Result<f64> {
    let scans = size.bulk / 2;
    let mut held = store.hold_named()?;
    let (begun, mut items, mut sum) = (Instant::now(), 0, 0);
    for id in 1..=scans {
        held.scan_named_from(&pair(id).0, SCAN_LEN, |bytes| {
            items += 1;
            sum += byte_of(bytes);
        })?;
    }
    let rate = rate(items, begun);
    let mut sorted: Vec<_> = (1..=total(size)).map(pair).collect();
    sorted.sort_by(|(a, _), (b, _)| a.cmp(b));
    let range = |id| {
        let from = sorted.partition_point(|(name, _)| *name < Naming::Random.name(id));
        sorted[from..].iter().take(SCAN_LEN).map(|(_, document)| byte_of(&document.encode()))
    };
    let (mut expected_items, mut expected) = (0, 0);
    for byte in (1..=scans).flat_map(range) {
        expected_items += 1;
        expected += byte;
    }
    expect_equal(S::NAME, "what ranges came to", &(expected_items, expected), &(items, sum))?;
    Ok(rate)
}

fn threaded_reads<S: Snapshots>(store: &S, total: u64, threads: u64) -> Result<f64> {
    let share = total / threads;
    let begun = Instant::now();
    let done: Vec<_> = std::thread::scope(|scope| {
        let read = |thread| scope.spawn(move || random_reads(store, thread * share + 1, share));
        let workers: Vec<_> = (0..threads).map(read).collect();
        workers.into_iter().map(|worker| worker.join()).collect()
    });
    let rate = rate(share * threads, begun);
    for one in done {
        one.map_err(|_| Failure::new(S::NAME, "reading in threads", "one panicked"))??;
    }
    Ok(rate)
}

fn removals<S: Store>(store: &S, total: u64) -> Result<f64> {
    let mut session = store.session()?;
    let begun = Instant::now();
    session.delete_named((1..=total / 2).map(|id| pair(id).0))?;
    Ok(rate(total / 2, begun))
}

/// The half that was put last is there, and nothing else.
fn holds_the_rest<S: Store>(store: &S, total: u64) -> Result<()> {
    let (mut items, mut sum) = (0, 0);
    store.session()?.scan_named_from(FIRST_NAME, usize::MAX, |bytes| {
        items += 1;
        sum += byte_sum(bytes);
    })?;
    let rest = total / 2 + 1..=total;
    let expected = rest.clone().map(|id| byte_sum(&pair(id).1.encode())).sum();
    let expected: (u64, u64) = (total - total / 2, expected);
    expect_equal(S::NAME, "what is left", &expected, &(items, sum))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: OfRedb = OfRedb { bulk: 800, singles: 40, batches: 1 };

    #[test]
    fn what_it_measures_is_done_and_takes_time() {
        macro_rules! takes_time {
            ($store:ty) => {
                let directory = tempfile::tempdir().unwrap();
                let figures = trial::<$store>(directory.path(), SMALL).unwrap();
                assert!(figures.iter().all(|figure| *figure > 0.0), "{}: {figures:?}", <$store>::NAME);
            };
        }
        each_store!(takes_time);
    }

    #[test]
    fn a_store_that_left_something_or_too_much_has_no_figures() {
        use crate::stores::holotype::Holotype;

        let directory = tempfile::tempdir().unwrap();
        let store = Holotype::open(directory.path(), Commits::Unsynced).unwrap();
        store.session().unwrap().put_named((1..=100).map(pair)).unwrap();
        assert!(len::<Holotype>(&store, 99).is_err());
        assert!(random_reads(&store, 51, 51).is_err(), "one of these is not there");
        assert!(holds_the_rest(&store, 100).is_err(), "nothing was removed");
        removals(&store, 100).unwrap();
        holds_the_rest(&store, 100).unwrap();
        assert!(removals(&store, 100).is_err(), "nothing is left to remove");
    }
}
