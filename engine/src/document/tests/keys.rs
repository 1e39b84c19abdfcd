//! Keys: as CBOR, in order, from and to other types.

use proptest::prelude::*;

use super::hex;
use super::strategies::{damaged, keys};
use crate::document::{AsKey, KEY_LEN_MAX, Key, KeyRef, Kind, Value};
use crate::error::Error;

// spec: E-4.1
#[test]
fn a_key_is_encoded_as_the_value_it_is() {
    for (key, digits) in [
        (KeyRef::Int(0), "00"),
        (KeyRef::Int(-500), "3901f3"),
        (KeyRef::Int(i64::MAX), "1b7fffffffffffffff"),
        (KeyRef::Int(i64::MIN), "3b7fffffffffffffff"),
        (KeyRef::Text("a"), "6161"),
        (KeyRef::Bytes(&[0xff]), "41ff"),
    ] {
        let mut bytes = Vec::new();
        key.encode_into(&mut bytes);
        assert_eq!(bytes, hex(digits), "{key}");
        assert_eq!(KeyRef::decode(&bytes).expect("a key"), (key, bytes.len()));
    }
}

#[test]
fn keys_print_as_a_person_reads_them() {
    let printed = [Key::from(-1), Key::from("a\"b"), Key::from([0x00, 0xff])].map(|key| key.to_string());
    assert_eq!(printed, ["-1", r#""a\"b""#, "0x00ff"]);
}

//= spec/values.md#v-4-1-key-length
//= type=test
//# A text or byte string that is a key MUST NOT have more than 1,024 bytes.
//= spec/values.md#v-4-4-beyond-a-limit
//= type=test
//# A store MUST refuse a key or a document that is beyond a limit with an error that names the limit, whether
//# it comes from a caller, from JSON or from bytes.
#[test]
fn a_key_may_have_1_024_bytes_and_no_more() {
    let text = "x".repeat(KEY_LEN_MAX + 1);
    for (key, longest) in [
        (KeyRef::Text(&text), KeyRef::Text(&text[1..])),
        (KeyRef::Bytes(text.as_bytes()), KeyRef::Bytes(&text.as_bytes()[1..])),
    ] {
        assert!(longest.check_len().is_ok());
        assert!(matches!(key.check_len(), Err(Error::KeyTooLong { len: 1025, max: 1024 })));
        let mut bytes = Vec::new();
        key.encode_into(&mut bytes);
        assert!(matches!(KeyRef::decode(&bytes), Err(Error::KeyTooLong { len: 1025, max: 1024 })));
    }
}

//= spec/encoding.md#e-4-1-stored-key
//= type=test
//# A reader MUST refuse a key that is not an int, a text or a byte string.
#[test]
fn what_is_no_key_is_refused() {
    for digits in ["", "f6", "80", "a0", "f93c00", "1801", "62c3", "61ff", "c100"] {
        assert!(matches!(KeyRef::decode(&hex(digits)), Err(Error::Decode { .. })), "{digits}");
    }
}

#[test]
fn all_that_a_key_can_be_made_from_can_be_looked_up_by() {
    fn same(given: impl AsKey + Into<Key>, key: KeyRef<'_>) {
        assert_eq!(given.as_key(), key);
        assert_eq!(given.into(), key.to_key());
    }
    same(7u8, KeyRef::Int(7));
    same(-7i32, KeyRef::Int(-7));
    same(u32::MAX, KeyRef::Int(4_294_967_295));
    same("a", KeyRef::Text("a"));
    let (number, text): (&u16, &&String) = (&7, &&String::from("a"));
    same(number, KeyRef::Int(7));
    same(text, KeyRef::Text("a"));
    same(String::from("a"), KeyRef::Text("a"));
    same(&b"a"[..], KeyRef::Bytes(b"a"));
    same(b"a", KeyRef::Bytes(b"a"));
    same(vec![1u8], KeyRef::Bytes(&[1]));
    same(Key::from(1), KeyRef::Int(1));
    same(KeyRef::Int(1), KeyRef::Int(1));
}

#[test]
fn a_value_that_is_no_key_says_what_it_is() {
    assert_eq!(Key::try_from(Value::from("a")), Ok(Key::from("a")));
    assert_eq!(Key::try_from(Value::from(1.0)), Err(Kind::Float));
    assert_eq!(Key::try_from(Value::Null), Err(Kind::Null));
}

proptest! {
    #[test]
    fn a_key_comes_back_from_its_bytes_wherever_they_end(key in keys(), behind in any::<[u8; 3]>()) {
        prop_assume!(key.as_ref().check_len().is_ok());
        let mut bytes = Vec::new();
        key.as_ref().encode_into(&mut bytes);
        let len = bytes.len();
        prop_assert_eq!(key.as_ref().encoded_len(), len);
        bytes.extend_from_slice(&behind);
        prop_assert_eq!(KeyRef::decode(&bytes).expect("a key"), (key.as_ref(), len));
    }

    #[test]
    fn a_key_is_decoded_from_no_other_bytes(bytes in damaged()) {
        if let Ok((key, len)) = KeyRef::decode(&bytes) {
            let mut again = Vec::new();
            key.encode_into(&mut again);
            prop_assert_eq!(&again[..], &bytes[..len]);
        }
    }

    //= spec/values.md#v-3-8-order-of-keys
    //= type=test
    //# Keys MUST be ordered as the values that they are: ints by number, then texts, then byte strings.
    // spec: V-3.1
    #[test]
    fn keys_are_ordered_as_their_values_are(a in keys(), b in keys()) {
        let order = Value::from(a.clone()).order_cmp(&b.clone().into());
        prop_assert_eq!(a.cmp(&b), order);
        prop_assert_eq!(a.as_ref().cmp(&b.as_ref()), order);
    }
}
