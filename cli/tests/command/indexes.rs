//! `holotype index`: indexes from a shell.

use std::process::Stdio;
use std::thread;
use std::time::Duration;

use holotype::{Db, Options, doc};

use crate::bench::{Bench, SAMPLE};

/// Wren, Robin, Heron, and two without a year, one of which says so.
fn birds() -> Bench {
    Bench::with_notes(concat!(
        "{\"name\":\"Wren\",\"year\":1859,\"tags\":[\"small\",\"brown\"]}\n",
        "{\"name\":\"Robin\",\"year\":1831.0,\"tags\":[\"small\"]}\n",
        "{\"name\":\"Heron\",\"year\":1862,\"tags\":[]}\n",
        "{\"name\":\"Owl\"}\n",
        "{\"name\":\"Rook\",\"year\":null}\n",
    ))
}

fn create(bench: &Bench, arguments: &[&str]) -> String {
    bench.run_args([&["index", "create", "s.holo", "notes"], arguments].concat()).done()
}

fn scan(bench: &Bench, arguments: &[&str]) -> Vec<String> {
    let out = bench.run_args([&["index", "scan", "s.holo", "notes"], arguments].concat()).done();
    out.lines().map(str::to_owned).collect()
}

#[test]
fn an_index_is_made_once_and_replaced_when_asked() {
    let bench = birds();
    assert_eq!(create(&bench, &["by_year", "--on", "$.year"]), "made the index \"by_year\" of \"notes\"\n");
    let again = "the index \"by_year\" of \"notes\" is there already, unchanged\n";
    assert_eq!(create(&bench, &["by_year", "--on", "$['year']:asc"]), again);
    assert_eq!(create(&bench, &["by_year", "--on", "$.year", "--replace"]), again);
    let other = ["index", "create", "s.holo", "notes", "by_year", "--on", "$.year:desc"];
    bench.run_args(other).fails_saying(1, &["\"by_year\"", "already", "--replace"]);
    let replaced = create(&bench, &["by_year", "--on", "$.year:desc", "--replace"]);
    assert_eq!(replaced, "made the index \"by_year\" of \"notes\"\n");
    let listed = bench.run("index list s.holo notes").done();
    assert!(listed.starts_with("\"by_year\" on $.year:desc: 5 entries, "), "{listed}");
}

#[test]
fn an_index_is_of_a_function_of_a_path() {
    let bench = birds();
    create(&bench, &["folded", "--on", "fold($.name):desc", "--on", "length($.tags)"]);
    let listed = bench.run("index list s.holo notes").done();
    assert!(listed.starts_with("\"folded\" on fold($.name):desc length($.tags): 5 entries, "), "{listed}");
    let listed = bench.run("index list s.holo notes --json").done();
    assert_eq!(listed, "{\"on\":[\"-fold($.name)\",\"length($.tags)\"],\"name\":\"folded\"}\n");
    let first = scan(&bench, &["folded", "--from", "\"wren\"", "--keys", "--limit", "1"]);
    assert_eq!(first, ["{\"values\":[\"wren\",2],\"key\":1}"]);
    let found =
        bench.run_args(["find", "s.holo", "notes", "fold(@.name) == 'wren'", "--index", "folded", "--keys"]);
    assert_eq!(found.done(), "1\n");
    let plan = bench
        .run_args(["find", "s.holo", "notes", "fold(@.name) == 'wren'", "--index", "folded", "--explain"])
        .done();
    assert!(plan.contains("folded"), "{plan}");
    let accepted = "fold, lower, time or length";
    for (wrong, says) in [
        ("upper($.name)", ["byte 0", accepted]),
        ("fold($.name", ["byte 0", accepted]),
        ("fold($.na me)", ["byte 9", "fold($.na me)"]),
    ] {
        let arguments = ["index", "create", "s.holo", "notes", "other", "--on", wrong];
        bench.run_args(arguments).fails_saying(2, &says);
    }
}

