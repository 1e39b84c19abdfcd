//! One trial: reader threads read a loaded store for a while, alone and beside a writer.

use std::path::Path;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use holotype_benches::workload::UniformIds;

use crate::clock::Moment;
use crate::contents::{self, Contents, byte_sum, first, updated};
use crate::failure::{Failure, Result, expect_equal};
use crate::latencies::{micros_of, time};
use crate::place;
use crate::stores::{Read, Session, Store};

/// How many documents there are.
pub const DOCUMENTS: u64 = 100_000;

/// How many threads read at once.
pub const READERS: [usize; 4] = [1, 2, 4, 8];

/// A reader looks whether time is up after so many reads, and takes the time of one of them.
const STRIDE: usize = 64;

/// How far apart readers begin in the one sequence of ids, so that none warms the cache for another.
const APART: usize = 1_000_003;

/// What some readers showed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Figures {
    /// Of all readers together.
    pub reads_per_second: f64,
    /// Of one reader, on average: the time of a read, without that in which others had the processors.
    pub own_nanos: f64,
    /// The time of a read that one in a hundred passes.
    pub p99_micros: f64,
    /// Of the writer, where there was one.
    pub updates_per_second: f64,
}

/// What each count of readers showed, alone and beside a writer.
#[derive(Debug)]
pub struct Trial {
    pub alone: [Figures; READERS.len()],
    pub beside: [Figures; READERS.len()],
}

/// Runs all counts of readers on one new store in `directory`, each for `span`: first alone, then beside a writer. So what updates
/// leave behind counts as a part of what the writer costs.
pub fn run<S: Store>(directory: &Path, span: Duration) -> Result<Trial> {
    let directory = place::files_of(S::NAME, directory)?;
    let store = contents::load::<S>(directory.path(), DOCUMENTS)?;
    let mut writer = Writer::new();
    let alone = for_each_count(|readers| {
        let (reads, ()) = during(&store, readers, span, |_| Ok(()))?;
        Ok(reads.figures(0.0))
    })?;
    let beside = for_each_count(|readers| {
        let (reads, updates_per_second) = during(&store, readers, span, |stop| writer.spin(&store, stop))?;
        Ok(reads.figures(updates_per_second))
    })?;
    store.close()?;
    contents::check::<S>(directory.path(), writer.contents())?;
    Ok(Trial { alone, beside })
}

fn for_each_count(mut run: impl FnMut(usize) -> Result<Figures>) -> Result<[Figures; READERS.len()]> {
    let mut all = [Figures::default(); READERS.len()];
    for (figures, readers) in all.iter_mut().zip(READERS) {
        *figures = run(readers)?;
    }
    Ok(all)
}

/// Lets readers read for `span` while `meanwhile` runs on a thread of its own, until it is told to stop.
fn during<S: Store, R: Send>(
    store: &S,
    readers: usize,
    span: Duration,
    meanwhile: impl FnOnce(&AtomicBool) -> Result<R> + Send,
) -> Result<(Reads, R)> {
    let (start, stop) = (Barrier::new(readers + 1), AtomicBool::new(false));
    let (reads, other) = thread::scope(|scope| {
        let (start, stop) = (&start, &stop);
        let read = |reader: usize| {
            scope.spawn(move || {
                // All that is not reading is done before the clock starts.
                let (session, ids) = (store.session(), ids_of(reader));
                start.wait();
                read_until::<S>(session?, ids, stop)
            })
        };
        let workers: Vec<_> = (0..readers).map(read).collect();
        let other = scope.spawn(move || meanwhile(stop));
        start.wait();
        thread::sleep(span);
        stop.store(true, Ordering::Relaxed);
        let reads: Vec<_> = workers.into_iter().map(|worker| worker.join()).collect();
        (reads, other.join())
    });
    let panicked = |_| Failure::new(S::NAME, "reading beside a writer", "a thread panicked");
    let mut all = Reads::default();
    let sums: Vec<u64> = (1..=DOCUMENTS).map(|id| byte_sum(&first(id).encode())).collect();
    for (reader, reads) in reads.into_iter().enumerate() {
        let reads = reads.map_err(panicked)??;
        reads.check::<S>(ids_of(reader), &sums)?;
        all.join(reads);
    }
    Ok((all, other.map_err(panicked)??))
}

