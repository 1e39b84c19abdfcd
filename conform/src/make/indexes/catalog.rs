//! Indexes in the log's catalog (F-7.1).

use holotype_model::{Document, Key, Value};

use super::texts;
use crate::case::Outcome;
use crate::forge::entries::{Definition, Step, field};
use crate::forge::record::{Effect, map};
use crate::forge::{Forge, Record};
use crate::make::ladder::document;
use crate::make::stores::sample::{saying, small};
use crate::make::{Maker, corrupt, newer};

pub(super) fn by_n(name: &str) -> Definition {
    Definition::over(name, "n")
}

pub(super) fn by_tag() -> Definition {
    Definition::new("by tag", &[&[field("tags"), Step::Any], &[field("n")]]).descending(&[1]).sparse()
}

/// A store with documents in `notes` (1) and in `other` (2).
pub(super) fn store() -> Forge {
    let mut forge = small();
    let tags = Value::Array(vec![Value::from("a"), Value::from("b"), Value::from("a")]);
    forge.commit(&[
        Record::put(1, &Key::Int(2), &document([("n", Value::Float(1.0)), ("tags", tags)])),
        Record::put(1, &Key::from("x"), &document([("n", Value::from("x".repeat(500).as_str()))])),
        Record::put(1, &Key::Bytes(vec![0]), &document([])),
        Record::put(2, &Key::Int(1), &saying(5)),
    ]);
    forge
}

/// The same with the indexes 3 and 4 in `notes`, and 5 in `other`.
pub(super) fn indexed() -> Forge {
    let mut forge = store();
    forge.commit(&[
        Record::index(1, 3, &by_n("by n")),
        Record::index(1, 4, &by_tag()),
        Record::index(2, 5, &by_n("by n")),
    ]);
    forge
}

fn holds(maker: &mut Maker, clauses: &[&str], name: &str, commits: &[&[Record]]) {
    let mut forge = indexed();
    commits.iter().for_each(|records| drop(forge.commit(records)));
    let clauses = [&["F-7.1", "I-2.3", "I-8.1"], clauses].concat();
    maker.holds(&clauses, &["Catalog", "Replay"], name, &forge.data, forge.state());
}

/// An `index` record with this map in place of a definition.
fn index(definition: Value) -> Record {
    let mut change = map("index", &[("id", 1), ("new", 6)], None);
    change.insert("index".to_owned(), definition);
    Record::catalog(&change, Effect::None)
}

fn defined(change: impl FnOnce(&mut Document)) -> Value {
    let mut map = by_n("new").map();
    change(&mut map);
    Value::Object(map)
}

