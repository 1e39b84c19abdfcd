//! Queries: what each call answers and refuses, and what state it is answered from.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use holotype::query::{Filter, field};
use holotype::{
    Collection, Cursor, Db, Error, Hint, IndexDefinition, Key, Options, PlanAccess, PlanOrder, PlanReads,
    Query, QueryPlan, Sort, Update, Value, doc,
};

fn birds() -> Collection {
    let birds = Db::in_memory().collection("birds");
    let seen = [Some(3), None, Some(7), Some(3), None];
    for (n, seen) in seen.into_iter().enumerate() {
        let mut bird = doc! { "name": format!("bird {n}"), "n": n as i64 };
        if let Some(seen) = seen {
            bird.insert("seen", seen);
        }
        birds.insert(bird).unwrap();
    }
    birds
}

fn keys(found: impl Iterator<Item = holotype::Result<holotype::DocRef>>) -> Vec<i64> {
    let key = |key: Key| match key {
        Key::Int(int) => int,
        other => panic!("{other}"),
    };
    found.map(|found| key(found.unwrap().key().to_key())).collect()
}

#[test]
fn nothing_goes_where_the_sort_says() {
    let birds = birds();
    let by = |sort: Sort| keys(birds.find(..).sort(sort).run().unwrap());
    assert_eq!(by(Sort::by("$.seen")), [2, 5, 1, 4, 3]);
    assert_eq!(by(Sort::by("$.seen").nothing_last()), [1, 4, 3, 2, 5]);
    assert_eq!(by(Sort::by("$.seen").descending()), [3, 1, 4, 2, 5]);
    assert_eq!(by(Sort::by("$.seen").descending().nothing_first()), [2, 5, 3, 1, 4]);
}

//= spec/query.md#q-7-2-order
//# A store MUST refuse a sort whose expression is not single.
//= spec/query.md#q-6-1-expression
//# A store MUST refuse a constant (a literal, `arg` or `bytes` alone), or a function that is true or
//# false, as an expression.
#[test]
fn a_wrong_question_is_told_when_it_is_run() {
    let birds = birds();
    let wrong = |sort: &str| birds.find(..).sort(sort).run().err();
    for sort in [
        "$.tags[*]",
        "$..a",
        "1",
        "'a'",
        "arg('x')",
        "bytes('00')",
        "contains(@.a, 'b')",
        "$.",
        "seen",
        "$.a $.b",
    ] {
        assert!(matches!(wrong(sort), Some(Error::Query { .. })), "{sort}: {:?}", wrong(sort));
    }
    assert!(matches!(birds.find("@.a ==").count(), Err(Error::Query { offset: 6, .. })));
    assert!(matches!(birds.find("@.a == arg('x')").count(), Err(Error::Parameter { .. })));
    assert!(matches!(birds.find("@.a == arg('x')").bind("y", 1).count(), Err(Error::Parameter { .. })));
    assert!(matches!(birds.find(..).sort("add(@.seen, arg('x'))").run(), Err(Error::Parameter { .. })));
    assert_eq!(birds.find(..).sort("add(@.seen, arg('x'))").bind("x", 1).count().unwrap(), 5);
    assert!(matches!(birds.find(..).sort("$.a").unordered().run(), Err(Error::InvalidQuery { .. })));
    assert_eq!(birds.find("@.seen").unordered().run().unwrap().count(), 3);
    let none = Db::in_memory().collection("none");
    assert!(matches!(none.find(..).run(), Err(Error::UnknownCollection { .. })));
    assert!(matches!(none.find(..).count(), Err(Error::UnknownCollection { .. })));
}

#[test]
fn one_and_at_most_one_count() {
    let birds = birds();
    assert!(matches!(birds.find("@.n == 9").one(), Err(Error::NotOne { found: 0 })));
    assert!(matches!(birds.find("@.seen == 3").one(), Err(Error::NotOne { found: 2 })));
    assert!(matches!(birds.find("@.seen == 3").at_most_one(), Err(Error::NotOne { found: 2 })));
    assert_eq!(birds.find("@.n == 2").one().unwrap().key().to_key(), Key::Int(3));
    assert!(birds.find("@.n == 9").at_most_one().unwrap().is_none());
    assert!(birds.find(field("n").ge(4)).exists().unwrap());
    assert!(!birds.find(field("n").ge(4)).skip(1).exists().unwrap());
    assert!(birds.find(..).limit(0).first().unwrap().is_none());
}