/// What this reader reads, in order.
fn ids_of(reader: usize) -> UniformIds {
    let mut ids = UniformIds::new(DOCUMENTS);
    for _ in 0..reader * APART {
        ids.next();
    }
    ids
}

/// What readers read.
#[derive(Debug, Default)]
struct Reads {
    count: usize,
    /// Of the bytes of all documents read.
    sum: u64,
    per_second: f64,
    /// The time that readers took, without that in which others had the processors.
    own: Duration,
    sampled: Vec<Duration>,
}

fn read_until<S: Store>(
    mut session: S::Session<'_>,
    mut ids: UniformIds,
    stop: &AtomicBool,
) -> Result<Reads> {
    let mut reads = Reads::default();
    let (begun, own) = (Instant::now(), Moment::now());
    while !stop.load(Ordering::Relaxed) {
        let id = ids.next().expect("the sequence has no end");
        reads.sum += time(&mut reads.sampled, || read::<S>(&mut session, id))?;
        for id in ids.by_ref().take(STRIDE - 1) {
            reads.sum += read::<S>(&mut session, id)?;
        }
        reads.count += STRIDE;
    }
    reads.per_second = reads.count as f64 / begun.elapsed().as_secs_f64();
    reads.own = own.elapsed_in_turn();
    Ok(reads)
}

fn read<S: Store>(session: &mut S::Session<'_>, id: i64) -> Result<u64> {
    let sum = session.get(id.unsigned_abs(), byte_sum)?;
    sum.ok_or_else(|| Failure::new(S::NAME, "reading", format!("document {id} is not there")))
}

impl Reads {
    /// Holds the sum to that of the same documents, got without a store.
    fn check<S: Store>(&self, ids: UniformIds, sums: &[u64]) -> Result<()> {
        let expected = ids.take(self.count).map(|id| sums[id as usize - 1]).sum();
        expect_equal(S::NAME, "the sum of all bytes read", &expected, &self.sum)
    }

    fn join(&mut self, other: Reads) {
        self.count += other.count;
        self.per_second += other.per_second;
        self.own += other.own;
        self.sampled.extend(other.sampled);
    }

    fn figures(mut self, updates_per_second: f64) -> Figures {
        self.sampled.sort_unstable();
        let p99_micros = micros_of(&self.sampled, 0.99);
        let own_nanos = self.own.as_secs_f64() * 1e9 / self.count as f64;
        Figures { reads_per_second: self.per_second, own_nanos, p99_micros, updates_per_second }
    }
}

/// The one writer: what it goes on with, and what it has updated.
struct Writer {
    ids: UniformIds,
    updated: Vec<bool>,
}

impl Writer {
    fn new() -> Self {
        Writer { ids: UniformIds::new(DOCUMENTS), updated: vec![false; DOCUMENTS as usize] }
    }

    /// Updates one document after another, each in a commit of its own; how many a second.
    fn spin<S: Store>(&mut self, store: &S, stop: &AtomicBool) -> Result<f64> {
        let mut session = store.session()?;
        let (begun, mut count) = (Instant::now(), 0u64);
        while !stop.load(Ordering::Relaxed) {
            let id = self.ids.next().expect("the sequence has no end").unsigned_abs();
            session.put(id, &updated(id))?;
            self.updated[id as usize - 1] = true;
            count += 1;
        }
        Ok(count as f64 / begun.elapsed().as_secs_f64())
    }

    /// What the store must hold by now.
    fn contents(&self) -> Contents {
        let ids = (1..=DOCUMENTS).zip(&self.updated);
        Contents::of(ids.map(|(id, was)| (id, if *was { updated(id) } else { first(id) })))
    }
}
