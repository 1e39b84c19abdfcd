//! The main job. What its checks find is shown where they are; here, that they run and how they are told.

use serde_json::Value;

use crate::bench::{Bench, SAMPLE};

#[test]
fn the_gate_tells_what_each_check_did_and_holds() {
    let run = Bench::new().run("gate --seed 7 --seconds 0 --json");
    assert_eq!((run.code, run.err.as_str()), (0, ""), "{run:?}");
    let report: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!((&report["held"], &report["seed"]), (&true.into(), &7.into()));
    let checks = report["checks"].as_array().unwrap();
    let names: Vec<_> = checks.iter().map(|check| check["name"].as_str().unwrap()).collect();
    assert_eq!(names, holotype_crash_tests::gate::names().collect::<Vec<_>>());
    for check in checks {
        assert!(
            check["held"] == true && check["cases"].as_u64() > Some(0) && check["replay"].is_null(),
            "{check}"
        );
    }
}

#[test]
fn the_gate_fills_stores_with_documents_of_the_users() {
    let bench = Bench::new();
    let text = bench.run_args(["gate", "--seconds", "1", "--check", "lives", "--data", SAMPLE]).done();
    assert!(text.contains(", 200 documents)") && text.contains("every check held"), "{text}");
    let rows = text.lines().filter(|line| line.starts_with("lives ") && line.ends_with("  yes")).count();
    assert_eq!(rows, 1, "{text}");
}

#[test]
fn the_gate_refuses_checks_and_documents_that_are_not_there() {
    let bench = Bench::new();
    bench.run("gate --check flying").fails_saying(2, &["\"flying\"", "crash"]);
    bench.run("gate --data missing.jsonl").fails_saying(2, &["missing.jsonl"]);
    bench.write("empty.jsonl", "\n");
    bench.run("gate --data empty.jsonl").fails_saying(2, &["empty.jsonl", "no document"]);
    bench.write("bad.jsonl", "{}\n{");
    bench.run("gate --data bad.jsonl").fails_saying(2, &["bad.jsonl:2:2"]);
}
