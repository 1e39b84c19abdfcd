//! Order keys: byte strings that compare as the values they stand for. What an index sorts by. spec: E-5.
//!
//! | value | bytes |
//! |---|---|
//! | null | `01` |
//! | false, true | `02`, `03` |
//! | number | `04`, the float at or below it (8 bytes), and from 2^53 on the difference (2 bytes) |
//! | text, bytes | `05` or `06`, the bytes with `00` written as `00 ff`, `00 00` |
//! | array | `07`, the items, `00` |
//! | object | `08`, each name as CBOR and its value, `00` |
//!
//! No order key is the beginning of another, so they can stand one behind the other. Values at one place of the order, such
//! as `1` and `1.0`, have one order key: it sorts a value, and does not keep it.

#![expect(clippy::big_endian_bytes, reason = "big-endian bytes compare as the numbers do")]

use super::cbor::encode as cbor;
use super::node::{Node, Scalar, View};
use super::{KEY_LEN_MAX, Key, KeyRef, Value};
use crate::error::{Error, Result};

const END: u8 = 0x00;
const NULL: u8 = 0x01;
const FALSE: u8 = 0x02;
const NUMBER: u8 = 0x04;
const TEXT: u8 = 0x05;
const BYTES: u8 = 0x06;
const ARRAY: u8 = 0x07;
const OBJECT: u8 = 0x08;
/// Behind a zero: the zero is one of the text, and not the first of the two that end it.
const ESCAPE: u8 = 0xff;

/// From here on, neighbouring ints share a float. Below, the difference is always zero, and not written.
const DENSE: f64 = 9_007_199_254_740_992.0;
/// 2^63: above the largest int.
const ABOVE_ALL_INTS: f64 = 9_223_372_036_854_775_808.0;

//= spec/encoding.md#e-5-1-order-of-order-keys
//# The bytewise order of two order keys MUST be the order of their values (V-3).
/// Appends the order key of `value`.
pub fn encode(value: &Value, out: &mut Vec<u8>) {
    encode_node(&value, out);
}

/// As [`encode`], for decoded and encoded values alike.
pub(crate) fn encode_node<'v>(node: &impl Node<'v>, out: &mut Vec<u8>) {
    match node.view() {
        View::Scalar(scalar) => encode_scalar(scalar, out),
        View::Array(_, items) => {
            out.push(ARRAY);
            items.for_each(|item| encode_node(&item, out));
            out.push(END);
        }
        View::Object(_, fields) => {
            out.push(OBJECT);
            for (name, value) in fields {
                // Encoded names sort as objects need them to, and none begins with the end mark.
                cbor::text(out, name);
                encode_node(&value, out);
            }
            out.push(END);
        }
    }
}

/// Appends the order key of a value without parts.
pub(crate) fn encode_scalar(scalar: Scalar<'_>, out: &mut Vec<u8>) {
    match scalar {
        Scalar::Null => out.push(NULL),
        Scalar::Bool(value) => out.push(FALSE + u8::from(value)),
        Scalar::Int(value) => put_int(out, value),
        Scalar::Float(value) => put_float(out, value),
        Scalar::Text(value) => put_escaped(out, TEXT, value),
        Scalar::Bytes(value) => put_escaped(out, BYTES, value),
    }
}

/// Appends the order key of a document's key: that of the same value.
pub fn encode_key(key: KeyRef<'_>, out: &mut Vec<u8>) {
    match key {
        KeyRef::Int(int) => put_int(out, int),
        KeyRef::Text(text) => put_escaped(out, TEXT, text.as_bytes()),
        KeyRef::Bytes(bytes) => put_escaped(out, BYTES, bytes),
    }
}

//= spec/encoding.md#e-5-6-keys-from-order-keys
//# A reader MUST refuse bytes that are not the order key of a key.
/// The key whose order key stands at the start of `bytes`, and how many bytes it takes.
///
/// # Errors
/// `Decode` for anything but what [`encode_key`] writes; `KeyTooLong`.
pub fn decode_key(bytes: &[u8]) -> Result<(Key, usize)> {
    let (&tag, rest) = bytes.split_first().ok_or_else(|| malformed(0, ENDS_EARLY))?;
    let (key, len) = match tag {
        NUMBER => take_int(rest).map(|(int, len)| (Key::Int(int), len))?,
        TEXT => {
            let (text, len) = take_escaped(rest)?;
            let text = String::from_utf8(text).map_err(|_| malformed(1, "text that is not UTF-8"))?;
            (Key::Text(text.into()), len)
        }
        BYTES => take_escaped(rest).map(|(bytes, len)| (Key::Bytes(bytes.into()), len))?,
        _ => return Err(malformed(0, "a key is an int, text or bytes")),
    };
    Ok((key, 1 + len))
}

