//! The changes of an update: each as a function of the value at its path, or of nothing.

use std::cmp::Ordering;

use super::{Failed, Misfit, within};
use crate::limits::Limits;
use crate::query::{Path, Step};
use crate::value::{Document, Value};

/// One step of a change's path.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PathStep {
    /// To a field.
    Name(String),
    /// To an item, from the end where it is negative.
    Index(i64),
}

/// One change: where, and what.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Change {
    /// Of one place.
    At {
        /// The way to it.
        path: Vec<PathStep>,
        /// What it does there.
        action: Action,
    },
    /// Of each node of a path.
    Each {
        /// The path, as RFC 9535 writes it.
        path: String,
        /// What is done to each.
        changes: Vec<Change>,
    },
}

/// What a change does to the value at its path.
#[expect(missing_docs, reason = "the fields are the words of `spec/update.md`")]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Action {
    /// Puts the value there.
    Set(Value),
    /// Takes it out.
    Unset,
    /// Gives the field another name.
    Rename(String),
    /// Adds a number.
    Inc(Value),
    /// Multiplies by a number.
    Mul(Value),
    /// Puts the value in the place of one that comes after it.
    Min(Value),
    /// Puts the value in the place of one that comes before it.
    Max(Value),
    /// Adds items to the end, then drops from the front.
    Push { items: Vec<Value>, keep_last: Option<usize> },
    /// Takes out the last item.
    Pop,
    /// Takes out the first item.
    PopFirst,
    /// Takes out equal items.
    Pull(Value),
    /// Adds the value unless it is there.
    AddToSet(Value),
}

/// What the update makes of the value.
///
/// # Errors
/// The change that fails, and why.
pub fn apply_update(value: &Value, changes: &[Change], limits: &Limits) -> Result<Value, Failed> {
    at(value, &[], changes, limits).map(|(value, _)| value)
}

/// The value, with the changes applied to the node at `base`; and whether that was taken out, which ends them.
fn at(
    value: &Value,
    base: &[PathStep],
    changes: &[Change],
    limits: &Limits,
) -> Result<(Value, bool), Failed> {
    let mut value = value.clone();
    for (number, change) in changes.iter().enumerate() {
        let changed = match change {
            Change::At { path, action } => {
                let act = |node: Option<&Value>| one(node.expect("the node is there"), path, action);
                let is_out = path.is_empty() && matches!(action, Action::Unset);
                walk(Some(&value), base, false, &act)
                    .and_then(|value| value.ok_or(Misfit::NothingLeft))
                    .map(|value| (value, is_out))
            }
            Change::Each { path, changes } => {
                each(&value, base, path, changes, limits).map_err(|(_, misfit)| misfit)
            }
        };
        let is_out;
        (value, is_out) = changed
            .and_then(|(changed, is_out)| within(&changed, limits).map(|()| (changed, is_out)))
            .map_err(|misfit| (number, misfit))?;
        if is_out {
            return Ok((value, true));
        }
    }
    Ok((value, false))
}

//= spec/update.md#u-5-12-each
//# Each node that the path selects in the value before the change MUST be changed once.
//= spec/update.md#u-5-12-each
//# The nodes MUST be changed in the reverse order of a walk through the value, in which a value comes before
//# those within it.
/// The value, with each node changed; and whether the node at `base` is one of them and was taken out.
fn each(
    value: &Value,
    base: &[PathStep],
    path: &str,
    changes: &[Change],
    limits: &Limits,
) -> Result<(Value, bool), Failed> {
    let path = Path::parse(path).expect("the path is one");
    let mut value = value.clone();
    // The node itself comes last, if it is one of them.
    let mut is_out = false;
    for place in path.places(get(&value, base)).into_iter().rev() {
        let steps = place.into_iter().map(|step| match step {
            Step::Name(name) => PathStep::Name(name),
            Step::Index(index) => PathStep::Index(index as i64),
        });
        let node: Vec<PathStep> = base.iter().cloned().chain(steps).collect();
        let node_is_out;
        (value, node_is_out) = at(&value, &node, changes, limits)?;
        is_out = node_is_out && node.len() == base.len();
    }
    Ok((value, is_out))
}

