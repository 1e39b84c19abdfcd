//! Readers beside a writer: uniform random reads of whole documents, each of the newest commit.

mod trial;

use std::time::Duration;

use crate::failure::Result;
use crate::plan::Plan;
use crate::report::{Better, Record, Report};
use crate::stores::sled::Sled;
use crate::stores::{Store, each_snapshot};
use crate::turns::{Contender, Spread, take_turns};
use trial::{DOCUMENTS, Figures, READERS, Trial};

/// How long each number of readers reads.
const SPAN: Duration = Duration::from_millis(300);

/// What a reader beside a writer should keep of its speed, and what two readers should be to one.
const GOAL_BESIDE: f64 = 0.9;
const GOAL_TWO: f64 = 1.8;

/// Who is asked for something else, and who is not here.
const HEAD: &str = "native_db and byodb-rust sync each update: their readers are beside a writer that mostly waits. Left out: ToonDB (opened again, it may hold older versions of what was replaced), DBX (its rows are in `reads`), bbolt (its program does rows alone).";

/// Prints the table of readers.
pub fn run(plan: &Plan, report: &mut Report) -> Result<()> {
    let mut contenders = Vec::new();
    macro_rules! add {
        ($store:ty) => {
            contenders.push(trials_of::<$store>(plan))
        };
    }
    each_snapshot!(add);
    add!(Sled);
    take_turns("readers", &mut contenders, plan.trials)?;
    print(&contenders);
    report.add(contenders.iter().flat_map(records_of).collect());
    Ok(())
}

fn trials_of<S: Store>(plan: &Plan) -> Contender<Trial> {
    let (directory, span) = (plan.directory.clone(), if plan.quick { SPAN / 10 } else { SPAN });
    Contender::new(S::NAME, move || trial::run::<S>(&directory, span))
}

fn records_of(contender: &Contender<Trial>) -> Vec<Record> {
    let record = |at: usize, when: &str, of: fn(&Trial) -> &[Figures; READERS.len()]| {
        let row = format!("{when}, readers: {}", READERS[at]);
        let unit = ("reads a second", Better::More);
        let record = Record::of(["readers", &row], unit, contender, |trial| of(trial)[at].reads_per_second);
        record.with_p99(contender.spread(|trial| of(trial)[at].p99_micros).median)
    };
    (0..READERS.len())
        .flat_map(|at| {
            [record(at, "alone", |trial| &trial.alone), record(at, "beside a writer", |trial| &trial.beside)]
        })
        .collect()
}

fn print(contenders: &[Contender<Trial>]) {
    println!(
        "## Uniform reads of {DOCUMENTS} documents, alone and beside a writer that updates them without a sync\n"
    );
    println!("{HEAD}\n");
    println!(
        "| | readers | alone: reads a second in all | of each | : 1 reader | own ns | p99 µs | beside a writer: reads a second in all | of each | beside : alone | own ns | own ns, alone : beside | p99 µs | updates a second |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
    for contender in contenders {
        for (row, readers) in READERS.into_iter().enumerate() {
            print_row(contender, row, readers);
        }
    }
    println!();
    println!(
        "Goals: 1 reader beside a writer at least {GOAL_BESIDE} of one alone; 2 readers alone at least {GOAL_TWO} times 1. Ratios are of figures of the same trial. Own ns: the time of a read without that in which the reader waited for a processor; readers, writer and all else share {}.\n",
        std::thread::available_parallelism().map_or(1, usize::from)
    );
}

fn print_row(contender: &Contender<Trial>, row: usize, readers: usize) {
    let alone = |figure: fn(&Figures) -> f64| contender.spread(|trial| figure(&trial.alone[row]));
    let beside = |figure: fn(&Figures) -> f64| contender.spread(|trial| figure(&trial.beside[row]));
    let reads = |figures: &Figures| figures.reads_per_second;
    let own = |figures: &Figures| figures.own_nanos;
    let to_one = contender.spread(|trial| reads(&trial.alone[row]) / reads(&trial.alone[0]));
    let to_alone = contender.spread(|trial| reads(&trial.beside[row]) / reads(&trial.alone[row]));
    let own_to_alone = contender.spread(|trial| own(&trial.alone[row]) / own(&trial.beside[row]));
    println!(
        "| {} | {readers} | {} | {} | **{:.2}** | {:.0} | {:.1} | {} | {} | **{:.2}** | {:.0} | {:.2} | {:.1} | {:.0} |",
        contender.name,
        alone(reads).cell(),
        of_each(alone(reads), readers),
        to_one.median,
        alone(own).median,
        alone(|figures| figures.p99_micros).median,
        beside(reads).cell(),
        of_each(beside(reads), readers),
        to_alone.median,
        beside(own).median,
        own_to_alone.median,
        beside(|figures| figures.p99_micros).median,
        beside(|figures| figures.updates_per_second).median,
    );
}

fn of_each(rate: Spread, readers: usize) -> String {
    format!("{:.0}", rate.median / readers as f64)
}
