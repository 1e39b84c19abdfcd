//! JSON.

use holotype_model::Value;

use crate::case::{Mode, Outcome, Request, Text};
use crate::forge::cbor;
use crate::make::encoding::canonical;
use crate::make::ladder::{object, text};
use crate::make::{Maker, invalid, rejected, valid};

fn reading(text: &str) -> Request {
    Request::ReadJson { text: Text::Utf8(text.to_owned()) }
}

fn refuse(maker: &mut Maker, clauses: &[&str], flag: &str, name: impl Into<String>, text: &str) {
    maker.case(&invalid(clauses, &[flag]), name, reading(text), rejected());
}

fn read(maker: &mut Maker, clauses: &[&str], name: impl Into<String>, text: &str, value: Value) {
    let expect = vec![Outcome::Bytes(cbor::value(&object([("v", value)])).into())];
    maker.case(&valid(clauses, &["Wrapper"]), name, reading(text), expect);
}

fn written(maker: &mut Maker, clauses: &[&str], name: &str, document: &Value) {
    for (mode, how) in [(Mode::Relaxed, "relaxed"), (Mode::Canonical, "canonical")] {
        let request = Request::WriteJson { bytes: cbor::value(document).into(), mode };
        let expect = vec![Outcome::Text(canonical(document))];
        maker.case(&valid(clauses, &["Wrapper"]), format!("{name}, as {how} JSON"), request, expect);
    }
}

fn wrapped(wrapper: &str, inner: &str) -> String {
    format!(r#"{{"v":{{"{wrapper}":{inner}}}}}"#)
}

pub(super) fn numbers(maker: &mut Maker) {
    let clauses = &["E-6.5", "E-6.8"];
    for int in [i32::MIN, i32::MAX] {
        let (text, name) = (format!("\"{int}\""), format!("$numberInt of {int}"));
        read(maker, clauses, name, &wrapped("$numberInt", &text), Value::Int(int.into()));
        let least = object([("v", Value::Int(int.into()))]);
        written(maker, clauses, &format!("{int} is an int of 32 bits"), &least);
    }
    for int in [i64::from(i32::MIN) - 1, i64::from(i32::MAX) + 1, i64::from(u32::MAX), i64::MAX] {
        let (text, name) = (format!("\"{int}\""), format!("$numberInt of {int}, beyond 32 bits, is refused"));
        refuse(maker, clauses, "IntRange", name, &wrapped("$numberInt", &text));
    }
    for (text, what) in
        [("\u{661}", "another script"), ("1\u{662}", "two scripts"), ("\u{ff15}", "full width")]
    {
        let name = format!("Digits of {what} are no int");
        refuse(maker, clauses, "Wrapper", name, &wrapped("$numberLong", &format!("\"{text}\"")));
    }
    for text in
        ["01", "-01", "00.5", "+1", "+1.5", "1.", "-1.", "1.e5", ".5", "1e", "\u{661}", "1_0", " 1", "1 "]
    {
        let name = format!("$numberDouble of {text:?} is refused");
        let wrapper = wrapped("$numberDouble", &format!("\"{text}\""));
        refuse(maker, &["E-6.6", "E-6.8"], "Wrapper", name, &wrapper);
    }
}

pub(super) fn wrappers(maker: &mut Maker) {
    let binary = |fields: &str| format!(r#"{{"v":{{"$binary":{{{fields}}}}}}}"#);
    for (fields, clauses, name) in [
        (r#""base64":"AQI=","subType":"0""#, &["E-6.7", "E-6.8"][..], "A subtype of one digit"),
        (r#""base64":"AQI=","subType":0"#, &["E-6.7", "E-6.8"], "A subtype that is a number"),
        (r#""base64":"AQI=","subType":"000""#, &["E-6.7", "E-6.8"], "A subtype of three digits"),
        (r#""base64":"AQI=","base64":"AQI=","subType":"00""#, &["E-6.2", "E-6.7"], "base64 twice"),
        (r#""base64":"AQI=","subType":"00","subType":"00""#, &["E-6.2", "E-6.7"], "A subtype twice"),
    ] {
        refuse(maker, clauses, "Wrapper", format!("{name} is refused"), &binary(fields));
    }
    for name in ["$date", "$oid", "$numberDecimal", "$numberint", "$"] {
        let object = object([(name, text("1"))]);
        let about = format!("An object of the name {name} is an object");
        read(maker, &["E-6.8"], about, &wrapped(name, "\"1\""), object);
    }
}

pub(super) fn objects(maker: &mut Maker) {
    let twice = r#"{"v":{"$literal":{"a":1,"a":1}}}"#;
    refuse(maker, &["E-6.2", "E-6.9"], "DuplicateName", "A name twice in a literal object is refused", twice);
    let twice = r#"{"v":{"$literal":{},"$literal":{}}}"#;
    refuse(maker, &["E-6.2", "E-6.9"], "DuplicateName", "Two literal objects in one are refused", twice);
    for (escape, half) in
        [("\\ud800", "first"), ("\\udc00", "second"), ("\\udc00\\ud800", "second and first")]
    {
        let json = format!(r#"{{"a{escape}":1}}"#);
        let name = format!("A name with the {half} half of a surrogate pair is refused");
        refuse(maker, &["E-6.11"], "JsonEscape", name, &json);
        let name = format!("A name in $literal with the {half} half of a surrogate pair is refused");
        let json = format!(r#"{{"v":{{"$literal":{json}}}}}"#);
        refuse(maker, &["E-6.11", "E-6.9"], "JsonEscape", name, &json);
    }
    let among = object([("v", object([("$literal", Value::Int(1)), ("a", Value::Int(2))]))]);
    written(maker, &["E-6.9", "E-6.8"], "A name $literal among others", &among);
    let several = object([("v", object([("$numberInt", text("5")), ("a", Value::Int(2))]))]);
    written(maker, &["E-6.9", "E-6.8"], "A name $numberInt among others", &several);
}
