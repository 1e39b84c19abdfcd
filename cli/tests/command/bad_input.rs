//! Input that is wrong: exit code 2, where it is wrong, and what became of what came before.

use crate::bench::Bench;

/// Imports `content` into a store that is not there yet.
#[track_caller]
fn refused(content: impl AsRef<[u8]>, words: &[&str]) {
    let bench = Bench::new();
    bench.write("bad.jsonl", content);
    let message = bench.run("import s.holo bad.jsonl").fails(2);
    for word in words.iter().chain(&["nothing was imported"]) {
        assert!(message.contains(word), "{word:?} is missing in {message:?}");
    }
    assert!(!bench.exists("s.holo"), "bad input leaves no store behind");
}

#[test]
fn a_syntax_error_is_told_with_file_line_and_column() {
    refused("{\"n\":1}\n\n{\"n\":}\n{\"n\":2}\n", &["bad.jsonl:3:6: "]);
    refused("[{\"n\":1},\n{\"n\":2},\n {\"n\":}]", &["bad.jsonl:3:7: "]);
}

#[test]
fn text_that_ends_early_is_told_where_it_ends() {
    refused("{\"n\":1}\n{\"n\":", &["bad.jsonl:2:6: "]);
    refused("[{\"n\":1},\n", &["bad.jsonl:2:1: "]);
    refused("[{\"n\":1}", &["bad.jsonl:1:9: "]);
    refused("[{\"n\":1}] {}", &["bad.jsonl:1:11: "]);
}

#[test]
fn a_name_that_comes_twice_is_told() {
    refused("{\"n\":1,\"m\":2,\"n\":3}", &["bad.jsonl:1:14: ", "\"n\"", "twice"]);
}

#[test]
fn a_number_out_of_range_is_told() {
    refused("{\"n\":9223372036854775808}", &["bad.jsonl:1:6: "]);
    refused("{\"n\":1e999}", &["bad.jsonl:1:6: "]);
}

#[test]
fn bytes_that_are_not_text_are_told() {
    refused(b"{\"n\":1}\n{\"n\":\"\xff\"}\n", &["bad.jsonl:2:", "UTF-8"]);
}

#[test]
fn nesting_beyond_the_limit_is_told() {
    let nested =
        |depth: usize| format!("{{\"n\":1}}\n{{\"deep\":{}{}}}\n", "[".repeat(depth), "]".repeat(depth));
    refused(nested(128), &["bad.jsonl:2", "128"]);
    refused(nested(100_000), &["bad.jsonl:2", "128"]);
    Bench::with_notes(&nested(127));
}

#[test]
fn what_is_no_object_is_told() {
    refused("{}\n5\n", &["bad.jsonl:2:1: "]);
    refused("[{}, 5]", &["bad.jsonl:1:6: "]);
    refused("PK\u{3}\u{4}", &["bad.jsonl:1:1: "]);
}

#[test]
fn a_document_without_a_usable_key_is_told_with_its_line() {
    let bench = Bench::new();
    bench.write("birds.jsonl", "{\"ring\":1}\n{\"name\":\"Wren\"}\n");
    bench
        .run("import s.holo birds.jsonl --key ring")
        .fails_saying(2, &["birds.jsonl:2: ", "\"ring\"", "nothing was imported"]);
    bench.write("birds.jsonl", "\n{\"ring\":1.5}\n");
    bench
        .run("import s.holo birds.jsonl --key ring")
        .fails_saying(2, &["birds.jsonl:2: ", "\"ring\"", "float"]);
    bench.write("birds.jsonl", format!("[{{\"ring\":\"{}\"}}]", "x".repeat(1025)));
    bench.run("import s.holo birds.jsonl --key ring").fails_saying(2, &["birds.jsonl:1: ", "1025", "1024"]);
    assert!(!bench.exists("s.holo"));
}

#[test]
fn an_entry_without_key_or_document_is_told_with_its_line() {
    for entry in [
        "{\"n\":1}",
        "{\"key\":1}",
        "{\"key\":1,\"doc\":2}",
        "{\"key\":null,\"doc\":{}}",
        "{\"key\":1,\"doc\":{},\"n\":1}",
    ] {
        let bench = Bench::new();
        bench.write("k.jsonl", format!("{{\"key\":1,\"doc\":{{}}}}\n{entry}\n"));
        bench
            .run("import s.holo k.jsonl --with-keys")
            .fails_saying(2, &["k.jsonl:2", "key", "nothing was imported"]);
    }
}

#[test]
fn a_failed_import_in_one_commit_changes_nothing_in_a_store_that_was_there() {
    let bench = Bench::with_notes("{\"n\":1}\n");
    let before = std::fs::read(bench.path("s.holo")).unwrap();
    bench.write("notes.jsonl", "{\"n\":2}\n{\"n\":}\n");
    bench.run("import s.holo notes.jsonl").fails_saying(2, &["notes.jsonl:2:6", "nothing was imported"]);
    assert_eq!(bench.run("export s.holo").done(), "{\"n\":1}\n");
    assert_eq!(std::fs::metadata(bench.path("s.holo")).unwrap().len(), before.len() as u64);
}

#[test]
fn a_failed_import_in_batches_keeps_the_batches_before_and_says_so() {
    let bench = Bench::new();
    let mut lines: String = (1..=25).map(|n| format!("{{\"n\":{n}}}\n")).collect();
    lines.push_str("oops\n");
    bench.write("notes.jsonl", lines);
    let run = bench.run("import s.holo notes.jsonl --batch 10");
    run.fails_saying(2, &["notes.jsonl:26:1", "first 20 documents are committed and stay"]);
    assert_eq!(bench.run("export s.holo").done().lines().count(), 20);
}

#[test]
fn a_bad_argument_is_told_with_its_column() {
    let bench = Bench::new();
    bench.run_args(["put", "s.holo", "notes", "1", "{\"n\"}"]).fails_saying(2, &["<argument>:1:5"]);
    bench.run_with("put s.holo notes 1 -", "{\n\"n\"}").fails_saying(2, &["<stdin>:2:4"]);
    bench.run_args(["put", "s.holo", "notes", "1", "[]"]).fails_saying(2, &["<argument>:1:1", "object"]);
    bench.run_args(["put", "s.holo", "notes", &"k".repeat(1025), "{}"]).fails_saying(2, &["1025", "1024"]);
    bench.run_args(["put", "s.holo", "$notes", "1", "{}"]).fails_saying(2, &["$notes"]);
}
