//! Documents and keys as CBOR: accepted, and refused.

mod refused;

use super::ladder::{array, bytes, object, rungs, text};
use super::order::short;
use super::{Maker, invalid, may, rejected, valid};
use crate::case::{Group, Outcome, Request};
use crate::forge::cbor::{self, head_of_width};
use holotype_model::Value;
use serde_json::value::RawValue;

pub(super) fn canonical(value: &Value) -> Box<RawValue> {
    RawValue::from_string(cbor::canonical(value)).expect("canonical JSON is JSON")
}

/// Documents.
pub(super) fn documents() -> Group {
    let mut maker =
        Maker::new("documents", "Bytes that are the encoding of a document, and bytes that are not");
    for value in rungs().iter().flatten() {
        let document = object([("v", value.clone())]);
        let clauses: &[&str] = match value {
            Value::Float(float) if float.is_nan() => &["E-2.1", "E-2.7", "V-1.3"],
            Value::Float(_) => &["E-2.1", "E-2.6", "V-1.3"],
            Value::Int(_) => &["E-2.1", "E-2.2", "E-2.4", "V-1.2"],
            Value::Text(_) => &["E-2.1", "E-2.2", "E-2.5", "V-1.4"],
            Value::Bytes(_) => &["E-2.1", "E-2.2", "V-1.5"],
            Value::Array(_) => &["E-2.1", "E-2.3", "V-1.6"],
            Value::Object(_) => &["E-2.1", "E-2.3", "E-3.1", "V-1.7"],
            Value::Null | Value::Bool(_) => &["E-2.1", "V-1.1"],
        };
        accepted(&mut maker, clauses, &format!("A document with the value {}", short(value)), &document);
    }
    objects(&mut maker);
    limits(&mut maker);
    refused::refused_items(&mut maker);
    refused::refused_objects(&mut maker);
    refused::cut_short(&mut maker);
    partial_reads(&mut maker);
    maker.finish()
}

fn accepted(maker: &mut Maker, clauses: &[&str], name: &str, document: &Value) {
    let clauses = [&["E-1.1", "E-1.2", "E-1.4", "E-3.4", "V-1.8"], clauses].concat();
    let request = Request::DecodeDocument { bytes: cbor::value(document).into() };
    maker.case(&valid(&clauses, &[]), name, request, vec![Outcome::Value(canonical(document))]);
}

fn refuse(maker: &mut Maker, clauses: &[&str], flag: &str, name: impl Into<String>, bytes: Vec<u8>) {
    let request = Request::DecodeDocument { bytes: bytes.into() };
    maker.case(&invalid(clauses, &[flag]), name, request, rejected());
}

/// A document of the one field `v`, whose value is these bytes.
fn with(value: &[u8]) -> Vec<u8> {
    [&[0xa1, 0x61, b'v'], value].concat()
}

fn objects(maker: &mut Maker) {
    accepted(maker, &["E-2.1"], "The empty document", &object([]));
    let names = ["", "a", "b", "z", "aa", "ab", "ba", "\u{e9}", "aaa", "zzz"];
    let fields = names.iter().map(|name| ((*name).to_owned(), Value::Int(1))).collect();
    let name = "Names in name order: shorter ones first";
    accepted(maker, &["E-3.1", "E-3.2", "V-3.6"], name, &Value::Object(fields));
    for count in [23, 24, 255, 256] {
        let fields = (0..count).map(|n| (format!("{n:03}"), Value::Null)).collect();
        accepted(maker, &["E-2.2", "E-2.3", "E-3.2"], &format!("{count} fields"), &Value::Object(fields));
    }
    for len in [23, 24, 255, 256] {
        let fields = [("n".repeat(len), Value::Null)].into_iter().collect();
        accepted(maker, &["E-2.2", "E-3.1"], &format!("A name of {len} bytes"), &Value::Object(fields));
    }
    let mixed = object([
        ("list", array([Value::Null, Value::Bool(true), Value::Float(-0.0), bytes(&[0, 255])])),
        ("map", object([("x", object([("y", text("z"))]))])),
    ]);
    accepted(maker, &["E-2.1", "E-3.2"], "Everything in everything", &mixed);
    let same_name = object([("a", object([("a", object([("a", Value::Int(1))]))]))]);
    accepted(maker, &["E-3.3"], "One name on three levels comes once in each object", &same_name);
}