#[test]
fn an_index_is_of_the_documents_that_a_filter_admits() {
    let bench = birds();
    create(&bench, &["old", "--on", "$.year", "--unique", "--where", "@['year']<1860"]);
    let listed = bench.run("index list s.holo notes").done();
    assert!(listed.starts_with("\"old\" on $.year, unique, where @.year < 1860: 2 entries, "), "{listed}");
    let all = bench.run("index list s.holo --json").done();
    assert!(all.contains(",\"where\":\"@.year < 1860\""), "{all}");
    bench.write("all.jsonl", &all);
    bench.run("put t.holo notes 1 {}").done();
    let made = bench.run("index create t.holo notes --from all.jsonl").done();
    assert_eq!(made, "made the index \"old\" of \"notes\"\n");
    assert_eq!(bench.run("index list t.holo --json").done(), all);
    let by_old =
        |filter: &str| bench.run_args(["find", "s.holo", "notes", filter, "--index", "old", "--keys"]);
    assert_eq!(by_old("@.year < 1860 && @.name == 'Wren'").done(), "1\n");
    let told =
        bench.run_args(["find", "s.holo", "notes", "@.year < 1860", "--index", "old", "--explain"]).done();
    assert!(told.starts_with("index \"old\" of what @.year < 1860: 1 range, 2 entries\n"), "{told}");
    by_old("@.year < 1861").fails_saying(2, &["\"old\""]);
    for (wrong, place) in [("@.year <", 8), ("@.name == arg('x')", 10), ("match(@.name, 'W.*')", 0)] {
        let arguments = ["index", "create", "s.holo", "notes", "other", "--on", "$.name", "--where", wrong];
        bench.run_args(arguments).fails_saying(2, &[wrong, &place.to_string()]);
    }
    assert_eq!(
        bench.run("index check s.holo").done(),
        "\"notes\" \"old\": 2 entries checked: all as their documents say\n"
    );
}

#[test]
fn documents_and_entries_are_written_in_the_order_of_the_index() {
    let bench = birds();
    create(&bench, &["by_year", "--on", "$.year"]);
    let keys = |arguments: &[&str]| scan(&bench, &[&["by_year", "--keys"], arguments].concat());
    let (nothing, null) = ("{\"values\":[null],\"nothing\":[0],\"key\":4}", "{\"values\":[null],\"key\":5}");
    let (robin, wren, heron) =
        ("{\"values\":[1831.0],\"key\":2}", "{\"values\":[1859],\"key\":1}", "{\"values\":[1862],\"key\":3}");
    assert_eq!(keys(&[]), [nothing, null, robin, wren, heron]);
    assert_eq!(keys(&["--reverse", "--limit", "2"]), [heron, wren]);
    assert_eq!(keys(&["--from", "1831", "--to", "[1859]"]), [robin, wren]);
    assert_eq!(keys(&["--from", "null", "--to", "null"]), [null]);
    assert_eq!(keys(&["--from", "-1", "--to", "1831"]), [robin]);
    assert_eq!(
        scan(&bench, &["by_year", "--from", "1860"]),
        ["{\"name\":\"Heron\",\"tags\":[],\"year\":1862}"]
    );
    let with_key = scan(&bench, &["by_year", "--to", "null", "--with-keys", "--limit", "1"]);
    assert_eq!(with_key, ["{\"key\":4,\"doc\":{\"name\":\"Owl\"}}"]);
    create(&bench, &["by_tags", "--on", "$.tags"]);
    assert_eq!(
        scan(&bench, &["by_tags", "--keys", "--from", "[[\"small\"]]", "--to", "[[\"small\"]]"]).len(),
        1
    );
    create(&bench, &["by_tag", "--on", "$.tags[*]:desc", "--on", "$.name", "--sparse"]);
    let tags = [
        "{\"values\":[\"small\",\"Robin\"],\"key\":2}",
        "{\"values\":[\"small\",\"Wren\"],\"key\":1}",
        "{\"values\":[\"brown\",\"Wren\"],\"key\":1}",
        "{\"values\":[null,\"Heron\"],\"nothing\":[0],\"key\":3}",
    ];
    assert_eq!(scan(&bench, &["by_tag", "--keys", "--limit", "4"]), tags);
    assert_eq!(scan(&bench, &["by_tag", "--keys", "--from", "\"small\"", "--to", "\"small\""]), tags[..2]);
    assert_eq!(
        scan(&bench, &["by_tag", "--keys", "--from", "[\"small\",\"Wren\"]", "--limit", "2"]),
        tags[1..3]
    );
}

