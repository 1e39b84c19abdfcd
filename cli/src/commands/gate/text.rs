//! For a person at a terminal.

use std::fmt::Write;

use super::report::Report;

const STRING: &str = "a string takes all that is written to it";

/// What each check tried, then the table, then what did not hold.
pub(super) fn table(report: &Report) -> String {
    let mut text = String::new();
    for check in &report.checks {
        for note in &check.notes {
            line(&mut text, format_args!("{}: {note}", check.name));
        }
    }
    line(&mut text, format_args!("\n{:<12} {:>12} {:>9}  held", "check", "cases", "time"));
    for check in &report.checks {
        let held = if check.held { "yes" } else { "NO" };
        line(
            &mut text,
            format_args!("{:<12} {:>12} {:>7.1} s  {held}", check.name, check.cases, check.seconds),
        );
    }
    for check in &report.checks {
        if let Some(failure) = &check.failure {
            line(&mut text, format_args!("\n{} did not hold: {failure}", check.name));
        }
        if let Some(replay) = &check.replay {
            line(&mut text, format_args!("replay with: {replay}"));
        }
    }
    write!(text, "\n{}", report.verdict()).expect(STRING);
    text
}

fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(text, "{line}").expect(STRING);
}

#[cfg(test)]
mod tests {
    use super::super::report::samples;
    use super::*;

    #[test]
    fn a_failure_says_what_failed_and_prints_the_line_that_replays_it() {
        let text = table(&samples::failing(None));
        assert!(text.contains("crash did not hold: a document came back\n"), "{text}");
        assert!(text.contains("replay with: holotype gate --seed 3 --check crash\n"), "{text}");
        assert!(text.ends_with("NOT every check held (seed 3, 1 documents)"), "{text}");
    }
}
