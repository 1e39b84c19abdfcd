//! Indexes in checkpoints (F-8.10).

use holotype_model::{Document, Key, Value};

use super::catalog::{by_n, indexed};
use super::texts;
use crate::forge::checkpoint::{Changes, Checkpoint};
use crate::forge::entries::Definition;
use crate::forge::index::{collection, ints};
use crate::forge::{Forge, Record};
use crate::make::stores::checkpoints::{PLACES, name_in_slot};
use crate::make::stores::sample::saying;
use crate::make::{Maker, corrupt, newer};

/// A store whose slot names a checkpoint with `changes`. The log cannot be read from its beginning if `broken`, though each record can.
fn with_one(mut forge: Forge, changes: &Changes, broken: bool) -> Forge {
    let reference = Checkpoint::begin(&mut forge, PLACES[0]).finish(changes);
    let last = forge.last;
    name_in_slot(&mut forge, &[&reference], last);
    let first = forge.start() + forge.sector as usize;
    forge.data[first] ^= u8::from(broken);
    forge
}

fn maps(change: fn(&mut Vec<Document>)) -> Changes {
    Changes { indexes: Some(change), ..Changes::default() }
}

fn leaf(change: fn(&mut Vec<(Vec<u8>, u64)>)) -> Changes {
    Changes { entries: Some(change), ..Changes::default() }
}

fn set(map: &mut Document, key: &str, value: Value) {
    map.insert(key.to_owned(), value);
}

pub(super) fn healthy(maker: &mut Maker) {
    let holds = |maker: &mut Maker, clauses: &[&str], name: &str, forge: &Forge| {
        let clauses = [&["F-8.10", "F-8.7", "I-2.3"], clauses].concat();
        maker.holds(&clauses, &["Checkpoint"], name, &forge.data, forge.state());
    };
    let plain = Changes::default();
    holds(
        maker,
        &["F-8.4"],
        "A checkpoint with indexes, and nothing else",
        &with_one(indexed(), &plain, true),
    );
    let mut forge = with_one(indexed(), &plain, true);
    let seven = Record::put(1, &Key::Int(7), &saying(7));
    forge.commit(&[
        seven.clone(),
        Record::delete(1, &Key::from("x")),
        Record::put(1, &Key::Int(2), &saying(1)),
    ]);
    holds(maker, &["I-8.1"], "Documents change behind a checkpoint with indexes", &forge);
    let lengths = Definition::over("lengths", "n").under(0, "length").descending(&[0]);
    let mut forge = indexed();
    forge.commit(&[Record::unindex(3), Record::index(1, 6, &lengths)]);
    let forge = with_one(forge, &plain, true);
    holds(maker, &["I-1.5"], "A checkpoint with an index on a function of a path", &forge);
    let mut forge = indexed();
    forge.commit(&[Record::unindex(3), Record::index(1, 6, &by_n("partial").filtered("@.n >= 2"))]);
    let mut forge = with_one(forge, &plain, true);
    holds(maker, &["I-1.6", "I-2.8"], "A checkpoint with a partial index", &forge);
    forge.commit(&[Record::put(1, &Key::Int(1), &saying(9)), Record::put(1, &Key::Int(2), &saying(1))]);
    holds(
        maker,
        &["I-2.8", "I-8.1"],
        "Documents come under a filter behind a checkpoint, and leave it",
        &forge,
    );
    let mut forge = with_one(indexed(), &plain, true);
    forge.commit(&[Record::unindex(3), Record::reindex(4, "tags"), Record::index(1, 6, &by_n("again"))]);
    holds(maker, &["F-7.1"], "Indexes change behind a checkpoint", &forge);
    let mut forge = with_one(indexed(), &plain, true);
    forge.commit(&[Record::clear(1, 6)]);
    forge.commit(&[Record::put(6, &Key::Int(7), &saying(7))]);
    holds(maker, &["F-7.1", "I-4.5"], "A collection is cleared behind a checkpoint with indexes", &forge);
    let mut forge = with_one(indexed(), &plain, true);
    forge.commit(&[Record::drop(1)]);
    holds(maker, &["F-7.1", "I-4.5"], "A collection ends behind a checkpoint with indexes", &forge);
    let anew = maps(|maps| {
        set(&mut maps[0], "anew", Value::Bool(true));
        set(&mut maps[0], "count", Value::Int(0));
        set(&mut maps[0], "tree", Value::Bytes(Vec::new()));
    });
    let mut forge = with_one(indexed(), &anew, true);
    holds(maker, &["I-8.2"], "An index that is to be made anew", &forge);
    forge.commit(&[seven, Record::delete(1, &Key::Int(1))]);
    holds(maker, &["I-8.2", "I-8.1"], "Documents change behind an index that is to be made anew", &forge);
    let kept = maps(|maps| set(&mut maps[0], "later", Value::from("kept")));
    holds(maker, &["F-7.3"], "An index with a key that is not known", &with_one(indexed(), &kept, true));
    let known = maps(|maps| set(&mut maps[0], "required", texts(&["anew", "of", "index", "required"])));
    holds(
        maker,
        &["F-7.3"],
        "An index that requires keys that are known",
        &with_one(indexed(), &known, true),
    );
    let mut forge = indexed();
    forge.commit(&[Record::drop(1)]);
    forge.commit(&[Record::delete(2, &Key::Int(1))]);
    let mut forge = with_one(forge, &plain, true);
    holds(maker, &[], "An index without entries has an empty tree", &forge);
    forge.commit(&[Record::index(2, 6, &by_n("again"))]);
    holds(maker, &["F-7.1"], "Another index behind a checkpoint", &forge);
    let mut forge = with_one(indexed(), &plain, true);
    forge.commit(&[Record::create(5, "third").dead()]);
    let expect = corrupt(&["F-7.1", "F-7.2", "R-2.7"], None);
    let name = "An id behind a checkpoint that an index of it has";
    maker.refused(&["F-7.2", "F-7.1", "F-8.7"], &["Catalog"], name, &forge.data, expect);
}

