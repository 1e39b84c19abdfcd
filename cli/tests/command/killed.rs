//! What a killed command leaves behind, and what the next commands make of it.

use std::process::Stdio;
use std::thread;
use std::time::Duration;

use holotype::Db;

use crate::bench::{Bench, SAMPLE, read};

/// A file as a creation leaves it that ended before its first slot was written.
fn unfinished() -> Vec<u8> {
    let bench = Bench::new();
    let db = Db::open(bench.path("new.holo")).unwrap();
    let len = std::fs::metadata(bench.path("new.holo")).unwrap().len();
    drop(db);
    vec![0; usize::try_from(len).unwrap()]
}

#[test]
fn an_unfinished_creation_counts_as_no_file_for_the_commands_that_create_one() {
    for command in ["import s.holo notes.jsonl", "put s.holo notes 1 {}"] {
        let bench = Bench::new();
        bench.write("notes.jsonl", "{\"n\":1}\n");
        bench.write("s.holo", unfinished());
        bench.run(command).done();
        bench.run("get s.holo notes 1").done();
        bench.run("verify s.holo --deep").done();
    }
}

#[test]
fn the_other_commands_name_one_that_helps_and_it_does() {
    let bench = Bench::new();
    bench.write("notes.jsonl", "{\"n\":1}\n");
    for command in [
        "get s.holo notes 1",
        "delete s.holo notes 1",
        "scan s.holo notes",
        "export s.holo",
        "stats s.holo",
        "verify s.holo",
        "checkpoint s.holo",
        "compact s.holo",
        "backup s.holo copy.holo",
        "salvage s.holo copy.holo",
        "inspect s.holo",
    ] {
        bench.write("s.holo", unfinished());
        bench.run(command).fails_saying(3, &["s.holo", "unfinished creation", "import", "put"]);
        assert!(!bench.exists("copy.holo"), "{command}");
        bench.run("import s.holo notes.jsonl").done();
        bench.run("get s.holo notes 1").done();
    }
}

#[test]
fn bad_input_leaves_an_unfinished_creation_as_it_is() {
    let bench = Bench::new();
    bench.write("s.holo", unfinished());
    bench.write("bad.jsonl", "{\"n\":\n");
    bench.run("import s.holo bad.jsonl").fails(2);
    assert_eq!(std::fs::read(bench.path("s.holo")).unwrap(), unfinished());
}

#[test]
fn a_killed_import_can_be_imported_again() {
    let lines = read(SAMPLE).lines().count();
    for step in 0..48 {
        let bench = Bench::new();
        let mut command = bench.command();
        command.args(["import", "s.holo", SAMPLE, "--collection", "docs"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(Duration::from_micros(250 * step));
        child.kill().unwrap();
        child.wait().unwrap();
        // One commit: all of it was there, or nothing.
        bench.run_args(["import", "s.holo", SAMPLE, "--collection", "docs"]).done();
        let found = bench.run("scan s.holo docs").done().lines().count();
        assert!(
            found == lines || found == 2 * lines,
            "killed after {step} quarters of a millisecond: {found}"
        );
        bench.run("verify s.holo --deep").done();
    }
}
