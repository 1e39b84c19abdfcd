//! Bytes as JSON text.

use holotype::{Document, Error};

use crate::document::survives_json;

/// Imports `bytes` as one JSON document.
///
/// # Panics
/// Unless it is refused with a place inside the text, or gives a document that survives export and import.
pub fn json_import(bytes: &[u8]) {
    match Document::from_json(bytes) {
        Ok(document) => survives_json(&document),
        Err(Error::Json { line, column, what }) => {
            let lines = 1 + bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
            assert!((1..=lines).contains(&line), "line {line} of {lines}: {what}");
            assert!((1..=bytes.len() as u64 + 1).contains(&column), "column {column}: {what}");
        }
        Err(Error::TooDeep { .. } | Error::DocumentTooLarge { .. }) => {}
        Err(error) => panic!("{error:?} is no reason to refuse JSON"),
    }
}
