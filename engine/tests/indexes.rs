//! Secondary indexes, as a caller sees them.

use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use holotype::query::Filter;
use holotype::storage::MemoryStorage;
use holotype::{
    Collection, Db, Document, Error, Hint, IndexDefinition, Key, Options, Result, Update, Value, doc,
};

fn by(name: &str, paths: &[&str]) -> IndexDefinition {
    IndexDefinition::new(name, paths).expect("it is a definition")
}

fn birds() -> Collection {
    let birds = Db::in_memory().collection("birds");
    birds
        .insert_many([
            doc! { "name": "Wren", "year": 1859, "tags": ["small", "brown"] },
            doc! { "name": "Robin", "year": 1831.0, "tags": ["small"] },
            doc! { "name": "Heron", "year": 1862, "tags": [] },
            doc! { "name": "Nobody" },
        ])
        .expect("memory refuses nothing");
    birds
}

fn keys(scan: impl Iterator<Item = Result<holotype::IndexEntry>>) -> Vec<i64> {
    scan.map(|entry| match entry.expect("nothing is wrong").key() {
        Key::Int(key) => *key,
        other => panic!("{other:?}"),
    })
    .collect()
}

#[test]
fn an_index_answers_points_ranges_and_counts_in_order() {
    let birds = birds();
    assert!(birds.create_index(by("by_year", &["$.year"])).expect("it can be"));
    assert!(!birds.create_index(by("by_year", &["$['year']"])).expect("it is there"));
    let index = birds.index("by_year");
    assert_eq!(keys(index.get(1831).expect("there")), [2]);
    assert_eq!(keys(index.range(..).expect("there")), [4, 2, 1, 3]);
    assert_eq!(keys(index.range(..).expect("there").reversed()), [3, 1, 2, 4]);
    assert_eq!(keys(index.range(1831..1862).expect("there")), [2, 1]);
    assert_eq!(keys(index.range((Bound::Excluded(1831), Bound::Unbounded)).expect("there")), [1, 3]);
    assert_eq!(index.count(..=1859).expect("there"), 3);
    let entry = index.get(1831).expect("there").next().expect("one").expect("right");
    assert_eq!(entry.values(), [Some(Value::Float(1831.0))], "the value is given back as it is");
    birds.create_index(by("by_tag", &["$.tags[*]"])).expect("it can be");
    let tags = birds.index("by_tag");
    assert_eq!(keys(tags.get("small").expect("there")), [1, 2]);
    assert_eq!(keys(tags.get(vec![None]).expect("there")), [3, 4]);
    assert_eq!(keys(tags.prefix((), "br").expect("there")), [1]);
    let names: Vec<_> = birds.indexes().expect("there").iter().map(|of| of.name().to_owned()).collect();
    assert_eq!(names, ["by_tag", "by_year"]);
    let found = tags.get("brown").expect("there").documents().next().expect("one").expect("right");
    assert_eq!(found.get("name").and_then(|name| name.as_str()), Some("Wren"));
}

#[test]
fn writes_keep_an_index_up_and_snapshots_and_transactions_see_their_own() {
    let birds = birds();
    let db = Db::in_memory();
    let birds = {
        let copy = db.collection("birds");
        birds.scan(..).expect("there").for_each(|bird| {
            let bird = bird.expect("right");
            copy.put(bird.key(), bird.to_document().expect("a document")).expect("memory refuses nothing");
        });
        copy
    };
    birds.create_index(by("by_year", &["$.year"])).expect("it can be");
    let before = db.snapshot();
    birds.put(1, doc! { "year": 1000 }).expect("memory refuses nothing");
    birds.delete(3).expect("memory refuses nothing");
    birds.insert(doc! { "year": 1900 }).expect("memory refuses nothing");
    let years = |scan: &mut dyn Iterator<Item = Result<holotype::IndexEntry>>| keys(scan);
    assert_eq!(years(&mut birds.index("by_year").range(..).expect("there")), [4, 1, 2, 5]);
    let view = before.collection("birds").expect("there");
    assert_eq!(years(&mut view.index("by_year").range(..).expect("there")), [4, 2, 1, 3]);
    db.write(|tx| {
        let birds = tx.collection("birds");
        birds.put(2, doc! { "year": 5 })?;
        birds.insert(doc! { "year": 7 })?;
        birds.delete(4)?;
        assert_eq!(keys(birds.index("by_year").range(..)?), [2, 6, 1, 5]);
        assert_eq!(keys(birds.index("by_year").range(..)?.reversed()), [5, 1, 6, 2]);
        Ok::<(), Error>(())
    })
    .expect("memory refuses nothing");
    assert_eq!(years(&mut birds.index("by_year").range(..).expect("there")), [2, 6, 1, 5]);
    assert_eq!(years(&mut view.index("by_year").range(..).expect("there")), [4, 2, 1, 3]);
}