#[test]
fn documents_come_as_a_type() {
    let birds = birds();
    let names: Vec<(String, i64)> = birds
        .find("@.seen == 3")
        .find_as::<std::collections::BTreeMap<String, holotype::Value>>()
        .unwrap()
        .map(|bird| {
            let bird = bird.unwrap();
            (bird["name"].as_str().unwrap().to_owned(), bird["n"].as_i64().unwrap())
        })
        .collect();
    assert_eq!(names, [("bird 0".to_owned(), 0), ("bird 3".to_owned(), 3)]);
}

//= spec/query.md#q-7-4-cursors
//# A store MUST refuse a cursor of a query of another collection, or with another filter, other bound
//# values or other sorts.
//= spec/query.md#q-7-4-cursors
//# A store MUST refuse a text of which a part is missing, or that is no cursor.
#[test]
fn a_cursor_goes_with_its_query_alone() {
    let db = Db::in_memory();
    for name in ["a", "b"] {
        db.collection(name).insert_many((0..9).map(|n| doc! { "n": n % 3 })).unwrap();
    }
    let (a, b) = (db.collection("a"), db.collection("b"));
    let asked = || a.find("@.n >= arg('x')").bind("x", 0).sort(Sort::by("$.n").descending());
    let mut found = asked().limit(4).run().unwrap();
    assert!(found.cursor().is_none());
    assert_eq!(keys(found.by_ref()), [3, 6, 9, 2]);
    let cursor = found.cursor().unwrap();
    assert_eq!(cursor.key(), Key::Int(2));
    assert_eq!(keys(asked().after(cursor.clone()).run().unwrap()), [5, 8, 1, 4, 7]);
    let refused = [
        b.find("@.n >= arg('x')").bind("x", 0).sort(Sort::by("$.n").descending()),
        a.find("@.n >= arg('x')").bind("x", 1).sort(Sort::by("$.n").descending()),
        a.find("@.n > arg('x')").bind("x", 0).sort(Sort::by("$.n").descending()),
        a.find("@.n >= arg('x')").bind("x", 0).sort("$.n"),
        a.find("@.n >= arg('x')").bind("x", 0).sort(Sort::by("$.n").descending().nothing_first()),
        a.find("@.n >= arg('x')").bind("x", 0),
        a.find(Filter::parse("@.n >= arg('x')").unwrap().bind("x", 7).unwrap())
            .sort(Sort::by("$.n").descending()),
    ];
    for query in refused {
        let other = query.clone();
        let error = query.after(cursor.clone()).run().err();
        assert!(matches!(error, Some(Error::InvalidCursor { .. })), "{error:?} of {other:?}");
    }
    assert!(matches!(a.find(..).unordered().after(cursor.clone()).run(), Err(Error::InvalidQuery { .. })));
    let text = cursor.to_string();
    assert_eq!(text.parse::<Cursor>().unwrap(), cursor);
    for len in 0..text.len() {
        assert!(matches!(text[..len].parse::<Cursor>(), Err(Error::InvalidCursor { .. })), "{len}");
    }
    let other = format!("{}{}", &text[..text.len() / 2], text[text.len() / 2..].to_lowercase());
    assert!(other == text || other.parse::<Cursor>().is_err());
}

//= spec/query.md#q-7-1-query
//# A query MUST answer from one state, the one in which it began.
#[test]
fn a_query_answers_the_state_in_which_it_began_whatever_becomes_of_it() {
    for sort in [None, Some("$.n")] {
        let birds = birds();
        let db = Db::in_memory();
        let copy = db.collection("birds");
        for bird in birds.scan(..).unwrap() {
            copy.insert(bird.unwrap().to_document().unwrap()).unwrap();
        }
        let asked = |birds: &Collection| {
            sort.iter().fold(birds.find("@.name"), |query, sort| query.sort(*sort)).run().unwrap()
        };
        let mut found = asked(&copy);
        found.next().unwrap().unwrap();
        copy.update(2, holotype::Update::new().set("$.name", "another")).unwrap();
        copy.delete(3).unwrap();
        copy.insert(doc! { "name": "new", "n": 9 }).unwrap();
        let second = found.next().unwrap().unwrap();
        assert_eq!(second.get("name").unwrap().as_str(), Some("bird 1"));
        copy.clear().unwrap();
        db.drop_collection("birds").unwrap();
        assert_eq!(keys(found), [3, 4, 5]);

        // In a transaction: what it changes meanwhile does not show in what it asked before.
        db.write(|tx| {
            let copy = tx.collection("copy");
            copy.insert_many((0..5).map(|n| doc! { "name": "bird", "n": n }))?;
            let query = sort.iter().fold(copy.find(..), |query, sort| query.sort(*sort));
            let mut seen = 0;
            for found in query.run()? {
                let found = found?;
                assert_eq!(found.get("name").unwrap().as_str(), Some("bird"));
                copy.put(found.key().to_key(), doc! { "name": "changed" })?;
                copy.put(5 - seen, doc! { "name": "changed" })?;
                seen += 1;
            }
            assert_eq!(seen, 5);
            assert_eq!(copy.find("@.name == 'changed'").count()?, 5);
            Ok::<_, Error>(())
        })
        .unwrap();
    }
}