pub(super) fn changes(maker: &mut Maker) {
    let put = |n: i64| Record::put(1, &Key::Int(n), &saying(n));
    holds(maker, &["I-4.1"], "Indexes over what is there", &[]);
    holds(
        maker,
        &[],
        "Documents come, change and go",
        &[
            &[put(9), Record::put(1, &Key::Int(2), &saying(3)), Record::delete(1, &Key::Int(1))],
            &[Record::delete(2, &Key::Int(1)), Record::put(2, &Key::from("k"), &saying(1))],
        ],
    );
    holds(maker, &["I-4.4"], "An index ends", &[&[Record::unindex(3)], &[put(9)]]);
    holds(maker, &["I-4.4"], "An index has another name", &[&[Record::reindex(3, "first")], &[put(9)]]);
    holds(
        maker,
        &["I-4.3", "I-4.4"],
        "A name that an index had is free",
        &[&[Record::unindex(3), Record::index(1, 6, &by_n("by n"))]],
    );
    holds(
        maker,
        &["I-4.4"],
        "A name that was given up is free",
        &[&[Record::reindex(3, "first"), Record::reindex(4, "by n")]],
    );
    holds(
        maker,
        &["F-7.2"],
        "An index with a name that begins with a dollar",
        &[&[Record::reindex(3, "$first")]],
    );
    holds(maker, &["I-4.5"], "Indexes end with their collection", &[&[Record::drop(1)], &[put(9)]]);
    holds(
        maker,
        &["I-4.5"],
        "Indexes go on when their collection is renamed",
        &[&[Record::rename(1, "renamed")], &[put(9)]],
    );
    let clear = Record::clear(1, 6);
    let put_there = Record::put(6, &Key::Int(7), &saying(7));
    holds(
        maker,
        &["I-4.5", "I-4.8"],
        "Indexes go on without entries when their collection is cleared",
        &[std::slice::from_ref(&clear)],
    );
    holds(
        maker,
        &["I-4.5", "I-4.8"],
        "Documents after a clear have entries",
        &[std::slice::from_ref(&clear), &[put_there.clone(), put(9)]],
    );
    holds(
        maker,
        &["I-4.8", "F-7.2"],
        "The id behind the last of a clear is free",
        &[&[clear.clone(), Record::index(6, 9, &by_n("third"))]],
    );
    holds(
        maker,
        &["I-4.4", "I-4.8"],
        "An index keeps the name that it was given in a clear, and the name before it is free",
        &[&[Record::reindex(3, "first"), clear.clone(), Record::index(6, 9, &by_n("by n"))]],
    );
    holds(
        maker,
        &["I-4.8"],
        "Indexes have new ids after a clear: the first",
        &[&[clear.clone(), Record::unindex(7)], std::slice::from_ref(&put_there)],
    );
    holds(
        maker,
        &["I-4.8"],
        "Indexes have new ids after a clear: the second",
        &[&[clear, Record::reindex(8, "eighth")], &[put_there]],
    );
    holds(
        maker,
        &["F-7.2"],
        "The greatest id is one of an index",
        &[&[Record::index(1, u32::MAX, &by_n("last"))]],
    );
    holds(
        maker,
        &["F-7.2"],
        "Collections and indexes have ids from one sequence",
        &[&[Record::create(6, "third"), Record::index(6, 7, &by_n("by n"))]],
    );
    let mut kept = by_n("kept").map();
    kept.extend([
        ("above".to_owned(), Value::from("@.a")),
        ("required".to_owned(), texts(&["on", "required"])),
    ]);
    let record = Record { effect: Effect::Index(1, 6, by_n("kept")), ..index(Value::Object(kept)) };
    holds(maker, &["F-7.3", "F-8.10"], "A definition with a key that is not known", &[&[record]]);
    let mut change = map("unindex", &[("id", 3)], None);
    change.insert("required".to_owned(), texts(&["index", "new", "name"]));
    let record = Record::catalog(&change, Effect::Unindex(3));
    holds(maker, &["F-7.3"], "A change that requires the key `index`", &[&[record]]);
    let folded = Definition::new("folded", &[&[field("n")], &[field("tags"), Step::Any]]);
    let folded = folded.under(0, "length").under(1, "fold").descending(&[0]);
    let put = Record::put(1, &Key::Int(9), &document([("n", Value::from("B"))]));
    holds(
        maker,
        &["F-8.10", "I-1.5"],
        "An index on functions of paths",
        &[&[Record::index(1, 6, &folded)], &[put]],
    );
    let partial = by_tag().filtered("@.n >= 1 && @.tags");
    let partial = Definition { name: "partial".to_owned(), ..partial };
    let saying = |n: Value, tags: &[&str]| document([("n", n), ("tags", texts(tags))]);
    holds(
        maker,
        &["F-8.10", "I-1.6", "I-2.8"],
        "A partial index, under whose filter documents come, and which they leave",
        &[
            &[Record::index(1, 6, &partial), Record::put(1, &Key::Int(9), &saying(Value::Int(0), &["a"]))],
            &[
                Record::put(1, &Key::Int(9), &saying(Value::Int(3), &["a", "b"])),
                Record::put(1, &Key::Int(2), &saying(Value::from("x"), &["c"])),
                Record::put(1, &Key::Int(7), &saying(Value::Float(1.5), &[])),
            ],
        ],
    );
    small_segments(maker);
}

