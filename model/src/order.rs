//! The order of values (`spec/values.md`, V-3), as a declaration.
//!
//! [`Place`] says where a value stands. It is made only to be compared, and every rule of V-3 is the
//! order in which a type below lists its variants or fields: the compiler derives the comparison.

use std::cmp::{Ordering, Reverse};

use crate::value::{Document, Value};

impl Value {
    /// Compares the places of two values in the one order over all values. `Equal` means the same
    /// place, which values that differ may share: `1` and `1.0` do.
    pub fn order_cmp(&self, other: &Value) -> Ordering {
        Place::of(self).cmp(&Place::of(other))
    }
}

//= spec/values.md#v-3-1-order-of-types
//# Values of different types MUST be ordered null < bool < number < text < byte string < array < object.
//= spec/values.md#v-3-2-order-of-bools
//# false MUST come before true.
//= spec/values.md#v-3-4-order-of-text-and-byte-strings
//# Texts MUST be ordered by their UTF-8 bytes, and byte strings by their bytes: the first byte that differs decides, and a beginning comes
//# before what it is the beginning of.
//= spec/values.md#v-3-5-order-of-arrays
//# Arrays MUST be ordered by their first items that do not stand at the same place; where there are none such, the shorter array comes first.
//= spec/values.md#v-3-6-order-of-objects
//# Objects MUST be ordered by their first fields that do not stand at the same place; where there are none such, the object of fewer fields
//# comes first.
/// Where a value stands. A slice or a `Vec` compares item by item, and a shorter one that is a
/// beginning of the other comes first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Place<'v> {
    Null,
    Bool(bool),
    Number(Number),
    Text(&'v [u8]),
    Bytes(&'v [u8]),
    Array(Vec<Place<'v>>),
    Object(Vec<Field<'v>>),
}

//= spec/values.md#v-3-6-order-of-objects
//# Two fields MUST be ordered by their names in name order, and fields of one name by their values.
/// A field: name order is by length first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Field<'v> {
    name_len: usize,
    name: &'v [u8],
    value: Place<'v>,
}

//= spec/values.md#v-3-3-order-of-numbers
//# NaN MUST come before all other numbers, negative infinity included.
//= spec/values.md#v-3-3-order-of-numbers
//# -0.0, 0.0 and the int 0 MUST stand at the same place.
/// A number by its exact mathematical value. Below zero the larger magnitude comes first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Number {
    Nan,
    Negative(Reverse<Magnitude>),
    Zero,
    Positive(Magnitude),
}

//= spec/values.md#v-3-3-order-of-numbers
//# An int MUST NOT be rounded to a float to be compared.
/// How far a number is from zero: `digits` * 2^(`power` - 63), where the highest bit of `digits` is
/// set. Each int and each finite float other than zero has exactly one such form.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Magnitude {
    /// The power of two of the highest bit. An infinity is above all of them.
    power: i32,
    digits: u64,
}

impl<'v> Place<'v> {
    fn of(value: &'v Value) -> Self {
        match value {
            Value::Null => Place::Null,
            Value::Bool(bool) => Place::Bool(*bool),
            Value::Int(int) => Place::Number(Number::of_int(*int)),
            Value::Float(float) => Place::Number(Number::of_float(*float)),
            Value::Text(text) => Place::Text(text.as_bytes()),
            Value::Bytes(bytes) => Place::Bytes(bytes),
            Value::Array(items) => Place::Array(items.iter().map(Place::of).collect()),
            Value::Object(fields) => Place::Object(Field::all_of(fields)),
        }
    }
}

impl<'v> Field<'v> {
    /// The fields of an object in name order.
    fn all_of(object: &'v Document) -> Vec<Self> {
        let field = |(name, value): (&'v String, &'v Value)| Field {
            name_len: name.len(),
            name: name.as_bytes(),
            value: Place::of(value),
        };
        let mut fields: Vec<_> = object.iter().map(field).collect();
        fields.sort();
        fields
    }
}

//= spec/values.md#v-3-3-order-of-numbers
//# Numbers other than NaN MUST be ordered by their exact mathematical value, whether they are ints or floats.
impl Number {
    fn of_int(int: i64) -> Self {
        Number::signed(int.is_negative(), Magnitude::of(int.unsigned_abs(), 0))
    }

