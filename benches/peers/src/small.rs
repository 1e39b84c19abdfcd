//! What a store takes that holds next to nothing: the bytes of its file, and of memory where a thousand of them are open.

use std::path::{Path, PathBuf};

use holotype::{Durability, Options};

use crate::contents::{byte_sum, first};
use crate::extent::Extent;
use crate::failure::{Failure, Result, expect_equal};
use crate::plan::Plan;
use crate::stores::holotype::Holotype;
use crate::stores::lmdb::Lmdb;
use crate::stores::redb::Redb;
use crate::stores::sled::Sled;
use crate::stores::sqlite::Sqlite;
use crate::stores::{Commits, Read, Session, Store, each_store};
use crate::turns::{Contender, take_turns};
use crate::{child, extent, place};

/// The name of the workload, and of its work as a child.
pub const NAME: &str = "small";

/// Ours, with commits that wait in memory for a thread of the store's own.
const BUFFERED: &str = "Holotype, `Buffered`";

/// How many stores are open at once, and how many documents each has.
const STORES: u64 = 1_000;
const DOCUMENTS: u64 = 10;

const GOAL_EMPTY: u64 = 64 << 10;
const GOAL_OPEN: f64 = (200 << 10) as f64;

/// Bytes of memory for each open store.
struct Memory {
    /// Once each was opened and all of its documents read.
    read: f64,
    /// Once a document was then put into each.
    written: f64,
}

/// Prints the tables of small stores.
pub fn run(plan: &Plan) -> Result<()> {
    print_empty(plan)?;
    let mut contenders = [
        contender::<Holotype>(plan, Holotype::NAME),
        contender::<Holotype>(plan, BUFFERED),
        contender::<Redb>(plan, Redb::NAME),
        contender::<Sqlite>(plan, Sqlite::NAME),
        contender::<Lmdb>(plan, Lmdb::NAME),
    ];
    take_turns(NAME, &mut contenders, plan.trials)?;
    print_memory(&contenders);
    Ok(())
}

fn contender<S: Store>(plan: &Plan, name: &'static str) -> Contender<Memory> {
    let parent = plan.directory.clone();
    Contender::new(name, move || memory::<S>(&parent, name))
}

fn print_empty(plan: &Plan) -> Result<()> {
    println!("## An empty store\n");
    println!("| | bytes of its files | allocated |");
    println!("|---|---:|---:|");
    macro_rules! print {
        ($store:ty) => {{
            let Extent { len, allocated } = empty::<$store>(&plan.directory)?;
            println!("| {} | {len} | {allocated} |", <$store>::NAME);
        }};
    }
    each_store!(print);
    print!(Sled);
    println!();
    println!("Goal: at most {GOAL_EMPTY} bytes.\n");
    Ok(())
}

/// What a new store without documents takes once it was closed.
fn empty<S: Store>(parent: &Path) -> Result<Extent> {
    let directory = place::files_of(S::NAME, parent)?;
    S::open(directory.path(), Commits::Durable)?.close()?;
    let extent = extent::of(S::NAME, directory.path())?;
    let mut found = 0;
    S::open(directory.path(), Commits::Durable)?.session()?.scan(|_, _| found += 1)?;
    expect_equal(S::NAME, "how many documents an empty store has", &0, &found)?;
    Ok(extent)
}

fn print_memory(contenders: &[Contender<Memory>]) {
    println!("## {STORES} open stores of {DOCUMENTS} documents: KiB of memory for each\n");
    println!("| | opened and all read | and one more put into each |");
    println!("|---|---:|---:|");
    for contender in contenders {
        let cell = |figure: fn(&Memory) -> f64| contender.spread(|memory| figure(memory) / 1024.0).cell();
        println!(
            "| {} | {} | {} |",
            contender.name,
            cell(|memory| memory.read),
            cell(|memory| memory.written)
        );
    }
    println!();
    let worst = contenders[..2].iter().map(|ours| ours.spread(|memory| memory.written).greatest);
    let worst = worst.fold(0.0, f64::max);
    let verdict = if worst <= GOAL_OPEN { "met" } else { "missed" };
    println!(
        "Goal: at most {:.0} KiB each: {verdict}. Stores with threads of their own for each open store are left out.\n",
        GOAL_OPEN / 1024.0
    );
}

fn directory_of(parent: &Path, index: u64) -> PathBuf {
    parent.join(index.to_string())
}

/// Fills stores, and has them opened in a process of its own.
fn memory<S: Store>(parent: &Path, name: &str) -> Result<Memory> {
    let parent = place::files_of(S::NAME, parent)?;
    for index in 0..STORES {
        let directory = directory_of(parent.path(), index);
        std::fs::create_dir(&directory)
            .map_err(|error| Failure::new(S::NAME, "making a directory", error))?;
        let store = S::open(&directory, Commits::Unsynced)?;
        store.session()?.put_all((1..=DOCUMENTS).map(|id| (id, first(id))))?;
        store.close()?;
    }
    let [before, read, written] = child::run(S::NAME, &[NAME, name], parent.path())?;
    let each = |now: u64| now.saturating_sub(before) as f64 / STORES as f64;
    Ok(Memory { read: each(read), written: each(written) })
}

/// The child: opens all stores in `parent`, and tells how much memory it has before, once all are read, and once all are written to.
pub fn child(store: &str, parent: &Path) -> Result<()> {
    macro_rules! of {
        ($kind:ty) => {
            if store == <$kind>::NAME {
                return all_open::<$kind>(parent, unsynced);
            }
        };
    }
    each_store!(of);
    if store == BUFFERED {
        return all_open(parent, buffered);
    }
    Err(Failure::new("this program", "working as a child", format!("{store} is no store")))
}

fn all_open<S: Store>(parent: &Path, open: impl Fn(&Path) -> Result<S>) -> Result<()> {
    let before = child::memory_now(S::NAME)?;
    let stores = (0..STORES).map(|index| open(&directory_of(parent, index))).collect::<Result<Vec<S>>>()?;
    // Some stores have their memory where they are used.
    let mut sessions = stores.iter().map(S::session).collect::<Result<Vec<_>>>()?;
    for session in &mut sessions {
        for id in 1..=DOCUMENTS {
            let sum = session.get(id, byte_sum)?;
            expect_equal(S::NAME, "a document", &Some(byte_sum(&first(id).encode())), &sum)?;
        }
    }
    let read = child::memory_now(S::NAME)?;
    for session in &mut sessions {
        session.put(DOCUMENTS + 1, &first(DOCUMENTS + 1))?;
    }
    let written = child::memory_now(S::NAME)?;
    child::tell(&[before, read, written]);
    drop(sessions);
    stores.into_iter().try_for_each(S::close)
}

fn unsynced<S: Store>(directory: &Path) -> Result<S> {
    S::open(directory, Commits::Unsynced)
}

/// Each store has a thread once it was written to.
fn buffered(directory: &Path) -> Result<Holotype> {
    Holotype::open_with(directory, &Options::new().durability(Durability::Buffered))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_empty_store_is_no_longer_than_the_goal() {
        let directory = tempfile::tempdir().unwrap();
        assert!(empty::<Holotype>(directory.path()).unwrap().len <= GOAL_EMPTY);
    }

    #[test]
    fn a_child_knows_only_stores_that_take_part() {
        assert!(child("no store", Path::new(".")).is_err());
    }
}
