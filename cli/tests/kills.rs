//! Processes that are killed at any moment: nothing that they were promised is lost, and a store that breaks a promise is found out.

use std::path::Path;
use std::process::{Command, Output};

use holotype_crash_tests::kills::command_names;
use serde_json::Value;

fn holotype(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_holotype")).args(arguments).output().unwrap()
}

/// Kills so many processes, whose stores are in `directory`.
fn torture(directory: &Path, seed: &str, kills: &str) -> (i32, Value) {
    let directory = directory.to_str().unwrap();
    let arguments = ["--kills", kills, "--seed", seed, "--jobs", "2", "--dir", directory, "--json"];
    let output = holotype(&[&["torture"], &arguments[..]].concat());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let report = serde_json::from_slice(&output.stdout).unwrap();
    (output.status.code().unwrap(), report)
}

#[test]
fn killed_processes_leave_all_that_they_were_promised() {
    let directory = tempfile::tempdir().unwrap();
    let (code, report) = torture(directory.path(), "1", "12");
    assert_eq!((code, &report["held"], &report["violations"]), (0, &true.into(), &0.into()), "{report}");
    let check = &report["checks"][0];
    assert_eq!(check["name"], "kills");
    let kills = check["kills"]["kills"].as_u64().unwrap();
    assert!(kills >= 12, "{check}");
    let met: u64 = check["kills"]["met"].as_object().unwrap().values().filter_map(Value::as_u64).sum();
    assert_eq!(met, kills, "{check}");
    assert_eq!(directory.path().read_dir().unwrap().count(), 0, "what is over is cleared away");
}

#[test]
fn threads_that_are_killed_leave_a_ledger_without_gaps() {
    let directory = tempfile::tempdir().unwrap();
    let (code, report) = torture(directory.path(), "3", "4");
    assert_eq!(code, 0, "{report}");
    let figures = &report["checks"][0]["kills"];
    assert!(figures["acknowledged_of_threads"].as_u64() > Some(0), "{figures}");
}

#[test]
fn killed_commands_leave_what_every_other_command_can_use() {
    let arguments = ["torture", "--what", "commands", "--kills", "6", "--seed", "1", "--json"];
    let output = holotype(&arguments);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &report["held"]), (Some(0), &true.into()), "{report}");
    let check = &report["checks"][0];
    assert_eq!((&check["name"], &check["kills"]["met"]["a command"]), (&"commands".into(), &check["cases"]));
    assert!(check["kills"]["commands"].as_u64() > Some(100), "{check}");
}

/// A command that is added takes part in the stories of kills, or is named here.
#[test]
fn every_command_that_takes_a_store_is_run_on_what_kills_left() {
    const TAKE_NO_STORE: [&str; 6] = ["gate", "torture", "check", "conform", "jsonpath", "help"];
    let (mut names, mut of_index) = (named_by_help(&[]), named_by_help(&["index"]));
    names.retain(|name| name != "index" && !TAKE_NO_STORE.contains(&&**name));
    of_index.retain(|name| name != "help");
    names.extend(of_index.iter().map(|name| format!("index {name}")));
    assert!(names.len() > 20, "{names:?}");
    let run: Vec<String> = command_names().collect();
    let left_out = names.iter().filter(|name| !run.contains(name));
    assert_eq!(left_out.collect::<Vec<_>>(), Vec::<&String>::new());
    assert!(run.iter().all(|name| names.contains(name)), "{run:?}");
}

/// The commands that the help of a command lists.
fn named_by_help(command: &[&str]) -> Vec<String> {
    let help = String::from_utf8(holotype(&[command, &["--help"]].concat()).stdout).unwrap();
    let lines =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    // What goes on from the line before is further in.
    let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

#[test]
fn torture_refuses_what_it_cannot_do() {
    for (arguments, word) in [
        (&["--what", "flying"][..], "flying"),
        (&["--kills", "3", "--what", "crash"], "kills or commands alone"),
        (&["--kills", "3", "--dir", "nowhere"], "no directory"),
        (&["--kills", "3", "--garbage"], "--garbage"),
    ] {
        let output = holotype(&[&["torture"], arguments].concat());
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains(word), "{word:?} is missing in {message:?}");
    }
}

