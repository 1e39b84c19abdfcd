//! CSharpDB's rows of collections. It needs .NET and does not run here; what is repeated is what it is asked for: documents of three
//! fields under `doc:` and a number, each decoded into the application's type. Its get asks for one and the same id at each call.

use std::path::Path;
use std::time::Instant;

use crate::failure::{Result, expect_equal};
use crate::latencies::{Latencies, time};
use crate::place;
use crate::plan::Plan;
use crate::report::{Better, Record, Report};
use crate::rows::calls::{one_by_one, seen};
use crate::rows::model::Model;
use crate::rows::step::{Done, Form, Naming, Work, commits};
use crate::rows::{lists, print, readers, run, table, writers};
use crate::stores::{Class, Commits, Lack, ReadNamed, Session, Store, each_of};
use crate::turns::{Contender, take_turns};
use crate::ycsb::keys::Random;

/// How many documents there are for reads.
const COUNT: u64 = 10_000;

/// How many operations of a hundred are gets; the others put new documents.
const GETS: u64 = 80;

/// Prints the rows, by class where they write.
pub fn run(plan: &Plan, report: &mut Report) -> Result<()> {
    let count = plan.documents.min(COUNT);
    let each_synced = plan.commits / 2;
    for class in Class::ALL {
        let singles = if class == Class::Durable { each_synced } else { count };
        let contenders = writers(class, plan, &lists::puts_of_csharpdb(count, singles));
        table(plan, report, &format!("CSharpDB's collections, puts, {}", class.name()), contenders)?;
    }
    let gets = readers(plan, &lists::gets_of_csharpdb(count, plan.operations));
    table(plan, report, &format!("CSharpDB's collections, gets of {count}"), gets)?;
    let scans = readers(plan, &lists::scans_of_csharpdb((plan.operations / 200).max(4)));
    table(plan, report, "CSharpDB's collections, scans", scans)?;
    Class::ALL.into_iter().try_for_each(|class| {
        let operations = if class == Class::Durable { each_synced as usize } else { plan.operations };
        mixes(plan, report, class, Mix::new(count, operations))
    })
}

/// Gets and puts in an order that was drawn before the clock starts.
#[derive(Debug, Clone)]
struct Mix {
    /// How many documents there are before.
    count: u64,
    operations: Vec<Operation>,
}

#[derive(Debug, Clone, Copy)]
enum Operation {
    Get(u64),
    Put(u64),
}

impl Mix {
    fn new(count: u64, operations: usize) -> Self {
        let mut random = Random::new(42);
        let mut new = 0;
        let mut draw = || {
            if random.below(100) < GETS {
                return Operation::Get(random.below(count) + 1);
            }
            new += 1;
            Operation::Put(new)
        };
        Mix { count, operations: (0..operations).map(|_| draw()).collect() }
    }

    /// Everything that is got, and everything that is put, as a model takes it.
    fn works(&self) -> [Work; 2] {
        let ids =
            |of: fn(&Operation) -> Option<u64>| self.operations.iter().filter_map(of).collect::<Vec<u64>>();
        let got = ids(|operation| if let Operation::Get(id) = operation { Some(*id) } else { None });
        let put = ids(|operation| if let Operation::Put(id) = operation { Some(*id) } else { None });
        [Work::GetNamed(got, Naming::Entry, Form::Entry), Work::PutNamed(commits(put, 1), Naming::NewEntry)]
    }
}

/// What a trial of a mix showed: each kind of call has its own times.
#[derive(Debug)]
struct Mixed {
    gets: Latencies,
    puts: Latencies,
    per_second: f64,
    done: Done,
}

fn mixes(plan: &Plan, report: &mut Report, class: Class, mix: Mix) -> Result<()> {
    let workload = format!("CSharpDB's collections, {GETS} gets to {} puts, {}", 100 - GETS, class.name());
    let mut contenders = Vec::new();
    macro_rules! add {
        ($store:ty) => {
            let (directory, mix) = (plan.directory.clone(), mix.clone());
            contenders.push(Contender::new(<$store>::NAME, move || {
                mixed::<$store>(&directory, class.commits(), &mix)
            }))
        };
    }
    each_of!(class, add);
    take_turns(&workload, &mut contenders, plan.trials)?;
    for contender in &contenders {
        report.add(records(&workload, contender));
    }
    print(report, &workload);
    Ok(())
}

