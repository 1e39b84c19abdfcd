//! Texts of filters and paths, and what they say of documents: over bytes, decoded, and by the model.

use std::collections::BTreeMap;

use holotype::document::RawDocument;
use holotype::query::{Filter, JsonPath};
use holotype::{KeyRef, Value};
use holotype_model as model;

use super::{Seen, make, parameters};
use crate::convert;
use crate::input::Input;
use crate::story::ensure;

/// A text that is a filter, or nearly one: engine and model take the same ones, and the normal form is read back.
///
/// # Errors
/// How they do not agree.
pub fn text(bytes: &[u8]) -> Result<Seen, String> {
    let mut input = Input::new(bytes);
    let text = make::near(&mut input);
    let (right, found) = (model::query::Filter::parse(&text), Filter::parse(&text));
    ensure(right.is_ok() == found.is_ok(), || format!("{text}: {found:?}, and the model has {right:?}"))?;
    let path = format!("${text}");
    let (right, path_found) = (model::query::Path::parse(&path), JsonPath::parse(&path));
    ensure(right.is_ok() == path_found.is_ok(), || {
        format!("{path}: {path_found:?}, and the model has {right:?}")
    })?;
    if let Ok(found) = &path_found {
        let again = JsonPath::parse(&found.to_string());
        ensure(again.as_ref().ok() == Some(found), || format!("{path} prints as {found}: {again:?}"))?;
    }
    if let Ok(found) = &found {
        reads_back(&text, found)?;
    }
    Ok(Seen { valid: u64::from(found.is_ok() || path_found.is_ok()), ..Seen::one() })
}

/// The normal form of the filter is the filter. spec.
fn reads_back(text: &str, filter: &Filter) -> Result<(), String> {
    let again = Filter::parse(&filter.to_string());
    ensure(again.as_ref().ok() == Some(filter), || format!("{text} prints as {filter}: {again:?}"))
}

/// What a filter says of a document under a key, and what a path selects of it.
///
/// # Errors
/// How engine and model do not agree.
pub fn filter(bytes: &[u8]) -> Result<Seen, String> {
    let mut input = Input::new(bytes);
    let (text, bound) = (make::expr(&mut input, 3), parameters(&mut input));
    let document = make::document(&mut input, 3);
    let selected = selects(&mut input, &document)?;
    let (right, found) = (model::query::Filter::parse(&text), Filter::parse(&text));
    let (right, found) = match (right, found) {
        (Ok(right), Ok(found)) => (right, found),
        (Err(_), Err(_)) => return Ok(Seen { selected, ..Seen::one() }),
        (right, found) => return Err(format!("{text}: {found:?}, and the model has {right:?}")),
    };
    reads_back(&text, &found)?;
    let found = bound.iter().fold(found, |filter, (name, value)| {
        filter.clone().bind(name, convert::value(value)).unwrap_or(filter)
    });
    let encoded = convert::document(&document).encode();
    let raw = RawDocument::from_verified(&encoded);
    let key = model::Key::from("ab");
    let expected = right.admits(Some(&key), &document, &bound);
    let of = || format!("{text} with {bound:?} of {document:?}");
    match found.matches_with_key(KeyRef::Text("ab"), raw) {
        Ok(admits) if admits == expected => {}
        other => return Err(format!("{}: {other:?}, and the model has {expected}", of())),
    }
    Ok(Seen { valid: 1, admitted: u64::from(expected), selected, ..Seen::one() })
}

/// Whether a path selects anything of the document.
fn selects(input: &mut Input<'_>, document: &model::Document) -> Result<u64, String> {
    let text = format!("${}{}", make::segments(input, 2, false), make::segments(input, 2, false));
    let (right, path) = match (model::query::Path::parse(&text), JsonPath::parse(&text)) {
        (Ok(right), Ok(path)) => (right, path),
        (Err(_), Err(_)) => return Ok(0),
        (right, path) => return Err(format!("{text}: {path:?}, and the model has {right:?}")),
    };
    let value = model::Value::Object(document.clone());
    let engine = convert::value(&value);
    let found = path.select(&engine).map_err(|error| format!("{text}: {error}"))?;
    let expected: Vec<Value> = right.select(&value).iter().map(convert::value).collect();
    let same = found.iter().copied().eq(&expected);
    ensure(same, || format!("{text} of {engine}: {found:?}, and the model has {expected:?}"))?;
    Ok(u64::from(!found.is_empty()))
}

/// Names and values of the parameters that a text may have.
pub(super) type Parameters = BTreeMap<String, model::Value>;