//= spec/query.md#q-7-5-bounds
//# A query beyond a bound MUST end with an error. It MUST NOT answer a part as if it were all.
#[test]
fn a_deadline_an_end_by_the_caller_and_too_little_memory_are_errors() {
    let many = Db::in_memory().collection("many");
    many.insert_many((0..1000).map(|n| doc! { "n": (n * 7) % 1000 })).unwrap();
    let passed = Instant::now();
    assert!(matches!(many.find(..).deadline(passed).count(), Err(Error::DeadlinePassed { scanned: 0 })));
    assert!(matches!(many.find(..).deadline(passed).run(), Err(Error::DeadlinePassed { .. })));
    let later = Instant::now() + Duration::from_secs(3600);
    assert_eq!(many.find("@.n >= 500").deadline(later).count().unwrap(), 500);
    let ending = || {
        many.find("@.n < 0").progress(|progress| match progress.scanned {
            0..512 => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        })
    };
    assert!(matches!(ending().count(), Err(Error::Cancelled { scanned: 512 })));
    assert!(matches!(ending().sort("$.n").run(), Err(Error::Cancelled { scanned: 512 })));
    let mut found = ending().run().unwrap();
    assert!(matches!(found.next(), Some(Err(Error::Cancelled { scanned: 512 }))));
    assert!(found.next().is_none());
    let sort = || many.find(..).sort("$.n").sort_memory(1000);
    assert!(matches!(sort().run(), Err(Error::QueryMemory { max: 1000 })));
    assert_eq!(keys(sort().limit(3).run().unwrap()).len(), 3);
    assert!(matches!(sort().limit(500).run(), Err(Error::QueryMemory { .. })));
    assert!(matches!(many.find(..).sort_memory(1000).distinct("$.n"), Err(Error::QueryMemory { .. })));
}

#[test]
fn a_sort_beyond_its_memory_goes_to_a_file_without_a_name() {
    let directory = tempfile::tempdir().unwrap();
    let db = Db::open_with(
        directory.path().join("s.holo"),
        &Options::new().durability(holotype::Durability::Buffered),
    )
    .unwrap();
    let many = db.collection("many");
    many.insert_many((0..3000).map(|n| doc! { "n": (n * 7) % 1000, "text": "x".repeat((n % 50) as usize) }))
        .unwrap();
    let asked = || many.find("@.n != 3").sort("$.n").sort(Sort::by("$.text").descending());
    let expected = keys(asked().run().unwrap());
    assert_eq!(expected.len(), 2997);
    for memory in [0, 100, 5_000, 100_000] {
        let mut found = asked().sort_memory(memory).run().unwrap();
        let first = keys(found.by_ref().take(10));
        let names: Vec<_> =
            std::fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["s.holo"], "{memory}");
        let cursor = found.cursor().unwrap();
        assert_eq!([first, keys(found)].concat(), expected, "{memory}");
        assert_eq!(
            keys(asked().sort_memory(memory).after(cursor).limit(500).run().unwrap()),
            expected[10..510]
        );
        assert_eq!(
            keys(asked().sort_memory(memory).skip(2000).limit(900).run().unwrap()),
            expected[2000..2900]
        );
    }
}

