//! The total order, and the order keys that carry it out in bytes.

use std::cmp::Ordering;

use proptest::prelude::*;

use super::strategies::{floats, ints, keys, values};
use super::{hex, holding};
use crate::doc;
use crate::document::{Key, Value, order_key};
use crate::error::Error;

const TWO_53: i64 = 1 << 53;

/// Values in ascending order; those in one group stand at one place.
fn ladder() -> Vec<Vec<Value>> {
    let float = Value::Float;
    let array = |items: &[i64]| Value::from(items.to_vec());
    vec![
        vec![Value::Null],
        vec![false.into()],
        vec![true.into()],
        vec![float(f64::NAN), float(-f64::NAN)],
        vec![float(f64::NEG_INFINITY)],
        vec![float(f64::MIN)],
        vec![float(-9_223_372_036_854_777_856.0)],
        vec![i64::MIN.into(), float(-9_223_372_036_854_775_808.0)],
        vec![(i64::MIN + 1).into()],
        vec![(-TWO_53 - 2).into(), float(-9_007_199_254_740_994.0)],
        vec![(-TWO_53 - 1).into()],
        vec![(-TWO_53).into(), float(-9_007_199_254_740_992.0)],
        vec![(-2).into()],
        vec![float(-1.5)],
        vec![(-1).into(), float(-1.0)],
        vec![float(-5e-324)],
        vec![0.into(), float(0.0), float(-0.0)],
        vec![float(5e-324)],
        vec![float(0.5)],
        vec![1.into(), float(1.0)],
        vec![float(1.5)],
        vec![TWO_53.into(), float(9_007_199_254_740_992.0)],
        vec![(TWO_53 + 1).into()],
        vec![(TWO_53 + 2).into(), float(9_007_199_254_740_994.0)],
        vec![(i64::MAX - 1).into()],
        vec![i64::MAX.into()],
        vec![float(9_223_372_036_854_775_808.0)],
        vec![float(f64::INFINITY)],
        vec!["".into()],
        vec!["\0".into()],
        vec!["\0a".into()],
        vec!["\u{1}".into()],
        vec!["a".into()],
        vec!["a\0".into()],
        vec!["aa".into()],
        vec!["b".into()],
        vec!["\u{ffff}".into()],
        vec!["\u{10000}".into()],
        vec![Value::Bytes(vec![])],
        vec![Value::Bytes(vec![0])],
        vec![Value::Bytes(vec![0, 255])],
        vec![Value::Bytes(vec![255])],
        vec![array(&[])],
        vec![Value::Array(vec![Value::Null])],
        vec![array(&[1])],
        vec![array(&[1, 2])],
        vec![array(&[2])],
        vec![Value::Array(vec!["a".into(), 1.into()])],
        vec![Value::Array(vec!["a\0".into()])],
        vec![Value::Array(vec![array(&[])])],
        vec![doc! {}.into()],
        vec![doc! { "a": 1 }.into(), doc! { "a": 1.0 }.into()],
        vec![doc! { "a": 1, "b": 0 }.into()],
        vec![doc! { "a": 2 }.into()],
        vec![doc! { "b": null }.into()],
        vec![doc! { "aa": null }.into()],
        vec![doc! { "aa": {} }.into()],
    ]
}

fn order_key_of(value: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    order_key::encode(value, &mut bytes);
    bytes
}