/// The node at a place that is there.
fn get<'v>(value: &'v Value, place: &[PathStep]) -> &'v Value {
    place.iter().fold(value, |value, step| match (value, step) {
        (Value::Object(fields), PathStep::Name(name)) => &fields[name],
        (Value::Array(items), PathStep::Index(index)) => &items[*index as usize],
        _ => unreachable!("the place is there"),
    })
}

/// What becomes of the node, if anything is left of it.
fn one(node: &Value, path: &[PathStep], action: &Action) -> Result<Option<Value>, Misfit> {
    let creates = !matches!(
        action,
        Action::Unset | Action::Rename(_) | Action::Pop | Action::PopFirst | Action::Pull(_)
    );
    match action {
        Action::Rename(name) => rename(node, path, name).map(Some),
        _ => walk(Some(node), path, creates, &|there| act(there, action)),
    }
}

/// What becomes of the value at a path, or of nothing.
type Act<'a> = dyn Fn(Option<&Value>) -> Result<Option<Value>, Misfit> + 'a;

//= spec/update.md#u-5-2-paths
//# A name in an array, an index in an object, and any step in a scalar MUST be refused with the path up to that
//# step and what it met.
//= spec/update.md#u-5-3-nothing-there
//# An index that leads to nothing MUST be refused by the changes that create.
/// What becomes of a value, or of nothing, when what is at the path in it becomes what `act` makes of it.
fn walk(
    value: Option<&Value>,
    path: &[PathStep],
    creates: bool,
    act: &Act<'_>,
) -> Result<Option<Value>, Misfit> {
    let Some((step, rest)) = path.split_first() else { return act(value) };
    match (value, step) {
        (None, PathStep::Name(_)) => {
            let empty = Value::Object(Document::new());
            let made = walk(Some(&empty), path, creates, act)?;
            Ok(made.filter(|_| creates))
        }
        (None, PathStep::Index(_)) if !creates => walk(None, rest, creates, act),
        (Some(Value::Object(fields)), PathStep::Name(name)) => {
            let mut fields = fields.clone();
            match walk(fields.get(name), rest, creates, act)? {
                Some(after) => drop(fields.insert(name.clone(), after)),
                None => drop(fields.remove(name)),
            }
            Ok(Some(Value::Object(fields)))
        }
        (Some(Value::Array(items)), PathStep::Index(index)) => {
            let from_start = if *index < 0 { items.len() as i64 + index } else { *index };
            if !(0..items.len() as i64).contains(&from_start) {
                return if creates { Err(Misfit::NoSuchPlace) } else { Ok(value.cloned()) };
            }
            let mut items = items.clone();
            let at = from_start as usize;
            match walk(Some(&items[at].clone()), rest, creates, act)? {
                Some(after) => items[at] = after,
                None => drop(items.remove(at)),
            }
            Ok(Some(Value::Array(items)))
        }
        _ => Err(Misfit::NoSuchPlace),
    }
}

//= spec/update.md#u-5-5-rename
//# A `rename` whose path does not end in a name MUST be refused.
fn rename(value: &Value, path: &[PathStep], to: &str) -> Result<Value, Misfit> {
    let Some((last, around)) = path.split_last() else { return Err(Misfit::NoFieldToRename) };
    let act = |there: Option<&Value>| match (there, last) {
        (None, _) => Ok(None),
        (Some(Value::Object(fields)), PathStep::Name(from)) => {
            let mut fields = fields.clone();
            if let Some(field) = fields.remove(from) {
                fields.insert(to.to_owned(), field);
            }
            Ok(Some(Value::Object(fields)))
        }
        (Some(_), PathStep::Name(_)) => Err(Misfit::NoSuchPlace),
        (Some(Value::Array(_)), PathStep::Index(_)) => Err(Misfit::NoFieldToRename),
        (Some(_), PathStep::Index(_)) => Err(Misfit::NoSuchPlace),
    };
    let after = walk(Some(value), around, false, &act)?;
    if matches!(last, PathStep::Index(_)) {
        return Err(Misfit::NoFieldToRename);
    }
    after.ok_or(Misfit::NothingLeft)
}