#[test]
fn uniqueness_holds_for_the_state_after_a_call() {
    let birds = birds();
    birds.create_index(by("name", &["$.name"]).unique()).expect("no two are the same");
    let refused = birds.insert(doc! { "name": "Wren" });
    assert!(matches!(&refused, Err(Error::UniqueViolation { key: Key::Int(1), .. })), "{refused:?}");
    birds.insert_many([doc! {}, doc! {}]).expect("nothing is no value");
    birds.put(1, doc! { "name": "Wren", "again": true }).expect("its own entry is none of another");
    birds.put_many([(1, doc! { "name": "Robin" }), (2, doc! { "name": "Wren" })]).expect("they are swapped");
    birds.delete(1).expect("it is there");
    birds.insert(doc! { "name": "Robin" }).expect("it is free again");
    let twice = birds.insert_many([doc! { "name": "Rook" }, doc! { "name": "Rook" }]);
    assert!(matches!(twice, Err(Error::UniqueViolation { .. })));
    assert_eq!(birds.index("name").count("Rook"..="Rook").expect("there"), 0);
    let none = birds.create_index(by("year", &["$.year"]).unique());
    assert!(none.is_ok());
    birds.insert_many([doc! { "colour": 1 }, doc! { "colour": 1.0 }]).expect("no index");
    let refused = birds.create_index(by("colour", &["$.colour"]).unique());
    match refused {
        Err(Error::UniqueViolations { violations, .. }) => assert_eq!(violations.len(), 1),
        other => panic!("{other:?}"),
    }
    assert!(matches!(birds.index("colour").count(..), Err(Error::UnknownIndex { .. })));
    birds.insert(doc! { "colour": 1 }).expect("nothing is left of the index");
}

#[test]
fn an_index_goes_with_its_collection() {
    let db = Db::in_memory();
    let birds = db.collection("birds");
    birds.insert(doc! { "n": 1 }).expect("memory refuses nothing");
    birds.create_index(by("n", &["$.n"])).expect("it can be");
    db.rename_collection("birds", "fowl").expect("it is there");
    let fowl = db.collection("fowl");
    assert_eq!(fowl.index("n").count(..).expect("there"), 1);
    fowl.clear().expect("it is there");
    assert_eq!(fowl.index("n").count(..).expect("there"), 0);
    db.write(|tx| {
        let fowl = tx.collection("fowl");
        fowl.insert(doc! { "n": 2 })?;
        fowl.clear()?;
        fowl.insert(doc! { "n": 3 })?;
        assert_eq!(fowl.index("n").count(..)?, 1);
        Ok::<(), Error>(())
    })
    .expect("memory refuses nothing");
    assert_eq!(fowl.index("n").count(3..=3).expect("there"), 1);
    assert!(fowl.rename_index("n", "m").expect("there"));
    assert!(!fowl.drop_index("n").expect("there"));
    assert_eq!(fowl.index("m").count(..).expect("there"), 1);
    assert!(fowl.replace_index(by("m", &["-$.n", "$.o"])).expect("there"));
    assert_eq!(fowl.indexes().expect("there"), [by("m", &["-$.n", "$.o"])]);
    assert!(fowl.drop_index("m").expect("there"));
    assert_eq!(fowl.indexes().expect("there"), []);
    db.drop_collection("fowl").expect("there");
    db.collection("fowl").insert(doc! {}).expect("memory refuses nothing");
    assert_eq!(db.collection("fowl").indexes().expect("there"), []);
}

fn all(db: &Db, index: &str) -> Vec<(Vec<Option<Value>>, Key)> {
    let scan = db.collection("c").index(index).range(..).expect("it is there");
    scan.map(|entry| entry.map(|entry| (entry.values().to_vec(), entry.key().clone())))
        .collect::<Result<_>>()
        .expect("nothing is wrong")
}

#[test]
fn an_index_is_the_same_after_reopening_whatever_the_log_holds() {
    let storage = Arc::new(MemoryStorage::new());
    let options = Options::new();
    let document = |n: i64| -> Document {
        doc! { "n": (n * 7) % 11, "tags": [n % 3, (n % 3) as f64, "x"] }
    };
    let mut expected = Vec::new();
    for round in 0..6 {
        let db = Db::open_on(Arc::clone(&storage), &options).expect("it opens");
        let c = db.collection("c");
        if round > 0 {
            assert_eq!([all(&db, "n"), all(&db, "tags")], expected[..], "round {round}");
            let report = db.verify(true).expect("it can be read");
            assert!(report.is_clean(), "{report:?}");
        } else {
            c.create_index(by("n", &["-$.n"])).expect("it can be");
            c.create_index(by("tags", &["$.tags[*]", "$.n"])).expect("it can be");
        }
        for n in 0..40 {
            match (n + round) % 5 {
                0 => _ = c.delete(n).expect("there"),
                _ => c.put(n, document(n * round)).expect("there"),
            }
            if n == 20 && round % 2 == 1 {
                db.checkpoint().expect("there is room");
            }
        }
        expected = vec![all(&db, "n"), all(&db, "tags")];
        let entries = c.index("n").count(..).expect("there");
        assert_eq!(entries, c.len().expect("there"));
        if round % 3 == 0 {
            db.close().expect("there is room");
        }
    }
}