//= spec/query.md#q-7-5-bounds
//# Answers, groups and distinct values MUST NOT depend on the memory that a query has.
#[test]
fn groups_and_distinct_values_beyond_their_memory_go_to_a_file_without_a_name() {
    let directory = tempfile::tempdir().unwrap();
    let options = Options::new().durability(holotype::Durability::Buffered);
    let db = Db::open_with(directory.path().join("s.holo"), &options).unwrap();
    let many = db.collection("many");
    let documents = (0..3000).map(|n| {
        let tags = holotype::Value::from(vec![n % 7, n % 11]);
        doc! { "n": (n * 7) % 500, "tags": tags, "f": f64::from(n) / 3.0, "text": "x".repeat((n % 50) as usize) }
    });
    many.insert_many(documents).unwrap();
    let all = || many.find("@.n != 3");
    let groups = |memory: usize| {
        let asked = all().sort_memory(memory).group_by(["$.n", "$.tags[*]"]);
        let asked = asked.count_distinct("$.text").sum("$.f").avg("$.f").min("$.text").max("$.f");
        asked.having("@.count != 2").sort("$.max['$.f']").sort(Sort::by("$.n").descending()).run().unwrap()
    };
    let one = |memory: usize| {
        all().sort_memory(memory).group_by(Vec::<&str>::new()).count_distinct("$.f").sum("$.f").run().unwrap()
    };
    let distinct = |memory: usize| all().sort_memory(memory).skip(5).limit(2500).distinct("$.f").unwrap();
    let expected = (groups(64 << 20), one(64 << 20), distinct(64 << 20));
    assert!(expected.0.len() > 2000 && expected.2.len() == 2500, "{} {}", expected.0.len(), expected.2.len());
    for memory in [2_000, 100_000] {
        assert_eq!((groups(memory), one(memory), distinct(memory)), expected, "{memory}");
        let names: Vec<_> =
            std::fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["s.holo"], "{memory}");
    }
}

//= spec/query.md#q-10-4-hints
//# A hint that names an index that the collection does not have MUST be refused as `UnknownIndex`.
//= spec/query.md#q-10-4-hints
//# A hint that names an index that neither bounds the documents that the filter can admit, nor has the order
//# of the sorts, nor all that is asked for, or that is sparse or partial and lacks some of
//# them, MUST be refused as `IndexCannotServe`.
#[test]
fn a_hint_is_followed_or_refused_and_a_cursor_goes_on_with_any() {
    let birds = birds();
    birds.create_index(IndexDefinition::new("seen", ["$.seen"]).unwrap().sparse()).unwrap();
    birds.create_index(IndexDefinition::new("n", ["$.n"]).unwrap()).unwrap();
    let by = |index: &str| Hint::Index(index.to_owned());
    let none = birds.find(..).hint(by("name")).run();
    assert!(matches!(none, Err(Error::UnknownIndex { .. })), "{none:?}");
    // It bounds nothing; it lacks two documents; it has not the order; it has two in another place.
    let refused = [
        birds.find("@.n == 1").hint(by("seen")),
        birds.find("!@.seen").hint(by("seen")),
        birds.find(..).sort("$.seen").hint(by("seen")),
        birds.find("@.n").sort("$.seen").hint(by("seen")),
        birds.find(..).sort(Sort::by("$.n").nothing_last()).hint(by("n")),
        birds.find(..).hint(by("n")),
    ];
    for query in refused {
        let (explained, counted) = (query.clone().explain(), query.clone().count());
        assert!(matches!(explained, Err(Error::IndexCannotServe { .. })), "{query:?}: {explained:?}");
        let is_of_order = format!("{query:?}").contains("nothing_last: Some(true)");
        assert!(
            is_of_order || matches!(counted, Err(Error::IndexCannotServe { .. })),
            "{query:?}: {counted:?}"
        );
        query.hint(Hint::Scan).run().unwrap();
    }
    let mut page = birds.find("@.seen").sort("$.seen").limit(2).hint(by("seen")).run().unwrap();
    assert_eq!(keys(page.by_ref()), [1, 4]);
    let asked = birds.find("@.seen").sort("$.seen").after(page.cursor().unwrap());
    assert_eq!(keys(asked.clone().hint(Hint::Scan).run().unwrap()), [3]);
    assert_eq!(keys(asked.hint(by("seen")).run().unwrap()), [3]);
}

