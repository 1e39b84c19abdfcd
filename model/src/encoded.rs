//! How long a document is when encoded, which is what its limit is about (spec: S-2.4).

use crate::value::{Document, Value};

/// Bytes of the document in deterministic CBOR.
pub(crate) fn document_len(document: &Document) -> usize {
    let fields: usize = document.iter().map(|(name, value)| text_len(name) + value_len(value)).sum();
    head_len(document.len() as u64) + fields
}

pub(crate) fn value_len(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 1,
        // A negative n is stored as -1 - n, which is its complement.
        Value::Int(int) => head_len(if *int < 0 { !*int } else { *int }.unsigned_abs()),
        Value::Float(float) => float_len(*float),
        Value::Text(text) => text_len(text),
        Value::Bytes(bytes) => head_len(bytes.len() as u64) + bytes.len(),
        Value::Array(items) => head_len(items.len() as u64) + items.iter().map(value_len).sum::<usize>(),
        Value::Object(fields) => document_len(fields),
    }
}

fn text_len(text: &str) -> usize {
    head_len(text.len() as u64) + text.len()
}

/// Bytes of the shortest head with this argument.
fn head_len(argument: u64) -> usize {
    match argument {
        0..24 => 1,
        24..0x100 => 2,
        0x100..0x1_0000 => 3,
        0x1_0000..0x1_0000_0000 => 5,
        _ => 9,
    }
}

/// Bytes of the shortest float that keeps the value.
fn float_len(float: f64) -> usize {
    if fits_half(float) {
        3
    } else if f64::from(float as f32) == float {
        5
    } else {
        9
    }
}

/// Whether a float of 16 bits holds the value: a multiple of 2^-24 up to 65,504, of at most 11 significant bits.
fn fits_half(float: f64) -> bool {
    if float.is_nan() || float.is_infinite() || float == 0.0 {
        return true;
    }
    let units = float.abs() * f64::from(1 << 24);
    if float.abs() > 65_504.0 || units.fract() != 0.0 {
        return false;
    }
    let units = units as u64;
    units >> units.trailing_zeros() < 1 << 11
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_those_of_the_worked_examples_of_the_rfc() {
        let lengths = |values: &[(Value, usize)]| {
            for (value, len) in values {
                assert_eq!(value_len(value), *len, "{value:?}");
            }
        };
        lengths(
            &[
                (0, 1),
                (23, 1),
                (24, 2),
                (255, 2),
                (256, 3),
                (1_000_000, 5),
                (-1, 1),
                (-24, 1),
                (-25, 2),
                (-1000, 3),
            ]
            .map(|(int, len)| (Value::Int(int), len)),
        );
        lengths(&[(Value::Int(1_000_000_000_000), 9), (Value::Int(i64::MIN), 9), (Value::Int(i64::MAX), 9)]);
        lengths(
            &[0.0, -0.0, 1.0, 1.5, 65_504.0, 5.960_464_477_539_063e-8, 0.000_061_035_156_25, -4.0, f64::NAN]
                .map(|float| (Value::Float(float), 3)),
        );
        lengths(&[100_000.0, 3.402_823_466_385_288_6e38].map(|float| (Value::Float(float), 5)));
        lengths(&[1.1, 1.0e300, -4.1].map(|float| (Value::Float(float), 9)));
        lengths(&[(Value::from("IETF"), 5), (Value::from("水"), 4), (Value::Bytes(vec![1, 2, 3, 4]), 5)]);
        lengths(&[(Value::Array((1..=25).map(Value::Int).collect()), 29)]);
    }

    #[test]
    fn a_document_is_its_head_its_names_and_its_values() {
        let document =
            Document::from([("a".to_owned(), Value::Int(1)), ("b".to_owned(), Value::Array(vec![]))]);
        assert_eq!(document_len(&document), 1 + 2 + 1 + 2 + 1);
    }
}
