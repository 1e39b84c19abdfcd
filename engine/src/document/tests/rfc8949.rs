//! The worked examples of RFC 8949, Appendix A: those that our subset has, and those that it refuses.

use super::{hex, holding, holding_bytes};
use crate::document::{Document, Value, validate};
use crate::error::Error;

fn array(items: impl IntoIterator<Item = Value>) -> Value {
    items.into_iter().collect()
}

fn one_to_25() -> Value {
    (1..=25).collect()
}

fn ints(ints: impl IntoIterator<Item = i64>) -> Value {
    ints.into_iter().collect()
}

fn letters() -> Document {
    [("a", "A"), ("b", "B"), ("c", "C"), ("d", "D"), ("e", "E")].into()
}

fn accepted() -> Vec<(Value, &'static str)> {
    let float = Value::Float;
    vec![
        (0.into(), "00"),
        (1.into(), "01"),
        (10.into(), "0a"),
        (23.into(), "17"),
        (24.into(), "1818"),
        (25.into(), "1819"),
        (100.into(), "1864"),
        (1000.into(), "1903e8"),
        (1_000_000.into(), "1a000f4240"),
        (1_000_000_000_000i64.into(), "1b000000e8d4a51000"),
        ((-1).into(), "20"),
        ((-10).into(), "29"),
        ((-100).into(), "3863"),
        ((-1000).into(), "3903e7"),
        (float(0.0), "f90000"),
        (float(-0.0), "f98000"),
        (float(1.0), "f93c00"),
        (float(1.1), "fb3ff199999999999a"),
        (float(1.5), "f93e00"),
        (float(65504.0), "f97bff"),
        (float(100_000.0), "fa47c35000"),
        (float(3.4028234663852886e38), "fa7f7fffff"),
        (float(1.0e300), "fb7e37e43c8800759c"),
        (float(5.960464477539063e-8), "f90001"),
        (float(0.00006103515625), "f90400"),
        (float(-4.0), "f9c400"),
        (float(-4.1), "fbc010666666666666"),
        (float(f64::INFINITY), "f97c00"),
        (float(f64::NAN), "f97e00"),
        (float(f64::NEG_INFINITY), "f9fc00"),
        (false.into(), "f4"),
        (true.into(), "f5"),
        (Value::Null, "f6"),
        (Value::Bytes(vec![]), "40"),
        (Value::Bytes(vec![1, 2, 3, 4]), "4401020304"),
        ("".into(), "60"),
        ("a".into(), "6161"),
        ("IETF".into(), "6449455446"),
        ("\"\\".into(), "62225c"),
        ("\u{fc}".into(), "62c3bc"),
        ("\u{6c34}".into(), "63e6b0b4"),
        ("\u{10151}".into(), "64f0908591"),
        (array([]), "80"),
        (ints([1, 2, 3]), "83010203"),
        (array([1.into(), ints([2, 3]), ints([4, 5])]), "8301820203820405"),
        (one_to_25(), "98190102030405060708090a0b0c0d0e0f101112131415161718181819"),
        (Document::new().into(), "a0"),
        (Document::from([("a", 1.into()), ("b", ints([2, 3]))]).into(), "a26161016162820203"),
        (array(["a".into(), Document::from([("b", "c")]).into()]), "826161a161626163"),
        (letters().into(), "a56161614161626142616361436164614461656145"),
    ]
}

const REFUSED: &[(&str, &str)] = &[
    ("1bffffffffffffffff", "an integer beyond 64 signed bits"),
    ("c249010000000000000000", "a tag"),
    ("3bffffffffffffffff", "an integer beyond 64 signed bits"),
    ("c349010000000000000000", "a tag"),
    ("fa7f800000", "a float that is not in its shortest form"),
    ("fa7fc00000", "a float that is not in its shortest form"),
    ("faff800000", "a float that is not in its shortest form"),
    ("fb7ff0000000000000", "a float that is not in its shortest form"),
    ("fb7ff8000000000000", "a float that is not in its shortest form"),
    ("fbfff0000000000000", "a float that is not in its shortest form"),
    ("f7", "a simple value that is not false, true or null"),
    ("f0", "a simple value that is not false, true or null"),
    ("f8ff", "a simple value that is not false, true or null"),
    ("c074323031332d30332d32315432303a30343a30305a", "a tag"),
    ("c11a514b67b0", "a tag"),
    ("c1fb41d452d9ec200000", "a tag"),
    ("d74401020304", "a tag"),
    ("d818456449455446", "a tag"),
    ("d82076687474703a2f2f7777772e6578616d706c652e636f6d", "a tag"),
    ("a201020304", "a field name that is not text"),
    ("5f42010243030405ff", "an indefinite length"),
    ("7f657374726561646d696e67ff", "an indefinite length"),
    ("9fff", "an indefinite length"),
    ("9f018202039f0405ffff", "an indefinite length"),
    ("9f01820203820405ff", "an indefinite length"),
    ("83018202039f0405ff", "an indefinite length"),
    ("83019f0203ff820405", "an indefinite length"),
    ("9f0102030405060708090a0b0c0d0e0f101112131415161718181819ff", "an indefinite length"),
    ("bf61610161629f0203ffff", "an indefinite length"),
    ("826161bf61626163ff", "an indefinite length"),
    ("bf6346756ef563416d7421ff", "an indefinite length"),
];

// spec: E-2.1
#[test]
fn the_examples_in_our_subset_are_written_and_read_as_the_rfc_says() {
    for (value, digits) in accepted() {
        let bytes = holding_bytes(&hex(digits));
        assert_eq!(holding(value.clone()).encode(), bytes, "{value:?}");
        assert_eq!(Document::decode(&bytes).expect(digits), holding(value), "{digits}");
        assert!(validate(&bytes).is_ok(), "{digits}");
    }
}

//= spec/encoding.md#e-2-1-subset
//= type=test
//# A reader MUST refuse every other item: tags, undefined, other simple values, reserved heads, the break
//# code.
//= spec/encoding.md#e-2-3-definite-length
//= type=test
//# A length or count MUST be definite.
//= spec/encoding.md#e-2-4-range-of-ints
//= type=test
//# A reader MUST refuse an item of major type 0 or 1 whose argument is above 2^63 - 1.
//= spec/encoding.md#e-3-1-names-are-text
//= type=test
//# A reader MUST refuse a field whose name is not a text.
#[test]
fn the_examples_outside_our_subset_are_refused_with_the_reason() {
    for (digits, reason) in REFUSED {
        let bytes = holding_bytes(&hex(digits));
        for result in [Document::decode(&bytes).map(drop), validate(&bytes)] {
            let Err(Error::Decode { at, what }) = result else { panic!("{digits}: {result:?}") };
            assert_eq!(what, *reason, "{digits}");
            assert!((3..bytes.len()).contains(&at), "{digits}: at {at}");
        }
    }
}

#[test]
fn all_82_examples_are_here() {
    assert_eq!(accepted().len() + REFUSED.len(), 81);
}