    /// From the fields of a binary64: sign, 11 bits of exponent, 52 bits of fraction.
    fn of_float(float: f64) -> Self {
        const FRACTION_BITS: u32 = 52;
        const EXPONENT_MAX: u64 = 0x7ff;
        let bits = float.to_bits();
        let fraction = bits & ((1 << FRACTION_BITS) - 1);
        let magnitude = match (bits >> FRACTION_BITS) & EXPONENT_MAX {
            EXPONENT_MAX if fraction != 0 => return Number::Nan,
            EXPONENT_MAX => Some(Magnitude { power: i32::MAX, digits: 0 }),
            // Zero, or a subnormal number: the fraction counts in units of 2^-1074.
            0 => Magnitude::of(fraction, -1074),
            exponent => Magnitude::of(fraction | 1 << FRACTION_BITS, exponent as i32 - 1075),
        };
        Number::signed(float.is_sign_negative(), magnitude)
    }

    fn signed(is_negative: bool, magnitude: Option<Magnitude>) -> Self {
        match magnitude {
            None => Number::Zero,
            Some(magnitude) if is_negative => Number::Negative(Reverse(magnitude)),
            Some(magnitude) => Number::Positive(magnitude),
        }
    }
}

impl Magnitude {
    /// `count` * 2^`exponent`; `None` for zero.
    fn of(count: u64, exponent: i32) -> Option<Self> {
        let unused = count.leading_zeros();
        (count != 0).then(|| Magnitude { power: exponent + 63 - unused as i32, digits: count << unused })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array<const N: usize>(items: [i64; N]) -> Value {
        Value::Array(items.map(Value::Int).to_vec())
    }

    fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
        Value::Object(fields.map(|(name, value)| (name.to_owned(), value)).into())
    }

    /// Each of `rising` comes after all that stand before it in the list.
    fn assert_rising(rising: &[Value]) {
        for (i, a) in rising.iter().enumerate() {
            for (j, b) in rising.iter().enumerate() {
                assert_eq!(a.order_cmp(b), i.cmp(&j), "{a:?} and {b:?}");
            }
        }
    }

    //= spec/values.md#v-3-1-order-of-types
    //= type=test
    //# Values of different types MUST be ordered null < bool < number < text < byte string < array < object.
    //= spec/values.md#v-3-2-order-of-bools
    //= type=test
    //# false MUST come before true.
    #[test]
    fn a_type_comes_before_the_next_whatever_the_values() {
        assert_rising(&[
            Value::Null,
            Value::Bool(false),
            Value::Bool(true),
            Value::Float(f64::NAN),
            Value::Float(f64::INFINITY),
            Value::from(""),
            Value::from("\u{10ffff}"),
            Value::Bytes(vec![]),
            Value::Bytes(vec![0xff; 9]),
            array([]),
            array([i64::MAX, i64::MAX]),
            object([]),
            object([("a", Value::Null)]),
        ]);
    }

    //= spec/values.md#v-3-3-order-of-numbers
    //= type=test
    //# Numbers other than NaN MUST be ordered by their exact mathematical value, whether they are ints or floats.
    //= spec/values.md#v-3-3-order-of-numbers
    //= type=test
    //# An int MUST NOT be rounded to a float to be compared.
    //= spec/values.md#v-3-3-order-of-numbers
    //= type=test
    //# NaN MUST come before all other numbers, negative infinity included.
    #[test]
    fn numbers_rise_by_exact_value() {
        let two_to_63 = 9_223_372_036_854_775_808.0;
        let two_to_53 = 1_i64 << 53;
        assert_rising(&[
            Value::Float(f64::NAN),
            Value::Float(f64::NEG_INFINITY),
            Value::Float(f64::MIN),
            Value::Float(-two_to_63 * (1.0 + f64::EPSILON)),
            Value::Int(i64::MIN),
            Value::Int(i64::MIN + 1),
            Value::Float(-1.5),
            Value::Int(-1),
            Value::Float(-0.5),
            Value::Float(-f64::MIN_POSITIVE),
            Value::Float(-f64::from_bits(1)),
            Value::Int(0),
            Value::Float(f64::from_bits(1)),
            Value::Float(f64::from_bits(2)),
            Value::Float(f64::MIN_POSITIVE),
            Value::Float(0.1),
            Value::Int(1),
            Value::Float(1.0 + f64::EPSILON),
            Value::Int(2),
            Value::Int(two_to_53 - 1),
            Value::Float(two_to_53 as f64),
            Value::Int(two_to_53 + 1),
            Value::Float((two_to_53 + 2) as f64),
            Value::Int(i64::MAX),
            Value::Float(two_to_63),
            Value::Float(f64::MAX),
            Value::Float(f64::INFINITY),
        ]);
    }