#[test]
fn definitions_that_are_listed_can_be_created_elsewhere() {
    let bench = birds();
    create(
        &bench,
        &["by_year", "--on", "$.year:desc", "--on", "$['a:desc']", "--on", "time($.at):desc", "--sparse"],
    );
    create(&bench, &["name", "--on", "$.name", "--unique"]);
    bench.run_args(["put", "s.holo", "other", "1", "{}"]).done();
    bench.run_args(["index", "create", "s.holo", "other", "n", "--on", "$.n"]).done();
    let all = bench.run("index list s.holo --json").done();
    let of_one = bench.run("index list s.holo notes --json").done();
    assert_eq!((all.lines().count(), of_one.lines().count()), (3, 2));
    assert!(!of_one.contains("collection"), "{of_one}");
    bench.write("all.jsonl", &all);
    bench.write("one.jsonl", &of_one);
    bench.run("put t.holo notes 1 {}").done();
    let made = bench.run("index create t.holo notes --from all.jsonl").done();
    assert!(made.lines().count() == 3 && made.lines().all(|line| line.starts_with("made ")), "{made}");
    assert_eq!(bench.run("index list t.holo --json").done(), all);
    let again = bench.run("index create t.holo notes --from all.jsonl").done();
    assert!(again.lines().all(|line| line.ends_with("unchanged")), "{again}");
    bench.run("index create t.holo third --from one.jsonl").done();
    assert_eq!(bench.run("index list t.holo third --json").done(), of_one);
    bench.run_with("index create t.holo fourth --from -", &of_one).done();
    bench.write("changed.jsonl", "[{\"name\":\"name\",\"on\":[\"$.name\"],\"unique\":false}]");
    bench.run("index create t.holo third --from changed.jsonl").fails(1);
    bench.run("index create t.holo third --from changed.jsonl --replace").done();
    // One that is given twice is there when it comes again; another of its name is refused.
    let on = |path: &str| format!("{{\"name\":\"twice\",\"on\":[\"{path}\"]}}\n");
    bench.write("twice.jsonl", on("$.a") + &on("$['a']"));
    let made = bench.run("index create t.holo fifth --from twice.jsonl").done();
    let lines: Vec<_> = made.lines().collect();
    assert!(matches!(lines[..], [made, again] if made.starts_with("made ") && again.ends_with("unchanged")));
    bench.write("other.jsonl", on("$.a") + &on("$.b"));
    let refused = bench.run("index create t.holo sixth --from other.jsonl");
    assert!(refused.code == 1 && refused.out.lines().count() == 1, "{refused:?}");
    assert!(refused.err.contains("\"twice\" already"), "{refused:?}");
}

#[test]
fn values_of_every_kind_are_scanned_in_order_and_as_they_were() {
    let values = [
        "null",
        "false",
        "true",
        "-9223372036854775808",
        "-0.0",
        "0",
        "1",
        "1.0",
        "1.5",
        "9007199254740992",
        "9007199254740992.0",
        "9007199254740993",
        "9223372036854775807",
        "1e300",
        "\"\"",
        "\"a\"",
        "[]",
        "{}",
    ];
    let lines = values.iter().rev().map(|value| format!("{{\"v\":{value}}}\n"));
    let bench = Bench::with_notes(&(lines.collect::<String>() + "{}\n"));
    create(&bench, &["v", "--on", "$.v"]);
    let found = scan(&bench, &["v", "--keys"]);
    // An int that a double may not hold says what it is.
    let told = |value: &str| match value.parse::<i64>() {
        Ok(int) if int.unsigned_abs() >= 1 << 53 => format!("{{\"$numberLong\":\"{int}\"}}"),
        _ => value.to_owned(),
    };
    let entry = |(value, key): (&&str, i64)| format!("{{\"values\":[{}],\"key\":{key}}}", told(value));
    let mut expected: Vec<String> = values.iter().rev().zip(1..).map(entry).collect();
    expected.push("{\"values\":[null],\"nothing\":[0],\"key\":19}".to_owned());
    expected.reverse();
    // Of those at one place the smaller key comes first.
    for (one, other) in [(5, 6), (7, 8), (10, 11)] {
        expected.swap(one, other);
    }
    assert_eq!(found, expected);
    assert_eq!(scan(&bench, &["v", "--keys", "--from", "1", "--to", "1.0"]).len(), 2);
    assert_eq!(
        scan(&bench, &["v", "--keys", "--from", "9007199254740993", "--to", "9007199254740993"]).len(),
        1
    );
}