#[test]
fn the_first_of_an_indexed_field_reads_no_more_than_it_answers() {
    let many = Db::in_memory().collection("many");
    let documents = (0..2000).map(|n| doc! { "n": (n * 7) % 2000, "kind": n % 2, "group": n % 100 });
    many.insert_many(documents).unwrap();
    many.create_index(IndexDefinition::new("n", ["$.n"]).unwrap()).unwrap();
    many.create_index(IndexDefinition::new("group", ["-$.group"]).unwrap()).unwrap();
    many.create_index(IndexDefinition::new("kind", ["$.kind", "-$.n"]).unwrap()).unwrap();
    let read = |query: holotype::Query<'_, Collection>| {
        let plan = query.analyze().unwrap();
        let actual = plan.actual.unwrap();
        (plan.order, actual.entries, actual.documents, actual.answers)
    };
    let newest = Sort::by("$.n").descending();
    assert_eq!(read(many.find(..).sort("$.n").limit(100)), (PlanOrder::Index, 100, 100, 100));
    // One more is met, to see where the ties end.
    assert_eq!(read(many.find(..).sort(newest.clone()).limit(100)), (PlanOrder::Index, 101, 100, 100));
    assert_eq!(read(many.find("@.n < 500").sort("$.n").limit(100)), (PlanOrder::Index, 100, 100, 100));
    assert_eq!(read(many.find("@.kind == 1").sort(newest).limit(100)), (PlanOrder::Index, 100, 100, 100));
    // Documents of one value stand in the order of their keys.
    let group = || many.find("@.group == 3").limit(5);
    assert_eq!(read(group()), (PlanOrder::Keys, 5, 5, 5));
    assert_eq!(read(group().sort(Sort::by("key()").descending())), (PlanOrder::Keys, 5, 5, 5));
    assert_eq!(keys(group().run().unwrap()), [4, 104, 204, 304, 404]);
    assert_eq!(keys(group().sort(Sort::by("key()").descending()).run().unwrap())[..2], [1904, 1804]);
    // Half of all documents are had for less by a scan, few of them by entries, and their number without a document.
    assert_eq!(read(many.find("@.n < 1000")), (PlanOrder::Keys, 0, 2000, 1000));
    assert_eq!(read(many.find("@.n < 10 || in(@.n, 5, 1999)")), (PlanOrder::Keys, 12, 11, 11));
    assert_eq!(many.find("@.n >= 1990").count().unwrap(), 10);
    let told = many.find("@.n >= 1990").explain().unwrap().to_string();
    assert_eq!(
        told,
        "index \"n\": 1 range, 10 entries\norder: that of the keys\na scan would look at: 2000 documents"
    );
}

#[test]
fn entries_answer_where_they_have_all_that_is_asked_for() {
    let many = Db::in_memory().collection("many");
    many.insert_many(
        (0..2000).map(|n| doc! { "n": n, "kind": n % 5, "tags": [n % 50, n % 7], "of": { "kind": n % 3 } }),
    )
    .unwrap();
    let create = |name: &str, paths: &[&str]| {
        many.create_index(IndexDefinition::new(name, paths).unwrap()).unwrap();
    };
    create("n", &["-$.n"]);
    create("kind", &["$.kind", "$.n"]);
    create("tags", &["$.tags[*]"]);
    create("of", &["$.of.kind"]);
    let read = |plan: holotype::Result<QueryPlan>| {
        let plan = plan.unwrap();
        let actual = plan.actual.unwrap();
        (plan.reads, actual.documents, actual.answers, actual.entries)
    };
    let all = || many.find(..);
    // Each end of an index, whatever its direction; two paths by two indexes.
    let ends = || all().group_by(Vec::<&str>::new()).min("$.n").max("$.kind");
    assert_eq!(ends().run().unwrap(), [doc! { "count": 2000, "min": { "$.n": 0 }, "max": { "$.kind": 4 } }]);
    let (reads, documents, answers, entries) = read(ends().analyze());
    assert!(reads == PlanReads::Ends && documents == 0 && answers == 1 && entries < 500, "{entries}");
    // From one value to the next; of ints in a fan-out, the first document of each value says which it is.
    let (reads, documents, answers, entries) = read(all().analyze_distinct("$.of.kind"));
    assert!(reads == PlanReads::Values && documents == 0 && answers == 3 && entries < 200, "{entries}");
    let (reads, documents, answers, entries) = read(all().analyze_distinct("$.tags[*]"));
    assert!(reads == PlanReads::Values && documents == 50 && answers == 50, "{documents}, {entries}");
    // Groups by the first paths, and what they add up to; of a range, if the filter says nothing else.
    let sums = |filter: &str| many.find(filter).group_by(["$.kind"]).sum("$.n").count_distinct("$.n");
    assert_eq!(read(sums("@.kind > 2").analyze()), (PlanReads::Entries, 0, 2, 800));
    assert_eq!(read(sums("@.kind > 2 && @.n != 7").analyze()).0, PlanReads::Documents);
    assert_eq!(
        sums("@.kind == 4").run().unwrap(),
        [doc! { "kind": 4, "count": 400, "sum": { "$.n": 400_600 }, "count_distinct": { "$.n": 400 } }]
    );
    // With a limit, no more groups are gone through.
    let (_, _, answers, entries) = read(all().group_by(["$.kind"]).limit(1).analyze());
    assert!(answers == 1 && entries <= 401, "{entries}");
    // The parts of a document that an index has.
    let parts = || many.find("@.kind == 3").sort("$.n").limit(10).project(["$.n", "$.kind"]);
    assert_eq!(read(parts().analyze()), (PlanReads::Entries, 0, 10, 10));
    let first = parts().run().unwrap().next().unwrap().unwrap();
    assert_eq!(first.to_document().unwrap(), doc! { "n": 3, "kind": 3 });
    assert_eq!(
        read(many.find("@.kind == 3").limit(10).project(["$.tags"]).analyze()).0,
        PlanReads::Documents
    );
    let told = all().group_by(["$.kind"]).explain().unwrap().to_string();
    assert!(
        told.ends_with(
            "\nanswered from entries: they have all that is asked for\norder: as the index has it"
        ),
        "{told}"
    );
    // What has all that is asked for serves as a hint.
    let hinted = all().hint(Hint::Index("n".into()));
    assert!(hinted.clone().project(["$.n"]).run().unwrap().count() == 2000 && hinted.run().is_err());
}

