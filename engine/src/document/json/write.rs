//! Values to JSON.

use std::fmt::{self, Write};

use super::base64;
use super::mode::JsonMode;
use super::wrapper::{
    self, BASE64, BINARY, GENERIC, LITERAL, NUMBER_DOUBLE, NUMBER_INT, NUMBER_LONG, SUBTYPE,
};
use crate::document::{Document, Key, Value};

/// The largest int that every reader of JSON keeps: 2^53 - 1.
const PLAIN_INT_MAX: u64 = (1 << 53) - 1;

/// Appends `value` as JSON, on one line.
pub fn write_value(value: &Value, mode: JsonMode, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Int(value) => write_int(*value, mode, out),
        Value::Float(value) => write_float(*value, mode, out),
        Value::Text(value) => write_string(value, out),
        Value::Bytes(value) => write_bytes(value, out),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_value(item, mode, out);
            }
            out.push(']');
        }
        Value::Object(fields) => write_document(fields, mode, out),
    }
}

//= spec/encoding.md#e-6-1-nothing-is-lost
//# A reader MUST read what a writer wrote of a document, in either mode, as an equal document.
//= spec/encoding.md#e-6-9-literal-objects
//# An object that has the shape of a wrapper MUST be written inside another:
//# `{"$literal":{"$numberInt":"5"}}`.
/// Appends `document` as JSON, on one line.
pub fn write_document(document: &Document, mode: JsonMode, out: &mut String) {
    write_members(document, document.iter(), mode, out);
}

/// As [`write_document`], with its fields by the places of their names; those of one place in the order of
/// names.
pub fn write_document_by<P: Ord>(
    document: &Document,
    place: impl Fn(&str) -> P,
    mode: JsonMode,
    out: &mut String,
) {
    let mut members: Vec<(&str, &Value)> = document.iter().collect();
    members.sort_by_key(|(name, _)| place(name));
    write_members(document, members.into_iter(), mode, out);
}

fn write_members<'d>(
    document: &Document,
    members: impl Iterator<Item = (&'d str, &'d Value)>,
    mode: JsonMode,
    out: &mut String,
) {
    let literal = wrapper::has_wrapper_shape(document);
    if literal {
        out.push('{');
        write_name(LITERAL, out);
    }
    out.push('{');
    for (index, (name, value)) in members.enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_name(name, out);
        write_value(value, mode, out);
    }
    out.push('}');
    if literal {
        out.push('}');
    }
}

/// Appends a document and its key as JSON, on one line: `{"key":1,"doc":{"a":true}}`.
pub fn write_entry(key: &Key, document: &Document, mode: JsonMode, out: &mut String) {
    out.push_str(r#"{"key":"#);
    write_value(&Value::from(key.as_ref()), mode, out);
    out.push_str(r#","doc":"#);
    write_document(document, mode, out);
    out.push('}');
}

fn write_name(name: &str, out: &mut String) {
    write_string(name, out);
    out.push(':');
}

//= spec/encoding.md#e-6-3-json-ints
//# In relaxed mode, an int from -(2^53 - 1) to 2^53 - 1 MUST be written as a number without fraction and
//# exponent.
//= spec/encoding.md#e-6-5-wrapped-ints
//# In canonical mode, an int of 32 bits MUST be written as `{"$numberInt":"5"}`.
//= spec/encoding.md#e-6-5-wrapped-ints
//# Any other int that E-6.3 does not cover MUST be written as `{"$numberLong":"5000000000"}`.
fn write_int(int: i64, mode: JsonMode, out: &mut String) {
    let plain = mode == JsonMode::Relaxed && int.unsigned_abs() <= PLAIN_INT_MAX;
    let short = mode == JsonMode::Canonical && i32::try_from(int).is_ok();
    if plain {
        append(out, format_args!("{int}"));
    } else {
        let wrapper = if short { NUMBER_INT } else { NUMBER_LONG };
        append(out, format_args!(r#"{{"{wrapper}":"{int}"}}"#));
    }
}

//= spec/encoding.md#e-6-4-json-floats
//# In relaxed mode, a finite float MUST be written as a number that has a fraction or an exponent and that,
//# rounded to the nearest float, is that float.
//= spec/encoding.md#e-6-6-wrapped-floats
//# NaN and the infinities, and in canonical mode every float, MUST be written as `{"$numberDouble":"1.0"}`.
fn write_float(float: f64, mode: JsonMode, out: &mut String) {
    // spec: E-6.4, E-6.6. Debug writes the shortest digits that read back as the same float, and always a fraction or an exponent.
    if float.is_finite() && mode == JsonMode::Relaxed {
        append(out, format_args!("{float:?}"));
    } else if float.is_infinite() {
        let sign = if float < 0.0 { "-" } else { "" };
        append(out, format_args!(r#"{{"{NUMBER_DOUBLE}":"{sign}Infinity"}}"#));
    } else {
        append(out, format_args!(r#"{{"{NUMBER_DOUBLE}":"{float:?}"}}"#));
    }
}

//= spec/encoding.md#e-6-7-wrapped-byte-strings
//# A byte string MUST be written as `{"$binary":{"base64":"AQI=","subType":"00"}}`, in base64 with padding
//# (RFC 4648, section 4).
fn write_bytes(bytes: &[u8], out: &mut String) {
    append(out, format_args!(r#"{{"{BINARY}":{{"{BASE64}":""#));
    base64::encode(bytes, out);
    append(out, format_args!(r#"","{SUBTYPE}":"{GENERIC}"}}}}"#));
}

fn write_string(text: &str, out: &mut String) {
    out.push('"');
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f)) {
        out.push_str(&rest[..at]);
        match rest.as_bytes()[at] {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            control => append(out, format_args!("\\u{control:04x}")),
        }
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
    out.push('"');
}

fn append(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a string takes all that is written to it");
}

impl Value {
    /// The value as JSON. [`json`](crate::document::json) says how what JSON lacks is written.
    pub fn to_json(&self, mode: JsonMode) -> String {
        let mut out = String::new();
        write_value(self, mode, &mut out);
        out
    }
}

impl Document {
    /// The document as JSON. [`json`](crate::document::json) says how what JSON lacks is written.
    pub fn to_json(&self, mode: JsonMode) -> String {
        let mut out = String::new();
        write_document(self, mode, &mut out);
        out
    }
}

/// As relaxed JSON.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_json(JsonMode::Relaxed))
    }
}

/// As relaxed JSON.
impl fmt::Display for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_json(JsonMode::Relaxed))
    }
}
