//! What many documents take: the bytes of files, the memory of the process, the time to open. Memory is that of a process of its own,
//! without the pages of files that are mapped there, which the system takes back when it likes.

use std::path::Path;
use std::time::Instant;

use crate::contents::{self, byte_sum, first};
use crate::extent::Extent;
use crate::failure::{Failure, Of, Result, expect_equal};
use crate::order::scattered;
use crate::plan::Plan;
use crate::report::{Better, Record, Report};
use crate::stores::{Commits, Lack, Read, Session, Store, each_reader};
use crate::turns::{Contender, take_turns};
use crate::{child, extent, place};

use super::bolt::{self, Ask};
use super::model::Model;
use super::step::{Form, Make, Step, Work, commits};

/// The workload, and its name as the work of a child.
pub const NAME: &str = "footprint";

const WORKLOAD: &str = "files, memory and opening";

/// What the child does in one process.
const LOAD: &str = "load";
const REOPEN: &str = "reopen";

const BATCH: usize = 1_000;

/// What one store took.
#[derive(Debug, Clone)]
struct Taken {
    /// Besides what the process had before.
    memory_loaded: u64,
    memory_reopened: u64,
    open_millis: f64,
    loaded: Extent,
    /// Where the store can be held to what it replaced and deleted.
    updated: Option<Extent>,
    deleted: Option<Extent>,
    done: String,
}

/// Prints the table of what many documents take.
pub fn run(plan: &Plan, report: &mut Report) -> Result<()> {
    let mut contenders = Vec::new();
    macro_rules! add {
        ($store:ty) => {
            if !Lack::any::<$store>(|lack| matches!(lack, Lack::Reopened(_))) {
                contenders.push(trials_of::<$store>(plan));
            }
        };
    }
    each_reader!(add);
    contenders.extend(trials_of_bolt(plan));
    take_turns(WORKLOAD, &mut contenders, plan.trials)?;
    for contender in &contenders {
        report.add(records(contender, plan.documents));
    }
    println!("## {WORKLOAD}: {} small documents\n\n{}", plan.documents, report.table(WORKLOAD));
    Ok(())
}

fn trials_of<S: Store>(plan: &Plan) -> Contender<Taken> {
    let (directory, count) = (plan.directory.clone(), plan.documents);
    Contender::new(S::NAME, move || trial::<S>(&directory, count))
}

fn trials_of_bolt(plan: &Plan) -> Option<Contender<Taken>> {
    let (program, directory, count) = (bolt::program().ok()?, plan.directory.clone(), plan.documents);
    Some(Contender::new(bolt::NAME, move || trial_of_bolt(program, &directory, count)))
}

fn records(contender: &Contender<Taken>, count: u64) -> Vec<Record> {
    let done = contender.trials.last().map(|trial| trial.done.clone());
    let row = |name: &str, unit, figure: &dyn Fn(&Taken) -> f64| Record {
        done: done.clone(),
        ..Record::of([WORKLOAD, name], (unit, Better::Less), contender, figure)
    };
    let bytes = "bytes a document";
    let each = |bytes: u64| bytes as f64 / count as f64;
    let mut all = vec![
        row("files after the load, length", bytes, &|taken| each(taken.loaded.len)),
        row("files after the load, allocated", bytes, &|taken| each(taken.loaded.allocated)),
    ];
    let is_held = |of: fn(&Taken) -> Option<Extent>| contender.trials.iter().all(|taken| of(taken).is_some());
    if is_held(|taken| taken.updated) {
        let len = |taken: &Taken| each(taken.updated.unwrap_or_default().len);
        all.push(row("files after each was updated once, length", bytes, &len));
    }
    if is_held(|taken| taken.deleted) {
        let len = |taken: &Taken| 2.0 * each(taken.deleted.unwrap_or_default().len);
        all.push(row("files after half were deleted, length", "bytes a document that is left", &len));
    }
    all.push(row("memory after the load", bytes, &|taken| each(taken.memory_loaded)));
    all.push(row("memory after opening again and reading each", bytes, &|taken| each(taken.memory_reopened)));
    all.push(row("open, closed before", "ms", &|taken| taken.open_millis));
    all
}

