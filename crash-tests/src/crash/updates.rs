//! The steps that sequences of updates are made of.

use holotype_model::update::{Action, By, Change, PatchOp, PathStep};
use holotype_model::{Document, Durability, Key, Op, Value};

use super::alphabet::{blob, number, put};
use crate::live::Step;

fn update(by: By) -> Op {
    Op::Update { collection: "a".into(), key: Key::from("x"), by, durability: Durability::Synced }
}

fn change(name: &str, action: Action) -> By {
    By::Update(vec![Change::At { path: vec![PathStep::Name(name.to_owned())], action }])
}

/// Puts of one document, and changes of it: what it grows and shrinks by, what leaves it equal, and what fails half way.
pub fn updates(segment_bytes: u32) -> Vec<Step> {
    let path = |name: &str| vec![name.to_owned()];
    let inc = || change("n", Action::Inc(Value::Int(1)));
    let half = By::Patch(vec![
        PatchOp::Add { path: path("m"), value: Value::Int(1) },
        PatchOp::Test { path: path("m"), value: Value::Int(2) },
    ]);
    let long = Document::from([("long".to_owned(), Value::Object(blob(segment_bytes as usize * 10 / 16)))]);
    let none = Document::from([("long".to_owned(), Value::Null)]);
    let inside = |op| Op::Inside(Box::new(op));
    let admitting = |filter: &str| (String::from("a"), String::from(filter), Durability::Synced);
    let ((collection, filter, durability), by) = (admitting("@.n >= 1"), inc());
    let inc_many = Op::UpdateMany { collection, filter, by, durability };
    let (collection, filter, durability) = admitting("@.n > 1");
    let delete_many = Op::DeleteMany { collection, filter, durability };
    vec![
        put("x", number(1), Durability::Synced),
        put("y", number(1), Durability::Synced),
        Step::Do(inc_many),
        Step::Do(delete_many),
        Step::Do(update(inc())),
        Step::Do(update(change("n", Action::Max(Value::Int(0))))),
        Step::Do(update(half)),
        Step::Do(update(By::Merge(long))),
        Step::Do(update(By::Merge(none))),
        Step::All(vec![
            Op::Begin,
            inside(update(inc())),
            inside(update(inc())),
            Op::Commit { durability: Durability::Synced },
        ]),
    ]
}
