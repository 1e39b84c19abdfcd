//! One encoding per document: the encoder writes it, the decoder takes nothing else.

use proptest::prelude::*;

use super::strategies::{damaged, documents};
use super::{hex, holding, holding_bytes};
use crate::document::{Document, Value, validate};
use crate::error::Error;

fn refusal(bytes: &[u8]) -> (usize, &'static str) {
    match Document::decode(bytes) {
        Err(Error::Decode { at, what }) => (at, what),
        other => panic!("{bytes:02x?}: {other:?}"),
    }
}

//= spec/encoding.md#e-3-2-order-of-names
//= type=test
//# Fields MUST stand in the bytewise order of their encoded names.
#[test]
fn shorter_names_come_first_then_bytewise() {
    let document: Document = ["b", "aa", "", "a", "é", "ab"].map(|name| (name, 0)).into();
    assert_eq!(document.keys().collect::<Vec<_>>(), ["", "a", "b", "aa", "ab", "é"]);
    assert_eq!(document.encode(), hex("a6 60 00 6161 00 6162 00 626161 00 626162 00 62c3a9 00"));
}

//= spec/encoding.md#e-3-3-no-name-twice
//= type=test
//# A reader MUST refuse an object in which a name comes twice.
//= spec/values.md#v-1-7-object
//= type=test
//# A store MUST refuse an object in which a name comes twice.
// spec: E-3.2
#[test]
fn fields_out_of_order_or_twice_are_refused_where_they_stand() {
    assert_eq!(refusal(&hex("a2 6162 00 6161 00")), (4, "field names are not in order"));
    assert_eq!(refusal(&hex("a2 626161 00 6162 00")), (5, "field names are not in order"));
    assert_eq!(refusal(&hex("a2 6161 00 6161 01")), (4, "a field name comes twice"));
}

//= spec/encoding.md#e-2-2-shortest-head
//= type=test
//# An argument MUST have its shortest form.
#[test]
fn every_longer_form_of_a_number_or_length_is_refused() {
    let longer = [
        "1817",
        "1900ff",
        "1a0000ffff",
        "1b00000000ffffffff",
        "3800",
        "5800",
        "590001 00",
        "7800",
        "9800",
        "b800",
    ];
    for digits in longer {
        let (at, what) = refusal(&holding_bytes(&hex(digits)));
        assert_eq!((at, what), (3, "a number or length is not in its shortest form"), "{digits}");
    }
    assert_eq!(refusal(&hex("a1 7801 61 00")).1, "a number or length is not in its shortest form");
}

//= spec/encoding.md#e-2-6-shortest-float
//= type=test
//# A float MUST have the fewest bits that keep its exact value, the sign of zero included.
#[test]
fn a_float_that_fits_into_fewer_bits_is_refused() {
    // 1.0; 2^-24, the smallest of 16 bits; 65,504, the largest; 2^-14, the smallest that is normal; 1.1 cut to 32 bits.
    for digits in ["fa3f800000", "fa33800000", "fa477fe000", "fa38800000", "fb3ff19999a0000000"] {
        let (_, what) = refusal(&holding_bytes(&hex(digits)));
        assert_eq!(what, "a float that is not in its shortest form", "{digits}");
    }
    // One bit beyond each of those in 16 bits.
    for digits in ["fa33000000", "fa477ff000", "fa33c00001", "fa3f800001"] {
        let bytes = holding_bytes(&hex(digits));
        assert_eq!(Document::decode(&bytes).expect(digits).encode(), bytes);
    }
}

//= spec/encoding.md#e-2-7-one-nan
//= type=test
//# NaN MUST be written as `f97e00`.
//= spec/values.md#v-1-3-float
//= type=test
//# A store MUST NOT tell NaNs of different sign or payload apart.
#[test]
fn there_is_one_nan() {
    for nan in [f64::NAN, -f64::NAN, f64::from_bits(0x7ff0_0000_0000_0001), f64::from_bits(u64::MAX)] {
        assert_eq!(holding(nan).encode(), holding_bytes(&hex("f97e00")));
    }
    for digits in ["f97e01", "f9fe00", "f97c01", "fa7fc00001", "fb7ff8000000000001"] {
        assert_eq!(
            refusal(&holding_bytes(&hex(digits))).1,
            "a float that is not in its shortest form",
            "{digits}"
        );
    }
}

//= spec/encoding.md#e-2-6-shortest-float
//= type=test
//# A float MUST have the fewest bits that keep its exact value, the sign of zero included.
#[test]
fn all_floats_of_16_bits_are_read_as_ieee_754_says_and_written_back() {
    for half in 0..=u16::MAX {
        let bytes = holding_bytes(&[0xf9, (half >> 8) as u8, half as u8]);
        let fraction = f64::from(half & 0x3ff);
        let magnitude = match half >> 10 & 0x1f {
            0 => fraction / 1024.0 * 2f64.powi(-14),
            0x1f if fraction == 0.0 => f64::INFINITY,
            0x1f => f64::NAN,
            exponent => (1.0 + fraction / 1024.0) * 2f64.powi(i32::from(exponent) - 15),
        };
        let float = if half >> 15 == 1 { -magnitude } else { magnitude };
        if magnitude.is_nan() && half != 0x7e00 {
            assert!(Document::decode(&bytes).is_err(), "{half:04x}");
        } else {
            assert_eq!(Document::decode(&bytes).expect("a float"), holding(float), "{half:04x}");
            assert_eq!(holding(float).encode(), bytes, "{half:04x}");
        }
    }
}

