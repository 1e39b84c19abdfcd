//! YCSB's mixes A to F with 1, 2 and 4 threads, zipfian and uniform, beside what the machine does in the same run.

pub mod documents;
pub mod keys;
mod mix;
mod trial;

use crate::failure::Result;
use crate::limits::{self, Limits};
use crate::plan::Plan;
use crate::report::{Better, Record, Report, Times};
use crate::stores::{Class, Store, each_of};
use crate::turns::{Contender, take_turns};
use keys::Keys;
use mix::{MIXES, Mix};
use trial::{Done, Figures, Size};

/// Where syncs decide, fewer operations tell as much.
const FEWER_WHERE_SYNCED: usize = 10;

/// The time of one operation in so many is taken, where operations are shorter than many looks at the clock.
const STRIDE: usize = 8;

fn workload(class: Class) -> &'static str {
    match class {
        Class::Kept => "YCSB, writes kept in memory",
        Class::Written => "YCSB, writes handed to the system",
        Class::Durable => "YCSB, each write durable",
    }
}

/// Those that have the class; ours first.
fn contenders(class: Class, plan: &Plan) -> Vec<Contender<Turn>> {
    let mut contenders = Vec::new();
    macro_rules! add {
        ($store:ty) => {
            if fits::<$store>() {
                contenders.push(trials_of::<$store>(plan, class));
            }
        };
    }
    each_of!(class, add);
    contenders
}

/// Whether the mixes ask for nothing that the store does not do.
fn fits<S: Store>() -> bool {
    S::LACKS.is_empty() && S::VALUE_MAX > documents::VALUE
}

/// What one turn shows: a store's mixes, or the machine's limits.
enum Turn {
    Store(Vec<Figures>),
    Limits(Limits),
}

/// Prints a table for each class, and what the mixes are.
pub fn run(plan: &Plan, report: &mut Report) -> Result<()> {
    Class::ALL.into_iter().try_for_each(|class| run_class(plan, class, report))
}

fn run_class(plan: &Plan, class: Class, report: &mut Report) -> Result<()> {
    let mut contenders = self::contenders(class, plan);
    let directory = plan.directory.clone();
    contenders.push(Contender::new("the machine", move || Ok(Turn::Limits(limits::measure(&directory)?))));
    take_turns(workload(class), &mut contenders, plan.trials)?;

    let machine = contenders.pop().expect("it was pushed last");
    let machine = machine.map(|turn| match turn {
        Turn::Limits(limits) => limits,
        Turn::Store(_) => unreachable!("no store took its turns"),
    });
    let stores: Vec<Contender<Vec<Figures>>> = contenders
        .into_iter()
        .map(|store| {
            store.map(|turn| match turn {
                Turn::Store(figures) => figures,
                Turn::Limits(_) => unreachable!("only stores are left"),
            })
        })
        .collect();
    tell(class, size_of(plan, class), &stores, &machine, report);
    Ok(())
}

fn size_of(plan: &Plan, class: Class) -> Size {
    let (operations, stride) = match class {
        Class::Kept | Class::Written => (plan.operations, STRIDE),
        Class::Durable => (plan.operations / FEWER_WHERE_SYNCED, 1),
    };
    let most = trial::THREADS[trial::THREADS.len() - 1] as usize;
    Size { documents: plan.documents, operations: operations / most * most, stride }
}

fn trials_of<S: Store>(plan: &Plan, class: Class) -> Contender<Turn> {
    let (directory, size) = (plan.directory.clone(), size_of(plan, class));
    let commits = class.commits();
    Contender::new(S::NAME, move || Ok(Turn::Store(trial::run::<S>(&directory, commits, size)?)))
}

fn tell(
    class: Class,
    size: Size,
    stores: &[Contender<Vec<Figures>>],
    machine: &Contender<Limits>,
    report: &mut Report,
) {
    let workload = self::workload(class);
    for store in stores {
        report.add(trial::rows().enumerate().map(|(at, row)| record(workload, store, at, row)).collect());
    }
    let limits_of = format!("{workload}: the machine");
    report.add(limits::records(&limits_of, machine));
    println!(
        "## {workload}: {} documents of 1,000 bytes, {} operations a row\n",
        size.documents, size.operations
    );
    println!(
        "Operations a second, median (least to greatest); the time that one operation in a hundred passes; the longest.\n"
    );
    println!("{}", report.table(workload));
    for mix in &MIXES {
        println!("* {}: {}.", mix.name, mix.what);
    }
    println!("\nThe same run without a store:\n\n{}", report.table(&limits_of));
    print_multiples(class, &stores[0], machine);
}

fn name_of((mix, keys, threads): (&Mix, Keys, u64)) -> String {
    let keys = match keys {
        Keys::Zipfian if mix.name == "D" => "latest",
        Keys::Zipfian => "zipfian",
        Keys::Uniform => "uniform",
    };
    format!("{}, {keys}, {threads} thread{}", mix.name, if threads == 1 { "" } else { "s" })
}

fn record(workload: &str, store: &Contender<Vec<Figures>>, at: usize, row: (&Mix, Keys, u64)) -> Record {
    let Done { returned, written, distinct, .. } =
        store.trials.last().expect("whoever takes part has a trial")[at].done;
    let unit = ("operations a second", Better::More);
    let record =
        Record::of([workload, &name_of(row)], unit, store, |trial: &Vec<Figures>| trial[at].per_second);
    let done = format!("{returned} returned, {written} written, {distinct} ids");
    let times = Times {
        p99_micros: store.spread(|trial| trial[at].p99_micros).median,
        longest_micros: Some(store.spread(|trial| trial[at].longest_micros).median),
    };
    Record { done: Some(done), ..record.with_times(times) }
}

/// What one operation of a mix takes at least, by what the machine does in the same run: a look-up and the checksum of what is read, and
/// one write of what is written.
fn bound_nanos(mix: &Mix, class: Class, limits: &Limits) -> f64 {
    let written = match class {
        Class::Kept => limits.copy,
        Class::Written => limits.write,
        Class::Durable => limits.overwrite_synced,
    };
    let documents = if mix.scans { mix::SCANNED_MEAN } else { 1.0 };
    let read = limits.lookup + documents * limits.checksum;
    let others = mix.others as f64 / 100.0;
    let reads = if mix.rewrites() { 1.0 } else { 1.0 - others };
    reads * read + others * (written + limits.checksum)
}

fn print_multiples(class: Class, ours: &Contender<Vec<Figures>>, machine: &Contender<Limits>) {
    let limits = limits::medians(machine);
    println!("| {}, 1 thread | ns an operation | the machine's bound, ns | times the bound |", ours.name);
    println!("|---|---:|---:|---:|");
    for (at, row) in trial::rows().enumerate().filter(|(_, (_, _, threads))| *threads == 1) {
        let nanos = 1e9 / ours.spread(|trial| trial[at].per_second).median;
        let bound = bound_nanos(row.0, class, &limits);
        println!("| {} | {nanos:.0} | {bound:.0} | **{:.2}** |", name_of(row), nanos / bound);
    }
    println!(
        "\nThe bound: a look-up in a hash map and a CRC-32C for what is read, a CRC-32C and one write for what is written.\n"
    );
}

#[cfg(test)]
mod tests;
