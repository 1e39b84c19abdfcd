//! Queries over documents: Holotype beside SQLite over the same documents as JSON, without indexes and with them.

mod bison;
mod data;
mod ours;
mod questions;
mod sqlite;
mod table;

use std::hint::black_box;
use std::path::Path;

use crate::clock::Moment;
use crate::failure::{Failure, Result, expect_equal};
use crate::place;
use crate::plan::Plan;
use crate::report::{Better, Record, Report};
use crate::turns::{Contender, take_turns};
use data::Item;
use questions::{Asked, Came, Question};
use table::{FIELDS, QUESTIONS};

pub const WORKLOAD: &str = "queries";

/// Documents that a question of all is asked about in a trial, about.
const LOOKED_AT: u64 = 300_000;
/// How often one of one document is asked.
const CALLS: u64 = 2_000;

/// A store with the documents.
trait Answers: Sized {
    const NAME: &'static str;

    fn load(directory: &Path, items: &[Item]) -> Result<Self>;

    /// None where this store takes no part.
    fn ask(&self, question: &Question, call: i64) -> Option<Result<Came>>;
}

/// Nanoseconds of a call, by row; none where the store takes no part.
type Figures = Vec<Option<f64>>;

/// Prints the table of queries.
pub fn run(plan: &Plan, report: &mut Report) -> Result<()> {
    let mut contenders = [
        contender::<ours::Queries>(plan),
        contender::<ours::ByHand>(plan),
        contender::<sqlite::Plain>(plan),
        contender::<sqlite::Indexed>(plan),
        contender::<bison::Bison>(plan),
    ];
    take_turns(WORKLOAD, &mut contenders, plan.trials)?;
    for (at, question) in questions().enumerate() {
        let taking_part = contenders.iter().filter(|contender| contender.trials[0][at].is_some());
        report.add(taking_part.map(|contender| record(question, contender, at)).collect());
    }
    println!("## {WORKLOAD}: {} documents\n\n{}", plan.documents, report.table(WORKLOAD));
    Ok(())
}

fn record(question: &Question, contender: &Contender<Figures>, at: usize) -> Record {
    let micros = |figures: &Figures| figures[at].unwrap_or_default() / 1e3;
    Record::of([WORKLOAD, question.row], ("µs a call", Better::Less), contender, micros)
}

fn questions() -> impl Iterator<Item = &'static Question> {
    QUESTIONS.iter().chain(FIELDS)
}

fn contender<A: Answers + 'static>(plan: &Plan) -> Contender<Figures> {
    let (directory, count) = (plan.directory.clone(), plan.documents);
    Contender::new(A::NAME, move || trial::<A>(&directory, count))
}

fn trial<A: Answers>(directory: &Path, count: u64) -> Result<Figures> {
    let directory = place::files_of(A::NAME, directory)?;
    let items = data::items(count);
    let store = A::load(directory.path(), &items)?;
    questions().map(|question| figure(&store, question, &items)).collect()
}

fn figure<A: Answers>(store: &A, question: &Question, items: &[Item]) -> Result<Option<f64>> {
    let calls = match question.asked {
        Asked::Whole => (LOOKED_AT / items.len() as u64).max(1),
        Asked::One => CALLS.min(items.len() as u64),
    };
    // Each call is held to the model once; those that are timed, to the same sum.
    let mut right = Came::default();
    for call in [1, calls as i64] {
        let Some(came) = store.ask(question, call) else { return Ok(None) };
        expect_equal(A::NAME, question.row, &(question.right)(items, call), &came?)?;
    }
    let mut found = Came::default();
    let begun = Moment::now();
    for call in 1..=calls as i64 {
        let came = store.ask(question, black_box(call)).unwrap_or_else(|| Err(gone(A::NAME)))?;
        found = Came { count: found.count + came.count, sum: found.sum.wrapping_add(came.sum) };
    }
    let took = begun.elapsed();
    for call in 1..=calls as i64 {
        let came = (question.right)(items, call);
        right = Came { count: right.count + came.count, sum: right.sum.wrapping_add(came.sum) };
    }
    expect_equal(A::NAME, question.row, &right, &found)?;
    Ok(Some(took.as_secs_f64() * 1e9 / calls as f64))
}

fn gone(who: &'static str) -> Failure {
    Failure::new(who, "answering", "it took part before")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_store_answers_every_question_as_the_model_does() {
        let directory = tempfile::tempdir().unwrap();
        for trial in [
            trial::<ours::Queries>,
            trial::<ours::ByHand>,
            trial::<sqlite::Plain>,
            trial::<sqlite::Indexed>,
            trial::<bison::Bison>,
        ] {
            let figures = trial(directory.path(), 1_200).unwrap();
            assert_eq!(figures.len(), QUESTIONS.len() + FIELDS.len());
        }
    }

    #[test]
    fn another_answer_than_the_model_has_is_a_failure() {
        let directory = tempfile::tempdir().unwrap();
        let items = data::items(1_000);
        let store = sqlite::Plain::load(directory.path(), &items).unwrap();
        assert!(figure(&store, &QUESTIONS[0], &items[..999]).is_err());
    }
}
