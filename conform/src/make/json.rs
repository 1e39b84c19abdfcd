//! Documents as JSON: read, refused and written.

mod strings;

use super::encoding::canonical;
use super::ladder::{object, rungs, text};
use super::order::short;
use super::{Maker, invalid, rejected, valid};
use crate::case::{Group, Mode, Outcome, Position, Request, Text};
use crate::forge::cbor;
use holotype_model::Value;

pub(super) fn make() -> Group {
    let mut maker =
        Maker::new("json", "JSON texts that are a document, or an entry, or neither; and documents as JSON");
    for value in rungs().iter().flatten() {
        round_trip(&mut maker, value);
    }
    numbers(&mut maker);
    wrappers(&mut maker);
    strings::strings(&mut maker);
    strings::syntax(&mut maker);
    levels(&mut maker);
    entries(&mut maker);
    places(&mut maker);
    maker.finish()
}

fn reading(text: &str) -> Request {
    Request::ReadJson { text: Text::Utf8(text.to_owned()) }
}

fn read(maker: &mut Maker, clauses: &[&str], flags: &[&str], name: &str, text: &str, document: &Value) {
    maker.case(
        &valid(clauses, flags),
        name,
        reading(text),
        vec![Outcome::Bytes(cbor::value(document).into())],
    );
}

fn refuse(maker: &mut Maker, clauses: &[&str], flag: &str, name: &str, text: &str) {
    maker.case(&invalid(clauses, &[flag]), name, reading(text), rejected());
}

fn clauses_of(value: &Value) -> &'static [&'static str] {
    match value {
        Value::Int(_) => &["E-6.1", "E-6.3", "E-6.5"],
        Value::Float(_) => &["E-6.1", "E-6.4", "E-6.6"],
        Value::Bytes(_) => &["E-6.1", "E-6.7"],
        Value::Text(_) => &["E-6.1", "E-6.11"],
        Value::Object(_) => &["E-6.1", "E-6.8", "E-6.9"],
        Value::Null | Value::Bool(_) | Value::Array(_) => &["E-6.1"],
    }
}

fn round_trip(maker: &mut Maker, value: &Value) {
    let document = object([("v", value.clone())]);
    let clauses = clauses_of(value);
    let name = |what: &str| format!("{} {what}", short(value));
    let flags = &["JsonNumber", "Wrapper"];
    read(maker, clauses, flags, &name("from relaxed JSON"), &cbor::relaxed(&document), &document);
    if cbor::canonical(&document) != cbor::relaxed(&document) {
        read(maker, clauses, flags, &name("from canonical JSON"), &cbor::canonical(&document), &document);
    }
    for (mode, what) in [(Mode::Relaxed, "as relaxed JSON"), (Mode::Canonical, "as canonical JSON")] {
        let request = Request::WriteJson { bytes: cbor::value(&document).into(), mode };
        maker.case(&valid(clauses, flags), name(what), request, vec![Outcome::Text(canonical(&document))]);
    }
}

