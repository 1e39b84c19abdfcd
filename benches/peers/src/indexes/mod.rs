//! Indexes: what they add to writes, and what they find. Stores without indexes have a second tree of entries, written in the same
//! transaction.
//!
//! Commits are not synced. redb keeps them in memory; the others hand them to the system.

mod bison;
mod building;
mod data;
mod fjall;
mod lmdb;
mod ours;
mod redb;
mod sqlite;
mod trees;

use std::path::Path;

use crate::clock::Moment;
use crate::failure::{Result, expect_equal};
use crate::place;
use crate::plan::Plan;
use crate::report::{Better, Record, Report};
use crate::turns::{Contender, take_turns};
use data::{Ask, Came, Field, Item, asks, items, strewn};
use trees::TwoTrees;

pub use building::child;

pub const WORKLOAD: &str = "indexes";

/// Documents of one commit.
const BATCH: usize = 1_000;
/// Documents of a range.
const RANGE: usize = 100;
/// Ranges are asked for so many times less often than single documents.
const RANGES_LESS: usize = 10;
/// Documents of the rows that bison-db's own bench has, and of those that are given up.
const FEW: u64 = 10_000;
const SLOTS: u64 = 1_024;

/// A change in a transaction that is given up.
#[derive(Debug, Clone, Copy)]
pub enum Change {
    /// Of a document that is not there.
    Put,
    Replace,
    Delete,
}

/// A store with indexes.
pub trait Indexed: Sized {
    const NAME: &'static str;

