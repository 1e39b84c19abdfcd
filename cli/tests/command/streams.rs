//! Streams that end, fill up or fail.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use crate::bench::{Bench, Run, SAMPLE};

/// A store whose export is far longer than a pipe holds.
fn long_export() -> Bench {
    let bench = Bench::new();
    for _ in 0..8 {
        bench.run_args(["import", "s.holo", SAMPLE]).done();
    }
    bench
}

#[test]
fn a_reader_that_has_seen_enough_ends_an_export_quietly() {
    let bench = long_export();
    let mut child = bench
        .command()
        .args(["export", "s.holo"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    let mut stdout = BufReader::with_capacity(64, child.stdout.take().unwrap());
    stdout.read_line(&mut first).unwrap();
    drop(stdout);
    let status = child.wait().unwrap();
    let mut complaint = String::new();
    child.stderr.take().unwrap().read_to_string(&mut complaint).unwrap();
    assert!(first.starts_with('{') && first.ends_with("}\n"), "{first}");
    assert_eq!((status.code(), complaint.as_str()), (Some(0), ""));
}

#[cfg(target_os = "linux")]
#[test]
fn an_output_that_is_full_is_an_error_of_input_and_output() {
    let bench = long_export();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = bench.command().args(["export", "s.holo"]).stdout(full).output().unwrap();
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(5), "{complaint}");
    assert!(complaint.contains("standard output"), "{complaint}");
}

#[cfg(target_os = "linux")]
#[test]
fn what_was_committed_and_cannot_be_told_is_an_error_that_says_so() {
    let bench = Bench::with_notes("{\"n\":1}\n");
    let full = |command: &str| {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        Run::of(&bench.command().args(command.split(' ')).stdout(full).output().unwrap())
    };
    for (command, words) in [
        ("import s.holo notes.jsonl", "the changes are committed"),
        ("update s.holo notes 1 --set $.n=2", "the changes are committed"),
        ("update s.holo notes --where @ --set $.n=3", "the changes are committed"),
        ("index create s.holo notes by_n --on $.n", "the changes are committed"),
        ("delete s.holo notes --where key()==2", "the changes are committed"),
        ("compact s.holo", "the changes are committed"),
        ("backup s.holo b.holo", "the backup is made"),
        ("salvage s.holo r.holo", "the new store is made"),
    ] {
        full(command).fails_saying(5, &["standard output", words]);
    }
    assert_eq!(bench.run("export s.holo").done(), "{\"n\":3}\n");
    bench.run("index scan s.holo notes by_n").done();
    assert_eq!(bench.run("export b.holo").done(), bench.run("export r.holo").done());
    let dry = full("update s.holo notes --where @ --set $.n=4 --dry-run").fails(5);
    assert!(!dry.contains("committed"), "{dry}");
    for command in ["--help", "--version", "get --help"] {
        full(command).fails_saying(5, &["standard output"]);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_closed_standard_error_changes_no_exit_code() {
    let bench = Bench::new();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let status = bench.command().args(["get", "s.holo", "notes", "1"]).stderr(full).status().unwrap();
    assert_eq!(status.code(), Some(3));
}

#[test]
fn what_one_command_exports_another_imports() {
    let bench = long_export();
    let exported = bench.run("export s.holo").done();
    bench.run_with("import copy.holo - --collection mdn-sample", &exported).done();
    assert_eq!(bench.run("export copy.holo").done(), exported);
}
