//! Reports for people and for machines.

use serde_json::Value;

use crate::bench::{Bench, SAMPLE};

fn json(text: &str) -> Value {
    assert_eq!(text.lines().count(), 1, "{text}");
    serde_json::from_str(text).unwrap()
}

#[test]
fn an_import_tells_what_it_did() {
    let bench = Bench::new();
    let report = json(&bench.run_args(["import", "s.holo", SAMPLE, "--batch", "64", "--json"]).done());
    assert_eq!((&report["collection"], &report["documents"]), (&"mdn-sample".into(), &200.into()));
    assert_eq!(report["commits"], 4);
    assert!(report["seconds"].as_f64().unwrap() >= 0.0);
    let text = bench.run_args(["import", "s.holo", SAMPLE]).done();
    assert!(text.starts_with("imported 200 documents into \"mdn-sample\" in "), "{text}");
}

#[test]
fn the_statistics_count_what_is_there() {
    let bench = Bench::with_notes("{\"n\":1}\n{\"n\":2}\n");
    bench.run("put s.holo birds 1 {}").done();
    bench.run("delete s.holo notes 1").done();
    let stats = json(&bench.run("stats s.holo --json").done());
    assert_eq!(stats["documents"], 2);
    assert_eq!(stats["file_bytes"], std::fs::metadata(bench.path("s.holo")).unwrap().len());
    assert_eq!(
        stats["collections"],
        serde_json::json!([
            {"name": "birds", "documents": 1, "indexes": []},
            {"name": "notes", "documents": 1, "indexes": []}
        ])
    );
    let text = bench.run("stats s.holo").done();
    assert!(text.contains("documents") && text.contains("\"birds\": 1 documents"), "{text}");
    bench.run_args(["index", "create", "s.holo", "birds", "by_tag", "--on", "$.tags[*]"]).done();
    let stats = json(&bench.run("stats s.holo --json").done());
    let index = &stats["collections"][0]["indexes"][0];
    assert_eq!((&index["name"], &index["entries"]), (&"by_tag".into(), &1.into()), "{stats}");
    assert!(index["memory_bytes"].as_u64().is_some_and(|bytes| bytes > 0), "{stats}");
    let text = bench.run("stats s.holo").done();
    assert!(text.contains("\n    index \"by_tag\": 1 entries, "), "{text}");
}

#[test]
fn the_statistics_count_the_entries_that_are_long() {
    let long = "x".repeat(2_000);
    let bench = Bench::with_notes(&format!("{{\"text\":\"{long}\"}}\n{{\"text\":\"short\"}}\n"));
    bench.run_args(["index", "create", "s.holo", "notes", "by_text", "--on", "$.text"]).done();
    let index = |stats: &Value| {
        let index = &stats["collections"][0]["indexes"][0];
        (index["entries"].clone(), index["long_entries"].clone())
    };
    assert_eq!(index(&json(&bench.run("stats s.holo --json").done())), (2.into(), 1.into()));
    let text = bench.run("stats s.holo").done();
    assert!(text.contains("\n    index \"by_text\": 2 entries (1 of them long), "), "{text}");
    bench.run("delete s.holo notes 1").done();
    assert_eq!(index(&json(&bench.run("stats s.holo --json").done())), (1.into(), 0.into()));
}

#[test]
fn a_sound_store_is_found_to_be_sound() {
    let bench = Bench::with_notes("{\"n\":1}\n{\"n\":2}\n");
    bench.run("index create s.holo notes n --on $.n").done();
    let shallow = json(&bench.run("verify s.holo --json").done());
    let expected =
        serde_json::json!({"clean": true, "documents": 2, "entries": 2, "commits": null, "problems": []});
    assert_eq!(shallow, expected);
    let deep = json(&bench.run("verify s.holo --deep --json").done());
    assert_eq!((&deep["clean"], &deep["documents"]), (&true.into(), &2.into()));
    assert!(deep["commits"].as_u64().unwrap() >= 1, "{deep}");
    assert!(bench.run("verify s.holo --deep").done().contains("2 documents and 2 entries of indexes and "));
}
