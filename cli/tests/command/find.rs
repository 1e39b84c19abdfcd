//! `holotype find` and `holotype group`: queries from a shell.

use crate::bench::Bench;

/// Wren, Robin, Heron, and one without a year.
fn birds() -> Bench {
    Bench::with_notes(concat!(
        "{\"name\":\"Wren\",\"year\":1859,\"tags\":[\"small\",\"brown\"],\"seen\":[{\"where\":\"hedge\",\"n\":2}]}\n",
        "{\"name\":\"Robin\",\"year\":1831,\"tags\":[\"small\"]}\n",
        "{\"name\":\"Heron\",\"year\":1862,\"tags\":[\"grey\"],\"seen\":[{\"where\":\"pond\",\"n\":1},{\"where\":\"river\",\"n\":4}]}\n",
        "{\"name\":\"Owl\"}\n",
    ))
}

fn find<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [&["find", "s.holo", "notes"], arguments].concat()
}

/// The names of the documents that are printed.
fn names(bench: &Bench, arguments: &[&str]) -> Vec<String> {
    let run = bench.run_args(find(arguments));
    assert_eq!(run.code, 0, "{run:?}");
    // What a limit cuts off is told apart from the documents.
    assert!(run.err.is_empty() || run.err.contains("--after"), "{run:?}");
    let name = |line: &str| {
        let document: serde_json::Value = serde_json::from_str(line).unwrap();
        document["name"].as_str().unwrap().to_owned()
    };
    run.out.lines().map(name).collect()
}

#[test]
fn documents_are_found_sorted_and_cut() {
    let bench = birds();
    assert_eq!(names(&bench, &[]), ["Wren", "Robin", "Heron", "Owl"]);
    assert_eq!(names(&bench, &["@.year >= 1850"]), ["Wren", "Heron"]);
    assert_eq!(
        names(&bench, &["@.tags[?@ == 'small'] && @.year < arg('to')", "--arg", "to=1850"]),
        ["Robin"]
    );
    assert_eq!(names(&bench, &["--sort", "$.year:desc"]), ["Heron", "Wren", "Robin", "Owl"]);
    assert_eq!(
        names(&bench, &["--sort", "length(@.tags)", "--sort", "fold($.name)"]),
        ["Owl", "Heron", "Robin", "Wren"]
    );
    assert_eq!(names(&bench, &["--sort", "$.name", "--skip", "1", "--limit", "2"]), ["Owl", "Robin"]);
    assert_eq!(bench.run_args(find(&["@.year", "--count"])).done(), "3\n");
    assert_eq!(bench.run_args(find(&["key() > 2", "--keys"])).done(), "3\n4\n");
    let parts = find(&["@.seen", "--project", "$.name", "--project", "$.seen[*].where"]);
    assert_eq!(
        bench.run_args(parts).done(),
        "{\"name\":\"Wren\",\"seen\":[{\"where\":\"hedge\"}]}\n{\"name\":\"Heron\",\"seen\":[{\"where\":\"pond\"},{\"where\":\"river\"}]}\n"
    );
    let entry = bench.run_args(find(&["@.name == 'Owl'", "--project", "$.name", "--with-keys"])).done();
    assert_eq!(entry, "{\"key\":4,\"doc\":{\"name\":\"Owl\"}}\n");
    let key = bench.run_args(find(&["@.name == 'Owl'", "--keys", "--canonical"])).done();
    assert_eq!(key, "{\"$numberInt\":\"4\"}\n");
    let entry = bench.run_args(find(&["@.name == 'Owl'", "--with-keys"])).done();
    assert_eq!(entry, "{\"key\":4,\"doc\":{\"name\":\"Owl\"}}\n");
}

#[test]
fn parts_are_of_no_matter_to_a_count_and_to_keys() {
    let bench = birds();
    for told in ["--count", "--keys"] {
        let whole = bench.run_args(find(&[told, "@.year"])).done();
        assert_eq!(bench.run_args(find(&[told, "@.year", "--project", "$.name"])).done(), whole);
    }
}

#[test]
fn pages_go_on_from_the_cursor_that_is_told() {
    let bench = birds();
    let (mut pages, mut after) = (Vec::new(), None::<String>);
    loop {
        let mut arguments = vec!["--sort", "$.year", "--limit", "3", "--project", "$.name"];
        if let Some(after) = &after {
            arguments.extend(["--after", after]);
        }
        let run = bench.run_args(find(&arguments));
        assert_eq!(run.code, 0, "{run:?}");
        pages.push(run.out.lines().count());
        match run.err.split_once("--after ") {
            Some((_, cursor)) => after = Some(cursor.trim().to_owned()),
            None => break,
        }
    }
    assert_eq!(pages, [3, 1]);
    let cursor = after.expect("there was a second page");
    bench.run_args(find(&["--sort", "$.name", "--after", &cursor])).fails_saying(2, &["another query"]);
    bench.run_args(find(&["--sort", "$.year", "--after", &cursor[1..]])).fails_saying(2, &["cursor"]);
}

