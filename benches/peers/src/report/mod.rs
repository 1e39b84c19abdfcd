//! What a run showed, row by row: as Markdown, as JSON, and as a page with bars.

mod curves;
mod html;
mod json;
mod markdown;

use std::path::Path;

use crate::failure::{Of, Result};
use crate::stores::left_out::LeftOut;
use crate::turns::{Contender, Spread};

const NAME: &str = "the report";

/// Whom the others are compared with.
const OURS: &str = "Holotype";

/// Which figures are better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    More,
    Less,
}

/// How long single calls took, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Times {
    /// What one in a hundred passes.
    pub p99_micros: f64,
    /// The longest, where it was looked for.
    pub longest_micros: Option<f64>,
}

impl Times {
    fn cell(self) -> String {
        let longest = self.longest_micros.map_or(String::new(), |longest| format!(", {}", time(longest)));
        format!("{}{longest}", time(self.p99_micros))
    }
}

/// A time in a unit that suits it.
fn time(micros: f64) -> String {
    if micros < 1_000.0 { format!("{micros:.1} µs") } else { format!("{:.1} ms", micros / 1_000.0) }
}

/// One figure of one contender.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The table that it belongs to; a class has one of its own.
    pub workload: String,
    pub row: String,
    pub who: String,
    pub unit: &'static str,
    pub better: Better,
    pub spread: Spread,
    pub times: Option<Times>,
    /// What the trial was held to.
    pub done: Option<String>,
    /// Where the row belongs to a line of several.
    pub curve: Option<Curve>,
}

/// A point of a line of rows, which differ in one number.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// What the rows of the line have in common.
    pub name: String,
    /// The number, and what it counts.
    pub at: f64,
    pub of: &'static str,
}

/// What a row's name may end in, where rows that differ in a number make a line.
const ENDS: [(&str, &str, &str); 4] = [
    (", ", " threads", "threads"),
    (", ", " thread", "threads"),
    (", readers: ", "", "readers"),
    (", values of ", "", "bytes of a value"),
];

impl Curve {
    /// The line that a row belongs to, by its name.
    pub fn of(row: &str) -> Option<Self> {
        let point = |(before, behind, of): (&str, &str, &'static str)| {
            let (name, number) = row.strip_suffix(behind)?.rsplit_once(before)?;
            Some(Curve { name: name.to_owned(), at: number.parse().ok()?, of })
        };
        ENDS.into_iter().find_map(point)
    }
}

impl Record {
    /// One figure of all trials of `contender`.
    pub fn of<T>(
        [workload, row]: [&str; 2],
        (unit, better): (&'static str, Better),
        contender: &Contender<T>,
        figure: impl Fn(&T) -> f64,
    ) -> Self {
        Record {
            workload: workload.to_owned(),
            row: row.to_owned(),
            who: contender.name.clone(),
            unit,
            better,
            spread: contender.spread(figure),
            times: None,
            done: None,
            curve: Curve::of(row),
        }
    }

    pub fn with_p99(self, micros: f64) -> Self {
        self.with_times(Times { p99_micros: micros, longest_micros: None })
    }

    pub fn with_times(self, times: Times) -> Self {
        Record { times: Some(times), ..self }
    }
}

/// All records of a run, in the order in which they came.
#[derive(Debug, Default)]
pub struct Report {
    /// What the machine is, by name.
    pub machine: Vec<(&'static str, String)>,
    /// Who takes no part in what.
    pub left_out: Vec<LeftOut>,
    records: Vec<Record>,
}

/// The records of one row, in the order of the contenders.
struct Row<'r> {
    name: &'r str,
    records: Vec<&'r Record>,
}

impl Report {
    pub fn new(machine: Vec<(&'static str, String)>, left_out: Vec<LeftOut>) -> Self {
        Report { machine, left_out, records: Vec::new() }
    }

    pub fn add(&mut self, records: Vec<Record>) {
        self.records.extend(records);
    }

    /// The table of one workload.
    pub fn table(&self, workload: &str) -> String {
        markdown::table(&self.rows(workload))
    }

    /// Writes `report.json`, `report.md` and `report.html`.
    pub fn write(&self, directory: &Path) -> Result<()> {
        std::fs::create_dir_all(directory).of(NAME, "making its directory")?;
        let files = [
            ("report.json", json::of(self)),
            ("report.md", markdown::of(self)),
            ("report.html", html::of(self)),
        ];
        for (name, text) in files {
            std::fs::write(directory.join(name), text).of(NAME, "writing a file")?;
        }
        Ok(())
    }

    /// Who takes no part in what, as a table.
    pub fn left_out(&self) -> String {
        markdown::left_out(self)
    }

    fn workloads(&self) -> Vec<&str> {
        distinct(self.records.iter().map(|record| record.workload.as_str()))
    }

    fn rows(&self, workload: &str) -> Vec<Row<'_>> {
        let of_workload = || self.records.iter().filter(|record| record.workload == workload);
        let names = distinct(of_workload().map(|record| record.row.as_str()));
        let row = |name| Row { name, records: of_workload().filter(|record| record.row == name).collect() };
        names.into_iter().map(row).collect()
    }
}

/// Each once, in the order of the first.
fn distinct<'s>(all: impl Iterator<Item = &'s str>) -> Vec<&'s str> {
    let mut seen = Vec::new();
    for name in all {
        if !seen.contains(&name) {
            seen.push(name);
        }
    }
    seen
}

impl Row<'_> {
    /// How many times as good as the best of the others ours is, and who that is. None where nobody else takes part, or we do not.
    fn lead(&self) -> Option<(f64, &str)> {
        let (ours, others): (Vec<&Record>, Vec<_>) =
            self.records.iter().partition(|record| record.who == OURS);
        let ours = ours.first()?;
        let good = |record: &Record| match record.better {
            Better::More => record.spread.median,
            Better::Less => 1.0 / record.spread.median,
        };
        let best = others.into_iter().max_by(|a, b| good(a).total_cmp(&good(b)))?;
        Some((good(ours) / good(best), &best.who))
    }
}

#[cfg(test)]
mod tests;