fn records(workload: &str, contender: &Contender<Mixed>) -> Vec<Record> {
    let done = contender.trials.last().map(|mixed| {
        format!("{} documents got, sum {}, and the others put", mixed.done.documents, mixed.done.sum)
    });
    let median = |row: &str, of: fn(&Mixed) -> &Latencies| {
        let micros = |share| contender.spread(|mixed| of(mixed).micros(share)).median;
        let unit = ("µs, median", Better::Less);
        let record = Record::of([workload, row], unit, contender, |mixed| of(mixed).micros(0.5));
        Record { done: done.clone(), ..record.with_p99(micros(0.99)) }
    };
    let rate = Record::of([workload, "both"], ("operations a second", Better::More), contender, |mixed| {
        mixed.per_second
    });
    vec![
        median("a get", |mixed| &mixed.gets),
        median("a put", |mixed| &mixed.puts),
        Record { done: done.clone(), ..rate },
    ]
}

fn mixed<S: Store>(directory: &Path, commits_as: Commits, mix: &Mix) -> Result<Mixed> {
    let directory = place::files_of(S::NAME, directory)?;
    let mut store = S::open(directory.path(), commits_as)?;
    let mut model = Model::default();
    let load = Work::PutNamed(commits(1..=mix.count, 1_000), Naming::Entry);
    model.after(&load);
    one_by_one::<S>(&mut store.session()?, &load)?;
    if !Lack::any::<S>(|lack| matches!(lack, Lack::Reopened(_))) {
        store.close()?;
        store = S::open(directory.path(), commits_as)?;
    }
    let mut session = store.session()?;
    let (mut gets, mut puts, mut done) = (Vec::new(), Vec::new(), Done::default());
    let begun = Instant::now();
    for operation in &mix.operations {
        match operation {
            Operation::Get(id) => {
                let get =
                    || session.get_named(&Naming::Entry.name(*id), |bytes| seen::<S>(bytes, Form::Entry));
                done.add(time(&mut gets, get)?.transpose()?.unwrap_or_default());
            }
            Operation::Put(id) => {
                let entry = || (Naming::NewEntry.name(*id), Naming::NewEntry.document(*id));
                time(&mut puts, || session.put_named(std::iter::once_with(entry)))?;
            }
        }
    }
    let took = begun.elapsed();
    drop(session);
    let [got, put] = mix.works();
    expect_equal(S::NAME, "what a mix got", &model.after(&got), &done)?;
    model.after(&put);
    run::hold_to::<S>(store, directory.path(), &mut model)?;
    let per_second = mix.operations.len() as f64 / took.as_secs_f64();
    Ok(Mixed { gets: Latencies::new(gets, took), puts: Latencies::new(puts, took), per_second, done })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stores::holotype::Holotype;
    use crate::stores::wrong::{READS_ANOTHER, Wrong};

    #[test]
    fn four_calls_of_five_get_and_one_puts_and_both_take_time() {
        let directory = tempfile::tempdir().unwrap();
        let mix = Mix::new(1_000, 2_000);
        let mixed_up = mixed::<Holotype>(directory.path(), Commits::Unsynced, &mix).unwrap();
        assert!((1_500..1_700).contains(&mixed_up.done.documents), "{:?}", mixed_up.done);
        assert!(mixed_up.gets.micros(0.5) > 0.0 && mixed_up.puts.micros(0.5) > 0.0);
    }

    #[test]
    fn a_store_that_got_another_document_has_no_row() {
        let directory = tempfile::tempdir().unwrap();
        let mix = Mix::new(1_000, 400);
        let failure = mixed::<Wrong<READS_ANOTHER>>(directory.path(), Commits::Unsynced, &mix).unwrap_err();
        assert!(failure.to_string().starts_with("a store that is wrong"), "{failure}");
    }
}