#[test]
fn pages_of_keys_go_on_from_the_cursor_that_is_told() {
    let bench = birds();
    for sort in [&["--sort", "$.year:desc"][..], &["--sort", "$.year:asc"], &[]] {
        let all = bench.run_args(find(&[sort, &["--keys"]].concat())).done();
        let (mut keys, mut after) = (String::new(), None::<String>);
        for page in 0.. {
            assert!(page < 5, "{keys}");
            let after_last = after.iter().flat_map(|after| ["--after", after]);
            let arguments = ["--keys", "--limit", "1"].into_iter().chain(after_last);
            let run = bench.run_args(find(&[sort, &arguments.collect::<Vec<_>>()].concat()));
            assert_eq!(run.code, 0, "{run:?}");
            keys += &run.out;
            match run.err.split_once("--after ") {
                Some((_, cursor)) => after = Some(cursor.trim().to_owned()),
                None => break,
            }
        }
        assert_eq!(keys, all, "{sort:?}");
        let none = bench.run_args(find(&[sort, &["--keys", "--limit", "0"]].concat()));
        assert_eq!((none.code, none.out.as_str(), none.err.as_str()), (0, "", ""));
    }
}

#[test]
fn a_filter_may_begin_with_a_number_below_zero() {
    let bench = birds();
    assert_eq!(names(&bench, &["-1 < @.year"]), ["Wren", "Robin", "Heron"]);
    let dry = ["--where", "-1 < @.year", "--dry-run"];
    let matched = "{\"matched\": 3, \"changed\": 3}\n";
    assert_eq!(bench.run_args([&["delete", "s.holo", "notes"], &dry[..]].concat()).done(), matched);
    let group = ["group", "s.holo", "notes", "--by", "$.none", "--where", "-1 < @.year"];
    assert_eq!(bench.run_args(group).done(), "{\"count\":3}\n");
    let index = ["index", "create", "s.holo", "notes", "i", "--on", "$.year", "--where", "-1 < @.year"];
    bench.run_args(index).done();
    let run = bench.run_args(find(&["--lmit", "3"]));
    assert!(run.code == 2 && run.err.contains("'--lmit'") && run.err.contains("'--limit'"), "{run:?}");
}

#[test]
fn without_what_they_have_in_common_all_documents_are_one_group() {
    let bench = birds();
    assert_eq!(bench.run("group s.holo notes").done(), "{\"count\":4}\n");
    assert_eq!(
        bench.run("group s.holo notes --max $.year --where @.tags").done(),
        "{\"count\":3,\"max\":{\"$.year\":1862}}\n"
    );
}