#[test]
fn indexes_are_dropped_renamed_and_checked() {
    let bench = birds();
    create(&bench, &["by_year", "--on", "$.year"]);
    create(&bench, &["by_tag", "--on", "$.tags[*]"]);
    bench.run("index rename s.holo notes by_year years").done();
    bench.run("index drop s.holo notes by_tag").done();
    bench.run("index drop s.holo notes by_tag").fails_saying(1, &["by_tag", "index list"]);
    bench.run("index rename s.holo notes by_year more").fails_saying(1, &["by_year", "index list"]);
    bench.run_args(["put", "s.holo", "notes", "9", "{\"year\":[1,2]}"]).done();
    bench.run("delete s.holo notes 1").done();
    let checked = bench.run("index check s.holo").done();
    assert_eq!(checked, "\"notes\" \"years\": 5 entries checked: all as their documents say\n");
    assert_eq!(bench.run("index check s.holo notes").done(), checked);
    bench.run("verify s.holo --deep").done();
    bench.run("checkpoint s.holo").done();
    assert_eq!(bench.run("index check s.holo").done(), checked);
}

#[test]
fn real_documents_agree_with_their_indexes() {
    let bench = Bench::new();
    bench.run_args(["import", "s.holo", SAMPLE, "--collection", "notes"]).done();
    create(&bench, &["any", "--on", "$[*]"]);
    create(&bench, &["deep", "--on", "$.*.*", "--sparse"]);
    let checked = bench.run("index check s.holo").done();
    assert!(
        checked.lines().count() == 2 && checked.lines().all(|line| line.contains(": all as")),
        "{checked}"
    );
    assert!(scan(&bench, &["any", "--keys"]).len() >= 200);
    // Entries longer than a key can be stand in a checkpoint too.
    bench.run("checkpoint s.holo").done();
    assert_eq!(bench.run("index check s.holo").done(), checked);
    bench.run("verify s.holo --deep").done();
}

#[test]
fn a_unique_index_names_the_documents_that_it_cannot_have() {
    let bench = Bench::with_notes("{\"a\":1}\n{\"a\":1.0}\n{}\n{}\n{\"a\":\"x\"}\n{\"a\":\"x\"}\n");
    let unique = ["index", "create", "s.holo", "notes", "a", "--on", "$.a", "--unique"];
    bench.run_args(unique).fails_saying(1, &["of 1 and 2", "\"x\"", "of 5 and 6", "--unique"]);
    assert_eq!(bench.run("index list s.holo").done(), "");
    bench.run("delete s.holo notes 1").done();
    bench.run("delete s.holo notes 6").done();
    bench.run_args(unique).done();
    bench
        .run_args(["put", "s.holo", "notes", "7", "{\"a\":\"x\"}"])
        .fails_saying(1, &["\"a\"", "\"x\"", "5"]);
}

