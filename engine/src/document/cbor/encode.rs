//! Writing: each value in its one form. spec: E-2, E-3.

#![expect(clippy::big_endian_bytes, reason = "CBOR is big-endian: RFC 8949, section 3")]

use super::float::{self, Shortest};
use super::head::Fault;
use crate::document::{Document, Value};

/// Major type in the top three bits of a head.
pub(crate) const UNSIGNED: u8 = 0 << 5;
pub(crate) const NEGATIVE: u8 = 1 << 5;
pub(crate) const BYTES: u8 = 2 << 5;
pub(crate) const TEXT: u8 = 3 << 5;
pub(crate) const ARRAY: u8 = 4 << 5;
pub(crate) const OBJECT: u8 = 5 << 5;
const FALSE: u8 = 0xf4;
const NULL: u8 = 0xf6;
const HALF: u8 = 0xf9;
const SINGLE: u8 = 0xfa;
const DOUBLE: u8 = 0xfb;

//= spec/encoding.md#e-2-2-shortest-head
//# An argument MUST have its shortest form.
/// Appends a head of type `major` with its number in the shortest form.
#[inline]
pub(crate) fn head(out: &mut Vec<u8>, major: u8, argument: u64) {
    if argument < 24 {
        out.push(major | argument as u8);
    } else {
        long_head(out, major, argument);
    }
}

fn long_head(out: &mut Vec<u8>, major: u8, argument: u64) {
    if let Ok(argument) = u8::try_from(argument) {
        out.extend_from_slice(&[major | 24, argument]);
    } else if let Ok(argument) = u16::try_from(argument) {
        prefixed(out, major | 25, argument.to_be_bytes());
    } else if let Ok(argument) = u32::try_from(argument) {
        prefixed(out, major | 26, argument.to_be_bytes());
    } else {
        prefixed(out, major | 27, argument.to_be_bytes());
    }
}

#[inline]
fn prefixed<const N: usize>(out: &mut Vec<u8>, first: u8, bytes: [u8; N]) {
    out.push(first);
    out.extend_from_slice(&bytes);
}

/// Whether `bytes` begin with the head of type `major` with this number.
#[inline]
pub(crate) fn has_head(bytes: &[u8], major: u8, argument: u64) -> bool {
    let Some((&first, rest)) = bytes.split_first() else { return false };
    // Numbers are compared, not bytes: nothing goes through memory.
    let found = match argument {
        0..=23 => return first == major | argument as u8,
        24..=0xff if first == major | 24 => rest.first().map(|byte| u64::from(*byte)),
        0x100..=0xffff if first == major | 25 => rest.first_chunk().map(|be| u16::from_be_bytes(*be).into()),
        0x1_0000..=0xffff_ffff if first == major | 26 => {
            rest.first_chunk().map(|be| u32::from_be_bytes(*be).into())
        }
        0x1_0000_0000.. if first == major | 27 => rest.first_chunk().map(|be| u64::from_be_bytes(*be)),
        _ => None,
    };
    found == Some(argument)
}

/// The number in the head of an int that is not negative, if `bytes` begin with one that has two or four bytes of it, and not in vain; and how
/// long the head is.
#[inline(always)]
pub(crate) fn wide_int_at(bytes: &[u8]) -> Option<(u64, usize)> {
    const IN_TWO: u8 = UNSIGNED | 25;
    const IN_FOUR: u8 = UNSIGNED | 26;
    let [first, number @ ..] = bytes.first_chunk::<5>()?;
    let number = u32::from_be_bytes(*number);
    match *first {
        IN_FOUR if number >> 16 != 0 => Some((number.into(), 5)),
        IN_TWO if number >> 24 != 0 => Some(((number >> 16).into(), 3)),
        _ => None,
    }
}

/// Whether `bytes` begin with a text of these, which is one of less than 24.
#[inline(always)]
pub(crate) fn has_short_text(bytes: &[u8], text: &[u8]) -> bool {
    let Some((first, rest)) = bytes.split_first() else { return false };
    text.len() < 24 && usize::from(first ^ TEXT) == text.len() && begins_with(rest, text)
}

