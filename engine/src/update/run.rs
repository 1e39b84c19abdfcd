//! An update applied to a value. spec: U-5.

use std::cmp::Ordering;

use super::change::{Action, Change, Number, Update};
use super::failed::Failed;
use super::fault::UpdateFault;
use super::tree::{Place, Tree, find};
use crate::document::node::{Node, Scalar, View};
use crate::document::{Document, Kind, PathFault, Value};
use crate::error::{Error, Result};
use crate::query::{JsonPath, Selector, Step};
use crate::seeded::{self, Bug};

/// Where a path leads.
enum Found<At> {
    There(Place, At),
    /// The values around the field are there up to it; the names from it on are still to be created.
    Missing {
        around: Place,
        from: usize,
    },
    /// An array has no such item.
    NoItem {
        at: usize,
        len: usize,
    },
}

/// Where a path leads, and the value that is there.
type Located<'t, T> = (Found<<T as Tree>::At>, Option<<T as Tree>::Node<'t>>);

/// Applies all changes to `tree`, which is given up on an error.
pub(super) fn run<T: Tree>(tree: &mut T, update: &Update) -> Result<()> {
    update.check()?;
    within(tree, &[], update).map(|_| ())
}

/// Applies the changes to the value at `base`. Answers whether one took it out, which ends them: another value may be
/// at its place then.
fn within<T: Tree>(tree: &mut T, base: &[Step], update: &Update) -> Result<bool> {
    for (number, change) in update.changes().iter().enumerate() {
        let applied = match &change.action {
            Action::Each(changes) => each(tree, base, &change.path, changes),
            Action::Unset => one(tree, base, change).map(|()| change.path.singular_steps().len() == 0),
            _ => one(tree, base, change).map(|()| false),
        };
        let is_out =
            applied.map_err(|failed| failed.at(number, change.action.name(), || change.path.to_string()))?;
        tree.check_len()?;
        if is_out {
            return Ok(true);
        }
    }
    Ok(false)
}

/// How many operations the changes of `update` are, if each copies the bytes once; of an `each`, at least `fan_out`.
pub(super) fn count(update: &Update, fan_out: usize) -> usize {
    let of = |change: &Change| match &change.action {
        Action::Push { items, .. } => items.len() + 1,
        Action::Each(_) => fan_out,
        _ => 1,
    };
    update.changes().iter().map(of).sum()
}

fn one<T: Tree>(tree: &mut T, base: &[Step], Change { path, action }: &Change) -> Result<(), Failed> {
    let (found, node) = locate(&*tree, base, path)?;
    match action {
        Action::Set(value) => create(tree, path, found, value),
        Action::Unset => match found {
            Found::There(place, _) => Ok(remove(tree, &place)?),
            _ => Ok(()),
        },
        Action::Rename(name) => rename(tree, path, found, name),
        Action::Inc(by) => {
            let after = calculated::<T>(node, *by, i64::checked_add, |a, b| a + b)?;
            create(tree, path, found, &after)
        }
        Action::Mul(by) => {
            let after = calculated::<T>(node, *by, i64::checked_mul, |a, b| a * b)?;
            create(tree, path, found, &after)
        }
        Action::Min(value) if is_kept::<T>(node, value, Ordering::Greater)? => Ok(()),
        Action::Max(value) if is_kept::<T>(node, value, Ordering::Less)? => Ok(()),
        Action::Min(value) | Action::Max(value) => create(tree, path, found, value),
        Action::Push { items, keep_last } => push(tree, path, found, items, *keep_last),
        Action::Pop { first } => pop(tree, found, *first),
        Action::Pull(item) => pull(tree, found, item),
        Action::AddToSet(item) => match &found {
            Found::There(place, _) if has(tree, place, item)? => Ok(()),
            _ => push(tree, path, found, std::slice::from_ref(item), None),
        },
        Action::Each(_) => unreachable!("`within` deals with it"),
    }
}

//= spec/update.md#u-5-12-each
//# Each node that the path selects in the value before the change MUST be changed once.
//= spec/update.md#u-5-12-each
//# The nodes MUST be changed in the reverse order of a walk through the value, in which a value comes before those within it.
/// Applies `changes` to each node that `path` selects, from the last to the first, so that taking one out moves none
/// that is still to be changed. Answers whether the value at `base` was taken out; where it is selected, it comes last.
fn each<T: Tree>(tree: &mut T, base: &[Step], path: &JsonPath, changes: &Update) -> Result<bool, Failed> {
    let places = path.places(there(tree, base))?;
    let mut is_out = false;
    for place in places.iter().rev() {
        let node = [base, place.steps()].concat();
        let node_is_out = within(tree, &node, changes).map_err(|error| match error {
            Error::Update(error) => Failed::Fault(UpdateFault::InNode { at: place.to_string(), error }),
            error => Failed::Error(error),
        })?;
        is_out = node_is_out && place.steps().is_empty();
    }
    Ok(is_out)
}

