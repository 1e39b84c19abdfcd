//! Entries from bytes (I-7.2).

#![expect(clippy::big_endian_bytes, reason = "big-endian bytes compare as the numbers do")]

use holotype_model::{Document, Key, Value};

use super::entries::KEY;
use super::says;
use crate::case::Request;
use crate::forge::cbor;
use crate::forge::entries::{Component, Definition, field, order_key};
use crate::make::ladder::{array, object, text};
use crate::make::{Maker, invalid, rejected, valid};

fn request(definition: &Definition, limit: usize, bytes: Vec<u8>) -> Request {
    Request::DecodeIndexEntry {
        definition: cbor::document(&definition.map()).into(),
        limit: limit as u64,
        bytes: bytes.into(),
    }
}

fn over() -> Definition {
    Definition::over("by", "a")
}

fn two() -> Definition {
    Definition::new("by", &[&[field("x")], &[field("y")]])
}

pub(super) fn taken(maker: &mut Maker) {
    let deep = (0..120).fold(Value::Int(1), |inner, _| array([inner]));
    let values = [
        Value::Null,
        Value::Bool(true),
        Value::Int(i64::MAX),
        Value::Int(i64::MIN),
        Value::Int((1 << 53) + 1),
        Value::Float(1.0),
        Value::Float(-0.0),
        Value::Float(0.0),
        Value::Float(0.5),
        Value::Float(f64::NAN),
        Value::Float(f64::NEG_INFINITY),
        Value::Float(2f64.powi(63)),
        Value::Float(-2f64.powi(63)),
        Value::Float(2f64.powi(53)),
        text("a\0\u{e9}"),
        Value::Bytes(vec![0, 0, 0xff]),
        array([Value::Float(1.0), Value::Int(2), Value::Float(-0.0)]),
        object([("bb", Value::Float(1.0)), ("c", Value::Int(1)), ("", array([]))]),
        object([("n".repeat(300).as_str(), Value::Null)]),
        deep,
    ];
    let mut tuples: Vec<(Definition, Vec<Component>)> = Vec::new();
    for value in values {
        tuples.push((over(), vec![Some(value.clone())]));
        tuples.push((two().descending(&[0]), vec![Some(value.clone()), None]));
        tuples.push((two().descending(&[1]), vec![None, Some(value)]));
    }
    tuples.push((two(), vec![None, None]));
    for (n, (definition, tuple)) in tuples.into_iter().enumerate() {
        let key = [KEY, Key::from("k\0"), Key::Bytes(vec![0, 1]), Key::Int(i64::MIN)][n % 4].clone();
        let entry = definition.entry(1024, &tuple, &key);
        let components =
            tuple.into_iter().map(|component| Value::Array(component.into_iter().collect())).collect();
        let said = Document::from([
            ("key".to_owned(), value_of(&key)),
            ("tuple".to_owned(), Value::Array(components)),
        ]);
        let name = format!("An entry gives back its tuple and its key: {}", n + 1);
        maker.case(
            &valid(&["I-2.5", "I-7.2"], &["IndexEntry"]),
            name,
            request(&definition, 1024, entry),
            says(said),
        );
    }
    for limit in [20, 1024] {
        let definition = over().descending(&[0]);
        let entry = definition.entry(limit, &[Some(text(&"x".repeat(limit)))], &Key::from("k"));
        let said = Document::from([("key".to_owned(), text("k"))]);
        let name = format!("An entry of a long tuple gives back its key, with a limit of {limit}");
        maker.case(
            &valid(&["I-2.6", "I-7.2"], &["IndexEntry"]),
            name,
            request(&definition, limit, entry),
            says(said),
        );
    }
}

fn value_of(key: &Key) -> Value {
    match key {
        Key::Int(int) => Value::Int(*int),
        Key::Text(text) => Value::from(text.as_str()),
        Key::Bytes(bytes) => Value::Bytes(bytes.clone()),
    }
}

