//! An update applied to a value. spec: U-5.

use std::cmp::Ordering;

use super::change::{Action, Change, Number, Update};
use super::failed::Failed;
use super::fault::UpdateFault;
use super::tree::{NormalizedPath, Tree, find};
use crate::document::node::{Node, Scalar, View};
use crate::document::{Document, Kind, PathFault, Value};
use crate::error::{Error, Result};
use crate::query::{JsonPath, Selector, Step};
use crate::seeded::{self, Bug};

/// Where a path leads.
enum Found<At> {
    There(At),
    /// The values around the field are there; the steps from `from` on lead through what is not.
    Missing {
        from: usize,
    },
    /// An array has no such item.
    NoItem {
        at: usize,
        len: usize,
    },
}

/// The value that a path begins at, and the path.
#[derive(Clone, Copy)]
struct Way<'p> {
    base: &'p [Step],
    path: &'p JsonPath,
}

impl Way<'_> {
    fn len(self) -> usize {
        self.path.singular_steps().len()
    }

    /// The place that the path leads to; what is around that is there.
    fn place<T: Tree>(self, tree: &T) -> NormalizedPath {
        self.place_up_to(tree, self.len())
    }

    /// As [`place`](Self::place), of its first so many steps.
    fn place_up_to<T: Tree>(self, tree: &T, steps: usize) -> NormalizedPath {
        let mut place = self.base.to_vec();
        for step in self.path.singular_steps().take(steps) {
            let index_of = |index| from_start(index, there(tree, &place).count()).expect("the item is there");
            place.push(match step {
                Selector::Name(name) => Step::Name(name.clone()),
                Selector::Index(index) => Step::Index(index_of(*index)),
                _ => unreachable!("the path is singular"),
            });
        }
        place
    }
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
            action => {
                let takes_out = matches!(action, Action::Unset) && change.path.singular_steps().len() == 0;
                one(tree, base, change).map(|()| takes_out)
            }
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