#[test]
fn changes_of_many_go_by_an_index_and_meet_each_document_once() {
    let many = Db::in_memory().collection("many");
    many.insert_many((0..1000).map(|n| doc! { "n": n, "tags": [n % 50, n % 50, n % 7] })).unwrap();
    many.create_index(IndexDefinition::new("n", ["$.n"]).unwrap()).unwrap();
    many.create_index(IndexDefinition::new("tags", ["$.tags[*]"]).unwrap()).unwrap();
    let filter = |text: &str| Filter::parse(text).unwrap();
    // What is moved along the index is not met again.
    let report = many.update_many(&filter("@.n >= 990"), Update::new().inc("$.n", 5)).unwrap();
    assert_eq!((report.matched, report.changed), (10, 10));
    assert_eq!(many.find("@.n >= 995").count().unwrap(), 10);
    let report = many.update_many(&filter("@.tags[?@ == 49]"), Update::new().push("$.tags", 49)).unwrap();
    assert_eq!((report.matched, report.changed), (20, 20));
    let report = many.batches_of(3).delete_many(&filter("@.tags[?@ == 49] || @.n == 3")).unwrap();
    assert_eq!((report.matched, report.changed), (21, 21));
    assert_eq!(many.len().unwrap(), 979);
}

//= spec/query.md#q-10-1-plans
//= type=test
//# A plan MUST NOT change what a query answers, nor the order of the answers.
#[test]
fn keys_by_the_order_of_an_index_are_those_that_the_filter_and_a_cursor_admit() {
    let many = Db::in_memory().collection("many");
    many.put_many((0..1000).map(|n| (n, doc! { "n": 1000 - n % 500, "x": n % 7 }))).unwrap();
    many.create_index(IndexDefinition::new("n", ["$.n"]).unwrap()).unwrap();
    let by_order = |filter: &str| many.find(filter).sort("$.n").limit(10).hint(Hint::Index("n".into()));
    let alone = |query: Query<'_, Collection>| {
        let keys = query.keys().unwrap().collect::<Result<Vec<_>, _>>().unwrap();
        keys.into_iter().map(|key| if let Key::Int(int) = key { int } else { 0 }).collect::<Vec<_>>()
    };
    for filter in ["@.x == 1", "@.n > 600", "@.n > 600 && @.x < 3"] {
        let mut page = by_order(filter).hint(Hint::Scan).run().unwrap();
        assert_eq!(alone(by_order(filter)), keys(page.by_ref()), "{filter}");
        let rest = by_order(filter).after(page.cursor().unwrap());
        assert_eq!(alone(rest.clone()), keys(rest.hint(Hint::Scan).run().unwrap()), "{filter}");
    }
}

#[test]
fn a_value_that_lies_in_several_ranges_of_an_index_is_distinct_once() {
    let many = Db::in_memory().collection("many");
    many.put_many((0..40).map(|n| (n, doc! { "a": "x", "b": n / 20 }))).unwrap();
    many.put_many((40..80).map(|n| (n, doc! { "a": "y", "b": n / 60 }))).unwrap();
    many.create_index(IndexDefinition::new("ab", ["$.a", "$.b"]).unwrap()).unwrap();
    let asked = || many.find("in(@.a, 'x', 'y') && in(@.b, 0, 1)");
    let plan = asked().analyze_distinct("$.a").unwrap();
    assert!(matches!(plan.access, PlanAccess::Indexes(_)), "{plan:?}");
    assert_eq!(asked().distinct("$.a").unwrap(), [Value::from("x"), Value::from("y")]);
}