fn nested(levels: usize, innermost: Value) -> Value {
    (2..levels)
        .fold(innermost, |inner, level| if level % 2 == 0 { array([inner]) } else { object([("o", inner)]) })
}

fn limits(maker: &mut Maker) {
    let deep = object([("v", nested(128, array([])))]);
    accepted(maker, &["V-4.3"], "128 levels", &deep);
    let deep = object([("v", nested(128, array([Value::Int(1), Value::Null])))]);
    accepted(maker, &["V-4.3"], "128 levels, with values on the last that have no level", &deep);
    let too_deep = object([("v", nested(129, array([])))]);
    refuse(maker, &["V-4.3", "V-4.4"], "Limit", "129 levels, an array on the last", cbor::value(&too_deep));
    let too_deep = object([("v", nested(129, object([])))]);
    refuse(maker, &["V-4.3", "V-4.4"], "Limit", "129 levels, an object on the last", cbor::value(&too_deep));
    let levels = |count: usize| [vec![0x81; count], vec![0x80]].concat();
    refuse(maker, &["V-4.3"], "Limit", "1,000 arrays in one another", with(&levels(1000)));
    refuse(maker, &["V-4.3"], "Limit", "10,000 arrays in one another", with(&levels(10_000)));
}

/// A pointer may be followed without a look at the rest (E-1.3).
fn partial_reads(maker: &mut Maker) {
    let broken = [vec![0xa2, 0x61, b'a', 0x01, 0x61, b'b'], head_of_width(0, 5, 8)].concat();
    let request = Request::Get { bytes: broken.into(), pointer: "/a".to_owned() };
    let expect = vec![Outcome::Bytes(vec![1].into()), Outcome::Rejected(Default::default())];
    maker.case(
        &may(&["E-1.3"], &["SecondForm"]),
        "A field is read before another that is not in its shortest form",
        request,
        expect,
    );
    let cut = vec![0xa2, 0x61, b'a', 0x01, 0x61, b'b', 0x63, b'x'];
    let request = Request::Get { bytes: cut.clone().into(), pointer: "/a".to_owned() };
    let expect = vec![Outcome::Bytes(vec![1].into()), Outcome::Rejected(Default::default())];
    maker.case(
        &may(&["E-1.3"], &["ShortInput"]),
        "A field is read before another that is cut short",
        request,
        expect,
    );
    let request = Request::Get { bytes: cut.into(), pointer: "/b".to_owned() };
    let expect = vec![Outcome::None(true), Outcome::Rejected(Default::default())];
    maker.case(&may(&["E-1.3"], &["ShortInput"]), "A field that is cut short is not read", request, expect);
    let document = object([("a", Value::Int(1)), ("b", text("x"))]);
    let request = Request::Get { bytes: cbor::value(&document).into(), pointer: "/b".to_owned() };
    let expect = vec![Outcome::Bytes(cbor::text("x").into())];
    maker.case(&valid(&["E-1.3"], &[]), "A field is read behind another", request, expect);
}

