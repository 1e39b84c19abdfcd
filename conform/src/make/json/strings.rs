//! Strings, and text that is not JSON.

use super::{read, refuse};
use crate::case::{Request, Text};
use crate::forge::cbor;
use crate::make::ladder::{object, text};
use crate::make::{Maker, invalid, rejected};
use holotype_model::Value;

pub(super) fn strings(maker: &mut Maker) {
    let escapes = object([("v", text("\"\\/\u{8}\u{c}\n\r\t\u{e9}\u{1f600}\0"))]);
    let json = r#"{"v":"\"\\\/\b\f\n\r\t\u00e9\ud83d\uDE00\u0000"}"#;
    read(maker, &["E-6.11"], &["JsonEscape"], "Every escape", json, &escapes);
    let unescaped = object([("v", text("\u{7f}\u{2028}\u{feff}\u{1f600}/"))]);
    read(
        maker,
        &["E-6.11"],
        &["JsonEscape"],
        "Characters that need no escape",
        &cbor::relaxed(&unescaped),
        &unescaped,
    );
    for (json, name) in [
        (r#""\ud83d""#, "The first half of a pair by itself"),
        (r#""\ude00""#, "The second half of a pair by itself"),
        (r#""\ude00\ud83d""#, "The halves of a pair in the wrong order"),
        (r#""\ud83d\ud83d""#, "Two first halves"),
        (r#""\ud83dx""#, "Half of a pair before a character"),
        (r#""\ud83d\n""#, "Half of a pair before another escape"),
        (r#""\x41""#, "An escape that JSON has not"),
        (r#""\u12""#, "An escape with two digits"),
        (r#""\u12g4""#, "An escape with another letter"),
        (r#""\u+123""#, "An escape with a sign"),
        (r#""\""#, "An escape at the end"),
    ] {
        refuse(maker, &["E-6.11"], "JsonEscape", name, &format!(r#"{{"v":{json}}}"#));
    }
    for code in [0u8, 1, 8, 9, 10, 13, 31] {
        let json = format!("{{\"v\":\"a{}b\"}}", char::from(code));
        refuse(
            maker,
            &["E-6.11"],
            "JsonEscape",
            &format!("The control character {code} that is not escaped"),
            &json,
        );
    }
    for (bytes, name) in [
        (&[0xff][..], "a byte that never comes"),
        (&[0xc0, 0x80], "zero in two bytes"),
        (&[0xed, 0xa0, 0x80], "half of a surrogate pair"),
        (&[0xc3], "a character cut short"),
    ] {
        let json = [br#"{"v":""#, bytes, br#""}"#].concat();
        let request = Request::ReadJson { text: Text::Bytes(json.into()) };
        maker.case(
            &invalid(&["E-6.1", "V-1.4"], &["Utf8"]),
            format!("A string with {name}"),
            request,
            rejected(),
        );
    }
    for (json, name) in [
        (r#"{"a":1,"a":1}"#, "A name twice"),
        (r#"{"a":1,"\u0061":2}"#, "A name twice, once with an escape"),
        (r#"{"v":{"b":1,"a":2,"b":3}}"#, "A name twice, further in"),
        (r#"{"v":[{"":1,"":2}]}"#, "The empty name twice"),
    ] {
        refuse(maker, &["E-6.2", "V-1.7"], "DuplicateName", name, json);
    }
    let composed = object([("\u{e9}", Value::Int(1)), ("e\u{301}", Value::Int(2))]);
    read(
        maker,
        &["E-6.2", "V-1.4"],
        &["Utf8"],
        "Two names that look alike are two",
        &cbor::relaxed(&composed),
        &composed,
    );
}

pub(super) fn syntax(maker: &mut Maker) {
    for (json, name) in [
        ("", "Nothing"),
        (" ", "White space alone"),
        ("{", "An object that does not end"),
        (r#"{"a""#, "A name alone"),
        (r#"{"a":}"#, "A field without a value"),
        (r#"{"a":1,}"#, "A comma before the end of an object"),
        (r#"{"a":[1,]}"#, "A comma before the end of an array"),
        (r#"{"a":[,1]}"#, "A comma at the beginning of an array"),
        (r#"{"a" 1}"#, "A field without a colon"),
        (r#"{"a":1 "b":2}"#, "Two fields without a comma"),
        (r#"{a:1}"#, "A name without quotes"),
        (r#"{'a':1}"#, "Single quotes"),
        (r#"{"a":tru}"#, "A word cut short"),
        (r#"{"a":True}"#, "A word with a capital"),
        (r#"{"a":nul}"#, "Null cut short"),
        (r#"{"a":1]"#, "An object that ends as an array"),
        (r#"{"a":[1}"#, "An array that ends as an object"),
        (r#"{"a":1}}"#, "A brace behind the document"),
        (r#"{"a":1} {}"#, "Two documents"),
        (r#"{"a":1} x"#, "A letter behind the document"),
        ("{\"a\":1}//", "A comment"),
        ("{\u{b}\"a\":1}", "White space that JSON has not"),
        ("{\u{a0}\"a\":1}", "A space that JSON has not"),
        (r#"{"a":"b}"#, "A string that does not end"),
        (r#"{1:1}"#, "A name that is a number"),
    ] {
        refuse(maker, &["E-6.1"], "JsonSyntax", &format!("{name} is no document"), json);
    }
    for json in ["null", "true", "5", "1.5", r#""a""#, "[]", r#"[{"a":1}]"#] {
        refuse(maker, &["E-3.4", "V-1.8"], "NotADocument", &format!("{json} is no document"), json);
    }
    let document = object([("a", Value::Array(vec![Value::Int(1), Value::Null]))]);
    let json = "\t\r\n { \"a\" :\n[ 1 ,\tnull ] } \n";
    read(maker, &["E-6.1"], &["JsonSyntax"], "White space wherever JSON has it", json, &document);
    read(maker, &["E-6.1"], &["JsonSyntax"], "An empty document", "{}", &object([]));
}
