//! Changes of documents, and filters, that are likely to meet a mistake.

use crate::op::OnConflict;
use crate::update::{Action, By, Change, PatchOp, PathStep};
use crate::value::{Document, Value};

use super::rng::Rng;

/// The names that documents often have, and one that few have.
const NAMES: [&str; 4] = ["a", "b", "aa", "blob"];

/// Filters that admit many documents, some, or few.
const FILTERS: [&str; 10] = [
    "@",
    "@.a",
    "!@.a",
    "@.a == 1",
    "@.a != @.b",
    "@.blob && @.a",
    "@..[?@ == 1]",
    "key() > 3",
    "type(@.b) == 'array'",
    "@.n >= 1",
];

pub(super) fn filter(rng: &mut Rng) -> String {
    (*rng.pick(&FILTERS)).to_owned()
}

/// Mostly changes that can be made, whatever the document is.
pub(super) fn by(rng: &mut Rng) -> By {
    match rng.below(8) {
        0 => By::Merge(Document::from([(name(rng), value(rng)), (name(rng), Value::Null)])),
        1 => By::Patch(vec![
            PatchOp::Add { path: vec![name(rng)], value: value(rng) },
            PatchOp::Remove { path: vec![name(rng)] },
        ]),
        2 => By::Update(vec![change(rng), inc(name(rng))]),
        3 => By::Update(vec![Change::Each {
            path: (*rng.pick(&["$.*", "$..[?@ == 1]", "$.a[*]"])).to_owned(),
            changes: vec![Change::At { path: Vec::new(), action: Action::Set(value(rng)) }],
        }]),
        4 => By::Update(vec![change(rng), change(rng)]),
        _ => By::Update(vec![inc("n".to_owned())]),
    }
}

pub(super) fn on_conflict(rng: &mut Rng) -> OnConflict {
    match rng.below(3) {
        0 => OnConflict::Skip,
        1 => OnConflict::Replace,
        _ => OnConflict::Update(by(rng)),
    }
}

fn name(rng: &mut Rng) -> String {
    (*rng.pick(&NAMES)).to_owned()
}

fn inc(name: String) -> Change {
    Change::At { path: vec![PathStep::Name(name)], action: Action::Inc(Value::Int(1)) }
}

fn change(rng: &mut Rng) -> Change {
    let action = match rng.below(5) {
        0 => Action::Set(value(rng)),
        1 => Action::Unset,
        2 => Action::Rename(name(rng)),
        3 => Action::Max(value(rng)),
        _ => Action::AddToSet(value(rng)),
    };
    Change::At { path: vec![PathStep::Name(name(rng))], action }
}

fn value(rng: &mut Rng) -> Value {
    match rng.below(5) {
        0 => Value::Int(1),
        1 => Value::Float(1.0),
        2 => Value::Array(vec![Value::Int(1)]),
        3 => Value::Null,
        _ => Value::from("a"),
    }
}