/// Stores of small segments, in which tuples are long sooner.
fn small_segments(maker: &mut Maker) {
    for (sector, segment_bytes) in [(64, 512), (64, 1024), (512, 4096), (64, 16_384)] {
        let mut forge = Forge::opened(sector, segment_bytes, 2);
        forge.commit(&[Record::create(1, "notes"), Record::index(1, 2, &by_n("by n"))]);
        let limit = crate::forge::entries::tuple_limit(sector, segment_bytes);
        for (key, len) in [(1, limit - 3), (2, limit - 2)] {
            let put =
                Record::put(1, &Key::Int(key), &document([("n", Value::from("x".repeat(len).as_str()))]));
            crate::make::stores::sample::push(&mut forge, &[put], crate::forge::log::NOTHING);
        }
        let name = format!(
            "The longest tuple, and a long one, in segments of {segment_bytes} bytes and sectors of {sector}"
        );
        maker.holds(&["I-2.6", "I-7.1", "F-8.10"], &["IndexEntry"], name, &forge.data, forge.state());
    }
}

fn broken(maker: &mut Maker, clauses: &[&str], name: &str, records: Vec<Record>) {
    let mut forge = indexed();
    let records: Vec<_> = records.into_iter().map(Record::dead).collect();
    forge.commit(&records);
    let mut named = [clauses, &["F-7.1", "R-2.7"]].concat();
    named.dedup();
    maker.refused(&named, &["Catalog"], name, &forge.data, refusal());
}

fn refusal() -> Outcome {
    corrupt(
        &["F-7.1", "F-7.2", "F-7.3", "F-8.10", "I-1.1", "I-1.2", "I-1.3", "R-2.7", "E-2.1", "E-1.2"],
        None,
    )
}