    /// Opens or creates it, with an index over each of these fields.
    fn open(directory: &Path, fields: &'static [Field]) -> Result<Self>;

    fn close(self) -> Result<()>;

    /// Puts documents that are not there, in one commit.
    fn insert(&mut self, items: &[Item]) -> Result<()>;

    /// Puts documents in the place of others, in one commit.
    fn replace(&mut self, items: &[Item]) -> Result<()>;

    /// Changes a document in a transaction, and rolls that back. None where there are no transactions.
    fn give_up(&mut self, change: Change, item: &Item) -> Option<Result<()>>;

    /// The keys of what is asked for, each ask in the newest state.
    fn keys(&mut self, asks: &[Ask]) -> Result<Came>;

    /// The documents of what is asked for, each read to its last byte.
    fn documents(&mut self, asks: &[Ask]) -> Result<Came>;
}

/// Rows with nanoseconds of a document that is put, or of a call; none where the store takes no part.
type Figures = Vec<(&'static str, Option<f64>)>;

/// How much is done.
#[derive(Debug, Clone, Copy)]
struct Work {
    documents: u64,
    calls: usize,
}

/// Prints the tables of indexes.
pub fn run(plan: &Plan, report: &mut Report) -> Result<()> {
    let mut contenders = [
        contender::<ours::Holotype>(plan),
        contender::<TwoTrees<lmdb::Lmdb>>(plan),
        contender::<TwoTrees<redb::Redb>>(plan),
        contender::<TwoTrees<fjall::Fjall>>(plan),
        contender::<sqlite::Sqlite>(plan),
        contender::<bison::Bison>(plan),
    ];
    take_turns(WORKLOAD, &mut contenders, plan.trials)?;
    let rows: Vec<&str> = contenders[0].trials[0].iter().map(|(row, _)| *row).collect();
    for (at, row) in rows.into_iter().enumerate() {
        let taking_part = contenders.iter().filter(|contender| contender.trials[0][at].1.is_some());
        let nanos = |figures: &Figures| figures[at].1.unwrap_or_default();
        let record = |contender| Record::of([WORKLOAD, row], ("ns", Better::Less), contender, nanos);
        report.add(taking_part.map(record).collect());
    }
    println!("## {WORKLOAD}: {} documents\n\n{}", plan.documents, report.table(WORKLOAD));
    building::run(plan, report)
}

fn contender<S: Indexed + 'static>(plan: &Plan) -> Contender<Figures> {
    let work = Work { documents: plan.documents, calls: plan.operations };
    let directory = plan.directory.clone();
    Contender::new(S::NAME, move || trial::<S>(&directory, work))
}

fn trial<S: Indexed>(directory: &Path, work: Work) -> Result<Figures> {
    let mut figures = Vec::new();
    without::<S>(directory, work, &mut figures)?;
    by_text::<S>(directory, work, &mut figures)?;
    by_number::<S>(directory, work, &mut figures)?;
    given_up::<S>(directory, &mut figures)?;
    Ok(figures)
}

fn nanos(count: usize, work: impl FnOnce() -> Result<()>) -> Result<Option<f64>> {
    let begun = Moment::now();
    work()?;
    Ok(Some(begun.elapsed().as_secs_f64() * 1e9 / count as f64))
}

fn in_batches(items: &[Item], put: impl FnMut(&[Item]) -> Result<()>) -> Result<Option<f64>> {
    nanos(items.len(), || items.chunks(BATCH).try_for_each(put))
}

/// A store of these documents, closed and opened again since; how long a put took.
fn filled<S: Indexed>(
    directory: &Path,
    fields: &'static [Field],
    items: &[Item],
) -> Result<(S, Option<f64>)> {
    let mut store = S::open(directory, fields)?;
    let took = in_batches(items, |batch| store.insert(batch))?;
    store.close()?;
    Ok((S::open(directory, fields)?, took))
}

fn without<S: Indexed>(directory: &Path, work: Work, figures: &mut Figures) -> Result<()> {
    let directory = place::files_of(S::NAME, directory)?;
    let items = items(work.documents);
    let (mut store, took) = filled::<S>(directory.path(), &[], &items)?;
    figures.push(("insert, no index", took));
    let changed: Vec<Item> = strewn(&items).iter().map(Item::with_other_score).collect();
    figures.push(("update, no index", in_batches(&changed, |batch| store.replace(batch))?));
    store.close()
}

fn by_text<S: Indexed>(directory: &Path, work: Work, figures: &mut Figures) -> Result<()> {
    let directory = place::files_of(S::NAME, directory)?;
    let mut items = items(work.documents);
    let (mut store, took) = filled::<S>(directory.path(), &[Field::Text], &items)?;
    figures.push(("insert, an index on a text of 16 bytes", took));

    let one = asks(&items, Field::Text, 1, work.calls);
    let ranges = asks(&items, Field::Text, RANGE, work.calls / RANGES_LESS);
    figures.push(("look-up by a text, keys", found_keys(&mut store, &one)?));
    figures.push(("look-up by a text, documents", found_documents(&mut store, &one)?));
    figures.push(("range of 100, keys", found_keys(&mut store, &ranges)?));
    figures.push(("range of 100, documents", found_documents(&mut store, &ranges)?));

    items.iter_mut().for_each(|item| *item = item.with_other_score());
    let took = in_batches(&strewn(&items), |batch| store.replace(batch))?;
    figures.push(("update that leaves the text", took));
    items.iter_mut().for_each(|item| *item = item.with_other_text(17));
    let took = in_batches(&strewn(&items), |batch| store.replace(batch))?;
    figures.push(("update that changes the text", took));

    // What it finds now, and nothing else: every document once.
    found_documents(&mut store, &asks(&items, Field::Text, items.len(), 1))?;
    found_keys(&mut store, &asks(&items, Field::Text, 1, 100))?;
    store.close()
}

fn by_number<S: Indexed>(directory: &Path, work: Work, figures: &mut Figures) -> Result<()> {
    let directory = place::files_of(S::NAME, directory)?;
    let items = items(FEW.min(work.documents));
    let (mut store, _) = filled::<S>(directory.path(), &[Field::Number], &items)?;
    let one = asks(&items, Field::Number, 1, work.calls);
    figures.push(("B2: look-up by an int of 10,000, keys", found_keys(&mut store, &one)?));
    store.close()
}

fn given_up<S: Indexed>(directory: &Path, figures: &mut Figures) -> Result<()> {
    const FIELDS: &[Field] = &[Field::Text, Field::Number];
    let directory = place::files_of(S::NAME, directory)?;
    let all = items(2 * SLOTS);
    let (there, others) = all.split_at(SLOTS as usize);
    let (mut store, _) = filled::<S>(directory.path(), FIELDS, there)?;
    let replaced: Vec<Item> = there.iter().map(|item| item.with_other_text(17)).collect();
    for (row, change, items) in [
        ("I12: put beside two indexes, rolled back", Change::Put, others),
        ("I13: replace beside two indexes, rolled back", Change::Replace, &replaced),
        ("I14: delete beside two indexes, rolled back", Change::Delete, there),
    ] {
        let mut takes_part = true;
        let took = nanos(items.len(), || {
            items.iter().try_for_each(|item| match store.give_up(change, item) {
                Some(given_up) => given_up,
                None => Ok(takes_part = false),
            })
        })?;
        figures.push((row, took.filter(|_| takes_part)));
    }
    found_documents(&mut store, &asks(there, Field::Text, there.len(), 1))?;
    store.close()
}

fn found_keys<S: Indexed>(store: &mut S, asks: &[Ask]) -> Result<Option<f64>> {
    let right = asks.iter().fold(Came::default(), |all, ask| all.and(ask.keys));
    nanos(asks.len(), || expect_equal(S::NAME, "keys of ranges", &right, &store.keys(asks)?))
}

fn found_documents<S: Indexed>(store: &mut S, asks: &[Ask]) -> Result<Option<f64>> {
    let right = asks.iter().fold(Came::default(), |all, ask| all.and(ask.documents));
    nanos(asks.len(), || expect_equal(S::NAME, "documents of ranges", &right, &store.documents(asks)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_store_finds_what_the_model_does() {
        let directory = tempfile::tempdir().unwrap();
        let work = Work { documents: 1_500, calls: 200 };
        for trial in [
            trial::<ours::Holotype>,
            trial::<TwoTrees<lmdb::Lmdb>>,
            trial::<TwoTrees<redb::Redb>>,
            trial::<TwoTrees<fjall::Fjall>>,
            trial::<sqlite::Sqlite>,
            trial::<bison::Bison>,
        ] {
            assert_eq!(trial(directory.path(), work).unwrap().len(), 13);
        }
    }

    #[test]
    fn a_store_that_finds_another_document_has_no_figures() {
        let directory = tempfile::tempdir().unwrap();
        let items = items(1_000);
        let (mut store, _) = filled::<ours::Holotype>(directory.path(), &[Field::Text], &items).unwrap();
        let each = asks(&items, Field::Text, 1, items.len());
        assert!(found_keys(&mut store, &each).is_ok());
        store.replace(&[items[0].with_other_text(17)]).unwrap();
        assert!(found_keys(&mut store, &each).is_err());
    }
}
