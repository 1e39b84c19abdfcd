//! For GitHub Actions: an annotation for each failure, and a table in the summary of the step.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use crate::exit::{Failure, Result};

use super::junit::first_line;
use super::report::Report;

/// The file that the runner shows as the step's summary.
const SUMMARY: &str = "GITHUB_STEP_SUMMARY";

const STRING: &str = "a string takes all that is written to it";

pub(super) fn tell(report: &Report) -> Result<()> {
    // The runner reads both streams, and standard output may be JSON.
    std::io::stderr()
        .write_all(annotations(report).as_bytes())
        .map_err(|error| Failure::write(Path::new("standard error"), &error))?;
    match std::env::var_os(SUMMARY).filter(|file| !file.is_empty()) {
        Some(file) => append(Path::new(&file), &summary(report)),
        None => Ok(()),
    }
}

/// Other steps, and this one earlier, may have written to it.
fn append(file: &Path, text: &str) -> Result<()> {
    let opened = OpenOptions::new().create(true).append(true).open(file);
    opened.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| Failure::write(file, &error))
}

fn annotations(report: &Report) -> String {
    let mut text = String::new();
    for check in report.checks.iter().filter(|check| !check.held) {
        let failure = check.failure.as_deref().unwrap_or("did not hold");
        let replay = check.replay.as_deref().map(|line| format!("\nreplay with: {line}")).unwrap_or_default();
        let title = property(&format!("gate: {} did not hold", check.name));
        writeln!(text, "::error title={title}::{}", data(&format!("{failure}{replay}"))).expect(STRING);
    }
    text
}

/// A line feed would end the command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

fn summary(report: &Report) -> String {
    let mut text =
        String::from("### holotype gate\n\n| check | cases | seconds | held |\n|---|--:|--:|---|\n");
    for check in &report.checks {
        let held = if check.held { "yes" } else { "**no**" };
        writeln!(text, "| {} | {} | {:.1} | {held} |", cell(&check.name), check.cases, check.seconds)
            .expect(STRING);
    }
    for check in &report.checks {
        let Some(failure) = &check.failure else { continue };
        writeln!(text, "\n**{}**: {}\n", cell(&check.name), cell(first_line(failure))).expect(STRING);
        fenced(&mut text, failure);
        if let Some(replay) = &check.replay {
            text += "\nReplay with:\n\n";
            fenced(&mut text, replay);
        }
    }
    writeln!(text, "\n{}", report.verdict()).expect(STRING);
    text
}

/// Longer than any fence inside.
fn fenced(text: &mut String, inner: &str) {
    let mut fence = String::from("```");
    while inner.contains(&fence) {
        fence.push('`');
    }
    writeln!(text, "{fence}text\n{inner}\n{fence}").expect(STRING);
}

/// Text that stays in its cell of a table.
fn cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for sign in text.chars() {
        match sign {
            '\n' | '\r' => out.push(' '),
            '|' | '`' | '*' | '_' | '<' | '\\' | '[' => out.extend(['\\', sign]),
            _ => out.push(sign),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::report::samples;
    use super::*;

    #[test]
    fn an_annotation_is_one_line_whatever_the_failure_holds() {
        let text = annotations(&samples::failing(None));
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(
            text.starts_with("::error title=gate%3A crash did not hold::a document came back%0A  1. put")
        );
        assert!(
            text.contains("<100%25>")
                && text.ends_with("%0Areplay with: holotype gate --seed 3 --check crash\n")
        );
    }

    #[test]
    fn the_summary_has_a_row_for_each_check_and_the_failure_whole() {
        let mut report = samples::failing(None);
        report.checks[1].failure = Some("a | b <i>\n```\ninside".to_owned());
        let text = summary(&report);
        assert!(text.contains("| lives | 3 | 1.5 | yes |\n| crash | 7 | 0.5 | **no** |\n"), "{text}");
        assert!(text.contains(r"**crash**: a \| b \<i>"), "{text}");
        assert!(text.contains("````text\na | b <i>\n```\ninside\n````\n"), "{text}");
        assert!(text.ends_with("\nNOT every check held (seed 3, 1 documents)\n"), "{text}");
    }
}