const ENDS_EARLY: &str = "the order key ends early";

fn malformed(at: usize, what: &'static str) -> Error {
    Error::Decode { at, what }
}

fn put_int(out: &mut Vec<u8>, int: i64) {
    let nearest = int as f64;
    let floor = if nearest as i128 > i128::from(int) { nearest.next_down() } else { nearest };
    let difference = i128::from(int) - floor as i128;
    put_number(out, floor, u16::try_from(difference).expect("floats below 2^63 are at most 1,024 apart"));
}

fn put_float(out: &mut Vec<u8>, float: f64) {
    put_number(out, float, 0);
}

fn put_number(out: &mut Vec<u8>, floor: f64, difference: u16) {
    out.push(NUMBER);
    out.extend_from_slice(&sortable(floor).to_be_bytes());
    if floor.abs() >= DENSE {
        out.extend_from_slice(&difference.to_be_bytes());
    } else {
        assert_eq!(difference, 0, "every int below 2^53 is a float");
    }
}

/// The bits of a float, made to compare as unsigned numbers do: NaN lowest, both zeros the same.
fn sortable(float: f64) -> u64 {
    if float.is_nan() {
        return 0;
    }
    let bits = (float + 0.0).to_bits(); // turns -0.0 into 0.0
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

fn take_int(bytes: &[u8]) -> Result<(i64, usize)> {
    let (high, rest) = bytes.split_first_chunk().ok_or_else(|| malformed(1, ENDS_EARLY))?;
    let high = u64::from_be_bytes(*high);
    let floor = f64::from_bits(if high >> 63 == 1 { high ^ 1 << 63 } else { !high });
    let difference = if floor.abs() >= DENSE {
        u16::from_be_bytes(*rest.first_chunk().ok_or_else(|| malformed(9, ENDS_EARLY))?)
    } else {
        0
    };
    // Encoding again is the whole check: that it is a whole number, in range, and not NaN, and the difference the right one.
    let int = (floor as i64).checked_add(i64::from(difference));
    if let Some(int) = int.filter(|_| (-ABOVE_ALL_INTS..ABOVE_ALL_INTS).contains(&floor)) {
        let mut again = Vec::with_capacity(11);
        put_int(&mut again, int);
        let len = again.len() - 1;
        if bytes.get(..len) == Some(&again[1..]) {
            return Ok((int, len));
        }
    }
    Err(malformed(1, "a number that is no int"))
}

//= spec/encoding.md#e-5-1-order-of-order-keys
//# An order key MUST NOT be the beginning of another.
fn put_escaped(out: &mut Vec<u8>, tag: u8, bytes: &[u8]) {
    out.push(tag);
    let mut runs = bytes.split(|&byte| byte == END);
    out.extend_from_slice(runs.next().expect("a split has one part at least"));
    for run in runs {
        out.extend_from_slice(&[END, ESCAPE]);
        out.extend_from_slice(run);
    }
    out.extend_from_slice(&[END, END]);
}

/// The bytes up to the end mark, and how many bytes they and the mark take.
fn take_escaped(bytes: &[u8]) -> Result<(Vec<u8>, usize)> {
    let mut payload = Vec::new();
    let mut at = 0;
    loop {
        let run =
            bytes[at..].iter().position(|&byte| byte == END).ok_or_else(|| malformed(1 + at, ENDS_EARLY))?;
        payload.extend_from_slice(&bytes[at..at + run]);
        at += run + 2;
        match bytes.get(at - 1) {
            Some(&ESCAPE) => payload.push(END),
            Some(&END) => break,
            Some(_) => return Err(malformed(at, "a zero that is neither escaped nor an end")),
            None => return Err(malformed(at, ENDS_EARLY)),
        }
    }
    let len = payload.len();
    if len > KEY_LEN_MAX {
        return Err(Error::KeyTooLong { len, max: KEY_LEN_MAX });
    }
    Ok((payload, at))
}