/// What must not be believed: the log is read instead, and where it is gone the file is corrupt.
fn disbelieved(maker: &mut Maker, clauses: &[&str], name: &str, changes: &Changes) {
    let clauses = [&["F-8.10", "R-5.2"], clauses].concat();
    let forge = with_one(indexed(), changes, false);
    let flags = &["Checkpoint", "Fallback"];
    maker.holds(&clauses, flags, format!("{name}: the log is read instead"), &forge.data, forge.state());
    let forge = with_one(indexed(), changes, true);
    let expect = corrupt(&["R-4.1", "R-4.3"], Some(16_384 + 64));
    maker.refused(&clauses, flags, format!("{name}, and the log is broken"), &forge.data, expect);
}

pub(super) fn damaged(maker: &mut Maker) {
    for (name, clauses, changes) in [
        (
            "an index of a collection that is not there",
            &["F-8.5"][..],
            maps(|maps| set(&mut maps[0], "of", Value::Int(9))),
        ),
        ("an index of an index", &[], maps(|maps| set(&mut maps[1], "of", Value::Int(3)))),
        ("an index with the id of a collection", &[], maps(|maps| empty(&mut maps[0], 2))),
        ("two indexes of one id", &[], maps(|maps| empty(&mut maps[2], 4))),
        ("an id of an index above the last", &["F-8.7"], maps(|maps| empty(&mut maps[2], 6))),
        ("an index with the id 0", &["F-7.2"], maps(|maps| empty(&mut maps[0], 0))),
        ("indexes out of order", &[], maps(|maps| maps.swap(0, 1))),
        (
            "two indexes of one name",
            &[],
            maps(|maps| {
                let Value::Object(definition) = &mut maps[0].get_mut("index").expect("it is there") else {
                    return;
                };
                set(definition, "name", Value::from("by tag"));
            }),
        ),
        ("an index without a definition", &["I-1.1"], maps(|maps| drop(maps[0].remove("index")))),
        ("a definition without a path", &["I-1.1"], maps(|maps| defined(maps, "on", texts(&[])))),
        ("a path in another form", &["I-1.2"], maps(|maps| defined(maps, "on", texts(&["$['n']"])))),
        ("a flag that is false", &[], maps(|maps| defined(maps, "unique", Value::Bool(false)))),
        ("a definition of another direction", &["I-7.2"], maps(|maps| defined(maps, "on", texts(&["-$.n"])))),
        (
            "a definition of a function of the path",
            &["I-1.5", "I-7.2"],
            maps(|maps| {
                defined(maps, "by", texts(&["length"]));
                defined(maps, "required", texts(&["by"]));
            }),
        ),
        ("a definition of more paths", &["I-7.2"], maps(|maps| defined(maps, "on", texts(&["$.n", "$.m"])))),
        ("a count that is too low", &[], maps(|maps| set(&mut maps[0], "count", Value::Int(3)))),
        ("a count that is too high", &[], maps(|maps| set(&mut maps[0], "count", Value::Int(5)))),
        ("a count without a tree", &[], maps(|maps| drop(maps[0].remove("tree")))),
        ("a count and an empty tree", &[], maps(|maps| set(&mut maps[0], "tree", Value::Bytes(Vec::new())))),
        ("a tree and a count of 0", &[], maps(|maps| set(&mut maps[0], "count", Value::Int(0)))),
        ("a tree that is an array", &[], maps(|maps| set(&mut maps[0], "tree", ints(&[0, 4, 72])))),
        ("no count", &[], maps(|maps| drop(maps[0].remove("count")))),
        (
            "an index to be made anew that has entries",
            &["I-8.2"],
            maps(|maps| set(&mut maps[0], "anew", Value::Bool(true))),
        ),
        (
            "an index that is not to be made anew, and says so",
            &[],
            maps(|maps| set(&mut maps[0], "anew", Value::Bool(false))),
        ),
        (
            "an index that is not to be made anew, says so, and has no entries",
            &[],
            maps(|maps| {
                let id = 3;
                empty(&mut maps[0], id);
                set(&mut maps[0], "anew", Value::Bool(false));
            }),
        ),
        (
            "an index to be made anew that has a tree",
            &["I-8.2"],
            maps(|maps| {
                set(&mut maps[0], "anew", Value::Bool(true));
                set(&mut maps[0], "count", Value::Int(0));
            }),
        ),
        (
            "an index to be made anew that has a count",
            &["I-8.2"],
            maps(|maps| {
                set(&mut maps[0], "anew", Value::Bool(true));
                set(&mut maps[0], "tree", Value::Bytes(Vec::new()));
            }),
        ),
        (
            "a tree of another index",
            &["F-8.12"],
            maps(|maps| {
                let tree = maps[2]["tree"].clone();
                set(&mut maps[0], "tree", tree);
                set(&mut maps[0], "count", Value::Int(1));
            }),
        ),
        (
            "required that is no array",
            &["F-7.3"],
            maps(|maps| set(&mut maps[0], "required", Value::from("of"))),
        ),
        ("an entry with another value", &["F-8.4"], leaf(|entries| entries[1].1 = 8)),
        ("entries with a value of 0", &["F-8.4"], leaf(|entries| entries[0].1 = 0)),
        ("an entry with a bit of its value set", &["F-8.4"], leaf(|entries| entries[0].1 = 5)),
        ("an entry of no type", &["I-7.2"], leaf(|entries| entries[0].0[0] = 0xfe)),
        ("an entry without a key", &["I-7.2"], leaf(|entries| entries[0].0.truncate(1))),
        ("an entry with a zero behind it", &["I-7.2"], leaf(|entries| entries[1].0.push(0))),
        ("an entry with a mark that does not fit", &["I-7.2"], leaf(|entries| entries[1].0.push(2))),
        ("an empty entry", &["I-7.2"], leaf(|entries| entries[0].0.clear())),
        ("entries out of order", &["F-8.4"], leaf(|entries| entries.swap(0, 1))),
        ("an entry twice", &["F-8.4"], leaf(|entries| entries[1] = entries[0].clone())),
    ] {
        disbelieved(maker, clauses, &format!("A checkpoint with {name}"), &changes);
    }
    other_keys(maker);
    let root = |value| Changes { root: [("indexes".to_owned(), value)].into(), ..Changes::default() };
    disbelieved(maker, &["F-8.7"], "A checkpoint with indexes that are no maps", &root(ints(&[0, 4])));
    disbelieved(maker, &["F-8.7"], "A checkpoint with indexes in a byte string", &root(Value::Bytes(vec![])));
    for (name, change) in [
        (
            "An index in a checkpoint that requires what is not known",
            maps(|maps| set(&mut maps[0], "required", texts(&["later"]))),
        ),
        (
            "A definition in a checkpoint that requires what a newer version knows",
            maps(|maps| defined(maps, "required", texts(&["above"]))),
        ),
    ] {
        let forge = with_one(indexed(), &change, false);
        maker.refused(&["F-7.3", "F-8.10"], &["Features"], name, &forge.data, newer());
    }
    for count in [64, 65] {
        let mut forge = Forge::opened(64, 16_384, 2);
        forge.commit(&[Record::create(1, "notes")]);
        for n in 0..64 {
            forge.commit(&[Record::index(1, n + 2, &by_n(&format!("{n:02}")))]);
        }
        if count == 64 {
            let forge = with_one(forge, &Changes::default(), true);
            let name = "A collection with 64 indexes in a checkpoint";
            maker.holds(&["F-8.10", "I-1.4"], &["Limit"], name, &forge.data, forge.state());
            continue;
        }
        let more = Changes {
            indexes: Some(|maps| {
                let mut last = maps[63].clone();
                set(&mut last, "id", Value::Int(66));
                maps.push(last);
                defined(&mut maps[64..], "name", Value::from("64"));
            }),
            root: [("last".to_owned(), Value::Int(66))].into(),
            ..Changes::default()
        };
        let forge = with_one(forge, &more, true);
        let expect = corrupt(&["R-4.1", "R-4.3"], None);
        let name = "A collection with 65 indexes in a checkpoint";
        maker.refused(&["F-8.10", "I-1.4", "R-5.2"], &["Limit"], name, &forge.data, expect);
    }
}

