//! What to run, as the command line says.

use std::path::PathBuf;

use crate::failure::Result;
use crate::report::Report;
use crate::{
    amplification, cleaning, durable, indexes, limits, load, memory, open, queries, readers, rows, small,
    snapshots, space, updates, ycsb,
};

pub const USAGE: &str = "\
usage: holotype-peers [WORKLOAD|all]... [OPTIONS]

  limits         what the machine does without a store: copies, look-ups, checksums, writes, syncs
  ycsb           YCSB's mixes A to F with 1, 2 and 4 threads, zipfian and uniform, not synced and durable
  writes         inserts one by one and in batches, updates and deletes, 1 and 8 threads, by class
  transactions   puts and updates of many documents in one transaction, by id and by name
  reads          reads by id and by name, uniform and zipfian: all bytes, decoded, typed, one field
  scans          scans, filters and ranges, in three layouts
  queries        filters, sorts, groups and sums, beside SQLite over the same documents as JSON, without indexes and with them
  updates        changes of documents where they are, beside SQLite's json_set
  indexes        what indexes add to writes, and what they find; builds, memory and openings
  sizes          values of 100 bytes to a mebibyte, by class
  cold           reads of what is in no cache
  footprint      bytes of files, memory and opening, of every store
  faithful       what other stores' benches measure, as they do it and corrected
  load           the day of a document, beside bison-db
  durable        durable commits: one document, eight threads, batches, and what the machine allows
  readers        1, 2, 4 and 8 readers, alone and beside a writer
  snapshots      a snapshot held through a run of updates
  open           opening a store of many documents, closed before or not
  space          what a store takes on the disk while documents are replaced and deleted
  amplification  bytes written for each byte asked for: by every store, and by how full the file is
  cleaning       inserts beside cleaning and checkpoints
  small          the length of an empty store, and the memory of a thousand small ones
  memory         the most memory used with many documents under a small budget
  all            all of these (the default)

  --trials N           how many trials of each, besides one that is thrown away (5)
  --documents N        how many documents `load`, `queries`, `updates`, `indexes` and `ycsb` put, at least 1000 (100000)
  --many N             how many documents `open`, `memory` and builds of `indexes` put, at least 1000 (1000000)
  --commits N          how many commits `durable` makes from one thread and from eight: a multiple of 8 (2000)
  --operations N       how many operations each mix of `ycsb`, and how many look-ups each row of `indexes` is, a tenth of them where each is synced: at least 400 (20000)
  --mebibytes N        how much of each length of values `sizes` puts (32)
  --quick              all of it small, in some minutes: one trial, 3,200 documents, 10,000 of `open` and `memory`,
                       800 durable commits, 800 operations, 2 MiB. It shows that every row runs, and not how fast
  --report DIRECTORY   write report.json, report.md and report.html there as well
  --dir DIRECTORY      where the stores' files are made (where temporary files go)
  --sync-in-memory     run durable rows on a file system in memory too, where they say nothing";

/// How to print the tables of one workload.
pub struct Workload {
    name: &'static str,
    pub run: fn(&Plan, &mut Report) -> Result<()>,
    /// Whether its figures rest on syncs.
    syncs: bool,
}

const WORKLOADS: [Workload; 23] = [
    Workload { name: limits::WORKLOAD, run: limits::run, syncs: true },
    Workload { name: "ycsb", run: ycsb::run, syncs: true },
    Workload { name: "writes", run: rows::writes, syncs: true },
    Workload { name: "transactions", run: rows::transactions, syncs: false },
    Workload { name: "reads", run: rows::reads, syncs: false },
    Workload { name: "scans", run: rows::scans, syncs: false },
    Workload { name: queries::WORKLOAD, run: queries::run, syncs: false },
    Workload { name: updates::WORKLOAD, run: updates::run, syncs: false },
    Workload { name: indexes::WORKLOAD, run: indexes::run, syncs: false },
    Workload { name: "sizes", run: rows::sizes, syncs: true },
    Workload { name: "cold", run: rows::cold::run, syncs: false },
    Workload { name: rows::footprint::NAME, run: rows::footprint::run, syncs: false },
    Workload { name: "faithful", run: rows::faithful::run, syncs: true },
    Workload { name: "load", run: load::run, syncs: true },
    Workload { name: "durable", run: durable::run, syncs: true },
    Workload { name: "readers", run: readers::run, syncs: false },
    Workload { name: "snapshots", run: snapshots::run, syncs: false },
    Workload { name: "open", run: open::run, syncs: false },
    Workload { name: "space", run: space::run, syncs: false },
    Workload { name: "amplification", run: amplification::run, syncs: true },
    Workload { name: "cleaning", run: |plan, _| cleaning::run(plan), syncs: false },
    Workload { name: small::NAME, run: |plan, _| small::run(plan), syncs: false },
    Workload { name: memory::NAME, run: memory::run, syncs: false },
];

