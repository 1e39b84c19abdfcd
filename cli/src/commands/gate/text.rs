//! For a person at a terminal.

use std::fmt::Write;

use super::report::{IndexCalled, Pair, Report};

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

/// In how many lives each two features were at work, and how often each call on indexes was answered; then the rest as [`table`].
pub(super) fn table_with_pairs(report: &Report) -> String {
    let mut text = format!("{:<26} {:<26} {:>9}\n", "at work in one life:", "and", "lives");
    for Pair { first, second, lives } in &report.pairs {
        line(&mut text, format_args!("{first:<26} {second:<26} {lives:>9}"));
    }
    line(&mut text, format_args!("\n{:<26} {:>9}", "asked of indexes:", "answered"));
    for IndexCalled { kind, answered } in &report.index_calls {
        line(&mut text, format_args!("{kind:<26} {answered:>9}"));
    }
    text + "\n" + &table(report)
}

fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(text, "{line}").expect(STRING);
}

#[cfg(test)]
mod tests {
    use holotype_crash_tests::live::INDEX_CALLS;

    use super::super::report::samples;
    use super::*;

    #[test]
    fn the_table_of_pairs_has_a_row_for_each_two_features_and_stands_before_the_checks() {
        let report = samples::failing(None);
        let text = table_with_pairs(&report);
        let (pairs, rest) = text.split_once("\n\n").expect("a blank line is between them");
        let (calls, rest) = rest.split_once("\n\n").expect("another is behind the calls on indexes");
        assert_eq!(pairs.lines().count(), 1 + 66, "{text}");
        assert_eq!(calls.lines().count(), 1 + INDEX_CALLS.len(), "{text}");
        assert!(
            pairs.contains("\nbackup                     two feeds                          0\n"),
            "{text}"
        );
        assert_eq!(rest, table(&report));
    }

    #[test]
    fn a_failure_says_what_failed_and_prints_the_line_that_replays_it() {
        let text = table(&samples::failing(None));
        assert!(text.contains("crash did not hold: a document came back\n"), "{text}");
        assert!(text.contains("replay with: holotype gate --seed 3 --check crash\n"), "{text}");
        assert!(text.ends_with("NOT every check held (seed 3, 1 documents)"), "{text}");
    }
}
