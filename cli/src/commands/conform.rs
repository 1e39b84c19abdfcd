//! `holotype conform`: does an implementation read and write what the specification says?

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use holotype_conform::load::{self, Vectors};
use holotype_conform::run::{Came, Outcomes, run as run_vectors};
use holotype_conform::subject::{Engine, Process, Subject};
use quick_junit::{NonSuccessKind, Report as JunitReport, TestCase, TestCaseStatus, TestSuite};
use serde::Serialize;

use crate::advice::Advice;
use crate::exit::{Exit, Failure, Result};
use crate::{output, progress};

/// Where the vectors are in a checkout.
const IN_A_CHECKOUT: &str = "spec/vectors";

#[derive(Debug, Args)]
pub(crate) struct ConformArgs {
    /// The folder of the vectors [default: spec/vectors of a checkout, here or above]
    #[arg(long, value_name = "DIR")]
    vectors: Option<PathBuf>,
    /// The program to ask, by the protocol of spec/vectors/README.md, as a shell takes it [default: this engine]
    #[arg(long, value_name = "COMMAND")]
    subject: Option<String>,
    /// Leave this group out: for a program that reads files, and answers no queries
    #[arg(long, value_name = "GROUP")]
    without: Vec<String>,
    /// How long the program may take for one answer
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Write the outcome of each case as JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
}

#[derive(Debug, Serialize)]
struct Report {
    /// Whether no case failed, and some of each group held.
    held: bool,
    cases: usize,
    skipped: usize,
    failed: Vec<Failed>,
    #[serde(skip)]
    groups: BTreeMap<(String, String), Counts>,
}

#[derive(Debug, Serialize)]
struct Failed {
    version: String,
    group: String,
    id: u32,
    name: String,
    what: String,
}

#[derive(Debug, Default)]
struct Counts {
    held: usize,
    skipped: usize,
    failed: usize,
}

pub(crate) fn run(args: &ConformArgs) -> Result<Exit> {
    let folder = match &args.vectors {
        Some(folder) => folder.clone(),
        None => find_vectors()?,
    };
    let mut all =
        load::load(&folder).map_err(|error| Failure::usage(format!("cannot use the vectors: {error}")))?;
    for name in &args.without {
        let count = |all: &[Vectors]| all.iter().map(|vectors| vectors.groups.len()).sum::<usize>();
        let before = count(&all);
        all.iter_mut().for_each(|vectors| vectors.groups.retain(|group| group.group != *name));
        if count(&all) == before {
            return Err(Failure::usage(format!("no group of the vectors is called {name:?}")));
        }
    }
    let mut subject: Box<dyn Subject> = match &args.subject {
        None => Box::new(Engine),
        Some(command) => Box::new(
            Process::new(command, Duration::from_secs(args.timeout))
                .map_err(|trouble| Failure::read("the temporary folder", trouble))?,
        ),
    };
    let outcomes = ask_all(&all, subject.as_mut());
    if let Some(file) = &args.junit {
        write_junit(file, &outcomes)?;
    }
    let report = Report::new(outcomes);
    output::report(&report, args.json, text)?;
    Ok(if report.held { Exit::Done } else { Exit::No })
}

fn find_vectors() -> Result<PathBuf> {
    let here = std::env::current_dir().map_err(|error| Failure::read("the current folder", error))?;
    let mut folders = here.ancestors().map(|folder| folder.join(IN_A_CHECKOUT));
    folders.find(|folder| folder.is_dir()).ok_or_else(|| {
        Failure::usage(format!("no {IN_A_CHECKOUT} here or above")).advise(Advice::NameVectors)
    })
}

fn ask_all(all: &[Vectors], subject: &mut dyn Subject) -> Vec<Outcomes> {
    let bar = progress::of_work();
    let count = all.iter().map(Vectors::case_count).sum::<usize>().max(1);
    let mut done = 0;
    let mut outcomes = Vec::with_capacity(count);
    for vectors in all {
        outcomes.extend(run_vectors(vectors, subject, |outcome| {
            done += 1;
            bar.set_message(outcome.group.clone());
            bar.set_position((done * 1000 / count) as u64);
        }));
    }
    bar.finish_and_clear();
    outcomes
}

impl Report {
    fn new(outcomes: Vec<Outcomes>) -> Self {
        let mut report = Report {
            held: false,
            cases: outcomes.len(),
            skipped: 0,
            failed: Vec::new(),
            groups: BTreeMap::new(),
        };
        for outcome in outcomes {
            let Outcomes { version, group, id, name, came } = outcome;
            let counts = report.groups.entry((version.clone(), group.clone())).or_default();
            match came {
                Came::Held => counts.held += 1,
                Came::Skipped => (counts.skipped, report.skipped) = (counts.skipped + 1, report.skipped + 1),
                Came::Failed(what) => {
                    counts.failed += 1;
                    report.failed.push(Failed { version, group, id, name, what });
                }
            }
        }
        // Where a subject has none of a group's operations, it has shown nothing of what the group is for.
        report.held = report.failed.is_empty() && report.unanswered().is_empty() && !report.groups.is_empty();
        report
    }