/// Whether an index has exactly what its collection's documents give, told by building it anew under another name.
fn is_whole(c: &Collection, index: &str) -> bool {
    let definition = c.index(index).definition().expect("it is there");
    let again = definition.with_name("again").expect("a name");
    let again = if again.is_unique() { again } else { again.sparse() };
    let entries = |name: &str| -> Vec<_> {
        let scan = c.index(name).range(..).expect("it is there").map(|entry| entry.expect("right"));
        scan.filter(|entry| entry.values().iter().any(Option::is_some))
            .map(|entry| (entry.values().to_vec(), entry.key().clone()))
            .collect()
    };
    c.create_index(again).expect("it can be");
    let (ours, theirs) = (entries(index), entries("again"));
    c.drop_index("again").expect("it is there");
    ours == theirs
}

fn built_beside_writers() {
    let db = Db::in_memory();
    let c = db.collection("c");
    c.insert_many((0..1000).map(|n| doc! { "n": n % 50 })).expect("memory refuses nothing");
    let mut round = 0;
    let made = c.create_index_with(by("n", &["$.n"]), false, |progress| {
        round += 1;
        assert!(progress.documents <= 1000 + progress.of);
        for id in [round, 300 * round, 1000 - round] {
            c.put(id, doc! { "n": 70 + round }).expect("memory refuses nothing");
        }
        c.delete(100 + round).expect("memory refuses nothing");
        c.delete(900 + round).expect("memory refuses nothing");
        c.insert(doc! { "n": -round }).expect("memory refuses nothing");
        db.write(|tx| {
            tx.collection("c").put(2, doc! { "n": 99 })?;
            tx.collection("c").insert(doc! { "n": 98 })?;
            Ok::<(), Error>(())
        })
        .expect("memory refuses nothing");
        assert!(matches!(c.index("n").count(..), Err(Error::UnknownIndex { .. })));
        std::ops::ControlFlow::Continue(())
    });
    assert!(made.expect("it can be") && round >= 3);
    assert_eq!(c.index("n").count(..).expect("there"), c.len().expect("there"));
    assert!(is_whole(&c, "n"));
}

#[test]
fn a_count_is_of_one_state_while_others_write() {
    // More than a commit changes without giving way.
    const DOCUMENTS: i64 = 1_500;
    let db = Db::in_memory();
    let c = db.collection("c");
    c.create_index(by("n", &["$.n"])).expect("memory refuses nothing");
    let put_all = |first: i64| c.put_many((first..first + DOCUMENTS).map(|id| (id, doc! { "n": id })));
    put_all(0).expect("memory refuses nothing");
    let [every, more] = ["@", "key() >= 1500"].map(|text| Filter::parse(text).expect("a filter"));
    let is_over = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            for round in 0..20 {
                put_all(DOCUMENTS).expect("memory refuses nothing");
                c.update_many(&every, Update::new().inc("$.n", round % 2)).expect("memory refuses nothing");
                c.delete_many(&more).expect("memory refuses nothing");
            }
            is_over.store(true, Ordering::Relaxed);
        });
        let mut counts = 0;
        while !is_over.load(Ordering::Relaxed) || counts == 0 {
            let snapshot = db.snapshot();
            let past = snapshot.collection("c").expect("there");
            let index = past.index("n");
            let counted = [index.count(..), index.count(0..)].map(|count| count.expect("there"));
            assert_eq!(counted, [past.len().expect("there"); 2]);
            counts += 1;
        }
    });
}

//= spec/index.md#i-5-1-beside-others
//= type=test
//# What is committed meanwhile MUST be in the index once it is there.
//= spec/index.md#i-5-1-beside-others
//= type=test
//# Until the commit that makes it part of the state, an index MUST NOT be seen, used, or refuse a write.
#[test]
fn what_is_written_while_an_index_is_built_is_in_it() {
    built_beside_writers();
}

