//! The one order of all values. spec: V-3.

use std::cmp::Ordering;

use super::Value;
use super::map::key_cmp;
use super::node::{Node, Scalar, View};

impl Value {
    //= spec/values.md#v-3-2-order-of-bools
    //# false MUST come before true.
    //= spec/values.md#v-3-4-order-of-text-and-byte-strings
    //# Texts MUST be ordered by their UTF-8 bytes, and byte strings by their bytes: the first byte that
    //# differs decides, and a beginning comes before what it is the beginning of.
    /// Where this value stands to another in the one order of all values:
    /// null < bool < number < text < bytes < array < object.
    ///
    /// Numbers go by their exact value, ints and floats alike, with NaN below them all; text and bytes bytewise; arrays item by
    /// item; objects field by field, as sequences of name and value. A preorder: `1` and `1.0` are different values at one
    /// place, and so are `0.0` and `-0.0`.
    pub fn order_cmp(&self, other: &Value) -> Ordering {
        order_cmp(&self, &other)
    }
}

/// As [`Value::order_cmp`], for decoded and encoded values alike.
pub(crate) fn order_cmp<'a, 'b>(a: &impl Node<'a>, b: &impl Node<'b>) -> Ordering {
    match (a.view(), b.view()) {
        (View::Scalar(a), View::Scalar(b)) => scalar_cmp(a, b),
        (View::Array(a_len, a), View::Array(b_len, b)) => array_cmp((a_len, a), (b_len, b)),
        (View::Object(a_len, a), View::Object(b_len, b)) => object_cmp((a_len, a), (b_len, b)),
        (a, b) => rank(&a).cmp(&rank(&b)),
    }
}

/// The order of two values without parts.
#[inline(always)]
pub(crate) fn scalar_cmp(a: Scalar<'_>, b: Scalar<'_>) -> Ordering {
    match (a, b) {
        (Scalar::Null, Scalar::Null) => Ordering::Equal,
        (Scalar::Bool(a), Scalar::Bool(b)) => a.cmp(&b),
        (Scalar::Int(a), Scalar::Int(b)) => a.cmp(&b),
        (Scalar::Float(a), Scalar::Float(b)) => float_cmp(a, b),
        (Scalar::Int(a), Scalar::Float(b)) => int_float_cmp(a, b),
        (Scalar::Float(a), Scalar::Int(b)) => int_float_cmp(b, a).reverse(),
        (Scalar::Text(a), Scalar::Text(b)) | (Scalar::Bytes(a), Scalar::Bytes(b)) => a.cmp(b),
        _ => scalar_rank(a).cmp(&scalar_rank(b)),
    }
}

//= spec/values.md#v-3-1-order-of-types
//# Values of different types MUST be ordered null < bool < number < text < byte string < array < object.
/// The place of a value's type among the types. spec: V-3.1.
fn rank<'v, N: Node<'v>>(view: &View<'v, N>) -> u8 {
    match view {
        View::Scalar(scalar) => scalar_rank(*scalar),
        View::Array(..) => 5,
        View::Object(..) => 6,
    }
}

fn scalar_rank(scalar: Scalar<'_>) -> u8 {
    match scalar {
        Scalar::Null => 0,
        Scalar::Bool(_) => 1,
        Scalar::Int(_) | Scalar::Float(_) => 2,
        Scalar::Text(_) => 3,
        Scalar::Bytes(_) => 4,
    }
}

//= spec/values.md#v-3-3-order-of-numbers
//# NaN MUST come before all other numbers, negative infinity included.
//= spec/values.md#v-3-3-order-of-numbers
//# -0.0, 0.0 and the int 0 MUST stand at the same place.
/// NaN is below all numbers, and at one place with itself; `-0.0` is at one place with `0.0`.
fn float_cmp(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| b.is_nan().cmp(&a.is_nan()))
}

//= spec/values.md#v-3-3-order-of-numbers
//# Numbers other than NaN MUST be ordered by their exact mathematical value, whether they are ints or floats.
//= spec/values.md#v-3-3-order-of-numbers
//# An int MUST NOT be rounded to a float to be compared.
/// By exact value: rounding the int to a float would put neighbours beyond 2^53 at one place.
fn int_float_cmp(int: i64, float: f64) -> Ordering {
    const ABOVE_ALL_INTS: f64 = 9_223_372_036_854_775_808.0;
    if float.is_nan() || float < -ABOVE_ALL_INTS {
        Ordering::Greater
    } else if float >= ABOVE_ALL_INTS {
        Ordering::Less
    } else {
        let whole = float.trunc();
        int.cmp(&(whole as i64)).then_with(|| float_cmp(whole, float))
    }
}

//= spec/values.md#v-3-5-order-of-arrays
//# Arrays MUST be ordered by their first items that do not stand at the same place; where there are none
//# such, the shorter array comes first.
fn array_cmp<'a, 'b>(
    (a_len, a): (usize, impl Iterator<Item = impl Node<'a>>),
    (b_len, b): (usize, impl Iterator<Item = impl Node<'b>>),
) -> Ordering {
    let items = a.zip(b).map(|(a, b)| order_cmp(&a, &b));
    first_difference(items).unwrap_or_else(|| a_len.cmp(&b_len))
}

//= spec/values.md#v-3-6-order-of-objects
//# Two fields MUST be ordered by their names in name order, and fields of one name by their values.
//= spec/values.md#v-3-6-order-of-objects
//# Objects MUST be ordered by their first fields that do not stand at the same place; where there are none
//# such, the object of fewer fields comes first.
fn object_cmp<'a, 'b>(
    (a_len, a): (usize, impl Iterator<Item = (&'a str, impl Node<'a>)>),
    (b_len, b): (usize, impl Iterator<Item = (&'b str, impl Node<'b>)>),
) -> Ordering {
    let fields = a.zip(b).map(|((a_name, a), (b_name, b))| {
        key_cmp(a_name.as_bytes(), b_name.as_bytes()).then_with(|| order_cmp(&a, &b))
    });
    first_difference(fields).unwrap_or_else(|| a_len.cmp(&b_len))
}

fn first_difference(mut orders: impl Iterator<Item = Ordering>) -> Option<Ordering> {
    orders.find(|order| order.is_ne())
}