/// As [`starts_with`](slice::starts_with), without a call for eight to sixteen bytes, as most names have.
#[inline(always)]
fn begins_with(bytes: &[u8], start: &[u8]) -> bool {
    const WORD: usize = size_of::<u64>();
    let Some(found) = bytes.get(..start.len()) else { return false };
    let ends = |bytes: &[u8]| Some((*bytes.first_chunk::<WORD>()?, *bytes.last_chunk::<WORD>()?));
    match ends(start) {
        Some(of_start) if start.len() <= 2 * WORD => ends(found) == Some(of_start),
        _ => found == start,
    }
}

/// How many bytes a head with this number has.
#[inline]
pub(crate) fn head_len(argument: u64) -> usize {
    match argument {
        0..=23 => 1,
        24..=0xff => 2,
        0x100..=0xffff => 3,
        0x1_0000..=0xffff_ffff => 5,
        _ => 9,
    }
}

/// The number in the head of an int: itself, or -1 - itself where that is negative.
#[inline]
pub(crate) fn int_argument(int: i64) -> u64 {
    (if int < 0 { !int } else { int }) as u64
}

pub(crate) fn null(out: &mut Vec<u8>) {
    out.push(NULL);
}

pub(crate) fn bool(out: &mut Vec<u8>, value: bool) {
    out.push(FALSE + u8::from(value));
}

#[inline]
pub(crate) fn int(out: &mut Vec<u8>, int: i64) {
    let major = if int < 0 { NEGATIVE } else { UNSIGNED };
    head(out, major, int_argument(int));
}

//= spec/encoding.md#e-2-6-shortest-float
//# A float MUST NOT be written as an int, whatever its value.
#[inline]
pub(crate) fn float(out: &mut Vec<u8>, value: f64) {
    match float::shortest(value) {
        Shortest::Half(bits) => prefixed(out, HALF, bits.to_be_bytes()),
        Shortest::Single(bits) => prefixed(out, SINGLE, bits.to_be_bytes()),
        Shortest::Double(bits) => prefixed(out, DOUBLE, bits.to_be_bytes()),
    }
}

#[inline]
pub(crate) fn text(out: &mut Vec<u8>, text: &str) {
    text_bytes(out, text.as_bytes());
}

/// The text that has these bytes.
#[inline]
pub(crate) fn text_bytes(out: &mut Vec<u8>, text: &[u8]) {
    head(out, TEXT, text.len() as u64);
    out.extend_from_slice(text);
}

#[inline]
pub(crate) fn bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    head(out, BYTES, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Appends `document`, of at most `levels` levels. On a fault, a part of it stands in `out`.
pub(crate) fn document(out: &mut Vec<u8>, document: &Document, levels: usize) -> Result<(), Fault> {
    let levels = levels.checked_sub(1).ok_or(Fault::TooDeep)?;
    head(out, OBJECT, document.len() as u64);
    for (name, field) in document {
        text(out, name);
        value(out, field, levels)?;
    }
    Ok(())
}

fn array(out: &mut Vec<u8>, items: &[Value], levels: usize) -> Result<(), Fault> {
    let levels = levels.checked_sub(1).ok_or(Fault::TooDeep)?;
    head(out, ARRAY, items.len() as u64);
    items.iter().try_for_each(|item| value(out, item, levels))
}

#[inline]
pub(crate) fn value(out: &mut Vec<u8>, value: &Value, levels: usize) -> Result<(), Fault> {
    match value {
        Value::Null => null(out),
        Value::Bool(value) => bool(out, *value),
        Value::Int(value) => int(out, *value),
        Value::Float(value) => float(out, *value),
        Value::Text(value) => text(out, value),
        Value::Bytes(value) => bytes(out, value),
        Value::Array(items) => return array(out, items, levels),
        Value::Object(fields) => return document(out, fields, levels),
    }
    Ok(())
}