//= spec/update.md#u-5-2-paths
//# A name in an array, an index in an object, and any step in a scalar MUST be refused with the path up to that
//# step and what it met.
/// Where `path` leads from the value at `base`, and the value that is there.
fn locate<'t, T: Tree>(tree: &'t T, base: &[Step], path: &JsonPath) -> Result<Located<'t, T>, UpdateFault> {
    let mut place = Place::with_capacity(base.len() + path.singular_steps().len());
    place.extend_from_slice(base);
    let mut node = there(tree, base);
    for (at, step) in path.singular_steps().enumerate() {
        let astray = |fault| UpdateFault::NoSuchPlace { at: path.up_to(at).to_string(), fault };
        node = match (node.kind(), step) {
            (Kind::Object, Selector::Name(name)) => {
                place.push(Step::Name(name.clone()));
                match node.member(name) {
                    Some(field) => field,
                    None => return Ok((missing(path, place, at)?, None)),
                }
            }
            (Kind::Array, Selector::Index(index)) => {
                let len = node.count();
                let from_start = if *index < 0 { len as i64 + index } else { *index };
                let Some(index) = usize::try_from(from_start).ok().filter(|index| *index < len) else {
                    return Ok((Found::NoItem { at, len }, None));
                };
                place.push(Step::Index(index));
                node.item(index).expect("the index is below the length")
            }
            (Kind::Object, _) => return Err(astray(PathFault::NotAName)),
            (Kind::Array, _) => return Err(astray(PathFault::NotAnIndex)),
            (found, _) => return Err(astray(PathFault::Scalar { found })),
        };
    }
    Ok((Found::There(place, T::at(node)), Some(node)))
}

/// Nothing is at the step `from`, which `around` ends with. What follows can only be names: those of objects in each other.
fn missing<At>(path: &JsonPath, around: Place, from: usize) -> Result<Found<At>, UpdateFault> {
    let index = path.singular_steps().skip(from).position(|step| matches!(step, Selector::Index(_)));
    match index {
        None => Ok(Found::Missing { around, from }),
        Some(index) => {
            let at = path.up_to(from + index).to_string();
            Err(UpdateFault::NoSuchPlace { at, fault: PathFault::NotAName })
        }
    }
}

//= spec/update.md#u-5-3-nothing-there
//# An index that leads to nothing MUST be refused by the changes that create.
/// Puts `value` where the path leads, with the objects around it that are not there.
fn create<T: Tree>(tree: &mut T, path: &JsonPath, found: Found<T::At>, value: &Value) -> Result<(), Failed> {
    match found {
        Found::There(place, at) => Ok(tree.replace(&place, at, value)?),
        Found::NoItem { at, len } => Err(UpdateFault::NoSuchPlace {
            at: path.up_to(at).to_string(),
            fault: PathFault::BeyondEnd { len },
        }
        .into()),
        Found::Missing { around, from } => {
            let names = path.singular_steps().skip(from + 1).rev().map(|step| match step {
                Selector::Name(name) => name.clone(),
                _ => unreachable!("an index does not follow what is missing"),
            });
            let value = names.fold(value.clone(), |inner, name| Document::from([(name, inner)]).into());
            Ok(tree.put(&around, T::part(&value)?)?)
        }
    }
}

//= spec/update.md#u-5-4-set-and-unset
//# An `unset` of the whole value MUST be refused.
fn remove<T: Tree>(tree: &mut T, place: &[Step]) -> Result<(), Failed> {
    if place.is_empty() {
        return Err(UpdateFault::NothingLeft.into());
    }
    tree.remove(place)?;
    Ok(())
}

//= spec/update.md#u-5-5-rename
//# A `rename` whose path does not end in a name MUST be refused.
fn rename<T: Tree>(tree: &mut T, path: &JsonPath, found: Found<T::At>, name: &str) -> Result<(), Failed> {
    let Some(Selector::Name(old)) = path.singular_steps().last() else {
        return Err(UpdateFault::NoFieldToRename.into());
    };
    let Found::There(mut place, _) = found else { return Ok(()) };
    if old.as_str() == name {
        return Ok(());
    }
    let part = tree.remove(&place)?;
    place.pop();
    place.push(Step::Name(name.into()));
    Ok(tree.put(&place, part)?)
}

