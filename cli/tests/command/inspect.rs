//! `inspect`: a file as its layout, whatever it holds.

use std::fs;

use holotype::Db;
use serde_json::Value;

use crate::bench::{Bench, Run};

fn json(run: &Run) -> Value {
    serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {run:?}"))
}

/// A store with a live, a replaced and a deleted document.
fn birds() -> Bench {
    let bench = Bench::with_notes("{\"bird\":\"wren\"}\n{\"bird\":\"siskin\"}\n");
    bench.run("put s.holo notes 2 {\"bird\":\"rook\"}").done();
    bench.run("delete s.holo notes 1").done();
    bench
}

/// What stands for each record that holds a version: its key, and what became of it.
fn fates(report: &Value) -> Vec<(i64, String)> {
    let segments = report["segments"].as_array().unwrap().iter();
    let frames = segments.flat_map(|segment| segment["frames"].as_array().unwrap());
    let records = frames.flat_map(|frame| frame["records"].as_array().unwrap());
    let versions = records.filter(|record| record["kind"] == "put");
    let fate = |record: &Value| {
        (record["key"]["int"].as_i64().unwrap(), record["fate"].as_str().unwrap().to_owned())
    };
    versions.map(fate).collect()
}

#[test]
fn a_summary_comes_first_and_frames_and_records_when_asked_for() {
    let bench = birds();
    let text = bench.run("inspect s.holo").done();
    let places = ["file ", "recovery      opens", "superblock A  valid", "\nsegment 0 "]
        .map(|words| text.find(words).unwrap_or_else(|| panic!("{words:?} is missing in {text}")));
    assert!(places.is_sorted(), "{text}");
    assert!(!text.contains("  frame "), "{text}");
    let frames = bench.run("inspect s.holo --frames").done();
    assert!(frames.contains("  frame ") && !frames.contains(" put in 1"), "{frames}");
    let records = bench.run("inspect s.holo --records").done();
    assert_eq!(records, bench.run("inspect s.holo --depth records").done());
    assert!(records.contains("put in 1 2") && records.contains(": live"), "{records}");
}

#[test]
fn for_programs_every_record_says_what_became_of_it() {
    let bench = birds();
    let report = json(&bench.run("inspect s.holo --json"));
    let expected = [(1, "dead"), (2, "dead"), (2, "live")].map(|(key, fate)| (key, fate.to_owned()));
    assert_eq!(fates(&report), expected);
    assert_eq!((&report["shape"], &report["recovery"]["outcome"]), (&1.into(), &"opens".into()));
    let bytes = report["bytes"].as_object().unwrap().values().map(|bytes| bytes.as_u64().unwrap());
    assert_eq!(bytes.sum::<u64>(), fs::metadata(bench.path("s.holo")).unwrap().len());
    let shallow = json(&bench.run("inspect s.holo --json --depth segments"));
    assert!(shallow["segments"][0].get("frames").is_none(), "{shallow}");
}

#[test]
fn the_page_is_whole_in_itself() {
    let bench = Bench::with_notes("{\"_id\":1}\n");
    bench.run_args(["put", "s.holo", "</script><b>", "a", "{}"]).done();
    bench.run("inspect s.holo --html map.html").done();
    let page = fs::read_to_string(bench.path("map.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</script>"));
    for outside in ["http:", "https:", "src=", "@import", "url(", "@DATA@"] {
        assert!(!page.contains(outside), "{outside:?} is in the page");
    }
    // A name out of the file cannot end the script that holds it.
    assert_eq!(page.matches("</script>").count(), 2);
    let data = page.split_once("id=\"data\">").unwrap().1.split_once("</script>").unwrap().0;
    let data: Value = serde_json::from_str(data).unwrap();
    assert_eq!(data["head"]["collections"][1]["name"], "</script><b>");
    let drawn = data["segments"][0]["extents"].as_array().unwrap().iter();
    let drawn: u64 = drawn.map(|extent| extent[0].as_u64().unwrap()).sum();
    assert_eq!(data["segments"][0]["segment"]["len"], drawn);
}

