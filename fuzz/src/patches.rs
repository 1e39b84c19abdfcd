//! JSON Patch beside the crate `json-patch`, over the values that both have alike.

use holotype::document::JsonMode;
use holotype_crash_tests::{changes, convert, updates};
use holotype_model::Value;
use holotype_model::update::PatchOp;

/// Ints beyond it are not exact in all readers of JSON.
const INT_MAX: u64 = 1 << 53;

/// # Errors
/// How the two do not agree.
pub(crate) fn check(bytes: &[u8]) -> Result<(), String> {
    let (document, ops) = updates::patch_of(bytes);
    let document = plain(&Value::Object(document));
    let patch = changes::patch(&ops.into_iter().filter_map(plain_op).collect::<Vec<_>>());
    let before = convert::value(&document);
    let ours = patch.apply(&before).map(|after| json(&after));
    let text = patch.to_json(JsonMode::Relaxed);
    let theirs: json_patch::Patch =
        serde_json::from_str(&text).map_err(|error| format!("{text}: {error}"))?;
    let mut after = json(&before);
    let applied = json_patch::patch(&mut after, &theirs);
    match (&ours, &applied) {
        (Ok(ours), Ok(())) if *ours == after => Ok(()),
        (Err(_), Err(_)) => Ok(()),
        _ => Err(format!("{text} on {before}: {ours:?}, and json-patch has {applied:?} with {after}")),
    }
}

fn json(value: &holotype::Value) -> serde_json::Value {
    serde_json::from_str(&value.to_json(JsonMode::Relaxed)).expect("it is JSON")
}

/// A value of the same shape that is the same in every reader of JSON, and equal only to itself.
fn plain(value: &Value) -> Value {
    match value {
        Value::Bytes(_) => Value::from("bytes"),
        Value::Float(_) => Value::Float(1.5),
        Value::Int(int) if int.unsigned_abs() > INT_MAX => Value::Int(7),
        Value::Array(items) => Value::Array(items.iter().map(plain).collect()),
        Value::Object(fields) => {
            Value::Object(fields.iter().map(|(name, value)| (name.clone(), plain(value))).collect())
        }
        other => other.clone(),
    }
}

/// The operation on such values. RFC 6902 does not say what a move of the whole value onto itself is.
fn plain_op(op: PatchOp) -> Option<PatchOp> {
    Some(match op {
        PatchOp::Add { path, value } => PatchOp::Add { path, value: plain(&value) },
        PatchOp::Replace { path, value } => PatchOp::Replace { path, value: plain(&value) },
        PatchOp::Test { path, value } => PatchOp::Test { path, value: plain(&value) },
        PatchOp::Move { from, path } if from.is_empty() && path.is_empty() => return None,
        other => other,
    })
}