//= spec/update.md#u-5-6-inc-and-mul
//# Two ints MUST give the exact int, and be refused when it is beyond the range of ints.
//= spec/update.md#u-5-6-inc-and-mul
//# `inc` and `mul` of what is no number MUST be refused.
fn calculated<T: Tree>(
    node: Option<T::Node<'_>>,
    with: Number,
    ints: fn(i64, i64) -> Option<i64>,
    floats: fn(f64, f64) -> f64,
) -> Result<Value, Failed> {
    let before = node.map_or(Ok(Number::Int(0)), number::<T>)?;
    let float = |number| match number {
        Number::Int(int) => int as f64,
        Number::Float(float) => float,
    };
    Ok(match (before, with) {
        (Number::Int(found), Number::Int(with)) if !seeded::is_on(Bug::IncThroughFloat) => {
            Value::Int(ints(found, with).ok_or(UpdateFault::Overflow { found, with })?)
        }
        _ => Value::Float(floats(float(before), float(with))),
    })
}

fn number<T: Tree>(node: T::Node<'_>) -> Result<Number, Failed> {
    match node.view() {
        View::Scalar(Scalar::Int(int)) => Ok(Number::Int(int)),
        View::Scalar(Scalar::Float(float)) => Ok(Number::Float(float)),
        _ => Err(UpdateFault::WrongKind { found: node.kind(), needs: "a number" }.into()),
    }
}

// spec: U-5.7.
/// Whether the value at `node` stays, as it does not compare as `gives_way` with `value`.
fn is_kept<T: Tree>(node: Option<T::Node<'_>>, value: &Value, gives_way: Ordering) -> Result<bool> {
    Ok(match node {
        Some(node) => T::decode(node)?.order_cmp(value) != gives_way,
        None => false,
    })
}

// spec: U-5.8.
fn push<T: Tree>(
    tree: &mut T,
    path: &JsonPath,
    found: Found<T::At>,
    items: &[Value],
    keep_last: Option<usize>,
) -> Result<(), Failed> {
    let kept = |len: usize| keep_last.map_or(0, |last| len.saturating_sub(last));
    let mut place = match found {
        Found::There(place, _) => place,
        found => return create(tree, path, found, &Value::Array(items[kept(items.len())..].to_vec())),
    };
    let len = array_len(tree, &place)?;
    for (added, item) in items.iter().enumerate() {
        place.push(Step::Index(len + added));
        tree.insert(&place, T::part(item)?)?;
        place.pop();
    }
    let len = len + items.len();
    let first = kept(len);
    if first > 0 {
        let turned = seeded::is_on(Bug::CapKeepsTheFirst);
        let keep: Vec<bool> =
            (0..len).map(|index| if turned { index < len - first } else { index >= first }).collect();
        tree.retain(&place, &keep)?;
    }
    Ok(())
}

// spec: U-5.9.
fn pop<T: Tree>(tree: &mut T, found: Found<T::At>, first: bool) -> Result<(), Failed> {
    let Found::There(mut place, _) = found else { return Ok(()) };
    let Some(last) = array_len(tree, &place)?.checked_sub(1) else { return Ok(()) };
    place.push(Step::Index(if first { 0 } else { last }));
    tree.remove(&place)?;
    Ok(())
}

// spec: U-5.10.
fn pull<T: Tree>(tree: &mut T, found: Found<T::At>, item: &Value) -> Result<(), Failed> {
    let Found::There(place, _) = found else { return Ok(()) };
    let keep = equal_items(tree, &place, item)?.into_iter().map(|equal| !equal).collect::<Vec<_>>();
    if keep.contains(&false) {
        tree.retain(&place, &keep)?;
    }
    Ok(())
}

fn has<T: Tree>(tree: &T, place: &[Step], item: &Value) -> Result<bool, Failed> {
    Ok(equal_items(tree, place, item)?.contains(&true))
}

/// Of each item of an array, whether it is at the place of `item` in the order of values. spec: U-2.4.
fn equal_items<T: Tree>(tree: &T, place: &[Step], item: &Value) -> Result<Vec<bool>, Failed> {
    array_len(tree, place)?;
    T::items(there(tree, place)).map(|node| Ok(is_equal(&T::decode(node)?, item))).collect()
}

fn is_equal(a: &Value, b: &Value) -> bool {
    if seeded::is_on(Bug::PullByEquality) { a == b } else { a.order_cmp(b).is_eq() }
}

//= spec/update.md#u-5-11-what-is-no-array
//# `push`, `pop`, `pop_first`, `pull` and `add_to_set` of what is no array MUST be refused.
fn array_len<T: Tree>(tree: &T, place: &[Step]) -> Result<usize, UpdateFault> {
    let node = there(tree, place);
    match node.kind() {
        Kind::Array => Ok(node.count()),
        found => Err(UpdateFault::WrongKind { found, needs: "an array" }),
    }
}

fn there<'t, T: Tree>(tree: &'t T, place: &[Step]) -> T::Node<'t> {
    find(tree.root(), place).expect("the place was found")
}
