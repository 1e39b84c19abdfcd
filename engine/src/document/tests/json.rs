//! JSON, plain and extended.

use proptest::prelude::*;

use super::holding;
use super::strategies::{documents, floats, keys, values};
use crate::doc;
use crate::document::JsonMode::{Canonical, Relaxed};
use crate::document::{Document, Key, Value, json};
use crate::error::Error;

fn parse(text: &str) -> Value {
    json::parse_value(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Line, column and complaint.
fn refusal(text: &[u8]) -> (u64, u64, String) {
    match json::parse_value(text) {
        Err(Error::Json { line, column, what }) => (line, column, what),
        other => panic!("{}: {other:?}", text.escape_ascii()),
    }
}

//= spec/encoding.md#e-6-3-json-ints
//= type=test
//# A reader MUST read a number without fraction and exponent, other than `-0`, as an int, and refuse one that
//# is none.
//= spec/encoding.md#e-6-4-json-floats
//= type=test
//# A reader MUST read a number with a fraction or an exponent, and the number `-0`, as the nearest float, and
//# refuse one that rounds to an infinity.
#[test]
fn a_number_is_an_int_unless_it_has_a_fraction_or_an_exponent() {
    for (text, value) in [
        ("0", 0.into()),
        ("-1", (-1).into()),
        ("9223372036854775807", i64::MAX.into()),
        ("-9223372036854775808", i64::MIN.into()),
        ("-0", (-0.0).into()),
        ("0.0", 0.0.into()),
        ("1.0", 1.0.into()),
        ("-1.5e3", (-1500.0).into()),
        ("1e2", 100.0.into()),
        ("1E+2", 100.0.into()),
        ("1e-2", 0.01.into()),
        ("1e-400", 0.0.into()),
        ("0.1", Value::Float(0.1)),
    ] {
        assert_eq!(parse(text), value, "{text}");
    }
}

//= spec/encoding.md#e-6-3-json-ints
//= type=test
//# A reader MUST read a number without fraction and exponent, other than `-0`, as an int, and refuse one that
//# is none.
//= spec/encoding.md#e-6-4-json-floats
//= type=test
//# A reader MUST read a number with a fraction or an exponent, and the number `-0`, as the nearest float, and
//# refuse one that rounds to an infinity.
#[test]
fn numbers_out_of_range_or_misspelt_are_refused() {
    let int = "an integer beyond 64 signed bits; write it as a float or as text";
    assert_eq!(refusal(b"[1, 9223372036854775808]"), (1, 5, int.to_owned()));
    assert_eq!(refusal(b"-9223372036854775809"), (1, 1, int.to_owned()));
    assert_eq!(refusal(b"1e400"), (1, 1, "a float beyond 64 bits".to_owned()));
    assert_eq!(refusal(b"01"), (1, 1, "a number with a zero in front".to_owned()));
    assert_eq!(refusal(b"-"), (1, 2, "the text ends where a digit is due".to_owned()));
    for text in
        ["+1", ".5", "1.", "1.e2", "1e", "1e+", "-a", "0x10", "1_000", "NaN", "Infinity", "--1", "1.5.5"]
    {
        refusal(text.as_bytes());
    }
}

#[test]
fn strings_are_read_with_their_escapes() {
    assert_eq!(
        parse(r#""\"\\\/\b\f\n\r\t\u0041\u00e9\u6c34\ud83d\ude00\u0000""#),
        "\"\\/\u{8}\u{c}\n\r\tAé水😀\0".into()
    );
    assert_eq!(parse("\"é水😀\u{7f}\""), "é水😀\u{7f}".into());
    assert_eq!(parse(r#"{"\u0061":1}"#), doc! { "a": 1 }.into());
}

//= spec/encoding.md#e-6-11-strings
//= type=test
//# A reader MUST refuse an escape that stands for half of a surrogate pair.
//= spec/encoding.md#e-6-11-strings
//= type=test
//# A reader MUST refuse a control character that is not escaped in a string.
#[test]
fn misspelt_strings_are_refused() {
    let surrogate = "half of a surrogate pair";
    for text in [
        r#""\ud800""#,
        r#""\udc00""#,
        r#""\ud800\ud800""#,
        r#""\ud800x""#,
        r#""\ud800\n""#,
        r#""\udc00\ud800""#,
        r#""\udc00\udc00""#,
        r#""\udfff\udfff""#,
    ] {
        assert_eq!(refusal(text.as_bytes()), (1, 2, surrogate.to_owned()), "{text}");
    }
    assert_eq!(refusal(b"\"a\nb\""), (1, 3, "a control character in a string; escape it".to_owned()));
    assert_eq!(refusal(br#""\x""#), (1, 2, "an escape that JSON does not know".to_owned()));
    assert_eq!(refusal(br#""\u12g4""#), (1, 4, "four hexadecimal digits are due".to_owned()));
    assert_eq!(refusal(b"\"abc"), (1, 5, "the text ends where a closing quote is due".to_owned()));
    assert_eq!(refusal(b"'a'"), (1, 1, "'\\'' where a value is due".to_owned()));
    refusal("\"\\u12é4\"".as_bytes());
    refusal(b"\"\\");
}

//= spec/encoding.md#e-6-13-places-of-errors
//= type=test
//# An error about a JSON text MUST name the line and the column that it is about, both from 1, the column in
//# bytes.
#[test]
fn complaints_name_the_line_and_the_column() {
    for (text, line, column, what) in [
        ("{\n  \"a\": 1,\n  \"b\" 2\n}", 3, 7, "'2' where a colon is due"),
        ("{\"a\":1,}", 1, 8, "'}' where a field name is due"),
        ("[1,]", 1, 4, "']' where a value is due"),
        ("[1 2]", 1, 4, "'2' where a comma or a closing bracket is due"),
        ("{\"a\":1 \"b\":2}", 1, 8, "'\"' where a comma or a closing brace is due"),
        ("{\"a\":tru}", 1, 6, "'t' where a value is due"),
        ("{} x", 1, 4, "'x' where the end of the text is due"),
        ("", 1, 1, "the text ends where a value is due"),
        ("{\n\n", 3, 1, "the text ends where a field name is due"),
        ("{\"é\":?}", 1, 7, "'?' where a value is due"),
        ("\u{feff}{}", 1, 1, "'\\u{feff}' where a value is due"),
    ] {
        assert_eq!(refusal(text.as_bytes()), (line, column, what.to_owned()), "{text}");
    }
    assert_eq!(refusal(b"{\n\"a\": \"\xff\"}"), (2, 7, "the text is not UTF-8".to_owned()));
}

//= spec/encoding.md#e-6-2-names
//= type=test
//# A reader MUST refuse a JSON object in which a name comes twice, escapes resolved.
#[test]
fn a_name_that_comes_twice_is_refused_where_it_comes_again() {
    let twice = "the field name \"a\" comes twice".to_owned();
    assert_eq!(refusal(b"{\"a\":1,\n \"b\":{\"a\":1},\n \"\\u0061\":2}"), (3, 2, twice.clone()));
    assert_eq!(refusal(br#"{"x":[{"b":1,"a":{"a":0},"a":3,"a":4}]}"#), (1, 26, twice));
}

#[test]
fn a_document_is_an_object_in_json_too() {
    for text in ["[]", "1", "null", r#"{"$numberInt":"1"}"#] {
        let Err(Error::Json { what, .. }) = Document::from_json(text) else { panic!("{text}") };
        assert!(what.ends_with("where an object is due"), "{what}");
    }
}

//= spec/encoding.md#e-6-3-json-ints
//= type=test
//# In relaxed mode, an int from -(2^53 - 1) to 2^53 - 1 MUST be written as a number without fraction and
//# exponent.
//= spec/encoding.md#e-6-5-wrapped-ints
//= type=test
//# In canonical mode, an int of 32 bits MUST be written as `{"$numberInt":"5"}`.
//= spec/encoding.md#e-6-5-wrapped-ints
//= type=test
//# Any other int that E-6.3 does not cover MUST be written as `{"$numberLong":"5000000000"}`.
//= spec/encoding.md#e-6-6-wrapped-floats
//= type=test
//# NaN and the infinities, and in canonical mode every float, MUST be written as `{"$numberDouble":"1.0"}`.
//= spec/encoding.md#e-6-7-wrapped-byte-strings
//= type=test
//# A byte string MUST be written as `{"$binary":{"base64":"AQI=","subType":"00"}}`, in base64 with padding
//# (RFC 4648, section 4).
//= spec/encoding.md#e-6-9-literal-objects
//= type=test
//# An object that has the shape of a wrapper MUST be written inside another:
//# `{"$literal":{"$numberInt":"5"}}`.
// spec: E-6.4
#[test]
fn values_are_written_as_the_table_says() {
    let number = |name: &str, text: &str| format!("{{\"{name}\":\"{text}\"}}");
    for (value, relaxed, canonical) in [
        (Value::Null, "null".to_owned(), "null".to_owned()),
        (5.into(), "5".into(), number("$numberInt", "5")),
        (i32::MIN.into(), "-2147483648".into(), number("$numberInt", "-2147483648")),
        (2_147_483_648i64.into(), "2147483648".into(), number("$numberLong", "2147483648")),
        (
            (1i64 << 53).into(),
            number("$numberLong", "9007199254740992"),
            number("$numberLong", "9007199254740992"),
        ),
        (((1i64 << 53) - 1).into(), "9007199254740991".into(), number("$numberLong", "9007199254740991")),
        ((1 - (1i64 << 53)).into(), "-9007199254740991".into(), number("$numberLong", "-9007199254740991")),
        (
            (-(1i64 << 53)).into(),
            number("$numberLong", "-9007199254740992"),
            number("$numberLong", "-9007199254740992"),
        ),
        (1.0.into(), "1.0".into(), number("$numberDouble", "1.0")),
        ((-0.0).into(), "-0.0".into(), number("$numberDouble", "-0.0")),
        (1e300.into(), "1e300".into(), number("$numberDouble", "1e300")),
        (f64::NAN.into(), number("$numberDouble", "NaN"), number("$numberDouble", "NaN")),
        (
            f64::NEG_INFINITY.into(),
            number("$numberDouble", "-Infinity"),
            number("$numberDouble", "-Infinity"),
        ),
        (f64::INFINITY.into(), number("$numberDouble", "Infinity"), number("$numberDouble", "Infinity")),
        (
            vec![1u8, 2].into(),
            r#"{"$binary":{"base64":"AQI=","subType":"00"}}"#.into(),
            r#"{"$binary":{"base64":"AQI=","subType":"00"}}"#.into(),
        ),
        ("\u{1}\n\"é/".into(), r#""\u0001\n\"é/""#.into(), r#""\u0001\n\"é/""#.into()),
        (
            doc! { "$numberInt": "5" }.into(),
            r#"{"$literal":{"$numberInt":"5"}}"#.into(),
            r#"{"$literal":{"$numberInt":"5"}}"#.into(),
        ),
        (
            doc! { "$literal": { "$binary": [] }, "a": null }.into(),
            r#"{"$literal":{"a":null,"$literal":{"$literal":{"$binary":[]}}}}"#.into(),
            r#"{"$literal":{"a":null,"$literal":{"$literal":{"$binary":[]}}}}"#.into(),
        ),
        (doc! { "$oid": "5" }.into(), r#"{"$oid":"5"}"#.into(), r#"{"$oid":"5"}"#.into()),
    ] {
        assert_eq!(value.to_json(Relaxed), relaxed);
        assert_eq!(value.to_json(Canonical), canonical);
        assert_eq!(parse(&relaxed), value);
        assert_eq!(parse(&canonical), value);
    }
}

//= spec/encoding.md#e-6-8-malformed-wrappers
//= type=test
//# A reader MUST refuse an object that has the shape of a wrapper and is not one that E-6.5, E-6.6, E-6.7 or
//# E-6.9 describes.
#[test]
fn what_has_the_shape_of_a_wrapper_and_is_none_is_refused_where_it_begins() {
    for wrapper in [
        r#"{"$numberInt":5}"#,
        r#"{"$numberInt":"2147483648"}"#,
        r#"{"$numberInt":"-0"}"#,
        r#"{"$numberInt":"+5"}"#,
        r#"{"$numberInt":"05"}"#,
        r#"{"$numberInt":""}"#,
        r#"{"$numberLong":"9223372036854775808"}"#,
        r#"{"$numberLong":"1.0"}"#,
        r#"{"$numberDouble":"nan"}"#,
        r#"{"$numberDouble":"inf"}"#,
        r#"{"$numberDouble":"1."}"#,
        r#"{"$numberDouble":".5"}"#,
        r#"{"$numberDouble":"01.5"}"#,
        r#"{"$numberDouble":"1.e5"}"#,
        r#"{"$numberDouble":"+1"}"#,
        r#"{"$numberDouble":"1e999"}"#,
        r#"{"$numberDouble":1.5}"#,
        r#"{"$binary":"AQI="}"#,
        r#"{"$binary":{"base64":"AQI="}}"#,
        r#"{"$binary":{"base64":"AQI=","subType":"04"}}"#,
        r#"{"$binary":{"base64":"AQI","subType":"00"}}"#,
        r#"{"$binary":{"base64":"AQJ=","subType":"00"}}"#,
        r#"{"$binary":{"base64":"A===","subType":"00"}}"#,
        r#"{"$binary":{"base64":"====","subType":"00"}}"#,
        r#"{"$binary":{"base64":"AQ=I","subType":"00"}}"#,
        r#"{"$binary":{"base64":"AQ-_","subType":"00"}}"#,
        r#"{"$binary":{"base64":"AQI=","subType":"00","trailing":1}}"#,
    ] {
        let (line, column, what) = refusal(format!("[1,\n  {wrapper}]").as_bytes());
        assert_eq!((line, column), (2, 3), "{wrapper}");
        assert!(what.contains("holds"), "{wrapper}: {what}");
        let literal = format!("{{\"$literal\":{wrapper}}}");
        assert_eq!(parse(&literal).to_json(Relaxed), literal, "in a `$literal` it is data");
    }
}

//= spec/encoding.md#e-6-9-literal-objects
//= type=test
//# A reader MUST read `{"$literal":` *object* `}` as that object, and the object itself not as a wrapper,
//# though values in it may be wrappers.
#[test]
fn a_literal_holds_one_object_and_stands_alone() {
    assert_eq!(parse(r#"{"$literal":{"a":1}}"#), doc! { "a": 1 }.into());
    assert_eq!(parse(r#"{"$literal":{}}"#), doc! {}.into());
    assert_eq!(parse(r#"{"$literal":{"$literal":5}}"#), doc! { "$literal": 5 }.into());
    assert_eq!(parse(r#"{"$literal":{"a":{"$numberInt":"5"}}}"#), doc! { "a": 5 }.into());
    assert_eq!(refusal(br#"{"$literal":5}"#).1, 13);
    assert_eq!(refusal(br#"{"$literal":{},"a":1}"#).1, 15);
    assert_eq!(refusal(br#"{"a":1,"$literal":{}}"#).1, 8);
}

//= spec/encoding.md#e-6-12-entries
//= type=test
//# A reader MUST refuse an entry of which a field is missing, or that has others.
//= spec/encoding.md#e-6-12-entries
//= type=test
//# An entry is no document, so a reader MUST refuse an entry inside of a `$literal`.
#[test]
fn an_entry_is_a_key_and_a_document() {
    for key in [Key::from(i64::MAX), Key::from("a"), Key::from([0xff])] {
        let mut text = String::new();
        json::write_entry(&key, &doc! { "$numberInt": 1 }, Canonical, &mut text);
        assert_eq!(json::parse_entry(text.as_bytes()).expect("an entry"), (key, doc! { "$numberInt": 1 }));
    }
    for text in [
        r#"{"key":1}"#,
        r#"{"doc":{}}"#,
        r#"{"key":1,"doc":[]}"#,
        r#"{"key":1,"doc":{},"more":1}"#,
        r#"{"key":1.5,"doc":{}}"#,
        r#"{"key":null,"doc":{}}"#,
        r#"{"$literal":{"key":1,"doc":{}}}"#,
        "[]",
    ] {
        assert!(matches!(json::parse_entry(text.as_bytes()), Err(Error::Json { line: 1, .. })), "{text}");
    }
}

#[test]
fn what_another_writer_of_json_makes_is_read_the_same() {
    let text = r#" { "a" : [ 1 , 2.5 , { "b" : [ ] } ] , "c" : { } , "d" : "x" , "e" : null , "f" : [ true , false ] } "#;
    let by_another: Document = serde_json::from_str(text).expect("JSON");
    assert_eq!(Document::from_json(text).expect("JSON"), by_another);
    assert_eq!(serde_json::from_str::<Document>(&by_another.to_json(Relaxed)).expect("JSON"), by_another);
}

proptest! {
    //= spec/encoding.md#e-6-1-nothing-is-lost
    //= type=test
    //# A reader MUST read what a writer wrote of a document, in either mode, as an equal document.
    #[test]
    fn nothing_is_lost_on_the_way_through_json(document in documents()) {
        for mode in [Relaxed, Canonical] {
            let text = document.to_json(mode);
            prop_assert_eq!(&Document::from_json(&text).expect("parses"), &document, "{}", text);
            prop_assert!(!text.contains('\n'), "one line");
            prop_assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "JSON to others too: {}", text);
        }
    }

    #[test]
    fn nothing_is_lost_of_a_key_and_its_document(key in keys(), document in documents()) {
        for mode in [Relaxed, Canonical] {
            let mut text = String::new();
            json::write_entry(&key, &document, mode, &mut text);
            prop_assert_eq!(json::parse_entry(text.as_bytes()).expect("parses"), (key.clone(), document.clone()));
        }
    }

    //= spec/encoding.md#e-6-4-json-floats
    //= type=test
    //# In relaxed mode, a finite float MUST be written as a number that has a fraction or an exponent and
    //# that, rounded to the nearest float, is that float.
    #[test]
    fn floats_are_read_back_to_the_bit(float in floats()) {
        for mode in [Relaxed, Canonical] {
            prop_assert_eq!(parse(&Value::Float(float).to_json(mode)), Value::Float(float));
        }
    }

    #[test]
    fn any_text_is_read_or_refused(value in values(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut text = holding(value).to_json(Relaxed).into_bytes();
        let at = at.index(text.len());
        text[at] = byte;
        match Document::from_json(&text) {
            Ok(document) => prop_assert_eq!(Document::from_json(document.to_json(Relaxed)).expect("parses"), document),
            Err(Error::Json { line, column, .. }) => prop_assert!(line >= 1 && column <= text.len() as u64 + 1),
            Err(error) => prop_assert!(false, "{}", error),
        }
    }

    #[test]
    fn what_others_refuse_is_refused(text in r#"[\[\]{},:"a\\u0-9eE+\-. $]{0,12}"#) {
        if json::parse_value(text.as_bytes()).is_ok() {
            prop_assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{}", text);
        }
    }
}

//= spec/encoding.md#e-6-8-malformed-wrappers
//= type=test
//# A reader MUST read every other object as an object, whatever its names begin with.
#[test]
fn an_object_of_other_names_is_an_object_whatever_they_begin_with() {
    for object in [
        r#"{"$date":"2026-01-01"}"#,
        r#"{"b":1,"$numberInt":"5"}"#,
        r#"{"b":1,"$binary":1}"#,
        r#"{"$":1}"#,
        r#"{"$numberint":"5"}"#,
        r#"{"base64":"AQI=","subType":"00"}"#,
    ] {
        let Value::Object(document) = parse(object) else { panic!("{object} is an object") };
        assert_eq!(document.to_json(Relaxed), object);
    }
}
