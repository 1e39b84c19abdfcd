//! Depth and size: held to by every way in and out.

use super::{hex, holding, holding_bytes, nested};
use crate::document::{
    DEPTH_MAX, DOCUMENT_LEN_MAX, Document, JsonMode, RawDocument, Value, from_bytes, json, to_bytes, validate,
};
use crate::error::{Error, Result};

fn too_deep<T>(result: &Result<T>) -> bool {
    matches!(result, Err(Error::TooDeep { max: DEPTH_MAX }))
}

// spec: V-4.3
#[test]
fn a_document_of_128_levels_goes_through_everything() {
    let deepest = nested(DEPTH_MAX);
    let mut bytes = Vec::new();
    deepest.encode_into(&mut bytes).expect("128 levels are allowed");
    assert_eq!(Document::decode(&bytes).expect("decodes"), deepest);
    assert!(validate(&bytes).is_ok());
    assert_eq!(from_bytes::<Document>(&bytes).expect("serde reads it"), deepest);
    let mut by_serde = Vec::new();
    to_bytes(&deepest, &mut by_serde).expect("serde writes it");
    assert_eq!(by_serde, bytes);
    assert_eq!(Document::from_json(deepest.to_json(JsonMode::Canonical)).expect("JSON"), deepest);
}

//= spec/values.md#v-4-3-depth
//= type=test
//# A document MUST NOT have a level above 128.
//= spec/values.md#v-4-4-beyond-a-limit
//= type=test
//# A store MUST refuse a key or a document that is beyond a limit with an error that names the limit, whether
//# it comes from a caller, from JSON or from bytes.
#[test]
fn a_document_of_129_levels_is_refused_by_everything() {
    let deeper = nested(DEPTH_MAX + 1);
    let mut out = vec![7];
    assert!(too_deep(&deeper.encode_into(&mut out)));
    assert!(too_deep(&to_bytes(&deeper, &mut out)));
    assert_eq!(out, [7], "nothing is left behind by a refusal");
    let bytes = deeper.encode();
    assert!(too_deep(&Document::decode(&bytes)));
    assert!(too_deep(&validate(&bytes)));
    assert!(too_deep(&from_bytes::<Document>(&bytes)));
    assert!(too_deep(&RawDocument::from_bytes(&bytes)));
    assert!(too_deep(&Document::from_json(deeper.to_json(JsonMode::Relaxed))));
}

// spec: V-4.3
#[test]
fn arrays_count_as_levels() {
    let array = (2..DEPTH_MAX).fold(Value::Array(vec![]), |inner, _| Value::Array(vec![inner]));
    let deepest = holding(array.clone());
    assert!(deepest.encode_into(&mut Vec::new()).is_ok());
    assert_eq!(Document::decode(&deepest.encode()).expect("decodes"), deepest);
    assert_eq!(Document::from_json(deepest.to_json(JsonMode::Relaxed)).expect("JSON"), deepest);
    let deeper = holding(vec![array]);
    assert!(too_deep(&deeper.encode_into(&mut Vec::new())));
    assert!(too_deep(&Document::decode(&deeper.encode())));
    assert!(too_deep(&Document::from_json(deeper.to_json(JsonMode::Relaxed))));
}

// spec: E-6.10
#[test]
fn wrappers_in_json_add_no_levels() {
    // Bytes, and an object in the shape of a wrapper, at the deepest place that there is.
    for value in [Value::Bytes(vec![1]), Value::Float(f64::NAN), Value::Int(i64::MAX)] {
        let deepest = (1..DEPTH_MAX).fold(holding(value), |inner, _| holding(inner));
        for mode in [JsonMode::Relaxed, JsonMode::Canonical] {
            assert_eq!(Document::from_json(deepest.to_json(mode)).expect("JSON"), deepest);
        }
    }
    let literals = (1..DEPTH_MAX).fold(Document::new(), |inner, _| Document::from([("$literal", inner)]));
    assert_eq!(Document::from_json(literals.to_json(JsonMode::Relaxed)).expect("JSON"), literals);
    let deeper = Document::from([("$literal", literals)]);
    assert!(too_deep(&Document::from_json(deeper.to_json(JsonMode::Relaxed))));
}

