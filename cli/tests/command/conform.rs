//! Vectors: on the engine, on programs that answer wrongly, and on none at all.

use std::collections::BTreeMap;

use holotype_conform::make;
use serde_json::Value;

use crate::bench::Bench;

const VECTORS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../spec/vectors");

/// A manifest of one case, which the engine gets right.
const ONE_CASE: &str = r#"{"format":"3.0","group":"few","about":"a case","notes":{},"cases":[
{"id":1,"name":"One is a key","result":"valid","clauses":["E-4.1"],"flags":[],"request":{"op":"decode_key","bytes":"01"},"expect":[{"value":{"$numberInt":"1"}}]}]}"#;

fn bench_with_one_case() -> Bench {
    let bench = Bench::new();
    write_manifest(&bench, "vectors", ONE_CASE);
    bench
}

/// Writes a manifest, and the list that has it.
fn write_manifest(bench: &Bench, folder: &str, text: &str) {
    let made = BTreeMap::from([("3.0/few.json".to_owned(), text.as_bytes().to_vec())]);
    make::write(&bench.path(folder), &made).unwrap();
}

#[test]
fn the_engine_holds_against_every_vector() {
    let bench = Bench::new();
    let run = bench.run_args(["conform", "--vectors", VECTORS, "--json", "--junit", "report.xml"]);
    assert_eq!((run.code, run.err.as_str()), (0, ""), "{run:?}");
    let report: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(
        (&report["held"], &report["failed"], &report["skipped"]),
        (&true.into(), &Value::Array(vec![]), &0.into())
    );
    assert!(report["cases"].as_u64() >= Some(1500), "{report}");
    let junit = std::fs::read_to_string(bench.path("report.xml")).unwrap();
    assert!(junit.contains("<testsuite name=\"3.0.keys\"") && junit.contains("failures=\"0\""));
}

#[test]
fn a_table_says_what_held_by_group() {
    let text = bench_with_one_case().run("conform --vectors vectors").done();
    assert!(text.contains("3.0      few               1        0       0"), "{text}");
    assert!(text.ends_with("every case held (1 cases, 0 skipped, 0 failed)\n"), "{text}");
}

#[test]
fn a_group_can_be_left_out_and_must_be_there() {
    let bench = bench_with_one_case();
    let more = ONE_CASE.replace("\"few\"", "\"more\"");
    let made = BTreeMap::from([("3.0/more.json".to_owned(), more.into_bytes())]);
    make::write(&bench.path("vectors"), &made).unwrap();
    let text = bench.run("conform --vectors vectors --without more").done();
    assert!(text.contains("3.0      few") && !text.contains("more"), "{text}");
    bench.run("conform --vectors vectors --without fewer").fails_saying(2, &["fewer"]);
}

#[test]
fn vectors_that_are_not_there_are_asked_for() {
    let bench = Bench::new();
    bench.run("conform").fails_saying(2, &["spec/vectors", "--vectors"]);
    bench.run("conform --vectors missing").fails_saying(2, &["missing"]);
    std::fs::create_dir_all(bench.path("empty")).unwrap();
    bench.run("conform --vectors empty").fails_saying(2, &["empty", "3.0"]);
    write_manifest(&bench, "broken", "{");
    bench.run("conform --vectors broken").fails_saying(2, &["few.json", "EOF while parsing"]);
}

#[test]
fn vectors_that_are_not_what_the_list_says_are_not_used() {
    let harmed = |file: &str, text: Option<&str>| {
        let bench = bench_with_one_case();
        let path = bench.path("vectors/3.0").join(file);
        match text {
            Some(text) => std::fs::write(path, text).unwrap(),
            None => std::fs::remove_file(path).unwrap(),
        }
        bench.run("conform --vectors vectors")
    };
    harmed("few.json", Some(&ONE_CASE[..ONE_CASE.len() - 1])).fails_saying(2, &["few.json", "was changed"]);
    harmed("few.json", Some(&ONE_CASE.replace("One", "Two"))).fails_saying(2, &["few.json", "was changed"]);
    harmed("few.json", None).fails_saying(2, &["few.json", "missing"]);
    harmed("more.json", Some(ONE_CASE)).fails_saying(2, &["more.json", "does not list"]);
    harmed("index.json", None).fails_saying(2, &["index.json", "missing"]);
    harmed("index.json", Some("{")).fails_saying(2, &["index.json"]);
}

#[cfg(unix)]
#[test]
fn a_program_is_asked_and_what_it_does_wrong_is_told() {
    let bench = bench_with_one_case();
    for (program, code, what) in [
        (r#"read line; echo '{"id":1,"value":{"$numberInt":"1"}}'"#, 0, "every case held"),
        (r#"read line; echo '{"id":1,"value":{"$numberInt":"2"}}'"#, 1, "expected Int(1), found Int(2)"),
        (r#"read line; echo '{"id":1,"unsupported":true}'"#, 1, "1 skipped"),
        ("exit 0", 1, "ended without an answer"),
        ("exec sleep 60", 1, "no answer within 1 seconds"),
        ("echo hello", 1, "not an answer"),
        ("exec no-such-program-anywhere", 1, "ended without an answer"),
    ] {
        let run = bench.run_args(["conform", "--vectors", "vectors", "--timeout", "1", "--subject", program]);
        assert_eq!(run.code, code, "{program}: {run:?}");
        assert!(run.out.contains(what), "{program}: {run:?}");
    }
}