//= spec/index.md#i-5-1-beside-others
//= type=test
//# Until the commit that makes it part of the state, an index MUST NOT be seen, used, or refuse a write.
#[test]
fn what_no_entry_has_room_for_is_written_while_an_index_is_built_and_refuses_the_index_if_it_stays() {
    let options = Options::new().sector(64).segment_bytes(512);
    let (short, long) = ("a".repeat(8), "a".repeat(100));
    for stays in [false, true] {
        let c = Db::open_on(MemoryStorage::new(), &options).expect("memory refuses nothing").collection("c");
        c.put_many((0..1000).map(|n| (format!("b{n}"), doc! { "n": n }))).expect("memory refuses nothing");
        let mut is_done = false;
        let made = c.create_index_with(by("n", &["$.n"]), false, |_| {
            if !std::mem::replace(&mut is_done, true) {
                c.put_many([&short, &long].map(|key| (&**key, doc! { "n": 7 })))
                    .expect("nothing refuses it yet");
                if !stays {
                    c.delete(&*long).expect("memory refuses nothing");
                }
            }
            std::ops::ControlFlow::Continue(())
        });
        if stays {
            assert!(matches!(made, Err(Error::KeyTooLong { len: 100, .. })), "{made:?}");
            assert!(c.indexes().expect("there").is_empty());
        } else {
            assert!(made.expect("all entries have room") && is_whole(&c, "n"));
            let refused = c.put(&*long, doc! {});
            assert!(matches!(refused, Err(Error::KeyTooLong { len: 100, .. })), "{refused:?}");
        }
    }
}

#[test]
fn a_collection_that_is_cleared_while_an_index_is_built_has_the_index_of_what_came_after() {
    let db = Db::in_memory();
    let c = db.collection("c");
    c.insert_many((0..1000).map(|n| doc! { "n": n })).expect("memory refuses nothing");
    let mut is_cleared = false;
    c.create_index_with(by("n", &["$.n"]).unique(), false, |_| {
        if !is_cleared {
            c.clear().expect("there");
            c.insert_many((0..600).map(|n| doc! { "n": n })).expect("memory refuses nothing");
            is_cleared = true;
        }
        std::ops::ControlFlow::Continue(())
    })
    .expect("it can be");
    assert_eq!(c.index("n").count(..).expect("there"), 600);
    assert!(is_whole(&c, "n"));
}

#[test]
fn a_place_that_is_taken_twice_for_a_while_refuses_no_unique_index() {
    let c = Db::in_memory().collection("c");
    c.insert_many((0..1000).map(|n| doc! { "n": n })).expect("memory refuses nothing");
    let mut round = 0;
    c.create_index_with(by("n", &["$.n"]).unique(), false, |_| {
        round += 1;
        match round {
            1 => c.put(1, doc! { "n": 5 }).expect("nothing refuses it yet"),
            2 => c.put(1, doc! { "n": -1 }).expect("memory refuses nothing"),
            _ => {}
        }
        std::ops::ControlFlow::Continue(())
    })
    .expect("no place is taken twice any more");
    c.insert_many([doc! { "n": 2000 }]).expect("it is free");
    let refused = c.put(1, doc! { "n": 7 });
    assert!(matches!(refused, Err(Error::UniqueViolation { key: Key::Int(8), .. })), "{refused:?}");
}

#[test]
fn one_build_that_ends_takes_no_other_with_it() {
    let c = Db::in_memory().collection("c");
    c.insert_many((0..1000).map(|n| doc! { "n": n, "m": n })).expect("memory refuses nothing");
    let mut round = 0;
    c.create_index_with(by("n", &["$.n"]), false, |_| {
        round += 1;
        if round == 1 {
            let cancelled =
                c.create_index_with(by("m", &["$.m"]), false, |_| std::ops::ControlFlow::Break(()));
            assert!(matches!(cancelled, Err(Error::Cancelled { .. })));
        }
        c.put(round, doc! { "n": -round }).expect("memory refuses nothing");
        std::ops::ControlFlow::Continue(())
    })
    .expect("it can be");
    assert!(is_whole(&c, "n"));
}

//= spec/index.md#i-4-2-create-unique
//= type=test
//# Creating a unique index over documents that break I-3.1 MUST be refused as `UniqueViolations`, which has up to
//# 100 of the places that are taken twice, and change nothing.
#[test]
fn each_place_that_is_taken_twice_is_told_of_also_those_of_long_tuples() {
    let c = Db::in_memory().collection("c");
    let long = |end: &str| format!("{}{end}", "x".repeat(2000));
    for end in ["a", "b", "a", "c"] {
        c.insert(doc! { "n": vec![Value::from(long(end)), Value::from(long("b")), Value::from(5)] })
            .expect("room");
    }
    let refused = c.create_index(by("n", &["$.n[*]"]).unique());
    let Err(Error::UniqueViolations { violations, .. }) = refused else { panic!("{refused:?}") };
    let of = |value: Value, other: i64| (vec![value], Key::Int(1), Key::Int(other));
    let expected = [of(5.into(), 2), of(long("a").into(), 3), of(long("b").into(), 2)];
    assert_eq!(violations, expected);
}

#[test]
fn a_long_tuple_that_changes_behind_its_cut_while_an_index_is_built_is_looked_at_again() {
    let c = Db::in_memory().collection("c");
    let long = |last: i64| format!("{}{last}", "x".repeat(2000));
    c.insert_many((0..600).map(|n| doc! { "n": if n < 2 { long(n) } else { n.to_string() } }))
        .expect("there is room");
    let mut is_changed = false;
    let made = c.create_index_with(by("n", &["$.n"]).unique(), false, |_| {
        if !is_changed {
            c.put(2, doc! { "n": long(0) }).expect("nothing refuses it yet");
            is_changed = true;
        }
        std::ops::ControlFlow::Continue(())
    });
    assert!(
        matches!(&made, Err(Error::UniqueViolations { violations, .. }) if violations.len() == 1),
        "{made:?}"
    );
}

