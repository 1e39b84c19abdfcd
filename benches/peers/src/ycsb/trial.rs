//! One trial: a store is loaded, every mix runs on it with every number of threads, and it is held to all that was done.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use crate::contents::{self, Contents, byte_sum};
use crate::failure::{Failure, Result, expect_equal};
use crate::latencies::{micros_of, time};
use crate::place;
use crate::stores::{Commits, Read, Session, Store};

use super::documents::{first, rewritten, updated};
use super::keys::Keys;
use super::mix::{MIXES, Mix, Operation};

/// How many threads share the operations of a mix.
pub const THREADS: [u64; 3] = [1, 2, 4];

/// In the order of the tables.
pub const KEYS: [Keys; 2] = [Keys::Zipfian, Keys::Uniform];

/// How large a trial is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    pub documents: u64,
    /// Of each mix, by all threads together: a multiple of the greatest number of threads.
    pub operations: usize,
    /// The time of one operation in so many is taken.
    pub stride: usize,
}

/// What one mix showed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figures {
    pub per_second: f64,
    pub p50_micros: f64,
    pub p99_micros: f64,
    /// Of as many operations as the stride is: what stands still for long shows here and not at one call in a hundred.
    pub longest_micros: f64,
    pub done: Done,
}

/// What was done. All of it is counted as it happens, and held to the operations that were asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Done {
    /// Documents that were returned, by reads and scans.
    pub returned: u64,
    /// Of all their bytes.
    pub sum: u64,
    pub written: u64,
    /// Ids that were asked for or written, each counted once. A scan asks for the one it begins with.
    pub distinct: u64,
}

/// Runs all mixes on a new store in `directory`: figures by mix, keys and threads, in this order.
pub fn run<S: Store>(directory: &Path, commits: Commits, size: Size) -> Result<Vec<Figures>> {
    let directory = place::files_of(S::NAME, directory)?;
    let store = contents::load_of::<S>(directory.path(), commits, size.documents, first)?;
    let mut state = State::new(size.documents);
    let mut all = Vec::new();
    for mix in &MIXES {
        for keys in KEYS {
            for threads in THREADS {
                let each = size.operations / threads as usize;
                let operations = mix.operations(keys, state.count(), threads, each);
                let expected = state.after(&operations);
                let figures = all_at_once(&store, &operations, size.stride)?;
                let found = Done { distinct: expected.distinct, ..figures.done };
                expect_equal(S::NAME, mix.name, &expected, &found)?;
                all.push(Figures { done: expected, ..figures });
            }
        }
    }
    store.close()?;
    contents::check::<S>(directory.path(), state.contents())?;
    Ok(all)
}

/// What mixes there are in the figures of a trial, in their order.
pub fn rows() -> impl Iterator<Item = (&'static Mix, Keys, u64)> {
    MIXES.iter().flat_map(|mix| {
        KEYS.into_iter().flat_map(move |keys| THREADS.into_iter().map(move |t| (mix, keys, t)))
    })
}

/// What the store must hold.
struct State {
    /// By id: the sum of its bytes, and whether it was updated.
    documents: Vec<(u64, bool)>,
}

impl State {
    fn new(count: u64) -> Self {
        let mut state = State { documents: Vec::new() };
        (1..=count).for_each(|id| state.insert(id));
        state
    }

    fn insert(&mut self, id: u64) {
        assert_eq!(id, self.count() + 1, "ids go on without a gap");
        self.documents.push((byte_sum(&first(id).encode()), false));
    }

    fn count(&self) -> u64 {
        self.documents.len() as u64
    }

    /// Goes on by what was asked for; what that must have come to.
    fn after(&mut self, operations: &[Vec<Operation>]) -> Done {
        let inserted = |op: &&Operation| matches!(op, Operation::Insert(_));
        for operation in operations.iter().flatten().filter(inserted) {
            if let Operation::Insert(id) = operation {
                self.insert(*id);
            }
        }
        let (mut done, mut ids) = (Done::default(), HashSet::new());
        for operation in operations.iter().flatten() {
            let (id, returned, writes) = match *operation {
                Operation::Read(id) => (id, 1, false),
                Operation::Update(id) => (id, 0, true),
                Operation::Rewrite(id) => (id, 1, true),
                Operation::Insert(id) => (id, 0, true),
                Operation::Scan(id, len) => (id, len, false),
            };
            let at = id as usize - 1;
            ids.insert(id);
            done.returned += returned as u64;
            done.sum += self.documents[at..at + returned].iter().map(|(sum, _)| sum).sum::<u64>();
            done.written += u64::from(writes);
            if matches!(operation, Operation::Update(_) | Operation::Rewrite(_)) {
                self.documents[at].1 = true;
            }
        }
        done.distinct = ids.len() as u64;
        done
    }