// spec: E-6.12
#[test]
fn an_entry_holds_a_document_of_128_levels() {
    let (key, deepest) = (1.into(), nested(DEPTH_MAX));
    let mut text = String::new();
    json::write_entry(&key, &deepest, JsonMode::Relaxed, &mut text);
    assert_eq!(json::parse_entry(text.as_bytes()).expect("an entry"), (key, deepest));
}

#[test]
fn any_depth_of_json_or_bytes_is_an_error_and_no_overflow_of_the_stack() {
    for open in ["[", "{\"a\":", "{\"$literal\":", "{\"$binary\":"] {
        assert!(Document::from_json(format!("{{\"a\":{}", open.repeat(1_000_000))).is_err(), "{open}");
    }
    for head in [&b"\x81"[..], b"\xa1\x61a"] {
        let bytes = holding_bytes(&head.repeat(1_000_000));
        assert!(too_deep(&Document::decode(&bytes)));
        assert!(too_deep(&from_bytes::<Document>(&bytes)));
        assert!(
            RawDocument::from_verified(&bytes)
                .pointer("/v/0/a/0")
                .is_none_or(|value| value.encoded().is_err())
        );
    }
}

#[derive(serde::Serialize)]
struct Endless<'a> {
    again: Option<&'a Endless<'a>>,
}

#[test]
fn a_type_that_nests_too_deep_is_refused() {
    fn nest(levels: usize, inner: Option<&Endless<'_>>) -> Result<()> {
        let outer = Endless { again: inner };
        if levels == 0 { to_bytes(&outer, &mut Vec::new()) } else { nest(levels - 1, Some(&outer)) }
    }
    assert!(nest(DEPTH_MAX - 1, None).is_ok());
    assert!(too_deep(&nest(DEPTH_MAX, None)));
}

//= spec/semantics.md#s-2-4-document-limit
//= type=test
//# A write of a document whose encoded form is longer than 67,108,864 bytes MUST be refused as
//# `DocumentTooLarge`.
//= spec/values.md#v-4-2-document-length
//= type=test
//# A document MUST NOT have more than 67,108,864 encoded bytes (64 MiB).
//= spec/values.md#v-4-4-beyond-a-limit
//= type=test
//# A store MUST refuse a key or a document that is beyond a limit with an error that names the limit, whether
//# it comes from a caller, from JSON or from bytes.
#[test]
fn a_document_of_64_mib_is_the_longest() {
    let overhead = hex("a1 6176 5a03fffff8").len();
    let longest = holding(vec![0u8; DOCUMENT_LEN_MAX - overhead]);
    let mut bytes = Vec::new();
    longest.encode_into(&mut bytes).expect("64 MiB are allowed");
    assert_eq!(bytes.len(), DOCUMENT_LEN_MAX);
    assert!(validate(&bytes).is_ok());
    let longer = holding(vec![0u8; DOCUMENT_LEN_MAX - overhead + 1]);
    bytes.clear();
    let len = DOCUMENT_LEN_MAX + 1;
    let refused = |result: Result<()>| match result {
        Err(Error::DocumentTooLarge { len: found, max: DOCUMENT_LEN_MAX }) => assert_eq!(found, len),
        other => panic!("{other:?}"),
    };
    refused(longer.encode_into(&mut bytes));
    refused(to_bytes(&longer, &mut bytes));
    assert!(bytes.is_empty(), "nothing is left behind by a refusal");
    let bytes = longer.encode();
    refused(validate(&bytes));
    refused(Document::decode(&bytes).map(drop));
    refused(from_bytes::<serde::de::IgnoredAny>(&bytes).map(drop));
}