fn trial<S: Store>(directory: &Path, count: u64) -> Result<Taken> {
    let directory = place::files_of(S::NAME, directory)?;
    let number = count.to_string();
    let of_child = |work| child::run::<1>(S::NAME, &[NAME, work, &number, S::NAME], directory.path());
    let [memory_loaded] = of_child(LOAD)?;
    let loaded = extent::of(S::NAME, directory.path())?;
    let [memory_reopened] = of_child(REOPEN)?;
    let begun = Instant::now();
    let store = S::open(directory.path(), Commits::Unsynced)?;
    let open_millis = begun.elapsed().as_secs_f64() * 1e3;
    store.close()?;

    let mut model = Model::default();
    model.after(&Work::Put(commits(1..=count, BATCH), Make::First));
    let mut sizes = [None, None];
    let works = [
        Work::Put(commits(scattered(count), BATCH), Make::Updated),
        Work::Delete(scattered(count).take(count as usize / 2).collect()),
    ];
    for (size, work) in sizes.iter_mut().zip(works).take_while(|_| S::LACKS.is_empty()) {
        model.after(&work);
        let store = S::open(directory.path(), Commits::Unsynced)?;
        apply(&mut store.session()?, &work)?;
        store.close()?;
        *size = Some(extent::of(S::NAME, directory.path())?);
    }
    contents::check::<S>(directory.path(), model.contents())?;
    let [updated, deleted] = sizes;
    let done = format!("{count} put, {} left", model.len());
    Ok(Taken { memory_loaded, memory_reopened, open_millis, loaded, updated, deleted, done })
}

/// Each part is a process of its own, and held to the model there.
fn trial_of_bolt(program: &Path, directory: &Path, count: u64) -> Result<Taken> {
    let directory = place::files_of(bolt::NAME, directory)?;
    let mut model = Model::default();
    let mut ask =
        |asked: &[Ask<'_>]| bolt::ask(program, directory.path(), Commits::Unsynced, asked, &mut model);
    let size = || extent::of(bolt::NAME, directory.path());
    let mut memory_of = |work| -> Result<u64> {
        let step = Step::prepare(work);
        let told = ask(&[Ask::Memory, Ask::Step(&step), Ask::Memory])?;
        Ok(told[2].done.sum.saturating_sub(told[0].done.sum))
    };
    let memory_loaded = memory_of(Work::Put(commits(1..=count, BATCH), Make::First))?;
    let loaded = size()?;
    let memory_reopened = memory_of(Work::Get(scattered(count).collect(), Form::Raw))?;
    let open_millis = ask(&[Ask::Opened])?[0].nanos / 1e6;
    ask(&[Ask::Step(&Step::prepare(Work::Put(commits(scattered(count), BATCH), Make::Updated)))])?;
    let updated = Some(size()?);
    let half = scattered(count).take(count as usize / 2).collect();
    ask(&[Ask::Step(&Step::prepare(Work::Delete(half)))])?;
    let deleted = Some(size()?);
    let done = format!("{count} put, {} left", model.len());
    Ok(Taken { memory_loaded, memory_reopened, open_millis, loaded, updated, deleted, done })
}

fn apply(session: &mut impl Session, work: &Work) -> Result<()> {
    match work {
        Work::Put(commits, make) => {
            commits.iter().try_for_each(|ids| session.put_all(ids.iter().map(|id| (*id, make.document(*id)))))
        }
        Work::Delete(ids) => ids.iter().try_for_each(|id| session.delete(*id)),
        other => unreachable!("{other:?} changes nothing"),
    }
}

/// The child: tells how much memory it came to use.
pub fn child(work: &str, count: &str, who: &str, directory: &Path) -> Result<()> {
    let count: u64 = count.parse().of(NAME, "reading what to do")?;
    macro_rules! work_if_it_is {
        ($store:ty) => {
            if who == <$store>::NAME {
                return work_of::<$store>(work, count, directory);
            }
        };
    }
    each_reader!(work_if_it_is);
    Err(Failure::new(NAME, "reading what to do", format!("{who} is no store")))
}

fn work_of<S: Store>(work: &str, count: u64, directory: &Path) -> Result<()> {
    let before = child::memory_not_of_files(S::NAME)?;
    let store = S::open(directory, Commits::Unsynced)?;
    let mut session = store.session()?;
    match work {
        LOAD => apply(&mut session, &Work::Put(commits(1..=count, BATCH), Make::First))?,
        REOPEN => {
            for id in scattered(count) {
                let sum = session.get(id, byte_sum)?;
                expect_equal(S::NAME, "a document", &Some(byte_sum(&first(id).encode())), &sum)?;
            }
        }
        other => return Err(Failure::new(S::NAME, "reading what to do", format!("{other} is no work"))),
    }
    let after = child::memory_not_of_files(S::NAME)?;
    drop(session);
    child::tell(&[after.saturating_sub(before)]);
    store.close()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bbolt_takes_room_and_time_and_keeps_half_of_what_it_was_given() {
        let Ok(program) = bolt::program() else { return };
        let directory = tempfile::tempdir().unwrap();
        let taken = trial_of_bolt(program, directory.path(), 2_000).unwrap();
        assert_eq!(taken.done, "2000 put, 1000 left");
        assert!(taken.open_millis > 0.0 && taken.loaded.len > 2_000 * 50, "{taken:?}");
        let len = |extent: Option<Extent>| extent.unwrap().len;
        assert!(len(taken.deleted) >= len(taken.updated), "its file does not shrink: {taken:?}");
    }
}