#[test]
fn a_group_that_looks_like_a_wrapper_is_one() {
    let bench = birds();
    bench.run_args(["put", "s.holo", "odd", "1", r#"{"a":{"$literal":{"$literal":5}}}"#]).done();
    assert_eq!(
        bench.run_args(["group", "s.holo", "odd", "--by", "$.a['$literal']"]).done(),
        "{\"$literal\":{\"$literal\":5,\"count\":1}}\n"
    );
}

#[test]
fn groups_are_counted_and_added_up() {
    let bench = birds();
    let group =
        |arguments: &[&str]| bench.run_args([&["group", "s.holo", "notes"], arguments].concat()).done();
    assert_eq!(
        group(&["--by", "$.tags[*]", "--count"]),
        "{\"count\":1}\n{\"tags\":\"brown\",\"count\":1}\n{\"tags\":\"grey\",\"count\":1}\n{\"tags\":\"small\",\"count\":2}\n"
    );
    assert_eq!(
        group(&[
            "--by",
            "type(@.seen)",
            "--where",
            "@.year",
            "--sum",
            "$.seen[*].n",
            "--avg",
            "$.year",
            "--min",
            "$.name",
            "--max",
            "$.year"
        ]),
        concat!(
            "{\"count\":1,\"sum\":{\"$.seen[*].n\":0},\"avg\":{\"$.year\":1831.0},\"min\":{\"$.name\":\"Robin\"},\"max\":{\"$.year\":1831}}\n",
            "{\"type(@.seen)\":\"array\",\"count\":2,\"sum\":{\"$.seen[*].n\":7},\"avg\":{\"$.year\":1860.5},\"min\":{\"$.name\":\"Heron\"},\"max\":{\"$.year\":1862}}\n"
        )
    );
}

#[test]
fn what_is_wrong_with_a_query_is_told() {
    let bench = birds();
    for (arguments, words) in [
        (&["@.year >"][..], &["byte 8"][..]),
        (&["@.tags[*] == 'small'"], &["@.tags[?@ == 'small']"]),
        (&["--sort", "$.tags[*]"], &["$.tags[*]", "more than one"]),
        (&["--sort", "year"], &["byte 0"]),
        (&["--project", "name"], &["byte 0"]),
        (&["@.year == arg('y')"], &["\"y\"", "not bound"]),
        (&["@.year == arg('y')", "--arg", "y=1", "--arg", "x=1"], &["\"x\"", "not in the query"]),
        (&["--arg", "x"], &["--arg x", "`=`"]),
        (&["@.year == arg('y')", "--arg", "y=1", "--arg", "y=2"], &["--arg y=2", "has a value already"]),
        (&["--arg", "x=y"], &["--arg x=y"]),
        (&["--after", "abc"], &["cursor"]),
        (&["--count", "--keys"], &["--keys"]),
        (&["--keys", "--with-keys"], &["--keys", "--with-keys"]),
        (&["--count", "--with-keys"], &["--count", "--with-keys"]),
        (&["@.year >", "--sort", "$.year"], &["filter @.year >: "]),
        (&["@.year", "--sort", "$.name", "--sort", "$."], &["--sort $.: "]),
        (&["@.year", "--sort", "$.year:down"], &["--sort $.year:down: "]),
        (&["--sort", "-$.year"], &["--sort -$.year: ", ":desc"]),
        (&["@.year", "--project", "$.name", "--project", "$["], &["--project $[: "]),
    ] {
        let run = bench.run_args(find(arguments));
        assert!(run.code == 2 && words.iter().all(|word| run.err.contains(word)), "{arguments:?}: {run:?}");
        assert_eq!(run.out, "");
    }
    bench.run("find s.holo nothing").fails_saying(1, &["\"nothing\""]);
    bench.run("group s.holo nothing --by $.a").fails_saying(1, &["\"nothing\""]);
    for option in ["--by", "--where", "--sum", "--avg", "--min", "--max"] {
        bench.run(&format!("group s.holo notes {option} year>")).fails_saying(2, &[option, "year>", "byte"]);
    }
    bench.write("big.jsonl", "{\"n\":9223372036854775807}\n{\"n\":1}\n");
    bench.run("import big.holo big.jsonl").done();
    bench.run("group big.holo big --by $.x --sum $.n").fails_saying(1, &["$.n", "64 bits"]);
}

#[test]
fn an_index_is_chosen_told_and_named() {
    let bench = birds();
    assert_eq!(bench.run("index create s.holo notes by_year --on $.year").code, 0);
    let by_index = find(&["@.year == 1862", "--index", "by_year"]);
    assert!(bench.run_args(by_index).done().contains("Heron"));
    let told = bench.run_args(find(&["@.year == 1862", "--index", "by_year", "--explain"])).done().to_owned();
    assert!(told.starts_with("index \"by_year\": 1 range, 1 entries\norder: that of the keys\n"), "{told}");
    let told = bench.run_args(find(&["@.year == 1862", "--no-index", "--explain"])).done().to_owned();
    assert!(told.starts_with("scan: "), "{told}");
    let told =
        bench.run_args(find(&["@.year == 1862", "--project", "$.year", "--index", "by_year", "--explain"]));
    let told = told.done();
    assert!(told.contains("\nanswered from entries: they have all that is asked for\n"), "{told}");
    let told = bench.run("group s.holo notes --by $.year --explain");
    let told = told.done();
    assert!(told.contains("\nanswered from entries: they have all that is asked for\n"), "{told}");
    assert_eq!(names(&bench, &["@.year", "--no-index", "--sort", "$.year"]), ["Robin", "Wren", "Heron"]);
    assert_eq!(
        names(&bench, &["@.year", "--index", "by_year", "--sort", "$.year"]),
        ["Robin", "Wren", "Heron"]
    );
    let run = bench.run_args(find(&["@.name == 'Owl'", "--index", "by_year"]));
    assert!(run.code == 2 && run.err.contains("cannot answer this query"), "{run:?}");
    let run = bench.run_args(find(&["--index", "by_name", "--count"]));
    assert!(run.code == 1 && run.err.contains("by_name"), "{run:?}");
}
