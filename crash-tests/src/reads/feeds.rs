//! Documents where a feed says that they are; commits that were never made; feeds that wait.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use holotype::storage::MemoryStorage;
use holotype::{Change, Db, Durability, Error, Location, doc};

use crate::setup::Setup;
use crate::story::{ensure, say};

/// Longer than it takes on any machine.
const PATIENCE: Duration = Duration::from_secs(20);

fn create() -> Result<Db, String> {
    Db::open_on(MemoryStorage::new(), &Setup::LARGE.options()).map_err(say)
}

/// Where nothing has been moved, each document is found at the place that a feed names, long ones too, and so is the one that it replaced.
pub(super) fn places() -> Result<(), String> {
    let db = create()?;
    let a = db.collection("a");
    let document = |key: i64, round: i64| doc! { "n": key, "round": round, "p": "x".repeat(40_000 * (key % 4) as usize) };
    let mut watch = db.watch(0).map_err(say)?;
    let mut before: Vec<Option<Location>> = vec![None; 20];
    for round in 0..2 {
        for key in 0..20 {
            a.put(key, document(key, round)).map_err(say)?;
        }
        while let Some(commit) = watch.try_next().map_err(say)? {
            for change in commit.changes {
                let Change::Put { key, at, replaced, .. } = change else { continue };
                let key = (0..20).find(|number| key == holotype::Key::Int(*number)).ok_or("another key")?;
                ensure(replaced == before[key as usize], || format!("{key} replaced {replaced:?}"))?;
                before[key as usize] = Some(at);
                let found = db.document_at(at).map_err(say)?.ok_or("it is not where the feed says")?;
                let found = found.to_document().map_err(say)?;
                ensure(found == document(key, round), || format!("another document than {key} is there"))?;
            }
        }
    }
    ensure(before.iter().all(Option::is_some), || "the feed leaves out documents".to_owned())
}

//= spec/transactions.md#t-5-3-gone
//# An LSN that the store has never given, or that a crash took back, MUST be refused as `LsnUnknown`.
pub(super) fn unknown() -> Result<(), String> {
    let db = create()?;
    let a = db.collection("a");
    for key in 0..3 {
        a.put(key, doc! {}).map_err(say)?;
    }
    let newest = db.stats().lsn;
    for from in [1, newest / 2, newest + 1, u64::MAX] {
        match db.watch(from) {
            Err(Error::LsnUnknown { lsn }) if lsn == from => {}
            other => return Err(format!("a feed from {from:x}: {other:?}")),
        }
    }
    Ok(())
}

/// A feed that waits is woken by the next commit, every time, and else waits no longer than it was asked to.
pub(super) fn waiting() -> Result<(), String> {
    const ROUNDS: u64 = 500;
    let db = create()?;
    let a = db.collection("a").with_durability(Durability::Buffered);
    let mut watch = db.watch(0).map_err(say)?;
    let nothing = watch.wait_next(Duration::from_millis(2)).map_err(say)?;
    ensure(nothing.is_none(), || format!("there is nothing to show, and it shows {nothing:?}"))?;
    let seen = AtomicU64::new(0);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            while seen.load(Ordering::Relaxed) < ROUNDS {
                let began = Instant::now();
                let next = watch.wait_next(PATIENCE).map_err(say)?;
                let is_woken = next.is_some() && began.elapsed() < PATIENCE / 2;
                ensure(is_woken, || format!("it is not woken by a commit after {:?}", began.elapsed()))?;
                seen.fetch_add(1, Ordering::Release);
            }
            Ok::<_, String>(())
        });
        for round in 0..ROUNDS {
            a.put(round as i64 % 8, doc! {}).map_err(say)?;
            while seen.load(Ordering::Acquire) <= round && !reader.is_finished() {
                std::thread::yield_now();
            }
        }
        reader.join().map_err(|_| "a panic".to_owned())?
    })
}
