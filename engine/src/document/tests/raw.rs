//! Reading over the bytes gives what reading the decoded document does.

use proptest::prelude::*;

use super::strategies::{damaged, documents, texts};
use super::{hex, holding};
use crate::doc;
use crate::document::{Document, RawDocument, RawValue, Value};

/// Everything that can be asked of a value, all the way down. How many values that were.
fn ask_everything(value: RawValue<'_>, depth: usize) -> usize {
    let _ = (value.kind(), value.is_null(), value.as_bool(), value.as_i64(), value.as_f64());
    let _ = (
        value.as_str(),
        value.as_bytes(),
        value.to_value(),
        value.encoded(),
        value.get(""),
        value.pointer("/a/0/b"),
    );
    if depth == 0 {
        return 1;
    }
    let items = value.items().into_iter().flatten().map(|item| ask_everything(item, depth - 1));
    let fields = value.fields().into_iter().flatten().map(|(_, value)| ask_everything(value, depth - 1));
    1 + items.sum::<usize>() + fields.sum::<usize>()
}

/// That a value over its bytes is the decoded one, all the way down.
fn assert_same(raw: RawValue<'_>, value: &Value) {
    assert_eq!(raw.kind(), value.kind());
    assert_eq!(raw.is_null(), value.is_null());
    assert_eq!(raw.as_bool(), value.as_bool());
    assert_eq!(raw.as_i64(), value.as_i64());
    assert_eq!(raw.as_f64().map(Value::from), value.as_f64().map(Value::from));
    assert_eq!(raw.as_str(), value.as_str());
    assert_eq!(raw.as_bytes(), value.as_bytes());
    assert_eq!(&raw.to_value().expect("decodes"), value);
    assert_eq!(raw.items().is_some(), value.as_array().is_some());
    assert_eq!(raw.fields().is_some(), value.as_object().is_some());
    let outer = Document::from([("", value.clone())]).encode();
    assert_eq!(raw.encoded().expect("has an end"), &outer[2..]);
    if let Some(items) = value.as_array() {
        assert_eq!(raw.items().expect("an array").count(), items.len());
        raw.items().expect("an array").zip(items).for_each(|(raw, item)| assert_same(raw, item));
    }
    if let Some(fields) = value.as_object() {
        assert_eq!(raw.fields().expect("an object").count(), fields.len());
        for ((raw_name, raw), (name, value)) in raw.fields().expect("an object").zip(fields) {
            assert_eq!(raw_name, name);
            assert_same(raw, value);
        }
    }
}

// spec: E-1.3
#[test]
fn fields_are_found_without_decoding_the_rest() {
    // The field `b` holds text that is no UTF-8, which only a decoder would notice.
    let bytes = hex("a3 6161 01 6162 61ff 6163 f5");
    let raw = RawDocument::from_verified(&bytes);
    assert!(raw.to_document().is_err());
    assert_eq!(raw.get("c").and_then(|value| value.as_bool()), Some(true));
    assert_eq!(raw.get("b").and_then(|value| value.as_str()), None);
    assert_eq!(raw.len(), 3);
}

#[test]
fn a_name_is_a_field_whatever_its_characters() {
    let bytes = doc! { "a.b": 1, "/a": 2, "$": 3, "a": { "b": 4 } }.encode();
    let raw = RawDocument::from_verified(&bytes);
    for (name, value) in [("a.b", 1), ("/a", 2), ("$", 3)] {
        assert_eq!(raw.get(name).and_then(|value| value.as_i64()), Some(value));
    }
    let inner = raw.get("a").expect("an object");
    assert_eq!(inner.get("b").and_then(|value| value.as_i64()), Some(4));
    assert!(inner.get("c").is_none() && inner.get("b").expect("an int").get("").is_none());
}

#[test]
fn values_print_as_decoded_values_do() {
    let document = doc! { "a": [1, null], "b": "x" };
    let bytes = document.encode();
    assert_eq!(format!("{:?}", RawDocument::from_verified(&bytes)), format!("{document:?}"));
    let broken = hex("a1 6161 61ff");
    let printed = format!("{:?}", RawDocument::from_verified(&broken));
    assert!(printed.contains("not UTF-8"), "{printed}");
}

#[test]
fn a_value_can_be_read_as_a_type() {
    let bytes = doc! { "seen": [{ "where": "hedge", "count": 2 }] }.encode();
    let raw = RawDocument::from_bytes(&bytes).expect("a document");
    let seen: Vec<(String, Value)> = raw
        .pointer("/seen/0")
        .expect("an object")
        .to_type::<std::collections::BTreeMap<String, Value>>()
        .expect("a map")
        .into_iter()
        .collect();
    assert_eq!(seen, [("count".to_owned(), 2.into()), ("where".to_owned(), "hedge".into())]);
    assert_eq!(raw.pointer("/seen/0/where").expect("text").to_type::<&str>().expect("borrowed"), "hedge");
    assert!(raw.get("seen").expect("an array").to_type::<i64>().is_err());
}

proptest! {
    #[test]
    fn lazy_and_decoded_documents_say_the_same(document in documents()) {
        let bytes = document.encode();
        let raw = RawDocument::from_bytes(&bytes).expect("a document");
        prop_assert_eq!(raw.len(), document.len());
        for ((raw_name, raw), (name, value)) in raw.iter().zip(&document) {
            prop_assert_eq!(raw_name, name);
            assert_same(raw, value);
        }
    }

    #[test]
    fn lazy_and_decoded_documents_find_the_same_under_a_name(document in documents(), other in texts()) {
        let bytes = document.encode();
        let raw = RawDocument::from_verified(&bytes);
        for name in document.keys().chain([other.as_str()]) {
            let field = raw.get(name).map(|value| value.to_value().expect("decodes"));
            prop_assert_eq!(field.as_ref(), document.get(name), "{}", name);
        }
    }

    //= spec/encoding.md#e-1-3-partial-reads
    //= type=test
    //# A reader MUST NOT read outside of the bytes that it was given, whatever they hold.
    #[test]
    fn any_bytes_can_be_asked_anything(bytes in prop_oneof![
        damaged(),
        proptest::collection::vec(any::<u8>(), 0..60),
    ]) {
        let raw = RawDocument::from_verified(&bytes);
        let asked: usize = raw.iter().map(|(_, value)| ask_everything(value, 6)).sum();
        prop_assert!(asked <= bytes.len());
        prop_assert!(raw.iter().count() <= raw.len());
        let _ = (raw.pointer("/a/b"), raw.get("$"), format!("{raw:?}"));
    }
}

#[test]
fn an_array_of_many_items_is_walked_once_per_look() {
    let bytes = holding((0..1000).collect::<Value>()).encode();
    let raw = RawDocument::from_verified(&bytes);
    assert_eq!(raw.pointer("/v/999").and_then(|value| value.as_i64()), Some(999));
    assert!(raw.pointer("/v/1000").is_none());
}