#[inline(always)]
fn one<T: Tree>(tree: &mut T, base: &[Step], Change { path, action }: &Change) -> Result<(), Failed> {
    let way = Way { base, path };
    let (found, node) = locate(&*tree, way)?;
    match action {
        Action::Set(value) => create(tree, way, found, value),
        Action::Unset => match found {
            Found::There(_) => remove(tree, &way.place(tree)),
            _ => Ok(()),
        },
        Action::Rename(name) => rename(tree, way, &found, name),
        Action::Inc(by) => {
            let after = calculated::<T>(node, *by, i64::checked_add, |a, b| a + b)?;
            create(tree, way, found, &after)
        }
        Action::Mul(by) => {
            let after = calculated::<T>(node, *by, i64::checked_mul, |a, b| a * b)?;
            create(tree, way, found, &after)
        }
        Action::Min(value) if is_kept::<T>(node, value, Ordering::Greater)? => Ok(()),
        Action::Max(value) if is_kept::<T>(node, value, Ordering::Less)? => Ok(()),
        Action::Min(value) | Action::Max(value) => create(tree, way, found, value),
        Action::Push { items, keep_last } => push(tree, way, found, items, *keep_last),
        Action::Pop { first } => pop(tree, way, &found, *first),
        Action::Pull(item) => pull(tree, way, &found, item),
        Action::AddToSet(item) => match &found {
            Found::There(_) if has(tree, &way.place(tree), item)? => Ok(()),
            _ => push(tree, way, found, std::slice::from_ref(item), None),
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
fn locate<'t, T: Tree>(tree: &'t T, way: Way<'_>) -> Result<Located<'t, T>, UpdateFault> {
    let Way { base, path } = way;
    let mut node = there(tree, base);
    for (at, step) in path.singular_steps().enumerate() {
        let astray = |fault| UpdateFault::NoSuchPlace { at: path.up_to(at).to_string(), fault };
        node = match (node.kind(), step) {
            (Kind::Object, Selector::Name(name)) => match node.member(name) {
                Some(field) => field,
                None => return Ok((Found::Missing { from: at }, None)),
            },
            (Kind::Array, Selector::Index(index)) => {
                let len = node.count();
                let Some(index) = from_start(*index, len) else {
                    return Ok((Found::NoItem { at, len }, None));
                };
                node.item(index).expect("the index is below the length")
            }
            (Kind::Object, _) => return Err(astray(PathFault::NotAName)),
            (Kind::Array, _) => return Err(astray(PathFault::NotAnIndex)),
            (found, _) => return Err(astray(PathFault::Scalar { found })),
        };
    }
    let at = T::at(node, || way.place(tree));
    Ok((Found::There(at), Some(node)))
}

/// The index from the start of an array of this length, if it has such an item.
fn from_start(index: i64, len: usize) -> Option<usize> {
    let from_start = if index < 0 { len as i64 + index } else { index };
    usize::try_from(from_start).ok().filter(|index| *index < len)
}

//= spec/update.md#u-5-3-nothing-there
//# An index that leads to nothing MUST be refused by the changes that create.
/// Puts `value` where the path leads, with the objects around it that are not there.
#[inline]
fn create<T: Tree>(tree: &mut T, way: Way<'_>, found: Found<T::At>, value: &Value) -> Result<(), Failed> {
    match found {
        Found::There(at) => Ok(tree.replace(at, way.base.len() + way.len(), value)?),
        Found::NoItem { at, len } => Err(UpdateFault::NoSuchPlace {
            at: way.path.up_to(at).to_string(),
            fault: PathFault::BeyondEnd { len },
        }
        .into()),
        Found::Missing { from } => {
            let steps = || way.path.singular_steps().enumerate().skip(from + 1);
            if let Some((at, _)) = steps().find(|(_, step)| matches!(step, Selector::Index(_))) {
                let at = way.path.up_to(at).to_string();
                return Err(UpdateFault::NoSuchPlace { at, fault: PathFault::NotAName }.into());
            }
            let names = steps().rev().map(|(_, step)| match step {
                Selector::Name(name) => name.clone(),
                _ => unreachable!("an index was refused"),
            });
            let value = names.fold(value.clone(), |inner, name| Document::from([(name, inner)]).into());
            let field = way.place_up_to(tree, from + 1);
            Ok(tree.put(&field, T::part(&value)?)?)
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
fn rename<T: Tree>(tree: &mut T, way: Way<'_>, found: &Found<T::At>, name: &str) -> Result<(), Failed> {
    let Some(Selector::Name(old)) = way.path.singular_steps().last() else {
        return Err(UpdateFault::NoFieldToRename.into());
    };
    if old.as_str() == name || !matches!(found, Found::There(_)) {
        return Ok(());
    }
    let mut place = way.place(tree);
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
    way: Way<'_>,
    found: Found<T::At>,
    items: &[Value],
    keep_last: Option<usize>,
) -> Result<(), Failed> {
    // What the cap takes out again is not put in: the limits are of the value after it.
    let too_many = |len: usize| keep_last.map_or(0, |last| len.saturating_sub(last));
    let items = &items[too_many(items.len())..];
    let mut place = match found {
        Found::There(_) => way.place(tree),
        found => return create(tree, way, found, &Value::Array(items.to_vec())),
    };
    let len = array_len(tree, &place)?;
    let first = too_many(len + items.len());
    if first > 0 {
        let turned = seeded::is_on(Bug::CapKeepsTheFirst);
        let keep: Vec<bool> =
            (0..len).map(|index| if turned { index < len - first } else { index >= first }).collect();
        tree.retain(&place, &keep)?;
    }
    for (added, item) in items.iter().enumerate() {
        place.push(Step::Index(len - first + added));
        tree.insert(&place, T::part(item)?)?;
        place.pop();
    }
    Ok(())
}

// spec: U-5.9.
fn pop<T: Tree>(tree: &mut T, way: Way<'_>, found: &Found<T::At>, first: bool) -> Result<(), Failed> {
    let Found::There(_) = found else { return Ok(()) };
    let mut place = way.place(tree);
    let Some(last) = array_len(tree, &place)?.checked_sub(1) else { return Ok(()) };
    place.push(Step::Index(if first { 0 } else { last }));
    tree.remove(&place)?;
    Ok(())
}

// spec: U-5.10.
fn pull<T: Tree>(tree: &mut T, way: Way<'_>, found: &Found<T::At>, item: &Value) -> Result<(), Failed> {
    let Found::There(_) = found else { return Ok(()) };
    let place = way.place(tree);
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

#[inline]
fn there<'t, T: Tree>(tree: &'t T, place: &[Step]) -> T::Node<'t> {
    find(tree.root(), place).expect("the place was found")
}
