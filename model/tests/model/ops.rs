//! Short forms of the operations, for tests that read as sentences.

use std::ops::Bound;

use holotype_model::{Document, Durability, Key, KeyRange, Model, Op, Outcome, Prefix, Refusal, Value};

pub(crate) fn document(n: i64) -> Document {
    Document::from([("n".to_owned(), Value::Int(n))])
}

pub(crate) fn insert(collection: &str, n: i64, durability: Durability) -> Op {
    Op::Insert { collection: collection.into(), document: document(n), durability }
}

pub(crate) fn insert_many(collection: &str, count: i64, durability: Durability) -> Op {
    Op::InsertMany {
        collection: collection.into(),
        documents: (0..count).map(document).collect(),
        durability,
    }
}

pub(crate) fn put(collection: &str, key: impl Into<Key>, n: i64) -> Op {
    let durability = Durability::Synced;
    Op::Put { collection: collection.into(), key: key.into(), document: document(n), durability }
}

pub(crate) fn delete(collection: &str, key: impl Into<Key>) -> Op {
    Op::Delete { collection: collection.into(), key: key.into(), durability: Durability::Synced }
}

pub(crate) fn get(collection: &str, key: impl Into<Key>) -> Op {
    Op::Get { collection: collection.into(), key: key.into() }
}

pub(crate) fn keys(from: Bound<Key>, to: Bound<Key>, reverse: bool, limit: Option<usize>) -> Op {
    Op::Keys { collection: "a".into(), range: KeyRange { from, to }, reverse, limit }
}

pub(crate) fn prefixed(prefix: Prefix) -> Op {
    Op::ScanPrefix { collection: "a".into(), prefix, reverse: false, limit: None }
}

pub(crate) fn len(collection: &str) -> Op {
    Op::Len { collection: collection.into() }
}

pub(crate) fn create(collection: &str) -> Op {
    Op::CreateCollection { collection: collection.into(), durability: Durability::Synced }
}

pub(crate) fn drop_it(collection: &str) -> Op {
    Op::DropCollection { collection: collection.into(), durability: Durability::Synced }
}

pub(crate) fn clear(collection: &str) -> Op {
    Op::ClearCollection { collection: collection.into(), durability: Durability::Synced }
}

pub(crate) fn rename(collection: &str, to: &str) -> Op {
    Op::RenameCollection { collection: collection.into(), to: to.into(), durability: Durability::Synced }
}

pub(crate) fn replace_if(collection: &str, key: impl Into<Key>, n: i64) -> Op {
    let (collection, key, document) = (collection.into(), key.into(), document(n));
    Op::ReplaceIf { collection, key, document, durability: Durability::Synced }
}

pub(crate) fn delete_if(collection: &str, key: impl Into<Key>) -> Op {
    Op::DeleteIf { collection: collection.into(), key: key.into(), durability: Durability::Synced }
}

pub(crate) fn inside(op: Op) -> Op {
    Op::Inside(Box::new(op))
}

pub(crate) fn through(snapshot: u64, op: Op) -> Op {
    Op::Through { snapshot, op: Box::new(op) }
}

pub(crate) fn commit(durability: Durability) -> Op {
    Op::Commit { durability }
}

/// A model that has done these operations, of which none was refused.
pub(crate) fn model(ops: &[Op]) -> Model {
    let mut model = Model::default();
    for op in ops {
        let outcome = model.apply(op);
        assert!(!matches!(outcome, Outcome::Refused(_) | Outcome::Failed(_)), "{op}: {outcome}");
    }
    model
}

pub(crate) fn id(int: i64) -> Outcome {
    Outcome::Key(Key::Int(int))
}

pub(crate) fn found(n: i64) -> Outcome {
    Outcome::Document(Some(document(n)))
}

pub(crate) fn names(names: &[&str]) -> Outcome {
    Outcome::Names(names.iter().map(|&name| name.to_owned()).collect())
}

pub(crate) fn refused(reason: Refusal) -> Outcome {
    Outcome::Refused(reason)
}
