//! What a JSON text says, held to the form that E-6 asks of a writer: read here without any help of the engine, since it is the judge.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::case::Mode;

/// A value, as far as a comparison needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    /// Nothing.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// The bits of a float; one pattern for NaN.
    Float(u64),
    /// Text.
    Text(String),
    /// The base64 text of a byte string: E-6.7 leaves one spelling.
    Bytes(String),
    /// Values in a row.
    Array(Vec<Meaning>),
    /// Values by name.
    Object(BTreeMap<String, Meaning>),
}

/// What of plain JSON can be exact in a float: 2^53 - 1.
const PLAIN_MAX: i64 = (1 << 53) - 1;

/// What `text` says, which must be written as `mode` asks.
///
/// # Errors
/// What is wrong with the text.
pub fn read(text: &str, mode: Mode) -> Result<Meaning, String> {
    let raw = serde_json::from_str::<&RawValue>(text).map_err(|error| format!("not JSON: {error}"))?;
    value(raw.get(), mode)
}

fn value(text: &str, mode: Mode) -> Result<Meaning, String> {
    let wrong = |error: serde_json::Error| format!("not JSON: {error}");
    match text.trim_start().as_bytes().first() {
        Some(b'{') => object(serde_json::from_str::<Fields<'_>>(text).map_err(wrong)?.0, mode),
        Some(b'[') => {
            let items = serde_json::from_str::<Vec<&RawValue>>(text).map_err(wrong)?;
            items
                .into_iter()
                .map(|item| value(item.get(), mode))
                .collect::<Result<_, _>>()
                .map(Meaning::Array)
        }
        Some(b'"') => serde_json::from_str(text).map_err(wrong).map(Meaning::Text),
        Some(b't' | b'f') => serde_json::from_str(text).map_err(wrong).map(Meaning::Bool),
        Some(b'n') => Ok(Meaning::Null),
        _ => number(text.trim(), mode),
    }
}

fn number(text: &str, mode: Mode) -> Result<Meaning, String> {
    if mode == Mode::Canonical {
        return Err(format!("canonical JSON has no bare number, as {text} is (E-6.5, E-6.6)"));
    }
    if text.contains(['.', 'e', 'E']) {
        return float(text);
    }
    match text.parse::<i64>() {
        Ok(int) if int.abs() <= PLAIN_MAX && text != "-0" => Ok(Meaning::Int(int)),
        _ => Err(format!("the bare number {text} is no int of 53 bits (E-6.3)")),
    }
}

fn float(text: &str) -> Result<Meaning, String> {
    let float = match text {
        "NaN" => f64::NAN,
        "Infinity" => f64::INFINITY,
        "-Infinity" => f64::NEG_INFINITY,
        // Rust reads more spellings than JSON has.
        _ if text.bytes().all(|byte| b"+-.eE0123456789".contains(&byte)) => {
            text.parse().map_err(|_| format!("{text} is no float"))?
        }
        _ => return Err(format!("{text} is no float (E-6.6)")),
    };
    Ok(Meaning::Float(if float.is_nan() { f64::NAN.to_bits() } else { float.to_bits() }))
}

fn object(fields: Vec<(String, &RawValue)>, mode: Mode) -> Result<Meaning, String> {
    if let [(name, inner)] = &fields[..] {
        match name.as_str() {
            "$numberInt" | "$numberLong" => return int(name, inner, mode),
            "$numberDouble" => return wrapped_float(inner, mode),
            "$binary" => return binary(inner),
            "$literal" => return literal(inner, mode),
            _ => {}
        }
    }
    if fields.iter().any(|(name, _)| name == "$literal") {
        return Err("an object with a name `$literal` is not inside another (E-6.9)".to_owned());
    }
    plain(fields, mode)
}

fn plain(fields: Vec<(String, &RawValue)>, mode: Mode) -> Result<Meaning, String> {
    let mut object = BTreeMap::new();
    for (name, field) in fields {
        let meaning = value(field.get(), mode)?;
        if object.insert(name.clone(), meaning).is_some() {
            return Err(format!("the name {name:?} comes twice (E-6.2)"));
        }
    }
    Ok(Meaning::Object(object))
}

fn string(raw: &RawValue) -> Result<String, String> {
    serde_json::from_str(raw.get()).map_err(|_| "a wrapper without its text (E-6.8)".to_owned())
}

fn int(name: &str, inner: &RawValue, mode: Mode) -> Result<Meaning, String> {
    let text = string(inner)?;
    let int: i64 = text.parse().map_err(|_| format!("{text:?} is no int (E-6.5)"))?;
    let is_short = i32::try_from(int).is_ok();
    let is_due = match mode {
        Mode::Canonical => is_short == (name == "$numberInt"),
        Mode::Relaxed => name == "$numberLong" && !(-PLAIN_MAX..=PLAIN_MAX).contains(&int),
    };
    if is_due && int.to_string() == text {
        return Ok(Meaning::Int(int));
    }
    Err(format!("{text:?} is not what {name} holds in this mode (E-6.5)"))
}

fn wrapped_float(inner: &RawValue, mode: Mode) -> Result<Meaning, String> {
    let text = string(inner)?;
    let read = float(&text)?;
    if mode == Mode::Relaxed && !matches!(&*text, "NaN" | "Infinity" | "-Infinity") {
        return Err(format!("a finite float is not wrapped in relaxed mode, as {text} is (E-6.4)"));
    }
    Ok(read)
}

fn binary(inner: &RawValue) -> Result<Meaning, String> {
    let wrong = || "a byte string not as E-6.7 asks".to_owned();
    let fields = serde_json::from_str::<Fields<'_>>(inner.get()).map_err(|_| wrong())?.0;
    let field = |wanted: &str| fields.iter().find(|(name, _)| name == wanted).map(|(_, raw)| string(raw));
    match (fields.len(), field("base64"), field("subType")) {
        (2, Some(base64), Some(kind)) if kind.as_deref() == Ok("00") => base64.map(Meaning::Bytes),
        _ => Err(wrong()),
    }
}

fn literal(inner: &RawValue, mode: Mode) -> Result<Meaning, String> {
    let fields = serde_json::from_str::<Fields<'_>>(inner.get())
        .map_err(|_| "`$literal` holds an object (E-6.9)".to_owned())?
        .0;
    let names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
    let needs_it = names.contains(&"$literal")
        || matches!(names[..], ["$numberInt" | "$numberLong" | "$numberDouble" | "$binary"]);
    if !needs_it {
        return Err("`$literal` around an object that has not the shape of a wrapper (E-6.9)".to_owned());
    }
    plain(fields, mode)
}

/// The fields of an object as they stand, twice or not.
struct Fields<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct All;
        impl<'de> Visitor<'de> for All {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(name) = map.next_key::<String>()? {
                    let value = map.next_value::<&'de RawValue>().map_err(A::Error::custom)?;
                    fields.push((name, value));
                }
                Ok(fields)
            }
        }
        deserializer.deserialize_map(All).map(Fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_held_to_its_mode() {
        assert_eq!(read("5", Mode::Relaxed), Ok(Meaning::Int(5)));
        assert!(read("5", Mode::Canonical).is_err());
        assert_eq!(read(r#"{"$numberInt":"5"}"#, Mode::Canonical), Ok(Meaning::Int(5)));
        assert!(read(r#"{"$numberInt":"5"}"#, Mode::Relaxed).is_err());
        assert!(read(r#"{"$numberLong":"5"}"#, Mode::Canonical).is_err());
        assert!(read("9007199254740993", Mode::Relaxed).is_err());
        assert!(read(r#"{"a":1,"a":1}"#, Mode::Relaxed).is_err());
    }

    #[test]
    fn floats_are_told_apart_by_their_bits_and_from_ints() {
        assert_ne!(read("0.0", Mode::Relaxed), read("-0.0", Mode::Relaxed));
        assert_ne!(read("1", Mode::Relaxed), read("1.0", Mode::Relaxed));
        assert_eq!(read("1e2", Mode::Relaxed), read("100.0", Mode::Relaxed));
    }
}
