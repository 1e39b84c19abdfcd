//! What an index makes of values of every kind, of names and definitions that cannot be, and of files that are damaged.

use std::sync::Arc;

use holotype::storage::{MemoryStorage, Storage};
use holotype::{Db, Error, IndexDefinition, Key, Options, Value, doc};

fn by(name: &str, path: &str) -> IndexDefinition {
    IndexDefinition::new(name, [path]).expect("it is a definition")
}

/// Values in the order of an index, several of them at one place, each in a list of such.
fn places() -> Vec<Vec<Option<Value>>> {
    let float = |float: f64| Some(Value::Float(float));
    let int = |int: i64| Some(Value::Int(int));
    let text = |text: &str| Some(Value::from(text));
    vec![
        vec![None],
        vec![Some(Value::Null)],
        vec![Some(Value::Bool(false))],
        vec![Some(Value::Bool(true))],
        vec![float(f64::NAN)],
        vec![float(f64::NEG_INFINITY)],
        vec![float(-1e300)],
        vec![int(i64::MIN), float(-9_223_372_036_854_775_808.0)],
        vec![int(-1)],
        vec![int(0), float(0.0), float(-0.0)],
        vec![float(f64::MIN_POSITIVE)],
        vec![int(1), float(1.0)],
        vec![float(1.5)],
        vec![int(1 << 53), float(9_007_199_254_740_992.0)],
        vec![int((1 << 53) + 1)],
        vec![int((1 << 53) + 2), float(9_007_199_254_740_994.0)],
        vec![int(i64::MAX - 1)],
        vec![int(i64::MAX)],
        vec![float(9_223_372_036_854_775_808.0)],
        vec![float(f64::INFINITY)],
        vec![text("")],
        vec![text("\0")],
        vec![text("a")],
        vec![text("a\0")],
        vec![text("ab")],
        vec![text("é")],
        vec![Some(Value::Bytes(vec![]))],
        vec![Some(Value::Bytes(vec![0]))],
        vec![Some(Value::Array(vec![]))],
        vec![Some(Value::Array(vec![Value::Null]))],
        vec![Some(Value::from(doc! {}))],
        vec![Some(Value::from(doc! { "a": 1 }))],
    ]
}

/// What an index shows, as text: it tells `-0.0` from `0.0`, and NaN from nothing else.
fn shown(db: &Db, index: &str) -> Vec<String> {
    let scan = db.collection("c").index(index).range(..).expect("it is there");
    scan.map(|entry| format!("{:?}", entry.expect("nothing is wrong").values()[0])).collect()
}

//= spec/index.md#i-2-4-order-of-entries
//= type=test
//# Entries MUST be ordered by their tuples, the first component that does not stand at the same place deciding;
//# then by their keys; then by the *marks* of the numbers in their tuples.
//= spec/index.md#i-2-5-exactness
//= type=test
//# An entry MUST give back the values of its tuple, equal to those of the document.
#[test]
fn values_of_every_kind_stand_in_one_index_in_order_and_as_they_were() {
    let storage = Arc::new(MemoryStorage::new());
    let open = || Db::open_on(Arc::clone(&storage), &Options::new()).expect("it opens");
    let db = open();
    let c = db.collection("c");
    c.create_index(by("up", "$.v")).expect("it can be");
    c.create_index(by("down", "-$.v")).expect("it can be");
    let all: Vec<Option<Value>> = places().into_iter().flatten().collect();
    // In another order than that of their places, but for those at one place.
    for (number, value) in all
        .iter()
        .enumerate()
        .filter(|(number, _)| number % 2 == 1)
        .chain(all.iter().enumerate().filter(|(number, _)| number % 2 == 0))
    {
        let document = value.clone().map_or(doc! {}, |value| doc! { "v": value });
        c.put(number as i64, document).expect("memory refuses nothing");
    }
    let up: Vec<String> = all.iter().map(|value| format!("{value:?}")).collect();
    let down: Vec<String> = places().into_iter().rev().flatten().map(|value| format!("{value:?}")).collect();
    let check = |db: &Db| {
        assert_eq!(shown(db, "up"), up);
        assert_eq!(shown(db, "down"), down);
        let c = db.collection("c");
        for place in places() {
            let count = place.len() as u64;
            for value in place {
                let ends = vec![value.clone()]..=vec![value];
                assert_eq!(c.index("up").count(ends.clone()).expect("there"), count, "{ends:?}");
                assert_eq!(c.index("down").count(ends).expect("there"), count);
            }
        }
        assert!(db.verify(true).expect("it can be read").is_clean());
    };
    check(&db);
    drop((db, c));
    let db = open();
    check(&db);
    db.checkpoint().expect("there is room");
    db.close().expect("there is room");
    check(&open());
    let unique = open().collection("c").create_index(by("one", "$.v").unique());
    let Err(Error::UniqueViolations { violations, .. }) = unique else { panic!("{unique:?}") };
    assert_eq!(violations.len(), places().iter().filter(|place| place.len() > 1).count(), "{violations:?}");
}

