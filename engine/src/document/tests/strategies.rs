//! Arbitrary values, keys and documents, thick where the encodings have their edges.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::document::{Document, Key, Text, Value};

pub(crate) fn ints() -> impl Strategy<Value = i64> {
    // Around each power of two, where heads grow and floats stop telling ints apart.
    let near_powers = (0u32..64, -3i128..=3, any::<bool>()).prop_map(|(power, offset, negative)| {
        let near = (1i128 << power) + offset;
        let signed = if negative { -near } else { near };
        signed.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
    });
    prop_oneof![-30i64..300, near_powers, any::<i64>()]
}

pub(crate) fn floats() -> impl Strategy<Value = f64> {
    let halves = any::<u16>().prop_map(|bits| {
        let magnitude = f64::from(bits & 0x7fff) * 2f64.powi(-20);
        if bits >> 15 == 1 { -magnitude } else { magnitude }
    });
    let edges = prop::sample::select(vec![
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        0.0,
        -0.0,
        f64::MIN_POSITIVE,
        5e-324,
        f64::MAX,
        65_504.0,
        65_505.0,
        2f64.powi(-24),
        2f64.powi(-25),
        2f64.powi(-14),
    ]);
    prop_oneof![
        edges,
        halves,
        ints().prop_map(|int| int as f64),
        any::<f32>().prop_map(f64::from),
        any::<u64>().prop_map(f64::from_bits),
    ]
}

pub(crate) fn texts() -> impl Strategy<Value = String> {
    prop_oneof![4 => "[a-c\0]{0,3}", 2 => "[a-z$.\"\\\\\n\u{1}é水😀]{0,30}", 1 => "\\PC{0,300}"]
}

fn names() -> impl Strategy<Value = Text> {
    let wrappers = prop::sample::select(vec![
        "$literal",
        "$binary",
        "$numberInt",
        "$numberLong",
        "$numberDouble",
        "base64",
        "subType",
    ]);
    prop_oneof![4 => texts().prop_map(Text::from), 1 => wrappers.prop_map(Text::from)]
}

pub(crate) fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![vec(0u8..3, 0..4), vec(any::<u8>(), 0..40)]
}

pub(crate) fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::Bool),
        3 => ints().prop_map(Value::Int),
        3 => floats().prop_map(Value::Float),
        3 => texts().prop_map(Value::from),
        1 => bytes().prop_map(Value::Bytes),
        // What looks like the content of a wrapper.
        1 => prop::sample::select(vec!["5", "-5", "NaN", "1.5", "00", "AQI=", ""]).prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::Array),
            vec((names(), inner), 0..4).prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

pub(crate) fn documents() -> impl Strategy<Value = Document> {
    vec((names(), values()), 0..6).prop_map(|fields| fields.into_iter().collect())
}

pub(crate) fn keys() -> impl Strategy<Value = Key> {
    prop_oneof![ints().prop_map(Key::from), texts().prop_map(Key::from), bytes().prop_map(Key::from)]
}

/// The bytes of a document, with a few of them changed, taken out or put in.
pub(crate) fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let edits = vec((any::<prop::sample::Index>(), 0u8..3, any::<u8>()), 0..4);
    (documents(), edits).prop_map(|(document, edits)| {
        let mut bytes = document.encode();
        for (index, edit, byte) in edits {
            match edit {
                0 => bytes.insert(index.index(bytes.len() + 1), byte),
                1 if !bytes.is_empty() => _ = bytes.remove(index.index(bytes.len())),
                _ if !bytes.is_empty() => {
                    let at = index.index(bytes.len());
                    bytes[at] ^= byte;
                }
                _ => {}
            }
        }
        bytes
    })
}