//= spec/index.md#i-5-2-an-end-before-its-time
//= type=test
//# A build that is cancelled, or fails, changes nothing.
#[test]
fn a_build_that_is_cancelled_leaves_nothing() {
    let c = Db::in_memory().collection("c");
    c.insert_many((0..600).map(|n| doc! { "n": n / 2 })).expect("memory refuses nothing");
    let cancelled = c.create_index_with(by("n", &["$.n"]), false, |_| std::ops::ControlFlow::Break(()));
    assert!(matches!(cancelled, Err(Error::Cancelled { scanned: 256 })), "{cancelled:?}");
    assert_eq!(c.indexes().expect("there"), []);
    let twice = c.create_index(by("n", &["$.n"]).unique());
    assert!(matches!(&twice, Err(Error::UniqueViolations { violations, .. }) if violations.len() == 100));
    c.put(1, doc! { "n": 7 }).expect("nothing refuses it");
    assert!(c.create_index(by("n", &["$.n"])).expect("it can be") && is_whole(&c, "n"));
}

#[test]
fn long_tuples_are_told_apart_by_their_documents() {
    let c = Db::in_memory().collection("c");
    let long = |last: &str| format!("{}{last}", "x".repeat(2000));
    c.insert_many([doc! { "n": long("b") }, doc! { "n": long("a") }, doc! { "n": "x" }])
        .expect("there is room");
    c.create_index(by("n", &["$.n"]).unique()).expect("all differ");
    let index = c.index("n");
    assert_eq!(keys(index.get(&*long("a")).expect("there")), [2]);
    assert_eq!(keys(index.range(&*long("b")..).expect("there")), [1]);
    assert_eq!(keys(index.range(..).expect("there")), [3, 1, 2], "entries that begin alike go by their keys");
    assert_eq!(keys(index.prefix((), &long("")).expect("there")), [1, 2]);
    assert_eq!(keys(index.prefix((), &long("c")).expect("there")), [0; 0]);
    let refused = c.insert(doc! { "n": long("a") });
    assert!(matches!(refused, Err(Error::UniqueViolation { key: Key::Int(2), .. })), "{refused:?}");
    let added = c.insert(doc! { "n": long("c") }).expect("it differs");
    let refused = c.put(&added, doc! { "n": long("a") });
    assert!(
        matches!(refused, Err(Error::UniqueViolation { key: Key::Int(2), .. })),
        "behind the cut: {refused:?}"
    );
    let twice = c.drop_index("n").and_then(|_| c.insert(doc! { "n": long("a") }));
    twice.expect("nothing refuses it");
    let twice = c.create_index(by("n", &["$.n"]).unique());
    assert!(matches!(&twice, Err(Error::UniqueViolations { violations, .. }) if violations.len() == 1));
}

#[test]
fn a_read_goes_on_after_a_place_that_is_gone() {
    let c = Db::in_memory().collection("c");
    c.insert_many((0..20).map(|n| doc! { "n": n / 4 })).expect("memory refuses nothing");
    c.create_index(by("n", &["$.n"])).expect("it can be");
    let index = c.index("n");
    let page: Vec<_> = index.range(..).expect("there").take(6).map(|entry| entry.expect("right")).collect();
    let place = page.last().expect("six").place().to_vec();
    c.delete(6).expect("there");
    c.put(1, doc! { "n": 1 }).expect("memory refuses nothing");
    let all = || index.range(..).expect("there");
    assert_eq!(keys(all().after(&place).expect("a place").take(3)), [7, 8, 9]);
    assert_eq!(keys(all().reversed().after(&place).expect("a place")), [5, 1, 4, 3, 2]);
    assert_eq!(keys(index.get(2).expect("there").after(&place).expect("a place")), [9, 10, 11, 12]);
    assert!(matches!(all().after(b"none"), Err(Error::InvalidIndex { .. })));
    // Also where it was read from already.
    let mut begun = all();
    assert_eq!(keys(begun.by_ref().take(2)), [2, 3]);
    assert_eq!(keys(begun.after(&place).expect("a place").reversed().take(1)), [20]);
}