#[test]
fn values_that_many_entries_have_are_passed_and_counted_over_pages_of_an_index() {
    let db = Db::in_memory();
    let many = db.collection("many");
    // Runs of one, of a few, and of more entries than a page has.
    let lens = [1, 3, 700, 1, 300, 2, 600];
    let values = lens.iter().zip(0..).flat_map(|(len, value)| vec![value; *len]);
    many.put_many(values.enumerate().map(|(n, value)| (n as i64, doc! { "v": value, "w": -value }))).unwrap();
    many.create_index(IndexDefinition::new("v", ["$.v"]).unwrap()).unwrap();
    many.create_index(IndexDefinition::new("w", ["-$.w"]).unwrap()).unwrap();
    let by = |hint| many.find(..).hint(hint);
    let counts = |hint| by(hint).group_by(["$.v"]).run().unwrap();
    let all = |hint| by(hint).group_by([""; 0]).count_distinct("$.v").run().unwrap();
    assert_eq!(counts(Hint::Index("v".into())), counts(Hint::Scan));
    assert_eq!(all(Hint::Index("v".into())), all(Hint::Scan));
    for (path, index) in [("$.v", "v"), ("$.w", "w")] {
        let distinct = |hint| by(hint).distinct(path).unwrap();
        assert_eq!(distinct(Hint::Index(index.into())), distinct(Hint::Scan), "{path}");
    }
    db.write(|tx| {
        let many = tx.collection("many");
        many.put(5_000, &doc! { "v": 2 })?;
        many.delete(10)?;
        let by = |hint| many.find(..).hint(hint).group_by(["$.v"]).run();
        assert_eq!(by(Hint::Index("v".into()))?, by(Hint::Scan)?);
        assert_eq!(many.find(..).hint(Hint::Index("v".into())).distinct("$.v")?.len(), lens.len());
        Ok::<_, Error>(())
    })
    .unwrap();
    let read = many.find(..).analyze_distinct("$.v").unwrap().actual.unwrap();
    assert!(read.entries < 800, "{read:?}");
}

#[test]
fn a_query_that_is_unordered_reads_no_more_of_an_index_than_it_answers_and_has_no_cursor() {
    let many = Db::in_memory().collection("many");
    many.put_many((0..1000).map(|n| (n, doc! { "n": n }))).unwrap();
    many.create_index(IndexDefinition::new("n", ["$.n"]).unwrap()).unwrap();
    let last = many.find("@.n >= 900").unordered().limit(5);
    let mut found = last.clone().run().unwrap();
    assert_eq!(found.by_ref().count(), 5);
    assert!(found.cursor().is_none());
    assert!(matches!(last.clone().cursor_at(1, &doc! { "n": 1 }), Err(Error::InvalidQuery { .. })));
    let read = last.analyze().unwrap().actual.unwrap();
    assert_eq!((read.entries, read.documents, read.answers), (5, 5, 5));
}

#[test]
fn ranges_in_any_order_are_read_one_after_the_other_as_of_one_state() {
    let db = Db::in_memory();
    let many = db.collection("many");
    many.put_many((0..1000).map(|n| (n, doc! { "n": n }))).unwrap();
    many.create_index(IndexDefinition::new("n", ["$.n"]).unwrap()).unwrap();
    let listed = many.find("in(@.n, 900, 5, 30)").unordered();
    let read = listed.clone().limit(2).analyze().unwrap().actual.unwrap();
    assert_eq!((read.entries, read.documents, read.answers), (2, 2, 2));
    assert_eq!(listed.clone().keys().unwrap().count(), 3);
    let key_of = |document: holotype::DocRef| document.key().to_key();
    let mut found = listed.run().unwrap();
    let mut keys = vec![key_of(found.next().unwrap().unwrap())];
    many.put(2_000, doc! { "n": 30 }).unwrap();
    many.delete(900).unwrap();
    keys.extend(found.map(|document| key_of(document.unwrap())));
    keys.sort_unstable();
    assert_eq!(keys, [5, 30, 900].map(Key::Int));
    db.write(|tx| {
        let many = tx.collection("many");
        let mut found = many.find("in(@.n, 5, 30)").unordered().run()?;
        let mut keys = vec![key_of(found.next().unwrap()?)];
        many.put(3_000, doc! { "n": 30 })?;
        many.delete(2_000)?;
        keys.extend(found.map(|document| key_of(document.unwrap())));
        keys.sort_unstable();
        assert_eq!(keys, [5, 30, 2_000].map(Key::Int));
        Ok::<_, Error>(())
    })
    .unwrap();
}

