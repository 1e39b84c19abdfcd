//! Values as bytes and as JSON, written from `encoding.md` alone: what the engine says is held against it.

use std::fmt::Write as _;

use holotype_model::{Document, Key, Value};

/// A head of a major type with its argument in the shortest form (E-2.2).
#[must_use]
pub fn head(major: u8, argument: u64) -> Vec<u8> {
    match argument {
        0..24 => vec![major << 5 | argument as u8],
        24..0x100 => head_of_width(major, argument, 1),
        0x100..0x1_0000 => head_of_width(major, argument, 2),
        0x1_0000..0x1_0000_0000 => head_of_width(major, argument, 4),
        _ => head_of_width(major, argument, 8),
    }
}

/// A head whose argument takes this many bytes behind it, be that the shortest form or not.
#[must_use]
pub fn head_of_width(major: u8, argument: u64, width: usize) -> Vec<u8> {
    let code =
        [1, 2, 4, 8].iter().position(|known| *known == width).expect("arguments have 1, 2, 4 or 8 bytes");
    let mut bytes = vec![major << 5 | (24 + code as u8)];
    most_significant_first(&mut bytes, argument, width);
    bytes
}

/// Appends the low bytes of a number, the highest first.
pub fn most_significant_first(out: &mut Vec<u8>, number: u64, width: usize) {
    out.extend((0..width).rev().map(|place| (number >> (8 * place)) as u8));
}

/// The encoding of a value (E-2).
#[must_use]
pub fn value(value: &Value) -> Vec<u8> {
    match value {
        Value::Null => vec![0xf6],
        Value::Bool(bool) => vec![0xf4 + u8::from(*bool)],
        Value::Int(int) => self::int(*int),
        Value::Float(float) => self::float(*float),
        Value::Text(text) => self::text(text),
        Value::Bytes(bytes) => self::bytes(bytes),
        Value::Array(items) => items.iter().fold(head(4, items.len() as u64), |mut out, item| {
            out.extend(self::value(item));
            out
        }),
        Value::Object(fields) => document(fields),
    }
}

/// The encoding of a document (E-3).
#[must_use]
pub fn document(fields: &Document) -> Vec<u8> {
    let mut encoded: Vec<_> = fields.iter().map(|(name, value)| (text(name), self::value(value))).collect();
    encoded.sort();
    encoded.into_iter().fold(head(5, fields.len() as u64), |out, (name, value)| [out, name, value].concat())
}

/// The encoding of a key (E-4.1).
#[must_use]
pub fn key(key: &Key) -> Vec<u8> {
    match key {
        Key::Int(int) => self::int(*int),
        Key::Text(text) => self::text(text),
        Key::Bytes(bytes) => self::bytes(bytes),
    }
}

/// The encoding of an int.
#[must_use]
pub fn int(int: i64) -> Vec<u8> {
    if int >= 0 { head(0, int as u64) } else { head(1, !int as u64) }
}

/// The encoding of a text.
#[must_use]
pub fn text(text: &str) -> Vec<u8> {
    [head(3, text.len() as u64), text.as_bytes().to_vec()].concat()
}

/// The encoding of a byte string.
#[must_use]
pub fn bytes(bytes: &[u8]) -> Vec<u8> {
    [head(2, bytes.len() as u64), bytes.to_vec()].concat()
}

/// The encoding of a float (E-2.6, E-2.7).
#[must_use]
pub fn float(float: f64) -> Vec<u8> {
    if float.is_nan() {
        return vec![0xf9, 0x7e, 0x00];
    }
    // Sixteen bits are few: the one that means this float is found by looking at all of them.
    if let Some(bits) = (0..=u16::MAX).find(|bits| half(*bits).to_bits() == float.to_bits()) {
        return vec![0xf9, (bits >> 8) as u8, bits as u8];
    }
    let mut out = Vec::with_capacity(9);
    let single = float as f32;
    if f64::from(single).to_bits() == float.to_bits() {
        out.push(0xfa);
        most_significant_first(&mut out, u64::from(single.to_bits()), 4);
    } else {
        out.push(0xfb);
        most_significant_first(&mut out, float.to_bits(), 8);
    }
    out
}

/// The float that sixteen bits of IEEE 754 stand for.
#[must_use]
pub fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}

/// The value that was encoded so by [`value`].
///
/// # Panics
/// On other bytes.
#[must_use]
pub fn read(mut bytes: &[u8]) -> Value {
    take_value(&mut bytes)
}

fn take<'b>(bytes: &mut &'b [u8], len: usize) -> &'b [u8] {
    let (found, rest) = bytes.split_at(len);
    *bytes = rest;
    found
}

fn take_value(bytes: &mut &[u8]) -> Value {
    let first = take(bytes, 1)[0];
    let info = first & 31;
    let width = if info < 24 { 0 } else { 1 << (info - 24) };
    let behind = take(bytes, width).iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
    let argument = if width == 0 { u64::from(info) } else { behind };
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("texts are UTF-8");
    match (first >> 5, info) {
        (0, _) => Value::Int(argument as i64),
        (1, _) => Value::Int(!argument as i64),
        (2, _) => Value::Bytes(take(bytes, argument as usize).to_vec()),
        (3, _) => Value::Text(text(take(bytes, argument as usize))),
        (4, _) => Value::Array((0..argument).map(|_| take_value(bytes)).collect()),
        (5, _) => Value::Object(
            (0..argument)
                .map(|_| match take_value(bytes) {
                    Value::Text(name) => (name, take_value(bytes)),
                    _ => unreachable!("names are texts"),
                })
                .collect(),
        ),
        (_, 25) => Value::Float(half(argument as u16)),
        (_, 26) => Value::Float(f32::from_bits(argument as u32).into()),
        (_, 27) => Value::Float(f64::from_bits(argument)),
        (_, 22) => Value::Null,
        (_, simple) => Value::Bool(simple == 21),
    }
}