pub(super) fn refused(maker: &mut Maker) {
    let new = || by_n("new");
    for (name, records) in [
        ("An index of a collection that is not there", vec![Record::index(9, 10, &new())]),
        ("An index of an index", vec![Record::index(3, 6, &new())]),
        ("An index of a collection that ended", vec![Record::drop(2), Record::index(2, 6, &new())]),
        ("An index whose id is that of another", vec![Record::index(1, 5, &new())]),
        ("An index whose id is that of a collection", vec![Record::index(1, 2, &new())]),
        (
            "An index whose id is that of one that ended",
            vec![Record::unindex(5), Record::index(1, 5, &new())],
        ),
        (
            "An index whose id is below one that was given",
            vec![Record::index(1, 9, &new()), Record::index(1, 8, &by_n("second"))],
        ),
        ("A collection whose id is that of an index", vec![Record::create(5, "third")]),
        ("A clear to the id of an index", vec![Record::clear(1, 5)]),
        ("An index whose name another has", vec![Record::index(1, 6, &by_n("by tag"))]),
        ("The end of an index that is not there", vec![Record::unindex(9)]),
        ("The end of an index by the id of a collection", vec![Record::unindex(1)]),
        ("The end of an index that ended", vec![Record::unindex(3), Record::unindex(3)]),
        ("The end of an index whose collection ended", vec![Record::drop(1), Record::unindex(3)]),
        (
            "The end of an index by the id that it had before a clear",
            vec![Record::clear(1, 6), Record::unindex(3)],
        ),
        ("An id that a clear gave to an index", vec![Record::clear(1, 6), Record::create(8, "third")]),
        ("Another name for an index that is not there", vec![Record::reindex(9, "x")]),
        ("Another name for a collection, as for an index", vec![Record::reindex(1, "x")]),
        ("Another name that an index has", vec![Record::reindex(3, "by tag")]),
        ("The name that the index has already", vec![Record::reindex(3, "by n")]),
        ("A drop of an index, as of a collection", vec![Record::drop(3)]),
        ("A clear of an index, as of a collection", vec![Record::clear(3, 6)]),
        ("A rename of an index, as of a collection", vec![Record::rename(3, "x")]),
        ("A clear after which an index has no id", vec![Record::clear(1, u32::MAX - 1)]),
        ("An empty name for an index", vec![Record::reindex(3, "")]),
        ("A name of 256 bytes for an index", vec![Record::reindex(3, &"n".repeat(256))]),
    ] {
        broken(maker, &["F-7.2"], name, records);
    }
    for (name, change) in [
        ("no definition", map("index", &[("id", 1), ("new", 6)], None)),
        ("no id of its own", with_definition(map("index", &[("id", 1)], None))),
        ("no id of a collection", with_definition(map("index", &[("new", 6)], None))),
        ("0 as its id", with_definition(map("index", &[("id", 1), ("new", 0)], None))),
        ("an id of 33 bits", with_definition(map("index", &[("id", 1), ("new", 1 << 32)], None))),
    ] {
        broken(
            maker,
            &["F-7.2"],
            &format!("An index with {name}"),
            vec![Record::catalog(&change, Effect::None)],
        );
    }
    broken(
        maker,
        &["F-7.2"],
        "Another name without a name",
        vec![Record::catalog(&map("reindex", &[("id", 3)], None), Effect::None)],
    );
    broken(
        maker,
        &["F-7.2"],
        "The end of an index without an id",
        vec![Record::catalog(&map("unindex", &[], None), Effect::None)],
    );
    for (name, definition) in [
        ("that is no map", texts(&["$.n"])),
        ("without a path", defined(|map| drop(map.insert("on".to_owned(), texts(&[]))))),
        ("with a path in another form", defined(|map| drop(map.insert("on".to_owned(), texts(&["$['n']"]))))),
        (
            "with a function that it does not require",
            defined(|map| drop(map.insert("by".to_owned(), texts(&["fold"])))),
        ),
        (
            "with a filter that it does not require",
            defined(|map| drop(map.insert("where".to_owned(), Value::from("@.a")))),
        ),
        (
            "with a filter that has a parameter",
            defined(|map| {
                map.insert("where".to_owned(), Value::from("@.a == arg('x')"));
                map.insert("required".to_owned(), texts(&["where"]));
            }),
        ),
        ("with a path twice", defined(|map| drop(map.insert("on".to_owned(), texts(&["$.n", "-$.n"]))))),
        ("with two fan-outs", defined(|map| drop(map.insert("on".to_owned(), texts(&["$.a[*]", "$.b[*]"]))))),
        (
            "with a flag that is false",
            defined(|map| drop(map.insert("unique".to_owned(), Value::Bool(false)))),
        ),
        ("without a name", defined(|map| drop(map.remove("name")))),
        ("with an empty name", defined(|map| drop(map.insert("name".to_owned(), Value::from(""))))),
        (
            "that requires a number",
            defined(|map| drop(map.insert("required".to_owned(), Value::Array(vec![Value::Int(1)])))),
        ),
    ] {
        broken(
            maker,
            &["F-8.10", "I-1.1", "I-1.2", "I-1.3"],
            &format!("A definition {name}"),
            vec![index(definition)],
        );
    }
    let requires = |key: &str| defined(|map| drop(map.insert("required".to_owned(), texts(&[key]))));
    for (name, record) in [
        ("A definition that requires what a newer version knows", index(requires("above"))),
        ("A definition that requires an order", index(requires("order"))),
        ("A definition that requires a key of the record", index(requires("id"))),
        (
            "A change of an index that is not known",
            Record::catalog(&map("indexed", &[("id", 3)], None), Effect::None),
        ),
    ] {
        let mut forge = indexed();
        forge.commit(&[record]);
        maker.refused(&["F-7.1", "F-7.3", "F-8.10"], &["Features"], name, &forge.data, newer());
    }
}

fn with_definition(mut map: Document) -> Document {
    map.insert("index".to_owned(), Value::Object(by_n("new").map()));
    map
}