//= spec/index.md#i-1-4-limits-of-definitions
//= type=test
//# A definition MUST fit into an index record of the store with its name (F-8.11).
#[test]
fn a_definition_that_no_index_record_has_room_for_is_refused() {
    let birds = birds();
    let long = |len: usize| {
        let paths: Vec<_> = (10..26).map(|n| format!("$.{}{n}", "x".repeat(len))).collect();
        by("long", &paths.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let refused = birds.create_index(long(1024));
    assert!(matches!(refused, Err(Error::InvalidIndex { index, .. }) if index == "long"));
    assert!(birds.create_index(long(900)).expect("it has room"));
}

/// Texts that are one in any case: found, kept unique, and there after reopening, from a checkpoint and from the log.
fn folded() {
    let storage = Arc::new(MemoryStorage::new());
    let open = || Db::open_on(Arc::clone(&storage), &Options::new()).expect("it opens");
    let db = open();
    let c = db.collection("c");
    c.put("w", doc! { "name": "WREN", "at": "1970-01-01T00:00:01Z" }).expect("memory refuses nothing");
    c.create_index(by("name", &["fold($.name)"]).unique()).expect("it can be");
    let again = c.put("v", doc! { "name": "wren" });
    assert!(matches!(again, Err(Error::UniqueViolation { .. })), "{again:?}");
    db.checkpoint().expect("there is room");
    c.create_index(by("at", &["time($.at)", "-length($.tags)"])).expect("it can be");
    c.put("r", doc! { "name": "Robin", "at": "1970-01-01T01:00:00+01:00", "tags": [1] }).expect("it may be");
    drop((c, db));
    let c = open().collection("c");
    let texts: Vec<Vec<String>> =
        c.indexes().expect("there").iter().map(|definition| definition.texts().collect()).collect();
    assert_eq!(texts, [vec!["time($.at)", "-length($.tags)"], vec!["fold($.name)"]]);
    let entries = |index: &str| {
        let entries = c.index(index).range(..).expect("there");
        entries.map(|entry| entry.expect("right").values().to_vec()).collect::<Vec<_>>()
    };
    assert_eq!(entries("name"), [[Some(Value::from("robin"))], [Some(Value::from("wren"))]]);
    assert_eq!(
        entries("at"),
        [vec![Some(Value::from(0)), Some(Value::from(1))], vec![Some(Value::from(1000)), None]]
    );
    assert!(is_whole(&c, "name") && is_whole(&c, "at"));
    let found = c.find("fold(@.name) == 'wren' && time(@.at) >= 500");
    assert_eq!(found.clone().hint(Hint::Index("name".into())).count().expect("there"), 1);
    assert_eq!(found.hint(Hint::Index("at".into())).count().expect("there"), 1);
    let found = c.find("fold(@.name) == fold(lower(arg('name'))) && time(@.at) >= sub(time(arg('at')), 500)");
    let found = found.bind("name", "WREN").bind("at", "1970-01-01T00:00:01.000Z");
    assert_eq!(found.clone().hint(Hint::Index("name".into())).count().expect("there"), 1);
    assert_eq!(found.hint(Hint::Index("at".into())).count().expect("there"), 1);
    let unlike = c.find("fold(@.name) == fold(5)").hint(Hint::Index("name".into())).count();
    assert!(matches!(unlike, Err(Error::IndexCannotServe { .. })), "{unlike:?}");
    let sorted = c.find(..).sort("time($.at)").hint(Hint::Index("at".into())).keys().expect("there");
    assert_eq!(sorted.map(|key| key.expect("right")).collect::<Vec<_>>(), [Key::from("r"), Key::from("w")]);
    let by_path = c.find("@.name == 'WREN'").hint(Hint::Index("name".into())).count();
    assert!(matches!(by_path, Err(Error::IndexCannotServe { .. })), "{by_path:?}");
}

#[test]
fn an_index_on_a_function_of_a_path_serves_what_is_asked_of_the_function() {
    folded();
}

/// Documents come under a filter and go, in every kind of write; what is in the index is there after reopening, from a checkpoint
/// and from the log, and in a backup.
fn partial() {
    let storage = Arc::new(MemoryStorage::new());
    let open = || Db::open_on(Arc::clone(&storage), &Options::new()).expect("it opens");
    let db = open();
    let c = db.collection("c");
    let open_task = |n: i64| doc! { "n": n, "done": false };
    c.put_many([("a", open_task(1)), ("b", doc! { "n": 1, "done": true }), ("x", doc! { "n": 1 })])
        .expect("memory refuses nothing");
    let todo = by("todo", &["$.n"]).unique().filtered("@.done == false").expect("a filter");
    assert!(c.create_index(todo.clone()).expect("one open task has a 1"));
    assert!(!c.create_index(todo).expect("it is this very one"));
    for other in
        [by("todo", &["$.n"]).unique(), by("todo", &["$.n"]).unique().filtered("@.done").expect("a filter")]
    {
        let other = c.create_index(other);
        assert!(matches!(other, Err(Error::IndexExists { .. })), "{other:?}");
    }
    let keys = |c: &Collection| {
        let entries = c.index("todo").range(..).expect("there");
        entries.map(|entry| entry.expect("right").key().clone()).collect::<Vec<_>>()
    };
    assert_eq!(keys(&c), [Key::from("a")]);
    let again = c.put("b", open_task(1));
    assert!(matches!(again, Err(Error::UniqueViolation { .. })), "{again:?}");
    db.checkpoint().expect("there is room");
    // Out of the filter, into it, and both in one transaction.
    c.put("a", doc! { "n": 1, "done": true }).expect("it may be");
    c.put("b", open_task(1)).expect("nobody else has a 1 now");
    db.write(|tx| {
        let c = tx.collection("c");
        c.put("b", doc! { "n": 1 })?;
        c.put("x", open_task(1))?;
        assert_eq!(c.index("todo").range(..)?.count(), 1);
        c.put("y", open_task(2))
    })
    .expect("it may be");
    assert_eq!(keys(&c), [Key::from("x"), Key::from("y")]);
    c.update_many(&"@.n == 2".parse().expect("a filter"), Update::new().set("$.done", true))
        .expect("it may be");
    assert_eq!(keys(&c), [Key::from("x")]);
    assert!(is_whole(&c, "todo"));
    drop((c, db));
    let c = open().collection("c");
    assert_eq!(c.indexes().expect("there")[0].filter().expect("it has one").to_string(), "@.done == false");
    assert_eq!(keys(&c), [Key::from("x")]);
    assert!(is_whole(&c, "todo"));
    // A query goes by it where it asks for all of the filter, and no other one does.
    let by_todo = |filter: &str| c.find(filter).hint(Hint::Index("todo".into()));
    for (filter, count) in
        [("@.done == false", 1), ("@.n == 1 && @.done == false", 1), ("@.done == false && @.n > 1", 0)]
    {
        assert_eq!(by_todo(filter).count().expect("it serves"), count, "{filter}");
        let plan = by_todo(filter).explain().expect("it serves").to_string();
        assert!(plan.starts_with("index \"todo\" of what @.done == false: "), "{plan}");
    }
    for filter in
        ["@.n == 1", "@.done == true && @.n == 1", "@.done == false || @.n == 1", "!(@.done == false)"]
    {
        let refused = by_todo(filter).count();
        assert!(matches!(refused, Err(Error::IndexCannotServe { .. })), "{filter}: {refused:?}");
    }
    let all = || c.find(..).hint(Hint::Index("todo".into()));
    let refused =
        [all().sort("$.n").count().err(), all().distinct("$.n").err(), all().group_by(["$.n"]).run().err()];
    let least = all().group_by(Vec::<&str>::new()).min("$.n").run().err();
    for error in refused.into_iter().chain([least]) {
        assert!(matches!(error, Some(Error::IndexCannotServe { .. })), "{error:?}");
    }
    c.clear().expect("it may be");
    assert_eq!(keys(&c), []);
    c.put("z", open_task(5)).expect("it may be");
    assert_eq!(keys(&c), [Key::from("z")]);
}

//= spec/index.md#i-2-8-partial-indexes
//= type=test
//# A partial index MUST have no entry of a document that its filter does not admit.
#[test]
fn a_partial_index_is_of_the_documents_that_its_filter_admits() {
    partial();
}

#[cfg(feature = "seeded")]
mod seeded {
    use super::*;
    use holotype::seeded::{Bug, assert_noticed};

    fn kept_up() {
        let c = Db::in_memory().collection("c");
        c.create_index(by("n", &["$.n"])).expect("it can be");
        c.create_index(by("m", &["$.m"]).unique()).expect("it can be");
        for n in 0..20 {
            c.put(n % 7, doc! { "n": n, "m": n % 7 }).expect("it may be");
        }
        assert!(c.insert(doc! { "m": 3 }).is_err());
        assert!(is_whole(&c, "n"));
    }

    fn replayed() {
        let storage = Arc::new(MemoryStorage::new());
        let open = || Db::open_on(Arc::clone(&storage), &Options::new()).expect("it opens");
        let c = open().collection("c");
        c.create_index(by("n", &["$.n"])).expect("it can be");
        c.insert_many((0..20).map(|n| doc! { "n": n })).expect("memory refuses nothing");
        let db = open();
        db.checkpoint().expect("there is room");
        db.collection("c").put(3, doc! { "n": 100 }).expect("memory refuses nothing");
        db.collection("c").delete(4).expect("there");
        drop(db);
        assert!(is_whole(&open().collection("c"), "n"));
    }

    #[test]
    fn each_mistake_is_noticed() {
        for bug in [Bug::EntryNotRemoved, Bug::UniqueNotChecked, Bug::OwnEntryViolates] {
            assert_noticed(bug, kept_up);
        }
        assert_noticed(Bug::RemovalLostInReplay, replayed);
        assert_noticed(Bug::BuildMissesWrites, built_beside_writers);
        assert_noticed(Bug::WithdrawnEntryBuilt, built_beside_writers);
        assert_noticed(Bug::PlaceIgnored, super::a_read_goes_on_after_a_place_that_is_gone);
        for bug in [Bug::FunctionNotApplied, Bug::FunctionsNotStored, Bug::FunctionOfPathForgotten] {
            assert_noticed(bug, folded);
        }
        for bug in [
            Bug::PartialOfAll,
            Bug::FilterNotStored,
            Bug::FilterOfOldDocument,
            Bug::LeavingEntryKept,
            Bug::PartialIndexServesAll,
        ] {
            assert_noticed(bug, partial);
        }
    }
}

/// Damages the record that stands at `offset` of the file.
fn damage(storage: &MemoryStorage, offset: u64) {
    use holotype::storage::Storage;
    let mut byte = [0];
    storage.read_at(offset + 8, &mut byte).expect("it is there");
    storage.write_at(offset + 8, &[byte[0] ^ 1]).expect("there is room");
}

//= spec/index.md#i-8-2-damage
//= type=test
//# When a record that replay needs for the entries alone does not verify, the reader MUST build the index anew
//# from the documents and MUST NOT take the file for corrupt for that.
//= spec/index.md#i-8-1-entries-are-not-logged
//= type=test
//# A reader that replays a log MUST make the entries those of the state to which it leads (I-2.3).
#[test]
fn a_former_version_that_is_damaged_makes_the_index_anew() {
    let storage = Arc::new(MemoryStorage::new());
    let open = || Db::open_on(Arc::clone(&storage), &Options::new()).expect("it opens");
    let db = open();
    let c = db.collection("c");
    c.create_index(by("n", &["$.n"])).expect("it can be");
    c.insert_many((0..20).map(|n| doc! { "n": n })).expect("memory refuses nothing");
    db.checkpoint().expect("there is room");
    let offset = db.record_offset("c", &Key::Int(3)).expect("it is there");
    c.put(3, doc! { "n": 100 }).expect("memory refuses nothing");
    drop((db, c));
    damage(&storage, offset);
    let c = open().collection("c");
    assert_eq!(keys(c.index("n").range(2..=2).expect("there")), [0; 0]);
    assert_eq!(keys(c.index("n").range(100..=100).expect("there")), [3]);
    assert!(is_whole(&c, "n"));
}

#[test]
fn a_document_that_is_damaged_and_replaced_while_an_index_is_built_is_in_it_as_it_is() {
    let storage = Arc::new(MemoryStorage::new());
    let open = |cache| {
        let options = Options::new().cache_bytes(cache);
        Db::open_on(Arc::clone(&storage), &options).expect("it opens")
    };
    let c = open(1 << 20).collection("c");
    c.insert_many((0..1000).map(|n| doc! { "n": n, "text": "x".repeat(4000) })).expect("there is room");
    drop(c);
    // In no cache.
    let db = open(0);
    let c = db.collection("c");
    let mut round = 0;
    let made = c.create_index_with(by("n", &["$.n"]), false, |_| {
        round += 1;
        if round == 1 {
            damage(&storage, db.record_offset("c", &Key::Int(3)).expect("it is there"));
            c.put(3, doc! { "n": -1 }).expect("there is room");
        }
        std::ops::ControlFlow::Continue(())
    });
    assert!(made.expect("it can be"));
    assert_eq!(round, 5, "four times, and once before it began anew");
    assert_eq!(keys(c.index("n").range(2..=2).expect("there")), [0; 0]);
    assert!(is_whole(&c, "n"));
}

//= spec/format.md#f-8-10-indexes
//= type=test
//# A reader MUST build it anew from the documents.
#[test]
fn an_index_of_a_damaged_document_answers_nothing_until_that_is_replaced() {
    let storage = Arc::new(MemoryStorage::new());
    let open = || Db::open_on(Arc::clone(&storage), &Options::new()).expect("it opens");
    let db = open();
    let c = db.collection("c");
    c.insert_many((0..20).map(|n| doc! { "n": n })).expect("memory refuses nothing");
    db.checkpoint().expect("there is room");
    c.create_index(by("n", &["$.n"]).unique()).expect("it can be");
    let offset = db.record_offset("c", &Key::Int(3)).expect("it is there");
    drop((db, c));
    damage(&storage, offset);
    // The index is in no checkpoint, and cannot be made of what is left; nor is it taken for whole once there is another checkpoint.
    for _ in 0..2 {
        let db = open();
        let c = db.collection("c");
        assert!(matches!(c.index("n").count(..), Err(Error::Corrupt(_))));
        assert!(matches!(c.insert(doc! { "n": 50 }), Err(Error::Corrupt(_))), "it may be there already");
        c.insert(doc! { "m": 50 }).expect("it takes no place");
        assert!(!db.verify(false).expect("it can be read").is_clean());
        db.checkpoint().expect("there is room");
    }
    let c = open().collection("c");
    c.delete(3).expect("it is there, whatever it was");
    drop(c);
    let c = open().collection("c");
    assert_eq!(c.index("n").count(..).expect("it can be told again"), 21);
    assert!(is_whole(&c, "n"));
}