#[test]
fn torture_runs_the_checks_that_are_named() {
    let output = holotype(&["torture", "--seconds", "2", "--seed", "1", "--what", "lives,kills", "--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &report["held"]), (Some(0), &true.into()), "{report}");
    let names: Vec<_> = report["checks"].as_array().unwrap().iter().map(|check| &check["name"]).collect();
    assert_eq!(names, ["lives", "kills"]);
    assert!(report["cases"].as_u64() > Some(1), "{report}");
}

#[test]
fn torture_lets_power_cuts_leave_garbage_if_asked() {
    let arguments =
        ["torture", "--seconds", "1", "--seed", "1", "--what", "crash,lives", "--garbage", "--json"];
    let output = holotype(&arguments);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &report["held"]), (Some(0), &true.into()), "{report}");
    let noted = |index: usize| report["checks"][index]["notes"].to_string().contains("leave garbage");
    assert_eq!([noted(0), noted(1)], [true, false], "no power goes in the second: {report}");
}

#[test]
fn a_worker_says_what_is_wrong_with_its_assignment() {
    let output = holotype(&["torture-worker", "calls", "1"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "failed an assignment has six words, not 2\n");
}

/// A store with a bug is found out by kills alone, and kept; the line that replays it finds it again.
#[cfg(feature = "seeded")]
mod seeded {
    use holotype::seeded::{Bug, switch_on};
    use holotype_crash_tests::kills::{COMMAND, Kills, Tally, Violation, Worker};

    /// Kills that are enough for each of the bugs here.
    const KILLS_MAX: u64 = 200;

    fn first_violation(bug: Bug, seed: u64, kills: u64) -> Option<(u64, Violation)> {
        let directory = tempfile::tempdir().unwrap();
        let worker = Worker::new(env!("CARGO_BIN_EXE_holotype"), [COMMAND]);
        let torture =
            Kills { worker, directory: directory.path().to_owned(), documents: Vec::new(), only: None };
        let mut tally = Tally::default();
        switch_on(Some(bug));
        let found = (seed..).find_map(|seed| {
            let goes_on = |tally: &Tally| tally.kills < kills;
            match torture.story(seed, &mut tally, goes_on) {
                Err(violation) => Some(Some(violation)),
                Ok(()) if tally.kills < kills => None,
                Ok(()) => Some(None),
            }
        });
        switch_on(None);
        let violation = found.flatten()?;
        assert!(violation.file.exists(), "the store of a violation is kept: {violation}");
        Some((tally.kills, violation))
    }

    fn is_found(bug: Bug) {
        let found = first_violation(bug, 0, KILLS_MAX);
        let (kills, violation) = found.unwrap_or_else(|| panic!("{KILLS_MAX} kills do not find {bug:?}"));
        println!("{bug:?}: after {kills} kills: {violation}");
        let again = first_violation(bug, violation.seed, KILLS_MAX);
        assert!(again.is_some(), "the story of {violation} does not show it again");
    }

    #[test]
    fn kills_find_a_written_commit_that_stays_in_the_process() {
        is_found(Bug::WrittenNotHandedOver);
    }

    #[test]
    fn kills_find_a_commit_that_is_acknowledged_before_its_write() {
        is_found(Bug::HandedOverBeforePlaced);
    }

    #[test]
    fn kills_find_deletes_that_are_forgotten_at_opening() {
        is_found(Bug::DeletesNotReplayed);
    }

    #[test]
    fn kills_find_a_commit_that_counts_when_its_first_part_is_there() {
        is_found(Bug::FirstPartIsEnough);
    }
}
