//! Order keys (`spec/encoding.md`, E-5), and of them the bytes of tuples (spec: I-7.1). Only the length and the beginning of long
//! tuples rest on them.

use super::definition::Definition;
use super::entry::in_name_order;
use crate::key::Key;
use crate::value::Value;

/// The bytes of a tuple, however many they are.
pub(super) fn tuple_bytes(definition: &Definition, tuple: &[Option<Value>]) -> Vec<u8> {
    let components = tuple.iter().zip(&definition.paths);
    let bytes = components.flat_map(|(component, path)| {
        let bytes = component.as_ref().map_or_else(|| vec![0], order_key);
        bytes.into_iter().map(|byte| if path.descending { !byte } else { byte }).collect::<Vec<u8>>()
    });
    bytes.collect()
}

/// The order key of a key.
pub(crate) fn key_bytes(key: &Key) -> Vec<u8> {
    let value = match key {
        Key::Int(int) => Value::Int(*int),
        Key::Text(text) => Value::Text(text.clone()),
        Key::Bytes(bytes) => Value::Bytes(bytes.clone()),
    };
    order_key(&value)
}

fn order_key(value: &Value) -> Vec<u8> {
    match value {
        Value::Null => vec![1],
        Value::Bool(bool) => vec![2 + u8::from(*bool)],
        Value::Int(int) => of_int(*int),
        Value::Float(float) => of_floor(*float, 0),
        Value::Text(text) => escaped(5, text.as_bytes()),
        Value::Bytes(bytes) => escaped(6, bytes),
        Value::Array(items) => {
            let items = items.iter().flat_map(order_key);
            [7].into_iter().chain(items).chain([0]).collect()
        }
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| [encoded_name(name), order_key(value)].concat();
            let fields = in_name_order(fields).into_iter().flat_map(field);
            [8].into_iter().chain(fields).chain([0]).collect()
        }
    }
}

/// An int by its floor, the greatest float that is not above it, and its distance from it.
fn of_int(int: i64) -> Vec<u8> {
    let mut floor = int as f64;
    if floor as i128 > i128::from(int) {
        floor = floor.next_down();
    }
    of_floor(floor, (i128::from(int) - floor as i128) as u16)
}

fn of_floor(floor: f64, above: u16) -> Vec<u8> {
    let bits = match floor {
        _ if floor.is_nan() => 0,
        _ if floor == 0.0 => 1 << 63,
        _ if floor < 0.0 => !floor.to_bits(),
        _ => floor.to_bits() | 1 << 63,
    };
    let mut bytes = vec![4];
    bytes.extend(highest_first(bits));
    if floor.abs() >= 2.0_f64.powi(53) {
        bytes.extend(&highest_first(u64::from(above))[6..]);
    }
    bytes
}

fn highest_first(number: u64) -> [u8; 8] {
    let mut bytes = number.to_le_bytes();
    bytes.reverse();
    bytes
}

fn escaped(kind: u8, bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![kind];
    for byte in bytes {
        out.push(*byte);
        out.extend((*byte == 0).then_some(0xff));
    }
    out.extend([0, 0]);
    out
}

/// A name as CBOR encodes it (E-2.1): its length, in the shortest head, and its bytes.
fn encoded_name(name: &str) -> Vec<u8> {
    let len = name.len() as u64;
    let be = highest_first(len);
    let mut out = match len {
        0..24 => vec![0x60 | be[7]],
        24..0x100 => vec![0x78, be[7]],
        0x100..0x1_0000 => [&[0x79], &be[6..]].concat(),
        0x1_0000..0x1_0000_0000 => [&[0x7a], &be[4..]].concat(),
        _ => [&[0x7b], &be[..]].concat(),
    };
    out.extend(name.as_bytes());
    out
}
