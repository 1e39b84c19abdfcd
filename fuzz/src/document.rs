//! Bytes as an encoded document.

use holotype::document::{self, JsonMode, Kind, RawDocument, RawValue};
use holotype::{Document, Error};

/// How deep the walk over unchecked bytes follows; one level more than any document has.
const WALK_DEPTH: usize = document::DEPTH_MAX + 1;

/// Decodes `bytes`.
///
/// # Panics
/// Unless the decoder accepts exactly what the encoder writes, and lazy access agrees with it.
pub fn document_decode(bytes: &[u8]) {
    // Whatever the bytes are, walking them ends.
    walk_fields(RawDocument::from_verified(bytes), WALK_DEPTH);
    let verdict = document::validate(bytes);
    match Document::decode(bytes) {
        Ok(decoded) => {
            verdict.expect("what can be decoded is valid");
            assert_eq!(decoded.encode(), bytes, "only one encoding of a document is accepted");
            lazy_access_agrees(&decoded, RawDocument::from_verified(bytes));
            survives_json(&decoded);
        }
        Err(error) => {
            assert!(is_refusal(&error), "{error:?} is no reason to refuse bytes");
            assert!(verdict.is_err(), "what is valid can be decoded: {error}");
        }
    }
}

fn is_refusal(error: &Error) -> bool {
    matches!(error, Error::Decode { .. } | Error::TooDeep { .. } | Error::DocumentTooLarge { .. })
}

fn lazy_access_agrees(decoded: &Document, raw: RawDocument<'_>) {
    assert_eq!(raw.len(), decoded.len());
    for ((name, lazy), (expected, eager)) in raw.iter().zip(decoded.iter()) {
        assert_eq!(name, expected, "fields come in one order");
        assert_eq!(lazy.to_value().expect("part of a valid document"), *eager, "field {name:?}");
        assert_eq!(raw.get(name).map(|value| value.kind()), Some(eager.kind()), "field {name:?}");
    }
}

/// Export and import give the same document back, in both modes.
pub(crate) fn survives_json(document: &Document) {
    for mode in [JsonMode::Relaxed, JsonMode::Canonical] {
        let text = document.to_json(mode);
        let back =
            Document::from_json(&text).unwrap_or_else(|error| panic!("{mode:?} export {text}: {error}"));
        assert_eq!(&back, document, "{mode:?} export {text}");
    }
}

fn walk_fields(document: RawDocument<'_>, depth: usize) {
    document.iter().for_each(|(_, value)| walk(value, depth - 1));
}

fn walk(value: RawValue<'_>, depth: usize) {
    if depth == 0 {
        return;
    }
    match value.kind() {
        Kind::Array => value.items().into_iter().flatten().for_each(|item| walk(item, depth - 1)),
        Kind::Object => value.fields().into_iter().flatten().for_each(|(_, field)| walk(field, depth - 1)),
        _ => {
            let _ = value.to_value();
        }
    }
}
