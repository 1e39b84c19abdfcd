//! Takes the time of steps that a store does, and holds it to what they must come to.

use std::path::Path;
use std::sync::Barrier;
use std::thread;

use super::calls::{Worked, one_by_one};
use super::model::Model;
use super::step::{Done, Form, Make, Step, Work};
use crate::contents::found_in;
use crate::failure::{Failure, Result, expect_equal};
use crate::latencies::micros_of;
use crate::place;
use crate::stores::{Commits, FIRST_NAME, Lack, Store};

/// What a row showed.
#[derive(Debug, Clone, PartialEq)]
pub struct Figures {
    pub row: String,
    pub nanos: f64,
    pub p99_micros: Option<f64>,
    pub done: Done,
}

impl Figures {
    pub fn per_second(&self) -> f64 {
        self.done.documents as f64 / self.nanos * 1e9
    }
}

/// Whether `S` lacks what it takes to do `step` and to be held to it.
fn is_left_out<S: Store>(step: &Step, replaces: bool) -> bool {
    let lacks = |of: fn(&Lack) -> bool| Lack::any::<S>(of);
    let works = match step {
        Step::Reopen => return lacks(|lack| matches!(lack, Lack::Reopened(_))),
        Step::Clean => return !S::LACKS.is_empty(),
        Step::Do(_, works) => works,
    };
    let at_once = works.len() > 1;
    works.iter().any(|work| match work {
        Work::Scan(..) | Work::Ranges(..) | Work::RangesNamed(..) | Work::Prefixes(_) => {
            at_once && lacks(|lack| matches!(lack, Lack::ScannedAtOnce(_)))
        }
        Work::Put(_, Make::Sized(len)) => *len + 32 > S::VALUE_MAX,
        Work::Put(..) => replaces && lacks(|lack| matches!(lack, Lack::Replaced(_))),
        Work::Delete(_) | Work::DeleteNamed(..) => lacks(|lack| matches!(lack, Lack::Deleted(_))),
        _ => false,
    })
}

/// Whether a step puts what is there already.
pub fn replaces(step: &Step) -> bool {
    matches!(step, Step::Do(_, works) if works.iter().any(|work| matches!(work, Work::Put(_, Make::Updated))))
}

/// Does all steps on a new store in `directory`: a figure for each that has a name. Whatever follows a step that the store is left
/// out of is left out as well.
pub fn run<S: Store>(directory: &Path, commits: Commits, steps: &[Step]) -> Result<Vec<Figures>> {
    let directory = place::files_of(S::NAME, directory)?;
    let mut store = S::open(directory.path(), commits)?;
    let (mut model, mut all) = (Model::default(), Vec::new());
    for step in steps {
        if is_left_out::<S>(step, replaces(step)) {
            if matches!(step, Step::Reopen) {
                continue;
            }
            break;
        }
        match step {
            Step::Do(row, works) => {
                let mut expected = Done::default();
                works.iter().for_each(|work| expected.add(model.after(work)));
                let figures = all_at_once(&store, row, works)?;
                expect_equal(S::NAME, "what a row came to", &(row, expected), &(row, figures.done))?;
                if !row.is_empty() {
                    all.push(figures);
                }
            }
            Step::Reopen => {
                store.close()?;
                store = S::open(directory.path(), commits)?;
            }
            Step::Clean => {
                store.clean()?;
                store = S::open(directory.path(), commits)?;
            }
        }
    }
    hold_to::<S>(store, directory.path(), &mut model)?;
    Ok(all)
}

/// Holds a store to everything that must be there, when it is opened again where it can be.
pub fn hold_to<S: Store>(store: S, directory: &Path, model: &mut Model) -> Result<()> {
    if Lack::any::<S>(|lack| matches!(lack, Lack::Reopened(_))) {
        expect_all(&store, model)?;
        return store.close();
    }
    store.close()?;
    let store = S::open(directory, Commits::Unsynced)?;
    expect_all(&store, model)?;
    store.close()
}

/// Ids and names are not used in one store.
fn expect_all<S: Store>(store: &S, model: &mut Model) -> Result<()> {
    if model.names() == 0 {
        return expect_equal(S::NAME, "what it holds in the end", &model.contents(), &found_in(store)?);
    }
    let every = every_name();
    let found = one_by_one::<S>(&mut store.session()?, &every)?.done;
    expect_equal(S::NAME, "what it holds in the end", &model.after(&every), &found)
}

/// What shows all documents under names.
pub fn every_name() -> Work {
    Work::RangesNamed(vec![FIRST_NAME.to_owned()], usize::MAX, Form::Raw)
}

fn all_at_once<S: Store>(store: &S, row: &str, works: &[Work]) -> Result<Figures> {
    let start = Barrier::new(works.len());
    let workers: Vec<_> = thread::scope(|scope| {
        let work = |work| {
            let start = &start;
            scope.spawn(move || {
                let session = store.session();
                start.wait();
                one_by_one::<S>(&mut session?, work)
            })
        };
        let workers: Vec<_> = works.iter().map(work).collect();
        workers.into_iter().map(|worker| worker.join()).collect()
    });
    let mut all: Option<Worked> = None;
    for worker in workers {
        let worked = worker.map_err(|_| Failure::new(S::NAME, "working in threads", "one panicked"))??;
        match &mut all {
            Some(all) => {
                all.done.add(worked.done);
                all.sampled.extend(worked.sampled);
                (all.begun, all.ended) = (all.begun.min(worked.begun), all.ended.max(worked.ended));
            }
            None => all = Some(worked),
        }
    }
    let mut all = all.expect("there is a thread");
    all.sampled.sort_unstable();
    let p99_micros = (!all.sampled.is_empty()).then(|| micros_of(&all.sampled, 0.99));
    let nanos = ((all.ended - all.begun).as_secs_f64() * 1e9).max(1.0);
    Ok(Figures { row: row.to_owned(), nanos, p99_micros, done: all.done })
}
