//! Objects that stand for what plain JSON cannot say. spec: E-6.5 to E-6.9.

use super::base64;
use super::lexer::is_numeral;
use crate::document::{Document, Value};

/// Around an object that would be read as a wrapper, and is none.
pub(super) const LITERAL: &str = "$literal";
pub(super) const NUMBER_INT: &str = "$numberInt";
pub(super) const NUMBER_LONG: &str = "$numberLong";
pub(super) const NUMBER_DOUBLE: &str = "$numberDouble";
pub(super) const BINARY: &str = "$binary";
pub(super) const BASE64: &str = "base64";
pub(super) const SUBTYPE: &str = "subType";
/// The one subtype that bytes without further meaning have.
pub(super) const GENERIC: &str = "00";

/// Whether an object, written as it is, would be read as something else.
pub(super) fn has_wrapper_shape(object: &Document) -> bool {
    object.contains_key(LITERAL) || (object.len() == 1 && object.keys().all(is_wrapper_name))
}

fn is_wrapper_name(name: &str) -> bool {
    matches!(name, NUMBER_INT | NUMBER_LONG | NUMBER_DOUBLE | BINARY)
}

//= spec/encoding.md#e-6-8-malformed-wrappers
//# A reader MUST refuse an object that has the shape of a wrapper and is not one that E-6.5, E-6.6, E-6.7 or
//# E-6.9 describes.
//= spec/encoding.md#e-6-8-malformed-wrappers
//# A reader MUST read every other object as an object, whatever its names begin with.
/// The value that an object stands for: itself, unless it is a wrapper. What is wrong with it, if it is one in shape alone.
pub(super) fn unwrap(object: Document) -> Result<Value, &'static str> {
    if object.len() != 1 {
        return Ok(Value::Object(object));
    }
    let (name, content) = object.iter().next().expect("there is one field");
    match name {
        NUMBER_INT => int::<i32>(content).ok_or("`$numberInt` holds an int of 32 bits as text"),
        NUMBER_LONG => int::<i64>(content).ok_or("`$numberLong` holds an int of 64 bits as text"),
        NUMBER_DOUBLE => double(content).ok_or("`$numberDouble` holds a float as text"),
        BINARY => binary(content).ok_or("`$binary` holds `base64` and the `subType` \"00\""),
        _ => Ok(Value::Object(object)),
    }
}

/// Only digits as they are written: no sign or zero in front that a number does not need.
fn int<T: std::str::FromStr + ToString + Into<i64>>(content: &Value) -> Option<Value> {
    let text = content.as_str()?;
    let int = text.parse::<T>().ok().filter(|int| int.to_string() == text)?;
    Some(Value::Int(int.into()))
}

fn double(content: &Value) -> Option<Value> {
    let float = match content.as_str()? {
        "NaN" => f64::NAN,
        "Infinity" => f64::INFINITY,
        "-Infinity" => f64::NEG_INFINITY,
        // Rust reads more as a float than JSON does: words, a sign in front, bare dots.
        text if is_numeral(text) => text.parse().ok().filter(|float: &f64| float.is_finite())?,
        _ => return None,
    };
    Some(Value::Float(float))
}

fn binary(content: &Value) -> Option<Value> {
    let content = content.as_object().filter(|content| content.len() == 2)?;
    if content.get(SUBTYPE)?.as_str()? != GENERIC {
        return None;
    }
    base64::decode(content.get(BASE64)?.as_str()?).map(Value::Bytes)
}