    //= spec/values.md#v-3-3-order-of-numbers
    //= type=test
    //# -0.0, 0.0 and the int 0 MUST stand at the same place.
    #[test]
    fn an_int_and_a_float_of_one_value_share_a_place() {
        let pairs = [
            (0, 0.0),
            (0, -0.0),
            (1, 1.0),
            (-3, -3.0),
            (i64::MIN, i64::MIN as f64),
            (1 << 53, 2f64.powi(53)),
        ];
        for (int, float) in pairs {
            assert_eq!(Value::Int(int).order_cmp(&Value::Float(float)), Ordering::Equal, "{int}");
        }
        let payload = Value::Float(f64::from_bits(f64::NAN.to_bits() | 1));
        assert_eq!(payload.order_cmp(&Value::Float(-f64::NAN)), Ordering::Equal);
    }

    //= spec/values.md#v-3-4-order-of-text-and-byte-strings
    //= type=test
    //# Texts MUST be ordered by their UTF-8 bytes, and byte strings by their bytes: the first byte that differs decides, and a beginning comes
    //# before what it is the beginning of.
    #[test]
    fn texts_and_byte_strings_rise_byte_by_byte() {
        assert_rising(&["", "B", "a", "a\0", "aa", "b", "é", "\u{ffff}", "😀"].map(Value::from));
        assert_rising(
            &[&b""[..], b"\x00", b"\x00\x00", b"\x7f", b"\x80", b"\xff"].map(|b| Value::Bytes(b.to_vec())),
        );
    }

    //= spec/values.md#v-3-5-order-of-arrays
    //= type=test
    //# Arrays MUST be ordered by their first items that do not stand at the same place; where there are none such, the shorter array comes first.
    #[test]
    fn arrays_rise_item_by_item() {
        let nested = Value::Array(vec![array([])]);
        assert_rising(&[
            array([]),
            array([1]),
            array([1, 5]),
            array([1, 5, -9]),
            array([1, 6]),
            array([2]),
            nested,
        ]);
        let floats = Value::Array(vec![Value::Float(1.0), Value::Int(5)]);
        assert_eq!(floats.order_cmp(&array([1, 5])), Ordering::Equal);
    }

    //= spec/values.md#v-3-6-order-of-objects
    //= type=test
    //# Two fields MUST be ordered by their names in name order, and fields of one name by their values.
    //= spec/values.md#v-3-6-order-of-objects
    //= type=test
    //# Objects MUST be ordered by their first fields that do not stand at the same place; where there are none such, the object of fewer fields
    //# comes first.
    #[test]
    fn objects_rise_field_by_field_and_short_names_come_first() {
        let one = || Value::Int(1);
        assert_rising(&[
            object([]),
            object([("", one())]),
            object([("b", Value::Null)]),
            object([("b", one())]),
            object([("aa", one()), ("b", one())]),
            object([("b", Value::Int(2))]),
            object([("é", Value::Null)]),
            object([("aaa", Value::Null)]),
        ]);
        // Two bytes, although one character: after "b", and "aa" comes first among names of two bytes.
        assert_rising(&[object([("aa", one())]), object([("é", one())]), object([("aaa", one())])]);
        let same = object([("b", Value::Float(1.0))]);
        assert_eq!(object([("b", one())]).order_cmp(&same), Ordering::Equal);
    }
}