/// Keys.
pub(super) fn keys() -> Group {
    let mut maker = Maker::new("keys", "Bytes that are the encoding of a key, and bytes that are not");
    for value in rungs().iter().flatten() {
        let request = Request::DecodeKey { bytes: cbor::value(value).into() };
        let name = format!("The key {}", short(value));
        if matches!(value, Value::Int(_) | Value::Text(_) | Value::Bytes(_)) {
            let expect = vec![Outcome::Value(canonical(value))];
            maker.case(&valid(&["E-4.1", "V-1.9", "E-2.1"], &[]), name, request, expect);
        } else {
            maker.case(
                &invalid(&["E-4.1", "V-1.9"], &["NotAKey"]),
                format!("{name} is none"),
                request,
                rejected(),
            );
        }
    }
    for (key, what) in [(Value::Text("k".repeat(1024)), "text"), (Value::Bytes(vec![7; 1024]), "byte string")]
    {
        let request = Request::DecodeKey { bytes: cbor::value(&key).into() };
        let name = format!("A {what} of 1,024 bytes is the longest key");
        maker.case(
            &valid(&["V-4.1", "E-4.1"], &["Limit"]),
            name,
            request,
            vec![Outcome::Value(canonical(&key))],
        );
    }
    let long = Value::Text("\u{e9}".repeat(512));
    let request = Request::DecodeKey { bytes: cbor::value(&long).into() };
    let name = "512 characters of two bytes are the longest key";
    maker.case(&valid(&["V-4.1"], &["Limit"]), name, request, vec![Outcome::Value(canonical(&long))]);
    for (key, what) in [
        (cbor::text(&"k".repeat(1025)), "A text of 1,025 bytes"),
        (cbor::bytes(&[7; 1025]), "A byte string of 1,025 bytes"),
        (cbor::text(&"\u{e9}".repeat(513)), "513 characters of two bytes"),
        (cbor::text(&"k".repeat(5_000)), "A text of 5,000 bytes"),
    ] {
        let request = Request::DecodeKey { bytes: key.into() };
        maker.case(
            &invalid(&["V-4.1", "V-4.4"], &["Limit"]),
            format!("{what} is too long for a key"),
            request,
            rejected(),
        );
    }
    for (bytes, clauses, flag, name) in [
        (vec![], &["E-4.1"][..], "ShortInput", "Nothing is no key"),
        (
            head_of_width(0, 5, 1),
            &["E-2.2", "E-4.1", "V-2.2"],
            "SecondForm",
            "An int not in its shortest form is no key",
        ),
        (vec![0x78, 1, b'a'], &["E-2.2", "V-2.2"], "SecondForm", "A text with a long length is no key"),
        (vec![0x7f, 0x61, b'a', 0xff], &["E-2.3"], "ForeignItem", "An indefinite text is no key"),
        (vec![0x62, b'a'], &["E-1.3"], "ShortInput", "A text that is cut short is no key"),
        (vec![0x61, 0xff], &["E-2.5"], "Utf8", "A text that is not UTF-8 is no key"),
        (head_of_width(0, 1 << 63, 8), &["E-2.4"], "IntRange", "2^63 is no key"),
        (vec![0xc2, 0x41, 1], &["E-2.1"], "ForeignItem", "A tagged byte string is no key"),
        (vec![1, 2], &["E-1.4", "E-4.1"], "TrailingBytes", "Two keys are no key"),
    ] {
        let request = Request::DecodeKey { bytes: bytes.into() };
        maker.case(&invalid(clauses, &[flag]), name, request, rejected());
    }
    for (a, b, equal) in
        [("01", "01", true), ("01", "f93c00", false), ("6161", "4161", false), ("6161", "6161", true)]
    {
        let hex = |text: &str| {
            (0..text.len())
                .step_by(2)
                .map(|at| u8::from_str_radix(&text[at..at + 2], 16).expect("hex"))
                .collect::<Vec<_>>()
        };
        let order = if a == b || a == "01" { "same" } else { "less" };
        let request = Request::Compare { a: hex(a).into(), b: hex(b).into() };
        let expect = vec![Outcome::Order(crate::case::Order { order: order.to_owned(), equal })];
        maker.case(
            &valid(&["V-2.2", "V-3.8"], &["IntEqualsFloat"]),
            format!("{a} and {b} are {} key", if equal { "one" } else { "not one" }),
            request,
            expect,
        );
    }
    maker.finish()
}
