//! Threads commit one document at a time; each commit is durable when the call returns.

use std::path::Path;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use crate::contents::{self, Contents, first};
use crate::failure::{Failure, Result};
use crate::latencies::{Latencies, time};
use crate::place;
use crate::stores::{Commits, Session, Store};

/// The document that is there before the clock starts, so that the store has created what it creates once.
const BEFORE: u64 = 1;

/// Commits `count` documents from `threads` threads into a new store in `directory`.
pub fn run<S: Store>(directory: &Path, threads: u64, count: u64) -> Result<Latencies> {
    assert!(threads > 0 && count.is_multiple_of(threads), "each thread commits as many");
    let directory = place::files_of(S::NAME, directory)?;
    let store = S::open(directory.path(), Commits::Durable)?;
    store.session()?.put(BEFORE, &first(BEFORE))?;

    let latencies = all_at_once(&store, threads, count / threads)?;

    store.close()?;
    contents::check::<S>(
        directory.path(),
        Contents::of((BEFORE..=BEFORE + count).map(|id| (id, first(id)))),
    )?;
    Ok(latencies)
}

/// Each thread commits `each` documents, with ids of its own.
fn all_at_once<S: Store>(store: &S, threads: u64, each: u64) -> Result<Latencies> {
    let start = Barrier::new(threads as usize + 1);
    let (all, took) = thread::scope(|scope| {
        let work = |thread: u64| {
            let start = &start;
            scope.spawn(move || {
                let session = store.session();
                start.wait();
                one_by_one::<S>(session?, BEFORE + 1 + thread * each, each)
            })
        };
        let workers: Vec<_> = (0..threads).map(work).collect();
        start.wait();
        let begun = Instant::now();
        let all: Vec<_> = workers.into_iter().map(|worker| worker.join()).collect();
        (all, begun.elapsed())
    });
    let mut latencies = Vec::new();
    for of_one in all {
        let of_one = of_one.map_err(|_| Failure::new(S::NAME, "committing", "a thread panicked"))?;
        latencies.extend(of_one?);
    }
    Ok(Latencies::new(latencies, took))
}

fn one_by_one<S: Store>(mut session: S::Session<'_>, from: u64, count: u64) -> Result<Vec<Duration>> {
    let mut latencies = Vec::with_capacity(count as usize);
    for id in from..from + count {
        time(&mut latencies, || session.put(id, &first(id)))?;
    }
    Ok(latencies)
}
