//! A patch applied to a value, by the rules of RFC 6902.

use super::failed::Failed;
use super::fault::UpdateFault;
use super::patch::{JsonPatch, Operation};
use super::tree::{self, NormalizedPath, Tree};
use crate::document::node::Node;
use crate::document::{JsonPointer, Kind, PathFault, Value, pointer};
use crate::error::Result;
use crate::query::Step;
use crate::seeded::{self, Bug};

//= spec/update.md#u-2-1-all-or-nothing
//# When an operation fails, the patch, merge or update MUST fail as a whole, and change nothing.
/// Applies all operations to `tree`, which is given up on an error.
pub(super) fn apply<T: Tree>(tree: &mut T, patch: &JsonPatch) -> Result<()> {
    for (number, operation) in patch.operations().iter().enumerate() {
        one(tree, operation)
            .map_err(|failed| failed.at(number, operation.name(), || operation.path().to_string()))?;
        tree.check_len()?;
    }
    Ok(())
}

//= spec/update.md#u-3-3-remove-and-replace
//# A `remove` of the whole value MUST be refused.
fn one<T: Tree>(tree: &mut T, operation: &Operation) -> Result<(), Failed> {
    match operation {
        Operation::Add { path, value } => {
            let part = T::part(value)?;
            add(tree, path, part)
        }
        Operation::Remove { path } => {
            let place = resolve(tree, path)?;
            if place.is_empty() {
                return Err(UpdateFault::NothingLeft.into());
            }
            tree.remove(&place)?;
            Ok(())
        }
        Operation::Replace { path, value } => {
            let place = resolve(tree, path)?;
            let part = T::part(value)?;
            Ok(tree.put(&place, part)?)
        }
        Operation::Move { from, path } => shift(tree, from, path),
        Operation::Copy { from, path } => {
            let (_, node) = tree::resolve(tree.root(), from).map_err(|nowhere| astray(from, nowhere))?;
            let part = T::copy(node)?;
            add(tree, path, part)
        }
        Operation::Test { path, value } => test(tree, path, value),
    }
}

//= spec/update.md#u-3-4-move
//# A `move` whose `from` leads to a value around its `path` MUST be refused.
fn shift<T: Tree>(tree: &mut T, from: &JsonPointer, path: &JsonPointer) -> Result<(), Failed> {
    let place = resolve(tree, from)?;
    if from == path {
        return Ok(());
    }
    if from.is_prefix_of(path) && !seeded::is_on(Bug::MovedIntoItself) {
        return Err(UpdateFault::IntoItself { from: from.to_string() }.into());
    }
    let part = tree.remove(&place)?;
    add(tree, path, part)
}

//= spec/update.md#u-3-6-test
//# The error of a `test` that fails MUST hold both values.
// spec: U-2.4.
fn test<T: Tree>(tree: &T, path: &JsonPointer, value: &Value) -> Result<(), Failed> {
    let (_, node) = tree::resolve(tree.root(), path).map_err(|nowhere| astray(path, nowhere))?;
    let found = T::decode(node)?;
    let is_equal =
        if seeded::is_on(Bug::TestByEquality) { found == *value } else { found.order_cmp(value).is_eq() };
    if is_equal {
        return Ok(());
    }
    Err(UpdateFault::TestFailed { expected: value.clone(), found }.into())
}

//= spec/update.md#u-3-2-add
//# To an array, `add` MUST insert the item before the one at the index that the last token is, or after the
//# last item where the token is `-` or the length.
fn add<T: Tree>(tree: &mut T, path: &JsonPointer, part: T::Part) -> Result<(), Failed> {
    let Some((around, last)) = path.split_last() else { return Ok(tree.put(&[], part)?) };
    let (mut place, node) = tree::resolve(tree.root(), &around).map_err(|nowhere| astray(path, nowhere))?;
    let wrong = |fault| astray(path, (around.tokens().len(), fault));
    match node.kind() {
        Kind::Object => {
            place.push(Step::Name(last.into()));
            Ok(tree.put(&place, part)?)
        }
        Kind::Array => {
            let len = node.count();
            let index = if last == "-" { Some(len) } else { pointer::index(last) };
            let index = index.ok_or_else(|| wrong(PathFault::NotAnIndex))?;
            if index > len {
                return Err(wrong(PathFault::BeyondEnd { len }).into());
            }
            place.push(Step::Index(index));
            Ok(tree.insert(&place, part)?)
        }
        found => Err(wrong(PathFault::Scalar { found }).into()),
    }
}

fn resolve<T: Tree>(tree: &T, pointer: &JsonPointer) -> Result<NormalizedPath, UpdateFault> {
    tree::resolve(tree.root(), pointer).map(|(place, _)| place).map_err(|nowhere| astray(pointer, nowhere))
}

/// The fault of a pointer whose token of that number leads nowhere.
#[cold]
fn astray(pointer: &JsonPointer, (at, fault): (usize, PathFault)) -> UpdateFault {
    let way = JsonPointer::from_tokens(pointer.tokens().take(at + 1));
    UpdateFault::NoSuchPlace { at: way.to_string(), fault }
}