#[test]
fn a_page_behind_a_cursor_is_not_found_by_entries_that_lie_before_it() {
    let many = Db::in_memory().collection("many");
    many.put_many((0..10_000).map(|n| (n, doc! { "s": if n % 5 == 0 { "open" } else { "done" } }))).unwrap();
    many.create_index(IndexDefinition::new("s", ["$.s"]).unwrap()).unwrap();
    let open = || many.find("@.s == 'open'").limit(10);
    let read = open().analyze().unwrap().actual.unwrap();
    assert_eq!((read.entries, read.documents, read.answers), (10, 10, 10));
    // So near to the beginning that the index costs less, if what lies before is left out of the account.
    let cursor = open().cursor_at(1_000, &doc! { "s": "open" }).unwrap();
    let read = open().after(cursor).analyze().unwrap().actual.unwrap();
    assert!(read.answers == 10 && read.entries + read.documents < 100, "{read:?}");
}

#[test]
fn a_range_that_was_gone_through_has_no_keys() {
    let few = Db::in_memory().collection("few");
    few.put_many((1..=5).map(|n| (n, doc! { "n": n }))).unwrap();
    let mut range = 1..=3;
    assert_eq!(few.keys(range.clone()).unwrap().count(), 3);
    assert_eq!(range.by_ref().count(), 3);
    assert_eq!(few.keys(range.clone()).unwrap().count(), 0);
    assert_eq!(few.scan(range).unwrap().count(), 0);
}

#[test]
fn an_end_of_an_index_shows_the_value_of_the_least_key() {
    let (float, long) = (Value::Float, |end: &str| Value::from("x".repeat(100_000) + end));
    // Values at one place of the order, at either end and alone; several of one document; some whose entries are cut.
    let lives: [&[Value]; 6] = [
        &[float(1.0), 1.into(), 3.into(), float(3.0)],
        &[1.into(), float(1.0), float(3.0), 3.into()],
        &[float(1.0), 2.into(), float(3.0)],
        &[float(-0.0)],
        &[vec![float(3.0), 3.into(), 1.into(), float(1.0)].into(), vec![2].into()],
        &[long("b"), long("a"), long("c")],
    ];
    let indexes: [(&[&str], &str); 4] = [
        (&["$.n"], "$.n"),
        (&["-$.n"], "$.n"),
        (&["$.n[*]"], "$.n[*]"),
        // Its tuples are long, whatever the first component is.
        (&["$.n", "$.long"], "$.n"),
    ];
    for (paths, by) in indexes {
        for values in lives {
            let db = Db::in_memory();
            let of = db.collection("of");
            let document = |n: Value| doc! { "n": n, "long": long("") };
            let keys = of.insert_many(values.iter().cloned().map(document)).unwrap();
            of.create_index(IndexDefinition::new("n", paths.iter().copied()).unwrap().sparse()).unwrap();
            let ends = |hint: Option<Hint>| {
                let mut query = of.find(..);
                query = if let Some(hint) = hint { query.hint(hint) } else { query };
                query.group_by(Vec::<&str>::new()).min(by).max(by)
            };
            assert_eq!(ends(None).explain().unwrap().reads, PlanReads::Ends);
            let scanned = ends(Some(Hint::Scan)).run().unwrap();
            assert_eq!(ends(None).run().unwrap(), scanned, "{paths:?} of {values:?}");
            // In a transaction that puts other ends, and takes them away.
            let more = [vec![float(0.5)], vec![9.into(), float(9.0)], vec![long("0")]].concat();
            db.write(|tx| {
                let of = tx.collection("of");
                let compared = || {
                    let none: Vec<&str> = Vec::new();
                    let found = of.find(..).group_by(none.clone()).min(by).max(by).run()?;
                    let scanned = of.find(..).hint(Hint::Scan).group_by(none).min(by).max(by).run()?;
                    assert_eq!(found, scanned, "{paths:?} of {values:?}, and others");
                    Ok::<_, Error>(())
                };
                for n in more.into_iter().chain([Value::Null]) {
                    of.insert(document(n))?;
                    compared()?;
                }
                for key in &keys {
                    of.delete(key)?;
                    compared()?;
                }
                Ok::<_, Error>(())
            })
            .unwrap();
        }
    }
}
