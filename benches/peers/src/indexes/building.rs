//! What an index takes over many documents: to build, in memory, and at each opening.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use holotype::{Background, Durability, Options};

use super::data::{Came, Field, Item, asks, items, strewn};
use super::ours::Holotype;
use super::sqlite::Sqlite;
use super::{Indexed, WORKLOAD};
use crate::failure::{Of, Result, expect_equal};
use crate::latencies::{Latencies, time};
use crate::plan::Plan;
use crate::report::{Better, Record, Report};
use crate::turns::{Contender, take_turns};
use crate::{child, place, upkeep};

const NAME: &str = "Holotype";

/// The indexes of the rows about opening. The first is on the text.
const INDEXES: [(&str, &[&str]); 3] =
    [("text", &["$.text"]), ("number", &["$.number"]), ("both", &["$.score", "$.number"])];

/// Documents of one commit of the load.
const BATCH: usize = 10_000;

/// Documents that are changed behind the last checkpoint, at most a tenth of all.
const CHANGED: usize = 100_000;

/// A checkpoint that never becomes due.
const NEVER: u64 = 1 << 40;

/// Between two puts of the writer beside a build.
const PAUSE: Duration = Duration::from_micros(500);

/// Rows, each with its unit, and what was found.
type Figures = Vec<(&'static str, &'static str, f64)>;

/// Prints the table.
pub fn run(plan: &Plan, report: &mut Report) -> Result<()> {
    let (count, directory) = (plan.many, plan.directory.clone());
    let also = directory.clone();
    let mut contenders = [
        Contender::new(NAME, move || ours(&directory, count)),
        Contender::new(Sqlite::NAME, move || sqlite(&also, count)),
    ];
    take_turns("indexes of many documents", &mut contenders, plan.trials)?;
    let workload = format!("{WORKLOAD} of many documents");
    let rows: Vec<(&str, &str)> =
        contenders[0].trials[0].iter().map(|(row, unit, _)| (*row, *unit)).collect();
    for (at, (row, unit)) in rows.into_iter().enumerate() {
        let taking_part = contenders.iter().filter(|contender| contender.trials[0].len() > at);
        let figure = |figures: &Figures| figures[at].2;
        let record = |contender| Record::of([&workload, row], (unit, Better::Less), contender, figure);
        report.add(taking_part.map(record).collect());
    }
    println!("## {workload}: {count} documents\n\n{}", report.table(&workload));
    Ok(())
}

fn millis(begun: Instant) -> f64 {
    begun.elapsed().as_secs_f64() * 1e3
}

fn load<S: Indexed>(store: &mut S, all: &[Item]) -> Result<()> {
    all.chunks(BATCH).try_for_each(|batch| store.insert(batch))
}

/// The rows that both have come first.
fn sqlite(directory: &Path, count: u64) -> Result<Figures> {
    let directory = place::files_of(Sqlite::NAME, directory)?;
    let all = items(count);
    let mut store = Sqlite::open(directory.path(), &[])?;
    load(&mut store, &all)?;
    store.close()?;
    let begun = Instant::now();
    let mut store = Sqlite::open(directory.path(), &[Field::Text])?;
    let figures = vec![("build an index on a text", "ms", millis(begun))];
    is_right(&mut store, &all)?;
    store.close()?;
    Ok(figures)
}

fn ours(directory: &Path, count: u64) -> Result<Figures> {
    let directory = place::files_of(NAME, directory)?;
    let directory = directory.path();
    let all = items(count);
    let mut store = Holotype::open(directory, &[])?;
    load(&mut store, &all)?;
    store.close()?;
    let (open_without, before) = (opening(directory, &[])?, memory(directory, 0)?);

    let mut store = Holotype::open(directory, &[])?;
    let begun = Instant::now();
    let sorted = scan_and_sort(&store).of(NAME, "sorting a scan")?;
    let sort = millis(begun);
    expect_equal(NAME, "what was sorted", &count, &(sorted.len() as u64))?;
    drop(sorted);
    let begun = Instant::now();
    store.create(INDEXES[0].0, INDEXES[0].1).of(NAME, "building")?;
    let build = millis(begun);
    is_right(&mut store, &all)?;
    store.close()?;
    let entry = (memory(directory, 1)? as f64 - before as f64) / count as f64;

    let store = Holotype::open(directory, &[])?;
    let waits = beside_a_build(&store, INDEXES[1], &all)?;
    store.create(INDEXES[2].0, INDEXES[2].1).of(NAME, "building")?;
    store.close()?;
    let open_with = opening(directory, &INDEXES)?;
    let open_crashed = crashed(directory, all)?;

    Ok(vec![
        ("build an index on a text", "ms", build),
        ("... a scan of the same that sorts", "ms", sort),
        ("a put beside a build, median", "µs", waits.micros(0.5)),
        ("... the longest of 999 in 1,000", "µs", waits.micros(0.999)),
        ("... the longest", "µs", waits.micros(1.0)),
        ("memory of an entry of 16 bytes", "bytes", entry),
        ("open without an index", "ms", open_without),
        ("open with three indexes", "ms", open_with),
        ("open with three indexes, and a tenth changed since the checkpoint", "ms", open_crashed),
    ])
}