#[test]
fn what_is_wrong_with_an_index_is_told() {
    let bench = birds();
    create(&bench, &["by_year", "--on", "$.year"]);
    bench.write("bad.jsonl", "{\"name\":\"n\",\"on\":[\"$.n\"]}\n{\"name\":\"m\",\"on\":\"$.n\"}\n");
    bench.write("key.jsonl", "{\"name\":\"n\",\"on\":[\"$.n\"],\"with\":1}\n");
    bench.write("of.jsonl", "{\"name\":\"n\",\"on\":[\"$.n\"],\"collection\":1}\n");
    for (code, arguments, words) in [
        (2, &["create", "s.holo", "notes", "n", "--on", "year"][..], &["--on year", "byte 0"][..]),
        (2, &["create", "s.holo", "notes", "n", "--on", "$.year:up"], &["--on $.year:up"]),
        (2, &["create", "s.holo", "notes", "n", "--on=-$.year"], &["--on -$.year"]),
        (2, &["create", "s.holo", "notes", "n", "--on", "$..year"], &["$..year"]),
        (2, &["create", "s.holo", "notes", "n", "--on", "$"], &["\"n\""]),
        (2, &["create", "s.holo", "notes", "n", "--on", "$.a[?@.b]"], &["$.a[?@.b]"]),
        (2, &["create", "s.holo", "notes", "n", "--on", "$.a[0:2]"], &["$.a[0:2]"]),
        (2, &["create", "s.holo", "notes", "$n", "--on", "$.a"], &["name"]),
        (2, &["create", "s.holo", "notes", "n", "--on", "$.a[*]", "--on", "$.b[*]"], &["wildcard"]),
        (2, &["create", "s.holo", "notes", "n", "--on", "$.a", "--on", "$.a"], &["twice"]),
        (2, &["create", "s.holo", "notes", "", "--on", "$.a"], &["name"]),
        (2, &["create", "s.holo", "notes", "--from", "bad.jsonl"], &["bad.jsonl:2", "\"on\""]),
        (2, &["create", "s.holo", "notes", "--from", "key.jsonl"], &["key.jsonl:1", "\"with\""]),
        (2, &["create", "s.holo", "notes", "--from", "of.jsonl"], &["of.jsonl:1", "\"collection\""]),
        (2, &["create", "s.holo", "notes", "--from", "none.jsonl"], &["none.jsonl"]),
        (3, &["create", "none.holo", "notes", "n", "--on", "$.a"], &["none.holo", "import"]),
        (1, &["list", "s.holo", "nothing"], &["\"nothing\"", "stats"]),
        (1, &["check", "s.holo", "nothing"], &["\"nothing\"", "stats"]),
        (1, &["drop", "s.holo", "nothing", "n"], &["\"nothing\"", "stats"]),
        (1, &["scan", "s.holo", "nothing", "n"], &["\"nothing\"", "stats"]),
        (1, &["scan", "s.holo", "notes", "n"], &["\"n\"", "index list"]),
        (2, &["scan", "s.holo", "notes", "by_year", "--from", "x"], &["--from x", "1"]),
        (2, &["scan", "s.holo", "notes", "by_year", "--to", "[1,2]"], &["2 values", "1 paths"]),
    ] {
        let run = bench.run_args([&["index"], arguments].concat());
        run.fails_saying(code, words);
    }
    for arguments in [
        "index create s.holo notes",
        "index create s.holo notes n",
        "index create s.holo notes n --from bad.jsonl",
        "index create s.holo notes --from bad.jsonl --unique",
        "index",
    ] {
        let run = bench.run(arguments);
        assert!(run.code == 2 && run.out.is_empty() && run.err.contains("Usage"), "{run:?}");
    }
    assert_eq!(bench.run("index list s.holo").done().lines().count(), 1, "what was refused made nothing");
}

/// Many documents, so that a build takes a while.
fn many() -> Bench {
    let bench = Bench::new();
    let db = Db::open_with(bench.path("s.holo"), &Options::new()).unwrap();
    db.collection("notes")
        .insert_many((0..30_000).map(|n| doc! { "n": n, "tags": [n % 7, n % 11, "x"] }))
        .unwrap();
    db.close().unwrap();
    bench
}

