//! JSON Merge Patch (RFC 7396).

use super::tree::{self, NormalizedPath, Tree};
use crate::document::node::Node;
use crate::document::{DEPTH_MAX, Document, Kind, Value};
use crate::error::{Error, Result};
use crate::query::Step;
use crate::seeded::{self, Bug};

/// Merges `patch` into `tree`, which is given up on an error.
pub(super) fn merge<T: Tree>(tree: &mut T, patch: &Value) -> Result<()> {
    match patch {
        Value::Object(fields) if tree.root().kind() == Kind::Object => merge_object(tree, fields),
        other => {
            put(tree, &[], other)?;
            tree.check_len()
        }
    }
}

/// Merges `patch` into `tree`, which is an object.
pub(super) fn merge_object<T: Tree>(tree: &mut T, patch: &Document) -> Result<()> {
    into(tree, &mut NormalizedPath::new(), patch)?;
    tree.check_len()
}

/// How many places of an object the merge patch changes, counted up to `max`.
pub(super) fn count(patch: &Document, max: usize) -> usize {
    let mut total = 0;
    for value in patch.values() {
        total += match value {
            Value::Object(fields) => count(fields, max),
            _ => 1,
        };
        if total >= max {
            break;
        }
    }
    total
}

/// Merges `patch` into the object at `place`.
fn into<T: Tree>(tree: &mut T, place: &mut NormalizedPath, patch: &Document) -> Result<()> {
    for (name, value) in patch {
        place.push(Step::Name(name.into()));
        let kind = tree::find(tree.root(), place).map(|node| node.kind());
        match (value, kind) {
            (Value::Null, None) => {}
            (Value::Null, Some(_)) => drop(tree.remove(place)?),
            (Value::Object(fields), Some(Kind::Object)) => into(tree, place, fields)?,
            _ => put(tree, place, value)?,
        }
        place.pop();
    }
    Ok(())
}

/// Puts what `patch` makes of nothing.
fn put<T: Tree>(tree: &mut T, place: &[Step], patch: &Value) -> Result<()> {
    let part = T::part(&of_nothing(patch, DEPTH_MAX - place.len())?)?;
    tree.put(place, part)
}

//= spec/update.md#u-4-1-merge
//# A null of an object of the merge patch that is in no array MUST NOT come into the result.
/// What `patch` makes of nothing: itself, without the nulls of its objects. It has `levels` levels at most.
fn of_nothing(patch: &Value, levels: usize) -> Result<Value> {
    let Value::Object(fields) = patch else { return Ok(patch.clone()) };
    let levels = levels.checked_sub(1).ok_or(Error::TooDeep { max: DEPTH_MAX })?;
    let kept = fields.iter().filter(|(_, value)| !value.is_null() || seeded::is_on(Bug::NullMerged));
    let kept = kept.map(|(name, value)| Ok((name, of_nothing(value, levels)?)));
    Ok(Value::Object(kept.collect::<Result<Vec<_>>>()?.into_iter().collect()))
}