// spec: E-2.6
#[test]
fn halfway_between_two_floats_of_16_bits_lies_one_that_takes_32() {
    let read = |half: u16| {
        let bytes = holding_bytes(&[0xf9, (half >> 8) as u8, half as u8]);
        Document::decode(&bytes).expect("a float").get("v").and_then(Value::as_f64).expect("a float")
    };
    // Each pair of neighbours from zero to the largest: one bit more than 16 bits can hold.
    for half in 0..0x7bff {
        for sign in [1.0, -1.0] {
            let middle = sign * (read(half) + read(half + 1)) / 2.0;
            let bytes = holding(middle).encode();
            assert_eq!(bytes[3], 0xfa, "{middle:e}");
            assert_eq!(Document::decode(&bytes).expect("a float"), holding(middle), "{middle:e}");
        }
    }
}

//= spec/encoding.md#e-2-5-text
//= type=test
//# A reader MUST refuse a text, or a name, that is not UTF-8.
//= spec/values.md#v-1-4-text
//= type=test
//# A store MUST NOT accept as text what is not UTF-8.
#[test]
fn text_that_is_not_utf_8_is_refused_at_the_byte_that_is_wrong() {
    assert_eq!(refusal(&hex("a1 6161 63 6162ff")), (6, "text that is not UTF-8"));
    assert_eq!(refusal(&hex("a1 62c328 00")), (2, "text that is not UTF-8"));
    assert_eq!(refusal(&hex("a1 6161 63 eda080")), (4, "text that is not UTF-8"), "a lone surrogate");
}

//= spec/encoding.md#e-1-4-nothing-behind
//= type=test
//# A reader MUST refuse bytes that follow the document or the key.
#[test]
fn bytes_behind_the_document_are_refused() {
    assert_eq!(refusal(&hex("a0 00")), (1, "bytes follow the document"));
}

// spec: E-3.4
#[test]
fn a_document_is_an_object() {
    for digits in ["00", "80", "60", "f6"] {
        assert_eq!(refusal(&hex(digits)), (0, "a document is an object"), "{digits}");
    }
    assert_eq!(refusal(b""), (0, "the bytes end within an item"));
}

//= spec/encoding.md#e-1-3-partial-reads
//= type=test
//# A reader MUST NOT make room for more items than the bytes that are left could hold.
#[test]
fn a_count_that_the_bytes_cannot_back_is_refused_before_anything_is_made_for_it() {
    for digits in [
        "81",
        "a1 60",
        "a2 60 00 61",
        "9b7fffffffffffffff",
        "bb7fffffffffffffff",
        "5b7fffffffffffffff",
        "7affffffff",
        "9a03ffffff",
        "ba03ffffff",
    ] {
        let (at, what) = refusal(&holding_bytes(&hex(digits)));
        assert_eq!((at, what), (3, "the bytes end within an item"), "{digits}");
    }
}

//= spec/encoding.md#e-1-3-partial-reads
//= type=test
//# A reader MUST NOT read outside of the bytes that it was given, whatever they hold.
#[test]
fn every_beginning_of_a_document_is_refused() {
    let document = crate::doc! { "a": [1, 1000, 1.1, "text", null], "b": { "c": [true] }, "d": vec![1u8, 2] };
    let bytes = document.encode();
    for len in 0..bytes.len() {
        assert_eq!(refusal(&bytes[..len]).1, "the bytes end within an item", "{len} bytes");
    }
}

proptest! {
    #[test]
    fn what_is_encoded_is_decoded_to_the_same(document in documents()) {
        let bytes = document.encode();
        prop_assert_eq!(&Document::decode(&bytes).expect("decodes"), &document);
        prop_assert!(validate(&bytes).is_ok());
        let mut appended = vec![7];
        document.encode_into(&mut appended).expect("within the limits");
        prop_assert_eq!(&appended[1..], &bytes);
    }

    //= spec/values.md#v-2-1-equal-values
    //= type=test
    //# Two values MUST have the same encoded bytes exactly when they are equal.
    #[test]
    fn equal_documents_and_only_those_have_equal_bytes(a in documents(), b in documents()) {
        prop_assert_eq!(a == b, a.encode() == b.encode());
    }

    //= spec/encoding.md#e-1-2-one-encoding
    //= type=test
    //# A reader that decodes or checks a whole document MUST refuse any bytes but the encoding of a document.
    #[test]
    fn the_decoder_accepts_only_what_the_encoder_writes(bytes in damaged()) {
        if let Ok(document) = Document::decode(&bytes) {
            prop_assert_eq!(document.encode(), bytes);
        }
    }

    #[test]
    fn the_check_and_the_decoder_say_the_same(bytes in damaged()) {
        let decoded = Document::decode(&bytes).map(drop).map_err(|error| error.to_string());
        prop_assert_eq!(validate(&bytes).map_err(|error| error.to_string()), decoded);
    }

    #[test]
    fn any_bytes_are_decoded_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
        if let Ok(document) = Document::decode(&bytes) {
            prop_assert_eq!(document.encode(), bytes);
        }
    }
}