/// Every document is found once by its text.
fn is_right<S: Indexed>(store: &mut S, all: &[Item]) -> Result<()> {
    let whole = asks(all, Field::Text, all.len(), 1);
    let right = whole.iter().fold(Came::default(), |came, ask| came.and(ask.keys));
    expect_equal(S::NAME, "what an index finds", &right, &store.keys(&whole)?)
}

/// What a build must do at the least: each text with its key, in order.
fn scan_and_sort(store: &Holotype) -> holotype::Result<Vec<(String, i64)>> {
    let mut all = Vec::new();
    let end: Option<()> = store.documents().scan(..)?.visit(|document| {
        let text = document.get("text").and_then(|text| Some(text.as_str()?.to_owned()));
        if let (Some(text), holotype::KeyRef::Int(id)) = (text, document.key()) {
            all.push((text, id));
        }
        ControlFlow::Continue(())
    })?;
    debug_assert!(end.is_none());
    all.sort_unstable();
    Ok(all)
}

/// How long puts take while an index is built.
fn beside_a_build(store: &Holotype, (name, paths): (&str, &[&str]), all: &[Item]) -> Result<Latencies> {
    let (is_built, begun, mut each) = (AtomicBool::new(false), Instant::now(), Vec::new());
    std::thread::scope(|scope| {
        let build = scope.spawn(|| {
            let built = store.create(name, paths);
            is_built.store(true, Ordering::Relaxed);
            built
        });
        for item in all.iter().cycle() {
            time(&mut each, || store.documents().put(item.id, item.document())).of(NAME, "putting")?;
            if is_built.load(Ordering::Relaxed) {
                break;
            }
            std::thread::sleep(PAUSE);
        }
        let built = build.join().map_err(|_| "a panic").of(NAME, "building")?;
        expect_equal(NAME, "whether an index was made", &true, &built.of(NAME, "building")?)
    })?;
    Ok(Latencies::new(each, begun.elapsed()))
}

/// Milliseconds until the store is open and each of its indexes was asked for something.
fn opening(directory: &Path, indexes: &[(&str, &[&str])]) -> Result<f64> {
    let begun = Instant::now();
    let store = Holotype::open(directory, &[])?;
    for (name, _) in indexes {
        store.documents().index(*name).get(1).of(NAME, "asking an index")?;
    }
    let took = millis(begun);
    store.close()?;
    Ok(took)
}

/// Opens the file as a crash left it, with changes that no checkpoint has.
fn crashed(directory: &Path, mut all: Vec<Item>) -> Result<f64> {
    let options = Options::new().durability(Durability::Written).background(Background::Manual);
    let store = Holotype::open_with(directory, &upkeep::checkpoint_after(options, NEVER));
    let mut store = store.of(NAME, "opening")?;
    upkeep::checkpoint(store.db())?;
    let order = strewn(&all);
    for batch in order[..CHANGED.min(all.len() / 10)].chunks(BATCH) {
        let changed: Vec<Item> = batch.iter().map(|item| item.with_other_text(17)).collect();
        store.replace(&changed)?;
        changed.into_iter().for_each(|item| {
            let at = item.id as usize - 1;
            all[at] = item;
        });
    }
    let copy = place::files_of(NAME, directory)?;
    let file = "store.holo";
    std::fs::copy(directory.join(file), copy.path().join(file)).of(NAME, "copying its file")?;
    store.close()?;
    let took = opening(copy.path(), &INDEXES)?;
    is_right(&mut Holotype::open(copy.path(), &[])?, &all)?;
    Ok(took)
}

/// Memory of a process that has gone through all keys, and through these many indexes.
fn memory(directory: &Path, indexes: usize) -> Result<u64> {
    let [bytes] = child::run(NAME, &[WORKLOAD, &indexes.to_string()], directory)?;
    Ok(bytes)
}

/// The child: tells what it uses once it has.
pub fn child(indexes: &str, directory: &Path) -> Result<()> {
    let indexes: usize = indexes.parse().of(NAME, "reading what to do")?;
    let store = Holotype::open(directory, &[])?;
    let keys = store.documents().keys(..).of(NAME, "reading keys")?.count();
    for (name, _) in &INDEXES[..indexes] {
        let entries = store.documents().index(*name).count(..).of(NAME, "reading an index")?;
        expect_equal(NAME, "entries", &(keys as u64), &entries)?;
    }
    child::tell(&[child::memory_not_of_files(NAME)?]);
    store.close()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_built_beside_puts_and_found_after_a_crash() {
        let directory = tempfile::tempdir().unwrap();
        let all = items(3_000);
        let mut store = Holotype::open(directory.path(), &[Field::Text]).unwrap();
        load(&mut store, &all).unwrap();
        assert_eq!(scan_and_sort(&store).unwrap().len(), all.len());
        assert!(beside_a_build(&store, INDEXES[1], &all).unwrap().micros(1.0) > 0.0);
        store.create(INDEXES[2].0, INDEXES[2].1).unwrap();
        store.close().unwrap();
        assert!(crashed(directory.path(), all).unwrap() > 0.0);
    }

    #[test]
    fn sqlite_finds_what_it_built_an_index_of() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(sqlite(directory.path(), 1_000).unwrap().len(), 1);
    }
}
