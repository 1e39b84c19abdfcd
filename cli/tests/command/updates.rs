//! `holotype update`: one document changed where it is.

use crate::bench::{Bench, Run};

const ONE: &str = "{\"matched\": 1, \"changed\": 1}\n";
const EQUAL: &str = "{\"matched\": 1, \"changed\": 0}\n";
const NONE: &str = "{\"matched\": 0, \"changed\": 0}\n";

/// A store with one document under the key `a`.
fn bench() -> Bench {
    let bench = Bench::new();
    bench.run_args(["put", "s.holo", "notes", "a", r#"{"n":1,"tags":["x"],"a=b":0}"#]).done();
    bench
}

fn update<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    ["update", "s.holo", "notes"].into_iter().chain(arguments).collect()
}

#[test]
fn changes_are_made_in_their_order_and_counted() {
    let bench = bench();
    let changes = [
        "a",
        "--inc",
        "$.n=-3",
        "--set",
        "$.deep.er=[1,2]",
        "--rename",
        "$.deep=d",
        "--push",
        "$.tags=\"y\"",
        "--pull",
        "$.tags=\"x\"",
        "--unset",
        "$.d.er[0]",
        "--inc",
        "$['a=b']=0.5",
    ];
    assert_eq!(bench.run_args(update(changes)).done(), ONE);
    assert_eq!(
        bench.run("get s.holo notes a").done(),
        "{\"d\":{\"er\":[2]},\"n\":-2,\"a=b\":0.5,\"tags\":[\"y\"]}\n"
    );
    assert_eq!(bench.run_args(update(["a", "--set", "$.n=-2"])).done(), EQUAL);
    bench.run("get s.holo notes b").fails(1);
}

#[test]
fn patches_come_from_files_and_standard_input_beside_other_changes() {
    let bench = bench();
    let patch = r#"[{"op":"test","path":"/n","value":2},{"op":"remove","path":"/tags"}]"#;
    let merge = "{\"a=b\":null,\"m\":{\"x\":1,\"y\":null}}";
    bench.write("merge.json", merge);
    let run = bench.run_with("update s.holo notes a --inc $.n=1 --patch - --merge merge.json", patch);
    assert_eq!(run.done(), ONE);
    assert_eq!(bench.run("get s.holo notes a").done(), "{\"m\":{\"x\":1},\"n\":2}\n");
}

#[test]
fn a_key_without_a_document_is_an_error_with_the_words_of_get() {
    let bench = bench();
    let run = bench.run_args(update(["b", "--set", "$.n=-2"]));
    assert_eq!((run.code, run.out.as_str()), (1, NONE), "{run:?}");
    assert_eq!(run.err, bench.run("get s.holo notes b").fails(1));
    assert_eq!(run.err, bench.run("delete s.holo notes b").fails(1));
}

#[test]
fn the_version_that_get_prints_is_the_one_to_change() {
    let bench = bench();
    let get = "get s.holo notes a --with-version";
    let seen: serde_json::Value = serde_json::from_str(&bench.run(get).done()).unwrap();
    assert_eq!(seen["doc"]["n"], 1);
    let version = seen["version"].as_str().unwrap();
    assert!(version.starts_with("0x"), "{version}");
    let change = ["a", "--inc", "$.n=1", "--if-version", version];
    assert_eq!(bench.run_args(update(change)).done(), ONE);
    bench.run_args(update(change)).fails_saying(1, &["version", version]);
    let canonical = bench.run(&format!("{get} --canonical")).done();
    assert!(canonical.contains("{\"$numberInt\":\"2\"}"), "{canonical}");
}

#[test]
fn a_change_of_one_version_or_of_what_may_not_be_there() {
    let bench = bench();
    for version in ["1", "0x1"] {
        bench
            .run(&format!("update s.holo notes a --inc $.n=1 --if-version {version}"))
            .fails_saying(1, &["version"]);
    }
    // Options are refused before the store is opened.
    let refused = |run: Run| assert!(run.code == 2 && run.err.contains("--if-version"), "{run:?}");
    refused(bench.run("update s.holo notes a --inc $.n=1 --if-version x"));
    let upsert = ["b", "--inc", "$.n=1", "--upsert", "{\"n\":7}"];
    assert_eq!(bench.run_args(update(upsert)).done(), "{\"matched\": 0, \"changed\": 1}\n");
    assert_eq!(bench.run_args(update(upsert)).done(), ONE);
    assert_eq!(bench.run("get s.holo notes b").done(), "{\"n\":8}\n");
    let both = ["b", "--inc", "$.n=1", "--upsert", "{}", "--if-version", "1"];
    refused(bench.run_args(update(both)));
}

#[test]
fn what_cannot_be_changed_changes_nothing_and_says_why() {
    let bench = bench();
    for (changes, code, words) in [
        (&["a", "--set", "$.n=5", "--inc", "$.tags=1"][..], 1, &["s.holo", "\"a\"", "$.tags", "array"][..]),
        (&["a", "--set", "$.n=5", "--unset", "$"], 1, &["delete it by its key"]),
        (&["a", "--set", "$.n=5", "--set", "n=1"], 2, &["--set n=1", "byte 0"]),
        (&["a", "--set", "$.n"], 2, &["`=`"]),
        (&["a", "--set", "$.n=x"], 2, &["--set $.n=x"]),
        (&["a", "--inc", "$.n=\"1\""], 2, &["number"]),
        (&["a", "--patch", "nowhere.json"], 2, &["nowhere.json"]),
        (&["a", "--set", "$.n=5", "--patch", "s.holo"], 2, &["s.holo"]),
        (&["a"], 2, &["--set"]),
    ] {
        bench.run_args(update(changes.iter().copied())).fails_saying(code, words);
        assert_eq!(bench.run("get s.holo notes a").done(), "{\"n\":1,\"a=b\":0,\"tags\":[\"x\"]}\n");
    }
    bench.run("update s.holo nothing a --inc $.n=1").fails_saying(1, &["\"nothing\""]);
    bench.run("update none.holo notes a --inc $.n=1").fails(3);
}

#[test]
fn all_documents_that_a_filter_admits_are_changed_or_deleted() {
    let bench = bench();
    bench.run_args(["put", "s.holo", "notes", "b", r#"{"n":5}"#]).done();
    bench.run_args(["put", "s.holo", "notes", "c", r#"{"n":7,"who":"O'Hara"}"#]).done();
    let three = ["--where", "@.n >= arg('from')", "--arg", "from=1", "--inc", "$.n=1"];
    let dry = bench.run_args(update(three.into_iter().chain(["--dry-run"])));
    assert_eq!(dry.done(), "{\"matched\": 3, \"changed\": 3}\n");
    assert_eq!(bench.run("get s.holo notes b").done(), "{\"n\":5}\n");
    assert_eq!(bench.run_args(update(three)).done(), "{\"matched\": 3, \"changed\": 3}\n");
    assert_eq!(bench.run("get s.holo notes b").done(), "{\"n\":6}\n");
    assert_eq!(
        bench.run_args(update(["--where", "@.n > 2", "--set", "$.n=6"])).done(),
        "{\"matched\": 2, \"changed\": 1}\n"
    );
    let delete = ["delete", "s.holo", "notes", "--where", "@.who == arg('who')", "--arg", "who=\"O'Hara\""];
    assert_eq!(bench.run_args(delete.into_iter().chain(["--dry-run"])).done(), ONE);
    bench.run("get s.holo notes c").done();
    assert_eq!(bench.run_args(delete).done(), ONE);
    assert_eq!(bench.run_args(delete).done(), NONE);
    bench.run("get s.holo notes c").fails(1);
}

#[test]
fn a_filter_that_cannot_be_run_or_a_document_that_cannot_be_changed_changes_nothing() {
    let bench = bench();
    bench.run_args(["put", "s.holo", "notes", "b", r#"{"n":"text"}"#]).done();
    for (options, code, words) in [
        (&["--where", "@.n", "--inc", "$.n=1"][..], 1, &["s.holo", "\"b\"", "nothing was changed"][..]),
        (&["--where", "@.n", "--inc", "$.n=1", "--dry-run"], 1, &["\"b\""]),
        (&["--where", "@.n >", "--inc", "$.n=1"], 2, &["--where", "byte 5"]),
        (&["--where", "@.n == arg('x')", "--inc", "$.n=1"], 2, &["\"x\"", "not bound"]),
        (&["--where", "@.n", "--arg", "x=1", "--inc", "$.n=1"], 2, &["--arg x:", "not in the filter"]),
        (&["--where", "@.n", "--arg", "x", "--inc", "$.n=1"], 2, &["--arg x", "`=`"]),
        (&["--where", "@.n == arg('x')", "--arg", "x=a", "--inc", "$.n=1"], 2, &["--arg x=a"]),
        (&["--where", "@.n"], 2, &["--set"]),
    ] {
        bench.run_args(update(options.iter().copied())).fails_saying(code, words);
        assert_eq!(bench.run("get s.holo notes a").done(), "{\"n\":1,\"a=b\":0,\"tags\":[\"x\"]}\n");
    }
    // What clap refuses.
    for (words, option) in [
        ("update s.holo notes a --where @.n --inc $.n=1", "--where"),
        ("update s.holo notes --inc $.n=1", "--where"),
        ("update s.holo notes --where @.n --inc $.n=1 --if-version 1", "--if-version"),
        ("update s.holo notes --where @.n --inc $.n=1 --upsert {}", "--upsert"),
        ("update s.holo notes a --inc $.n=1 --dry-run", "--dry-run"),
        ("delete s.holo notes a --arg x=1", "--arg"),
        ("delete s.holo notes", "--where"),
    ] {
        let run = bench.run(words);
        assert!(run.code == 2 && run.err.contains(option), "{words}: {run:?}");
    }
    bench.run("update s.holo nothing --where @ --inc $.n=1").fails_saying(1, &["\"nothing\""]);
    bench.run("delete none.holo notes --where @").fails(3);
}

#[test]
fn many_documents_are_changed_in_commits_of_so_many() {
    let bench = Bench::new();
    bench.write("n.jsonl", (0..7).map(|n| format!("{{\"n\":{n}}}\n")).collect::<String>());
    bench.run("import s.holo n.jsonl").done();
    let changed = |count: u64| format!("{{\"matched\": {count}, \"changed\": {count}}}\n");
    assert_eq!(bench.run("update s.holo n --where @ --inc $.n=1 --batch 2").done(), changed(7));
    bench.run("put s.holo n 5 {\"n\":\"five\"}").done();
    let stopped = bench.run("update s.holo n --where @ --inc $.n=1 --batch 2");
    stopped.fails_saying(1, &["document 5", "commits before that one changed 4 documents"]);
    assert_eq!(bench.run("delete s.holo n --where @ --batch 3").done(), changed(7));
    for refused in ["update s.holo n 1 --inc $.n=1 --batch 2", "delete s.holo n --where @ --batch 0"] {
        let run = bench.run(refused);
        assert!(run.code == 2 && run.err.contains("--batch"), "{run:?}");
    }
}