//= spec/values.md#v-3-1-order-of-types
//= type=test
//# Values of different types MUST be ordered null < bool < number < text < byte string < array < object.
//= spec/values.md#v-3-2-order-of-bools
//= type=test
//# false MUST come before true.
//= spec/values.md#v-3-3-order-of-numbers
//= type=test
//# NaN MUST come before all other numbers, negative infinity included.
//= spec/values.md#v-3-3-order-of-numbers
//= type=test
//# -0.0, 0.0 and the int 0 MUST stand at the same place.
//= spec/values.md#v-3-4-order-of-text-and-byte-strings
//= type=test
//# Texts MUST be ordered by their UTF-8 bytes, and byte strings by their bytes: the first byte that differs
//# decides, and a beginning comes before what it is the beginning of.
//= spec/values.md#v-3-5-order-of-arrays
//= type=test
//# Arrays MUST be ordered by their first items that do not stand at the same place; where there are none
//# such, the shorter array comes first.
//= spec/values.md#v-3-6-order-of-objects
//= type=test
//# Two fields MUST be ordered by their names in name order, and fields of one name by their values.
//= spec/values.md#v-3-6-order-of-objects
//= type=test
//# Objects MUST be ordered by their first fields that do not stand at the same place; where there are none
//# such, the object of fewer fields comes first.
#[test]
fn the_ladder_ascends() {
    let ladder = ladder();
    for (i, low) in ladder.iter().enumerate() {
        for (j, high) in ladder.iter().enumerate() {
            for (a, b) in low.iter().flat_map(|a| high.iter().map(move |b| (a, b))) {
                assert_eq!(a.order_cmp(b), i.cmp(&j), "{a:?} and {b:?}");
                assert_eq!(order_key_of(a).cmp(&order_key_of(b)), i.cmp(&j), "keys of {a:?} and {b:?}");
            }
        }
    }
}

// spec: E-5.1, E-5.2, E-5.3, E-5.4, E-5.5
#[test]
fn order_keys_have_the_bytes_that_the_table_says() {
    for (value, digits) in [
        (Value::Null, "01"),
        (false.into(), "02"),
        (true.into(), "03"),
        (0.into(), "04 8000000000000000"),
        ((-0.0).into(), "04 8000000000000000"),
        (1.0.into(), "04 bff0000000000000"),
        ((-1).into(), "04 400fffffffffffff"),
        (f64::NAN.into(), "04 0000000000000000"),
        ((TWO_53 + 1).into(), "04 c340000000000000 0001"),
        (i64::MAX.into(), "04 c3dfffffffffffff 03ff"),
        ((-TWO_53 - 1).into(), "04 3cbffffffffffffe 0001"),
        ("a\0b".into(), "05 61 00ff 62 0000"),
        (vec![1u8].into(), "06 01 0000"),
        (Value::Array(vec![Value::Null, true.into()]), "07 01 03 00"),
        (doc! { "b": null, "aa": false }.into(), "08 6162 01 626161 02 00"),
    ] {
        assert_eq!(order_key_of(&value), hex(digits), "{value:?}");
    }
}

//= spec/encoding.md#e-5-6-keys-from-order-keys
//= type=test
//# A reader MUST refuse bytes that are not the order key of a key.
#[test]
fn what_is_no_order_key_of_a_key_is_refused() {
    let text = "x".repeat(1025);
    for digits in [
        "",
        "01",
        "04",
        "04 0000000000000000",
        "04 bff8000000000000",
        "04 c340000000000000",
        "04 c340000000000000 0002",
        "04 c3e0000000000000 0000",
        "04 7fffffffffffffff",
        "05",
        "05 61",
        "05 61 00",
        "05 61 0001",
        "05 ff 0000",
        "07 00",
    ] {
        assert!(matches!(order_key::decode_key(&hex(digits)), Err(Error::Decode { .. })), "{digits}");
    }
    let too_long = order_key_of(&text.as_str().into());
    assert!(matches!(order_key::decode_key(&too_long), Err(Error::KeyTooLong { .. })));
}

/// `int` against `float` by integers alone: both times 2^1074, as far as that takes.
fn exact_cmp(int: i64, float: f64) -> Ordering {
    let floor = float.floor();
    match (floor as i128).cmp(&i128::from(int)) {
        Ordering::Equal if float > floor => Ordering::Less,
        order => order.reverse(),
    }
}