/// Canonical JSON (E-6).
#[must_use]
pub fn canonical(value: &Value) -> String {
    let mut out = String::new();
    json(value, true, &mut out);
    out
}

/// Relaxed JSON (E-6).
#[must_use]
pub fn relaxed(value: &Value) -> String {
    let mut out = String::new();
    json(value, false, &mut out);
    out
}

fn json(value: &Value, canonical: bool, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(bool) => out.push_str(if *bool { "true" } else { "false" }),
        Value::Int(int) => json_int(*int, canonical, out),
        Value::Float(float) => json_float(*float, canonical, out),
        Value::Text(text) => json_text(text, out),
        Value::Bytes(bytes) => {
            write!(out, r#"{{"$binary":{{"base64":"{}","subType":"00"}}}}"#, base64(bytes))
                .expect("strings grow");
        }
        Value::Array(items) => {
            out.push('[');
            for (n, item) in items.iter().enumerate() {
                out.push_str(if n > 0 { "," } else { "" });
                json(item, canonical, out);
            }
            out.push(']');
        }
        Value::Object(fields) => {
            let wraps = has_the_shape_of_a_wrapper(fields);
            out.push_str(if wraps { r#"{"$literal":{"# } else { "{" });
            for (n, (name, field)) in fields.iter().enumerate() {
                out.push_str(if n > 0 { "," } else { "" });
                json_text(name, out);
                out.push(':');
                json(field, canonical, out);
            }
            out.push_str(if wraps { "}}" } else { "}" });
        }
    }
}

/// E-6.8
fn has_the_shape_of_a_wrapper(fields: &Document) -> bool {
    let names: Vec<&str> = fields.keys().map(String::as_str).collect();
    names.contains(&"$literal")
        || matches!(names[..], ["$numberInt" | "$numberLong" | "$numberDouble" | "$binary"])
}

fn json_int(int: i64, canonical: bool, out: &mut String) {
    let is_plain = int.unsigned_abs() < 1 << 53;
    let written = match canonical {
        false if is_plain => write!(out, "{int}"),
        true if i32::try_from(int).is_ok() => write!(out, r#"{{"$numberInt":"{int}"}}"#),
        _ => write!(out, r#"{{"$numberLong":"{int}"}}"#),
    };
    written.expect("strings grow");
}

fn json_float(float: f64, canonical: bool, out: &mut String) {
    let text = match float {
        _ if float.is_nan() => "NaN".to_owned(),
        f64::INFINITY => "Infinity".to_owned(),
        f64::NEG_INFINITY => "-Infinity".to_owned(),
        // Always with an exponent, so never an int.
        _ => format!("{float:e}"),
    };
    let written = match canonical || !float.is_finite() {
        true => write!(out, r#"{{"$numberDouble":"{text}"}}"#),
        false => write!(out, "{text}"),
    };
    written.expect("strings grow");
}

fn json_text(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            '\0'..='\x1f' => write!(out, "\\u{:04x}", character as u32).expect("strings grow"),
            _ => out.push(character),
        }
    }
    out.push('"');
}

/// RFC 4648, section 4.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for group in bytes.chunks(3) {
        let bits = (0..3).fold(0u32, |bits, n| bits << 8 | u32::from(group.get(n).copied().unwrap_or(0)));
        for place in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * place) & 63) as usize];
            out.push(if place <= group.len() { char::from(digit) } else { '=' });
        }
    }
    out
}

/// The order key of a value (E-5).
#[must_use]
pub fn order_key(value: &Value) -> Vec<u8> {
    match value {
        Value::Null => vec![1],
        Value::Bool(bool) => vec![2 + u8::from(*bool)],
        Value::Int(int) => number_key(floor(*int), i128::from(*int)),
        Value::Float(float) if float.is_nan() => [4, 0, 0, 0, 0, 0, 0, 0, 0].to_vec(),
        Value::Float(float) => number_key(*float, *float as i128),
        Value::Text(text) => escaped(5, text.as_bytes()),
        Value::Bytes(bytes) => escaped(6, bytes),
        Value::Array(items) => {
            [vec![7], items.iter().flat_map(order_key).collect::<Vec<_>>(), vec![0]].concat()
        }
        Value::Object(fields) => {
            let mut named: Vec<_> =
                fields.iter().map(|(name, value)| (text(name), order_key(value))).collect();
            named.sort();
            [vec![8], named.into_iter().flat_map(|(name, value)| [name, value].concat()).collect(), vec![0]]
                .concat()
        }
    }
}

/// The greatest float that is not above an int.
fn floor(int: i64) -> f64 {
    let near = int as f64;
    if near as i128 > i128::from(int) { near.next_down() } else { near }
}

fn number_key(floor: f64, number: i128) -> Vec<u8> {
    let bits = if floor == 0.0 { 0 } else { floor.to_bits() };
    let sortable = if floor < 0.0 { !bits } else { bits | 1 << 63 };
    let mut out = vec![4];
    most_significant_first(&mut out, sortable, 8);
    if floor.abs() >= 9_007_199_254_740_992.0 {
        // Beyond the ints a float is its own floor.
        let difference = if floor.abs() < 1e19 { number - floor as i128 } else { 0 };
        most_significant_first(&mut out, difference as u64, 2);
    }
    out
}

fn escaped(tag: u8, bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![tag];
    for byte in bytes {
        out.push(*byte);
        if *byte == 0 {
            out.push(0xff);
        }
    }
    out.extend([0, 0]);
    out
}
