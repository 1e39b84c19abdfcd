//! From values to order keys. spec: E-5.

use super::number::{MARK_OF_INT, Rank, mark_of_float};
use super::tag::{ARRAY, BYTES, END, ESCAPE, FALSE, NULL, OBJECT, TEXT};
use crate::document::cbor::encode as cbor;
use crate::document::node::{Node, Scalar, View};
use crate::document::{KeyRef, Value};

//= spec/encoding.md#e-5-1-order-of-order-keys
//# The bytewise order of two order keys MUST be the order of their values (V-3).
/// Appends the order key of `value`.
pub fn encode(value: &Value, out: &mut Vec<u8>) {
    encode_node(&value, out);
}

/// As [`encode`], for decoded and encoded values alike.
pub(crate) fn encode_node<'v>(node: &impl Node<'v>, out: &mut Vec<u8>) {
    encode_within(node, usize::MAX, out, &mut |_| ());
}

/// As [`encode_node`], where only the bytes up to the length `end` of `out` are wanted: beyond it may stand what is no order
/// key. Something stands beyond it exactly when the order key does not fit. Hands over the mark of each number that it
/// encodes (I-2.4).
pub(crate) fn encode_within<'v>(
    node: &impl Node<'v>,
    end: usize,
    out: &mut Vec<u8>,
    each_mark: &mut impl FnMut(u8),
) {
    match node.view() {
        View::Scalar(scalar) => {
            match scalar {
                Scalar::Int(_) => each_mark(MARK_OF_INT),
                Scalar::Float(float) => each_mark(mark_of_float(float)),
                _ => {}
            }
            encode_scalar(up_to(scalar, end.saturating_sub(out.len())), out);
        }
        View::Array(_, items) => {
            out.push(ARRAY);
            for item in items {
                if out.len() > end {
                    return;
                }
                encode_within(&item, end, out, each_mark);
            }
            out.push(END);
        }
        View::Object(_, fields) => {
            out.push(OBJECT);
            for (name, value) in fields {
                if out.len() > end {
                    return;
                }
                // Encoded names sort as objects need them to, and none begins with the end mark.
                cbor::text(out, name);
                encode_within(&value, end, out, each_mark);
            }
            out.push(END);
        }
    }
}

/// So much of a long text that its order key is longer than `len` bytes.
fn up_to(scalar: Scalar<'_>, len: usize) -> Scalar<'_> {
    match scalar {
        Scalar::Text(text) => Scalar::Text(&text[..text.len().min(len)]),
        Scalar::Bytes(bytes) => Scalar::Bytes(&bytes[..bytes.len().min(len)]),
        other => other,
    }
}

/// Appends the order key of a value without parts.
pub(crate) fn encode_scalar(scalar: Scalar<'_>, out: &mut Vec<u8>) {
    match scalar {
        Scalar::Null => out.push(NULL),
        Scalar::Bool(value) => out.push(FALSE + u8::from(value)),
        Scalar::Int(value) => Rank::of_int(value).put(out),
        Scalar::Float(value) => Rank::of_float(value).put(out),
        Scalar::Text(value) => put_escaped(out, TEXT, value),
        Scalar::Bytes(value) => put_escaped(out, BYTES, value),
    }
}

/// Appends the order key of a document's key: that of the same value.
pub fn encode_key(key: KeyRef<'_>, out: &mut Vec<u8>) {
    match key {
        KeyRef::Int(int) => Rank::of_int(int).put(out),
        KeyRef::Text(text) => put_escaped(out, TEXT, text.as_bytes()),
        KeyRef::Bytes(bytes) => put_escaped(out, BYTES, bytes),
    }
}

/// Appends what the order keys of all texts begin with that begin with `text`, and no others.
pub(crate) fn begin_text(text: &str, out: &mut Vec<u8>) {
    put_run(out, TEXT, text.as_bytes());
}

//= spec/encoding.md#e-5-1-order-of-order-keys
//# An order key MUST NOT be the beginning of another.
fn put_escaped(out: &mut Vec<u8>, tag: u8, bytes: &[u8]) {
    put_run(out, tag, bytes);
    out.extend_from_slice(&[END, END]);
}

fn put_run(out: &mut Vec<u8>, tag: u8, bytes: &[u8]) {
    out.push(tag);
    let mut rest = bytes;
    while let Some(at) = memchr::memchr(END, rest) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(&[END, ESCAPE]);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
}
