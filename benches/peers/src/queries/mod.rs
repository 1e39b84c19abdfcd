//! Queries over documents: Holotype beside SQLite over the same documents as JSON, without indexes and with
//! them; beside a store that answers ids by one field; and beside loops that a caller writes over redb and LMDB.

mod bison;
mod data;
mod loops;
mod ours;
mod questions;
mod set;
mod sqlite;
mod table;

use std::hint::black_box;
use std::path::Path;
use std::rc::Rc;

use crate::clock::Moment;
use crate::failure::{Failure, Result, expect_equal};
use crate::place;
use crate::plan::Plan;
use crate::report::{Better, Record, Report};
use crate::stores::lmdb::Lmdb;
use crate::stores::redb::Redb;
use crate::turns::{Contender, take_turns};
use data::Item;
use questions::{Asked, Came, Question};
use set::{SETS, Set};

pub const WORKLOAD: &str = "queries";

/// Documents that a question of all is asked about in a trial, about.
const LOOKED_AT: u64 = 300_000;
/// No question is asked more often than this.
const CALLS: u64 = 2_000;
/// Once these have passed, as the first call tells, a question is asked no more.
const NANOS: u128 = if cfg!(test) { 1_000_000 } else { 200_000_000 };

/// A store with the documents.
trait Answers: Sized {
    const NAME: &'static str;

    fn load(directory: &Path, set: &Set, items: &[Item], indexed: bool) -> Result<Self>;

    /// None where this store takes no part.
    fn ask(&self, question: &Question, call: i64) -> Option<Result<Came>>;
}

/// Nanoseconds of a call, by row; none where the store takes no part.
type Figures = Vec<Option<f64>>;

/// Prints the tables of queries.
pub fn run(plan: &Plan, report: &mut Report) -> Result<()> {
    SETS.iter().try_for_each(|set| run_set(set, plan, report))
}

/// Stores without indexes and with them take turns in one list.
fn run_set(set: &'static Set, plan: &Plan, report: &mut Report) -> Result<()> {
    let count = plan.documents.min(set.most);
    let [plain, indexed] = [false, true].map(|indexed| Rc::new(Asking::new(set, count, indexed)));
    let mut contenders = vec![
        contender::<ours::Queries>(plan, &plain),
        contender::<loops::OverHolotype>(plan, &plain),
        contender::<sqlite::Sqlite>(plan, &plain),
        contender::<loops::Over<Redb>>(plan, &plain),
        contender::<loops::Over<Lmdb>>(plan, &plain),
        contender::<bison::Bison>(plan, &plain),
    ];
    let without = contenders.len();
    if !set.indexes.is_empty() {
        contenders.push(contender::<ours::Queries>(plan, &indexed));
        contenders.push(contender::<sqlite::Sqlite>(plan, &indexed));
        contenders.push(contender::<bison::Bison>(plan, &indexed));
    }
    take_turns(set.name, &mut contenders, plan.trials)?;
    let (without, with) = contenders.split_at(without);
    table(set.name, &plain, without, report);
    if !with.is_empty() {
        table(&format!("{}, with indexes", set.name), &indexed, with, report);
    }
    Ok(())
}

fn table(workload: &str, asking: &Asking, contenders: &[Contender<Figures>], report: &mut Report) {
    for (at, (question, _)) in asking.questions.iter().enumerate() {
        let micros = |figures: &Figures| figures[at].unwrap_or_default() / 1e3;
        let record =
            |contender| Record::of([workload, question.row], ("µs a call", Better::Less), contender, micros);
        let taking_part = contenders.iter().filter(|contender| contender.trials[0][at].is_some());
        report.add(taking_part.map(record).collect());
    }
    println!("## {workload}: {} documents\n\n{}", asking.items.len(), report.table(workload));
}

/// The documents, what is asked of them, and what that comes to.
struct Asking {
    set: &'static Set,
    indexed: bool,
    items: Vec<Item>,
    questions: Vec<(&'static Question, Right)>,
}

/// What the calls of a question come to, by the model: the first, the first two, and so on.
type Right = Vec<Came>;

impl Asking {
    fn new(set: &'static Set, count: u64, indexed: bool) -> Self {
        let items = data::items(count);
        let all = set.questions.iter().flat_map(|questions| questions.iter());
        let asked = all.filter(|question| indexed || !question.names_index);
        let questions = asked.map(|question| (question, right(question, &items, indexed))).collect();
        Asking { set, indexed, items, questions }
    }
}

fn right(question: &Question, items: &[Item], indexed: bool) -> Right {
    let is_whole = question.asked == Asked::Whole || (question.asked == Asked::Few && !indexed);
    let calls = if is_whole { (LOOKED_AT / items.len() as u64).clamp(1, CALLS) } else { CALLS };
    let mut all = Came::default();
    let each = (1..=calls as i64).map(|call| {
        all = all.and((question.right)(items, call));
        all
    });
    each.collect()
}

fn contender<A: Answers + 'static>(plan: &Plan, asking: &Rc<Asking>) -> Contender<Figures> {
    let (directory, asking) = (plan.directory.clone(), Rc::clone(asking));
    Contender::new(A::NAME, move || trial::<A>(&directory, &asking))
}

fn trial<A: Answers>(directory: &Path, asking: &Asking) -> Result<Figures> {
    let directory = place::files_of(A::NAME, directory)?;
    let store = A::load(directory.path(), asking.set, &asking.items, asking.indexed)?;
    asking.questions.iter().map(|(question, right)| figure(&store, question, right)).collect()
}

/// The first call tells how many there is time for; all that are timed must come to what the model says.
fn figure<A: Answers>(store: &A, question: &Question, right: &Right) -> Result<Option<f64>> {
    let begun = Moment::now();
    let Some(first) = store.ask(question, 1) else { return Ok(None) };
    let calls = NANOS / begun.elapsed().as_nanos().max(1);
    let calls = (calls as usize).clamp(1, right.len());
    expect_equal(A::NAME, question.row, &right[0], &first?)?;
    let mut found = Came::default();
    let begun = Moment::now();
    for call in 1..=calls as i64 {
        let came = store.ask(question, black_box(call)).unwrap_or_else(|| Err(gone(A::NAME)))?;
        found = found.and(came);
    }
    let took = begun.elapsed();
    expect_equal(A::NAME, question.row, &right[calls - 1], &found)?;
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
        for (set, indexed) in SETS.iter().flat_map(|set| [(set, false), (set, true)]) {
            let asking = Asking::new(set, set.most.min(1_200), indexed);
            let ours = trial::<ours::Queries>(directory.path(), &asking).unwrap();
            assert!(ours.iter().all(Option::is_some), "{}", set.name);
            let others = [
                trial::<loops::OverHolotype>,
                trial::<loops::Over<Redb>>,
                trial::<loops::Over<Lmdb>>,
                trial::<sqlite::Sqlite>,
                trial::<bison::Bison>,
            ];
            for trial in others {
                assert_eq!(trial(directory.path(), &asking).unwrap().len(), asking.questions.len());
            }
        }
    }

    #[test]
    fn another_answer_than_the_model_has_is_a_failure() {
        let directory = tempfile::tempdir().unwrap();
        let mut asking = Asking::new(&SETS[0], 1_000, false);
        asking.items.pop();
        assert!(trial::<sqlite::Sqlite>(directory.path(), &asking).is_err());
    }
}