proptest! {
    //= spec/values.md#v-3-3-order-of-numbers
    //= type=test
    //# Numbers other than NaN MUST be ordered by their exact mathematical value, whether they are ints or
    //# floats.
    //= spec/values.md#v-3-3-order-of-numbers
    //= type=test
    //# An int MUST NOT be rounded to a float to be compared.
    #[test]
    fn ints_and_floats_compare_by_exact_value(int in ints(), float in floats()) {
        prop_assume!(!float.is_nan());
        prop_assert_eq!(Value::Int(int).order_cmp(&Value::Float(float)), exact_cmp(int, float));
        let close = Value::Float(int as f64);
        prop_assert_eq!(Value::Int(int).order_cmp(&close), exact_cmp(int, int as f64));
    }

    //= spec/encoding.md#e-5-1-order-of-order-keys
    //= type=test
    //# The bytewise order of two order keys MUST be the order of their values (V-3).
    #[test]
    fn order_keys_compare_as_their_values_do(a in values(), b in values()) {
        prop_assert_eq!(order_key_of(&a).cmp(&order_key_of(&b)), a.order_cmp(&b));
    }

    // spec: E-5.1
    #[test]
    fn order_keys_of_close_values_compare_as_their_values_do(a in values(), b in values()) {
        // The same up to the value in question, so that it decides.
        let (a, b) = (Value::Array(vec![1.into(), a.clone(), a]), Value::Array(vec![1.into(), b.clone(), b]));
        prop_assert_eq!(order_key_of(&a).cmp(&order_key_of(&b)), a.order_cmp(&b));
        let (a, b) = (Value::Object(holding(a)), Value::Object(holding(b)));
        prop_assert_eq!(order_key_of(&a).cmp(&order_key_of(&b)), a.order_cmp(&b));
    }

    //= spec/encoding.md#e-5-1-order-of-order-keys
    //= type=test
    //# An order key MUST NOT be the beginning of another.
    #[test]
    fn no_order_key_is_the_beginning_of_another(a in values(), b in values()) {
        let (a_key, b_key) = (order_key_of(&a), order_key_of(&b));
        prop_assert_eq!(b_key.starts_with(&a_key) || a_key.starts_with(&b_key), a.order_cmp(&b).is_eq());
    }

    // spec: V-3.1, V-3.7
    #[test]
    fn the_order_is_total_and_transitive(a in values(), b in values(), c in values()) {
        prop_assert_eq!(a.order_cmp(&b), b.order_cmp(&a).reverse());
        prop_assert_eq!(a.order_cmp(&a), Ordering::Equal);
        if a.order_cmp(&b).is_le() && b.order_cmp(&c).is_le() {
            prop_assert!(a.order_cmp(&c).is_le());
        }
        if a == b {
            prop_assert!(a.order_cmp(&b).is_eq());
        }
    }

    // spec: E-5.6
    #[test]
    fn a_key_comes_back_from_its_order_key(key in keys(), behind in any::<[u8; 2]>()) {
        prop_assume!(key.as_ref().check_len().is_ok());
        let mut bytes = Vec::new();
        order_key::encode_key(key.as_ref(), &mut bytes);
        prop_assert_eq!(&bytes, &order_key_of(&key.clone().into()));
        let len = bytes.len();
        bytes.extend_from_slice(&behind);
        prop_assert_eq!(order_key::decode_key(&bytes).expect("a key"), (key, len));
    }

    //= spec/encoding.md#e-5-6-keys-from-order-keys
    //= type=test
    //# A reader MUST refuse bytes that are not the order key of a key.
    #[test]
    fn a_key_is_read_from_no_other_order_key(key in keys(), at in any::<prop::sample::Index>(), flip in 1u8..) {
        let mut bytes = Vec::new();
        order_key::encode_key(key.as_ref(), &mut bytes);
        let at = at.index(bytes.len());
        bytes[at] ^= flip;
        if let Ok((other, len)) = order_key::decode_key(&bytes) {
            let mut again = Vec::new();
            order_key::encode_key(Key::as_ref(&other), &mut again);
            prop_assert_eq!(&again[..], &bytes[..len]);
        }
    }
}
