//! The room against examples put together by hand, and against itself: each way through it must agree with every other.

mod cbor;
mod json;
mod json_stream;
mod keys;
mod limits;
mod macros;
mod order;
mod pointer;
mod raw;
mod rfc8949;
mod serde;
pub(crate) mod strategies;
mod values;

use super::{Document, Value};

/// The bytes that pairs of hexadecimal digits stand for; white space sets parts apart.
fn hex(digits: &str) -> Vec<u8> {
    let digits: Vec<u8> =
        digits.chars().filter_map(|digit| digit.to_digit(16)).map(|digit| digit as u8).collect();
    assert!(digits.len().is_multiple_of(2), "two digits a byte");
    digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// A document of one field, `v`.
fn holding(value: impl Into<Value>) -> Document {
    Document::from([("v", value.into())])
}

/// The bytes of a document of one field, `v`, whose value has these bytes.
fn holding_bytes(value: &[u8]) -> Vec<u8> {
    [b"\xa1\x61v", value].concat()
}

/// A document of `levels` levels: objects in each other.
fn nested(levels: usize) -> Document {
    (1..levels).fold(Document::new(), |inner, _| holding(inner))
}
