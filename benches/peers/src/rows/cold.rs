//! Reads of what is in no cache: the system was asked to forget the files, and the store has a cache of a mebibyte.

use std::path::Path;
use std::time::Instant;

use rustix::fs::{Advice, fadvise};

use crate::contents::{self, Contents, byte_sum, first};
use crate::failure::{Failure, Of, Result, expect_equal};
use crate::latencies::{micros_of, time};
use crate::order::shuffled;
use crate::place;
use crate::plan::Plan;
use crate::report::{Better, Record, Report};
use crate::stores::{Commits, Lack, Read, Store, each_reader};
use crate::turns::{Contender, take_turns};

use super::bolt::{self, Ask};
use super::model::Model;
use super::step::{Form, Make, Step, Work, commits};

const WORKLOAD: &str = "reads of what is in no cache";

/// What a store may keep for itself.
const CACHE_BYTES: usize = 1 << 20;

#[derive(Debug, Clone)]
struct Cold {
    open_millis: f64,
    reads_per_second: f64,
    p99_micros: f64,
    done: String,
}

/// Prints the table of cold reads.
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
        report.add(records(contender));
    }
    println!("## {WORKLOAD}\n\n{}", report.table(WORKLOAD));
    Ok(())
}

fn trials_of<S: Store>(plan: &Plan) -> Contender<Cold> {
    let (directory, count, reads) = (plan.directory.clone(), plan.documents, plan.operations / 4);
    Contender::new(S::NAME, move || trial::<S>(&directory, count, reads))
}

fn trials_of_bolt(plan: &Plan) -> Option<Contender<Cold>> {
    let (directory, count, reads) = (plan.directory.clone(), plan.documents, plan.operations / 4);
    let program = bolt::program().ok()?;
    Some(Contender::new(bolt::NAME, move || trial_of_bolt(program, &directory, count, reads)))
}

fn records(contender: &Contender<Cold>) -> Vec<Record> {
    let done = contender.trials.last().map(|trial| trial.done.clone());
    let open =
        Record::of([WORKLOAD, "open and read one"], ("ms", Better::Less), contender, |cold| cold.open_millis);
    let unit = ("reads a second", Better::More);
    let reads = Record::of([WORKLOAD, "get, uniform"], unit, contender, |cold| cold.reads_per_second);
    let reads = reads.with_p99(contender.spread(|cold| cold.p99_micros).median);
    vec![open, Record { done, ..reads }]
}

fn trial<S: Store>(directory: &Path, count: u64, reads: usize) -> Result<Cold> {
    let directory = place::files_of(S::NAME, directory)?;
    contents::load::<S>(directory.path(), count)?.close()?;
    forget(directory.path()).of(S::NAME, "asking the system to forget its files")?;

    let mut ids = shuffled(count, 2);
    ids.truncate(reads);
    let begun = Instant::now();
    let store = S::open_with_cache(directory.path(), CACHE_BYTES)?;
    let mut session = store.session()?;
    let mut sum = session.get(ids[0], byte_sum)?.unwrap_or_default();
    let open = begun.elapsed();
    let mut sampled = Vec::with_capacity(reads);
    let begun = Instant::now();
    for id in &ids[1..] {
        sum += time(&mut sampled, || session.get(*id, byte_sum))?.unwrap_or_default();
    }
    let took = begun.elapsed();
    drop(session);
    store.close()?;
    let expected = ids.iter().map(|id| byte_sum(&first(*id).encode())).sum();
    expect_equal(S::NAME, "the sum of what was read cold", &expected, &sum)?;
    contents::check::<S>(directory.path(), Contents::of((1..=count).map(|id| (id, first(id)))))?;
    sampled.sort_unstable();
    Ok(Cold {
        open_millis: open.as_secs_f64() * 1e3,
        reads_per_second: sampled.len() as f64 / took.as_secs_f64(),
        p99_micros: micros_of(&sampled, 0.99),
        done: format!("{} documents, sum {sum}", ids.len()),
    })
}

/// It has no cache of its own to be told about: it maps its file, whose pages this process has the system forget.
fn trial_of_bolt(program: &Path, directory: &Path, count: u64, reads: usize) -> Result<Cold> {
    let directory = place::files_of(bolt::NAME, directory)?;
    let mut model = Model::default();
    let mut ask =
        |asked: &[Ask<'_>]| bolt::ask(program, directory.path(), Commits::Unsynced, asked, &mut model);
    ask(&[Ask::Step(&Step::prepare(Work::Put(commits(1..=count, 1_000), Make::First)))])?;
    forget(directory.path()).of(bolt::NAME, "asking the system to forget its files")?;
    let mut ids = shuffled(count, 2);
    ids.truncate(reads);
    let get = |ids: &[u64]| Step::prepare(Work::Get(ids.to_vec(), Form::Raw));
    let told = ask(&[Ask::Opened, Ask::Step(&get(&ids[..1])), Ask::Step(&get(&ids[1..]))])?;
    let [opened, one, others] = &told[..] else {
        return Err(Failure::new(
            bolt::NAME,
            "reading its figures",
            "it told more or less than it was asked",
        ));
    };
    Ok(Cold {
        open_millis: (opened.nanos + one.nanos) / 1e6,
        reads_per_second: others.per_second(),
        p99_micros: others.p99_micros.unwrap_or_default(),
        done: format!("{} documents, sum {}", ids.len(), one.done.sum + others.done.sum),
    })
}

/// Has every file in `directory` written to the disk, and its pages given up.
fn forget(directory: &Path) -> std::io::Result<()> {
    place::for_each_file(directory, &|file| {
        file.sync_all()?;
        Ok(fadvise(file, 0, None, Advice::DontNeed)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stores::holotype::Holotype;
    use crate::stores::wrong::{READS_ANOTHER, Wrong};

    #[test]
    fn bbolt_reads_again_what_was_forgotten() {
        let Ok(program) = bolt::program() else { return };
        let directory = tempfile::tempdir().unwrap();
        let cold = trial_of_bolt(program, directory.path(), 2_000, 400).unwrap();
        let ours = trial::<Holotype>(directory.path(), 2_000, 400).unwrap();
        assert_eq!(cold.done, ours.done);
        assert!(cold.open_millis > 0.0 && cold.p99_micros > 0.0);
    }

    #[test]
    fn what_was_forgotten_is_read_again_and_added_up() {
        let directory = tempfile::tempdir().unwrap();
        let cold = trial::<Holotype>(directory.path(), 2_000, 400).unwrap();
        assert!(cold.done.starts_with("400 documents"), "{cold:?}");
        assert!(trial::<Wrong<READS_ANOTHER>>(directory.path(), 2_000, 400).is_err());
    }
}
