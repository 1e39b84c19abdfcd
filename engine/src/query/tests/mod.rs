//! Paths as they are parsed, printed and refused; `conform/tests/jsonpath.rs` has the public suite.

mod filters;
mod functions;
mod paths;
mod patterns;
mod projections;

use crate::Value;
use crate::error::{Error, Result};
use crate::query::JsonPath;

/// What a path selects of a JSON text, as JSON.
fn select(path: &str, json: &str) -> Result<String> {
    let value = crate::document::json::parse_value(json.as_bytes())?;
    let nodes = JsonPath::parse(path)?.select(&value)?.into_iter().cloned().collect();
    Ok(Value::Array(nodes).to_string())
}

/// Where and why a path is refused.
#[track_caller]
fn refusal(path: &str) -> (usize, String) {
    match JsonPath::parse(path) {
        Err(Error::Query { offset, what }) => (offset, what),
        other => panic!("{path}: {other:?}"),
    }
}