fn numbers(maker: &mut Maker) {
    use Value::{Float, Int};
    for (text, value, name) in [
        ("0", Int(0), "0 is an int"),
        ("-0", Float(-0.0), "-0 is a float"),
        ("0.0", Float(0.0), "0.0 is a float"),
        ("-0.0", Float(-0.0), "-0.0 is a float"),
        ("1e0", Float(1.0), "1e0 is a float"),
        ("1E+2", Float(100.0), "1E+2 is a float"),
        (
            "12345678901234567890e-1",
            Float(1_234_567_890_123_456_789.0),
            "A long number with an exponent is a float",
        ),
        ("9007199254740993", Int(9_007_199_254_740_993), "2^53 + 1 is an int and is not rounded"),
        ("9223372036854775807", Int(i64::MAX), "The greatest int"),
        ("-9223372036854775808", Int(i64::MIN), "The least int"),
        ("9007199254740993.0", Float(9_007_199_254_740_992.0), "A float halfway goes to the even one"),
        (
            "9007199254740993.00000000000000001",
            Float(9_007_199_254_740_994.0),
            "A float just beyond halfway goes up",
        ),
        ("2.2250738585072011e-308", Float(2.225_073_858_507_201e-308), "A float just below the normal ones"),
        ("5e-324", Float(5e-324), "The least float"),
        ("2e-324", Float(0.0), "A float nearer to zero than to the least one"),
        ("1.7976931348623157e308", Float(f64::MAX), "The greatest float"),
        ("1e-400", Float(0.0), "A float that rounds to zero"),
        ("-1e-400", Float(-0.0), "A float that rounds to zero from below"),
        ("0.1e1", Float(1.0), "A zero in front of the point"),
    ] {
        let document = object([("v", value)]);
        read(maker, &["E-6.3", "E-6.4"], &["JsonNumber"], name, &format!(r#"{{"v":{text}}}"#), &document);
    }
    for (text, name) in [
        ("9223372036854775808", "2^63 is no int"),
        ("-9223372036854775809", "-2^63 - 1 is no int"),
        ("123456789012345678901234567890", "A number of 30 digits is no int"),
    ] {
        refuse(maker, &["E-6.3"], "IntRange", name, &format!(r#"{{"v":{text}}}"#));
    }
    for (text, name) in [
        ("1e309", "A float that rounds to infinity"),
        ("-1e309", "A float that rounds to negative infinity"),
        ("1.7976931348623159e308", "A float just above the greatest"),
        ("1e999999999999999999999", "A float with a huge exponent"),
    ] {
        refuse(maker, &["E-6.4"], "JsonNumber", name, &format!(r#"{{"v":{text}}}"#));
    }
    for text in [
        "01",
        "-01",
        "+1",
        "1.",
        ".5",
        "1e",
        "1e+",
        "-",
        "0x10",
        "1_000",
        "NaN",
        "Infinity",
        "-Infinity",
        "1.e1",
        "--1",
        "1.2.3",
    ] {
        refuse(
            maker,
            &["E-6.1", "E-6.3"],
            "JsonSyntax",
            &format!("{text} is no number"),
            &format!(r#"{{"v":{text}}}"#),
        );
    }
}

fn wrappers(maker: &mut Maker) {
    use Value::{Float, Int};
    let good: [(&str, Value, &str); 16] = [
        (r#"{"$numberInt":"5"}"#, Int(5), "E-6.5"),
        (r#"{"$numberInt":"-2147483648"}"#, Int(-2_147_483_648), "E-6.5"),
        (r#"{"$numberLong":"5"}"#, Int(5), "E-6.5"),
        (r#"{"$numberLong":"-9223372036854775808"}"#, Int(i64::MIN), "E-6.5"),
        (r#"{"$numberDouble":"5"}"#, Float(5.0), "E-6.6"),
        (r#"{"$numberDouble":"-0"}"#, Float(-0.0), "E-6.6"),
        (r#"{"$numberDouble":"1e2"}"#, Float(100.0), "E-6.6"),
        (r#"{"$numberDouble":"NaN"}"#, Float(f64::NAN), "E-6.6"),
        (r#"{"$binary":{"subType":"00","base64":"AQI="}}"#, Value::Bytes(vec![1, 2]), "E-6.7"),
        (r#"{"$binary":{"base64":"","subType":"00"}}"#, Value::Bytes(vec![]), "E-6.7"),
        (r#"{"$binary":{"base64":"+/+/","subType":"00"}}"#, Value::Bytes(vec![0xfb, 0xff, 0xbf]), "E-6.7"),
        (r#"{ "$numberInt" : "5" }"#, Int(5), "E-6.5"),
        (r#"{"\u0024numberInt":"5"}"#, Int(5), "E-6.5"),
        (r#"{"$numberDecimal":"5"}"#, object([("$numberDecimal", text("5"))]), "E-6.8"),
        (r#"{"$numberInt":"5","a":1}"#, object([("$numberInt", text("5")), ("a", Int(1))]), "E-6.8"),
        (
            r#"{"$literal":{"$literal":{"a":{"$numberInt":"5"}}}}"#,
            object([("$literal", object([("a", Int(5))]))]),
            "E-6.9",
        ),
    ];
    for (json, value, clause) in good {
        let document = object([("v", value)]);
        let name = format!("{json} is a value");
        read(maker, &[clause, "E-6.1"], &["Wrapper"], &name, &format!(r#"{{"v":{json}}}"#), &document);
    }
    let bad = [
        (r#"{"$numberInt":5}"#, "E-6.5"),
        (r#"{"$numberInt":"05"}"#, "E-6.5"),
        (r#"{"$numberInt":"+5"}"#, "E-6.5"),
        (r#"{"$numberInt":"-0"}"#, "E-6.5"),
        (r#"{"$numberInt":" 5"}"#, "E-6.5"),
        (r#"{"$numberInt":"5.0"}"#, "E-6.5"),
        (r#"{"$numberInt":""}"#, "E-6.5"),
        (r#"{"$numberInt":"0x5"}"#, "E-6.5"),
        (r#"{"$numberInt":null}"#, "E-6.5"),
        (r#"{"$numberLong":"9223372036854775808"}"#, "E-6.5"),
        (r#"{"$numberLong":"five"}"#, "E-6.5"),
        (r#"{"$numberDouble":"nan"}"#, "E-6.6"),
        (r#"{"$numberDouble":"inf"}"#, "E-6.6"),
        (r#"{"$numberDouble":"+Infinity"}"#, "E-6.6"),
        (r#"{"$numberDouble":"1e309"}"#, "E-6.6"),
        (r#"{"$numberDouble":".5"}"#, "E-6.6"),
        (r#"{"$numberDouble":1.5}"#, "E-6.6"),
        (r#"{"$numberDouble":""}"#, "E-6.6"),
        (r#"{"$binary":"AQI="}"#, "E-6.7"),
        (r#"{"$binary":{"base64":"AQI="}}"#, "E-6.7"),
        (r#"{"$binary":{"base64":"AQI=","subType":"01"}}"#, "E-6.7"),
        (r#"{"$binary":{"base64":"AQI=","subType":"00","a":1}}"#, "E-6.7"),
        (r#"{"$binary":{"base64":"AQI","subType":"00"}}"#, "E-6.7"),
        (r#"{"$binary":{"base64":"AQJ=","subType":"00"}}"#, "E-6.7"),
        (r#"{"$binary":{"base64":"A===","subType":"00"}}"#, "E-6.7"),
        (r#"{"$binary":{"base64":"-_-_","subType":"00"}}"#, "E-6.7"),
        (r#"{"$binary":{"base64":"AQ I=","subType":"00"}}"#, "E-6.7"),
        (r#"{"$binary":{"base64":5,"subType":"00"}}"#, "E-6.7"),
        (r#"{"$binary":[]}"#, "E-6.7"),
        (r#"{"$literal":5}"#, "E-6.9"),
        (r#"{"$literal":[]}"#, "E-6.9"),
        (r#"{"$literal":null}"#, "E-6.9"),
        (r#"{"$literal":{},"a":1}"#, "E-6.9"),
        (r#"{"a":1,"$literal":{}}"#, "E-6.9"),
    ];
    for (json, clause) in bad {
        let name = format!("{json} is a malformed wrapper");
        refuse(maker, &["E-6.8", clause], "Wrapper", &name, &format!(r#"{{"v":{json}}}"#));
    }
    refuse(
        maker,
        &["E-6.8", "E-3.4"],
        "NotADocument",
        "A wrapper of an int is no document",
        r#"{"$numberInt":"5"}"#,
    );
    let document = object([("$numberInt", text("5"))]);
    read(
        maker,
        &["E-6.9"],
        &["Wrapper"],
        "A document in the shape of a wrapper",
        r#"{"$literal":{"$numberInt":"5"}}"#,
        &document,
    );
    let request = Request::WriteJson { bytes: cbor::value(&document).into(), mode: Mode::Relaxed };
    let name = "A document in the shape of a wrapper is written inside another";
    maker.case(&valid(&["E-6.9"], &["Wrapper"]), name, request, vec![Outcome::Text(canonical(&document))]);
}

fn levels(maker: &mut Maker) {
    let nested = |levels: usize, inner: &str| {
        format!(r#"{{"v":{}{inner}{}}}"#, "[".repeat(levels - 1), "]".repeat(levels - 1))
    };
    let value = |levels: usize, inner: Value| {
        object([("v", (1..levels).fold(inner, |inner, _| Value::Array(vec![inner])))])
    };
    let name = "128 levels of JSON";
    read(maker, &["E-6.10", "V-4.3"], &["Limit"], name, &nested(128, "5"), &value(128, Value::Int(5)));
    let wrapped = r#"{"$binary":{"base64":"AQI=","subType":"00"}}"#;
    let name = "128 levels of JSON, and a wrapper on the last, which adds none";
    read(
        maker,
        &["E-6.10", "V-4.3"],
        &["Limit"],
        name,
        &nested(128, wrapped),
        &value(128, Value::Bytes(vec![1, 2])),
    );
    let literal = r#"{"$literal":{"$numberInt":"5"}}"#;
    let name = "127 levels of JSON and a literal object, which is one";
    let inner = object([("$numberInt", text("5"))]);
    read(maker, &["E-6.10", "E-6.9"], &["Limit"], name, &nested(127, literal), &value(127, inner));
    refuse(maker, &["E-6.10", "V-4.3", "V-4.4"], "Limit", "129 levels of JSON", &nested(129, "5"));
    refuse(maker, &["E-6.10", "V-4.3"], "Limit", "128 levels and a literal object", &nested(128, literal));
    refuse(maker, &["E-6.10", "V-4.3"], "Limit", "20,000 levels of JSON", &nested(20_000, "5"));
}

fn entries(maker: &mut Maker) {
    let entry = |text: &str| Request::ReadEntry { text: Text::Utf8(text.to_owned()) };
    let document = object([("a", Value::Bool(true))]);
    let longest = "k".repeat(1024);
    for (key, value) in [
        ("1", Value::Int(1)),
        ("-5", Value::Int(-5)),
        (r#""name""#, text("name")),
        (r#""""#, text("")),
        (r#"{"$numberLong":"9223372036854775807"}"#, Value::Int(i64::MAX)),
        (r#"{"$binary":{"base64":"AQI=","subType":"00"}}"#, Value::Bytes(vec![1, 2])),
        (&format!("\"{longest}\""), text(&longest)),
    ] {
        let json = format!(r#"{{"key":{key},"doc":{{"a":true}}}}"#);
        let expect = vec![Outcome::Entry((cbor::value(&value).into(), cbor::value(&document).into()))];
        maker.case(
            &valid(&["E-6.12", "V-1.9"], &[]),
            format!("An entry with the key {}", short(&value)),
            entry(&json),
            expect,
        );
    }
    let expect = vec![Outcome::Entry((vec![1].into(), vec![0xa0].into()))];
    maker.case(
        &valid(&["E-6.12"], &[]),
        "The fields of an entry in the other order",
        entry(r#"{"doc":{},"key":1}"#),
        expect,
    );
    for (json, clauses, name) in [
        (r#"{"key":1}"#, &["E-6.12"][..], "An entry without a document"),
        (r#"{"doc":{}}"#, &["E-6.12"], "An entry without a key"),
        (r#"{}"#, &["E-6.12"], "An entry without anything"),
        (r#"{"key":1,"doc":{},"more":1}"#, &["E-6.12"], "An entry with another field"),
        (r#"{"key":1,"key":1,"doc":{}}"#, &["E-6.12", "E-6.2"], "An entry with two keys"),
        (r#"{"key":1.5,"doc":{}}"#, &["E-6.12", "V-1.9"], "A key that is a float"),
        (r#"{"key":null,"doc":{}}"#, &["E-6.12", "V-1.9"], "A key that is null"),
        (r#"{"key":[1],"doc":{}}"#, &["E-6.12", "V-1.9"], "A key that is an array"),
        (r#"{"key":true,"doc":{}}"#, &["E-6.12", "V-1.9"], "A key that is a bool"),
        (r#"{"key":1,"doc":5}"#, &["E-6.12", "V-1.8"], "An int in the place of the document"),
        (r#"[1,{}]"#, &["E-6.12"], "An array in the place of the entry"),
    ] {
        let flag = if clauses.contains(&"V-1.9") { "NotAKey" } else { "JsonSyntax" };
        maker.case(&invalid(clauses, &[flag]), format!("{name} is refused"), entry(json), rejected());
    }
    let json = format!(r#"{{"key":"{}","doc":{{}}}}"#, "k".repeat(1025));
    maker.case(
        &invalid(&["V-4.1", "V-4.4", "E-6.12"], &["Limit"]),
        "A key of 1,025 bytes is refused",
        entry(&json),
        rejected(),
    );
}

fn places(maker: &mut Maker) {
    for (json, line, column, name) in [
        (r#"{"a":x}"#, 1, 6, "The first letter of a word that is none"),
        ("{\n\"a\":x}", 2, 5, "The second line"),
        ("{\r\n  \"\u{e9}\":x}", 2, 8, "Columns in bytes, behind a character of two"),
        (r#"{"a":1}}"#, 1, 8, "What stands behind the document"),
        ("{\"a\":1}\n\n x", 3, 2, "What stands behind the document, two lines down"),
    ] {
        let at = |line, column| {
            Outcome::Rejected(Position { line: Some(line), column: Some(column), ..Position::default() })
        };
        maker.case(
            &invalid(&["E-6.13"], &["ErrorPlace"]),
            format!("{name} is named"),
            reading(json),
            vec![at(line, column)],
        );
    }
    let name = "A text without an error names no place";
    read(maker, &["E-6.13"], &[], name, "{\n\"a\":1}", &object([("a", Value::Int(1))]));
}
