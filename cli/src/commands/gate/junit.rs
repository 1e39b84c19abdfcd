//! JUnit XML, which the test views of most CI systems take: a check is a test case.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Report as JunitReport, TestCase, TestCaseStatus, TestSuite};

use crate::exit::{Failure, Result};

use super::report::{Check, Report};

pub(super) fn xml(report: &Report) -> Result<String> {
    let mut suite = TestSuite::new("holotype gate");
    suite.add_property(("version", report.version.as_str()));
    suite.add_property(("seed", report.seed.to_string().as_str()));
    suite.add_property(("documents", report.documents.to_string().as_str()));
    suite.add_test_cases(report.checks.iter().map(test_case));
    suite.set_time(duration(report.checks.iter().map(|check| check.seconds).sum()));
    let mut junit = JunitReport::new("holotype gate");
    junit.add_test_suite(suite);
    junit.to_string().map_err(|error| Failure::read("what was to be written as JUnit XML", error))
}

fn test_case(check: &Check) -> TestCase {
    let status = match &check.failure {
        None => TestCaseStatus::success(),
        Some(failure) => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_message(first_line(failure));
            status.set_description(match &check.replay {
                Some(replay) => format!("{failure}\nreplay with: {replay}"),
                None => failure.clone(),
            });
            status
        }
    };
    let mut case = TestCase::new(check.name.as_str(), status);
    case.set_classname("gate");
    case.set_time(duration(check.seconds));
    let mut notes = vec![format!("{} cases", check.cases)];
    notes.extend(check.notes.iter().cloned());
    case.set_system_out(notes.join("\n"));
    case
}

/// A merged file may hold any number.
fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

/// What goes where there is room for one line.
pub(super) fn first_line(failure: &str) -> &str {
    failure.lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use quick_junit::Report as JunitReport;

    use super::super::report::samples;
    use super::*;

    #[test]
    fn each_check_is_a_test_case_and_a_failure_carries_its_replay() {
        let xml = xml(&samples::failing(None)).unwrap();
        let read = JunitReport::deserialize_from_str(&xml).unwrap();
        assert_eq!((read.tests, read.failures, read.errors), (2, 1, 0), "{xml}");
        let cases = &read.test_suites[0].test_cases;
        assert_eq!(cases.iter().map(|case| case.name.as_str()).collect::<Vec<_>>(), ["lives", "crash"]);
        assert_eq!(cases[0].time, Some(Duration::from_millis(1500)));
        let TestCaseStatus::NonSuccess { message, description, .. } = &cases[1].status else {
            panic!("{:?}", cases[1].status);
        };
        assert_eq!(message.as_deref(), Some("a document came back"));
        let description = description.as_deref().unwrap();
        assert!(
            description.ends_with("\nreplay with: holotype gate --seed 3 --check crash"),
            "{description}"
        );
        // A control character has no place in XML, and what it stood between is kept.
        assert!(description.contains("<100%>, ab"), "{description:?}");
    }
}
