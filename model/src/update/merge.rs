//! Merge patches, in the words of RFC 7396's own pseudocode.

use super::within;
use crate::limits::Limits;
use crate::update::Misfit;
use crate::value::{Document, Value};

/// What the merge patch makes of the value.
///
/// # Errors
/// `Limit` where the result is beyond one.
pub fn merge(value: &Value, patch: &Value, limits: &Limits) -> Result<Value, Misfit> {
    let merged = merged(Some(value), patch);
    within(&merged, limits)?;
    Ok(merged)
}

//= spec/update.md#u-4-1-merge
//# A null of an object of the merge patch that is in no array MUST NOT come into the result.
fn merged(target: Option<&Value>, patch: &Value) -> Value {
    let Value::Object(patch) = patch else { return patch.clone() };
    let mut result = match target {
        Some(Value::Object(fields)) => fields.clone(),
        _ => Document::new(),
    };
    for (name, value) in patch {
        match value {
            Value::Null => drop(result.remove(name)),
            value => {
                let merged = merged(result.get(name), value);
                result.insert(name.clone(), merged);
            }
        }
    }
    Value::Object(result)
}