/// What to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// None stands for all.
    chosen: Vec<String>,
    pub trials: usize,
    pub documents: u64,
    /// For workloads that show what many documents take.
    pub many: u64,
    pub commits: u64,
    /// Of each mix of `ycsb`.
    pub operations: usize,
    /// Of each length of values that `sizes` puts.
    pub bytes: usize,
    /// Whether all of it is small, also what has a size of its own.
    pub quick: bool,
    pub report: Option<PathBuf>,
    pub directory: PathBuf,
    pub sync_in_memory: bool,
}

/// What shows that every row runs.
const QUICK: Plan = Plan {
    chosen: Vec::new(),
    trials: 0,
    documents: 3_200,
    many: 10_000,
    commits: 800,
    operations: 800,
    bytes: 2 << 20,
    quick: true,
    report: None,
    directory: PathBuf::new(),
    sync_in_memory: false,
};

impl Plan {
    /// The plan that these arguments ask for; `None` where they are no plan.
    pub fn parse(mut arguments: impl Iterator<Item = String>) -> Option<Plan> {
        let mut plan = Plan {
            chosen: Vec::new(),
            trials: 5,
            documents: 100_000,
            many: 1_000_000,
            commits: 2_000,
            operations: 20_000,
            bytes: 32 << 20,
            quick: false,
            report: None,
            directory: std::env::temp_dir(),
            sync_in_memory: false,
        };
        let mut all = false;
        while let Some(argument) = arguments.next() {
            let mut number = || arguments.next()?.parse::<u64>().ok();
            match argument.as_str() {
                "--trials" => plan.trials = number().filter(|count| *count > 0)?.try_into().ok()?,
                "--documents" => plan.documents = number().filter(|count| *count >= 1_000)?,
                "--many" => plan.many = number().filter(|count| *count >= 1_000)?,
                "--commits" => {
                    plan.commits = number().filter(|count| *count > 0 && count.is_multiple_of(8))?;
                }
                "--operations" => {
                    plan.operations = number().filter(|count| *count >= 400)?.try_into().ok()?;
                }
                "--mebibytes" => {
                    plan.bytes = number().filter(|count| (1..=4_096).contains(count))? as usize * (1 << 20);
                }
                "--quick" => {
                    plan = Plan {
                        directory: plan.directory,
                        report: plan.report,
                        chosen: plan.chosen,
                        sync_in_memory: plan.sync_in_memory,
                        ..QUICK
                    }
                }
                "--report" => plan.report = Some(arguments.next()?.into()),
                "--dir" => plan.directory = arguments.next()?.into(),
                "--sync-in-memory" => plan.sync_in_memory = true,
                "all" => all = true,
                name if WORKLOADS.iter().any(|workload| workload.name == name) => plan.chosen.push(argument),
                _ => return None,
            }
        }
        if all {
            plan.chosen.clear();
        }
        Some(plan)
    }

    /// The workloads to run, in the order of the usage.
    pub fn workloads(&self) -> impl Iterator<Item = Workload> {
        let chosen = |name| self.chosen.is_empty() || self.chosen.iter().any(|chosen| chosen == name);
        WORKLOADS.into_iter().filter(move |workload| chosen(workload.name))
    }

    /// Whether figures that rest on syncs are asked for.
    pub fn syncs(&self) -> bool {
        self.workloads().any(|workload| workload.syncs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Option<Plan> {
        Plan::parse(line.split_whitespace().map(str::to_owned))
    }

    fn names(line: &str) -> Vec<&'static str> {
        parse(line).unwrap().workloads().map(|workload| workload.name).collect()
    }

    #[test]
    fn nothing_chosen_is_everything() {
        assert_eq!(names("").len(), WORKLOADS.len());
        assert_eq!(names("readers all"), names(""));
    }

    #[test]
    fn workloads_run_in_one_order_however_they_are_named() {
        assert_eq!(names("readers --trials 3 durable"), ["durable", "readers"]);
    }

    #[test]
    fn what_is_quick_keeps_what_was_chosen_and_other_numbers_may_follow() {
        let quick = parse("--dir here writes --quick --documents 1000").unwrap();
        assert_eq!(names("writes --quick"), ["writes"]);
        assert_eq!((quick.documents, quick.trials, quick.directory), (1_000, 0, "here".into()));
        assert!(quick.quick && !parse("writes").unwrap().quick);
    }

    #[test]
    fn only_plans_with_syncs_need_a_disk() {
        assert!(parse("durable readers").unwrap().syncs());
        assert!(!parse("readers snapshots").unwrap().syncs());
    }

    #[test]
    fn what_is_no_plan_is_refused() {
        for line in [
            "--operations 399",
            "--mebibytes 0",
            "--report",
            "--trials 0",
            "--trials",
            "--commits 9",
            "--documents 999",
            "--many 999",
            "writers",
            "--dir",
        ] {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