#[test]
fn the_page_never_takes_the_place_of_the_store() {
    let bench = birds();
    let before = fs::read(bench.path("s.holo")).unwrap();
    bench.run("inspect s.holo --html s.holo").fails_saying(2, &["names a store"]);
    fs::hard_link(bench.path("s.holo"), bench.path("link.html")).unwrap();
    bench.run("inspect s.holo --html link.html").fails_saying(2, &["names a store"]);
    bench.run("inspect s.holo --html nowhere/map.html").fails_saying(5, &["cannot write nowhere"]);
    assert_eq!(fs::read(bench.path("s.holo")).unwrap(), before);
}

#[test]
fn a_damaged_store_is_shown_with_the_place_and_the_clause_where_recovery_stops() {
    let bench = birds();
    let mut bytes = fs::read(bench.path("s.holo")).unwrap();
    let at = bytes.windows(6).position(|window| window == b"siskin").unwrap();
    bytes[at] ^= 1;
    bench.write("s.holo", &bytes);
    let run = bench.run("inspect s.holo --json");
    assert_eq!((run.code, run.err.as_str()), (4, ""), "{run:?}");
    let report = json(&run);
    assert_eq!(report["recovery"]["outcome"], "corrupt");
    assert_eq!(report["recovery"]["clause"], "R-4.1");
    let place = report["recovery"]["at"].as_u64().unwrap() as usize;
    assert!(place <= at && at < place + 1024, "the log breaks off at {place}, not just before {at}");
    assert!(report["bytes"]["damaged"].as_u64().unwrap() > 0, "{}", report["bytes"]);
    for form in ["", " --records", " --html map.html"] {
        assert_eq!(bench.run(&format!("inspect s.holo{form}")).code, 4);
    }
    assert_eq!(fs::read(bench.path("s.holo")).unwrap(), bytes, "looking changes nothing");
}

#[test]
fn no_store_is_refused_by_name() {
    let bench = Bench::new();
    bench.write("s.holo", "");
    bench.run("inspect s.holo").fails(3);
    bench.write("s.holo", "a letter to a friend\n".repeat(5000));
    bench.run("inspect s.holo").fails_saying(3, &["s.holo"]);
    bench.write("s.holo", vec![0; 100]);
    bench.run("inspect s.holo").fails(3);
    bench.run("inspect nowhere.holo").fails_saying(3, &["nowhere.holo does not exist"]);
    bench.run("inspect .").fails_saying(3, &["directory"]);
}

#[test]
fn a_store_in_use_is_shown_and_its_writer_goes_on() {
    let bench = birds();
    let db = Db::open(bench.path("s.holo")).unwrap();
    bench.run("inspect s.holo").done();
    db.collection("notes").put(9, holotype::doc! { "bird": "robin" }).unwrap();
    let report = json(&bench.run("inspect s.holo --json"));
    assert!(fates(&report).contains(&(9, "live".to_owned())), "{report}");
    db.close().unwrap();
}

#[test]
fn indexes_are_shown_with_the_trees_that_checkpoints_have_of_them() {
    let bench = birds();
    bench.run("index create s.holo notes by_bird --on $.bird --unique").done();
    bench.run("checkpoint s.holo").done();
    let report = json(&bench.run("inspect s.holo --json"));
    let index = &report["indexes"][0];
    assert_eq!(index["definition"]["name"], "by_bird", "{report}");
    let listed = bench.run("index list s.holo notes --json").done();
    assert_eq!(index["definition"], serde_json::from_str::<Value>(&listed).unwrap());
    let trees = report["checkpoints"][0]["trees"].as_array().unwrap();
    let [notes, by_bird] = &trees[..] else { panic!("{trees:?}") };
    assert_eq!((&notes["of"], &notes["name"]), (&Value::Null, &"notes".into()));
    assert_eq!((&by_bird["of"], &by_bird["id"]), (&notes["id"], &index["id"]));
    for tree in [notes, by_bird] {
        assert_eq!((&tree["entries"], &tree["pages"], &tree["leaves"]), (&1.into(), &1.into(), &1.into()));
        assert!(tree["bytes"].as_u64().unwrap() > 30, "{tree}");
    }
    let text = bench.run("inspect s.holo").done();
    for line in [
        "\nindex         2: of collection 1, {\"on\":[\"$.bird\"],\"name\":\"by_bird\"",
        "\n  tree        2: of collection 1, index \"by_bird\": entries 1, leaves 1, directory pages 1, bytes ",
    ] {
        assert!(text.contains(line), "{line:?} is missing in {text}");
    }
}