/// The keys of the tree of an index are byte strings.
fn other_keys(maker: &mut Maker) {
    // The text is, as bytes, what null and the key "x" give.
    for (key, what) in [(Key::Int(1), "An int"), (Key::from("\u{1}\u{5}x\0\0"), "A text")] {
        let mut forge = indexed();
        let mut checkpoint = Checkpoint::begin(&mut forge, PLACES[0]);
        let changes = Changes::default();
        let mut catalog = Vec::new();
        for id in [1, 2] {
            let documents = checkpoint.documents(id);
            let entries = documents.entries();
            let tree = checkpoint.tree(id, &entries, (usize::MAX, usize::MAX), &changes);
            catalog.push(collection(id, &documents.name, documents.next, entries.len(), tree));
        }
        let tree = checkpoint.tree(3, &[(key, 4)], (1, 1), &changes);
        let index = Document::from([
            ("id".to_owned(), Value::Int(3)),
            ("of".to_owned(), Value::Int(1)),
            ("index".to_owned(), Value::Object(by_n("by n").map())),
            ("count".to_owned(), Value::Int(1)),
            ("tree".to_owned(), Value::Bytes(tree)),
        ]);
        let indexes = Value::Array(vec![Value::Object(index)]);
        let changes = Changes { root: [("indexes".to_owned(), indexes)].into(), ..Changes::default() };
        let reference = checkpoint.finish_with(catalog, &changes);
        let last = forge.last;
        name_in_slot(&mut forge, &[&reference], last);
        let clauses = ["F-8.10", "R-5.2"];
        let flags = ["Checkpoint", "Fallback"];
        let name = format!("{what} for a key in the tree of an index");
        maker.holds(&clauses, &flags, format!("{name}: the log is read instead"), &forge.data, forge.state());
        let first = forge.start() + forge.sector as usize;
        forge.data[first] ^= 1;
        let expect = corrupt(&["R-4.1", "R-4.3"], Some(16_384 + 64));
        maker.refused(&clauses, &flags, format!("{name}, and the log is broken"), &forge.data, expect);
    }
}

/// An index of another id, without entries.
fn empty(map: &mut Document, id: i64) {
    set(map, "id", Value::Int(id));
    set(map, "count", Value::Int(0));
    set(map, "tree", Value::Bytes(Vec::new()));
}

fn defined(maps: &mut [Document], key: &str, value: Value) {
    if let Some(Value::Object(definition)) = maps[0].get_mut("index") {
        set(definition, key, value);
    }
}