#[test]
fn a_document_with_very_many_items_is_indexed_whole_or_refused_whole() {
    let c = Db::in_memory().collection("c");
    c.create_index(by("n", "$.n[*]")).expect("it can be");
    c.put(1, doc! { "n": [1, 2] }).expect("memory refuses nothing");
    let items = |count: i64| doc! { "n": Value::Array((0..count).map(Value::Int).collect()) };
    let refused = c.put(1, items((1 << 20) + 1));
    assert!(matches!(refused, Err(Error::LimitReached { .. })), "{refused:?}");
    assert_eq!(c.index("n").count(..).expect("there"), 2);
    c.put(1, items(1 << 17)).expect("there is room");
    assert_eq!(c.index("n").count(..).expect("there"), 1 << 17);
    assert_eq!(c.index("n").count(5..=5).expect("there"), 1);
    c.delete(1).expect("there");
    assert_eq!(c.index("n").count(..).expect("there"), 0);
}

#[test]
fn names_and_definitions_that_cannot_be_are_refused_and_change_nothing() {
    let c = Db::in_memory().collection("c");
    c.insert(doc! { "a": 1 }).expect("memory refuses nothing");
    for name in ["", "$a", &"n".repeat(256)] {
        let refused = IndexDefinition::new(name, ["$.a"]);
        assert!(matches!(refused, Err(Error::InvalidIndex { .. })), "{refused:?}");
        c.create_index(by("i", "$.a")).expect("it can be");
        assert!(matches!(c.rename_index("i", name), Err(Error::InvalidIndex { .. })), "{name:?}");
    }
    for path in ["$.a[?@.b]", "$.a[0:2]", "$..a", "$['a','b']", "$"] {
        let refused = IndexDefinition::new("p", [path]);
        assert!(matches!(refused, Err(Error::InvalidIndex { .. })), "{path}: {refused:?}");
    }
    assert!(!c.create_index(by("i", "$['a']")).expect("it is the same"), "a definition given twice");
    assert!(!c.replace_index(by("i", "$.a")).expect("it is the same"));
    let other = c.create_index(by("i", "$.a").unique());
    assert!(matches!(other, Err(Error::IndexExists { .. })), "{other:?}");
    assert_eq!(c.indexes().expect("there"), [by("i", "$.a")]);
    for number in 1..64 {
        c.create_index(by(&format!("i{number}"), "$.a")).expect("there may be so many");
    }
    let refused = c.create_index(by("one_more", "$.a"));
    assert!(matches!(refused, Err(Error::LimitReached { .. })), "{refused:?}");
    assert!(c.replace_index(by("i1", "$.b")).expect("there are no more than before"));
}

/// Every byte of a file with an index in both of its checkpoints and in its log, wrong by one bit.
#[test]
fn a_file_with_a_damaged_byte_has_every_index_right_or_says_what_is_wrong() {
    let options = Options::tiny().segment_bytes(1024);
    let storage = Arc::new(MemoryStorage::new());
    let db = Db::open_on(Arc::clone(&storage), &options).expect("it opens");
    let c = db.collection("c");
    c.insert_many((0..4).map(|n| doc! { "n": n, "tags": [n, "x"] })).expect("there is room");
    c.create_index(by("n", "$.n").unique()).expect("it can be");
    db.checkpoint().expect("there is room");
    c.create_index(by("tags", "-$.tags[*]")).expect("it can be");
    c.put(2, doc! { "n": 7 }).expect("there is room");
    db.checkpoint().expect("there is room");
    c.delete(1).expect("there");
    let entries = |db: &Db| -> holotype::Result<Vec<(String, Key)>> {
        let c = db.collection("c");
        let mut all = Vec::new();
        for index in c.indexes()? {
            for entry in c.index(index.name()).range(..)? {
                let entry = entry?;
                all.push((format!("{} {:?}", index.name(), entry.values()), entry.key().clone()));
            }
        }
        Ok(all)
    };
    let expected = entries(&db).expect("nothing is wrong");
    assert_eq!(expected.len(), 3 + 5);
    drop((db, c));
    let len = storage.len().expect("memory has a length");
    let mut bytes = vec![0; len as usize];
    storage.read_at(0, &mut bytes).expect("memory can be read");
    let (mut right, mut told) = (0, 0);
    for at in (0..len).filter(|at| bytes[*at as usize] != 0) {
        let copy = Arc::new(MemoryStorage::new());
        copy.write_at(0, &bytes).expect("memory takes it");
        copy.write_at(at, &[bytes[at as usize] ^ 1]).expect("memory takes it");
        match Db::open_on(copy, &options.clone().read_only(true)).and_then(|db| entries(&db)) {
            Ok(found) if found == expected => right += 1,
            Ok(found) => panic!("byte {at}: {found:?}"),
            Err(Error::Corrupt(_) | Error::NewerFormat { .. } | Error::OlderFormat { .. }) => told += 1,
            Err(error) => panic!("byte {at}: {error}"),
        }
    }
    assert!(right > 1_000 && told > 10, "{right} right, {told} told");
}
