//! Short forms of the operations, for tests that read as sentences.

use std::ops::Bound;

use holotype_model::{Document, Durability, Key, KeyRange, Op, Prefix, Value};

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