pub(super) fn refused(maker: &mut Maker) {
    let key = order_key(&KEY);
    let number = |value: Value| cbor::order_key(&value);
    let one = number(Value::Int(1));
    let number_of = |bits: u64, more: &[u8]| [&[4][..], &bits.to_be_bytes(), more].concat();
    let large = number(Value::Int(1 << 53));
    let with_key = |part: &[u8]| [part, &key].concat();
    let marked = |part: &[u8], marks: &[u8]| [part, &key, marks].concat();
    let array_of = |items: &[&[u8]]| [&[7][..], &items.concat(), &[0]].concat();
    for (name, entry) in [
        ("no bytes", Vec::new()),
        ("a component of no type", with_key(&[9])),
        ("a component of no type, of all bits", with_key(&[0xff])),
        ("a component without a key", one.clone()),
        ("a component whose key ends early", [&one[..], &key[..5]].concat()),
        ("a number that ends early", one[..6].to_vec()),
        ("a NaN with other bits", with_key(&number_of(1, &[]))),
        ("a negative zero", with_key(&number_of(!(1 << 63), &[]))),
        ("a NaN of the machine", with_key(&number_of(f64::NAN.to_bits() | 1 << 63, &[]))),
        (
            "a number of more than the difference that there can be",
            with_key(&[&large[..9], &[0, 2]].concat()),
        ),
        (
            "an infinity with a difference",
            with_key(&[&number(Value::Float(f64::INFINITY))[..9], &[0, 1]].concat()),
        ),
        (
            "a number beyond the greatest int with a difference",
            with_key(&[&number(Value::Float(2f64.powi(63)))[..9], &[0, 1]].concat()),
        ),
        ("a text that is not UTF-8", with_key(&[5, 0xff, 0, 0])),
        ("a text with a zero that is not escaped", with_key(&[5, b'a', 0, 1, 0, 0])),
        ("bytes with a zero that is not escaped", with_key(&[6, 0, 0xfe, 0, 0])),
        ("a text without an end", [5, b'a'].to_vec()),
        ("an array without an end", [&[7][..], &one].concat()),
        ("an array with nothing in it that is no value", with_key(&array_of(&[&[9]]))),
        ("an object whose name is none", with_key(&[8, 0x41, b'a', 1, 0])),
        ("an object whose name has a longer head than it needs", with_key(&[8, 0x78, 1, b'a', 1, 0])),
        ("an object whose name is not UTF-8", with_key(&[8, 0x61, 0xff, 1, 0])),
        ("an object with a name of no length", with_key(&[8, 0x7f, 1, 0])),
        ("an object with a name twice", with_key(&[8, 0x61, b'a', 1, 0x61, b'a', 1, 0])),
        ("an object out of order", with_key(&[8, 0x61, b'b', 1, 0x61, b'a', 1, 0])),
        ("an object whose longer name comes first", with_key(&[8, 0x62, b'a', b'a', 1, 0x61, b'b', 1, 0])),
        ("an object without a value", with_key(&[8, 0x61, b'a', 0])),
        ("more than 128 levels", with_key(&number_of_levels(128))),
        ("a key of null", [&one[..], &[1]].concat()),
        ("a key of a float", [&one[..], &number(Value::Float(0.5))].concat()),
        ("a key of an array", [&one[..], &[7, 0]].concat()),
        ("a key of NaN", [&one[..], &number(Value::Float(f64::NAN))].concat()),
        ("a key that is too long", [&one[..], &order_key(&Key::from("k".repeat(1025).as_str()))].concat()),
        ("a key of nothing", [&one[..], &[0]].concat()),
        ("a mark above 2", marked(&one, &[3])),
        ("a mark of all bits", marked(&one, &[0xff])),
        ("-0.0 as the mark of 1", marked(&one, &[2])),
        ("a mark of a fraction", marked(&number(Value::Float(0.5)), &[1])),
        ("a mark of NaN", marked(&number(Value::Float(f64::NAN)), &[1])),
        ("a mark of an infinity", marked(&number(Value::Float(f64::INFINITY)), &[1])),
        ("a mark of a float that no int is", marked(&number(Value::Float(2f64.powi(63))), &[1])),
        ("a mark of an int that no float is", marked(&number(Value::Int((1 << 53) + 1)), &[1])),
        ("a mark without a number", marked(&[1], &[1])),
        ("a mark of nothing", marked(&[0], &[1])),
        ("two marks of one number", marked(&one, &[1, 1])),
        ("a zero as a mark", marked(&one, &[0])),
        ("a zero behind a mark", marked(&array_of(&[&one, &one]), &[1, 0])),
        ("three marks of two numbers", marked(&array_of(&[&one, &one]), &[0, 0, 1])),
    ] {
        let name = format!("An entry with {name}");
        maker.case(
            &invalid(&["I-7.2", "E-5.6"], &["IndexEntry"]),
            name,
            request(&over(), 1024, entry),
            rejected(),
        );
    }
    let sparse = two().sparse();
    let nothing = with_key(&[0, 0]);
    for (name, definition, entry) in [
        ("one component of two", two(), [&one[..], &key[..4]].concat()),
        ("a component that is not inverted", over().descending(&[0]), with_key(&one)),
        ("a component that is inverted", over(), with_key(&one.iter().map(|byte| !byte).collect::<Vec<_>>())),
        ("a tuple of nothing in a sparse index", sparse, nothing),
    ] {
        let name = format!("An entry with {name}");
        let clauses = &["I-7.2", "I-2.2", "I-7.1"];
        maker.case(&invalid(clauses, &["IndexEntry"]), name, request(&definition, 1024, entry), rejected());
    }
    for (function, what, component) in [
        ("fold", "an int", Value::Int(1)),
        ("lower", "a byte string", Value::Bytes(b"a".to_vec())),
        ("time", "a text", text("1970-01-01T00:00:00Z")),
        ("time", "a float", Value::Float(1.0)),
        ("length", "a fraction", Value::Float(0.5)),
        ("length", "null", Value::Null),
    ] {
        let definition = over().under(0, function);
        let entry = definition.entry(1024, &[Some(component)], &KEY);
        let clauses = &["I-7.2", "I-1.5"];
        let name = format!("An entry with {what} under {function}");
        maker.case(&invalid(clauses, &["IndexEntry"]), name, request(&definition, 1024, entry), rejected());
    }
    let long = over().entry(20, &[Some(text(&"x".repeat(40)))], &KEY);
    for (name, limit, entry) in [
        ("with a mark", 20, [&long[..], &[1]].concat()),
        ("with a zero behind it", 20, [&long[..], &[0]].concat()),
        ("without a key", 20, long[..20].to_vec()),
        ("with an end of a key that is missing", 20, long[..25].to_vec()),
        ("that is shorter than the limit", 21, long[..20].to_vec()),
        ("that has no type", 20, [&[9][..], &long[1..]].concat()),
        ("whose tuple ends before the limit", 60, long.clone()),
    ] {
        let name = format!("An entry of a long tuple {name}");
        let clauses = &["I-7.2", "I-2.6", "I-7.1"];
        maker.case(&invalid(clauses, &["IndexEntry"]), name, request(&over(), limit, entry), rejected());
    }
}

/// An array of so many levels, in which there is nothing.
fn number_of_levels(levels: usize) -> Vec<u8> {
    [vec![7; levels], vec![0; levels]].concat()
}
