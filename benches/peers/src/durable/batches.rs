//! One thread commits batches of a hundred documents; each batch is durable when the call returns.

use std::path::Path;
use std::time::Instant;

use crate::contents::{self, Contents, first};
use crate::failure::Result;
use crate::latencies::{Latencies, time};
use crate::place;
use crate::stores::{Commits, Session, Store};

/// How many documents are one commit.
pub const BATCH: u64 = 100;

/// How many documents there are in the end.
pub const DOCUMENTS: u64 = 25_600;

/// Commits all documents to a new store in `directory`. The latencies are those of batches.
pub fn run<S: Store>(directory: &Path) -> Result<Latencies> {
    let directory = place::files_of(S::NAME, directory)?;
    let store = S::open(directory.path(), Commits::Durable)?;
    let mut session = store.session()?;
    let mut latencies = Vec::with_capacity((DOCUMENTS / BATCH) as usize);
    let begun = Instant::now();
    for from in (1..=DOCUMENTS).step_by(BATCH as usize) {
        let documents = (from..from + BATCH).map(|id| (id, first(id)));
        time(&mut latencies, || session.put_all(documents))?;
    }
    let took = begun.elapsed();
    drop(session);
    store.close()?;
    contents::check::<S>(directory.path(), Contents::of((1..=DOCUMENTS).map(|id| (id, first(id)))))?;
    Ok(Latencies::new(latencies, took))
}
