//! Between the model's updates and the store's.

use holotype::Update;
use holotype::document::{JsonMode, JsonPointer};
use holotype::update::{Changes, JsonPatch, Number, Operation};
use holotype_model::OnConflict;
use holotype_model::update::{Action, By, Change, PatchOp, PathStep};

use crate::convert;

/// Calls `then` with the store's form of what the model changes a document by.
pub fn apply<R>(by: &By, then: impl FnOnce(Changes<'_>) -> R) -> R {
    match by {
        By::Patch(ops) => then(Changes::from(&patch(ops))),
        By::Merge(document) => then(Changes::merge(&convert::document(document))),
        By::Update(changes) => then(Changes::from(update(changes))),
    }
}

/// Calls `then` with the store's form of what the model's insert does where others are in the way.
pub fn on_conflict<R>(on_conflict: &OnConflict, then: impl FnOnce(holotype::OnConflict<'_>) -> R) -> R {
    match on_conflict {
        OnConflict::Skip => then(holotype::OnConflict::Skip),
        OnConflict::Replace => then(holotype::OnConflict::Replace),
        OnConflict::Update(by) => apply(by, |changes| then(holotype::OnConflict::Update(changes))),
    }
}

/// The store's form of a patch of the model.
pub fn patch(ops: &[PatchOp]) -> JsonPatch {
    ops.iter().map(operation).collect()
}

fn operation(op: &PatchOp) -> Operation {
    let to = |path: &[String]| JsonPointer::from_tokens(path);
    match op {
        PatchOp::Add { path, value } => Operation::Add { path: to(path), value: convert::value(value) },
        PatchOp::Remove { path } => Operation::Remove { path: to(path) },
        PatchOp::Replace { path, value } => {
            Operation::Replace { path: to(path), value: convert::value(value) }
        }
        PatchOp::Move { from, path } => Operation::Move { from: to(from), path: to(path) },
        PatchOp::Copy { from, path } => Operation::Copy { from: to(from), path: to(path) },
        PatchOp::Test { path, value } => Operation::Test { path: to(path), value: convert::value(value) },
    }
}

/// The store's form of an update of the model.
pub fn update(changes: &[Change]) -> Update {
    changes.iter().fold(Update::new(), with_change)
}

fn with_change(update: Update, change: &Change) -> Update {
    match change {
        Change::At { path, action } => with_action(update, path, action),
        Change::Each { path, changes } => update.each(path, self::update(changes)),
    }
}

fn with_action(update: Update, path: &[PathStep], action: &Action) -> Update {
    let path = &path_text(path);
    let value = convert::value;
    match action {
        Action::Set(to) => update.set(path, value(to)),
        Action::Unset => update.unset(path),
        Action::Rename(name) => update.rename(path, name.as_str()),
        Action::Inc(by) => update.inc(path, number(by)),
        Action::Mul(by) => update.mul(path, number(by)),
        Action::Min(to) => update.min(path, value(to)),
        Action::Max(to) => update.max(path, value(to)),
        Action::Push { items, keep_last: None } => update.push_all(path, items.iter().map(value)),
        Action::Push { items, keep_last: Some(last) } => {
            update.push_keep_last(path, items.iter().map(value), *last)
        }
        Action::Pop => update.pop(path),
        Action::PopFirst => update.pop_first(path),
        Action::Pull(item) => update.pull(path, value(item)),
        Action::AddToSet(item) => update.add_to_set(path, value(item)),
    }
}

/// The path in the form that has every name in quotes.
fn path_text(path: &[PathStep]) -> String {
    let steps = path.iter().map(|step| match step {
        PathStep::Name(name) => {
            format!("[{}]", holotype::Value::from(name.as_str()).to_json(JsonMode::Relaxed))
        }
        PathStep::Index(index) => format!("[{index}]"),
    });
    std::iter::once("$".to_owned()).chain(steps).collect()
}

fn number(number: &holotype_model::Value) -> Number {
    match number {
        holotype_model::Value::Int(int) => Number::Int(*int),
        holotype_model::Value::Float(float) => Number::Float(*float),
        other => panic!("{other:?} is no number"),
    }
}
