//! Takes the time of steps that a store does, and holds it to what they must come to.

use std::path::Path;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use holotype::Document;
use holotype::document::{RawDocument, from_bytes};
use holotype_benches::workload::Small;

use super::model::Model;
use super::step::{Done, Form, Make, Naming, Step, Work};
use crate::contents::{byte_sum, found_in};
use crate::failure::{Failure, Result, expect_equal};
use crate::latencies::{micros_of, time};
use crate::place;
use crate::stores::{Commits, Lack, Read, Session, Store};

/// The time of one call in so many is taken.
const STRIDE: usize = 8;

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
        Work::Scan(..) | Work::Ranges(..) | Work::Prefixes(_) => {
            at_once && lacks(|lack| matches!(lack, Lack::ScannedAtOnce(_)))
        }
        Work::Put(_, Make::Sized(len)) => *len + 32 > S::VALUE_MAX,
        Work::Put(..) => replaces && lacks(|lack| matches!(lack, Lack::Replaced(_))),
        Work::Delete(_) => lacks(|lack| matches!(lack, Lack::Deleted(_))),
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
fn hold_to<S: Store>(store: S, directory: &Path, model: &mut Model) -> Result<()> {
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
    let every = Work::Prefixes(vec!["user-".to_owned(), "key_".to_owned()]);
    let found = one_by_one::<S>(&mut store.session()?, &every)?.done;
    expect_equal(S::NAME, "what it holds in the end", &model.after(&every), &found)
}

/// What one thread did, and when, by its own word.
struct Worked {
    done: Done,
    sampled: Vec<Duration>,
    begun: Instant,
    ended: Instant,
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

fn one_by_one<S: Store>(session: &mut S::Session<'_>, work: &Work) -> Result<Worked> {
    let mut sampled = Vec::with_capacity(4_096);
    let begun = Instant::now();
    let mut done = Done::default();
    let done_of_call = &mut done;
    match work {
        Work::Put(commits, make) => {
            each(commits, &mut sampled, |ids| put(session, ids, *make, done_of_call))?
        }
        Work::PutNamed(commits, naming) => each(commits, &mut sampled, |ids| {
            session.put_named(ids.iter().map(|id| (naming.name(*id), naming.document(*id))))?;
            done_of_call.documents += ids.len() as u64;
            Ok(())
        })?,
        Work::Delete(ids) => each(ids, &mut sampled, |id| {
            session.delete(*id)?;
            done_of_call.documents += 1;
            Ok(())
        })?,
        Work::Get(ids, form) => each(ids, &mut sampled, |id| {
            let found = session.get(*id, |bytes| seen::<S>(bytes, *form))?;
            done_of_call.add(found.transpose()?.unwrap_or_default());
            Ok(())
        })?,
        Work::GetNamed(ids, naming) => each(ids, &mut sampled, |id| {
            let found = session.get_named(&naming.name(*id), |bytes| seen::<S>(bytes, Form::Raw))?;
            done_of_call.add(found.transpose()?.unwrap_or_default());
            Ok(())
        })?,
        Work::Miss(ids) => each(ids, &mut sampled, |id| {
            done_of_call.documents += u64::from(session.get(*id, |_| ())?.is_none());
            Ok(())
        })?,
        Work::MissNamed(ids) => each(ids, &mut sampled, |id| {
            done_of_call.documents +=
                u64::from(session.get_named(&Naming::User.name(*id), |_| ())?.is_none());
            Ok(())
        })?,
        Work::Count(times) => {
            let (done, took) = counted(session, *times)?;
            return Ok(Worked { done, sampled, begun, ended: begun + took });
        }
        Work::Scan(form, times) => each(&vec![(); *times], &mut sampled, |()| {
            let mut failed = Ok(());
            session.scan(|_, bytes| match seen::<S>(bytes, *form) {
                Ok(seen) => done_of_call.add(seen),
                Err(failure) => failed = Err(failure),
            })?;
            failed
        })?,
        Work::Ranges(from, count) => each(from, &mut sampled, |from| {
            session.scan_from(*from, *count, |_, bytes| done_of_call.add(raw(bytes)))
        })?,
        Work::Prefixes(prefixes) => each(prefixes, &mut sampled, |prefix| {
            session.scan_named(prefix, |bytes| done_of_call.add(raw(bytes)))
        })?,
    }
    Ok(Worked { done, sampled, begun, ended: Instant::now() })
}

/// So long the clock must have gone on before it shows what a call took.
const SHOWN: Duration = Duration::from_millis(1);

/// Counts so many times, and again until the clock shows what that took: some stores take nanoseconds. What one round came to, and took.
fn counted(session: &mut impl Session, times: usize) -> Result<(Done, Duration)> {
    let (begun, mut done, mut rounds) = (Instant::now(), Done::default(), 0);
    while rounds == 0 || begun.elapsed() < SHOWN {
        let more = rounds.max(1);
        for _ in 0..times * more as usize {
            done.documents += session.count()?;
        }
        rounds += more;
    }
    let took = begun.elapsed() / rounds;
    // If one answer was another than the rest, all of them are what was found.
    if done.documents.is_multiple_of(rounds.into()) {
        done.documents /= u64::from(rounds);
    }
    Ok((done, took))
}

/// Calls `call` with each, and takes the time of some.
fn each<I>(all: &[I], sampled: &mut Vec<Duration>, mut call: impl FnMut(&I) -> Result<()>) -> Result<()> {
    for stretch in all.chunks(STRIDE) {
        let (timed, others) = stretch.split_first().expect("a chunk is not empty");
        time(sampled, || call(timed))?;
        others.iter().try_for_each(&mut call)?;
    }
    Ok(())
}

fn put(session: &mut impl Session, ids: &[u64], make: Make, done: &mut Done) -> Result<()> {
    match ids {
        [id] => session.put(*id, &make.document(*id))?,
        ids => session.put_all(ids.iter().map(|id| (*id, make.document(*id))))?,
    }
    done.documents += ids.len() as u64;
    Ok(())
}

fn raw(bytes: &[u8]) -> Done {
    Done { documents: 1, sum: byte_sum(bytes) }
}

/// What a document that was found comes to. All stores' documents are decoded by the same code; to read one field, none checks
/// that the rest is well-formed.
fn seen<S: Store>(bytes: &[u8], form: Form) -> Result<Done> {
    let refused = |cause: &str| Failure::new(S::NAME, "decoding a document", cause.to_owned());
    let id_of = |id: Option<i64>| {
        id.and_then(|id| u64::try_from(id).ok()).ok_or_else(|| refused("its field `id` is not there"))
    };
    let decoded = || {
        let document = Document::decode(bytes).map_err(|error| refused(&error.to_string()))?;
        Ok(id_of(document.get("id").and_then(holotype::Value::as_i64))? + document.len() as u64)
    };
    let field = || id_of(RawDocument::from_verified(bytes).field("id").and_then(|id| id.as_i64()));
    let sum = match form {
        Form::Unread => return Ok(Done { documents: 1, sum: bytes.len() as u64 }),
        Form::Raw => return Ok(raw(bytes)),
        Form::Decode => decoded()?,
        Form::Typed => {
            let small: Small = from_bytes(bytes).map_err(|error| refused(&error.to_string()))?;
            id_of(Some(small.id))? + small.name.len() as u64
        }
        Form::Field => field()?,
        Form::Filter(percent) if field()? % 100 < percent => decoded()?,
        Form::Filter(_) => return Ok(Done::default()),
    };
    Ok(Done { documents: 1, sum })
}
