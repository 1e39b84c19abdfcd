//! One row for each thing that a store is asked for: writes by class, reads, scans in three layouts, values of many lengths.
//!
//! Every store is asked for the same lists of steps, and held to what a model says that they come to.

pub mod bolt;
pub mod calls;
pub mod cold;
pub mod faithful;
pub mod footprint;
pub mod lists;
pub mod model;
pub mod run;
pub mod step;

use std::path::Path;

use crate::failure::Result;
use crate::plan::Plan;
use crate::report::{Better, Curve, Record, Report};
use crate::stores::{Class, Commits, Store, each_of, each_reader};
use crate::turns::{Contender, take_turns};
use lists::{LAYOUTS, SIZES};
use run::Figures;
use step::Step;

type Rows = Contender<Vec<Figures>>;

/// Those that have the class, ours first.
fn writers(class: Class, plan: &Plan, steps: &[Step]) -> Vec<Rows> {
    let mut all = Vec::new();
    macro_rules! add {
        ($store:ty) => {
            all.push(rows_of::<$store>(plan, class.commits(), steps))
        };
    }
    each_of!(class, add);
    if class != Class::Kept {
        all.extend(bolt_of(plan, class.commits(), steps));
    }
    all
}

fn rows_of<S: Store>(plan: &Plan, commits: Commits, steps: &[Step]) -> Rows {
    let (directory, steps) = (plan.directory.clone(), steps.to_vec());
    Contender::new(S::NAME, move || run::run::<S>(&directory, commits, &steps))
}

fn bolt_of(plan: &Plan, commits: Commits, steps: &[Step]) -> Option<Rows> {
    let (program, directory, steps) = (bolt::program().ok()?, plan.directory.clone(), steps.to_vec());
    Some(Contender::new(bolt::NAME, move || bolt::run(program, &directory, commits, &steps)))
}

/// Every store, whatever its writes survive.
fn readers(plan: &Plan, steps: &[Step]) -> Vec<Rows> {
    let mut all = Vec::new();
    macro_rules! add {
        ($store:ty) => {
            all.push(rows_of::<$store>(plan, Commits::Unsynced, steps))
        };
    }
    each_reader!(add);
    all.extend(bolt_of(plan, Commits::Unsynced, steps));
    all
}

/// Inserts, updates and deletes, by class.
pub fn writes(plan: &Plan, report: &mut Report) -> Result<()> {
    let whole = lists::THREADS * 100;
    for class in Class::ALL {
        let count = if class == Class::Durable { plan.commits } else { plan.documents / 4 };
        let steps = lists::writes((count / whole).max(1) * whole);
        table(plan, report, &format!("writes, {}", class.name()), writers(class, plan, &steps))?;
    }
    Ok(())
}

/// Transactions of many puts, by class.
pub fn transactions(plan: &Plan, report: &mut Report) -> Result<()> {
    for class in [Class::Kept, Class::Written] {
        let workload = format!("transactions, {}", class.name());
        for steps in [lists::transactions(plan.documents), lists::named_transaction(plan.documents)] {
            measure(plan, report, &workload, writers(class, plan, &steps))?;
        }
        print(report, &workload);
    }
    Ok(())
}

/// Reads by id and by name.
pub fn reads(plan: &Plan, report: &mut Report) -> Result<()> {
    let steps = lists::reads(plan.documents, plan.operations);
    table(plan, report, "reads by id", readers(plan, &steps))?;
    let steps = lists::named(plan.documents.max(2_000), plan.operations);
    table(plan, report, "reads by name", readers(plan, &steps))
}

/// Scans, filters and ranges.
pub fn scans(plan: &Plan, report: &mut Report) -> Result<()> {
    LAYOUTS.into_iter().try_for_each(|layout| {
        let contenders = readers(plan, &lists::scans(plan.documents, layout));
        table(plan, report, &format!("scans, {}", layout.name()), contenders)
    })
}

/// Values of many lengths.
pub fn sizes(plan: &Plan, report: &mut Report) -> Result<()> {
    for class in Class::ALL {
        let workload = format!("values of many lengths, {}", class.name());
        for len in SIZES {
            let steps = lists::sizes(plan.bytes, len);
            let contenders = writers(class, plan, &steps);
            measure(plan, report, &workload, contenders)?;
        }
        print(report, &workload);
    }
    Ok(())
}

fn table(plan: &Plan, report: &mut Report, workload: &str, contenders: Vec<Rows>) -> Result<()> {
    measure(plan, report, workload, contenders)?;
    print(report, workload);
    Ok(())
}

fn print(report: &Report, workload: &str) {
    println!("## {workload}\n\n{}", report.table(workload));
}

fn measure(plan: &Plan, report: &mut Report, workload: &str, mut contenders: Vec<Rows>) -> Result<()> {
    take_turns(workload, &mut contenders, plan.trials)?;
    for contender in &contenders {
        let rows = contender.trials.last().map_or(0, Vec::len);
        report.add((0..rows).map(|at| record(workload, contender, at)).collect());
    }
    Ok(())
}

fn record(workload: &str, contender: &Rows, at: usize) -> Record {
    let figures = &contender.trials.last().expect("whoever takes part has a trial")[at];
    let row = figures.row.as_str();
    let record = Record::of([workload, row], ("documents a second", Better::More), contender, |trial| {
        trial[at].per_second()
    });
    let p99 = contender.trials.iter().all(|trial| trial[at].p99_micros.is_some());
    let p99 = p99.then(|| contender.spread(|trial| trial[at].p99_micros.unwrap_or_default()).median);
    let record = match p99 {
        Some(p99) => record.with_p99(p99),
        None => record,
    };
    let done = format!("{} documents, sum {}", figures.done.documents, figures.done.sum);
    Record { done: Some(done), curve: Curve::of(row), ..record }
}

/// Makes one trial of every store that reads, with small lists: for the tests of steps.
#[cfg(test)]
mod tests;

/// Where the Go program for bbolt is, or why it is not.
pub fn without_bolt() -> Option<&'static str> {
    bolt::program().err()
}

/// A directory for a trial's files.
fn files(directory: &Path) -> Result<tempfile::TempDir> {
    crate::place::files_of(bolt::NAME, directory)
}
