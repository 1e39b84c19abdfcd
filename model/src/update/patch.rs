//! JSON Patch: each operation as a copy of the value with one place changed.

use super::{Failed, Misfit, within};
use crate::limits::Limits;
use crate::value::Value;

/// One operation of a patch; pointers are their tokens.
#[expect(missing_docs, reason = "the fields are those of RFC 6902")]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PatchOp {
    /// Adds a field or inserts an item.
    Add { path: Vec<String>, value: Value },
    /// Takes out what is at the path.
    Remove { path: Vec<String> },
    /// Puts the value in the place of what is there.
    Replace { path: Vec<String>, value: Value },
    /// Removes, and adds elsewhere.
    Move { from: Vec<String>, path: Vec<String> },
    /// Adds what is elsewhere.
    Copy { from: Vec<String>, path: Vec<String> },
    /// Fails unless the value is there.
    Test { path: Vec<String>, value: Value },
}

//= spec/update.md#u-2-1-all-or-nothing
//# When an operation fails, the patch, merge or update MUST fail as a whole, and change nothing.
/// What the patch makes of the value.
///
/// # Errors
/// The operation that fails, and why.
pub fn apply_patch(value: &Value, patch: &[PatchOp], limits: &Limits) -> Result<Value, Failed> {
    let mut value = value.clone();
    for (number, op) in patch.iter().enumerate() {
        value = apply(&value, op).map_err(|misfit| (number, misfit))?;
        within(&value, limits).map_err(|misfit| (number, misfit))?;
    }
    Ok(value)
}

//= spec/update.md#u-3-3-remove-and-replace
//# A `remove` of the whole value MUST be refused.
//= spec/update.md#u-3-4-move
//# A `move` whose `from` leads to a value around its `path` MUST be refused.
fn apply(value: &Value, op: &PatchOp) -> Result<Value, Misfit> {
    match op {
        PatchOp::Add { path, value: added } => add(value, path, added),
        PatchOp::Remove { path } => remove(value, path),
        PatchOp::Replace { path, value: new } => {
            get(value, path)?;
            at(value, path, &|_| Ok(new.clone()))
        }
        PatchOp::Move { from, path } => {
            let moved = get(value, from)?.clone();
            if from == path {
                return Ok(value.clone());
            }
            if path.starts_with(from) {
                return Err(Misfit::IntoItself);
            }
            add(&remove(value, from)?, path, &moved)
        }
        PatchOp::Copy { from, path } => add(value, path, get(value, from)?),
        PatchOp::Test { path, value: expected } => match get(value, path)?.order_cmp(expected) {
            std::cmp::Ordering::Equal => Ok(value.clone()),
            _ => Err(Misfit::TestFailed),
        },
    }
}

//= spec/values.md#v-6-3-step
//# In an array, a token MUST lead nowhere unless it is the shortest decimal form of an index below the length.
/// The index that the token is of an array of `len` items, where it may be `len` at most.
fn index(token: &str, len: usize) -> Option<usize> {
    (0..=len).find(|index| index.to_string() == token)
}

fn get<'a>(value: &'a Value, path: &[String]) -> Result<&'a Value, Misfit> {
    let Some((token, rest)) = path.split_first() else { return Ok(value) };
    let next = match value {
        Value::Object(fields) => fields.get(token),
        Value::Array(items) => index(token, items.len()).and_then(|index| items.get(index)),
        _ => None,
    };
    get(next.ok_or(Misfit::NoSuchPlace)?, rest)
}

/// The value with what is at the path changed.
fn at(
    value: &Value,
    path: &[String],
    change: &dyn Fn(&Value) -> Result<Value, Misfit>,
) -> Result<Value, Misfit> {
    let Some((token, rest)) = path.split_first() else { return change(value) };
    let changed = at(get(value, std::slice::from_ref(token))?, rest, change)?;
    let mut value = value.clone();
    match &mut value {
        Value::Object(fields) => drop(fields.insert(token.clone(), changed)),
        Value::Array(items) => {
            let index = index(token, items.len()).ok_or(Misfit::NoSuchPlace)?;
            items[index] = changed;
        }
        _ => return Err(Misfit::NoSuchPlace),
    }
    Ok(value)
}

//= spec/update.md#u-3-2-add
//# To an array, `add` MUST insert the item before the one at the index that the last token is, or after the
//# last item where the token is `-` or the length.
fn add(value: &Value, path: &[String], added: &Value) -> Result<Value, Misfit> {
    let Some((last, around)) = path.split_last() else { return Ok(added.clone()) };
    at(value, around, &|around| match around {
        Value::Object(fields) => {
            let mut fields = fields.clone();
            fields.insert(last.clone(), added.clone());
            Ok(Value::Object(fields))
        }
        Value::Array(items) => {
            let len = items.len();
            let index = if last == "-" { Some(len) } else { index(last, len) };
            let mut items = items.clone();
            items.insert(index.ok_or(Misfit::NoSuchPlace)?, added.clone());
            Ok(Value::Array(items))
        }
        _ => Err(Misfit::NoSuchPlace),
    })
}

fn remove(value: &Value, path: &[String]) -> Result<Value, Misfit> {
    get(value, path)?;
    let (last, around) = path.split_last().ok_or(Misfit::NothingLeft)?;
    at(value, around, &|around| match around {
        Value::Object(fields) => {
            let mut fields = fields.clone();
            fields.remove(last);
            Ok(Value::Object(fields))
        }
        Value::Array(items) => {
            let mut items = items.clone();
            items.remove(index(last, items.len()).ok_or(Misfit::NoSuchPlace)?);
            Ok(Value::Array(items))
        }
        _ => Err(Misfit::NoSuchPlace),
    })
}
