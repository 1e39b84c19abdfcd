//! bison-db, an append-only document store: `Manual` hands each document to the operating system, `Always` syncs each.

use std::path::Path;

use bison_db::{Db, DbOptions, DocId, Document, SyncPolicy, Value};
use holotype_benches::workload::SMALL_FIELDS;

use crate::peer::{Class, Peer};

pub struct Bison {
    db: Db,
}

fn small_document(i: i64) -> Document {
    let mut document = Document::new();
    document
        .set("id", i)
        .set("name", "benchmark user")
        .set("active", true)
        .set("score", 87.5f64)
        .set("tags", Value::Array(vec![Value::from("a"), Value::from("b")]));
    document
}

impl Peer for Bison {
    const NAME: &'static str = "bison-db 1.0";

    type Id = DocId;

    fn open(path: &Path, class: Class) -> Self {
        let sync = match class {
            Class::Written => SyncPolicy::Manual,
            Class::Synced => SyncPolicy::Always,
            Class::Buffered => panic!("bison-db hands over every write"),
        };
        Bison { db: DbOptions::new().sync(sync).open(path).expect("a store") }
    }

    fn insert(&mut self, i: i64) -> DocId {
        self.db.insert(small_document(i)).expect("room")
    }

    fn replace(&mut self, id: DocId, i: i64) {
        assert!(self.db.update(id, small_document(i)).expect("room"), "it was there");
    }

    fn delete(&mut self, id: DocId) {
        assert!(self.db.delete(id).expect("room"), "it was there");
    }

    fn decode(&self, id: DocId) -> Option<i64> {
        let document = self.db.get(id).expect("undamaged")?;
        assert_eq!(document.len(), SMALL_FIELDS);
        document.get("id").and_then(Value::as_int)
    }

    fn field(&self, id: DocId) -> Option<i64> {
        // There is no way to a field but through the whole document.
        self.db.get(id).expect("undamaged")?.get("id").and_then(Value::as_int)
    }

    fn sum(&self) -> i64 {
        self.db.ids().map(|id| self.field(id).expect("it was listed")).sum()
    }

    fn absent(&self, i: u64) -> DocId {
        DocId::from(1_000_000 + i)
    }

    fn len(&self) -> u64 {
        self.db.len() as u64
    }

    fn flush(&mut self) {
        self.db.flush().expect("room");
    }
}
