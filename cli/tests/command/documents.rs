//! Single documents, and ranges of them.

use crate::bench::Bench;

#[test]
fn a_document_that_was_put_is_there_until_it_is_deleted() {
    let bench = Bench::new();
    assert_eq!(bench.run_args(["put", "s.holo", "notes", "a", r#"{"n":1}"#]).done(), "");
    assert_eq!(bench.run_args(["put", "s.holo", "notes", "a", r#"{"n": 2.0}"#]).done(), "");
    assert_eq!(bench.run("get s.holo notes a").done(), "{\"n\":2.0}\n");
    assert_eq!(bench.run("get s.holo notes a --canonical").done(), "{\"n\":{\"$numberDouble\":\"2.0\"}}\n");
    assert_eq!(bench.run("delete s.holo notes a").done(), "");
    bench.run("get s.holo notes a").fails_saying(1, &["\"a\"", "\"notes\""]);
    bench.run("delete s.holo notes a").fails_saying(1, &["\"a\"", "\"notes\""]);
}

#[test]
fn a_document_can_be_put_from_standard_input() {
    let bench = Bench::new();
    bench.run_with("put s.holo notes -1 -", "\u{feff}{\n \"n\": [1,\n 2]}\n").done();
    assert_eq!(bench.run("get s.holo notes -1").done(), "{\"n\":[1,2]}\n");
}

#[test]
fn a_key_is_an_int_if_it_reads_as_one_unless_its_type_is_given() {
    let bench = Bench::new();
    bench.run("put s.holo k 255 {\"as\":\"int\"}").done();
    bench.run("put s.holo k 255 {\"as\":\"text\"} --key-type text").done();
    bench.run("put s.holo k ff {\"as\":\"bytes\"} --key-type hex").done();
    assert_eq!(bench.run("get s.holo k 255").done(), "{\"as\":\"int\"}\n");
    assert_eq!(bench.run("get s.holo k 255 --key-type int").done(), "{\"as\":\"int\"}\n");
    assert_eq!(bench.run("get s.holo k 255 --key-type text").done(), "{\"as\":\"text\"}\n");
    assert_eq!(bench.run("get s.holo k 0xff --key-type hex").done(), "{\"as\":\"bytes\"}\n");
    bench.run("get s.holo k ff").fails(1);
    bench.run("get s.holo k f --key-type hex").fails_saying(2, &["\"f\"", "hexadecimal"]);
    bench.run("get s.holo k f --key-type int").fails_saying(2, &["\"f\"", "integer"]);
}

#[test]
fn what_is_asked_of_an_unknown_collection_is_not_found() {
    let bench = Bench::with_notes("{\"n\":1}");
    for command in [
        "get s.holo birds 1",
        "delete s.holo birds 1",
        "scan s.holo birds",
        "export s.holo --collection birds",
    ] {
        bench.run(command).fails_saying(1, &["s.holo", "\"birds\""]);
    }
}

/// A store with the keys 1 to 5, "ant", "antler" and "bee".
fn mixed_keys() -> Bench {
    let bench = Bench::new();
    let mut lines: String = (1..=5).map(|key| format!("{{\"key\":{key},\"doc\":{{}}}}\n")).collect();
    for key in ["ant", "antler", "bee"] {
        lines.push_str(&format!("{{\"key\":\"{key}\",\"doc\":{{}}}}\n"));
    }
    lines.push_str("{\"key\":{\"$binary\":{\"base64\":\"/wE=\",\"subType\":\"00\"}},\"doc\":{}}\n");
    bench.write("k.jsonl", lines);
    bench.run("import s.holo k.jsonl --with-keys").done();
    bench
}

/// The keys that a scan of `mixed_keys` gives, as JSON.
fn scanned(bench: &Bench, arguments: &str) -> Vec<String> {
    let command = format!("scan s.holo k --with-keys {arguments}");
    let out = bench.run(command.trim_end()).done();
    let key =
        |line: &str| line.strip_prefix("{\"key\":").unwrap().strip_suffix(",\"doc\":{}}").unwrap().to_owned();
    out.lines().map(key).collect()
}

#[test]
fn a_scan_begins_at_one_key_and_ends_before_the_other() {
    let bench = mixed_keys();
    assert_eq!(scanned(&bench, "--from 2 --to 4"), ["2", "3"]);
    assert_eq!(scanned(&bench, "--from 5 --to antler"), ["5", "\"ant\""]);
    assert_eq!(scanned(&bench, "--to 2"), ["1"]);
    assert_eq!(scanned(&bench, "--from -9 --to 2"), ["1"]);
    assert_eq!(scanned(&bench, "").len(), 9);
}

#[test]
fn a_range_that_ends_before_it_begins_is_empty() {
    let bench = mixed_keys();
    assert!(scanned(&bench, "--from 4 --to 2").is_empty());
    assert!(scanned(&bench, "--from 4 --to 4").is_empty());
    assert!(scanned(&bench, "--from bee --to ant --reverse").is_empty());
}

#[test]
fn a_scan_goes_backwards_and_stops_when_told_to() {
    let bench = mixed_keys();
    assert_eq!(scanned(&bench, "--to ant --reverse --limit 2"), ["5", "4"]);
    assert_eq!(scanned(&bench, "--limit 1"), ["1"]);
    assert!(scanned(&bench, "--limit 0").is_empty());
}

#[test]
fn a_prefix_takes_the_keys_of_its_type_that_begin_with_it() {
    let bench = mixed_keys();
    assert_eq!(scanned(&bench, "--prefix ant"), ["\"ant\"", "\"antler\""]);
    assert_eq!(scanned(&bench, "--prefix ff --key-type hex").len(), 1);
    assert!(scanned(&bench, "--prefix 1").is_empty());
    bench.run("scan s.holo k --prefix 1 --key-type int").fails_saying(2, &["--from"]);
}

#[test]
fn a_prefix_or_an_end_of_a_range_may_begin_as_an_option_does() {
    let bench = mixed_keys();
    bench.run("put s.holo k --key-type text -- -ant {}").done();
    assert_eq!(scanned(&bench, "--prefix -an"), ["\"-ant\""]);
    assert_eq!(scanned(&bench, "--from -ant --to -b"), ["\"-ant\""]);
}