#[test]
fn a_killed_build_leaves_a_whole_index_or_none() {
    let bench = many();
    let mut absent = 0;
    for step in 0..16 {
        let mut command = bench.command();
        command.args(["index", "create", "s.holo", "notes", "tags", "--on", "$.tags[*]", "--on", "$.n:desc"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(Duration::from_millis(8 * step));
        child.kill().unwrap();
        child.wait().unwrap();
        let listed = bench.run("index list s.holo notes").done();
        match listed.as_str() {
            "" => absent += 1,
            there => {
                assert!(there.starts_with("\"tags\" on $.tags[*] $.n:desc: "), "{there}");
                let checked = bench.run("index check s.holo").done();
                assert!(checked.ends_with("all as their documents say\n"), "{checked}");
                bench.run("index drop s.holo notes tags").done();
            }
        }
    }
    assert!(absent > 0, "no kill came before the end of a build");
    bench.run("verify s.holo --deep").done();
    create(&bench, &["tags", "--on", "$.tags[*]"]);
    bench.run("index check s.holo").done();
}

#[test]
fn a_killed_swap_leaves_one_of_the_two_indexes_and_a_killed_drop_one_or_none() {
    let bench = many();
    let (up, down) = ("\"n\" on $.n: 30000 entries, ", "\"n\" on $.n:desc: 30000 entries, ");
    create(&bench, &["n", "--on", "$.n"]);
    let killed_after = |millis: u64, arguments: &[&str]| {
        let mut command = bench.command();
        command.args([&["index"], arguments].concat());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(Duration::from_millis(millis));
        child.kill().unwrap();
        child.wait().unwrap();
        let listed = bench.run("index list s.holo notes").done();
        let checked = bench.run("index check s.holo").done();
        assert_eq!(listed.is_empty(), checked.is_empty());
        assert!(listed.is_empty() || checked.ends_with("all as their documents say\n"), "{checked}");
        listed
    };
    for step in 0..8 {
        let on = ["$.n:desc", "$.n"][step as usize % 2];
        let listed = killed_after(12 * step, &["create", "s.holo", "notes", "n", "--on", on, "--replace"]);
        assert!(listed.starts_with(up) || listed.starts_with(down), "{listed}");
    }
    for step in 0..8 {
        let listed = killed_after(4 * step, &["drop", "s.holo", "notes", "n"]);
        assert!(listed.is_empty() || listed.starts_with(up) || listed.starts_with(down), "{listed}");
        create(&bench, &["n", "--on", "$.n", "--replace"]);
    }
    bench.run("verify s.holo --deep").done();
}

#[cfg(unix)]
#[test]
fn an_interrupted_build_says_so_and_makes_nothing() {
    let bench = many();
    for step in 1..40 {
        let mut command = bench.command();
        command.args(["index", "create", "s.holo", "notes", "n", "--on", "$.tags[*]"]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        thread::sleep(Duration::from_millis(5 * step));
        std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        let output = child.wait_with_output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        match output.status.code() {
            Some(1) => {
                assert!(error.contains("interrupted after") && error.contains("was not made"), "{error}");
                assert_eq!(bench.run("index list s.holo").done(), "");
                return;
            }
            Some(0) => bench.run("index drop s.holo notes n").done(),
            // Before it listened.
            None => String::new(),
            other => panic!("{other:?}: {error}"),
        };
    }
    panic!("no interrupt met a build");
}

#[test]
fn an_import_tells_whether_the_other_document_of_a_unique_index_is_its_own() {
    let bench = Bench::with_notes("{\"n\":1}\n");
    bench.run("index create s.holo notes by_n --on $.n --unique").done();
    let own = "that document is to be imported too";
    bench.write("notes.jsonl", "{\"n\":2}\n{\"n\":2}\n");
    bench.run("import s.holo notes.jsonl").fails_saying(1, &["by_n", "[2]", own, "nothing was imported"]);
    bench.write("notes.jsonl", "{\"n\":1}\n");
    let message = bench.run("import s.holo notes.jsonl").fails(1);
    assert!(message.contains("document 1; nothing was imported"), "{message}");
}