    /// The groups of which the subject has answered no case.
    fn unanswered(&self) -> Vec<&str> {
        let groups = self.groups.iter().filter(|(_, counts)| counts.held + counts.failed == 0);
        groups.map(|((_, group), _)| group.as_str()).collect()
    }
}

/// More failures than this hide what they have in common; `--json` lists all.
const FAILURES_SHOWN: usize = 20;
const WHAT_LEN_SHOWN: usize = 300;

/// The table, then what did not hold.
fn text(report: &Report) -> String {
    const STRING: &str = "a string takes all that is written to it";
    let mut text =
        format!("{:<8} {:<12} {:>6} {:>8} {:>7}\n", "format", "group", "held", "skipped", "failed");
    for ((version, group), Counts { held, skipped, failed }) in &report.groups {
        writeln!(text, "{version:<8} {group:<12} {held:>6} {skipped:>8} {failed:>7}").expect(STRING);
    }
    for Failed { group, id, name, what, .. } in report.failed.iter().take(FAILURES_SHOWN) {
        let what: String = what.chars().take(WHAT_LEN_SHOWN).collect();
        writeln!(text, "\n{group} {id}: {name}\n  {what}").expect(STRING);
    }
    let more = report.failed.len().saturating_sub(FAILURES_SHOWN);
    if more > 0 {
        writeln!(text, "\nand {more} more; {}", Advice::PrintJson).expect(STRING);
    }
    let unanswered = report.unanswered();
    if !unanswered.is_empty() {
        writeln!(text, "\nno case was answered of: {}", unanswered.join(", ")).expect(STRING);
    }
    let verdict = match (report.held, report.skipped) {
        (true, 0) => "every case held",
        (true, _) => "every case that was not skipped held",
        (false, _) => "NOT every case held",
    };
    write!(
        text,
        "\n{verdict} ({} cases, {} skipped, {} failed)",
        report.cases,
        report.skipped,
        report.failed.len()
    )
    .expect(STRING);
    text
}

fn write_junit(file: &Path, outcomes: &[Outcomes]) -> Result<()> {
    let mut report = JunitReport::new("holotype conform");
    let mut suites: BTreeMap<String, TestSuite> = BTreeMap::new();
    for outcome in outcomes {
        let status = match &outcome.came {
            Came::Held => TestCaseStatus::success(),
            Came::Skipped => TestCaseStatus::skipped(),
            Came::Failed(what) => {
                let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
                status.set_message(for_xml(what));
                status
            }
        };
        let name = format!("{}.{}", outcome.version, outcome.group);
        let suite = suites.entry(name.clone()).or_insert_with(|| TestSuite::new(name));
        suite.add_test_case(TestCase::new(for_xml(&format!("{} {}", outcome.id, outcome.name)), status));
    }
    report.add_test_suites(suites.into_values());
    let wrong =
        |error: &dyn std::fmt::Display| Failure::usage(format!("cannot write {}: {error}", file.display()));
    let opened = File::create(file).map_err(|error| wrong(&error))?;
    report.serialize(opened).map_err(|error| wrong(&error))
}

/// The text, with the characters that no XML document may hold written out.
fn for_xml(text: &str) -> String {
    let may_stand = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    text.chars().fold(String::with_capacity(text.len()), |mut out, c| {
        match may_stand(c) {
            true => out.push(c),
            false => out.extend(c.escape_unicode()),
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_xml_document_may_hold_is_written_out() {
        assert_eq!(for_xml("a\u{ffff}\u{fffd}\0\tb"), "a\\u{ffff}\u{fffd}\\u{0}\tb");
    }

    fn outcome(came: Came) -> Outcomes {
        Outcomes { version: "3.0".into(), group: "keys".into(), id: 7, name: "A key".into(), came }
    }

    #[test]
    fn a_report_holds_when_nothing_failed_and_something_held() {
        let held = |outcomes: Vec<Came>| Report::new(outcomes.into_iter().map(outcome).collect()).held;
        assert!(held(vec![Came::Held, Came::Skipped]));
        assert!(!held(vec![Came::Held, Came::Failed("no".into())]));
        assert!(!held(vec![Came::Skipped]));
        assert!(!held(Vec::new()));
    }

    #[test]
    fn a_group_of_which_nothing_was_answered_has_not_held() {
        let other = Outcomes { group: "json".into(), ..outcome(Came::Skipped) };
        let report = Report::new(vec![outcome(Came::Held), other]);
        assert!(!report.held);
        assert!(text(&report).contains("no case was answered of: json"), "{}", text(&report));
    }

    #[test]
    fn a_failure_is_told_with_its_case() {
        let text = text(&Report::new(vec![outcome(Came::Failed("another value".into()))]));
        assert!(text.contains("keys 7: A key\n  another value"), "{text}");
        assert!(text.ends_with("NOT every case held (1 cases, 0 skipped, 1 failed)"), "{text}");
    }
}
