//! The total preorder over values, written naively from `spec/values.md`.

use std::cmp::Ordering;

use crate::value::{Document, Value};

impl Value {
    /// Compares in the one order of values: null < bool < number < text < bytes < array < object.
    ///
    /// Numbers compare by their exact mathematical value, with NaN below all others. So values that are equal here may differ
    /// under `==`: `1` and `1.0`, `0.0` and `-0.0`.
    pub fn order_cmp(&self, other: &Value) -> Ordering {
        match (self, other) {
            (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
            (Value::Int(a), Value::Int(b)) => a.cmp(b),
            (Value::Int(a), Value::Float(b)) => int_float_cmp(*a, *b),
            (Value::Float(a), Value::Int(b)) => int_float_cmp(*b, *a).reverse(),
            (Value::Float(a), Value::Float(b)) => float_cmp(*a, *b),
            (Value::Text(a), Value::Text(b)) => a.as_bytes().cmp(b.as_bytes()),
            (Value::Bytes(a), Value::Bytes(b)) => a.cmp(b),
            (Value::Array(a), Value::Array(b)) => sequence_cmp(a, b, Value::order_cmp),
            (Value::Object(a), Value::Object(b)) => object_cmp(a, b),
            _ => rank(self).cmp(&rank(other)),
        }
    }
}

//= spec/values.md#v-3-1-order-of-types
//# Values of different types MUST be ordered null < bool < number < text < byte string < array < object.
/// The place of a value's kind among the kinds.
fn rank(value: &Value) -> u8 {
    match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Int(_) | Value::Float(_) => 2,
        Value::Text(_) => 3,
        Value::Bytes(_) => 4,
        Value::Array(_) => 5,
        Value::Object(_) => 6,
    }
}

fn float_cmp(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| b.is_nan().cmp(&a.is_nan()))
}

/// Compares without rounding: a float beyond the range of `i64` is decided by its sign, any other by its whole part, which an
/// `i64` holds exactly, and then by its fraction.
fn int_float_cmp(int: i64, float: f64) -> Ordering {
    const BEYOND_MAX: f64 = 9_223_372_036_854_775_808.0;
    if float.is_nan() || float < -BEYOND_MAX {
        return Ordering::Greater;
    }
    if float >= BEYOND_MAX {
        return Ordering::Less;
    }
    let whole = float.trunc();
    int.cmp(&(whole as i64)).then_with(|| float_cmp(whole, float))
}

fn sequence_cmp<T>(a: &[T], b: &[T], compare: impl Fn(&T, &T) -> Ordering) -> Ordering {
    let first_difference = a.iter().zip(b).map(|(a, b)| compare(a, b)).find(|ordering| ordering.is_ne());
    first_difference.unwrap_or_else(|| a.len().cmp(&b.len()))
}

/// Objects are sequences of their fields in the order of the encoded names, in which a shorter name comes first.
fn object_cmp(a: &Document, b: &Document) -> Ordering {
    let fields = |document: &Document| {
        let mut fields: Vec<(String, Value)> = document.clone().into_iter().collect();
        fields.sort_by(|(a, _), (b, _)| encoded_name_cmp(a, b));
        fields
    };
    sequence_cmp(&fields(a), &fields(b), |a, b| {
        encoded_name_cmp(&a.0, &b.0).then_with(|| a.1.order_cmp(&b.1))
    })
}

fn encoded_name_cmp(a: &str, b: &str) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.as_bytes().cmp(b.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
        Value::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// Values in ascending order; those in one row are equal in it.
    fn ladder() -> Vec<Vec<Value>> {
        let int = Value::Int;
        let float = Value::Float;
        vec![
            vec![Value::Null],
            vec![Value::Bool(false)],
            vec![Value::Bool(true)],
            vec![float(f64::NAN), float(-f64::NAN)],
            vec![float(f64::NEG_INFINITY)],
            vec![float(-1e300)],
            vec![int(i64::MIN), float(-9_223_372_036_854_775_808.0)],
            vec![int(i64::MIN + 1)],
            vec![int(-2), float(-2.0)],
            vec![float(-1.5)],
            vec![int(-1), float(-1.0)],
            vec![float(-0.5)],
            vec![int(0), float(0.0), float(-0.0)],
            vec![float(f64::MIN_POSITIVE)],
            vec![int(1), float(1.0)],
            vec![int(9_007_199_254_740_992), float(9_007_199_254_740_992.0)],
            vec![int(9_007_199_254_740_993)],
            vec![int(i64::MAX)],
            vec![float(9_223_372_036_854_775_808.0)],
            vec![float(f64::INFINITY)],
            vec![Value::from("")],
            vec![Value::from("a")],
            vec![Value::from("aa")],
            vec![Value::from("b")],
            vec![Value::from("é")],
            vec![Value::Bytes(vec![])],
            vec![Value::Bytes(vec![0, 255])],
            vec![Value::Bytes(vec![1])],
            vec![Value::Array(vec![])],
            vec![Value::Array(vec![int(1)]), Value::Array(vec![float(1.0)])],
            vec![Value::Array(vec![int(1), Value::Null])],
            vec![Value::Array(vec![int(2)])],
            vec![object([])],
            vec![object([("a", int(1))]), object([("a", float(1.0))])],
            vec![object([("a", int(1)), ("b", int(1))])],
            vec![object([("a", int(2))])],
            vec![object([("b", int(0)), ("aa", int(9))])],
            vec![object([("b", int(1))])],
            vec![object([("aa", int(0))])],
        ]
    }

    //= spec/values.md#v-3-1-order-of-types
    //= type=test
    //# Values of different types MUST be ordered null < bool < number < text < byte string < array < object.
    #[test]
    fn the_ladder_stands_in_the_order() {
        let ladder = ladder();
        for (i, lower) in ladder.iter().enumerate() {
            for (j, upper) in ladder.iter().enumerate() {
                for (a, b) in lower.iter().flat_map(|a| upper.iter().map(move |b| (a, b))) {
                    assert_eq!(a.order_cmp(b), i.cmp(&j), "{a:?} against {b:?}");
                }
            }
        }
    }
}