//= spec/update.md#u-5-4-set-and-unset
//# An `unset` of the whole value MUST be refused.
/// What the action makes of the value at its path, or of nothing.
fn act(there: Option<&Value>, action: &Action) -> Result<Option<Value>, Misfit> {
    match action {
        Action::Set(value) => Ok(Some(value.clone())),
        Action::Unset | Action::Rename(_) => Ok(None),
        Action::Inc(by) => arithmetic(there, by, |a, b| a + b, |a, b| a + b).map(Some),
        Action::Mul(by) => arithmetic(there, by, |a, b| a * b, |a, b| a * b).map(Some),
        Action::Min(value) => Ok(Some(bound(there, value, Ordering::Greater))),
        Action::Max(value) => Ok(Some(bound(there, value, Ordering::Less))),
        _ => array(there, action),
    }
}

/// The value that gives way, or stays.
fn bound(there: Option<&Value>, value: &Value, gives_way: Ordering) -> Value {
    match there {
        Some(there) if there.order_cmp(value) != gives_way => there.clone(),
        _ => value.clone(),
    }
}

//= spec/update.md#u-5-6-inc-and-mul
//# Two ints MUST give the exact int, and be refused when it is beyond the range of ints.
//= spec/update.md#u-5-6-inc-and-mul
//# `inc` and `mul` of what is no number MUST be refused.
fn arithmetic(
    there: Option<&Value>,
    by: &Value,
    ints: fn(i128, i128) -> i128,
    floats: fn(f64, f64) -> f64,
) -> Result<Value, Misfit> {
    match (there.unwrap_or(&Value::Int(0)), by) {
        (Value::Int(a), Value::Int(b)) => {
            let exact = ints(i128::from(*a), i128::from(*b));
            i64::try_from(exact).map(Value::Int).map_err(|_| Misfit::Overflow)
        }
        (Value::Int(a), Value::Float(b)) => Ok(Value::Float(floats(*a as f64, *b))),
        (Value::Float(a), Value::Int(b)) => Ok(Value::Float(floats(*a, *b as f64))),
        (Value::Float(a), Value::Float(b)) => Ok(Value::Float(floats(*a, *b))),
        _ => Err(Misfit::WrongKind),
    }
}

//= spec/update.md#u-5-11-what-is-no-array
//# `push`, `pop`, `pop_first`, `pull` and `add_to_set` of what is no array MUST be refused.
fn array(there: Option<&Value>, action: &Action) -> Result<Option<Value>, Misfit> {
    let mut items = match there {
        Some(Value::Array(items)) => items.clone(),
        Some(_) => return Err(Misfit::WrongKind),
        None if matches!(action, Action::Push { .. } | Action::AddToSet(_)) => Vec::new(),
        None => return Ok(None),
    };
    let equal = |a: &Value, b: &Value| a.order_cmp(b) == Ordering::Equal;
    match action {
        Action::Push { items: new, keep_last } => {
            items.extend(new.iter().cloned());
            while keep_last.is_some_and(|last| items.len() > last) {
                items.remove(0);
            }
        }
        Action::Pop => drop(items.pop()),
        Action::PopFirst if items.is_empty() => {}
        Action::PopFirst => drop(items.remove(0)),
        Action::Pull(item) => items.retain(|other| !equal(other, item)),
        Action::AddToSet(item) if items.iter().any(|other| equal(other, item)) => {}
        Action::AddToSet(item) => items.push(item.clone()),
        _ => unreachable!("the other actions are not of arrays"),
    }
    Ok(Some(Value::Array(items)))
}