    fn contents(&self) -> Contents {
        let ids = (1..).zip(&self.documents);
        Contents::of(ids.map(|(id, (_, was))| (id, if *was { updated(id) } else { first(id) })))
    }
}

fn all_at_once<S: Store>(store: &S, operations: &[Vec<Operation>], stride: usize) -> Result<Figures> {
    let start = Barrier::new(operations.len());
    let workers: Vec<_> = thread::scope(|scope| {
        let work = |operations| {
            let start = &start;
            scope.spawn(move || {
                let session = store.session();
                start.wait();
                one_by_one::<S>(&mut session?, operations, stride)
            })
        };
        let workers: Vec<_> = operations.iter().map(|operations| work(operations.as_slice())).collect();
        workers.into_iter().map(|worker| worker.join()).collect()
    });
    let mut all: Option<Worked> = None;
    for worker in workers {
        let worked = worker.map_err(|_| Failure::new(S::NAME, "working in threads", "one panicked"))??;
        match &mut all {
            Some(all) => all.join(worked),
            None => all = Some(worked),
        }
    }
    let mut all = all.expect("there is a thread");
    all.sampled.sort_unstable();
    let count: usize = operations.iter().map(Vec::len).sum();
    Ok(Figures {
        per_second: count as f64 / (all.ended - all.begun).as_secs_f64(),
        p50_micros: micros_of(&all.sampled, 0.5),
        p99_micros: micros_of(&all.sampled, 0.99),
        longest_micros: all.longest.as_secs_f64() * 1e6,
        done: all.done,
    })
}

/// What one thread did, or all.
struct Worked {
    done: Done,
    sampled: Vec<Duration>,
    longest: Duration,
    /// By the thread's own word: whoever waits for all of them may be woken late.
    begun: Instant,
    ended: Instant,
}

impl Worked {
    fn join(&mut self, other: Worked) {
        self.done.returned += other.done.returned;
        self.done.sum += other.done.sum;
        self.done.written += other.done.written;
        self.sampled.extend(other.sampled);
        self.longest = self.longest.max(other.longest);
        self.begun = self.begun.min(other.begun);
        self.ended = self.ended.max(other.ended);
    }
}

fn one_by_one<S: Store>(
    session: &mut S::Session<'_>,
    operations: &[Operation],
    stride: usize,
) -> Result<Worked> {
    let sampled = Vec::with_capacity(operations.len() / stride + 1);
    let begun = Instant::now();
    let mut worked = Worked { done: Done::default(), sampled, longest: Duration::ZERO, begun, ended: begun };
    for stretch in operations.chunks(stride) {
        let (timed, others) = stretch.split_first().expect("a chunk is not empty");
        time(&mut worked.sampled, || call::<S>(session, *timed, &mut worked.done))?;
        for operation in others {
            call::<S>(session, *operation, &mut worked.done)?;
        }
        let now = Instant::now();
        worked.longest = worked.longest.max(now - worked.ended);
        worked.ended = now;
    }
    Ok(worked)
}

fn call<S: Store>(session: &mut S::Session<'_>, operation: Operation, done: &mut Done) -> Result<()> {
    let put = |session: &mut S::Session<'_>, id, document| session.put(id, document);
    match operation {
        Operation::Read(id) => {
            done.sum += session.get(id, byte_sum)?.ok_or_else(|| absent::<S>(id))?;
            done.returned += 1;
            return Ok(());
        }
        Operation::Scan(from, len) => {
            return session.scan_from(from, len, |_, bytes| {
                done.sum += byte_sum(bytes);
                done.returned += 1;
            });
        }
        Operation::Update(id) => put(session, id, &updated(id))?,
        Operation::Insert(id) => put(session, id, &first(id))?,
        Operation::Rewrite(id) => {
            let read = session.get(id, |bytes| (byte_sum(bytes), rewritten(S::NAME, bytes)))?;
            let (sum, document) = read.ok_or_else(|| absent::<S>(id))?;
            done.sum += sum;
            done.returned += 1;
            put(session, id, &document?)?;
        }
    }
    done.written += 1;
    Ok(())
}

fn absent<S: Store>(id: u64) -> Failure {
    Failure::new(S::NAME, "reading", format!("document {id} is not there"))
}
