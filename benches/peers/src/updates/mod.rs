//! Updates of documents where they are: Holotype beside SQLite's `json_set` over the same documents as JSON, and beside a get and a
//! put. Commits are handed to the system, and not synced.

mod ours;
mod rows;
mod sqlite;

use std::path::Path;

use crate::clock::Moment;
use crate::failure::{Failure, Of, expect_equal};
use crate::place;
use crate::plan::Plan;
use crate::report::{Better, Record, Report};
use crate::turns::{Contender, take_turns};
use rows::{MANY, Many, ONE, One, State, User};

type Result<T, E = Failure> = std::result::Result<T, E>;

pub const WORKLOAD: &str = "updates";

/// Documents of the rows that change one at a time, and no more than 32 MiB of them.
const ONE_BY_ONE: u64 = 10_000;
const BYTES_MAX: u64 = 32 << 20;

trait Updates: Sized {
    const NAME: &'static str;

    type Error: Into<Box<dyn std::error::Error + Send + Sync>>;

    /// With an index on the age, where it is asked for.
    fn with_users(directory: &Path, users: &[User], indexed: bool) -> Result<Self, Self::Error>;

    /// With an index on the field that is raised, where it is asked for.
    fn with_counted(directory: &Path, one: &One, count: u64, indexed: bool) -> Result<Self, Self::Error>;

    /// How many were changed; none where this store takes no part.
    fn many(&mut self, many: &Many) -> Option<Result<u64, Self::Error>>;

    /// Changes each document once; none where this store takes no part.
    fn one(&mut self, one: &One, count: u64) -> Option<Result<(), Self::Error>>;

    /// How many documents there are, and the sum of a field.
    fn state(&mut self, field: &str) -> Result<State, Self::Error>;
}

/// Nanoseconds for each changed document, by row; none where the store takes no part.
type Figures = Vec<Option<f64>>;

/// Prints the tables of updates. Stores without an index and with one take turns in one list.
pub fn run(plan: &Plan, report: &mut Report) -> Result<()> {
    let mut contenders = [
        contender::<ours::ByUpdate>(plan, false),
        contender::<ours::GetAndPut>(plan, false),
        contender::<sqlite::Sqlite>(plan, false),
        contender::<ours::ByUpdate>(plan, true),
        contender::<ours::GetAndPut>(plan, true),
        contender::<sqlite::Sqlite>(plan, true),
    ];
    take_turns(WORKLOAD, &mut contenders, plan.trials)?;
    let (without, with) = contenders.split_at(3);
    table(WORKLOAD, without, plan, report);
    table("updates, with an index", with, plan, report);
    Ok(())
}

fn table(workload: &str, contenders: &[Contender<Figures>], plan: &Plan, report: &mut Report) {
    for (at, row) in row_names().enumerate() {
        let taking_part = contenders.iter().filter(|contender| contender.trials[0][at].is_some());
        let figure = |figures: &Figures| figures[at].unwrap_or_default();
        let record =
            |contender| Record::of([workload, row], ("ns a change", Better::Less), contender, figure);
        report.add(taking_part.map(record).collect());
    }
    println!("## {workload}: {} users\n\n{}", plan.documents, report.table(workload));
}

fn row_names() -> impl Iterator<Item = &'static str> {
    MANY.iter().map(|many| many.row).chain(ONE.iter().map(|one| one.row))
}

fn contender<U: Updates + 'static>(plan: &Plan, indexed: bool) -> Contender<Figures> {
    let (directory, count) = (plan.directory.clone(), plan.documents);
    Contender::new(U::NAME, move || trial::<U>(&directory, count, indexed))
}

fn trial<U: Updates>(directory: &Path, count: u64, indexed: bool) -> Result<Figures> {
    let users = rows::users(count);
    let many = MANY.iter().map(|row| many::<U>(directory, row, &users, indexed));
    many.chain(ONE.iter().map(|row| one::<U>(directory, row, count, indexed))).collect()
}

/// Each row has a store of its own, filled anew.
fn many<U: Updates>(directory: &Path, row: &Many, users: &[User], indexed: bool) -> Result<Option<f64>> {
    let directory = place::files_of(U::NAME, directory)?;
    let mut store = U::with_users(directory.path(), users, indexed).of(U::NAME, "loading")?;
    let begun = Moment::now();
    let Some(changed) = store.many(row) else { return Ok(None) };
    let changed = changed.of(U::NAME, row.row)?;
    let took = begun.elapsed();
    let admitted = users.iter().filter(|user| (row.admits)(user)).count() as u64;
    expect_equal(U::NAME, "how many were changed", &admitted, &changed)?;
    let (count, sum) = rows::state(users.iter());
    let right = match row.deletes {
        true => rows::state(users.iter().filter(|user| !(row.admits)(user))),
        false => (count, sum + admitted as i64),
    };
    expect_equal(U::NAME, row.row, &right, &store.state("score").of(U::NAME, "reading all")?)?;
    Ok(Some(took.as_secs_f64() * 1e9 / admitted.max(1) as f64))
}

fn one<U: Updates>(directory: &Path, row: &One, count: u64, indexed: bool) -> Result<Option<f64>> {
    let count = count.min(ONE_BY_ONE).min(BYTES_MAX / row.len as u64);
    let directory = place::files_of(U::NAME, directory)?;
    let mut store = U::with_counted(directory.path(), row, count, indexed).of(U::NAME, "loading")?;
    let begun = Moment::now();
    let Some(done) = store.one(row, count) else { return Ok(None) };
    done.of(U::NAME, row.row)?;
    let took = begun.elapsed();
    let state = store.state("n").of(U::NAME, "reading all")?;
    expect_equal(U::NAME, row.row, &(count, count as i64), &state)?;
    Ok(Some(took.as_secs_f64() * 1e9 / count as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_store_makes_every_change_that_the_model_makes() {
        let directory = tempfile::tempdir().unwrap();
        for trial in [trial::<ours::ByUpdate>, trial::<ours::GetAndPut>, trial::<sqlite::Sqlite>] {
            for indexed in [false, true] {
                assert_eq!(trial(directory.path(), 1_000, indexed).unwrap().len(), MANY.len() + ONE.len());
            }
        }
    }

    #[test]
    fn a_store_that_changes_others_has_no_figures() {
        let directory = tempfile::tempdir().unwrap();
        let row = Many { admits: |user| user.age == 26, ..MANY[1] };
        assert!(many::<sqlite::Sqlite>(directory.path(), &row, &rows::users(1_000), false).is_err());
    }
}
